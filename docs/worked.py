"""The files that a page shows as they are: each is put anew below the comment that names it.

    <!-- tasks/suites/negotiation/t4.buyer_zopa.toml -->
    ```toml
    …the file…
    ```

The rest of the page is written by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

BLOCK = re.compile(r"^<!-- (\S+\.toml) -->\n```toml\n.*?^```$", re.DOTALL | re.MULTILINE)


def with_files(page: str, root: Path) -> str:
    """The page with each file that it names as it is now."""

    def block(match: re.Match[str]) -> str:
        text = (root / match[1]).read_text(encoding="utf-8")
        return f"<!-- {match[1]} -->\n```toml\n{text.rstrip()}\n```"

    return BLOCK.sub(block, page)

"""The cases: what is asked, who plays, and the command line.

Here the other three rooms meet: task files and agents feed the record, importers
bring in what others recorded, and each command of `tollbook` is one module of
`tollbook.tasks.commands`.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"
"""As in pyproject.toml, which a test compares; read from here because the
installed metadata take four times as long to find as `--version` to print."""

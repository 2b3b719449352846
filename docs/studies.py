"""Writes docs/STUDIES.md: the studies as they came out, here and now. `make study` runs it.

    tollbook.tasks.studies ─► played ─► Markdown

Seconds differ from machine to machine, so no test holds the page to what it would be now. The roots follow
from the market's rules: they change with them, until a version is released.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tollbook.tasks.studies import extension, market, persistence, sparse
from tollbook.tasks.studies.report import Report, markdown_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "STUDIES.md"
HEAD = """# Studies

<!-- Made by `make study`. Edit the studies in `tasks/studies` instead. -->

What the market does beyond one task: `tollbook study persistence | market | sparse | extension`. Each run
that a study makes is verified and replayed, and played again for its root to repeat. The parties' keys follow
from a secret that everybody knows, so that the roots are the same wherever a study is played: they show what
the program does, not who did it. Seconds are from one run on one machine of two cores that had other work to
do besides.
"""


def reports(folder: Path) -> list[Report]:
    """Every study, played."""
    for name in ("persistence", "market", "extension"):
        (folder / name).mkdir()
    tea = extension.load(ROOT / "tests" / "extension" / "tea.py")
    return [
        persistence.study(folder / "persistence"),
        market.study(folder / "market"),
        sparse.study((*sparse.SIZES, 10_000)),
        extension.study(folder / "extension", tea),
    ]


def main() -> int:
    """Writes the page; returns 1 when something doesn't hold."""
    with tempfile.TemporaryDirectory(prefix="tollbook-study-") as folder:
        found = reports(Path(folder))
    PAGE.write_text("\n".join([HEAD, *map(markdown_of, found)]), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
    return 0 if all(report.holds for report in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())

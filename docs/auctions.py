"""Writes docs/AUCTIONS.md: the study of auctions at its full size, here and now. `make study` runs it.

    tollbook.tasks.auctions ─► 100 sessions of 200 rounds a cell ─► Markdown
    python docs/auctions.py 5 40    another size, which the page then says

At full size it plays some seven million messages, each signed and verified, in as many processes as there
are cores. Figures follow from the rules and the sessions' seeds: they are the same on every machine.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tollbook.tasks.auctions.grid import grid
from tollbook.tasks.auctions.people import report_of_people
from tollbook.tasks.auctions.report import study
from tollbook.tasks.auctions.study import Size, sessions_of
from tollbook.tasks.progress import progress
from tollbook.tasks.studies.report import markdown_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "AUCTIONS.md"
FULL = Size(sessions=100, rounds=200)
HEAD = """# Auctions

<!-- Made by `make study`. Edit the study in `tasks/auctions` instead. -->

`tollbook study auctions` plays a grid of auctions and sets what came of them beside what theory says. Each
session is a run, verified and its conduct checked, in a ledger under a secret that everybody knows; what a
kept ledger (`--keep`) has isn't played again.

This page is of {} sessions of {} rounds a cell, fewer where more tell nothing: {:,} messages in all. At full
size, 100 sessions of 200 rounds, 20,000 single auctions a cell, that takes about a quarter of an hour of two
cores.
"""


def main(words: list[str]) -> int:
    """Writes the page; returns 1 when something doesn't hold."""
    size = Size(*map(int, words)) if words else FULL
    cells = grid()
    with progress(sessions_of(cells, size), "playing", quiet=False) as step:
        report, tallies = study(cells, size, jobs=os.cpu_count() or 1, step=step)
    messages = sum(sum(tally.records) for tally in tallies) // 2
    reports = (report, report_of_people())
    head = HEAD.format(*size, messages)
    PAGE.write_text("\n".join([head, *map(markdown_of, reports)]), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
    return 0 if all(each.holds for each in reports) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Prints the roots of runs of the worked tasks: the same wherever and whenever they are played.

    python roots.py
"""

from __future__ import annotations

import sys

from played_run import WORKED, builtin
from small_task import ledger_on, task_of

from tollbook.tasks.play.casting import Part, cast
from tollbook.tasks.play.recorder import record

WORDS = ("reference", "cheat:first_offer", "cheat:flood_then_refuse", "cheat:random_legal.0")


def main() -> None:
    for task in (task_of(), *map(builtin, WORKED)):
        for word in WORDS:
            maker = cast(task, Part(word))
            case = list(task.file.case)[-1]
            recorded = record(ledger_on(), task, case, 1, maker(task.scenes.seed(case, 1)))
            assert not recorded.audit.findings
            words = (task.file.id, word, str(recorded.audit.root), recorded.ending.outcome)
            sys.stdout.write(" ".join(words) + "\n")


if __name__ == "__main__":
    main()

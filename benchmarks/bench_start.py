"""Starting the command: CPU seconds of `tollbook --version` and of helps, in processes of their own.

The baseline is the interpreter alone, running nothing.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from statistics import median

from measure import Line, at_most, plain, report

ROUNDS = 9
_COMMANDS = {"version": ["--version"], "help": ["--help"], "verify_help": ["verify", "--help"]}


def child_seconds(words: Sequence[str]) -> float:
    """The CPU seconds of one process."""
    before = _children_seconds()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own words
    return _children_seconds() - before


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def lines() -> Iterator[Line]:
    """The figures, each in turn with the baseline."""
    bare: list[float] = []
    ours: dict[str, list[float]] = {name: [] for name in _COMMANDS}
    for _ in range(ROUNDS):
        bare.append(child_seconds(["-c", "pass"]))
        for name, words in _COMMANDS.items():
            ours[name].append(child_seconds(["-m", "tollbook.tasks.cli", *words]))
    yield plain("start.interpreter", median(bare), "s")
    yield at_most("start.version", median(ours["version"]), "s", 0.25)
    yield plain("start.version_by_interpreter", median(ours["version"]) / median(bare), "times")
    yield plain("start.help", median(ours["help"]), "s")
    yield plain("start.verify_help", median(ours["verify_help"]), "s")


if __name__ == "__main__":
    report("starting", lines())

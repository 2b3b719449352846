"""The gallery of broken task files: each a worked file with one mistake, and what its author is told.

    mistakes.toml: title, old → new  ─►  a broken file  ─examine, stage─►  faults  ─►  docs/TASK_ERRORS.md

Not here: what only playing a task shows (`tollbook.tasks.lint`).
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tollbook.protocol.errors import TaskError
from tollbook.tasks.format.rendering import cases_of
from tollbook.tasks.format.task import Task, examine
from tollbook.tasks.shelf import find_task

ROOT = Path(__file__).resolve().parent.parent.parent
WORKED = {
    "t4": ROOT / "tasks" / "suites" / "negotiation" / "t4.buyer_zopa.toml",
    "t7": ROOT / "tasks" / "suites" / "lifecycle" / "t7.merchant_refund.toml",
    "a": ROOT / "tasks" / "suites" / "auctions" / "a.first_price.toml",
}
MAX_LINES, MAX_WIDTH = 6, 120


_INTRODUCTION = (
    "# What an author is told",
    "",
    "<!-- Made by `make docs`. Edit `tests/quality/mistakes.toml` instead. -->",
    "",
    "One broken task file for each kind of mistake: the lines that were changed in a file that works, and",
    "what is said of it, with the file's line and the place in its tables. Steps, rules and list elements",
    "count from 0 in places: `reference.step[2]` is the third step. All faults of a kind are told at once:",
    "first of the file's form, then of its names and expressions, then of what these come to.",
    "What only shows when a task is played, `tollbook task lint` tells.",
    "",
)


class Mistake(NamedTuple):
    """One kind of mistake: an edit of a worked file, and where it is found."""

    section: str
    title: str
    file: str
    old: str
    new: str
    whole: str | None = None
    encoding: str = "utf-8"
    found: str = "read"
    elsewhere: bool = False

    @property
    def name(self) -> str:
        """The file's name."""
        return WORKED[self.file].name

    @property
    def text(self) -> str:
        """The broken file."""
        text = WORKED[self.file].read_text(encoding="utf-8")
        if self.whole is not None:
            return self.whole
        assert text.count(self.old) == 1, f"{self.title}: the old text is not there exactly once"
        return text.replace(self.old, self.new)

    @property
    def changed(self) -> dict[int, str]:
        """The lines that differ from the worked file, by number; those that were cut have the next one's."""
        if self.whole is not None:
            return {}
        before = WORKED[self.file].read_text(encoding="utf-8").split(self.old)[0]
        first = before.count("\n")
        lines = self.text.split("\n")
        last = first + self.new.count("\n")
        old = WORKED[self.file].read_text(encoding="utf-8").split("\n")
        differ = [at for at in range(first, last + 1) if lines[at : at + 1] != old[at : at + 1]]
        return {at + 1: lines[at] for at in differ}


@cache
def mistakes() -> tuple[Mistake, ...]:
    """The mistakes of mistakes.toml, in order."""
    return tuple(_mistakes((ROOT / "tests" / "quality" / "mistakes.toml").read_text(encoding="utf-8")))


def _mistakes(text: str) -> Iterator[Mistake]:
    """Each with its section: the two are lists of one file, so it is read part by part."""
    for part in text.split("[[section]]\n")[1:]:
        section: str = tomllib.loads(part.split("[[mistake]]")[0])["title"]
        fields: list[dict[str, Any]] = tomllib.loads(part[part.index("[[mistake]]") :])["mistake"]
        for each in fields:
            many, times = each.pop("many", ""), each.pop("times", 0)
            lines = "".join(many.replace("@", str(n)) for n in range(1, times + 1))
            new = each.pop("new", "").replace("@@", lines)
            yield Mistake(section=section, old=each.pop("old", ""), new=new, **each)


class Told(NamedTuple):
    """What is told of a file, and when: as it is fetched, read or staged."""

    found: str
    faults: tuple[TaskError, ...]


@cache
def told_of(mistake: Mistake) -> Told:
    """What is told of a mistake, by whoever comes across it first."""
    try:
        text = _taken_from_the_shelf(mistake)
    except TaskError as fault:
        return Told("fetched", (fault,))
    task, faults = examine(text)
    return Told("read", tuple(faults)) if task is None else Told("staged", tuple(staging_faults(task)))


def staging_faults(task: Task) -> list[TaskError]:
    """Why cases can't be worked out."""
    faults: list[TaskError] = []
    for case in cases_of(task.file):
        try:
            task.scenes.oracle(task.scenes.stage(case, task.scenes.seed(case, 0)))
        except TaskError as fault:
            faults.append(fault)
    return faults


def page() -> str:
    """The text of docs/TASK_ERRORS.md."""
    lines = [*_INTRODUCTION]
    section = ""
    for mistake in mistakes():
        if mistake.section != section:
            section = mistake.section
            lines += [f"## {section}", ""]
        lines += [f"{mistake.title[:1].upper()}{mistake.title[1:]}:", ""]
        shown = list(_shown(mistake))
        lines += ["```toml", *shown, "```"] if shown else []
        lines += ["```text", *lines_of(mistake), "```", ""]
    return "\n".join(lines)


def lines_of(mistake: Mistake) -> list[str]:
    """The two lines that an author reads; where several cases have the fault, those of the first."""
    found, faults = told_of(mistake)
    text = faults[0].text if found == "fetched" else faults[0].of_file(mistake.name)
    return [f"error: {text}", f"hint: {faults[0].hint}"]


def _taken_from_the_shelf(mistake: Mistake) -> str:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path(mistake.name).write_bytes(mistake.text.encode(mistake.encoding))
        return find_task(mistake.name).text


def _shown(mistake: Mistake) -> Iterator[str]:
    changed = list(mistake.changed.values())
    for line in changed[:MAX_LINES]:
        yield line if len(line) <= MAX_WIDTH else _around(line, mistake)
    if len(changed) > MAX_LINES:
        yield f"# … {len(changed) - MAX_LINES} more lines"


def _around(line: str, mistake: Mistake) -> str:
    """A long line, cut at both ends around what was changed."""
    first = mistake.new.strip("\n").split("\n")[0]
    at = max(line.find(first), 0)
    start = 0 if at + len(first) <= MAX_WIDTH - 2 else max(0, min(at - 20, len(line) - MAX_WIDTH + 2))
    head = "…" if start else ""
    end = "…" if start + MAX_WIDTH - 2 < len(line) else ""
    return f"{head}{line[start : start + MAX_WIDTH - 2]}{end}"

"""The text of docs/KILLS.md: what going wrong leaves of the credit, in every built-in task.

    built-in file ─lint─► Report ─► Told ─┐
    …                               Told ─┼─► summary · what judges of less would miss · each file's tables
                                    …    ─┘

Not here: whether a file is as it should be (`tollbook task lint`, which fails where it isn't).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from tollbook.scorers.analysis.collisions import Collisions, Seen, View, collisions
from tollbook.scorers.predicates import FULL
from tollbook.scorers.tables import Table, escaped, markdown
from tollbook.tasks.lint.bars import Bar, bars_of
from tollbook.tasks.lint.finding import decimal
from tollbook.tasks.lint.linter import Report
from tollbook.tasks.lint.sheet import cheats_of, kills_of

INTRO = """\
Each built-in task is played wrong on purpose, in every case, and judged. A **mutation** is the reference with
one thing done wrong. A **cheat** is a way without merit: every file has its own, and the linter tries each
with some that are built in. Scores are of 1,000. [TASKS.md](TASKS.md) says how both are written.
`tollbook task show ID` prints the tables of one task; `tollbook task lint` plays all again, and fails where a
mutation loses something else than it says, or a cheat earns more than it may."""

CHEATS = """\
## Cheats

The mean of a cheat in a file is over its cases, and of a random one over its seeds too. It is to be at most
300 in every file, and at most 200 over all. `jitter`, the reference with one number more or less by one, has
no bar: where a cent does no harm it may earn all."""

OWN = """\
Of each file's own cheats, the best lazy ways that its author could think of:"""

VIEWS = """\
## What a judge of less would miss

How many mutations that lose credit look like a run of full credit in the same case, to who sees only a part
of a run. No judge of that part can tell the two apart, whatever it asks. Runs of full credit are the
references, alternatives, harmless variations of the reference, and whatever else was played and earned it."""

FILES = """\
## File by file

Of a mutation, a cell is the credit that it leaves, `·` all of it; cases that lose alike share a row. Where a
cap holds, a score is less than its cells say. Of a cheat, a cell is its mean in that case."""

SAID: Final[dict[View, str]] = {
    "final": "the final state",
    "last": "the last act",
    "acts": "the acts in order",
    "trace": "the whole trace",
}


class Told(NamedTuple):
    """What the page says of one file; of its runs only what is seen of them is kept."""

    id: str
    title: str
    kills: Table
    cheats: Table
    bars: tuple[Bar, ...]
    own: tuple[str, ...]
    runs: int
    seen: tuple[Seen, ...]

    @property
    def family(self) -> str:
        """What its id begins with."""
        return self.id.partition(".")[0]


def told_of(report: Report) -> Told:
    """What the page says of a file that was linted."""
    task = report.task
    assert task is not None, "a built-in file is well-formed"
    return Told(
        id=task.file.id,
        title=task.file.title,
        kills=kills_of(task, report),
        cheats=cheats_of(task, report),
        bars=tuple(bars_of(task, report.runs)),
        own=tuple(task.cheats),
        runs=len(report.runs),
        seen=tuple(_seen(task.file.id, report)),
    )


def kills_page(made: str, told: Sequence[Told]) -> str:
    """The page; ``made`` is the line that says where it comes from."""
    lines = ["# What wrong runs earn", "", made, "", *INTRO.splitlines(), ""]
    for words, table in ((CHEATS, _cheats(told)), (OWN, _own(told)), (VIEWS, _views(told))):
        lines += [*words.splitlines(), "", markdown(table), ""]
    lines += [*FILES.splitlines(), ""]
    for each in told:
        lines += [f"### {escaped(each.id)}", "", f"{escaped(each.title)}. {each.runs} runs were played.", ""]
        lines += [markdown(each.kills), "", markdown(each.cheats), ""]
    return "\n".join(lines)


def _seen(file: str, report: Report) -> list[Seen]:
    """The mutations, and the runs of full credit; a place is a trial of a case, which the seed tells."""
    return [
        Seen(run.title, (file, run.case, run.staged.scene.seed), run.points == FULL, run.projections)
        for run in report.runs
        if run.kind == "mutation" or run.points == FULL
    ]


def _cheats(told: Sequence[Told]) -> Table:
    names = dict.fromkeys(bar.name for each in told for bar in each.bars if bar.name not in each.own)
    rows: list[tuple[str, ...]] = []
    for name in names:
        means = {each.id: bar.mean for each in told for bar in each.bars if bar.name == name}
        mean, most = sum(means.values(), Fraction(0)) / len(means), max(means.values())
        files = [file for file in means if means[file] == most] if most else []
        highest = f"{files[0]}{f' and {len(files) - 1} more' if files[1:] else ''}" if files else "–"
        rows.append((name, str(len(means)), decimal(mean, 1), decimal(most, 1), highest))
    return Table(("cheat", "files", "mean over files", "highest", "in"), rows, frozenset({0, 4}))


def _own(told: Sequence[Told]) -> Table:
    rows = [
        (each.id, bar.name, str(bar.most), decimal(bar.mean, 1))
        for each in told
        for bar in each.bars
        if bar.name in each.own
    ]
    return Table(("file", "cheat", "at most", "mean"), rows, frozenset({0, 1}))


def _views(told: Sequence[Told]) -> Table:
    families = sorted({each.family for each in told})
    columns = [
        collisions([seen for each in told if family in ("", each.family) for seen in each.seen])
        for family in ("", *families)
    ]
    short = ("mutations", *(str(column[0].short) for column in columns))
    rows = [(SAID[of[0].view], *map(_share, of)) for of in zip(*columns, strict=True)]
    return Table(("seen", "all files", *families), [short, *rows], frozenset({0}))


def _share(found: Collisions) -> str:
    share = Fraction(100 * len(found.pairs), found.short) if found.short else Fraction(0)
    return f"{len(found.pairs)} ({decimal(share, 1)} %)"

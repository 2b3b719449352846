"""Renderings: whether what an agent is worth survives other words, orders and values by the same rules.

    place        a trial of a case, the same seed in every rendering
    difference   plain − a rendering, over the places at which the agent played both; where it
                 played nothing plainly, one rendering − another
    largest      of an agent's differences at a task the one whose mean is farthest from 0

    survives     no      some difference is told from 0
                 yes     none is, and one of a tenth of all points would have been; or all are 0
                 open    none is, and one could not have been: more trials would tell

Each task and agent has a row of its own; tasks without a rendering are not looked at.
Intervals are over places, which have values of their own, and say how further trials
of these cases would go. Each stands for itself: of twenty differences that aren't there
one is told by chance.

Not here: agents compared with each other (`pairs`).

Source: the auctions page of the design, A ("Treatments as data").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any, Final, Literal, NamedTuple

from .. import stats
from ..cases import PLAIN, parts_of
from ..predicates import FULL
from ..report import span
from ..score import Score, exact
from ..summary import Mean, values_of
from ..tables import Table
from .panel import mean_of, natural, panel_of, split, task_namer
from .sheet import Dots, Sheet

Survives = Literal["yes", "no", "open"]
Place = tuple[str, int]  # a plain case and a trial

TELLING: Final = FULL // 10
"""A difference of so many points must have been seen if it were there, before a result survives."""

_NONE = "no task was played in other words"
_OPEN = f"open: a difference of {TELLING} points could not have been told from 0; more trials would"


class Part(NamedTuple):
    """An agent's runs of a task under one rendering."""

    name: str
    mean: Mean
    by_place: Mapping[Place, Fraction]


class Difference(NamedTuple):
    """One rendering less another, over ``places``; ``smallest`` is what could have been told from 0."""

    first: str
    second: str
    places: int
    mean: Fraction
    interval: stats.Interval | None
    smallest: Fraction | None

    @property
    def is_told(self) -> bool:
        """Whether it is told from 0."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high

    @property
    def is_ruled_out(self) -> bool:
        """Whether there is none worth the name."""
        if self.interval is None or self.is_told:
            return False
        return self.mean == 0 if self.smallest is None else self.smallest <= TELLING


class Row(NamedTuple):
    """An agent at a task that it played in other words."""

    task: str
    agent: str
    parts: tuple[Part, ...]
    differences: tuple[Difference, ...]

    @property
    def largest(self) -> Difference | None:
        """The difference that is farthest from 0; None where no place was played twice."""
        return max(self.differences, key=lambda each: abs(each.mean), default=None)

    @property
    def survives(self) -> Survives:
        """Whether what the agent is worth is the same in all words."""
        if any(each.is_told for each in self.differences):
            return "no"
        compared = {name for each in self.differences for name in (each.first, each.second)}
        is_whole = compared == {part.name for part in self.parts}
        return "yes" if is_whole and all(each.is_ruled_out for each in self.differences) else "open"


def sheet(scores: Sequence[Score]) -> Sheet:
    """What renderings change, by task and agent."""
    panel = panel_of(scores)
    named = task_namer(panel.scored)
    rows = [
        row
        for label, runs in panel.agents
        for task, own in split(runs, named)
        if (row := _row(task, label, own)) is not None
    ]
    rows.sort(key=lambda row: natural(row.task))
    dots = [
        (f"{row.task} {_said(part.name)}, {row.agent}", part.mean.value, part.mean.interval)
        for row in rows
        for part in row.parts
    ]
    told = [_OPEN] if any(row.survives == "open" for row in rows) else []
    return Sheet(
        name="renderings",
        title="Renderings: whether results survive other words",
        tables=(_verdicts(rows), _means(rows)) if rows else (),
        charts=(Dots("Mean score by rendering", "points", 0, FULL, dots),) if rows else (),
        notes=(*panel.notes(), *(told if rows else [_NONE])),
        document={"rows": [_document(row) for row in rows], **panel.document()},
    )


def _row(task: str, agent: str, runs: Sequence[Score]) -> Row | None:
    """The row of an agent's runs of a task, or None where none is of a rendering."""
    by_rendering = dict(split(runs, rendering_of))
    if by_rendering.keys() <= {PLAIN}:
        return None
    parts = tuple(_part(name, own) for name, own in by_rendering.items())
    return Row(task, agent, parts, tuple(_differences(parts)))


def rendering_of(score: Score) -> str:
    """The rendering that a run was played in; empty for none."""
    return parts_of(score.case or "")[1]


def _part(name: str, runs: Sequence[Score]) -> Part:
    found: dict[Place, list[Score]] = {}
    for score in runs:
        found.setdefault(_place(score), []).append(score)
    clustered = [score._replace(cluster=repr(place)) for place, own in found.items() for score in own]
    return Part(name, mean_of(clustered), {place: stats.mean(values_of(own)) for place, own in found.items()})


def _place(score: Score) -> Place:
    return parts_of(score.case or "")[0], score.trial or 0


def _differences(parts: Sequence[Part]) -> Iterator[Difference]:
    plain = [part for part in parts if part.name == PLAIN]
    others = [part for part in parts if part.name != PLAIN]
    for first, second in product(plain, others) if plain else combinations(others, 2):
        both = sorted(first.by_place.keys() & second.by_place.keys())
        values = [first.by_place[place] - second.by_place[place] for place in both]
        if values:
            interval, smallest = stats.interval(values, both), stats.smallest_gap(values, both)
            yield Difference(first.name, second.name, len(both), stats.mean(values), interval, smallest)


def _said(rendering: str) -> str:
    return rendering or "plain"


def _verdicts(rows: Sequence[Row]) -> Table:
    cells: list[tuple[str, ...]] = []
    for row in rows:
        largest, told = row.largest, ("–", "–", "–", "–")
        if largest is not None:
            name = f"{_said(largest.first)} − {_said(largest.second)}"
            mean = stats.decimal(largest.mean, 1)
            told = (name, str(largest.places), mean, span(largest.interval, 1))
        cells.append((row.task, row.agent, str(len(row.parts)), *told, row.survives))
    told_heads = ("largest difference", "pairs", "mean", "95 % interval", "survives")
    return Table(("task", "agent", "renderings", *told_heads), cells, frozenset({0, 1, 3, 7}))


def _means(rows: Sequence[Row]) -> Table:
    cells = [
        (
            row.task,
            row.agent,
            _said(part.name),
            str(part.mean.runs),
            stats.decimal(part.mean.value, 1),
            span(part.mean.interval, 1),
        )
        for row in rows
        for part in row.parts
    ]
    heads = ("task", "agent", "rendering", "runs", "mean", "95 % interval")
    return Table(heads, cells, frozenset({0, 1, 2}), "By rendering")


def _document(row: Row) -> dict[str, Any]:
    return {
        "task": row.task,
        "agent": row.agent,
        "renderings": [_mean(part) for part in row.parts],
        "differences": [_difference(each) for each in row.differences],
        "largest": None if row.largest is None else _difference(row.largest),
        "survives": row.survives,
    }


def _mean(part: Part) -> dict[str, Any]:
    entry = part.mean.document()
    entry["places"] = entry.pop("tasks")
    return {"rendering": part.name, **entry}


def _difference(each: Difference) -> dict[str, Any]:
    low, high = stats.ends(each.interval, 3)
    smallest = None if each.smallest is None else stats.decimal(each.smallest, 3)
    return {
        "first": each.first,
        "second": each.second,
        "pairs": each.places,
        "exact": exact(each.mean),
        "mean": stats.decimal(each.mean, 3),
        "low": low,
        "high": high,
        "smallest": smallest,
    }

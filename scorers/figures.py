"""Measures over many runs: what each task's sessions come to, by agent, with their intervals.

    scores ─► groups by task and agent ─► Figure(session | party, key): Σ total / Σ weight, 95 % interval

`session` figures are of all parties of a session together, `party` figures of the
evaluated one alone. A session is a run. Groups, and sessions within them, are in
an order of their own, so that the same runs give the same intervals.

Not here: what is measured (`measures`), how intervals come about (`bootstrap`), what was measured
before (`shift`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple

import msgspec

from ..protocol.bodies import Agent
from . import bootstrap, stats
from .compare import groups
from .measures import PLACES, Key, Measure, Sum, Sums, Unit, added, market_of
from .predicates import FULL
from .score import Score
from .tables import Table

Of = Literal["session", "party"]
SIDES: Final[tuple[Of, ...]] = ("session", "party")

SCORE: Final = Key("score")
_SCORE: Final = Measure("points", 0, FULL, "what the run was worth", "the task's predicates")
INTERVALS: Final = (
    "measures: sums over sessions by sums over sessions; intervals at 95 % by bootstrap, sessions drawn whole"
)


class Session(NamedTuple):
    """One run's measures: of all of its parties, and of the evaluated one."""

    run: str
    case: str
    trial: int
    session: Sums
    party: Sums


class Group(NamedTuple):
    """The sessions of one task that one agent played; ``label`` is the agent's name among the others."""

    task: str
    digest: str
    world: str
    label: str
    agent: Agent | None
    sessions: Sequence[Session]


class Figure(NamedTuple):
    """A measure over a group's sessions; ``sessions`` are those that it says something of."""

    of: Of
    key: Key
    unit: Unit
    value: Fraction
    interval: stats.Interval | None
    sessions: int


def measured_groups(scores: Iterable[Score]) -> list[Group]:
    """The runs that were measured, by task and agent; the tasks by name, the agents as in a comparison."""
    measured = [score for score in scores if score.measured is not None]
    found: dict[tuple[str, str, str], Group] = {}
    for label, runs in groups(measured):
        for score in runs:
            place = score.task or "", score.task_digest or "", label
            group = found.get(place)
            if group is None:
                assert score.measured is not None, "only runs that were measured are grouped"
                group = found[place] = Group(*place[:2], score.measured.world, label, score.agent, [])
            found[place] = group._replace(sessions=[*group.sessions, _session(score)])
    ordered = sorted(found.items(), key=lambda each: each[0][:2])
    return [group._replace(sessions=sorted(group.sessions, key=_order)) for _, group in ordered]


def _session(score: Score) -> Session:
    assert score.measured is not None, "only runs that were measured are grouped"
    worth = {} if score.value is None else {SCORE: Sum(score.value, Fraction(1))}
    session = {**worth, **score.measured.session}
    return Session(score.run, score.case or "", score.trial or 0, session, score.measured.party)


def _order(session: Session) -> tuple[str, int, str]:
    return session.case, session.trial, session.run


def figures(group: Group) -> list[Figure]:
    """What a group's sessions come to, in the order in which the market lists its measures."""
    found: list[Figure] = []
    for of in SIDES:
        sums = [session.session if of == "session" else session.party for session in group.sessions]
        intervals = bootstrap.intervals(sums)
        for key, pooled in sorted(added(sums).items(), key=lambda each: _place(group.world, each[0])):
            if pooled.value is not None:
                saying = sum(key in each and each[key].weight > 0 for each in sums)
                unit = unit_of(group.world, key)
                found.append(Figure(of, key, unit, pooled.value, intervals[key], saying))
    return found


def measures_of(world: str) -> Mapping[str, Measure]:
    """The measures that runs of a world have, their score the first."""
    market = market_of(world)
    return {SCORE.name: _SCORE, **({} if market is None else market.measures)}


def unit_of(world: str, key: Key) -> Unit:
    """What a measure is counted in."""
    return measures_of(world)[key.name].unit


def _place(world: str, key: Key) -> tuple[int, int]:
    return [*measures_of(world)].index(key.name), key.round


def tables(found: Iterable[Group]) -> Iterator[Table]:
    """A table for each group."""
    heads = ("measure", "unit", "of", "value", "95 % interval", "sessions")
    for group in found:
        rows = [
            (each.key.text, each.unit, each.of, *_told(each), str(each.sessions)) for each in figures(group)
        ]
        yield Table(heads, rows, frozenset({0, 1, 2}), _title(group))


def _title(group: Group) -> str:
    """What a group is called."""
    return f"Measures: {group.task or 'no task'}, {group.label}"


def _told(figure: Figure) -> tuple[str, str]:
    places = PLACES[figure.unit]
    low, high = stats.ends(figure.interval, places)
    return stats.decimal(figure.value, places), "–" if low is None else f"{low} to {high}"


def document(found: Iterable[Group]) -> list[dict[str, Any]]:
    """The groups as JSON; sums are exact, `3/2` or `7`, as a baseline needs them."""
    return [
        {
            "task": group.task,
            "digest": group.digest,
            "world": group.world,
            "label": group.label,
            "agent": msgspec.to_builtins(group.agent, order="sorted"),
            "figures": [_figure(each) for each in figures(group)],
            "sessions": [
                {
                    "run": session.run,
                    "case": session.case,
                    "trial": session.trial,
                    "session": _sums(session.session),
                    "party": _sums(session.party),
                }
                for session in group.sessions
            ],
        }
        for group in found
    ]


def _figure(figure: Figure) -> dict[str, Any]:
    value, interval = _told(figure)[0], figure.interval
    low, high = stats.ends(interval, PLACES[figure.unit])
    return {
        "measure": figure.key.text,
        "of": figure.of,
        "unit": figure.unit,
        "value": value,
        "exact": str(figure.value),
        "low": low,
        "high": high,
        "sessions": figure.sessions,
    }


def _sums(sums: Sums) -> dict[str, list[str]]:
    saying = sorted((key, each) for key, each in sums.items() if each.weight)
    return {key.text: [str(each.total), str(each.weight)] for key, each in saying}

"""Whether measures moved since they were kept: against the document of an earlier `score --json`.

    baseline ─► groups; for each of the same task's same agent:  now − then, 95 % interval
    a shift     the interval excludes 0

Conditions that are named tasks have the same values and seeds each time, so where
both have the same trials, once each, they are drawn as pairs; else each for itself.
A group is compared with those of its task, of the same digest, whose agent has its
name: of another model or version, or played again. Of many differences some lie
beyond their interval by chance, one in twenty.

Not here: reading the file (`tollbook.tasks`), which runs make a group (`figures`).

Source: "Measuring AI agents in simulated auctions", pinned versions and re-baselining.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from ..protocol.bodies import Agent
from ..protocol.errors import ScoreError
from . import stats
from .bootstrap import interval, replicates
from .compare import plain
from .figures import SIDES, Group, Of, Session, measures_of, unit_of
from .measures import PLACES, Key, Sum, Sums, Unit, added
from .tables import Table

SCHEMA: Final = "tollbook.score/1"
CHANCE: Final = "shifts: an interval that excludes 0; of many, one in twenty does so by chance"

_HINT: Final = "keep one with `tollbook score --json > baseline.json`"


class Shift(NamedTuple):
    """How much a measure differs from what was kept."""

    of: Of
    key: Key
    unit: Unit
    then: Fraction
    now: Fraction
    interval: stats.Interval | None

    @property
    def is_shifted(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high


class Versus(NamedTuple):
    """A group set against one that was kept; ``is_paired``, whether by the same trials."""

    now: Group
    then: Group
    is_paired: bool
    shifts: Sequence[Shift]


_Exact = Annotated[str, msgspec.Meta(pattern=r"^-?[0-9]{1,1000}(/[0-9]{1,1000})?$")]
"""A fraction as it is kept; `Fraction` itself would read `1e999999999` too."""


class _Session(msgspec.Struct, frozen=True):
    run: str
    case: str
    trial: int
    session: dict[str, tuple[_Exact, _Exact]]
    party: dict[str, tuple[_Exact, _Exact]]


class _Group(msgspec.Struct, frozen=True):
    task: str
    digest: str
    world: str
    label: str
    agent: Agent | None
    sessions: list[_Session]


class _Document(msgspec.Struct, frozen=True):
    schema: str
    measures: list[_Group] = []


_DOCUMENT: Final = msgspec.json.Decoder(_Document)


def read_baseline(data: bytes, name: str) -> list[Group]:
    """The groups of a document that `score --json` wrote; ``name`` is the file's.

    Raises:
        ScoreError: `baseline.form`, `baseline.empty`.
    """
    try:
        document = _DOCUMENT.decode(data)
        groups = [_group(each) for each in document.measures]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError, ZeroDivisionError):
        raise ScoreError("baseline.form", f"`{name}` is no document of `score --json`", _HINT) from None
    if document.schema != SCHEMA:
        raise ScoreError("baseline.form", f"`{name}` is no document of `score --json`", _HINT)
    if not groups:
        hint = "keep one of runs in a market that has measures, such as `auction`"
        raise ScoreError("baseline.empty", f"`{name}` holds no measures", hint)
    return groups


def _group(group: _Group) -> Group:
    sessions = [
        Session(each.run, each.case, each.trial, _sums(each.session, group), _sums(each.party, group))
        for each in group.sessions
    ]
    return Group(group.task, group.digest, group.world, group.label, group.agent, sessions)


def _sums(texts: Mapping[str, tuple[str, str]], group: _Group) -> Sums:
    """Those of measures that are still there."""
    known = measures_of(group.world)
    found = {_key(text): Sum(Fraction(total), Fraction(weight)) for text, (total, weight) in texts.items()}
    return {key: each for key, each in found.items() if key.name in known}


def _key(text: str) -> Key:
    name, _, number = text.partition(".")
    return Key(name, int(number or 0))


def versus(now: Iterable[Group], then: Sequence[Group]) -> list[Versus]:
    """Each group against each that was kept of its task and agent."""
    return [
        _against(group, kept)
        for group in now
        for kept in then
        if (group.task, group.digest, _name(group)) == (kept.task, kept.digest, _name(kept))
    ]


def unmatched(now: Iterable[Group], then: Sequence[Group]) -> list[str]:
    """The groups with which nothing that was kept can be compared, each with why."""
    now = list(now)
    lines = [] if now else ["not compared: no run has measures"]
    for group in now:
        same_task = [kept for kept in then if kept.task == group.task]
        same = [kept for kept in same_task if kept.digest == group.digest]
        if any(_name(kept) == _name(group) for kept in same):
            continue
        why = "of its agent" if same else "of the task as it is now" if same_task else "of the task"
        lines.append(f"not compared: {group.task}, {group.label}: nothing was kept {why}")
    return lines


def _name(group: Group) -> str:
    return "" if group.agent is None else group.agent.name


def _against(now: Group, then: Group) -> Versus:
    is_paired = _trials(now) == _trials(then) and len(set(_trials(now))) == len(now.sessions)
    shifts = [shift for of in SIDES for shift in _shifts(now, then, of, is_paired=is_paired)]
    return Versus(now, then, is_paired, shifts)


def _trials(group: Group) -> list[tuple[str, int]]:
    return sorted((session.case, session.trial) for session in group.sessions)


def _shifts(now: Group, then: Group, of: Of, *, is_paired: bool) -> Iterator[Shift]:
    sums = [
        [each.session if of == "session" else each.party for each in sorted(group.sessions, key=_order)]
        for group in (now, then)
    ]
    pooled = [added(each) for each in sums]
    # Pairs fall into a resample together, since both have the same number and label.
    labels = ("", "") if is_paired else ("now", "then")
    drawn = [replicates(each, label) for each, label in zip(sums, labels, strict=True)]
    order = [*measures_of(now.world)]
    keys = pooled[0].keys() & pooled[1].keys()
    for key in sorted(keys, key=lambda key: (order.index(key.name), key.round)):
        values = [each[key].value for each in pooled]
        if values[0] is None or values[1] is None:
            continue
        both = zip(drawn[0][key], drawn[1][key], strict=True)
        gaps = [a - b for a, b in both if a is not None and b is not None]
        shows = min(sum(key in each and each[key].weight > 0 for each in side) for side in sums)
        found = interval(gaps) if shows > 1 else None
        yield Shift(of, key, unit_of(now.world, key), values[1], values[0], found)


def _order(session: Session) -> tuple[str, int, str]:
    return session.case, session.trial, session.run


def shift_table(found: Versus) -> Table:
    """The differences of one comparison."""
    heads = ("measure", "unit", "of", "kept", "now", "difference", "95 % interval", "")
    rows: list[tuple[str, ...]] = []
    for each in found.shifts:
        places = PLACES[each.unit]
        values = (stats.decimal(value, places) for value in (each.then, each.now, each.now - each.then))
        low, high = stats.ends(each.interval, places)
        told = "–" if low is None else f"{low} to {high}"
        rows.append((each.key.text, each.unit, each.of, *values, told, "shift" if each.is_shifted else ""))
    return Table(heads, rows, frozenset({0, 1, 2, 7}), _title(found))


def _title(found: Versus) -> str:
    """What is compared with what."""
    now, then = (
        plain(f"{group.label} {'' if group.agent is None else group.agent.version}".rstrip())
        for group in (found.now, found.then)
    )
    counts = f"{len(found.now.sessions)} and {len(found.then.sessions)} sessions"
    how = ", paired" if found.is_paired else ""
    return f"Baseline: {found.now.task}, {now} now, {then} kept, {counts}{how}"


def document(found: Iterable[Versus]) -> list[dict[str, Any]]:
    """The comparisons as JSON."""
    return [
        {
            "task": each.now.task,
            "digest": each.now.digest,
            "agent": msgspec.to_builtins(each.now.agent, order="sorted"),
            "kept": msgspec.to_builtins(each.then.agent, order="sorted"),
            "paired": each.is_paired,
            "shifted": any(shift.is_shifted for shift in each.shifts),
            "shifts": [_shift(shift) for shift in each.shifts],
        }
        for each in found
    ]


def _shift(shift: Shift) -> dict[str, Any]:
    places = PLACES[shift.unit]
    low, high = stats.ends(shift.interval, places)
    return {
        "measure": shift.key.text,
        "of": shift.of,
        "unit": shift.unit,
        "kept": stats.decimal(shift.then, places),
        "now": stats.decimal(shift.now, places),
        "difference": stats.decimal(shift.now - shift.then, places),
        "low": low,
        "high": high,
        "shifted": shift.is_shifted,
    }

"""Where two runs part, and what stands against what from there on.

    messages 0 … i−1 the same │ i: the first that differs
    from there on   acts of a ─┐
                    acts of b ─┴► aligned at the least cost ─► what followed each, aligned likewise ─► pairs

    cost    0 the same · 1 the same kind from the same party · 3 another kind · 2 without a counterpart

So an agent that looks first and then does what the other does is shown as that,
not as one that does everything otherwise.

Not here: what of a run can be compared (`sides`), printing (`tasks.commands.diff`).

Source: Needleman and Wunsch 1970.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple, TypeVar

from ..scorers.view import Withheld
from .sides import Row, Side, Spoken, alike

T = TypeVar("T")
Json = Any

_GAP: Final = 2
_OTHERWISE: Final = 1
_ANOTHER: Final = 3
_NEVER: Final = 5
MAX_CELLS: Final = 250_000
"""Pairs of acts that are weighed; runs of more, over five hundred acts each, are aligned by place."""


class Value(NamedTuple):
    """What differs, by its path, and its value on both sides; None where there is none."""

    what: str
    a: Json
    b: Json


class Pair(NamedTuple):
    """A message of each run that stand against each other; one of them may be missing."""

    a: Spoken | None
    b: Spoken | None
    is_same: bool


class Cell(NamedTuple):
    """A column of a row at the end that differs; without a column, a row that one run lacks.

    ``keys`` are the row's keys in the two runs, None where there is none.
    """

    table: str
    name: str
    keys: tuple[str | None, str | None]
    column: str | None
    a: Json
    b: Json


class Parting(NamedTuple):
    """What differs between two runs.

    ``parted`` is the place of the first messages that differ, counted from 0, None where none do.
    """

    began: Sequence[Value]
    parted: int | None
    pairs: Sequence[Pair]
    cells: Sequence[Cell]
    outcomes: tuple[str | None, str | None]

    @property
    def is_same(self) -> bool:
        """Whether the same was said and decided, to the same end."""
        return self.parted is None and self.outcomes[0] == self.outcomes[1]


def part(a: Side, b: Side) -> Parting:
    """What differs between two runs."""
    parted = _first(a.spoken, b.spoken)
    return Parting(
        began=list(_began(a, b)),
        parted=parted,
        pairs=[] if parted is None else list(_pairs(a, b, parted)),
        cells=list(_cells(a, b)),
        outcomes=(a.outcome, b.outcome),
    )


def _began(a: Side, b: Side) -> Iterator[Value]:
    withheld = {what for side in (a, b) for what, value in side.began.items() if isinstance(value, Withheld)}
    for what in dict.fromkeys([*a.began, *b.began]):
        one, other = a.began.get(what), b.began.get(what)
        if not alike(one, other) and not any(what.startswith(f"{each}.") for each in withheld):
            yield Value(what, one, other)


def _first(a: Sequence[Spoken], b: Sequence[Spoken]) -> int | None:
    for place, (one, other) in enumerate(zip_longest(a, b)):
        if one is None or other is None or not alike(one.bare, other.bare):
            return place
    return None


def _pairs(a: Side, b: Side, parted: int) -> Iterator[Pair]:
    """The messages of both from where they part."""
    first, second = _rounds(a), _rounds(b)
    begun = min(_round_of(first, parted), _round_of(second, parted))
    before = {each.seq for each in a.spoken[:parted]}
    acts = aligned(first[begun:], second[begun:], lambda one, other: _cost(one[0], other[0]))
    for one, other in acts:
        for left, right in aligned(one or (), other or (), _cost):
            is_same = left is not None and right is not None and _cost(left, right) == 0
            if not (is_same and left is not None and left.seq in before):
                yield Pair(left, right, is_same)


def aligned(
    a: Sequence[T], b: Sequence[T], cost: Callable[[T, T], int]
) -> Iterator[tuple[T | None, T | None]]:
    """Both in order, set against each other at the least cost; of equal ways, that which goes on in both."""
    if len(a) * len(b) > MAX_CELLS:
        yield from zip_longest(a, b)
        return
    least = [[_GAP * (len(b) - j) for j in range(len(b) + 1)] for _ in range(len(a) + 1)]  # of what is left
    for i in range(len(a) - 1, -1, -1):
        row, below = least[i], least[i + 1]
        row[-1] = below[-1] + _GAP
        for j in range(len(b) - 1, -1, -1):
            row[j] = min(below[j + 1] + cost(a[i], b[j]), below[j] + _GAP, row[j + 1] + _GAP)
    i = j = 0
    while i < len(a) or j < len(b):
        here = least[i][j]
        if i < len(a) and j < len(b) and here == least[i + 1][j + 1] + cost(a[i], b[j]):
            yield a[i], b[j]
            i, j = i + 1, j + 1
        elif i < len(a) and here == least[i + 1][j] + _GAP:
            yield a[i], None
            i += 1
        else:
            yield None, b[j]
            j += 1


def _cost(one: Spoken, other: Spoken) -> int:
    if one.sender != other.sender:
        return _NEVER
    if one.kind != other.kind:
        return _ANOTHER
    return 0 if one.bare == other.bare or alike(one.bare, other.bare) else _OTHERWISE


def _rounds(side: Side) -> list[Sequence[Spoken]]:
    """The messages by the actor's acts: each act with what followed it; first, what came before any."""
    rounds: list[list[Spoken]] = []
    for spoken in side.spoken:
        if not rounds or spoken.sender == side.actor:
            rounds.append([])
        rounds[-1].append(spoken)
    return [*rounds]


def _round_of(rounds: Sequence[Sequence[Spoken]], place: int) -> int:
    """The round in which the message at a place stands; behind the last message, none yet."""
    for number, each in enumerate(rounds):
        if place < len(each):
            return number
        place -= len(each)
    return len(rounds)


def _cells(a: Side, b: Side) -> Iterator[Cell]:
    for table in sorted(a.rows.keys() | b.rows.keys()):
        first, second = a.rows.get(table, {}), b.rows.get(table, {})
        for name in [*first, *(name for name in second if name not in first)]:
            one, other = first.get(name), second.get(name)
            keys = (one and one[0], other and other[0])
            if one is None or other is None:
                yield Cell(table, name, keys, None, one and one[1], other and other[1])
                continue
            for column, left, right in _columns(one[1], other[1]):
                yield Cell(table, name, keys, column, left, right)


def _columns(one: Row, other: Row) -> Iterator[tuple[str, Json, Json]]:
    for column in dict.fromkeys([*one, *other]):
        if not alike(one.get(column), other.get(column)):
            yield column, one.get(column), other.get(column)

"""What falls due, in the order of ticks: a pairing heap whose nodes are rows.

    agenda.now ─► first ─┬─ child ─► next ─► next         no node is due before the one above it
                         └─ its children are a list: child, then next of each

    entering writes two rows, however many there are; taking the first out melds its children in pairs,
    which over many takes about log n rows each

A row of `due` has the key of the agreement that falls due. One that was settled meanwhile stays until its
tick comes: who takes it out looks at its state. Not here: what becomes of what is due (`clock`).

Source: Fredman, Sedgewick, Sleator and Tarjan 1986, "The pairing heap".
"""

from __future__ import annotations

import msgspec

from ..canonical import Id
from ..joined import Subject
from ..tables import State
from .terms import AgreementIdOrNone, CommerceRow, Tick

AGENDA_KEY = "now"

_replace = msgspec.structs.replace


class Agenda(CommerceRow, frozen=True):
    """The only row of `agenda`: the key of what falls due first."""

    first: AgreementIdOrNone


class Due(CommerceRow, frozen=True):
    """A row of `due`: what ends after tick ``tick``, and the keys of the nodes below and beside it."""

    tick: Tick
    child: Id | None = None
    next: Id | None = None


def enter(state: State, key: str, tick: int) -> None:
    """Stages that this agreement ends after that tick. It is entered once."""
    state.put("due", key, Due(tick))
    _begin_with(state, _meld(state, _first(state), key))


def leave(state: State) -> None:
    """Stages that the first one is off the agenda. There is one."""
    key = _first(state)
    assert key is not None
    row: Due = state.get("due", key)
    rest = row.child
    state.put("due", key, _replace(row, child=None))
    pairs: list[str] = []
    while rest is not None:
        one = rest
        two, rest = _cut(state, one), None
        if two is not None:
            rest = _cut(state, two)
        melded = _meld(state, one, two)
        assert melded is not None
        pairs.append(melded)
    left: str | None = None
    while pairs:
        left = _meld(state, left, pairs.pop())
    _begin_with(state, left)


def ended(state: State, tick: int) -> list[str]:
    """The keys of all that ended before `tick`, in the order in which `leave` takes them out."""
    found: list[tuple[int, str]] = []
    first = _first(state)
    open_ = [] if first is None else [first]
    while open_:
        key = open_.pop()
        row: Due = state.get("due", key)
        if row.next is not None:
            open_.append(row.next)
        if row.tick < tick:
            found.append((row.tick, key))
            if row.child is not None:
                open_.append(row.child)
    return [key for _tick, key in sorted(found)]


def _first(state: State) -> str | None:
    row: Agenda | None = state.get("agenda", AGENDA_KEY)
    return None if row is None else row.first


def _begin_with(state: State, key: str | None) -> None:
    if key != _first(state):
        state.put("agenda", AGENDA_KEY, Agenda(key))


def _cut(state: State, key: str) -> str | None:
    """Takes a node out of its list of children; the one that came after it."""
    row: Due = state.get("due", key)
    if row.next is not None:
        state.put("due", key, _replace(row, next=None))
    return row.next


def _meld(state: State, one: str | None, two: str | None) -> str | None:
    """The key of one heap out of two, each a node without siblings."""
    if one is None or two is None:
        return two if one is None else one
    above, below = state.get("due", one), state.get("due", two)
    if (below.tick, two) < (above.tick, one):
        one, two, above, below = two, one, below, above
    state.put("due", two, _replace(below, next=above.child))
    state.put("due", one, _replace(above, child=two))
    return one


SUBJECT = Subject(rows={"agenda": Agenda, "due": Due}, rules=(), events={}, refusals={})

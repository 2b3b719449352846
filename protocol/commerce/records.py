"""Decision records: what a party found, in values that can be compared, each with its source.

    value  = field (of a row, or of the decision as a whole), value, unit, the evidence record it was read in
    record = values + what was chosen, ranked, considered, applied, discarded, what governed and what was used

The lists hold keys of rows, or names that the task gives. A source is a record that the sender may read, so a
made-up one is refused. Nothing follows from a record, and no row is made of it: the message is the record.
Not here: whether it is right, which is for whoever asked for it to judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec

from ..bodies import Text
from ..canonical import Id, Integer
from ..joined import Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal
from .evidence import readable
from .terms import CommerceAction, CommerceEvent, CommerceRow, EvidenceRecordIdOrNone

Keys = Annotated[tuple[Id, ...], msgspec.Meta(max_length=256)]


class StatedValue(CommerceRow, frozen=True):
    """One value: of the field of the row ``about``, in ``unit``, as ``source`` has it."""

    field: Id
    value: Text | Integer | bool | None
    about: Id | None = None
    unit: Id | None = None
    source: EvidenceRecordIdOrNone = None


StatedValues = Annotated[tuple[StatedValue, ...], msgspec.Meta(max_length=256)]


class RecordSubmit(CommerceAction, frozen=True, tag="record.submit"):
    """Puts a decision on record: values with their sources, what was chosen, and what it rested on.

    The lists hold keys of rows, or names that were given; `ranked` is best first. Nothing follows from a
    record.
    """

    values: StatedValues = ()
    chosen: Id | None = None
    ranked: Keys = ()
    considered: Keys = ()
    applied: Keys = ()
    discarded: Keys = ()
    governing: Keys = ()
    used: Keys = ()


class RecordSubmitted(CommerceEvent, frozen=True, tag="record.submitted"):
    """A party put a decision on record."""

    party: str


def unsourced(state: State, values: Iterable[StatedValue], readers: Iterable[str]) -> str | None:
    """The first source that isn't a record which all these parties may read, or None."""
    for stated in values:
        key = stated.source
        if key is not None and any(readable(state, key, party) is None for party in readers):
            return key
    return None


def said_twice(values: Iterable[StatedValue]) -> StatedValue | None:
    """The first value of a field of a row that was given a value before, or None."""
    given: set[tuple[str | None, str]] = set()
    for stated in values:
        if (stated.about, stated.field) in given:
            return stated
        given.add((stated.about, stated.field))
    return None


def _submit(state: State, act: Act) -> Verdict:
    action: RecordSubmit = act.action
    if _is_empty(action):
        return Refusal("record.empty", {})
    twice = said_twice(action.values)
    if twice is not None:
        return Refusal("record.twice", {"about": twice.about, "field": twice.field})
    source = unsourced(state, action.values, (act.sender,))
    if source is not None:
        return Refusal("record.source", {"evidence_record": source})
    return Accepted([RecordSubmitted(act.sender)])


def _is_empty(action: RecordSubmit) -> bool:
    named = action.ranked, action.considered, action.applied, action.discarded, action.governing, action.used
    return action.chosen is None and not action.values and not any(named)


def _submitted(_state: State, _event: RecordSubmitted) -> None:
    """No row changes: a record binds nobody."""


SUBJECT = Subject(
    rows={},
    rules=(
        Rule(
            RecordSubmit,
            _submit,
            checks=("record.empty", "record.twice", "record.source"),
            is_unaddressed=True,
        ),
    ),
    events={RecordSubmitted: _submitted},
    refusals={
        "record.empty": "the record says nothing",
        "record.twice": "the record gives a field of the same row two values",
        "record.source": "there is no such record that the sender may read",
    },
)

"""States: roots, counts and deltas of rows put and removed, against the same worked out from all rows."""

from __future__ import annotations

from hashlib import sha256

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tollbook.protocol.canonical import encode_typed
from tollbook.protocol.tables import NO_CHANGE, Facts, State

TABLES = ("left", "right")


class Row(msgspec.Struct, frozen=True):
    value: int


ROWS = st.dictionaries(st.tuples(st.sampled_from(TABLES), st.sampled_from("abcdefgh")), st.integers(0, 3))
CHANGES = st.dictionaries(
    st.tuples(st.sampled_from(TABLES), st.sampled_from("abcdefghij")), st.none() | st.integers(0, 3)
)
STEPS = st.lists(st.tuples(CHANGES, st.booleans()), max_size=4)

Rows = dict[tuple[str, str], int]
Changes = dict[tuple[str, str], int | None]


def facts_of(rows: Rows) -> Facts:
    return Facts(TABLES, [(table, key, Row(value)) for (table, key), value in rows.items()])


def after(rows: Rows, changes: Changes) -> Rows:
    return {place: value for place, value in {**rows, **changes}.items() if value is not None}


@given(ROWS, STEPS)
def test_a_state_is_the_rows_that_were_kept(rows: Rows, steps: list[tuple[Changes, bool]]) -> None:
    facts = facts_of(rows)
    state, now = State(facts), dict(rows)
    for changes, keeps in steps:
        for (table, key), value in changes.items():
            state.delta()  # asked in between, as a market's invariants ask
            if value is None:
                state.remove(table, key)
            else:
                state.put(table, key, Row(value))
        then = after(now, changes)
        differing = sorted(place for place in {**now, **then} if now.get(place) != then.get(place))
        expected = [[*place, None if place not in then else Row(then[place])] for place in differing]
        assert [tuple(each[:2]) for each in expected] == [change[:2] for change in state.staged()]
        delta = sha256(encode_typed(expected)).hexdigest()
        assert (delta if differing else NO_CHANGE) == state.delta()
        assert [(place, then.get(place)) for place in changes] == [
            (place, None if (row := state.get(*place)) is None else row.value) for place in changes
        ]
        if keeps:
            state.commit()
            now = then
        else:
            state.discard()
        assert (facts_of(now).root, len(now)) == (state.root(), state.count())
        assert facts.root == facts_of(rows).root

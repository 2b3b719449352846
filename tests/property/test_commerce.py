"""What holds of the commerce market whatever is said in it, by whomever.

What start rows must agree on, the rows of every run do.
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from market_readers import may_read
from whole_market import CHOICES, FACTS, ROWS, WORLD, Choice, formed, rows_of, ruled

from tollbook.protocol.bodies import Decision, Message
from tollbook.protocol.canonical import encode, encode_typed
from tollbook.protocol.commerce import coherence
from tollbook.protocol.commerce.world import MACHINES, REFUSALS
from tollbook.protocol.engine import Ruling
from tollbook.protocol.errors import WorldError
from tollbook.protocol.tables import NO_CHANGE, State

RUNS = st.lists(CHOICES, min_size=4, max_size=25)


def said(state: State, choice: Choice, seq: int) -> tuple[Message, Ruling]:
    message = formed(state, choice)
    return message, ruled(state, message, seq)


def totals(accounts: Collection[Any]) -> dict[str, int]:
    return {money: sum(row.balances.get(money, 0) for row in accounts) for money in ("EUR", "SEK")}


def follows_its_machines(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> bool:
    for table, machine in MACHINES.items():
        for key, row in after[table].items():
            old = before[table].get(key)
            if old is None and row.state not in machine.first:
                return False
            if old is not None and row.state not in {old.state, *machine.steps.get(old.state, ())}:
                return False
    return True


@given(RUNS)
@settings(max_examples=60, deadline=None)
def test_rows_agree_after_every_act_and_refusals_change_nothing(choices: list[Choice]) -> None:
    state = State(FACTS)
    for place, choice in enumerate(choices):
        before, root = rows_of(state), state.root()
        message, ruling = said(state, choice, 2 * place + 1)
        decision = ruling.decision
        after = rows_of(state)
        if decision.outcome == "refused":
            assert decision.rule in REFUSALS or decision.rule in {"party.role", "message.key"}
            assert (NO_CHANGE, root) == (decision.delta, state.root())
        coherence.check(after)
        assert follows_its_machines(before, after)
        assert before["posting"].items() <= after["posting"].items()
        assert {"EUR": 0, "SEK": 0} == totals(after["account"].values())
        if choice.kind in WORLD.queries:
            assert before == after
        for table, key in decision.reads:
            is_own_work = before[table].get(key) != after[table][key]
            assert is_own_work or may_read(after, table, key, message.sender)


@given(RUNS)
@settings(max_examples=60, deadline=None)
def test_a_replay_gives_the_same_bytes_and_the_same_rows(choices: list[Choice]) -> None:
    first, second = State(FACTS), State(FACTS)
    for place, choice in enumerate(choices):
        message, ruling = said(first, choice, 2 * place + 1)
        assert ruling.body == ruled(second, message, 2 * place + 1).body
        if ruling.shown is not None:
            assert encode(ruling.shown.value)
    assert first.root() == second.root()
    for table, _key, row in first.changed():
        if table in WORLD.tables:
            assert row == WORLD.read_row(table, encode_typed(row))


@given(RUNS)
@settings(max_examples=40, deadline=None)
def test_events_carry_all_that_their_change_needs(choices: list[Choice]) -> None:
    state, told = State(FACTS), State(FACTS)
    for place, choice in enumerate(choices):
        _message, ruling = said(state, choice, 2 * place + 1)
        for event in ruling.decision.events:
            kind: Any = type(event)
            WORLD.evolve(told, msgspec.json.decode(encode_typed(event), type=kind))
        told.commit()
    assert rows_of(state) == rows_of(told)


@given(RUNS, CHOICES)
@settings(max_examples=40, deadline=None)
def test_a_retry_gives_the_first_result_and_changes_nothing(choices: list[Choice], last: Choice) -> None:
    state = State(FACTS)
    for place, choice in enumerate(choices):
        said(state, choice._replace(key=None), 2 * place + 1)
    message, first = said(state, last._replace(key="once"), 101)
    if first.decision.outcome == "accepted":
        root = state.root()
        again: Decision = ruled(state, message, 103).decision
        assert ("message.retry", first.decision.result, []) == (again.rule, again.result, again.events)
        assert root == state.root()


TEXTS = st.sampled_from(["b1", "l1", "o1", "p1", ""])
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS
NESTED = st.dictionaries(st.sampled_from(["quantity", "listing"]), SCALARS)
PLACES = [
    (table, key, column)
    for table, found in ROWS.items()
    for key in found
    for column in WORLD.tables[table].__struct_fields__
]
CHANGES = st.tuples(st.sampled_from(PLACES), SCALARS | st.lists(SCALARS | NESTED, max_size=2) | NESTED)


@given(st.lists(CHANGES, min_size=1, max_size=3))
@settings(max_examples=100, deadline=None)
def test_start_rows_are_made_whole_or_refused(changes: list[tuple[tuple[str, str, str], Any]]) -> None:
    rows = copy.deepcopy(ROWS)
    for (table, key, column), value in changes:
        rows[table][key][column] = value
    try:
        made = WORLD.complete(rows)
    except WorldError as refused:
        error = refused
    else:
        assert made == WORLD.complete(made)
        return
    assert ("facts.row", True) == (error.code, error.text.startswith("row `"))

"""What holds of the retail market whatever is called.

Refusals change nothing; events carry all that their change needs; in strict,
money is conserved: per order, and per gift card.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tollbook.protocol.canonical import encode, encode_typed
from tollbook.protocol.retail.rows import Order, User
from tollbook.protocol.retail.rules import WRITES
from tollbook.protocol.retail.shop import rows_of_shop
from tollbook.protocol.retail.world import make
from tollbook.protocol.tables import NO_CHANGE, State
from tollbook.protocol.world import Act, Refusal

HERE = Path(__file__).resolve()
SMALL = json.loads((HERE.parents[1] / "unit/protocol/retail/small_shop.json").read_text("utf-8"))
WORLDS = {mode: make({"mode": mode}) for mode in ("compat", "strict")}
FACTS = {mode: world.facts(rows_of_shop(SMALL, mode)) for mode, world in WORLDS.items()}

ORDERS = st.sampled_from([*SMALL["orders"], "no"])
ITEMS = st.lists(st.sampled_from(["L1", "L1", "L2", "C1", "C2", "C3", "L4", "B1"]), max_size=3).map(tuple)
METHODS = st.sampled_from([key for user in SMALL["users"].values() for key in user["payment_methods"]])
TEXT = st.sampled_from(["no longer needed", "11111", "zoe_2", "ann_1", "", "é"])


def fields_of(action: type[msgspec.Struct]) -> st.SearchStrategy[dict[str, Any]]:
    known = {"order_id": ORDERS, "item_ids": ITEMS, "new_item_ids": ITEMS, "payment_method_id": METHODS}
    return st.fixed_dictionaries({name: known.get(name, TEXT) for name in action.__struct_fields__})


@st.composite
def paired(draw: st.DrawFn) -> msgspec.Struct:
    """A change of items that the order has, paid by a method of its user: these mostly go through."""
    key = draw(st.sampled_from(["#P1", "#P2", "#P3", "#P4", "#P5", "#P7", "#P8", "#D1", "#D2"]))
    order = SMALL["orders"][key]
    lines = draw(st.permutations([line["item_id"] for line in order["items"]]))
    old = lines[: draw(st.integers(1, len(lines)))]
    same = {"L": ["L1", "L2", "L4"], "C": ["C1", "C2", "C3"]}
    new = [draw(st.sampled_from([item for item in same[had[0]] if item != had])) for had in old]
    method = draw(st.sampled_from([*SMALL["users"][order["user_id"]]["payment_methods"]]))
    is_pending = order["status"] == "pending"
    kind = "tool.modify_pending_order_items" if is_pending else "tool.exchange_delivered_order_items"
    document = {"order_id": key, "item_ids": old, "new_item_ids": new, "payment_method_id": method}
    return msgspec.convert(document, WORLDS["strict"].kinds[kind])


ACTIONS = st.one_of(
    paired(),
    *(fields_of(action).map(lambda fields, action=action: action(**fields)) for action in WRITES),
)


def net(order: Order) -> int:
    """Payments less refunds, in cents."""
    signs = {"payment": 1, "refund": -1}
    return sum(signs[row.transaction_type] * int(row.amount) for row in order.payment_history)


def owed(order: Order) -> int:
    """What the shop should hold for an order, in cents."""
    return 0 if order.status == "cancelled" else sum(int(line.price) for line in order.items)


def on_card(state: State, user: str, card: str) -> int:
    """A gift card's balance and what its user's orders have taken from it, in cents."""
    signs = {"payment": 1, "refund": -1}
    row: User = state.get("user", user)
    left = next(method.balance for method in row.payment_methods if method.id == card)
    assert isinstance(left, int)
    orders = [order for _key, order in state.rows("order") if order.user_id == user]
    rows = [row for order in orders for row in order.payment_history if row.payment_method_id == card]
    return left + sum(signs[row.transaction_type] * int(row.amount) for row in rows)


def step(mode: str, state: State, action: msgspec.Struct) -> Refusal | None:
    world = WORLDS[mode]
    verdict = world.decide(state, Act(action, "a", "assistant", 0))
    if isinstance(verdict, Refusal):
        return verdict
    for event in verdict.events:
        again = msgspec.json.decode(encode(event), type=type(event))
        assert again == event
        world.evolve(state, again)
    return None


@given(st.sampled_from(["compat", "strict"]), st.lists(ACTIONS, min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_a_refusal_changes_nothing_and_decides_alike_again(mode: str, actions: list[msgspec.Struct]) -> None:
    state = State(FACTS[mode])
    for action in actions:
        before = state.root()
        again = WORLDS[mode].decide(state, Act(action, "a", "assistant", 0))
        refusal = step(mode, state, action)
        assert (again == refusal) == (refusal is not None)
        if refusal is not None:
            assert encode(refusal.detail)
            assert (state.delta(), state.root()) == (NO_CHANGE, before)
        state.commit()


@given(st.lists(ACTIONS, min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_strict_conserves_money(actions: list[msgspec.Struct]) -> None:
    state = State(FACTS["strict"])
    cards = [(user, card) for user, card in (("zoe_2", "gift_z"), ("ann_1", "gift_a"), ("ann_0", "gift_b"))]
    held = {card: on_card(state, user, card) for user, card in cards}
    gap = {key: net(order) - owed(order) for key, order in state.rows("order")}
    for action in actions:
        step("strict", state, action)
        state.commit()
    for key, order in state.rows("order"):
        start: Order = FACTS["strict"].tables["order"].rows[key]  # pyright: ignore[reportAssignmentType]
        cancelled = order.status == "cancelled" and start.status != "cancelled"
        assert net(order) - owed(order) == (0 if cancelled else gap[key]), key
    assert {card: on_card(state, user, card) for user, card in cards} == held


@given(st.lists(ACTIONS, min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_every_row_of_a_run_reads_back(actions: list[msgspec.Struct]) -> None:
    for mode, world in WORLDS.items():
        state = State(FACTS[mode])
        for action in actions:
            step(mode, state, action)
        state.commit()
        for table, _key, row in state.changed():
            assert row is not None
            assert world.read_row(table, encode_typed(row)) == row


@given(ACTIONS)
@settings(max_examples=100, deadline=None)
def test_an_action_reads_back_from_its_bytes(action: msgspec.Struct) -> None:
    assert WORLDS["compat"].action_decoder.decode(encode(action)) == action

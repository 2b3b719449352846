"""Each invariant, broken on purpose by rows that no rule would stage."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tollbook.protocol.canonical import MAX_INTEGER
from tollbook.protocol.commerce.books import Account, LedgerPosted, Leg, Posting
from tollbook.protocol.commerce.negotiation import Negotiation
from tollbook.protocol.commerce.payments import Payment, PaymentRefunded
from tollbook.protocol.commerce.world import MACHINES

replace = msgspec.structs.replace


def posted(*amounts: tuple[str, int], currency: str = "EUR") -> LedgerPosted:
    """An entry for payment p1, legs as given."""
    legs = tuple(Leg(f"z{place}", account, amount) for place, (account, amount) in enumerate(amounts))
    return LedgerPosted(entry="z", order="o1", payment="p1", currency=currency, tick=5, legs=legs)


BACK = posted(("buyer:b1", 5), ("merchant:m1", -5))


def stage(market: Any, *changes: Any) -> str | None:
    """What the market says of staged events, and of rows put by (table, key, row or columns)."""
    state = market.state
    for change in changes:
        if not isinstance(change, tuple):
            market.world.evolve(state, change)
            continue
        table, key, row = change
        if row is None:
            state.remove(table, key)
        else:
            state.put(table, key, replace(state.get(table, key), **row) if isinstance(row, dict) else row)
    return market.world.broken(state)


POSTING = Posting(order="o1", payment="p1", account="fees", amount=1, currency="EUR", entry="z", tick=5)
OFFER = Negotiation(listing="l1", buyer="b1", merchant="m1", quantity=1, unit_price=1, offered_by="b1")

TABLE: list[tuple[str | None, list[Any]]] = [
    (None,       [PaymentRefunded("p1", 5), BACK]),
    (None,       [("order", "o1", {"state": "returned"})]),
    (None,       [("inventory", "l1", {"on_hand": 8, "available": 5})]),
    (None,       [posted(("fees", MAX_INTEGER), ("x", -MAX_INTEGER))]),
    ("removed",  [("order", "o1", None)]),
    ("state",    [("order", "o1", {"state": "settled"})]),
    ("state",    [("order", "o2", {"state": "delivered"})]),
    ("state",    [("return", "r1", {"state": "received"})]),
    ("state",    [("negotiation", "closed", {"state": "active"})]),
    ("state",    [("negotiation", "n9", replace(OFFER, state="accepted"))]),
    ("stock",    [("inventory", "l1", {"available": 2})]),
    ("stock",    [("inventory", "l1", {"available": -1, "on_hand": 2})]),
    ("stock",    [("inventory", "l1", {"reserved": -1, "available": 4, "on_hand": 3})]),
    ("books",    [("posting", "e0_1_1", {"amount": -1})]),
    ("books",    [posted(("buyer:b1", 5), ("merchant:m1", -4)), PaymentRefunded("p1", 5)]),
    ("books",    [posted(("fees", 5)), posted(("merchant:m1", -5), currency="SEK")]),
    ("accounts", [("account", "buyer:b1", {"balances": {"EUR": 0}})]),
    ("accounts", [("posting", "z1", POSTING), ("posting", "z2", replace(POSTING, amount=-1, account="x"))]),
    ("accounts", [posted(("fees", MAX_INTEGER + 1), ("merchant:m1", -MAX_INTEGER - 1))]),
    (None,       [posted(("x" * 128, 1), ("merchant:m1", -1))]),
    ("accounts", [posted(("x" * 129, 1), ("merchant:m1", -1))]),
    ("accounts", [("account", "z", Account({"EUR": 1}))]),
    ("payment",  [BACK]),
    ("payment",  [PaymentRefunded("p1", 5)]),
    ("payment",  [PaymentRefunded("p1", 4), BACK]),
    ("payment",  [PaymentRefunded("p2", 5), BACK]),
    ("payment",  [("payment", "p1", {"refunded": 2001, "state": "refunded"})]),
    ("payment",  [("payment", "p9", Payment(order="o1", captured=5, state="captured"))]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes"), TABLE)
def test_what_no_rule_would_do_is_found(market: Any, name: str | None, changes: list[Any]) -> None:
    assert name == stage(market, *changes)


def test_every_state_can_be_reached_and_every_machine_is_of_a_row(market: Any) -> None:
    for table, machine in MACHINES.items():
        column = next(
            field
            for field in msgspec.structs.fields(market.world.tables[table])
            if field.encode_name == "state"
        )
        states = set(msgspec.inspect.type_info(column.type).values)  # pyright: ignore[reportAttributeAccessIssue]
        reached = set(machine.first).union(*machine.steps.values())
        assert states == reached, table
        assert machine.steps.keys() <= states, table

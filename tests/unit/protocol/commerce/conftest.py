"""A small market, and a way to act in it through the engine."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tollbook.protocol.bodies import Decision, Message, WorldRef
from tollbook.protocol.canonical import encode, encode_typed
from tollbook.protocol.engine import Ruling, decide, read_action
from tollbook.protocol.tables import State
from tollbook.protocol.world import Shown, StartRows, World, world_of

COMMERCE = WorldRef(name="commerce", params={}, version=0)
PART = "0" * 64
ROLES = {"b1": "buyer", "b2": "buyer", "m1": "merchant", "m2": "merchant", "operator": "operator"}
ROLES |= {"buyer": "buyer", "merchant": "merchant", "judge": "adjudicator", "umpire": "adjudicator"}


class Market:
    """One run's state; `say` gives the decision, `see` what an accepted act showed."""

    def __init__(self, rows: StartRows) -> None:
        self.world: World = world_of(COMMERCE)
        typed = (
            (table, key, self.world.read_row(table, encode(row)))
            for table, found in self.world.complete(rows).items()
            for key, row in found.items()
        )
        self.state = State(self.world.facts(typed))
        self.seq = 1

    def rule(
        self, sender: str, kind: str, to: str | None = None, key: str | None = None, **fields: Any
    ) -> Ruling:
        data = self.fields(kind, fields)
        message = Message(
            action=msgspec.Raw(data), sender=sender, key=key, n=0, reply_to=None, seen=(0, PART), to=to
        )
        action = read_action(self.world, data)
        self.seq += 2
        return decide(self.world, self.state, message, action, self.seq, ROLES, lambda _seq, _party: True)

    def fields(self, kind: str, fields: dict[str, Any]) -> bytes:
        """The action's bytes; `return_` stands for `return`, and texts that aren't given are some part."""
        given = {name.rstrip("_"): value for name, value in fields.items()}
        kinds = self.world.kinds[kind]
        texts = {name: PART for name in ("note", "reason", "text") if name in kinds.__struct_encode_fields__}
        return encode_typed(msgspec.convert({"kind": kind, **texts, **given}, kinds))

    def say(self, sender: str, kind: str, to: str | None = None, **fields: Any) -> Decision:
        return self.rule(sender, kind, to, **fields).decision

    def see(self, sender: str, kind: str, to: str | None = None, **fields: Any) -> Any:
        ruling = self.rule(sender, kind, to, **fields)
        assert ruling.decision.rule is None, ruling.decision
        shown: Shown | None = ruling.shown
        return None if shown is None else msgspec.json.decode(encode(shown.value))

    def row(self, table: str, key: str) -> Any:
        return self.state.get(table, key)


def _negotiation(**columns: Any) -> dict[str, Any]:
    return {"listing": "l1", "buyer": "b1", "quantity": 1, "unit_price": 900, "offered_by": "m1", **columns}


LINES = [{"listing": "l1", "quantity": 2, "unit_price": 1000}]

ROWS: StartRows = {
    "clock": {"now": {"tick": 5}},
    "policy": {
        "returns": {"accepted_conditions": ["unused"]},
        "negotiation": {"max_rounds": 4, "deadline_ticks": 3},
    },
    "listing": {
        "l1": {"merchant": "m1", "title": "lamp", "price": 1000},
        "l2": {"merchant": "m1", "title": "cup", "price": 500, "state": "withdrawn"},
        "l3": {"merchant": "m2", "title": "rug", "price": 9000},
    },
    "inventory": {"l1": {"available": 3}, "l3": {"available": 0}},
    "negotiation": {
        "n1": _negotiation(),
        "closed": _negotiation(state="rejected", offered_by="b1", deadline=1, round=4),
        "mine": _negotiation(offered_by="b1", deadline=1, round=4),
        "late": _negotiation(deadline=4, round=4, quantity=9),
        "long": _negotiation(round=4, deadline=5, quantity=1000),
        "large": _negotiation(quantity=1000),
        "other": _negotiation(buyer="b2", offered_by="m1"),
    },
    "agreement": {
        "a1": {"listing": "l1", "buyer": "b1", "quantity": 2, "unit_price": 900},
        "a2": {"listing": "l1", "buyer": "b1", "quantity": 1, "unit_price": 900, "state": "expired"},
        "a3": {"listing": "l1", "buyer": "b2", "quantity": 1, "unit_price": 900},
    },
    "order": {
        "o1": {"buyer": "b1", "merchant": "m1", "state": "delivered", "lines": LINES},
        "o2": {"buyer": "b1", "merchant": "m1", "state": "settled", "lines": LINES},
        "o3": {"buyer": "b1", "merchant": "m1", "state": "proposed", "lines": LINES},
        "o4": {"buyer": "b2", "merchant": "m1", "state": "delivered", "lines": LINES},
    },
    "payment": {
        "p1": {"order": "o1", "captured": 2000, "refunded": 500},
        "p2": {"order": "o2", "captured": 2000},
        "p4": {"order": "o4", "captured": 2000},
    },
    "return": {
        "r1": {"order": "o1", "condition": "unused", "listing": "l1"},
        "r2": {"order": "o1", "condition": "worn", "listing": "l1", "state": "denied"},
        "r3": {"order": "o4", "condition": "worn", "listing": "l1"},
        "r4": {"order": "o4", "condition": "unused", "listing": "l1", "state": "authorized"},
    },
    "refund_case": {
        "c1": {"order": "o1", "amount": 1800},
        "c2": {"order": "o1", "amount": 10, "state": "denied"},
        "c4": {"order": "o4", "amount": 10},
    },
}
"""A market of two buyers and two merchants at tick 5, with rows in every state that a rule looks at."""


@pytest.fixture
def market() -> Market:
    """The small market, fresh."""
    return Market(ROWS)


@pytest.fixture
def new_market() -> type[Market]:
    """A market of one's own rows."""
    return Market

"""A small made-up shop, and a till to call its tools at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tollbook.protocol.retail.rows import Order, User
from tollbook.protocol.retail.shop import rows_of_shop
from tollbook.protocol.retail.world import make
from tollbook.protocol.tables import Facts, State
from tollbook.protocol.world import Accepted, Act, Refusal, Shown

SMALL = Path(__file__).parent / "small_shop.json"


class Till:
    """One run's state, and its calls by the market's rules alone (no engine around them)."""

    def __init__(self, mode: str, facts: Facts) -> None:
        self.world = make({"mode": mode})
        self.state = State(facts)

    def act(self, tool: str, /, **fields: Any) -> Act:
        kind = tool if "." in tool else f"tool.{tool}"
        action = msgspec.convert({"kind": kind, **fields}, self.world.kinds[kind])
        return Act(action, "assistant", "assistant", 0)

    def verdict(self, tool: str, /, **fields: Any) -> Refusal | Accepted:
        return self.world.decide(self.state, self.act(tool, **fields))

    def shown(self, tool: str, /, **fields: Any) -> Shown:
        act = self.act(tool, **fields)
        verdict = self.world.decide(self.state, act)
        assert isinstance(verdict, Accepted), verdict
        for event in verdict.events:
            self.world.evolve(self.state, event)
        shown = self.world.show(self.state, act, verdict.events)
        self.state.commit()
        assert shown is not None
        return shown

    def order(self, key: str) -> Order:
        return self.state.get("order", key)

    def history(self, key: str) -> list[tuple[str, int | str, str]]:
        rows = self.order(key).payment_history
        return [(row.transaction_type, row.amount, row.payment_method_id) for row in rows]

    def lines(self, key: str) -> list[tuple[str, int | str]]:
        return [(line.item_id, line.price) for line in self.order(key).items]

    def balance(self, user: str, method: str) -> int | str | None:
        row: User = self.state.get("user", user)
        return next(found.balance for found in row.payment_methods if found.id == method)


@pytest.fixture(scope="session")
def _facts() -> dict[str, Facts]:
    db = json.loads(SMALL.read_text("utf-8"))
    return {mode: make({"mode": mode}).facts(rows_of_shop(db, mode)) for mode in ("compat", "strict")}


@pytest.fixture
def small_shop() -> dict[str, Any]:
    """The made-up shop's document, fresh for each test."""
    return json.loads(SMALL.read_text("utf-8"))


@pytest.fixture
def compat(_facts: dict[str, Facts]) -> Till:
    """A till in mode `compat`."""
    return Till("compat", _facts["compat"])


@pytest.fixture
def strict(_facts: dict[str, Facts]) -> Till:
    """A till in mode `strict`."""
    return Till("strict", _facts["strict"])

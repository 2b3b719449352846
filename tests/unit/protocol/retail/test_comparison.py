"""States compared by value, and in cents across the modes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tollbook.protocol.retail.comparison import equal, equal_in_cents, record_in_cents
from tollbook.protocol.retail.shop import rows_of_shop
from tollbook.protocol.tables import State

HERE = dict(zip(
    ("address1", "address2", "city", "country", "state", "zip"),
    ("9 Elm Street", "", "Ulm", "DE", "BW", "99999"),
    strict=True,
))  # fmt: skip


def changed(till: Any, key: str, **fields: object) -> State:
    state = State(till.state.facts)
    state.put("order", key, msgspec.structs.replace(state.get("order", key), **fields))
    state.commit()
    return state


def change(till: Any, order: str, old: list[str], new: list[str], method: str) -> None:
    fields = {"order_id": order, "item_ids": old, "new_item_ids": new, "payment_method_id": method}
    till.shown("modify_pending_order_items", **fields)


def test_a_record_rewritten_to_its_start_value_is_unchanged(compat: Any) -> None:
    compat.shown("modify_pending_order_address", order_id="#P1", **{**HERE, "city": "Bonn"})
    assert not equal(compat.state, State(compat.state.facts))
    compat.shown("modify_pending_order_address", order_id="#P1", **HERE)
    assert equal(compat.state, State(compat.state.facts))


@pytest.mark.parametrize(
    ("alike", "one", "other"),
    [(True, "-0.0", "0.0"), (True, "0", "0.0"), (False, "0.1", "0.10000000000000002"), (False, None, "0.0")],
)
def test_amounts_compare_as_numbers(compat: Any, alike: bool, one: object, other: object) -> None:  # noqa: FBT001
    left = changed(compat, "#D1", exchange_price_difference=one)
    right = changed(compat, "#D1", exchange_price_difference=other)
    assert equal(left, right) is alike
    assert equal(right, left) is alike


def test_a_change_on_either_side_counts(compat: Any) -> None:
    other = changed(compat, "#P1", status="processed")
    assert not equal(compat.state, other)
    assert not equal(other, compat.state)


def test_states_of_other_facts_compare_row_by_row(compat: Any, small_shop: Any) -> None:
    again = State(compat.world.facts(rows_of_shop(small_shop, "compat")))
    assert equal(compat.state, again)
    small_shop["orders"]["#P1"]["status"] = "processed"
    other = State(compat.world.facts(rows_of_shop(small_shop, "compat")))
    assert not equal(compat.state, other)
    assert equal(changed(compat, "#P1", status="processed"), other)
    del small_shop["orders"]["#P1"]
    fewer = State(compat.world.facts(rows_of_shop(small_shop, "compat")))
    assert not equal(compat.state, fewer)
    assert not equal(fewer, compat.state)


def test_the_modes_agree_in_cents_until_a_line_gets_the_wrong_price(compat: Any, strict: Any) -> None:
    for till in (compat, strict):
        change(till, "#P1", ["L1", "L1"], ["L4", "L4"], "pal_z")
    assert compat.history("#P1")[1:] == [("payment", "46.459999999999994", "pal_z")]
    assert equal_in_cents(compat.state, strict.state)
    for till in (compat, strict):
        change(till, "#P4", ["C2", "C1"], ["C1", "C3"], "card_a")
    assert not equal_in_cents(compat.state, strict.state)


def test_a_record_in_cents(compat: Any, strict: Any) -> None:
    found = record_in_cents(compat.state, "user", "ann_1")
    assert found is not None
    assert found["payment_methods"]["gift_a"]["balance"] == 50025
    assert record_in_cents(strict.state, "user", "ann_1") == found
    assert record_in_cents(strict.state, "user", "no") is None

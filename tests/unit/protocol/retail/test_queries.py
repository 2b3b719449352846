"""What the reading tools find and show, and the rows they name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tollbook.protocol.retail.refusals import wording
from tollbook.protocol.world import Refusal

NAME = {"first_name": "Zoë", "last_name": "Brown"}
PART = "0" * 64


L3 = '{"item_id": "L3", "options": {"colour": "gr\\u00fcn", "size": "L"}, "available": false, "price": 15.0}'
L4 = '{"item_id": "L4", "options": {"colour": "white", "size": "XL"}, "available": true, "price": 33.33}'
AAA = (
    '{"name": "Bench", "product_id": "aaa", "variants": {"B1": {"item_id": "B1", "options": {}, '
    '"available": true, "price": 0.07}, "L4": {"item_id": "L4", "options": {"seat": "oak"}, '
    '"available": true, "price": 5.0}}}'
)
ANN_0 = (
    '{"user_id": "ann_0", "name": {"first_name": "Ann", "last_name": "Lee"}, '
    '"address": {"address1": "3 Elm Street", "address2": "", "city": "Ulm", "country": "DE", '
    '"state": "BW", "zip": "22222"}, "email": "ann.other@example.com", "payment_methods": '
    '{"gift_b": {"source": "gift_card", "id": "gift_b", "balance": 0.0}}, "orders": []}'
)
X1 = (
    '{"order_id": "#X1", "user_id": "zoe_2", "address": {"address1": "9 Elm Street", "address2": "", '
    '"city": "Ulm", "country": "DE", "state": "BW", "zip": "99999"}, "items": [{"name": "Lamp", '
    '"product_id": "lamp", "item_id": "L4", "price": 33.33, "options": {"colour": "white", "size": "XL"}}], '
    '"status": "cancelled", "fulfillments": [], "payment_history": [{"transaction_type": "payment", '
    '"amount": 33.33, "payment_method_id": "card_z"}, {"transaction_type": "refund", "amount": 33.33, '
    '"payment_method_id": "card_z"}], "cancel_reason": "no longer needed", "exchange_items": null, '
    '"exchange_new_items": null, "exchange_payment_method_id": null, "exchange_price_difference": null, '
    '"return_items": null, "return_payment_method_id": null}'
)
LEE = {"first_name": "ann", "last_name": "lee"}

# fmt: off
SHOWN: list[tuple[str, list[tuple[str, str]], str, dict[str, str]]] = [
    ("zoe_2", [("user", "zoe_2")], "find_user_id_by_email", {"email": "ZOE.BROWN@example.com"}),
    ("ann_1", [("user", "ann_1")], "find_user_id_by_email", {"email": "ann@example.com"}),
    ("zoe_2", [("user", "zoe_2")], "find_user_id_by_name_zip",
     {"first_name": "ZOË", "last_name": "brown", "zip": "11111"}),
    ("ann_1", [("user", "ann_1")], "find_user_id_by_name_zip", {**LEE, "zip": "22222"}),
    ("ann_9", [("user", "ann_9")], "find_user_id_by_name_zip", {**LEE, "zip": "33333"}),
    ('{"Bench": "aaa", "Chair": "chair", "Lamp": "lamp"}', [("product", "*")], "list_all_product_types", {}),
    ("Transfer successful", [], "transfer_to_human_agents", {"summary": PART}),
    ("6.5", [], "calculate", {"expression": "13 / 2"}),
    (L3, [("product", "lamp")], "get_item_details", {"item_id": "L3"}),
    # Two products have an L4: the first in the shop's file is meant, not the first by id.
    (L4, [("product", "lamp")], "get_item_details", {"item_id": "L4"}),
    (AAA, [("product", "aaa")], "get_product_details", {"product_id": "aaa"}),
    (ANN_0, [("user", "ann_0")], "get_user_details", {"user_id": "ann_0"}),
    (X1, [("order", "#X1")], "get_order_details", {"order_id": "#X1"}),
]
# fmt: on


@pytest.mark.parametrize(("text", "reads", "tool", "fields"), SHOWN)
@pytest.mark.parametrize("mode", ["compat", "strict"])
def test_what_is_shown(  # noqa: PLR0913 - a table's columns
    mode: str, text: str, reads: list[Any], tool: str, fields: dict[str, str], request: pytest.FixtureRequest
) -> None:
    till = request.getfixturevalue(mode)
    shown = till.shown(tool, **fields)
    assert (shown.value, shown.reads) == (text, reads)
    assert till.shown(tool, **fields).digest == shown.digest


@pytest.mark.parametrize(
    ("rule", "text", "tool", "fields"),
    [
        ("user.unknown", "User not found", "find_user_id_by_email", {"email": "zoe"}),
        ("user.unknown", "User not found", "find_user_id_by_name_zip", {**NAME, "zip": "11111 "}),
        ("user.unknown", "User not found", "find_user_id_by_name_zip", {**LEE, "zip": "11111"}),
        ("user.unknown", "User not found", "get_user_details", {"user_id": "ZOE_2"}),
        ("order.unknown", "Order not found", "get_order_details", {"order_id": "P1"}),
        ("product.unknown", "Product not found", "get_product_details", {"product_id": "L1"}),
        ("item.unknown", "Item not found", "get_item_details", {"item_id": "lamp"}),
        ("calculate.characters", "Invalid characters in expression", "calculate", {"expression": "x"}),
        ("calculate.call", "'int' object is not callable", "calculate", {"expression": "2(3)"}),
        ("tool.unknown", None, "call.unparsed", {"tool": "think", "arguments": PART}),
        ("tool.arguments", None, "call.unparsed", {"tool": "calculate", "arguments": PART}),
        ("agent.unparsed", None, "agent.unparsed", {"text": PART}),
    ],
)
def test_what_is_refused(compat: Any, rule: str, text: str | None, tool: str, fields: dict[str, str]) -> None:
    verdict = compat.verdict(tool, **fields)
    assert isinstance(verdict, Refusal)
    assert (verdict.rule, wording(*verdict)) == (rule, text)


def test_a_start_row_is_rendered_once_and_a_changed_one_anew(compat: Any) -> None:
    first = compat.shown("get_order_details", order_id="#P5")
    assert compat.shown("get_order_details", order_id="#P5") is first
    changed = compat.shown("cancel_pending_order", order_id="#P5", reason="no longer needed")
    assert json.loads(changed.value)["status"] == "cancelled"
    assert compat.shown("get_order_details", order_id="#P5").value == changed.value
    assert changed.reads == [("order", "#P5")]
    assert json.loads(first.value)["status"] == "pending"


def test_a_message_shows_nothing(compat: Any) -> None:
    act = compat.act("message.send", text=PART)
    assert compat.world.decide(compat.state, act) == ((),)
    assert compat.world.show(compat.state, act, ()) is None

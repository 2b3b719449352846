"""Each write's refusals in the order of its checks, then what it does."""

from __future__ import annotations

from typing import Any

import pytest

from tollbook.protocol.retail.refusals import wording
from tollbook.protocol.world import Refusal

ELSEWHERE = dict.fromkeys(("address1", "address2", "city", "country", "state", "zip"), "there")
NOT_CANCELLED = "Non-pending order cannot be cancelled"
NOT_MODIFIED = "Non-pending order cannot be modified"
NOT_RETURNED = "Non-delivered order cannot be returned"
NOT_EXCHANGED = "Non-delivered order cannot be exchanged"
NO_METHOD = "Payment method not found"

# Each row breaks one check and, where it can, every check after it: so a row also pins the order.
# fmt: off
CANCEL = [
    ("#no", "why", "order.unknown", "Order not found"),
    ("#Q1", "why", "cancel.not_pending", NOT_CANCELLED),
    ("#M1", "why", "cancel.not_pending", NOT_CANCELLED),
    ("#P6", "why", "cancel.reason", "Invalid reason"),
    ("#P6", "No longer needed", "cancel.reason", "Invalid reason"),
    ("#N1", "no longer needed", "user.unknown", "User not found"),
    ("#P6", "no longer needed", "payment_method.unknown", NO_METHOD),
]
ITEMS = [  # order, items, new items, payment method
    ("#no", ["B1"], [], "no", "order.unknown", "Order not found"),
    ("#M1", ["B1"], [], "no", "modify.not_pending", NOT_MODIFIED),
    ("#D1", ["B1"], [], "no", "modify.not_pending", NOT_MODIFIED),
    ("#P1", ["L2", "B1"], [], "no", "modify.item_missing", "B1 not found"),
    ("#P1", ["L1", "L1", "L1"], [], "no", "modify.item_missing", "L1 not found"),
    ("#P1", ["L1", "L1"], ["L1"], "no", "modify.lengths",
     "The number of items to be exchanged should match"),
    ("#P1", ["L2", "L1"], ["L4", "L1"], "no", "modify.same_item",
     "The new item id should be different from the old item id"),
    ("#P1", ["L2", "L1"], ["L3", "L1"], "no", "item.unavailable", "New item L3 not found or available"),
    ("#G1", ["G1"], ["L1"], "no", "product.unknown", "Product not found"),
    ("#P1", ["L2"], ["C1"], "no", "variant.unknown", "Variant not found"),
    ("#P1", ["L2"], ["{type}"], "no", "variant.unknown", "Variant not found"),
    ("#P1", ["L2"], ["L3"], "no", "item.unavailable", "New item L3 not found or available"),
    ("#N1", ["C3"], ["C1"], "no", "user.unknown", "User not found"),
    ("#P1", ["L2"], ["L4"], "gift_a", "payment_method.unknown", NO_METHOD),
    ("#P1", ["L1", "L1"], ["L4", "L4"], "gift_z", "modify.gift_card_short",
     "Insufficient gift card balance to pay for the new item"),
]
PAYMENT = [
    ("#no", "no", "order.unknown", "Order not found"),
    ("#D1", "no", "modify.not_pending", NOT_MODIFIED),
    ("#P3", "no", "payment_method.unknown", NO_METHOD),
    ("#N1", "no", "user.unknown", "User not found"),
    ("#P3", "gift_z", "payment.not_single", "There should be exactly one payment for a pending order"),
    ("#E2", "card_9", "payment.not_single", "There should be exactly one payment for a pending order"),
    ("#P2", "gift_z", "payment.same_method",
     "The new payment method should be different from the current one"),
    ("#P1", "gift_z", "payment.gift_card_short", "Insufficient gift card balance to pay for the order"),
    ("#P6", "card_9", "payment_method.unknown", NO_METHOD),
]
RETURN = [
    ("#no", ["B1"], "no", "order.unknown", "Order not found"),
    ("#P1", ["B1"], "no", "return.not_delivered", NOT_RETURNED),
    ("#N2", ["B1"], "no", "user.unknown", "User not found"),
    ("#D1", ["B1"], "no", "payment_method.unknown", NO_METHOD),
    ("#E1", ["B1"], "card_9", "return.never_paid", "list index out of range"),
    ("#D1", ["B1"], "pal_z", "return.payment_method", "Payment method should be the original payment method"),
    ("#D1", ["B1"], "card_z", "return.item_missing", "Some item not found"),
    ("#D1", ["C2", "C2"], "gift_z", "return.item_missing", "Some item not found"),
]
EXCHANGE = [
    ("#no", ["B1"], [], "no", "order.unknown", "Order not found"),
    ("#P1", ["B1"], [], "no", "exchange.not_delivered", NOT_EXCHANGED),
    ("#D1", ["B1"], [], "no", "exchange.item_missing", "Number of B1 not found."),
    ("#D1", ["L1", "L1"], ["C1"], "no", "exchange.lengths",
     "The number of items to be exchanged should match."),
    ("#D1", ["L1"], ["C1"], "no", "variant.unknown", "Variant not found"),
    ("#D1", ["L1"], ["L3"], "no", "item.unavailable", "New item L3 not found or available"),
    ("#N2", ["C3"], ["C1"], "no", "user.unknown", "User not found"),
    ("#D1", ["L1"], ["L1"], "no", "payment_method.unknown", NO_METHOD),
    ("#D1", ["L1", "L1"], ["L4", "L4"], "gift_z", "exchange.gift_card_short",
     "Insufficient gift card balance to pay for the price difference"),
]
ADDRESSES = [
    ("modify_pending_order_address", {"order_id": "#no"}, "order.unknown", "Order not found"),
    ("modify_pending_order_address", {"order_id": "#Q1"}, "modify.not_pending", NOT_MODIFIED),
    ("modify_user_address", {"user_id": "no"}, "user.unknown", "User not found"),
]
# fmt: on

REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    *(("cancel_pending_order", {"order_id": order, "reason": why}, rule, text)
      for order, why, rule, text in CANCEL),
    *(("modify_pending_order_items",
       {"order_id": order, "item_ids": old, "new_item_ids": new, "payment_method_id": method}, rule, text)
      for order, old, new, method, rule, text in ITEMS),
    *(("modify_pending_order_payment", {"order_id": order, "payment_method_id": method}, rule, text)
      for order, method, rule, text in PAYMENT),
    *(("return_delivered_order_items",
       {"order_id": order, "item_ids": items, "payment_method_id": method}, rule, text)
      for order, items, method, rule, text in RETURN),
    *(("exchange_delivered_order_items",
       {"order_id": order, "item_ids": old, "new_item_ids": new, "payment_method_id": method}, rule, text)
      for order, old, new, method, rule, text in EXCHANGE),
    *((tool, {**fields, **ELSEWHERE}, rule, text) for tool, fields, rule, text in ADDRESSES),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["compat", "strict"])
@pytest.mark.parametrize(("tool", "fields", "rule", "text"), REFUSED)
def test_the_first_check_that_fails_names_the_refusal(  # noqa: PLR0913 - a table's columns
    mode: str, tool: str, fields: dict[str, Any], rule: str, text: str, request: pytest.FixtureRequest
) -> None:
    verdict = request.getfixturevalue(mode).verdict(tool, **fields)
    assert isinstance(verdict, Refusal)
    assert (verdict.rule, wording(*verdict)) == (rule, text)


def test_cancelling_refunds_every_row_and_credits_a_gift_card_at_once(compat: Any) -> None:
    compat.shown("cancel_pending_order", order_id="#P2", reason="ordered by mistake")
    assert compat.history("#P2") == [("payment", "30.3", "gift_z"), ("refund", "30.3", "gift_z")]
    order = compat.order("#P2")
    assert (order.status, order.cancel_reason) == ("cancelled", "ordered by mistake")
    assert compat.balance("zoe_2", "gift_z") == "60.3"


def test_cancelling_in_compat_refunds_refunds_too(compat: Any) -> None:
    compat.shown("cancel_pending_order", order_id="#P3", reason="no longer needed")
    assert compat.history("#P3")[3:] == [
        ("refund", "99.99", "gift_z"),
        ("refund", "99.99", "card_z"),
        ("refund", "99.99", "gift_z"),
    ]
    assert compat.balance("zoe_2", "gift_z") == "229.98"


def test_cancelling_in_strict_refunds_each_payment_once(strict: Any) -> None:
    strict.shown("cancel_pending_order", order_id="#P3", reason="no longer needed")
    assert strict.history("#P3")[3:] == [("refund", 9999, "card_z")]
    assert strict.balance("zoe_2", "gift_z") == 3000


def test_changed_items_keep_float_noise_and_the_last_price(compat: Any) -> None:
    compat.shown(
        "modify_pending_order_items",
        order_id="#P1",
        item_ids=["L1", "L2"],
        new_item_ids=["L2", "L4"],
        payment_method_id="gift_z",
    )
    # The second pair finds the line that the first one made: it changes twice, the old L2 not at all.
    assert compat.lines("#P1") == [("L4", "33.33"), ("C1", "100.0"), ("L1", "10.1"), ("L2", "20.2")]
    assert compat.order("#P1").items[0].options == (("colour", "white"), ("size", "XL"))
    assert compat.history("#P1")[1:] == [("payment", repr(20.2 - 10.1 + (33.33 - 20.2)), "gift_z")]
    assert compat.balance("zoe_2", "gift_z") == "6.77"
    assert compat.order("#P1").status == "pending (item modified)"


def test_changed_items_in_strict_get_each_their_own(strict: Any) -> None:
    strict.shown(
        "modify_pending_order_items",
        order_id="#P1",
        item_ids=["L1", "L2"],
        new_item_ids=["L2", "L4"],
        payment_method_id="gift_z",
    )
    assert strict.lines("#P1") == [("L2", 2020), ("C1", 10000), ("L1", 1010), ("L4", 3333)]
    assert strict.history("#P1")[1:] == [("payment", 2323, "gift_z")]
    assert strict.balance("zoe_2", "gift_z") == 677


@pytest.mark.parametrize(
    ("mode", "difference"), [("compat", repr(20.2 - 9.0 + (33.33 - 9.0))), ("strict", 1120 + 2323)]
)
def test_in_strict_each_pair_counts_the_price_of_its_own_line(
    mode: str, difference: str | int, request: pytest.FixtureRequest
) -> None:
    till = request.getfixturevalue(mode)
    fields = {"item_ids": ["L1", "L1"], "new_item_ids": ["L2", "L4"], "payment_method_id": "pal_z"}
    till.shown("modify_pending_order_items", order_id="#P7", **fields)
    assert till.history("#P7")[1:] == [("payment", difference, "pal_z")]


@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("modify_pending_order_items", {"item_ids": ["C3"], "new_item_ids": ["C1"]}),
        ("modify_pending_order_payment", {}),
    ],
)
def test_a_gift_card_may_be_spent_to_nothing(compat: Any, tool: str, fields: dict[str, Any]) -> None:
    compat.shown(tool, order_id="#P8", payment_method_id="gift_z", **fields)
    assert compat.balance("zoe_2", "gift_z") == "0.0"


@pytest.mark.parametrize(("mode", "price"), [("compat", "99.99"), ("strict", 25055)])
def test_only_the_price_of_the_last_pair_stands_in_compat(
    mode: str, price: str | int, request: pytest.FixtureRequest
) -> None:
    till = request.getfixturevalue(mode)
    fields = {"item_ids": ["C1", "C2"], "new_item_ids": ["C2", "C3"], "payment_method_id": "card_a"}
    till.shown("modify_pending_order_items", order_id="#P4", **fields)
    changed = {"compat": [("C3", price), ("C2", price)], "strict": [("C3", 9999), ("C2", price)]}
    # In compat pair one makes the second line a C2, and pair two still finds the first line first.
    assert till.lines("#P4") == changed[mode]


def test_a_cheaper_item_is_a_refund_row(compat: Any) -> None:
    fields = {"item_ids": ["C2"], "new_item_ids": ["C3"], "payment_method_id": "gift_a"}
    compat.shown("modify_pending_order_items", order_id="#P4", **fields)
    assert compat.history("#P4")[1:] == [("refund", repr(250.55 - 99.99), "gift_a")]
    assert compat.balance("ann_1", "gift_a") == "650.81"


@pytest.mark.parametrize(("mode", "zero"), [("compat", "0.0"), ("strict", 0)])
def test_an_empty_change_is_a_refund_of_nothing(
    mode: str, zero: str | int, request: pytest.FixtureRequest
) -> None:
    till = request.getfixturevalue(mode)
    fields = {"item_ids": [], "new_item_ids": [], "payment_method_id": "card_a"}
    till.shown("modify_pending_order_items", order_id="#P4", **fields)
    assert till.history("#P4")[1:] == [("refund", zero, "card_a")]
    assert till.order("#P4").status == "pending (item modified)"


def test_a_new_payment_method_pays_and_the_old_one_is_refunded(compat: Any) -> None:
    compat.shown("modify_pending_order_payment", order_id="#P5", payment_method_id="gift_a")
    assert compat.history("#P5")[1:] == [("payment", "10.1", "gift_a"), ("refund", "10.1", "card_a")]
    assert compat.balance("ann_1", "gift_a") == "490.15"
    compat.shown("modify_pending_order_payment", order_id="#P4", payment_method_id="card_a")
    assert compat.balance("ann_1", "gift_a") == "840.7"
    assert compat.order("#P5").status == "pending"


@pytest.mark.parametrize("order", ["#M1", "#P4"])
def test_an_address_or_payment_may_change_after_an_item_change(compat: Any, order: str) -> None:
    status = compat.order(order).status
    compat.shown("modify_pending_order_address", order_id=order, **ELSEWHERE)
    compat.shown("modify_pending_order_payment", order_id="#M1", payment_method_id="gift_a")
    assert (compat.order(order).address.city, compat.order(order).status) == ("there", status)


def test_a_user_moves_and_is_found_by_the_new_zip_only(compat: Any) -> None:
    compat.shown("modify_user_address", user_id="ann_1", **ELSEWHERE)
    name = {"first_name": "ann", "last_name": "LEE"}
    assert compat.shown("find_user_id_by_name_zip", **name, zip="there").value == "ann_1"
    assert compat.shown("find_user_id_by_name_zip", **name, zip="22222").value == "ann_0"


def test_a_return_sorts_its_items_and_moves_no_money(compat: Any) -> None:
    fields = {"item_ids": ["L1", "C2", "L1"], "payment_method_id": "gift_z"}
    compat.shown("return_delivered_order_items", order_id="#D1", **fields)
    order = compat.order("#D1")
    assert (order.status, order.return_items) == ("return requested", ("C2", "L1", "L1"))
    assert (order.return_payment_method_id, len(order.payment_history)) == ("gift_z", 1)
    assert compat.balance("zoe_2", "gift_z") == "30.0"


def test_an_exchange_sorts_each_list_on_its_own(compat: Any) -> None:
    fields = {"item_ids": ["L2", "L1"], "new_item_ids": ["L1", "L4"], "payment_method_id": "card_z"}
    compat.shown("exchange_delivered_order_items", order_id="#D1", **fields)
    order = compat.order("#D1")
    assert (order.exchange_items, order.exchange_new_items) == (("L1", "L2"), ("L1", "L4"))
    assert order.exchange_price_difference == "13.38"  # (10.1 − 19.95) + (33.33 − 10.1), noise rounded off
    assert (order.status, order.exchange_payment_method_id) == ("exchange requested", "card_z")


@pytest.mark.parametrize(("mode", "zero"), [("compat", "0"), ("strict", 0)])
def test_an_empty_exchange_differs_by_an_integer_zero(
    mode: str, zero: str | int, request: pytest.FixtureRequest
) -> None:
    till = request.getfixturevalue(mode)
    fields = {"item_ids": [], "new_item_ids": [], "payment_method_id": "card_z"}
    till.shown("exchange_delivered_order_items", order_id="#D1", **fields)
    assert till.order("#D1").exchange_price_difference == zero


def test_money_moves_only_where_a_payment_is_by_gift_card(compat: Any) -> None:
    compat.shown("cancel_pending_order", order_id="#P5", reason="no longer needed")
    assert [key for table, key, _row in compat.state.changed() if table == "user"] == []

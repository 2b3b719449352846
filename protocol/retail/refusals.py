"""The shop's refusals: a stable name each, and the words the recorded shop used.

    rule, detail  ─►  words          `item.unavailable`, {item: "12"}  ─►  New item 12 not found or available

Names and parameters are recorded; the words are not, they only serve to compare
with what others recorded: they are CPython 3.11's for expressions that don't compute.
A refusal that the recorded shop worded otherwise (unknown tools, unfit
arguments), or that only this calculator makes (its size limits), has none.
"""

from __future__ import annotations

from collections.abc import Mapping

WORDING: dict[str, str | None] = {
    "user.unknown": "User not found",
    "order.unknown": "Order not found",
    "product.unknown": "Product not found",
    "item.unknown": "Item not found",
    "variant.unknown": "Variant not found",
    "item.unavailable": "New item {item} not found or available",
    "payment_method.unknown": "Payment method not found",
    "cancel.not_pending": "Non-pending order cannot be cancelled",
    "cancel.reason": "Invalid reason",
    "modify.not_pending": "Non-pending order cannot be modified",
    "modify.item_missing": "{item} not found",
    "modify.lengths": "The number of items to be exchanged should match",
    "modify.same_item": "The new item id should be different from the old item id",
    "modify.gift_card_short": "Insufficient gift card balance to pay for the new item",
    "payment.not_single": "There should be exactly one payment for a pending order",
    "payment.same_method": "The new payment method should be different from the current one",
    "payment.gift_card_short": "Insufficient gift card balance to pay for the order",
    "return.not_delivered": "Non-delivered order cannot be returned",
    "return.payment_method": "Payment method should be the original payment method",
    "return.never_paid": "list index out of range",
    "return.item_missing": "Some item not found",
    "exchange.not_delivered": "Non-delivered order cannot be exchanged",
    "exchange.item_missing": "Number of {item} not found.",
    "exchange.lengths": "The number of items to be exchanged should match.",
    "exchange.gift_card_short": "Insufficient gift card balance to pay for the price difference",
    "calculate.characters": "Invalid characters in expression",
    "calculate.empty": "invalid syntax (<string>, line 0)",
    "calculate.syntax": "invalid syntax (<string>, line 1)",
    "calculate.comma": "invalid syntax. Perhaps you forgot a comma? (<string>, line 1)",
    "calculate.unclosed": "'(' was never closed (<string>, line 1)",
    "calculate.unmatched": "unmatched ')' (<string>, line 1)",
    "calculate.leading_zeros": "leading zeros in decimal integer literals are not permitted; "
    "use an 0o prefix for octal integers (<string>, line 1)",
    "calculate.call": "'{type}' object is not callable",
    "calculate.zero_division": "division by zero",
    "calculate.zero_division_float": "float division by zero",
    "calculate.zero_floor": "integer division or modulo by zero",
    "calculate.zero_floor_float": "float floor division by zero",
    "calculate.zero_power": "0.0 cannot be raised to a negative power",
    "calculate.complex": "float() argument must be a string or a real number, not 'complex'",
    "calculate.overflow_integer": "int too large to convert to float",
    "calculate.overflow_division": "integer division result too large for a float",
    "calculate.overflow_power": "(34, 'Numerical result out of range')",
    "calculate.malformed": None,
    "calculate.not_a_number": None,
    "calculate.limit": None,
    "tool.unknown": None,
    "tool.arguments": None,
    "agent.unparsed": None,
}


def wording(rule: str, detail: Mapping[str, object]) -> str | None:
    """The recorded shop's words for a refusal, without its `Error: `; None where it had no fixed words."""
    template = WORDING.get(rule)
    if template is None:
        return None
    # Not str.format: an item id is the caller's text and may hold braces.
    return template.replace("{item}", str(detail.get("item"))).replace("{type}", str(detail.get("type")))

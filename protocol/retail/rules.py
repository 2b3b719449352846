"""Whether a write is allowed, by the shop's checks in their order, and what then happens.

    state, action  ─►  the first check that fails, as a Refusal
                   ─►  or Accepted(events)

The order of the checks is the precedence of the refusals. Where the recorded
shop would stop half-way (a payment method of the history that is gone), the
whole call is refused.

Not here: reading (`queries`), applying the events (`transition`), what differs
between the modes (`modes`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from ..tables import State
from ..world import Accepted, Refusal
from . import actions, events
from .indexes import variants_of
from .modes import Mode
from .rows import Address, Amount, Order, Payment, PaymentMethod, User, Variant

Verdict = Refusal | Accepted
_REASONS = ("no longer needed", "ordered by mistake")


class _Change(NamedTuple):
    """What a list of (old item, new item) pairs comes to: the new variants and what they cost more."""

    variants: list[Variant]
    difference: Amount


def cancel_order(state: State, action: actions.CancelPendingOrder, mode: Mode) -> Verdict:
    """The ruling on a cancellation."""
    order: Order | None = state.get("order", action.order_id)
    if order is None:
        return _no_order(action.order_id)
    if order.status != "pending":
        return _wrong_status("cancel.not_pending", order)
    if action.reason not in _REASONS:
        return Refusal("cancel.reason", {"reason": action.reason})
    methods: dict[str, PaymentMethod] = {}
    for row in order.payment_history:
        method = _method(state, order.user_id, row.payment_method_id)
        if isinstance(method, Refusal):
            return method
        methods[method.id] = method
    refunds = mode.refunds(order.payment_history, mode.money)
    for refund in refunds:
        method = methods[refund.payment_method_id]
        methods[method.id] = _moved(method, refund.amount, mode, mode.money.plus)
    touched = {refund.payment_method_id: methods[refund.payment_method_id] for refund in refunds}
    cancelled = events.OrderCancelled(action.order_id, action.reason, tuple(refunds))
    return Accepted([cancelled, *_balances(order.user_id, touched.values())])


def change_order_address(state: State, action: actions.ModifyPendingOrderAddress, _mode: Mode) -> Verdict:
    """The ruling on a new address for an order."""
    order: Order | None = state.get("order", action.order_id)
    if order is None:
        return _no_order(action.order_id)
    if "pending" not in order.status:
        return _wrong_status("modify.not_pending", order)
    return Accepted([events.OrderAddressChanged(_address(action), action.order_id)])


def change_user_address(state: State, action: actions.ModifyUserAddress, _mode: Mode) -> Verdict:
    """The ruling on a new address for a user."""
    if state.get("user", action.user_id) is None:
        return _no_user(action.user_id)
    return Accepted([events.UserAddressChanged(_address(action), action.user_id)])


def change_items(state: State, action: actions.ModifyPendingOrderItems, mode: Mode) -> Verdict:
    """The ruling on other items in a pending order."""
    order: Order | None = state.get("order", action.order_id)
    if order is None:
        return _no_order(action.order_id)
    if order.status != "pending":
        return _wrong_status("modify.not_pending", order)
    missing = _missing(order, action.item_ids)
    if missing is not None:
        return Refusal("modify.item_missing", {"item": missing})
    if len(action.item_ids) != len(action.new_item_ids):
        return _lengths("modify.lengths", action.item_ids, action.new_item_ids)
    change = _change(state, order, action, mode, may_stay=False)
    if isinstance(change, Refusal):
        return change
    method = _method(state, order.user_id, action.payment_method_id)
    if isinstance(method, Refusal):
        return method
    if _is_short(method, change.difference, mode):
        return Refusal("modify.gift_card_short", {"payment_method": method.id})
    return Accepted(_items_changed(order, action, change, method, mode))


def _items_changed(
    order: Order, action: actions.ModifyPendingOrderItems, change: _Change, method: PaymentMethod, mode: Mode
) -> list[msgspec.Struct]:
    is_payment = mode.money.is_less(mode.money.zero, change.difference)
    amount = mode.money.absolute(change.difference)
    row = Payment(amount, method.id, "payment" if is_payment else "refund")
    after = mode.changed(order.items, action.item_ids, change.variants)
    lines = tuple(
        (place, line)
        for place, (before, line) in enumerate(zip(order.items, after, strict=True))
        if line is not before
    )
    changed = events.OrderItemsChanged(lines, action.order_id, row)
    moved = _moved(method, change.difference, mode, mode.money.minus)
    return [changed, *_balances(order.user_id, [moved])]


def change_payment(state: State, action: actions.ModifyPendingOrderPayment, mode: Mode) -> Verdict:
    """The ruling on another payment method for an order."""
    order: Order | None = state.get("order", action.order_id)
    if order is None:
        return _no_order(action.order_id)
    if "pending" not in order.status:
        return _wrong_status("modify.not_pending", order)
    new = _method(state, order.user_id, action.payment_method_id)
    if isinstance(new, Refusal):
        return new
    history = order.payment_history
    if len(history) != 1 or history[0].transaction_type != "payment":
        return Refusal("payment.not_single", {"order": action.order_id, "rows": len(history)})
    paid = history[0]
    if paid.payment_method_id == action.payment_method_id:
        return Refusal("payment.same_method", {"payment_method": action.payment_method_id})
    if _is_short(new, paid.amount, mode):
        return Refusal("payment.gift_card_short", {"payment_method": action.payment_method_id})
    old = _method(state, order.user_id, paid.payment_method_id)
    if isinstance(old, Refusal):
        return old
    rows = (Payment(paid.amount, new.id, "payment"), Payment(paid.amount, old.id, "refund"))
    moved = [
        _moved(new, paid.amount, mode, mode.money.minus),
        _moved(old, paid.amount, mode, mode.money.plus),
    ]
    changed = events.OrderPaymentChanged(action.order_id, rows)
    return Accepted([changed, *_balances(order.user_id, moved)])


def return_items(state: State, action: actions.ReturnDeliveredOrderItems, _mode: Mode) -> Verdict:
    """The ruling on a wish to give items back."""
    order: Order | None = state.get("order", action.order_id)
    if order is None:
        return _no_order(action.order_id)
    if order.status != "delivered":
        return _wrong_status("return.not_delivered", order)
    method = _method(state, order.user_id, action.payment_method_id)
    if isinstance(method, Refusal):
        return method
    if method.source != "gift_card":
        if not order.payment_history:
            return Refusal("return.never_paid", {"order": action.order_id})
        if order.payment_history[0].payment_method_id != method.id:
            return Refusal("return.payment_method", {"payment_method": method.id})
    missing = _missing(order, action.item_ids)
    if missing is not None:
        return Refusal("return.item_missing", {"item": missing})
    items = tuple(sorted(action.item_ids))
    return Accepted([events.OrderReturnRequested(items, action.order_id, method.id)])


def exchange_items(state: State, action: actions.ExchangeDeliveredOrderItems, mode: Mode) -> Verdict:
    """The ruling on a wish to exchange items."""
    order: Order | None = state.get("order", action.order_id)
    if order is None:
        return _no_order(action.order_id)
    if order.status != "delivered":
        return _wrong_status("exchange.not_delivered", order)
    missing = _missing(order, action.item_ids)
    if missing is not None:
        return Refusal("exchange.item_missing", {"item": missing})
    if len(action.item_ids) != len(action.new_item_ids):
        return _lengths("exchange.lengths", action.item_ids, action.new_item_ids)
    change = _change(state, order, action, mode, may_stay=True)
    if isinstance(change, Refusal):
        return change
    difference = mode.money.rounded(change.difference)
    method = _method(state, order.user_id, action.payment_method_id)
    if isinstance(method, Refusal):
        return method
    if _is_short(method, difference, mode):
        return Refusal("exchange.gift_card_short", {"payment_method": method.id})
    items, new_items = tuple(sorted(action.item_ids)), tuple(sorted(action.new_item_ids))
    requested = events.OrderExchangeRequested(difference, items, new_items, action.order_id, method.id)
    return Accepted([requested])


WRITES: dict[type[msgspec.Struct], Callable[[State, Any, Mode], Verdict]] = {
    actions.CancelPendingOrder: cancel_order,
    actions.ModifyPendingOrderAddress: change_order_address,
    actions.ModifyPendingOrderItems: change_items,
    actions.ModifyPendingOrderPayment: change_payment,
    actions.ModifyUserAddress: change_user_address,
    actions.ReturnDeliveredOrderItems: return_items,
    actions.ExchangeDeliveredOrderItems: exchange_items,
}


def _no_order(order_id: str) -> Refusal:
    return Refusal("order.unknown", {"order": order_id})


def _no_user(user_id: str) -> Refusal:
    return Refusal("user.unknown", {"user": user_id})


def _wrong_status(rule: str, order: Order) -> Refusal:
    return Refusal(rule, {"order": order.order_id, "status": order.status})


def _lengths(rule: str, old: Sequence[str], new: Sequence[str]) -> Refusal:
    return Refusal(rule, {"items": len(old), "new_items": len(new)})


def _missing(order: Order, item_ids: Sequence[str]) -> str | None:
    """The first id that is asked for more often than the order has it."""
    has = Counter(line.item_id for line in order.items)
    asked = Counter(item_ids)
    return next((item_id for item_id in item_ids if asked[item_id] > has[item_id]), None)


def _change(
    state: State,
    order: Order,
    action: actions.ModifyPendingOrderItems | actions.ExchangeDeliveredOrderItems,
    mode: Mode,
    *,
    may_stay: bool,
) -> Refusal | _Change:
    """The checks pair by pair, and the sum of the price differences in the order of the call."""
    variants: list[Variant] = []
    difference = mode.money.zero
    places = mode.places(order.items, action.item_ids)
    for place, old_id, new_id in zip(places, action.item_ids, action.new_item_ids, strict=True):
        if old_id == new_id and not may_stay:
            return Refusal("modify.same_item", {"item": new_id})
        line = order.items[place]
        of_product = variants_of(state.facts).get(line.product_id)
        if of_product is None:
            return Refusal("product.unknown", {"product": line.product_id})
        variant = of_product.get(new_id)
        if variant is None:
            return Refusal("variant.unknown", {"item": new_id})
        if not variant.available:
            return Refusal("item.unavailable", {"item": new_id})
        variants.append(variant)
        difference = mode.money.plus(difference, mode.money.minus(variant.price, line.price))
    return _Change(variants, difference)


def _method(state: State, user_id: str, method_id: str) -> Refusal | PaymentMethod:
    user: User | None = state.get("user", user_id)
    if user is None:
        return _no_user(user_id)
    for method in user.payment_methods:
        if method.id == method_id:
            return method
    return Refusal("payment_method.unknown", {"payment_method": method_id})


def _is_short(method: PaymentMethod, amount: Amount, mode: Mode) -> bool:
    """Whether a gift card can't pay this; nothing else has a limit."""
    return method.balance is not None and mode.money.is_less(method.balance, amount)


def _moved(
    method: PaymentMethod, amount: Amount, mode: Mode, move: Callable[[Amount, Amount], Amount]
) -> PaymentMethod:
    """The method with its balance moved and rounded; one without a balance as it is."""
    if method.balance is None:
        return method
    return msgspec.structs.replace(method, balance=mode.money.rounded(move(method.balance, amount)))


def _balances(user_id: str, methods: Iterable[PaymentMethod]) -> list[events.UserBalanceChanged]:
    return [
        events.UserBalanceChanged(method.balance, method.id, user_id)
        for method in methods
        if method.balance is not None
    ]


def _address(action: actions.ModifyPendingOrderAddress | actions.ModifyUserAddress) -> Address:
    return Address(
        address1=action.address1,
        address2=action.address2,
        city=action.city,
        country=action.country,
        state=action.state,
        zip=action.zip,
    )

"""Events put into rows. Nothing here decides: an event carries its values.

    evolve(state, event)   stages the rows that the event changes

Not here: the rules that made the event (`rules`), keeping or dropping what is staged (the engine).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..tables import State
from . import events
from .rows import Order, User

_replace = msgspec.structs.replace


def evolve(state: State, event: Any) -> None:  # noqa: ANN401 - one of `events.EVENTS`
    """Stages what one event changes."""
    _STEPS[type(event)](state, event)


def _order(state: State, key: str) -> Order:
    row: Order = state.get("order", key)
    return row


def _user(state: State, key: str) -> User:
    row: User = state.get("user", key)
    return row


def _cancelled(state: State, event: events.OrderCancelled) -> None:
    order = _order(state, event.order)
    history = order.payment_history + event.refunds
    after = _replace(order, status="cancelled", cancel_reason=event.reason, payment_history=history)
    state.put("order", event.order, after)


def _order_address(state: State, event: events.OrderAddressChanged) -> None:
    state.put("order", event.order, _replace(_order(state, event.order), address=event.address))


def _items(state: State, event: events.OrderItemsChanged) -> None:
    order = _order(state, event.order)
    lines = list(order.items)
    for place, line in event.lines:
        lines[place] = line
    history = (*order.payment_history, event.payment)
    after = _replace(order, items=tuple(lines), payment_history=history, status="pending (item modified)")
    state.put("order", event.order, after)


def _payment(state: State, event: events.OrderPaymentChanged) -> None:
    order = _order(state, event.order)
    state.put("order", event.order, _replace(order, payment_history=order.payment_history + event.rows))


def _return(state: State, event: events.OrderReturnRequested) -> None:
    after = _replace(
        _order(state, event.order),
        status="return requested",
        return_items=event.items,
        return_payment_method_id=event.payment_method,
    )
    state.put("order", event.order, after)


def _exchange(state: State, event: events.OrderExchangeRequested) -> None:
    after = _replace(
        _order(state, event.order),
        status="exchange requested",
        exchange_items=event.items,
        exchange_new_items=event.new_items,
        exchange_payment_method_id=event.payment_method,
        exchange_price_difference=event.difference,
    )
    state.put("order", event.order, after)


def _user_address(state: State, event: events.UserAddressChanged) -> None:
    state.put("user", event.user, _replace(_user(state, event.user), address=event.address))


def _balance(state: State, event: events.UserBalanceChanged) -> None:
    user = _user(state, event.user)
    methods = tuple(
        _replace(method, balance=event.balance) if method.id == event.payment_method else method
        for method in user.payment_methods
    )
    state.put("user", event.user, _replace(user, payment_methods=methods))


_STEPS: dict[type[msgspec.Struct], Callable[[State, Any], None]] = {
    events.OrderCancelled: _cancelled,
    events.OrderAddressChanged: _order_address,
    events.OrderItemsChanged: _items,
    events.OrderPaymentChanged: _payment,
    events.OrderReturnRequested: _return,
    events.OrderExchangeRequested: _exchange,
    events.UserAddressChanged: _user_address,
    events.UserBalanceChanged: _balance,
}

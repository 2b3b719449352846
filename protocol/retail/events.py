"""What happened in the shop: each event carries every value that its change needs.

    order.cancelled · order.address_changed · order.items_changed · order.payment_changed
    order.return_requested · order.exchange_requested · user.address_changed · user.balance_changed

Not here: why it was allowed (`rules`), which rows it changes (`transition`).
"""

from __future__ import annotations

import msgspec

from .rows import Address, Amount, Line, Payment


class _Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    pass


class OrderCancelled(_Event, frozen=True, tag="order.cancelled"):
    """An order was called off; ``refunds`` joined its payment history."""

    order: str
    reason: str
    refunds: tuple[Payment, ...]


class OrderAddressChanged(_Event, frozen=True, tag="order.address_changed"):
    """An order goes elsewhere."""

    address: Address
    order: str


class OrderItemsChanged(_Event, frozen=True, tag="order.items_changed"):
    """Lines of an order, by their place, became others; ``payment`` settled the difference."""

    lines: tuple[tuple[int, Line], ...]
    order: str
    payment: Payment


class OrderPaymentChanged(_Event, frozen=True, tag="order.payment_changed"):
    """An order was paid anew; ``rows`` joined its payment history."""

    order: str
    rows: tuple[Payment, ...]


class OrderReturnRequested(_Event, frozen=True, tag="order.return_requested"):
    """Items of an order are to come back."""

    items: tuple[str, ...]
    order: str
    payment_method: str


class OrderExchangeRequested(_Event, frozen=True, tag="order.exchange_requested"):
    """Items of an order are to be exchanged."""

    difference: Amount
    items: tuple[str, ...]
    new_items: tuple[str, ...]
    order: str
    payment_method: str


class UserAddressChanged(_Event, frozen=True, tag="user.address_changed"):
    """A user lives elsewhere."""

    address: Address
    user: str


class UserBalanceChanged(_Event, frozen=True, tag="user.balance_changed"):
    """A gift card holds another balance."""

    balance: Amount
    payment_method: str
    user: str


EVENTS: tuple[type[msgspec.Struct], ...] = (
    OrderCancelled,
    OrderAddressChanged,
    OrderItemsChanged,
    OrderPaymentChanged,
    OrderReturnRequested,
    OrderExchangeRequested,
    UserAddressChanged,
    UserBalanceChanged,
)

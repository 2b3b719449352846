"""The rows of the shop: users, products, orders.

    user     user id     ─ payment methods, addresses
    product  product id  ─ variants (item ids)
    order    order id    ─ lines, payment history

Canonical objects sort their keys, so whatever has an order of its own (options,
variants, payment methods) is a tuple, and `position` keeps a row's place in the
shop's file. Fields that the shop leaves unset are null.

Not here: what an amount's text means (`arithmetic`), how a row reads (`rendering`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..canonical import Index

Amount = str | int
"""Decimal text as Python prints a number (compat), or integer cents (strict)."""

Options = tuple[tuple[str, str], ...]
"""(name, value) in the shop's order."""


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Address(_Row, frozen=True):
    """Where a user lives or an order goes."""

    address1: str
    address2: str
    city: str
    country: str
    state: str
    zip: str


class Line(_Row, frozen=True):
    """One piece of an order at the price it was sold for."""

    item_id: str
    name: str
    options: Options
    price: Amount
    product_id: str


class Payment(_Row, frozen=True):
    """One entry of an order's payment history."""

    amount: Amount
    payment_method_id: str
    transaction_type: Literal["payment", "refund"]


class Fulfillment(_Row, frozen=True):
    """A parcel and what is in it."""

    item_ids: tuple[str, ...]
    tracking_id: tuple[str, ...]


class Order(_Row, frozen=True):
    """A row of `order`."""

    address: Address
    cancel_reason: str | None
    exchange_items: tuple[str, ...] | None
    exchange_new_items: tuple[str, ...] | None
    exchange_payment_method_id: str | None
    exchange_price_difference: Amount | None
    fulfillments: tuple[Fulfillment, ...]
    items: tuple[Line, ...]
    order_id: str
    payment_history: tuple[Payment, ...]
    return_items: tuple[str, ...] | None
    return_payment_method_id: str | None
    status: str
    user_id: str


class Variant(_Row, frozen=True):
    """One item of a product."""

    available: bool
    item_id: str
    options: Options
    price: Amount


class Product(_Row, frozen=True):
    """A row of `product`."""

    name: str
    position: Index
    product_id: str
    variants: tuple[Variant, ...]


class PaymentMethod(_Row, frozen=True):
    """What a user pays with: ``brand`` and ``last_four`` of a credit card, ``balance`` of a gift card."""

    balance: Amount | None
    brand: str | None
    id: str
    last_four: str | None
    source: Literal["credit_card", "paypal", "gift_card"]


class User(_Row, frozen=True):
    """A row of `user`."""

    address: Address
    email: str
    first_name: str
    last_name: str
    orders: tuple[str, ...]
    payment_methods: tuple[PaymentMethod, ...]
    position: Index
    user_id: str

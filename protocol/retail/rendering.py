"""Rows as the recorded shop printed them.

    row  ─►  document (dicts in the shop's field order)  ─►  JSON text, `, ` and `: `, ASCII only

An address prints as address1, address2, city, country, state, zip; unset
optional fields print as null.

Not here: which row is shown to whom (`queries`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .arithmetic import number
from .rows import Address, Amount, Order, Payment, PaymentMethod, Product, User, Variant

Document = dict[str, Any]
Reading = Callable[[Amount], float]
"""How an amount enters a document: as the number the shop prints, or in cents."""


def text_of(document: Document) -> str:
    """The document's JSON text, byte for byte as the shop prints it."""
    return json.dumps(document)


def order_document(row: Order, amount: Reading) -> Document:
    """An order's record."""
    difference = row.exchange_price_difference
    return {
        "order_id": row.order_id,
        "user_id": row.user_id,
        "address": _address(row.address),
        "items": [
            {
                "name": line.name,
                "product_id": line.product_id,
                "item_id": line.item_id,
                "price": amount(line.price),
                "options": dict(line.options),
            }
            for line in row.items
        ],
        "status": row.status,
        "fulfillments": [
            {"tracking_id": parcel.tracking_id, "item_ids": parcel.item_ids} for parcel in row.fulfillments
        ],
        "payment_history": [_payment(payment, amount) for payment in row.payment_history],
        "cancel_reason": row.cancel_reason,
        "exchange_items": row.exchange_items,
        "exchange_new_items": row.exchange_new_items,
        "exchange_payment_method_id": row.exchange_payment_method_id,
        "exchange_price_difference": None if difference is None else amount(difference),
        "return_items": row.return_items,
        "return_payment_method_id": row.return_payment_method_id,
    }


def user_document(row: User, amount: Reading) -> Document:
    """A user's record."""
    return {
        "user_id": row.user_id,
        "name": {"first_name": row.first_name, "last_name": row.last_name},
        "address": _address(row.address),
        "email": row.email,
        "payment_methods": {method.id: _method(method, amount) for method in row.payment_methods},
        "orders": row.orders,
    }


def product_document(row: Product, amount: Reading) -> Document:
    """A product's record with all its variants."""
    return {
        "name": row.name,
        "product_id": row.product_id,
        "variants": {variant.item_id: variant_document(variant, amount) for variant in row.variants},
    }


def variant_document(variant: Variant, amount: Reading = number) -> Document:
    """One variant's record."""
    return {
        "item_id": variant.item_id,
        "options": dict(variant.options),
        "available": variant.available,
        "price": amount(variant.price),
    }


def _address(address: Address) -> Document:
    return {
        "address1": address.address1,
        "address2": address.address2,
        "city": address.city,
        "country": address.country,
        "state": address.state,
        "zip": address.zip,
    }


def _payment(payment: Payment, amount: Reading) -> Document:
    return {
        "transaction_type": payment.transaction_type,
        "amount": amount(payment.amount),
        "payment_method_id": payment.payment_method_id,
    }


def _method(method: PaymentMethod, amount: Reading) -> Document:
    document: Document = {"source": method.source, "id": method.id}
    if method.brand is not None:
        document["brand"] = method.brand
    if method.last_four is not None:
        document["last_four"] = method.last_four
    if method.balance is not None:
        document["balance"] = amount(method.balance)
    return document


DOCUMENTS: dict[str, Callable[[Any, Reading], Document]] = {
    "order": order_document,
    "product": product_document,
    "user": user_document,
}
"""What prints the rows of each table."""

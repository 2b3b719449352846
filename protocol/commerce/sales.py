"""A sale that is paid at once: all that it makes, wherever its price came from.

    sale = order.settled + payment.captured + ledger.posted + stock.sold, once for each line

The units sold are those set aside before. Not here: what is sold at which price (`agreements`, `carts`).
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ..tables import State
from .books import Entry, entered, sale
from .catalog import StockSold
from .orders import Line, OrderSettled
from .payments import PaymentCaptured
from .subject import fresh


class Sale(NamedTuple):
    """Who buys what of whom; ``total`` is what is paid, in minor units of ``currency``."""

    buyer: str
    merchant: str
    lines: tuple[Line, ...]
    total: int
    currency: str
    agreement: str | None = None
    order_group: str | None = None
    charges: int = 0


class Paid(NamedTuple):
    """The events of a sale, and the keys of what they make."""

    order: str
    payment: str
    events: list[msgspec.Struct]


def paid(state: State, stem: str, what: Sale) -> Paid:
    """A sale, its rows' keys made of ``stem``: one for each sale that a decision makes."""
    order = fresh(state, "order", f"o{stem}")
    payment = fresh(state, "payment", f"p{stem}")
    buyer, merchant, total, currency = what.buyer, what.merchant, what.total, what.currency
    return Paid(
        order,
        payment,
        [
            OrderSettled(
                order=order,
                agreement=what.agreement,
                buyer=buyer,
                merchant=merchant,
                total=total,
                currency=currency,
                lines=what.lines,
                order_group=what.order_group,
                charges=what.charges,
            ),
            PaymentCaptured(payment, order, total, currency),
            entered(state, Entry(f"e{stem}", order, payment, currency), sale(buyer, merchant, total)),
            *(StockSold(line.listing, line.quantity) for line in what.lines),
        ],
    )

"""A sale: all that it makes, wherever its price came from.

    settled             order.settled + payment.captured + ledger.posted + stock.sold, once for each line
    partially settled   the same for the units that are there; the price of those to come is held
    backordered         no unit is there: the whole price is held
    accepted            where the policy `settlement` holds payments: the price is held, units stay set aside

The units sold are those set aside before. Not here: what is sold at which price (`agreements`, `carts`).
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ..tables import State
from .books import Entry, entered, sale
from .orders import (
    Line,
    OrderAccepted,
    OrderBackordered,
    OrderPartiallySettled,
    OrderSettled,
    paid_state,
)
from .payments import PaymentAuthorized, PaymentCaptured, sold
from .policies import SETTLEMENT, policy_of
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
    """The events of a sale, and the keys of what they make; the order's own event is the first."""

    order: str
    payments: tuple[str, ...]
    events: list[msgspec.Struct]


def paid(state: State, stem: str, what: Sale) -> Paid:
    """A sale, its rows' keys made of ``stem``: one for each sale that a decision makes."""
    order = fresh(state, "order", f"o{stem}")
    outcome = "accepted" if policy_of(state, SETTLEMENT).holds else paid_state(what.lines)
    held = what.total if outcome in ("accepted", "backordered") else min(what.total, _waiting(what.lines))
    events: list[msgspec.Struct] = [
        _MADE[outcome](
            order=order,
            agreement=what.agreement,
            buyer=what.buyer,
            merchant=what.merchant,
            total=what.total,
            currency=what.currency,
            lines=what.lines,
            order_group=what.order_group,
            charges=what.charges,
        )
    ]
    payments: list[str] = []
    if outcome in ("settled", "partially_settled"):
        payments.append(fresh(state, "payment", f"p{stem}"))
        due = what.total - held
        entry = Entry(f"e{stem}", order, payments[0], what.currency)
        events.append(PaymentCaptured(payments[0], order, due, what.currency))
        events.append(entered(state, entry, sale(what.buyer, what.merchant, due)))
    if outcome != "settled":
        payments.append(fresh(state, "payment", f"h{stem}"))
        events.append(PaymentAuthorized(payments[-1], order, held, what.currency))
    if outcome != "accepted":
        events.extend(sold(what.lines))
    return Paid(order, tuple(payments), events)


def _waiting(lines: tuple[Line, ...]) -> int:
    """The price of the units that are still to come."""
    return sum(line.short * line.unit_price for line in lines)


_MADE = {
    "settled": OrderSettled,
    "partially_settled": OrderPartiallySettled,
    "backordered": OrderBackordered,
    "accepted": OrderAccepted,
}

"""Payments: what an order's buyer paid, and how much of it went back.

    captured ─► partially_refunded ─► refunded        owed back at most: captured − refunded
    authorized ─► captured | voided

A refund of everything goes from captured to refunded in one step. Not here: the postings that
go with each movement (`books`), who may ask for money back (`refunds`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from ..bodies import Made
from ..tables import State
from ..world import Act, Shown
from .books import Entry, entered, sale
from .orders import Order, order_named
from .subject import ALLOWED, Events, Machine, Rule, Subject, Verdict, own, shown_lists, unknown
from .terms import CommerceAction, CommerceEvent, CommerceRow, Currency, Money, OrderId

PaymentState = Literal["authorized", "captured", "partially_refunded", "refunded", "voided"]


class Payment(CommerceRow, frozen=True):
    """A row of `payment`: amounts in minor units, each the sum since the payment began."""

    order: OrderId
    captured: Money
    state: PaymentState
    refunded: Money = 0
    authorized: Money = 0
    currency: Currency = "EUR"


class PaymentHistory(CommerceAction, frozen=True, tag="payment.history"):
    """Reads the payments for an order of one's own: what was captured, and what was refunded since."""

    order: OrderId


class PaymentCaptured(CommerceEvent, frozen=True, tag="payment.captured"):
    """An order was paid."""

    payment: Made
    order: str
    amount: int
    currency: str


class PaymentRefunded(CommerceEvent, frozen=True, tag="payment.refunded"):
    """Money of a payment went back."""

    payment: str
    amount: int


def state_of(captured: int, refunded: int) -> PaymentState:
    """The state of a captured payment."""
    if refunded == 0:
        return "captured"
    return "partially_refunded" if refunded < captured else "refunded"


def refundable(state: State, order: Order) -> int:
    """What could still go back for an order."""
    rows = (state.get("payment", key) for key in order.payments)
    return sum(row.captured - row.refunded for row in rows)


def refunds(state: State, stem: str, key: str, order: Order, amount: int) -> Iterator[msgspec.Struct]:
    """The events that give back `amount` of what order `key` paid, oldest payment first."""
    for place, name in enumerate(order.payments, 1):
        payment: Payment = state.get("payment", name)
        part = min(amount, payment.captured - payment.refunded)
        if part > 0:
            amount -= part
            yield PaymentRefunded(name, part)
            entry = Entry(stem if place == 1 else f"{stem}_{place}", key, name, payment.currency)
            yield entered(state, entry, sale(order.buyer, order.merchant, -part))


def _captured(state: State, event: PaymentCaptured) -> None:
    payment = Payment(order=event.order, captured=event.amount, state="captured", currency=event.currency)
    state.put("payment", event.payment, payment)
    order_named(state, event.order, "payments", (event.payment,))


def _refunded(state: State, event: PaymentRefunded) -> None:
    payment: Payment = state.get("payment", event.payment)
    refunded = payment.refunded + event.amount
    after = msgspec.structs.replace(
        payment, refunded=refunded, state=state_of(payment.captured, refunded)
    )
    state.put("payment", event.payment, after)


def _get(state: State, act: Act) -> Verdict:
    action: PaymentHistory = act.action
    if own(state, "order", action.order, act.sender) is None:
        return unknown("order.unknown", "order", action.order)
    return ALLOWED


def _show(state: State, act: Act, _events: Events) -> Shown:
    order: Order = state.get("order", act.action.order)
    return shown_lists(state, (("payment", order.payments),))


SUBJECT = Subject(
    rows={"payment": Payment},
    rules=(Rule(PaymentHistory, _get, _show, ("order.unknown",), is_query=True),),
    events={PaymentCaptured: _captured, PaymentRefunded: _refunded},
    refusals={},
    machines={
        "payment": Machine(
            first=frozenset({"authorized", "captured"}),
            steps={
                "authorized": frozenset({"captured", "voided"}),
                "captured": frozenset({"partially_refunded", "refunded"}),
                "partially_refunded": frozenset({"refunded"}),
            },
        )
    },
)

"""Payments: what an order's buyer paid, and how much of it went back.

    captured ─► partially_refunded ─► refunded        owed back at most: captured − refunded
    authorized ─► captured | voided                   money that is held; no posting until it is captured

A refund of everything goes from captured to refunded in one step. A hold is captured once: of one that is
larger than what is due, the rest is held by a payment of its own. Who runs the market's payments captures
what is held for an accepted order: `payment.capture`.

Not here: the postings that go with each movement (`books`), who may ask for money back (`refunds`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from ..bodies import Made
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .books import Entry, entered, sale
from .catalog import StockSold
from .confirmations import confirmed
from .orders import Line, Order, OrderPaid, order_named
from .subject import fresh, misdirected, own, shown_lists, unknown
from .terms import OPERATOR, CommerceAction, CommerceEvent, CommerceRow, Currency, Money, OrderId

PaymentState = Literal["authorized", "captured", "partially_refunded", "refunded", "voided"]


class Payment(CommerceRow, frozen=True):
    """A row of `payment`: amounts in minor units, each the sum since the payment began.

    ``authorized`` is what was held before it was captured, or voided; 0 where it was captured at once.
    """

    order: OrderId
    captured: Money
    state: PaymentState
    refunded: Money = 0
    authorized: Money = 0
    currency: Currency = "EUR"


class PaymentHistory(CommerceAction, frozen=True, tag="payment.history"):
    """Reads the payments for an order of one's own: what was held, captured and refunded."""

    order: OrderId


class PaymentCapture(CommerceAction, frozen=True, tag="payment.capture"):
    """Takes the money held for an accepted order; its units leave the stock. Sent to a party of the order."""

    order: OrderId


class PaymentAuthorized(CommerceEvent, frozen=True, tag="payment.authorized"):
    """Money was held for an order."""

    payment: Made
    order: str
    amount: int
    currency: str


class HoldCaptured(CommerceEvent, frozen=True, tag="hold.captured"):
    """Money that was held was taken; what was held beyond it is free."""

    payment: str
    amount: int


class PaymentVoided(CommerceEvent, frozen=True, tag="payment.voided"):
    """Money that was held is free."""

    payment: str


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


def held(state: State, order: Order) -> int:
    """What is authorized for an order and neither captured nor voided."""
    return sum(payment.authorized for _key, payment in _holds(state, order))


def captures(state: State, stem: str, key: str, order: Order, amount: int) -> Iterator[msgspec.Struct]:
    """The events that capture `amount` of what is held for order `key`, oldest hold first.

    ``stem`` begins the keys of their entries, and of the payments that hold what is left.
    """
    for place, (name, payment) in enumerate(_holds(state, order), 1):
        part = min(amount, payment.authorized)
        if part > 0:
            amount -= part
            tail = stem if place == 1 else f"{stem}_{place}"
            yield HoldCaptured(name, part)
            entry = Entry(f"e{tail}", key, name, payment.currency)
            yield entered(state, entry, sale(order.buyer, order.merchant, part))
            if part < payment.authorized:
                rest = fresh(state, "payment", f"h{tail}")
                yield PaymentAuthorized(rest, key, payment.authorized - part, payment.currency)


def voids(state: State, order: Order) -> Iterator[msgspec.Struct]:
    """The events that let go of all that is held for an order."""
    return (PaymentVoided(key) for key, _payment in _holds(state, order))


def _holds(state: State, order: Order) -> Iterator[tuple[str, Payment]]:
    for key in order.payments:
        payment: Payment = state.get("payment", key)
        if payment.state == "authorized":
            yield key, payment


def sold(lines: Sequence[Line]) -> list[StockSold]:
    """The events by which the units of lines that are there leave the stock that set them aside."""
    return [
        StockSold(line.listing, line.quantity - line.short) for line in lines if line.short < line.quantity
    ]


def paying(state: State, stem: str, key: str, order: Order) -> list[msgspec.Struct]:
    """The events by which an accepted order is paid: the price of the units that are there is captured.

    What is still to come stays held, and the units that are there leave the stock.
    """
    waiting = sum(line.short * line.unit_price for line in order.lines)
    gone = sold(order.lines)
    due = 0 if order.lines and not gone else max(0, held(state, order) - waiting)
    return [OrderPaid(key), *captures(state, stem, key, order, due), *gone]


def _capture(state: State, act: Act) -> Verdict:
    key: str = act.action.order
    order: Order | None = state.get("order", key)
    if order is None:
        return unknown("order.unknown", "order", key)
    if act.to not in (order.buyer, order.merchant):
        return misdirected("order.addressee", act)
    if order.state != "accepted":
        return Refusal("order.state", {"order": key, "state": order.state})
    events = paying(state, str(act.seq), key, order)
    amount = sum(event.amount for event in events if isinstance(event, HoldCaptured))
    return Accepted([*events, confirmed(state, act, key, order, amount)])


def _authorized(state: State, event: PaymentAuthorized) -> None:
    payment = Payment(
        order=event.order, captured=0, state="authorized", authorized=event.amount, currency=event.currency
    )
    state.put("payment", event.payment, payment)
    order_named(state, event.order, "payments", (event.payment,))


def _hold_captured(state: State, event: HoldCaptured) -> None:
    payment: Payment = state.get("payment", event.payment)
    after = msgspec.structs.replace(payment, captured=event.amount, state="captured")
    state.put("payment", event.payment, after)


def _voided(state: State, event: PaymentVoided) -> None:
    payment: Payment = state.get("payment", event.payment)
    state.put("payment", event.payment, msgspec.structs.replace(payment, state="voided"))


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
    rules=(
        Rule(PaymentHistory, _get, _show, ("order.unknown",), is_query=True),
        Rule(
            PaymentCapture,
            _capture,
            checks=("order.unknown", "order.addressee", "order.state"),
            roles=OPERATOR,
        ),
    ),
    events={
        PaymentAuthorized: _authorized,
        HoldCaptured: _hold_captured,
        PaymentVoided: _voided,
        PaymentCaptured: _captured,
        PaymentRefunded: _refunded,
    },
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

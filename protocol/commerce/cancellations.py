"""Calling an order off before it leaves.

    cancel = payment.voided, of what is held
           + payment.refunded + ledger.posted, of what was captured and not given back yet
           + packing.moved, of what was being packed
           + stock.released, where units were set aside; stock.restocked, where they had left the stock
           + order.cancelled + confirmation.made

Either party may; it is told to the other. Units that were still to come give nothing back, and a listing
without stock takes nothing. Not here: goods that are on their way or there (`shipments`, `returns`).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..bodies import Part
from ..joined import Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import StockReleased, StockRestocked
from .confirmations import confirmed
from .orders import Order, OrderCancelled
from .packing import moved, packings_in
from .payments import refundable, refunds, voids
from .subject import misdirected, other, own, shown_lists, unknown
from .terms import TRADERS, CommerceAction, OrderId

CANCELLABLE = ("proposed", "accepted", "settled", "partially_settled", "backordered")


class OrderCancel(CommerceAction, frozen=True, tag="order.cancel"):
    """Calls an order off that hasn't left yet: money held or paid goes back. Sent to its other party."""

    order: OrderId
    reason: Part


def _cancel(state: State, act: Act) -> Verdict:
    action: OrderCancel = act.action
    order: Order | None = own(state, "order", action.order, act.sender)
    if order is None:
        return unknown("order.unknown", "order", action.order)
    if act.to != other(order, act.sender):
        return misdirected("order.addressee", act)
    if order.state not in CANCELLABLE:
        return Refusal("order.state", {"order": action.order, "state": order.state})
    paid = refundable(state, order)
    return Accepted([
        *voids(state, order),
        *refunds(state, f"e{act.seq}", action.order, order, paid),
        *moved(state, packings_in(state, order, "created", "packed"), "cancelled"),
        *_units_back(state, order),
        OrderCancelled(action.order),
        confirmed(state, act, action.order, order, paid),
    ])


def _units_back(state: State, order: Order) -> Iterator[msgspec.Struct]:
    back = StockReleased if order.state == "accepted" else StockRestocked
    for line in () if order.state == "proposed" else order.lines:
        units = line.quantity - line.short
        if units and state.get("inventory", line.listing) is not None:
            yield back(line.listing, units)


def _show(state: State, act: Act, _events: Events) -> Shown:
    key: str = act.action.order
    order: Order = state.get("order", key)
    return shown_lists(
        state,
        (
            ("order", (key,)),
            ("payment", order.payments),
            ("packing", order.packings),
            ("confirmation", order.confirmations[-1:]),
        ),
    )


SUBJECT = Subject(
    rows={},
    rules=(
        Rule(OrderCancel, _cancel, _show, ("order.unknown", "order.addressee", "order.state"), TRADERS),
    ),
    events={},
    refusals={},
)

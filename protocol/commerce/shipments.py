"""Goods on their way.

    in_transit ─► delayed ─► missing_scan ─► lost       scans, by who runs the market's fulfilment
    in_transit, delayed, missing_scan ─► delivered

An order is delivered when the last of its shipments is that was neither replaced nor refunded.
Not here: how goods leave (`fulfilment`), and what is done when they don't arrive (`remedies`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from ..bodies import Made
from ..canonical import Id
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .orders import Line, Order, OrderDelivered, order_named
from .policies import FULFILMENT, last_tick
from .subject import fresh, misdirected, own, shown, unknown
from .talk import tick_of
from .terms import (
    OPERATOR,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    ListingId,
    ListingIdOrNone,
    OrderId,
    Quantity,
    ShipmentId,
    ShipmentIdOrNone,
    Tick,
)

_replace = msgspec.structs.replace

ShipmentState = Literal["in_transit", "delayed", "missing_scan", "lost", "delivered"]
Remedy = Literal["wait", "replace", "refund"]


SETTLING: tuple[Remedy, ...] = ("replace", "refund")
"""The remedies after which nothing more is done about a shipment."""


class Units(CommerceRow, frozen=True):
    """So many units of a listing."""

    listing: ListingId
    quantity: Quantity


class Shipment(CommerceRow, frozen=True):
    """A row of `shipment`.

    ``units`` are those of its order that it stands for, and ``instead`` the
    listing of which as many were sent in their place. ``eta`` is the tick at
    which it should be there, ``tick`` the one of its last scan.
    """

    order: OrderId
    buyer: Id
    merchant: Id
    state: ShipmentState = "in_transit"
    units: tuple[Units, ...] = ()
    instead: ListingIdOrNone = None
    replaces: ShipmentIdOrNone = None
    remedy: Remedy | None = None
    sent: Tick = 0
    eta: Tick | None = None
    tick: Tick = 0


class ShipmentGet(CommerceAction, frozen=True, tag="shipment.get"):
    """Reads a shipment of an order of one's own: where it stands, when it is due, what was done about it."""

    shipment: ShipmentId


class ShipmentScan(CommerceAction, frozen=True, tag="shipment.scan"):
    """Says where a shipment stands, and when it should be there. Sent to a party of its order.

    One that is in transit gets delayed, then misses a scan, then is lost; until then it may be delivered.
    """

    shipment: ShipmentId
    state: ShipmentState
    eta: Tick | None = None


class ShipmentSent(CommerceEvent, frozen=True, tag="shipment.sent"):
    """Goods left their merchant."""

    shipment: Made
    order: str
    buyer: str
    merchant: str
    units: tuple[Units, ...]
    instead: str | None
    replaces: str | None
    tick: int
    eta: int | None


class ShipmentScanned(CommerceEvent, frozen=True, tag="shipment.scanned"):
    """A shipment was seen, or wasn't where it should be."""

    shipment: str
    state: str
    eta: int | None
    tick: int


class Sending(NamedTuple):
    """What is sent: units of an order, or others instead of them."""

    units: tuple[Units, ...]
    instead: str | None = None
    replaces: str | None = None


def units_of(lines: Sequence[Line]) -> tuple[Units, ...]:
    """The units of an order's lines."""
    return tuple(Units(line.listing, line.quantity) for line in lines)


def sending(state: State, stem: str, key: str, order: Order, what: Sending) -> ShipmentSent:
    """The event by which goods of order `key` leave; its row's key begins with ``stem``."""
    return ShipmentSent(
        shipment=fresh(state, "shipment", stem),
        order=key,
        buyer=order.buyer,
        merchant=order.merchant,
        units=what.units,
        instead=what.instead,
        replaces=what.replaces,
        tick=tick_of(state),
        eta=last_tick(state, FULFILMENT),
    )


def _get(state: State, act: Act) -> Verdict:
    action: ShipmentGet = act.action
    if own(state, "shipment", action.shipment, act.sender) is None:
        return unknown("shipment.unknown", "shipment", action.shipment)
    return ALLOWED


def _scan(state: State, act: Act) -> Verdict:
    action: ShipmentScan = act.action
    found: Shipment | None = state.get("shipment", action.shipment)
    if found is None:
        return unknown("shipment.unknown", "shipment", action.shipment)
    if act.to not in (found.buyer, found.merchant):
        return misdirected("shipment.addressee", act)
    if action.state not in _STEPS.get(found.state, ()):
        return standing(action.shipment, found)
    eta = found.eta if action.eta is None else action.eta
    events: list[msgspec.Struct] = [
        ShipmentScanned(action.shipment, action.state, eta, tick_of(state))
    ]
    order: Order = state.get("order", found.order)
    if action.state == "delivered" and order.state == "dispatched" and _last(state, order, action.shipment):
        events.append(OrderDelivered(found.order))
    return Accepted(events)


def standing(key: str, found: Shipment) -> Refusal:
    """The refusal of what can't be done with a shipment where it stands."""
    return Refusal("shipment.state", {"shipment": key, "state": found.state, "remedy": found.remedy})


def _last(state: State, order: Order, key: str) -> bool:
    """Whether nothing else of an order is still on its way."""
    rows: list[Shipment] = [state.get("shipment", name) for name in order.shipments if name != key]
    return all(row.state == "delivered" or row.remedy in SETTLING for row in rows)


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("shipment", act.action.shipment))


def _sent(state: State, event: ShipmentSent) -> None:
    row = Shipment(
        order=event.order,
        buyer=event.buyer,
        merchant=event.merchant,
        units=event.units,
        instead=event.instead,
        replaces=event.replaces,
        sent=event.tick,
        eta=event.eta,
        tick=event.tick,
    )
    state.put("shipment", event.shipment, row)
    order_named(state, event.order, "shipments", (event.shipment,))


def _scanned(state: State, event: ShipmentScanned) -> None:
    found: Shipment = state.get("shipment", event.shipment)
    after = _replace(found, state=event.state, eta=event.eta, tick=event.tick)
    state.put("shipment", event.shipment, after)


_STEPS = {
    "in_transit": frozenset({"delayed", "delivered"}),
    "delayed": frozenset({"missing_scan", "delivered"}),
    "missing_scan": frozenset({"lost", "delivered"}),
}
_MINE = ("shipment.unknown", "shipment.addressee", "shipment.state")

SUBJECT = Subject(
    rows={"shipment": Shipment},
    rules=(
        Rule(ShipmentGet, _get, _show, ("shipment.unknown",), is_query=True),
        Rule(ShipmentScan, _scan, checks=_MINE, roles=OPERATOR),
    ),
    events={ShipmentSent: _sent, ShipmentScanned: _scanned},
    refusals={
        "shipment.unknown": "there is no such shipment, or it isn't the sender's",
        "shipment.addressee": "what becomes of a shipment is sent to a party of its order, not to oneself",
        "shipment.state": "the shipment can't come to this state from its own, or needs no remedy",
    },
    machines={"shipment": Machine(frozenset({"in_transit"}), _STEPS)},
)

"""Putting the goods of an order together before they leave.

    created ─► packed ─► handed_off       created, packed: by who runs the market's fulfilment; handed off
    created, packed ─► cancelled          with the order's dispatch; cancelled with the order

An order is packed once: another packing is begun only when none is left that wasn't cancelled. An order may
be dispatched without one (`fulfilment`), and not with one that isn't packed yet.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..bodies import Made
from ..canonical import Id
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .orders import Order, order_named
from .subject import fresh, misdirected, own, shown_lists, unknown
from .talk import tick_of
from .terms import OPERATOR, CommerceAction, CommerceEvent, CommerceRow, OrderId, PackingId, Tick

_replace = msgspec.structs.replace

PackingState = Literal["created", "packed", "handed_off", "cancelled"]


class Packing(CommerceRow, frozen=True):
    """A row of `packing`; ``tick`` is when it came to its state."""

    order: OrderId
    buyer: Id
    merchant: Id
    state: PackingState = "created"
    tick: Tick = 0


class PackingHistory(CommerceAction, frozen=True, tag="packing.history"):
    """Reads the packings of an order of one's own, and how far each is."""

    order: OrderId


class PackingCreate(CommerceAction, frozen=True, tag="packing.create"):
    """Begins to pack a settled order. Sent to a party of the order."""

    order: OrderId


class PackingAdvance(CommerceAction, frozen=True, tag="packing.advance"):
    """Says that a packing is packed. Sent to a party of its order."""

    packing: PackingId


class PackingCreated(CommerceEvent, frozen=True, tag="packing.created"):
    """An order is being packed."""

    packing: Made
    order: str
    buyer: str
    merchant: str
    tick: int


class PackingMoved(CommerceEvent, frozen=True, tag="packing.moved"):
    """A packing came to another state."""

    packing: str
    state: str
    tick: int


def packings_in(state: State, order: Order, *states: PackingState) -> list[str]:
    """The keys of an order's packings that are in one of these states."""
    return [key for key in order.packings if state.get("packing", key).state in states]


def moved(state: State, keys: list[str], to: PackingState) -> list[PackingMoved]:
    """The events by which packings come to a state."""
    tick = tick_of(state)
    return [PackingMoved(key, to, tick) for key in keys]


def _get(state: State, act: Act) -> Verdict:
    action: PackingHistory = act.action
    if own(state, "order", action.order, act.sender) is None:
        return unknown("order.unknown", "order", action.order)
    return ALLOWED


def _show(state: State, act: Act, _events: Events) -> Shown:
    order: Order = state.get("order", act.action.order)
    return shown_lists(state, (("packing", order.packings),))


def _create(state: State, act: Act) -> Verdict:
    key: str = act.action.order
    order: Order | None = state.get("order", key)
    if order is None:
        return unknown("order.unknown", "order", key)
    if act.to not in (order.buyer, order.merchant):
        return misdirected("order.addressee", act)
    if order.state != "settled":
        return Refusal("order.state", {"order": key, "state": order.state})
    begun = packings_in(state, order, "created", "packed", "handed_off")
    if begun:
        return Refusal("packing.begun", {"order": key, "packing": begun[0]})
    made = fresh(state, "packing", f"w{act.seq}")
    return Accepted([PackingCreated(made, key, order.buyer, order.merchant, tick_of(state))])


def _advance(state: State, act: Act) -> Verdict:
    key: str = act.action.packing
    found: Packing | None = state.get("packing", key)
    if found is None:
        return unknown("packing.unknown", "packing", key)
    if act.to not in (found.buyer, found.merchant):
        return misdirected("packing.addressee", act)
    if found.state != "created":
        return Refusal("packing.state", {"packing": key, "state": found.state})
    return Accepted(moved(state, [key], "packed"))


def _created(state: State, event: PackingCreated) -> None:
    row = Packing(order=event.order, buyer=event.buyer, merchant=event.merchant, tick=event.tick)
    state.put("packing", event.packing, row)
    order_named(state, event.order, "packings", (event.packing,))


def _moved(state: State, event: PackingMoved) -> None:
    found: Packing = state.get("packing", event.packing)
    state.put("packing", event.packing, _replace(found, state=event.state, tick=event.tick))


SUBJECT = Subject(
    rows={"packing": Packing},
    rules=(
        Rule(PackingHistory, _get, _show, ("order.unknown",), is_query=True),
        Rule(
            PackingCreate,
            _create,
            checks=("order.unknown", "order.addressee", "order.state", "packing.begun"),
            roles=OPERATOR,
        ),
        Rule(
            PackingAdvance,
            _advance,
            checks=("packing.unknown", "packing.addressee", "packing.state"),
            roles=OPERATOR,
        ),
    ),
    events={PackingCreated: _created, PackingMoved: _moved},
    refusals={
        "packing.unknown": "there is no such packing",
        "packing.begun": "the order is packed, or being packed, already",
        "packing.addressee": "what becomes of a packing is sent to a party of its order",
        "packing.state": "the packing is not in the state for this: created, then packed",
    },
    machines={
        "packing": Machine(
            frozenset({"created"}),
            {
                "created": frozenset({"packed", "cancelled"}),
                "packed": frozenset({"handed_off", "cancelled"}),
            },
        )
    },
)

"""Doing what an event asks of an order: once per operation, in time, by whom it is for, or not at all.

    settle     what is held for an accepted order is captured            by its buyer
    refund     an amount of what was paid goes back                      by its merchant
    dispatch   a settled order leaves                                    by its merchant

    checked    in time ─► own order ─► own role ─► operation not done yet ─► order in the state required

What must not be done is refused, and that it was tried is on record. An event for an order of one's own that
nobody asked for is not refused: that is the party's to see.

Source: the seed's integrity cases 5 and 6 (an expired event, and one that comes twice).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ..bodies import Part
from ..joined import Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .confirmations import confirmed
from .fulfilment import dispatching
from .orders import Order, OrderRefunded
from .payments import HoldCaptured, paying, refundable, refunds
from .protocol_events import ProtocolEvent, change, pending
from .subject import own, shown
from .talk import tick_of
from .terms import TRADERS, CommerceAction, CommerceEvent, CommerceRow, ProtocolEventId

Effect = list[msgspec.Struct] | Refusal


class Operation(CommerceRow, frozen=True):
    """A row of `operation`: the event that was processed under the name that is its key."""

    protocol_event: ProtocolEventId


class EventProcess(CommerceAction, frozen=True, tag="event.process"):
    """Does what an event asks of an order. Sent to its issuer.

    Not where it is late, on another's order, done before, or where the order is in another state.
    """

    protocol_event: ProtocolEventId
    reason: Part


class EventProcessed(CommerceEvent, frozen=True, tag="event.processed"):
    """What an event asked was done."""

    protocol_event: str
    operation: str


def name_operations(typed: Mapping[str, dict[str, Any]]) -> None:
    """Makes the rows of operations that were done by events among start rows."""
    event: ProtocolEvent
    for key, event in typed["protocol_event"].items():
        if event.state == "processed":
            typed["operation"].setdefault(event.operation, Operation(key))


def operation_problems(typed: Mapping[str, dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """What start rows say against each other, as (table, key, problem): an operation is one event's."""
    done: dict[str, str] = {}
    event: ProtocolEvent
    for key, event in typed["protocol_event"].items():
        if event.state == "processed":
            first = done.setdefault(event.operation, key)
            if first != key:
                yield "protocol_event", key, f"did operation `{event.operation}`, which `{first}` did"
    for name in {**done, **typed["operation"]}:
        row: Operation | None = typed["operation"].get(name)
        if row is None or row.protocol_event != done.get(name):
            yield "operation", name, "doesn't name the event that did it"


def _process(state: State, act: Act) -> Verdict:
    action: EventProcess = act.action
    key = action.protocol_event
    found = pending(state, act)
    if isinstance(found, Refusal):
        return found
    flaw = _stale(state, key, found) or _foreign(state, act.sender, found)
    if flaw is not None:
        return flaw
    if state.get("operation", found.operation) is not None:
        return Refusal("event.duplicate", {"operation": found.operation})
    order: Order = state.get("order", found.order)
    if found.required_order_state not in (None, order.state):
        return Refusal("event.order_state", {"order": found.order, "state": order.state})
    effects = _EFFECTS[found.effect](state, act, found, order)
    if isinstance(effects, Refusal):
        return effects
    return Accepted([EventProcessed(key, found.operation), *effects])


def _stale(state: State, key: str, event: ProtocolEvent) -> Refusal | None:
    ends = [event.expires]
    if event.match_certificate is not None:
        ends.append(state.get("match_certificate", event.match_certificate).expires)
    tick = tick_of(state)
    for expires in ends:
        if expires is not None and tick > expires:
            return Refusal("event.expired", {"protocol_event": key, "expires": expires})
    return None


def _foreign(state: State, party: str, event: ProtocolEvent) -> Refusal | None:
    """Why an event isn't for this party to process, or None."""
    order: Order | None = own(state, "order", event.order, party)
    if order is None:
        return Refusal("event.order", {"order": event.order})
    if party != (order.buyer if event.effect == "settle" else order.merchant):
        return Refusal("event.role", {"effect": event.effect})
    return None


def _settling(state: State, act: Act, event: ProtocolEvent, order: Order) -> Effect:
    if order.state != "accepted":
        return Refusal("event.order_state", {"order": event.order, "state": order.state})
    events = paying(state, str(act.seq), event.order, order)
    amount = sum(captured.amount for captured in events if isinstance(captured, HoldCaptured))
    return [*events, confirmed(state, act, event.order, order, amount)]


def _refunding(state: State, act: Act, event: ProtocolEvent, order: Order) -> Effect:
    if order.state == "exchanged":
        return Refusal("event.order_state", {"order": event.order, "state": order.state})
    left = refundable(state, order)
    if event.amount > left:
        return Refusal("event.exceeds_paid", {"amount": event.amount, "left": left})
    events = list(refunds(state, f"e{act.seq}", event.order, order, event.amount))
    if event.amount == left and order.state in ("delivered", "returned"):
        events.append(OrderRefunded(event.order))
    return [*events, confirmed(state, act, event.order, order, event.amount)]


def _dispatching(state: State, act: Act, event: ProtocolEvent, order: Order) -> Effect:
    events = dispatching(state, f"s{act.seq}", event.order, order)
    if isinstance(events, Refusal):
        return Refusal("event.order_state", events.detail)
    return [*events, confirmed(state, act, event.order, order, 0)]


_EFFECTS = {"settle": _settling, "refund": _refunding, "dispatch": _dispatching}


def _show_processed(state: State, act: Act, _events: Events) -> Shown:
    key: str = act.action.protocol_event
    return shown(state, ("protocol_event", key), ("order", state.get("protocol_event", key).order))


def _processed(state: State, event: EventProcessed) -> None:
    change(state, event.protocol_event, state="processed")
    state.put("operation", event.operation, Operation(event.protocol_event))


SUBJECT = Subject(
    rows={"operation": Operation},
    rules=(
        Rule(
            EventProcess,
            _process,
            _show_processed,
            (
                "event.unknown",
                "event.addressee",
                "event.state",
                "event.expired",
                "event.order",
                "event.role",
                "event.duplicate",
                "event.order_state",
                "event.exceeds_paid",
            ),
            TRADERS,
        ),
    ),
    events={EventProcessed: _processed},
    refusals={
        "event.expired": "the last tick of the event, or of its certificate, is past",
        "event.order": "the event is on an order that isn't the sender's",
        "event.role": "a buyer settles, a merchant refunds and dispatches",
        "event.duplicate": "its operation was done before, by another event",
        "event.order_state": "the order is not in the state that the event requires, or that its effect does",
        "event.exceeds_paid": "more than was captured and not refunded yet",
    },
)

"""Events that the market's operator delivers: do this to an order, once, and by this tick.

    issued ─► processed (`processing`)        acknowledged, once, at any time: it came
          └─► rejected, with its cause

The market doesn't refuse to reject what could have been processed: what stands against an event is for its
party to see. An event may name a match certificate; it then holds as long as that does.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..bodies import Made, Part
from ..canonical import Id, Index
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .orders import OrderState
from .subject import fresh, misdirected, shown, unknown
from .talk import tick_of
from .terms import (
    OPERATOR,
    TRADERS,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    MatchCertificateIdOrNone,
    Money,
    OrderId,
    ProtocolEventId,
    Tick,
)

_replace = msgspec.structs.replace

Effect = Literal["settle", "refund", "dispatch"]
Cause = Literal["expired", "duplicate", "order", "role", "order_state", "amount", "unauthorized", "other"]


class ProtocolEvent(CommerceRow, frozen=True):
    """A row of `protocol_event`: what ``party`` is asked to do to an order, under the name ``operation``."""

    effect: Effect
    order: OrderId
    party: Id
    operation: Id
    issuer: Id = "operator"
    sequence: Index = 0
    issued: Tick = 0
    expires: Tick | None = None
    required_order_state: OrderState | None = None
    match_certificate: MatchCertificateIdOrNone = None
    amount: Money = 0
    state: Literal["issued", "processed", "rejected"] = "issued"
    cause: Cause | None = None
    is_acknowledged: bool = False

    def problem(self) -> str | None:
        """Two parties, an amount where money goes back, and a cause where it was rejected."""
        if self.party == self.issuer:
            return "has one party on both sides"
        if (self.amount > 0) != (self.effect == "refund"):
            return f"is to `{self.effect}`, and an amount belongs to a refund"
        if (self.cause is not None) != (self.state == "rejected"):
            return f"is `{self.state}`, and a cause belongs to an event that is `rejected`"
        return None


class EventIssue(CommerceAction, frozen=True, tag="event.issue"):
    """Asks a party to do something to an order, once under the name of its operation. Sent to that party.

    It holds until tick `expires`; `amount` is a refund's, and 0 for anything else.
    """

    effect: Effect
    order: OrderId
    operation: Id
    sequence: Index = 0
    expires: Tick | None = None
    required_order_state: OrderState | None = None
    match_certificate: MatchCertificateIdOrNone = None
    amount: Money = 0


class EventReject(CommerceAction, frozen=True, tag="event.reject"):
    """Doesn't do what an event asks, and says what stands against it. Sent to its issuer."""

    protocol_event: ProtocolEventId
    cause: Cause
    reason: Part


class EventAcknowledge(CommerceAction, frozen=True, tag="event.acknowledge"):
    """Says that an event came, and nothing about what becomes of it. Sent to its issuer, once."""

    protocol_event: ProtocolEventId


class EventGet(CommerceAction, frozen=True, tag="event.get"):
    """Reads an event that was sent to oneself, or that one issued."""

    protocol_event: ProtocolEventId


class EventIssued(CommerceEvent, frozen=True, tag="event.issued"):
    """A party was asked to do something to an order."""

    protocol_event: Made
    effect: Effect
    order: str
    party: str
    operation: str
    issuer: str
    sequence: int
    issued: int
    expires: int | None
    required_order_state: OrderState | None
    match_certificate: str | None
    amount: int


class EventRejected(CommerceEvent, frozen=True, tag="event.rejected"):
    """What an event asked was not done."""

    protocol_event: str
    cause: Cause


class EventAcknowledged(CommerceEvent, frozen=True, tag="event.acknowledged"):
    """An event came."""

    protocol_event: str


def _issue(state: State, act: Act) -> Verdict:
    action: EventIssue = act.action
    if state.get("order", action.order) is None:
        return unknown("order.unknown", "order", action.order)
    if act.to is None:
        return misdirected("event.addressee", act)
    certificate = action.match_certificate
    if certificate is not None and state.get("match_certificate", certificate) is None:
        return unknown("event.certificate", "match_certificate", certificate)
    if (action.amount > 0) != (action.effect == "refund"):
        return Refusal("event.amount", {"amount": action.amount})
    issued = EventIssued(
        protocol_event=fresh(state, "protocol_event", f"x{act.seq}"),
        effect=action.effect,
        order=action.order,
        party=act.to,
        operation=action.operation,
        issuer=act.sender,
        sequence=action.sequence,
        issued=tick_of(state),
        expires=action.expires,
        required_order_state=action.required_order_state,
        match_certificate=certificate,
        amount=action.amount,
    )
    return Accepted([issued])


def _reject(state: State, act: Act) -> Verdict:
    action: EventReject = act.action
    found = pending(state, act)
    if isinstance(found, Refusal):
        return found
    return Accepted([EventRejected(action.protocol_event, action.cause)])


def _acknowledge(state: State, act: Act) -> Verdict:
    action: EventAcknowledge = act.action
    found = _received(state, act)
    if isinstance(found, Refusal):
        return found
    if found.is_acknowledged:
        return Refusal("event.acknowledged", {"protocol_event": action.protocol_event})
    return Accepted([EventAcknowledged(action.protocol_event)])


def pending(state: State, act: Act) -> ProtocolEvent | Refusal:
    """The sender's event that an act names, neither processed nor rejected, answered to its issuer."""
    found = _received(state, act)
    if not isinstance(found, Refusal) and found.state != "issued":
        return Refusal("event.state", {"protocol_event": act.action.protocol_event, "state": found.state})
    return found


def _received(state: State, act: Act) -> ProtocolEvent | Refusal:
    """The sender's event that an act names, answered to its issuer."""
    key: str = act.action.protocol_event
    found: ProtocolEvent | None = state.get("protocol_event", key)
    if found is None or found.party != act.sender:
        return unknown("event.unknown", "protocol_event", key)
    return found if act.to == found.issuer else misdirected("event.addressee", act)


def _get(state: State, act: Act) -> Verdict:
    key: str = act.action.protocol_event
    found: ProtocolEvent | None = state.get("protocol_event", key)
    if found is None or act.sender not in (found.party, found.issuer):
        return unknown("event.unknown", "protocol_event", key)
    return ALLOWED


def _show_issued(state: State, _act: Act, events: Events) -> Shown:
    issued = events[0]
    assert isinstance(issued, EventIssued)
    return shown(state, ("protocol_event", issued.protocol_event))


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("protocol_event", act.action.protocol_event))


def _issued(state: State, event: EventIssued) -> None:
    row = ProtocolEvent(
        effect=event.effect,
        order=event.order,
        party=event.party,
        operation=event.operation,
        issuer=event.issuer,
        sequence=event.sequence,
        issued=event.issued,
        expires=event.expires,
        required_order_state=event.required_order_state,
        match_certificate=event.match_certificate,
        amount=event.amount,
    )
    state.put("protocol_event", event.protocol_event, row)


def _rejected(state: State, event: EventRejected) -> None:
    change(state, event.protocol_event, state="rejected", cause=event.cause)


def _acknowledged(state: State, event: EventAcknowledged) -> None:
    change(state, event.protocol_event, is_acknowledged=True)


def change(state: State, key: str, /, **columns: object) -> None:
    """Stages an event with these columns changed."""
    state.put("protocol_event", key, _replace(state.get("protocol_event", key), **columns))


_MINE = ("event.unknown", "event.addressee")

SUBJECT = Subject(
    rows={"protocol_event": ProtocolEvent},
    rules=(
        Rule(
            EventIssue,
            _issue,
            _show_issued,
            ("order.unknown", "event.addressee", "event.certificate", "event.amount"),
            OPERATOR,
        ),
        Rule(EventReject, _reject, _show, (*_MINE, "event.state"), TRADERS),
        Rule(EventAcknowledge, _acknowledge, _show, (*_MINE, "event.acknowledged"), TRADERS),
        Rule(EventGet, _get, _show, ("event.unknown",), is_query=True),
    ),
    events={
        EventIssued: _issued,
        EventRejected: _rejected,
        EventAcknowledged: _acknowledged,
    },
    refusals={
        "event.unknown": "no such event was sent to the sender",
        "event.addressee": "an event is sent to a party, and answered to its issuer",
        "event.certificate": "there is no such match certificate",
        "event.acknowledged": "the event was acknowledged before",
        "event.state": "the event was processed or rejected before",
        "event.amount": "a refund has an amount, and nothing else has",
    },
    machines={
        "protocol_event": Machine(
            frozenset({"issued"}), {"issued": frozenset({"processed", "rejected"})}
        )
    },
)

"""Goods that go back to their merchant.

    request ─► requested ─► authorized ─► received       authorize, receive, deny: by the merchant
                        └─► denied

    receive = return.received [+ stock.restocked] [+ order.returned]

A return in a condition that the policy `returns` doesn't accept can't be authorized, only denied; what
then comes in is entered as it is found, and is available again where the policy restocks that condition.
When all units of an order came back, the order is returned.
Not here: the money (`refunds`), other goods instead (`exchanges`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..bodies import Made, Part
from ..canonical import Id
from ..joined import Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import StockRestocked
from .citations import Cited, miscited
from .orders import Order, OrderReturned, order_named
from .policies import RETURNS, policy_of
from .subject import fresh, misdirected, own, shown, unknown
from .terms import (
    BUYER,
    MERCHANT,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    Condition,
    EvidenceRecordId,
    ListingId,
    ListingIdOrNone,
    OrderId,
    Quantity,
    ReturnId,
)

_replace = msgspec.structs.replace


class Return(CommerceRow, frozen=True):
    """A row of `return`.

    ``condition`` and ``quantity`` are what the buyer said, by the records of ``evidence``;
    ``received_condition`` and ``received_quantity`` what the merchant found, unset until
    then. A null ``listing`` means the order as a whole.
    """

    order: OrderId
    buyer: Id
    merchant: Id
    condition: Condition
    state: Literal["requested", "authorized", "denied", "received"] = "requested"
    quantity: Quantity = 1
    listing: ListingIdOrNone = None
    received_condition: Condition | None = None
    received_quantity: Quantity | None = None
    evidence: tuple[EvidenceRecordId, ...] = ()


class ReturnRequest(CommerceAction, frozen=True, tag="return.request"):
    """Asks for units of a delivered order to be taken back, in the condition stated.

    `evidence` names records on the order, its returns or its listings that both parties may read. Sent to
    the merchant.
    """

    order: OrderId
    listing: ListingId
    quantity: Quantity
    condition: Condition
    reason: Part
    evidence: Cited = ()


class ReturnAuthorize(CommerceAction, frozen=True, tag="return.authorize"):
    """Lets the buyer send the goods of a requested return back. Sent to the buyer."""

    return_: ReturnId = msgspec.field(name="return")


class ReturnDeny(CommerceAction, frozen=True, tag="return.deny"):
    """Turns a requested return down. Sent to the buyer."""

    return_: ReturnId = msgspec.field(name="return")
    reason: Part


class ReturnReceive(CommerceAction, frozen=True, tag="return.receive"):
    """Enters the goods of an authorized return as they came in. Sent to the buyer."""

    return_: ReturnId = msgspec.field(name="return")
    condition: Condition
    quantity: Quantity


class ReturnRequested(CommerceEvent, frozen=True, tag="return.requested"):
    """A buyer asked to send goods back."""

    return_: Made = msgspec.field(name="return")
    order: str
    buyer: str
    merchant: str
    listing: str
    quantity: int
    condition: str
    evidence: tuple[str, ...] = ()


class ReturnAuthorized(CommerceEvent, frozen=True, tag="return.authorized"):
    """The merchant agreed to take goods back."""

    return_: str = msgspec.field(name="return")


class ReturnDenied(CommerceEvent, frozen=True, tag="return.denied"):
    """The merchant did not agree to take goods back."""

    return_: str = msgspec.field(name="return")


class ReturnReceived(CommerceEvent, frozen=True, tag="return.received"):
    """Goods came back."""

    return_: str = msgspec.field(name="return")
    condition: str
    quantity: int


def _request(state: State, act: Act) -> Verdict:
    action: ReturnRequest = act.action
    order: Order | None = own(state, "order", action.order, act.sender)
    if order is None:
        return unknown("order.unknown", "order", action.order)
    if act.to != order.merchant:
        return misdirected("return.addressee", act)
    if order.state != "delivered":
        return Refusal("return.order_state", {"order": action.order, "state": order.state})
    bought = sum(line.quantity for line in order.lines if line.listing == action.listing)
    if bought == 0:
        return Refusal("return.listing", {"order": action.order, "listing": action.listing})
    left = bought - _claimed(state, order, action.listing)
    if action.quantity > left:
        return Refusal("return.quantity", {"order": action.order, "left": left})
    flaw = miscited(state, "return", action.evidence, action.order, order)
    if flaw is not None:
        return flaw
    requested = ReturnRequested(
        return_=fresh(state, "return", f"r{act.seq}"),
        order=action.order,
        buyer=order.buyer,
        merchant=order.merchant,
        listing=action.listing,
        quantity=action.quantity,
        condition=action.condition,
        evidence=action.evidence,
    )
    return Accepted([requested])


def _claimed(state: State, order: Order, listing: str) -> int:
    """The units of a listing that returns of the order speak of, those denied left out."""
    rows: list[Return] = [state.get("return", key) for key in order.returns]
    return sum(row.quantity for row in rows if row.state != "denied" and row.listing in (listing, None))


def _authorize(state: State, act: Act) -> Verdict:
    action: ReturnAuthorize = act.action
    found = _in_state(state, act, "requested")
    if isinstance(found, Refusal):
        return found
    accepted = policy_of(state, RETURNS).accepted_conditions
    if accepted is not None and found.condition not in accepted:
        return Refusal("return.condition", {"return": action.return_, "condition": found.condition})
    return Accepted([ReturnAuthorized(action.return_)])


def _deny(state: State, act: Act) -> Verdict:
    action: ReturnDeny = act.action
    found = _in_state(state, act, "requested")
    if isinstance(found, Refusal):
        return found
    return Accepted([ReturnDenied(action.return_)])


def _receive(state: State, act: Act) -> Verdict:
    action: ReturnReceive = act.action
    found = _in_state(state, act, "authorized")
    if isinstance(found, Refusal):
        return found
    if action.quantity > found.quantity:
        return Refusal("return.quantity", {"return": action.return_, "left": found.quantity})
    events: list[msgspec.Struct] = [ReturnReceived(action.return_, action.condition, action.quantity)]
    if _is_restocked(state, found.listing, action.condition):
        assert found.listing is not None
        events.append(StockRestocked(found.listing, action.quantity))
    order: Order = state.get("order", found.order)
    if order.state == "delivered" and _back(state, order) + action.quantity >= order.units:
        events.append(OrderReturned(found.order))
    return Accepted(events)


def _is_restocked(state: State, listing: str | None, condition: str) -> bool:
    """Whether units of a listing whose stock is kept go back into it in this condition."""
    if listing is None or state.get("inventory", listing) is None:
        return False
    return condition in policy_of(state, RETURNS).restocked_conditions


def _back(state: State, order: Order) -> int:
    """The units of an order that came back so far."""
    rows: list[Return] = [state.get("return", key) for key in order.returns]
    return sum(row.received_quantity or 0 for row in rows)


def _in_state(state: State, act: Act, wanted: str) -> Return | Refusal:
    """The sender's return that an act names, in the state wanted and told to its buyer."""
    key: str = act.action.return_
    found: Return | None = own(state, "return", key, act.sender)
    if found is None:
        return unknown("return.unknown", "return", key)
    if act.to != found.buyer:
        return misdirected("return.addressee", act)
    if found.state != wanted:
        return Refusal("return.state", {"return": key, "state": found.state})
    return found


def _show_requested(state: State, _act: Act, events: Events) -> Shown:
    requested = events[0]
    assert isinstance(requested, ReturnRequested)
    return shown(state, ("return", requested.return_))


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("return", act.action.return_))


def _show_received(state: State, act: Act, events: Events) -> Shown:
    key: str = act.action.return_
    orders = [("order", event.order) for event in events if isinstance(event, OrderReturned)]
    return shown(state, ("return", key), *orders)


def _requested(state: State, event: ReturnRequested) -> None:
    row = Return(
        order=event.order,
        buyer=event.buyer,
        merchant=event.merchant,
        condition=event.condition,
        quantity=event.quantity,
        listing=event.listing,
        evidence=event.evidence,
    )
    state.put("return", event.return_, row)
    order_named(state, event.order, "returns", (event.return_,))


def _authorized(state: State, event: ReturnAuthorized) -> None:
    state.put("return", event.return_, _replace(state.get("return", event.return_), state="authorized"))


def _denied(state: State, event: ReturnDenied) -> None:
    state.put("return", event.return_, _replace(state.get("return", event.return_), state="denied"))


def _received(state: State, event: ReturnReceived) -> None:
    after = _replace(
        state.get("return", event.return_),
        state="received",
        received_condition=event.condition,
        received_quantity=event.quantity,
    )
    state.put("return", event.return_, after)


_MINE = ("return.unknown", "return.addressee", "return.state")

SUBJECT = Subject(
    rows={"return": Return},
    rules=(
        Rule(
            ReturnRequest,
            _request,
            _show_requested,
            (
                "order.unknown", "return.addressee", "return.order_state", "return.listing",
                "return.quantity", "return.evidence", "return.relevance",
            ),
            BUYER,
        ),
        Rule(ReturnAuthorize, _authorize, _show, (*_MINE, "return.condition"), MERCHANT),
        Rule(ReturnDeny, _deny, _show, _MINE, MERCHANT),
        Rule(ReturnReceive, _receive, _show_received, (*_MINE, "return.quantity"), MERCHANT),
    ),
    events={
        ReturnRequested: _requested,
        ReturnAuthorized: _authorized,
        ReturnDenied: _denied,
        ReturnReceived: _received,
    },
    refusals={
        "return.unknown": "the sender has no such return",
        "return.addressee": "a return is asked of the order's merchant, and answered to its buyer",
        "return.order_state": "only a delivered order goes back",
        "return.state": "the return is not in the state for this: requested, then authorized, then received",
        "return.listing": "the order has no unit of this listing",
        "return.condition": "the policy `returns` doesn't accept goods in this condition",
        "return.quantity": "more units than were bought, or than this return speaks of",
        "return.evidence": "there is no such record that both parties may read, or it is cited twice",
        "return.relevance": "the record is on neither the order nor its returns nor its listings",
    },
    machines={
        "return": Machine(
            frozenset({"requested"}),
            {"requested": frozenset({"authorized", "denied"}), "authorized": frozenset({"received"})},
        )
    },
)  # fmt: skip

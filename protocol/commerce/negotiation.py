"""Bargaining over one listing between its merchant and one buyer.

    propose ─► active ─┬─ counter ─► active      by the party that did not make the last offer
                       ├─ accept  ─► accepted    by that party; makes an agreement and sets its units aside
                       ├─ reject  ─► rejected    by that party
                       └─ withdraw ─► withdrawn  by the party that made the last offer

The policy `negotiation` may limit the offers, and the ticks until the last offer can't be taken any more.
An offer for more units than are available can be taken as far as the policy `supply` lets agreements wait.
Not here: paying for the agreement (`agreements`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..bodies import Made, Part
from ..canonical import Id
from ..joined import Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .agreements import AgreementMade
from .catalog import Inventory, Listing, StockReserved
from .policies import NEGOTIATION, SETTLEMENT, SUPPLY, last_tick, policy_of
from .subject import fresh, misdirected, other, own, shown, unknown
from .talk import tick_of
from .terms import (
    BUYER,
    MAX_MONEY,
    TRADERS,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    ListingId,
    Money,
    NegotiationId,
    Quantity,
    Tick,
)

_replace = msgspec.structs.replace


class Negotiation(CommerceRow, frozen=True):
    """A row of `negotiation`.

    ``unit_price`` is the last offer, made by ``offered_by``; ``round`` counts
    the offers; after tick ``deadline`` nothing is countered or accepted.
    """

    listing: ListingId
    buyer: Id
    merchant: Id
    quantity: Quantity
    unit_price: Money
    offered_by: Id
    round: Quantity = 1
    state: Literal["active", "accepted", "rejected", "withdrawn"] = "active"
    deadline: Tick | None = None


class NegotiationPropose(CommerceAction, frozen=True, tag="negotiation.propose"):
    """Opens a negotiation over units of a listing, by a price for each. Sent to the listing's merchant."""

    listing: ListingId
    quantity: Quantity
    unit_price: Money
    note: Part


class NegotiationCounter(CommerceAction, frozen=True, tag="negotiation.counter"):
    """Answers the other party's last offer with another price for each unit. Sent to that party."""

    negotiation: NegotiationId
    unit_price: Money
    note: Part


class NegotiationAccept(CommerceAction, frozen=True, tag="negotiation.accept"):
    """Takes the other party's last offer, and sets its units aside. Sent to that party.

    It makes an agreement, which the buyer pays for with `agreement.settle`.
    """

    negotiation: NegotiationId


class NegotiationReject(CommerceAction, frozen=True, tag="negotiation.reject"):
    """Turns down the other party's last offer and ends the negotiation. Sent to that party."""

    negotiation: NegotiationId
    reason: Part


class NegotiationWithdraw(CommerceAction, frozen=True, tag="negotiation.withdraw"):
    """Takes back one's own last offer and ends the negotiation. Sent to the other party."""

    negotiation: NegotiationId
    reason: Part


class NegotiationProposed(CommerceEvent, frozen=True, tag="negotiation.proposed"):
    """A buyer made a first offer."""

    negotiation: Made
    listing: str
    buyer: str
    merchant: str
    quantity: int
    unit_price: int
    deadline: int | None


class NegotiationCountered(CommerceEvent, frozen=True, tag="negotiation.countered"):
    """A party made another offer."""

    negotiation: str
    offered_by: str
    unit_price: int


class NegotiationAccepted(CommerceEvent, frozen=True, tag="negotiation.accepted"):
    """A party took the other's offer."""

    negotiation: str


class NegotiationRejected(CommerceEvent, frozen=True, tag="negotiation.rejected"):
    """A party turned the other's offer down."""

    negotiation: str


class NegotiationWithdrawn(CommerceEvent, frozen=True, tag="negotiation.withdrawn"):
    """A party took its own offer back."""

    negotiation: str


def _propose(state: State, act: Act) -> Verdict:
    action: NegotiationPropose = act.action
    listing: Listing | None = state.get("listing", action.listing)
    if listing is None:
        return unknown("listing.unknown", "listing", action.listing)
    if listing.state != "active":
        return Refusal("listing.withdrawn", {"listing": action.listing})
    if act.to != listing.merchant:
        return misdirected("negotiation.addressee", act)
    if action.quantity * action.unit_price > MAX_MONEY:
        return _too_much(action.quantity, action.unit_price)
    proposed = NegotiationProposed(
        negotiation=fresh(state, "negotiation", f"n{act.seq}"),
        listing=action.listing,
        buyer=act.sender,
        merchant=listing.merchant,
        quantity=action.quantity,
        unit_price=action.unit_price,
        deadline=last_tick(state, NEGOTIATION),
    )
    return Accepted([proposed])


def _counter(state: State, act: Act) -> Verdict:
    action: NegotiationCounter = act.action
    found = _to_answer(state, act)
    if isinstance(found, Refusal):
        return found
    if _is_late(state, found):
        return _late(action.negotiation, found)
    limit = policy_of(state, NEGOTIATION).max_rounds
    if limit is not None and found.round >= limit:
        return Refusal("negotiation.rounds", {"negotiation": action.negotiation, "rounds": limit})
    if found.quantity * action.unit_price > MAX_MONEY:
        return _too_much(found.quantity, action.unit_price)
    return Accepted([NegotiationCountered(action.negotiation, act.sender, action.unit_price)])


def _accept(state: State, act: Act) -> Verdict:
    key: str = act.action.negotiation
    found = _to_answer(state, act)
    if isinstance(found, Refusal):
        return found
    if _is_late(state, found):
        return _late(key, found)
    stock: Inventory | None = state.get("inventory", found.listing)
    short = found.quantity if stock is None else max(0, found.quantity - stock.available)
    if stock is None or short > policy_of(state, SUPPLY).max_backorder:
        return Refusal("stock.short", {"listing": found.listing, "quantity": found.quantity})
    made = AgreementMade(
        agreement=fresh(state, "agreement", f"a{act.seq}"),
        negotiation=key,
        listing=found.listing,
        buyer=found.buyer,
        merchant=found.merchant,
        quantity=found.quantity,
        unit_price=found.unit_price,
        total=found.quantity * found.unit_price,
        currency=state.get("listing", found.listing).currency,
        short=short,
        expires=last_tick(state, SETTLEMENT),
    )
    return Accepted([NegotiationAccepted(key), made, StockReserved(found.listing, found.quantity - short)])


def _reject(state: State, act: Act) -> Verdict:
    found = _to_answer(state, act)
    if isinstance(found, Refusal):
        return found
    return Accepted([NegotiationRejected(act.action.negotiation)])


def _withdraw(state: State, act: Act) -> Verdict:
    key: str = act.action.negotiation
    found = _active(state, act)
    if isinstance(found, Refusal):
        return found
    if found.offered_by != act.sender:
        return _turn(key, found)
    return Accepted([NegotiationWithdrawn(key)])


def _active(state: State, act: Act) -> Negotiation | Refusal:
    """The sender's active negotiation that an act names, sent to the other party."""
    key: str = act.action.negotiation
    found: Negotiation | None = own(state, "negotiation", key, act.sender)
    if found is None:
        return unknown("negotiation.unknown", "negotiation", key)
    if act.to != other(found, act.sender):
        return misdirected("negotiation.addressee", act)
    if found.state != "active":
        return Refusal("negotiation.state", {"negotiation": key, "state": found.state})
    return found


def _to_answer(state: State, act: Act) -> Negotiation | Refusal:
    """As `_active`, with an offer of the other party to answer."""
    found = _active(state, act)
    if isinstance(found, Negotiation) and found.offered_by == act.sender:
        return _turn(act.action.negotiation, found)
    return found


def _turn(key: str, found: Negotiation) -> Refusal:
    return Refusal("negotiation.turn", {"negotiation": key, "offered_by": found.offered_by})


def _is_late(state: State, found: Negotiation) -> bool:
    return found.deadline is not None and tick_of(state) > found.deadline


def _late(key: str, found: Negotiation) -> Refusal:
    return Refusal("negotiation.expired", {"negotiation": key, "deadline": found.deadline})


def _too_much(quantity: int, unit_price: int) -> Refusal:
    return Refusal("negotiation.total", {"quantity": quantity, "unit_price": unit_price})


def _show_proposed(state: State, _act: Act, events: Events) -> Shown:
    proposed = events[0]
    assert isinstance(proposed, NegotiationProposed)
    return shown(state, ("negotiation", proposed.negotiation))


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("negotiation", act.action.negotiation))


def _show_accepted(state: State, act: Act, events: Events) -> Shown:
    made = events[1]
    assert isinstance(made, AgreementMade)
    return shown(state, ("agreement", made.agreement), ("negotiation", act.action.negotiation))


def _proposed(state: State, event: NegotiationProposed) -> None:
    negotiation = Negotiation(
        listing=event.listing,
        buyer=event.buyer,
        merchant=event.merchant,
        quantity=event.quantity,
        unit_price=event.unit_price,
        offered_by=event.buyer,
        deadline=event.deadline,
    )
    state.put("negotiation", event.negotiation, negotiation)


def _countered(state: State, event: NegotiationCountered) -> None:
    found: Negotiation = state.get("negotiation", event.negotiation)
    offer = {"unit_price": event.unit_price, "offered_by": event.offered_by}
    after = _replace(found, round=found.round + 1, **offer)
    state.put("negotiation", event.negotiation, after)


def _closed(state: State, event: NegotiationAccepted | NegotiationRejected | NegotiationWithdrawn) -> None:
    found: Negotiation = state.get("negotiation", event.negotiation)
    state.put("negotiation", event.negotiation, _replace(found, state=_ENDS[type(event)]))


_ENDS = {NegotiationAccepted: "accepted", NegotiationRejected: "rejected", NegotiationWithdrawn: "withdrawn"}


_MINE = ("negotiation.unknown", "negotiation.addressee", "negotiation.state", "negotiation.turn")

SUBJECT = Subject(
    rows={"negotiation": Negotiation},
    rules=(
        Rule(
            NegotiationPropose,
            _propose,
            _show_proposed,
            ("listing.unknown", "listing.withdrawn", "negotiation.addressee", "negotiation.total"),
            BUYER,
        ),
        Rule(
            NegotiationCounter,
            _counter,
            _show,
            (*_MINE, "negotiation.expired", "negotiation.rounds", "negotiation.total"),
            TRADERS,
        ),
        Rule(
            NegotiationAccept,
            _accept,
            _show_accepted,
            (*_MINE, "negotiation.expired", "stock.short"),
            TRADERS,
        ),
        Rule(NegotiationReject, _reject, _show, _MINE, TRADERS),
        Rule(NegotiationWithdraw, _withdraw, _show, _MINE, TRADERS),
    ),
    events={
        NegotiationProposed: _proposed,
        NegotiationCountered: _countered,
        NegotiationAccepted: _closed,
        NegotiationRejected: _closed,
        NegotiationWithdrawn: _closed,
    },
    refusals={
        "negotiation.unknown": "the sender has no such negotiation",
        "negotiation.addressee": "an offer or its answer is sent to the other party of the negotiation",
        "negotiation.state": "the negotiation is over",
        "negotiation.turn": "offers alternate: who made the last may withdraw it, the other answer it",
        "negotiation.expired": "the tick until which the offer could be taken has passed",
        "negotiation.rounds": "the policy allows no further offer",
        "negotiation.total": "quantity times price is more than an amount may be",
    },
    machines={
        "negotiation": Machine(
            frozenset({"active"}), {"active": frozenset({"accepted", "rejected", "withdrawn"})}
        )
    },
)

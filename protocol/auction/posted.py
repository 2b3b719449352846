"""Posted prices: bidders come one after another, and each takes a unit at the price or leaves it.

    bidders in a drawn order ─► accept: a unit, at `price`
                                decline: none              ─► all units sold, or all were asked: closed

Not here: what it came to for each (`results`).

Source: Plott and Smith 1978 (posted prices in the laboratory); Krishna 2009, Auction Theory, chapter 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from ..joined import Rule, Subject, Verdict
from ..world import Accepted, Act, Ask, Refusal
from . import words
from .results import AuctionClosed
from .session import Auction, Session, turn_of
from .terms import BIDDER, AuctionAction, AuctionEvent, Family, Party

if TYPE_CHECKING:
    from ..tables import State
    from ..world import Due

FORMATS = frozenset({"posted_price"})


class PriceAccept(AuctionAction, frozen=True, tag="price.accept"):
    """Takes a unit at the posted price."""


class PriceDecline(AuctionAction, frozen=True, tag="price.decline"):
    """Takes nothing in this round."""


class PriceAccepted(AuctionEvent, frozen=True, tag="price.accepted"):
    """A bidder took a unit."""

    auction: str
    bidder: Party
    price: int


class PriceDeclined(AuctionEvent, frozen=True, tag="price.declined"):
    """A bidder took none."""

    auction: str
    bidder: Party
    price: int


def due(state: State, session: Session, key: str, auction: Auction) -> Due:
    """The next bidder."""
    del state, session, key
    return Ask(auction.active[auction.turn])


def sight(state: State, session: Session, key: str, auction: Auction, party: str) -> Mapping[str, Any]:
    """The price."""
    del state, session, key, party
    return {"price": auction.price}


def decide(state: State, act: Act) -> Verdict:
    """The answer of a bidder whose turn it is."""
    turn = turn_of(state, act.sender, FORMATS, "price")
    if isinstance(turn, Refusal):
        return turn
    return Accepted(_answered(*turn, act.sender, takes=isinstance(act.action, PriceAccept)))


def passed(state: State, session: Session, key: str, auction: Auction, party: str) -> Verdict:
    """It declines."""
    del state
    return Accepted(_answered(session, key, auction, party, takes=False))


def _answered(
    session: Session, key: str, auction: Auction, party: str, *, takes: bool
) -> list[msgspec.Struct]:
    price = auction.price
    events: list[msgspec.Struct] = [(PriceAccepted if takes else PriceDeclined)(key, party, price)]
    # Who declined is active no more, so those before the turn are those who took one.
    buyers = auction.active[: auction.turn + takes]
    if len(buyers) == min(session.units, len(auction.active) - (not takes)):
        paid = dict.fromkeys(buyers, price)
        events.append(AuctionClosed(key, buyers, paid, price if buyers else 0))
    return events


def _accepted(state: State, event: PriceAccepted) -> None:
    auction: Auction = state.get("auction", event.auction)
    state.put("auction", event.auction, replace(auction, turn=auction.turn + 1))


def _declined(state: State, event: PriceDeclined) -> None:
    auction: Auction = state.get("auction", event.auction)
    active = tuple(party for party in auction.active if party != event.bidder)
    state.put("auction", event.auction, replace(auction, active=active))


_MOVES = {"accept": PriceAccept(), "decline": PriceDecline()}


def understood(  # noqa: PLR0913 - as `Family.understood`
    state: State, session: Session, key: str, auction: Auction, party: str, text: str
) -> msgspec.Struct | None:
    """Whether the words accept or decline."""
    del state, session, key, party
    return words.choice(text, _MOVES, auction.price)


FAMILY = Family(FORMATS, ("price.accept", "price.decline"), due, sight, understood, passed)

_CHECKS = ("price.format", "price.closed", "price.twice", "price.turn")

SUBJECT = Subject(
    rows={},
    rules=(
        Rule(PriceAccept, decide, checks=_CHECKS, roles=BIDDER, is_unaddressed=True),
        Rule(PriceDecline, decide, checks=_CHECKS, roles=BIDDER, is_unaddressed=True),
    ),
    events={PriceAccepted: _accepted, PriceDeclined: _declined},
    refusals={
        "price.format": "this auction takes no such move",
        "price.closed": "no auction of the bidder's is open",
        "price.twice": "the bidder has answered in this round",
        "price.turn": "it is another's turn",
    },
)

"""The Dutch auction: the price goes down until somebody takes it.

    at each price   every bidder stops the clock or waits ─► somebody stopped it: closed, it pays the price
                                                          ─► else the clock goes down by `increment`

The clock goes from `price` to the reserve; where all wait at that, nothing is sold. In
theory everybody decides at once, so all are asked at a price, in a drawn order, and
told nothing of the others; of several who stop, one by a drawn order wins. With an
increment of one unit this is the first-price auction outcome by outcome, for bidders who
stop at the first price that isn't above what they would have bid.

Not here: what it came to for each (`results`).

Source: Vickrey 1961; Krishna 2009, Auction Theory, 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from ..joined import Rule, Subject, Verdict
from ..world import Accepted, Act, Ask, Operate, Refusal
from . import clock, words
from .results import AuctionClosed
from .session import Auction, Session, first_of, turn_of
from .terms import BIDDER, OPERATOR, AuctionAction, AuctionEvent, Family, Key, Party

if TYPE_CHECKING:
    from ..tables import State
    from ..world import Due

FORMATS = frozenset({"dutch"})


class ClockLower(AuctionAction, frozen=True, tag="clock.lower"):
    """Moves an auction's price down."""

    auction: Key


class ClockStop(AuctionAction, frozen=True, tag="clock.stop"):
    """Takes the item at the price that stands."""


class ClockWait(AuctionAction, frozen=True, tag="clock.wait"):
    """Waits for a lower price."""


class ClockLowered(AuctionEvent, frozen=True, tag="clock.lowered"):
    """The price went down to this."""

    auction: str
    price: int


class ClockStopped(AuctionEvent, frozen=True, tag="clock.stopped"):
    """A bidder takes the price; others may yet do so too."""

    auction: str
    bidder: Party
    price: int


class ClockWaited(AuctionEvent, frozen=True, tag="clock.waited"):
    """A bidder waits at a price."""

    auction: str
    bidder: Party
    price: int


def due(state: State, session: Session, key: str, auction: Auction) -> Due:
    """The next bidder; after the last, the clock."""
    del state, session
    active, turn = auction.active, auction.turn
    return Ask(active[turn]) if turn < len(active) else Operate(ClockLower(key))


def sight(state: State, session: Session, key: str, auction: Auction, party: str) -> Mapping[str, Any]:
    """The clock."""
    del state, key, party
    return {"price": auction.price, "increment": session.increment}


def decide(state: State, act: Act) -> Verdict:
    """The answer of a bidder whose turn it is."""
    turn = turn_of(state, act.sender, FORMATS, "clock")
    if isinstance(turn, Refusal):
        return turn
    return Accepted(_answered(*turn, act.sender, stops=isinstance(act.action, ClockStop)))


def passed(state: State, session: Session, key: str, auction: Auction, party: str) -> Verdict:
    """It waits."""
    del state
    return Accepted(_answered(session, key, auction, party, stops=False))


def _answered(
    session: Session, key: str, auction: Auction, party: str, *, stops: bool
) -> list[msgspec.Struct]:
    price = auction.price
    events: list[msgspec.Struct] = [(ClockStopped if stops else ClockWaited)(key, party, price)]
    waiting = auction.turn + (not stops)
    if waiting == len(auction.active) - stops:
        # Who stopped is active no more, but for this party, which was until now.
        is_in = [other for other in auction.active if not (stops and other == party)]
        stopped = [other for other in auction.bidders if other not in is_in]
        if stopped:
            winner = first_of(session, key, auction, stopped)
            events.append(AuctionClosed(key, (winner,), {winner: price}, price))
        elif price == session.reserve:
            events.append(AuctionClosed(key, (), {}, 0))
    return events


def lowering(state: State, act: Act) -> Verdict:
    """The clock goes down once all have answered, at the end to the reserve itself."""
    turn = clock.moving(state, act.action.auction, FORMATS)
    if isinstance(turn, Refusal):
        return turn
    session, key, auction = turn
    return Accepted([ClockLowered(key, max(auction.price - session.increment, session.reserve))])


def _lowered(state: State, event: ClockLowered) -> None:
    auction: Auction = state.get("auction", event.auction)
    state.put("auction", event.auction, replace(auction, price=event.price, turn=0))


def _stopped(state: State, event: ClockStopped) -> None:
    auction: Auction = state.get("auction", event.auction)
    active = tuple(party for party in auction.active if party != event.bidder)
    state.put("auction", event.auction, replace(auction, active=active))


def _waited(state: State, event: ClockWaited) -> None:
    auction: Auction = state.get("auction", event.auction)
    state.put("auction", event.auction, replace(auction, turn=auction.turn + 1))


_MOVES = {"stop": ClockStop(), "wait": ClockWait()}


def understood(  # noqa: PLR0913 - as `Family.understood`
    state: State, session: Session, key: str, auction: Auction, party: str, text: str
) -> msgspec.Struct | None:
    """Whether the words say to stop the clock or to wait."""
    del state, session, key, party
    return words.choice(text, _MOVES, auction.price)


FAMILY = Family(FORMATS, ("clock.stop", "clock.wait"), due, sight, understood, passed)

SUBJECT = Subject(
    rows={},
    rules=(
        Rule(ClockLower, lowering, checks=clock.MOVING, roles=OPERATOR, is_unaddressed=True),
        Rule(ClockStop, decide, checks=clock.ONCE, roles=BIDDER, is_unaddressed=True),
        Rule(ClockWait, decide, checks=clock.ONCE, roles=BIDDER, is_unaddressed=True),
    ),
    events={ClockLowered: _lowered, ClockStopped: _stopped, ClockWaited: _waited},
    refusals=clock.REFUSALS,
)

"""The English auction by a clock: the price goes up, and bidders leave for good.

    at each price   every bidder that is in stays or exits ─► one is left, or none: closed
                                                           ─► else the clock goes up by `increment`

    to stay at q is to bid more than q; to exit at p is to bid no more than p

    one is left     pays p, the price at which the last of the others left
    none is left    one of those who left last, by a drawn order, pays what all of them have bid:
                    one `unit` over the price before, and never more than p
    at the cap      the clock can't go on: one of those who are in, by the same order, pays it

The price at which the clock begins is the reserve; where nobody stays at it, nothing
is sold. With an increment of one unit this is the second-price auction outcome by
outcome, for bidders who stay while the price is below their value.

An open clock (`english_open`) shows a bidder the prices at which others left before this
price; a closed one (`english_closed`) shows the price alone.

Not here: what it came to for each (`results`).

Source: Milgrom and Weber 1982 (the open clock); Kagel, Harstad and Levin 1987 (both in the laboratory).
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
from .session import ASCENDING, Auction, Session, first_of, turn_of
from .terms import (
    BIDDER,
    OPERATOR,
    Amount,
    AuctionAction,
    AuctionEvent,
    AuctionRow,
    Family,
    Key,
    Party,
    Round,
)

if TYPE_CHECKING:
    from ..tables import State
    from ..world import Due

FORMATS = ASCENDING


class Exit(AuctionRow, frozen=True):
    """A row of `exit`: the price at which a bidder left."""

    round: Round
    auction: str
    bidder: Party
    price: Amount


class ClockRaise(AuctionAction, frozen=True, tag="clock.raise"):
    """Moves an auction's price up."""

    auction: Key


class ClockStay(AuctionAction, frozen=True, tag="clock.stay"):
    """Stays in the auction at the price that stands: it would pay more than that."""


class ClockExit(AuctionAction, frozen=True, tag="clock.exit"):
    """Leaves the auction for good: it would not pay more than the price that stands."""


class ClockRaised(AuctionEvent, frozen=True, tag="clock.raised"):
    """The price went up to this."""

    auction: str
    price: int


class ClockStayed(AuctionEvent, frozen=True, tag="clock.stayed"):
    """A bidder stayed at a price."""

    auction: str
    bidder: Party
    price: int


class ClockExited(AuctionEvent, frozen=True, tag="clock.exited"):
    """A bidder left at a price."""

    auction: str
    bidder: Party
    price: int


def due(state: State, session: Session, key: str, auction: Auction) -> Due:
    """The next bidder that is in; after the last, the clock."""
    del state, session
    active, turn = auction.active, auction.turn
    return Ask(active[turn]) if turn < len(active) else Operate(ClockRaise(key))


def sight(state: State, session: Session, key: str, auction: Auction, party: str) -> Mapping[str, Any]:
    """The clock; of an open one also the exits at prices before, in order, and how many were left then."""
    del key, party
    shown: dict[str, Any] = {"price": auction.price, "increment": session.increment}
    if session.format == "english_open":
        exits = [] if len(auction.active) == len(auction.bidders) else _exits(state, auction)
        shown["exits"] = sorted(row.price for row in exits if row.price < auction.price)
        shown["active"] = len(auction.bidders) - len(shown["exits"])
    return shown


def _exits(state: State, auction: Auction) -> list[Exit]:
    """Who has left."""
    rows = [state.get("exit", exit_key(auction.round, party)) for party in auction.bidders]
    return [row for row in rows if row is not None]


def decide(state: State, act: Act) -> Verdict:
    """The answer of a bidder whose turn it is."""
    turn = turn_of(state, act.sender, FORMATS, "clock", "left")
    if isinstance(turn, Refusal):
        return turn
    return Accepted(_answered(state, *turn, act.sender, stays=isinstance(act.action, ClockStay)))


def passed(state: State, session: Session, key: str, auction: Auction, party: str) -> Verdict:
    """An exit."""
    return Accepted(_answered(state, session, key, auction, party, stays=False))


def _answered(  # noqa: PLR0913 - an answer, and where it stands
    state: State, session: Session, key: str, auction: Auction, party: str, *, stays: bool
) -> list[msgspec.Struct]:
    price = auction.price
    if stays:
        events: list[msgspec.Struct] = [ClockStayed(key, party, price)]
        active, turn = auction.active, auction.turn + 1
    else:
        events = [ClockExited(key, party, price)]
        active, turn = _without(auction.active, party), auction.turn
    if turn == len(active):
        last = () if active else _leaving(state, auction, party)
        closed = _closing(session, key, auction, active, last)
        events += [] if closed is None else [closed]
    return events


def _without(active: tuple[Party, ...], party: str) -> tuple[Party, ...]:
    return tuple(other for other in active if other != party)


def _leaving(state: State, auction: Auction, party: str) -> tuple[Party, ...]:
    """Those who left at the price that stands, and a party that leaves now."""
    return (party, *(row.bidder for row in _exits(state, auction) if row.price == auction.price))


def _closing(
    session: Session, key: str, auction: Auction, active: tuple[Party, ...], last: tuple[Party, ...]
) -> AuctionClosed | None:
    """How the auction ends at this price, all having answered; None where the clock goes on."""
    price = auction.price
    if not active:
        if price == session.price:
            return AuctionClosed(key, (), {}, 0)
        price = min(price, price - session.increment + session.unit)
    elif len(active) > 1 and price + session.increment <= session.cap:
        return None
    winner = active[0] if len(active) == 1 else first_of(session, key, auction, active or last)
    return AuctionClosed(key, (winner,), {winner: price}, price)


def raising(state: State, act: Act) -> Verdict:
    """The clock goes up once all have answered."""
    turn = clock.moving(state, act.action.auction, FORMATS)
    if isinstance(turn, Refusal):
        return turn
    session, key, auction = turn
    return Accepted([ClockRaised(key, auction.price + session.increment)])


def exit_key(number: int, party: str) -> str:
    """The key of an exit."""
    return f"e{number}_{party}"


def _raised(state: State, event: ClockRaised) -> None:
    auction: Auction = state.get("auction", event.auction)
    state.put("auction", event.auction, replace(auction, price=event.price, turn=0))


def _stayed(state: State, event: ClockStayed) -> None:
    auction: Auction = state.get("auction", event.auction)
    state.put("auction", event.auction, replace(auction, turn=auction.turn + 1))


def _exited(state: State, event: ClockExited) -> None:
    auction: Auction = state.get("auction", event.auction)
    row = Exit(auction.round, event.auction, event.bidder, event.price)
    state.put("exit", exit_key(auction.round, event.bidder), row)
    state.put("auction", event.auction, replace(auction, active=_without(auction.active, event.bidder)))


_MOVES = {"stay": ClockStay(), "exit": ClockExit()}


def understood(  # noqa: PLR0913 - as `Family.understood`
    state: State, session: Session, key: str, auction: Auction, party: str, text: str
) -> msgspec.Struct | None:
    """Whether the words say to stay or to exit."""
    del state, session, key, party
    return words.choice(text, _MOVES, auction.price)


FAMILY = Family(FORMATS, ("clock.stay", "clock.exit"), due, sight, understood, passed)

SUBJECT = Subject(
    rows={"exit": Exit},
    rules=(
        Rule(ClockRaise, raising, checks=clock.MOVING, roles=OPERATOR, is_unaddressed=True),
        Rule(ClockStay, decide, checks=clock.ANSWERING, roles=BIDDER, is_unaddressed=True),
        Rule(ClockExit, decide, checks=clock.ANSWERING, roles=BIDDER, is_unaddressed=True),
    ),
    events={ClockRaised: _raised, ClockStayed: _stayed, ClockExited: _exited},
    refusals=clock.REFUSALS,
)

"""Sealed bids: everybody says one amount, and nobody sees another's before all are in.

    first price     the highest bid wins and pays itself
    second price    the highest wins and pays the second highest, or the reserve
    all-pay         the highest wins; everybody pays its own bid
    uniform price   k units to the k highest; each pays the (k+1)-th bid, or the reserve
    discriminatory  k units to the k highest; each pays its own bid

    bids in order, one a bidder (or a pass) ─► the last closes the auction

A tie goes by a drawn order of the bidders, which the auction's key and the
session's seed give. A bid below the reserve is refused; who wants none passes.

Not here: what it came to for each (`results`).

Source: Vickrey 1961; Krishna 2009, Auction Theory, chapters 2, 3, 12, 13.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ..canonical import Integer
from ..joined import Rule, Subject, Verdict
from ..world import Accepted, Act, Ask, Refusal
from . import words
from .results import AuctionClosed
from .session import Auction, Session, lots, turn_of
from .terms import BIDDER, Amount, AuctionAction, AuctionEvent, AuctionRow, Family, Party, Round

if TYPE_CHECKING:
    from ..tables import State
    from ..world import Due

FORMATS = frozenset({"first_price", "second_price", "all_pay", "uniform_price", "discriminatory"})


class Bid(AuctionRow, frozen=True):
    """A row of `bid`: what a bidder said in a round; no amount where it passed."""

    round: Round
    auction: str
    bidder: Party
    amount: Amount | None


class BidSubmit(AuctionAction, frozen=True, tag="bid.submit"):
    """Bids an amount for one unit, in minor units: final, and seen by nobody before all bids are in."""

    amount: Integer


class BidPass(AuctionAction, frozen=True, tag="bid.pass"):
    """Bids nothing in this round."""


class BidSubmitted(AuctionEvent, frozen=True, tag="bid.submitted"):
    """A bidder has bid, or passed (no amount)."""

    auction: str
    bidder: Party
    amount: int | None


def due(state: State, session: Session, key: str, auction: Auction) -> Due:
    """The next bidder."""
    del state, session, key
    return Ask(auction.bidders[auction.turn])


def sight(state: State, session: Session, key: str, auction: Auction, party: str) -> Mapping[str, Any]:
    """Nothing more than everybody is shown."""
    del state, session, key, auction, party
    return {}


def decide(state: State, act: Act) -> Verdict:
    """A bid or a pass of a bidder whose turn it is."""
    turn = turn_of(state, act.sender, FORMATS, "bid")
    if isinstance(turn, Refusal):
        return turn
    if isinstance(act.action, BidPass):
        return Accepted(_events(state, *turn, act.sender, None))
    amount: int = act.action.amount
    wrong = check_amount(turn[0], amount, "bid")
    return Accepted(_events(state, *turn, act.sender, amount)) if wrong is None else wrong


def check_amount(session: Session, amount: int, noun: str) -> Refusal | None:
    """Why an amount can't be bid, or None."""
    if session.reserve <= amount <= session.cap and amount % session.unit == 0:
        return None
    rule = (
        "negative"
        if amount < 0
        else "cap"
        if amount > session.cap
        else "unit"
        if amount % session.unit != 0
        else "reserve"
    )
    return Refusal(f"{noun}.{rule}", {"amount": amount})


def _events(  # noqa: PLR0913 - a bid, and where it stands
    state: State, session: Session, key: str, auction: Auction, party: str, amount: int | None
) -> list[msgspec.Struct]:
    events: list[msgspec.Struct] = [BidSubmitted(key, party, amount)]
    if auction.turn + 1 == len(auction.bidders):
        rows = [(each, state.get("bid", bid_key(auction.round, each))) for each in auction.bidders[:-1]]
        bids = {each: row.amount for each, row in rows if row.amount is not None}
        if amount is not None:
            bids[party] = amount
        events.append(outcome(session, key, auction, bids))
    return events


def outcome(session: Session, key: str, auction: Auction, bids: Mapping[str, int]) -> AuctionClosed:
    """Who wins at which price, of the bids that were made."""
    order = ranked(session, key, auction, bids)
    units = session.units
    winners, first_loser = tuple(order[:units]), order[units : units + 1]
    if session.format in ("second_price", "uniform_price"):
        paid = dict.fromkeys(winners, max([session.reserve, *(bids[party] for party in first_loser)]))
    elif session.format == "all_pay":
        paid = dict(bids)
    else:
        paid = {party: bids[party] for party in winners}
    price = max((paid[party] for party in winners), default=0)
    return AuctionClosed(key, winners, paid, price)


def ranked(session: Session, key: str, auction: Auction, bids: Mapping[str, int]) -> list[str]:
    """The bidders, highest bid first; a tie by a drawn order."""
    order = sorted(bids, key=bids.__getitem__, reverse=True)
    if len(set(bids.values())) == len(bids):
        return order
    lot = lots(session, key, auction.bidders).index
    return sorted(order, key=lambda party: (-bids[party], lot(party)))


def bid_key(number: int, party: str) -> str:
    """The key of a bid."""
    return f"b{number}_{party}"


def submitted(state: State, event: BidSubmitted) -> None:
    """Keeps the bid, and moves on to the next bidder."""
    auction: Auction = state.get("auction", event.auction)
    row = Bid(auction.round, event.auction, event.bidder, event.amount)
    state.put("bid", bid_key(auction.round, event.bidder), row)
    state.put("auction", event.auction, msgspec.structs.replace(auction, turn=auction.turn + 1))


def understood(  # noqa: PLR0913 - as `Family.understood`
    state: State, session: Session, key: str, auction: Auction, party: str, text: str
) -> msgspec.Struct | None:
    """The amount in the words, or `pass`."""
    del state, session, key, auction, party
    found = words.amount(text, "pass")
    if isinstance(found, int):
        return BidSubmit(found)
    return None if found is None else BidPass()


def passed(state: State, session: Session, key: str, auction: Auction, party: str) -> Verdict:
    """No bid."""
    return Accepted(_events(state, session, key, auction, party, None))


FAMILY = Family(FORMATS, ("bid.submit", "bid.pass"), due, sight, understood, passed)

SUBJECT = Subject(
    rows={"bid": Bid},
    rules=(
        Rule(
            BidSubmit,
            decide,
            checks=(
                "bid.format",
                "bid.closed",
                "bid.twice",
                "bid.turn",
                "bid.negative",
                "bid.cap",
                "bid.unit",
                "bid.reserve",
            ),
            roles=BIDDER,
            is_unaddressed=True,
        ),
        Rule(
            BidPass,
            decide,
            checks=("bid.format", "bid.closed", "bid.twice", "bid.turn"),
            roles=BIDDER,
            is_unaddressed=True,
        ),
    ),
    events={BidSubmitted: submitted},
    refusals={
        "bid.format": "this auction takes no such move",
        "bid.closed": "no auction of the bidder's is open",
        "bid.twice": "the bidder has bid in this round",
        "bid.turn": "it is another's turn",
        "bid.negative": "an amount is not below nothing",
        "bid.cap": "the amount is over the cap",
        "bid.unit": "the amount is no multiple of the unit",
        "bid.reserve": "the amount is below the reserve",
    },
)

"""What an auction came to: who got a unit, who paid what, and what each was left with.

    profit = value if it got a unit − paid          in minor units; in an all-pay auction losers pay too

Not here: who wins and at which price (each family).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from ..joined import Subject
from . import valuations
from .session import Auction, Session
from .terms import Amount, AuctionEvent, AuctionRow, Count, Party, Round, Signed

if TYPE_CHECKING:
    from ..tables import State


class Result(AuctionRow, frozen=True):
    """A row of `result`: what a round came to for one bidder. ``price`` is that of a unit in its auction.

    In a double auction a seller is ``paid`` for the unit that it sold; ``price`` is that of the last trade.
    """

    round: Round
    auction: str
    bidder: Party
    units: Count
    paid: Amount
    price: Amount
    profit: Signed


class AuctionClosed(AuctionEvent, frozen=True, tag="auction.closed"):
    """An auction is over. ``price`` is what a unit went for, the highest of them; 0 for no sale."""

    auction: str
    winners: tuple[Party, ...]
    paid: dict[Party, int]
    price: int


_BIDS: Final = {
    "english_open": ("exit", "price"),
    "english_closed": ("exit", "price"),
    "proxy": ("maximum", "amount"),
}
"""Where a format keeps its bids, and in which column; in `bid` unless it is listed."""


def key(number: int, party: str) -> str:
    """The key of a result."""
    return f"x{number}_{party}"


def closed(state: State, event: AuctionClosed) -> None:
    """Closes an auction and writes each bidder's result."""
    auction: Auction = state.get("auction", event.auction)
    state.put("auction", event.auction, msgspec.structs.replace(auction, state="closed", price=event.price))
    for party in auction.bidders:
        worth: valuations.Valuation = state.get("valuation", valuations.key(auction.round, party))
        units = event.winners.count(party)
        paid = event.paid.get(party, 0)
        profit = worth.value * units - paid
        row = Result(auction.round, event.auction, party, units, paid, event.price, profit)
        state.put("result", key(auction.round, party), row)


def feedback(state: State, session: Session, number: int, party: str) -> Mapping[str, Any] | None:
    """What a bidder is shown of a round that is over, by the session's feedback; None for nothing."""
    row: Result | None = None if session.feedback == "none" else state.get("result", key(number, party))
    if row is None:
        return None
    way = "received" if party in session.sellers else "paid"
    shown: dict[str, Any] = {"round": number, "units": row.units, way: row.paid, "profit": row.profit}
    if session.feedback in ("price", "bids"):
        shown["price"] = row.price
    if session.feedback == "bids":
        auction: Auction = state.get("auction", row.auction)
        shown["bids"] = _bids(state, session.format, number, auction.bidders)
    return shown


def _bids(state: State, kind: str, number: int, bidders: Sequence[str]) -> Sequence[int]:
    """What was bid in a round, highest first: bids, maxima, or the prices at which bidders left."""
    table, field = _BIDS.get(kind, ("bid", "amount"))
    rows = [state.get(table, f"{table[0]}{number}_{party}") for party in bidders]
    amounts: list[int | None] = [getattr(row, field) for row in rows if row is not None]
    return sorted((amount for amount in amounts if amount is not None), reverse=True)


SUBJECT = Subject(rows={"result": Result}, rules=(), events={AuctionClosed: closed}, refusals={})

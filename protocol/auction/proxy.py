"""Proxy bids, as on the large auction site: each bidder states its most, and the market bids for it.

    period 1 ─► period 2 ─► … ─► the last         in each, every bidder states a higher maximum, or holds

    leader     whose maximum is highest; of equal ones the earlier, of one period's the first by a drawn order
    standing   min(highest, second + increment)    the reserve where only one has bid
    at the end the leader pays the standing price

A maximum is seen by nobody; what stands is worked out once a period is over, and shown
in the next, so who is asked first in a period knows no less.

    hard       the last period is the last
    soft       a bid that takes the lead in the last period adds `extension` periods, up to `extensions` times

Not here: what it came to for each (`results`).

Source: Roth and Ockenfels 2002 (hard and soft close); Lucking-Reiley 2000.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from ..canonical import Integer
from ..joined import Rule, Subject, Verdict
from ..world import Accepted, Act, Ask, Refusal
from . import sealed, words
from .results import AuctionClosed
from .session import Auction, Session, lots, turn_of
from .terms import BIDDER, Amount, AuctionAction, AuctionEvent, AuctionRow, Count, Family, Party, Round

if TYPE_CHECKING:
    from ..tables import State
    from ..world import Due

FORMATS = frozenset({"proxy"})


class Maximum(AuctionRow, frozen=True):
    """A row of `maximum`: the most that a bidder would pay, and the period in which it said so."""

    round: Round
    auction: str
    bidder: Party
    amount: Amount
    period: Count


class Standing(AuctionRow, frozen=True):
    """A row of `standing`, by auction: the period that is open, of how many, and what stood before it.

    ``since`` is the period in which the leader took the lead; 0 for no leader.
    """

    period: Count
    periods: Count
    extended: Count = 0
    price: Amount | None = None
    leader: Party | None = None
    since: Count = 0


class ProxyBid(AuctionAction, frozen=True, tag="proxy.bid"):
    """States the most that the bidder would pay, in minor units; more than it stated before."""

    amount: Integer


class ProxyHold(AuctionAction, frozen=True, tag="proxy.hold"):
    """Leaves what the bidder stated as it is in this period."""


class MaximumStated(AuctionEvent, frozen=True, tag="maximum.stated"):
    """A bidder has stated a maximum."""

    auction: str
    bidder: Party
    amount: int
    period: int


class MaximumHeld(AuctionEvent, frozen=True, tag="maximum.held"):
    """A bidder left its maximum as it was."""

    auction: str
    bidder: Party
    period: int


class PeriodClosed(AuctionEvent, frozen=True, tag="period.closed"):
    """A period is over, and this stands; ``period`` is the one that follows, also where none does."""

    auction: str
    period: int
    periods: int
    extended: int
    price: int | None
    leader: Party | None
    since: int


def due(state: State, session: Session, key: str, auction: Auction) -> Due:
    """The next bidder of the period."""
    del state, session, key
    return Ask(auction.active[auction.turn])


def standing_of(state: State, session: Session, key: str) -> Standing:
    """What stands in an auction."""
    found: Standing | None = state.get("standing", key)
    return Standing(1, session.periods) if found is None else found


def sight(state: State, session: Session, key: str, auction: Auction, party: str) -> Mapping[str, Any]:
    """The period, what stood before it, and the bidder's own maximum."""
    standing = standing_of(state, session, key)
    own: Maximum | None = state.get("maximum", maximum_key(auction.round, party))
    shown: dict[str, Any] = {
        "period": standing.period,
        "periods": standing.periods,
        "close": session.close,
        "price": standing.price,
        "leads": standing.leader == party,
        "maximum": None if own is None else own.amount,
        "increment": session.increment,
    }
    if session.close == "soft":
        shown["extension"] = session.extension if standing.extended < session.extensions else 0
    return shown


def decide(state: State, act: Act) -> Verdict:
    """A maximum, or none, of a bidder whose turn it is."""
    turn = turn_of(state, act.sender, FORMATS, "proxy")
    if isinstance(turn, Refusal):
        return turn
    if isinstance(act.action, ProxyHold):
        return Accepted(_answered(state, *turn, act.sender, None))
    session, _key, auction = turn
    amount: int = act.action.amount
    own: Maximum | None = state.get("maximum", maximum_key(auction.round, act.sender))
    wrong = sealed.check_amount(session, amount, "proxy")
    if wrong is None and own is not None and amount <= own.amount:
        wrong = Refusal("proxy.lower", {"amount": amount})
    return Accepted(_answered(state, *turn, act.sender, amount)) if wrong is None else wrong


def passed(state: State, session: Session, key: str, auction: Auction, party: str) -> Verdict:
    """It holds."""
    return Accepted(_answered(state, session, key, auction, party, None))


def _answered(  # noqa: PLR0913 - an answer, and where it stands
    state: State, session: Session, key: str, auction: Auction, party: str, amount: int | None
) -> list[msgspec.Struct]:
    before = standing_of(state, session, key)
    new = None if amount is None else Maximum(auction.round, key, party, amount, before.period)
    events: list[msgspec.Struct] = (
        [MaximumHeld(key, party, before.period)]
        if amount is None
        else [MaximumStated(key, party, amount, before.period)]
    )
    if auction.turn + 1 < len(auction.active):
        return events
    after = _closing(session, key, auction, before, _maxima(state, auction, new))
    events.append(PeriodClosed(key, **msgspec.structs.asdict(after)))
    if after.period > after.periods:
        winners = () if after.leader is None else (after.leader,)
        price = after.price or 0
        events.append(AuctionClosed(key, winners, dict.fromkeys(winners, price), price))
    return events


def _maxima(state: State, auction: Auction, new: Maximum | None) -> list[Maximum]:
    """What every bidder has stated, with what is stated now."""
    rows = [
        new
        if new is not None and party == new.bidder
        else state.get("maximum", maximum_key(auction.round, party))
        for party in auction.bidders
    ]
    return [row for row in rows if row is not None]


def _closing(
    session: Session, key: str, auction: Auction, before: Standing, maxima: Iterable[Maximum]
) -> Standing:
    """What stands after a period."""
    order = lots(session, key, auction.bidders)
    best = sorted(maxima, key=lambda row: (-row.amount, row.period, order.index(row.bidder)))
    after = replace(before, period=before.period + 1)
    if not best:
        return after
    leader = best[0].bidder
    price = session.reserve if len(best) == 1 else min(best[0].amount, best[1].amount + session.increment)
    after = replace(after, price=price, leader=leader)
    if leader == before.leader:
        return after
    after = replace(after, since=before.period)
    is_late = session.close == "soft" and before.period == before.periods
    if not is_late or before.extended == session.extensions:
        return after
    return replace(after, periods=before.periods + session.extension, extended=before.extended + 1)


def maximum_key(number: int, party: str) -> str:
    """The key of a maximum."""
    return f"m{number}_{party}"


def _stated(state: State, event: MaximumStated) -> None:
    auction = _next(state, event.auction)
    row = Maximum(auction.round, event.auction, event.bidder, event.amount, event.period)
    state.put("maximum", maximum_key(auction.round, event.bidder), row)


def _held(state: State, event: MaximumHeld) -> None:
    _next(state, event.auction)


def _next(state: State, key: str) -> Auction:
    """Moves on to the next bidder; after the last, to the first."""
    auction: Auction = state.get("auction", key)
    turn = (auction.turn + 1) % len(auction.active)
    state.put("auction", key, replace(auction, turn=turn))
    return auction


def _closed(state: State, event: PeriodClosed) -> None:
    row = Standing(event.period, event.periods, event.extended, event.price, event.leader, event.since)
    state.put("standing", event.auction, row)


def understood(  # noqa: PLR0913 - as `Family.understood`
    state: State, session: Session, key: str, auction: Auction, party: str, text: str
) -> msgspec.Struct | None:
    """The amount in the words, or `hold`."""
    del state, session, key, auction, party
    found = words.amount(text, "hold")
    if isinstance(found, int):
        return ProxyBid(found)
    return None if found is None else ProxyHold()


FAMILY = Family(FORMATS, ("proxy.bid", "proxy.hold"), due, sight, understood, passed)

_TURN = ("proxy.format", "proxy.closed", "proxy.twice", "proxy.turn")
_AMOUNT = ("proxy.negative", "proxy.cap", "proxy.unit", "proxy.reserve", "proxy.lower")

SUBJECT = Subject(
    rows={"maximum": Maximum, "standing": Standing},
    rules=(
        Rule(ProxyBid, decide, checks=_TURN + _AMOUNT, roles=BIDDER, is_unaddressed=True),
        Rule(ProxyHold, decide, checks=_TURN, roles=BIDDER, is_unaddressed=True),
    ),
    events={MaximumStated: _stated, MaximumHeld: _held, PeriodClosed: _closed},
    refusals={
        "proxy.format": "this auction takes no such move",
        "proxy.closed": "no auction of the bidder's is open",
        "proxy.twice": "the bidder has bid or held in this period",
        "proxy.turn": "it is another's turn",
        "proxy.negative": "an amount is not below nothing",
        "proxy.cap": "the amount is over the cap",
        "proxy.unit": "the amount is no multiple of the unit",
        "proxy.reserve": "the amount is below the reserve",
        "proxy.lower": "the amount is not above what the bidder stated before",
    },
)

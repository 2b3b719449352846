"""The continuous double auction: buyers and sellers of one unit each quote, one at a time, and trade.

    step ─► a trader still in it, drawn ─► quote.buy · quote.sell · quote.pass
            better than the standing quote of its side   it stands in its place
            reaches the other side's                     a trade, at the standing price; both leave
    round   ends after `steps` steps, or once a side has nobody left

    book    bid < ask                  at most one quote a side stands
    profit  value − price of a buyer,  price − cost of a seller

A quote that is refused uses no step. Parameters of the session change the rules:
``improves`` (false: a quote replaces any), ``clears`` (false: what the two that
traded didn't quote stands on), ``at`` (`middle`: the price is the middle of bid
and ask, rounded down), ``drawn`` (`side`: the side by lot, then one of its traders).

Everybody sees every quote and trade. Who is asked is shown those since it was
asked last, at most `MOST_SHOWN`, so that it can learn from each just once.

Draws are labelled by auction and step; events hold what was drawn.

Not here: what the traders are worth to each other (`equilibrium`), how they quote (`tollbook.tasks`).

Source: Smith 1962; Gode and Sunder 1993; the auctions page of the design, B3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec.structs import replace

from ..canonical import Integer
from ..draws import Draws
from ..joined import Rule, Subject, Verdict
from ..world import Accepted, Act, Ask, Refusal
from . import results, valuations, words
from .results import Result
from .session import Auction, Session, auction_of, session_of
from .terms import BIDDER, Amount, AuctionAction, AuctionEvent, AuctionRow, Count, Family, Party, Round

if TYPE_CHECKING:
    from ..tables import State
    from ..world import Due

FORMATS = frozenset({"double"})
MOST_SHOWN = 100

Side = Literal["buy", "sell"]


class Book(AuctionRow, frozen=True):
    """A row of `book`, by auction: whose step is next, and what stands.

    ``quotes`` counts those of the session, ``trades`` those of the round.
    """

    step: Count
    asked: Party | None
    bid: Amount | None
    buyer: Party | None
    ask: Amount | None
    seller: Party | None
    quotes: Count
    trades: Count


class Quote(AuctionRow, frozen=True):
    """A row of `quote`, by its number in the session; ``price`` and ``other`` are of the trade it made."""

    round: Round
    trader: Party
    side: Side
    amount: Amount
    price: Amount | None = None
    other: Party | None = None


class Trade(AuctionRow, frozen=True):
    """A row of `trade`: ``taker`` is the side whose quote reached the other's."""

    round: Round
    auction: str
    step: Count
    buyer: Party
    seller: Party
    price: Amount
    taker: Side


class Told(AuctionRow, frozen=True):
    """A row of `told`, by trader: up to which quote of the session it was shown them."""

    quotes: Count


class QuoteBuy(AuctionAction, frozen=True, tag="quote.buy"):
    """Offers to buy one unit at an amount or less, in minor units; at the ask or above it buys at once."""

    amount: Integer


class QuoteSell(AuctionAction, frozen=True, tag="quote.sell"):
    """Offers to sell one unit at an amount or more, in minor units; at the bid or below it sells at once."""

    amount: Integer


class QuotePass(AuctionAction, frozen=True, tag="quote.pass"):
    """Quotes nothing at this step."""


class QuotePassed(AuctionEvent, frozen=True, tag="quote.passed"):
    """A step without a quote; ``asked`` is drawn for the next, null at the end."""

    auction: str
    trader: Party
    asked: Party | None


class QuoteMade(AuctionEvent, frozen=True, tag="quote.made"):
    """A quote stands, in place of the one before."""

    auction: str
    trader: Party
    side: Side
    amount: int
    asked: Party | None


class TradeMade(AuctionEvent, frozen=True, tag="trade.made"):
    """A quote reached the other side's: one unit at the price, and both leave. ``amount`` is the taker's."""

    auction: str
    buyer: Party
    seller: Party
    price: int
    taker: Side
    amount: int
    asked: Party | None


class MarketClosed(AuctionEvent, frozen=True, tag="market.closed"):
    """A double auction's round is over."""

    auction: str


def book_of(state: State, session: Session, key: str, auction: Auction) -> Book:
    """The book; one without quotes before the first step, for which a trader is drawn."""
    book: Book | None = state.get("book", key)
    if book is None:
        book = _empty(state, auction, _drawn(session, key, 1, auction.active))
    return book


def _empty(state: State, auction: Auction, asked: Party | None) -> Book:
    before: Book | None = state.get("book", f"a{auction.round - 1}_1")
    return Book(0, asked, None, None, None, None, 0 if before is None else before.quotes, 0)


def _drawn(session: Session, key: str, step: int, active: Sequence[Party]) -> Party:
    """Whose step it is, of those still in it, at least one a side."""
    draws = Draws(valuations.seed_text(session.seed), f"step/{key}/{step}")
    if session.drawn == "side":
        sells = draws.integer(0, 1) == 1
        active = [party for party in active if (party in session.sellers) is sells]
    return draws.choice(active)


def due(state: State, session: Session, key: str, auction: Auction) -> Due:
    """The trader that was drawn."""
    asked = book_of(state, session, key, auction).asked
    assert asked is not None, "an auction that is open has a step left"
    return Ask(asked)


def sight(state: State, session: Session, key: str, auction: Auction, party: str) -> Mapping[str, Any]:
    """The book, and the quotes since the trader was asked last."""
    book = book_of(state, session, key, auction)
    sells = party in session.sellers
    buyers, sellers = _sides(session)
    return {
        "side": "sell" if sells else "buy",
        "step": book.step + 1,
        "steps": session.steps,
        "bid": book.bid,
        "ask": book.ask,
        "leads": party == (book.seller if sells else book.buyer),
        "buyers": buyers - book.trades,
        "sellers": sellers - book.trades,
        "trades": book.trades,
        "cap": session.cap,
        "unit": session.unit,
        "improves": session.improves,
        "quotes": _shown(state, book, party),
    }


def _shown(state: State, book: Book, party: str) -> list[Mapping[str, Any]]:
    """The quotes that are new to a trader, oldest first; their price where they traded, and its own."""
    first = max(_told(state, party), book.quotes - MOST_SHOWN) + 1
    shown: list[Mapping[str, Any]] = []
    for number in range(first, book.quotes + 1):
        row: Quote = state.get("quote", quote_key(number))
        quote: dict[str, Any] = {"n": number, "round": row.round, "side": row.side, "amount": row.amount}
        if row.price is not None:
            quote["price"] = row.price
        if party in (row.trader, row.other):
            quote["own"] = True
        shown.append(quote)
    return shown


def _told(state: State, party: str) -> int:
    row: Told | None = state.get("told", party)
    return 0 if row is None else row.quotes


def decide(state: State, act: Act) -> Verdict:
    """A quote, or a pass, of the trader whose step it is."""
    session, found = session_of(state), auction_of(state, act.sender)
    if session.format not in FORMATS:
        return Refusal("quote.format", {"format": session.format})
    if found is None:
        return Refusal("quote.closed", {})
    key, auction = found
    book = book_of(state, session, key, auction)
    if book.asked != act.sender:
        rule = "quote.turn" if act.sender in auction.active else "quote.left"
        return Refusal(rule, {"auction": key})
    if isinstance(act.action, QuotePass):
        return _passing(session, key, auction, book, act.sender)
    side: Side = "sell" if isinstance(act.action, QuoteSell) else "buy"
    amount: int = act.action.amount
    rule = _objection(session, book, act.sender, side, amount)
    if rule is not None:
        return Refusal(rule, {"amount": amount})
    return Accepted(_quoted(session, key, auction, book, (act.sender, side, amount)))


def _objection(session: Session, book: Book, trader: str, side: Side, amount: int) -> str | None:
    sells = side == "sell"
    standing = book.ask if sells else book.bid
    for rule, is_wrong in (
        ("quote.side", sells is not (trader in session.sellers)),
        ("quote.negative", amount < 0),
        ("quote.cap", amount > session.cap),
        ("quote.unit", amount % session.unit != 0),
        ("quote.reserve", amount < session.reserve),
        ("quote.improve", session.improves and not _improves(side, amount, standing)),
    ):
        if is_wrong:
            return rule
    return None


def _improves(side: Side, amount: int, standing: int | None) -> bool:
    return standing is None or (amount < standing if side == "sell" else amount > standing)


def _quoted(
    session: Session, key: str, auction: Auction, book: Book, quote: tuple[Party, Side, int]
) -> list[msgspec.Struct]:
    trader, side, amount = quote
    other, standing = (book.buyer, book.bid) if side == "sell" else (book.seller, book.ask)
    if standing is None or (amount > standing if side == "sell" else amount < standing):
        asked = _next(session, key, book, auction.active, book.trades)
        return _ended(key, QuoteMade(key, trader, side, amount, asked), asked)
    assert other is not None, "a quote that stands is somebody's"
    price = standing if session.at == "standing" else (amount + standing) // 2
    active = [party for party in auction.active if party not in (trader, other)]
    asked = _next(session, key, book, active, book.trades + 1)
    buyer, seller = (other, trader) if side == "sell" else (trader, other)
    return _ended(key, TradeMade(key, buyer, seller, price, side, amount, asked), asked)


def passed(state: State, session: Session, key: str, auction: Auction, party: str) -> Verdict:
    """A step without a quote."""
    return _passing(session, key, auction, book_of(state, session, key, auction), party)


def _passing(session: Session, key: str, auction: Auction, book: Book, trader: Party) -> Accepted:
    asked = _next(session, key, book, auction.active, book.trades)
    return Accepted(_ended(key, QuotePassed(key, trader, asked), asked))


def _next(session: Session, key: str, book: Book, active: Sequence[Party], trades: int) -> Party | None:
    """Whose step comes after the one that is being made; nobody's, where the round ends with it."""
    if book.step + 1 == session.steps or trades in _sides(session):  # each trade takes one of each side
        return None
    return _drawn(session, key, book.step + 2, active)


def _sides(session: Session) -> tuple[int, int]:
    """How many buyers and sellers there are."""
    return len(session.bidders) - len(session.sellers), len(session.sellers)


def _ended(key: str, event: msgspec.Struct, asked: Party | None) -> list[msgspec.Struct]:
    return [event] if asked is not None else [event, MarketClosed(key)]


def quote_key(number: int) -> str:
    """The key of a quote."""
    return f"q{number}"


def trade_key(auction: str, number: int) -> str:
    """The key of a trade: the auction's, and its number there."""
    return f"t{auction[1:]}_{number}"


def _begun(state: State, key: str, trader: Party) -> Book:
    """The book at a trader's step, which notes that it was shown all quotes so far."""
    book: Book | None = state.get("book", key)
    if book is None:
        book = _empty(state, state.get("auction", key), trader)
    if _told(state, trader) != book.quotes:
        state.put("told", trader, Told(book.quotes))
    return book


def _passed(state: State, event: QuotePassed) -> None:
    book = _begun(state, event.auction, event.trader)
    state.put("book", event.auction, replace(book, step=book.step + 1, asked=event.asked))


def _made(state: State, event: QuoteMade) -> None:
    book = _begun(state, event.auction, event.trader)
    after = replace(book, step=book.step + 1, asked=event.asked, quotes=book.quotes + 1)
    if event.side == "buy":
        after = replace(after, bid=event.amount, buyer=event.trader)
    else:
        after = replace(after, ask=event.amount, seller=event.trader)
    state.put("book", event.auction, after)
    auction: Auction = state.get("auction", event.auction)
    quote = Quote(auction.round, event.trader, event.side, event.amount)
    state.put("quote", quote_key(after.quotes), quote)


def _traded(state: State, event: TradeMade) -> None:
    pair = (event.buyer, event.seller)
    taker, other = pair if event.taker == "buy" else (event.seller, event.buyer)
    book = _begun(state, event.auction, taker)
    after = replace(
        book, step=book.step + 1, asked=event.asked, quotes=book.quotes + 1, trades=book.trades + 1
    )
    clears = session_of(state).clears
    if clears or book.buyer in pair:
        after = replace(after, bid=None, buyer=None)
    if clears or book.seller in pair:
        after = replace(after, ask=None, seller=None)
    state.put("book", event.auction, after)
    auction: Auction = state.get("auction", event.auction)
    active = tuple(party for party in auction.active if party not in pair)
    state.put("auction", event.auction, replace(auction, active=active))
    quote = Quote(auction.round, taker, event.taker, event.amount, event.price, other)
    state.put("quote", quote_key(after.quotes), quote)
    trade = Trade(auction.round, event.auction, after.step, *pair, event.price, event.taker)
    state.put("trade", trade_key(event.auction, after.trades), trade)


def _closed(state: State, event: MarketClosed) -> None:
    """Closes the auction and writes each trader's result."""
    auction: Auction = state.get("auction", event.auction)
    book: Book = state.get("book", event.auction)
    trades = [state.get("trade", trade_key(event.auction, number + 1)) for number in range(book.trades)]
    last = trades[-1].price if trades else 0
    state.put("auction", event.auction, replace(auction, state="closed", price=last))
    prices = {party: trade.price for trade in trades for party in (trade.buyer, trade.seller)}
    sellers = session_of(state).sellers
    for party in auction.bidders:
        worth: valuations.Valuation = state.get("valuation", valuations.key(auction.round, party))
        price = prices.get(party)
        gain = 0 if price is None else price - worth.value if party in sellers else worth.value - price
        units, paid = (0, 0) if price is None else (1, price)
        row = Result(auction.round, event.auction, party, units, paid, last, gain)
        state.put("result", results.key(auction.round, party), row)


_BUYS = re.compile(r"\b(?:buy|buying|quote|quoting)\b", re.IGNORECASE)
_SELLS = re.compile(r"\b(?:sell|selling|ask|asking|quote|quoting)\b", re.IGNORECASE)
_BIDS = re.compile(r"\bbid(?:s|ding)?\b", re.IGNORECASE)


def understood(  # noqa: PLR0913 - as `Family.understood`
    state: State, session: Session, key: str, auction: Auction, party: str, text: str
) -> msgspec.Struct | None:
    """The amount that the words bid, or ask, is a quote of the trader's own side."""
    del state, key, auction
    sells = party in session.sellers
    # To `words` a quote of one's own is a bid, and to a seller a bid is something else.
    plain = _SELLS.sub("bid", _BIDS.sub("demand", text)) if sells else _BUYS.sub("bid", text)
    found = words.amount(plain, "pass")
    if isinstance(found, int):
        return QuoteSell(found) if sells else QuoteBuy(found)
    return None if found is None else QuotePass()


FAMILY = Family(FORMATS, ("quote.buy", "quote.sell", "quote.pass"), due, sight, understood, passed)

_TURN = ("quote.format", "quote.closed", "quote.left", "quote.turn")
_AMOUNT = (
    "quote.side",
    "quote.negative",
    "quote.cap",
    "quote.unit",
    "quote.reserve",
    "quote.improve",
)

SUBJECT = Subject(
    rows={"book": Book, "quote": Quote, "trade": Trade, "told": Told},
    rules=(
        Rule(QuoteBuy, decide, checks=_TURN + _AMOUNT, roles=BIDDER, is_unaddressed=True),
        Rule(QuoteSell, decide, checks=_TURN + _AMOUNT, roles=BIDDER, is_unaddressed=True),
        Rule(QuotePass, decide, checks=_TURN, roles=BIDDER, is_unaddressed=True),
    ),
    events={QuotePassed: _passed, QuoteMade: _made, TradeMade: _traded, MarketClosed: _closed},
    refusals={
        "quote.format": "this auction takes no such move",
        "quote.closed": "no auction of the trader's is open",
        "quote.left": "the trader has traded in this round",
        "quote.turn": "it is another's step",
        "quote.side": "a buyer doesn't sell, nor a seller buy",
        "quote.negative": "an amount is not below nothing",
        "quote.cap": "the amount is over the cap",
        "quote.unit": "the amount is no multiple of the unit",
        "quote.reserve": "the amount is below the least that may be quoted",
        "quote.improve": "the quote is no better than the one that stands",
    },
)

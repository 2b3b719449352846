"""Traders of the double auction, by name: how each comes to a quote.

    zi_u              any price, whatever its value or cost
    zi_c              any price at which it doesn't lose
    zip               limit · (1 + margin), of which the margin learns from everybody's quotes
    gd                the price of the highest expected gain, by how often such quotes were taken
    truthful_quotes   its value or cost

The market draws who is asked. A trader passes where the price that it came to
can't be quoted, so that it uses its step. What it has learned it keeps over the
rounds. Prices are whole minor units; margins, millionths.

Not here: what a quote leads to (`tollbook.protocol.auction.double`).

Source: Gode and Sunder 1993 (ZI); Cliff 1997, "Minimal-intelligence agents for bargaining
behaviors in market-based environments" (ZIP); Gjerstad and Dickhaut 1998, "Price formation in
double auctions" (GD); the auctions page of the design, B3.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ...protocol.draws import Draws
from .baseline import Baseline

Market = Mapping[str, Any]
Quote = Mapping[str, Any]

MILLION: Final = 1_000_000
TRADES: Final = 16
"""How many trades a `gd` trader remembers."""
GRID: Final = 5
"""The steps between the prices that a `gd` trader considers, in minor units."""


class Trader(Baseline):
    """A baseline that names a price; a subclass says which."""

    trades = True

    def __init__(self, seed: str, party: str) -> None:
        super().__init__(seed, party)
        self._draws = Draws(seed, f"{self.name}/{party}")
        self._heard = 0

    def move(self, market: Market) -> Market:
        """A quote, or a pass where there is none to make."""
        for quote in market["quotes"]:
            if quote["n"] > self._heard:  # after a refusal it is shown the same again
                self._heard = quote["n"]
                self.hear(market, quote)
        amount = self.price(market)
        if amount is None or not _can_quote(market, amount):
            return {"kind": "quote.pass"}
        return {"kind": f"quote.{market['side']}", "amount": amount}

    def hear(self, market: Market, quote: Quote) -> None:
        """Learns from a quote, or doesn't."""

    @abstractmethod
    def price(self, market: Market) -> int | None:
        """What it would quote now, whether or not the market takes it; None for nothing."""

    def without_loss(self, market: Market) -> int | None:
        """A price at which it doesn't lose: from 1 to a value, or from a cost to the cap."""
        limit = _limit(market)
        return self.any(market, *((limit, market["cap"]) if market["side"] == "sell" else (1, limit)))

    def any(self, market: Market, low: int, high: int) -> int | None:
        """Any price from low to high that the market's cap, least price and unit allow."""
        unit = market["unit"]
        first = -(-max(low, market["reserve"]) // unit)
        last = min(high, market["cap"]) // unit
        return self._draws.integer(first, last) * unit if first <= last else None


def _can_quote(market: Market, amount: int) -> bool:
    if not market["reserve"] <= amount <= market["cap"] or amount % market["unit"]:
        return False
    standing = market["ask" if market["side"] == "sell" else "bid"]
    if standing is None or not market["improves"]:
        return True
    return bool(amount < standing if market["side"] == "sell" else amount > standing)


def _limit(market: Market) -> int:
    """The value, cost or signal: the price at which a trader gains nothing."""
    found: int = next(market[name] for name in ("value", "cost", "signal") if name in market)
    return found


class Unconstrained(Trader):
    """Zero intelligence: a price from 1 to the cap."""

    name = "zi_u"

    def price(self, market: Market) -> int | None:
        """Any price."""
        return self.any(market, 1, market["cap"])


class Constrained(Trader):
    """Zero intelligence that doesn't lose."""

    name = "zi_c"

    def price(self, market: Market) -> int | None:
        """Any price without a loss."""
        return self.without_loss(market)


class TruthfulQuotes(Trader):
    """Quotes its value or cost, if that improves on what stands."""

    name = "truthful_quotes"

    def price(self, market: Market) -> int | None:
        """The limit."""
        return _limit(market)


class Zip(Trader):
    """Zero intelligence plus: quotes its limit with a margin, which each quote heard makes wider or narrower.

    For a quote at q (of a trade, its price), with its own price p, rounded as it would be quoted:

        it traded       p no worse than q                                     ─►  wider
                        p worse, and it was the other side's that reached     ─►  narrower
        it didn't       p no better than q, and it was its own side's         ─►  narrower

        τ = R·q ± A     R from 1 to 1.05 (to 0.95 where the price falls), A from 0 to 5 units
        Γ = m·Γ + (1 − m)·β·(τ − p),  p = p + Γ

    Who has left the round's market widens its margin still, but doesn't narrow
    it. What stands when a trader's own price is no better is heard once more:
    it isn't taken yet. Without that a market in which nobody improves learns no more.
    """

    name = "zip"

    def __init__(self, seed: str, party: str) -> None:
        super().__init__(seed, party)
        self._margin = self._draws.integer(50_000, 350_000)
        self._rate = self._draws.integer(100_000, 500_000)
        self._momentum = self._draws.integer(0, 100_000)
        self._change = 0
        self._left = 0

    def move(self, market: Market) -> Market:
        """As `Trader.move`."""
        move = super().move(market)
        standing = market["ask" if market["side"] == "sell" else "bid"]
        if move["kind"] == "quote.pass" and standing is not None:
            self.hear(market, {"round": market["round"], "side": market["side"], "amount": standing})
        return move

    def price(self, market: Market) -> int:
        """The limit with the margin, rounded."""
        return (self._exact(market) + MILLION // 2) // MILLION

    def _exact(self, market: Market) -> int:
        """The price in millionths of a minor unit."""
        margin = self._margin if market["side"] == "sell" else -self._margin
        return _limit(market) * (MILLION + margin)

    def hear(self, market: Market, quote: Quote) -> None:
        """Moves the margin."""
        sells = market["side"] == "sell"
        is_own_side = quote["side"] == market["side"]
        at = quote.get("price", quote["amount"])
        asks_more = self.price(market) - at if sells else at - self.price(market)
        if "price" in quote and "own" in quote:
            self._left = quote["round"]
        if "price" in quote and asks_more <= 0:
            self._learn(market, at, up=sells)
        elif self._left != quote["round"] and is_own_side is ("price" not in quote) and asks_more >= 0:
            self._learn(market, at, up=not sells)

    def _learn(self, market: Market, at: int, *, up: bool) -> None:
        """Moves the price towards one above, or below, what was heard."""
        more, factor = self._draws.integer(0, 5 * MILLION), self._draws.integer(0, 50_000)
        target = at * (MILLION + factor) + more if up else at * (MILLION - factor) - more
        exact, limit = self._exact(market), _limit(market)
        change = self._rate * (target - exact) // MILLION
        self._change = (self._momentum * self._change + (MILLION - self._momentum) * change) // MILLION
        if limit > 0:
            margin = (exact + self._change) // limit - MILLION
            self._margin = max(0, margin if market["side"] == "sell" else min(-margin, MILLION))


class GjerstadDickhaut(Trader):
    """Quotes the price of the highest expected gain: its gain, by the share of such quotes that were taken.

        of a bid b      (taken bids ≤ b + asks ≤ b) / (those + bids ≥ b that weren't taken)
        of an ask a     (taken asks ≥ a + bids ≥ a) / (those + asks ≤ a that weren't taken)

    counted over the quotes of the last 16 trades, at every fifth price; what
    reaches the other side's standing quote is taken for certain. Until the
    first trade it quotes as `zi_c`.
    """

    name = "gd"

    def __init__(self, seed: str, party: str) -> None:
        super().__init__(seed, party)
        # The quotes up to each trade, and those since; of each its side, price and whether it was taken.
        self._spans: deque[list[tuple[str, int, bool]]] = deque([[]], maxlen=TRADES + 1)
        self._record: _Record | None = None

    def hear(self, market: Market, quote: Quote) -> None:
        """Keeps the quote; one that traded took the other side's last."""
        del market
        self._record = None
        span = self._spans[-1]
        if "price" not in quote:
            span.append((quote["side"], quote["amount"], False))
            return
        other = "buy" if quote["side"] == "sell" else "sell"
        last = next((place for place in reversed(range(len(span))) if span[place][0] == other), None)
        if last is None:
            span.append((other, quote["price"], True))
        else:
            span[last] = (other, span[last][1], True)
        self._spans.append([])

    def price(self, market: Market) -> int | None:
        """The best price, or nothing where none promises a gain."""
        if len(self._spans) == 1:
            return self.without_loss(market)
        if self._record is None:
            self._record = _record((quote for span in self._spans for quote in span), market["side"])
        limit, best, gain, out_of = _limit(market), None, 0, 1
        for amount in _candidates(market, limit):
            taken, of = self._record.chance(amount)
            if amount == _other_standing(market):
                taken, of = 1, 1
            expected = abs(limit - amount) * taken
            if expected * out_of > gain * of:
                best, gain, out_of = amount, expected, of
        return best


class _Record(NamedTuple):
    """Prices of quotes, each list sorted; for a seller they are negative, so that more is always likelier."""

    sign: int
    taken: list[int]
    missed: list[int]
    others: list[int]

    def chance(self, amount: int) -> tuple[int, int]:
        """How many quotes say that a quote of the amount is taken, of how many that say something."""
        at = self.sign * amount
        taken = bisect_right(self.taken, at) + bisect_right(self.others, at)
        missed = len(self.missed) - bisect_left(self.missed, at)
        return taken, taken + missed or 1


def _record(quotes: Iterable[tuple[str, int, bool]], side: str) -> _Record:
    """The quotes as a trader of a side counts them."""
    record = _Record(-1 if side == "sell" else 1, [], [], [])
    for of, amount, was_taken in quotes:
        into = record.others if of != side else record.taken if was_taken else record.missed
        into.append(record.sign * amount)
    for prices in record[1:]:
        prices.sort()
    return record


def _other_standing(market: Market) -> int | None:
    found: int | None = market["bid" if market["side"] == "sell" else "ask"]
    return found


def _candidates(market: Market, limit: int) -> list[int]:
    """Prices to choose among: every fifth from what stands to the limit, or to the other side's quote."""
    bid, ask, improves = market["bid"], market["ask"], market["improves"]
    if market["side"] == "sell":
        low = limit if bid is None else max(limit, bid)
        high = market["cap"] if ask is None or not improves else ask - 1
        prices = [*range(high // GRID * GRID, low - 1, -GRID)]
        return prices if bid is None or bid < limit or bid in prices else [*prices, bid]
    high = limit if ask is None else min(limit, ask)
    low = 1 if bid is None or not improves else bid + 1
    prices = [*range(-(-low // GRID) * GRID, high + 1, GRID)]
    return prices if ask is None or ask > limit or ask in prices else [*prices, ask]


TRADERS: Final = (Unconstrained, Constrained, TruthfulQuotes, Zip, GjerstadDickhaut)

"""Double auctions: how near prices come to the equilibrium, how far they lie apart, who crosses the spread.

    P        the competitive price, the middle where there are several
    alpha    100 · √(Σ (p − P)² / trades) / P      of a round; over rounds with a trade, the mean
    trades   of a round             quantity_ratio   Σ trades / Σ competitive quantity
    price    Σ p / trades           price_error      Σ (p − P) / trades
    spread   √(Σ (p − p̄)² / trades)                of a round; over rounds with a trade, the mean

    crossing     quotes that traded / quotes made while the other side's stood
    gain_taken   trades / steps at which the other side's quote left the trader a gain

Of several rounds efficiency, alpha, trades, price and spread are there for each too, to `MOST_ROUNDS`.
Roots are cut off after thirty digits.

Not here: the equilibrium (`protocol.auction.equilibrium`), profits (`outcomes`).

Source: Smith 1962 (alpha, about the equilibrium and not the mean); Struski et al. 2026, arXiv 2609.02580
(crossing the spread); the auctions page of the design, B3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from ...protocol.auction.double import QuoteMade, QuotePassed, TradeMade
from ..measures import Key, Measure, Sum, Sums, added, counted
from ..stats import mean, root
from .deviations import slope
from .reading import Reading

MOST_ROUNDS: Final = 20

_SMITH: Final = "Smith 1962"
_SPREAD: Final = "Struski et al. 2026"

MEASURES: Final = {
    "alpha": Measure("percent", 0, None, "root mean square of price − equilibrium, over it", _SMITH),
    "alpha_slope": Measure("percent per round", None, None, "slope of alpha over rounds", _SMITH),
    "trades": Measure("count", 0, None, "trades of a round", _SMITH),
    "quantity_ratio": Measure("ratio", 0, None, "Σ trades over Σ competitive quantity", _SMITH),
    "price": Measure("minor", 0, None, "price of a trade", _SMITH),
    "price_error": Measure("minor", None, None, "price − equilibrium of a trade", _SMITH),
    "spread": Measure("minor", 0, None, "standard deviation of a round's prices, about their mean", _SMITH),
    "crossing": Measure("share", 0, 1, "quotes that trade, of those with a quote to cross", _SPREAD),
    "gain_taken": Measure("share", 0, 1, "steps that take a gain the other side offers", _SPREAD),
}


class _Round(NamedTuple):
    number: int
    prices: Sequence[int]
    quantity: int
    price: Fraction
    gained: int
    surplus: int

    @property
    def alpha(self) -> Fraction:
        """Smith's, in percent; there is a trade and a price above nothing."""
        return 100 * root(mean([(price - self.price) ** 2 for price in self.prices])) / self.price


def of_session(reading: Reading) -> Sums:
    """What prices say, over all rounds and of each; nothing of another format."""
    if reading.session.format != "double":
        return {}
    rounds = _rounds(reading)
    alphas = [(each.number, each.alpha) for each in rounds if each.prices and each.price > 0]
    sums = added(_sums(each, number=0) for each in rounds)
    for each in rounds[:MOST_ROUNDS] if reading.session.rounds > 1 else ():
        sums |= _sums(each, number=each.number)
        sums[Key("efficiency", each.number)] = counted(each.gained, each.surplus)
    return {**sums, Key("alpha_slope"): slope(alphas)}


def _rounds(reading: Reading) -> list[_Round]:
    """The rounds that closed."""
    prices: dict[str, list[int]] = {key: [] for key in reading.auctions}
    for event in reading.events(TradeMade):
        if event.auction in prices:
            prices[event.auction].append(event.price)
    theory = reading.answer("equilibrium")
    found: list[_Round] = []
    for key, auction in reading.auctions.items():
        says = theory[auction.round - 1]
        price = Fraction(says["low"] + says["high"], 2)
        gained = sum(row.profit for row in reading.results[key])
        found.append(_Round(auction.round, prices[key], says["quantity"], price, gained, says["surplus"]))
    return found


def _sums(each: _Round, *, number: int) -> dict[Key, Sum]:
    prices, count = each.prices, len(each.prices)
    sums = {"trades": counted(count, 1)}
    if not number:
        sums["quantity_ratio"] = counted(count, each.quantity)
    if prices:
        sums["price"] = counted(sum(prices), count)
        middle = Fraction(sum(prices), count)
        sums["spread"] = counted(root(mean([(price - middle) ** 2 for price in prices])), 1)
        if not number:
            sums["price_error"] = counted(sum(prices) - count * each.price, count)
        if each.price > 0:
            sums["alpha"] = counted(each.alpha, 1)
    return {Key(name, number): found for name, found in sums.items()}


def of_traders(reading: Reading) -> Mapping[str, Sums]:
    """How each trader quotes while there is something to take."""
    if reading.session.format != "double":
        return {trader: {} for trader in reading.bidders}
    counts: dict[str, Counter[str]] = {trader: Counter() for trader in reading.bidders}
    for trader, event, gain in _steps(reading):
        takes, offered = isinstance(event, TradeMade), gain > 0
        counts[trader].update(
            trades=takes, quotes=not isinstance(event, QuotePassed), taken=takes and offered, offered=offered
        )
    return {
        trader: {
            Key("crossing"): counted(count["trades"], count["quotes"]),
            Key("gain_taken"): counted(count["taken"], count["offered"]),
        }
        for trader, count in counts.items()
    }


class _Quote(NamedTuple):
    trader: str
    amount: int


_Step = QuoteMade | QuotePassed | TradeMade


def _steps(reading: Reading) -> Iterator[tuple[str, _Step, int]]:
    """Each step at which the other side's quote stood: whose it is, and what taking it would gain."""
    rounds = {key: auction.round for key, auction in reading.auctions.items()}
    standing: dict[tuple[str, bool], _Quote] = {}  # of an auction's sellers (True) and buyers
    for event in reading.events(QuoteMade, QuotePassed, TradeMade):
        if event.auction not in rounds:
            continue
        trader = _trader(event)
        sells = trader in reading.session.sellers
        other = standing.get((event.auction, not sells))
        if other is not None:
            value = reading.worth[rounds[event.auction], trader].value
            yield trader, event, other.amount - value if sells else value - other.amount
        _stand(standing, event, sells=sells, clears=reading.session.clears)


def _trader(event: _Step) -> str:
    if isinstance(event, TradeMade):
        return event.buyer if event.taker == "buy" else event.seller
    return event.trader


def _stand(
    standing: dict[tuple[str, bool], _Quote],
    event: _Step,
    *,
    sells: bool,
    clears: bool,
) -> None:
    """Which quotes stand after a step: after a trade none, or those of others than the two."""
    if isinstance(event, QuoteMade):
        standing[event.auction, sells] = _Quote(event.trader, event.amount)
    elif isinstance(event, TradeMade):
        for side in (True, False):
            quote = standing.get((event.auction, side))
            if quote is not None and (clears or quote.trader in (event.buyer, event.seller)):
                del standing[event.auction, side]

"""Theory of auctions with private values U[low, high], of which each bidder knows its own alone.

    n bidders, k units, reserve r;  x = (v − low)/width;  G = chance that fewer than k of n − 1 are above v

    pay what is bid   b = v − ∫_r^v G / G(v)                     first price, Dutch, discriminatory
    the same, CRRA    b = v − t·(1 − (ρ/t)^m)/m                  utility money^(1 − a), k = 1,
                                                                 m = (n − a)/(1 − a), t = v − low, ρ = r − low
    all-pay           b = v·G(v) − ∫_v*^v G,  v*·G(v*) = r       who wins too seldom for r stays out
    revenue           n·∫_r^1 G·(low + width·(2x − 1)) dx        of any format, by equivalence
    posted price      p·E[min(k, bidders at or above p)]         best of one unit: 1 − x^n = n·p·x^(n−1)/width

    ∫_0^x P(at most j of n above y) dy  =  Σ_{i ≤ j} P(at most i of n + 1 above x) / (n + 1)

Exact rationals, in minor units, but for roots and powers (`TOLERANCE`). Where
bids cost nothing unless they set another's price, the benchmark is the value:
no formula is needed. A bid under the reserve is no bid.

Not here: which of these a format has (`benchmarks`). Values are drawn as whole
minor units; theory takes them for continuous.

Source: Vickrey 1961; Myerson 1981; Riley and Samuelson 1981; Cox, Smith and Walker 1988 (CRRA);
Krishna 2009, Auction Theory, chapters 2, 3, 5, 13.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Final, NamedTuple

DIGITS: Final = Context(prec=60)
"""Where exp and log are needed; both are correctly rounded, so the same everywhere."""
TOLERANCE: Final = Fraction(1, 10**15)
"""How far a root or a power may be off, as a share of what it is a root or power of."""
_PLACES: Final = Decimal(1).scaleb(-40)


class Bidding(NamedTuple):
    """What all bidders know; amounts in minor units."""

    bidders: int
    low: int
    high: int
    reserve: int = 0
    units: int = 1

    @property
    def width(self) -> int:
        """Of the support."""
        return self.high - self.low

    @property
    def least(self) -> int:
        """How far above the lowest value a reserve begins to bind; a lone bidder's always does."""
        above = self.reserve - self.low
        return above if self.bidders <= self.units else max(above, 0)

    def share(self, value: Fraction | int) -> Fraction:
        """How likely another's value is below this one."""
        return Fraction(value - self.low) / self.width


def exp(exponent: Fraction) -> Fraction:
    """The number e to a power of at most nothing, to 40 places."""
    power = DIGITS.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(DIGITS.exp(power).quantize(_PLACES, context=DIGITS))


def pays_its_bid(bidding: Bidding, value: int) -> Fraction:
    """The bid of who pays what it bids if it gets a unit."""
    t, n, least = value - bidding.low, bidding.bidders, bidding.least
    chance = _at_most(bidding, n - 1, bidding.units - 1, t)
    if value < bidding.reserve or chance == 0:
        return Fraction(value)
    gain = sum(_at_most(bidding, n, j, t) - _at_most(bidding, n, j, least) for j in range(bidding.units))
    return value - Fraction(gain, n * chance)


def averse(bidding: Bidding, value: int, aversion: Fraction) -> Fraction:
    """The first-price bid of bidders who all have utility money^(1 − aversion), from 0 to below 1."""
    t, least = value - bidding.low, bidding.least
    if value < bidding.reserve or t == 0:
        return Fraction(value)
    if bidding.bidders == 1:
        return Fraction(bidding.reserve)
    power = (bidding.bidders - aversion) / (1 - aversion)
    kept = _power(Fraction(least, t), power)
    return value - t * (1 - kept) / power


def all_pay(bidding: Bidding, value: int) -> Fraction | None:
    """The bid of who pays it in any case, 0 for staying out; None where theory has no single bid."""
    n, t, width = bidding.bidders, value - bidding.low, bidding.width
    if width == 0:
        return None
    chance = Fraction(t, width) ** (n - 1)
    if value * chance < bidding.reserve:
        return Fraction(0)
    paid = bidding.low * chance + t * chance * Fraction(n - 1, n)
    if bidding.reserve == 0:
        return paid
    first = bidding.low * _threshold(bidding) ** (n - 1) if bidding.low else Fraction(0)
    return paid + (bidding.reserve - first) / n


@lru_cache(maxsize=256)
def _threshold(bidding: Bidding) -> Fraction:
    """The share of values below the lowest that takes part in an all-pay auction with a reserve."""
    n, low, width = bidding.bidders, bidding.low, bidding.width
    return root(lambda x: (low + width * x) * x ** (n - 1) >= bidding.reserve)


def revenue(bidding: Bidding, *, all_pay: bool = False) -> Fraction:
    """What the seller takes on average, of an auction that gives the units to the highest values."""
    n, low, width = bidding.bidders, bidding.low, bidding.width
    if bidding.reserve > bidding.high:
        return Fraction(0)
    if width == 0:
        return Fraction(bidding.units * bidding.high if n > bidding.units else n * bidding.reserve)
    x = max(Fraction(bidding.least, width), Fraction(0))
    if n <= bidding.units:
        return n * bidding.reserve * (1 - x)
    if all_pay and bidding.reserve:
        x = _threshold(bidding)

    def first(at: Fraction) -> Fraction:
        return sum((_share(n, j, at) for j in range(bidding.units)), Fraction(0)) / n

    def second(at: Fraction) -> Fraction:
        shares = (_share(n + 1, i, at) for j in range(bidding.units) for i in range(j + 1))
        return sum(shares, Fraction(0)) / (n * (n + 1))

    one = Fraction(1)
    moment = first(one) - x * first(x) - (second(one) - second(x))
    return n * ((low - width) * (first(one) - first(x)) + 2 * width * moment)


def best_reserve(bidding: Bidding, *, all_pay: bool = False) -> Fraction:
    """The reserve that brings a seller most to whom a unit is worth nothing: the same for any n."""
    least = max(Fraction(bidding.high, 2), Fraction(bidding.low))
    if not all_pay or bidding.width == 0:
        return least
    return least * bidding.share(least) ** (bidding.bidders - 1)


def posted_revenue(bidding: Bidding, price: Fraction | int) -> Fraction:
    """What units at a posted price bring on average, offered to one bidder after another."""
    n, width = bidding.bidders, bidding.width
    below = Fraction(int(price > bidding.low)) if width == 0 else bidding.share(price)
    below = min(max(below, Fraction(0)), Fraction(1))
    sold = sum(
        (min(count, bidding.units) * _chance(n, count, below) for count in range(n + 1)), Fraction(0)
    )
    return price * sold


@lru_cache(maxsize=256)
def best_price(bidding: Bidding) -> Fraction:
    """The posted price of one unit that brings most."""
    n, low, width = bidding.bidders, bidding.low, bidding.width
    if width == 0 or (n == 1 and low >= width):
        return Fraction(low)
    return low + width * root(lambda x: x**n + n * (low + width * x) * x ** (n - 1) / width >= 1)


def root(is_reached: Callable[[Fraction], bool]) -> Fraction:
    """Where from 0 to 1 something begins to hold that then goes on holding, to `TOLERANCE`; 1 for nowhere."""
    low, high = Fraction(0), Fraction(1)
    while high - low > TOLERANCE:
        middle = (low + high) / 2
        low, high = (low, middle) if is_reached(middle) else (middle, high)
    return high


def _power(base: Fraction, power: Fraction) -> Fraction:
    """A base from 0 to 1 to a power of at least 1: exact where the power is whole, else to 40 places."""
    if power.denominator == 1 or base in (0, 1):
        return base ** power.numerator if power.denominator == 1 else base
    log = DIGITS.ln(DIGITS.divide(Decimal(base.numerator), Decimal(base.denominator)))
    return exp(Fraction(log) * power)


def _at_most(bidding: Bidding, n: int, j: int, t: int) -> int:
    """Width to the n, times the chance that at most j of n values are above low + t."""
    rest = bidding.width - t
    return sum(comb(n, i) * rest**i * t ** (n - i) for i in range(min(j, n) + 1))


def _share(n: int, j: int, x: Fraction) -> Fraction:
    """The chance that at most j of n values are above the share x."""
    return sum((_chance(n, i, x) for i in range(min(j, n) + 1)), Fraction(0))


def _chance(n: int, i: int, below: Fraction) -> Fraction:
    """The chance that exactly i of n values aren't below."""
    return comb(n, i) * (1 - below) ** i * below ** (n - i)

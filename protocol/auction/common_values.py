"""Theory of auctions of an item of common value x0 ~ U[low, high], of which each has a signal x ~ U[x0 ± e].

    who wins has the highest signal, which is most likely too high: the winner's curse

    interior         low + e ≤ x ≤ high − e         nothing is learned from the support's ends
    worth if highest E[x0 | x is the highest of n]       = x − e·(n − 1)/(n + 1)
    first price      b = x − e + (2e/(n+1))·exp(−(n/2e)·(x − (low + e)))
    second price     b = E[x0 | x is the highest and the next is the same] = x − e + 2e/n
    English          the first to quit does so at its signal; others at the middle of that and their own
    naive            b = x

    winner's profit  first price   2e/(n+1)            English   e/(n+1)
                     second price  2e(n−1)/(n(n+1))    naive     −e(n−1)/(n+1)

With u = x + e − x0, both expectations are means of u^k on an interval that the
ends of the support cut: they hold for every signal. The first-price bid below
the interior is the one that joins it; above it, where it has no closed form,
the interior's stands for it.

Exact rationals in minor units, but for the exponential.

Not here: English clocks that show no exits, which are second price.

Source: Wilson 1977; Milgrom and Weber 1982; Kagel and Levin 1986; Kagel, Levin and Harstad 1995;
the auctions page of the design, B1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from .private_values import exp


class Signals(NamedTuple):
    """What all bidders know; amounts in minor units."""

    bidders: int
    low: int
    high: int
    error: int

    def is_interior(self, signal: int) -> bool:
        """Whether a signal says nothing of the support's ends."""
        return self.low + self.error <= signal <= self.high - self.error


def worth_if_highest(signals: Signals, signal: int) -> Fraction:
    """What the item is worth on average, given that this is the highest signal: the most not to be cursed."""
    return _expected(signals, signal, signals.bidders)


def second_price(signals: Signals, signal: int) -> Fraction:
    """The bid where the second highest sets the price; a lone bidder's is what it expects."""
    return _expected(signals, signal, max(signals.bidders - 1, 1))


def first_price(signals: Signals, signal: int) -> Fraction:
    """The bid of who pays it."""
    n, error, low = signals.bidders, signals.error, signals.low
    if n == 1:
        return Fraction(0)
    if error == 0:
        return Fraction(signal)
    above = signal - (low + error)
    if above < 0:
        return low + Fraction(signal + error - low, n + 1)
    return signal - error + Fraction(2 * error, n + 1) * exp(Fraction(-n * above, 2 * error))


def english(signal: int, first_exit: int | None) -> Fraction:
    """The price at which to quit, once somebody has quit at ``first_exit``, or before anybody has."""
    return Fraction(signal) if first_exit is None else Fraction(first_exit + signal, 2)


def profit(signals: Signals, way: str) -> Fraction:
    """What the winner has on average, by `first_price`, `second_price`, `english` or `naive` bids."""
    n = signals.bidders
    shares = {
        "first_price": Fraction(2, n + 1),
        "second_price": Fraction(2 * (n - 1), n * (n + 1)),
        "english": Fraction(1, n + 1),
        "naive": -Fraction(n - 1, n + 1),
    }
    return signals.error * shares[way]


def _expected(signals: Signals, signal: int, power: int) -> Fraction:
    """The mean of x0, where the density of u = x + e − x0 goes with u^(power − 1)."""
    error = signals.error
    most = min(2 * error, signal + error - signals.low)
    least = max(0, signal + error - signals.high)
    if most == least:
        return Fraction(signal + error - most)
    weight = Fraction(most**power - least**power, power)
    return signal + error - Fraction(most ** (power + 1) - least ** (power + 1), power + 1) / weight

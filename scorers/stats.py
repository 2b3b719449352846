"""Means and their intervals, in exact fractions until the last digit is written.

    mean        x̄ = Σ x / N
    of a mean   x̄ ± t(G−1) · SE,  SE² = G/(G−1) · Σ_g (Σ_{i in g} (x_i − x̄))² / N²
    of a share  (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n)

All at 95 %. Runs of one task hang together: they are one of G clusters g. With
one run a task the first is Student's interval; the second, Wilson's, takes runs
as independent. No float is used, so the digits are the same on every machine.

Not here: which runs are averaged (`report`).

Source: Cameron and Miller 2015, "A Practitioner's Guide to Cluster-Robust
Inference", J. Human Resources 50(2) (the factor G/(G−1) and t with G−1 degrees
of freedom); Wilson 1927, J. Am. Stat. Assoc. 22; quantiles: NIST/SEMATECH
e-Handbook of Statistical Methods 1.3.6.7.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

Z = Fraction("1.959963984540054")
"""The 97.5 % quantile of the normal distribution."""

# The 97.5 % quantiles of Student's t, by degrees of freedom.
_T = {
    1: "12.706", 2: "4.303", 3: "3.182", 4: "2.776", 5: "2.571", 6: "2.447", 7: "2.365", 8: "2.306",
    9: "2.262", 10: "2.228", 11: "2.201", 12: "2.179", 13: "2.160", 14: "2.145", 15: "2.131", 16: "2.120",
    17: "2.110", 18: "2.101", 19: "2.093", 20: "2.086", 21: "2.080", 22: "2.074", 23: "2.069", 24: "2.064",
    25: "2.060", 26: "2.056", 27: "2.052", 28: "2.048", 29: "2.045", 30: "2.042", 40: "2.021", 50: "2.009",
    60: "2.000", 80: "1.990", 100: "1.984",
}  # fmt: skip
_ROOT_DIGITS = 30


class Interval(NamedTuple):
    """From where to where, both ends included."""

    low: Fraction
    high: Fraction


def mean(values: Sequence[Fraction]) -> Fraction:
    """The mean of one value or more."""
    return sum(values, Fraction(0)) / len(values)


def interval(values: Sequence[Fraction], clusters: Sequence[Hashable]) -> Interval | None:
    """The interval of the mean, values of one cluster hanging together; None for fewer than two clusters."""
    middle = mean(values)
    sums: dict[Hashable, Fraction] = {}
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, Fraction(0)) + value - middle
    groups = len(sums)
    if groups < 2:
        return None
    square = Fraction(groups, groups - 1) * sum(each * each for each in sums.values()) / len(values) ** 2
    reach = quantile(groups - 1) * root(square)
    return Interval(middle - reach, middle + reach)


def wilson(part: int, whole: int) -> Interval | None:
    """The interval of a share; None of nothing."""
    if whole == 0:
        return None
    share = Fraction(part, whole)
    square = Z * Z / whole
    reach = Z * root(share * (1 - share) / whole + square / (4 * whole))
    middle = share + square / 2
    # At both ends the formula gives 0 and 1; its root, cut off, would miss them by a hair.
    low = (middle - reach) / (1 + square) if part else Fraction(0)
    high = (middle + reach) / (1 + square) if part < whole else Fraction(1)
    return Interval(low, high)


def quantile(degrees: int) -> Fraction:
    """The 97.5 % quantile of Student's t; between two rows of the table the wider one's."""
    return Fraction(_T[max(row for row in _T if row <= degrees)])


def root(value: Fraction) -> Fraction:
    """The square root of a value that isn't negative, cut off after thirty digits."""
    scale = 10**_ROOT_DIGITS
    return Fraction(isqrt(value.numerator * scale * scale // value.denominator), scale)


def decimal(value: Fraction, places: int) -> str:
    """A decimal text of so many places, more than none, rounded half to even."""
    digits = round(value * 10**places)
    text = str(abs(digits)).rjust(places + 1, "0")
    return f"{'-' if digits < 0 else ''}{text[:-places]}.{text[-places:]}"

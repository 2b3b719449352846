"""Means and their intervals, in exact fractions until the last digit is written.

    mean          x̄ = Σ x / N
    of a mean     x̄ ± t(d) · SE
                  SE² = Σ_g s_g² / (1 − h_g) / N²    s_g = Σ_{i in g} (x_i − x̄),  h_g = n_g / N
                  1/d = Σ_g h_g² + Σ_{g≠f} a_g · a_f    a_g = h_g² / (1 − h_g)
    of a share    (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n)
    smallest gap  (t(d) + t₈₀(d)) · SE
    pass@k        1 − C(n−c, k) / C(n, k)        c of n trials passed
    pass^k        C(c, k) / C(n, k)

Intervals are at 95 %. Runs of one task hang together: they are one of G clusters
g, of n_g runs. Σ s_g² / N² is the cluster-robust square of the error (Liang and
Zeger 1986; Miller 2024 for evaluations). With few tasks, one of them of many
runs, that alone is too small, and so is the usual factor G/(G−1) with t of G−1
degrees; 1/(1−h_g) and d make it right (Bell and McCaffrey 2002). Where all tasks
have equally many runs the two are the same, and of one run a task Student's.
Wilson's interval takes runs as independent. The smallest gap is one that is told
from 0 in 80 % of repetitions, at 5 % and two-sided (Bloom 1995).

No float is used, so the digits are the same on every machine.

Not here: which runs are averaged (`summary`, `compare`).

Source: Liang and Zeger 1986, Biometrika 73(1); Miller 2024, "Adding Error Bars to
Evals", arXiv 2411.00640; Bell and McCaffrey 2002, "Bias Reduction in Standard
Errors for Linear Regression with Multi-Stage Samples", Survey Methodology 28(2),
of which the above is the case of a mean; Wilson 1927, J. Am. Stat. Assoc. 22;
Bloom 1995, "Minimum Detectable Effects", Evaluation Review 19(5); Chen et al.
2021, "Evaluating Large Language Models Trained on Code", arXiv 2107.03374; Yao et
al. 2024, "τ-bench", arXiv 2406.12045; quantiles: NIST/SEMATECH e-Handbook of
Statistical Methods 1.3.6.7.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import comb, isqrt
from typing import Final, NamedTuple

Z = Fraction("1.959963984540054")
"""The 97.5 % quantile of the normal distribution."""

Quantiles = dict[int, str]
"""Quantiles of Student's t, by degrees of freedom."""

T: Final[Quantiles] = {
    1: "12.706", 2: "4.303", 3: "3.182", 4: "2.776", 5: "2.571", 6: "2.447", 7: "2.365", 8: "2.306",
    9: "2.262", 10: "2.228", 11: "2.201", 12: "2.179", 13: "2.160", 14: "2.145", 15: "2.131", 16: "2.120",
    17: "2.110", 18: "2.101", 19: "2.093", 20: "2.086", 21: "2.080", 22: "2.074", 23: "2.069", 24: "2.064",
    25: "2.060", 26: "2.056", 27: "2.052", 28: "2.048", 29: "2.045", 30: "2.042", 40: "2.021", 50: "2.009",
    60: "2.000", 80: "1.990", 100: "1.984",
}  # fmt: skip
"""Those of 97.5 %."""

T80: Final[Quantiles] = {
    1: "1.376", 2: "1.061", 3: "0.978", 4: "0.941", 5: "0.920", 6: "0.906", 7: "0.896", 8: "0.889",
    9: "0.883", 10: "0.879", 11: "0.876", 12: "0.873", 13: "0.870", 14: "0.868", 15: "0.866", 16: "0.865",
    17: "0.863", 18: "0.862", 19: "0.861", 20: "0.860", 21: "0.859", 22: "0.858", 23: "0.858", 24: "0.857",
    25: "0.856", 26: "0.856", 27: "0.855", 28: "0.855", 29: "0.854", 30: "0.854", 40: "0.851", 50: "0.849",
    60: "0.848", 80: "0.846", 100: "0.845",
}  # fmt: skip
"""Those of 80 %."""

_EACH = 30  # up to here the tables have each row
_ROOT_DIGITS = 30


class Interval(NamedTuple):
    """From where to where, both ends included."""

    low: Fraction
    high: Fraction


class Estimate(NamedTuple):
    """A mean, the square of its standard error, and that error's degrees of freedom (from 1 to G−1)."""

    mean: Fraction
    square: Fraction
    degrees: Fraction


def mean(values: Sequence[Fraction]) -> Fraction:
    """The mean of one value or more."""
    return sum(values, Fraction(0)) / len(values)


def estimate(values: Sequence[Fraction], clusters: Sequence[Hashable]) -> Estimate | None:
    """The mean and its error, values of one cluster hanging together; None for fewer than two clusters."""
    middle = mean(values)
    sums: dict[Hashable, Fraction] = {}
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, Fraction(0)) + value - middle
    if len(sums) < 2:
        return None
    whole = len(values)
    shares = {cluster: Fraction(size, whole) for cluster, size in Counter(clusters).items()}
    square = sum((each * each / (1 - shares[cluster]) for cluster, each in sums.items()), Fraction(0))
    tilts = [share * share / (1 - share) for share in shares.values()]
    across = sum(tilts, Fraction(0)) ** 2 - sum((tilt * tilt for tilt in tilts), Fraction(0))
    inverse = sum((share * share for share in shares.values()), across)
    return Estimate(middle, square / whole**2, 1 / inverse)


def interval(values: Sequence[Fraction], clusters: Sequence[Hashable]) -> Interval | None:
    """The interval of the mean, as `estimate`."""
    found = estimate(values, clusters)
    if found is None:
        return None
    reach = quantile(found.degrees) * root(found.square)
    return Interval(found.mean - reach, found.mean + reach)


def smallest_gap(values: Sequence[Fraction], clusters: Sequence[Hashable]) -> Fraction | None:
    """The smallest mean that could have been told from 0; None where there is no error to measure it by.

    Where no task differs from another no error shows, which does not say that there is none.
    """
    found = estimate(values, clusters)
    if found is None or found.square == 0:
        return None
    return (quantile(found.degrees) + quantile(found.degrees, T80)) * root(found.square)


def pass_at(passes: int, trials: int, k: int) -> Fraction:
    """The share of the choices of `k` trials in which one passed, or more."""
    return 1 - Fraction(comb(trials - passes, k), comb(trials, k))


def pass_all(passes: int, trials: int, k: int) -> Fraction:
    """The share of the choices of `k` trials in which all passed."""
    return Fraction(comb(passes, k), comb(trials, k))


def within(found: Interval | None, low: int, high: int) -> Interval | None:
    """The part of an interval of a mean of values that lie from `low` to `high`."""
    if found is None:
        return None
    return Interval(max(found.low, Fraction(low)), min(found.high, Fraction(high)))


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


def quantile(degrees: Fraction | int, table: Quantiles = T) -> Fraction:
    """A quantile of Student's t, but for the rows' rounding never too small: of 97.5 % by default.

    Between two rows it is, beyond 30 degrees, the row below; before, what lies on
    the chord over 1/degrees, in which the quantile is convex.
    """
    below = max(row for row in table if row <= degrees)
    low = Fraction(table[below])
    if degrees == below or below >= _EACH:
        return low
    above = below + 1
    part = (1 / Fraction(degrees) - Fraction(1, above)) / (Fraction(1, below) - Fraction(1, above))
    return Fraction(table[above]) + part * (low - Fraction(table[above]))


def root(value: Fraction) -> Fraction:
    """The square root of a value that isn't negative, cut off after thirty digits."""
    scale = 10**_ROOT_DIGITS
    return Fraction(isqrt(value.numerator * scale * scale // value.denominator), scale)


def decimal(value: Fraction, places: int) -> str:
    """A decimal text of so many places, more than none, rounded half to even."""
    digits = round(value * 10**places)
    text = str(abs(digits)).rjust(places + 1, "0")
    return f"{'-' if digits < 0 else ''}{text[:-places]}.{text[-places:]}"


def ends(found: Interval | None, places: int) -> tuple[str, str] | tuple[None, None]:
    """Both ends of an interval as `decimal` text."""
    return (None, None) if found is None else (decimal(found.low, places), decimal(found.high, places))

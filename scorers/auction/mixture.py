"""Three-part mixtures of bids about a benchmark b, in minor units, and their parametric bootstrap.

    at it    b + U{−5, …, 5}                     with weight w_at
    above    b + 5.5 + b·μ·E,  rounded up        w_above
    below    b − 5.5 − b·μ·E,  rounded down      w_below       never below 0
    E        exponential with mean 1

The half unit keeps who bids above or below out of the five units about the benchmark:
plain ratio draws leak into them. Where the benchmark is below six nothing can be below.

    error = Σ |bid − b| / Σ b,  on average  w_at·d/b̄ + Σ w·(μ + D/b̄)       of a fit to n bids

E comes from a table of `BINS` equal shares of the distribution, each by its mean, so that
a draw is a place in it and the mean is 1; logarithms by `Decimal` to `DIGITS` digits. The
bootstrap draws n bids' parts and E's, fits weights and μ to them again, and gives what
these fits say. Several draws are digits of one, as in `bootstrap`.

Not here: whose bids these are meant to be (`human`), formats compared (`ordering`).

Source: Shah et al. 2026, arXiv 2507.09083 (the mixture, 2,000 draws); the auctions page of the design, B4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from ...protocol.draws import Draws
from ..bootstrap import NANOS, REPLICATES, digits
from .deviations import TOLERANCE

Part = Literal["at", "above", "below"]
PARTS: Final[tuple[Part, ...]] = ("at", "above", "below")

BINS: Final = 4_096
DIGITS: Final = 40

_GAP = Fraction(2 * TOLERANCE + 1, 2)
_AT = Fraction(TOLERANCE * (TOLERANCE + 1), 2 * TOLERANCE + 1)  # the mean of |U{−5, …, 5}|
_ROUNDED = _GAP + Fraction(1, 2)  # rounding outwards adds half a unit on average
_CONTEXT = Context(prec=DIGITS)


class Mixture(NamedTuple):
    """Whole weights of bids at, above and below the benchmark, and the mean excess of the last two."""

    at: int
    above: int
    below: int
    excess_above: Fraction
    excess_below: Fraction

    @property
    def whole(self) -> int:
        """What the weights are parts of."""
        return self.at + self.above + self.below

    def share(self, part: Part) -> Fraction:
        """A weight, of 1."""
        return Fraction(getattr(self, part), self.whole)

    def error(self, mean_benchmark: Fraction | int) -> Fraction:
        """What Σ |bid − b| / Σ b is on average."""
        of_above, of_below = (
            share * (excess + _ROUNDED / mean_benchmark)
            for share, excess in (
                (self.share("above"), self.excess_above),
                (self.share("below"), self.excess_below),
            )
        )
        return self.share("at") * _AT / mean_benchmark + of_above + of_below


class Fit(NamedTuple):
    """What one bootstrap draw of so many bids is fitted by."""

    counts: dict[Part, int]
    mixture: Mixture


def bids(mixture: Mixture, benchmarks: Sequence[Fraction | int], draws: Draws) -> list[int]:
    """A bid for each benchmark, in whole minor units."""
    count = len(benchmarks)
    parts = _parts(mixture, count, draws)
    return [
        _bid(mixture, part, Fraction(benchmark), draws)
        for part, benchmark in zip(parts, benchmarks, strict=True)
    ]


def _bid(mixture: Mixture, part: Part, benchmark: Fraction, draws: Draws) -> int:
    if part == "at":
        return max(round(benchmark) + draws.integer(-TOLERANCE, TOLERANCE), 0)
    excess = mixture.excess_above if part == "above" else mixture.excess_below
    off = _GAP + benchmark * excess * Fraction(exponentials()[draws.integer(0, BINS - 1)], NANOS)
    return -((-benchmark - off) // 1) if part == "above" else max((benchmark - off) // 1, 0)


def _parts(mixture: Mixture, count: int, draws: Draws) -> Iterator[Part]:
    upper = mixture.at + mixture.above
    for drawn in digits(draws, mixture.whole, count):
        yield "at" if drawn < mixture.at else "above" if drawn < upper else "below"


@cache
def exponentials() -> Sequence[int]:
    """The mean of each of `BINS` equal shares of an exponential distribution, in billionths.

    From u to u + h the mean of −ln is 1 − ((u + h)·ln(u + h) − u·ln u) / h.
    """
    width = Decimal(1) / BINS
    edges = [Decimal(0), *(_CONTEXT.multiply(u, _CONTEXT.ln(u)) for u in (width * k for k in range(1, BINS)))]
    edges.append(Decimal(0))
    means = (1 - _CONTEXT.divide(after - before, width) for before, after in pairwise(edges))
    return [int((mean * NANOS).to_integral_value()) for mean in means]


def fits(mixture: Mixture, count: int, draws: Draws, replicates: int = REPLICATES) -> Iterator[Fit]:
    """What each of so many bootstrap draws of ``count`` bids is fitted by."""
    for _ in range(replicates):
        drawn = list(_parts(mixture, count, draws))
        counts: dict[Part, int] = {part: drawn.count(part) for part in PARTS}
        above = mixture.excess_above * _mean(counts["above"], draws)
        below = mixture.excess_below * _mean(counts["below"], draws)
        yield Fit(counts, Mixture(counts["at"], counts["above"], counts["below"], above, below))


def _mean(count: int, draws: Draws) -> Fraction:
    """The mean of so many exponentials; 0 of none, which then weigh nothing."""
    table = exponentials()
    drawn = sum(map(table.__getitem__, digits(draws, BINS, count)))
    return Fraction(drawn, count * NANOS) if count else Fraction(0)


def fitted(pairs: Sequence[tuple[Fraction | int, Fraction | int]]) -> Mixture | None:
    """The mixture that benchmarks and bids on them come to; None without a benchmark above nothing."""
    known = [(Fraction(benchmark), Fraction(bid)) for benchmark, bid in pairs if benchmark > 0]
    if not known:
        return None
    off = [(bid - benchmark, benchmark) for benchmark, bid in known]
    above = [(gap, benchmark) for gap, benchmark in off if gap > TOLERANCE]
    below = [(-gap, benchmark) for gap, benchmark in off if gap < -TOLERANCE]
    at = len(off) - len(above) - len(below)
    return Mixture(at, len(above), len(below), _excess(above), _excess(below))


def _excess(gaps: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """Σ (gap − what keeps it out of the band) / Σ benchmark."""
    if not gaps:
        return Fraction(0)
    excess = sum((max(gap - _ROUNDED, Fraction(0)) for gap, _ in gaps), Fraction(0))
    return excess / sum(benchmark for _, benchmark in gaps)

"""Bids against the benchmark: how far off, to which side, how often, and whether it gets less.

    bid_ratio          Σ bid / benchmark / bids                   1 at the benchmark, which is `LEAST` or more
    deviation          Σ (bid − benchmark) / bids                 above 0: bids too much
    error              Σ |bid − benchmark| / bids                 its size
    error_scaled       Σ |bid − benchmark| / Σ benchmark          comparable between formats
    within above below of bids (and of choices at a posted price), to `TOLERANCE`
    no_bid             rounds in which a bidder made none
    learning           Σ (t − t̄)·|deviation| / Σ (t − t̄)²          a bidder's own line; below 0: it learns

All exact, but that each ratio is rounded to a billionth.

Sums of one bidder; a session's are those of its bidders together, its learning the
slope that they have in common. A bid where theory says to stay out is above it.

Not here: what a bid is in each format (`bids`).

Source: Kagel and Levin 1993 (shares within five cents); Shah et al. 2026, arXiv 2507.09083 (scaled mean
absolute deviation); the auctions page of the design, A and B4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from ..bootstrap import NANOS
from ..measures import Key, Measure, Sum, Sums, counted
from .bids import Bid

TOLERANCE: Final = 5
"""In minor units, how far from the benchmark a bid still counts as at it."""

LEAST: Final = 50
"""In minor units, the least benchmark of which a ratio is taken: below, a cent more or less is all of it."""

_PAPER: Final = "Shah et al. 2026"
_SINCERE: Final = "Kagel and Levin 1993"

MEASURES: Final = {
    "bid_ratio": Measure("ratio", 0, None, "bid over benchmark, of benchmarks from 50 minor units", _PAPER),
    "deviation": Measure("minor", None, None, "bid − benchmark", _PAPER),
    "error": Measure("minor", 0, None, "|bid − benchmark|", _PAPER),
    "error_scaled": Measure("ratio", 0, None, "Σ |bid − benchmark| over Σ benchmark", _PAPER),
    "within": Measure("share", 0, 1, "bids at most five minor units from the benchmark", _SINCERE),
    "above": Measure("share", 0, 1, "bids further above it, or where it says to stay out", _SINCERE),
    "below": Measure("share", 0, 1, "bids further below it", _SINCERE),
    "no_bid": Measure("share", 0, 1, "rounds without a bid, of a bidder's rounds", "-"),
    "learning": Measure(
        "minor per round", None, None, "slope of |bid − benchmark| over rounds, within bidders", "-"
    ),
}


def deviations(bids: Sequence[Bid]) -> Sums:
    """What the bids of one bidder come to."""
    if not bids:
        return {}
    made = [bid for bid in bids if not bid.is_nothing]
    sums = {
        "no_bid": counted(len(bids) - len(made), len(bids)),
        **_amounts([bid for bid in made if bid.is_known and bid.benchmark is not None]),
        **_shares([bid for bid in made if bid.has_benchmark and (bid.is_known or bid.is_choice)]),
    }
    return {Key(name): each for name, each in sums.items()}


def _amounts(bids: Sequence[Bid]) -> dict[str, Sum]:
    """Of bids that are known, with their benchmarks."""
    pairs = [(bid.nearest, bid.benchmark) for bid in bids if bid.benchmark is not None]
    ratios = [_nano(amount / benchmark) for amount, benchmark in pairs if benchmark >= LEAST]
    off = [amount - benchmark for amount, benchmark in pairs]
    size = _total(map(abs, off))
    return {
        "bid_ratio": counted(_total(ratios), len(ratios)),
        "deviation": counted(_total(off), len(off)),
        "error": counted(size, len(off)),
        "error_scaled": counted(size, _total(benchmark for _amount, benchmark in pairs)),
        "learning": slope([(bid.round, abs(each)) for bid, each in zip(bids, off, strict=True)]),
    }


def _shares(bids: Sequence[Bid]) -> dict[str, Sum]:
    off = [None if bid.benchmark is None else bid.deviation for bid in bids]
    above = sum(each is None or each > TOLERANCE for each in off)
    below = sum(each is not None and each < -TOLERANCE for each in off)
    return {
        "within": counted(len(off) - above - below, len(off)),
        "above": counted(above, len(off)),
        "below": counted(below, len(off)),
    }


def slope(points: Sequence[tuple[int, Fraction]]) -> Sum:
    """The least-squares slope over rounds, as Σ (t − t̄)·y over Σ (t − t̄)²."""
    if not points:
        return counted(0, 0)
    middle = Fraction(sum(at for at, _ in points), len(points))
    return Sum(
        _total((at - middle) * value for at, value in points), _total((at - middle) ** 2 for at, _ in points)
    )


def _nano(ratio: Fraction) -> Fraction:
    """A ratio to a billionth: the denominator of an exact sum would be the product of all of theirs."""
    return Fraction(round(ratio * NANOS), NANOS)


def _total(values: Iterable[Fraction]) -> Fraction:
    return sum(values, Fraction(0))

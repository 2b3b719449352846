"""Human reference bidders: mixtures fitted to published shares, and what may be said of them.

    second price   Kagel and Levin 1993     27.0 at value, 67.2 above, 5.7 below
                   eBay bidders             21.2          37.5        41.3

Published are the shares alone, rounded to a tenth of a percent and here made to add up.
How far above and below (μ) is assumed; so are no other formats' references there.

What is drawn stands for those experiments and their subjects, so orderings, directions and
differences between formats may be read from it, and levels may not: a report refuses.

Not here: the mixture (`mixture`), orderings (`ordering`), telling agents from humans (`classifier`).

Source: Kagel and Levin 1993 and their survey of 2014; "Measuring AI agents in simulated auctions", human
reference agents; Shah et al. 2026, arXiv 2507.09083; the auctions page of the design, B4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from ...protocol.draws import Draws
from ...protocol.errors import ScoreError
from .. import stats
from ..stats import Interval
from . import mixture
from .mixture import PARTS, Fit, Mixture, Part

Basis = Literal["reported", "assumed"]

ASSUMED_EXCESS: Final = Fraction(12, 100)

_LEVEL: Final = (
    "levels of human reference bids are not compared: they are drawn from published shares, and how far "
    "above or below they lie is assumed"
)
_LEVEL_HINT: Final = "compare orderings of formats, directions, or differences between formats"


class Reference(NamedTuple):
    """Bids of people in one format, as far as they were published.

    ``rests_on`` says of each parameter whether it was reported.
    """

    format: str
    source: str
    mixture: Mixture
    rests_on: Mapping[str, Basis]


class Shown(NamedTuple):
    """A share of bids, and the 95 % interval that it has in samples of so many."""

    share: Fraction
    interval: Interval


class Direction(NamedTuple):
    """To which side most of the bids off the benchmark lie; in which share of draws, for a reference."""

    side: Literal["above", "below", "even"]
    share: Fraction


_RESTS_ON: Final[Mapping[str, Basis]] = {
    "shares": "reported",
    "excess_above": "assumed",
    "excess_below": "assumed",
}

REFERENCES: Final[Mapping[str, Reference]] = {
    "kagel_levin_1993": Reference(
        "second_price",
        "Kagel and Levin 1993, second-price sealed bids",
        Mixture(270, 672, 57, ASSUMED_EXCESS, ASSUMED_EXCESS),
        _RESTS_ON,
    ),
    "ebay": Reference(
        "second_price",
        "a later study of experienced eBay bidders, second-price sealed bids",
        Mixture(212, 375, 413, ASSUMED_EXCESS, ASSUMED_EXCESS),
        _RESTS_ON,
    ),
}


def references_of(format_name: str) -> Mapping[str, Reference]:
    """The references of a format, by name.

    Raises:
        ScoreError: `human.unpublished`.
    """
    found = {name: each for name, each in REFERENCES.items() if each.format == format_name}
    if not found:
        formats = ", ".join(f"`{name}`" for name in sorted({each.format for each in REFERENCES.values()}))
        problem = f"no shares of human bids in `{format_name}` are at hand"
        raise ScoreError("human.unpublished", problem, f"there are some of {formats}")
    return found


def bids(reference: Reference, benchmarks: Sequence[Fraction | int], seed: str) -> list[int]:
    """A human reference bid for each benchmark, in whole minor units; the same seed gives the same bids."""
    return mixture.bids(reference.mixture, benchmarks, Draws(seed, f"human/{reference.source}"))


def bootstrap(reference: Reference, count: int) -> list[Fit]:
    """2,000 draws of so many bids, each fitted again."""
    return list(mixture.fits(reference.mixture, count, Draws(f"human/1/{reference.source}", f"{count}")))


def shares(reference: Reference, count: int) -> Mapping[Part, Shown]:
    """The shares with the intervals that samples of so many bids have."""
    found = bootstrap(reference, count)
    return {part: Shown(reference.mixture.share(part), _middle(found, part, count)) for part in PARTS}


def _middle(found: Sequence[Fit], part: Part, count: int) -> Interval:
    """The middle 95 % of a share."""
    counts = sorted(fit.counts[part] for fit in found)
    cut = len(counts) // 40
    return Interval(Fraction(counts[cut - 1], count), Fraction(counts[-cut], count))


def direction(reference: Reference, count: int) -> Direction:
    """The side of most bids off the benchmark, and how surely samples of so many show it."""
    side = side_of(reference.mixture)
    held = sum(side_of(fit.mixture) == side for fit in bootstrap(reference, count))
    return Direction(side, Fraction(held, mixture.REPLICATES))


def side_of(of: Mixture) -> Literal["above", "below", "even"]:
    """The side on which more bids lie."""
    return "above" if of.above > of.below else "below" if of.below > of.above else "even"


def lines(
    reference: Reference,
    agents: Mapping[str, Mixture],
    count: int,
    compared: Literal["direction", "level"] = "direction",
) -> list[str]:
    """What a report says of agents beside a reference: on which side they err, and on which people do.

    ``count`` is of how many bids the agents are known.

    Raises:
        ScoreError: `human.level`: how far they err is asked for.
    """
    if compared == "level":
        raise ScoreError("human.level", _LEVEL, _LEVEL_HINT)
    assumed = [name for name, basis in reference.rests_on.items() if basis == "assumed"]
    told = direction(reference, count)
    share = stats.decimal(100 * told.share, 1)
    found = [
        f"people ({reference.source}): off the benchmark mostly {told.side}, in {share} % of draws",
        f"assumed, not reported: {', '.join(assumed)}",
    ]
    for name, own in agents.items():
        side = side_of(own)
        found.append(f"{name}: mostly {side}, {'as' if side == told.side else 'unlike'} people")
    return found

"""Formats ordered by how far bids lie from the benchmark, and how surely.

    errors    Σ |bid − b| / Σ b of each format                       the scaled deviation
    draws     of each format its own, independent of the others'      errors of the k-th draw of all
    share     of draws in which a pair, or the whole ordering, is as it is in the data

Of human references the draws are those of the parametric bootstrap; of agents the
sessions drawn anew. Levels are in neither: an ordering has names and shares.

Not here: where the draws come from (`mixture`, `bootstrap`).

Source: Shah et al. 2026, arXiv 2507.09083 (orderings with their share of bootstrap draws).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import NamedTuple

from ...protocol.draws import Draws
from .. import bootstrap
from ..measures import Key, Sums, added
from . import mixture
from .mixture import Mixture


class Errors(NamedTuple):
    """A format's scaled deviation, and that of each draw, in billionths; None where a draw says nothing."""

    value: Fraction
    draws: Sequence[int | None]


class Pair(NamedTuple):
    """Two formats of which the first has the smaller error, and in which share of draws it has."""

    first: str
    second: str
    share: Fraction


class Ordering(NamedTuple):
    """Formats from the smallest error up, the share of draws with just this order, and each pair."""

    names: Sequence[str]
    share: Fraction
    pairs: Sequence[Pair]


def of_mixture(of: Mixture, mean_benchmark: Fraction | int, count: int, label: str) -> Errors:
    """The errors of bids of a mixture, in bootstrap draws of ``count``; two labels draw for themselves."""
    fits = mixture.fits(of, count, Draws("ordering/1", label))
    draws = [round(fit.mixture.error(mean_benchmark) * bootstrap.NANOS) for fit in fits]
    return Errors(of.error(mean_benchmark), draws)


def of_sessions(sessions: Sequence[Sums], label: str) -> Errors | None:
    """The errors of played sessions, drawn anew; None where there is no error to speak of."""
    key = Key("error_scaled")
    pooled = added(sessions).get(key)
    if pooled is None or pooled.value is None:
        return None
    return Errors(pooled.value, bootstrap.replicates(sessions, label)[key])


def ordering(errors: Mapping[str, Errors]) -> Ordering:
    """The formats by error; of equal ones the first by name."""
    names = sorted(errors, key=lambda name: (errors[name].value, name))
    columns = zip(*(errors[name].draws for name in names), strict=True)
    draws = [[value for value in draw if value is not None] for draw in columns]
    whole = [draw for draw in draws if len(draw) == len(names)]
    held = sum(all(a < b for a, b in pairwise(draw)) for draw in whole)
    pairs: list[Pair] = []
    for (place, first), (other, second) in combinations(enumerate(names), 2):
        smaller = sum(draw[place] < draw[other] for draw in whole)
        pairs.append(Pair(first, second, _share(smaller, len(whole))))
    return Ordering(names, _share(held, len(whole)), pairs)


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)

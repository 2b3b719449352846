"""Whether bids alone tell two kinds of bidders apart: logistic regression, cross-validated.

    (benchmark, bid) ─► bid/b, (bid/b)², log(1 + |bid − b|), |bid − b| ≤ 5   ─► agent or human
    accuracy = Σ right / all, over `FOLDS` folds of which each is judged by what the others taught

About one half: nobody could tell. Folds hold as many of either kind as can be and
are drawn from a fixed seed, the solver starts from nothing, so the same bids give
the same accuracy. Floats are used, here alone: they decide nothing that is recorded.

Not here: the bids. Needs the extra `classify`.

Source: "Measuring AI agents in simulated auctions", human reference agents; Hastie, Tibshirani and Friedman
2009, The Elements of Statistical Learning, 4.4 and 7.10.
"""

# scikit-learn comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from importlib.util import find_spec
from math import log1p
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...protocol.draws import Draws
from ...protocol.errors import UsageError
from ..stats import Interval, wilson
from .deviations import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDS: Final = 10
HINT: Final = "install `tollbook[classify]`: `pip install 'tollbook[classify]'`"

_SEED: Final = "classifier/1"
_FEWEST: Final = 2 * FOLDS

Pairs = Sequence[tuple[Fraction | int, Fraction | int]]
"""A benchmark above nothing (a value, where it is that), and the bid on it."""


class Told(NamedTuple):
    """How often a bid was told to be of the kind that it is.

    ``interval`` takes bids to be independent, as they aren't within a session: it is too narrow then.
    """

    right: int
    whole: int
    interval: Interval

    @property
    def accuracy(self) -> Fraction:
        """The share of bids."""
        return Fraction(self.right, self.whole)


def tell_apart(first: Pairs, second: Pairs) -> Told:
    """How well bids of two kinds are told apart, by as many of each: the longer list is cut off.

    Raises:
        UsageError: `classify.missing`, without the extra; `classify.few`.
    """
    fit = _regression()
    known = [[pair for pair in pairs if pair[0] > 0] for pairs in (first, second)]
    count = min(map(len, known))
    if count < _FEWEST:
        problem = f"{count} bids of a kind are too few to learn from and to judge by"
        raise UsageError("classify.few", problem, f"it takes {_FEWEST} of each at least")
    rows = [features(*pair) for pairs in known for pair in pairs[:count]]
    kinds = [kind for kind in (0, 1) for _ in range(count)]
    right = 0
    for held in _folds(count):
        taught = [place for place in range(2 * count) if place not in held]
        says = fit([rows[place] for place in taught], [kinds[place] for place in taught])
        places = sorted(held)
        told = says([rows[place] for place in places])
        right += sum(kinds[place] == kind for place, kind in zip(places, told, strict=True))
    interval = wilson(right, 2 * count)
    assert interval is not None, "there are bids"
    return Told(right, 2 * count, interval)


def features(benchmark: Fraction | int, bid: Fraction | int) -> list[float]:
    """What is looked at of a bid."""
    ratio, off = float(bid / Fraction(benchmark)), float(abs(bid - benchmark))
    return [ratio, ratio * ratio, log1p(off), float(off <= TOLERANCE)]


def _folds(count: int) -> list[set[int]]:
    """Places of bids, as many of either kind in each fold as can be."""
    folds: list[set[int]] = [set() for _ in range(FOLDS)]
    for kind in (0, 1):
        order = Draws(_SEED, f"{kind}/{count}").shuffle(range(count))
        for turn, place in enumerate(order):
            folds[turn % FOLDS].add(kind * count + place)
    return folds


def _regression() -> Callable[[list[list[float]], list[int]], Callable[[list[list[float]]], Sequence[int]]]:
    """Fits, and gives what tells the kind of rows by it."""
    if find_spec("sklearn") is None:
        problem = "telling bids apart needs scikit-learn, which isn't installed"
        raise UsageError("classify.missing", problem, HINT)
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - an extra
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415 - as above
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 - as above

    def fit(rows: list[list[float]], kinds: list[int]) -> Callable[[list[list[float]]], Sequence[int]]:
        model: Any = make_pipeline(StandardScaler(), LogisticRegression(solver="lbfgs", max_iter=1_000))
        model.fit(rows, kinds)
        return lambda rows: [int(kind) for kind in model.predict(rows)]  # numpy's integers overflow

    return fit

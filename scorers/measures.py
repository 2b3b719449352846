"""Measures: what a market's runs are described by beside their score, and which market has any.

    episode ─► Measured(session: {key: Sum}, parties: {party: {key: Sum}})

    Sum        total / weight, both exact: a session's own ratio, and what it adds to a pooled one
    pooled     Σ total / Σ weight over sessions, never a mean of means

A market's measures are one function, found here by the world's name and brought
in when it is first wanted, so that a market without any pays nothing.

Not here: any measure (`auction.measures`), intervals (`bootstrap`), tables (`figures`).

Source: the auctions page of the design, A, "Measures"; ratio estimates: Cochran 1977, Sampling Techniques, 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Final, Literal, NamedTuple

from .view import Episode

Unit = Literal[
    "minor", "share", "ratio", "percent", "count", "minor per round", "percent per round", "points"
]
"""What a figure is counted in; `minor` units are those of the session's money."""

PLACES: Final[Mapping[Unit, int]] = {
    "minor": 2,
    "share": 3,
    "ratio": 3,
    "percent": 1,
    "count": 2,
    "minor per round": 3,
    "percent per round": 3,
    "points": 1,
}
"""Decimal places of a figure in a table."""


class Key(NamedTuple):
    """A measure by its name, of one round, or of all of a session (0)."""

    name: str
    round: int = 0

    @property
    def text(self) -> str:
        """The key in a table and in a document: `alpha`, `alpha.3`."""
        return f"{self.name}.{self.round}" if self.round else self.name


class Sum(NamedTuple):
    """What is averaged, and what it is averaged over; a weight of 0 says nothing."""

    total: Fraction
    weight: Fraction

    @property
    def value(self) -> Fraction | None:
        """The average; None of nothing."""
        return self.total / self.weight if self.weight else None


Sums = Mapping[Key, Sum]


class Measure(NamedTuple):
    """What a measure is: its unit, the least and the most it can be (None for no end), who defined it."""

    unit: Unit
    low: int | None
    high: int | None
    meaning: str
    source: str


class Measured(NamedTuple):
    """The measures of a run: of the session as a whole, and of each party's own part in it."""

    session: Sums
    parties: Mapping[str, Sums]


class RunMeasures(NamedTuple):
    """What a report keeps of a run's measures: its world, the session's, and the evaluated party's own."""

    world: str
    session: Sums
    party: Sums


class Market(NamedTuple):
    """A market's measures by name, and how a run of it is measured."""

    measures: Mapping[str, Measure]
    measure: Callable[[Episode], Measured]


_MARKETS: Final[Mapping[str, str]] = {"auction": ".auction.measures"}
"""The module of each world that has measures: its `MARKET`."""


@cache
def market_of(world: str) -> Market | None:
    """A world's measures; None where it has none."""
    module = _MARKETS.get(world)
    return None if module is None else import_module(module, __package__).MARKET


def measured(episode: Episode, party: str) -> RunMeasures | None:
    """The measures of a verified run in which a party is evaluated; None in a market without any."""
    market = market_of(episode.world.name)
    if market is None:
        return None
    found = market.measure(episode)
    return RunMeasures(episode.world.name, found.session, found.parties.get(party, {}))


def counted(total: Fraction | int, weight: Fraction | int) -> Sum:
    """A sum of what may be whole numbers."""
    return Sum(Fraction(total), Fraction(weight))


def added(several: Iterable[Sums]) -> dict[Key, Sum]:
    """The sums of several parties or sessions, pooled."""
    totals: dict[Key, Sum] = {}
    for sums in several:
        for key, each in sums.items():
            total, weight = totals.get(key, (0, 0))
            totals[key] = Sum(total + each.total, weight + each.weight)
    return totals

"""Human reference bids, drawn and told from agents': what of the study needs no run.

    shares       of 100,000 bids at, above and below the value       as published, to a point
    classifier   rightly told: benchmark bids from people's          > 0.9
                               people's from the same people's       0.45 to 0.55

Not here: the references (`scorers.auction.human`), or any level of theirs: they are for directions alone.

Source: the auctions page of the design, B4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from ...protocol.draws import Draws
from ...scorers import stats
from ...scorers.auction import classifier, human
from ...scorers.auction.deviations import TOLERANCE
from ...scorers.bootstrap import digits
from ..studies.report import Claim, Report, table_of

if TYPE_CHECKING:
    from ...scorers.auction.human import Reference

DRAWS: Final = 100_000
JUDGED: Final = 2_000
"""Bids of each kind that are to be told apart."""

_LOW, _HIGH = 50, 2_830  # of values, in minor units
_POINT: Final = Fraction(1, 100)
_SEED: Final = "study.auctions.people"
_NOT_DONE: Final = "Bids were not told apart: that needs the extra `classify`."


def report_of_people(count: int = DRAWS) -> Report:
    """The references at so many draws, and how well their bids are told from others."""
    rows = [(name, each, _shares(each, count)) for name, each in human.REFERENCES.items()]
    claims = [_fits(name, each, found) for name, each, found in rows]
    can_tell = find_spec("sklearn") is not None
    if can_tell:
        claims += [claim for name, each, _found in rows for claim in _told_apart(name, each)]
    return Report(
        study="people",
        title="Human reference bids in second-price auctions",
        claims=claims,
        runs=(),
        figures={name: [stats.decimal(share, 6) for share in found] for name, _each, found in rows},
        tables=[
            table_of(
                ("reference", "at value", "above", "below", "drawn: at value", "above", "below"),
                [(name, *_percent(_published(each)), *_percent(found)) for name, each, found in rows],
            )
        ],
        notes=(
            f"Percent of {count:,} bids, at value to five cents. How far off the others lie is assumed.",
            *(() if can_tell else (_NOT_DONE,)),
        ),
    )


def _published(reference: Reference) -> list[Fraction]:
    return [reference.mixture.share(part) for part in ("at", "above", "below")]


def _values(count: int, label: str) -> list[int]:
    return [_LOW + value for value in digits(Draws(_SEED, label), _HIGH - _LOW + 1, count)]


def _shares(reference: Reference, count: int) -> list[Fraction]:
    """Of drawn bids, how many are at, above and below their values."""
    values = _values(count, "values")
    off = [bid - value for value, bid in zip(values, human.bids(reference, values, _SEED), strict=True)]
    above, below = sum(each > TOLERANCE for each in off), sum(each < -TOLERANCE for each in off)
    return [Fraction(each, count) for each in (count - above - below, above, below)]


def _fits(name: str, reference: Reference, found: Sequence[Fraction]) -> Claim:
    furthest = max(abs(one - other) for one, other in zip(_published(reference), found, strict=True))
    told = f"at most {stats.decimal(100 * furthest, 2)} points off"
    return Claim(f"{name}: drawn shares are the published ones, to a point", furthest <= _POINT, told)


def _told_apart(name: str, reference: Reference) -> Iterator[Claim]:
    values, others = _values(JUDGED, "judged"), _values(JUDGED, "others")
    people = list(zip(values, human.bids(reference, values, f"{_SEED}/judged"), strict=True))
    more = list(zip(others, human.bids(reference, others, f"{_SEED}/others"), strict=True))
    share = classifier.tell_apart([(value, value) for value in others], people).accuracy
    what = f"{name}: bids are told from the benchmark's, more than 0.9 rightly"
    yield Claim(what, share > Fraction(9, 10), stats.decimal(share, 3))
    share = classifier.tell_apart(people, more).accuracy
    holds = Fraction(45, 100) <= share <= Fraction(55, 100)
    what = f"{name}: bids are not told from the same people's, 0.45 to 0.55"
    yield Claim(what, holds, stats.decimal(share, 3))


def _percent(shares: Sequence[Fraction]) -> list[str]:
    return [stats.decimal(100 * share, 1) for share in shares]

"""The study's pictures, by file name: what bidders did beside what theory says.

    bids        bid over value or signal, the benchmark as a broken line          first sessions
    prices      price of each trade in turn, the equilibrium as a broken line     first sessions
    alpha       Smith's alpha by round                                            all sessions
    orderings   which format's bids are nearer to the benchmark, in which share of bootstrap draws

Not here: how charts are drawn (`scorers.analysis`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from ...scorers.analysis.sheet import Chart, Dots, Heat, Look, Plane, Point
from ...scorers.bootstrap import interval
from .claims import by_round
from .report import errors_of, ordering_of

if TYPE_CHECKING:
    from .tally import Sample, Tally

Row = tuple[str, Look, Sequence[Point]]

_MOST: Final = 150  # points of a row
_CENTS: Final = 100
_BIDDING: Final = (
    ("first_price", "First price, 5 bidders", ("first_price.5", "bidding.crra.first_price")),
    ("second_price", "Second price, 5 bidders", ("second_price.5", "bidding.random.second_price")),
    ("all_pay", "All-pay, 5 bidders", ("all_pay.5", "bidding.share.all_pay")),
    ("common", "Common value, first price, 7 bidders", ("common.first_price.7", "common.naive.7")),
)
_TRADERS: Final = {"double.zi_u": "ZI-U", "double.zi_c": "ZI-C", "double.zip": "ZIP", "double.gd": "GD"}
_EQUILIBRIUM: Final = Fraction(2)


def charts_of(found: Sequence[Tally]) -> dict[str, list[Chart]]:
    """The charts of each picture; one that has nothing to show is left out."""
    by_name = {tally.cell.name: tally for tally in found}
    pictures: dict[str, list[Chart]] = {
        "bids": [*_bids(by_name)],
        "prices": [*_prices(by_name)],
        "alpha": [*_alpha(by_name)],
        "orderings": [*_orderings(found)],
    }
    return {name: charts for name, charts in pictures.items() if charts}


def _bids(found: Mapping[str, Tally]) -> Iterator[Chart]:
    for kind, title, names in _BIDDING:
        tallies = [found[name] for name in names if name in found and found[name].samples]
        if not tallies:
            continue
        told = "signal" if kind == "common" else "value"
        rows: list[Row] = [
            (f"{tally.cell.plays} bidders", "points", _points(tally.samples[0])) for tally in tallies
        ]
        rows.append(("benchmark", "broken", _line(tallies)))
        yield Plane(f"{title}: bid over {told}", told, "bid", rows)


def _points(sample: Sample) -> list[Point]:
    return [(Fraction(told, _CENTS), bid / _CENTS) for told, bid, _benchmark in sample.bids[:_MOST]]


def _line(tallies: Sequence[Tally]) -> list[Point]:
    """The benchmark over all values that were handed out, which is the same whoever plays."""
    points = {
        Fraction(told, _CENTS): benchmark / _CENTS
        for tally in tallies
        for told, _bid, benchmark in tally.samples[0].bids
        if benchmark is not None
    }
    return sorted(points.items())[:: max(1, len(points) // _MOST)]


def _prices(found: Mapping[str, Tally]) -> Iterator[Chart]:
    for name, title in _TRADERS.items():
        tally = found.get(name)
        if tally is None or not tally.samples:
            continue
        rounds = tally.samples[0].prices
        trades = [price for prices in rounds for price in prices]
        points = [(Fraction(place), Fraction(price, _CENTS)) for place, price in enumerate(trades, 1)]
        ends = [Fraction(2 * sum(map(len, rounds[:number])) + 1, 2) for number in range(1, len(rounds))]
        line: list[Point] = [(Fraction(1), _EQUILIBRIUM), (Fraction(len(trades)), _EQUILIBRIUM)]
        yield Plane(
            f"{title}: prices of one session, round by round",
            "trade (a line ends a round)",
            "price",
            [("price", "steps", points), ("equilibrium", "broken", line)],
            ends,
        )


def _alpha(found: Mapping[str, Tally]) -> Iterator[Chart]:
    rows: list[Row] = [
        (title, "steps", [(Fraction(number), each) for number, each in enumerate(alphas, 1)])
        for name, title in _TRADERS.items()
        if name in found
        for alphas in (by_round(found[name], "alpha"),)
    ]
    if rows:
        yield Plane("Smith's alpha by round", "round", "alpha, percent", rows)


def _orderings(found: Sequence[Tally]) -> Iterator[Chart]:
    ordered, errors = ordering_of(found), errors_of(found)
    if ordered is None:
        return
    most = max(errors.values(), key=lambda each: each.value).value
    rows = [(_words(name), errors[name].value, interval(errors[name].draws)) for name in ordered.names]
    unit = "Σ |bid − benchmark| / Σ benchmark"
    yield Dots("Random bids: distance from the benchmark", unit, 0, int(most) + 1, rows)
    shares = {(pair.first, pair.second): pair.share for pair in ordered.pairs}
    names = ordered.names
    yield Heat(
        "Share of bootstrap draws in which the row is nearer to the benchmark than the column",
        tuple(map(_words, names)),
        [
            (_words(row), [shares.get((row, column), _other(shares, row, column)) for column in names])
            for row in names
        ],
    )


def _other(shares: Mapping[tuple[str, str], Fraction], row: str, column: str) -> Fraction | None:
    back = shares.get((column, row))
    return None if back is None else 1 - back


def _words(name: str) -> str:
    return name.replace("_", " ")

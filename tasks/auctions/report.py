"""The study of auctions as a report: claims, tables of theory beside what was played, a document.

    cell   n     theory   played   ± 95 %   off      private values: parts of the highest; others: money
    cell   by round: trades, alpha, efficiency       double auctions
    cell   sessions, rounds, records, digest         SHA-256 over all run roots of the cell

Not here: pictures (`charts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...scorers import stats
from ...scorers.auction import ordering
from ..studies.report import Report, table_of
from .cells import Cell
from .claims import by_round, claims_of, figure_of, off
from .study import Size, Step, tallies
from .tally import Moment, Tally

if TYPE_CHECKING:
    from ...scorers.auction.ordering import Errors, Ordering
    from ...scorers.tables import Table

_HIGH: Final = 10_000  # the highest private value
_CENTS: Final = 100
_SHORT: Final = 12
_NOTES: Final = (
    (
        "± is half the width of a 95 % interval; off is the distance to theory in standard errors. Theory is "
        "worked out from the rules before any bid; bids are whole cents."
    ),
    (
        "Cells of the same value model and number of bidders hand out the same values in the same sessions, "
        "so what chance does to one format it does to the others too."
    ),
    "Of common values only auctions count whose value is inside its support, by twice the signals' error.",
    "Overall efficiency ± is the standard deviation of sessions.",
)


def study(
    cells: Sequence[Cell], size: Size, *, jobs: int = 1, keep: Path | None = None, step: Step | None = None
) -> tuple[Report, Sequence[Tally]]:
    """Plays the cells, as `tallies`; the report, and what its pictures are made of."""
    found = tallies(cells, size, jobs=jobs, keep=keep, step=step)
    return report_of(found, size), found


def report_of(found: Sequence[Tally], size: Size) -> Report:
    """The report of what was played."""
    ordered = ordering_of(found)
    shown = [] if ordered is None else [_ordered(ordered)]
    tables = [_theory(found), _traded(found), *shown, _played(found)]
    return Report(
        study="auctions",
        title="Auctions: theory and markets on record",
        claims=claims_of({tally.cell.name: tally for tally in found}),
        runs=(),
        figures={
            "sessions": size.sessions,
            "rounds": size.rounds,
            "cells": [_cell(tally) for tally in found],
            "ordering": [] if ordered is None else list(ordered.names),
        },
        tables=[table for table in tables if table.rows],
        notes=_NOTES,
    )


def ordering_of(found: Sequence[Tally]) -> Ordering | None:
    """The formats by how far random bids lie from the benchmark; None where fewer than two were played."""
    errors = errors_of(found)
    return ordering.ordering(errors) if len(errors) > 1 else None


def errors_of(found: Sequence[Tally]) -> dict[str, Errors]:
    """The scaled deviation of each format that random bids are ordered by."""
    return {
        tally.cell.name.removeprefix("ordering."): each
        for tally in found
        if tally.cell.name.startswith("ordering.") and tally.deviations
        if (each := ordering.of_sessions([*_by_trial(tally.deviations)], tally.cell.name)) is not None
    }


def _by_trial(found: Mapping[int, Any]) -> Iterator[Any]:
    return (each for _trial, each in sorted(found.items()))


def scale_of(cell: Cell) -> tuple[int, int]:
    """By how much a figure of a cell is divided to be shown, and with how many decimals."""
    return (_HIGH, 4) if cell.figure == "revenue" else (_CENTS, 2)


def _theory(found: Sequence[Tally]) -> Table:
    rows: list[tuple[str, ...]] = []
    for tally in found:
        moment = tally.moments.get(figure_of(tally))
        if tally.expected is None or moment is None or not moment.size:
            continue
        scale, places = scale_of(tally.cell)
        shown = [
            "–" if value is None else stats.decimal(value / scale, places)
            for value in (tally.expected, moment.mean, _half(moment))
        ]
        far = off(tally)
        told = "–" if far is None else stats.decimal(far, 1)
        rows.append((tally.cell.name, f"{moment.size:,}", *shown, told))
    return table_of(("cell", "auctions", "theory", "played", "±", "off"), rows)


def _half(moment: Moment) -> Fraction | None:
    """Half the width of the 95 % interval."""
    return None if moment.error is None else stats.Z * moment.error


def _traded(found: Sequence[Tally]) -> Table:
    rows: list[tuple[str, ...]] = []
    for tally in found:
        moment = tally.moments.get("efficiency")
        if not tally.cell.is_traded or moment is None:
            continue
        columns = (_figures(by_round(tally, name), of) for name, of in (("trades", 1), ("alpha", 1)))
        spread = None if moment.error is None else 100 * moment.error * stats.root(Fraction(moment.size))
        overall = stats.decimal(100 * moment.mean, 1)
        shown = overall if spread is None else f"{overall} ± {stats.decimal(spread, 1)}"
        efficiency = _figures(by_round(tally, "efficiency"), 100)
        price = stats.decimal((tally.mean("price") or Fraction(0)) / _CENTS, 2)
        rows.append((tally.cell.name, f"{moment.size}", *columns, efficiency, shown, price))
    by = ("trades by round", "alpha by round, %", "efficiency by round, %")
    heads = ("cell", "sessions", *by, "overall", "price")
    return table_of(heads, rows)


def _figures(values: Sequence[Fraction], of: int) -> str:
    return " ".join(stats.decimal(of * value, 1) for value in values)


def _ordered(found: Ordering) -> Table:
    rows = [(pair.first, pair.second, stats.decimal(100 * pair.share, 1)) for pair in found.pairs]
    rows.append((" < ".join(found.names), "", stats.decimal(100 * found.share, 1)))
    heads = ("nearer to the benchmark", "further from it", "of bootstrap draws, %")
    return table_of(heads, rows)._replace(words=frozenset({0, 1}))


def _played(found: Sequence[Tally]) -> Table:
    rows = [
        (
            tally.cell.name,
            tally.cell.plays,
            f"{len(tally.roots)}",
            f"{tally.rounds}",
            f"{sum(tally.records):,}",
            tally.digest[:_SHORT],
        )
        for tally in found
    ]
    heads = ("cell", "bidders", "sessions", "rounds", "records", "digest of run roots")
    return table_of(heads, rows)._replace(words=frozenset({0, 1}))


def _cell(tally: Tally) -> dict[str, Any]:
    return {
        "cell": tally.cell.name,
        "plays": tally.cell.plays,
        "sessions": len(tally.roots),
        "rounds": tally.rounds,
        "records": sum(tally.records),
        "digest": tally.digest,
        "findings": tally.findings,
        "expected": None if tally.expected is None else stats.decimal(tally.expected, 6),
        "figures": {name: _moment(each) for name, each in sorted(tally.moments.items()) if each.size},
    }


def _moment(moment: Moment) -> dict[str, Any]:
    return {
        "count": moment.size,
        "mean": stats.decimal(moment.mean, 6),
        "error": None if moment.error is None else stats.decimal(moment.error, 6),
    }

"""Agents side by side: how much more one was worth than another where both played.

    first − second over places, as `compare` works it out, with who was worth more at how many places

Not here: the differences and their intervals (`compare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..compare import Gap, compare
from ..predicates import FULL
from ..report import comparison_notes, difference, gap_table, unpaired
from ..score import Score
from ..tables import Table
from .panel import panel_of
from .sheet import Dots, Sheet

_FEWER = "there are no two agents to compare"


def sheet(scores: Sequence[Score]) -> Sheet:
    """The differences of agents."""
    comparison = compare(scores)
    gaps = comparison.gaps
    dots = [
        (difference(gap), gap.mean, gap.interval)
        for gap in gaps
        if gap.basis == "scored" and gap.mean is not None
    ]
    panel = panel_of(scores)
    told = [*unpaired(comparison), *comparison_notes(comparison)] if gaps else [_FEWER]
    documents = comparison.document().get("differences", [])
    return Sheet(
        name="pairs",
        title="Pairs: agents compared where both played",
        tables=(_table(gaps),) if gaps else (),
        charts=(Dots("First agent − second", "points", -FULL, FULL, dots, 0),) if dots else (),
        notes=(*panel.notes(), *told),
        document={
            "differences": [
                {**document, **_places(gap)} for document, gap in zip(documents, gaps, strict=True)
            ],
            **panel.document(),
        },
    )


def _table(gaps: Iterable[Gap]) -> Table:
    """The table of differences with the counts of places."""
    gaps = list(gaps)
    table = gap_table(gaps)
    counts = [tuple(map(str, _places(gap).values())) for gap in gaps]
    rows = [(*row, *each) for row, each in zip(table.rows, counts, strict=True)]
    return Table((*table.heads, "won", "tied", "lost"), rows, table.words)


def _places(gap: Gap) -> dict[str, Any]:
    """At how many places the first agent was worth more, as much and less."""
    return {"won": gap.won, "tied": gap.pairs - gap.won - gap.lost, "lost": gap.lost}

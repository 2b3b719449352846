"""What the scores would be were every predicate of a task worth the same.

    equal = Σ 1,000/k × credit over the k predicates that weigh anything, at most what each true cap leaves

Nothing is judged again: verdicts and caps are those of the scores. A predicate of
weight 0 is reported beside the score and stays out. Two agents swap where their means
lie the other way round; the order holds where no pair's does, ties among them.

Not here: other predicates, or other weights of tasks.

Source: the paper "Agentic Commerce World", appendix I and table 20.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from .. import stats
from ..predicates import FULL
from ..score import Score, exact
from ..summary import Mean
from ..tables import Table
from .panel import mean_of, panel_of
from .sheet import Dots, Sheet


class Row(NamedTuple):
    """One agent's mean as it was scored, and with equal weights."""

    agent: str
    scored: Mean
    equal: Mean

    @property
    def delta(self) -> Fraction:
        """What equal weights add, of 1,000."""
        return self.equal.value - self.scored.value


def equal_value(score: Score) -> Fraction:
    """What a scored run is worth with equal weights, of 1,000."""
    weighing = [verdict for verdict in score.predicates if verdict.weight]
    earned = FULL * sum((verdict.credit for verdict in weighing), Fraction(0)) / len(weighing)
    return min([earned, *(Fraction(cap.points) for cap in score.caps if cap.value)])


def sheet(scores: Sequence[Score]) -> Sheet:
    """Each agent's mean both ways, and whether their order holds."""
    panel = panel_of(scores)
    rows = [_row(label, runs) for label, runs in panel.agents]
    pairs = list(combinations(rows, 2))
    swapped = [(one.agent, other.agent) for one, other in pairs if _product(one, other) < 0]
    parted = [(one.agent, other.agent) for one, other in pairs if _is_parted(one, other)]
    dots = [
        (f"{row.agent}, {weights}", mean.value, mean.interval)
        for row in rows
        for weights, mean in (("as scored", row.scored), ("equal weights", row.equal))
    ]
    return Sheet(
        name="weights",
        title="Weights: means were every predicate worth the same",
        tables=(_table(rows),) if rows else (),
        charts=(Dots("Mean score by weights", "points", 0, FULL, dots),) if rows else (),
        notes=(*panel.notes(), *_notes(len(pairs), swapped, parted)),
        document={
            "agents": [_entry(row) for row in rows],
            "pairs": len(pairs),
            "swapped": swapped,
            "parted": parted,
            "order_holds": not swapped and not parted,
            **panel.document(),
        },
    )


def _row(label: str, runs: Sequence[Score]) -> Row:
    return Row(label, mean_of(runs), mean_of([score._replace(value=equal_value(score)) for score in runs]))


def _product(one: Row, other: Row) -> Fraction:
    """Below 0 where two agents swap."""
    return (one.scored.value - other.scored.value) * (one.equal.value - other.equal.value)


def _is_parted(one: Row, other: Row) -> bool:
    """Whether two means are the same one way and not the other."""
    return (one.scored.value == other.scored.value) != (one.equal.value == other.equal.value)


def _notes(pairs: int, swapped: Sequence[tuple[str, str]], parted: Sequence[tuple[str, str]]) -> list[str]:
    if not pairs:
        return []
    holds = "changes" if swapped or parted else "holds"
    told = [f"the order of agents {holds}: {len(swapped)} of {pairs} pairs swap"]
    told += [f"swap: {one} and {other}" for one, other in swapped]
    return [*told, *(f"tied one way only: {one} and {other}" for one, other in parted)]


def _table(rows: Sequence[Row]) -> Table:
    cells = [
        (
            row.agent,
            str(row.scored.runs),
            *(stats.decimal(value, 1) for value in (row.scored.value, row.equal.value, row.delta)),
        )
        for row in rows
    ]
    return Table(("agent", "runs", "as scored", "equal weights", "delta"), cells, frozenset({0}))


def _entry(row: Row) -> dict[str, Any]:
    return {
        "agent": row.agent,
        "scored": row.scored.document(),
        "equal": row.equal.document(),
        "delta": {"exact": exact(row.delta), "points": stats.decimal(row.delta, 3)},
    }

"""Means of each agent's runs by family of tasks, by role, and by capability.

    family, role    runs of one task file hang together, so that they say how other tasks would go
    capability      a task file: the trials of one case hang together

The interval of a capability says how other cases of its file would go, and nothing
of other files.

Not here: the mean over all runs (`summary`), agents compared (`pairs`).

Source: the paper "Agentic Commerce World", section 5.2, figure 7 and table 13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from .. import stats
from ..compare import place_of
from ..predicates import FULL
from ..report import span
from ..score import Score
from ..summary import Mean
from ..tables import Table
from .panel import Panel, family_of, mean_of, natural, panel_of, role_of, split, task_namer
from .sheet import Dots, Sheet

_CLUSTERS: Final = "intervals at 95 %: of families and roles over tasks, of capabilities over cases"
_NO_ERROR: Final = "– where there is one task or case, or none differ: no error shows, and there may be one"


class Row(NamedTuple):
    """The mean of one agent's runs of one family, role or capability."""

    name: str
    agent: str
    mean: Mean


def sheet(scores: Sequence[Score]) -> Sheet:
    """The means of each agent's runs."""
    panel = panel_of(scores)
    families, roles = _rows(panel, family_of), _rows(panel, role_of)
    capabilities = _rows(panel, task_namer(panel.scored), by_case)
    of = {"family": families, "role": roles}
    tables = [_table(name, rows, "tasks") for name, rows in of.items()]
    notes = [*panel.notes(), *((_CLUSTERS, _NO_ERROR) if families else ())]
    several = len(panel.agents) > 1
    return Sheet(
        name="means",
        title="Means by family, role and capability",
        tables=(*tables, _table("capability", capabilities, "cases")) if families else (),
        charts=tuple(_chart(name, rows, several=several) for name, rows in of.items() if rows),
        notes=tuple(notes),
        document={
            "families": [{"family": row.name, **_entry(row)} for row in families],
            "roles": [{"role": row.name, **_entry(row)} for row in roles],
            "capabilities": [_capability(row) for row in capabilities],
            **panel.document(),
        },
    )


def by_case(score: Score) -> Score:
    """The run as one of those that only the trials of its case hang together with."""
    return score._replace(cluster=place_of(score).cell)


def _rows(
    panel: Panel, named: Callable[[Score], str], clustered: Callable[[Score], Score] = lambda score: score
) -> list[Row]:
    """A row for each name and agent, the agents of one name together."""
    rows = [
        Row(name, label, mean_of([clustered(score) for score in runs]))
        for label, own in panel.agents
        for name, runs in split(own, named)
    ]
    return sorted(rows, key=lambda row: natural(row.name))


def _table(name: str, rows: Sequence[Row], clusters: str) -> Table:
    cells = [
        (
            row.name,
            row.agent,
            str(row.mean.runs),
            str(row.mean.tasks),
            stats.decimal(row.mean.value, 1),
            span(row.mean.interval, 1),
        )
        for row in rows
    ]
    heads = (name, "agent", "runs", clusters, "mean", "95 % interval")
    return Table(heads, cells, frozenset({0, 1}), f"By {name}")


def _chart(name: str, rows: Sequence[Row], *, several: bool) -> Dots:
    dots = [
        (f"{row.name}, {row.agent}" if several else row.name, row.mean.value, row.mean.interval)
        for row in rows
    ]
    return Dots(f"Mean score by {name}", "points", 0, FULL, dots)


def _entry(row: Row) -> dict[str, Any]:
    return {"agent": row.agent, **row.mean.document()}


def _capability(row: Row) -> dict[str, Any]:
    """As the others, but that what hangs together are the cases of one task."""
    entry = _entry(row)
    entry["cases"] = entry.pop("tasks")
    return {"task": row.name, **entry}

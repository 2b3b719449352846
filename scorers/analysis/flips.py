"""How often two trials of one case come out differently, though agent, task and case are the same.

    cell   an agent's n ≥ 2 trials of a case, c of them at full credit
    flip   2·c·(n − c) / (n·(n − 1))      the chance that of two trials one is at full credit and one isn't

The same of each predicate, by whether it held in full. Means are over cells, clustered
by task. Trials differ in their seeds, so where a task draws from them they differ in
the market too.

Not here: pass@k and pass^k (`compare`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from .. import stats
from ..compare import Place, Rate, place_of, rate
from ..predicates import FULL
from ..report import span
from ..score import Score, exact
from ..tables import Table
from .panel import ALL, MOST, Panel, natural, panel_of, task_namer
from .sheet import Dots, Sheet

_MANY = f"the {MOST} that flip most"


class Cell(NamedTuple):
    """An agent's trials of a case, two or more; ``full`` of them are at full credit."""

    agent: str
    place: Place
    runs: Sequence[Score]
    full: int

    @property
    def flip(self) -> Fraction:
        """The chance that two trials differ in full credit."""
        return flip(self.full, len(self.runs))

    def verdicts(self) -> Iterator[tuple[str, Fraction]]:
        """Each predicate that was decided twice, and the chance that two trials differ in it."""
        held: dict[str, list[bool]] = {}
        for score in self.runs:
            for verdict in score.predicates:
                if not verdict.undecided:
                    held.setdefault(verdict.id, []).append(verdict.credit == 1)
        for name, each in held.items():
            if len(each) > 1:
                yield name, flip(sum(each), len(each))


class Row(NamedTuple):
    """How often an agent's trials flip. ``fewest`` and ``most`` are trials of a cell."""

    agent: str
    cells: int
    tasks: int
    fewest: int
    most: int
    full: Rate
    verdicts: Rate


class Predicate(NamedTuple):
    """How often a predicate of a task flips, over the cells of all agents."""

    task: str
    name: str
    cells: int
    flip: Fraction


def flip(times: int, trials: int) -> Fraction:
    """The chance that one of two trials is among the ``times`` that something held, and one isn't."""
    return Fraction(2 * times * (trials - times), trials * (trials - 1))


def sheet(scores: Sequence[Score]) -> Sheet:
    """How often each agent's trials flip, and what flips most."""
    panel = panel_of(scores)
    groups = [(label, cells) for label, runs in panel.agents if (cells := list(_cells(label, runs)))]
    cells = [cell for _, each in groups for cell in each]
    agents = [_row(label, each) for label, each in groups]
    all_of_them = _row(ALL, cells) if cells else None
    rows = [*agents, *([all_of_them] if all_of_them and len(agents) > 1 else [])]
    predicates = _predicates(panel, cells)
    ranked = sorted(cells, key=lambda cell: (-cell.flip, natural(cell.place.cell), cell.agent))
    tables = [_agents(rows), _verdicts(predicates), _trials(ranked)] if rows else []
    dots = [(row.agent, row.full.value, row.full.interval) for row in rows]
    return Sheet(
        name="flips",
        title="Flips: how often two trials of one case come out differently",
        tables=tuple(table for table in tables if table.rows),
        charts=(Dots("Chance that two trials differ in full credit", "chance", 0, 1, dots),) if rows else (),
        notes=(*panel.notes(), *([] if rows else ["no agent has two trials of a case"])),
        document={
            "agents": [{"agent": row.agent, **_entry(row)} for row in agents],
            "all": all_of_them and _entry(all_of_them),
            "predicates": [_predicate(each) for each in predicates],
            "cells": [_cell(cell) for cell in ranked],
            **panel.document(),
        },
    )


def _cells(label: str, runs: Sequence[Score]) -> Iterator[Cell]:
    found: dict[Place, list[Score]] = {}
    for score in runs:
        found.setdefault(place_of(score)._replace(trial=0), []).append(score)
    for place, trials in found.items():
        if len(trials) > 1:
            yield Cell(label, place, trials, sum(score.value == FULL for score in trials))


def _row(label: str, cells: Sequence[Cell]) -> Row:
    trials = [len(cell.runs) for cell in cells]
    clusters = [cell.runs[0].cluster for cell in cells]
    verdicts = [
        (each, cluster)
        for cell, cluster in zip(cells, clusters, strict=True)
        for _, each in cell.verdicts()
    ]
    return Row(
        label,
        cells=len(cells),
        tasks=len(set(clusters)),
        fewest=min(trials),
        most=max(trials),
        full=rate([cell.flip for cell in cells], clusters),
        verdicts=rate([each for each, _ in verdicts], [cluster for _, cluster in verdicts]),
    )


def _predicates(panel: Panel, cells: Sequence[Cell]) -> list[Predicate]:
    """The predicates, those that flip most first."""
    named = task_namer(panel.scored)
    found: dict[tuple[str, str], list[Fraction]] = {}
    for cell in cells:
        for name, each in cell.verdicts():
            found.setdefault((named(cell.runs[0]), name), []).append(each)
    predicates = [Predicate(*key, len(each), stats.mean(each)) for key, each in found.items()]
    return sorted(predicates, key=lambda each: (-each.flip, natural(each.task), each.name))


def _agents(rows: Sequence[Row]) -> Table:
    cells = [
        (
            row.agent,
            str(row.cells),
            str(row.tasks),
            str(row.fewest) if row.fewest == row.most else f"{row.fewest} to {row.most}",
            *(
                cell
                for each in (row.full, row.verdicts)
                for cell in (stats.decimal(each.value, 3), span(each.interval, 3))
            ),
        )
        for row in rows
    ]
    heads = ("full credit", "95 % interval", "a predicate", "95 % interval")
    return Table(("agent", "cells", "tasks", "trials", *heads), cells, frozenset({0}))


def _verdicts(predicates: Sequence[Predicate]) -> Table:
    rows = [
        (each.task, each.name, str(each.cells), stats.decimal(each.flip, 3))
        for each in predicates[:MOST]
        if each.flip
    ]
    return Table(("task", "predicate", "cells", "flip"), rows, frozenset({0, 1}), f"Predicates: {_MANY}")


def _trials(ranked: Sequence[Cell]) -> Table:
    rows = [
        (cell.place.cell, cell.agent, str(len(cell.runs)), str(cell.full), stats.decimal(cell.flip, 3))
        for cell in ranked[:MOST]
        if cell.flip
    ]
    return Table(("case", "agent", "trials", "full", "flip"), rows, frozenset({0, 1}), f"Cases: {_MANY}")


def _entry(row: Row) -> dict[str, Any]:
    return {
        "cells": row.cells,
        "tasks": row.tasks,
        "fewest": row.fewest,
        "most": row.most,
        "full": row.full.document(),
        "verdicts": row.verdicts.document(),
    }


def _predicate(each: Predicate) -> dict[str, Any]:
    return {"task": each.task, "predicate": each.name, "cells": each.cells, **_flip(each.flip)}


def _cell(cell: Cell) -> dict[str, Any]:
    place = cell.place
    return {
        "agent": cell.agent,
        "task": place.task or None,
        "digest": place.digest,
        "case": place.case or None,
        "trials": len(cell.runs),
        "full": cell.full,
        **_flip(cell.flip),
    }


def _flip(value: Fraction) -> dict[str, Any]:
    return {"exact": exact(value), "flip": stats.decimal(value, 4)}

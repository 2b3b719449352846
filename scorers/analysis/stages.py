"""Where runs short of full credit lost most of it: in one stage, or in several alike.

    lost(stage) = Σ weight × (1 − credit) over the stage's predicates
    lost(authority) also has what a cap alone took: Σ weight × credit − score
    stage of a run = the one that lost most, `mixed` where several did      a run is in one place

A stage that lost most isn't the only cause: one predicate may need another's.

Not here: the mean points that each stage lost (`summary`).

Source: the paper "Agentic Commerce World", section 5.5, figure 8 and table 12.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, Literal

from ..predicates import FULL, STAGES, Stage
from ..score import Score
from ..tables import Table
from .panel import ALL, Panel, counted_share, family_of, panel_of, share_document, split
from .sheet import Heat, Sheet

Where = Stage | Literal["mixed"]
"""Where a run lost most."""

WHERE: Final[tuple[Where, ...]] = (*STAGES, "mixed")


def lost_in(score: Score) -> dict[Stage, Fraction]:
    """The points that a scored run lost in each stage; they sum to what it is short of full credit."""
    assert score.value is not None, "a scored run"
    lost = dict.fromkeys(STAGES, Fraction(0))
    for verdict in score.predicates:
        lost[verdict.stage] += verdict.weight * (1 - verdict.credit)
    lost["authority"] += FULL - sum(lost.values()) - score.value
    return lost


def stage_of(score: Score) -> Where | None:
    """The stage in which a scored run lost most; None at full credit."""
    if score.value == FULL:
        return None
    lost = lost_in(score)
    most = max(lost.values())
    found: list[Where] = [stage for stage, points in lost.items() if points == most]
    return found[0] if len(found) == 1 else "mixed"


def sheet(scores: Sequence[Score]) -> Sheet:
    """Where each agent, and each family of tasks, lost most."""
    panel = panel_of(scores)
    families = split(panel.scored, family_of)
    tables = (_agents(panel), _families(families)) if panel.agents else ()
    heat = [(name, _shares(stages_of(runs))) for name, runs in families]
    return Sheet(
        name="stages",
        title="Stages: where runs short of full credit lost most of it",
        tables=tables,
        charts=(Heat("Where runs lost most, by family", WHERE, heat),) if heat else (),
        notes=tuple(panel.notes()),
        document={
            "agents": [{"agent": label, **_entry(runs)} for label, runs in panel.agents],
            "all": _entry(panel.scored),
            "families": [{"family": name, **_entry(runs)} for name, runs in families],
            **panel.document(),
        },
    )


def stages_of(scores: Iterable[Score]) -> Counter[Where]:
    """How many runs lost most where; those at full credit are nowhere."""
    return Counter(stage for score in scores if (stage := stage_of(score)) is not None)


def _agents(panel: Panel) -> Table:
    rows: list[tuple[str, ...]] = []
    for label, runs in panel.rows:
        partial, zero = _partial_and_zero(runs)
        cells = [f"{partial[where]}/{zero[where]}" for where in WHERE]
        rows.append((label, *cells, f"{partial.total()}/{zero.total()}"))
    return Table(("agent", *WHERE, ALL), rows, frozenset({0}), "Runs with a part of the credit/with none")


def _families(families: Sequence[tuple[str, Sequence[Score]]]) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, runs in families:
        found = stages_of(runs)
        short = found.total()
        cells = [counted_share(found[where], short) for where in WHERE]
        rows.append((name, str(len(runs)), str(short), counted_share(short, len(runs)), *cells))
    heads = ("family", "runs", "short", "share", *WHERE)
    return Table(heads, rows, frozenset({0}), "Shares of the runs short of full credit, by family")


def _partial_and_zero(scores: Sequence[Score]) -> tuple[Counter[Where], Counter[Where]]:
    partial, zero = ([each for each in scores if bool(each.value) == some] for some in (True, False))
    return stages_of(partial), stages_of(zero)


def _shares(found: Mapping[Where, int]) -> list[Fraction | None]:
    short = sum(found.values())
    return [Fraction(found[where], short) if short else None for where in WHERE]


def _entry(scores: Sequence[Score]) -> dict[str, Any]:
    partial, zero = _partial_and_zero(scores)
    short = partial.total() + zero.total()
    return {
        "runs": len(scores),
        "short": short,
        "stages": {
            where: {
                "partial": partial[where],
                "zero": zero[where],
                **share_document(partial[where] + zero[where], short),
            }
            for where in WHERE
        },
    }

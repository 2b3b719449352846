"""How much runs earn: nothing, a part, all; and how the scores lie between.

    zero 0 · partial 0 < score < 1,000 · full 1,000      counts and shares of an agent's scored runs
    tenths: < 100, < 200, … < 1,000, and 1,000 itself

Not here: means (`means`), what was lost where (`stages`).

Source: the paper "Agentic Commerce World", section 5.2 and figure 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from ..predicates import FULL
from ..score import Score
from ..summary import values_of
from ..tables import Table
from .panel import Panel, counted_share, panel_of, share_document
from .sheet import Sheet, Stacked

PARTS: Final = ("zero", "partial", "full")

_TENTH = FULL // 10
_STEPS: Final = tuple(range(_TENTH, FULL + 1, _TENTH))


class Credit(NamedTuple):
    """How many runs earned how much. ``tenths`` are runs below each tenth of the points, and at all."""

    zero: int
    partial: int
    full: int
    tenths: tuple[int, ...]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return self.zero + self.partial + self.full

    @property
    def parts(self) -> tuple[int, int, int]:
        """The three counts."""
        return self.zero, self.partial, self.full


def credit_of(scores: Sequence[Score]) -> Credit:
    """The credit of scored runs."""
    values = values_of(scores)
    zero, full = values.count(Fraction(0)), values.count(Fraction(FULL))
    places = [value * 10 // FULL for value in values]
    tenths = tuple(places.count(place) for place in range(len(_STEPS) + 1))
    return Credit(zero, len(values) - zero - full, full, tenths)


def sheet(scores: Sequence[Score]) -> Sheet:
    """The credit of each agent's runs."""
    panel = panel_of(scores)
    rows = [(label, credit_of(runs)) for label, runs in panel.rows]
    shares = [
        (label, [Fraction(part, credit.runs) for part in credit.parts]) for label, credit in rows
    ]
    return Sheet(
        name="credit",
        title="Credit: how many runs earn nothing, a part, all",
        tables=(_parts(rows), _tenths(rows)) if rows else (),
        charts=(Stacked("Credit", "share of runs", PARTS, shares),) if rows else (),
        notes=tuple(panel.notes()),
        document=_document(panel),
    )


def _parts(rows: Sequence[tuple[str, Credit]]) -> Table:
    heads = [head for part in PARTS for head in (part, "share")]
    cells = [
        (
            label,
            str(credit.runs),
            *(cell for part in credit.parts for cell in (str(part), counted_share(part, credit.runs))),
        )
        for label, credit in rows
    ]
    return Table(("agent", "runs", *heads), cells, frozenset({0}))


def _tenths(rows: Sequence[tuple[str, Credit]]) -> Table:
    heads = [*(f"< {step}" for step in _STEPS), str(FULL)]
    cells = [(label, *map(str, credit.tenths)) for label, credit in rows]
    return Table(("agent", *heads), cells, frozenset({0}), "Runs by score")


def _document(panel: Panel) -> dict[str, Any]:
    return {
        "agents": [{"agent": label, **_entry(credit_of(runs))} for label, runs in panel.agents],
        "all": _entry(credit_of(panel.scored)),
        **panel.document(),
    }


def _entry(credit: Credit) -> dict[str, Any]:
    return {
        "runs": credit.runs,
        **{
            part: {"runs": count, **share_document(count, credit.runs)}
            for part, count in zip(PARTS, credit.parts, strict=True)
        },
        "tenths": list(credit.tenths),
    }

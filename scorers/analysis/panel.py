"""The runs that an analysis is of: those with a score, by agent; all others are named.

    scores ─► Panel{agents: label → scored runs, left out: runs}

What the analyses have in common: what agents, tasks and families are called, in what
order, and how a share is written.

Not here: what is counted of them (a module for each analysis).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from .. import stats, summary
from ..compare import Group, groups, place_of
from ..report import left_out
from ..score import OUTCOMES, Score, exact
from ..summary import Mean

ALL: Final = "all"
"""The row of all agents, where there are several."""

NONE: Final = "–"
"""What a cell says where there is nothing, and what a family, role or task is called that a run hasn't."""

MOST: Final = 10
"""So many rows of a list that may be long are shown; the document has all of them."""

_SHORT = 12
_DIGITS = 20  # more than any number in a name that is meant as one


class Panel(NamedTuple):
    """Scored runs by agent, in the order of the labels, and the runs that are left out."""

    agents: tuple[Group, ...]
    left_out: tuple[Score, ...]

    @property
    def scored(self) -> list[Score]:
        """All scored runs."""
        return [score for _, runs in self.agents for score in runs]

    @property
    def rows(self) -> list[Group]:
        """The agents, and all of them where there are several."""
        return [*self.agents, *([(ALL, self.scored)] if len(self.agents) > 1 else [])]

    def notes(self) -> list[str]:
        """Which runs are left out, in one line; none where there are none."""
        told: list[str] = []
        for outcome in OUTCOMES:
            runs = [score.run[:_SHORT] for score in self.left_out if score.outcome == outcome]
            if runs:
                told.append(f"{len(runs)} {outcome} ({', '.join(runs)})")
        return [f"left out: {', '.join(told)}"] if told else []

    def document(self) -> dict[str, Any]:
        """Which runs are left out, and why, as JSON."""
        return {"left_out": left_out(self.left_out)}


def panel_of(scores: Sequence[Score]) -> Panel:
    """The panel of these runs. An agent's label is the same whatever is left out of its runs."""
    agents = (
        (label, [score for score in runs if score.outcome == "scored"]) for label, runs in groups(scores)
    )
    return Panel(
        tuple(group for group in agents if group[1]),
        tuple(score for score in scores if score.outcome != "scored"),
    )


def split(scores: Iterable[Score], named: Callable[[Score], str]) -> list[Group]:
    """The runs by a name that each has, by name; those without one come last."""
    found: dict[str, list[Score]] = {}
    for score in scores:
        found.setdefault(named(score), []).append(score)
    return sorted(found.items(), key=lambda group: natural(group[0]))


def family_of(score: Score) -> str:
    """The name of a run's family."""
    return score.family or NONE


def role_of(score: Score) -> str:
    """The role of the party that was evaluated."""
    return score.role or NONE


def task_namer(scores: Iterable[Score]) -> Callable[[Score], str]:
    """What to call a run's task file: by its id, and its digest too where files share the id."""
    files: dict[str, set[str]] = {}
    for score in scores:
        place = place_of(score)
        files.setdefault(place.task, set()).add(place.digest)

    def named(score: Score) -> str:
        place = place_of(score)
        if not place.task:
            return NONE
        return f"{place.task}@{place.digest[:_SHORT]}" if len(files[place.task]) > 1 else place.task

    return named


def natural(name: str) -> str:
    """A key by which `t2` comes before `t10`, and no name after all that are ASCII, as ids are."""
    return re.sub("[0-9]+", lambda match: match[0].zfill(_DIGITS), name)


def mean_of(scores: Sequence[Score]) -> Mean:
    """The mean of one run or more, without an interval that is a point: it shows no error."""
    mean = summary.mean_of(scores)
    assert mean is not None, "one run or more"
    found = mean.interval
    return mean if found is None or found.low < found.high else mean._replace(interval=None)


def counted_share(part: int, whole: int) -> str:
    """So many of so many as a decimal; nothing of nothing."""
    return stats.decimal(Fraction(part, whole), 3) if whole else NONE


def share_document(part: int, whole: int) -> dict[str, Any]:
    """So many of so many as JSON, exact and as a decimal; null of nothing."""
    share = Fraction(part, whole) if whole else None
    return {
        "exact": None if share is None else exact(share),
        "share": None if share is None else stats.decimal(share, 4),
    }

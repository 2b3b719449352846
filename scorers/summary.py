"""What many scores come to: means with intervals, and every run that is not in them, by name.

    scores ─► Summary ─► text, Markdown, JSON (`report`)

    headline        mean of the scored runs, a predicate in error earning nothing
    beside it       the mean without runs in which one was in error
                    the mean with open and abandoned runs at 0
    full marks      the share of scored runs at 1,000

Invalid and undecided runs are in no mean.

Not here: the formulas (`stats`), how it looks (`report`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from . import stats
from .predicates import FULL, STAGES, PredicateSet, Stage
from .score import Outcome, Score, exact
from .verdict import Verdict

UNSCORED_AT_0: tuple[Outcome, ...] = ("open", "abandoned")

Basis = Literal["scored", "without_errors", "with_unscored_at_0"]
"""Which runs a mean is over."""


class Mean(NamedTuple):
    """A mean of scores, out of 1,000.

    ``interval`` ends at 0 and at 1,000, beyond which no mean is; None for runs of fewer than two tasks.
    """

    value: Fraction
    interval: stats.Interval | None
    runs: int
    tasks: int

    def document(self) -> dict[str, Any]:
        """The mean in `score --json`."""
        low, high = stats.ends(self.interval, 3)
        return {
            "exact": exact(self.value),
            "mean": stats.decimal(self.value, 3),
            "low": low,
            "high": high,
            "runs": self.runs,
            "tasks": self.tasks,
        }


class Share(NamedTuple):
    """So many of so many."""

    part: int
    whole: int
    interval: stats.Interval | None


class Row(NamedTuple):
    """One predicate over the runs that were judged: of how many it held, and so on.

    ``credit`` is its mean; None where it was decided of no run.
    """

    id: str
    stage: Stage
    weight: int
    local: bool
    held: int
    in_part: int
    failed: int
    errors: int
    undecided: int
    credit: Fraction | None


class Count(NamedTuple):
    """What happened in so many runs: a cap, a defect, a label."""

    name: str
    text: str
    runs: tuple[str, ...]


class Summary(NamedTuple):
    """What many scores come to. ``left_out`` are the runs without a score."""

    predicates: tuple[str, ...]
    scorers: tuple[str, ...]
    opened: int
    sealed: int
    left_out: tuple[Score, ...]
    headline: Mean | None
    without_errors: Mean | None
    with_unscored: Mean | None
    full: Share
    rows: tuple[Row, ...]
    lost: dict[Stage, Fraction]
    caps: tuple[Count, ...]
    defects: tuple[Count, ...]
    compared: int
    disagree: tuple[str, ...]
    labels: tuple[Count, ...]
    imported: int
    unanchored: int
    conduct_unchecked: int

    @property
    def scored(self) -> int:
        """The number of runs with a score."""
        return self.opened - len(self.left_out)


def summarize(scores: Sequence[Score], sets: Sequence[PredicateSet]) -> Summary:
    """What these scores, each by one of the predicate sets, come to."""
    known = {predicates.digest for predicates in sets}
    assert all(score.scorer in known for score in scores if score.predicates), "scores of these sets"
    scored = [score for score in scores if score.outcome == "scored"]
    taken = bases(scores)
    judged = [score for score in scores if score.predicates]
    compared = [score for score in scored if score.agrees is not None]
    full = sum(score.value == FULL for score in scored)
    return Summary(
        predicates=tuple(predicates.id for predicates in sets),
        scorers=tuple(predicates.digest for predicates in sets),
        opened=len(scores),
        sealed=sum(score.root is not None for score in scores),
        left_out=tuple(score for score in scores if score.outcome != "scored"),
        headline=mean_of(taken["scored"]),
        without_errors=mean_of(taken.get("without_errors", ())),
        with_unscored=mean_of(taken.get("with_unscored_at_0", ())),
        full=Share(full, len(scored), stats.wilson(full, len(scored))),
        rows=tuple(row for predicates in sets for row in _rows(judged, predicates, named=len(sets) > 1)),
        lost=_lost(scored),
        caps=_counts(
            scores, lambda score: [(flag.id, f"at most {flag.points}") for flag in score.caps if flag.value]
        ),
        defects=_counts(scores, lambda score: [(defect.place, defect.text) for defect in score.defects]),
        compared=len(compared),
        disagree=tuple(score.run for score in compared if not score.agrees),
        labels=_counts(scores, lambda score: [] if score.label is None else [("label", score.label)]),
        imported=sum(score.custody == "imported" for score in scores),
        unanchored=sum(not score.anchored for score in scores),
        conduct_unchecked=sum(score.checks["6"] == "not done" for score in scores),
    )


def bases(scores: Iterable[Score]) -> dict[Basis, list[Score]]:
    """The runs that a mean is over, the headline's first; a way that takes the same runs is left away."""
    scores = list(scores)
    scored = [score for score in scores if score.outcome == "scored"]
    clean = [score for score in scored if not any(_in_error(verdict) for verdict in score.predicates)]
    unscored = [score for score in scores if score.outcome in UNSCORED_AT_0]
    taken: dict[Basis, list[Score]] = {"scored": scored}
    if len(clean) < len(scored):
        taken["without_errors"] = clean
    if unscored:
        taken["with_unscored_at_0"] = [*scored, *unscored]
    return taken


def values_of(scores: Iterable[Score]) -> list[Fraction]:
    """What each run was worth, those without a score 0."""
    return [Fraction(0) if score.value is None else score.value for score in scores]


def mean_of(scores: Sequence[Score]) -> Mean | None:
    """The mean of runs, those without a score at 0; None of no run."""
    if not scores:
        return None
    values = values_of(scores)
    clusters = [score.cluster for score in scores]
    found = stats.within(stats.interval(values, clusters), 0, FULL)
    return Mean(stats.mean(values), found, len(values), len(set(clusters)))


def _rows(judged: Iterable[Score], predicates: PredicateSet, *, named: bool) -> Iterator[Row]:
    """The rows of one set's predicates, ``named`` after the set where there are several."""
    own = [score for score in judged if score.scorer == predicates.digest]
    for place, name in enumerate(predicates.predicates):
        row = _row(place, name, own, predicates)
        yield row._replace(id=f"{predicates.id}: {name}") if named else row


def _row(place: int, name: str, judged: Sequence[Score], predicates: PredicateSet) -> Row:
    verdicts = [score.predicates[place] for score in judged]
    decided = [verdict for verdict in verdicts if not verdict.undecided]
    held = sum(verdict.credit == 1 for verdict in decided)
    errors = sum(_in_error(verdict) for verdict in decided)
    failed = sum(verdict.credit == 0 for verdict in decided) - errors
    predicate = predicates.predicates[name]
    return Row(
        id=name,
        stage=predicate.stage,
        weight=predicate.weight,
        local=name in predicates.local,
        held=held,
        in_part=len(decided) - held - failed - errors,
        failed=failed,
        errors=errors,
        undecided=len(verdicts) - len(decided),
        credit=stats.mean([verdict.credit for verdict in decided]) if decided else None,
    )


def _in_error(verdict: Verdict) -> bool:
    return verdict.error is not None and not verdict.undecided


def _lost(scored: Sequence[Score]) -> dict[Stage, Fraction]:
    """The mean points that each stage's predicates did not give; what caps took is not in it."""
    lost = dict.fromkeys(STAGES, Fraction(0))
    for score in scored:
        for verdict in score.predicates:
            lost[verdict.stage] += verdict.weight * (1 - verdict.credit) / len(scored)
    return lost


def _counts(
    scores: Iterable[Score], found: Callable[[Score], Iterable[tuple[str, str]]]
) -> tuple[Count, ...]:
    runs: dict[tuple[str, str], list[str]] = {}
    for score in scores:
        for key in found(score):
            runs.setdefault(key, []).append(score.run)
    return tuple(Count(name, text, tuple(each)) for (name, text), each in runs.items())

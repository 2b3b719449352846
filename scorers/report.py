"""The report on many scores: aligned text, Markdown, and the JSON of `score --json`.

    text_of · markdown_of · document_of (scores, the predicate sets that judged them)

One run's line: the id's first twelve digits, task, case, score, what the
makers recorded, label. Then what the scores come to, each mean with its interval,
and every run that is left out, by name and reason. What runs say of several
agents or trials is there only where there are several. Numbers are decimal text
of fixed places; the JSON holds the exact fractions too.

Runs of a market that has measures are followed by theirs, and by what moved since a
baseline was kept, where one is given.

Not here: what is counted (`summary`, `compare`, `figures`, `shift`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

from . import figures, shift, stats
from .compare import ALL_PAIRS, Comparison, Gap, compare
from .predicates import FULL, PredicateSet
from .score import OUTCOMES, Score
from .summary import Basis, Count, Row, Share, Summary, summarize
from .tables import Table, aligned, bullets, escaped, markdown

CUSTODY: Final = "signatures of imported runs prove custody since the import, not authorship"
CONDUCT: Final = "conduct unchecked: nothing says that briefs and scripted parties were as the task says"
UNANCHORED: Final = "unanchored: no checkpoint or pinned key from outside, so a cut tail can't be seen"
INTERVALS: Final = "intervals at 95 %: means by Student's t over tasks, shares by Wilson's score"
SMALLEST: Final = "smallest gap: told from 0 in 80 % of repetitions, two-sided at 5 %; beyond 1000 none is"
EACH: Final = "each difference stands for itself: of many, some lie beyond their interval by chance"

_SHORT = 12
_NAMES: Final = frozenset({0, 1})  # the first two columns of most tables are words

OVER: dict[Basis, str] = {
    "scored": "scored runs",
    "without_errors": "without errors",
    "with_unscored_at_0": "open, abandoned at 0",
}


Kept = Sequence[figures.Group] | None
"""What a baseline holds; None where none is given."""


def document_of(
    scores: Sequence[Score], sets: Sequence[PredicateSet], baseline: Kept = None
) -> dict[str, Any]:
    """The report as JSON: the runs with their fixed fields, the summary, and measures where there are any."""
    summary, comparison = summarize(scores, sets), compare(scores)
    notes = {"notes": [*comparison_notes(comparison), *_notes(summary), *_scorers(summary)]}
    return {
        "runs": [score.document() for score in scores],
        "summary": {**_summary(summary), **comparison.document(), **notes},
        **_measures(figures.measured_groups(scores), baseline),
    }


def _measures(groups: Sequence[figures.Group], baseline: Kept) -> dict[str, Any]:
    found: dict[str, Any] = {"measures": figures.document(groups)} if groups else {}
    if baseline is not None:
        compared = shift.document(shift.versus(groups, baseline))
        found["baseline"] = {"compared": compared, "not_compared": shift.unmatched(groups, baseline)}
    return found


def text_of(scores: Sequence[Score], sets: Sequence[PredicateSet], baseline: Kept = None) -> str:
    """The report as text for a terminal, ended by a line end."""
    summary, comparison = summarize(scores, sets), compare(scores)
    groups = figures.measured_groups(scores)
    blocks = [
        aligned(_run_table(scores)),
        "\n".join([*headlines(summary), *_agents(comparison)]),
        *map(aligned, _comparison_tables(comparison)),
        aligned(_predicate_table(summary)),
        *(f"{table.title}\n{aligned(table)}" for table in _measure_tables(groups, baseline)),
        "\n".join(
            [*_comparison_remarks(comparison), *_measure_remarks(groups, baseline), *_remarks(summary)]
        ),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def markdown_of(scores: Sequence[Score], sets: Sequence[PredicateSet], baseline: Kept = None) -> str:
    """The report as a Markdown document, ended by a line end."""
    summary, comparison = summarize(scores, sets), compare(scores)
    groups = figures.measured_groups(scores)
    first = (*_comparison_tables(comparison), _predicate_table(summary))
    blocks = [
        f"# {escaped(_title(sets))}",
        bullets([*headlines(summary), *_agents(comparison)]),
        *(
            f"## {escaped(table.title)}\n\n{markdown(table)}"
            for table in (*first, *_measure_tables(groups, baseline), _run_table(scores))
        ),
        "## Remarks",
        bullets([*_comparison_remarks(comparison), *_measure_remarks(groups, baseline), *_remarks(summary)]),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _title(sets: Sequence[PredicateSet]) -> str:
    titles = [predicates.title or predicates.id for predicates in sets]
    return titles[0] if len(titles) == 1 else f"{len(titles)} tasks"


def _one(names: Sequence[str]) -> str | None:
    """The name, where there is one."""
    return names[0] if len(names) == 1 else None


def points(value: Fraction) -> str:
    """A score as a report writes it: an integer when whole, else three decimals."""
    return str(value.numerator) if value.denominator == 1 else stats.decimal(value, 3)


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "predicates_id": _one(summary.predicates),
        "scorer": _one(summary.scorers),
        "opened": summary.opened,
        "sealed": summary.sealed,
        "scored": summary.scored,
        "left_out": left_out(summary.left_out),
        "mean": summary.headline and summary.headline.document(),
        "mean_without_errors": summary.without_errors and summary.without_errors.document(),
        "mean_with_unscored_at_0": summary.with_unscored and summary.with_unscored.document(),
        "full": _share(summary.full),
        "predicates": [_row(row) for row in summary.rows],
        "lost": {stage: stats.decimal(lost, 3) for stage, lost in summary.lost.items()},
        "caps": _counts(summary.caps),
        "defects": _counts(summary.defects),
        "recorded": {
            "compared": summary.compared,
            "agree": summary.compared - len(summary.disagree),
            "disagree": summary.disagree,
        },
        "labels": _counts(summary.labels),
        "labelled": sum(len(label.runs) for label in summary.labels),
        "imported": summary.imported,
    }


def left_out(scores: Iterable[Score]) -> dict[str, list[dict[str, str | None]]]:
    """The runs that have no score, by outcome, as JSON."""
    found: dict[str, list[dict[str, str | None]]] = {name: [] for name in OUTCOMES if name != "scored"}
    for score in scores:
        if score.outcome != "scored":
            found[score.outcome].append({"run": score.run, "reason": score.reason})
    return found


def _share(share: Share) -> dict[str, Any]:
    low, high = stats.ends(share.interval, 4)
    value = stats.decimal(Fraction(share.part, share.whole), 4) if share.whole else None
    return {"part": share.part, "whole": share.whole, "share": value, "low": low, "high": high}


def _row(row: Row) -> dict[str, Any]:
    return {**row._asdict(), "credit": None if row.credit is None else stats.decimal(row.credit, 4)}


def _counts(counts: Iterable[Count]) -> list[dict[str, Any]]:
    return [count._asdict() for count in counts]


def headlines(summary: Summary) -> Iterator[str]:
    """How many runs there are, and what they are worth; a line each."""
    yield _counted(summary.opened, summary.sealed, summary.scored)
    for name, mean in (
        ("mean score", summary.headline),
        ("without runs in which a predicate was in error", summary.without_errors),
        ("with open and abandoned runs at 0", summary.with_unscored),
    ):
        if mean is not None:
            over = f"{_number(mean.runs, 'run')} of {_number(mean.tasks, 'task')}"
            yield f"{name}: {stats.decimal(mean.value, 1)} of {FULL}, {_between(mean.interval, 1)}, {over}"
    full = summary.full
    if full.whole:
        yield f"at full marks: {full.part} of {full.whole}, {_between(full.interval, 3)}"
    if summary.compared:
        agree = summary.compared - len(summary.disagree)
        yield f"agreement with the recorded reward: {agree} of {summary.compared}"


def _agents(comparison: Comparison) -> Iterator[str]:
    for agent in comparison.standings:
        yield f"{agent.label}: {_counted(len(agent.runs), agent.sealed, agent.scored)}"


def _counted(opened: int, sealed: int, scored: int) -> str:
    return f"{_number(opened, 'run')} opened, {sealed} sealed, {scored} scored, {opened - scored} left out"


def _comparison_remarks(comparison: Comparison) -> Iterator[str]:
    """Each trial that was not paired, and each cell that ends k, by name."""
    yield from unpaired(comparison)
    for trials in comparison.repeats:
        if trials.short:
            which = f"{trials.label}, {OVER[trials.basis]}"
            yield f"{which}: k ends at {trials.fewest}, the fewest trials, of {', '.join(trials.short)}"
    yield from comparison_notes(comparison)


def unpaired(comparison: Comparison) -> Iterator[str]:
    """Each trial that was not paired, once."""
    lines = (
        f"unpaired, {difference(gap)}: {each.place.name}, {each.why}"
        for gap in comparison.gaps
        for each in gap.unpaired
    )
    yield from dict.fromkeys(lines)


def comparison_notes(comparison: Comparison) -> Iterator[str]:
    """What the numbers of a comparison rest on."""
    gaps = [gap for gap in comparison.gaps if gap.basis == "scored"]
    if len({label for gap in gaps for label in (gap.first, gap.second)}) > ALL_PAIRS:
        yield f"of more than {ALL_PAIRS} agents each is compared with the next below by its mean"
    if gaps:
        yield SMALLEST
    if len(gaps) > 1:
        yield EACH


def _remarks(summary: Summary) -> Iterator[str]:
    for score in summary.left_out:
        yield f"left out: {score.run} is {score.outcome}: {score.reason}"
    yield from remarks(summary)
    yield from _scorers(summary)


def remarks(summary: Summary) -> Iterator[str]:
    """What there is to say of the runs, those that are left out and who judged aside; a line each."""
    for run in summary.disagree:
        yield f"differs from the recorded reward: {run}"
    for defect in summary.defects:
        where = f"in {_number(len(defect.runs), 'run')}, first {defect.runs[0]}"
        yield f"defect: {defect.name}: {defect.text}, {where}"
    for cap in summary.caps:
        yield f"cap `{cap.name}`, {cap.text}: {_number(len(cap.runs), 'run')}"
    labelled = sum(len(label.runs) for label in summary.labels)
    if labelled:
        yield f"label: {_number(labelled, 'run')} called other than they were graded"
    lost = [f"{stage} {stats.decimal(points, 1)}" for stage, points in summary.lost.items() if points]
    if lost:
        yield f"points lost on average: {', '.join(lost)}"
    yield from _notes(summary)


def _notes(summary: Summary) -> Iterator[str]:
    """What the numbers rest on."""
    local = sum(row.local for row in summary.rows)
    if local:
        yield f"{local} of {len(summary.rows)} predicates are local: they use more than the portable core"
    for sentence, runs in (
        (CUSTODY, summary.imported),
        (CONDUCT, summary.conduct_unchecked),
        (UNANCHORED, summary.unanchored),
    ):
        if runs:
            yield f"{sentence} ({runs} of {_number(summary.opened, 'run')})"
    yield INTERVALS


def _scorers(summary: Summary) -> Iterator[str]:
    for name, scorer in zip(summary.predicates, summary.scorers, strict=True):
        of = f" of {name}" if len(summary.scorers) > 1 else ""
        yield f"scorer{of} {scorer}"


def _run_table(scores: Iterable[Score]) -> Table:
    rows: list[tuple[str, ...]] = []
    for score in scores:
        value = score.outcome if score.value is None else points(score.value)
        recorded = "–" if score.recorded is None else points(score.recorded * FULL)
        remark = [*(["differs"] if score.agrees is False else []), *([score.label] if score.label else [])]
        row = (score.run[:_SHORT], score.task or "–", score.case or "–", value, recorded, "; ".join(remark))
        rows.append(row)
    heads = ("run", "task", "case", "score", "recorded", "remark")
    return Table(heads, rows, frozenset({0, 1, 2, 5}), "Runs")


def _predicate_table(summary: Summary) -> Table:
    rows: list[tuple[str, ...]] = []
    for row in summary.rows:
        counts = (row.weight, row.held, row.in_part, row.failed, row.errors, row.undecided)
        rows.append((f"{row.id}{' (local)' if row.local else ''}", row.stage, *map(str, counts)))
    heads = ("predicate", "stage", "weight", "held", "in part", "failed", "error", "undecided")
    return Table(heads, rows, _NAMES, "Predicates")


def _comparison_tables(comparison: Comparison) -> Iterator[Table]:
    """Each table that says something."""
    if comparison.standings:
        yield _agent_table(comparison)
    if comparison.repeats:
        yield _trial_table(comparison)
    if comparison.gaps:
        yield gap_table(comparison.gaps)


def _measure_tables(groups: Sequence[figures.Group], baseline: Kept) -> Iterator[Table]:
    yield from figures.tables(groups)
    if baseline is not None:
        yield from map(shift.shift_table, shift.versus(groups, baseline))


def _measure_remarks(groups: Sequence[figures.Group], baseline: Kept) -> Iterator[str]:
    if groups:
        yield figures.INTERVALS
    if baseline is not None:
        yield from shift.unmatched(groups, baseline)
        yield shift.CHANCE


def _agent_table(comparison: Comparison) -> Table:
    rows: list[tuple[str, ...]] = []
    for agent in comparison.standings:
        for basis, mean in agent.means:
            counts = (str(mean.runs), str(mean.tasks))
            value, ends = stats.decimal(mean.value, 1), span(mean.interval, 1)
            rows.append((agent.label, OVER[basis], *counts, value, ends))
    return Table(("agent", "over", "runs", "tasks", "mean", "95 % interval"), rows, _NAMES, "Agents")


def _trial_table(comparison: Comparison) -> Table:
    rows: list[tuple[str, ...]] = []
    for trials in comparison.repeats:
        for chance in trials.chances:
            counts = map(str, (trials.cells, trials.tasks, chance.k))
            one, every = (
                (stats.decimal(rate.value, 3), span(rate.interval, 3)) for rate in (chance.one, chance.every)
            )
            rows.append((trials.label, OVER[trials.basis], *counts, *one, *every))
    heads = ("agent", "over", "cells", "tasks", "k", "pass@k", "95 % interval", "pass^k", "95 % interval")
    return Table(heads, rows, _NAMES, "Trials")


def gap_table(gaps: Iterable[Gap]) -> Table:
    """Differences, a row each."""
    rows: list[tuple[str, ...]] = []
    for gap in gaps:
        mean, smallest = (
            "–" if each is None else stats.decimal(each, 1) for each in (gap.mean, gap.smallest)
        )
        counts = (str(gap.pairs), str(gap.tasks))
        rows.append((difference(gap), OVER[gap.basis], *counts, mean, span(gap.interval, 1), smallest))
    heads = ("difference", "over", "pairs", "tasks", "mean", "95 % interval", "smallest gap")
    return Table(heads, rows, _NAMES, "Differences")


def difference(gap: Gap) -> str:
    """What to call a difference."""
    return f"{gap.first} − {gap.second}"


def span(interval: stats.Interval | None, places: int) -> str:
    """An interval in a cell."""
    low, high = stats.ends(interval, places)
    return "–" if low is None else f"{low} to {high}"


def _between(interval: stats.Interval | None, places: int) -> str:
    low, high = stats.ends(interval, places)
    return "no interval from one task" if low is None else f"95 % interval {low} to {high}"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

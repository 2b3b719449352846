"""The report on many scores: aligned text, Markdown, and the JSON of `score --json`.

    text_of · markdown_of · document_of (scores, predicates)

One run's line: the id's first twelve digits, task, case, score, what the
makers recorded, label. Then what the scores come to, each mean with its interval,
and every run that is left out, by name and reason. Numbers are decimal text of
fixed places; the JSON holds the exact fractions too.

Not here: what is counted (`summary`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

from . import stats
from .predicates import FULL, PredicateSet
from .score import OUTCOMES, Score, exact
from .summary import Count, Mean, Row, Share, Summary, summarize

CUSTODY: Final = "signatures of imported runs prove custody since the import, not authorship"
CONDUCT: Final = "conduct unchecked: nothing says that briefs and scripted parties were as the task says"
UNANCHORED: Final = "unanchored: no checkpoint or pinned key from outside, so a cut tail can't be seen"
INTERVALS: Final = "intervals at 95 %: means by Student's t over tasks, shares by Wilson's score"

_SHORT = 12
_ESCAPED = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|~"})

Table = list[tuple[str, ...]]


def document_of(scores: Sequence[Score], predicates: PredicateSet) -> dict[str, Any]:
    """The report as JSON: the runs with their fixed fields, and the summary."""
    summary = summarize(scores, predicates)
    return {"runs": [score.document() for score in scores], "summary": _summary(summary)}


def text_of(scores: Sequence[Score], predicates: PredicateSet) -> str:
    """The report as text for a terminal, ended by a line end."""
    summary = summarize(scores, predicates)
    blocks = [
        _aligned(_run_rows(scores), left=(0, 1, 2, 5)),
        "\n".join(_headlines(summary)),
        _aligned(_predicate_rows(summary), left=(0, 1)),
        "\n".join(_remarks(summary)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def markdown_of(scores: Sequence[Score], predicates: PredicateSet) -> str:
    """The report as a Markdown document, ended by a line end."""
    summary = summarize(scores, predicates)
    title = _escaped(predicates.title or predicates.id)
    blocks = [
        f"# {title}",
        _bullets(_headlines(summary)),
        "## Predicates",
        _markdown(_predicate_rows(summary), left=(0, 1)),
        "## Runs",
        _markdown(_run_rows(scores), left=(0, 1, 2, 5)),
        "## Remarks",
        _bullets(_remarks(summary)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def points(value: Fraction) -> str:
    """A score as a report writes it: an integer when whole, else three decimals."""
    return str(value.numerator) if value.denominator == 1 else stats.decimal(value, 3)


def _summary(summary: Summary) -> dict[str, Any]:
    left_out: dict[str, list[dict[str, str | None]]] = {name: [] for name in OUTCOMES if name != "scored"}
    for score in summary.left_out:
        left_out[score.outcome].append({"run": score.run, "reason": score.reason})
    return {
        "predicates_id": summary.predicates,
        "scorer": summary.scorer,
        "opened": summary.opened,
        "sealed": summary.sealed,
        "scored": summary.scored,
        "left_out": left_out,
        "mean": _mean(summary.headline),
        "mean_without_errors": _mean(summary.without_errors),
        "mean_with_unscored_at_0": _mean(summary.with_unscored),
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
        "notes": list(_notes(summary)),
    }


def _mean(mean: Mean | None) -> dict[str, Any] | None:
    if mean is None:
        return None
    low, high = _ends(mean.interval, 3)
    return {
        "exact": exact(mean.value),
        "mean": stats.decimal(mean.value, 3),
        "low": low,
        "high": high,
        "runs": mean.runs,
        "tasks": mean.tasks,
    }


def _share(share: Share) -> dict[str, Any]:
    low, high = _ends(share.interval, 4)
    value = stats.decimal(Fraction(share.part, share.whole), 4) if share.whole else None
    return {"part": share.part, "whole": share.whole, "share": value, "low": low, "high": high}


def _ends(interval: stats.Interval | None, places: int) -> tuple[str | None, str | None]:
    if interval is None:
        return None, None
    return stats.decimal(interval.low, places), stats.decimal(interval.high, places)


def _row(row: Row) -> dict[str, Any]:
    return {**row._asdict(), "credit": None if row.credit is None else stats.decimal(row.credit, 4)}


def _counts(counts: Iterable[Count]) -> list[dict[str, Any]]:
    return [count._asdict() for count in counts]


def _headlines(summary: Summary) -> Iterator[str]:
    yield (
        f"{_number(summary.opened, 'run')} opened, {summary.sealed} sealed, {summary.scored} scored,"
        f" {len(summary.left_out)} left out"
    )
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


def _remarks(summary: Summary) -> Iterator[str]:
    for score in summary.left_out:
        yield f"left out: {score.run} is {score.outcome}: {score.reason}"
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
    yield f"scorer {summary.scorer}"


def _run_rows(scores: Iterable[Score]) -> Table:
    rows: Table = [("run", "task", "case", "score", "recorded", "remark")]
    for score in scores:
        value = score.outcome if score.value is None else points(score.value)
        recorded = "–" if score.recorded is None else points(score.recorded * FULL)
        remark = [*(["differs"] if score.agrees is False else []), *([score.label] if score.label else [])]
        row = (score.run[:_SHORT], score.task or "–", score.case or "–", value, recorded, "; ".join(remark))
        rows.append(row)
    return rows


def _predicate_rows(summary: Summary) -> Table:
    rows: Table = [("predicate", "stage", "weight", "held", "in part", "failed", "error", "undecided")]
    for row in summary.rows:
        counts = (row.weight, row.held, row.in_part, row.failed, row.errors, row.undecided)
        rows.append((f"{row.id}{' (local)' if row.local else ''}", row.stage, *map(str, counts)))
    return rows


def _aligned(rows: Table, left: Sequence[int]) -> str:
    """Columns two spaces apart: those of `left` begin, the others end, at one place."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def _markdown(rows: Table, left: Sequence[int]) -> str:
    head, *body = [f"| {' | '.join(map(_escaped, row))} |" for row in rows]
    rule = f"| {' | '.join('---' if place in left else '--:' for place in range(len(rows[0])))} |"
    return "\n".join([head, rule, *body])


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_escaped(line)}" for line in lines)


def _escaped(text: str) -> str:
    return text.translate(_ESCAPED)


def _between(interval: stats.Interval | None, places: int) -> str:
    low, high = _ends(interval, places)
    return "no interval from one task" if low is None else f"95 % interval {low} to {high}"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

"""What a study found: claims that hold or don't, its runs, figures, and tables for people.

    text       a title, a line a claim, aligned tables, notes
    Markdown   the same, for docs/STUDIES.md
    document   the same without the tables: {study, holds, claims, runs, figures}

Not here: what is found (each study's module).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...scorers.tables import Table, aligned, markdown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .stage import Played

_SHORT = 12


class Claim(NamedTuple):
    """Something that a study is to show, and whether it did; ``told`` is what was found."""

    claim: str
    holds: bool
    told: str


class Report(NamedTuple):
    """One study's report."""

    study: str
    title: str
    claims: Sequence[Claim]
    runs: Sequence[Played]
    figures: Mapping[str, Any]
    tables: Sequence[Table]
    notes: Sequence[str] = ()

    @property
    def holds(self) -> bool:
        """Whether all that was to be shown was."""
        return all(claim.holds for claim in self.claims)


def table_of(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """Figures for people: the first column says of what, the others end at one place."""
    return Table(heads, rows, frozenset({0}))


def replay_claims(runs: Sequence[Played], again: Sequence[str | None]) -> list[Claim]:
    """What every study claims of its runs; ``again`` are the roots of the same runs played once more."""
    good = sum(run.is_good for run in runs)
    same = sum(run.root == root for run, root in zip(runs, again, strict=True))
    return [
        Claim("every run verifies, and replays to its state", good == len(runs), f"{good} of {len(runs)}"),
        Claim("played again, the same run roots", same == len(runs), f"{same} of {len(runs)}"),
    ]


def document_of(report: Report) -> dict[str, Any]:
    """The report as `--json` prints it."""
    return {
        "study": report.study,
        "holds": report.holds,
        "claims": [claim._asdict() for claim in report.claims],
        "runs": [run._asdict() for run in report.runs],
        "figures": report.figures,
    }


def text_of(report: Report) -> str:
    """The report for a terminal."""
    lines = [report.title, ""]
    lines += [f"{'ok' if one.holds else 'NOT'}  {one.claim}: {one.told}" for one in report.claims]
    for table in (*report.tables, *_runs(report)):
        lines += ["", aligned(table)]
    lines += ["", *report.notes] if report.notes else []
    return "\n".join(lines) + "\n"


def markdown_of(report: Report) -> str:
    """The report as Markdown, its title a heading of the second level."""
    lines = [f"## {report.title}", ""]
    lines += [
        f"- {'holds' if one.holds else '**does not hold**'}: {one.claim} ({one.told})"
        for one in report.claims
    ]
    for table in (*report.tables, *_runs(report)):
        lines += ["", markdown(table)]
    for note in report.notes:
        lines += ["", note]
    return "\n".join(lines) + "\n"


def _runs(report: Report) -> list[Table]:
    rows = [
        (run.run[:_SHORT], str(run.records), (run.root or "none")[:_SHORT], run.state[:_SHORT])
        for run in report.runs
    ]
    return [table_of(("run", "records", "run root", "state root"), rows)] if rows else []

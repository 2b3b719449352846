"""`tollbook score`: what runs were worth, judged again from the trace; no model is called.

    RUN… or FILE ─► verify ─► replayed run ─► predicates ─► score, receipt, and the diff to the last one

What was scored is printed even where no receipt could be kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...protocol.errors import ScoreError, TollbookError
from ..console import Exit, check_form, json_option, print_document, printable
from ..scoring import exit_of, judge_of, runs_argument, scores_of, task_option
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...scorers.receipt import Difference, Stated
    from ...scorers.score import Score


@click.command()
@runs_argument
@task_option
@click.option("--markdown", is_flag=True, help="Print the report as Markdown.")
@json_option
@pass_session
def command(
    session: Session, what: tuple[str, ...], task: Path | None, *, markdown: bool, as_json: bool
) -> Exit:
    """Score runs of the ledger, by id or its beginning (all without one), or the runs of a bundle FILE.

    Each run is verified first; one that doesn't verify is left out by name. Where
    the ledger's secret is at hand, a receipt of each score is kept in the ledger,
    signed, and what moved since the last one is shown.
    """
    from ...scorers.report import document_of, markdown_of, text_of  # noqa: PLC0415 - brings in CEL

    check_form(json=as_json, markdown=markdown)
    judge = judge_of(task)
    scores = scores_of(session, what, judge, quiet=as_json)
    moved, unkept = _receipts(session, what, scores)
    if as_json:
        document = document_of(scores, judge.sets)
        print_document("score", {**document, "moved": [_moved(difference) for difference in moved]})
    elif markdown:
        click.echo(markdown_of(scores, judge.sets), nl=False)
    else:
        click.echo(text_of(scores, judge.sets), nl=False)
        _print_moved(moved)
    return exit_of(scores, unkept)


def _receipts(
    session: Session, what: Sequence[str], scores: Sequence[Score]
) -> tuple[list[Difference], ScoreError | None]:
    """What moved since the last receipts, once new ones are kept, and why none could be."""
    from ..complaint import complaint_of  # noqa: PLC0415 - for failures only
    from ..receipts import keep_receipts  # noqa: PLC0415 - brings in CEL
    from ..selection import bundle_of  # noqa: PLC0415 - the help needs none

    if bundle_of(what) is not None:
        return [], None
    try:
        return keep_receipts(session, scores), None
    except (TollbookError, OSError) as error:
        complaint = complaint_of(error)
        assert complaint is not None
        what_failed = f"the scores stand, but no receipt was kept: {complaint.text}"
        return [], ScoreError("receipt.unkept", what_failed, complaint.hint)


def _moved(difference: Difference) -> dict[str, object]:
    from ...scorers.score import exact  # noqa: PLC0415 - brings in CEL

    return {
        "run": difference.run,
        "before": exact(difference.before),
        "after": None if difference.after is None else exact(difference.after),
        "same_scorer": difference.same_scorer,
        "moves": [move._asdict() for move in difference.moves],
    }


def _print_moved(moved: Sequence[Difference]) -> None:
    from ...scorers.report import points  # noqa: PLC0415 - brings in CEL

    if moved:
        click.echo("\nmoved since the last score:")
    for difference in moved:
        after = "no score" if difference.after is None else points(difference.after)
        click.echo(f"  {difference.run[:12]}  {points(difference.before)} → {after}")
        for move in difference.moves:
            records = f" (records {', '.join(map(str, move.seqs))})" if move.seqs else ""
            click.echo(f"    {printable(move.id)}: {_said(move.before)} → {_said(move.after)}{records}")


def _said(value: Stated | None) -> str:
    """A predicate's value in words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"{value[0]} of {value[1]}"
    return "none" if value is None else value

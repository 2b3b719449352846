"""`tollbook score`: what runs were worth, judged again from the trace; no model is called.

    RUN… or FILE ─► verify ─► replayed run ─► predicates ─► score, receipt, and the diff to the last one
                                           ─► measures ─► intervals, and what moved since a baseline

What was scored is printed even where no receipt could be kept.
"""

from __future__ import annotations

from pathlib import Path

import click

from ..console import PATH, Exit, check_form, json_option, print_document
from ..moved import moved_document, print_moved
from ..scoring import exit_of, judge_of, runs_argument, scores_of, task_option
from ..session import Session, pass_session


@click.command()
@runs_argument
@task_option
@click.option(
    "--baseline", type=PATH, help="An earlier document of `score --json`, to flag measures that moved since."
)
@click.option("--markdown", is_flag=True, help="Print the report as Markdown.")
@json_option
@pass_session
def command(  # noqa: PLR0913 - a parameter an option
    session: Session,
    what: tuple[str, ...],
    task: Path | None,
    baseline: Path | None,
    *,
    markdown: bool,
    as_json: bool,
) -> Exit:
    """Score runs of the ledger, by id or its beginning (all without one), or the runs of a bundle FILE.

    Each run is verified first; one that doesn't verify is left out by name. Where
    the ledger's secret is at hand, a receipt of each score is kept in the ledger,
    signed, and what moved since the last one is shown. Runs of a market that has
    measures, such as `auction`, are followed by these, with bootstrap intervals; a
    document of `score --json` that was kept serves as the baseline of a later call.
    """
    from ...scorers.report import document_of, markdown_of, text_of  # noqa: PLC0415 - brings in CEL
    from ...scorers.shift import read_baseline  # noqa: PLC0415 - as above
    from ..receipts import receipts_or_why  # noqa: PLC0415 - as above

    check_form(json=as_json, markdown=markdown)
    kept = None if baseline is None else read_baseline(baseline.read_bytes(), str(baseline))
    judge = judge_of(task, measured=True)
    scores = scores_of(session, what, judge, quiet=as_json)
    moved, unkept = receipts_or_why(session, what, scores)
    if as_json:
        document = document_of(scores, judge.sets, kept)
        print_document("score", {**document, "moved": [moved_document(difference) for difference in moved]})
    elif markdown:
        click.echo(markdown_of(scores, judge.sets, kept), nl=False)
    else:
        click.echo(text_of(scores, judge.sets, kept), nl=False)
        print_moved(moved)
    return exit_of(scores, unkept)

"""`tollbook report`: a panel of agents on one page that needs no other file.

    RUN… or FILE ─► verify ─► judge ─► scores ─► receipts ─► overview, seven analyses ─► FILE.html or FILE.md

The same runs give the same bytes: no date, nothing by chance. A page is written
whole or not at all, and also where no receipt could be kept.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...protocol.errors import UsageError
from ..console import PATH, Exit, counted, json_option, print_document
from ..moved import moved_document, print_moved
from ..scoring import exit_of, judge_of, runs_argument, scores_of, task_option
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...scorers.predicates import PredicateSet
    from ...scorers.score import Score

_FORMS = {".html": ("matplotlib", "markdown_it"), ".md": ("matplotlib",)}
"""Each form of a page by the end of its name, and what it takes."""


@click.command()
@runs_argument
@task_option
@click.option(
    "-o",
    "--output",
    type=PATH,
    default=Path("report.html"),
    show_default=True,
    help="The page: HTML or Markdown, as its name ends in `.html` or `.md`.",
)
@json_option
@pass_session
def command(
    session: Session, what: tuple[str, ...], task: Path | None, output: Path, *, as_json: bool
) -> Exit:
    """Write one page on runs of the ledger, all without a RUN, or on those of a bundle FILE.

    It holds what was scored, each agent's mean with its interval, the analyses
    of `tollbook analyse` with their charts, the runs that are left out and why,
    and each run's root, score and receipt. It loads nothing from elsewhere, and
    the same runs give the same bytes. Runs are verified and judged, and receipts
    kept, as by `tollbook score`. Needs the extra `plots`.
    """
    from ...ledger.bundle import write_bundle  # noqa: PLC0415 - the help needs none
    from ...scorers.analysis.plots import check_extra  # noqa: PLC0415 - brings in CEL
    from ..output import check_output  # noqa: PLC0415 - the help needs none
    from ..receipts import receipts_or_why  # noqa: PLC0415 - brings in CEL

    if output.suffix not in _FORMS:
        problem = f"`{output}` is neither HTML nor Markdown by its name"
        raise UsageError("usage.page", problem, "let it end in `.html` or `.md`")
    check_extra("a page", *_FORMS[output.suffix])
    check_output(session, output, "report")
    judge = judge_of(task, projected=True)
    scores = scores_of(session, what, judge, quiet=as_json)
    moved, unkept = receipts_or_why(session, what, scores)
    data = _page(session, what, scores, judge.sets, form=output.suffix).encode()
    write_bundle(output, [data])
    scored = sum(score.outcome == "scored" for score in scores)
    digest = sha256(data).hexdigest()
    if as_json:
        fields = {"file": str(output), "digest": digest, "opened": len(scores), "scored": scored}
        print_document("report", {**fields, "moved": [moved_document(difference) for difference in moved]})
    else:
        click.echo(f"wrote {output}: {counted(len(scores), 'run')}, {scored} scored")
        click.echo(f"sha256 {digest}")
        print_moved(moved)
    return exit_of(scores, unkept)


def _page(
    session: Session, what: Sequence[str], scores: Sequence[Score], sets: Sequence[PredicateSet], *, form: str
) -> str:
    from ...scorers.analysis.overview import overview  # noqa: PLC0415 - brings in CEL
    from ...scorers.analysis.page import html_page, markdown_page  # noqa: PLC0415 - as above
    from ..receipts import receipt_digests  # noqa: PLC0415 - as above
    from ..selection import bundle_of  # noqa: PLC0415 - the help needs none

    receipts = {} if bundle_of(what) is not None else receipt_digests(session, scores)
    blocks = [*overview(scores, sets, receipts)]
    return html_page(blocks) if form == ".html" else markdown_page(blocks)

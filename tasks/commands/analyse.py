"""`tollbook analyse`: what a panel of runs can tell, one question at a time.

    RUN… or FILE ─► verify ─► judge ─► scores ─► analysis ─► text · Markdown · JSON · SVG

Nothing is kept: receipts are for `tollbook score`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...scorers.analysis.names import NAMES, OF_VIEWS, sheet_of
from ..console import PATH, Exit, check_form, document_text, json_option
from ..scoring import exit_of, judge_of, runs_argument, scores_of, task_option
from ..session import Session, pass_session

if TYPE_CHECKING:
    from ...scorers.analysis.sheet import Sheet


@click.command()
@click.argument("name", type=click.Choice(NAMES), metavar="NAME")
@runs_argument
@task_option
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@json_option
@click.option("--svg", is_flag=True, help="Draw the charts as one SVG; needs the extra `plots`.")
@click.option("-o", "--output", type=PATH, help="Write to this file instead; `.gz` at its end packs it.")
@pass_session
def command(  # noqa: PLR0913 - its options
    session: Session,
    name: str,
    what: tuple[str, ...],
    task: Path | None,
    output: Path | None,
    *,
    markdown: bool,
    as_json: bool,
    svg: bool,
) -> Exit:
    """Analyse runs of the ledger, by id or its beginning (all without one), or the runs of a bundle FILE.

    NAME is credit (how many runs earn nothing, a part, all), means (by family,
    role and capability, with intervals), stages (where runs short of full
    credit lost most of it), weights (means were every predicate worth the
    same), collisions (runs short of full credit that look like one at full
    credit to who sees less), flips (how often two trials of one case come out
    differently), pairs (agents compared where both played) or renderings
    (whether results survive other words). Runs are verified and judged as by
    `tollbook score`; those without a score are left out by name. No receipts are
    kept.
    """
    check_form(json=as_json, markdown=markdown, svg=svg)
    if svg:
        from ...scorers.analysis.plots import check_extra  # noqa: PLC0415 - brings in CEL

        check_extra("a picture", "matplotlib")  # before the work, not after it
    if output is not None:
        from ..output import check_output  # noqa: PLC0415 - the help needs none

        check_output(session, output, "analysis")
    scores = scores_of(session, what, judge_of(task, projected=name in OF_VIEWS), quiet=as_json)
    sheet = sheet_of(name, scores)
    text = _document(sheet) if as_json else _picture(sheet) if svg else _text(sheet, markdown=markdown)
    if output is None:
        click.echo(text, nl=False)
    else:
        _write(output, text, quiet=as_json)
    return exit_of(scores)


def _document(sheet: Sheet) -> str:
    return document_text("analyse", {"analysis": sheet.name, **sheet.document, "notes": sheet.notes})


def _picture(sheet: Sheet) -> str:
    from ...scorers.analysis.plots import svg_of  # noqa: PLC0415 - for pictures only

    return svg_of(sheet.charts)


def _text(sheet: Sheet, *, markdown: bool) -> str:
    from ...scorers.analysis.sheet import markdown_of, text_of  # noqa: PLC0415 - brings in CEL

    return markdown_of(sheet) if markdown else text_of(sheet)


def _write(output: Path, text: str, *, quiet: bool) -> None:
    from ...ledger.bundle import write_bundle  # noqa: PLC0415 - the help needs none

    write_bundle(output, [text.encode()])
    if not quiet:
        click.echo(f"wrote {output}")

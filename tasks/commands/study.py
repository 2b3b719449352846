"""`tollbook study`: what the market does beyond one task, played, replayed and reported.

    persistence   one order over three episodes, the ledger closed between them
    market        five merchants and five buyers who see nothing of each other's mandates
    sparse        many buyers and merchants, five candidates each: how long it takes
    extension     a product domain, an action and a row type of a Python FILE
    auctions      a grid of auctions, by theory's bidders and by others: figures beside theory's

Every run that a study makes is verified and replayed, and played again for its root to repeat. Studies
have ledgers of their own, under a secret that everybody knows; `--keep` leaves them. Of a grid the first
session of each cell is played again, and what a ledger has is not.

Source: spec/commerce.md A6; the auctions page of the design, A.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from ...protocol.errors import BundleError, LedgerError
from ..console import PATH, Exit, check_form, json_option, print_document

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ..auctions.tally import Tally
    from ..studies.report import Report

_MOST_SIZE = 10_000

markdown_option = click.option("--markdown", is_flag=True, help="Print the report as Markdown.")
keep_option = click.option("--keep", type=PATH, help="Leave the study's ledgers in this new folder.")


@click.group(no_args_is_help=False)
def command() -> None:
    """Play a study, verify and replay its runs, and report what was found."""


@command.command()
@keep_option
@markdown_option
@json_option
def persistence(keep: Path | None, *, markdown: bool, as_json: bool) -> Exit:
    """Play one order over three episodes, with the ledger closed between them."""
    from ..studies import persistence as studied  # noqa: PLC0415 - brings in the market

    check_form(json=as_json, markdown=markdown)
    with _folder(keep) as folder:
        report = studied.study(folder)
    return _print(report, markdown=markdown, as_json=as_json)


@command.command()
@keep_option
@markdown_option
@json_option
def market(keep: Path | None, *, markdown: bool, as_json: bool) -> Exit:
    """Play one market of five merchants and five buyers, and compare what came of it with the optimum."""
    from ..studies import market as studied  # noqa: PLC0415 - brings in the market

    check_form(json=as_json, markdown=markdown)
    with _folder(keep) as folder:
        report = studied.study(folder)
    return _print(report, markdown=markdown, as_json=as_json)


@command.command()
@click.option(
    "--size",
    "sizes",
    type=click.IntRange(1, _MOST_SIZE),
    multiple=True,
    metavar="N",
    show_default="10, 100, 1000",
    help="Buyers, and as many merchants; can be given more than once.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    metavar="N",
    help="Markets of each size.",
)
@markdown_option
@json_option
def sparse(sizes: tuple[int, ...], seeds: int, *, markdown: bool, as_json: bool) -> Exit:
    """Play markets of many buyers and merchants in memory, and measure CPU seconds by phase."""
    from ..progress import progress  # noqa: PLC0415 - the help needs none
    from ..studies import sparse as studied  # noqa: PLC0415 - brings in the market

    check_form(json=as_json, markdown=markdown)
    asked = tuple(dict.fromkeys(sizes)) or studied.SIZES
    with progress(len(asked) * seeds, "playing", quiet=as_json) as step:
        report = studied.study(asked, seeds, step)
    return _print(report, markdown=markdown, as_json=as_json)


@command.command()
@click.argument("file", type=PATH)
@keep_option
@markdown_option
@json_option
def extension(file: Path, keep: Path | None, *, markdown: bool, as_json: bool) -> Exit:
    """Play the cases of a Python FILE that adds to the market, without a change to this program.

    The FILE is run: give only one that you trust.
    """
    from ..studies import extension as studied  # noqa: PLC0415 - brings in the market

    check_form(json=as_json, markdown=markdown)
    found = studied.load(file)
    with _folder(keep) as folder:
        report = studied.study(folder, found)
    return _print(report, markdown=markdown, as_json=as_json)


@command.command()
@click.option(
    "--cells",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Only cells whose name this fits, such as `double.*`; may be given again.",
)
@click.option(
    "--sessions",
    type=click.IntRange(1, 10_000),
    default=5,
    show_default=True,
    metavar="N",
    help="Sessions of each cell, or as many as tell more.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1_000),
    default=40,
    show_default=True,
    metavar="N",
    help="Rounds of each session, or as many as tell more.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that play.",
)
@click.option(
    "--keep",
    type=PATH,
    metavar="LEDGER",
    help="Keep all runs in this ledger; what it has isn't played again.",
)
@click.option(
    "-o",
    "--output",
    type=PATH,
    metavar="FOLDER",
    help="Draw pictures into this folder; needs the extra `plots`.",
)
@markdown_option
@json_option
def auctions(  # noqa: PLR0913 - its options
    patterns: tuple[str, ...],
    sessions: int,
    rounds: int,
    jobs: int,
    keep: Path | None,
    output: Path | None,
    *,
    markdown: bool,
    as_json: bool,
) -> Exit:
    """Play a grid of auctions and set revenue, profits and prices beside what theory says of them.

    A cell is a format, a number of bidders, a value model and who bids; each session of it is a run,
    verified and its conduct checked. A study that was stopped goes on where its ledger ends.
    """
    from ..auctions.grid import chosen  # noqa: PLC0415 - brings in the market
    from ..auctions.report import study  # noqa: PLC0415 - as above
    from ..auctions.study import Size, check_kept, sessions_of  # noqa: PLC0415 - as above
    from ..progress import progress  # noqa: PLC0415 - the help needs none

    check_form(json=as_json, markdown=markdown)
    cells, size = chosen(patterns), Size(sessions, rounds)
    if keep is not None:
        check_kept(keep)
    if output is not None:
        _check_pictures(output)
    with progress(sessions_of(cells, size), "playing", quiet=as_json) as step:
        report, tallies = study(cells, size, jobs=jobs, keep=keep, step=step)
    if output is not None:
        _draw(output, tallies, quiet=as_json)
    return _print(report, markdown=markdown, as_json=as_json)


def _check_pictures(folder: Path) -> None:
    """Refuses a place where no pictures can be, or where none can be drawn, before the work."""
    from ...scorers.analysis.plots import check_extra  # noqa: PLC0415 - brings in CEL

    check_extra("a picture", "matplotlib")
    if folder.exists() and not folder.is_dir():
        raise BundleError("bundle.write", f"`{folder}` is not a folder", "name a folder for the pictures")
    if not folder.parent.is_dir():
        problem = f"there is no folder `{folder.parent}` for the pictures"
        raise BundleError("bundle.write", problem, "make it with `mkdir`, or check the path")


def _draw(folder: Path, tallies: Sequence[Tally], *, quiet: bool) -> None:
    from ...ledger.bundle import write_bundle  # noqa: PLC0415 - the help needs none
    from ...scorers.analysis.plots import svg_of  # noqa: PLC0415 - as above
    from ..auctions.charts import charts_of  # noqa: PLC0415 - as above

    folder.mkdir(exist_ok=True)
    for name, charts in charts_of(tallies).items():
        write_bundle(folder / f"{name}.svg", [svg_of(charts).encode()])
        if not quiet:
            click.echo(f"wrote {folder / name}.svg", err=True)


@contextmanager
def _folder(keep: Path | None) -> Generator[Path]:
    if keep is None:
        with TemporaryDirectory(prefix="tollbook-study-") as name:
            yield Path(name)
        return
    if os.path.lexists(keep):
        raise LedgerError("study.folder", f"`{keep}` is there already", "name a folder that is new")
    keep.mkdir(parents=True)
    yield keep


def _print(report: Report, *, markdown: bool, as_json: bool) -> Exit:
    from ..studies.report import document_of, markdown_of, text_of  # noqa: PLC0415 - the help needs none

    if as_json:
        print_document("study", document_of(report))
    else:
        click.echo(markdown_of(report) if markdown else text_of(report), nl=False)
    return Exit.GOOD if report.holds else Exit.FOUND_FALSE

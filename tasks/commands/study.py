"""`tollbook study`: what the market does beyond one task, played, replayed and reported.

    persistence   one order over three episodes, the ledger closed between them
    market        five merchants and five buyers who see nothing of each other's mandates
    sparse        many buyers and merchants, five candidates each: how long it takes
    extension     a product domain, an action and a row type of a Python FILE

Every run that a study makes is verified and replayed, and played again for its root to repeat. Studies
have ledgers of their own, under a secret that everybody knows; `--keep` leaves them.

Source: spec/commerce.md A6.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from ...protocol.errors import LedgerError
from ..console import PATH, Exit, check_form, json_option, print_document

if TYPE_CHECKING:
    from collections.abc import Generator

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

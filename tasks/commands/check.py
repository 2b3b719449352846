"""`tollbook check`: whether what the ledger promises holds here.

    integrity   thirteen cases, each done in a scratch ledger and shown with its evidence

Cases 8, 11 and 13 are also done to named runs: to copies of them, which are damaged and found.

Source: spec/commerce.md A5.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from ..console import Exit, counted, json_option, print_document, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..integrity.case import Shown


@click.group(no_args_is_help=False)
def command() -> None:
    """Check that what the ledger promises holds here."""


@command.command()
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@json_option
@pass_session
def integrity(session: Session, runs: tuple[str, ...], *, as_json: bool) -> Exit:
    """Do the thirteen integrity cases in a scratch ledger, and show what was found of each.

    With RUNs: cases 8, 11 and 13 are done to copies of these runs too; the ledger is only read.
    """
    from ..integrity import cases  # noqa: PLC0415 - brings in the market

    named = _named(session, runs)
    with TemporaryDirectory(prefix="tollbook-check-") as folder:
        shown = [*cases.scratch(Path(folder)), *cases.of_runs(named)]
    if as_json:
        print_document("check", {"cases": [each.document() for each in shown]})
    else:
        _print(shown)
    return Exit.GOOD if all(each.holds for each in shown) else Exit.FOUND_FALSE


def _named(session: Session, runs: Sequence[str]) -> list[tuple[str, list[bytes]]]:
    """The exports of the named runs, each by its id."""
    if not runs:
        return []
    from ...ledger.bundle import export_lines  # noqa: PLC0415 - brings in SQLite
    from ..selection import find_run  # noqa: PLC0415 - as above

    with session.store() as store:
        found = [find_run(store, word) for word in runs]
        return [(run_id, list(export_lines(store, [(number, run_id)]))) for number, run_id in found]


def _print(shown: Sequence[Shown]) -> None:
    for each in shown:
        verdict = "holds" if each.holds else "BROKEN"
        where = f" (run {each.run[:12]})" if each.run is not None else ""
        click.echo(f"{each.number:>2} {verdict}  {each.title}{where}")
        click.echo(f"   did: {printable(each.did)}")
        for name, value in each.evidence.items():
            click.echo(f"   {name}: {printable(str(value))}")
    broken = sum(not each.holds for each in shown)
    click.echo(f"{counted(len(shown), 'case')}, {broken} broken")

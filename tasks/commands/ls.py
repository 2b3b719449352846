"""`tollbook ls`: the runs of the ledger, one line each."""

from __future__ import annotations

import click

from ..console import json_option, print_document, printable
from ..session import Session, pass_session

_COLUMNS = ("run", "world", "task", "case", "trial", "records", "outcome")


@click.command()
@json_option
@pass_session
def command(session: Session, *, as_json: bool) -> None:
    """List the runs, in the order in which they were opened."""
    with session.store() as store:
        rows = store.overview()
    if as_json:
        print_document("ls", {"runs": rows})
        return
    lines = [[printable(_cell(column, row[column])) for column in _COLUMNS] for row in rows]
    widths = [max(len(line[place]) for line in [list(_COLUMNS), *lines]) for place in range(len(_COLUMNS))]
    for line in [list(_COLUMNS), *lines]:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(column: str, value: object) -> str:
    if column == "run":
        return str(value)[:12]
    if column == "outcome":
        return "open" if value is None else str(value)
    return "-" if value is None else str(value)

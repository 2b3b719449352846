"""`tollbook export`: runs as one self-contained file that anybody can check."""

from __future__ import annotations

from pathlib import Path

import click

from ..console import counted, json_option, print_document
from ..session import Session, pass_session


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The file; `.gz` at its end packs it.",
)
@click.option("--withhold", is_flag=True, help="Leave out texts and briefs; all else still verifies.")
@json_option
@pass_session
def command(session: Session, runs: tuple[str, ...], output: Path, *, withhold: bool, as_json: bool) -> None:
    """Write runs, all without a RUN, to one bundle: start rows, task, records, texts and checkpoints."""
    from ...ledger.bundle import export_lines, write_bundle  # noqa: PLC0415 - the help needs none
    from ..selection import select  # noqa: PLC0415 - as above

    with session.store() as store:
        chosen = select(store, runs)
        write_bundle(output, export_lines(store, chosen, withhold=withhold))
    if as_json:
        print_document("export", {"runs": [run_id for _run, run_id in chosen], "file": str(output)})
    else:
        click.echo(f"exported {counted(len(chosen), 'run')} to {output}")

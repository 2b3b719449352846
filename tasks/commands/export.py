"""`tollbook export`: runs as one self-contained file that anybody can check."""

from __future__ import annotations

from pathlib import Path

import click

from ...protocol.errors import BundleError
from ..console import PATH, counted, json_option, print_document
from ..session import Session, pass_session


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@click.option(
    "-o",
    "--output",
    type=PATH,
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
        _check_output(session, output)
        write_bundle(output, export_lines(store, chosen, withhold=withhold))
    if as_json:
        print_document("export", {"runs": [run_id for _run, run_id in chosen], "file": str(output)})
    else:
        click.echo(f"exported {counted(len(chosen), 'run')} to {output}")


def _check_output(session: Session, output: Path) -> None:
    """Refuses what a bundle must not be written over, and where none can be.

    Raises:
        BundleError: `bundle.write`.
    """
    folder = output.parent
    if output.is_dir():
        raise BundleError("bundle.write", f"`{output}` is a folder", "name a file in it")
    if not folder.is_dir():
        what = f"there is no folder `{folder}` for the export"
        raise BundleError("bundle.write", what, "make it with `mkdir`, or check the path")
    if output.exists() and not output.is_file():
        raise BundleError("bundle.write", f"`{output}` is not a file", "name a file")
    lock = Path(f"{session.ledger_path}.lock")
    for own in (session.ledger_path, session.secret_path, lock):
        if output.exists() and own.exists() and output.samefile(own):
            what = f"an export to `{output}` would destroy the ledger"
            raise BundleError("bundle.write", what, "name another file")

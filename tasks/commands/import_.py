"""`tollbook import`: runs that others recorded, or exported, into this ledger.

    import tau2 FILE --db FILE   recorded runs of the retail benchmark, said again and ruled on again
    import bundle FILE           runs of a Tollbook export, as they are

A run is taken whole or not at all; one that can't be is named with its reason,
the others are taken, and the exit code says that some were not.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from ...protocol.errors import LedgerError, SourceError
from ..console import PATH, counted, json_option, print_document, printable
from ..session import DEFAULT_NAME, Session, pass_session, secret_path_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ...ledger.transfer import Transfer
    from ..tau2.importer import Imported
    from ..tau2.modes import Parting


@click.group(no_args_is_help=False)
def command() -> None:
    """Bring recorded runs into the ledger."""


@command.command()
@click.argument("file", type=PATH)
@click.option("--db", type=PATH, required=True, help="The shop's database file.")
@click.option(
    "--mode",
    type=click.Choice(["compat", "strict"]),
    default="compat",
    show_default=True,
    help="The shop's rules: as recorded, or in whole cents with each line its own variant.",
)
@json_option
@pass_session
def tau2(session: Session, file: Path, db: Path, mode: str, *, as_json: bool) -> None:
    """Import the recorded retail runs of FILE: a results file, a folder of them, or a viewer export.

    Every message is said again under this ledger's keys and every call ruled
    on again; what the source showed is compared with what the market shows.
    """
    from ..progress import progress  # noqa: PLC0415 - the help needs none
    from ..tau2.importer import import_runs, read_shop  # noqa: PLC0415 - brings in the market
    from ..tau2.modes import partings  # noqa: PLC0415 - as above
    from ..tau2.source import read_source  # noqa: PLC0415 - as above

    source = read_source(file)
    shop = read_shop(db, mode)
    other = read_shop(db, "compat") if mode == "strict" else None
    if not source.runs:
        raise SourceError("source.empty", f"`{file}` holds no runs", "give a file with recorded runs in it")
    secret = session.secret_or_new()
    with (
        session.store_to_write(secret) as store,
        progress(len(source.runs), "importing", quiet=as_json) as step,
    ):
        imported = import_runs(store, secret, session.name, source, shop, step)
    parted = [] if other is None else list(partings(source, compat=other, strict=shop))
    if as_json:
        _print_json(imported, parted)
    else:
        _print(imported, parted, mode)
        for flawed in imported.refused:
            name = printable(flawed.name)
            click.echo(f"not imported: run {flawed.index} `{name}`: {printable(flawed.text)}", err=True)
    _complain([flawed.code for flawed in imported.refused], len(source.runs))


@command.command()
@click.argument("file", type=PATH)
@json_option
@pass_session
def bundle(session: Session, file: Path, *, as_json: bool) -> None:
    """Import the runs of a bundle that `tollbook export` made, once they verify."""
    from ...ledger.transfer import import_bundle  # noqa: PLC0415 - brings in the market
    from ..selection import bundle_file, naming  # noqa: PLC0415 - the help needs none

    path = bundle_file(file)
    with naming(path):
        taken = None if session.ledger_path.exists() else _try_out(path)
        if taken is None or taken.runs:
            secret = session.secret_or_new()
            with session.store_to_write(secret) as store:
                taken = import_bundle(path, store)
    if as_json:
        print_document("import", {**taken._asdict(), "runs": len(taken.runs), "ids": taken.runs})
    else:
        click.echo(f"imported {counted(len(taken.runs), 'run')} from {printable(file.name)}")
        for run in taken.open:
            click.echo(f"run {run[:12]} is open: the file ends before its seal", err=True)
        for refused in taken.refused:
            click.echo(f"not imported: {printable(refused.text)}", err=True)
    _complain([refused.code for refused in taken.refused], len(taken.runs) + len(taken.refused))


def _try_out(file: Path) -> Transfer:
    """What importing a bundle into a new ledger gives, so that a refused one leaves nothing behind.

    Raises:
        BundleError: as `import_bundle`.
    """
    from ...ledger.transfer import import_bundle  # noqa: PLC0415 - brings in the market

    with TemporaryDirectory() as folder:
        session = Session(path := Path(folder) / "try.db", secret_path_of(path), DEFAULT_NAME)
        with session.store_to_write(session.secret_or_new()) as store:
            return import_bundle(file, store)


def _complain(codes: Collection[str], runs: int) -> None:
    """Says that some of so many runs were refused, each by its code, if any was.

    Raises:
        LedgerError: `import.refused`.
    """
    if not codes:
        return
    known = {"run.exists"} == set(codes)
    hint = "they are here: see `tollbook ls`" if known else "each is named with its reason"
    raise LedgerError("import.refused", f"not imported: {len(codes)} of {counted(runs, 'run')}", hint)


def _print(imported: Imported, parted: Sequence[Parting], mode: str) -> None:
    click.echo(
        f"imported {counted(imported.runs, 'run')}: {counted(imported.messages, 'message')}, "
        f"{counted(imported.calls, 'call')}; {counted(imported.outputs_differ, 'output')} differ, "
        f"{imported.uncompared} could not be compared"
    )
    if mode == "strict":
        click.echo(f"strict and compat part on {counted(len(parted), 'run')}")
        for parting in parted:
            click.echo(f"  run {parting.index}: {printable(parting.text)}")


def _print_json(imported: Imported, parted: Sequence[Parting]) -> None:
    print_document(
        "import",
        {
            "runs": imported.runs,
            "messages": imported.messages,
            "calls": imported.calls,
            "outputs_differ": imported.outputs_differ,
            "uncompared": imported.uncompared,
            "refused": [refused._asdict() for refused in imported.refused],
            "modes_part": [parting._asdict() for parting in parted],
        },
    )

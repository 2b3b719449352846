"""`tollbook import`: runs that others recorded, or exported, into this ledger.

    import tau2 FILE --db FILE   recorded runs of the retail benchmark, said again and ruled on again
    import bundle FILE           runs of a Tollbook export, as they are
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..console import Exit, json_option, print_document, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

    from ..tau2.importer import Imported
    from ..tau2.modes import Parting


@click.group(no_args_is_help=False)
def command() -> None:
    """Bring recorded runs into the ledger."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--db", type=click.Path(path_type=Path), required=True, help="The shop's database file.")
@click.option(
    "--mode",
    type=click.Choice(["compat", "strict"]),
    default="compat",
    show_default=True,
    help="The shop's rules: as recorded, or in whole cents with each line its own variant.",
)
@json_option
@pass_session
def tau2(session: Session, file: Path, db: Path, mode: str, *, as_json: bool) -> Exit:
    """Import the recorded retail runs of FILE: a results file, a folder of them, or a viewer export.

    Every message is said again under this ledger's keys and every call ruled
    on again; what the source showed is compared with what the market shows.
    """
    from ..tau2.importer import import_runs, read_shop  # noqa: PLC0415 - brings in the market
    from ..tau2.modes import partings  # noqa: PLC0415 - as above
    from ..tau2.source import read_source  # noqa: PLC0415 - as above

    source = read_source(file)
    shop = read_shop(db, mode)
    other = read_shop(db, "compat") if mode == "strict" else None
    secret = session.secret_or_new()
    with session.store_to_write(secret) as store, _bar(len(source.runs)) as bar:
        imported = import_runs(store, secret, session.name, source, shop, lambda: bar.update(1))
    parted = [] if other is None else list(partings(source, compat=other, strict=shop))
    if as_json:
        _print_json(imported, parted)
    else:
        _print(imported, parted, mode)
    return Exit.COULD_NOT if imported.refused else Exit.GOOD


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@pass_session
def bundle(session: Session, file: Path, *, as_json: bool) -> Exit:
    """Import the runs of a bundle that `tollbook export` made, once they verify."""
    from ...ledger.transfer import import_bundle  # noqa: PLC0415 - brings in the market

    secret = session.secret_or_new()
    with session.store_to_write(secret) as store:
        taken = import_bundle(file, store)
    if as_json:
        print_document("import", {"runs": taken.runs, "open": taken.open, "refused": taken.refused})
    else:
        click.echo(f"imported {len(taken.runs)} runs from {printable(file.name)}")
        for run in taken.open:
            click.echo(f"run {run[:12]} is open: the file ends before its seal", err=True)
        for refused in taken.refused:
            click.echo(f"not imported: {refused.run[:12]}: {printable(refused.text)}", err=True)
    return Exit.COULD_NOT if taken.refused else Exit.GOOD


def _bar(length: int) -> ProgressBar[int]:
    return click.progressbar(length=length, label="importing", file=sys.stderr)


def _print(imported: Imported, parted: list[Parting], mode: str) -> None:
    click.echo(
        f"imported {imported.runs} runs: {imported.messages} messages, {imported.calls} calls; "
        f"{imported.outputs_differ} outputs differ, {imported.uncompared} could not be compared"
    )
    for refused in imported.refused:
        click.echo(f"not imported: run {refused.index} `{printable(refused.name)}`: {printable(refused.text)}", err=True)
    if mode == "strict":
        click.echo(f"strict and compat part on {len(parted)} runs")
        for parting in parted:
            click.echo(f"  run {parting.index}: {printable(parting.text)}")


def _print_json(imported: Imported, parted: list[Parting]) -> None:
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

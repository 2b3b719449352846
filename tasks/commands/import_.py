"""`tollbook import`: runs that others recorded, or exported, into this ledger.

    import tau2 FILE --db FILE   recorded runs of the retail benchmark, said again and ruled on again
    import bundle FILE           runs of a Tollbook export, as they are
    import uci FILE              a retailer's ledger of invoice lines, played through the market

A run is taken whole or not at all; one that can't be is named with its reason,
the others are taken, and the exit code says that some were not. So it is with
the lines of a ledger.
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
    from ..uci.importer import Imported as Ledger
    from ..uci.importer import Refused, Sum

_SHOWN = 100


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


@command.command()
@click.argument("file", type=PATH)
@json_option
@pass_session
def uci(session: Session, file: Path, *, as_json: bool) -> None:
    """Import a retailer's ledger of invoice lines, in the form of the UCI data set "Online Retail".

    Sales become orders that are paid, cancellations refunds of them, and the
    rest adjustments: a run for each month, or for 20,000 lines of one. A line
    that isn't posted is named with its reason. An import that was stopped goes
    on where it was.
    """
    from ..progress import progress  # noqa: PLC0415 - the help needs none
    from ..uci.importer import import_ledger  # noqa: PLC0415 - brings in the market
    from ..uci.periods import survey  # noqa: PLC0415 - as above

    found = survey(file)
    unposted: list[Refused] = []
    told = unposted.append if as_json else _print_unposted
    secret = session.secret_or_new()
    with (
        session.store_to_write(secret) as store,
        progress(len(found.periods), "importing", quiet=as_json) as step,
    ):
        imported = import_ledger(store, secret, session.name, file, told, found, step)
    if as_json:
        _print_ledger_json(imported, unposted)
    else:
        _print_ledger(imported)
    refused = sum(one.lines for one in imported.refused.values())
    _complain(list(imported.refused), imported.lines, "line", refused)


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


def _complain(codes: Collection[str], of: int, noun: str = "run", refused: int | None = None) -> None:
    """Says that some of so many runs were refused, each by its code, if any was.

    ``refused`` is how many, where that is not how many codes there are.

    Raises:
        LedgerError: `import.refused`.
    """
    if not codes:
        return
    known = {"run.exists"} == set(codes)
    hint = "they are here: see `tollbook ls`" if known else "each is named with its reason"
    count = len(codes) if refused is None else refused
    raise LedgerError("import.refused", f"not imported: {count} of {counted(of, noun)}", hint)


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


def _print_unposted(refused: Refused) -> None:
    line, why = printable(refused.line[:_SHOWN]), printable(refused.text)
    click.echo(f"not posted: line {refused.number} `{line}`: {refused.code}: {why}", err=True)


def _print_ledger(imported: Ledger) -> None:
    known = f", {len(imported.known)} were here" if imported.known else ""
    click.echo(f"imported {counted(len(imported.runs), 'run')}{known}: {counted(imported.lines, 'line')}")
    sums = {**imported.posted, **{f"not posted, {code}": one for code, one in imported.refused.items()}}
    for name, one in sums.items():
        click.echo(f"  {name}: {counted(one.lines, 'line')}, {one.amount:,} GBP")
    amount = sum(one.amount for one in sums.values())
    click.echo(f"  in all: {counted(imported.lines, 'line')}, {amount:,} GBP")


def _print_ledger_json(imported: Ledger, unposted: Sequence[Refused]) -> None:
    print_document(
        "import",
        {
            "runs": len(imported.runs),
            "ids": imported.runs,
            "known": imported.known,
            "lines": imported.lines,
            "posted": {kind: _stated(one) for kind, one in imported.posted.items()},
            "ways": imported.ways,
            "refused": {code: _stated(one) for code, one in imported.refused.items()},
            "unposted": [
                {**line._asdict(), "amount": None if line.amount is None else str(line.amount)}
                for line in unposted
            ],
        },
    )


def _stated(one: Sum) -> dict[str, int | str]:
    return {"lines": one.lines, "amount": str(one.amount)}

"""`tollbook replay`: the state of a run at any record, by running the rules again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...protocol.errors import LedgerError
from ..console import Exit, json_option, print_document, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...ledger.audit import Auditor


@click.command()
@click.argument("run")
@click.option(
    "--at",
    "seq",
    type=click.IntRange(min=0),
    metavar="N",
    help="Stop after this record; the last by default.",
)
@json_option
@pass_session
def command(session: Session, run: str, seq: int | None, *, as_json: bool) -> Exit:
    """Rebuild the state of RUN and print its root and the rows that changed.

    Every decision on the way is made again and compared. Signatures are not
    checked: that is `tollbook verify`.
    """
    from ...ledger.replay import replay  # noqa: PLC0415 - brings in the market
    from ...ledger.verify import shelf_of  # noqa: PLC0415 - as above
    from ..reading import check_seq  # noqa: PLC0415 - as above
    from ..selection import find_run  # noqa: PLC0415 - as above

    with session.store() as store:
        number, run_id = find_run(store, run)
        if seq is not None:
            check_seq(store, number, run_id, seq)
        auditor = replay(store.records(number), shelf_of(store), seq)
        notes = store.notes(number)
    found = {**_found(auditor, run_id), "code": _code(notes)}
    if as_json:
        print_document("replay", found)
    else:
        _print(found)
    return Exit.FOUND_FALSE if auditor.findings else Exit.GOOD


def _found(auditor: Auditor, run_id: str) -> dict[str, Any]:
    import msgspec  # noqa: PLC0415 - the help needs none

    run = auditor.run
    if run is None or run.state is None:
        what = f"run `{run_id[:12]}` can't be replayed: its start rows or its rules are missing"
        raise LedgerError("run.rules", what, "see what is missing: `tollbook verify`")
    return {
        "run": run_id,
        "seq": run.size - 1,
        "state_root": run.state.root(),
        "rows": run.state.count(),
        "changed": [
            {"table": table, "key": key, "row": msgspec.to_builtins(row)}
            for table, key, row in run.state.changed()
        ],
        "findings": auditor.findings,
    }


def _code(notes: Sequence[str]) -> str | None:
    """Whether the code that made the run is the code here; None where the run doesn't say."""
    from ..play.environment import code_digest, code_of  # noqa: PLC0415 - the help needs none

    stated = [code for note in notes if (code := code_of(note)) is not None]
    if not stated:
        return None
    return "same" if stated[0] == code_digest() else "other"


def _print(found: dict[str, Any]) -> None:
    click.echo(f"run {found['run'][:12]} after record {found['seq']}")
    click.echo(f"state root {found['state_root']} over {found['rows']} rows")
    if found["code"] == "other":
        click.echo("the run was made by other code than this, which is no fault of it")
    for row in found["changed"]:
        click.echo(f"  changed {printable(row['table'])} {printable(row['key'])}")
    for finding in found["findings"]:
        click.echo(f"  {finding.code} at record {finding.seq}: {printable(finding.text)}")

"""`tollbook export`: runs as one self-contained file that anybody can check, or their books as a journal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...protocol.errors import LedgerError, UsageError
from ..console import PATH, counted, json_option, print_document
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...ledger.store import Store
    from ..journal import Book, Dialect


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
@click.option(
    "--journal",
    "dialect",
    type=click.Choice(["hledger", "beancount"]),
    help="Instead, the books of commerce runs as a plain-text journal for this program.",
)
@json_option
@pass_session
def command(  # noqa: PLR0913 - its options
    session: Session,
    runs: tuple[str, ...],
    output: Path,
    dialect: Dialect | None,
    *,
    withhold: bool,
    as_json: bool,
) -> None:
    """Write runs, all without a RUN, to one bundle: start rows, task, records, texts and checkpoints.

    A journal holds every entry of their books and asserts each account's
    balance at the end; `hledger check` or `bean-check` tells whether it adds
    up. Tick 0 is 1970-01-01, and each tick a day. Decisions are made again for
    it, signatures are not checked: that is `tollbook verify`.
    """
    from ...ledger.bundle import export_lines, write_bundle  # noqa: PLC0415 - the help needs none
    from ..journal import journal  # noqa: PLC0415 - as above
    from ..output import check_output  # noqa: PLC0415 - as above
    from ..selection import select  # noqa: PLC0415 - as above

    if withhold and dialect is not None:
        hint = "leave `--withhold` out: a journal holds no texts"
        raise UsageError("usage.journal", "`--withhold` goes with a bundle, not with `--journal`", hint)
    with session.store() as store:
        chosen = select(store, runs)
        check_output(session, output, "export")
        if dialect is None:
            write_bundle(output, export_lines(store, chosen, withhold=withhold))
        else:
            write_bundle(output, journal(dialect, _books(store, chosen)))
    if as_json:
        print_document("export", {"runs": [run_id for _run, run_id in chosen], "file": str(output)})
    else:
        click.echo(f"exported {counted(len(chosen), 'run')} to {output}")


def _books(store: Store, runs: Sequence[tuple[int, str]]) -> Iterator[Book]:
    """The books of runs, each replayed when its turn comes.

    Raises:
        LedgerError: `run.damaged`, a replay finds something; or as `book_of`.
    """
    from ...ledger.replay import replay  # noqa: PLC0415 - brings in the market
    from ...ledger.verify import shelf_of  # noqa: PLC0415 - as above
    from ..journal import book_of  # noqa: PLC0415 - as above

    for number, run_id in runs:
        auditor = replay(store.records(number), shelf_of(store))
        if auditor.findings or auditor.run is None:
            code = auditor.findings[0].code if auditor.findings else "grammar.open"
            what = f"run `{run_id[:12]}` is not good: {code}"
            raise LedgerError("run.damaged", what, "see what is wrong: `tollbook verify`")
        yield book_of(auditor.run)

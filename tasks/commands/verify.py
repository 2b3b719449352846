"""`tollbook verify`: whether runs are what they claim to be, by doing all of it again.

    RUN… or FILE ─► checks 1 to 5 (and 6 against a source) ─► findings ─► exit code
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..console import Exit, json_option, print_document, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...ledger.anchor import Pins
    from ...ledger.audit import Audit

_NEEDED = ("1", "2", "3", "4", "5")


@click.command()
@click.argument("what", nargs=-1, metavar="[RUN… | FILE]")
@click.option("--key", "keys", multiple=True, type=click.Path(path_type=Path), help="A file of keys that you pin.")
@click.option(
    "--checkpoint",
    "checkpoints",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A checkpoint that you kept: the run must agree with it.",
)
@click.option("--require", type=click.Choice(["anchored"]), help="Exit with 4 unless every run is anchored.")
@click.option("--source", type=click.Path(path_type=Path), help="The file that the runs were imported from.")
@click.option("--db", type=click.Path(path_type=Path), help="The shop's database file, with --source.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes for a ledger's runs.")
@json_option
@pass_session
def command(  # noqa: PLR0913 - click's way to take options
    session: Session,
    what: tuple[str, ...],
    keys: tuple[Path, ...],
    checkpoints: tuple[Path, ...],
    require: str | None,
    source: Path | None,
    db: Path | None,
    jobs: int,
    *,
    as_json: bool,
) -> Exit:
    """Verify runs of the ledger, by id or its beginning (all without one), or the runs of a bundle FILE."""
    from ..pins import read_pins  # noqa: PLC0415 - brings in cryptography

    pins = read_pins(keys, checkpoints)
    audits = list(_audits(session, what, pins, jobs=jobs, keep=source is not None))
    if source is not None:
        audits = _against(source, db, audits)
    if as_json:
        _print_json(audits)
    else:
        _print(audits)
    return _exit(audits, require)


def _audits(session: Session, what: Sequence[str], pins: Pins, *, jobs: int, keep: bool) -> Iterator[Audit]:
    from ...ledger.verify import audit_run, shelf_of, verify_bundle, verify_store  # noqa: PLC0415 - brings in the market
    from ..selection import bundle_of, select  # noqa: PLC0415 - as above

    bundle = bundle_of(what)
    if bundle is not None:
        yield from verify_bundle(bundle, pins, keep=keep)
        return
    with session.store() as store:
        runs = select(store, what)
        if keep:
            shelf = shelf_of(store)
            yield from [audit_run(store, run, run_id, shelf, pins, keep=True) for run, run_id in runs]
            return
    yield from verify_store(session.ledger_path, runs, pins, jobs)


def _against(source: Path, db: Path | None, audits: Sequence[Audit]) -> list[Audit]:
    """The audits with check 6: the source imported again, and compared."""
    from ..tau2.recheck import recheck  # noqa: PLC0415 - brings in the market

    findings = recheck(audits, source, db)
    return [
        audit._replace(
            findings=[*audit.findings, *(found := [one for one in findings if one.run == audit.run])],
            checks={**audit.checks, "6": "failed" if found else "done"},
        )
        for audit in audits
    ]


def _print_json(audits: Sequence[Audit]) -> None:
    findings = [finding for audit in audits for finding in audit.findings]
    print_document(
        "verify",
        {
            "runs": len(audits),
            "good": sum(audit.good for audit in audits),
            "findings": findings,
            "by_run": [_by_run(audit) for audit in audits],
        },
    )


def _by_run(audit: Audit) -> dict[str, Any]:
    return {
        "run": audit.run,
        "checks": audit.checks,
        "anchored": audit.anchored,
        "keys": audit.keys,
        "records": audit.records,
        "outcome": audit.outcome,
        "imported": audit.imported,
        "withheld": audit.withheld,
    }


def _print(audits: Sequence[Audit]) -> None:
    for audit in audits:
        click.echo(f"{audit.run[:12]}  {_verdict(audit)}")
        for finding in audit.findings:
            place = "" if finding.seq is None else f" at record {finding.seq}"
            click.echo(f"  {finding.code}{place}: {printable(finding.text)}")
    good = sum(audit.good for audit in audits)
    findings = sum(len(audit.findings) for audit in audits)
    click.echo(f"{len(audits)} runs, {good} good, {findings} findings")


def _verdict(audit: Audit) -> str:
    if audit.findings:
        verdict = "INVALID"
    elif audit.outcome is None:
        verdict = "open: not sealed, so not valid yet"
    else:
        undone = [check for check in _NEEDED if audit.checks[check] != "done"]
        verdict = "good" if audit.good else f"not done: check {', '.join(undone)}"
    marks = ["anchored" if audit.anchored else "unanchored", *(["imported"] if audit.imported else [])]
    marks += [f"{audit.withheld} parts withheld"] if audit.withheld else []
    return f"{verdict} ({audit.records} records; {', '.join(marks)})"


def _exit(audits: Sequence[Audit], require: str | None) -> Exit:
    if any(audit.findings for audit in audits):
        return Exit.FOUND_FALSE
    if any(audit.outcome is not None and not audit.good for audit in audits):
        return Exit.COULD_NOT
    if require == "anchored" and not all(audit.anchored for audit in audits):
        return Exit.BELOW_REQUIRED
    return Exit.GOOD



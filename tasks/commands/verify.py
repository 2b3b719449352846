"""`tollbook verify`: whether runs are what they claim to be, by doing all of it again.

    RUN… or FILE ─► checks 1 to 6 (of imported runs, 6 against a source) ─► findings ─► exit code

A checkpoint that the reader brought and that is of none of these runs is a
finding too: it is what a run that was left out looks like.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...protocol.errors import LedgerError, UsageError
from ..console import PATH, Exit, counted, json_option, print_document, print_error, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...ledger.anchor import Pins
    from ...ledger.audit import Audit, Keep
    from ...ledger.findings import Finding


class _Verified(NamedTuple):
    """The audits of the runs, and what was found of checkpoints that are of none of them."""

    audits: list[Audit]
    strays: list[Finding]

    @property
    def findings(self) -> list[Finding]:
        """Everything that was found."""
        return [finding for audit in self.audits for finding in audit.findings] + self.strays

    @property
    def good(self) -> int:
        """How many runs are sealed, checked whole, and without a finding."""
        return sum(audit.good and not audit.findings for audit in self.audits)


@click.command()
@click.argument("what", nargs=-1, metavar="[RUN… | FILE]")
@click.option(
    "--key", "keys", multiple=True, type=PATH, help="A file of keys that you pin."
)
@click.option(
    "--checkpoint",
    "checkpoints",
    multiple=True,
    type=PATH,
    help="A checkpoint that you kept: the run must agree with it.",
)
@click.option("--require", type=click.Choice(["anchored"]), help="Exit with 4 unless every run is anchored.")
@click.option("--source", type=PATH, help="The file that the runs were imported from.")
@click.option("--db", type=PATH, help="The shop's database file, with --source.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes for a ledger's runs.",
)
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
    from ...ledger.verify import strays  # noqa: PLC0415 - brings in the market
    from ..pins import read_pins  # noqa: PLC0415 - brings in cryptography

    if db is not None and source is None:
        raise UsageError("usage.db", "`--db` goes with `--source`", "give `--source FILE`, or leave it out")
    pins = read_pins(keys, checkpoints)
    known: set[str] = set()
    keep: Keep = "played" if source is None else True
    audits = list(_audits(session, what, pins, known, jobs=jobs, keep=keep, quiet=as_json))
    if source is not None:
        audits = _against(source, db, audits)
    verified = _Verified(audits, list(strays(audits, known, pins)))
    if as_json:
        _print_json(verified)
    else:
        _print(verified)
    if (pins.vkeys or pins.keys) and not any(_is_pinned(audit) for audit in audits):
        click.echo("none of the keys that you pinned is one of these runs'", err=True)
    return _exit(verified, require)


def _audits(  # noqa: PLR0913 - what is verified, and how
    session: Session,
    what: Sequence[str],
    pins: Pins,
    known: set[str],
    *,
    jobs: int,
    keep: Keep,
    quiet: bool,
) -> Iterator[Audit]:
    """The audits of the runs that are asked for; `known` gets the ids of all that are there."""
    from ...ledger.verify import verify_bundle, verify_store  # noqa: PLC0415 - brings in the market
    from ..conduct import played  # noqa: PLC0415 - as above
    from ..progress import progress  # noqa: PLC0415 - the help needs none
    from ..selection import bundle_of, naming, select  # noqa: PLC0415 - as above

    bundle = bundle_of(what)
    if bundle is not None:
        with naming(bundle):
            for audit in verify_bundle(bundle, pins, keep=keep, further=played):
                known.add(audit.run)
                yield audit
        return
    with session.store() as store:
        runs = select(store, what)
        known.update(run_id for _run, run_id in store.runs())
        audits = verify_store(session.ledger_path, runs, pins, jobs, keep=keep, further=played)
        with progress(len(runs), "verifying", quiet=quiet) as step:
            for audit in audits:
                yield audit
                step()


def _against(source: Path, db: Path | None, audits: Sequence[Audit]) -> list[Audit]:
    """The audits with check 6: the source imported again, and compared."""
    from ..tau2.recheck import recheck  # noqa: PLC0415 - brings in the market
    from ..uci.recheck import is_ledger  # noqa: PLC0415 - as above
    from ..uci.recheck import recheck as recheck_ledger  # noqa: PLC0415 - as above

    findings = recheck_ledger(audits, source) if is_ledger(source) else recheck(audits, source, db)
    return [
        audit._replace(
            findings=[*audit.findings, *(found := [one for one in findings if one.run == audit.run])],
            checks={**audit.checks, "6": "failed" if found else "done"},
        )
        for audit in audits
    ]


def _is_pinned(audit: Audit) -> bool:
    """Whether one of the run's keys is pinned, or differs from one that is."""
    differs = any(finding.code in ("checkpoint.key", "key.pinned") for finding in audit.findings)
    return differs or "pinned" in audit.keys.values()


def _print_json(verified: _Verified) -> None:
    print_document(
        "verify",
        {
            "runs": len(verified.audits),
            "good": verified.good,
            "findings": verified.findings,
            "by_run": [_by_run(audit) for audit in verified.audits],
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


def _print(verified: _Verified) -> None:
    for audit in verified.audits:
        click.echo(f"{printable(audit.run[:12])}  {_verdict(audit)}")
        for finding in audit.findings:
            _print_finding(finding)
    for finding in verified.strays:
        click.echo(f"{printable(finding.run[:12])}  not verified")
        _print_finding(finding)
    runs, findings = counted(len(verified.audits), "run"), counted(len(verified.findings), "finding")
    click.echo(f"{runs}, {verified.good} good, {findings}")


def _print_finding(finding: Finding) -> None:
    place = "" if finding.seq is None else f" at record {finding.seq}"
    click.echo(f"  {finding.code}{place}: {printable(finding.text)}")


def _verdict(audit: Audit) -> str:
    undone = _undone(audit)
    if audit.findings:
        verdict = "INVALID"
    elif undone:
        verdict = f"not done: check {', '.join(undone)}"
    else:
        verdict = "open: not sealed, so not valid yet" if audit.outcome is None else "good"
    marks = ["anchored" if audit.anchored else "unanchored", *(["imported"] if audit.imported else [])]
    marks += [f"{counted(audit.withheld, 'part')} withheld"] if audit.withheld else []
    marks += ["conduct unchecked"] if audit.custody == "played" and audit.checks["6"] == "not done" else []
    return f"{verdict} ({counted(audit.records, 'record')}; {', '.join(marks)})"


def _undone(audit: Audit) -> list[str]:
    """The checks that a run needs and that were not done; an open run has no seal or checkpoint yet."""
    from ...ledger.findings import NEEDED  # noqa: PLC0415 - the help needs none

    needed = NEEDED if audit.outcome is not None else NEEDED[:3]
    return [check for check in needed if audit.checks[check] != "done"]


def _exit(verified: _Verified, require: str | None) -> Exit:
    """The exit code.

    Raises:
        LedgerError: `verify.undone`, for runs that could not be checked whole; `verify.open`.
    """
    runs = verified.audits
    if verified.findings:
        return Exit.FOUND_FALSE
    undone = sum(bool(_undone(audit)) for audit in runs)
    if undone:
        what = f"{undone} of {counted(len(runs), 'run')} could not be checked whole"
        raise LedgerError("verify.undone", what, "get the start rows that they name, or a newer tollbook")
    opened = sum(audit.outcome is None for audit in runs)
    if opened:
        # What isn't sealed may lack its end, so a script must not take it for good.
        what = f"{opened} of {counted(len(runs), 'run')} is open: not sealed, so not valid yet"
        hint = "wait for its seal; a file whose end was cut off must be got whole"
        raise LedgerError("verify.open", what, hint)
    loose = sum(not audit.anchored for audit in runs)
    if require == "anchored" and loose:
        print_error(
            f"not anchored: {loose} of {counted(len(runs), 'run')}",
            "pin the ledger's key with `--key FILE`, or give checkpoints you kept with `--checkpoint FILE`",
        )
        return Exit.BELOW_REQUIRED
    return Exit.GOOD

"""Auditing what a file holds: a ledger's runs, or a bundle's.

    ledger ─► one audit a run, in as many processes as asked for
    bundle ─► one audit a run, in one pass

Not here: the audit itself (`audit`); what is printed of it (`tollbook.tasks`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ..protocol.errors import LedgerError
from .anchor import NO_PINS, Pins
from .audit import Audit, Auditor, Keep
from .blobs import Blob, Shelf, misnamed
from .bundle import Bundle, Flaw, Section, open_bundle
from .findings import Finding
from .forks import CAN_FORK, dealt
from .notes import parse_checkpoint, parse_note
from .store import Store

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from pathlib import Path


Further = Callable[["Audit"], "Audit"]
"""A check that goes on where an audit ends, such as of conduct."""


def shelf_of(store: Store) -> Shelf:
    """The blobs of a store."""

    def fetch(digest: str) -> Blob | None:
        lines = store.blob(digest)
        return Blob(digest, lines) if lines else None

    return Shelf(fetch)


def audit_run(  # noqa: PLR0913 - one run of a store, and how to judge it
    store: Store,
    run: int,
    run_id: str,
    shelf: Shelf,
    pins: Pins = NO_PINS,
    *,
    keep: Keep = False,
    signatures: bool = True,
) -> Audit:
    """The audit of one run of a store, as it stands at this moment; what can't be read is a finding too."""
    auditor = Auditor(shelf, pins, keep=keep, signatures=signatures)
    notes: list[str] = []
    try:
        with store.snapshot():
            for stored in store.records(run):
                auditor.record(stored)
            notes = store.notes(run)
            if store.size(run) == 0:
                auditor.find("grammar.open", "the run has no record", None)
    except LedgerError as error:
        auditor.find(error.code, error.text, None)
    return auditor.finish(notes, run_id)


def verify_store(  # noqa: PLR0913 - runs of a file, and how to judge them
    path: Path,
    runs: Sequence[tuple[int, str]],
    pins: Pins = NO_PINS,
    jobs: int = 1,
    *,
    keep: Keep = False,
    further: Further | None = None,
) -> Iterator[Audit]:
    """The audits of these runs of a ledger, in their order; those that `keep` all are made in one process.

    ``further`` goes on with each audit where it was made; of several processes
    none sends what was replayed or kept, which would be dear. What is wrong
    with the file as a whole comes with the first one. What checkpoints are of
    no run: `strays`.
    """
    with Store.read(path) as store:
        damage = store.damage()
    job = partial(_in_turn, path, pins=pins, keep=keep, further=further)
    parallel = CAN_FORK and jobs > 1 and len(runs) > 1 and keep is not True
    audits = _in_processes(job, runs, jobs) if parallel else job(runs)
    for audit in audits:
        yield audit if damage is None else _with(audit, Finding("", None, "store.damaged", damage))
        damage = None


def _in_turn(
    path: Path, runs: Sequence[tuple[int, str]], pins: Pins, *, keep: Keep, further: Further | None
) -> Iterator[Audit]:
    with Store.read(path) as store:
        shelf = shelf_of(store)
        for run, run_id in runs:
            audit = audit_run(store, run, run_id, shelf, pins, keep=keep)
            yield audit if further is None else further(audit)


def strays(audits: Sequence[Audit], known: Container[str], pins: Pins) -> Iterator[Finding]:
    """A finding for each checkpoint that is of none of these runs.

    ``known`` are the ids of all runs of the file, verified or not.
    """
    for note in pins.checkpoints:
        checkpoint = parse_checkpoint(parse_note(note).text)
        name, _, run_id = checkpoint.origin.rpartition("/run/")
        if any(audit.run == run_id and name in audit.keys for audit in audits):
            continue
        what = f"your checkpoint of {checkpoint.size} records is of none of the runs verified"
        if run_id not in known:
            what = f"log shorter than checkpoint size {checkpoint.size}: there is no such run"
        yield Finding(run_id, None, "checkpoint.origin", f"{what}: `{checkpoint.origin}`")


def _with(audit: Audit, *findings: Finding) -> Audit:
    """The audit with more findings of check 1."""
    return audit._replace(findings=[*findings, *audit.findings], checks={**audit.checks, "1": "failed"})


def verify_bundle(
    path: Path, pins: Pins = NO_PINS, *, keep: Keep = False, further: Further | None = None
) -> Iterator[Audit]:
    """The audits of a bundle's runs, in file order; ``further`` goes on with each.

    What is wrong with blobs comes with the first one; with those that no run
    has read, with the last.

    Raises:
        BundleError: the file can't be read, or is no bundle.
    """
    with open_bundle(path) as file:
        bundle = Bundle(file)
        shelf = Shelf(bundle.blobs.get)
        flaws = [Finding("", None, flaw.code, f"line {line}: {flaw.text}") for line, flaw in bundle.flaws]
        known: set[str] = set()
        held: Audit | None = None
        for section in bundle.runs():
            if held is not None:
                yield held
            audit = _audit_section(section, shelf, pins, known, keep=keep)
            audit = audit if further is None else further(audit)
            held = _with(audit, *flaws) if flaws else audit
            flaws = []
        assert held is not None, "a bundle holds a run"
        unread = (misnamed(blob) for blob in bundle.blobs.values() if blob.digest not in shelf.read)
        flaws = [Finding("", None, *flaw) for flaw in unread if flaw is not None]
        yield _with(held, *flaws) if flaws else held


def _audit_section(
    section: Section, shelf: Shelf, pins: Pins, known: set[str], *, keep: Keep = False
) -> Audit:
    """The audit of one run of a bundle, whose id joins those that are `known`."""
    auditor = Auditor(shelf, pins, keep=keep)
    for record in section.records:
        if isinstance(record, Flaw):
            auditor.unread(record.code, record.text, record.data)
        else:
            auditor.record(record)
    for line, flaw in section.flaws:
        auditor.end(flaw.code, f"line {line}: {flaw.text}")
    if auditor.label in known:
        auditor.end("bundle.form", "the run is in the file twice")
    known.add(auditor.label)
    return auditor.finish(section.notes)


def _in_processes(
    job: Callable[[Sequence[tuple[int, str]]], Iterator[Audit]], runs: Sequence[tuple[int, str]], jobs: int
) -> Iterator[Audit]:
    """As the job in one process, but an audit is sent without what was replayed and kept.

    Each process opens the file and reads start rows for itself: SQLite's locks
    must not be inherited, and what is read at the same time takes no time.
    """

    def audits(place: int) -> Iterator[Audit]:
        return (slim(audit) for audit in job(runs[place::jobs]))

    yield from dealt(audits, jobs, len(runs))


def slim(audit: Audit) -> Audit:
    """The audit without what was replayed and kept."""
    return audit._replace(replayed=None, deeds=[], evidence=[], briefs=[])

"""Auditing what a file holds: a ledger's runs, or a bundle's.

    ledger ─► one audit a run, in as many processes as asked for
    bundle ─► one audit a run, in one pass

Not here: the audit itself (`audit`); what is printed of it (`tollbook.tasks`).
"""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

from ..protocol.errors import LedgerError, TollbookError
from ..protocol.world import world_of
from .anchor import NO_PINS, Pins
from .audit import Audit, Auditor
from .blobs import Blob, Shelf
from .bundle import Bundle, Section, open_bundle
from .findings import Finding
from .records import OPEN
from .store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_CHUNKS_A_JOB = 4


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
    keep: bool = False,
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
    except LedgerError as error:
        auditor.find(error.code, error.text, None)
    return auditor.finish(notes, run_id)


def verify_store(
    path: Path, runs: Sequence[tuple[int, str]], pins: Pins = NO_PINS, jobs: int = 1
) -> Iterator[Audit]:
    """The audits of these runs of a ledger, in their order."""
    if jobs > 1 and len(runs) > 1 and "fork" in multiprocessing.get_all_start_methods():
        yield from _in_processes(path, runs, pins, jobs)
        return
    with Store.read(path) as store:
        shelf = shelf_of(store)
        for run, run_id in runs:
            yield audit_run(store, run, run_id, shelf, pins)


def verify_bundle(path: Path, pins: Pins = NO_PINS, *, keep: bool = False) -> Iterator[Audit]:
    """The audits of a bundle's runs, in file order.

    Raises:
        BundleError: the file can't be read, or is no bundle.
    """
    with open_bundle(path) as file:
        bundle = Bundle(file)
        shelf = Shelf(bundle.blobs.get)
        flaws = [Finding("", None, flaw.code, f"line {flaw.line}: {flaw.text}") for flaw in bundle.flaws]
        for section in bundle.runs():
            yield _audit_section(section, shelf, pins, flaws, keep=keep)
            flaws = []


def _audit_section(
    section: Section, shelf: Shelf, pins: Pins, before: Sequence[Finding], *, keep: bool
) -> Audit:
    auditor = Auditor(shelf, pins, keep=keep)
    for stored in section.records:
        auditor.record(stored)
    for finding in before:
        auditor.find(finding.code, finding.text, None)
    for flaw in section.flaws:
        auditor.find(flaw.code, f"line {flaw.line}: {flaw.text}", None)
    return auditor.finish(section.notes)


# What a worker needs was made before the fork, so start rows are read once.
_warm: dict[str, tuple[Path, Pins, Shelf]] = {}


def _in_processes(path: Path, runs: Sequence[tuple[int, str]], pins: Pins, jobs: int) -> Iterator[Audit]:
    size = max(1, -(-len(runs) // (jobs * _CHUNKS_A_JOB)))
    chunks = [runs[first : first + size] for first in range(0, len(runs), size)]
    with Store.read(path) as store:
        shelf = shelf_of(store)
        _read_facts(store, runs, shelf)
    _warm["job"] = (path, pins, shelf)
    try:
        with multiprocessing.get_context("fork").Pool(jobs) as pool:
            for audits in pool.imap(_audit_chunk, chunks):
                yield from audits
    finally:
        del _warm["job"]


def _read_facts(store: Store, runs: Sequence[tuple[int, str]], shelf: Shelf) -> None:
    for run, _run_id in runs:
        try:
            opened = OPEN.decode(store.body(run, 0))
            shelf.facts(opened.facts, world_of(opened.world))
        except (TollbookError, ValueError):
            continue  # the run's own audit says what is wrong


def _audit_chunk(runs: Sequence[tuple[int, str]]) -> list[Audit]:
    path, pins, warm = _warm["job"]
    with Store.read(path) as store:
        shelf = shelf_of(store).sharing(warm)
        audits = [audit_run(store, run, run_id, shelf, pins) for run, run_id in runs]
    return [audit._replace(replayed=None) for audit in audits]

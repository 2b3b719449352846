"""Runs of a bundle into a store: only what verifies, a run whole or not at all.

    first pass   every run audited; damage in the middle ends it, and nothing is taken
    second pass  each good run, with the blobs it names, in one transaction

A file that was cut off at its end (in a line, or between two) gives its last
run as far as it goes whole: a message without its decision, a record without
its parts, a seal without its checkpoint are left, and the run is open. What
was exported from a store and imported into another exports to the same bytes.

Not here: what makes a run good (`audit`); going on with an open one (`writer`).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ..protocol.errors import BundleError, LedgerError
from .anchor import NO_PINS, Pins
from .audit import Auditor
from .blobs import Blob, Shelf, misnamed
from .bundle import Bundle, Flaw, Lines, Section, open_bundle
from .records import OPEN, TURN, Stored
from .store import Draft, Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .audited import Audit

HINT = "`tollbook verify FILE` lists what is wrong; get a whole copy"


class Refused(msgspec.Struct, frozen=True):
    """A run that was not taken, and why."""

    run: str
    code: str
    text: str


class Transfer(NamedTuple):
    """What an import took: ids of runs, those among them that are open, and what was refused.

    ``torn`` says that the file is cut off at its end.
    """

    runs: list[str]
    open: list[str]
    refused: list[Refused]
    torn: bool


class _Read(NamedTuple):
    """What the first pass made of a run: how many of its records to take, and where the file then stood."""

    run: str
    size: int
    sealed: bool
    torn: bool
    place: bytes
    refused: Refused | None


class _Tally:
    """A file with a running digest, which says whether a second reading gives the same."""

    def __init__(self, file: Lines) -> None:
        self._file = file
        self._hash = sha256()

    def readline(self, size: int, /) -> bytes:
        """The next line, counted."""
        line = self._file.readline(size)
        self._hash.update(line)
        return line

    def digest(self) -> bytes:
        """The digest of all that was read."""
        return self._hash.digest()


def import_bundle(path: Path, store: Store, pins: Pins = NO_PINS) -> Transfer:
    """Takes every run of a bundle that verifies and isn't there yet.

    Raises:
        BundleError: the file is no bundle, or damaged before its end; nothing
            of it is taken.
        LedgerError: `ledger.write` and the like; the runs before are taken.
    """
    with open_bundle(path) as file:
        tally = _Tally(file)
        bundle = Bundle(tally)
        found = list(_judged(bundle, tally, store, pins))
        file.seek(0)
        tally = _Tally(file)
        bundle = Bundle(tally)
        sections = bundle.runs()
        for read in found:
            _take(store, bundle, next(sections, None), read, tally)
    taken = [read for read in found if read.refused is None]
    return Transfer(
        runs=[read.run for read in taken],
        open=[read.run for read in taken if not read.sealed],
        refused=[read.refused for read in found if read.refused is not None],
        torn=any(read.torn for read in found),
    )


def _judged(bundle: Bundle, tally: _Tally, store: Store, pins: Pins) -> Iterator[_Read]:
    for line, flaw in bundle.flaws:
        raise _damage(f"line {line}", flaw.code, flaw.text)

    def fetch(digest: str) -> Blob | None:
        lines = [] if digest in bundle.blobs else store.blob(digest)
        return Blob(digest, lines) if lines else bundle.blobs.get(digest)

    shelf = Shelf(fetch)
    known: set[str] = set()
    for section in bundle.runs():
        read = _judge(bundle, section, Auditor(shelf, pins), store)
        if read.run in known:
            raise _damage(f"run {read.run[:12]}", "bundle.form", "the run is in the file twice")
        known.add(read.run)
        yield read._replace(place=tally.digest())
    for blob in bundle.blobs.values():
        flaw = None if blob.digest in shelf.read else misnamed(blob)
        if flaw is not None:
            raise _damage(f"blob {blob.digest[:12]}", *flaw)


def _judge(bundle: Bundle, section: Section, auditor: Auditor, store: Store) -> _Read:
    held: Stored | None = None  # the last record, unless it is a decision: a cut may have left half of it
    for record in section.records:
        if isinstance(record, Flaw):
            raise _damage(f"run {auditor.label[:12]}", record.code, record.text)
        if held is not None:
            auditor.record(held)
        held = record
        if record.kind == "decision":
            auditor.record(record)
            held = None
    torn = False
    for line, flaw in section.flaws:
        if flaw.code != "bundle.torn":
            raise _damage(f"line {line}", flaw.code, flaw.text)
        torn = True
    # Where nothing was withheld before, missing parts are a sign of a cut.
    cut = torn or not auditor.withheld
    if held is not None and bundle.ended and _is_half(held, section, cut=cut):
        torn = True
    elif held is not None:
        auditor.record(held)
    audit = auditor.finish(section.notes)
    return _Read(audit.run, audit.records, audit.outcome is not None, torn, b"", _refused(audit, store))


def _is_half(record: Stored, section: Section, *, cut: bool) -> bool:
    """Whether the last record of a file that may be cut off lacks what belongs to it."""
    if section.notes:
        return False
    if record.kind in ("message", "seal"):
        return True
    held = {part.field for part in record.parts}
    try:
        if cut and record.kind == "brief":
            return held != {"part"}
        if cut and record.kind == "turn":
            turn = TURN.decode(record.body)
            return held != {field for field in ("gave", "given") if getattr(turn, field) is not None}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # the audit says so
    return False


def _refused(audit: Audit, store: Store) -> Refused | None:
    """Why a whole run isn't taken, or None.

    Raises:
        BundleError: its bytes aren't those that were written.
    """
    for finding in audit.findings:
        if finding.check == "1":
            place = (
                ", its file" if not finding.run else "" if finding.seq is None else f", record {finding.seq}"
            )
            raise _damage(f"run {audit.run[:12]}{place}", finding.code, finding.text)
    if audit.findings:
        first = audit.findings[0]
        return Refused(audit.run, first.code, f"run `{audit.run[:12]}` is not good: {first.text}")
    if audit.checks["3"] != "done":
        return Refused(audit.run, "facts.missing", f"the start rows of run `{audit.run[:12]}` are not here")
    try:
        store.refuse_known(audit.run)
    except LedgerError as error:
        return Refused(audit.run, error.code, error.text)
    return None


def _take(store: Store, bundle: Bundle, section: Section | None, read: _Read, tally: _Tally) -> None:
    if section is None:
        raise _changed()
    drafts: list[Draft] = []
    for record in section.records:
        if len(drafts) < read.size and isinstance(record, Stored) and read.refused is None:
            drafts.append(Draft(record.kind, record.body, record.sig, record.parts))
    if tally.digest() != read.place:
        raise _changed()
    if read.refused is not None:
        return
    opened = OPEN.decode(drafts[0].body)
    named = [opened.facts] if opened.task is None else [opened.facts, opened.task.digest]
    blobs = [(digest, bundle.blobs[digest].lines) for digest in named if digest in bundle.blobs]
    store.add_run(read.run, drafts, blobs, section.notes)


def _changed() -> BundleError:
    return BundleError("bundle.changed", "the file was changed while it was read", "import it again")


def _damage(where: str, code: str, text: str) -> BundleError:
    return BundleError("bundle.damaged", f"the file is damaged at {where}: {code}: {text}", HINT)

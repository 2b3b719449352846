"""Imported runs against the ledger they came from: the file imported again, thrown away, and compared.

    run ─ origin.source.index ─► the period at that place ─► its run of the second import ─► bodies compared

What is compared is what `tau2.recheck` compares: of `open` all but keys, of each message who said what to
whom. Not here: whether the run is good at all (`tollbook.ledger.audit`).
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...ledger.findings import Finding
from ...ledger.store import Store
from ...ledger.verify import audit_run, shelf_of
from ...protocol.derive import SECRET_BYTES, ledger_key
from ...protocol.errors import SourceError
from ...protocol.keys import key_text
from ..tau2.recheck import compared
from .importer import FORM, import_ledger
from .periods import survey
from .source import check_header, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...ledger.audit import Audit

# Nothing that this secret signs is kept or compared.
_SECRET = bytes(SECRET_BYTES)
_NAME = "recheck"


def is_ledger(path: Path) -> bool:
    """Whether a file begins as a ledger of invoice lines does; one that can't be read doesn't."""
    try:
        check_header(next(read_lines(path), b""), path)
    except SourceError:
        return False
    return True


def recheck(audits: Sequence[Audit], path: Path) -> list[Finding]:
    """How runs differ from the file; the audits kept their deeds.

    Findings are `source.missing` (no such run comes of the file),
    `source.digest` (its content is not what was imported) and `source.differs`.

    Raises:
        SourceError: as `survey`.
    """
    found = survey(path)
    with (
        TemporaryDirectory() as folder,
        Store.write(Path(folder) / "again.db", _NAME, key_text(ledger_key(_SECRET).public)) as store,
    ):
        import_ledger(store, _SECRET, _NAME, path, found=found)
        return [finding for audit in audits for finding in _differences(audit, found.digest, store)]


def _differences(audit: Audit, digest: str, store: Store) -> Iterator[Finding]:
    opened = None if audit.replayed is None else audit.replayed.opened
    source = None if opened is None else opened.origin.source
    if opened is None or source is None or source.form != FORM:
        what = "the run was not imported from a ledger of invoice lines"
        yield Finding(audit.run, None, "source.missing", what)
        return
    runs = store.runs()
    if source.index >= len(runs):
        yield Finding(audit.run, None, "source.missing", f"the source has no period at place {source.index}")
        return
    again = audit_run(store, *runs[source.index], shelf_of(store), keep=True, signatures=False)
    yield from compared(audit, opened, digest, again)

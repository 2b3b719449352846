"""What a run's stored records say, for commands that show them and judge nothing.

    run, seq ─► record ─► JSON of its kind's form, or an error that names it

A damaged ledger is found by `tollbook verify`; whoever only shows a record
says which one is missing or can't be read. Not here: what the record is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ..ledger.records import BODIES
from ..protocol.errors import LedgerError

if TYPE_CHECKING:
    from ..ledger.records import Stored
    from ..ledger.store import Store

_HINT = "see what is wrong: `tollbook verify`"


def check_seq(store: Store, run: int, run_id: str, seq: int) -> None:
    """Refuses a place behind a run's last record.

    Raises:
        LedgerError: `run.seq`.
    """
    size = store.size(run)
    if seq >= size:
        hint = f"give a number from 0 to {size - 1}" if size else _HINT
        raise LedgerError("run.seq", f"run `{run_id[:12]}` has no record {seq}", hint)


def record_of(store: Store, run: int, run_id: str, seq: int) -> Stored:
    """One record of a run.

    Raises:
        LedgerError: `run.seq`.
    """
    check_seq(store, run, run_id, seq)
    for stored in store.records(run):
        if stored.seq == seq:
            return stored
    raise LedgerError("run.seq", f"run `{run_id[:12]}` has no record {seq}", _HINT)


def ends_of(store: Store, run: int, run_id: str) -> tuple[Stored, Stored]:
    """A run's first record and its last one.

    Raises:
        LedgerError: `run.damaged`, it has none, or doesn't begin with an `open`.
    """
    first = last = None
    for last in store.records(run):
        first = first or last
    if first is None or last is None or first.kind != "open":
        raise LedgerError("run.damaged", f"run `{run_id[:12]}` doesn't begin with an open", _HINT)
    return first, last


def document_of(stored: Stored, run_id: str) -> dict[str, Any]:
    """A record's body as JSON, its form checked.

    Raises:
        LedgerError: `run.damaged`.
    """
    try:
        BODIES[stored.kind].decode(stored.body)
        return msgspec.json.decode(stored.body)
    except (KeyError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        what = f"record {stored.seq} of run `{run_id[:12]}` can't be read"
        raise LedgerError("run.damaged", what, _HINT) from None


def texts_of(stored: Stored) -> dict[str, str]:
    """The texts of a record's parts, by field."""
    return {part.field: part.text.text for part in stored.parts}

"""Replay: a run's state after any of its records, by running the rules again.

    records 0 … seq ─► the same audit without signatures ─► run.state

There is one way to make a state, and verifying goes it too; a replay only
leaves out the keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .audit import Auditor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .blobs import Shelf
    from .records import Stored


def replay(records: Iterable[Stored], shelf: Shelf, seq: int | None = None, *, keep: bool = False) -> Auditor:
    """The auditor of a run after record `seq`, or after the last one; its findings are of rules and form."""
    auditor = Auditor(shelf, keep=keep, signatures=False)
    for stored in records:
        auditor.record(stored)
        if stored.seq == seq:
            break
    return auditor

"""Receipts in the ledger: each score's, signed, and what moved since the one before.

    last receipt of a run ─► diff with its new score ─► a new receipt, where anything changed

A receipt that another key signed is passed over. Not here: what a receipt says (`tollbook.scorers.receipt`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ledger.notes import vkey_of
from ..protocol.derive import ledger_key
from ..protocol.errors import NoteError, ScoreError
from ..scorers.receipt import Difference, Receipt, diff, receipt_of, sign_receipt, verify_receipt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..ledger.notes import Vkey
    from ..ledger.store import Store
    from ..protocol.keys import SigningKey
    from ..scorers.score import Score
    from .session import Session


def keep_receipts(session: Session, scores: Sequence[Score]) -> list[Difference]:
    """Keeps a receipt for each scored run and returns what moved.

    Without the ledger's secret nothing is kept.

    Raises:
        LedgerError: as `Session.secret` and `Session.store_to_write`.
    """
    if not session.secret_path.exists():
        return []
    secret = session.secret()
    with session.store_to_write(secret) as store:
        numbers = {run_id: run for run, run_id in store.runs()}
        return receipts_in(store, numbers, session.name, ledger_key(secret), scores)


def receipts_in(
    store: Store, numbers: Mapping[str, int], name: str, key: SigningKey, scores: Sequence[Score]
) -> list[Difference]:
    """As `keep_receipts`, in a store that is open, whose runs have these numbers.

    Raises:
        LedgerError: the store can't be written.
    """
    vkey = vkey_of(name, key.public)
    moved: list[Difference] = []
    fresh: list[tuple[int, str, str]] = []
    for score in scores:
        last = _last(store, numbers[score.run], vkey) if score.run in numbers else None
        if last is not None:
            difference = diff(last, score)
            moved += [difference] if difference.moved else []
        receipt = None if score.value is None else receipt_of(score)
        if receipt is not None and receipt != last:
            fresh.append((numbers[score.run], receipt.scorer, sign_receipt(receipt, name, key)))
    store.add_receipts(fresh)
    return moved


def _last(store: Store, run: int, vkey: Vkey) -> Receipt | None:
    """The last receipt of a run; None where there is none, or none by this ledger's key."""
    text = store.receipt(run)
    try:
        return None if text is None else verify_receipt(text, vkey)
    except (NoteError, ScoreError):
        return None

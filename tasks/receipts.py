"""Receipts in the ledger: each score's, signed, and what moved since the one before.

    last receipt of a run ─► diff with its new score ─► a new receipt, where anything changed
    last receipt of a run ─► its digest, where it states the score at hand

A receipt that another key signed is passed over. Not here: what a receipt says (`tollbook.scorers.receipt`).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from ..ledger.notes import vkey_of
from ..protocol.derive import ledger_key
from ..protocol.errors import NoteError, ScoreError, TollbookError
from ..protocol.keys import key_bytes
from ..scorers.receipt import Difference, Receipt, diff, receipt_of, sign_receipt, verify_receipt
from .selection import bundle_of

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


def receipts_or_why(
    session: Session, what: Sequence[str], scores: Sequence[Score]
) -> tuple[list[Difference], ScoreError | None]:
    """As `keep_receipts`, of a bundle's runs none; and why none could be kept.

    ``what`` are the words that name the runs.
    """
    from .complaint import complaint_of  # noqa: PLC0415 - for failures only

    if bundle_of(what) is not None:
        return [], None
    try:
        return keep_receipts(session, scores), None
    except (TollbookError, OSError) as error:
        complaint = complaint_of(error)
        assert complaint is not None
        what_failed = f"the scores stand, but no receipt was kept: {complaint.text}"
        return [], ScoreError("receipt.unkept", what_failed, complaint.hint)


def receipt_digests(session: Session, scores: Sequence[Score]) -> dict[str, str]:
    """By run the SHA-256 of its last receipt's text, in hex, where that states this score.

    Raises:
        LedgerError: as `Session.store`.
    """
    with session.store() as store:
        name, key = store.identity()
        vkey = vkey_of(name, key_bytes(key))
        numbers = {run_id: run for run, run_id in store.runs()}
        found: dict[str, str] = {}
        for score in scores:
            text = store.receipt(numbers[score.run]) if score.run in numbers else None
            if text is not None and _states(text, vkey, score):
                found[score.run] = sha256(text.encode()).hexdigest()
    return found


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


def _states(text: str, vkey: Vkey, score: Score) -> bool:
    """Whether a text is this key's receipt of this score."""
    try:
        return score.value is not None and verify_receipt(text, vkey) == receipt_of(score)
    except (NoteError, ScoreError):
        return False


def _last(store: Store, run: int, vkey: Vkey) -> Receipt | None:
    """The last receipt of a run; None where there is none, or none by this ledger's key."""
    text = store.receipt(run)
    try:
        return None if text is None else verify_receipt(text, vkey)
    except (NoteError, ScoreError):
        return None

"""What an audit finds: values, never exceptions.

    finding = run · seq (or None) · code · text

A code is stable and says which check found it: record, grammar, part, bundle,
blob, store (1) · key, signature, message, brief, turn (2) · decision, facts,
world (3) · seal (4) · checkpoint, note (5) · source, conduct (6). A run that is
empty means the file, which holds more than that run.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..protocol.canonical import encode_typed

Check = Literal["1", "2", "3", "4", "5", "6"]
State = Literal["done", "failed", "not done"]

CHECKS: dict[Check, str] = {
    "1": "bytes, grammar, hashes, chain",
    "2": "parties, keys, signatures, n, seen",
    "3": "re-execution of every decision",
    "4": "seal and state roots",
    "5": "checkpoint",
    "6": "conduct, or the source of an imported run",
}

NEEDED: tuple[Check, ...] = ("1", "2", "3", "4", "5")
"""The checks that a sealed run must pass; an open one, without seal or checkpoint yet, the first three."""

_QUOTED = 60
_CHECK_OF: dict[str, Check] = {
    "record": "1",
    "grammar": "1",
    "part": "1",
    "bundle": "1",
    "blob": "1",
    "store": "1",
    "key": "2",
    "signature": "2",
    "message": "2",
    "brief": "2",
    "turn": "2",
    "decision": "3",
    "facts": "3",
    "world": "3",
    "seal": "4",
    "checkpoint": "5",
    "note": "5",
    "source": "6",
    "conduct": "6",
}


class Finding(msgspec.Struct, frozen=True):
    """One thing that is not as it must be."""

    run: str
    seq: int | None
    code: str
    text: str

    @property
    def check(self) -> Check:
        """The check that found it."""
        return _CHECK_OF[self.code.partition(".")[0]]


# Two findings on one record come in this order, so that the first one is the same for whoever judges.
_ORDER = (
    *("record.size", "record.depth", "record.form", "record.spelling"),
    *("record.seq", "record.prev", "grammar.open", "grammar.after_seal", "grammar.decision", "grammar.brief"),
    *("part.orphan", "part.size", "part.digest", "message.from", "brief.party", "turn.party"),
    *("key.unknown", "key.form", "key.small_order", "key.not_canonical", "key.duplicate", "key.revoke"),
    *("message.n", "message.seen", "signature.missing", "signature.unexpected", "signature.form"),
    *("signature.invalid", "bundle.torn", "bundle.form", "checkpoint.key", "checkpoint.missing"),
    *("checkpoint.signature", "checkpoint.origin", "checkpoint.size", "checkpoint.root"),
    *("note.signature", "note.form", "note.root"),
)
_RANK = {code: rank for rank, code in enumerate(_ORDER)}


def place_of(finding: Finding) -> tuple[bool, int, Check, int]:
    """Where a finding comes among those of its run: by record, the run's own last, then by check."""
    rank = _RANK.get(finding.code, len(_ORDER))
    return finding.seq is None, finding.seq or 0, finding.check, rank


def quoted(value: object) -> str:
    """A value's JSON in backticks, cut to sixty characters, for a finding's text."""
    text = encode_typed(value).decode()
    return f"`{text}`" if len(text) <= _QUOTED else f"`{text[:_QUOTED]}…`"

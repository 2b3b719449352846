"""What an audit finds: values, never exceptions.

    finding = run · seq (or None) · code · text

A code is stable and says which check found it: record, grammar, part, bundle,
blob (1) · key, signature, message, brief, turn (2) · decision, facts (3) ·
seal (4) · checkpoint (5) · source, conduct (6).
"""

from __future__ import annotations

from typing import Literal

import msgspec

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

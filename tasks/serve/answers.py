"""What a party is answered with: its records, the proof that they are in the log, and the log's head.

    records      [{record, proof, part?}]   inclusion in the tree of the checkpoint's size
    checkpoint   a signed note of the log as it stands; its last leaf is `seen`
    consistency  {since, proof}             from the tree of the checkpoint before
    n, seen      what the party's next message holds

So a party that keeps its last checkpoint holds the host to all of the log that
was there: nothing of it can be cut, changed or shown otherwise to others later.

Source: RFC 9162 2.1.3 and 2.1.4; C2SP tlog-checkpoint; design section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ...ledger.anchor import origin_of
from ...ledger.notes import Checkpoint, print_checkpoint, sign_note
from ...ledger.records import ZERO, Part, record_bytes
from ...protocol.canonical import base64_text
from ...protocol.merkle import consistency_proof, inclusion_proof

if TYPE_CHECKING:
    from ...ledger.run import Run
    from ...protocol.keys import SigningKey

Json = Any


class Kept(NamedTuple):
    """A record as it was kept."""

    seq: int
    kind: str
    body: bytes
    sig: str | None
    part: Part | None = None


def standing(
    run: Run, key: SigningKey, party: str, since: int | None, records: list[Kept]
) -> dict[str, Json]:
    """A run as it stands, signed by the ledger's key, with these of its records.

    ``since`` is the size of the checkpoint that the party holds, from 1 to the
    run's; None if it holds none.
    """
    leaves = run.leaves()
    checkpoint = Checkpoint(origin_of(run), run.size, run.root())
    proof = None if since is None else list(map(base64_text, consistency_proof(leaves, since)))
    return {
        "run": run.id,
        "n": run.members[party].n,
        "seen": [run.size - 1, run.prev],
        "checkpoint": sign_note(print_checkpoint(checkpoint), run.opened.ledger.name, key),
        "consistency": None if since is None else {"since": since, "proof": proof},
        "records": [_proven(leaves, kept) for kept in records],
    }


def _proven(leaves: list[bytes], kept: Kept) -> dict[str, Json]:
    prev = leaves[kept.seq - 1].hex() if kept.seq else ZERO
    found: dict[str, Json] = {
        "record": msgspec.Raw(record_bytes(kept.seq, kept.kind, prev, kept.body, kept.sig)),
        "proof": list(map(base64_text, inclusion_proof(leaves, kept.seq))),
    }
    if kept.part is not None:
        found["part"] = {
            "field": kept.part.field,
            "salt": kept.part.text.salt,
            "text": kept.part.text.text,
        }
    return found

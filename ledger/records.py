"""A record: one line of a run's log, and the hash that chains it.

    record = {"body":{…},"kind":…,"prev":hex,"seq":int,"sig":base64 or null,"v":1}
    leaf   = SHA-256(0x00 || record)        one hash serves the chain and the tree
    prev   = leaf of the record before, 64 zeros at seq 0
    run id = leaf of record 0

The record's bytes come from a template around the body's canonical bytes, so
hashing one decodes nothing. A store keeps (kind, body, sig) alone; seq, prev
and leaf follow from the order.

Not here: what a body says (`tollbook.protocol.bodies`).

Source: RFC 6962 2.1 (leaf hash); design section 2.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Literal, NamedTuple

import msgspec

from ..protocol.bodies import Brief, Decision, KeyChange, Message, Open, PartText, Seal, Turn
from ..protocol.canonical import MAX_OPEN_BYTES, MAX_RECORD_BYTES, Index

Kind = Literal["open", "brief", "message", "decision", "turn", "key", "seal"]

ZERO = "0" * 64
VERSION = 1
ENVELOPE_BYTES = len('{"body":,"kind":"decision","prev":"","seq":2147483647,"sig":"","v":1}') + 64 + 88

OPEN = msgspec.json.Decoder(Open)
BRIEF = msgspec.json.Decoder(Brief)
MESSAGE = msgspec.json.Decoder(Message)
DECISION = msgspec.json.Decoder(Decision)
TURN = msgspec.json.Decoder(Turn)
KEY = msgspec.json.Decoder(KeyChange)
SEAL = msgspec.json.Decoder(Seal)


class Part(NamedTuple):
    """A part beside its record, and the field of the body that holds its digest."""

    field: str
    text: PartText


class Stored(NamedTuple):
    """A record as a reader gives it.

    ``sig`` is its base64 text or None. ``prev`` is what the source states, or
    None where the source doesn't keep it.
    """

    seq: int
    kind: str
    body: bytes
    sig: str | None
    prev: str | None = None
    parts: tuple[Part, ...] = ()


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A record read from JSON, its body still bytes."""

    body: msgspec.Raw
    kind: Kind
    prev: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    seq: Index
    sig: Annotated[str, msgspec.Meta(max_length=88)] | None
    v: Literal[1]


def record_bytes(seq: int, kind: str, prev: str, body: bytes, sig: str | None) -> bytes:
    """The canonical bytes of a record around its body's canonical bytes."""
    if sig is None:
        return b'{"body":%b,"kind":"%b","prev":"%b","seq":%d,"sig":null,"v":1}' % (
            body,
            kind.encode(),
            prev.encode(),
            seq,
        )
    return b'{"body":%b,"kind":"%b","prev":"%b","seq":%d,"sig":"%b","v":1}' % (
        body,
        kind.encode(),
        prev.encode(),
        seq,
        sig.encode(),
    )


def leaf_of(seq: int, kind: str, prev: str, body: bytes, sig: str | None) -> bytes:
    """The leaf hash of a record, 32 bytes."""
    return sha256(b"\x00" + record_bytes(seq, kind, prev, body, sig)).digest()


def leaf_of_record(record: bytes) -> bytes:
    """The leaf hash of a record's canonical bytes, 32 bytes."""
    return sha256(b"\x00" + record).digest()


def limit_of(kind: str) -> int:
    """The most bytes that a record of this kind may have."""
    return MAX_OPEN_BYTES if kind == "open" else MAX_RECORD_BYTES

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
from typing import Annotated, Any, TypeVar

import msgspec

from ..protocol.bodies import Brief, Decision, KeyChange, Message, Open, PartText, Seal, Turn
from ..protocol.canonical import (
    MAX_DEPTH,
    MAX_RECORD_BYTES,
    Hex,
    Id,
    Index,
    admit,
    admit_any,
    depth,
    encode_typed,
)
from ..protocol.engine import admit_kind
from ..protocol.errors import CanonicalError

T = TypeVar("T")

ZERO = "0" * 64
VERSION = 1
ENVELOPE_BYTES = len('{"body":,"kind":"decision","prev":"","seq":2147483647,"sig":"","v":1}') + 64 + 88


class _Event(msgspec.Struct, frozen=True):
    kind: Id


class Claimed(Decision, frozen=True):
    """A decision that was not made here, its form judged without a market."""

    delta: Hex
    events: list[_Event]  # pyright: ignore[reportIncompatibleVariableOverride]
    result: Hex | None


OPEN = msgspec.json.Decoder(Open)
BRIEF = msgspec.json.Decoder(Brief)
MESSAGE = msgspec.json.Decoder(Message)
DECISION = msgspec.json.Decoder(Decision)
TURN = msgspec.json.Decoder(Turn)
KEY = msgspec.json.Decoder(KeyChange)
SEAL = msgspec.json.Decoder(Seal)
_CLAIMED = msgspec.json.Decoder(Claimed)
BODIES: dict[str, msgspec.json.Decoder[Any]] = {
    "open": OPEN,
    "brief": BRIEF,
    "message": MESSAGE,
    "decision": _CLAIMED,
    "turn": TURN,
    "key": KEY,
    "seal": SEAL,
}
"""What reads the form of each kind of body."""


class Part(msgspec.Struct, frozen=True):
    """A part beside its record, and the field of the body that holds its digest."""

    field: str
    text: PartText


class Stored(msgspec.Struct, frozen=True):
    """A record as a reader gives it.

    ``sig`` is its base64 text, as JSON spells it, or None. ``prev`` is what the source states, or
    None where the source doesn't keep it.
    """

    seq: int
    kind: str
    body: bytes
    sig: str | None
    prev: str | None = None
    parts: tuple[Part, ...] = ()


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A record read from JSON, its body still bytes; what kinds and versions there are is not judged."""

    body: msgspec.Raw
    kind: str
    prev: Hex
    seq: Index
    sig: Annotated[str, msgspec.Meta(max_length=88)] | None
    v: int


def read_body(body: bytes, decoder: msgspec.json.Decoder[T], limit_bytes: int = MAX_RECORD_BYTES) -> T:
    """The value of a record's body, but for what is `Raw` in it.

    Raises:
        CanonicalError: as `admit`.
    """
    if len(body) <= limit_bytes:
        try:
            value = decoder.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        else:
            if encode_typed(value) == body:
                return value
    return admit(body, decoder, limit_bytes)  # which says what is wrong


def read_claimed(body: bytes) -> Claimed:
    """The body of a decision that was not made here.

    Raises:
        CanonicalError: as `admit_any`, and where it is deeper than a record's body may be.
    """
    check_nested(body, 1)
    try:
        claimed = _CLAIMED.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CanonicalError("canonical.form", f"bytes are not of the expected form: {error}") from None
    admit_any(body)  # events may hold more fields than are read here
    return claimed


def check_form(stored: Stored) -> None:
    """Refuses a record whose body isn't of its kind's form; one of no kind has none.

    Raises:
        CanonicalError: as `read_body` and `read_claimed`.
    """
    if stored.kind == "decision":
        read_claimed(stored.body)
    elif stored.kind in BODIES:
        body = read_body(stored.body, BODIES[stored.kind])
        if isinstance(body, Message):
            check_nested(bytes(body.action), 2)
            admit_any(bytes(body.action))
            admit_kind(bytes(body.action))


def check_record_size(stored: Stored, limit_bytes: int) -> None:
    """Refuses a record that is too large with what stands around its body.

    Raises:
        CanonicalError: `canonical.size`.
    """
    prev = stored.prev or ZERO
    size_bytes = len(record_bytes(stored.seq, stored.kind, prev, stored.body, stored.sig))
    if size_bytes > limit_bytes:
        raise CanonicalError("canonical.size", f"{size_bytes} bytes are over the limit of {limit_bytes}")


def check_nested(data: bytes, level: int) -> None:
    """Refuses bytes that are too deep where they stand, below so many levels of a record.

    Raises:
        CanonicalError: `canonical.depth`.
    """
    if depth(data) > MAX_DEPTH - level:
        raise CanonicalError("canonical.depth", f"nesting of the record is over the limit of {MAX_DEPTH}")


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

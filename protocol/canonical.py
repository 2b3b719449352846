"""Canonical bytes: one value, one spelling.

    value  →  RFC 8785 JSON on a narrow profile  →  bytes
    bytes  →  size, depth, strict typed decode, encode again, compare  →  value

The profile: ASCII keys, integers within ±(2^53−1), no floats, strings of
Unicode scalar values kept exactly, booleans, null, arrays, objects. On it
msgspec's sorted encoder prints what RFC 8785 prints, so admitting only bytes
that encode back to themselves refuses duplicate keys, spaces, ``1.0``, ``-0``,
escaped ASCII and byte order marks in one comparison.

Not here: signatures (`keys`), what a record holds (`tollbook.ledger.records`).

Source: RFC 8785 (JSON Canonicalization Scheme) 3.2.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Annotated, Any, TypeVar

import msgspec

from .errors import CanonicalError

T = TypeVar("T")

MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 16
MAX_ARRAY = 10_000
MAX_RECORD_BYTES = 65_535
MAX_OPEN_BYTES = 2**20
MAX_PART_BYTES = 2**20
MAX_TEXT_BYTES = 2_000

Integer = Annotated[int, msgspec.Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Index = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=128, pattern="^[!-~]+$")]
Hex = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]

_ENCODER = msgspec.json.Encoder(order="sorted")
_UNTYPED = msgspec.json.Decoder()
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")

encode_typed = _ENCODER.encode
"""Canonical bytes of a value whose types keep it within the profile (unchecked)."""


def encode(value: object) -> bytes:
    """Canonical bytes of a value, checked against the profile.

    Raises:
        CanonicalError: a float, an integer beyond ±(2^53−1), a key that is not
            ASCII text, a lone surrogate, a value JSON has no form for, or
            nesting beyond 16.
    """
    _check(value, 0)
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, UnicodeEncodeError, RecursionError) as error:
        raise CanonicalError("canonical.value", f"a value has no canonical form: {error}") from None


def digest(value: object) -> str:
    """SHA-256 of a value's canonical bytes, in lower-case hex."""
    return sha256(encode(value)).hexdigest()


def digest_typed(value: object) -> str:
    """`digest` for a value whose types keep it within the profile (unchecked)."""
    return sha256(_ENCODER.encode(value)).hexdigest()


def admit(data: bytes, decoder: msgspec.json.Decoder[T], limit_bytes: int = MAX_RECORD_BYTES) -> T:
    """The value of canonical bytes, by a strict typed decoder.

    Raises:
        CanonicalError: too large, too deep, not of the decoder's type, or not
            the bytes that the value encodes to.
    """
    check_size(data, limit_bytes)
    try:
        value = decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CanonicalError("canonical.form", f"bytes are not of the expected form: {error}") from None
    if _ENCODER.encode(value) != data:
        raise _not_canonical()
    return value


def admit_any(data: bytes, limit_bytes: int = MAX_RECORD_BYTES) -> Any:  # noqa: ANN401 - any JSON value
    """The value of canonical bytes of any shape within the profile.

    Raises:
        CanonicalError: as `admit`, and for a value outside the profile.
    """
    check_size(data, limit_bytes)
    try:
        value = _UNTYPED.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CanonicalError("canonical.form", f"bytes are not JSON: {error}") from None
    if encode(value) != data:
        raise _not_canonical()
    return value


def check_size(data: bytes, limit_bytes: int) -> None:
    """Refuses what is too large or too deep before anything decodes it.

    Raises:
        CanonicalError: `canonical.size` or `canonical.depth`.
    """
    if len(data) > limit_bytes:
        raise CanonicalError("canonical.size", f"{len(data)} bytes are over the limit of {limit_bytes}")
    # As many brackets as levels is the worst case, so most bytes need no walk.
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and depth(data) > MAX_DEPTH:
        raise CanonicalError("canonical.depth", f"nesting is over the limit of {MAX_DEPTH}")


def depth(data: bytes) -> int:
    """The deepest nesting of JSON bytes; for bytes that aren't JSON, an upper bound."""
    level = deepest = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", data)):
        level += 1 if bracket in b"[{" else -1
        deepest = max(deepest, level)
    return deepest


def _not_canonical() -> CanonicalError:
    return CanonicalError(
        "canonical.spelling",
        "bytes are not canonical: their value is spelled otherwise",
        "write keys sorted, without spaces, duplicates, escapes of ASCII, `1.0` or `-0` (RFC 8785)",
    )


def _check(value: object, level: int) -> None:
    if level > MAX_DEPTH:
        raise CanonicalError("canonical.depth", f"nesting is over the limit of {MAX_DEPTH}")
    if value is None or isinstance(value, (bool, str)):
        return
    if isinstance(value, int):
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise CanonicalError("canonical.integer", f"`{value}` is beyond ±(2^53−1)", "write it as text")
    elif isinstance(value, float):
        raise CanonicalError("canonical.float", f"`{value}` is a float", "write integers, or a decimal as text")
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check(item, level + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str) or not key.isascii():
                raise CanonicalError("canonical.key", f"`{key}` is not an ASCII key")
            _check(item, level + 1)
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            _check(getattr(value, field), level + 1)
    else:
        raise CanonicalError("canonical.type", f"`{type(value).__name__}` has no canonical form")

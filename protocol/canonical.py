"""Canonical bytes: one value, one spelling.

    value  →  RFC 8785 JSON on a narrow profile  →  bytes
    bytes  →  size, depth, strict typed decode, encode again, compare  →  value

The profile: ASCII keys, integers within ±(2^53−1), no floats, strings of
Unicode scalar values kept exactly, booleans, null, arrays, objects. On it
msgspec's sorted encoder prints what RFC 8785 prints, so admitting only bytes
that encode back to themselves refuses duplicate keys, spaces, ``1.0``, ``-0``,
escaped ASCII and byte order marks in one comparison.

Bytes within a text are padded standard base64, which has one spelling here too.

Not here: signatures (`keys`), what a record holds (`tollbook.ledger.records`).

Source: RFC 8785 (JSON Canonicalization Scheme) 3.2; RFC 4648 4 (base64).
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Annotated, Any, TypeVar, cast

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

# Python's `$` also matches before a last newline, so each pattern says that none follows.
Integer = Annotated[int, msgspec.Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Index = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=128, pattern=r"^[!-~]+(?!\n)$")]
Hex = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}(?!\n)$")]

_ENCODER = msgspec.json.Encoder(order="sorted")
_UNTYPED = msgspec.json.Decoder()
_BRACKETS = bytes.maketrans(b"[{]}", b"(())")
_NO_MARK = bytes(byte for byte in range(256) if byte not in b'[{]}"')
_CONTAINERS: tuple[type, ...] = (dict, list, tuple, msgspec.Struct)
_HARMLESS = frozenset({str, bool, type(None)})
_SHOWN = 64

encode_typed = _ENCODER.encode
"""Canonical bytes of a value whose types keep it within the profile (unchecked)."""


def encode(value: object) -> bytes:
    """Canonical bytes of a value, checked against the profile.

    Raises:
        CanonicalError: a float, an integer beyond ±(2^53−1), a key that is not
            ASCII text, a lone surrogate, a value JSON has no form for, nesting
            beyond 16, or an array beyond 10,000.
    """
    _check(value, 0)
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise CanonicalError("canonical.value", f"a value has no canonical form: {error}") from None


def digest(value: object) -> str:
    """SHA-256 of a value's canonical bytes, in lower-case hex."""
    return sha256(encode(value)).hexdigest()


def digest_typed(value: object) -> str:
    """`digest` for a value whose types keep it within the profile (unchecked)."""
    return sha256(_ENCODER.encode(value)).hexdigest()


def admit(data: bytes, decoder: msgspec.json.Decoder[T], limit_bytes: int = MAX_RECORD_BYTES) -> T:
    """The value of canonical bytes, by a strict typed decoder.

    The decoder's type keeps the value within the profile: no float, no Any,
    integers bounded, arrays of at most 10,000. A `Raw` in it comes out as it
    came in, unread: admit that too.

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
        raise _too_deep()


def depth(data: bytes) -> int:
    """The nesting of JSON bytes, 17 for all that is deeper; of other bytes, an upper bound of the same.

    Steps of one pass each, whatever the bytes: no string is walked by a pattern
    that could begin again at every quote.
    """
    # A backslash stands only in strings and pairs with what follows it. Without
    # such pairs every second stretch between quotes is outside of strings.
    if b"\\" in data:
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    # Two quotes side by side can go, whether they end a string or begin one: what
    # is inside and outside of strings stays so, and few quotes are left to split at.
    marks = data.translate(_BRACKETS, _NO_MARK).replace(b'""', b"")
    brackets = b"".join(marks.split(b'"')[::2])
    level = 0
    # Each round takes away the innermost level everywhere; what isn't JSON leaves some unpaired.
    while level < MAX_DEPTH and b"()" in brackets:
        brackets = brackets.replace(b"()", b"")
        level += 1
    return min(level + brackets.count(b"("), MAX_DEPTH + 1)


def base64_text(data: bytes) -> str:
    """Bytes as padded standard base64."""
    return b2a_base64(data, newline=False).decode()


def base64_bytes(text: str) -> bytes | None:
    """The bytes of their only base64 spelling, or None."""
    try:
        data = a2b_base64(text)
    except ValueError:
        return None
    # Spare bits and stray characters that the decoder forgives don't come back when it's encoded.
    return data if base64_text(data) == text else None


def _check(value: object, level: int) -> None:
    """Refuses what is outside the profile; a container at level 0 is the first of 16."""
    if isinstance(value, _CONTAINERS):
        if level >= MAX_DEPTH:
            raise _too_deep()
        for item in _items(value):
            # The common leaves are passed over here, for speed.
            if type(item) not in _HARMLESS:
                _check(item, level + 1)
    elif isinstance(value, int):
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            problem = f"{_shown(value)} is beyond ±(2^53−1)"
            raise CanonicalError("canonical.integer", problem, "write it as text")
    elif isinstance(value, float):
        problem = f"`{value}` is a float"
        raise CanonicalError("canonical.float", problem, "write integers, or a decimal as text")
    elif value is not None and not isinstance(value, str):
        raise CanonicalError("canonical.type", f"`{type(value).__name__}` has no canonical form")


def _items(container: object) -> Iterable[object]:
    if isinstance(container, dict):
        members = cast("dict[object, object]", container)
        for key in members:
            if not isinstance(key, str) or not key.isascii():
                raise CanonicalError("canonical.key", f"{_shown(key)} is not an ASCII key")
        return members.values()
    if isinstance(container, msgspec.Struct):
        return [getattr(container, field) for field in container.__struct_fields__]
    items = cast("Sequence[object]", container)
    if len(items) > MAX_ARRAY:
        raise CanonicalError("canonical.array", f"{len(items)} items are over the limit of {MAX_ARRAY}")
    return items


def _shown(value: object) -> str:
    """A value in backticks, short and printable, for an error's one line."""
    if isinstance(value, int) and value.bit_length() > _SHOWN:
        return f"an integer of {value.bit_length()} bits"
    text = ascii(value).strip("'")
    return f"`{text}`" if len(text) <= _SHOWN else f"`{text[:_SHOWN]}…`"


def _too_deep() -> CanonicalError:
    return CanonicalError("canonical.depth", f"nesting is over the limit of {MAX_DEPTH}")


def _not_canonical() -> CanonicalError:
    return CanonicalError(
        "canonical.spelling",
        "bytes are not canonical: their value is spelled otherwise",
        "write keys sorted, without spaces, duplicates, escapes of ASCII, `1.0` or `-0` (RFC 8785)",
    )

"""Canonical bytes: what is printed, what is refused, and under which code."""

from __future__ import annotations

import enum
import hashlib
import tracemalloc
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from tollbook.protocol import canonical
from tollbook.protocol.errors import CanonicalError

BIG = 2**53 - 1


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sku: canonical.Id
    qty: canonical.Integer


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="order.place"):
    note: str | None
    lines: tuple[Line, ...]


ORDER = msgspec.json.Decoder(Order)
ORDER_BYTES = b'{"kind":"order.place","lines":[{"qty":2,"sku":"A-1"}],"note":null}'


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def refusal(call: Any, *arguments: Any) -> str | None:
    """The code that the call refuses with, or None; any other exception is a failure."""
    try:
        call(*arguments)
    except CanonicalError as error:
        refused = error
    else:
        return None
    assert refused.text.splitlines() == [refused.text]
    assert len(refused.text) < 200
    refused.text.encode()  # printable: no lone surrogate
    return refused.code


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (b"null", None),
        (b"true", True),
        (b"0", 0),
        (b"9007199254740991", BIG),
        (b"-9007199254740991", -BIG),
        (b'""', ""),
        (b"[]", []),
        (b"[]", ()),
        (b"{}", {}),
        (b'{"a":{"a":3,"b":2},"b":1}', {"b": 1, "a": {"b": 2, "a": 3}}),
        (b'{"":0,"A":1,"_":2,"a":3}', {"a": 3, "A": 1, "_": 2, "": 0}),
        (b'{"1":0,"10":1,"2":2}', {"2": 2, "10": 1, "1": 0}),
        (b'["\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f"]', ['"\\\b\f\n\r\t\0\x1f']),
        (b'["/\x7f\xc2\x80\xe2\x80\xa8\xe2\x82\xac\xf0\x9f\x98\x80"]', ["/\x7f\x80\u2028€😀"]),
        (b'["\xc3\x85","A\xcc\x8a"]', ["\u00c5", "A\u030a"]),  # nothing is normalised
        (ORDER_BYTES, Order(None, (Line("A-1", 2),))),
    ],
)
def test_encode(expected: bytes, value: object) -> None:
    assert canonical.encode(value) == expected
    assert canonical.encode_typed(value) == expected
    assert canonical.digest(value) == canonical.digest_typed(value) == hashlib.sha256(expected).hexdigest()
    assert canonical.encode(canonical.admit_any(expected)) == expected


class Text(str):
    __slots__ = ()


class Number(enum.IntEnum):
    BEYOND = 2**53


class Price(msgspec.Struct):
    amount: object


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("canonical.float", 0.0),
        ("canonical.float", 1.0),
        ("canonical.float", -0.0),
        ("canonical.float", 0.1 + 0.2),
        ("canonical.float", float("nan")),
        ("canonical.float", float("inf")),
        ("canonical.float", -float("inf")),
        ("canonical.float", [{"price": 12.5}]),
        ("canonical.float", Price(12.5)),
        ("canonical.integer", BIG + 1),
        ("canonical.integer", -BIG - 1),
        ("canonical.integer", 2**64),
        ("canonical.integer", 10**5_000),  # more digits than Python prints
        ("canonical.integer", Number.BEYOND),
        ("canonical.integer", Price([-BIG - 1])),
        ("canonical.key", {"é": 1}),
        ("canonical.key", {"k\ud800": 1}),
        ("canonical.key", {"k" * 1_000 + "é": 1}),
        ("canonical.key", {1: 1}),
        ("canonical.key", {None: 1}),
        ("canonical.key", {True: 1}),
        ("canonical.key", {b"a": 1}),
        ("canonical.value", "\ud800"),
        ("canonical.value", ["a", {"b": "\udc00\ud800"}]),
        ("canonical.value", Text("a subclass could print otherwise")),
        ("canonical.type", b"bytes"),
        ("canonical.type", [bytearray(b"bytes")]),
        ("canonical.type", {"a"}),
        ("canonical.type", Decimal(1)),
        ("canonical.type", date(2026, 1, 1)),
        ("canonical.type", object()),
        ("canonical.type", Order),
        ("canonical.type", Price(msgspec.UNSET)),
        ("canonical.type", msgspec.Raw(b"1.0")),
        ("canonical.array", [0] * 10_001),
        ("canonical.array", ("",) * 10_001),
        ("canonical.array", [[0] * 1_000_000]),
        ("canonical.depth", nested(17)),
        ("canonical.depth", nested(100_000)),
        ("canonical.depth", {"a": nested(16)}),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("canonical") else "",
)
def test_encode_refuses(code: str, value: object) -> None:
    assert refusal(canonical.encode, value) == code
    assert refusal(canonical.digest, value) == code


def test_a_value_within_itself_is_too_deep() -> None:
    value: list[Any] = []
    value.append(value)
    assert refusal(canonical.encode, value) == "canonical.depth"


def test_an_array_of_10_000_is_the_largest() -> None:
    data = canonical.encode([0] * 10_000)
    assert canonical.admit_any(data) == [0] * 10_000
    assert refusal(canonical.admit_any, data.replace(b"[", b"[0,")) == "canonical.array"


DOOR = [
    # duplicate keys, order of keys
    ("canonical.spelling", b'{"a":1,"a":1}'),
    ("canonical.spelling", b'{"a":1,"a":2}'),
    ("canonical.spelling", b'{"a":1,"\\u0061":2}'),
    ("canonical.spelling", b'{"b":1,"a":2}'),
    # white space, byte order marks, other encodings
    ("canonical.spelling", b" {}"),
    ("canonical.spelling", b"{} "),
    ("canonical.spelling", b"{}\n"),
    ("canonical.spelling", b"{}\r\n"),
    ("canonical.spelling", b'{"a": 1}'),
    ("canonical.spelling", b"[1,\t2]"),
    ("canonical.form", b"\xef\xbb\xbf{}"),
    ("canonical.form", '{"a":1}'.encode("utf-16")),
    ("canonical.form", '{"a":1}'.encode("utf-16-le")),
    # other spellings of text
    ("canonical.spelling", b'["\\u0041"]'),
    ("canonical.spelling", b'["\\/"]'),
    ("canonical.spelling", b'["\\u20ac"]'),
    ("canonical.spelling", b'["\\u000a"]'),
    ("canonical.spelling", b'["\\u001F"]'),
    ("canonical.spelling", b'["\\ud83d\\ude00"]'),
    ("canonical.form", b'["\\ud800"]'),
    ("canonical.form", b'["\\udc00\\ud800"]'),
    ("canonical.form", b'["\xed\xa0\x80"]'),  # a surrogate in UTF-8
    ("canonical.form", b'["\xc0\x80"]'),  # an overlong NUL
    ("canonical.form", b'["\xf4\x90\x80\x80"]'),  # beyond U+10FFFF
    ("canonical.form", b'["\xff"]'),
    ("canonical.form", b'["\n"]'),
    ("canonical.form", b'["\x00"]'),
    # other spellings of numbers, and what is no number
    ("canonical.float", b"[1.0]"),
    ("canonical.float", b"[1e2]"),
    ("canonical.float", b"[1E2]"),
    ("canonical.float", b"[0.5]"),
    ("canonical.float", b"[-0.0]"),
    ("canonical.float", b"[1e-400]"),
    ("canonical.spelling", b"[-0]"),
    ("canonical.form", b"[1e400]"),
    ("canonical.form", b"[-1e400]"),
    ("canonical.form", b"[01]"),
    ("canonical.form", b"[+1]"),
    ("canonical.form", b"[.5]"),
    ("canonical.form", b"[NaN]"),
    ("canonical.form", b"[Infinity]"),
    ("canonical.form", b"[-Infinity]"),
    ("canonical.integer", b"[9007199254740992]"),
    ("canonical.integer", b"[-9007199254740992]"),
    ("canonical.integer", b"[18446744073709551616]"),
    ("canonical.integer", b"[-" + b"9" * 4_000 + b"]"),
    ("canonical.form", b"[" + b"9" * 5_000 + b"]"),
    # torn, trailing, empty, other notations
    ("canonical.form", b""),
    ("canonical.form", b" "),
    ("canonical.form", b'{"a":1'),
    ("canonical.form", b'{"a":1}}'),
    ("canonical.form", b'{"a":1}{"a":1}'),
    ("canonical.form", b"{}\0"),
    ("canonical.form", b"[1,]"),
    ("canonical.form", b"{'a':1}"),
    ("canonical.form", b"[1]//"),
    ("canonical.form", b"True"),
    ("canonical.form", b"nul"),
    # beyond the profile
    ("canonical.key", b'{"\xc3\xa9":1}'),
]


@pytest.mark.parametrize(("code", "data"), DOOR)
def test_admit_any_refuses(code: str, data: bytes) -> None:
    assert refusal(canonical.admit_any, data) == code


@pytest.mark.parametrize("data", [b"null", b"0", b'"a"', b"[]", b"{}", ORDER_BYTES])
def test_admit_any_takes_canonical_bytes(data: bytes) -> None:
    assert canonical.encode(canonical.admit_any(data)) == data


def test_admit() -> None:
    assert canonical.admit(ORDER_BYTES, ORDER) == Order(None, (Line("A-1", 2),))


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("canonical.form", ORDER_BYTES.replace(b":2", b":2.0")),
        ("canonical.spelling", ORDER_BYTES.replace(b":2", b":-0")),
        ("canonical.form", ORDER_BYTES.replace(b":2", b":2e400")),
        ("canonical.form", ORDER_BYTES.replace(b":2", b":9007199254740992")),
        ("canonical.form", ORDER_BYTES.replace(b":2", b":" + b"9" * 5_000)),
        ("canonical.form", ORDER_BYTES.replace(b":2", b':"2"')),
        ("canonical.form", ORDER_BYTES.replace(b":2", b":true")),
        ("canonical.form", ORDER_BYTES.replace(b":2", b":null")),
        ("canonical.form", ORDER_BYTES.replace(b"A-1", b"A 1")),
        ("canonical.form", ORDER_BYTES.replace(b"A-1", b"A-1\\n")),
        ("canonical.form", ORDER_BYTES.replace(b"order.place", b"order.other")),
        ("canonical.form", ORDER_BYTES.replace(b',"note":null', b"")),
        ("canonical.form", ORDER_BYTES.replace(b"}]", b',"zip":1}]')),
        ("canonical.form", ORDER_BYTES[:-1]),
        ("canonical.form", ORDER_BYTES + b"x"),
        ("canonical.form", b"\xef\xbb\xbf" + ORDER_BYTES),
        ("canonical.form", b"[]"),
        ("canonical.spelling", ORDER_BYTES + b"\n"),
        ("canonical.spelling", ORDER_BYTES.replace(b"null", b'null,"note":null')),
        ("canonical.spelling", ORDER_BYTES.replace(b"A-1", b"\\u0041-1")),
        ("canonical.spelling", ORDER_BYTES.replace(b'"qty":2,"sku":"A-1"', b'"sku":"A-1","qty":2')),
    ],
)
def test_admit_refuses(code: str, data: bytes) -> None:
    assert data != ORDER_BYTES
    assert refusal(canonical.admit, data, ORDER) == code


def test_a_field_left_out_for_its_default_is_refused() -> None:
    class Shy(msgspec.Struct):
        a: int = 0

    decoder = msgspec.json.Decoder(Shy)
    assert canonical.admit(b'{"a":0}', decoder) == Shy()
    assert refusal(canonical.admit, b"{}", decoder) == "canonical.spelling"


@pytest.mark.parametrize(
    ("levels", "data"),
    [
        (0, b""),
        (0, b"1"),
        (0, b'"[[[{{{"'),
        (1, b"[]"),
        (1, b"{}"),
        (1, b'["[","{"]'),
        (2, b'[{"a[":"}{"},[],[]]'),
        (2, b'["\\"[[[",[]]'),
        (1, b'["\\\\","[[["]'),
        (2, b'["\\\\",[],"\\\\\\"[[["]'),
        (1, b'["\\u005c","[["]'),
        (16, b"[" * 16 + b"]" * 16),
        (17, b"[" * 17 + b"]" * 17),
        (17, b"[" * 1_000 + b"]" * 1_000),
        (17, b'{"a":' * 40 + b"1" + b"}" * 40),
        # not JSON: an upper bound
        (3, b"[[["),
        (3, b"[}[{"),
        (0, b"]]]"),
        (17, b"[" * 50),
        (1, b'["[[[[[['),
    ],
)
def test_depth(levels: int, data: bytes) -> None:
    assert canonical.depth(data) == levels


@pytest.mark.parametrize("levels", [1, 15, 16, 17, 18])
@pytest.mark.parametrize("inner", [[], {}, [0], ["a", None], {"a": 1}])
def test_every_way_in_counts_the_same_levels(levels: int, inner: Any) -> None:
    value = inner
    for level in range(levels - 1):
        value = {"a": value} if level % 3 == 0 else [value, 7, "[["]
    data = msgspec.json.encode(value, order="sorted")
    expected = "canonical.depth" if levels > 16 else None
    assert canonical.depth(data) == min(levels, 17)
    assert refusal(canonical.encode, value) == expected
    assert refusal(canonical.admit_any, data) == expected
    assert refusal(canonical.admit, data, msgspec.json.Decoder()) == expected
    assert refusal(canonical.check_size, data * 17, 2**20) == expected  # enough brackets to be counted


def test_17_brackets_are_enough_to_be_too_deep() -> None:
    assert refusal(canonical.check_size, b"[" * 16 + b"]" * 16, 2**20) is None
    assert refusal(canonical.check_size, b"[" * 17 + b"]" * 17, 2**20) == "canonical.depth"
    assert refusal(canonical.check_size, b'{"":' * 17 + b"0" + b"}" * 17, 2**20) == "canonical.depth"
    assert refusal(canonical.check_size, b"[" + b"[]," * 16 + b"[]]", 2**20) is None


MEBIBYTE = 2**20


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("canonical.size", b'"' + b"a" * 10_000_000 + b'"'),
        ("canonical.depth", b"[" * 100_000 + b"]" * 100_000),
        ("canonical.size", b"[" + b"0," * 999_999 + b"0]"),
        ("canonical.size", b'"' + b"a" * (MEBIBYTE - 1) + b'"'),
        ("canonical.depth", b"[" * MEBIBYTE),
        ("canonical.depth", b"[" * 500_000 + b"]" * 500_000),
        ("canonical.depth", b'{"":' * 200_000),
        ("canonical.form", b"[" * 16 + b"1"),
        ("canonical.form", b"]" * MEBIBYTE),
        ("canonical.form", b"[]" * (MEBIBYTE // 2)),
        ("canonical.form", b'"' * MEBIBYTE),
        ("canonical.form", b"\\" * MEBIBYTE),
        ("canonical.form", b"[[]]" * 20 + b'"' + b'\\"' * (MEBIBYTE // 2 - 100)),  # 500,000 quotes, no end
        ("canonical.form", b"\0" * MEBIBYTE),
        ("canonical.form", b"9" * MEBIBYTE),
        ("canonical.array", b"[" + b"0," * 500_000 + b"0]"),
        ("canonical.array", b"[" + b"[]," * 300_000 + b"0]"),
        ("canonical.spelling", b"[" + b" " * 1_000_000 + b"]"),
        ("canonical.spelling", b"{" + b'"a":0,' * 170_000 + b'"a":0}'),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value[:8]!r}",
)
def test_large_and_deep_bytes_end_in_an_error_within_bounds(code: str, data: bytes) -> None:
    tracemalloc.start()
    try:
        assert refusal(canonical.admit_any, data, MEBIBYTE) == code
        assert tracemalloc.get_traced_memory()[1] < 40 * MEBIBYTE
    finally:
        tracemalloc.stop()


def test_size_is_counted_in_bytes_and_the_limit_is_within() -> None:
    assert canonical.check_size(b"a" * 65_535, canonical.MAX_RECORD_BYTES) is None
    assert refusal(canonical.check_size, b"a" * 65_536, canonical.MAX_RECORD_BYTES) == "canonical.size"
    assert canonical.admit_any(b'"' + "€".encode() * 21_844 + b'"') == "€" * 21_844
    assert refusal(canonical.admit_any, b'"' + "€".encode() * 21_845 + b'"') == "canonical.size"


@pytest.mark.parametrize(
    ("good", "kind", "value"),
    [
        (True, canonical.Id, "!"),
        (True, canonical.Id, "~" * 128),
        (False, canonical.Id, ""),
        (False, canonical.Id, "~" * 129),
        (False, canonical.Id, "a b"),
        (False, canonical.Id, "a\n"),  # Python's `$` would let it pass
        (False, canonical.Id, "\n"),
        (False, canonical.Id, "a\nb"),
        (False, canonical.Id, "\x7f"),
        (False, canonical.Id, "é"),
        (True, canonical.Hex, "0123456789abcdef" * 4),
        (False, canonical.Hex, "0123456789abcdef" * 4 + "\n"),
        (False, canonical.Hex, "\n" + "0123456789abcdef" * 4),
        (False, canonical.Hex, "0123456789ABCDEF" * 4),
        (False, canonical.Hex, "0" * 63),
        (False, canonical.Hex, "0" * 65),
        (False, canonical.Hex, "g" * 64),
        (False, canonical.Hex, "\u0660" * 64),  # digits of another script
        (True, canonical.Index, 0),
        (True, canonical.Index, 2**31 - 1),
        (False, canonical.Index, 2**31),
        (False, canonical.Index, -1),
        (False, canonical.Index, True),
        (True, canonical.Integer, -BIG),
        (False, canonical.Integer, -BIG - 1),
    ],
)
def test_types(good: bool, kind: Any, value: Any) -> None:  # noqa: FBT001 - the expected value comes first
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)
    expected = None if good else "canonical.form"
    assert refusal(canonical.admit, msgspec.json.encode(value), decoder) == expected

"""RFC 8785's published files: within our profile byte for byte, outside of it refused.

Source: cyberphone/json-canonicalization, testdata; RFC 8785 3.2.2.3 and appendix B (numbers).
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tollbook.protocol import canonical
from tollbook.protocol.errors import CanonicalError

pytestmark = pytest.mark.shared

KEY, FLOAT, SPELLING = "canonical.key", "canonical.float", "canonical.spelling"


def outcome(call: Any, argument: Any) -> Any:
    try:
        return call(argument)
    except CanonicalError as error:
        return error.code


@pytest.mark.parametrize(
    ("name", "encoded", "output_admitted", "input_admitted"),
    [
        ("arrays", None, None, SPELLING),
        ("french", KEY, KEY, KEY),
        ("structures", FLOAT, None, FLOAT),  # the input spells 56 as 56.0
        ("unicode", None, None, SPELLING),
        ("values", FLOAT, FLOAT, FLOAT),
        ("weird", KEY, KEY, KEY),
    ],
)
def test_documents(
    shared: Path, name: str, encoded: str | None, output_admitted: str | None, input_admitted: str
) -> None:
    folder = shared / "vectors/rfc8785"
    given = (folder / "input" / f"{name}.json").read_bytes()
    output = (folder / "output" / f"{name}.json").read_bytes()
    assert bytes.fromhex((folder / "outhex" / f"{name}.txt").read_text()) == output
    value = json.loads(given)
    assert outcome(canonical.encode, value) == (encoded or output)
    assert outcome(canonical.admit_any, output) == (output_admitted or value)
    assert outcome(canonical.admit_any, given) == input_admitted


def test_all_documents_are_in_the_table(shared: Path) -> None:
    names = sorted(path.stem for path in (shared / "vectors/rfc8785/input").iterdir())
    assert names == ["arrays", "french", "structures", "unicode", "values", "weird"]


def numbers(shared: Path) -> list[tuple[float, bytes]]:
    text = (shared / "vectors/rfc8785/es6_numbers_10000.txt").read_bytes()
    assert hashlib.sha256(text).hexdigest().startswith("b9f7a8e7")
    pairs = [line.split(b",") for line in text.splitlines()]
    return [(struct.unpack(">d", int(bits, 16).to_bytes(8, "big"))[0], spelled) for bits, spelled in pairs]


def test_no_double_is_encoded(shared: Path) -> None:
    outcomes = Counter(outcome(canonical.encode, number) for number, _ in numbers(shared))
    assert outcomes == {FLOAT: 10_000}


def test_integers_within_the_profile_are_spelled_alike(shared: Path) -> None:
    pairs = [
        (number, spelled)
        for number, spelled in numbers(shared)
        if number.is_integer() and abs(number) <= canonical.MAX_INTEGER
    ]
    assert len(pairs) == 14
    for number, spelled in pairs:
        assert canonical.encode(int(number)) == spelled
        assert canonical.admit_any(spelled) == int(number)


def test_other_numbers_are_refused_as_spelled(shared: Path) -> None:
    outcomes = [outcome(canonical.admit_any, spelled) for _, spelled in numbers(shared)]
    refused = Counter(code for code in outcomes if isinstance(code, str))
    assert refused == {FLOAT: 9_902, "canonical.integer": 84}

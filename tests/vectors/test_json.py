"""JSONTestSuite: nothing that must be refused gets in, and the rest only in its one spelling.

Source: nst/JSONTestSuite, test_parsing (316 files; those over 20 kB are left out).
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections import Counter
from pathlib import Path

import pytest

from tollbook.protocol import canonical
from tollbook.protocol.errors import CanonicalError

pytestmark = pytest.mark.shared

ADMITTED = "admitted"


def cases(shared: Path) -> dict[str, bytes]:
    texts = json.loads((shared / "vectors/json/jsontestsuite_parsing.json").read_text())
    return {name: b64decode(text) for name, text in texts.items()}


def verdict(data: bytes) -> str:
    try:
        canonical.admit_any(data)
    except CanonicalError as error:
        return error.code
    return ADMITTED


def test_verdicts(shared: Path) -> None:
    # Any other exception would be a traceback at the door, and fails here.
    verdicts = Counter((name[0], verdict(data)) for name, data in cases(shared).items())
    assert verdicts == {
        ("n", "canonical.form"): 186,  # must be refused
        ("y", ADMITTED): 40,  # must parse
        ("y", "canonical.spelling"): 40,  # spaces, escapes of what needs none, double keys, -0
        ("y", "canonical.float"): 15,
        ("i", "canonical.form"): 29,  # free
        ("i", "canonical.integer"): 3,
        ("i", "canonical.float"): 2,
        ("i", "canonical.depth"): 1,
    }


def test_what_is_admitted_means_what_it_says(shared: Path) -> None:
    for name, data in cases(shared).items():
        if verdict(data) == ADMITTED:
            value = canonical.admit_any(data)
            assert json.loads(data) == value, name
            assert canonical.encode(value) == data, name


def test_what_must_parse_and_is_refused_has_another_spelling(shared: Path) -> None:
    for name, data in cases(shared).items():
        if name[0] == "y" and verdict(data) == "canonical.spelling":
            again = canonical.encode(json.loads(data))
            assert again != data, name
            assert canonical.admit_any(again) == json.loads(data), name

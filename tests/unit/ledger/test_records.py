from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from tollbook.ledger.records import (
    BODIES,
    ENVELOPE_BYTES,
    KEY,
    MESSAGE,
    check_nested,
    leaf_of,
    leaf_of_record,
    read_body,
    read_claimed,
    record_bytes,
)
from tollbook.protocol.canonical import MAX_RECORD_BYTES
from tollbook.protocol.errors import CanonicalError

PREV = "ab" * 32
DECISION: dict[str, Any] = {
    "delta": PREV,
    "detail": {"a": [], "b": None, "c": -1, "d": True, "e": ["x"]},
    "events": [{"kind": "a", "z": {"deep": [1]}}],
    "message": 1,
    "outcome": "accepted",
    "reads": [["table", "key"]],
    "result": None,
    "rule": None,
}


def spelled(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(CanonicalError) as caught:
        act()
    return caught.value.code


@pytest.mark.parametrize("sig", [None, "c2ln", "ä/+="])
def test_a_records_bytes_are_its_canonical_json(sig: str | None) -> None:
    body = {"a": "\u2028ü", "b": [1, {}]}
    expected = spelled({"body": body, "kind": "turn", "prev": PREV, "seq": 2**31 - 1, "sig": sig, "v": 1})
    assert expected == record_bytes(2**31 - 1, "turn", PREV, spelled(body), sig)
    assert sha256(b"\0" + expected).digest() == leaf_of_record(expected)
    assert leaf_of_record(expected) == leaf_of(2**31 - 1, "turn", PREV, spelled(body), sig)


def test_the_envelope_is_never_larger_than_is_said() -> None:
    largest = max(len(record_bytes(2**31 - 1, kind, PREV, b"", "A" * 88)) for kind in BODIES)
    assert largest == ENVELOPE_BYTES


def test_a_body_is_read_strictly() -> None:
    body = spelled({"by": "party", "change": "add", "key": "A" * 44, "n": 0, "party": "a", "seen": [0, PREV]})
    assert ("a", (0, PREV)) == ((change := read_body(body, KEY)).party, change.seen)
    assert "canonical.spelling" == code_of(lambda: read_body(body.replace(b":", b": ", 1), KEY))
    assert "canonical.form" == code_of(lambda: read_body(body.replace(b"add", b"adds"), KEY))
    assert "canonical.size" == code_of(lambda: read_body(body + b" " * MAX_RECORD_BYTES, KEY))
    assert "canonical.form" == code_of(lambda: read_body(b"[", MESSAGE))
    assert "canonical.depth" == code_of(lambda: read_body(b"[" * 1000, MESSAGE))


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("canonical.form", {"delta": "x"}),
        ("canonical.form", {"result": "ab"}),
        ("canonical.form", {"events": [{}]}),
        ("canonical.form", {"events": [{"kind": ""}]}),
        ("canonical.form", {"events": {}}),
        ("canonical.form", {"outcome": "maybe"}),
        ("canonical.form", {"message": -1}),
        ("canonical.form", {"reads": [["table"]]}),
        ("canonical.form", {"more": 1}),
        ("canonical.form", {"detail": {"a": {}}}),
        ("canonical.form", {"detail": {"a": 0.5}}),
        ("canonical.integer", {"detail": {"a": 2**53}}),
        ("canonical.float", {"events": [{"kind": "a", "b": 0.5}]}),
        ("canonical.key", {"detail": {"ü": 1}}),
        ("canonical.array", {"events": [{"kind": "a", "b": [0] * 10_001}]}),
    ],
)
def test_a_claimed_decision_has_a_decisions_form(code: str, change: dict[str, Any]) -> None:
    assert "accepted" == read_claimed(spelled(DECISION)).outcome
    assert code == code_of(lambda: read_claimed(spelled({**DECISION, **change})))


def test_a_claimed_decision_is_spelled_canonically_in_its_events_too() -> None:
    body = spelled(DECISION)
    assert "canonical.spelling" == code_of(lambda: read_claimed(body.replace(b'"deep":', b'"deep": ')))


def test_sixteen_levels_are_counted_from_the_record() -> None:
    for level in range(3):
        check_nested(b"[" * (16 - level) + b"]" * (16 - level), level)
        too_deep = b"[" * (17 - level) + b"]" * (17 - level)
        assert "canonical.depth" == code_of(
            lambda too_deep=too_deep, level=level: check_nested(too_deep, level)
        )
    deep: Any = 0
    for _ in range(12):  # events, event, and what the event holds: with record and body, 16
        deep = [deep]
    assert read_claimed(spelled({**DECISION, "events": [{"kind": "a", "b": deep}]}))
    assert "canonical.depth" == code_of(
        lambda: read_claimed(spelled({**DECISION, "events": [{"kind": "a", "b": [deep]}]}))
    )

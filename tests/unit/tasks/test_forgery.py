"""The demonstration's two forgeries: each changes what it says, and is found by what it shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from script import recorded

from tollbook.ledger.findings import Finding
from tollbook.ledger.records import leaf_of_record
from tollbook.ledger.verify import verify_bundle
from tollbook.tasks.forgery import flip_byte, forge_row


def bundle() -> bytes:
    return recorded()["runs.jsonl"]


def findings(tmp_path: Path, data: bytes) -> list[Finding]:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    return [finding for audit in verify_bundle(path) for finding in audit.findings]


def changed(old: bytes, new: bytes) -> list[tuple[bytes, bytes]]:
    pairs = zip(old.split(b"\n"), new.split(b"\n"), strict=True)
    return [(one, other) for one, other in pairs if one != other]


def test_a_flipped_byte_is_one_letter_of_one_text(tmp_path: Path) -> None:
    ((old, new),) = changed(bundle(), flip_byte(bundle()))
    assert [(ord("H"), ord("I"))] == [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
    assert [("part.digest", 1)] == [(one.code, one.seq) for one in findings(tmp_path, flip_byte(bundle()))]


def test_a_forged_row_is_a_refund_raised() -> None:
    (old, new), *links = changed(bundle(), forge_row(bundle()))
    first, *rest = amounts(old)
    assert [f"9{first}", *rest] == amounts(new)
    # All that differs behind it is what links the records.
    assert links
    for one, other in links:
        assert other == one.replace(b'"prev":"' + prev(one), b'"prev":"' + prev(other))


def events(line: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(line)["record"]["body"]["events"]
    return found


def amounts(line: bytes) -> list[str]:
    """Every amount of a decision's events, in their order."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                if name == "amount":
                    found.append(inner)
                else:
                    walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(events(line))
    return found


def prev(line: bytes) -> bytes:
    text: str = json.loads(line)["record"]["prev"]
    return text.encode()


def test_the_chain_of_a_forged_row_is_whole() -> None:
    leaf = None
    for line in forge_row(bundle()).split(b"\n"):
        if not line.startswith(b'{"record":'):
            continue
        record = json.loads(line)["record"]
        assert record["prev"] == ("0" * 64 if record["kind"] == "open" else leaf)
        leaf = leaf_of_record(line[len(b'{"record":') : -1]).hex()


def test_only_running_the_rules_again_finds_the_row_itself(tmp_path: Path) -> None:
    found = findings(tmp_path, forge_row(bundle()))
    assert len({finding.run for finding in found}) == 1
    assert found[0].code == "decision.differs"
    # The parties signed what they had seen, and the ledger its root: the forger holds neither key.
    assert {"decision.differs", "message.seen", "checkpoint.root"} == {finding.code for finding in found}


@pytest.mark.parametrize("forge", [flip_byte, forge_row])
def test_a_forgery_is_the_same_each_time(forge: Any) -> None:
    assert forge(bundle()) == forge(bundle())

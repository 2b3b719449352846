"""Every single-byte change of an exported run is found: by `verify`, and by the independent verifier alike.

    position × {lowest bit flipped, another character, byte taken out, byte doubled}  ─►  changed file
    changed file ─► verify_bundle ─┐
                 ─► verify_trace  ─┴► both find it, and name the same code first in each run

For a malformed field that its checks don't need, the independent verifier names what the change broke.

The independent verifier's signature checks are remembered between files: they are pure, and most of a file
doesn't change.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest
import verify_trace
from forge import Trace
from script import run
from specimens import Specimen, imported, of_task, played
from two_verifiers import Verdict, alike, by_trace, by_verify

from tollbook.ledger.verify import verify_bundle

SPECIMENS = {"played": played(), "task": of_task(), "imported": imported()}
SAMPLES = {"played": 89, "task": 211, "imported": 89}
"""`make test` changes every so many-th byte."""
VALUES = 149
"""`make bytes` puts every other value in every so many-th byte."""
CHUNKS = 8


class Change(NamedTuple):
    position: int
    what: str
    data: bytes


@pytest.fixture(autouse=True)
def _remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_trace, "verify", _verify)


_verify = lru_cache(maxsize=4_096)(verify_trace.verify)


def changes(data: bytes, positions: Iterable[int]) -> Iterator[Change]:
    for place in positions:
        before, byte, after = data[:place], data[place : place + 1], data[place + 1 :]
        yield Change(place, "flipped", before + bytes([byte[0] ^ 1]) + after)
        yield Change(place, "another", before + (b"8" if byte == b"7" else b"7") + after)
        yield Change(place, "out", before + after)
        yield Change(place, "doubled", before + byte + byte + after)


def values(data: bytes, positions: Iterable[int]) -> Iterator[Change]:
    for place in positions:
        for value in range(256):
            if value != data[place]:
                yield Change(place, str(value), data[:place] + bytes([value]) + data[place + 1 :])


class Told(NamedTuple):
    """What came of many changes: how many by the first code of both verifiers, and where they part."""

    changes: int
    first: Counter[str]
    unlike: list[str]


def compare(changed: Iterable[Change], path: Path) -> Told:
    count = 0
    first: Counter[str] = Counter()
    unlike: list[str] = []
    for change in changed:
        count += 1
        ours, theirs = by_verify(change.data, path), by_trace(change.data)
        if alike(ours, theirs) and ours.found:
            first[next((code for code in ours.first if code), "open")] += 1
        else:
            unlike.append(f"byte {change.position} {change.what}: {ours} by verify, {theirs} by verify_trace")
    return Told(count, first, unlike)


@pytest.mark.parametrize("name", SPECIMENS)
def test_nothing_is_found_in_what_was_exported(name: str, tmp_path: Path) -> None:
    none = Verdict(found=False, first=(None, None))
    assert none == by_verify(SPECIMENS[name].bundle, tmp_path / "run.jsonl")
    assert none == by_trace(SPECIMENS[name].bundle)


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_sample_of_single_byte_changes_is_found_by_both(name: str, tmp_path: Path) -> None:
    data, step = SPECIMENS[name].bundle, SAMPLES[name]
    told = compare(changes(data, range(0, len(data), step)), tmp_path / "run.jsonl")
    assert [] == told.unlike
    assert 4 * len(range(0, len(data), step)) == told.changes


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("name", SPECIMENS)
def test_every_byte_changed_is_found_by_both(name: str, chunk: int, tmp_path: Path) -> None:
    data = SPECIMENS[name].bundle
    told = compare(changes(data, range(chunk, len(data), CHUNKS)), tmp_path / "run.jsonl")
    assert [] == told.unlike
    assert 4 * len(range(chunk, len(data), CHUNKS)) == told.changes


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_byte_value_at_some_places_is_found_by_both(chunk: int, tmp_path: Path) -> None:
    data = SPECIMENS["played"].bundle
    positions = range(chunk * VALUES, len(data), CHUNKS * VALUES)
    told = compare(values(data, positions), tmp_path / "run.jsonl")
    assert [] == told.unlike
    assert 255 * len(positions) == told.changes


def test_both_verify_the_run_of_a_program_played_here_and_now(tmp_path: Path) -> None:
    program = Path(__file__).resolve().parents[2] / "docs" / "agents" / "buyer.py"
    words = ["run", "t4.buyer_zopa", "--case", "linear", "--agent", f"buyer=exec:{sys.executable} {program}"]
    ledger = ["--ledger", str(tmp_path / "own.db")]
    assert 0 == run([*ledger, *words]).exit
    assert 0 == run([*ledger, "export", "-o", str(tmp_path / "own.jsonl")]).exit
    data = (tmp_path / "own.jsonl").read_bytes()
    none = Verdict(found=False, first=(None, None))
    assert none == by_verify(data, tmp_path / "own.jsonl") == by_trace(data)
    trace = Trace.read(data)
    assert trace.all("turn")
    assert trace.notes[1].startswith("tollbook.environment/1\n")
    told = compare(changes(data, range(0, len(data), 40 * SAMPLES["task"])), tmp_path / "own.jsonl")
    assert [] == told.unlike


def without(bundle: bytes, withheld: set[int] | None) -> bytes:
    """A bundle without some of its parts, counted from 0, or without any."""
    lines = bundle.splitlines(keepends=True)
    parts = [line for line in lines if line.startswith(b'{"part":')]
    gone = parts if withheld is None else [parts[place] for place in withheld]
    return b"".join(line for line in lines if line not in gone)


def parts_of(specimen: Specimen) -> int:
    return sum(len(entry.parts) for entry in Trace.read(specimen.bundle).entries)


@pytest.mark.parametrize("name", SPECIMENS)
def test_any_part_can_be_withheld_and_all_else_verifies(name: str, tmp_path: Path) -> None:
    count = parts_of(SPECIMENS[name])
    for withheld in [{place} for place in range(count)] + [None]:
        data = without(SPECIMENS[name].bundle, withheld)
        assert Verdict(found=False, first=(None, None)) == by_verify(data, tmp_path / "run.jsonl")
        assert Verdict(found=False, first=(None, None)) == by_trace(data)
        (audit,) = verify_bundle(tmp_path / "run.jsonl")
        assert (count if withheld is None else 1) == audit.withheld


def test_a_sample_of_changes_is_found_where_parts_are_withheld(tmp_path: Path) -> None:
    data = without(SPECIMENS["played"].bundle, None)
    told = compare(changes(data, range(0, len(data), 2 * SAMPLES["played"])), tmp_path / "run.jsonl")
    assert [] == told.unlike


def test_what_a_run_of_a_task_holds_is_changed_too() -> None:
    trace = Trace.read(SPECIMENS["task"].bundle)
    kinds = {entry.kind for entry in trace.entries}
    fields = {part["field"] for entry in trace.entries for part in entry.parts}
    assert {"open", "brief", "turn", "message", "decision", "seal"} == kinds
    assert {"part", "given", "gave", "text"} <= fields
    assert [False, True] == [note.startswith("tollbook.environment/1\n") for note in trace.notes]


@pytest.mark.parametrize(
    ("name",     "kind",  "inside",            "changed"),
    [
        ("played",   b"rows", b'"city":"Ulm"',     b'"city":"Ukm"'),
        ("imported", b"task", b"cancel_pending",   b"cancel_pendinf"),
        ("task",     b"rows", b'"refunded":2500',  b'"refunded":2501'),
        ("task",     b"task", b"t7.merchant",      b"t7.merchans"),
    ],
)  # fmt: skip
def test_a_blob_that_is_not_what_it_says_is_told_once(
    name: str, kind: bytes, inside: bytes, changed: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    lines = SPECIMENS[name].bundle.splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if line.startswith(b'{"blob":{"kind":"%b"' % kind))
    assert inside in lines[place]
    lines[place] = lines[place].replace(inside, changed, 1)
    path.write_bytes(b"".join(lines))
    (audit,) = verify_bundle(path)
    assert [("", None, "blob.digest")] == [(one.run, one.seq, one.code) for one in audit.findings]

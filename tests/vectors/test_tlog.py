"""A log written by other software: entries, tiles, notes and checkpoints.

Source: C2SP signed-note, tlog-checkpoint and tlog-tiles; transparency-dev/tessera, testdata.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tollbook.ledger.notes import (
    Checkpoint,
    Vkey,
    parse_checkpoint,
    parse_note,
    parse_vkey,
    print_checkpoint,
    print_note,
    print_vkey,
    verify_note,
)
from tollbook.protocol.merkle import (
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

pytestmark = pytest.mark.shared

SIZES = range(16)


@pytest.fixture
def log(shared: Path) -> Path:
    return shared / "vectors/tlog/tessera_testlog"


@pytest.fixture
def vkey(shared: Path) -> Vkey:
    notes = json.loads((shared / "vectors/tlog/notes.json").read_text())
    return parse_vkey(notes[1]["vkey"])


def entries(bundle: bytes) -> list[bytes]:
    """The entries of a bundle: each after its length in two bytes, big-endian."""
    found: list[bytes] = []
    while bundle:
        size = int.from_bytes(bundle[:2], "big")
        found.append(bundle[2 : 2 + size])
        bundle = bundle[2 + size :]
    return found


def leaves(log: Path, size: int) -> list[bytes]:
    bundle = (log / f"tile/entries/000.p/{size}").read_bytes() if size else b""
    return [leaf_hash(entry) for entry in entries(bundle)]


def checkpoint(log: Path, vkey: Vkey, size: int) -> Checkpoint:
    return parse_checkpoint(verify_note((log / f"checkpoint.{size}").read_text(), vkey))


def test_notes_verify_and_print_as_they_are(shared: Path) -> None:
    notes = json.loads((shared / "vectors/tlog/notes.json").read_text())
    assert len(notes) == 2
    for vector in notes:
        text, _ = vector["note"].split("\n\n")
        assert text + "\n" == verify_note(vector["note"], parse_vkey(vector["vkey"]))
        assert vector["note"] == print_note(parse_note(vector["note"]))
        assert vector["vkey"] == print_vkey(parse_vkey(vector["vkey"]))


@pytest.mark.parametrize("size", SIZES[1:])
def test_entries_give_the_tile(log: Path, size: int) -> None:
    assert (log / f"tile/0/000.p/{size}").read_bytes() == b"".join(leaves(log, size))


@pytest.mark.parametrize("size", SIZES)
def test_entries_give_the_checkpoint(log: Path, vkey: Vkey, size: int) -> None:
    expected = Checkpoint("example.com/log/testdata", size, root_of(leaves(log, size)))
    assert expected == checkpoint(log, vkey, size)
    note = (log / f"checkpoint.{size}").read_text()
    assert note.startswith(print_checkpoint(expected) + "\n")
    assert note == print_note(parse_note(note))


def test_each_checkpoint_is_consistent_with_the_next(log: Path, vkey: Vkey) -> None:
    every = leaves(log, 15)
    for old, new in pairwise(checkpoint(log, vkey, size) for size in SIZES[1:]):
        proof = consistency_proof(every, old.size, new.size)
        verify_consistency(old.size, old.root, new.size, new.root, proof)


def test_each_entry_is_in_the_last_checkpoint(log: Path, vkey: Vkey) -> None:
    every, head = leaves(log, 15), checkpoint(log, vkey, 15)
    for index, leaf in enumerate(every):
        verify_inclusion(leaf, index, 15, inclusion_proof(every, index), head.root)

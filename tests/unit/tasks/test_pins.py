"""Files of keys and checkpoints: what they pin, and what is said of others."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
from script import Stage

from tollbook.ledger.anchor import Pins
from tollbook.ledger.notes import sign_note, vkey_of
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.errors import NoteError
from tollbook.protocol.keys import SMALL_ORDER, key_text
from tollbook.tasks.pins import read_pins

SIGNER = ledger_key(bytes(range(32)))
VKEY = "tollbook.local+e028c6d8+ASIf0E8rdAm59tvlC+3chp8frswTkHOT9RDLKgdMZqUs"
BARE = "Ih/QTyt0Cbn22+UL7dyGnx+uzBOQc5P1EMsqB0xmpSw="
NAMED = vkey_of("tollbook.local", SIGNER.public)


def test_the_keys_are_those_of_the_known_secret() -> None:
    assert key_text(SIGNER.public) == BARE


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (Pins((NAMED,), frozenset()), VKEY),
        (Pins((), frozenset({SIGNER.public})), BARE),
        (Pins((NAMED,), frozenset({SIGNER.public})), f"{VKEY}\n{BARE}\n{BARE}\n"),
        (Pins((NAMED,), frozenset()), f"# the ledger\n\n  {VKEY}  # since March\r\n"),
        (Pins((NAMED, NAMED), frozenset()), f"{VKEY}\n{VKEY}"),
    ],
    ids=["vkey", "bare", "both", "comments", "twice"],
)
def test_keys_one_a_line(tmp_path: Path, expected: Pins, text: str) -> None:
    path = tmp_path / "keys"
    path.write_bytes(text.encode())
    assert expected == read_pins([path], [])


def test_more_files_pin_more(tmp_path: Path) -> None:
    for name, text in (("a", VKEY), ("b", BARE)):
        (tmp_path / name).write_text(text)
    Stage(tmp_path).prepare("checkpoint c 0")
    Stage(tmp_path).prepare("checkpoint d 1")
    pins = read_pins([tmp_path / "a", tmp_path / "b"], [tmp_path / "c", tmp_path / "d"])
    assert ((NAMED,), frozenset({SIGNER.public})) == (pins.vkeys, pins.keys)
    assert [(tmp_path / name).read_text(encoding="utf-8") for name in "cd"] == [*pins.checkpoints]


def test_nothing_given_pins_nothing() -> None:
    assert read_pins([], []) == Pins()


@pytest.mark.parametrize(
    ("expected",      "data"),
    [
        ("pins.empty",  b""),
        ("pins.empty",  b"# nothing\n\n"),
        ("pins.key",    b"key"),
        ("pins.key",    VKEY.replace("e028", "e029").encode()),
        ("pins.key",    VKEY[:-1].encode()),
        ("pins.key",    f"{VKEY}\nkey".encode()),
        ("pins.key",    f"{VKEY} {BARE}".encode()),
        ("pins.key",    BARE.replace("=", "").encode()),
        ("pins.key",    "é".encode()),
        ("pins.form",   b"\xff"),
        ("pins.form",   b"#" * (2**20 + 1)),
        *[("pins.key",  b64encode(key)) for key in sorted(SMALL_ORDER)],
    ],
)  # fmt: skip
def test_what_is_no_file_of_keys(tmp_path: Path, expected: str, data: bytes) -> None:
    path = tmp_path / "keys"
    path.write_bytes(data)
    with pytest.raises(NoteError) as error:
        read_pins([path], [])
    assert expected == error.value.code
    assert f"`{path}`" in error.value.text
    assert error.value.hint


CHECKPOINT = sign_note(f"a/run/b\n3\n{BARE}\n", "a", SIGNER)


@pytest.mark.parametrize(
    ("is_good", "text"),
    [
        (True, CHECKPOINT),
        (False, ""),
        (False, CHECKPOINT[:-1]),
        (False, CHECKPOINT.partition("\n\n")[0]),
        (False, CHECKPOINT.replace("\n3\n", "\n03\n")),
        (False, CHECKPOINT.replace("\n", "\r\n")),
        (False, sign_note("tollbook.receipt/1\n{}\n", "a", SIGNER)),
        (False, VKEY),
    ],
)
def test_a_checkpoint_is_a_note_of_three_lines(tmp_path: Path, is_good: bool, text: str) -> None:  # noqa: FBT001 - a column
    path = tmp_path / "kept.note"
    path.write_bytes(text.encode())
    if is_good:
        assert read_pins([], [path]).checkpoints == (text,)
        return
    with pytest.raises(NoteError) as error:
        read_pins([], [path])
    assert error.value.code == "pins.checkpoint"


@pytest.mark.parametrize("error", [FileNotFoundError, IsADirectoryError])
def test_a_file_that_cant_be_read_is_the_systems_error(tmp_path: Path, error: type[OSError]) -> None:
    path = tmp_path / "none" if error is FileNotFoundError else tmp_path
    with pytest.raises(error):
        read_pins([path], [])
    with pytest.raises(error):
        read_pins([], [path])

from __future__ import annotations

from binascii import b2a_base64

import pytest
from small_run import NAME, OUTSIDER, SECRET, facts, key_of, opened

from tollbook.ledger.anchor import NO_PINS, Pins, check_notes, origin_of
from tollbook.ledger.notes import Checkpoint, print_checkpoint, sign_note, vkey_of
from tollbook.ledger.run import Run
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import SigningKey
from tollbook.protocol.world import world_of

KEY = ledger_key(SECRET)
OTHER = key_of("another ledger")
SIZE = 9


@pytest.fixture
def run() -> Run:
    """A run of nine records."""
    begun = Run(opened(), world_of(opened().world), facts())
    for seq in range(SIZE):
        begun.link("turn", b"%d" % seq, None)
    return begun


def checkpoint(
    run: Run, size: int = SIZE, key: SigningKey = KEY, name: str = NAME, root: bytes | None = None
) -> str:
    root = run.root(min(size, run.size)) if root is None else root
    return sign_note(print_checkpoint(Checkpoint(origin_of(run), size, root)), name, key)


def environment(
    run: Run, text: str | None = None, key: SigningKey = KEY, first: str = "tollbook.environment/1"
) -> str:
    return sign_note(f"{first}\n" + (text or f'{{"root":"{run.root().hex()}"}}') + "\n", NAME, key)


def codes(run: Run, *notes: str, pins: Pins = NO_PINS, sealed: bool = True) -> list[str]:
    return [objection.code for objection in check_notes(run, notes, pins, sealed=sealed)[0]]


def anchored(run: Run, *notes: str, pins: Pins = NO_PINS, sealed: bool = True) -> bool:
    return check_notes(run, notes, pins, sealed=sealed)[1]


def test_a_runs_own_notes(run: Run) -> None:
    own = checkpoint(run)
    cases: list[tuple[list[str], list[str]]] = [
        ([], [own]),
        ([], [own, environment(run), environment(run, first="tollbook.receipt/1")]),
        (["checkpoint.missing"], []),
        (["checkpoint.missing"], [environment(run)]),
        (["checkpoint.signature"], [checkpoint(run, key=OTHER)]),
        (["checkpoint.signature"], [checkpoint(run, name="another.name")]),
        (["checkpoint.signature"], [own[:-1]]),
        (["checkpoint.signature"], [own.replace("\N{EM DASH}", "-")]),
        (["checkpoint.size", "checkpoint.root"], [checkpoint(run, size=SIZE - 1)]),
        (["checkpoint.size"], [checkpoint(run, size=SIZE + 1)]),
        (["checkpoint.root"], [checkpoint(run, root=bytes(32))]),
        (["bundle.form"], [own, own]),
        (["bundle.form"], [own, "no note"]),
        (["note.signature"], [own, environment(run, key=OTHER)]),
        (["note.form"], [own, environment(run, "no document")]),
        (["note.form"], [own, environment(run, "[]")]),
        (["note.form"], [own, environment(run, '{"root": ""}')]),
        (["note.form"], [own, environment(run, f'{{"root":"{run.root().hex()}"}}\nmore')]),
        (["note.root"], [own, environment(run, "{}")]),
        (["note.root"], [own, environment(run, f'{{"root":"{"0" * 64}"}}')]),
    ]
    for expected, notes in cases:
        assert expected == codes(run, *notes), notes
        assert not anchored(run, *notes)


def test_any_change_of_a_checkpoints_text_is_found(run: Run) -> None:
    """Each line is compared with what the ledger would print."""
    own = checkpoint(run)
    origin, size, root = own.split("\n")[:3]
    for before, after, code in (
        (origin, origin + "x", "checkpoint.origin"),
        (origin, origin.replace(NAME, "other"), "checkpoint.origin"),
        (f"\n{size}\n", f"\n0{size}\n", "checkpoint.size"),
        (f"\n{size}\n", f"\n+{size}\n", "checkpoint.size"),
        (root, root[:-1], "checkpoint.root"),
        (root, f"{root}\nmore", "checkpoint.root"),
    ):
        assert ["checkpoint.signature", code] == codes(run, own.replace(before, after))


def test_an_open_run_needs_no_checkpoint_and_a_given_one_is_judged(run: Run) -> None:
    assert [] == codes(run, sealed=False)
    assert [] == codes(run, checkpoint(run), sealed=False)
    assert ["checkpoint.size", "checkpoint.root"] == codes(run, checkpoint(run, size=3), sealed=False)


def test_a_pinned_ledger_key_anchors_what_it_signed(run: Run) -> None:
    own = checkpoint(run)
    pins = (Pins(vkeys=(vkey_of(NAME, KEY.public),)), Pins(keys=frozenset([KEY.public])))
    for pin in pins:
        assert anchored(run, own, pins=pin)
        assert "pinned" == pin.standing(run)[NAME]
        assert not anchored(run, pins=pin, sealed=False)
        assert not anchored(run, checkpoint(run, key=OTHER), pins=pin)
    for name, key in ((NAME, OTHER.public), ("another.name", KEY.public)):
        pin = Pins(vkeys=(vkey_of(name, key),))
        assert not anchored(run, own, pins=pin)
        assert "self-asserted" == pin.standing(run)[NAME]
    assert ["checkpoint.key"] == codes(run, own, pins=Pins(vkeys=(vkey_of(NAME, OTHER.public),)))
    assert [] == codes(run, own, pins=Pins(vkeys=(vkey_of("another.name", OTHER.public),)))


def test_a_partys_key_is_pinned_by_its_name_or_bare(run: Run) -> None:
    named = Pins(vkeys=(vkey_of("outsider", OUTSIDER.public),))
    wrong = Pins(vkeys=(vkey_of("user", OUTSIDER.public),))
    assert "pinned" == named.standing(run)["outsider"]
    assert "self-asserted" == named.standing(run)["user"]
    assert "pinned" == Pins(keys=frozenset([OUTSIDER.public])).standing(run)["outsider"]
    assert ["key.pinned"] == codes(run, checkpoint(run), pins=wrong)
    assert not anchored(run, checkpoint(run), pins=named)


def test_a_checkpoint_from_outside_anchors_a_run_that_goes_on_from_it(run: Run) -> None:
    own = checkpoint(run)
    for size in range(1, SIZE + 1):
        assert anchored(run, own, pins=Pins(checkpoints=(checkpoint(run, size=size),)))
    origin = origin_of(run)
    forged = sign_note(f"{origin}\n3\n{b2a_base64(bytes(32), newline=False).decode()}\n", NAME, KEY)
    malformed = sign_note(f"{origin}\n03\nAAAA\n", NAME, KEY)
    for code, note in (
        ("checkpoint.size", checkpoint(run, size=SIZE + 1)),
        ("checkpoint.inconsistent", forged),
        ("checkpoint.signature", checkpoint(run, key=OTHER)),
        ("checkpoint.form", malformed),
    ):
        assert [code] == codes(run, own, pins=Pins(checkpoints=(note,)))
        assert not anchored(run, own, pins=Pins(checkpoints=(note,)))


def test_a_shorter_log_says_how_short(run: Run) -> None:
    ((_code, text),), _ = check_notes(run, [], Pins(checkpoints=(checkpoint(run, size=12),)), sealed=False)
    assert "log shorter than checkpoint size 12: it has 9 records" == text


def test_a_checkpoint_of_another_run_anchors_nothing(run: Run) -> None:
    other = sign_note(print_checkpoint(Checkpoint(f"{NAME}/run/{'0' * 64}", SIZE, run.root())), NAME, KEY)
    assert [] == codes(run, checkpoint(run), pins=Pins(checkpoints=(other,)))
    assert not anchored(run, checkpoint(run), pins=Pins(checkpoints=(other,)))

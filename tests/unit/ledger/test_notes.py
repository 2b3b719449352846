"""Notes and checkpoints: one spelling, and every other one refused."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollbook.ledger.notes import (
    MAX_NOTE_BYTES,
    Checkpoint,
    Note,
    Signature,
    Vkey,
    key_id,
    parse_checkpoint,
    parse_note,
    parse_vkey,
    print_checkpoint,
    print_note,
    print_vkey,
    sign_note,
    verify_note,
    vkey_of,
)
from tollbook.protocol.errors import KeyRefusedError, NoteError
from tollbook.protocol.keys import SMALL_ORDER, SigningKey

SIGNER = SigningKey.from_seed(bytes(range(32)))
WITNESS = SigningKey.from_seed(bytes(32))
VKEY = vkey_of("market", SIGNER.public)
TEXT = "market/run/1\n3\nn\u00f6t\n"
NOTE = sign_note(TEXT, "market", SIGNER)
LINE = NOTE.split("\n\n")[1]
WITNESS_LINE = sign_note(TEXT, "witness", WITNESS).split("\n\n")[1]
# The same name and id as ours, over another text.
FALSE_LINE = sign_note("another\n", "market", SIGNER).split("\n\n")[1]
ROOT = sha256(b"root").digest()
ROOT_TEXT = b64encode(ROOT).decode()


def line(data: bytes, name: str = "witness") -> str:
    return f"\u2014 {name} {b64encode(data).decode()}\n"


def test_a_signed_note() -> None:
    signature = b64encode(key_id("market", SIGNER.public) + SIGNER.sign(TEXT.encode())).decode()
    assert f"{TEXT}\n\u2014 market {signature}\n" == NOTE
    assert verify_note(NOTE, VKEY) == TEXT


def test_a_key_id() -> None:
    expected = sha256(b"market\n\x01" + SIGNER.public).digest()[:4]
    assert expected == key_id("market", SIGNER.public)
    assert Vkey("market", expected, SIGNER.public) == VKEY


def test_a_text_may_hold_empty_lines_and_what_looks_like_signatures() -> None:
    for text in ("\n", "\n\n\n", f"a\n\n{LINE}", f"a\n\n{LINE}\n"):
        note = sign_note(text, "market", SIGNER)
        assert text == verify_note(note, VKEY)
        assert note == print_note(parse_note(note))


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        (None,               LINE),
        (None,               LINE + WITNESS_LINE),
        (None,               WITNESS_LINE + LINE),
        (None,               line(b"1234another algorithm's") + LINE),
        (None,               line(VKEY.key_id + bytes(64)) + LINE),       # our id, another name
        (None,               line(b"1234" + bytes(64), "market") + LINE), # our name, another id
        (None,               WITNESS_LINE * 99 + LINE),
        (None,               LINE + LINE),
        ("note.key_unknown", WITNESS_LINE),
        ("note.key_unknown", line(b"1234" + bytes(64), "market")),
        ("note.signature",   FALSE_LINE),
        ("note.signature",   LINE + FALSE_LINE),
        ("note.signature",   FALSE_LINE + LINE),
        ("note.signature",   line(VKEY.key_id + bytes(64), "market")),
        ("note.signature",   line(VKEY.key_id + b"short", "market")),
        ("note.form",        WITNESS_LINE * 100 + LINE),
        ("note.form",        ""),
        ("note.form",        LINE.rstrip("\n")),
        ("note.form",        LINE + "\n"),
        ("note.form",        LINE + "x\n"),
        ("note.form",        LINE.replace("\u2014", "-")),
        ("note.form",        LINE.replace("\u2014", "\u2014\u2014")),
        ("note.form",        LINE.replace("\u2014 ", "\u2014")),
        ("note.form",        LINE.replace("\u2014 ", "\u2014  ")),
        ("note.form",        LINE.replace("\n", " \n")),
        ("note.form",        LINE.replace("\n", "\r\n")),
        ("note.form",        LINE.replace("\n", "=\n")),
        ("note.form",        LINE.replace("=", "")),
        ("note.form",        LINE + line(b"1234")),
        ("note.form",        LINE + "\u2014 witness \n"),
        ("note.form",        LINE + "\u2014 witness \u00e9\u00e9\u00e9\u00e9\n"),
        ("note.form",        LINE + "\u2014 witness MTIzNDV=\n"),         # spare bits set
        ("note.form",        LINE + "\u2014 witness MTIz-_V=\n"),         # the other alphabet
        ("note.name",        LINE + line(b"12345", "wit+ness")),
        ("note.name",        LINE + line(b"12345", "wit\u00a0ness")),
        ("note.name",        LINE + line(b"12345", "wit\u2028ness")),
        ("note.name",        LINE + line(b"12345", "wit\x00ness")),
        ("note.size",        line(b"1234" + bytes(MAX_NOTE_BYTES)) + LINE),
    ],
)
def test_signature_lines(code: str | None, lines: str) -> None:
    assert code == note_code(f"{TEXT}\n{lines}")


def note_code(note: str) -> str | None:
    try:
        assert verify_note(note, VKEY) == TEXT
    except NoteError as error:
        return error.code
    return None


@pytest.mark.parametrize("text", ["", "a", "a\r\n", "a\tb\n", "a\x00\n", "\ud800\n", "a\n\n\x1f"])
def test_texts_that_no_note_has(text: str) -> None:
    with pytest.raises(NoteError) as caught:
        sign_note(text, "market", SIGNER)
    assert caught.value.code == "note.form"
    with pytest.raises(NoteError) as caught:
        parse_note(f"{text}\n{LINE}")
    assert caught.value.code == "note.form"


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\u2003b", "a\x01", "\ud800"])
def test_names_that_no_key_has(name: str) -> None:
    with pytest.raises(NoteError) as caught:
        sign_note(TEXT, name, SIGNER)
    assert caught.value.code == "note.name"
    with pytest.raises(NoteError) as caught:
        vkey_of(name, SIGNER.public)
    assert caught.value.code == "note.name"


def test_a_note_too_large_is_refused_both_ways() -> None:
    fits = MAX_NOTE_BYTES - len(NOTE.encode()) + len(TEXT.encode())
    note = sign_note("\u00e9" * (fits // 2 - 1) + "e" * (fits % 2) + "e\n", "market", SIGNER)
    assert len(note.encode()) == MAX_NOTE_BYTES
    verify_note(note, VKEY)
    for refused in (lambda: sign_note("e" * fits + "\n", "market", SIGNER), lambda: parse_note("e" + note)):
        with pytest.raises(NoteError) as caught:
            refused()
        assert caught.value.code == "note.size"


@pytest.mark.parametrize(
    "note",
    [
        Note("a\n", ()),
        Note("a", (Signature("name", b"1234", b"5"),)),
        Note("a\n", (Signature("na me", b"1234", b"5"),)),
        Note("a\n", (Signature("name", b"123", b"45"),)),
        Note("a\n", (Signature("name", b"12345", b"6"),)),
        Note("a\n", (Signature("name", b"1234", b""),)),
        Note("a\n", (Signature("name", b"1234", b"5"),) * 101),
    ],
)
def test_notes_that_cannot_be_parsed_are_not_printed(note: Note) -> None:
    with pytest.raises(NoteError):
        print_note(note)


def test_each_changed_byte_of_a_note_is_refused() -> None:
    data = NOTE.encode()
    for at in range(len(data)):
        for changed in (*(data[at] ^ 1 << bit for bit in range(8)), *b"\n +=A\x00"):
            if changed != data[at]:
                assert refused(data[:at] + bytes([changed]) + data[at + 1 :]), (at, changed)


def test_each_lost_or_added_byte_of_a_note_is_refused() -> None:
    data = NOTE.encode()
    for at in range(len(data)):
        assert refused(data[:at] + data[at + 1 :]), at
        assert refused(data[:at]), at
    for at in range(len(data) + 1):
        for added in b"\n +=A\x00\xff":
            assert refused(data[:at] + bytes([added]) + data[at:]), (at, added)


def refused(data: bytes) -> bool:
    """Whether bytes are no note by our key; where they still parse, they print as they are."""
    try:
        note = data.decode()
        assert note == print_note(parse_note(note))
        verify_note(note, VKEY)
    except (UnicodeDecodeError, NoteError):
        return True
    return False


names = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1)
texts = st.text(st.characters(codec="utf-8", min_codepoint=32) | st.just("\n")).map(lambda text: text + "\n")
signatures = st.builds(
    Signature, names, st.binary(min_size=4, max_size=4), st.binary(min_size=1, max_size=70)
)
notes = st.builds(Note, texts, st.lists(signatures, min_size=1, max_size=4).map(tuple))


@given(notes)
def test_what_is_printed_parses(note: Note) -> None:
    assert note == parse_note(print_note(note))


@given(st.text("\u2014 \nab=+A4") | notes.map(print_note))
def test_what_parses_prints_as_it_was(text: str) -> None:
    try:
        note = parse_note(text)
    except NoteError:
        return
    assert text == print_note(note)


def test_a_vkey_prints_and_parses() -> None:
    expected = f"market+{VKEY.key_id.hex()}+{b64encode(bytes([1]) + SIGNER.public).decode()}"
    assert expected == print_vkey(VKEY)
    assert parse_vkey(expected) == VKEY


def test_a_vkey_splits_on_its_first_two_plus_signs_only() -> None:
    keys = (SigningKey.from_seed(bytes([n]) * 32).public for n in range(256))
    key = next(key for key in keys if print_vkey(vkey_of("market", key)).count("+") > 2)
    assert vkey_of("market", key) == parse_vkey(print_vkey(vkey_of("market", key)))


PUBLIC = b64encode(b"\x01" + SIGNER.public).decode()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("note.vkey", ""),
        ("note.vkey", "market"),
        ("note.vkey", f"market+{VKEY.key_id.hex()}"),
        ("note.vkey", f"market+{VKEY.key_id.hex()}+"),
        ("note.vkey", f"+{VKEY.key_id.hex()}+{PUBLIC}"),
        ("note.vkey", f"market+{VKEY.key_id.hex().upper()}+{PUBLIC}"),
        ("note.vkey", f"market+{VKEY.key_id.hex()}0+{PUBLIC}"),
        ("note.vkey", f"market+00000000+{PUBLIC}"),
        ("note.vkey", f"another+{VKEY.key_id.hex()}+{PUBLIC}"),
        ("note.vkey", f"market+{VKEY.key_id.hex()}+{PUBLIC}\n"),
        ("note.vkey", f"market+{VKEY.key_id.hex()}+{PUBLIC}="),
        ("note.vkey", f"market+{VKEY.key_id.hex()}+{PUBLIC[:-4]}"),
        ("note.vkey", f"market+{VKEY.key_id.hex()}+{b64encode(bytes([4]) + SIGNER.public).decode()}"),
        ("note.vkey", f"market+{VKEY.key_id.hex()}+\u00e9{PUBLIC}"),
        ("note.name", f"mar ket+{VKEY.key_id.hex()}+{PUBLIC}"),
        ("note.name", f"mar\nket+{VKEY.key_id.hex()}+{PUBLIC}"),
    ],
)
def test_texts_that_are_no_vkey(code: str, text: str) -> None:
    with pytest.raises(NoteError) as caught:
        parse_vkey(text)
    assert code == caught.value.code


def test_a_vkey_of_small_order_is_refused() -> None:
    for key in sorted(SMALL_ORDER):
        text = print_vkey(Vkey("market", key_id("market", key), key))
        with pytest.raises(KeyRefusedError) as caught:
            parse_vkey(text)
        assert caught.value.code == "key.small_order"


@pytest.mark.parametrize("size", [0, 1, 9, 10, 2**31, 2**63 - 1])
def test_a_checkpoint_prints_and_parses(size: int) -> None:
    checkpoint = Checkpoint("market/run/1", size, ROOT)
    text = f"market/run/1\n{size}\n{ROOT_TEXT}\n"
    assert text == print_checkpoint(checkpoint)
    assert checkpoint == parse_checkpoint(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        f"\n1\n{ROOT_TEXT}\n",
        f"a\tb\n1\n{ROOT_TEXT}\n",
        f"a\n1\n{ROOT_TEXT}",
        f"a\n1\n{ROOT_TEXT}\n\n",
        f"a\n1\n{ROOT_TEXT}\nextension\n",
        f"a\n1\r\n{ROOT_TEXT}\n",
        f"a\n\n{ROOT_TEXT}\n",
        f"a\n00\n{ROOT_TEXT}\n",
        f"a\n01\n{ROOT_TEXT}\n",
        f"a\n+1\n{ROOT_TEXT}\n",
        f"a\n-1\n{ROOT_TEXT}\n",
        f"a\n1_0\n{ROOT_TEXT}\n",
        f"a\n 1\n{ROOT_TEXT}\n",
        f"a\n\u0661\n{ROOT_TEXT}\n",
        f"a\n{2**63}\n{ROOT_TEXT}\n",
        f"a\n{'9' * 5000}\n{ROOT_TEXT}\n",
        "a\n1\n\n",
        f"a\n1\n{ROOT_TEXT[:-1]}\n",
        f"a\n1\n{ROOT_TEXT[:-4]}\n",
        f"a\n1\n {ROOT_TEXT}\n",
        f"a\n1\n{ROOT.hex()}\n",
    ],
)
def test_texts_that_are_no_checkpoint(text: str) -> None:
    with pytest.raises(NoteError) as caught:
        parse_checkpoint(text)
    assert caught.value.code == "note.checkpoint"


@pytest.mark.parametrize(
    "checkpoint",
    [
        Checkpoint("", 1, ROOT),
        Checkpoint("a\nb", 1, ROOT),
        Checkpoint("a\x00", 1, ROOT),
        Checkpoint("a", -1, ROOT),
        Checkpoint("a", 2**63, ROOT),
        Checkpoint("a", 1, ROOT[:31]),
        Checkpoint("a", 1, b""),
    ],
)
def test_checkpoints_that_are_not_printed(checkpoint: Checkpoint) -> None:
    with pytest.raises(NoteError) as caught:
        print_checkpoint(checkpoint)
    assert caught.value.code == "note.checkpoint"

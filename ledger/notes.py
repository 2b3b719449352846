"""Signed notes: short texts that people can read and one key vouches for.

    note       = text LF line+                     text ends in LF
    line       = "— " name " " base64(key id || signature over text) LF
    key id     = SHA-256(name LF 0x01 key)[:4]
    vkey       = name "+" hex(key id) "+" base64(0x01 || key)
    checkpoint = origin LF size LF base64(root) LF    as a note's text

Each form has one spelling: what `parse_…` accepts is what `print_…` of its
value prints. A note may carry signatures by keys that the reader does not know
(witnesses); they are kept and vouch for nothing.

Not here: which key a reader trusts and what a checkpoint's root covers. Other
signature types than Ed25519 (0x01) and extension lines of checkpoints are refused.

Source: C2SP signed-note and tlog-checkpoint; the vkey is that of Go's
`golang.org/x/mod/sumdb/note`.
"""

from __future__ import annotations

import re
from hashlib import sha256

import msgspec

from ..protocol.canonical import base64_bytes, base64_text
from ..protocol.errors import NoteError
from ..protocol.keys import KEY_BYTES, SigningKey, check_public, verify
from ..protocol.merkle import HASH_BYTES

MAX_NOTE_BYTES = 2**20
MAX_SIGNATURES = 100  # C2SP asks for 16 at least; each by a known key costs a verification
MAX_TREE_SIZE = 2**63 - 1

_ED25519 = b"\x01"
_ID_BYTES = 4
_DASH = "\N{EM DASH} "
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\ud800-\udfff]")
_LINE = re.compile(f"{_DASH}([^ ]+) ([^ ]+)")
_CHECKPOINT = re.compile(r"([^\n]+)\n(0|[1-9][0-9]{0,18})\n([^\n]+)\n")
_VKEY = re.compile(r"([^+]+)\+([0-9a-f]{8})\+(\S+)")
_VKEY_HINT = "write `<name>+<8 hex digits of the key id>+<base64 of 0x01 and the Ed25519 key>`"


class Vkey(msgspec.Struct, frozen=True):
    """A public key under its name, as a reader pins it."""

    name: str
    key_id: bytes
    key: bytes


class Signature(msgspec.Struct, frozen=True):
    """One signature line; `data` is as long as its type makes it."""

    name: str
    key_id: bytes
    data: bytes


class Note(msgspec.Struct, frozen=True):
    """A text and who claims to have signed it: nothing is verified yet."""

    text: str
    signatures: tuple[Signature, ...]


class Checkpoint(msgspec.Struct, frozen=True):
    """A tree head: the log's origin, its number of leaves and its root."""

    origin: str
    size: int
    root: bytes


def key_id(name: str, key: bytes) -> bytes:
    """The 4 bytes that, with the name, tell a signature's key."""
    return sha256(b"%b\n%b%b" % (name.encode(), _ED25519, key)).digest()[:_ID_BYTES]


def vkey_of(name: str, key: bytes) -> Vkey:
    """A public key under a name.

    Raises:
        NoteError: `note.name`.
        KeyRefusedError: a key that must not stand for anybody.
    """
    _check_name(name)
    check_public(key)
    return Vkey(name, key_id(name, key), key)


def print_vkey(vkey: Vkey) -> str:
    """The line by which a reader pins a key."""
    return f"{vkey.name}+{vkey.key_id.hex()}+{base64_text(_ED25519 + vkey.key)}"


def parse_vkey(text: str) -> Vkey:
    """The key of such a line.

    Raises:
        NoteError: `note.vkey`, `note.name`.
        KeyRefusedError: a key that must not stand for anybody.
    """
    # Base64 has `+` too, so only the first two of them separate.
    match = _VKEY.fullmatch(text)
    data = base64_bytes(match[3]) if match else None
    if match is None or data is None or len(data) != 1 + KEY_BYTES or data[:1] != _ED25519:
        raise NoteError("note.vkey", "a text is not a verifier key", _VKEY_HINT)
    vkey = vkey_of(match[1], data[1:])
    if vkey.key_id.hex() != match[2]:
        raise NoteError("note.vkey", f"key id `{match[2]}` is not that of the name and key", _VKEY_HINT)
    return vkey


def print_note(note: Note) -> str:
    """The note's only spelling.

    Raises:
        NoteError: as `parse_note`, for a note that it could not have parsed.
    """
    _check_note(note)
    lines = [f"{_DASH}{one.name} {base64_text(one.key_id + one.data)}\n" for one in note.signatures]
    printed = note.text + "\n" + "".join(lines)
    _check_size(printed)
    return printed


def parse_note(note: str) -> Note:
    """The text and signatures of a note, nothing verified.

    Raises:
        NoteError: `note.size`, `note.form`, `note.name`.
    """
    _check_size(note)
    # A text may hold empty lines: the last one is the border.
    text, border, lines = note.rpartition("\n\n")
    if not border or not lines.endswith("\n"):
        raise NoteError("note.form", "a note is a text, an empty line and signature lines, each ended")
    parsed = Note(text + "\n", tuple(map(_parse_line, lines[:-1].split("\n"))))
    _check_note(parsed)
    return parsed


def sign_note(text: str, name: str, signer: SigningKey) -> str:
    """The note over a text, signed by one key under a name.

    Raises:
        NoteError: `note.size`, `note.form`, `note.name`.
    """
    _check_text(text)
    _check_name(name)
    signature = Signature(name, key_id(name, signer.public), signer.sign(text.encode()))
    return print_note(Note(text, (signature,)))


def verify_note(note: str, vkey: Vkey) -> str:
    """The text of a note that the key has signed.

    Signatures by other keys are passed over; each by this key must be good.

    Raises:
        NoteError: as `parse_note`, then `note.key_unknown`, `note.signature`.
    """
    parsed = parse_note(note)
    own = [one for one in parsed.signatures if (one.name, one.key_id) == (vkey.name, vkey.key_id)]
    if not own:
        raise NoteError("note.key_unknown", f"a note has no signature by `{print_vkey(vkey)}`")
    data = parsed.text.encode()
    if not all(verify(vkey.key, one.data, data) for one in own):
        raise NoteError("note.signature", f"a signature by `{print_vkey(vkey)}` is not good")
    return parsed.text


def print_checkpoint(checkpoint: Checkpoint) -> str:
    """The text of a checkpoint's note.

    Raises:
        NoteError: `note.checkpoint`.
    """
    _check_checkpoint(checkpoint)
    return f"{checkpoint.origin}\n{checkpoint.size}\n{base64_text(checkpoint.root)}\n"


def parse_checkpoint(text: str) -> Checkpoint:
    """The checkpoint in a note's text, which is worth what the note's signature is.

    Raises:
        NoteError: `note.checkpoint`.
    """
    match = _CHECKPOINT.fullmatch(text)
    root = base64_bytes(match[3]) if match else None
    if match is None or root is None:
        raise NoteError(
            "note.checkpoint", "a checkpoint is origin, decimal size and base64 root on three lines"
        )
    checkpoint = Checkpoint(match[1], int(match[2]), root)
    _check_checkpoint(checkpoint)
    return checkpoint


def _parse_line(line: str) -> Signature:
    match = _LINE.fullmatch(line)
    data = base64_bytes(match[2]) if match else None
    if match is None or data is None:
        raise NoteError("note.form", f"a signature line is not `{_DASH}<name> <base64>`")
    return Signature(match[1], data[:_ID_BYTES], data[_ID_BYTES:])


def _check_size(note: str) -> None:
    if len(note.encode(errors="surrogatepass")) > MAX_NOTE_BYTES:
        raise NoteError("note.size", f"a note is over the limit of {MAX_NOTE_BYTES} bytes")


def _check_note(note: Note) -> None:
    _check_text(note.text)
    if not 0 < len(note.signatures) <= MAX_SIGNATURES:
        raise NoteError("note.form", f"a note has 1 to {MAX_SIGNATURES} signature lines")
    for one in note.signatures:
        _check_name(one.name)
        if len(one.key_id) != _ID_BYTES or not one.data:
            raise NoteError("note.form", f"a signature has {_ID_BYTES} bytes of key id and more")


def _check_text(text: str) -> None:
    if not text.endswith("\n"):
        raise NoteError("note.form", "a note's last line of text is not ended")
    if found := _CONTROL.search(text):
        raise NoteError("note.form", f"a note's text holds the character U+{ord(found[0]):04X}")


def _check_name(name: str) -> None:
    if not name or "+" in name or any(map(str.isspace, name)) or _CONTROL.search(name):
        raise NoteError("note.name", "a key name is empty or holds a space, a control character or `+`")


def _check_checkpoint(checkpoint: Checkpoint) -> None:
    if not checkpoint.origin or "\n" in checkpoint.origin or _CONTROL.search(checkpoint.origin):
        raise NoteError("note.checkpoint", "a checkpoint's origin is empty or holds a control character")
    if not 0 <= checkpoint.size <= MAX_TREE_SIZE:
        raise NoteError("note.checkpoint", "a checkpoint's size is not from 0 to below 2^63")
    if len(checkpoint.root) != HASH_BYTES:
        raise NoteError("note.checkpoint", f"a checkpoint's root is not {HASH_BYTES} bytes")

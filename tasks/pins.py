"""The keys and checkpoints that a reader brought, read from files.

    keys file     one key a line: a vkey (`name+id+key`), or a bare key in base64; `#` begins a comment
    checkpoint    a signed note, as `tollbook prove checkpoint` prints it

Not here: what they say of a run (`tollbook.ledger.anchor`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ledger.anchor import Pins
from ..ledger.notes import Vkey, parse_checkpoint, parse_note, parse_vkey
from ..protocol.errors import KeyRefusedError, NoteError
from ..protocol.keys import check_public, key_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_MAX_BYTES = 2**20
_BARE_LENGTH = 44


def read_pins(keys: Sequence[Path], checkpoints: Sequence[Path]) -> Pins:
    """What these files pin.

    Raises:
        NoteError: a file that holds no key, or no checkpoint.
        OSError: a file that can't be read.
    """
    vkeys: list[Vkey] = []
    bare: set[bytes] = set()
    for path in keys:
        for line in _lines(path):
            found = _key(line, path)
            if isinstance(found, Vkey):
                vkeys.append(found)
            else:
                bare.add(found)
    return Pins(tuple(vkeys), frozenset(bare), tuple(_checkpoint(path) for path in checkpoints))


def _lines(path: Path) -> list[str]:
    lines = [line.partition("#")[0].strip() for line in _text(path).splitlines()]
    found = [line for line in lines if line]
    if not found:
        hint = "write one key a line, as `tollbook key show` prints it"
        raise NoteError("pins.empty", f"`{path}` holds no key", hint)
    return found


def _key(line: str, path: Path) -> Vkey | bytes:
    try:
        # Base64 has `+` too, but a bare key has a length that no vkey reaches.
        if len(line) > _BARE_LENGTH:
            return parse_vkey(line)
        key = key_bytes(line)
        check_public(key)
    except (NoteError, KeyRefusedError) as error:
        what = f"`{path}` holds what is no key: {error.text}"
        raise NoteError("pins.key", what, "write one key a line, as `tollbook key show` prints it") from None
    return key


def _checkpoint(path: Path) -> str:
    text = _text(path)
    try:
        parse_checkpoint(parse_note(text).text)
    except NoteError as error:
        what = f"`{path}` is no checkpoint: {error.text}"
        raise NoteError("pins.checkpoint", what, "give what `tollbook prove checkpoint` printed") from None
    return text


def _text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    text = _utf8(data) if len(data) <= _MAX_BYTES else None
    if text is None:
        raise NoteError("pins.form", f"`{path}` is no text of keys or a checkpoint", "give another file")
    return text


def _utf8(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None

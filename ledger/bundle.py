"""Bundles: runs as one self-contained file that anybody can check.

    {"blob":{…}}…                         start rows, task texts; shared by the runs
    ({"record":{…}} {"part":{…}}…)…       a run's records, each with its parts
    {"note":{"text":…}}…                  its checkpoint, then other notes
    …the next run begins

JSON Lines: every line canonical and ended by LF, nothing after the last. A
line's kind is told by how it begins. A run begins at the first record line, at
one of seq 0, and at one that follows a note. Only a last line without its end
is torn; anything else that is not as above is damage. Behind a torn or damaged
line nothing of its run is read; the next run is. A file is read in one pass
and never held whole.

Not here: whether the runs are good (`audit`).
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from ..protocol.bodies import Open, PartText
from ..protocol.canonical import (
    MAX_DEPTH,
    MAX_OPEN_BYTES,
    MAX_PART_BYTES,
    admit,
    depth,
    encode,
    encode_typed,
)
from ..protocol.errors import BundleError, CanonicalError, LedgerError
from .blobs import Blob, name_of
from .records import BODIES, OPEN, VERSION, ZERO, Envelope, Part, Stored, leaf_of_record, record_bytes

if TYPE_CHECKING:
    from .store import Store

# A part's text of 1 MiB may need six bytes a character once it is JSON.
MAX_LINE_BYTES = 8 * MAX_PART_BYTES
_FORMS: dict[bytes, Form] = {
    b'{"blob":': "blob",
    b'{"record":': "record",
    b'{"part":': "part",
    b'{"note":': "note",
}
_RECORD, _PART, _NOTE = b'{"record":', b'{"part":', b'{"note":'

Form = Literal["blob", "record", "part", "note", "none"]


class Lines(Protocol):
    """A file as this module reads it."""

    def readline(self, size: int, /) -> bytes:
        """The next line with its LF, or as much of it as `size` bytes; nothing at the end."""
        ...


class _PartLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    field: str
    salt: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}(?!\n)$")]
    text: str


class _PartDoc(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    part: _PartLine


class _NoteLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str


class _NoteDoc(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    note: _NoteLine


_ENVELOPE = msgspec.json.Decoder(Envelope)
_PART_DOC = msgspec.json.Decoder(_PartDoc)
_NOTE_DOC = msgspec.json.Decoder(_NoteDoc)


class Flaw(NamedTuple):
    """What is wrong with a line: a finding's code and text.

    For an unreadable record, ``data`` is its bytes, and ``seq`` what it says
    its place is, where that much can be read.
    """

    code: str
    text: str
    data: bytes = b""
    seq: int | None = None


class Item(NamedTuple):
    """One line, by its number from 1: its kind as told by how it begins, and what it holds."""

    line: int
    form: Form
    content: Blob | Stored | Part | str | Flaw


class Section(NamedTuple):
    """One run of a bundle: a stream of its records, the last of which may be unreadable, then its notes.

    ``flaws`` says behind what nothing more of the run was read, as (line, flaw).
    """

    records: Iterator[Stored | Flaw]
    notes: list[str]
    flaws: list[tuple[int, Flaw]]


def read_items(file: Lines) -> Iterator[Item]:
    """A bundle's lines, each read strictly and by itself.

    Raises:
        BundleError: `bundle.gzip`, the compressed file is damaged.
    """
    number = 0
    while line := _line(file):
        number += 1
        if line.endswith(b"\n"):
            yield Item(number, *_content(line[:-1]))
        elif len(line) <= MAX_LINE_BYTES:
            yield Item(number, "none", Flaw("bundle.torn", "the last line is cut off"))
        else:
            while line and not line.endswith(b"\n"):
                line = _line(file)
            yield Item(number, "none", Flaw("bundle.form", f"a line is over {MAX_LINE_BYTES} bytes"))


def _line(file: Lines) -> bytes:
    try:
        return file.readline(MAX_LINE_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"the compressed file is damaged: {error}"
        raise BundleError("bundle.gzip", what, "get a whole copy") from None


def _content(line: bytes) -> tuple[Form, Blob | Stored | Part | str | Flaw]:
    form = _FORMS.get(line[: line.find(b":") + 1], "none")
    if form == "none" or not line.endswith(b"}"):
        return "none", Flaw("bundle.form", "a line is no blob, record, part or note")
    if form == "record":
        return form, _record(line[len(_RECORD) : -1])
    try:
        if form == "part":
            part = admit(line, _PART_DOC, MAX_LINE_BYTES).part
            return form, Part(part.field, PartText(salt=part.salt, text=part.text))
        if form == "note":
            return form, admit(line, _NOTE_DOC, MAX_LINE_BYTES).note.text
        return form, Blob(name_of(line), [line])
    except (CanonicalError, BundleError) as error:
        return form, Flaw("bundle.form", f"a {form} can't be read: {error.text}")


def _record(data: bytes) -> Stored | Flaw:
    """A record from its bytes; its body is judged by whoever knows its kind."""
    if len(data) > MAX_OPEN_BYTES:
        return Flaw("record.size", f"{len(data)} bytes are over the limit of {MAX_OPEN_BYTES}", data)
    if depth(data) > MAX_DEPTH:
        return Flaw("record.depth", f"nesting is over the limit of {MAX_DEPTH}", data)
    try:
        record = _ENVELOPE.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Flaw("record.form", f"a line is no record: {error}", data)
    body = bytes(record.body)
    if record.v != VERSION:
        return Flaw("record.form", f"a record is of version {record.v}, not {VERSION}", data, record.seq)
    if record.kind not in BODIES:
        return Flaw("record.form", f"there is no record of kind `{record.kind}`", data, record.seq)
    # What is no base64 may need escapes; it stays as it is spelled, so that hashes are of the same bytes.
    sig = None if record.sig is None else encode_typed(record.sig)[1:-1].decode()
    if record_bytes(record.seq, record.kind, record.prev, body, sig) != data:
        return _misspelled(record, data)
    return Stored(record.seq, record.kind, body, sig, record.prev)


def _misspelled(record: Envelope, data: bytes) -> Flaw:
    try:
        BODIES[record.kind].decode(record.body)
        encode(msgspec.json.decode(record.body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, CanonicalError) as error:
        return Flaw("record.form", f"a {record.kind} is not of its form: {error}", data, record.seq)
    return Flaw("record.spelling", f"a {record.kind} is not spelled canonically", data, record.seq)


class Bundle:
    """A bundle file being read, run by run."""

    def __init__(self, file: Lines) -> None:
        """Reads the blobs, up to the first record.

        Raises:
            BundleError: the file is not a bundle at all, or holds no run.
        """
        self._items = read_items(file)
        self._waiting = next(self._items, None)
        self._form: Form = "none"  # of the line before the one that is waiting
        self.flaws: list[tuple[int, Flaw]] = []
        self.blobs = self._blobs()
        if self._waiting is None:
            hint = "give a file that `tollbook export` made"
            if self.flaws:
                line, flaw = self.flaws[0]
                raise BundleError(flaw.code, f"the file is not a bundle: line {line}: {flaw.text}", hint)
            raise BundleError("bundle.empty", "the file holds no run", hint)

    @property
    def ended(self) -> bool:
        """Whether all of the file was read."""
        return self._waiting is None

    def _advance(self) -> None:
        assert self._waiting is not None
        self._form = self._waiting.form
        self._waiting = next(self._items, None)

    def _blobs(self) -> dict[str, Blob]:
        lines: dict[str, list[bytes]] = {}
        last = ""
        while self._waiting is not None and self._waiting.form != "record":
            number, form, content = self._waiting
            if isinstance(content, Blob):
                if content.digest != last and content.digest in lines:
                    self.flaws.append(
                        (number, Flaw("bundle.form", f"blob `{content.digest[:12]}` is given twice"))
                    )
                else:
                    lines.setdefault(content.digest, []).extend(content.lines)
                last = content.digest
            elif isinstance(content, Flaw):
                self.flaws.append((number, content))
            else:
                self.flaws.append((number, Flaw("bundle.form", f"a {form} comes before the first record")))
            self._advance()
        return {digest: Blob(digest, found) for digest, found in lines.items()}

    def runs(self) -> Iterator[Section]:
        """The runs in file order; each must be read to its end before the next."""
        while self._waiting is not None:
            notes: list[str] = []
            flaws: list[tuple[int, Flaw]] = []
            yield Section(self._records(self._waiting, notes, flaws), notes, flaws)

    def _records(
        self, first: Item, notes: list[str], flaws: list[tuple[int, Flaw]]
    ) -> Iterator[Stored | Flaw]:
        held = first.content
        self._advance()
        parts: list[Part] = []
        while isinstance(held, Stored) and self._waiting is not None and not self._begins():
            number, form, content = self._waiting
            if isinstance(content, Part) and not notes and content.field > (parts[-1].field if parts else ""):
                parts.append(content)
            elif isinstance(content, str):
                notes.append(content)
            elif form == "record":
                yield replace(held, parts=tuple(parts))
                assert isinstance(content, Stored | Flaw)
                held, parts = content, []
            else:
                misplaced = Flaw("bundle.form", f"a {form} is not where its kind belongs")
                flaws.append((number, content if isinstance(content, Flaw) else misplaced))
                break
            self._advance()
        if isinstance(held, Stored):
            yield replace(held, parts=tuple(parts))
        else:
            assert isinstance(held, Flaw)
            yield held
        while self._waiting is not None and not self._begins():
            self._advance()

    def _begins(self) -> bool:
        """Whether the line that waits begins a run."""
        assert self._waiting is not None
        if self._waiting.form != "record":
            return False
        content = self._waiting.content
        return self._form == "note" or (isinstance(content, Stored | Flaw) and content.seq == 0)


def open_bundle(path: Path) -> gzip.GzipFile | BufferedReader:
    """The bytes of a bundle, unpacked if its first bytes are gzip's.

    Raises:
        BundleError: there is no such file, or it can't be read.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return gzip.open(path) if packed else path.open("rb")
    except FileNotFoundError:
        raise BundleError("bundle.missing", f"there is no file `{path}`", "check the path") from None
    except IsADirectoryError:
        raise BundleError(
            "bundle.directory", f"`{path}` is a directory", "give the path of a bundle"
        ) from None
    except OSError as error:
        raise BundleError(
            "bundle.open", f"`{path}` can't be read: {error.strerror}", "check its permissions"
        ) from None


def export_lines(store: Store, runs: Sequence[tuple[int, str]], *, withhold: bool = False) -> Iterator[bytes]:
    """A bundle's lines for these runs of a store, each with its LF.

    ``withhold`` leaves every part out; all else still verifies.
    """
    yield from _blob_lines(store, runs)
    for run, _run_id in runs:
        prev = ZERO
        for stored in store.records(run):
            record = record_bytes(stored.seq, stored.kind, prev, stored.body, stored.sig)
            yield b"%b%b}\n" % (_RECORD, record)
            prev = leaf_of_record(record).hex()
            if not withhold:
                for part in stored.parts:
                    yield (
                        encode_typed(_PartDoc(_PartLine(part.field, part.text.salt, part.text.text))) + b"\n"
                    )
        for text in store.notes(run):
            yield encode_typed(_NoteDoc(_NoteLine(text))) + b"\n"


def _blob_lines(store: Store, runs: Sequence[tuple[int, str]]) -> Iterator[bytes]:
    named: dict[str, None] = {}  # in the order in which runs name them, each once
    for run, _run_id in runs:
        opened = opened_of(store, run)
        named[opened.facts] = None
        if opened.task is not None:
            named[opened.task.digest] = None
    for digest in named:
        for line in store.blob(digest):
            yield line + b"\n"


def opened_of(store: Store, run: int) -> Open:
    """A stored run's ``open``.

    Raises:
        LedgerError: `run.damaged`, the run doesn't begin with one.
    """
    try:
        return OPEN.decode(store.body(run, 0))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = f"run number {run} doesn't begin with an open: {error}"
        raise LedgerError("run.damaged", what, "see `tollbook verify`") from None


def write_bundle(path: Path, lines: Iterable[bytes]) -> None:
    """Writes a bundle whole or not at all; a name that ends in ``.gz`` is packed.

    Raises:
        BundleError: the file can't be written.
    """
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("wb") as plain:
            if path.suffix == ".gz":
                # No name and no time in the header: the same runs give the same bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=plain, mtime=0) as packed:
                    packed.writelines(lines)
            else:
                plain.writelines(lines)
            plain.flush()
            os.fsync(plain.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BundleError(
            "bundle.write", f"`{path}` can't be written: {error.strerror}", "check the folder"
        ) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise

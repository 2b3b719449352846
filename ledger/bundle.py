"""Bundles: runs as one self-contained file that anybody can check.

    {"blob":{…}}…                         start rows, task texts; shared by the runs
    ({"record":{…}} {"part":{…}}…)…       a run's records, each with its parts
    {"note":{"text":…}}…                  its checkpoint, then other notes
    …the next run begins with its record of seq 0

JSON Lines: every line canonical and ended by LF, nothing after the last. Only
a last line without its end is a torn one; anything else that is not as above
is damage. A file is read in one pass and never held whole.

Not here: whether the runs are good (`audit`).
"""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, NamedTuple

import msgspec

from ..protocol.bodies import PartText
from ..protocol.canonical import MAX_OPEN_BYTES, MAX_PART_BYTES, admit, check_size, encode_typed
from ..protocol.errors import BundleError, CanonicalError
from .blobs import Blob, is_blob, name_of
from .records import OPEN, Envelope, Part, Stored, leaf_of_record, record_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .store import Store

# A part's text of 1 MiB may need six bytes a character once it is JSON.
MAX_LINE_BYTES = 8 * MAX_PART_BYTES
_RECORD = b'{"record":'
_PART = b'{"part":'
_NOTE = b'{"note":'


class _PartLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    field: Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
    salt: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]
    text: str


class _PartDoc(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    part: _PartLine


class _NoteLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str


class _NoteDoc(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    note: _NoteLine


class _RecordDoc(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    record: Envelope


_RECORD_DOC = msgspec.json.Decoder(_RecordDoc)
_PART_DOC = msgspec.json.Decoder(_PartDoc)
_NOTE_DOC = msgspec.json.Decoder(_NoteDoc)


class Flaw(NamedTuple):
    """A line that can't be read: its number from 1, a finding's code, and what is wrong."""

    line: int
    code: str
    text: str


class Item(NamedTuple):
    """What one line holds: a blob's line, a record, a part, a note or a flaw."""

    line: int
    content: Blob | Stored | Part | str | Flaw


class Section(NamedTuple):
    """One run of a bundle: a stream of its records, then its notes and flaws."""

    records: Iterator[Stored]
    notes: list[str]
    flaws: list[Flaw]


def read_items(file: IO[bytes]) -> Iterator[Item]:
    """A bundle's lines, each read strictly; after a flaw that hides the structure, the lines go on."""
    number = 0
    while True:
        line = _line(file)
        if not line:
            return
        number += 1
        if not line.endswith(b"\n"):
            torn = len(line) <= MAX_LINE_BYTES
            yield Item(number, Flaw(number, "bundle.torn" if torn else "bundle.form", _unended(torn=torn)))
            if torn:
                return
            while line and not line.endswith(b"\n"):
                line = _line(file)
            continue
        try:
            content = _content(line[:-1])
        except (CanonicalError, BundleError) as error:
            content = Flaw(number, _flaw_code(error.code), error.text)
        yield Item(number, content)


def _line(file: IO[bytes]) -> bytes:
    try:
        return file.readline(MAX_LINE_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BundleError("bundle.gzip", f"the compressed file is damaged: {error}", "get a whole copy") from None


def _unended(*, torn: bool) -> str:
    return "the last line is cut off" if torn else f"a line is over {MAX_LINE_BYTES} bytes"


def _flaw_code(code: str) -> str:
    return {"canonical.spelling": "record.spelling", "canonical.size": "record.size", "canonical.depth": "record.depth"}.get(
        code, "bundle.form"
    )


def _content(line: bytes) -> Blob | Stored | Part | str:
    if line.startswith(_RECORD):
        return _record(line)
    if line.startswith(_PART):
        part = admit(line, _PART_DOC, MAX_LINE_BYTES).part
        return Part(part.field, PartText(salt=part.salt, text=part.text))
    if line.startswith(_NOTE):
        return admit(line, _NOTE_DOC, MAX_LINE_BYTES).note.text
    if is_blob(line):
        return Blob(name_of(line), [line])
    raise BundleError("bundle.form", "a line is no blob, record, part or note")


def _record(line: bytes) -> Stored:
    check_size(line, MAX_OPEN_BYTES + len(_RECORD) + 1)
    try:
        record = _RECORD_DOC.decode(line).record
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BundleError("bundle.form", f"a line is no record: {error}") from None
    body = bytes(record.body)
    if b"%b%b}" % (_RECORD, record_bytes(record.seq, record.kind, record.prev, body, record.sig)) != line:
        raise CanonicalError("canonical.spelling", "a record is not spelled canonically")
    return Stored(record.seq, record.kind, body, record.sig, record.prev)


class Bundle:
    """A bundle file being read, run by run."""

    def __init__(self, file: IO[bytes]) -> None:
        """Reads the blobs, up to the first record.

        Raises:
            BundleError: the file is not a bundle at all.
        """
        self._items = read_items(file)
        self._waiting = next(self._items, None)
        self.blobs: dict[str, Blob] = {}
        self.flaws: list[Flaw] = []
        self._blobs()
        if self._waiting is None and not self.blobs:
            raise BundleError("bundle.empty", "the file holds no run", "give a file that `tollbook export` made")
        if self.flaws and self._waiting is None and not self.blobs:
            raise BundleError("bundle.form", "the file is not a bundle", "give a file that `tollbook export` made")

    def _advance(self) -> None:
        self._waiting = next(self._items, None)

    def _blobs(self) -> None:
        lines: dict[str, list[bytes]] = {}
        last = ""
        while self._waiting is not None:
            number, content = self._waiting
            if isinstance(content, Blob):
                if content.digest != last and content.digest in lines:
                    self.flaws.append(Flaw(number, "blob.form", f"blob `{content.digest[:12]}` is given twice"))
                last = content.digest
                lines.setdefault(last, []).extend(content.lines)
            elif isinstance(content, Flaw):
                self.flaws.append(content)
            else:
                break
            self._advance()
        self.blobs = {digest: Blob(digest, found) for digest, found in lines.items()}

    def runs(self) -> Iterator[Section]:
        """The runs in file order; each must be read to its end before the next."""
        while self._waiting is not None:
            notes: list[str] = []
            flaws: list[Flaw] = []
            yield Section(self._records(notes, flaws), notes, flaws)

    def _records(self, notes: list[str], flaws: list[Flaw]) -> Iterator[Stored]:
        held: Stored | None = None
        parts: list[Part] = []
        first = True
        while self._waiting is not None:
            number, content = self._waiting
            if isinstance(content, Stored):
                if not first and (content.seq == 0 or notes):
                    if content.seq != 0:
                        flaws.append(Flaw(number, "bundle.form", "a record comes after the run's notes"))
                    break
                if held is not None:
                    yield held._replace(parts=tuple(parts))
                held, parts, first = content, [], False
            elif isinstance(content, Part) and held is not None and not notes:
                parts.append(content)
            elif isinstance(content, str) and held is not None:
                notes.append(content)
            elif isinstance(content, Flaw):
                flaws.append(content)
                first = False
            else:
                flaws.append(Flaw(number, "bundle.form", "a line is not where its kind belongs"))
                first = False
            self._advance()
        if held is not None:
            yield held._replace(parts=tuple(parts))


def open_bundle(path: Path) -> IO[bytes]:
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
        raise BundleError("bundle.directory", f"`{path}` is a directory", "give the path of a bundle") from None
    except OSError as error:
        raise BundleError("bundle.open", f"`{path}` can't be read: {error.strerror}", "check its permissions") from None


def export_lines(store: Store, runs: Sequence[tuple[int, str]], *, withhold: bool = False) -> Iterator[bytes]:
    """A bundle's lines for these runs of a store, each with its LF.

    ``withhold`` leaves every part out; all else still verifies.
    """
    yield from _blob_lines(store, runs)
    for run, _run_id in runs:
        prev = "0" * 64
        for stored in store.records(run):
            record = record_bytes(stored.seq, stored.kind, prev, stored.body, stored.sig)
            yield b"%b%b}\n" % (_RECORD, record)
            prev = leaf_of_record(record).hex()
            if not withhold:
                for part in stored.parts:
                    yield encode_typed(_PartDoc(_PartLine(part.field, part.text.salt, part.text.text))) + b"\n"
        for text in store.notes(run):
            yield encode_typed(_NoteDoc(_NoteLine(text))) + b"\n"


def _blob_lines(store: Store, runs: Sequence[tuple[int, str]]) -> Iterator[bytes]:
    named: dict[str, None] = {}  # in the order in which runs name them, each once
    for run, _run_id in runs:
        opened = OPEN.decode(store.body(run, 0))
        named[opened.facts] = None
        if opened.task is not None:
            named[opened.task.digest] = None
    for digest in named:
        for line in store.blob(digest):
            yield line + b"\n"


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
        raise BundleError("bundle.write", f"`{path}` can't be written: {error.strerror}", "check the folder") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise

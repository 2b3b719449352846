"""Blobs: what a run names by digest and many runs share.

    rows  start rows       named by their state root         lines of ≤ 1,000 rows
    task  a task's text    named by SHA-256 of its bytes     one line

A blob's lines are the same in a store and in a bundle, so exporting one is
copying. A blob is used only after it was worked out to be what its name says.

Not here: which blobs a run must have (`audit`).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec

from ..protocol.canonical import MAX_PART_BYTES, Hex, encode_typed
from ..protocol.errors import BundleError, CanonicalError, WorldError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..protocol.tables import Facts, Row
    from ..protocol.world import World

ROWS_A_LINE = 1_000


class Blob(NamedTuple):
    """A blob's name and its canonical lines."""

    digest: str
    lines: Sequence[bytes]


class _Rows(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="rows"):
    of: Hex
    rows: Annotated[list[tuple[str, str, msgspec.Raw]], msgspec.Meta(max_length=ROWS_A_LINE)]
    tables: list[str]


class _Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="task"):
    of: Hex
    text: str


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    blob: _Rows | _Task


_LINE = msgspec.json.Decoder(_Line)
_BLOB = b'{"blob":'


def is_blob(line: bytes) -> bool:
    """Whether a bundle's line holds (a line of) a blob."""
    return line.startswith(_BLOB)


def facts_blob(facts: Facts) -> Blob:
    """The blob of start rows."""
    tables = sorted(facts.tables)
    rows = [(table, key, msgspec.Raw(encode_typed(row))) for table, key, row in facts.rows()]
    groups = [rows[first : first + ROWS_A_LINE] for first in range(0, len(rows), ROWS_A_LINE)] or [[]]
    lines = [encode_typed(_Line(_Rows(of=facts.root, rows=group, tables=tables))) for group in groups]
    return Blob(facts.root, lines)


def task_blob(text: str) -> Blob:
    """The blob of a task's text.

    Raises:
        BundleError: over 1 MiB.
    """
    data = text.encode()
    if len(data) > MAX_PART_BYTES:
        raise BundleError("blob.size", f"a task of {len(data)} bytes is over the limit of {MAX_PART_BYTES}")
    name = sha256(data).hexdigest()
    return Blob(name, [encode_typed(_Line(_Task(of=name, text=text)))])


def name_of(line: bytes) -> str:
    """The name that a blob's line states.

    Raises:
        BundleError: the line is not one of a blob.
    """
    return _read(line).of


def task_text(blob: Blob) -> str:
    """The text of a task's blob.

    Raises:
        BundleError: `blob.form`, or `blob.digest` when it is not what its name says.
    """
    content = _read(blob.lines[0])
    if len(blob.lines) != 1 or not isinstance(content, _Task):
        raise BundleError("blob.form", f"blob `{blob.digest[:12]}` is not a task")
    if sha256(content.text.encode()).hexdigest() != blob.digest:
        raise BundleError("blob.digest", f"blob `{blob.digest[:12]}` is not what its name says")
    return content.text


def facts_of(blob: Blob, world: World) -> Facts:
    """The start rows of a blob, under a world's types.

    Raises:
        BundleError: `blob.form`, or `blob.digest` when they are not what their name says.
    """
    try:
        facts = world.facts(_rows(blob, world))
    except (WorldError, CanonicalError, UnicodeEncodeError) as error:
        raise BundleError("blob.form", f"blob `{blob.digest[:12]}` holds no start rows: {error}") from None
    if facts.root != blob.digest or list(facts_blob(facts).lines) != list(blob.lines):
        raise BundleError("blob.digest", f"blob `{blob.digest[:12]}` is not what its name says")
    return facts


def _rows(blob: Blob, world: World) -> Iterator[tuple[str, str, Row]]:
    for line in blob.lines:
        content = _read(line)
        if not isinstance(content, _Rows):
            raise BundleError("blob.form", f"blob `{blob.digest[:12]}` is not start rows")
        for table, key, row in content.rows:
            yield table, key, world.read_row(table, bytes(row))


def _read(line: bytes) -> _Rows | _Task:
    try:
        return _LINE.decode(line).blob
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BundleError("blob.form", f"a line is no blob: {error}") from None


class Shelf:
    """Blobs at hand, each read and worked out once."""

    def __init__(self, fetch: Callable[[str], Blob | None]) -> None:
        self._fetch = fetch
        self._facts: dict[tuple[str, int], Facts] = {}

    def sharing(self, other: Shelf) -> Shelf:
        """This shelf, with what another one has worked out already."""
        self._facts = other._facts  # noqa: SLF001 - of the same class
        return self

    def facts(self, digest: str, world: World) -> Facts | None:
        """The start rows of this name under a world's types; None when they aren't here.

        Raises:
            BundleError: as `facts_of`.
        """
        key = (digest, id(world))
        if key not in self._facts:
            blob = self._fetch(digest)
            if blob is None:
                return None
            self._facts[key] = facts_of(blob, world)
        return self._facts[key]

    def task(self, digest: str) -> str | None:
        """The task text of this name; None when it isn't here.

        Raises:
            BundleError: as `task_text`.
        """
        blob = self._fetch(digest)
        return None if blob is None else task_text(blob)

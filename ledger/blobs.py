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

from ..protocol.canonical import MAX_PART_BYTES, Hex, admit, admit_any, encode_typed
from ..protocol.errors import BundleError, CanonicalError, WorldError
from ..protocol.merkle import leaf_hash, root_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..protocol.tables import Facts, Row
    from ..protocol.world import World

MAX_BLOB_LINE_BYTES = 8 * 2**20
ROWS_A_LINE = 1_000
ROW_BYTES_A_LINE = 4 * 2**20
"""A line of more rows' bytes would be over the limit of a bundle's line."""
MAX_ROWS_HELD = 50_000
MAX_FACTS_HELD = 256  # however small: what is worked out of each takes more room than a row


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


def facts_blob(facts: Facts) -> Blob:
    """The blob of start rows."""
    tables = sorted(facts.tables)
    groups: list[list[tuple[str, str, msgspec.Raw]]] = [[]]
    size_bytes = 0
    for table, key, row in facts.rows():
        data = encode_typed(row)
        if len(groups[-1]) == ROWS_A_LINE or size_bytes + len(data) > ROW_BYTES_A_LINE:
            groups.append([])
            size_bytes = 0
        groups[-1].append((table, key, msgspec.Raw(data)))
        size_bytes += len(data)
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
    if not isinstance(content, _Task):
        raise BundleError("blob.form", f"{_short(blob)} is not a task")
    flaw = None if _is_good_task(blob, content) else misnamed(blob)
    if flaw is not None:
        raise BundleError(*flaw)
    return content.text


def _is_good_task(blob: Blob, task: _Task) -> bool:
    """Whether a blob is this task, by size, bytes and name: a quick yes, since each run may have its own."""
    line = blob.lines[0]
    return (
        len(blob.lines) == 1
        and len(line) <= MAX_PART_BYTES
        and encode_typed(_Line(task)) == line
        and task.of == blob.digest == sha256(task.text.encode()).hexdigest()
    )


def facts_of(blob: Blob, world: World) -> Facts:
    """The start rows of a blob, under a world's types.

    Raises:
        BundleError: `blob.form`, no start rows of this world, or `blob.digest`
            when they are not what their name says.
    """
    try:
        facts = world.facts(_rows(blob, world))
    except (WorldError, CanonicalError, BundleError, UnicodeEncodeError) as error:
        flaw = misnamed(blob)
        code, text = flaw or ("blob.form", f"{_short(blob)} holds no start rows of this world: {error}")
        raise BundleError(code, text) from None
    if facts.root != blob.digest or list(facts_blob(facts).lines) != list(blob.lines):
        raise BundleError(*(misnamed(blob) or ("blob.form", f"{_short(blob)} is cut into other lines")))
    return facts


def misnamed(blob: Blob) -> tuple[str, str] | None:
    """Why a blob is not what its name says, whatever its world, as a code and a text; or None."""
    try:
        contents = [_read(line) for line in blob.lines]
        for line in blob.lines:
            admit_any(line, MAX_BLOB_LINE_BYTES)
    except (BundleError, CanonicalError) as error:
        return "bundle.form", f"{_short(blob)} can't be read: {error}"
    first = contents[0]
    if isinstance(first, _Task):
        data = first.text.encode()
        name = sha256(data).hexdigest() if len(contents) == 1 and len(data) <= MAX_PART_BYTES else ""
    else:
        name = _root([one for one in contents if isinstance(one, _Rows)], first.tables)
    return None if name == blob.digest else ("blob.digest", f"{_short(blob)} is not what its name says")


def _root(contents: Sequence[_Rows], tables: Sequence[str]) -> str:
    """The state root of start rows as they stand; none where they are not in order."""
    rows = [row for content in contents for row in content.rows]
    places = [(table, key) for table, key, _row in rows]
    leaves: dict[str, list[bytes]] = {table: [] for table in tables}
    if places != sorted(set(places)) or list(tables) != sorted(leaves):
        return ""
    if any(table not in leaves for table, _key in places) or any(one.tables != tables for one in contents):
        return ""
    for table, key, row in rows:
        leaves[table].append(leaf_hash(encode_typed((table, key, row))))
    roots = [leaf_hash(encode_typed((table, len(one), root_of(one).hex()))) for table, one in leaves.items()]
    return root_of(roots).hex()


def _count(facts: Facts) -> int:
    return sum(len(table.rows) for table in facts.tables.values())


def _short(blob: Blob) -> str:
    return f"blob `{blob.digest[:12]}`"


def _rows(blob: Blob, world: World) -> Iterator[tuple[str, str, Row]]:
    for line in blob.lines:
        content = _read(line)
        if not isinstance(content, _Rows):
            raise BundleError("blob.form", f"{_short(blob)} is not start rows")
        for table, key, row in content.rows:
            yield table, key, world.read_row(table, bytes(row))


def _read(line: bytes) -> _Rows | _Task:
    try:
        return admit(line, _LINE, MAX_BLOB_LINE_BYTES).blob
    except CanonicalError as error:
        raise BundleError("blob.form", f"a line is no blob: {error}") from None


class Shelf:
    """Blobs at hand, each read and worked out once; of start rows only those used last are held.

    So many runs that share their start rows read them once, and many runs that
    each have their own take no more memory than a few.
    """

    def __init__(self, fetch: Callable[[str], Blob | None]) -> None:
        self._fetch = fetch
        self._facts: dict[tuple[str, int], Facts] = {}
        self._rows_held = 0
        self.read: set[str] = set()
        """The names of those that somebody has read, and learnt what is wrong with them."""

    def facts(self, digest: str, world: World) -> Facts | None:
        """The start rows of this name under a world's types; None when they aren't here.

        Raises:
            BundleError: as `facts_of`.
        """
        key = (digest, id(world))
        facts = self._facts.pop(key, None)
        if facts is None:
            blob = self._fetch(digest)
            if blob is None:
                return None
            self.read.add(digest)
            facts = facts_of(blob, world)
            self._rows_held += _count(facts)
        self._facts[key] = facts
        while len(self._facts) > MAX_FACTS_HELD or (len(self._facts) > 1 and self._rows_held > MAX_ROWS_HELD):
            self._rows_held -= _count(self._facts.pop(next(iter(self._facts))))
        return facts

    def task(self, digest: str) -> str | None:
        """The task text of this name; None when it isn't here.

        Raises:
            BundleError: as `task_text`.
        """
        blob = self._fetch(digest)
        if blob is None:
            return None
        self.read.add(digest)
        return task_text(blob)

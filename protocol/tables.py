"""Tables of rows: shared start rows, a run's own changes, and their digests.

    state = start rows (shared, immutable) + changes (this run's) + staged (this decision's)

    delta      = SHA-256 of [[table, key, row or null], …] of rows whose bytes changed, sorted
    table root = RFC 6962 root over its rows, leaf = [table, key, row], sorted by key
    state root = RFC 6962 root over [table, number of rows, table root], sorted by table

A row is a frozen struct; its bytes are its canonical form. Thousands of runs
share one `Facts`, whose trees are built once, so the root of a run that
changed k of n rows costs k·log n hashes.

Not here: what the rows mean (each market's `rows`), or where they are kept.
"""

from __future__ import annotations

from functools import cache, cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from .canonical import encode_typed
from .errors import WorldError
from .merkle import Tree, leaf_hash, root_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Row = msgspec.Struct

NO_CHANGE = sha256(b"[]").hexdigest()
"""The delta of a decision that changed no row."""


def row_leaf(table: str, key: str, row: Row) -> bytes:
    """The RFC 6962 leaf hash of a row; its data begin with ``[``, a record's with ``{``."""
    return leaf_hash(encode_typed((table, key, row)))


def _row_leaves(table: str, rows: Iterable[tuple[str, Row]]) -> list[bytes]:
    """As `row_leaf` of each; written out, since a seal hashes every row that a run made."""
    return [sha256(b"\x00" + encode_typed((table, key, row))).digest() for key, row in rows]


def _table_leaf(table: str, count: int, root: bytes) -> bytes:
    return leaf_hash(encode_typed((table, count, root.hex())))


@cache
def _empty_leaf(table: str) -> bytes:
    """The leaf of a table without rows: most tables of a large market are empty at the start."""
    return _table_leaf(table, 0, root_of([]))


class _StartTable:
    """One table of start rows, sorted by key, with its tree."""

    def __init__(self, name: str, rows: dict[str, Row]) -> None:
        self.name = name
        self.rows = {key: rows[key] for key in sorted(rows)}

    @cached_property
    def places(self) -> dict[str, int]:
        return {key: place for place, key in enumerate(self.rows)}

    @cached_property
    def leaves(self) -> list[bytes]:
        return _row_leaves(self.name, self.rows.items())

    @cached_property
    def tree(self) -> Tree:
        return Tree(self.leaves)

    @cached_property
    def leaf(self) -> bytes:
        """The table's leaf in the state root of the start rows."""
        if not self.rows:
            return _empty_leaf(self.name)
        return _table_leaf(self.name, len(self.rows), self.tree.root())

    def root_with(self, changes: Mapping[str, Row | None]) -> bytes:
        """The table root when these rows are put (or removed, when None)."""
        if not self.rows:
            put = [(key, row) for key in sorted(changes) if (row := changes[key]) is not None]
            return root_of(_row_leaves(self.name, put))
        put = [(key, row) for key, row in changes.items() if row is not None]
        made = _row_leaves(self.name, put)
        if len(put) == len(changes) and self.places.keys() >= changes.keys():
            places = self.places
            return self.tree.root_with({places[key]: leaf for (key, _), leaf in zip(put, made, strict=True)})
        leaves = dict(zip(self.rows, self.leaves, strict=True))
        leaves.update((key, leaf) for (key, _), leaf in zip(put, made, strict=True))
        for key in changes.keys() - dict(put).keys() if len(put) < len(changes) else ():
            leaves.pop(key, None)
        return root_of([leaves[key] for key in sorted(leaves)])


class Facts:
    """The start rows of runs: immutable, shared, named by their state root.

    ``memo`` is for what rules derive from the start rows alone (an index, a
    rendering): a pure function of them, so sharing it can't change a run.
    """

    def __init__(self, tables: Iterable[str], rows: Iterable[tuple[str, str, Row]]) -> None:
        """Start rows for exactly these tables.

        Raises:
            WorldError: a table that is not listed, a key twice, or a key that is
                not 1 to 128 printable ASCII characters.
        """
        found: dict[str, dict[str, Row]] = {table: {} for table in sorted(tables)}
        for table, key, row in rows:
            if table not in found:
                raise WorldError("facts.table", f"the world has no table `{table}`")
            if not (0 < len(key) <= 128 and key.isascii() and key.isprintable()):
                problem = f"row key `{key}` of `{table}` is not printable ASCII of 1 to 128"
                raise WorldError("facts.key", problem)
            if key in found[table]:
                raise WorldError("facts.twice", f"row `{key}` of `{table}` is given twice")
            found[table][key] = row
        self.tables = {table: _StartTable(table, found[table]) for table in found}
        self.memo: dict[Any, Any] = {}

    @cached_property
    def root(self) -> str:
        """The state root of the start rows, in hex."""
        return State(self).root()

    def rows(self) -> Iterator[tuple[str, str, Row]]:
        """Every start row as (table, key, row), sorted."""
        for table in self.tables.values():
            for key, row in table.rows.items():
                yield table.name, key, row


class State:
    """The rows of one run: start rows under its own changes.

    Changes are staged by `put` and `remove`, seen by `get` at once, and kept
    by `commit` or dropped by `discard`: all of a decision or none of it.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._start = {name: table.rows for name, table in facts.tables.items()}
        self._changes: dict[str, dict[str, Row | None]] = {name: {} for name in facts.tables}
        self._staged: dict[tuple[str, str], Row | None] = {}
        self._differing: list[tuple[str, str, Any, Any]] | None = None  # what `staged` gave, until more is

    def get(self, table: str, key: str) -> Any:  # noqa: ANN401 - the table says which row type
        """The row, or None when there is none."""
        if self._staged:
            place = table, key
            if place in self._staged:
                return self._staged[place]
        changes = self._changes[table]
        if key in changes:
            return changes[key]
        return self._start[table].get(key)

    def is_start(self, table: str, key: str) -> bool:
        """Whether the row is still the start row itself, never replaced in this run."""
        return key not in self._changes[table] and (table, key) not in self._staged

    def rows(self, table: str) -> Iterator[tuple[str, Any]]:
        """Every (key, row) of a table, sorted by key, staged changes included."""
        changes = dict(self._changes[table])
        changes.update({key: row for (name, key), row in self._staged.items() if name == table})
        if not changes:
            yield from self._start[table].items()
            return
        for key in sorted(self._start[table].keys() | changes.keys()):
            row = changes[key] if key in changes else self._start[table][key]
            if row is not None:
                yield key, row

    def put(self, table: str, key: str, row: Row) -> None:
        """Stages a row."""
        self._staged[table, key] = row
        self._differing = None

    def remove(self, table: str, key: str) -> None:
        """Stages a row's removal."""
        self._staged[table, key] = None
        self._differing = None

    def staged(self) -> Sequence[tuple[str, str, Any, Any]]:
        """The staged changes as (table, key, row before, row after), sorted; only rows that differ."""
        # A market's invariants ask, and the delta right after them.
        if self._differing is None:
            self._differing = []
            for place in sorted(self._staged):
                table, key = place
                after = self._staged[place]
                changes = self._changes[table]
                before = changes[key] if key in changes else self._start[table].get(key)
                if before != after:
                    self._differing.append((table, key, before, after))
        return self._differing

    def delta(self) -> str:
        """The delta, in hex, that committing what is staged would give."""
        if not self._staged:
            return NO_CHANGE
        changed = [(table, key, after) for table, key, _before, after in self.staged()]
        return sha256(encode_typed(changed)).hexdigest()

    def commit(self) -> None:
        """Keeps what is staged."""
        if not self._staged:
            return  # a query stages nothing
        for (table, key), row in self._staged.items():
            self._changes[table][key] = row
        self.discard()

    def discard(self) -> None:
        """Drops what is staged."""
        self._staged.clear()
        self._differing = None

    def changed(self) -> Iterator[tuple[str, str, Any]]:
        """The committed rows whose value differs from the start, as (table, key, row or None), sorted."""
        for table, changes in self._changes.items():
            start = self._start[table]
            for key in sorted(changes):
                if changes[key] != start.get(key):
                    yield table, key, changes[key]

    def count(self) -> int:
        """The number of committed rows, over all tables."""
        return sum(self._table_count(table) for table in self._changes)

    def root(self) -> str:
        """The state root of the committed rows, in hex."""
        leaves = [
            _table_leaf(name, self._table_count(name), table.root_with(self._changes[name]))
            if self._changes[name]
            else table.leaf
            for name, table in self.facts.tables.items()
        ]
        return root_of(leaves).hex()

    def _table_count(self, table: str) -> int:
        start, changes = self._start[table], self._changes[table]
        if not changes:
            return len(start)
        gone = [key for key, row in changes.items() if row is None]
        return len(start.keys() | changes.keys() if start else changes) - len(gone)

"""The ledger file: an append-only SQLite store of runs.

    append(run, records) ── one transaction ──►  on disk, or not there at all

One process writes at a time (an advisory lock beside the file says which), on
one connection, which alone checkpoints the write-ahead log: SQLite before
3.51.3 can lose commits when two connections do. Readers open the file
read-only, hold up nobody, and hold no snapshot between calls unless they ask
for one.

Columns hold kind, body and signature; seq is the key, and prev and leaf are
made again by whoever reads. Not here: how the file is opened (`database`) and
locked (`lock`), what may be appended (`writer`), and whether what is kept is good (`audit`).

Source: SQLite documentation, "Write-Ahead Logging" and "STRICT tables".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from sqlite_utils import Database

from ..protocol.bodies import PartText
from ..protocol.errors import DoorError, LedgerError
from ..protocol.keys import signature_bytes, signature_text
from .database import (
    DAMAGED_HINT,
    Unreadable,
    check_file,
    connect,
    damaged,
    fold,
    lay_out,
    log_ahead,
    log_of,
    unwritten,
)
from .lock import LOCK_SECONDS, acquire, release
from .records import Part, Stored

T = TypeVar("T")

_PREFIX_LENGTH = 64
_MAX_RUN = 2**32 - 2  # a place is run · 2^31 + seq, in 63 bits

_OVERVIEW = """
SELECT runs.id AS run, opened.body ->> '$.world.name' AS world, opened.body ->> '$.task.id' AS task,
       opened.body ->> '$.task.case' AS "case", opened.body ->> '$.trial' AS trial,
       opened.body ->> '$.origin.custody' AS custody,
       last.seq + 1 AS records, iif(last.kind = 'seal', last.body ->> '$.outcome', NULL) AS outcome
FROM runs
JOIN records AS opened ON opened.place = runs.run << 31
JOIN records AS last ON last.place = (
    SELECT max(place) FROM records WHERE place BETWEEN runs.run << 31 AND ((runs.run + 1) << 31) - 1
)
ORDER BY runs.run
"""

_OPENS = """
SELECT CAST(body AS BLOB) FROM records
WHERE place IN (SELECT run << 31 FROM runs) AND json_extract(body, '$.task.digest') = ?
"""
_RECORDS = """
SELECT place, kind, CAST(body AS BLOB), sig FROM records WHERE place BETWEEN ? AND ? ORDER BY place
"""

_PARTS = """
SELECT place, field, salt, CAST(text AS BLOB) FROM parts WHERE place BETWEEN ? AND ? ORDER BY place, field
"""


class Draft(NamedTuple):
    """A record to append: its place is the next one."""

    kind: str
    body: bytes
    sig: str | None
    parts: Sequence[Part] = ()


class Store:
    """A ledger file, open for reading, or for writing by one process at a time."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._connection = connection
        # Plugins of sqlite-utils would run other people's code on a record.
        self._database = Database(connection, execute_plugins=False)
        self._lock = lock
        self._next: dict[int, int] = {}

    @classmethod
    def read(cls, path: Path) -> Self:
        """Opens an existing ledger read-only.

        Raises:
            LedgerError: there is no file, or it is not a Tollbook ledger.
        """
        check_file(path)
        return cls(path, connect(path, read_only=True), None)

    @classmethod
    def write(cls, path: Path, name: str, key: str, wait_seconds: float = LOCK_SECONDS) -> Self:
        """Opens a ledger for appending, making the file if there is none.

        ``name`` and ``key`` are the ledger's; an existing file must have the same.

        Raises:
            LedgerError: not a ledger, another ledger's name or key, or
                `ledger.busy`: another process is writing and goes on for longer
                than `wait_seconds`.
        """
        if path.exists():
            check_file(path, writing=True)
        lock = acquire(path, wait_seconds)
        try:
            store = cls(path, connect(path, read_only=False), lock)
        except BaseException:
            release(lock)
            raise
        try:
            store._prepare(name, key)
        except BaseException as error:
            store.close()
            if isinstance(error, Unreadable):
                raise unwritten(error, path) from None
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file, folds its write-ahead log if no reader needs it, and lets the next writer in."""
        if self._lock is not None:
            fold(self._connection)
        self._connection.close()
        if self._lock is not None:
            release(self._lock)
            self._lock = None

    @property
    def backlog_bytes(self) -> int:
        """The size of the write-ahead log.

        It stays below some megabytes and a transaction, but for a reader that
        holds a snapshot: then it grows until the reader is done.
        """
        try:
            return log_of(self.path).stat().st_size
        except FileNotFoundError:
            return 0

    def _prepare(self, name: str, key: str) -> None:
        if self._one("SELECT count(*) FROM sqlite_schema") == 0:
            # Before the write-ahead log: the file's header, by which readers know
            # a ledger, is then in the file itself with the first commit.
            with self._transaction():
                lay_out(self._connection, name, key)
        known, held = self.identity()
        if (known, held) != (name, key):
            what = "name" if known != name else "key"
            raise LedgerError(
                f"ledger.{what}",
                f"`{self.path}` belongs to ledger `{known}` with another {what} than given",
                "give the secret file and `--name` that the ledger was made with, or another `--ledger`",
            )
        log_ahead(self._connection, self.path)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.commit()
        except BaseException as error:
            self._connection.rollback()
            self._next.clear()
            if isinstance(error, Unreadable):
                raise unwritten(error, self.path) from None
            raise

    # Writing

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        """Appends a new run, as far as it goes, and the blobs it names; returns the run's number.

        Raises:
            LedgerError: `run.exists`.
        """
        with self._transaction():
            self.refuse_known(run_id)
            run = int(self._one("SELECT coalesce(max(run), 0) + 1 FROM runs"))
            if run > _MAX_RUN:
                raise LedgerError(
                    "store.damaged", f"`{self.path}` numbers its runs beyond 2^32", "restore it from a copy"
                )
            self._connection.execute("INSERT INTO runs VALUES (?, ?)", (run, run_id))
            for digest, lines in blobs:
                if not self._one("SELECT count(*) FROM blobs WHERE digest = ?", digest):
                    self._connection.executemany(
                        "INSERT INTO blobs (digest, line, body) VALUES (?, ?, ?)",
                        [(digest, line, body.decode()) for line, body in enumerate(lines)],
                    )
            self._insert(run, 0, records)
            self._insert_notes(run, notes)
        return run

    def refuse_known(self, run_id: str) -> None:
        """Refuses the id of a run that is here already.

        Raises:
            LedgerError: `run.exists`.
        """
        if self._one("SELECT count(*) FROM runs WHERE id = ?", run_id):
            raise LedgerError(
                "run.exists",
                f"run `{run_id[:12]}` is in this ledger already",
                "look at it with `tollbook show`; another trial gives another run",
            )

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        """Appends records from `seq` on, and notes, in one durable transaction.

        Raises:
            LedgerError: `ledger.conflict` when the run does not end at `seq` − 1.
        """
        with self._transaction():
            self._insert(run, seq, records)
            self._insert_notes(run, notes)

    def _insert_notes(self, run: int, notes: Sequence[str]) -> None:
        rows = [(run, text) for text in notes]
        self._connection.executemany("INSERT INTO notes (run, text) VALUES (?, ?)", rows)

    def _insert(self, run: int, seq: int, records: Sequence[Draft]) -> None:
        expected = self._next.get(run)
        if expected is None:
            expected = self.size(run)
        if seq != expected:
            raise LedgerError(
                "ledger.conflict",
                f"the next record of the run is {expected}, not {seq}: another writer was faster",
                "open the run again and go on from its last record",
            )
        self._connection.executemany(
            "INSERT INTO records (place, kind, body, sig) VALUES (?, ?, ?, ?)",
            [
                (place, draft.kind, draft.body.decode(), _sig_bytes(draft.sig))
                for place, draft in enumerate(records, _place(run, seq))
            ],
        )
        self._connection.executemany(
            "INSERT INTO parts (place, field, salt, text) VALUES (?, ?, ?, ?)",
            [
                (place, part.field, bytes.fromhex(part.text.salt), part.text.text)
                for place, draft in enumerate(records, _place(run, seq))
                for part in draft.parts
            ],
        )
        self._next[run] = seq + len(records)

    def add_receipts(self, receipts: Sequence[tuple[int, str, str]]) -> None:
        """Keeps many receipts, (run, scorer, text), in one transaction."""
        sql = "INSERT INTO receipts (run, scorer, text) VALUES (?, ?, ?)"
        with self._transaction():
            self._connection.executemany(sql, receipts)

    # Reading

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """All that is read within it is of one moment, whatever a writer does meanwhile."""
        if self._connection.in_transaction:
            yield
            return
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.rollback()

    def identity(self) -> tuple[str, str]:
        """The ledger's name and public key.

        Raises:
            LedgerError: `ledger.form`, the file doesn't say.
        """
        rows = list(self._rows("SELECT name, key FROM ledger"))
        if len(rows) != 1 or not all(isinstance(text, str) for text in rows[0]):
            raise LedgerError("ledger.form", f"`{self.path}` says no ledger name", "restore it from a copy")
        name, key = rows[0]
        return name, key

    def runs(self) -> list[tuple[int, str]]:
        """Every run as (number, id), in the order they were opened."""
        rows = self._rows("SELECT run, id FROM runs ORDER BY run")
        return [(_typed(run, int), _typed(run_id, str)) for run, run_id in rows]

    def id(self, run: int) -> str:
        """A run's id.

        Raises:
            LedgerError: `run.unknown`.
        """
        for (run_id,) in self._rows("SELECT id FROM runs WHERE run = ?", run):
            return _typed(run_id, str)
        raise LedgerError("run.unknown", f"no run number `{run}` in this ledger", "see `tollbook ls`")

    def overview(self) -> list[dict[str, Any]]:
        """One row a run for people: id, world, task, case, records and outcome (None while open).

        Raises:
            LedgerError: `store.damaged`.
        """
        try:
            return list(self._database.query(_OVERVIEW))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        except Unreadable as error:
            raise damaged(error) from None

    def damage(self) -> str | None:
        """What SQLite's own check of the file's pages reports, or None."""
        try:
            report = self._one("PRAGMA integrity_check(1)")
        except LedgerError as error:
            return error.text
        return None if report == "ok" else f"the file is damaged: {' '.join(str(report).split())}"

    def find(self, prefix: str) -> tuple[int, str]:
        """The one run whose id begins so.

        Raises:
            LedgerError: `run.unknown` or `run.ambiguous`.
        """
        hint = "see `tollbook ls`"
        like = prefix.lower()
        if not like or any(letter not in "0123456789abcdef" for letter in like) or len(like) > _PREFIX_LENGTH:
            raise LedgerError("run.form", f"`{prefix}` is not a run id or the beginning of one", hint)
        rows = [(run, run_id) for run, run_id in self.runs() if run_id.startswith(like)]
        if not rows:
            raise LedgerError("run.unknown", f"no run `{prefix}` in this ledger", hint)
        if len(rows) > 1:
            hint = f"give more of the id; {hint}"
            raise LedgerError("run.ambiguous", f"`{prefix}` begins {len(rows)} run ids", hint)
        return rows[0]

    def opens(self, task: str) -> Iterator[bytes]:
        """The bodies of the ``open`` of all runs of a task, by the digest of its file."""
        for (body,) in self._rows(_OPENS, task):
            yield _typed(body, bytes)

    def records(self, run: int) -> Iterator[Stored]:
        """A run's records in order, each with its parts."""
        rows = self._rows(_RECORDS, *_places(run))
        # A record's row comes first, so that its parts are read from the same snapshot.
        row = next(rows, None)
        parts = self._parts(run)
        part = next(parts, None)
        while row is not None:
            place, kind, body, sig = row
            own: list[Part] = []
            while part is not None and part[0] <= place:
                own.append(part[1])
                part = next(parts, None)
            seq = place - _place(run, 0)
            yield Stored(seq, _typed(kind, str), _typed(body, bytes), _signature(sig), None, tuple(own))
            row = next(rows, None)

    def _parts(self, run: int) -> Iterator[tuple[int, Part]]:
        for place, field, salt, text in self._rows(_PARTS, *_places(run)):
            # A text that is no UTF-8 any more gives another text, whose digest can't be right.
            content = _typed(text, bytes).decode("utf-8", "replace")
            yield place, Part(_typed(field, str), PartText(salt=_typed(salt, bytes).hex(), text=content))

    def size(self, run: int) -> int:
        """The number of a run's records."""
        last = self._one("SELECT max(place) FROM records WHERE place BETWEEN ? AND ?", *_places(run))
        return 0 if last is None else last - _place(run, 0) + 1

    def body(self, run: int, seq: int) -> bytes:
        """One record's body.

        Raises:
            LedgerError: `run.seq`, there is no such record.
        """
        return self.signed(run, seq)[0]

    def signed(self, run: int, seq: int) -> tuple[bytes, str | None]:
        """One record's body and signature.

        Raises:
            LedgerError: `run.seq`, there is no such record.
        """
        sql = "SELECT CAST(body AS BLOB), sig FROM records WHERE place = ?"
        for body, sig in self._rows(sql, _place(run, seq)):
            return _typed(body, bytes), _signature(sig)
        raise LedgerError("run.seq", f"the run has no record {seq}", "see `tollbook log`")

    def notes(self, run: int) -> list[str]:
        """A run's notes in the order they were made, the checkpoint first."""
        rows = self._rows("SELECT text FROM notes WHERE run = ? ORDER BY note", run)
        return [_typed(text, str) for (text,) in rows]

    def blob(self, digest: str) -> list[bytes]:
        """A blob's lines; none when it isn't here."""
        rows = self._rows("SELECT CAST(body AS BLOB) FROM blobs WHERE digest = ? ORDER BY line", digest)
        return [_typed(line, bytes) for (line,) in rows]

    def receipt(self, run: int) -> str | None:
        """The run's last receipt."""
        rows = self._rows("SELECT text FROM receipts WHERE run = ? ORDER BY receipt DESC LIMIT 1", run)
        return next((_typed(text, str) for (text,) in rows), None)

    def _rows(self, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
        try:
            # Not `yield from`: it would close the cursor, maybe after the connection.
            for row in self._connection.execute(sql, values):  # noqa: UP028
                yield row
        except sqlite3.ProgrammingError:
            raise  # our own bug, not the file's
        except Unreadable as error:
            raise damaged(error) from None

    def _one(self, sql: str, *values: object) -> Any:  # noqa: ANN401 - whatever the column holds
        ((value,),) = self._rows(sql, *values)
        return value


def _sig_bytes(sig: str | None) -> bytes | None:
    try:
        return None if sig is None else signature_bytes(sig)
    except DoorError as error:
        raise LedgerError(
            "ledger.signature", f"{error.text}, nothing else is kept", "check it first"
        ) from None


def _signature(sig: object) -> str | None:
    return None if sig is None else signature_text(_typed(sig, bytes))


def _typed(value: object, kind: type[T]) -> T:
    """A column's value, of the type that the schema keeps it to unless the file is damaged."""
    if not isinstance(value, kind):
        what = f"the file is damaged: a column holds {type(value).__name__}, not {kind.__name__}"
        raise LedgerError("store.damaged", what, DAMAGED_HINT)
    return value


def _place(run: int, seq: int) -> int:
    return (run << 31) + seq


def _places(run: int) -> tuple[int, int]:
    """The first and the last place that a run's records may have."""
    return _place(run, 0), _place(run + 1, 0) - 1

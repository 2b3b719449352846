"""The ledger file: an append-only SQLite store of runs.

    append(run, records) ── one transaction ──►  on disk, or not there at all

One process writes at a time (an advisory lock beside the file says which), on
one connection, which alone checkpoints the write-ahead log: SQLite before
3.51.3 can lose commits when two connections do. Readers open the file
read-only and hold no snapshot between calls.

Columns hold kind, body and signature; seq is the key, and prev and leaf are
made again by whoever reads. Not here: what may be appended (`writer`), and
whether what is kept is good (`audit`).

Source: SQLite documentation, "Write-Ahead Logging" and "STRICT tables".
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from sqlite_utils import Database

from ..protocol.bodies import PartText
from ..protocol.errors import LedgerError
from ..protocol.keys import signature_bytes, signature_text
from .records import Part, Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType

APPLICATION_ID = 0x546F6C6C  # "Toll"
FORMAT = 1
LOCK_SECONDS = 30.0
_TABLES = ("ledger", "runs", "records", "parts", "blobs", "notes", "receipts")
_PREFIX_LENGTH = 64
_SYNCHRONOUS_FULL = 2

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
        _check_file(path)
        return cls(path, _connect(path, read_only=True), None)

    @classmethod
    def write(cls, path: Path, name: str, key: str, wait_seconds: float = LOCK_SECONDS) -> Self:
        """Opens a ledger for appending, making the file if there is none.

        ``name`` and ``key`` are the ledger's; an existing file must have the same.

        Raises:
            LedgerError: not a ledger, another ledger's name or key, or another
                process is writing and goes on for longer than `wait_seconds`.
        """
        if path.exists():
            _check_file(path, writing=True)
        lock = _acquire(path, wait_seconds)
        try:
            store = cls(path, _connect(path, read_only=False), lock)
            store._prepare(name, key)
            store._log_ahead()
        except BaseException:
            os.close(lock)
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file and lets the next writer in."""
        self._connection.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _prepare(self, name: str, key: str) -> None:
        if self._one("SELECT count(*) FROM sqlite_schema") == 0:
            # Before the write-ahead log: the file's header, by which readers know
            # a ledger, is then in the file itself with the first commit.
            with self._transaction():
                for statement in _statements():
                    self._connection.execute(statement)
                self._database["ledger"].insert({"one": 1, "name": name, "key": key})
                self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._connection.execute(f"PRAGMA user_version = {FORMAT}")
            return
        known, held = self.identity()
        if (known, held) != (name, key):
            what = "name" if known != name else "key"
            raise LedgerError(
                f"ledger.{what}",
                f"`{self.path}` belongs to ledger `{known}` with another {what} than given",
                "give the secret file and `--name` that the ledger was made with, or another `--ledger`",
            )

    def _log_ahead(self) -> None:
        mode = self._one("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        if mode != "wal" or self._one("PRAGMA synchronous") != _SYNCHRONOUS_FULL:
            raise LedgerError(
                "ledger.open", f"`{self.path}` can't be written durably", "keep the ledger on a local disk"
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.rollback()
            self._next.clear()
            raise
        self._connection.commit()

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
            self._connection.execute("INSERT INTO runs VALUES (?, ?)", (run, run_id))
            for digest, lines in blobs:
                if not self._one("SELECT count(*) FROM blobs WHERE digest = ?", digest):
                    rows = [(digest, line, body.decode()) for line, body in enumerate(lines)]
                    self._connection.executemany("INSERT INTO blobs (digest, line, body) VALUES (?, ?, ?)", rows)
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
        self._connection.executemany("INSERT INTO notes (run, text) VALUES (?, ?)", [(run, text) for text in notes])

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
                (place, draft.kind, draft.body.decode(), signature_bytes(draft.sig) if draft.sig else None)
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
        with self._transaction():
            self._connection.executemany("INSERT INTO receipts (run, scorer, text) VALUES (?, ?, ?)", receipts)

    # Reading

    def identity(self) -> tuple[str, str]:
        """The ledger's name and public key."""
        row = self._connection.execute("SELECT name, key FROM ledger").fetchone()
        if row is None:
            raise LedgerError("ledger.form", f"`{self.path}` says no ledger name", "restore it from a copy")
        return row

    def runs(self) -> list[tuple[int, str]]:
        """Every run as (number, id), in the order they were opened."""
        return self._connection.execute("SELECT run, id FROM runs ORDER BY run").fetchall()

    def overview(self) -> list[dict[str, Any]]:
        """One row a run for people: id, world, task, case, records and outcome (None while open)."""
        return list(self._database.query(_OVERVIEW))

    def damage(self) -> str | None:
        """What SQLite's own check of the file's pages reports, or None."""
        try:
            report = self._one("PRAGMA quick_check(1)")
        except sqlite3.Error as error:
            return str(error)
        return None if report == "ok" else str(report)

    def find(self, prefix: str) -> tuple[int, str]:
        """The one run whose id begins so.

        Raises:
            LedgerError: `run.unknown` or `run.ambiguous`.
        """
        like = prefix.lower()
        if not like or any(letter not in "0123456789abcdef" for letter in like) or len(like) > _PREFIX_LENGTH:
            raise LedgerError("run.form", f"`{prefix}` is not a run id or the beginning of one", "see `tollbook ls`")
        rows = [(run, run_id) for run, run_id in self.runs() if run_id.startswith(like)]
        if not rows:
            raise LedgerError("run.unknown", f"no run `{prefix}` in this ledger", "see `tollbook ls`")
        if len(rows) > 1:
            raise LedgerError(
                "run.ambiguous", f"`{prefix}` begins {len(rows)} run ids", "give more of the id; see `tollbook ls`"
            )
        return rows[0]

    def records(self, run: int) -> Iterator[Stored]:
        """A run's records in order, each with its parts."""
        parts = self._parts(run)
        waiting = next(parts, None)
        rows = self._connection.execute(
            "SELECT place, kind, CAST(body AS BLOB), sig FROM records WHERE place BETWEEN ? AND ? ORDER BY place",
            _places(run),
        )
        for place, kind, body, sig in rows:
            own: list[Part] = []
            while waiting is not None and waiting[0] <= place:
                own.append(waiting[1])
                waiting = next(parts, None)
            text = signature_text(sig) if sig is not None else None
            yield Stored(place - _place(run, 0), kind, body, text, None, tuple(own))

    def _parts(self, run: int) -> Iterator[tuple[int, Part]]:
        rows = self._connection.execute(
            "SELECT place, field, salt, CAST(text AS BLOB) FROM parts WHERE place BETWEEN ? AND ? ORDER BY place, field",
            _places(run),
        )
        for place, field, salt, text in rows:
            # A text that is no UTF-8 any more gives another text, whose digest can't be right.
            yield place, Part(field, PartText(salt=salt.hex(), text=text.decode("utf-8", "replace")))

    def size(self, run: int) -> int:
        """The number of a run's records."""
        last = self._one("SELECT max(place) FROM records WHERE place BETWEEN ? AND ?", *_places(run))
        return 0 if last is None else last - _place(run, 0) + 1

    def body(self, run: int, seq: int) -> bytes:
        """One record's body."""
        row = self._connection.execute(
            "SELECT CAST(body AS BLOB) FROM records WHERE place = ?", (_place(run, seq),)
        ).fetchone()
        if row is None:
            raise LedgerError("run.seq", f"the run has no record {seq}", "see `tollbook log`")
        return row[0]

    def notes(self, run: int) -> list[str]:
        """A run's notes in the order they were made, the checkpoint first."""
        rows = self._connection.execute("SELECT text FROM notes WHERE run = ? ORDER BY note", (run,))
        return [text for (text,) in rows]

    def blob(self, digest: str) -> list[bytes]:
        """A blob's lines; none when it isn't here."""
        rows = self._connection.execute("SELECT CAST(body AS BLOB) FROM blobs WHERE digest = ? ORDER BY line", (digest,))
        return [row[0] for row in rows]

    def receipt(self, run: int) -> str | None:
        """The run's last receipt."""
        row = self._connection.execute(
            "SELECT text FROM receipts WHERE run = ? ORDER BY receipt DESC LIMIT 1", (run,)
        ).fetchone()
        return None if row is None else row[0]

    def _one(self, sql: str, *values: object) -> Any:  # noqa: ANN401 - whatever the column holds
        return self._connection.execute(sql, values).fetchone()[0]


def _place(run: int, seq: int) -> int:
    return (run << 31) + seq


def _places(run: int) -> tuple[int, int]:
    """The first and the last place that a run's records may have."""
    return _place(run, 0), _place(run + 1, 0) - 1


def _statements() -> Iterator[str]:
    yield from _split(files(__package__).joinpath("schema.sql").read_text())
    for table in _TABLES:
        for verb in ("UPDATE", "DELETE"):
            yield (
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"
            )


def _split(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    modes = ("mode=ro", "immutable=1") if read_only else ("mode=rwc",)
    problem: sqlite3.Error | None = None
    for mode in modes:
        try:
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, timeout=LOCK_SECONDS
            )
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.Error as error:
            problem = error
            # A file in a folder that can't be written has no write-ahead log to
            # miss; with a log beside it, reading without it would hide commits.
            if path.with_name(path.name + "-wal").exists():
                break
        else:
            return connection
    raise LedgerError("ledger.open", f"`{path}` can't be opened: {problem}", "check the path and its permissions")


def _check_file(path: Path, *, writing: bool = False) -> None:
    """Refuses what is not a ledger before SQLite touches it."""
    if path.is_dir():
        raise LedgerError("ledger.directory", f"`{path}` is a directory", "give the path of a ledger file")
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        raise LedgerError(
            "ledger.missing", f"there is no ledger `{path}`", "import runs first, or give `--ledger PATH`"
        ) from None
    except OSError as error:
        raise LedgerError(
            "ledger.open", f"`{path}` can't be read: {error.strerror}", "check the file's permissions"
        ) from None
    if not head and writing:
        return  # what a process leaves that is killed before its first commit
    if head[:16] != b"SQLite format 3\0":
        raise LedgerError(
            "ledger.form", f"`{path}` is not a ledger file", "an export is checked with `tollbook verify FILE`"
        )
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise LedgerError(
            "ledger.foreign", f"`{path}` is another program's SQLite file", "give a file that Tollbook made"
        )
    if int.from_bytes(head[60:64], "big") != FORMAT:
        raise LedgerError("ledger.format", f"`{path}` has a format that this version doesn't know", "upgrade tollbook")


def _acquire(path: Path, wait_seconds: float) -> int:
    """The writer's lock: held while the store is open, freed by the system if the process dies."""
    lock_path = path.with_name(path.name + ".lock")
    try:
        lock = os.open(lock_path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise LedgerError(
            "ledger.open", f"`{lock_path}` can't be written: {error.strerror}", "check the folder's permissions"
        ) from None
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= deadline:
                os.close(lock)
                raise LedgerError(
                    "ledger.busy", f"another process is writing to `{path}`", "wait until it is done, then try again"
                ) from None
            time.sleep(0.02)
        else:
            return lock

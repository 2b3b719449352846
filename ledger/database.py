"""A SQLite file that is a ledger: told from other files, laid out, opened.

    what the path names ─► a ledger? ─► opened ─► laid out, when it is new ─► written ahead, durably

A file is known by its first bytes (SQLite's own, the application id, the
format), before SQLite touches it. Whatever SQLite says against a file that is
open becomes a `LedgerError`: nobody above this room sees a `sqlite3.Error`.

Not here: what is kept in the tables, and who may write (`store`).

Source: SQLite documentation, "Database File Format" 1.3 and "Write-Ahead Logging".
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from ..protocol.errors import LedgerError

APPLICATION_ID = 0x546F6C6C  # "Toll"
FORMAT = 1
BUSY_SECONDS = 30.0
BACKLOG_LIMIT_BYTES = 4 * 2**20
"""What the write-ahead log is cut back to once it was folded into the file."""
DAMAGED_HINT = "restore it from a copy or an export"

_TABLES = ("ledger", "runs", "records", "parts", "blobs", "notes", "receipts")
_HEAD_BYTES = 100
_SYNCHRONOUS_FULL = 2
Unreadable = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged file raises; the second where SQLite quotes bytes of it that are no text."""

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def check_file(path: Path, *, writing: bool = False) -> None:
    """Refuses what is not a ledger before SQLite touches it.

    Raises:
        LedgerError: `ledger.directory`, `ledger.missing`, `ledger.open`,
            `ledger.form`, `ledger.foreign` or `ledger.format`.
    """
    if path.is_dir():
        raise LedgerError("ledger.directory", f"`{path}` is a directory", "give the path of a ledger file")
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
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
        hint = "an export is checked with `tollbook verify FILE`"
        raise LedgerError("ledger.form", f"`{path}` is not a ledger file", hint)
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise LedgerError(
            "ledger.foreign", f"`{path}` is another program's SQLite file", "give a file that Tollbook made"
        )
    if int.from_bytes(head[60:64], "big") != FORMAT:
        raise LedgerError(
            "ledger.format", f"`{path}` has a format that this version doesn't know", "upgrade tollbook"
        )


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection that has read the file's schema.

    Raises:
        LedgerError: `ledger.open` or `store.damaged`.
    """
    problem: Exception
    try:
        return _connect(path, "mode=ro" if read_only else "mode=rwc")
    except Unreadable as error:
        problem = error
    # A file in a folder that can't be written has no write-ahead log to miss;
    # with a log beside it, reading without it would hide commits.
    if read_only and not log_of(path).exists():
        try:
            return _connect(path, "immutable=1")
        except Unreadable as error:
            problem = error
    if _code(problem) in _DAMAGED:
        raise damaged(problem)
    hint = "check the path and its permissions"
    raise LedgerError("ledger.open", f"`{path}` can't be opened: {_line(problem)}", hint)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except Unreadable:
        connection.close()
        raise
    return connection


def log_of(path: Path) -> Path:
    """The write-ahead log of a ledger: beside the file itself, not beside a link to it."""
    return Path(os.path.realpath(path) + "-wal")


def lay_out(connection: sqlite3.Connection, name: str, key: str) -> None:
    """Makes the tables of a new ledger, within the caller's transaction."""
    for statement in _statements():
        connection.execute(statement)
    connection.execute("INSERT INTO ledger (one, name, key) VALUES (1, ?, ?)", (name, key))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def log_ahead(connection: sqlite3.Connection, path: Path) -> None:
    """Makes commits durable: a write-ahead log, on disk before a commit returns.

    Raises:
        LedgerError: `ledger.open`, the file's disk can't do it.
    """
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA journal_size_limit = {BACKLOG_LIMIT_BYTES}")
    if mode != "wal" or connection.execute("PRAGMA synchronous").fetchone()[0] != _SYNCHRONOUS_FULL:
        raise LedgerError(
            "ledger.open", f"`{path}` can't be written durably", "keep the ledger on a local disk"
        )


def fold(connection: sqlite3.Connection) -> None:
    """Folds the write-ahead log into the file and cuts it to nothing, unless a reader needs it still.

    Never waits and never fails: what isn't folded now is as safe where it is.
    """
    try:
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error:
        return


def damaged(error: Exception) -> LedgerError:
    """What SQLite couldn't read, as this room's error."""
    return LedgerError("store.damaged", f"the file is damaged: {_line(error)}", DAMAGED_HINT)


def unwritten(error: Exception, path: Path) -> LedgerError:
    """What SQLite couldn't write, as this room's error; nothing of it was kept."""
    if _code(error) in _BUSY:
        return busy(path)
    hint = "nothing was kept: make room, or restore the file from a copy"
    return LedgerError("ledger.write", f"`{path}` can't be written: {_line(error)}", hint)


def busy(path: Path) -> LedgerError:
    """Another process writes and goes on writing."""
    return LedgerError(
        "ledger.busy", f"another process is writing to `{path}`", "wait until it is done, then try again"
    )


def _code(error: Exception) -> int:
    """SQLite's primary result code; errors that aren't its own have none."""
    if isinstance(error, UnicodeDecodeError):
        return sqlite3.SQLITE_CORRUPT
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _line(error: Exception) -> str:
    """An error in one line, whatever of a damaged file it quotes."""
    return " ".join(str(error).split())


def _statements() -> Iterator[str]:
    """The schema's statements, then the triggers that keep every table append-only."""
    assert __package__ is not None
    statement = ""
    for line in files(__package__).joinpath("schema.sql").read_text().splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    for table in _TABLES:
        for verb in ("UPDATE", "DELETE"):
            yield (
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"
            )

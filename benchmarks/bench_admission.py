"""Admitting messages without signatures: the door, the rules, both records kept durably.

    baseline   the same rows by `executemany` into a plain SQLite file
    ours       `Writer.admit` of messages made before, signing stubbed

Both with 100 records a commit, a write-ahead log and `synchronous = FULL`; by
the wall as well as by CPU seconds, since a durable commit waits for the disk.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from measure import Line, at_most, beside, plain, report, unsigned
from recorded import acts, new_ledger, open_run, read, say_all, title

from tollbook.ledger.records import Part, Stored
from tollbook.ledger.writer import GROUP_RECORDS, Writer
from tollbook.protocol.engine import Ruling
from tollbook.tasks.tau2.importer import Shop

_TABLE = "CREATE TABLE records (place INTEGER PRIMARY KEY, kind TEXT, body TEXT, sig BLOB) STRICT"
_TEXTS = "CREATE TABLE parts (place INTEGER, field TEXT, salt TEXT, text TEXT) STRICT"


class Said(NamedTuple):
    """A message ready to be admitted."""

    body: bytes
    sig: str
    parts: Sequence[Part]


def messages(folder: Path, shop: Shop) -> tuple[list[Said], list[Stored]]:
    """The messages of one long run, and its records; the same secret gives the same bytes each time."""
    said: list[Said] = []
    admit = Writer.admit

    def noted(writer: Writer, body: bytes, sig: str, parts: Sequence[Part], *, verified: bool) -> Ruling:
        said.append(Said(body, sig, tuple(parts)))
        return admit(writer, body, sig, parts, verified=verified)

    source, _shop = read()
    with mock.patch.object(Writer, "admit", noted), new_ledger(folder / "first.db") as store:
        writer = open_run(store, shop)
        say_all(writer, acts(source))
        writer.flush()
        return said, list(store.records(1))[1:]


def admit_all(folder: Path, numbers: Iterator[int], shop: Shop, said: Sequence[Said]) -> None:
    """Ours: a new ledger each time."""
    with new_ledger(folder / f"ours-{next(numbers)}.db") as store:
        writer = open_run(store, shop)
        for message in said:
            writer.admit(message.body, message.sig, message.parts, verified=True)
        writer.flush()


def open_only(folder: Path, numbers: Iterator[int], shop: Shop) -> None:
    """What of that isn't admission: the file, the start rows, the open."""
    with new_ledger(folder / f"open-{next(numbers)}.db") as store:
        open_run(store, shop)


def insert_all(folder: Path, numbers: Iterator[int], records: Sequence[Stored]) -> None:
    """The baseline: the same rows without a rule, a chain or a check."""
    connection = sqlite3.connect(folder / f"plain-{next(numbers)}.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(_TABLE)
    connection.execute(_TEXTS)
    for first in range(0, len(records), GROUP_RECORDS):
        group = records[first : first + GROUP_RECORDS]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT INTO records VALUES (?, ?, ?, ?)",
            [(stored.seq, stored.kind, stored.body.decode(), stored.sig and bytes(64)) for stored in group],
        )
        connection.executemany(
            "INSERT INTO parts VALUES (?, ?, ?, ?)",
            [
                (stored.seq, part.field, part.text.salt, part.text.text)
                for stored in group
                for part in stored.parts
            ],
        )
        connection.execute("COMMIT")
    connection.close()


def lines(folder: Path) -> Iterator[Line]:
    """The figures."""
    _source, shop = read()
    said, records = messages(folder, shop)
    numbers = count()
    ours = partial(admit_all, folder, numbers, shop, said)
    opening = partial(open_only, folder, numbers, shop)
    baseline = partial(insert_all, folder, numbers, records)
    cpu, wall = beside(ours, baseline), beside(ours, baseline, clock=time.perf_counter)
    begin, begin_wall = beside(opening, baseline), beside(opening, baseline, clock=time.perf_counter)
    per_message = 1e6 / len(said)
    yield plain("admission.messages", len(said), "messages")
    yield plain("admission.plain_insert", cpu.baseline_s * per_message, "µs/message")
    yield plain("admission.plain_insert_wall", wall.baseline_s * per_message, "µs/message")
    yield at_most("admission.cpu", (cpu.ours_s - begin.ours_s) * per_message, "µs/message", 40)
    yield at_most("admission.wall", (wall.ours_s - begin_wall.ours_s) * per_message, "µs/message", 40)
    yield plain("admission.by_plain_insert", (cpu.ours_s - begin.ours_s) / cpu.baseline_s, "times")


if __name__ == "__main__":
    with unsigned(), tempfile.TemporaryDirectory(prefix="tollbook-bench-") as made:
        report(f"admission without signature, durable: what {title()} say", lines(Path(made)))

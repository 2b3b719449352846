"""Replaying the retail market without signatures: rules, chain and roots.

    baseline   a plain hash chain over the same records: json.loads and SHA-256 of each, nothing made again
    ours       a run's audit without its signatures: every decision made again and compared as bytes

`memory` and `store` replay many short runs, opening and sealing each; `long` is
one run in which everything that was said in them is said again.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from measure import Line, at_least, beside, plain, report, unsigned
from recorded import acts, ledger, new_ledger, open_run, read, say_all, title

from tollbook.ledger.blobs import Shelf
from tollbook.ledger.records import Stored, record_bytes
from tollbook.ledger.replay import replay
from tollbook.ledger.store import Store
from tollbook.ledger.verify import shelf_of

TARGET = 150_000


def chain(lines: Sequence[bytes]) -> bytes:
    """The baseline: what checking a plain log of JSON lines takes."""
    last = bytes(32)
    for line in lines:
        json.loads(line)
        last = sha256(last + line).digest()
    return last


def replay_all(runs: Sequence[Sequence[Stored]], shelf: Shelf) -> None:
    """Every run to its end."""
    for records in runs:
        auditor = replay(records, shelf)
        assert not auditor.findings


def replay_stored(store: Store, numbers: Sequence[int], shelf: Shelf) -> None:
    """The same, read from the store on the way."""
    for run in numbers:
        auditor = replay(store.records(run), shelf)
        assert not auditor.findings


def lines(path: Path) -> Iterator[Line]:
    """The figures of the short runs."""
    with Store.read(path) as store:
        shelf = shelf_of(store)
        numbers = [run for run, _id in store.runs()]
        runs = [list(store.records(run)) for run in numbers]
        count = sum(map(len, runs))
        baseline = partial(chain, [_line(stored) for records in runs for stored in records])
        memory = beside(partial(replay_all, runs, shelf), baseline)
        stored = beside(partial(replay_stored, store, numbers, shelf), baseline)
    yield plain("replay.chain", count / memory.baseline_s, "records/s")
    yield plain("replay.records_a_run", count / len(runs), "records")
    yield at_least("replay.memory", count / memory.ours_s, "records/s", TARGET)
    yield plain("replay.memory_by_chain", memory.ratio, "times")
    yield at_least("replay.store", count / stored.ours_s, "records/s", TARGET)


def long_lines() -> Iterator[Line]:
    """The figures of one long run."""
    source, shop = read()
    with tempfile.TemporaryDirectory() as folder, new_ledger(Path(folder) / "long.db") as store:
        with unsigned():
            writer = open_run(store, shop)
            say_all(writer, acts(source))
            writer.seal("completed")
        records = list(store.records(1))
        shelf = shelf_of(store)
        baseline = partial(chain, [_line(stored) for stored in records])
        measured = beside(partial(replay_all, [records], shelf), baseline)
    yield plain("replay.long_records", len(records), "records")
    yield at_least("replay.long", len(records) / measured.ours_s, "records/s", TARGET)
    yield plain("replay.long_by_chain", measured.ratio, "times")


def _line(stored: Stored) -> bytes:
    return record_bytes(stored.seq, stored.kind, "0" * 64, stored.body, stored.sig)


if __name__ == "__main__":
    with ledger() as made:
        report(f"replay without signatures: {title()}", lines(made))
    report(f"replay of one long run: what {title()} say", long_lines())

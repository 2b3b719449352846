"""Verifying with signatures, against the signatures alone.

    baseline   Ed25519.verify of the library, keys loaded before, on every signature of the runs
    ours       a run's whole audit: bytes, chain, signatures, every decision made again, roots, checkpoint

The start rows are read once a ledger: `one_core` leaves that out, `store` and
the two processes have it in. These are measured by the wall, since CPU seconds
add up; `bare_two_by_one` is what two cores give the signatures alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from measure import Line, at_least, beside, plain, report
from recorded import ledger, title

from tollbook.ledger.forks import dealt
from tollbook.ledger.notes import parse_note
from tollbook.ledger.records import MESSAGE, OPEN, Stored
from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of, verify_store
from tollbook.protocol.keys import key_bytes, pae, signature_bytes

LONG_RECORDS = 30
MIN_RUNS = 100


class Signed(NamedTuple):
    """One signature: the loaded key, and what it is to be checked on."""

    key: Ed25519PublicKey
    signature: bytes
    data: bytes


def signatures(store: Store, run: int) -> Iterator[Signed]:
    """Every signature of a run: its open's, its messages', its checkpoint's."""
    records = list(store.records(run))
    opened = OPEN.decode(records[0].body)
    keys = {party.id: _loaded(party.key) for party in opened.parties}
    keeper = _loaded(opened.ledger.key)
    for stored in records:
        if stored.sig is not None:
            key = keeper if stored.kind == "open" else keys[_sender(stored)]
            yield Signed(key, signature_bytes(stored.sig), pae(stored.kind, stored.body))
    for note in store.notes(run):
        parsed = parse_note(note)
        yield Signed(keeper, parsed.signatures[0].data, parsed.text.encode())


def _loaded(key: str) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(key_bytes(key))


def _sender(stored: Stored) -> str:
    return MESSAGE.decode(stored.body).sender


def check_all(signed: Sequence[Signed]) -> None:
    """The baseline."""
    for key, signature, data in signed:
        key.verify(signature, data)


def check_in_two(signed: Sequence[Signed]) -> None:
    """The baseline on two cores: half of it here, half in another process."""
    list(dealt(lambda job: iter([check_all(signed[job::2])]), 2, 2))


def audits(store: Store, runs: Sequence[tuple[int, str]]) -> Callable[[], None]:
    """The audit of these runs, their start rows read already."""
    shelf = shelf_of(store)

    def work() -> None:
        for run, run_id in runs:
            assert audit_run(store, run, run_id, shelf).good

    return work


def lines(path: Path) -> Iterator[Line]:
    """The figures."""
    with Store.read(path) as store:
        runs = store.runs() * (1 + MIN_RUNS // len(store.runs()))  # a small suite is taken many times over
        long = [run for run in runs if store.size(run[0]) >= LONG_RECORDS]
        signed = {run: list(signatures(store, run)) for run, _id in runs}
        every = [one for run, _id in runs for one in signed[run]]
        if long:
            alone = [one for run, _id in long for one in signed[run]]
            measured = beside(audits(store, long), partial(check_all, alone))
            yield plain("verify.bare", len(alone) / measured.baseline_s, "signatures/s")
            yield plain("verify.long_runs", len(long), "runs")
            overhead_s = (measured.ours_s - measured.baseline_s) / len(alone)
            yield plain("verify.overhead", 1e6 * overhead_s, "µs/signature")
            yield at_least("verify.one_core", measured.ratio, "of_bare", 0.8)
    bare = partial(check_all, every)
    one, two = partial(verify, path, runs, 1), partial(verify, path, runs, 2)
    wall = time.perf_counter
    yield plain("verify.store", beside(one, bare, clock=wall).ratio, "of_bare")
    cores = beside(partial(check_in_two, every), bare, clock=wall)
    yield plain("verify.bare_two_by_one", cores.ratio, "times")
    yield at_least("verify.two_processes", beside(two, bare, clock=wall).ratio, "of_bare", 0.8 * 1.7)
    speedup = beside(two, one, clock=wall)
    yield plain("verify.store_wall", speedup.baseline_s, "s")
    yield plain("verify.two_processes_wall", speedup.ours_s, "s")
    yield at_least("verify.two_by_one", speedup.ratio, "times", 1.7)


def verify(path: Path, runs: Sequence[tuple[int, str]], jobs: int) -> None:
    """All of it, the start rows included."""
    assert all(audit.good for audit in verify_store(path, runs, jobs=jobs))


if __name__ == "__main__":
    with ledger() as made:
        report(f"verify with signatures: {title()}", lines(made))

"""Forked helpers: their values in turn, and nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tollbook.ledger.forks import CAN_FORK, dealt
from tollbook.ledger.store import Store
from tollbook.ledger.verify import verify_store
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import key_text
from tollbook.tasks.tau2.importer import import_runs, read_shop
from tollbook.tasks.tau2.source import read_source

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="processes can't be forked here")


@pytest.mark.parametrize("jobs", [1, 2, 3, 5, 8])
def test_values_come_one_of_each_in_turn(jobs: int) -> None:
    def work(job: int) -> Iterator[int]:
        yield from range(job, 7, jobs)

    assert list(range(7)) == list(dealt(work, jobs, 7))


def test_only_the_first_is_done_here() -> None:
    def work(_job: int) -> Iterator[int]:
        yield os.getpid()

    here, *others = dealt(work, 3, 3)
    assert here == os.getpid()
    assert len({here, *others}) == 3


def test_helpers_have_what_was_read_before() -> None:
    read = {"rows": 5}

    def work(_job: int) -> Iterator[int]:
        yield read["rows"]

    assert [5, 5] == list(dealt(work, 2, 2))


def test_helpers_end_with_the_iterator() -> None:
    def work(_job: int) -> Iterator[bytes]:
        while True:
            yield bytes(10_000)  # more than a pipe holds, so that a helper waits

    values = dealt(work, 3, 100)
    next(values)
    assert len(multiprocessing.active_children()) == 2
    values.close()
    assert multiprocessing.active_children() == []


def test_a_helper_that_fails_is_not_waited_for(capfd: pytest.CaptureFixture[str]) -> None:
    def work(job: int) -> Iterator[int]:
        yield 1
        if job:
            raise ValueError("a bug of ours")
        yield 2

    with pytest.raises(EOFError):
        list(dealt(work, 2, 4))
    assert "a bug of ours" in capfd.readouterr().err


@pytest.mark.parametrize("jobs", [2, 3])
def test_audits_are_the_same_in_any_number_of_processes(tmp_path: Path, jobs: int) -> None:
    suite = ROOT / "tasks" / "suites" / "retail"
    path = tmp_path / "runs.db"
    secret = bytes(32)
    with Store.write(path, "tollbook.test", key_text(ledger_key(secret).public)) as store:
        shop = read_shop(suite / "shop.json", "compat")
        import_runs(store, secret, "tollbook.test", read_source(suite / "recorded.json"), shop)
        runs = store.runs()
    alone = [audit._replace(replayed=None) for audit in verify_store(path, runs)]
    assert [run_id for _run, run_id in runs] == [audit.run for audit in alone]
    assert alone == list(verify_store(path, runs, jobs=jobs))

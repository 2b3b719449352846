"""Several processes give one's runs; one that dies, or errs, is told by name, and what was kept stays."""

from __future__ import annotations

import os
import signal
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest
from small_task import ASK, LOOK, SECRET, Says, ledger_on, propose, store_at, task_of

from tollbook.ledger.store import Store
from tollbook.ledger.verify import verify_store
from tollbook.ledger.writer import Keeper
from tollbook.protocol.errors import LedgerError, TaskError, TollbookError, UsageError
from tollbook.tasks.play.crew import _Told, play_all
from tollbook.tasks.play.recorder import record
from tollbook.tasks.play.resume import resume
from tollbook.tasks.play.trials import next_trials

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")

TASK = task_of()
PARENT = os.getpid()
PATIENCE_SECONDS = 20.0
Play = Callable[[Keeper, int], Any]


def play(keeper: Keeper, trial: int) -> str:
    """The root of a run, whose agent is outside for every third trial."""
    agent = Says(LOOK, ASK, propose(100), outside=trial % 3 == 0)
    audit = record(ledger_on(keeper), TASK, "cheap", trial, agent).audit
    assert [] == audit.findings
    assert audit.root is not None
    return audit.root


def roots(path: Path, workers: int, jobs: Sequence[int]) -> dict[int, str]:
    with store_at(path) as store:
        found = dict(play_all(store, jobs, play, workers))
        runs = store.runs()
    audits = list(verify_store(path, runs))
    assert all(audit.good and not audit.findings for audit in audits)
    assert sorted(str(audit.root) for audit in audits) == sorted(found.values())
    return found


def test_processes_give_the_runs_that_one_gives(tmp_path: Path) -> None:
    jobs = list(range(7))
    one, two, nine = (roots(tmp_path / f"{workers}.db", workers, jobs) for workers in (1, 2, 9))
    assert jobs == sorted(one)
    assert one == two == nine
    assert len(jobs) == len(set(one.values()))


def test_runs_that_come_whole_are_the_same_and_on_disk_when_they_come_back(tmp_path: Path) -> None:
    jobs = [trial for trial in range(10) if trial % 3]
    with store_at(tmp_path / "whole.db") as store:
        for done, (_trial, root) in enumerate(play_all(store, jobs, play, 2, whole=True), 1):
            assert len(store.runs()) >= done
            assert root is not None
    assert roots(tmp_path / "one.db", 1, jobs) == _roots_of(tmp_path / "whole.db")


def test_a_whole_run_that_is_there_already_is_refused_when_it_comes(tmp_path: Path) -> None:
    with store_at(tmp_path / "a.db") as store:
        assert len(list(play_all(store, [1, 2], play, 2, whole=True))) == 2
        with pytest.raises(LedgerError) as caught:
            list(play_all(store, [4, 1], play, 2, whole=True))
        assert "run.exists" == caught.value.code
        assert len(store.runs()) in (2, 3)


def _roots_of(path: Path) -> dict[int, str]:
    with Store.read(path) as store:
        runs = store.runs()
    audits = list(verify_store(path, runs, keep=True))
    assert all(audit.good for audit in audits)
    return {audit.replayed.opened.trial: str(audit.root) for audit in audits if audit.replayed}


@pytest.mark.parametrize(("jobs", "workers"), [([], 2), ([4], 2), ([4, 5], 1)])
def test_where_one_is_enough_no_process_is_started(tmp_path: Path, jobs: list[int], workers: int) -> None:
    with store_at(tmp_path / "a.db") as store:
        found = list(play_all(store, jobs, lambda _keeper, job: (job, os.getpid()), workers))
    assert [(job, (job, os.getpid())) for job in jobs] == found


def test_each_job_is_done_once_by_some_process(tmp_path: Path) -> None:
    with store_at(tmp_path / "a.db") as store:
        found = list(play_all(store, range(20), lambda _keeper, job: (job, os.getpid()), 3))
    assert [(job, job) for job in range(20)] == sorted((job, done) for job, (done, _pid) in found)
    assert os.getpid() not in {pid for _job, (_done, pid) in found}


# Those that die or err


def dies(_keeper: Keeper) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def dies_in_the_middle_of_a_word(keeper: Any) -> NoReturn:
    os.write(keeper._pipe.fileno(), struct.pack("!i", 1_000) + b"half")  # noqa: SLF001 - as it is left
    dies(keeper)


def dies_before_it_is_answered(keeper: Any) -> NoReturn:
    keeper._pipe.send(_Told("refuse_known", ("0" * 64,), waits=True))  # noqa: SLF001 - as above
    dies(keeper)


def exits(_keeper: Keeper) -> NoReturn:
    raise SystemExit(3)


def errs(error: TollbookError) -> Callable[[Keeper], NoReturn]:
    def raises(_keeper: Keeper) -> NoReturn:
        raise error

    return raises


NO_AGENT = UsageError("usage.agent", "no such agent")
BY_ZERO = TaskError("task.value", "case.a", "by zero", "try")


def divides(_keeper: Keeper) -> float:
    return 1 / 0


def plays_again(keeper: Keeper) -> str:
    return play(keeper, 0)


def outcome(store: Store, does: Callable[[Any], object], jobs: int = 6, at: int = 3) -> TollbookError:
    """What comes of jobs one of which does this."""

    def do(keeper: Keeper, job: int) -> object:
        return does(keeper) if job == at else play(keeper, job)

    with pytest.raises(TollbookError) as caught:
        list(play_all(store, range(jobs), do, 2))
    return caught.value


@pytest.mark.parametrize("does", [dies, dies_in_the_middle_of_a_word, dies_before_it_is_answered, exits])
def test_a_process_that_dies_is_an_error_and_what_was_kept_stays(
    tmp_path: Path, does: Callable[[Any], object]
) -> None:
    path = tmp_path / "a.db"
    with store_at(path) as store:
        error = outcome(store, does)
        assert ("run.worker", True) == (error.code, "run the rest again" in (error.hint or ""))
        assert os.getpid() == PARENT
        kept = len(store.runs())
        assert kept >= 2
        following = next_trials(store, TASK, Says())["cheap"]
        done = [number for number, _run in store.runs() if store.overview()[number - 1]["outcome"]]
        assert len(dict(play_all(store, range(following, following + 4), play, 2))) == 4
        for number, _run in store.runs():
            if number not in done and store.overview()[number - 1]["outcome"] is None:
                again = Says(LOOK, ASK, propose(100), outside=True)
                resume(store, SECRET, number, lambda _task, _stated, _seed, again=again: again)
        runs = store.runs()
    assert len(runs) >= kept + 4
    assert all(audit.good and not audit.findings for audit in verify_store(path, runs))


@pytest.mark.parametrize(
    ("kind",          "code",        "text",                                         "does"),
    [
        (UsageError,  "usage.agent", "no such agent",                                errs(NO_AGENT)),
        (TaskError,   "task.value",  "case.a: by zero",                              errs(BY_ZERO)),
        (LedgerError, "run.worker",  "internal: ZeroDivisionError division by zero", divides),
        (LedgerError, "run.exists",  "is in this ledger already",                    plays_again),
    ],
    ids=["a call", "a task", "a bug", "the store"],
)  # fmt: skip
def test_an_error_in_a_process_is_the_same_here(
    tmp_path: Path, kind: type[TollbookError], code: str, text: str, does: Callable[[Any], object]
) -> None:
    with store_at(tmp_path / "a.db") as store:
        error = outcome(store, does)
        assert (kind, code) == (type(error), error.code)
        assert text in error.text
        assert str(error) == error.text
        assert len(store.runs()) >= 2
    if isinstance(error, TaskError):
        assert ("case.a", "by zero", "try", "a.toml: case.a: by zero") == (
            error.place, error.problem, error.hint, error.of_file("a.toml")
        )  # fmt: skip


def test_who_stops_listening_ends_the_processes(tmp_path: Path) -> None:
    with store_at(tmp_path / "a.db") as store:
        with closing(play_all(store, range(50), lambda _keeper, _job: os.getpid(), 2)) as results:
            pids = {next(results)[1], next(results)[1]}
        assert [] == [pid for pid in pids if is_alive(pid)]


def test_one_that_is_busy_is_ended_too(tmp_path: Path) -> None:
    def waits(_keeper: Keeper, job: int) -> int:
        time.sleep(PATIENCE_SECONDS * job)
        return os.getpid()

    begun = time.monotonic()
    with store_at(tmp_path / "a.db") as store, closing(play_all(store, range(2), waits, 2)) as results:
        assert 0 == next(results)[0]
    assert time.monotonic() - begun < PATIENCE_SECONDS


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

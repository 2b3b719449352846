"""Tasks: a case played, verified and scored; a run rescored; a file linted; many runs by two processes.

    baseline   the same messages signed and verified alone, in the same turn
    ours       CPU seconds of all of it, less that baseline: what a case costs beyond its signatures

Runs by two processes are compared with runs by one in wall seconds, both
written to a store; beside it what two processes make of the signatures alone.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from measure import Line, at_least, at_most, beside, plain, report

from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import SigningKey, key_text, verify
from tollbook.tasks.format.task import load_task
from tollbook.tasks.judging import Judge
from tollbook.tasks.lint.linter import lint
from tollbook.tasks.play.casting import Part, cast
from tollbook.tasks.play.conduct import remember, with_conduct
from tollbook.tasks.play.crew import play_all
from tollbook.tasks.play.recorder import Ledger, Recorded, record
from tollbook.tasks.shelf import find_task

if TYPE_CHECKING:
    from tollbook.ledger.writer import Keeper
    from tollbook.tasks.format.task import Task
    from tollbook.tasks.shelf import Found

SECRET = bytes(range(32))
NAME = "bench.local"
MANY = 1_000
WORKED = ("t4.buyer_zopa", "t4.merchant_zopa", "t7.merchant_refund")
_TURNS = 7


def worked() -> list[Found]:
    """The tasks that docs/TASKS.md shows; `bench_suites` has all."""
    return [find_task(name) for name in WORKED]


class Nowhere:
    """A keeper that keeps nothing, so that the disk isn't measured."""

    def add_run(self, *_arguments: object) -> int:
        """As `Keeper.add_run`."""
        return 1

    def append(self, *_arguments: object) -> None:
        """As `Keeper.append`."""
        return

    def refuse_known(self, _run_id: str) -> None:
        """As `Keeper.refuse_known`."""
        return

    def signed(self, _run: int, _seq: int) -> tuple[bytes, str | None]:
        """As `Keeper.signed`."""
        raise AssertionError


def signatures(messages: int) -> None:
    """Signs so many messages of a run's size, and verifies them."""
    key = SigningKey.from_seed(SECRET)
    for n in range(messages):
        data = b"%04d" % n * 100
        assert verify(key.public, key.sign(data), data)


def case_lines(task: Task) -> Iterator[Line]:
    """One case of a task, from its opening to its score."""
    case, trials, judge = next(iter(task.file.case)), count(), Judge()
    make = cast(task, Part())

    def play() -> Recorded:
        trial = next(trials)
        return record(Ledger(Nowhere(), SECRET, NAME), task, case, trial, make(""))

    def whole() -> None:
        for _ in range(20):
            assert judge.score(play().audit).value == 1_000

    messages = len(play().audit.deeds) + 3  # the open, the checkpoint and the environment's note
    measured = beside(whole, lambda: [signatures(messages) for _ in range(20)], _TURNS)
    beyond_s = measured.ours_s * (1 - measured.ratio)
    name = f"tasks.{task.file.id}"
    yield plain(f"{name}.messages", messages - 3, "messages")
    yield plain(f"{name}.case", measured.ours_s / 20 * 1e3, "ms")
    yield at_most(f"{name}.beyond_signatures", beyond_s / 20 * 1e3, "ms", 8.0)
    audit = play().audit
    rescored = beside(lambda: [judge.score(audit) for _ in range(100)], lambda: signatures(100), _TURNS)
    yield at_most(f"{name}.rescore", rescored.ours_s / 100 * 1e3, "ms", 1.0)


def lint_lines() -> Iterator[Line]:
    """The linter over each worked task."""
    for found in worked():
        begun = time.process_time()
        findings = lint(found.text).findings
        spent = time.process_time() - begun
        assert not [finding for finding in findings if finding.level == "error"]
        yield at_most(f"tasks.{found.name}.lint", spent, "s", 2.0)


def crew_lines(task: Task) -> Iterator[Line]:
    """Many runs by one process and by two, in turn."""
    pairs = [(_many(task, 1), _many(task, 2)) for _ in range(2)]
    yield plain("tasks.runs_by_one", mean(one for one, _ in pairs), "s wall")
    ratio = mean(one / two for one, two in pairs)
    yield at_least("tasks.runs_by_two_times_one", ratio, "times", 1.7)
    bare_one, bare_two = _bare(1), _bare(2)
    yield plain("tasks.signatures_by_two_times_one", 2 * bare_one / bare_two, "times")


def _many(task: Task, workers: int) -> float:
    cases, judge, make = list(task.file.case), Judge(), cast(task, Part())
    jobs = [(cases[at % len(cases)], at // len(cases)) for at in range(MANY)]

    def play(keeper: Keeper, job: tuple[str, int]) -> object:
        return judge.score(record(Ledger(keeper, SECRET, NAME), task, *job, make("")).audit)

    with tempfile.TemporaryDirectory(prefix="tollbook-bench-") as folder:
        path = Path(folder) / "ledger.db"
        with Store.write(path, NAME, key_text(ledger_key(SECRET).public)) as store:
            begun = time.perf_counter()
            assert sum(1 for _ in play_all(store, jobs, play, workers, whole=True)) == MANY
            return time.perf_counter() - begun


def _bare(workers: int) -> float:
    begun = time.perf_counter()
    crew = [get_context("fork").Process(target=signatures, args=(20_000,)) for _ in range(workers)]
    for each in crew:
        each.start()
    for each in crew:
        each.join()
    return time.perf_counter() - begun


def score_lines(task: Task) -> Iterator[Line]:
    """`tollbook score` of a played run: verified, conduct checked, judged."""
    judge = Judge()
    with tempfile.TemporaryDirectory(prefix="tollbook-bench-") as folder:
        path = Path(folder) / "ledger.db"
        with Store.write(path, NAME, key_text(ledger_key(SECRET).public)) as store:
            make = cast(task, Part())
            for trial in range(30):
                record(Ledger(store, SECRET, NAME), task, next(iter(task.file.case)), trial, make(""))
        with Store.read(path) as store:
            runs, shelf = store.runs(), shelf_of(store)
            shared = sum(len(line) for line in store.blob(task.digest))
            yield plain("tasks.store_bytes", (path.stat().st_size - shared) / len(runs), "bytes/run")

            def score() -> None:
                for run, run_id in runs:
                    judge.score(with_conduct(audit_run(store, run, run_id, shelf, keep=True)))

            measured = beside(score, lambda: signatures(30 * 30), _TURNS)
            yield plain("tasks.verify_and_score", measured.ours_s / 30 * 1e3, "ms")


if __name__ == "__main__":
    tasks = [load_task(found.text) for found in worked()]
    for each in tasks:
        remember(each)
    gc.freeze()  # as `tollbook run` does
    for each in tasks:
        report(f"a case of {each.file.id}, CPU", case_lines(each))
    report("from a ledger, CPU", score_lines(tasks[0]))
    report("the linter, CPU", lint_lines())
    report(f"{MANY} runs", crew_lines(tasks[0]))

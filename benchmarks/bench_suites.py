"""The commerce suites: every reference played, verified, rescored and kept; a thousand stand-ins analysed.

    baseline   the same messages signed and verified alone, or the same signatures verified alone, in turn
    ours       CPU seconds of all of it: from the opening to the score, or from the file to the end of conduct

Task files are compiled once a process, which is in no other figure than `suites.compile`. A run's part of a
ledger is what a second batch of the same references adds to the file: start rows and task files are there
already. A bundle of all the runs has them in. What is rescored or analysed was verified before.
"""

from __future__ import annotations

import gc
import gzip
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench_tasks import NAME, SECRET, Nowhere, signatures
from bench_verify import check_all
from bench_verify import signatures as signatures_of
from measure import Line, at_most, beside, plain, report, seconds

from tollbook.ledger.bundle import export_lines
from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import key_text
from tollbook.scorers.analysis.names import NAMES, sheet_of
from tollbook.tasks.format.task import load_task
from tollbook.tasks.judging import Judge
from tollbook.tasks.play.casting import Part, cast
from tollbook.tasks.play.conduct import remember, with_conduct
from tollbook.tasks.play.recorder import Ledger, record
from tollbook.tasks.play.stand_ins import GRADES
from tollbook.tasks.shelf import builtin_tasks

if TYPE_CHECKING:
    from tollbook.ledger.audit import Audit
    from tollbook.ledger.writer import Keeper
    from tollbook.tasks.format.task import Task

MANY = 1_000
NOTES = 2
"""What is signed of a run beside its open and its messages: the checkpoint and the environment's note."""

_ROUNDS = 5


class Place(NamedTuple):
    """One case of a task."""

    task: Task
    case: str


def audit_of(keeper: Keeper, place: Place, trial: int, word: str = "reference") -> Audit:
    """A run played, sealed and verified."""
    agent = cast(place.task, Part(word))(place.task.scenes.seed(place.case, trial))
    return record(Ledger(keeper, SECRET, NAME), place.task, place.case, trial, agent).audit


def play_lines(places: Sequence[Place]) -> Iterator[Line]:
    """Every reference, from its opening to its score."""
    judge, trials = Judge(), count()
    audits = [audit_of(Nowhere(), place, next(trials)) for place in places]
    messages = sum(len(audit.deeds) for audit in audits)
    signed = messages + (1 + NOTES) * len(places)

    def whole() -> None:
        trial = next(trials)
        for place in places:
            assert judge.score(audit_of(Nowhere(), place, trial)).value == 1_000

    def rescore() -> None:
        for audit in audits:
            judge.score(audit)

    measured = beside(whole, partial(signatures, signed), _ROUNDS)
    yield plain("suites.runs", len(places), "runs")
    yield plain("suites.records", sum(audit.records for audit in audits), "records")
    yield plain("suites.messages", messages, "messages")
    yield plain("suites.play_to_score", measured.ours_s, "s")
    yield plain("suites.signing_and_verifying", measured.baseline_s, "s")
    yield at_most("suites.beyond_signatures", measured.ours_s - measured.baseline_s, "s", 1.5)
    rescored = beside(rescore, partial(signatures, 100), _ROUNDS)
    yield at_most("suites.rescore", rescored.ours_s / len(places) * 1e3, "ms/run", 1.5)


@contextmanager
def ledger_of(places: Sequence[Place]) -> Iterator[tuple[Path, int]]:
    """A ledger of two trials of every reference, and the bytes that the second added to it."""
    with tempfile.TemporaryDirectory(prefix="tollbook-bench-") as folder:
        path = Path(folder) / "ledger.db"
        sizes: list[int] = []
        for trial in range(2):
            with Store.write(path, NAME, key_text(ledger_key(SECRET).public)) as store:
                for place in places:
                    audit_of(store, place, trial)
            sizes.append(path.stat().st_size)
        yield path, sizes[1] - sizes[0]


def ledger_lines(places: Sequence[Place]) -> Iterator[Line]:
    """What runs take on disk, and what it takes to verify them from there."""
    with ledger_of(places) as (path, added), Store.read(path) as store:
        runs = store.runs()[: len(places)]
        exported = b"".join(export_lines(store, runs))
        yield at_most("suites.store_bytes", added / len(runs), "bytes/run", 15_000)
        yield at_most("suites.bundle_bytes", len(exported) / len(runs), "bytes/run", 15_000)
        packed = len(gzip.compress(exported, 6))
        yield at_most("suites.gz_bytes", packed / len(runs), "bytes/run", 15_000)
        yield from verify_lines(store, runs)


def verify_lines(store: Store, runs: Sequence[tuple[int, str]]) -> Iterator[Line]:
    """Verifying with conduct, without it, and without signatures, against the signatures alone."""
    signed = [one for run, _id in runs for one in signatures_of(store, run)]
    bare = partial(check_all, signed)

    def audited(*, conduct: bool = True, signatures: bool = True) -> None:
        shelf = shelf_of(store)
        for run, run_id in runs:
            audit = audit_run(store, run, run_id, shelf, keep=True, signatures=signatures)
            assert not conduct or with_conduct(audit).good

    yield plain("suites.signatures", len(signed), "signatures")
    measured = beside(audited, bare, _ROUNDS)
    yield plain("suites.verify", measured.ours_s, "s")
    yield plain("suites.bare", measured.baseline_s, "s")
    yield at_most("suites.verify_by_signatures", 1 / measured.ratio, "times", 1.35)
    record_by_record = beside(partial(audited, conduct=False), bare, _ROUNDS)
    yield plain("suites.verify_without_conduct_by_signatures", 1 / record_by_record.ratio, "times")
    unsigned = beside(partial(audited, conduct=False, signatures=False), bare, _ROUNDS)
    yield plain("suites.replay_alone_by_signatures", 1 / unsigned.ratio, "times")


def analysis_lines(places: Sequence[Place]) -> Iterator[Line]:
    """A thousand verified runs of stand-ins of every grade: rescored as `analyse` does, and analysed."""
    words = [f"stand_in:{grade}" for grade in GRADES]
    jobs = ((place, trial, word) for trial in count() for place in places for word in words)
    audits = [audit_of(Nowhere(), *job) for job in islice(jobs, MANY)]
    gc.freeze()
    judge = Judge(projected=True)
    scores = [judge.score(audit) for audit in audits]
    full = sum(score.value == 1_000 for score in scores)
    yield plain("suites.stand_ins", len(scores), f"runs, {len(words)} grades, {full} at full credit")
    rescored = seconds(lambda: [judge.score(audit) for audit in audits], time.process_time)
    yield plain("suites.rescore_with_projections", rescored, "s")
    spent = {name: seconds(partial(sheet_of, name, scores)) for name in NAMES}
    for name, each in spent.items():
        yield plain(f"suites.{name}", each, "s")
    yield at_most("suites.rescore_and_analyse", rescored + sum(spent.values()), "s", 6.0)


if __name__ == "__main__":
    begun = time.process_time()
    loaded = [load_task(found.text) for found in builtin_tasks()]
    tasks = [task for task in loaded if task.file.world == "commerce"]
    spent = time.process_time() - begun
    for each in tasks:
        remember(each)
    gc.freeze()  # as `tollbook run` does
    every = [Place(task, case) for task in tasks for case in task.file.case]
    report("the suites: task files, CPU", [plain("suites.compile", spent, f"s, {len(tasks)} files")])
    report("the suites: every reference, CPU", play_lines(every))
    report("the suites: from a ledger, CPU", ledger_lines(every))
    report(f"the suites: {MANY} runs of stand-ins, CPU", analysis_lines(every))

"""Auctions: a sealed-bid round with its signatures, bids a second without, a Smith session, a grid's memory.

    round    five bids and the round's opening: formed and signed, admitted at the door (each signature
             verified), decided, recorded, sealed            baseline: as many messages signed and verified
    bids     the same with signing stubbed, bids a second
    played   a run as `tollbook run` has it: bidders are asked, shown the market, and act; it is recorded;
             then all of it verified and decided again, and its conduct checked
    smith    22 traders, 5 rounds of 2,000 steps, played whole, signing stubbed
    grid     peak memory of a study of 1,000 sessions by that of one of 100, in processes of their own

Nothing is kept on disk but the grid's own ledgers.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

from bench_tasks import NAME, SECRET, Nowhere, signatures
from measure import Line, at_least, at_most, beside, plain, report, seconds, unsigned

from tollbook.ledger.blobs import facts_blob, task_blob
from tollbook.ledger.plan import Plan
from tollbook.ledger.writer import Writer
from tollbook.protocol.auction.sealed import BidSubmit
from tollbook.protocol.auction.session import RoundOpen
from tollbook.protocol.bodies import Origin, TaskRef
from tollbook.tasks.auctions.cells import CASE, Cell, parties_of, task_text
from tollbook.tasks.auctions.grid import grid
from tollbook.tasks.auctions.study import Size, tallies
from tollbook.tasks.format.task import OPERATOR, Task, load_task
from tollbook.tasks.play.baselines import baseline, company
from tollbook.tasks.play.conduct import remember
from tollbook.tasks.play.recorder import Ledger, record, seats_of

ROUNDS = 100
BIDDERS = 5
MESSAGES = ROUNDS * (BIDDERS + 1)
BIDS = ROUNDS * BIDDERS
SESSIONS = 1_000
FEW = 100


def cell(name: str) -> Cell:
    """A cell of the study's grid."""
    return next(each for each in grid() if each.name == name)


def task_and_play(name: str, rounds: int) -> tuple[Task, Callable[[], None]]:
    """A cell's task, and what plays its next session whole."""
    task, trials = load_task(task_text(cell(name), rounds)), count()
    remember(task)
    make = baseline(task, cell(name).plays)

    def play() -> None:
        trial = next(trials)
        agent = make(task.scenes.seed(CASE, trial), task.actor)
        assert record(Ledger(Nowhere(), SECRET, NAME), task, CASE, trial, agent).audit.good

    return task, play


def rounds_at_the_door(task: Task) -> Callable[[], None]:
    """What writes one session of sealed bids, each message verified as a stranger's is."""
    trials = count()
    bidders, _sellers = parties_of(cell("second_price.5"))

    def bid() -> None:
        writer = _opened(task, next(trials))
        operator, voices = writer.voice(OPERATOR), [writer.voice(party) for party in bidders]
        for number in range(ROUNDS):
            for voice, action in (
                (operator, RoundOpen()),
                *((voice, BidSubmit(1_000 * place + number)) for place, voice in enumerate(voices)),
            ):
                formed = voice.form(action, to=None)
                assert writer.admit(formed.body, formed.sig).decision.outcome == "accepted"
        writer.seal("completed")

    return bid


def _opened(task: Task, trial: int) -> Writer:
    scene = task.scenes.stage(CASE, task.scenes.seed(CASE, trial))
    seats = seats_of(task, company(task, scene.seed))
    origin = Origin(custody="played", source=None)
    about = TaskRef(case=CASE, digest=task.digest, id=task.file.id)
    plan = Plan(task.ref, seats, scene.seed, origin, about, trial)
    blobs = [facts_blob(scene.facts), task_blob(task.text)]
    return Writer.begin(Nowhere(), SECRET, NAME, plan, scene.facts, blobs, group=None)


def lines(folder: Path) -> Iterator[Line]:
    """The figures."""
    task, play = task_and_play("second_price.5", ROUNDS)
    bid = rounds_at_the_door(task)
    door = beside(bid, lambda: signatures(MESSAGES))
    yield plain("auctions.round", door.ours_s / ROUNDS * 1e3, "ms")
    yield at_most("auctions.round_by_signatures", 1 / door.ratio, "times", 1.5)
    whole = beside(play, lambda: signatures(MESSAGES))
    yield plain("auctions.played_by_signatures", 1 / whole.ratio, "times")
    with unsigned():
        yield at_least("auctions.bids", BIDS / _least(bid), "bids/s", 20_000)
        yield plain("auctions.bids_played", BIDS / _least(play), "bids/s")
        _task, trade = task_and_play("double.zi_c", 5)
        yield at_most("auctions.smith", _least(trade), "s", 1.0)
    few, many = (peak_bytes(folder / f"{sessions}.db", sessions) for sessions in (FEW, SESSIONS))
    yield plain("auctions.grid_peak", many / 2**20, "MiB")
    yield at_most("auctions.grid_growth", many / few, "times", 1.1)


def _least(work: Callable[[], None], rounds: int = 5) -> float:
    """CPU seconds of the fastest of several calls, after one that doesn't count."""
    work()
    return min(seconds(work) for _ in range(rounds))


def peak_bytes(path: Path, sessions: int) -> int:
    """The peak of a process that plays so many sessions of a small grid into this ledger."""
    words: Sequence[str] = (sys.executable, __file__, str(path), str(sessions))
    told = subprocess.run(words, check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    return int(told.stdout)


def study(path: Path, sessions: int) -> None:
    """Plays the sessions of four cells and prints this process's peak."""
    names = ("first_price.2", "second_price.2", "common.naive.4", "posted_price.2")
    cells = [cell(name) for name in names]
    for tally in tallies(cells, Size(sessions // len(cells), 10), keep=path):
        assert not tally.findings
    # Not `getrusage`: its peak begins with that of the process that started this one.
    status = Path("/proc/self/status").read_text()
    print(1_024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        study(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory(prefix="tollbook-bench-") as made:
            report(f"auctions: sessions of {ROUNDS} rounds of {BIDDERS} sealed bids, CPU", lines(Path(made)))

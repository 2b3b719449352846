"""The study of auctions: a grid of cells, each of so many sessions, played by several processes.

    cell × trial ─► job ─► forked workers play, verify, measure ─► Kept ─► Tally
                           └─ the whole run ─► the one writer ─► the study's ledger

A session is named by its cell's task, its case and its trial, from which its seed
follows. What the ledger has already isn't played again: it is read, verified and
measured as if it had just been played, so a study that was stopped goes on where it was,
and its report is that of one that wasn't. Runs don't stay in memory, nor, without a
ledger to be kept, on the disk: each cell then has a ledger of its own, for the while.

The first session of each cell is played once more, for its root to repeat.

Not here: which cells (`grid`), what is kept of a session (`tally`), what it says (`claims`, `report`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ...ledger.store import Store
from ...ledger.verify import audit_run, shelf_of
from ...protocol.auction import benchmarks
from ...protocol.auction.session import SESSION, Session
from ...protocol.bodies import Open
from ...protocol.derive import ledger_key
from ...protocol.errors import LedgerError
from ...protocol.keys import key_text
from ..format.task import load_task
from ..play.baselines import baseline
from ..play.conduct import remember, with_conduct
from ..play.crew import play_all
from ..play.recorder import Ledger, record
from ..studies.stage import NAME, SECRET, ledger_at
from .cells import CASE, Cell, task_text
from .tally import Kept, Tally, kept_of

if TYPE_CHECKING:
    from ...ledger.audited import Audit
    from ...ledger.store import Draft
    from ...ledger.writer import Keeper
    from ..format.task import Task

Step = Callable[[], None]
Runs = Mapping[tuple[str, int], int]
"""The numbers of a ledger's runs, by the digest of their task and their trial."""

_OPEN = msgspec.json.Decoder(Open)


class Size(NamedTuple):
    """How much is played: sessions of each cell, rounds of each session."""

    sessions: int
    rounds: int


class _Job(NamedTuple):
    """A session: its trial, and its number in the ledger if it is there already."""

    trial: int
    run: int | None


def sessions_of(cells: Sequence[Cell], size: Size) -> int:
    """How many sessions all cells have."""
    return sum(cell.sized(*size)[0] for cell in cells)


def check_kept(path: Path) -> None:
    """Refuses a ledger that isn't the studies', before anything is played.

    Raises:
        LedgerError: `study.ledger`; `ledger.folder`; as `Store.read`.
    """
    if not path.exists():
        if not path.parent.is_dir():
            what = f"there is no folder `{path.parent}` for the ledger"
            raise LedgerError("ledger.folder", what, "make it with `mkdir`, or check the path")
        return
    with Store.read(path) as store:
        if store.identity() != (NAME, key_text(ledger_key(SECRET).public)):
            hint = "name a new file, or one that `tollbook study auctions --keep` has made"
            raise LedgerError("study.ledger", f"`{path}` is not a ledger of studies", hint)


def tallies(
    cells: Sequence[Cell], size: Size, *, jobs: int = 1, keep: Path | None = None, step: Step | None = None
) -> list[Tally]:
    """Plays the sessions that the ledger hasn't; what all of them came to, cell by cell.

    ``keep`` is a ledger of studies, made if it isn't there; ``step`` is called after each session.

    Raises:
        LedgerError: ``keep`` isn't a ledger of studies, or can't be written.
    """
    known: Runs = {} if keep is None or not keep.exists() else _runs(keep)
    found: list[Tally] = []
    for cell in cells:
        with _ledger(keep) as path:
            found.append(_Cell(cell, size, path, known).tally(jobs, step))
    return found


@contextmanager
def _ledger(keep: Path | None) -> Generator[Path]:
    if keep is not None:
        yield keep
        return
    with TemporaryDirectory(prefix="tollbook-study-") as folder:
        yield Path(folder) / "auctions.db"


def _runs(path: Path) -> Runs:
    """The runs of played tasks that a ledger has, its form checked as for writing."""
    with ledger_at(path) as store:
        opened = [(number, _OPEN.decode(store.body(number, 0))) for number, _run_id in store.runs()]
    return {(each.task.digest, each.trial): number for number, each in opened if each.task is not None}


class _Cell:
    """A cell with its task, in a ledger."""

    def __init__(self, cell: Cell, size: Size, path: Path, known: Runs) -> None:
        self._cell = cell
        self._sessions, self._rounds = cell.sized(*size)
        self._path = path
        self._known = known
        self._task: Task = load_task(task_text(cell, self._rounds))
        self._make = baseline(self._task, cell.plays)

    def tally(self, jobs: int, step: Step | None) -> Tally:
        """Plays, or reads, all sessions."""
        remember(self._task)
        tally = Tally.of(self._cell, self._rounds, self._expected())
        digest = self._task.digest
        trials = [_Job(trial, self._known.get((digest, trial))) for trial in range(self._sessions)]
        with ledger_at(self._path) as store:
            for job, kept in play_all(store, trials, self._kept, jobs, whole=True):
                tally.add(job.trial, kept)
                if step is not None:
                    step()
        tally.again.append(self._played(Nowhere(), 0).root or "")
        return tally

    def _expected(self) -> Fraction | None:
        """What theory expects of these rules, before any bid; in minor units."""
        if self._cell.figure is None:
            return None
        facts = self._task.scenes.stage(CASE, self._task.scenes.seed(CASE, 0)).facts
        if self._cell.figure == "loss":
            session = facts.tables["session"].rows[SESSION]
            assert isinstance(session, Session)
            signals = benchmarks.setting_of(session).signals
            return Fraction(-signals.error * (signals.bidders - 1), signals.bidders + 1)
        micros: int | None = self._task.world.answers[f"expected_{self._cell.figure}"](facts)
        return None if micros is None else Fraction(micros, benchmarks.MICROS)

    def _kept(self, keeper: Keeper, job: _Job) -> Kept:
        audit = self._played(keeper, job.trial) if job.run is None else self._read(job.run)
        return kept_of(audit, self._cell, is_first=job.trial == 0)

    def _played(self, keeper: Keeper, trial: int) -> Audit:
        agent = self._make(self._task.scenes.seed(CASE, trial), self._task.actor)
        return record(Ledger(keeper, SECRET, NAME), self._task, CASE, trial, agent).audit

    def _read(self, run: int) -> Audit:
        store = self._reader
        return with_conduct(audit_run(store, run, store.id(run), shelf_of(store), keep=True))

    @cached_property
    def _reader(self) -> Store:
        """The ledger, opened by the process that reads it: locks must not be inherited."""
        return Store.read(self._path)


class Nowhere:
    """A keeper of nothing, for a run that is played only to be compared."""

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        """As `Keeper.add_run`."""
        del run_id, records, blobs, notes
        return 0

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        """As `Keeper.append`."""

    def refuse_known(self, run_id: str) -> None:
        """As `Keeper.refuse_known`."""

    def signed(self, run: int, seq: int) -> tuple[bytes, str | None]:
        """As `Keeper.signed`; whoever plays in this process doesn't ask for what it said."""
        raise AssertionError((run, seq))

"""Many runs: one after the other, or by several processes that hand what they write to the one writer.

    jobs ─► this process                     plays each, writes to the store
    jobs ─► forked workers ─pipe─► this one  each plays; records go through the pipe and are kept here
                           ◄─answer─         only once they are on disk

So a worker's agent is answered, as everybody's, only after what it did is
durable. Runs that are written whole, at their end, need no answer: their worker
goes on to the next, and they come back, as all do, once they are on disk.

Not here: playing one run (`recorder`); which runs (`tollbook.tasks.commands.run`).
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from ...ledger.forks import CAN_FORK
from ...protocol.errors import LedgerError, TollbookError

if TYPE_CHECKING:
    from ...ledger.store import Draft, Store
    from ...ledger.writer import Keeper

J = TypeVar("J")
R = TypeVar("R")


_GRACE_SECONDS = 5.0
_AHEAD = 2  # jobs that a worker has, so that it needn't wait for the next one
_BUG = "this is a bug in tollbook: please report it; `--jobs 1` with TOLLBOOK_DEBUG=1 shows where it happened"


class _Failed(NamedTuple):
    """An error in a worker, to be raised here."""

    kind: type[TollbookError]
    arguments: tuple[Any, ...]
    fields: dict[str, Any]


class _Told(NamedTuple):
    """A call of the store that a worker makes, and whether it waits for the answer."""

    method: str
    arguments: tuple[Any, ...]
    waits: bool


class _Done(NamedTuple):
    """What a worker made of a job."""

    result: Any


def play_all(
    store: Store, jobs: Sequence[J], play: Callable[[Keeper, J], R], workers: int, *, whole: bool = False
) -> Generator[tuple[J, R]]:
    """What `play` makes of each job, with somewhere to keep its records.

    ``whole``: each run is kept in one piece, at its end.

    Raises:
        TollbookError: what `play` raises, once it is its turn; what was kept before it stays.
    """
    gc.freeze()  # what is loaded by now lives as long as the command: no use looking through it again
    if workers < 2 or len(jobs) < 2 or not CAN_FORK:
        for job in jobs:
            yield job, play(store, job)
        return
    with _crew(partial(_work, play=play, jobs=jobs, whole=whole), min(workers, len(jobs))) as pipes:
        yield from _directed(store, jobs, pipes, _AHEAD if whole else 1)


def _directed(
    store: Store, jobs: Sequence[J], pipes: Sequence[Connection], ahead: int
) -> Generator[tuple[J, Any]]:
    """Hands out jobs, so many ahead, and keeps what the workers write, until all is done."""
    left = iter(range(len(jobs)))
    at_work: dict[Connection, deque[int]] = {pipe: deque() for pipe in pipes}
    for _ in range(ahead):
        for pipe in pipes:
            _hand(pipe, at_work[pipe], left)
    while any(at_work.values()):
        for ready in wait([pipe for pipe, places in at_work.items() if places]):
            pipe = cast("Connection", ready)
            told = _received(pipe)
            if isinstance(told, _Told):
                kept = _kept(store, told)
                if told.waits:
                    _send(pipe, kept)
                elif isinstance(kept, _Failed):
                    raise _raised(kept)
                continue
            if isinstance(told, _Failed):
                raise _raised(told)
            done = at_work[pipe].popleft()
            _hand(pipe, at_work[pipe], left)
            yield jobs[done], told.result


def _hand(pipe: Connection, places: deque[int], left: Iterator[int]) -> None:
    """Hands a worker the next job, if there is one."""
    place = next(left, None)
    if place is not None:
        places.append(place)
        _send(pipe, place)


def _received(pipe: Connection) -> _Told | _Done | _Failed:
    try:
        return pipe.recv()
    except (EOFError, OSError):
        raise _ended() from None


def _send(pipe: Connection, what: object) -> None:
    try:
        pipe.send(what)
    except OSError:
        raise _ended() from None


def _ended() -> LedgerError:
    what = "a process that played runs has ended in the middle of one"
    return LedgerError("run.worker", what, "what it wrote so far is kept; run the rest again")


def _kept(store: Store, told: _Told) -> _Done | _Failed:
    try:
        return _Done(getattr(store, told.method)(*told.arguments))
    except TollbookError as error:
        return _failure(error)


def _failure(error: TollbookError) -> _Failed:
    return _Failed(type(error), error.args, vars(error))


def _raised(failed: _Failed) -> TollbookError:
    error = failed.kind.__new__(failed.kind, *failed.arguments)
    vars(error).update(failed.fields)
    return error


class _Pipe:
    """A store at the other end of a pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        return self._call("add_run", run_id, list(records), list(blobs), list(notes))

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        self._call("append", run, seq, list(records), list(notes))

    def refuse_known(self, run_id: str) -> None:
        self._call("refuse_known", run_id)

    def signed(self, run: int, seq: int) -> tuple[bytes, str | None]:
        return self._call("signed", run, seq)

    def _call(self, method: str, *arguments: Any) -> Any:  # noqa: ANN401 - as the store's method
        self._pipe.send(_Told(method, arguments, waits=True))
        answer: _Done | _Failed = self._pipe.recv()
        if isinstance(answer, _Failed):
            raise _raised(answer)
        return answer.result


class _WholeRuns(_Pipe):
    """A store at the other end of a pipe, which takes each run whole and answers nothing."""

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        arguments = (run_id, list(records), list(blobs), list(notes))
        self._pipe.send(_Told("add_run", arguments, waits=False))
        return 0  # nothing is appended to it

    def refuse_known(self, run_id: str) -> None:
        """Is left to the store, when the run comes to it."""


@contextmanager
def _crew(
    work: Callable[[Connection, Sequence[Connection]], None], count: int
) -> Generator[list[Connection]]:
    """Forked processes at work, each at the end of a pipe."""
    context = multiprocessing.get_context("fork")
    with ExitStack() as stack:
        pipes: list[Connection] = []
        for _ in range(count):
            ours, theirs = cast("tuple[Connection, Connection]", context.Pipe())
            others = [*pipes, ours]
            process = context.Process(target=work, args=(theirs, others), daemon=True)
            process.start()
            theirs.close()
            pipes.append(ours)
            stack.callback(_end, process)
            stack.callback(ours.close)
        yield pipes


def _end(process: BaseProcess) -> None:
    """Ends a worker, which lets go of its agent; one that was just going to wait may miss the signal."""
    process.terminate()
    process.join(_GRACE_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()


def _work(
    pipe: Connection,
    others: Sequence[Connection],
    play: Callable[[Keeper, J], Any],
    jobs: Sequence[J],
    *,
    whole: bool,
) -> None:
    """Plays the jobs whose places come through the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process is interrupted, and ends this one
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))  # so that an agent outside is let go
    for other in others:
        other.close()
    keeper = _WholeRuns(pipe) if whole else _Pipe(pipe)
    while True:
        try:
            place: int = pipe.recv()
            job = jobs[place]
        except EOFError:
            return
        try:
            pipe.send(_Done(play(keeper, job)))
        except TollbookError as error:
            pipe.send(_failure(error))
        except (EOFError, BrokenPipeError):
            return
        except Exception as error:  # noqa: BLE001 - a bug of ours, told where the command ends
            what = f"internal: {type(error).__name__} {error}"
            pipe.send(_failure(LedgerError("run.worker", what, _BUG)))

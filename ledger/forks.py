"""Forked processes that work ahead and send what they make.

    this process ──fork──► work(pipe): send, send, …          runs ahead as far as the pipe holds
                 ◄─values── in the order in which they were sent

Not here: what is worked on (`verify`). Where processes can't be forked, `CAN_FORK` is False.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, TypeVar

T = TypeVar("T")

CAN_FORK = "fork" in multiprocessing.get_all_start_methods()


def dealt(work: Callable[[int], Iterator[T]], jobs: int, count: int) -> Generator[T]:
    """The values of `work(0)` to `work(jobs − 1)`, one of each in turn, `count` in all.

    The first is done here, the others in processes forked at this moment, which end with this iterator.
    """
    with ExitStack() as stack:
        pipes: list[Connection] = []
        for job in range(1, jobs):
            pipes.append(stack.enter_context(_forked(partial(work, job), pipes)))
        own = work(0)
        for place in range(count):
            job = place % jobs
            yield pipes[job - 1].recv() if job else next(own)


@contextmanager
def _forked(work: Callable[[], Iterator[Any]], others: Sequence[Connection]) -> Generator[Connection]:
    """The pipe on which a process sends what it makes; `others` are those of earlier processes."""
    to_read, to_write = os.pipe()
    receiver, sender = Connection(to_read, writable=False), Connection(to_write, readable=False)

    def begin() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process is interrupted, and ends this one
        for pipe in (receiver, *others):
            pipe.close()  # a pipe breaks, and whoever writes to it ends, once nobody can read from it
        with suppress(BrokenPipeError):
            for value in work():
                sender.send(value)

    process = multiprocessing.get_context("fork").Process(target=begin, daemon=True)
    process.start()
    sender.close()
    try:
        yield receiver
    finally:
        receiver.close()
        process.terminate()
        process.join()

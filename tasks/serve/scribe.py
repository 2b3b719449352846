"""The one writer of a host: whatever is kept or read of the ledger is, in one thread.

    run's thread ─► call ─► the scribe's thread ─► store ─► result, once it is on disk

SQLite's connection belongs to the thread that made it, and a ledger has one
writer; so every run of a host hands its records to this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ...ledger.store import Draft, Store

T = TypeVar("T")


class Scribe:
    """A store in a thread of its own; a `Keeper` for every writer of a run."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Store]]) -> None:
        """``opened`` opens the store to be written, in the thread that will use it."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scribe")
        self._stack = ExitStack()
        try:
            self._store = self._thread.submit(lambda: self._stack.enter_context(opened())).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(self._stack.close).result()
        self._thread.shutdown()

    def ask(self, call: Callable[[Store], T]) -> T:
        """What a call of the store gives; raises what it raises."""
        return self._thread.submit(call, self._store).result()

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        """As `Store.add_run`."""
        return self.ask(lambda store: store.add_run(run_id, records, blobs, notes))

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        """As `Store.append`."""
        self.ask(lambda store: store.append(run, seq, records, notes))

    def refuse_known(self, run_id: str) -> None:
        """As `Store.refuse_known`."""
        self.ask(lambda store: store.refuse_known(run_id))

    def signed(self, run: int, seq: int) -> tuple[bytes, str | None]:
        """As `Store.signed`."""
        return self.ask(lambda store: store.signed(run, seq))

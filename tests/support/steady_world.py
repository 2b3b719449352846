"""A market of one counter, steady or not: its rules may read the time, chance, the environment or a set."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import msgspec
from small_run import AGENT, NAME, SECRET

from tollbook.ledger.blobs import facts_blob
from tollbook.ledger.plan import Plan, Seat
from tollbook.ledger.store import Store
from tollbook.ledger.writer import Writer
from tollbook.protocol import world as worlds
from tollbook.protocol.bodies import Origin, WorldRef
from tollbook.protocol.canonical import encode_typed
from tollbook.protocol.tables import State
from tollbook.protocol.world import Accepted, Act, Refusal, Shown, World, world_of

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")


class Counter(msgspec.Struct, frozen=True):
    """The only row."""

    count: int
    note: str


class Count(msgspec.Struct, frozen=True, tag_field="kind", tag="counter.count", forbid_unknown_fields=True):
    """Adds to the counter."""

    by: int


class Read(msgspec.Struct, frozen=True, tag_field="kind", tag="counter.read", forbid_unknown_fields=True):
    """Asks for the counter."""


class Counted(msgspec.Struct, frozen=True, tag_field="kind", tag="counter.counted"):
    """The counter grew."""

    by: int
    note: str


class CounterWorld(World):
    """The market; ``note`` is what an unsteady one writes beside the count."""

    name = "counter"
    version = 0
    tables: ClassVar = {"counter": Counter}
    actions = (Count, Read)
    events = (Counted,)

    def __init__(self, note: Callable[[], str] = str) -> None:
        self._note = note

    def decide(self, state: State, act: Act) -> Refusal | Accepted:  # noqa: ARG002 - as every market
        if isinstance(act.action, Read):
            return Accepted()
        if act.action.by < 0:
            return Refusal("counter.backwards", {"by": act.action.by})
        return Accepted([Counted(act.action.by, self._note())])

    def evolve(self, state: State, event: Any) -> None:
        before = state.get("counter", "one")
        count = event.by + (before.count if before is not None else 0)
        state.put("counter", "one", Counter(count, event.note))

    def show(self, state: State, act: Act, events: Sequence[msgspec.Struct]) -> Shown | None:  # noqa: ARG002
        if not isinstance(act.action, Read):
            return None
        row = state.get("counter", "one")
        return Shown(0 if row is None else row.count, [("counter", "one")])

    def broken(self, state: State) -> str | None:
        staged = (row for _table, _key, _before, row in state.staged() if isinstance(row, Counter))
        return "small" if any(row.count > 1_000_000 for row in staged) else None


UNSTEADY: dict[str, Callable[[], str]] = {
    "steady": str,
    "time": lambda: str(time.monotonic_ns()),
    "random": lambda: str(random.random()),
    "env": lambda: os.environ.get("TOLLBOOK_TEST_ENV", ""),
    "set": lambda: next(iter(set(WORDS))),
}
"""By what its rules read: nothing, or what differs from one process to the next."""


def register(name: str) -> WorldRef:
    """Makes one of these markets known in this process, under its own name."""
    ref = WorldRef(name=f"counter-{name}", params={}, version=0)
    worlds._KNOWN[encode_typed(ref)] = CounterWorld(UNSTEADY[name])  # noqa: SLF001 - a market of tests isn't released
    return ref


def counted(store: Store, name: str, acts: int = 3) -> Writer:
    """A sealed run of one of these markets, in which `a` counts and `b` looks."""
    ref = register(name)
    rows = world_of(ref).facts([("counter", "one", Counter(0, ""))])
    plan = Plan(
        world=ref,
        seats=[Seat(party, "any", AGENT) for party in ("a", "b")],
        seed="0" * 64,
        origin=Origin(custody="played", source=None),
    )
    writer = Writer.begin(store, SECRET, NAME, plan, rows, [facts_blob(rows)])
    for by in range(1, acts + 1):
        writer.voice("a").say(Count(by), to="b")
        writer.voice("b").say(Read(), to=None)
    writer.voice("a").say(Count(-1), to="b")
    writer.voice("a").say(Count(1_000_001), to="b")
    writer.seal("completed")
    return writer

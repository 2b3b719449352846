"""The same 10,000 acts kept and read back: ours, an event-sourcing library, and a plain hash chain.

    eventsourcing   one aggregate, an event an act, its SQLite recorder; no rule decides on an act
    chain           JSON lines, each with the SHA-256 of the one before; nothing but order is checked
    ours            a message and a decision an act: the market's rules, chain, roots, parts

All append durably, 100 acts at a time. Reading back is: rebuilding the aggregate,
checking the chain, making every decision again. Ours is shown unsigned, as the
others are, and signed.

Source: eventsourcing 9.5.6 (PyPI), its manual's "SQLite" persistence module.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from importlib.util import find_spec
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from measure import Line, beside, plain, report, unsigned
from recorded import Act, acts, new_ledger, open_run, read, say_all, title

from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.tasks.tau2.importer import Shop

ACTS = 10_000
GROUP = 100
ROUNDS = 3


class Peer(NamedTuple):
    """A way to keep acts: ``append`` makes a new file of them, ``read`` takes the last one back."""

    append: Callable[[], None]
    read: Callable[[], None]


def ours(folder: Path, shop: Shop, said: Sequence[Act]) -> Peer:
    """A ledger of one run."""
    numbers = count()
    last = folder

    def append() -> None:
        nonlocal last
        last = folder / f"{next(numbers)}.db"
        with new_ledger(last) as store:
            writer = open_run(store, shop, group=2 * GROUP)
            say_all(writer, said)
            writer.seal("completed")

    def back() -> None:
        with Store.read(last) as store:
            ((run, run_id),) = store.runs()
            assert audit_run(store, run, run_id, shelf_of(store)).good

    return Peer(append, back)


def chain(folder: Path, said: Sequence[Act]) -> Peer:
    """A file of JSON lines."""
    path = folder / "chain.jsonl"
    values = [_value(act) for act in said]

    def append() -> None:
        last = ""
        with path.open("wb") as file:
            for place, value in enumerate(values):
                line = json.dumps({"n": place, "prev": last, **value}, sort_keys=True).encode()
                file.write(line + b"\n")
                last = sha256(line).hexdigest()
                if place % GROUP == GROUP - 1:
                    file.flush()
                    os.fdatasync(file.fileno())

    def back() -> None:
        last = ""
        with path.open("rb") as file:
            for place, line in enumerate(file):
                value = json.loads(line)
                assert (value["n"], value["prev"]) == (place, last)
                last = sha256(line[:-1]).hexdigest()

    return Peer(append, back)


def library(folder: Path, said: Sequence[Act]) -> Peer:
    """An aggregate of the event-sourcing library."""
    from eventsourcing.application import Application  # noqa: PLC0415 - an extra that users needn't have
    from eventsourcing.domain import Aggregate, event  # noqa: PLC0415 - as above

    class Conversation(Aggregate):
        def __init__(self) -> None:
            self.count = 0

        @event("Said")
        def say(self, party: str, action: str, to: str) -> None:  # noqa: ARG002 - what the event keeps
            self.count += 1

    numbers = count()
    values = [_value(act) for act in said]
    last: tuple[Application[Any], Any] | None = None

    def append() -> None:
        nonlocal last
        path = folder / f"{next(numbers)}.db"
        app: Application[Any] = Application(
            env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(path)}
        )
        conversation = Conversation()
        for first in range(0, len(values), GROUP):
            for value in values[first : first + GROUP]:
                conversation.say(value["from"], value["action"], value["to"])
            app.save(conversation)
        last = app, conversation.id

    def back() -> None:
        assert last is not None
        app, conversation = last
        assert app.repository.get(conversation).count == len(values)

    return Peer(append, back)


def _value(act: Act) -> dict[str, str]:
    return {"action": msgspec.json.encode(act.action).decode(), "from": act.party, "to": act.to}


def lines(folder: Path) -> Iterator[Line]:
    """Acts a second, appended and read back, each beside the plain chain."""
    source, shop = read()
    said = list(islice(cycle(acts(source)), ACTS))
    plainest = chain(folder, said)
    yield from _lines("chain", plainest, plainest)
    if find_spec("eventsourcing") is None:
        print("skipped: eventsourcing is not installed (the extra `bench` brings it)")
    else:
        yield from _lines("eventsourcing", library(_new(folder, "library"), said), plainest)
    with unsigned():
        yield from _lines("ours_unsigned", ours(_new(folder, "unsigned"), shop, said), plainest)
    yield from _lines("ours_signed", ours(_new(folder, "signed"), shop, said), plainest)


def _new(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def _lines(name: str, peer: Peer, baseline: Peer) -> Iterator[Line]:
    for verb, own, base in (("append", peer.append, baseline.append), ("read", peer.read, baseline.read)):
        measured = beside(own, base, ROUNDS)
        yield plain(f"peers.{name}_{verb}", ACTS / measured.ours_s, "acts/s")
        if peer is not baseline:
            yield plain(f"peers.{name}_{verb}_by_chain", measured.ratio, "times")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tollbook-bench-") as made:
        report(f"{ACTS} acts of {title()}", lines(Path(made)))

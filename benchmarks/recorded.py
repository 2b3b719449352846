"""The runs that benchmarks work on, imported into a ledger of their own.

    TOLLBOOK_SHARED or ../shared is there    114 recorded runs over a shop of 1,550 rows
    otherwise                                the small runs that come with the package

Not here: what is measured on them (each `bench_*.py`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from tollbook.ledger.plan import Plan, Seat
from tollbook.ledger.store import Store
from tollbook.ledger.writer import Writer
from tollbook.protocol.bodies import Agent, Origin
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import key_text
from tollbook.protocol.retail.actions import SendMessage
from tollbook.tasks.tau2.calls import action_of
from tollbook.tasks.tau2.importer import PLATFORM, Imported, Shop, import_runs, read_shop
from tollbook.tasks.tau2.source import Recording, Source, read_source

SECRET = bytes(range(32))
NAME = "tollbook.bench"
_ROOT = Path(__file__).resolve().parents[1]


_OTHER_SIDE = {"user": "assistant", "assistant": "user"}


class Act(NamedTuple):
    """Something said in a recorded run: by whom, what, and to whom."""

    party: str
    action: msgspec.Struct
    to: str


class Files(NamedTuple):
    """Where recorded runs and their shop lie, and whether they are the shared ones."""

    runs: Path
    shop: Path
    are_shared: bool


def shared() -> Path | None:
    """The folder of shared data, or None where there is none."""
    folder = Path(os.environ.get("TOLLBOOK_SHARED", _ROOT.parent / "shared"))
    return folder if (folder / "data" / "tau2").is_dir() else None


def recorded_files() -> Files:
    """The shared runs, or the package's own."""
    folder = shared()
    if folder is not None:
        data = folder / "data" / "tau2"
        return Files(data / "toolorchestra_retail.json.gz", data / "retail_db.json.gz", are_shared=True)
    suite = _ROOT / "tasks" / "suites" / "retail"
    return Files(suite / "recorded.json", suite / "shop.json", are_shared=False)


def read() -> tuple[Source, Shop]:
    """Those runs and their shop, read."""
    files = recorded_files()
    return read_source(files.runs), read_shop(files.shop, "compat")


def new_ledger(path: Path) -> Store:
    """A ledger to write to."""
    return Store.write(path, NAME, key_text(ledger_key(SECRET).public))


def import_into(path: Path, source: Source, shop: Shop) -> Imported:
    """The source's runs in a new ledger."""
    with new_ledger(path) as store:
        return import_runs(store, SECRET, NAME, source, shop)


@contextmanager
def ledger() -> Iterator[Path]:
    """A ledger of the recorded runs, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tollbook-bench-") as folder:
        path = Path(folder) / "recorded.db"
        import_into(path, *read())
        yield path


def acts(source: Source) -> Iterator[Act]:
    """Everything that is said in the runs, one after the other."""
    for recording in source.runs:
        if isinstance(recording, Recording):
            for said in recording.said:
                if said.text:
                    yield Act(said.role, SendMessage(text=said.text), _OTHER_SIDE[said.role])
                for call in said.calls:
                    action = action_of(call.tool, call.arguments, call.raw_arguments)
                    yield Act(call.requestor, action, PLATFORM)


def open_run(store: Store, shop: Shop, trial: int = 0, group: int | None = 100) -> Writer:
    """A new run in the shop, with the parties that recorded runs have."""
    agent = Agent(model="", name="bench", settings={}, version="1")
    seats = [Seat(role, role, agent) for role in (*_OTHER_SIDE, PLATFORM)]
    plan = Plan(shop.world, seats, "0" * 64, Origin(custody="played", source=None), trial=trial)
    return Writer.begin(store, SECRET, NAME, plan, shop.facts, [shop.blob], group=group)


def say_all(writer: Writer, said: Iterable[Act]) -> None:
    """Says all of it in one run."""
    voices = {party: writer.voice(party) for party in _OTHER_SIDE}
    for act in said:
        voices[act.party].say(act.action, to=act.to)


def title() -> str:
    """Which runs those are, for a report's first line."""
    return "114 recorded runs" if recorded_files().are_shared else "the package's own runs (no shared data)"

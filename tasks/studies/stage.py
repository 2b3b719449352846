"""The stage of a study: start rows, parties that say what they are told to, and what is found of their run.

    rows ─► complete ─► facts        parties ─► plan ─► writer ─► voices ─► say ─► what was shown
    kept ─► audit, signatures and all ─► replay without them ─► the state that both give

A study's keys follow from a secret that everybody knows, so its roots are the same wherever it is played: it
shows what the program does, not who did it. Not here: what is played (each study's module).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from ...ledger.blobs import facts_blob
from ...ledger.plan import Plan, Seat
from ...ledger.replay import replay
from ...ledger.store import Store
from ...ledger.verify import audit_run, shelf_of
from ...ledger.writer import GROUP_RECORDS, Writer
from ...protocol.bodies import Agent, Origin, WorldRef
from ...protocol.derive import ledger_key
from ...protocol.draws import seed_of
from ...protocol.keys import key_text
from ...protocol.world import latest, world_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...ledger.audited import Deed
    from ...ledger.blobs import Blob
    from ...ledger.run import Run
    from ...ledger.writer import Keeper
    from ...protocol.engine import Ruling
    from ...protocol.tables import Facts, State
    from ...protocol.world import StartRows, World

SECRET: Final = sha256(b"tollbook.study").digest()
NAME: Final = "tollbook.study"


class Beginning(NamedTuple):
    """What a run begins with: its world, its start rows, its parties with their roles, and its seed."""

    ref: WorldRef
    facts: Facts
    blob: Blob
    parties: Mapping[str, str]
    seed: str


class Played(NamedTuple):
    """A run of a study as it was found once it was done."""

    run: str
    records: int
    outcome: str | None
    root: str | None
    state: str
    findings: tuple[str, ...]
    replayed: bool
    """Whether a replay gives the state that the seal names."""

    @property
    def is_good(self) -> bool:
        """Whether it verifies, and replays to the same state."""
        return not self.findings and self.outcome is not None and self.replayed


class Found(NamedTuple):
    """A run, the state that it left, and what was said in it."""

    played: Played
    state: State
    deeds: Sequence[Deed]


def beginning(study: str, rows: StartRows, parties: Mapping[str, str], world: str = "commerce") -> Beginning:
    """The beginning of a study's run, its seed named after the study.

    Raises:
        WorldError: rows that the world doesn't take.
    """
    ref = latest(world)
    facts = start(world_of(ref), rows)
    return Beginning(ref, facts, facts_blob(facts), parties, seed_of(f"study.{study}", "1", 0))


def start(world: World, rows: StartRows) -> Facts:
    """Start rows as an author writes them, made whole and typed.

    Raises:
        WorldError: rows that the world doesn't take.
    """
    return world.facts(
        (table, key, msgspec.convert(row, world.tables[table]))
        for table, found in world.complete(rows).items()
        for key, row in found.items()
    )


def begin(keeper: Keeper, what: Beginning, *, name: str, group: int | None = GROUP_RECORDS) -> Writer:
    """Opens a run of parties that are played in this process, by what calls itself `name`."""
    agent = Agent(model="", name=name, settings={}, version="1")
    seats = [Seat(party, role, agent) for party, role in what.parties.items()]
    plan = Plan(what.ref, seats, what.seed, Origin(custody="played", source=None))
    return Writer.begin(keeper, SECRET, NAME, plan, what.facts, [what.blob], group=group)


def ledger_at(path: Path) -> Store:
    """The ledger of studies in this file, to be written."""
    return Store.write(path, NAME, key_text(ledger_key(SECRET).public))


def accepted(ruling: Ruling) -> dict[str, list[dict[str, Any]]]:
    """The rows that an accepted act showed, by table."""
    assert ruling.decision.outcome == "accepted", ruling.decision.rule
    rows: dict[str, list[dict[str, Any]]] = {} if ruling.shown is None else plain(ruling.shown.value)
    return rows


def plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """A value as it would be read from JSON."""
    return msgspec.to_builtins(value)


def found(store: Store, number: int) -> Found:
    """A sealed run verified, and replayed without its signatures."""
    run_id = store.id(number)
    audit = audit_run(store, number, run_id, shelf_of(store), keep=True)
    again = replay(store.records(number), shelf_of(store))
    state = state_of(audit.replayed)
    played = Played(
        run=run_id,
        records=audit.records,
        outcome=audit.outcome,
        root=audit.root,
        state=state.root(),
        findings=tuple(finding.code for finding in (*audit.findings, *again.findings)),
        replayed=state_of(again.run).root() == state.root(),
    )
    return Found(played, state, audit.deeds)


def state_of(run: Run | None) -> State:
    """The state of a run that was replayed."""
    assert run is not None
    assert run.state is not None
    return run.state

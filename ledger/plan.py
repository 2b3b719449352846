"""What a run is opened with: a plan, and the `open` that it gives under a ledger's secret.

    plan ─► open without nonce and keys ─digest─► nonce ─► the keys of parties that bring none ─► open

The same plan under the same secret gives the same run: another trial is another plan.

Not here: whether the `open` is good (`run`), keeping it (`writer`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from ..protocol.bodies import Agent, LedgerKey, Open, Origin, Party, TaskRef, WorldRef
from ..protocol.canonical import digest
from ..protocol.derive import ledger_key, nonce, party_key
from ..protocol.keys import key_text

if TYPE_CHECKING:
    from collections.abc import Sequence


class Seat(NamedTuple):
    """A party to be: its role, who plays it, and its key if it brings one (raw, 32 bytes)."""

    id: str
    role: str
    agent: Agent
    key: bytes | None = None


class Plan(NamedTuple):
    """What a run is opened with, keys and nonce aside."""

    world: WorldRef
    seats: Sequence[Seat]
    seed: str
    origin: Origin
    task: TaskRef | None = None
    trial: int = 0


def opened_by(plan: Plan, secret: bytes, name: str, facts: str) -> Open:
    """The `open` of a run, its start rows named by their state root; nothing is judged yet."""
    blank = Open(
        catalog=None,
        facts=facts,
        ledger=LedgerKey(key="", name=name),
        nonce="",
        origin=plan.origin,
        parent=None,
        parties=[Party(agent=seat.agent, id=seat.id, key="", role=seat.role) for seat in plan.seats],
        seed=plan.seed,
        task=plan.task,
        trial=plan.trial,
        world=plan.world,
    )
    run_nonce = nonce(secret, digest(blank))
    keys = [seat.key or party_key(secret, run_nonce, seat.id).public for seat in plan.seats]
    return replace(
        blank,
        ledger=LedgerKey(key=key_text(ledger_key(secret).public), name=name),
        nonce=run_nonce,
        parties=[replace(party, key=key_text(key)) for party, key in zip(blank.parties, keys, strict=True)],
    )

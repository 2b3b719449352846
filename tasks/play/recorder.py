"""One run of a task: played, sealed, verified.

    task, case, trial, agent ─► scene ─► run, written to a store ─► audit of what was written ─► conduct

The audit reads the very bytes that go to the store, from a copy kept while the
run is written, so a run that wouldn't verify is found before anybody relies on it.

Not here: many runs at once (`crew`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...ledger.audit import Auditor
from ...ledger.blobs import Blob, Shelf, facts_blob, task_blob
from ...ledger.plan import Plan, Seat
from ...ledger.records import Stored
from ...ledger.writer import Keeper, Writer
from ...protocol.bodies import Agent as Stated
from ...protocol.bodies import Origin, TaskRef
from .baselines import company
from .conduct import with_conduct
from .desk import LedgerDesk
from .play import Play

if TYPE_CHECKING:
    from ...ledger.audited import Audit
    from ...ledger.store import Draft
    from ..format.task import Task
    from .agent import Agent, Seated
    from .play import Ending

PER_MESSAGE = 1
"""Records on disk after each message: what outside agents are answered with is durable."""

# The trials of a case mostly share their start rows, which are then read, and worked out to be what they are
# called, once.
_BLOBS: dict[str, Blob] = {}
_SHELF = Shelf(_BLOBS.get)
_MOST_BLOBS = 64
_SCRIPT = Stated(model="", name="script", settings={}, version="")


class Copy:
    """A keeper that passes on what it is given, and remembers one run of it."""

    def __init__(self, keeper: Keeper) -> None:
        self.records: list[Draft] = []
        self.notes: list[str] = []
        self._keeper = keeper

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        """As `Store.add_run`."""
        number = self._keeper.add_run(run_id, records, blobs, notes)
        self._remember(records, notes)
        return number

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        """As `Store.append`."""
        self._keeper.append(run, seq, records, notes)
        self._remember(records, notes)

    def refuse_known(self, run_id: str) -> None:
        """As `Store.refuse_known`."""
        self._keeper.refuse_known(run_id)

    def signed(self, run: int, seq: int) -> tuple[bytes, str | None]:
        """As `Store.signed`."""
        return self._keeper.signed(run, seq)

    def _remember(self, records: Sequence[Draft], notes: Sequence[str]) -> None:
        self.records += records
        self.notes += notes


class Ledger(NamedTuple):
    """Whose runs they are: where they are kept, and the ledger's secret and name."""

    keeper: Keeper
    secret: bytes
    name: str


class Recorded(NamedTuple):
    """A run that was played: its audit, conduct included, and how it ended."""

    audit: Audit
    ending: Ending


def record(  # noqa: PLR0913 - what is played, and by whom
    ledger: Ledger,
    task: Task,
    case: str,
    trial: int,
    agent: Agent,
    others: Mapping[str, Agent] | None = None,
) -> Recorded:
    """Plays one trial of a case, writes it down and audits what was written.

    ``others`` play whom the task gives to baselines; the ones that it names by default.

    Raises:
        TaskError: the case can't be worked out.
        LedgerError: `run.exists`, or the store can't be written.
    """
    scene = task.scenes.stage(case, task.scenes.seed(case, trial))
    others = {**company(task, scene.seed), **(others or {})}
    blobs = [facts_blob(scene.facts), task_blob(task.text)]
    copy = Copy(ledger.keeper)
    writer = Writer.begin(
        copy,
        ledger.secret,
        ledger.name,
        Plan(
            world=task.ref,
            seats=seats_of(task, {**others, task.actor: agent}),
            seed=scene.seed,
            origin=Origin(custody="played", source=None),
            task=TaskRef(case=case, digest=task.digest, id=task.file.id),
            trial=trial,
        ),
        scene.facts,
        blobs,
        group=PER_MESSAGE if agent.outside else None,
    )
    ending = Play(task, scene, LedgerDesk(writer), agent, others).run()
    if len(_BLOBS) > _MOST_BLOBS:
        _BLOBS.clear()
    _BLOBS.update({blob.digest: blob for blob in blobs})
    auditor = Auditor(_SHELF, keep=True)
    for seq, draft in enumerate(copy.records):
        auditor.record(Stored(seq, draft.kind, draft.body, draft.sig, None, tuple(draft.parts)))
    return Recorded(with_conduct(auditor.finish(copy.notes)), ending)


def seats_of(task: Task, agents: Mapping[str, Seated]) -> list[Seat]:
    """The parties of a task's runs: some by these agents, all others by script."""
    seated = {party: agent.stated for party, agent in agents.items()}
    return [Seat(party, role, seated.get(party, _SCRIPT)) for party, role in task.roles.items()]

"""Going on with an open run: what is recorded is played again and compared, then the play goes on.

    records ─► the same play, each message compared with what is there ─► at the end of them: written anew

A deterministic agent gives the run that it would have given uninterrupted, to
the byte. An agent outside is told its recorded turns again, and what it said
then stands, whatever it says now. Briefs and turns that were written before the
interruption are not written twice.

Not here: opening the ledger, printing (`tollbook.tasks.commands.resume`).

Source: design section 2, "Store".
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ...ledger.verify import audit_run, shelf_of
from ...ledger.writer import Writer
from ...protocol.errors import LedgerError, TaskError
from .agent import Answer, Asked, Setup
from .baselines import word_of
from .casting import cast_others
from .conduct import known_task, with_conduct
from .desk import Action, Departure, Desk, Gave, LedgerDesk, RecordedDesk, Said
from .lines import read_answer
from .play import Play
from .recorder import PER_MESSAGE, Recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...ledger.audited import Audit, Evidence
    from ...ledger.store import Store
    from ...protocol.bodies import Agent as Stated
    from ...protocol.bodies import Outcome
    from ...protocol.tables import State
    from ..format.task import Task
    from .agent import Agent


def resume(
    store: Store, secret: bytes, number: int, caster: Callable[[Task, Stated, str], Agent]
) -> Recorded:
    """Plays the store's open run `number` to its end, by the agent that ``caster`` makes again.

    It is given the task, what the run says of its agent, and the seed.

    Raises:
        LedgerError: as `Writer.resume`; `run.imported`; `run.departed`, the agent
            or the task does something else than is recorded.
        TaskError: the run's task isn't here, or can't be played.
    """
    run_id = store.id(number)
    audit = audit_run(store, number, run_id, shelf_of(store), keep=True)
    writer = Writer.resume(store, secret, number, group=PER_MESSAGE)
    if audit.custody != "played":
        what = f"run `{run_id[:12]}` was imported, and nothing goes on in it here"
        raise LedgerError("run.imported", what, "import it again")
    task, scene = known_task(audit)
    assert audit.replayed is not None
    seated = {party.id: party.agent for party in audit.replayed.opened.parties}
    stated = seated[task.actor]
    agent = caster(task, stated, scene.seed)
    if agent.stated != stated:
        what = f"run `{run_id[:12]}` is played by `{stated.name}`, whose settings are not those given"
        raise LedgerError("run.agent", what, "give the agent, model and limits that it was begun with")
    words = {party: word_of(seated[party]) for party in task.players if party != task.actor}
    others = cast_others(task, words)(scene.seed)
    _check_others(run_id, others, seated)
    recalled = _Recalled(agent, audit.evidence) if agent.outside else agent
    try:
        ending = Play(task, scene, _ResumedDesk(task, audit, writer), recalled, others).run()
    except Departure as departure:
        where = "" if departure.seq is None else f" at record {departure.seq}"
        what = f"run `{run_id[:12]}` can't be gone on with: {departure.text}{where}"
        hint = "an agent that isn't deterministic can't be resumed in process; `--abandon` seals it as it is"
        raise LedgerError("run.departed", what, hint) from None
    return Recorded(with_conduct(audit_run(store, number, run_id, shelf_of(store), keep=True)), ending)


def _check_others(run_id: str, others: Mapping[str, Agent], seated: Mapping[str, Stated]) -> None:
    """Whether those who play the others are those of the run, to the version.

    Raises:
        LedgerError: `run.agent`.
    """
    for party, agent in others.items():
        if agent.stated != seated[party]:
            what = f"run `{run_id[:12]}` has `{party}` played by another `{seated[party].name}`"
            raise LedgerError("run.agent", what, "go on with it by the version that began it")


def abandon(store: Store, secret: bytes, number: int) -> Audit:
    """Seals the store's open run `number` as given up; its audit.

    Raises:
        LedgerError: as `Writer.resume`; `run.imported`.
    """
    writer = Writer.resume(store, secret, number)
    if writer.opened.origin.custody != "played":
        raise LedgerError("run.imported", f"run `{writer.id[:12]}` was imported", "import it again")
    writer.seal("abandoned")
    audit = audit_run(store, number, writer.id, shelf_of(store), keep=True)
    try:
        return with_conduct(audit)
    except TaskError:
        return audit


class _ResumedDesk(Desk):
    """The record as far as it goes, then a run that is being written."""

    def __init__(self, task: Task, audit: Audit, writer: Writer) -> None:
        assert audit.replayed is not None
        assert audit.replayed.state is not None
        self.world = task.world
        self.roles = audit.replayed.roles
        self._ledger = LedgerDesk(writer)
        self._record = RecordedDesk(task.world, self.roles, audit.replayed.state.facts, audit.deeds)
        self._briefs = deque(audit.briefs)
        self._turns = len(audit.evidence)

    @property
    def state(self) -> State:
        """As `Desk.state`."""
        return self._record.state if self._record.left else self._ledger.state

    def brief(self, party: str, text: str) -> None:
        """As `Desk.brief`."""
        if not self._briefs:
            self._ledger.brief(party, text)
            return
        told = self._briefs.popleft()
        if told.party != party or told.text not in (None, text):
            raise Departure(told.seq, "conduct.brief", f"`{told.party}` was told something else")

    def turn(self, party: str, gave: Gave, *, led: bool) -> None:
        """As `Desk.turn`."""
        if self._turns:
            self._turns -= 1
        else:
            self._ledger.turn(party, gave, led=led)

    def say(self, party: str, action: Action, to: str | None, reply_to: int | None) -> Said:
        """As `Desk.say`."""
        desk = self._record if self._record.left else self._ledger
        return desk.say(party, action, to, reply_to)

    def seal(self, outcome: Outcome) -> None:
        """As `Desk.seal`.

        Raises:
            Departure: there is more in the record than was played.
        """
        if self._record.left:
            raise Departure(self._record.left[0].seq, "conduct.extra", "the play ends before the record does")
        self._ledger.seal(outcome)


class _Recalled:
    """An agent outside that is told its recorded turns again; what it said then stands."""

    outside = True

    def __init__(self, agent: Agent, evidence: list[Evidence]) -> None:
        self.stated = agent.stated
        self._agent = agent
        self._turns = deque(evidence)
        self._number = 0

    @property
    def given(self) -> str | None:
        """As the agent's own."""
        return self._agent.given

    def begin(self, setup: Setup) -> None:
        """As `Agent.begin`."""
        self._agent.begin(setup)

    def act(self, asked: Asked) -> Answer:
        """As `Agent.act`, from the record as far as it goes."""
        answer = self._agent.act(asked)
        self._number += 1
        return _recorded_answer(self._turns.popleft(), self._number, answer) if self._turns else answer

    def close(self) -> None:
        """As `Agent.close`."""
        self._agent.close()


def _recorded_answer(evidence: Evidence, number: int, now: Answer) -> Answer:
    """What was answered at that turn.

    How an end came about isn't recorded: what is answered ``now`` tells, if that is an end too.
    """
    gave = evidence.texts.get("gave")
    said = None if gave is None else read_answer(gave.encode())
    if said is not None and said.turn not in (None, number):
        said = None
    if evidence.turn.n is None:
        stopped = said is not None and said.act is None
        end = now.end or ("agent_stopped" if stopped else "agent_failed")
        return Answer(end=end, gave=gave, reason=now.reason or "as it is recorded")
    return Answer(act=None if said is None else said.act, gave=gave)

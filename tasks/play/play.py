"""One play of a scene: who is asked when, what is sent, and how it ends.

    briefs · what scripts send at the start · then, until the end:
        the actor is asked ─► its act ─► the counterparty that it was sent to answers at once,
        an answer to an answer before the next, at most 20 ─► the operator moves the clock on

    ends     completed (`ends` holds) · turn_limit · agent_stopped · agent_failed

This is the schedule of the format: the same task, case, seed and acts of the
actor give the same messages of everybody else, wherever it is played, which is
what lets anybody check an operator's conduct.

Not here: what becomes of a message (`desk`).

Source: design section 2, "Schedule".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import msgspec

from ...protocol.bodies import Outcome
from ...protocol.canonical import MAX_DEPTH, MAX_PART_BYTES, Id, depth, encode
from ...protocol.errors import CanonicalError
from ...protocol.world import World, part_fields
from ...scorers.acts import Watch
from ...scorers.cel import activation, asked_by
from ..format.task import OPERATOR, Task
from ..format.values import Unformed
from .agent import Agent, Answer, Asked, Setup
from .desk import Action, Desk, Gave, Said, fitting
from .script import Counterparty, Silence
from .tools import tools_of

if TYPE_CHECKING:
    from ..format.scene import Scene

Json = Any

MAX_ANSWERS: Final = 20
"""The most messages of scripts that one act of the actor may lead to."""

UNPARSED: Final = "agent.unparsed"
_NO_DIGEST = "0" * 64
_MAX_ACTION_BYTES = 60_000
_MAX_ACTION_DEPTH = MAX_DEPTH - 2  # an action stands in a body, and that in a record


class Ending(NamedTuple):
    """How a play ended; ``reason`` says why an agent failed, ``silences`` which rules were in error."""

    outcome: Outcome
    reason: str | None
    silences: tuple[Silence, ...]


class Offer(Protocol):
    """What an act is formed by: a task, or as much of one as an agent outside is told."""

    @property
    def world(self) -> World:
        """The market's rules."""
        ...

    @property
    def tools(self) -> Sequence[str]:
        """The kinds of act that are offered."""
        ...

    @property
    def roles(self) -> Mapping[str, str]:
        """The role of each party."""
        ...

    @property
    def actor(self) -> str:
        """The party that is evaluated."""
        ...


class Schedule(ABC):
    """One play of a scene at a desk, whatever the actor does."""

    def __init__(self, task: Task, scene: Scene, desk: Desk) -> None:
        self._task = task
        self._scene = scene
        self._desk = desk
        self._world = task.world
        self._watch = Watch(task.world, task.actor)
        self._scripts = {
            party: Counterparty(
                party, script, Watch(task.world, party), scene.mandates.get(party, {}), scene.case
            )
            for party, script in task.scripts.items()
        }
        self._watches = [self._watch, *(each.watch for each in self._scripts.values())]
        self._inbox: list[Mapping[str, Json]] = []
        self._last: Mapping[str, Json] | None = None
        self._heard: Mapping[str, Json] | None = None
        self._turns = 0
        self._ends_asks = asked_by([task.ends.program])

    def run(self) -> Ending:
        """Plays the scene to its end, and seals it."""
        for party, text in briefs_of(self._task, self._scene):
            self._desk.brief(party, text)
        for counterparty in self._scripts.values():
            said = self._answer(counterparty, None, None)
            if said is not None:
                self._answers(said)
        outcome, reason = self._turns_until_the_end()
        self._desk.seal(outcome)
        silences = tuple(silence for each in self._scripts.values() for silence in each.silences)
        return Ending(outcome, reason, silences)

    @abstractmethod
    def _ask(self, asked: Asked) -> Said | Answer:
        """What the actor says, or the answer by which it ends the run."""

    def _turns_until_the_end(self) -> tuple[Outcome, str | None]:
        while True:
            if self._has_ended():
                return "completed", None
            turns_left = self._task.file.turns - self._turns
            if turns_left == 0:
                return "turn_limit", None
            inbox, self._inbox = self._inbox, []
            said = self._ask(Asked(self._tick(), turns_left, self._last, inbox, self._watch))
            if isinstance(said, Answer):
                assert said.end is not None, "an actor says something, or ends the run"
                return said.end, said.reason
            self._turns += 1
            self._answers(said)
            if self._world.clock is not None:
                self._say(OPERATOR, self._world.kinds[self._world.clock](), None, None)

    def _has_ended(self) -> bool:
        watch = self._watch
        held = activation(
            {
                "case": {**self._scene.case, "id": self._scene.case_name},
                "did": watch.groups["did"],
                "refused": watch.groups["refused"],
                "tick": self._tick(),
            },
            self._ends_asks,
        )
        try:
            return self._task.ends.holds(held)
        except Unformed:
            return False

    def _answers(self, said: Said) -> None:
        """Has those whom an act reached answer, as long as they do."""
        for _ in range(MAX_ANSWERS):
            message = said.deed.message
            counterparty = self._scripts.get(message.to or "")
            if counterparty is None or said.deed.decision.outcome != "accepted":
                return
            answer = self._answer(counterparty, self._heard, said)
            if answer is None:
                return
            said = answer

    def _answer(
        self, counterparty: Counterparty, heard: Mapping[str, Json] | None, answered: Said | None
    ) -> Said | None:
        """Sends a script's answer, to whom it says, else to the sender that it answers; None for silence."""
        formed = counterparty.answer(heard, self._tick())
        if formed is None:
            return None
        fields = dict(formed)
        sender = None if answered is None else answered.deed.message.sender
        to = fields.pop("to", _addressee(self._task, counterparty.party, fields["kind"], sender))
        reply_to = None if answered is None or to != sender else answered.deed.seq
        try:
            _check_addressee(to)
            action = typed(self._world, fields)
        except Unformed as error:
            counterparty.take_back(str(error))
            return None
        return self._say(counterparty.party, action, to, reply_to)

    def _say(self, party: str, action: Action, to: str | None, reply_to: int | None) -> Said:
        return self._noted(self._desk.say(party, action, to, reply_to))

    def _noted(self, said: Said) -> Said:
        """What was said, once every party that it concerns has seen it."""
        message, tick = said.deed.message, self._tick()
        self._heard = None
        for watch in self._watches:
            act = watch.note(said.deed, said.shown, self._desk.state, tick)
            if act is None:
                continue
            if watch is not self._watch:
                self._heard = act if message.to == watch.party else self._heard
            elif message.sender == self._task.actor:
                self._last = act
            else:
                self._inbox.append(act)
        return said

    def _tick(self) -> int:
        return self._world.tick(self._desk.state)


class Play(Schedule):
    """A play by an agent."""

    def __init__(self, task: Task, scene: Scene, desk: Desk, agent: Agent) -> None:
        super().__init__(task, scene, desk)
        self._agent = agent

    def run(self) -> Ending:
        """As `Schedule.run`; the agent is told first, and let go at last."""
        task, scene = self._task, self._scene
        setup = Setup(
            party=task.actor,
            role=task.roles[task.actor],
            brief=scene.brief,
            mandate=scene.mandates.get(task.actor, {}),
            tools=tools_of(task.world, task.tools),
            others=[(party, role) for party, role in task.roles.items() if party != task.actor],
            turns=task.file.turns,
        )
        try:
            self._agent.begin(setup)
            return super().run()
        finally:
            self._agent.close()

    def _ask(self, asked: Asked) -> Said | Answer:
        answer = self._agent.act(asked)
        if self._agent.given is not None:
            gave = None if answer.gave is None else fitting(answer.gave)
            evidence = Gave(fitting(self._agent.given), gave, answer.usage)
            self._desk.turn(self._task.actor, evidence, led=answer.end is None)
        if answer.end is not None:
            return answer
        return self._say(self._task.actor, *action_of(self._task, answer), None)


def briefs_of(task: Task, scene: Scene) -> list[tuple[str, str]]:
    """What each party alone is told, as the brief of the record: the actor, and whoever has a mandate."""
    told: list[tuple[str, str]] = []
    for party in task.roles:
        mandate = scene.mandates.get(party, {})
        brief = scene.brief if party == task.actor else ""
        if brief or mandate or party == task.actor:
            told.append((party, encode({"brief": brief, "mandate": mandate}).decode()))
    return told


def action_of(task: Offer, answer: Answer) -> tuple[Action, str | None]:
    """The action of an agent's answer and whom it is for.

    What the market knows and the task offers is typed. What it doesn't know goes
    as it is, to be refused by name; words that hold no act, and acts that
    weren't offered, become `agent.unparsed`.
    """
    fields = dict(answer.act or {})
    to = fields.pop("to", None)
    kind = fields.get("kind")
    try:
        _check_addressee(to)
    except Unformed:
        return _unparsed(task.world, answer), None
    if not isinstance(kind, str):
        return _unparsed(task.world, answer), None
    if kind in task.tools:
        to = to if to is not None else _addressee(task, task.actor, kind, None)
        try:
            return typed(task.world, fields), to
        except (Unformed, CanonicalError):
            pass
    elif kind in task.world.kinds:
        return _unparsed(task.world, answer), None
    raw = _raw(fields)
    return (_unparsed(task.world, answer), None) if raw is None else (raw, to)


def typed(world: World, fields: Mapping[str, Json]) -> msgspec.Struct:
    """The typed action of these fields; its parts hold their text.

    Raises:
        Unformed: the fields are not those of the kind.
    """
    action = world.kinds[fields["kind"]]
    texts = {name: fields[name] for name in part_fields(action) if isinstance(fields.get(name), str)}
    for name, text in texts.items():
        if fitting(text) != text:
            raise Unformed(name, f"a text that is over {MAX_PART_BYTES} bytes, or that is none")
    try:
        made = msgspec.convert({**fields, **dict.fromkeys(texts, _NO_DIGEST)}, action)
    except msgspec.ValidationError as error:
        raise Unformed(fields["kind"], str(error)) from None
    return msgspec.structs.replace(made, **texts) if texts else made


def _raw(fields: Mapping[str, Json]) -> msgspec.Raw | None:
    """The bytes of an act as it was given, where a record can hold them."""
    try:
        data = encode(fields)
    except CanonicalError:
        return None
    fits = len(data) <= _MAX_ACTION_BYTES and depth(data) <= _MAX_ACTION_DEPTH
    return msgspec.Raw(data) if fits else None


def _unparsed(world: World, answer: Answer) -> Action:
    text = answer.gave if answer.gave is not None else str(dict(answer.act or {}))
    return world.kinds[UNPARSED](text=fitting(text))


def _check_addressee(to: Json) -> None:
    """Whether a message can be sent to it; whether there is such a party is the market's question.

    Raises:
        Unformed: it can't.
    """
    try:
        msgspec.convert(to, Id | None)
    except msgspec.ValidationError:
        raise Unformed("to", "what can't be the id of a party") from None


def _addressee(task: Offer, party: str, kind: str, sender: str | None) -> str | None:
    """Whom an act is for that doesn't say: who is answered, else the only other party; a query, nobody."""
    if not task.world.is_addressed(kind):
        return None
    if sender is not None:
        return sender
    others = [each for each in task.roles if each not in (party, OPERATOR)]
    return others[0] if len(others) == 1 else None



"""One play of a scene: who is asked when, what is sent, and how it ends.

    briefs · what scripts send at the start · then, until the end:
        the actor is asked ─► its act ─► the counterparty that it was sent to answers at once,
        an answer to an answer before the next, at most 20 ─► the operator moves the clock on

    ends     completed (`ends` holds) · turn_limit · agent_stopped · agent_failed

A market that paces its runs (`PacedWorld`) says itself what comes next:

    due ─► a party is asked ─► its act      of which four weren't allowed, or none: the operator passes for it
        ─► the operator's act               until nothing is due

This is the schedule of the format: the same task, case, seed and acts of those
that agents play give the same messages of everybody else, wherever it is
played, which is what lets anybody check an operator's conduct.

Not here: what becomes of a message (`desk`).

Source: design section 2, "Schedule".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast

import msgspec

from ...protocol.bodies import Outcome
from ...protocol.canonical import MAX_DEPTH, MAX_PART_BYTES, Id, depth, encode
from ...protocol.errors import CanonicalError
from ...protocol.world import Operate, PacedWorld, World, kind_of, part_fields
from ...scorers.acts import ACTS, EVERYTHING, Watch
from ...scorers.cel import activation, asked_by
from ..format.task import OPERATOR, Task
from ..format.values import Unformed
from .agent import Agent, Answer, Asked, Setup
from .desk import Action, Desk, Gave, Said, fitting
from .script import Counterparty, Silence
from .tools import tools_of

if TYPE_CHECKING:
    from ...protocol.tables import State
    from ..format.scene import Scene

Json = Any

MAX_ANSWERS: Final = 20
"""The most messages of scripts that one act of the actor may lead to."""

MAX_TRIES: Final = 4
"""How often a party may say what isn't allowed, at one turn of a market that paces its runs."""

UNPARSED: Final = "agent.unparsed"
NEVER: Final = "false"
"""What `ends` is by default: it needn't be asked."""

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


class Offered(NamedTuple):
    """An offer to one party."""

    world: World
    tools: Sequence[str]
    roles: Mapping[str, str]


class _Side:
    """What a party has seen: all of it, what reached it since it was last asked, and its own last act."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.inbox: list[Mapping[str, Json]] = []
        self.last: Mapping[str, Json] | None = None
        self.turns = 0


class Schedule(ABC):
    """One play of a scene at a desk, whatever those do that agents play."""

    def __init__(
        self, task: Task, scene: Scene, desk: Desk, want: frozenset[str] = EVERYTHING
    ) -> None:
        """``want`` is what those that agents play are to see of the run."""
        self._task = task
        self._scene = scene
        self._desk = desk
        self._world = task.world
        self._scripts = {
            party: Counterparty(
                party,
                script,
                Watch(task.world, party, ACTS | script.reads),
                scene.mandates.get(party, {}),
                scene.case,
            )
            for party, script in task.scripts.items()
        }
        watches = {party: Watch(task.world, party, want) for party in task.players}
        watches.update({party: each.watch for party, each in self._scripts.items()})
        self._sides = {party: _Side(watch) for party, watch in watches.items()}
        self._heard: Mapping[str, Json] | None = None
        self._offers: dict[str, Offered] = {}
        self._tries = 0
        self._ends_asks = asked_by([task.ends.program])

    def run(self) -> Ending:
        """Plays the scene to its end, and seals it."""
        for party, text in briefs_of(self._task, self._scene):
            self._desk.brief(party, text)
        for counterparty in self._scripts.values():
            said = self._answer(counterparty, None, None)
            if said is not None:
                self._answers(said)
        world = self._world
        is_paced = isinstance(world, PacedWorld)
        outcome, reason = self._paced_until_the_end(world) if is_paced else self._turns_until_the_end()
        self._desk.seal(outcome)
        silences = tuple(silence for each in self._scripts.values() for silence in each.silences)
        return Ending(outcome, reason, silences)

    @abstractmethod
    def _ask(self, party: str, asked: Asked) -> Said | Answer:
        """What a party says that an agent plays, or the answer by which it ends its part."""

    def _turns_until_the_end(self) -> tuple[Outcome, str | None]:
        actor = self._task.actor
        while True:
            if self._has_ended():
                return "completed", None
            said = self._asked(actor)
            if said is None:
                return "turn_limit", None
            if isinstance(said, Answer):
                assert said.end is not None, "an actor says something, or ends the run"
                return said.end, said.reason
            self._answers(said)
            if self._world.clock is not None:
                self._say(OPERATOR, self._world.kinds[self._world.clock](), None, None)

    def _paced_until_the_end(self, world: PacedWorld) -> tuple[Outcome, str | None]:
        while True:
            due = None if self._has_ended() else world.due(self._desk.state)
            if due is None:
                return "completed", None
            if isinstance(due, Operate):
                self._operate(due.action)
                continue
            said = self._asked(due.party) if self._tries < MAX_TRIES else Answer(end="agent_stopped")
            if said is None:
                return "turn_limit", None
            if isinstance(said, Said):
                self._tries = 0 if self._has_moved(said) else self._tries + 1
            elif due.party == self._task.actor and self._tries < MAX_TRIES:
                assert said.end is not None, "an actor says something, or ends the run"
                return said.end, said.reason
            else:
                self._operate(world.passing(due.party))

    def _operate(self, action: msgspec.Struct) -> None:
        self._tries = 0
        self._say(OPERATOR, action, None, None)

    def _has_moved(self, said: Said) -> bool:
        """Whether it was a move: an act that is allowed, and isn't a reading."""
        accepted = said.deed.decision.outcome == "accepted"
        return accepted and kind_of(type(cast("msgspec.Struct", said.deed.action))) not in self._world.queries

    def _asked(self, party: str) -> Said | Answer | None:
        """What a party says when it is asked; None where it may be asked no more."""
        side = self._sides[party]
        turns_left = self._task.file.turns - side.turns
        if turns_left == 0:
            return None
        inbox, side.inbox = side.inbox, []
        market = self._market(party)
        said = self._ask(party, Asked(self._tick(), turns_left, side.last, inbox, side.watch, market))
        if isinstance(said, Said):
            side.turns += 1
        return said

    def _market(self, party: str) -> Json:
        """What the market shows a party when it is asked."""
        world = self._world
        return world.sight(self._desk.state, party) if isinstance(world, PacedWorld) else None

    def _has_ended(self) -> bool:
        if self._task.file.ends == NEVER:
            return False
        watch = self._sides[self._task.actor].watch
        held = activation(
            {
                "case": self._scene.case,
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

    def _said_by(self, agent: Agent, party: str, asked: Asked) -> Said | Answer:
        """What an agent of this process says for a party, its turn kept where it keeps any."""
        answer = agent.act(asked)
        if agent.given is not None:
            gave = None if answer.gave is None else fitting(answer.gave)
            evidence = Gave(fitting(agent.given), gave, answer.usage)
            self._desk.turn(party, evidence, led=answer.end is None)
        if answer.end is not None:
            return answer
        offer = self._offers.get(party)
        if offer is None:
            task = self._task
            offer = self._offers[party] = Offered(task.world, task.offered(party), task.roles)
        return self._say(party, *action_of(offer, answer, party, self._desk.state), None)

    def _say(self, party: str, action: Action, to: str | None, reply_to: int | None) -> Said:
        return self._noted(self._desk.say(party, action, to, reply_to))

    def _noted(self, said: Said) -> Said:
        """What was said, once every party that it concerns has seen it."""
        message, tick = said.deed.message, self._tick()
        self._heard = None
        for party in (message.sender, message.to):
            side = None if party is None else self._sides.get(party)
            act = None if side is None else side.watch.note(said.deed, said.shown, self._desk.state, tick)
            if side is None or act is None:
                continue
            if party == message.sender:
                side.last = act
            else:
                side.inbox.append(act)
                self._heard = act
        return said

    def _tick(self) -> int:
        return self._world.tick(self._desk.state)


class Play(Schedule):
    """A play by agents: the actor's, and those of the others that agents play."""

    def __init__(
        self, task: Task, scene: Scene, desk: Desk, agent: Agent, others: Mapping[str, Agent] | None = None
    ) -> None:
        super().__init__(task, scene, desk)
        self._agents = {**(others or {}), task.actor: agent}
        assert self._agents.keys() == set(task.players), "an agent for everybody whom agents play"

    def run(self) -> Ending:
        """As `Schedule.run`; the agents are told first, and let go at last."""
        try:
            for party, agent in self._agents.items():
                agent.begin(setup_of(self._task, self._scene, party))
            return super().run()
        finally:
            for agent in self._agents.values():
                agent.close()

    def _ask(self, party: str, asked: Asked) -> Said | Answer:
        return self._said_by(self._agents[party], party, asked)


def setup_of(task: Task, scene: Scene, party: str) -> Setup:
    """What a party that an agent plays is told before it is first asked."""
    rendering = scene.rendering
    return Setup(
        party=party,
        role=task.roles[party],
        brief=scene.brief,
        mandate=scene.mandates.get(party, {}),
        tools=tools_of(task.world, rendering.listed(task.offered(party)), rendering.tools),
        others=[(other, role) for other, role in task.roles.items() if other != party],
        turns=task.file.turns,
        words=isinstance(task.world, PacedWorld),
        labels=rendering.labels,
    )


def briefs_of(task: Task, scene: Scene) -> list[tuple[str, str]]:
    """What each party alone is told, as its brief: whom agents play, and whoever has a mandate."""
    told: list[tuple[str, str]] = []
    for party in task.roles:
        mandate = scene.mandates.get(party, {})
        brief = scene.brief if party in task.players else ""
        if brief or mandate or party in task.players:
            told.append((party, encode({"brief": brief, "mandate": mandate}).decode()))
    return told


def action_of(
    task: Offer, answer: Answer, party: str, state: State | None = None
) -> tuple[Action, str | None]:
    """The action of an agent's answer and whom it is for.

    What the market knows and the task offers is typed. What it doesn't know goes
    as it is, to be refused by name. Words alone are the act that the market
    understands by them as things stand; words that hold no act, and acts that
    weren't offered, become `agent.unparsed`.
    """
    world = task.world
    if answer.act is None and answer.gave and state is not None and isinstance(world, PacedWorld):
        understood = world.understood(state, party, answer.gave)
        if understood is not None:
            return understood, None
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
        to = to if to is not None else _addressee(task, party, kind, None)
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
    if to is None:
        return
    try:
        msgspec.convert(to, Id)
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



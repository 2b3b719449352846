"""One run of a host, whose actor is a party outside: the schedule, waiting for that party's messages.

    thread of the run    opens ─► plays ─► asks: waits ─► a message ─► the door ─► plays on ─► … ─► seals
    the host's loop      ─ call ─────────────────────────┘          answer ◄──┘

The play is the schedule of every other run (`tollbook.tasks.play`): where an
agent in process is asked, the thread waits. It holds the host's floor whenever
it doesn't wait, so one run at a time is at work, whatever the number of threads;
they are for waiting. An answer leaves when the party is due again, or the run
is sealed: with it go the acts that reached the party since. All of it is on disk by then.

Nothing but a signature speaks for the party. What isn't authentic, and acts that
the task doesn't offer, are turned away: answered with a fault, not recorded.

Not here: HTTP, tokens, rates (`app`); which runs there are (`host`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from ...ledger.audited import Deed
from ...ledger.records import MESSAGE, read_body
from ...protocol.canonical import encode_typed
from ...protocol.engine import admit_kind
from ...protocol.errors import CanonicalError, DoorError, TollbookError
from ...protocol.keys import pae_of, signature_bytes, verify
from ...protocol.world import part_fields
from ...scorers.acts import each_read, row_of
from ..format.rendering import worded
from ..play.agent import Answer, Asked
from ..play.desk import LedgerDesk, Said
from ..play.environment import environment_note
from ..play.play import UNPARSED, Schedule, setup_of
from .answers import Kept, standing
from .wire import REQUEST_TYPE, Envelope, Fault, Leaving, fault_of

if TYPE_CHECKING:
    from ...ledger.writer import Writer
    from ...protocol.bodies import Message, Outcome
    from ...protocol.keys import SigningKey
    from ..format.scene import Scene
    from ..format.task import Task
    from ..play.agent import Agent
    from .limits import Bucket, Limits

Json = Any


class Call(NamedTuple):
    """What a party asks of its run, and where the answer goes: bytes of JSON, or a `Fault`."""

    envelope: Envelope
    leaving: Leaving | None
    size_bytes: int
    answer: Future[bytes]


class Begun(NamedTuple):
    """A run that was opened: what it is played by, who plays here, and what its party is told first."""

    task: Task
    scene: Scene
    writer: Writer
    others: Mapping[str, Agent]
    told: Callable[[HostedPlay, Begun], dict[str, Json]]


class _GivenUp(Exception):  # noqa: N818 - how a play ends, not an error
    """The party was silent too long, or the host is closing."""


class Seat:
    """The seat of a party outside in one run.

    ``view`` are the acts of the party and those that reached it, in order, as
    it sees them. ``first`` and ``last`` are its answers, ``ended`` how the run
    ended. ``is_busy``, ``streams`` and ``bucket`` are who talks to it now, and
    how often: the loop's business, as the rest is the thread's.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float],
        floor: Lock,
        key: SigningKey,
        bucket: Bucket,
    ) -> None:
        self.run = ""
        self.view: list[dict[str, Json]] = []
        self.first = self.last = b""
        self.ended: Outcome | None = None
        self.is_over = False
        self.is_busy = False
        self.streams = 0
        self.bucket = bucket
        self.spent_bytes = 0
        self.bell = asyncio.Event()
        self.opened: Future[bytes] = Future()
        self._limits = limits
        self._clock = clock
        self._floor = floor
        self.key = key
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._lock = Lock()
        self._closed: Fault | None = None
        self._deadline = clock() + limits.run_seconds
        self._answering: Future[bytes] | None = self.opened
        self._last_message = b""
        self._since: int | None = None

    def start(
        self,
        begin: Callable[[], Begun],
        end: Callable[[Seat, Begun], Json],
        over: Callable[[], object],
    ) -> None:
        """Opens and plays the run in a thread.

        ``end`` is called with it once it is sealed, and ``over`` when the thread does no more.
        """
        self._loop = asyncio.get_running_loop()
        Thread(target=self._live, args=(begin, end, over), name="seat", daemon=True).start()

    def call(self, envelope: Envelope, leaving: Leaving | None, size_bytes: int) -> Future[bytes]:
        """Hands what the party sent to its run."""
        answer: Future[bytes] = Future()
        with self._lock:
            if self._closed is None:
                self._calls.put(Call(envelope, leaving, size_bytes, answer))
            elif envelope.payload == self._last_message and self.last:
                answer.set_result(self.last)
            else:
                answer.set_exception(self._closed)
        return answer

    def close(self) -> None:
        """Gives the run up, once what is being played is played."""
        self._calls.put(None)

    # In the run's thread

    def _live(
        self,
        begin: Callable[[], Begun],
        end: Callable[[Seat, Begun], Json],
        over: Callable[[], object],
    ) -> None:
        closed = Fault(410, "serve.over", "the run is over", "GET the run for how it ended; open another")
        try:
            with self._floor:
                begun = begin()
                self.run = begun.writer.id
                play = HostedPlay(begun, self)
                self.ended = play.outcome()
                self._finish(play, end(self, begun))
        except Fault as fault:
            closed = fault
        except TollbookError as error:
            closed = fault_of(error)
        except BaseException:
            hint = "what was said is in the ledger; tell the host's operator"
            closed = Fault(500, "serve.internal", "the run can't go on", hint)
            raise
        finally:
            self._shut(closed)
            over()

    def _shut(self, fault: Fault) -> None:
        with self._lock:
            self._closed = fault
            self.is_over = True
        if self._answering is not None:
            self._answering.set_exception(fault)
        while not self._calls.empty():
            call = self._calls.get()
            if call is not None:
                call.answer.set_exception(fault)
        self.ring()

    def ring(self) -> None:
        """Tells those who follow the view that there is more, or no more."""
        self._loop.call_soon_threadsafe(self._ring)

    def _ring(self) -> None:
        self.bell.set()
        self.bell = asyncio.Event()

    def wait(self, turn_deadline: float) -> Call:
        """What the party sends next; the floor is others' meanwhile.

        Raises:
            _GivenUp: nothing in time.
        """
        seconds = min(self._deadline, turn_deadline) - self._clock()
        self._floor.release()
        try:
            call = self._calls.get(timeout=max(seconds, 0.0))
        except Empty:
            call = None
        finally:
            self._floor.acquire()
        if call is None:
            raise _GivenUp
        return call

    def ask(self, play: HostedPlay, asked: Asked, number: int) -> Call:
        """Answers what was asked last, and gives what the party then says that is authentic."""
        self._answer(play, {"turn": play.turn(asked, number), "end": None})
        deadline = self._clock() + self._limits.turn_seconds
        while True:
            call = self.wait(deadline)
            try:
                self._check(call)
                again = play.taken(call)
            except Fault as fault:
                call.answer.set_exception(fault)
            except (CanonicalError, DoorError) as error:
                call.answer.set_exception(fault_of(error))
            except BaseException:
                self._answering = call.answer  # the run can't go on, and the party is told
                raise
            else:
                if again is None:
                    self.spent_bytes += call.size_bytes
                    self._answering = call.answer
                    self._since = held(call.envelope.since, play.writer.run.size) or self._since
                    self._last_message = call.envelope.payload
                    return call
                same = call.envelope.payload == self._last_message
                call.answer.set_result(self.last if same else again)

    def _check(self, call: Call) -> None:
        if self.spent_bytes + call.size_bytes > self._limits.run_bytes:
            what = f"the run's messages are over the limit of {self._limits.run_bytes} bytes"
            raise Fault(413, "serve.run_size", what, "say less, or end the run")

    def _answer(self, play: HostedPlay, fields: dict[str, Json]) -> None:
        answering, self._answering = self._answering, None
        if answering is None:
            return
        run = play.writer.run
        play.writer.flush()
        if not self.first:
            play.said = play.told()
        since, self._since = self._since, run.size
        document = {**standing(run, self.key, play.party, since, play.own), **play.said, **fields}
        self.last = msgspec.json.encode(document)
        self.first = self.first or self.last
        answering.set_result(self.last)

    def _finish(self, play: HostedPlay, told: Json) -> None:
        root = play.writer.run.root().hex()
        fields = {"turn": None, "end": {"outcome": self.ended, "root": root, "score": told}}
        if self._answering is None:  # given up: nobody asks, and who comes later is told
            self._answering = Future()
        self._answer(play, fields)


class HostedPlay(Schedule):
    """A play whose actor is the party at a seat."""

    def __init__(self, begun: Begun, seat: Seat) -> None:
        super().__init__(begun.task, begun.scene, LedgerDesk(begun.writer))
        self.writer = begun.writer
        self.party = begun.task.actor
        self.own: list[Kept] = []
        self.said: dict[str, Json] = {}
        self._seat = seat
        self._begun = begun
        self._run = begun.writer.run
        self._taken: Said | None = None

    def turn(self, asked: Asked, number: int) -> dict[str, Json]:
        """What the party is told at a turn, in the words of the case."""
        told: dict[str, Json] = {
            "number": number,
            "tick": asked.tick,
            "turns_left": asked.turns_left,
            "last": asked.last,
            "inbox": list(asked.inbox),
        }
        if asked.market is not None:
            told["market"] = worded(asked.market, self._scene.rendering.labels)
        return told

    def told(self) -> dict[str, Json]:
        """What the party is told first."""
        return self._begun.told(self, self._begun)

    def outcome(self) -> Outcome:
        """Plays to the end; how it ended."""
        others = self._begun.others
        try:
            for party, agent in others.items():
                agent.begin(setup_of(self._task, self._scene, party))
            return self.run().outcome
        except _GivenUp:
            self.writer.seal("abandoned", environment_note)
            return "abandoned"
        finally:
            for agent in others.values():
                agent.close()

    def _ask(self, party: str, asked: Asked) -> Said | Answer:
        if party != self.party:
            return self._said_by(self._begun.others[party], party, asked)
        call = self._seat.ask(self, asked, self._sides[party].turns + 1)
        if call.leaving is not None:
            self.own, self.said = [], _shown(None)
            return Answer(end="agent_stopped")
        assert self._taken is not None
        return self._taken

    def taken(self, call: Call) -> bytes | None:
        """Admits what the party sent; of a message that was admitted before, the answer.

        Raises:
            Fault: it is turned away.
            CanonicalError: as the door says.
            DoorError: as the door says.
        """
        envelope = call.envelope
        if call.leaving is not None:
            self._leave(call.leaving, envelope)
            return None
        message = read_body(envelope.payload, MESSAGE)
        member = self._run.members[self.party]
        if message.sender != self.party:
            self._turn_away(message, envelope)
        if message.n < member.n:
            return self._again(envelope)
        kind = admit_kind(bytes(message.action))
        if kind in self._world.kinds and kind not in (*self._task.tools, UNPARSED):
            hint = f"the tools are {', '.join(self._task.tools)}"
            raise Fault(403, "serve.tool", f"`{kind}` is not offered in this task", hint)
        action = self._run.read_action(message)
        self._admit(message, action, envelope)
        return None

    def _admit(self, message: Message, action: Any, envelope: Envelope) -> None:  # noqa: ANN401 - of a market
        texts = {part.field: part.text.text for part in envelope.parts}
        fields = () if action is None else part_fields(cast("type[msgspec.Struct]", type(action)))
        missing = [field for field in fields if field not in texts]
        if missing:
            what = f"the text of field `{missing[0]}` is missing"
            raise Fault(422, "part.missing", what, "send each text with its salt among `parts`")
        ruling = self.writer.admit(envelope.payload, envelope.sig, envelope.parts)
        said = Said(Deed(ruling.decision.message, message, action, texts, ruling.decision), ruling.shown)
        self._taken = self._noted(said)
        self.own = _kept(ruling.decision.message, envelope, ruling.body)
        rows = each_read(ruling.decision.reads, self._desk.state)
        known = [[table, row_of(key, self._desk.state.get(table, key))] for table, key in rows]
        value = None if ruling.shown is None else msgspec.Raw(encode_typed(ruling.shown.value))
        self.said = _shown(ruling.body, value, known)

    def _again(self, envelope: Envelope) -> bytes:
        """The recorded decision on a message that was admitted before."""
        ruling = self.writer.admit(envelope.payload, envelope.sig, envelope.parts)
        own = _kept(ruling.decision.message, envelope, ruling.body)
        since = held(envelope.since, self._run.size)
        found = standing(self._run, self._seat.key, self.party, since, own)
        return msgspec.json.encode({**found, **_shown(ruling.body), "again": True, "turn": None, "end": None})

    def _turn_away(self, message: Message, envelope: Envelope) -> None:
        """What is said in another party's name goes no further, whoever signed it."""
        objection = self._run.door(message)
        if objection is None:
            keys = self._run.members[message.sender].keys
            objection = self._run.signed("message", envelope.payload, envelope.sig, keys)
        if objection is not None:
            raise fault_of(DoorError(objection.code, objection.text))
        what = f"`{message.sender}` is played by the host"
        raise Fault(403, "message.from", what, "speak as your own party")

    def _leave(self, leaving: Leaving, envelope: Envelope) -> None:
        if leaving.run != self._run.id:
            raise Fault(403, "serve.foreign", "the request is for another run", "name the run that you end")
        seq, leaf = leaving.seen
        if not (seq < self._run.size and self._run.leaf(seq).hex() == leaf):
            hint = "give `seen` of the last answer"
            raise Fault(409, "message.seen", "seen is no record of this run", hint)
        data = pae_of(REQUEST_TYPE, envelope.payload)
        signature = signature_bytes(envelope.sig)
        if not any(verify(key, signature, data) for key in self._run.members[self.party].keys):
            what = "the request is not signed by the party's key"
            raise Fault(403, "signature.invalid", what, "sign DSSE's PAE of the request type and the payload")

    def _noted(self, said: Said) -> Said:
        side = self._sides[self.party]
        last, heard = side.last, len(side.inbox)
        super()._noted(said)
        if side.last is not last and side.last is not None:
            self._seat.view.append(dict(side.last))
        self._seat.view += map(dict, side.inbox[heard:])
        self._seat.ring()
        return said


def held(since: int | None, size: int) -> int | None:
    """The size of the checkpoint that a party says it holds, if there can be one."""
    return since if since is not None and 0 < since <= size else None


def _kept(seq: int, envelope: Envelope, decision: bytes) -> list[Kept]:
    return [
        Kept(seq, "message", envelope.payload, envelope.sig),
        Kept(seq + 1, "decision", decision, None),
    ]


def _shown(decision: bytes | None, value: Json = None, known: Json = ()) -> dict[str, Json]:
    return {
        "decision": None if decision is None else msgspec.Raw(decision),
        "shown": value,
        "known": known,
        "again": False,
    }

"""The host: the tasks it offers, the runs that are being played, those that ended lately.

    opening, signed ─► next trial of (task, case, agents) ─► run ─► seat ─► sealed, audited, scored ─► ended

A run's parties are the task's; the actor's key is the one that the party
brought. Which trial it is, the ledger gives out, as for every other run.

`session` names the host's life between two starts: an opening is for one
session, so it can't be sent again to the next.

Not here: HTTP (`app`), the play (`seat`).
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from ...ledger.blobs import facts_blob, task_blob
from ...ledger.notes import print_vkey, vkey_of
from ...ledger.parts import part_text
from ...ledger.plan import Plan
from ...ledger.plan import Seat as Place
from ...ledger.records import Part
from ...ledger.verify import audit_run, shelf_of
from ...ledger.writer import Writer
from ...protocol.bodies import Agent, Brief, Origin, TaskRef
from ...protocol.canonical import digest_typed, encode, encode_typed
from ...protocol.derive import ledger_key, own_salt
from ...protocol.errors import DoorError, KeyRefusedError, TollbookError
from ...protocol.keys import check_public, hkdf, key_bytes, key_text, pae_of, signature_bytes, verify
from ..format.rendering import cases_of
from ..judging import Judge
from ..play.baselines import company
from ..play.conduct import with_conduct
from ..play.environment import environment_note
from ..play.lines import begin_line
from ..play.play import briefs_of, setup_of
from ..play.recorder import PER_MESSAGE, seats_of
from ..play.trials import next_trials
from ..receipts import receipts_in
from .answers import Kept
from .limits import Gate, Limits
from .seat import Begun, HostedPlay, Seat
from .wire import REQUEST_TYPE, Envelope, Fault, Opening, fault_of

if TYPE_CHECKING:
    from fractions import Fraction

    from ..format.task import Task
    from .scribe import Scribe

Json = Any

VERSION: Final = 1
_TRIALS_KNOWN = 4_096
_OPENINGS_KNOWN = 10_000


class Ended(NamedTuple):
    """A run of the host that was sealed: what it is of, how it ended, and what it is worth."""

    run: str
    task: str
    case: str
    trial: int
    agent: str
    outcome: str
    score: Fraction | None
    findings: Sequence[str]


class _Stated(NamedTuple):
    """What `open` says of a party outside, where an agent would be."""

    stated: Agent


class Host:
    """Plays runs of these tasks with parties outside."""

    def __init__(  # noqa: PLR0913 - a ledger, and what is offered on which terms
        self,
        scribe: Scribe,
        secret: bytes,
        name: str,
        tasks: Sequence[Task],
        limits: Limits | None = None,
        *,
        tell: Callable[[Ended], None] = lambda _ended: None,
        shows_score: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``tell`` is called, in some thread, with each run that ended."""
        self.tasks: Mapping[str, Task] = {task.file.id: task for task in tasks}
        self.limits = limits or Limits()
        self.gate = Gate(self.limits, clock)
        self.live: dict[str, Seat] = {}
        self._scribe = scribe
        self._secret = secret
        self._name = name
        self._key = ledger_key(secret)
        self._tell = tell
        self._shows_score = shows_score
        self._clock = clock
        self._floor = Lock()
        self._judge = Judge()
        self._ended: OrderedDict[str, Seat] = OrderedDict()
        self._openings: OrderedDict[bytes, Seat | str] = OrderedDict()
        self._trials: OrderedDict[str, Counter[str]] = OrderedDict()
        self._playing: set[Seat] = set()
        self._closing = False
        self._silent = asyncio.Event()
        opened = scribe.ask(lambda store: len(store.runs()))
        self.session = digest_typed(["session", key_text(self._key.public), opened])
        environment_note("0" * 64)  # what it says is worked out once, before anybody waits for it

    def about(self) -> dict[str, Json]:
        """What anybody may know: whose ledger this is, what is offered, and the limits."""
        public = self._key.public
        return {
            "tollbook": VERSION,
            "session": self.session,
            "ledger": {
                "name": self._name,
                "key": key_text(public),
                "vkey": print_vkey(vkey_of(self._name, public)),
            },
            "tasks": [
                {
                    "id": task.file.id,
                    "title": task.file.title,
                    "digest": task.digest,
                    "world": task.file.world,
                    "actor": task.actor,
                    "role": task.roles[task.actor],
                    "cases": cases_of(task.file),
                    "turns": task.file.turns,
                }
                for task in self.tasks.values()
            ],
            "limits": {
                "request_bytes": self.limits.request_bytes,
                "run_bytes": self.limits.run_bytes,
                "requests_per_second": str(self.limits.party.per_second),
                "turn_seconds": str(self.limits.turn_seconds),
                "run_seconds": str(self.limits.run_seconds),
            },
        }

    def seat(self, run: str) -> Seat | None:
        """The seat of a run that is being played, or ended lately."""
        return self.live.get(run) or self._ended.get(run)

    def token(self, run: str) -> str:
        """What its party shows to be heard in a run."""
        return hkdf(self._secret, encode(["serve", run])).hex()

    async def open(self, opening: Opening, envelope: Envelope) -> tuple[Seat, bool]:
        """The seat of a new run, once it is opened, and whether it is new; the same request gives the same.

        Raises:
            Fault: the request is not good, or there is no room.
        """
        self._check(opening, envelope)
        digest = sha256(envelope.payload).digest()
        known = self._known(digest)
        seat = known or self._seated(opening, digest)
        try:
            await asyncio.wrap_future(seat.opened)
        except Fault:
            self._openings.pop(digest, None)
            raise
        if seat not in self._ended.values():
            self.live[seat.run] = seat
        return seat, known is None

    async def close(self) -> None:
        """Gives up every run that is being played, and waits until all are sealed."""
        self._closing = True
        for seat in self._playing:
            seat.close()
        if self._playing:
            await self._silent.wait()

    def _known(self, digest: bytes) -> Seat | None:
        """The seat that the same request gave before."""
        known = self._openings.get(digest)
        if not isinstance(known, str):
            return known
        if known not in self._ended:
            what = f"the run `{known[:12]}` that this request opened is over"
            raise Fault(410, "serve.over", what, "open another, under another `id`")
        return self._ended[known]

    def _check(self, opening: Opening, envelope: Envelope) -> None:
        try:
            key = key_bytes(opening.key)
            check_public(key)
            signature = signature_bytes(envelope.sig)
        except (KeyRefusedError, DoorError) as error:
            raise fault_of(error) from None
        if not verify(key, signature, pae_of(REQUEST_TYPE, envelope.payload)):
            hint = "sign DSSE's PAE of the request type and the payload"
            raise Fault(403, "signature.invalid", "the opening is not signed by the key that it names", hint)
        if opening.session != self.session:
            hint = "GET / for the session, and sign a new opening"
            raise Fault(409, "serve.session", "the opening is for another session of the host", hint)
        task = self.tasks.get(opening.task)
        if task is None or opening.case not in cases_of(task.file):
            what = f"no case `{opening.case}` of a task `{opening.task}` is offered here"
            raise Fault(404, "serve.case", what, "GET / for the tasks and their cases")

    def _seated(self, opening: Opening, digest: bytes) -> Seat:
        if self._closing or len(self._playing) >= self.limits.runs:
            what = f"{len(self._playing)} runs are being played, and that is all there is room for"
            raise Fault(503, "serve.full", what, "wait until one has ended", seconds=1.0)
        seat = Seat(self.limits, self._clock, self._floor, self._key, self.gate.bucket())
        self._playing.add(seat)
        self._openings[digest] = seat
        if len(self._openings) > _OPENINGS_KNOWN:
            self._openings.popitem(last=False)
        loop = asyncio.get_running_loop()

        def over() -> None:
            self._playing.discard(seat)
            if self._closing and not self._playing:
                self._silent.set()
            if seat.run and digest in self._openings:
                self._openings[digest] = seat.run
            if self.live.pop(seat.run, None) is not None or seat.ended is not None:
                self._keep(seat)

        seat.start(
            lambda: self._begin(opening),
            lambda seat, begun: self._end(opening, seat, begun),
            lambda: loop.call_soon_threadsafe(over),
        )
        return seat

    def _keep(self, seat: Seat) -> None:
        """Keeps a run that ended for those who ask how, as long as there is room."""
        self._ended[seat.run] = seat
        while (
            len(self._ended) > self.limits.ended_runs
            or sum(each.spent_bytes for each in self._ended.values()) > self.limits.ended_bytes
        ):
            self._ended.popitem(last=False)

    # In a run's thread, which has the floor

    def _begin(self, opening: Opening) -> Begun:
        task = self.tasks[opening.task]
        trial = self._trial(task, opening)
        scene = task.scenes.stage(opening.case, task.scenes.seed(opening.case, trial))
        key = key_bytes(opening.key)
        others = company(task, scene.seed)
        seated = seats_of(task, {**others, task.actor: _Stated(opening.agent)})
        seats = [_with_key(each, task.actor, key) for each in seated]
        plan = Plan(
            world=task.ref,
            seats=seats,
            seed=scene.seed,
            origin=Origin(custody="played", source=None),
            task=TaskRef(case=opening.case, digest=task.digest, id=task.file.id),
            trial=trial,
        )
        blobs = [facts_blob(scene.facts), task_blob(task.text)]
        writer = Writer.begin(
            self._scribe, self._secret, self._name, plan, scene.facts, blobs, group=PER_MESSAGE
        )
        self._used(task, opening, trial)
        return Begun(task, scene, writer, others, self._told)

    def _trial(self, task: Task, opening: Opening) -> int:
        """The next trial; the ledger is asked once, since nobody else writes to it."""
        name = _trials_of(task, opening)
        if name not in self._trials:
            self._trials[name] = self._scribe.ask(
                lambda store: next_trials(store, task, _Stated(opening.agent))
            )
            if len(self._trials) > _TRIALS_KNOWN:
                self._trials.popitem(last=False)
        return self._trials[name][opening.case]

    def _used(self, task: Task, opening: Opening, trial: int) -> None:
        self._trials[_trials_of(task, opening)][opening.case] = trial + 1

    def _told(self, play: HostedPlay, begun: Begun) -> dict[str, Json]:
        """What the party is told first: its setup, and the records that say so."""
        task, scene, run = begun.task, begun.scene, begun.writer.run
        setup = setup_of(task, scene, task.actor)
        briefs = briefs_of(task, scene)
        seq = 1 + [party for party, _text in briefs].index(task.actor)
        salt = own_salt(self._secret, run.opened.nonce, task.actor, "brief", seq, "part")
        part = Part("part", part_text(salt, dict(briefs)[task.actor]))
        number, _id = self._scribe.ask(lambda store: store.find(run.id))
        opened, sig = self._scribe.signed(number, 0)
        body = encode_typed(Brief(part=part.text.digest, party=task.actor))
        play.own = [Kept(0, "open", opened, sig), Kept(seq, "brief", body, None, part)]
        begin: dict[str, Json] = msgspec.json.decode(begin_line(setup))
        return {"token": self.token(run.id), "begin": begin["begin"]}

    def _end(self, opening: Opening, seat: Seat, begun: Begun) -> Json:
        """Audits and scores a sealed run; what its party is told of the score."""
        run = begun.writer.run
        number, run_id = self._scribe.ask(lambda store: store.find(run.id))
        audit = with_conduct(
            self._scribe.ask(lambda store: audit_run(store, number, run_id, shelf_of(store), keep=True))
        )
        findings = [f"{finding.code}: {finding.text}" for finding in audit.findings]
        value: Fraction | None = None
        try:
            score = self._judge.score(audit)
            value = score.value
            numbers = {run_id: number}
            self._scribe.ask(lambda store: receipts_in(store, numbers, self._name, self._key, [score]))
        except TollbookError as error:
            findings.append(f"{error.code}: {error.text}")
        agent = opening.agent.name
        trial = run.opened.trial
        outcome = str(seat.ended)
        self._tell(Ended(run.id, opening.task, opening.case, trial, agent, outcome, value, findings))
        if value is None or not self._shows_score:
            return None
        return [value.numerator, value.denominator]


def _with_key(place: Place, party: str, key: bytes) -> Place:
    return place._replace(key=key) if place.id == party else place


def _trials_of(task: Task, opening: Opening) -> str:
    return digest_typed([task.digest, opening.agent])

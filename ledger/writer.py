"""Writing a run: every act through the door, every decision made and kept with it.

    begin ─► brief* ─► (admit a signed message ─► rule ─► keep both)* ─► seal ─► checkpoint

A party played in this process speaks through a `Voice`, which numbers, signs
and salts for it; a party outside brings its own bytes to `admit`. Both pass
the same door. Records are kept in one transaction per `group` of them, a
message never without its decision; what `flush` returned from is on disk. A
run without groups is kept whole, when it is sealed, or not at all.

Not here: who plays (`tollbook.tasks`), what the file looks like (`store`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import msgspec
from msgspec.structs import replace

from ..protocol.bodies import (
    Agent,
    Brief,
    LedgerKey,
    Message,
    Open,
    Origin,
    Outcome,
    Party,
    PartText,
    Seal,
    TaskRef,
    Turn,
    Usage,
    WorldRef,
)
from ..protocol.canonical import (
    MAX_OPEN_BYTES,
    MAX_PART_BYTES,
    MAX_RECORD_BYTES,
    admit,
    check_size,
    digest,
    encode,
    encode_typed,
)
from ..protocol.derive import ledger_key, message_salt, nonce, own_salt, party_key, party_seed
from ..protocol.engine import Ruling
from ..protocol.errors import CanonicalError, DoorError, LedgerError
from ..protocol.keys import SigningKey, key_text, pae, signature_text
from ..protocol.world import part_fields, world_of
from .notes import Checkpoint, print_checkpoint, sign_note
from .records import DECISION, ENVELOPE_BYTES, MESSAGE, Part
from .run import Member, Objection, Run
from .store import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..protocol.tables import Facts
    from .blobs import Blob
    from .store import Store

GROUP_RECORDS = 100
MAX_BODY_BYTES = MAX_RECORD_BYTES - ENVELOPE_BYTES


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


class Writer:
    """One run being written."""

    def __init__(self, store: Store, secret: bytes, run: Run, number: int | None, group: int | None) -> None:
        """Goes on with a run whose records so far are in the store as its run `number`."""
        self.run = run
        self._store = store
        self._secret = secret
        self._key = ledger_key(secret)
        self._number = number
        self._group = group
        self._kept = run.size
        self._pending: list[Draft] = []
        self._blobs: Sequence[Blob] = ()

    @classmethod
    def begin(  # noqa: PLR0913 - a run's beginnings
        cls,
        store: Store,
        secret: bytes,
        name: str,
        plan: Plan,
        facts: Facts,
        blobs: Sequence[Blob],
        *,
        group: int | None = GROUP_RECORDS,
    ) -> Self:
        """Opens a new run; on disk at once, unless `group` is None.

        Raises:
            LedgerError: `run.exists`, or an `open` that is not good.
            WorldError: an unknown world.
        """
        opened = _opened(secret, name, plan, facts.root)
        run = Run(opened, world_of(plan.world), facts)
        objection = run.opening()
        if objection is not None:
            raise LedgerError(objection.code, objection.text)
        body = encode(opened)
        check_size(body, MAX_OPEN_BYTES - ENVELOPE_BYTES)
        sig = signature_text(ledger_key(secret).sign(pae("open", body)))
        writer = cls(store, secret, run, None, group)
        writer._blobs = blobs
        writer._keep("open", body, sig, ())
        store.refuse_known(run.id)
        if group is not None:
            writer.flush()
        return writer

    @property
    def id(self) -> str:
        """The run id."""
        return self.run.id

    @property
    def opened(self) -> Open:
        """The run's ``open``."""
        return self.run.opened

    def brief(self, party: str, text: str) -> None:
        """Tells one party alone what it is there for."""
        part = self._own_part(party, "brief", "part", text)
        objection = self.run.brief(party)
        if objection is not None:
            raise LedgerError(objection.code, objection.text)
        self._keep("brief", encode_typed(Brief(part=part.text.digest, party=party)), None, (part,))

    def turn(
        self, party: str, n: int | None, *, given: str | None = None, gave: str | None = None, usage: Usage | None = None
    ) -> None:
        """Keeps what an agent was given and gave around its message `n`, as evidence."""
        parts = {
            field: self._own_part(party, "turn", field, text)
            for field, text in (("gave", gave), ("given", given))
            if text is not None
        }
        digests = {field: part.text.digest for field, part in parts.items()}
        body = Turn(gave=digests.get("gave"), given=digests.get("given"), n=n, party=party, usage=usage)
        self._keep("turn", encode_typed(body), None, tuple(parts.values()))

    def voice(self, party: str) -> Voice:
        """The voice of a party played in this process, with the key the secret gives it."""
        return Voice(self, party, party_seed(self._secret, self.opened.nonce, party))

    def admit(self, body: bytes, sig: str, parts: Sequence[Part] = (), *, verified: bool = False) -> Ruling:
        """Rules on a signed message and keeps both records.

        ``verified`` is for a voice of this process, which has just signed.

        Raises:
            DoorError: the message is not authentic; nothing is kept, `n` is not used.
        """
        message = self._read(body)
        member = self.run.members.get(message.sender)
        if member is not None and message.n < member.n:
            return self._again(member, message, body)
        objection = self.run.door(message)
        if objection is None and not verified:
            objection = self.run.signed("message", body, sig, self.run.members[message.sender].keys)
        if objection is None:
            objection = _part_objection(message, parts)
        if objection is not None:
            raise DoorError(objection.code, objection.text)
        try:
            action = self.run.read_action(message)
        except CanonicalError as error:
            raise DoorError(error.code, error.text, error.hint) from None
        seq = self.run.size
        self._keep("message", body, sig, tuple(parts))
        ruling = self.run.rule(message, action, seq)
        self._keep("decision", ruling.body, None, ())
        self.run.ruled(message, seq, accepted=ruling.decision.outcome == "accepted")
        if self._group is not None and len(self._pending) >= self._group:
            self.flush()
        return ruling

    def flush(self, notes: Sequence[str] = ()) -> None:
        """Puts what is pending on disk; after it, all of it is durable."""
        if self._number is None:
            blobs = [(blob.digest, blob.lines) for blob in self._blobs]
            self._number = self._store.add_run(self.run.id, self._pending, blobs, notes)
        elif self._pending or notes:
            self._store.append(self._number, self._kept, self._pending, notes)
        self._kept += len(self._pending)
        self._pending = []

    def seal(self, outcome: Outcome) -> str:
        """Ends the run and signs its checkpoint; returns the run root in hex."""
        assert self.run.state is not None
        seal = Seal(outcome=outcome, root=self.run.state.root(), rows=self.run.state.count())
        self._keep("seal", encode_typed(seal), None, ())
        root = self.run.root()
        checkpoint = Checkpoint(f"{self.opened.ledger.name}/run/{self.run.id}", self.run.size, root)
        note = sign_note(print_checkpoint(checkpoint), self.opened.ledger.name, self._key)
        self.flush([note])
        return root.hex()

    def _keep(self, kind: str, body: bytes, sig: str | None, parts: tuple[Part, ...]) -> None:
        if kind != "open":
            check_size(body, MAX_BODY_BYTES)
        self.run.link(kind, body, sig)
        self._pending.append(Draft(kind, body, sig, parts))

    def _own_part(self, party: str, kind: str, field: str, text: str) -> Part:
        salt = own_salt(self._secret, self.opened.nonce, party, kind, self.run.size, field)
        return Part(field, part_text(salt, text))

    def _read(self, body: bytes) -> Message:
        try:
            return admit(body, MESSAGE, MAX_BODY_BYTES)
        except CanonicalError as error:
            raise DoorError(error.code, error.text, error.hint) from None

    def _again(self, member: Member, message: Message, body: bytes) -> Ruling:
        """The recorded decision on a message that was sent before, byte for byte."""
        seq = member.said[message.n]
        if self._body(seq) != body:
            raise DoorError("message.n", f"n is {message.n}, the next of `{member.id}` is {member.n}")
        decided = self._body(seq + 1)
        return Ruling(DECISION.decode(decided), decided, None)

    def _body(self, seq: int) -> bytes:
        if seq >= self._kept:
            return self._pending[seq - self._kept].body
        assert self._number is not None
        return self._store.body(self._number, seq)


class Voice:
    """A party played in this process: numbers, salts and signs what it says."""

    def __init__(self, writer: Writer, party: str, seed: bytes) -> None:
        self._writer = writer
        self._party = party
        self._seed = seed
        self._key = SigningKey.from_seed(seed)
        self._nonce = writer.opened.nonce

    def say(
        self, action: msgspec.Struct, *, to: str | None, reply_to: int | None = None, key: str | None = None
    ) -> Ruling:
        """Sends an action; fields that are parts hold their text, which goes beside the record.

        Raises:
            CanonicalError: a value that has no canonical form, or is too large.
            DoorError: the key was revoked.
        """
        run = self._writer.run
        n = run.members[self._party].n
        parts = [
            Part(field, part_text(message_salt(self._seed, self._nonce, n, field), getattr(action, field)))
            for field in part_fields(type(action))
        ]
        if parts:
            action = msgspec.structs.replace(action, **{part.field: part.text.digest for part in parts})
        message = Message(
            action=msgspec.Raw(encode(action)),
            sender=self._party,
            key=key,
            n=n,
            reply_to=reply_to,
            seen=(run.size - 1, run.prev),
            to=to,
        )
        body = encode_typed(message)
        sig = signature_text(self._key.sign(pae("message", body)))
        return self._writer.admit(body, sig, parts, verified=True)


def part_text(salt: str, text: str) -> PartText:
    """A part of this text.

    Raises:
        CanonicalError: over 1 MiB, or text that is not Unicode scalar values.
    """
    try:
        size_bytes = len(text.encode())
    except UnicodeEncodeError:
        raise CanonicalError("canonical.text", "a text holds a lone surrogate") from None
    if size_bytes > MAX_PART_BYTES:
        raise CanonicalError("canonical.size", f"a text of {size_bytes} bytes is over the limit of {MAX_PART_BYTES}")
    return PartText(salt=salt, text=text)


def _part_objection(message: Message, parts: Sequence[Part]) -> Objection | None:
    """Why the parts are not those that the message names, or None; a part may be withheld."""
    if not parts:
        return None
    fields = msgspec.json.decode(bytes(message.action))
    for part in parts:
        if fields.get(part.field) != part.text.digest:
            return Objection("part.digest", f"the part `{part.field}` is not the one that the message names")
    return None


def _opened(secret: bytes, name: str, plan: Plan, facts: str) -> Open:
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
        parties=[
            replace(party, key=key_text(key)) for party, key in zip(blank.parties, keys, strict=True)
        ],
    )

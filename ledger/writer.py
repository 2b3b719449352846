"""Writing a run: every act through the door, every decision made and kept with it.

    begin  ─► brief* ─► (admit a signed message ─► rule ─► keep both)* ─► seal ─► checkpoint
    resume ─► every record judged again ─► on from the last one

A party played in this process speaks through a `Voice`, which numbers, signs
and salts for it; a party outside brings its own bytes to `admit`. Both pass
the same door. Records are kept in one transaction per `group` of them, a
message never without its decision; what `flush` returned from is on disk. A
run without groups is kept whole, when it is sealed, or not at all.

A writer that was stopped between a message and its decision (an interrupt, a
bug in a market) writes no more: what it holds is not what the file holds.

Not here: what a run is opened with (`plan`), who plays (`tollbook.tasks`),
what the file looks like (`store`).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar

from ..protocol.bodies import Brief, KeyChange, Message, Open, Outcome, Seal, Turn, Usage
from ..protocol.canonical import MAX_OPEN_BYTES, MAX_RECORD_BYTES, check_size, encode, encode_typed
from ..protocol.derive import ledger_key, own_salt, party_seed
from ..protocol.engine import Ruling
from ..protocol.errors import CanonicalError, DoorError, LedgerError, TollbookError
from ..protocol.keys import key_text, pae, signature_text
from ..protocol.world import world_of
from .audit import Auditor
from .notes import Checkpoint, print_checkpoint, sign_note
from .parts import misfits, named_by, part_text
from .plan import Plan, opened_by
from .records import DECISION, ENVELOPE_BYTES, KEY, MESSAGE, Part, read_body
from .run import Member, Run
from .store import Draft
from .verify import shelf_of
from .voice import Voice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import msgspec

    from ..protocol.tables import Facts
    from .blobs import Blob
    from .store import Store

T = TypeVar("T")

GROUP_RECORDS = 100
_FIRST = ("open", "brief")
MAX_BODY_BYTES = MAX_RECORD_BYTES - ENVELOPE_BYTES


class Keeper(Protocol):
    """Where a run's records are kept: a `Store`, or what passes them on to one."""

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        """As `Store.add_run`."""
        ...

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        """As `Store.append`."""
        ...

    def refuse_known(self, run_id: str) -> None:
        """As `Store.refuse_known`."""
        ...

    def signed(self, run: int, seq: int) -> tuple[bytes, str | None]:
        """As `Store.signed`."""
        ...


class Writer:
    """One run being written."""

    def __init__(  # noqa: PLR0913 - where a run is kept, and how far it is
        self,
        store: Keeper,
        secret: bytes,
        run: Run,
        number: int | None,
        group: int | None,
        *,
        begun: bool = False,
    ) -> None:
        """Goes on with a run whose records so far are in the store as its run `number`.

        ``begun`` says whether any of them comes after the briefs. ``kept``
        counts the records that are on disk: of those, a party may be told.
        """
        self.run = run
        self._store = store
        self._secret = secret
        self._key = ledger_key(secret)
        self._number = number
        self._group = group
        self.kept = run.size
        self._pending: list[Draft] = []
        self._notes: list[str] = []
        self._blobs: Sequence[Blob] = ()
        self._begun = begun
        self._over: str | None = None

    @classmethod
    def begin(  # noqa: PLR0913 - a run's beginnings
        cls,
        store: Keeper,
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
        opened = opened_by(plan, secret, name, facts.root)
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

    @classmethod
    def resume(cls, store: Store, secret: bytes, number: int, *, group: int | None = GROUP_RECORDS) -> Self:
        """Goes on with the store's open run `number`: judges what is there, and appends to it.

        Raises:
            LedgerError: `run.unknown`; `run.sealed`; `run.foreign`, another
                ledger opened it; `run.damaged`, an audit finds something; or
                `run.facts`, its start rows aren't here.
        """
        run_id = store.id(number)
        auditor = Auditor(shelf_of(store))
        for stored in store.records(number):
            auditor.record(stored)
        run = _open_run(auditor, run_id)
        if run.ledger_key != ledger_key(secret).public:
            raise LedgerError(
                "run.foreign",
                f"run `{run_id[:12]}` was opened by ledger `{run.opened.ledger.name}`, which has another key",
                "only the ledger that opened a run can go on with it",
            )
        return cls(store, secret, run, number, group, begun=auditor.begun)

    @property
    def id(self) -> str:
        """The run id."""
        return self.run.id

    @property
    def opened(self) -> Open:
        """The run's ``open``."""
        return self.run.opened

    def brief(self, party: str, text: str) -> None:
        """Tells one party alone what it is there for.

        Raises:
            LedgerError: there is no such party, or messages came before.
        """
        with self._whole():
            part = self._own_part(party, "brief", "part", text)
            if self._begun:
                raise LedgerError("grammar.brief", "a brief comes before all but the open")
            objection = self.run.brief(party)
            if objection is not None:
                raise LedgerError(objection.code, objection.text)
            self._keep("brief", encode_typed(Brief(part=part.text.digest, party=party)), None, (part,))

    def turn(
        self,
        party: str,
        n: int | None,
        *,
        given: str | None = None,
        gave: str | None = None,
        usage: Usage | None = None,
    ) -> None:
        """Keeps what an agent was given and gave around its message `n`, as evidence.

        Raises:
            LedgerError: there is no such party, or `n` is beyond its next message.
        """
        with self._whole():
            objection = self.run.turn(party, n)
            if objection is not None:
                raise LedgerError(objection.code, objection.text)
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

        The bytes of an earlier message again get the decision on it again.
        ``verified`` is for a voice of this process, which has just signed.

        Raises:
            DoorError: the message is not authentic; nothing is kept, `n` is not used.
        """
        self._go_on()
        message = self._read(body, MESSAGE)
        member = self.run.members.get(message.sender)
        if member is not None and message.n < member.n:
            seq = self._said(member, message.n, body, sig, "message")
            decided, _sig = self._stored(seq + 1)
            return Ruling(DECISION.decode(decided), decided, None)
        try:
            action = self.run.read_action(message)
        except CanonicalError as error:
            raise DoorError(error.code, error.text, error.hint) from None
        objection = self.run.door(message)
        if objection is None and not verified:
            objection = self.run.signed("message", body, sig, self.run.members[message.sender].keys)
        parts = sorted(parts, key=lambda part: part.field)
        if objection is None and parts:
            objection = next(iter(misfits(parts, named_by(message, action))), None)
        if objection is not None:
            raise DoorError(objection.code, objection.text)
        return self._rule(message, action, Draft("message", body, sig, tuple(parts)))

    def _rule(self, message: Message, action: Any, draft: Draft) -> Ruling:  # noqa: ANN401 - a world's action
        seq = self.run.size
        with self._whole():
            self._keep(*draft)
            ruling = self.run.rule(message, action, seq)
            self._keep("decision", ruling.body, None, ())
            self.run.ruled(message, seq, accepted=ruling.decision.outcome == "accepted")
        self._flush_group()
        return ruling

    def change_key(self, body: bytes, sig: str) -> int:
        """Keeps a signed change of a party's keys; returns the seq of its record.

        The bytes of an earlier change again get its seq again.

        Raises:
            DoorError: the change is not authentic, or not one that may be; nothing is kept.
        """
        self._go_on()
        change = self._read(body, KEY)
        member = self.run.members.get(change.party)
        if member is not None and change.by == "party" and change.n < member.n:
            return self._said(member, change.n, body, sig, "key")
        with self._whole():
            objection = self.run.key(change, body, sig)
            if objection is not None:
                raise DoorError(objection.code, objection.text)
            self._keep("key", body, sig, ())
        self._flush_group()
        return self.run.size - 1

    def revoke_key(self, party: str, key: bytes) -> int:
        """Takes a key (raw, 32 bytes) from a party in the ledger's name; returns the seq of its record.

        Raises:
            DoorError: the party doesn't hold the key, or there is no such party.
        """
        change = KeyChange(
            by="ledger",
            change="revoke",
            key=key_text(key),
            n=self.run.ledger_n,
            party=party,
            seen=(self.run.size - 1, self.run.prev),
        )
        body = encode_typed(change)
        return self.change_key(body, signature_text(self._key.sign(pae("key", body))))

    def flush(self, notes: Sequence[str] = ()) -> None:
        """Puts what is pending, and notes, on disk; after it, all of it is durable.

        Raises:
            LedgerError: `ledger.write` and the like; all of it is pending still.
        """
        self._notes.extend(notes)
        if self._number is None:
            blobs = [(blob.digest, blob.lines) for blob in self._blobs]
            self._number = self._store.add_run(self.run.id, self._pending, blobs, self._notes)
        elif self._pending or self._notes:
            self._store.append(self._number, self.kept, self._pending, self._notes)
        self.kept += len(self._pending)
        self._pending, self._notes = [], []

    def seal(self, outcome: Outcome, note: Callable[[str], str] | None = None) -> str:
        """Ends the run and signs its checkpoint; returns the run root in hex.

        ``note`` gives, from that root, the text of a further note to sign and
        keep beside the run; it ends in a line end.
        """
        with self._whole():
            assert self.run.state is not None, "a writer has rules and start rows"
            seal = Seal(outcome=outcome, root=self.run.state.root(), rows=self.run.state.count())
            self._keep("seal", encode_typed(seal), None, ())
            root = self.run.root()
            checkpoint = Checkpoint(f"{self.opened.ledger.name}/run/{self.run.id}", self.run.size, root)
            texts = [print_checkpoint(checkpoint), *([note(root.hex())] if note else [])]
            notes = [sign_note(text, self.opened.ledger.name, self._key) for text in texts]
        self._over = "is done: the run is sealed"
        self.flush(notes)
        return root.hex()

    def _keep(self, kind: str, body: bytes, sig: str | None, parts: Sequence[Part]) -> None:
        # A decision was made here: the engine keeps to its size, and the types of its events to its depth.
        if kind not in ("open", "decision"):
            check_size(body, MAX_BODY_BYTES)
        self.run.link(kind, body, sig)
        self._pending.append(Draft(kind, body, sig, parts))
        self._begun = self._begun or kind not in _FIRST

    @contextmanager
    def _whole(self) -> Generator[None]:
        """What is kept within it is kept whole, or the writer is over."""
        self._go_on()
        size, pending = self.run.size, len(self._pending)
        try:
            yield
        except BaseException as error:
            if self.run.size != size or not isinstance(error, TollbookError):
                del self._pending[pending:]
                self._over = "was stopped in the middle of an act"
            raise

    def _go_on(self) -> None:
        if self._over is not None:
            raise LedgerError(
                "run.over", f"the writer of run `{self.id[:12]}` {self._over}", "an open run can be resumed"
            )

    def _flush_group(self) -> None:
        if self._group is not None and len(self._pending) >= self._group:
            self.flush()

    def _own_part(self, party: str, kind: str, field: str, text: str) -> Part:
        salt = own_salt(self._secret, self.opened.nonce, party, kind, self.run.size, field)
        return Part(field, part_text(salt, text))

    def _read(self, body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
        try:
            return read_body(body, decoder, MAX_BODY_BYTES)
        except CanonicalError as error:
            raise DoorError(error.code, error.text, error.hint) from None

    def _said(self, member: Member, n: int, body: bytes, sig: str, kind: Literal["message", "key"]) -> int:
        """The seq of the record in which a party said the very same before, under its number `n`."""
        seq = member.said[n]
        known, known_sig = self._stored(seq)
        if known != body:
            raise DoorError("message.n", f"n is {n}, the next of `{member.id}` is {member.n}")
        if known_sig != sig:
            # The key that signed it may be gone by now; another signature has to be good by today's.
            objection = self.run.signed(kind, body, sig, member.keys)
            if objection is not None:
                raise DoorError(objection.code, objection.text)
        self._flush_group()  # a flush that failed before leaves the answer undurable until now
        return seq

    def _stored(self, seq: int) -> tuple[bytes, str | None]:
        if seq >= self.kept:
            draft = self._pending[seq - self.kept]
            return draft.body, draft.sig
        assert self._number is not None
        return self._store.signed(self._number, seq)


def _open_run(auditor: Auditor, run_id: str) -> Run:
    """The run that was judged, if it can be gone on with."""
    audit = auditor.finish([], run_id)
    if audit.outcome is not None:
        raise LedgerError(
            "run.sealed", f"run `{run_id[:12]}` is sealed", "a sealed run can't be gone on with"
        )
    hint = "see `tollbook verify`"
    if audit.findings:
        first = audit.findings[0]
        raise LedgerError("run.damaged", f"run `{run_id[:12]}` is not good: {first.code}: {first.text}", hint)
    run = audit.replayed
    if run is None or run.state is None:
        raise LedgerError("run.facts", f"the start rows of run `{run_id[:12]}` are not here", hint)
    return run

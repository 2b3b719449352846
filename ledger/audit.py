"""The audit of one run: every record judged, every decision made again.

    records ─► 1 bytes, grammar, chain ─► 2 keys, signatures, n, seen ─► 3 re-execution
            ─► 4 seal ─► 5 checkpoint ─►  Audit(findings, checks, what was replayed)

An `Auditor` is fed records one by one, from a store or a bundle, and holds
nothing of a record after it but what `Run` keeps. A stored decision is not
decoded but made again from the rules and compared as bytes, so nothing that a
file says of a decision is believed.

Not here: reading files (`store`, `bundle`); whether briefs and scripted
parties did what the task says (check 6, in `tollbook.tasks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..protocol.bodies import Decision, Message, Turn
from ..protocol.canonical import (
    MAX_PART_BYTES,
    MAX_RECORD_BYTES,
    admit,
    admit_any,
    check_size,
    encode_typed,
)
from ..protocol.errors import BundleError, CanonicalError, WorldError
from ..protocol.world import part_fields, world_of
from .anchor import NO_PINS, Pins, check_notes
from .blobs import Shelf
from .findings import CHECKS, Check, Finding, State
from .records import BRIEF, DECISION, ENVELOPE_BYTES, KEY, MESSAGE, OPEN, SEAL, TURN, Part, Stored, limit_of
from .run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..protocol.bodies import Open, Seal
    from ..protocol.tables import Facts
    from ..protocol.world import World

MAX_FINDINGS = 100

_DECISION_ORDER = ("message", "outcome", "rule", "detail", "events", "delta", "result", "reads")
_CODES = {
    "canonical.size": "record.size",
    "canonical.depth": "record.depth",
    "canonical.spelling": "record.spelling",
}


class Deed(NamedTuple):
    """A message of a replayed run with its typed action, its texts and the decision on it."""

    seq: int
    message: Message
    action: Any
    texts: dict[str, str]
    decision: Decision


class Evidence(NamedTuple):
    """A turn of a replayed run with its texts."""

    seq: int
    turn: Turn
    texts: dict[str, str]


class Audit(NamedTuple):
    """What the audit of one run gave.

    ``outcome`` is the seal's, None while the run is open. ``keys`` says for
    each party whether its key is ``pinned`` or ``self-asserted``. ``deeds``
    and ``evidence`` are kept only where they were asked for.
    """

    run: str
    records: int
    checks: dict[Check, State]
    findings: list[Finding]
    anchored: bool
    keys: dict[str, str]
    outcome: str | None
    root: str | None
    custody: str | None
    withheld: int
    replayed: Run | None
    task: str | None
    deeds: list[Deed]
    evidence: list[Evidence]

    @property
    def imported(self) -> bool:
        """Whether the run was imported from a record that others made: its keys prove custody, not authorship."""
        return self.custody == "imported"

    @property
    def good(self) -> bool:
        """Whether the run is sealed and every check up to 5 was done and passed."""
        return self.outcome is not None and all(self.checks[check] == "done" for check in ("1", "2", "3", "4", "5"))


class _Stop(Exception):  # noqa: N818 - a signal inside this module, not an error
    """What comes after this record can't be judged any more."""


class Auditor:
    """Judges one run, record by record."""

    def __init__(
        self,
        shelf: Shelf,
        pins: Pins = NO_PINS,
        *,
        keep: bool = False,
        signatures: bool = True,
    ) -> None:
        """An audit that is yet to see its first record.

        ``keep`` keeps deeds and evidence for scorers; ``signatures`` is False
        for a replay, which judges rules and not keys.
        """
        self._shelf = shelf
        self._pins = pins
        self._keep = keep
        self._signatures = signatures
        self.run: Run | None = None
        self.findings: list[Finding] = []
        self.deeds: list[Deed] = []
        self.evidence: list[Evidence] = []
        self.withheld = 0
        self._label = "?"
        self._size = 0
        self._stopped = False
        self._seal: Seal | None = None
        self._task: str | None = None
        self._message: tuple[Message, Any, Stored] | None = None
        self._handlers = {
            "brief": self._brief,
            "message": self._on_message,
            "decision": self._on_decision,
            "turn": self._turn,
            "key": self._key,
            "seal": self._on_seal,
        }

    def record(self, stored: Stored) -> None:
        """Judges the next record."""
        try:
            self._judge(stored)
        except _Stop:
            self._stopped = True
        except CanonicalError as error:
            self.find(_CODES.get(error.code, "record.form"), f"{stored.kind}: {error.text}", stored.seq)
            self._stopped = True
        if self.run is not None and self.run.size == self._size:
            self.run.link(stored.kind, stored.body, stored.sig)
        self._size += 1
        if self._size == 1 and self.run is not None:
            self._label = self.run.id
            self.findings = [msgspec.structs.replace(finding, run=self.run.id) for finding in self.findings]

    def find(self, code: str, text: str, seq: int | None) -> None:
        """Adds a finding, up to a hundred a run."""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(Finding(self._label, seq, code, text))

    def finish(self, notes: Sequence[str], label: str | None = None) -> Audit:
        """The audit, once every record was seen; ``label`` is the id that the file gives the run."""
        run = self.run
        if label is not None and run is not None and label != run.id:
            self.find("store.id", f"the file calls this run `{label[:12]}`", None)
        if self._message is not None and not self._stopped:
            self.find("grammar.decision", "the last message has no decision", self._size - 1)
        anchored = False
        if run is not None:
            objections, anchored = check_notes(run, notes, self._pins, sealed=self._seal is not None)
            for objection in objections:
                self.find(objection.code, objection.text, None)
        return Audit(
            run=self._label if run is not None or label is None else label,
            records=self._size,
            checks=self._checks(),
            findings=self.findings,
            anchored=anchored,
            keys={} if run is None else self._pins.standing(run),
            outcome=None if self._seal is None else self._seal.outcome,
            root=None if run is None or self._seal is None else run.root().hex(),
            custody=None if run is None else run.opened.origin.custody,
            withheld=self.withheld,
            replayed=run,
            task=self._task,
            deeds=self.deeds,
            evidence=self.evidence,
        )

    def _checks(self) -> dict[Check, State]:
        failed = {finding.check for finding in self.findings}
        judged = self.run is not None and not self._stopped
        sealed = self._seal is not None
        done: dict[Check, bool] = {
            "1": judged,
            "2": judged and self._signatures,
            "3": judged and self.run is not None and self.run.state is not None,
            "4": judged and sealed and self.run is not None and self.run.state is not None,
            "5": sealed,
            "6": False,
        }
        return {check: "failed" if check in failed else "done" if done[check] else "not done" for check in CHECKS}

    def _judge(self, stored: Stored) -> None:
        if stored.seq != self._size:
            self.find("record.seq", f"seq is {stored.seq}, expected {self._size}", self._size)
            raise _Stop
        if self._stopped:
            return
        if len(stored.body) > MAX_RECORD_BYTES - 2 * ENVELOPE_BYTES:
            check_size(stored.body, limit_of(stored.kind) - ENVELOPE_BYTES)
        if self.run is None:
            self._open(stored)
            return
        if stored.prev is not None and stored.prev != self.run.prev:
            self.find("record.prev", "prev is not the leaf of the record before", stored.seq)
        if self._seal is not None:
            self.find("grammar.after_seal", f"a {stored.kind} comes after the seal", stored.seq)
            raise _Stop
        if (stored.kind == "decision") != (self._message is not None):
            self.find("grammar.decision", "a decision comes right after its message, and nowhere else", stored.seq)
            raise _Stop
        handler = self._handlers.get(stored.kind)
        if handler is None:
            self.find("record.kind", f"no record of kind `{stored.kind}` belongs here", stored.seq)
            raise _Stop
        if stored.sig is not None and stored.kind not in ("message", "key"):
            self.find("signature.unexpected", f"a {stored.kind} is not signed", stored.seq)
        handler(stored)

    def _open(self, stored: Stored) -> None:
        if stored.kind != "open":
            self.find("grammar.open", f"a run begins with its open, not with a {stored.kind}", stored.seq)
            raise _Stop
        opened = admit(stored.body, OPEN, limit_of("open") - ENVELOPE_BYTES)
        if stored.prev not in (None, "0" * 64):
            self.find("record.prev", "prev of the first record is not 64 zeros", stored.seq)
        world = self._world(opened)
        self.run = Run(opened, world, None if world is None else self._facts(opened, world))
        objection = self.run.opening()
        if objection is None and self._signatures:
            objection = self.run.signed("open", stored.body, stored.sig, [self.run.ledger_key])
        if objection is not None:
            self.find(objection.code, objection.text, stored.seq)
        self._parts(stored, {})
        self._task = self._task_text(opened)

    def _world(self, opened: Open) -> World | None:
        try:
            return world_of(opened.world)
        except WorldError as error:
            self.find(error.code, error.text, 0)
            return None

    def _facts(self, opened: Open, world: World) -> Facts | None:
        try:
            return self._shelf.facts(opened.facts, world)
        except BundleError as error:
            self.find(error.code, error.text, 0)
            return None

    def _task_text(self, opened: Open) -> str | None:
        try:
            return None if opened.task is None else self._shelf.task(opened.task.digest)
        except BundleError as error:
            self.find(error.code, error.text, 0)
            return None

    def _brief(self, stored: Stored) -> None:
        assert self.run is not None
        brief = admit(stored.body, BRIEF)
        if any(member.said for member in self.run.members.values()):
            self.find("grammar.brief", "a brief comes before the first message", stored.seq)
        objection = self.run.brief(brief.party)
        if objection is not None:
            self.find(objection.code, objection.text, stored.seq)
        self._parts(stored, {"part": brief.part})

    def _on_message(self, stored: Stored) -> None:
        run = self.run
        assert run is not None
        message = admit(stored.body, MESSAGE)
        action = run.read_action(message)
        objection = run.door(message)
        if objection is not None:
            self.find(objection.code, objection.text, stored.seq)
            if objection.code == "message.from":
                raise _Stop
        if self._signatures:
            objection = run.signed("message", stored.body, stored.sig, run.members[message.sender].keys)
            if objection is not None:
                self.find(objection.code, objection.text, stored.seq)
        self._message = (message, action, stored)
        self._message_parts(message, action, stored)

    def _message_parts(self, message: Message, action: Any, stored: Stored) -> None:  # noqa: ANN401
        if action is not None:
            fields = part_fields(type(action))
            if fields or stored.parts:
                self._parts(stored, {field: getattr(action, field) for field in fields})
        elif stored.parts:
            self._parts(stored, msgspec.json.decode(bytes(message.action)), typed=False)

    def _on_decision(self, stored: Stored) -> None:
        run = self.run
        assert run is not None
        assert self._message is not None
        message, action, said = self._message
        self._message = None
        if run.state is None:
            decision = admit(stored.body, DECISION)
            admit_any(stored.body)
        else:
            ruling = run.rule(message, action, said.seq)
            decision = ruling.decision
            if ruling.body != stored.body:
                self.find("decision.differs", _difference(ruling.body, stored.body), stored.seq)
        run.ruled(message, said.seq, accepted=decision.outcome == "accepted")
        if stored.parts:
            self._parts(stored, {})
        if self._keep:
            texts = {part.field: part.text.text for part in said.parts}
            self.deeds.append(Deed(said.seq, message, action, texts, decision))

    def _turn(self, stored: Stored) -> None:
        assert self.run is not None
        turn = admit(stored.body, TURN)
        member = self.run.members.get(turn.party)
        if member is None:
            self.find("turn.party", f"`{turn.party}` is not a party of this run", stored.seq)
        elif turn.n is not None and turn.n > member.n:
            self.find("turn.n", f"n is {turn.n}, the next of `{turn.party}` is {member.n}", stored.seq)
        named = (("gave", turn.gave), ("given", turn.given))
        self._parts(stored, {field: digest for field, digest in named if digest is not None})
        if self._keep:
            self.evidence.append(Evidence(stored.seq, turn, {part.field: part.text.text for part in stored.parts}))

    def _key(self, stored: Stored) -> None:
        assert self.run is not None
        change = admit(stored.body, KEY)
        objection = self.run.key(change, stored.body, stored.sig)
        if objection is not None:
            self.find(objection.code, objection.text, stored.seq)
        self._parts(stored, {})

    def _on_seal(self, stored: Stored) -> None:
        run = self.run
        assert run is not None
        seal = admit(stored.body, SEAL)
        self._seal = seal
        if (seal.outcome == "imported") != (run.opened.origin.custody == "imported"):
            self.find("seal.outcome", f"outcome `{seal.outcome}` is not that of a {run.opened.origin.custody} run", stored.seq)
        if run.state is not None:
            if seal.root != run.state.root():
                self.find("seal.root", "the state root is not that of the replayed state", stored.seq)
            if seal.rows != run.state.count():
                self.find("seal.rows", f"rows is {seal.rows}, the replayed state has {run.state.count()}", stored.seq)
        self._parts(stored, {})

    def _parts(self, stored: Stored, digests: dict[str, Any], *, typed: bool = True) -> None:
        """Compares the parts beside a record with the digests that its body names, by field."""
        last = ""
        for part in stored.parts:
            self._part(stored.seq, part, digests.pop(part.field, None), last)
            last = part.field
        if typed:
            self.withheld += len(digests)

    def _part(self, seq: int, part: Part, digest: Any, last: str) -> None:  # noqa: ANN401 - of an action of any form
        text = part.text.text
        if digest is None or part.field <= last:
            self.find("part.orphan", f"no field `{part.field}` of the record names this part", seq)
        # No character has more than four bytes, so most texts need no encoding to be known as short.
        elif len(text) * 4 > MAX_PART_BYTES and len(text.encode("utf-8", "replace")) > MAX_PART_BYTES:
            self.find("part.size", f"the part `{part.field}` is over {MAX_PART_BYTES} bytes", seq)
        elif part.text.digest != digest:
            self.find("part.digest", f"the part `{part.field}` is not the text that the record names", seq)


def _difference(made: bytes, stored: bytes) -> str:
    """Which field of a stored decision is the first that the rules don't give."""
    try:
        claimed: Any = msgspec.json.decode(stored)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "the decision is not the one that the rules give: it is not JSON"
    if isinstance(claimed, dict):
        given: dict[str, Any] = msgspec.json.decode(made)
        for field in _DECISION_ORDER:
            if claimed.get(field, ...) != given[field]:
                return f"the rules give another `{field}`: `{_short(given[field])}`"
    return "the decision is not the one that the rules give: its spelling differs"


def _short(value: object, limit: int = 60) -> str:
    text = encode_typed(value).decode()
    return text if len(text) <= limit else text[: limit - 1] + "…"

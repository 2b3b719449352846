"""The audit of one run: every record judged, every decision made again.

    records ─► 1 bytes, grammar, chain ─► 2 keys, signatures, n, seen ─► 3 re-execution
            ─► 4 seal ─► 5 checkpoint ─►  Audit(findings, checks, what was replayed)

An `Auditor` is fed records one by one, from a store or a bundle, and holds
nothing of a record after it but what `Run` keeps. A stored decision is not
decoded but made again from the rules and compared as bytes, so nothing that a
file says of a decision is believed. Behind a record that can't be read nothing
is judged any more. Findings come in the order of records, those on one record
in the order of the checks.

Not here: reading files (`store`, `bundle`); whether briefs and scripted
parties did what the task says (check 6, in `tollbook.tasks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from ..protocol.bodies import Decision, Message
from ..protocol.canonical import MAX_OPEN_BYTES, MAX_RECORD_BYTES
from ..protocol.errors import BundleError, CanonicalError, WorldError
from ..protocol.world import world_of
from .anchor import NO_PINS, Pins, check_notes
from .audited import Audit, Deed, Evidence, Told
from .blobs import Shelf
from .findings import CHECKS, Check, Finding, State, place_of, quoted
from .parts import misfits, named_by
from .records import (
    BODIES,
    BRIEF,
    ENVELOPE_BYTES,
    KEY,
    MESSAGE,
    OPEN,
    SEAL,
    TURN,
    ZERO,
    Stored,
    check_form,
    check_record_size,
    leaf_of,
    leaf_of_record,
    read_body,
    read_claimed,
)
from .run import Objection, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..protocol.bodies import Open, Seal
    from ..protocol.tables import Facts
    from ..protocol.world import World

MAX_FINDINGS = 100

Keep = Literal[False, True, "played"]
"""Whether what was said is kept: of no run, of every run, of those played here."""

_SIGNED = ("message", "key")
_UNNAMED = "?"
_DECISION_ORDER = ("message", "outcome", "rule", "detail", "events", "delta", "result", "reads")
_CODES = {
    "canonical.size": "record.size",
    "canonical.depth": "record.depth",
    "canonical.spelling": "record.spelling",
}


class _Stop(Exception):  # noqa: N818 - a signal inside this module, not an error
    """What comes after this record can't be judged any more; the chain still can."""


class Auditor:
    """Judges one run, record by record."""

    def __init__(
        self,
        shelf: Shelf,
        pins: Pins = NO_PINS,
        *,
        keep: Keep = False,
        signatures: bool = True,
    ) -> None:
        """An audit that is yet to see its first record.

        ``keep`` keeps briefs, deeds and evidence for scorers and for conduct;
        ``signatures`` is False for a replay, which judges rules and not keys.
        """
        self._shelf = shelf
        self._pins = pins
        self._keep: Keep = keep
        self._signatures = signatures
        self.run: Run | None = None
        self.findings: list[Finding] = []
        self.deeds: list[Deed] = []
        self.evidence: list[Evidence] = []
        self.briefs: list[Told] = []
        self.withheld = 0
        self.label = _UNNAMED
        self._size = 0
        self._ended = False  # nothing more is read
        self._stopped = False  # what is read is linked, and not judged
        self._seal: Seal | None = None
        self._task: str | None = None
        self._message: tuple[Message, Any, Stored] | None = None
        self.begun = False  # with the first record after the briefs

    def record(self, stored: Stored) -> None:
        """Judges the next record."""
        if self._ended:
            return
        try:
            self._judge(stored)
        except _Stop:
            self._stopped = True
        except CanonicalError as error:
            self._unread(_CODES.get(error.code, "record.form"), f"{stored.kind}: {error.text}")
        run = self.run
        if run is None:
            self._begin(leaf_of(stored.seq, stored.kind, stored.prev or ZERO, stored.body, stored.sig).hex())
        elif not self._ended:
            if stored.seq == self._size and (stored.prev is None or stored.prev == run.prev):
                run.link(stored.kind, stored.body, stored.sig)
            else:
                # As it stands, so that the roots are those of the bytes that are there.
                prev = stored.prev or run.prev
                run.link_leaf(leaf_of(stored.seq, stored.kind, prev, stored.body, stored.sig))
            if self._size == 0:
                self._begin(run.id)
        self._size += 1

    def unread(self, code: str, text: str, data: bytes) -> None:
        """Notes that the next record's bytes are no record: the run can't be read on."""
        if self._ended:
            return
        self._unread(code, text)
        if self._size == 0:
            self._begin(leaf_of_record(data).hex())
        self._size += 1

    def end(self, code: str, text: str) -> None:
        """Notes that the file breaks off, or goes on with what belongs to no run."""
        self.find(code, text, None)
        self._ended = True

    def find(self, code: str, text: str, seq: int | None) -> None:
        """Adds a finding, up to a hundred a run."""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(Finding(self.label, seq, code, text))

    def find_in_file(self, code: str, text: str) -> None:
        """Adds a finding that is of the file which holds the run, not of the run's records."""
        self.findings.append(Finding("", None, code, text))

    def finish(self, notes: Sequence[str], label: str | None = None) -> Audit:
        """The audit, once every record was seen; ``label`` is the id that the file gives the run."""
        run = self.run
        if label is not None and run is not None and label != run.id:
            self.find("store.id", f"the file calls this run `{label[:12]}`", None)
        if self._message is not None and not self._stopped and not self._ended:
            self.find("grammar.decision", "the last message has no decision", self._size - 1)
        anchored = False
        if run is not None and not self._ended:
            objections, anchored = check_notes(run, notes, self._pins, sealed=self._seal is not None)
            for objection in objections:
                self.find(objection.code, objection.text, None)
        return Audit(
            run=self.label if run is not None or label is None else label,
            records=self._size,
            checks=self._checks(noted=bool(notes)),
            findings=sorted(self.findings, key=place_of),
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
            briefs=self.briefs,
        )

    def _unread(self, code: str, text: str) -> None:
        self.find(code, text, self._size)
        self._ended = True

    def _begin(self, run_id: str) -> None:
        """Names the findings so far after the run, whose id its first record gives."""
        if self._size == 0:
            self.label = run_id
            self.findings = [
                msgspec.structs.replace(finding, run=run_id) if finding.run == _UNNAMED else finding
                for finding in self.findings
            ]

    def _checks(self, *, noted: bool) -> dict[Check, State]:
        failed = {finding.check for finding in self.findings}
        judged = self.run is not None and not self._stopped and not self._ended
        sealed = self._seal is not None
        done: dict[Check, bool] = {
            "1": judged,
            "2": judged and self._signatures,
            "3": judged and self.run is not None and self.run.state is not None,
            "4": judged and sealed and self.run is not None and self.run.state is not None,
            "5": (sealed or noted) and not self._ended,
            "6": False,
        }
        return {
            check: "failed" if check in failed else "done" if done[check] else "not done" for check in CHECKS
        }

    def _judge(self, stored: Stored) -> None:
        if stored.seq != self._size:
            self.find("record.seq", f"seq is {stored.seq}, expected {self._size}", self._size)
        run = self.run
        if run is None:
            if len(stored.body) > MAX_OPEN_BYTES - ENVELOPE_BYTES:
                check_record_size(stored, MAX_OPEN_BYTES)
            self._first(stored)
            return
        if len(stored.body) > MAX_RECORD_BYTES - ENVELOPE_BYTES:
            check_record_size(stored, MAX_RECORD_BYTES)
        if stored.prev is not None and stored.prev != run.prev:
            self.find("record.prev", "prev is not the leaf of the record before", self._size)
        kind = stored.kind
        handler = Auditor._handlers.get(kind)
        if (
            handler is None
            or self._stopped
            or self._seal is not None
            or (kind == "decision") is (self._message is None)
        ):
            check_form(stored)
            self._misplaced(kind)
            raise _Stop
        if kind != "brief":
            self.begun = True
        elif self.begun:
            self.find("grammar.brief", "a brief comes before all but the open", self._size)
        if stored.sig is not None and kind not in _SIGNED:
            self.find("signature.unexpected", f"a {kind} is not signed", self._size)
        handler(self, stored)

    def _misplaced(self, kind: str) -> None:
        """Says why no record of this kind may come here."""
        if kind == "open":
            self.find("grammar.open", "an open comes first, and once", self._size)
        elif kind not in Auditor._handlers:
            self._unread("record.form", f"there is no record of kind `{kind}`")
        elif self._stopped:
            return
        elif self._seal is not None:
            self.find("grammar.after_seal", f"a {kind} comes after the seal", self._size)
        else:
            what = "a decision comes right after its message, and nowhere else"
            self.find("grammar.decision", what, self._size)

    def _first(self, stored: Stored) -> None:
        if stored.kind not in BODIES:
            self._unread("record.form", f"there is no record of kind `{stored.kind}`")
            return
        opened = read_body(stored.body, OPEN, MAX_OPEN_BYTES) if stored.kind == "open" else None
        if opened is None:
            check_form(stored)
        if stored.prev not in (None, ZERO):
            self.find("record.prev", "prev of the first record is not 64 zeros", self._size)
        if opened is None:
            self.find("grammar.open", f"a run begins with its open, not with a {stored.kind}", self._size)
            self._ended = True
            return
        if self._keep == "played":
            self._keep = opened.origin.custody == "played"
        world = self._world(opened)
        self.run = run = Run(opened, world, None if world is None else self._facts(opened, world))
        self._object(run.opening())
        if self._signatures:
            self._object(run.signed("open", stored.body, stored.sig, [run.ledger_key]))
        self._parts(stored, {})
        self._task = self._task_text(opened)

    def _object(self, objection: Objection | None) -> None:
        if objection is not None:
            self.find(objection.code, objection.text, self._size)

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
            self.find_in_file(error.code, error.text)
            return None

    def _task_text(self, opened: Open) -> str | None:
        try:
            return None if opened.task is None else self._shelf.task(opened.task.digest)
        except BundleError as error:
            self.find_in_file(error.code, error.text)
            return None

    def _brief(self, stored: Stored) -> None:
        assert self.run is not None
        brief = read_body(stored.body, BRIEF)
        self._object(self.run.brief(brief.party))
        self._parts(stored, {"part": brief.part})
        if self._keep:
            text = next((part.text.text for part in stored.parts), None)
            self.briefs.append(Told(self._size, brief.party, text))

    def _on_message(self, stored: Stored) -> None:
        run = self.run
        assert run is not None
        message = read_body(stored.body, MESSAGE)
        action = run.read_action(message)
        self._message = (message, action, stored)
        if action is not None or stored.parts:
            self._parts(stored, named_by(message, action), typed=action is not None)
        objection = run.door(message)
        if objection is not None:
            self._object(objection)
            if objection.code == "message.from":
                raise _Stop
        if self._signatures:
            self._object(run.signed("message", stored.body, stored.sig, run.members[message.sender].keys))

    def _on_decision(self, stored: Stored) -> None:
        run = self.run
        assert run is not None
        assert self._message is not None
        message, action, said = self._message
        self._message = None
        decision: Decision
        if run.state is None:
            decision = read_claimed(stored.body)
        else:
            ruling = run.rule(message, action, self._size - 1)
            decision = ruling.decision
            if ruling.body != stored.body:
                read_claimed(stored.body)
                self.find("decision.differs", _difference(ruling.body, stored.body), self._size)
        run.ruled(message, self._size - 1, accepted=decision.outcome == "accepted")
        if stored.parts:
            self._parts(stored, {})
        if self._keep:
            texts = {part.field: part.text.text for part in said.parts}
            self.deeds.append(Deed(self._size - 1, message, action, texts, decision))

    def _turn(self, stored: Stored) -> None:
        assert self.run is not None
        turn = read_body(stored.body, TURN)
        self._object(self.run.turn(turn.party, turn.n))
        named = (("gave", turn.gave), ("given", turn.given))
        self._parts(stored, {field: digest for field, digest in named if digest is not None})
        if self._keep:
            texts = {part.field: part.text.text for part in stored.parts}
            self.evidence.append(Evidence(self._size, turn, texts))

    def _key(self, stored: Stored) -> None:
        assert self.run is not None
        change = read_body(stored.body, KEY)
        self._object(self.run.key(change, stored.body, stored.sig))
        self._parts(stored, {})

    def _on_seal(self, stored: Stored) -> None:
        run = self.run
        assert run is not None
        seal = read_body(stored.body, SEAL)
        self._seal = seal
        custody = run.opened.origin.custody
        if (seal.outcome == "imported") != (custody == "imported"):
            self.find("seal.outcome", f"outcome `{seal.outcome}` is not that of a {custody} run", self._size)
        if run.state is not None:
            if seal.root != run.state.root():
                self.find("seal.root", "the state root is not that of the replayed state", self._size)
            count = run.state.count()
            if seal.rows != count:
                self.find("seal.rows", f"rows is {seal.rows}, the replayed state has {count}", self._size)
        self._parts(stored, {})

    # Of the class: an auditor that held its own methods would wait for the garbage collector.
    _handlers: ClassVar = {
        "brief": _brief,
        "message": _on_message,
        "decision": _on_decision,
        "turn": _turn,
        "key": _key,
        "seal": _on_seal,
    }

    def _parts(self, stored: Stored, digests: dict[str, Any], *, typed: bool = True) -> None:
        """Compares the parts beside a record with the digests that its body names, by field."""
        for objection in misfits(stored.parts, digests):
            self._object(objection)
        if typed:
            self.withheld += len(digests)


def _difference(made: bytes, stored: bytes) -> str:
    """Which field of a stored decision is the first that the rules don't give."""
    given: dict[str, Any] = msgspec.json.decode(made)
    claimed: dict[str, Any] = msgspec.json.decode(stored)
    field = next(field for field in _DECISION_ORDER if claimed[field] != given[field])
    return f"the rules give another `{field}`: {quoted(given[field])}"

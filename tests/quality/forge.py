"""The forger: takes an exported run, changes one thing and makes every hash again.

    bundle ─► Trace ─► one thing changed ─► mended as far as the forger's keys go ─► bundle

    mended: names of blobs and `open`, places, prev, leaves, `n` and `seen` of messages that
            the forger can sign, their signatures, the seal, checkpoint and notes; with
            `again`, every decision as the market's rules give it after the change

What a forger can't sign stays as it is, under its old signature.

Not here: what is forged and who forges (`forgeries`), what finds it (`test_forgery`).
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple
from unittest import mock

import msgspec

from tollbook.ledger.blobs import Blob, facts_of
from tollbook.ledger.notes import Checkpoint, print_checkpoint, sign_note
from tollbook.ledger.records import MESSAGE, OPEN, leaf_of_record
from tollbook.ledger.run import Run
from tollbook.protocol.bodies import Open
from tollbook.protocol.canonical import digest, encode
from tollbook.protocol.keys import (
    SigningKey,
    key_bytes,
    key_text,
    pae,
    signature_bytes,
    signature_text,
    verify,
)
from tollbook.protocol.merkle import root_of
from tollbook.protocol.tables import Facts
from tollbook.protocol.world import Accepted, World, world_of

ZERO = "0" * 64
Document = dict[str, Any]


@dataclass
class Entry:
    """A record with its parts; ``signer`` is the text of the key that signed it as it was exported."""

    record: Document
    parts: list[Document] = field(default_factory=list)
    signer: str | None = None

    @property
    def kind(self) -> str:
        return self.record["kind"]

    @property
    def body(self) -> Document:
        return self.record["body"]


@dataclass
class Trace:
    """A bundle of one run, as documents that can be changed."""

    blobs: list[Document]
    entries: list[Entry]
    notes: list[str]

    @classmethod
    def read(cls, bundle: bytes) -> Trace:
        trace = cls([], [], [])
        for line in bundle.splitlines():
            ((name, value),) = json.loads(line).items()
            if name == "blob":
                trace.blobs.append(value)
            elif name == "record":
                trace.entries.append(Entry(value))
            elif name == "part":
                trace.entries[-1].parts.append(value)
            else:
                trace.notes.append(value["text"])
        for entry in trace.entries:
            if entry.record["sig"] is not None:
                entry.signer = trace.signer_of(entry)
        return trace

    def bundle(self) -> bytes:
        documents: list[Document] = [{"blob": blob} for blob in self.blobs]
        for entry in self.entries:
            documents.append({"record": entry.record})
            documents += [{"part": part} for part in entry.parts]
        documents += [{"note": {"text": note}} for note in self.notes]
        return b"".join(encode(document) + b"\n" for document in documents)

    def keys(self) -> list[str]:
        """Every key that the run names, the ledger's first."""
        opened = self.entries[0].body
        parties = [party["key"] for party in opened["parties"]]
        return [opened["ledger"]["key"], *parties, *(entry.body["key"] for entry in self.all("key"))]

    def signer_of(self, entry: Entry) -> str:
        data = pae(entry.kind, encode(entry.body))
        signature = signature_bytes(entry.record["sig"])
        return next(key for key in self.keys() if verify(key_bytes(key), signature, data))

    def all(self, kind: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind == kind]

    def blob(self, kind: str) -> Document:
        return next(blob for blob in self.blobs if blob["kind"] == kind)

    def decision(self, message: Entry) -> Entry:
        return self.entries[self.entries.index(message) + 1]


class Hand(NamedTuple):
    """Who forges.

    ``keys`` gives for each key of the run that it can sign for the key that it signs with: the same, or one
    of its own, which then takes the other's place wherever the run names it.
    """

    keys: Mapping[str, SigningKey]

    def holds(self, key: str | None) -> bool:
        return key in self.keys


def mend(
    trace: Trace, hand: Hand, *, again: bool = False, events: Mapping[int, list[Document]] | None = None
) -> None:
    """Makes every hash again, as far as the hand's keys go.

    ``again`` rules on every message again; ``events`` are what the forger has the decision at that place
    come to instead, its delta and result and all after it made to fit.
    """
    _put_keys(trace, hand)
    _name_blobs(trace)
    for seq, entry in enumerate(trace.entries):
        entry.record["seq"] = seq
        if entry.kind == "decision":
            entry.body["message"] = seq - 1
    if again:
        rule(trace, events or {})
    leaves = _link(trace, hand)
    trace.notes = [_note(trace, note, leaves, hand) for note in trace.notes]


def rule(trace: Trace, events: Mapping[int, list[Document]]) -> Run:
    """Makes every decision and the seal again by the market's rules; returns the run at its end."""
    opened: Open = OPEN.decode(encode(trace.entries[0].body))
    world = world_of(opened.world)
    run = Run(opened, world, facts_in(trace, opened))
    assert run.state is not None
    for seq, entry in enumerate(trace.entries):
        run.link(entry.kind, b"", None)
        if entry.kind == "message":
            message = MESSAGE.decode(encode(entry.body))
            with _lying(world, events.get(seq, ())):
                made = run.rule(message, run.read_action(message), seq).decision
            run.ruled(message, seq, accepted=made.outcome == "accepted")
            trace.entries[seq + 1].record["body"] = json.loads(encode(made))
        elif entry.kind == "seal":
            entry.body.update(root=run.state.root(), rows=run.state.count())
    return run


@contextmanager
def _lying(world: World, events: Sequence[Document]) -> Iterator[None]:
    """A market that accepts what comes next, with these events (if there are any)."""
    if not events:
        yield
        return
    typed = [msgspec.convert(event, world.event_kinds[event["kind"]]) for event in events]
    with mock.patch.object(world, "decide", return_value=Accepted(typed)):
        yield


def facts_in(trace: Trace, opened: Open) -> Facts:
    """The start rows that a trace holds, under its world's types."""
    lines = [encode({"blob": blob}) for blob in trace.blobs if blob["kind"] == "rows"]
    return facts_of(Blob(opened.facts, lines), world_of(opened.world))


def set_text(entry: Entry, name: str, text: str) -> None:
    """Puts another text in a part, and its digest in the body's field."""
    part = next(part for part in entry.parts if part["field"] == name)
    part["text"] = text
    holder = entry.body["action"] if entry.kind == "message" else entry.body
    holder[name] = digest([part["salt"], text])


def checkpoint_of(name: str, run: str, leaves: list[bytes], key: SigningKey) -> str:
    """A checkpoint over these leaves of a run, signed."""
    checkpoint = Checkpoint(f"{name}/run/{run}", len(leaves), root_of(leaves))
    return sign_note(print_checkpoint(checkpoint), name, key)


def _put_keys(trace: Trace, hand: Hand) -> None:
    opened = trace.entries[0].body
    holders = [opened["ledger"], *opened["parties"], *(entry.body for entry in trace.all("key"))]
    for holder in holders:
        if hand.holds(holder["key"]):
            holder["key"] = key_text(hand.keys[holder["key"]].public)


def _name_blobs(trace: Trace) -> None:
    opened = trace.entries[0].body
    for blob in trace.blobs:
        if blob["kind"] == "task":
            blob["of"] = opened["task"]["digest"] = sha256(blob["text"].encode()).hexdigest()
        else:
            blob["of"] = opened["facts"] = state_root(blob["rows"], blob["tables"])


def state_root(rows: list[Any], tables: list[str]) -> str:
    """The state root of rows."""
    leaves = []
    for table in tables:
        own = [leaf_of_record(encode(row)) for row in sorted(rows, key=lambda row: row[1]) if row[0] == table]
        leaves.append(leaf_of_record(encode([table, len(own), root_of(own).hex()])))
    return root_of(leaves).hex()


def _link(trace: Trace, hand: Hand) -> list[bytes]:
    leaves: list[bytes] = []
    counts: dict[str, int] = {}
    for entry in trace.entries:
        record, seq = entry.record, len(leaves)
        record["prev"] = leaves[-1].hex() if leaves else ZERO
        if entry.kind in ("message", "key"):
            party = entry.body["from" if entry.kind == "message" else "party"]
            if hand.holds(entry.signer):
                entry.body.update(n=counts.get(party, 0), seen=[seq - 1, leaves[-1].hex()])
            counts[party] = counts.get(party, 0) + 1
        if entry.signer is not None and hand.holds(entry.signer):
            signature = hand.keys[entry.signer].sign(pae(entry.kind, encode(entry.body)))
            record["sig"] = signature_text(signature)
        leaves.append(leaf_of_record(encode(record)))
    return leaves


def _note(trace: Trace, note: str, leaves: list[bytes], hand: Hand) -> str:
    """A note with what is true now of the run; under its old signature if the hand can't make a new one."""
    ledger = trace.entries[0].body["ledger"]
    root = root_of(leaves)
    text, _, signature = note.rpartition("\n\n")
    lines = text.split("\n")
    if lines[0].startswith("tollbook.environment/"):
        lines[1] = encode({**json.loads(lines[1]), "root": root.hex()}).decode()
    else:
        lines = [f"{ledger['name']}/run/{leaves[0].hex()}", str(len(leaves)), b64encode(root).decode()]
    made = "\n".join(lines) + "\n"
    own = {key_text(key.public): key for key in hand.keys.values()}
    if ledger["key"] in own:
        return sign_note(made, ledger["name"], own[ledger["key"]])
    return f"{made}\n{signature}"

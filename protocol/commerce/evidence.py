"""Evidence: what somebody states of a listing or of an order, under that somebody's name.

    record = kind, issuer, subject, facts       read by everybody, or by its readers and its issuer alone

Whoever publishes is the issuer: nobody states anything in another's name. A record is never changed; one that
is wrong is answered by another. `evidence.list` says which records there are on a subject, and not what they
say; `evidence.get` shows one whole.

An index row per subject names the records on it. It is shown to nobody, since it names those of others too.
Not here: whether a fact is true, or whose word counts for more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from ..bodies import Made
from ..canonical import Id
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import Attributes
from .subject import fresh, own, shown, unknown
from .talk import tick_of
from .terms import CommerceAction, CommerceEvent, CommerceRow, EvidenceRecordId, Tick

MAX_FACTS = 64

Stated = Annotated[Attributes, msgspec.Meta(min_length=1, max_length=MAX_FACTS)]
Readers = Annotated[tuple[Id, ...], msgspec.Meta(max_length=64)]

_OF_AN_ORDER = ("order", "return")


class EvidenceRecord(CommerceRow, frozen=True):
    """A row of `evidence_record`; one without ``readers`` is read by everybody."""

    kind: Id
    issuer: Id
    subject: Id
    facts: Attributes
    readers: Readers | None = None
    tick: Tick = 0

    def is_read_by(self, party: str) -> bool:
        """Whether a party may read it."""
        return self.readers is None or party == self.issuer or party in self.readers


class EvidenceFile(CommerceRow, frozen=True):
    """A row of `evidence_file`: the records on the subject of the same key, oldest first."""

    records: tuple[Id, ...]


class EvidencePublish(CommerceAction, frozen=True, tag="evidence.publish"):
    """States facts of a listing, or of an order or return of one's own, for everybody or for some readers.

    `subject` is the key of what they are of; `readers` names parties, null is everybody.
    """

    record_kind: Id
    subject: Id
    facts: Stated
    readers: Readers | None = None


class EvidenceGet(CommerceAction, frozen=True, tag="evidence.get"):
    """Reads an evidence record: who states what of which subject."""

    evidence_record: EvidenceRecordId


class EvidenceList(CommerceAction, frozen=True, tag="evidence.list"):
    """Finds the evidence records on a subject, such as a listing: their ids, kinds and issuers alone."""

    subject: Id


class EvidencePublished(CommerceEvent, frozen=True, tag="evidence.published"):
    """Facts were stated."""

    evidence_record: Made
    record_kind: str
    issuer: str
    subject: str
    facts: Attributes
    readers: tuple[str, ...] | None
    tick: int


def filed(records: Mapping[str, EvidenceRecord]) -> dict[str, list[str]]:
    """The keys of records by their subjects."""
    files: dict[str, list[str]] = {}
    for key, record in records.items():
        files.setdefault(record.subject, []).append(key)
    return files


def file_evidence(typed: Mapping[str, dict[str, Any]]) -> None:
    """Makes the files of subjects that have none among start rows."""
    for subject, keys in filed(typed["evidence_record"]).items():
        typed["evidence_file"].setdefault(subject, EvidenceFile(tuple(keys)))


def readable(state: State, key: str, party: str) -> EvidenceRecord | None:
    """The record, when there is one and the party may read it."""
    record: EvidenceRecord | None = state.get("evidence_record", key)
    return record if record is not None and record.is_read_by(party) else None


def _publish(state: State, act: Act) -> Verdict:
    action: EvidencePublish = act.action
    if state.get("listing", action.subject) is None and not any(
        own(state, table, action.subject, act.sender) for table in _OF_AN_ORDER
    ):
        return Refusal("evidence.subject", {"subject": action.subject})
    published = EvidencePublished(
        evidence_record=fresh(state, "evidence_record", f"v{act.seq}"),
        record_kind=action.record_kind,
        issuer=act.sender,
        subject=action.subject,
        facts=action.facts,
        readers=action.readers,
        tick=tick_of(state),
    )
    return Accepted([published])


def _get(state: State, act: Act) -> Verdict:
    action: EvidenceGet = act.action
    if readable(state, action.evidence_record, act.sender) is None:
        return unknown("evidence.unknown", "evidence_record", action.evidence_record)
    return ALLOWED


def _list(_state: State, _act: Act) -> Verdict:
    return ALLOWED


def _published(state: State, event: EvidencePublished) -> None:
    record = EvidenceRecord(
        kind=event.record_kind,
        issuer=event.issuer,
        subject=event.subject,
        facts=event.facts,
        readers=event.readers,
        tick=event.tick,
    )
    state.put("evidence_record", event.evidence_record, record)
    records = (*_records_on(state, event.subject), event.evidence_record)
    state.put("evidence_file", event.subject, EvidenceFile(records))


def _records_on(state: State, subject: str) -> tuple[str, ...]:
    found: EvidenceFile | None = state.get("evidence_file", subject)
    return () if found is None else found.records


def _show_published(state: State, _act: Act, events: Events) -> Shown:
    published = events[0]
    assert isinstance(published, EvidencePublished)
    return shown(state, ("evidence_record", published.evidence_record))


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("evidence_record", act.action.evidence_record))


def _show_list(state: State, act: Act, _events: Events) -> Shown:
    """No row is shown in full, so none is said to be read."""
    found: list[dict[str, str]] = []
    for key in _records_on(state, act.action.subject):
        record = readable(state, key, act.sender)
        if record is not None:
            found.append({"id": key, "kind": record.kind, "issuer": record.issuer})
    return Shown({"evidence_record": found})


SUBJECT = Subject(
    rows={"evidence_record": EvidenceRecord, "evidence_file": EvidenceFile},
    rules=(
        Rule(EvidencePublish, _publish, _show_published, ("evidence.subject",), is_unaddressed=True),
        Rule(EvidenceGet, _get, _show, ("evidence.unknown",), is_query=True),
        Rule(EvidenceList, _list, _show_list, is_query=True),
    ),
    events={EvidencePublished: _published},
    refusals={
        "evidence.subject": "evidence is on a listing, or on an order or return of the sender's",
        "evidence.unknown": "there is no such record that the sender may read",
    },
)

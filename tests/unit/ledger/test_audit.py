"""The audit of single records, each changed in one way; whole forgeries are in tests/quality."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from small_run import NAME, OUTSIDER, SECRET, TASK, begin, facts, key_of, ledger, small_run
from steady_world import UNSTEADY, counted

from tollbook.ledger.anchor import Pins
from tollbook.ledger.audit import Auditor
from tollbook.ledger.audited import Audit
from tollbook.ledger.blobs import Blob, Shelf, facts_blob, task_blob
from tollbook.ledger.findings import Finding
from tollbook.ledger.notes import vkey_of
from tollbook.ledger.records import Part, Stored
from tollbook.ledger.replay import replay
from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of, verify_store
from tollbook.protocol.bodies import Agent, PartText
from tollbook.protocol.derive import ledger_key, party_key
from tollbook.protocol.keys import SigningKey, key_text, pae, signature_text

Change = Callable[[list[Stored]], object]
AGENT = Agent(model="", name="", settings={}, version="")


@cache
def made() -> tuple[tuple[Stored, ...], tuple[str, ...], dict[str, Blob]]:
    """The small run's records and notes, and the blobs it names."""
    with tempfile.TemporaryDirectory() as folder, ledger(Path(folder) / "a.db") as store:
        small_run(store)
        blobs = {blob.digest: blob for blob in (facts_blob(facts()), task_blob(TASK))}
        return tuple(store.records(1)), tuple(store.notes(1)), blobs


def audit(
    records: list[Stored], *, notes: tuple[str, ...] | None = None, blobs: Any = None, **settings: Any
) -> Audit:
    auditor = Auditor(Shelf((made()[2] if blobs is None else blobs).get), **settings)
    for stored in records:
        auditor.record(stored)
    return auditor.finish(made()[1] if notes is None else notes)


def key_for(party: str) -> SigningKey:
    if party == "outsider":
        return OUTSIDER
    opened = json.loads(made()[0][0].body)
    return party_key(SECRET, opened["nonce"], party)


def changed(seq: int, signer: SigningKey | None = None, **fields: Any) -> Change:
    """Other fields in a record's body, signed again where it was signed."""

    def change(records: list[Stored]) -> None:
        stored = records[seq]
        body = {**json.loads(stored.body), **fields}
        data = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        sig = stored.sig
        if sig is not None:
            key = signer or (
                ledger_key(SECRET)
                if seq == 0 or body.get("by") == "ledger"
                else key_for(body.get("from", body.get("party")))
            )
            sig = signature_text(key.sign(pae(stored.kind, data)))
        records[seq] = replace(stored, body=data, sig=sig)

    return change


def bytes_of(seq: int, before: bytes, after: bytes) -> Change:
    def change(records: list[Stored]) -> None:
        assert before in records[seq].body
        records[seq] = replace(records[seq], body=records[seq].body.replace(before, after, 1))

    return change


def field(seq: int, **fields: Any) -> Change:
    return lambda records: records.__setitem__(seq, replace(records[seq], **fields))


def moved(records: list[Stored]) -> list[Stored]:
    """The records where they now stand."""
    return [replace(stored, seq=seq) for seq, stored in enumerate(records)]


def gone(seq: int) -> Change:
    return lambda records: records.pop(seq)


def again(seq: int) -> Change:
    return lambda records: records.insert(seq, records[seq])


OPEN, BRIEF, SAID, RULED, TURN, WROTE, ADDED, REVOKED, LAST = 0, 1, 3, 4, 7, 9, 18, 19, 23
LEAF = "ab" * 32
PART = Part("text", PartText(salt="0" * 32, text="another"))

FIRST: list[tuple[str, int | None, Change]] = [
    ("record.size", SAID, bytes_of(SAID, b'"key":null', b'"key":"' + b"x" * 70_000 + b'"')),
    ("record.form", SAID, bytes_of(SAID, b'"key":null', b'"key":1')),
    ("record.form", SAID, bytes_of(SAID, b'"n":0', b'"n":00')),
    ("record.form", SAID, bytes_of(SAID, b'"n":0', b'"n":0.0')),
    ("record.form", SAID, bytes_of(SAID, b'"key":null', b'"key":null,"more":null')),
    ("record.form", SAID, bytes_of(SAID, b'"kind":"message.send"', b'"kind":7')),
    ("record.form", OPEN, bytes_of(OPEN, b'"catalog":null', b'"catalog":1')),
    ("record.form", OPEN, bytes_of(OPEN, b'"name":"tollbook.test"', b'"name":"tollbook.test\\n"')),
    ("record.form", OPEN, bytes_of(OPEN, b'"role":"user"', b'"role":"user\\n"')),
    ("record.form", BRIEF, bytes_of(BRIEF, b'"party":"user"', b'"party":""')),
    ("record.form", TURN, bytes_of(TURN, b'"n":0', b'"n":2147483648')),
    ("record.form", LAST, bytes_of(LAST, b"completed", b"finished")),
    ("record.form", RULED, bytes_of(RULED, b"accepted", b"excepted")),
    ("record.form", RULED, bytes_of(RULED, b'"detail":{}', b'"detail":{"a":0.5}')),
    ("record.form", SAID, field(SAID, kind="saying")),
    ("record.form", OPEN, field(OPEN, kind="opening")),
    ("record.depth", SAID, bytes_of(SAID, b'"text":', b'"a":' + b"[" * 14 + b"]" * 14 + b',"text":')),
    ("record.spelling", SAID, bytes_of(SAID, b'"n":0', b'"n": 0')),
    ("record.spelling", SAID, bytes_of(SAID, b'"n":0', b'"n":-0')),
    ("record.spelling", RULED, bytes_of(RULED, b'"detail":{}', b'"detail": {}')),
    ("record.seq", SAID, lambda records: records.__setitem__(SAID, replace(records[SAID], seq=7))),
    ("record.prev", SAID, field(SAID, prev=LEAF)),
    ("record.prev", OPEN, field(OPEN, prev=LEAF)),
    ("grammar.open", 0, gone(OPEN)),
    ("grammar.open", 1, again(OPEN)),
    ("grammar.brief", 8, lambda records: records.insert(8, records[BRIEF])),
    ("grammar.decision", RULED, gone(RULED)),
    ("grammar.decision", SAID, gone(SAID)),
    ("grammar.decision", 5, again(RULED)),
    ("grammar.decision", 20, lambda records: records.__delitem__(slice(21, None))),
    ("grammar.after_seal", LAST + 1, again(LAST)),
    ("grammar.after_seal", LAST + 1, lambda records: records.append(records[TURN])),
    ("part.orphan", SAID, field(SAID, parts=(PART, PART))),
    ("part.orphan", LAST, field(LAST, parts=(PART,))),
    ("part.orphan", OPEN, field(OPEN, parts=(PART,))),
    ("part.digest", SAID, field(SAID, parts=(PART,))),
    ("part.size", SAID, field(SAID, parts=(Part("text", PartText(salt="0" * 32, text="ü" * (2**19 + 1))),))),
    ("message.from", SAID, changed(SAID, key_of("nobody"), **{"from": "nobody"})),
    ("brief.party", BRIEF, changed(BRIEF, party="nobody")),
    ("turn.party", TURN, changed(TURN, party="nobody")),
    ("key.unknown", ADDED, changed(ADDED, OUTSIDER, party="nobody")),
    ("key.form", ADDED, changed(ADDED, key="!" * 44)),
    ("key.small_order", ADDED, changed(ADDED, key=key_text(b"\1" + bytes(31)))),
    ("key.not_canonical", ADDED, changed(ADDED, key=key_text(b"\xff" * 31 + b"\x7f"))),
    ("key.duplicate", ADDED, changed(ADDED, key=key_text(OUTSIDER.public))),
    ("key.revoke", ADDED, changed(ADDED, change="revoke")),
    ("key.revoke", REVOKED, changed(REVOKED, change="add", key=key_text(key_of("third").public))),
    ("message.n", SAID, changed(SAID, n=1)),
    ("message.n", ADDED, changed(ADDED, n=2)),
    ("message.n", REVOKED, changed(REVOKED, n=1)),
    ("message.seen", SAID, changed(SAID, seen=[SAID, LEAF])),
    ("message.seen", SAID, changed(SAID, seen=[2, LEAF])),
    ("message.seen", SAID, changed(SAID, seen=[0, LEAF])),
    ("message.seen", ADDED, changed(ADDED, seen=[0, LEAF])),
    ("signature.missing", SAID, field(SAID, sig=None)),
    ("signature.missing", OPEN, field(OPEN, sig=None)),
    ("signature.missing", ADDED, field(ADDED, sig=None)),
    ("signature.unexpected", BRIEF, field(BRIEF, sig="A" * 88)),
    ("signature.unexpected", RULED, field(RULED, sig="A" * 88)),
    ("signature.unexpected", LAST, field(LAST, sig="A" * 88)),
    ("signature.form", SAID, field(SAID, sig="A" * 87)),
    ("signature.form", SAID, field(SAID, sig="")),
    ("signature.invalid", SAID, field(SAID, sig="A" * 86 + "==")),
    ("signature.invalid", SAID, changed(SAID, key_of("nobody"))),
    ("signature.invalid", OPEN, changed(OPEN, key_of("nobody"))),
    ("signature.invalid", 20, changed(20, OUTSIDER)),  # revoked by then
    ("signature.invalid", 16, changed(16, key_of("second"))),  # not yet added
    ("decision.differs", RULED, changed(RULED, outcome="refused")),
    ("decision.differs", RULED, changed(RULED, message=2)),
    ("decision.differs", WROTE, changed(WROTE, events=[])),
    ("decision.differs", WROTE, changed(WROTE, delta=LEAF)),
    ("decision.differs", 6, changed(6, result=LEAF)),
    ("decision.differs", 6, changed(6, reads=[])),
    ("decision.differs", 13, changed(13, rule="another.rule")),
    ("decision.differs", 13, changed(13, detail={})),
    ("seal.root", LAST, changed(LAST, root=LEAF)),
    ("seal.rows", LAST, changed(LAST, rows=1)),
    ("seal.outcome", LAST, changed(LAST, outcome="imported")),
]  # fmt: skip


@pytest.mark.parametrize(("code", "seq", "change"), FIRST)
def test_the_first_finding(code: str, seq: int | None, change: Change) -> None:
    records = list(made()[0])
    change(records)
    if code != "record.seq":
        records = moved(records)
    found = audit(records)
    assert (code, seq) == (found.findings[0].code, found.findings[0].seq)
    assert "failed" == found.checks[found.findings[0].check]
    assert not found.good
    assert found.run == found.findings[0].run
    assert "\n" not in found.findings[0].text


def test_a_good_run_has_no_finding_and_all_checks_done() -> None:
    found = audit(list(made()[0]))
    assert ([], True, "completed") == (found.findings, found.good, found.outcome)
    assert dict.fromkeys("12345", "done") | {"6": "not done"} == found.checks
    assert (24, 0, False, None) == (
        found.records,
        found.withheld,
        found.anchored,
        None if not found.imported else "",
    )
    assert TASK == found.task
    assert set(found.keys.values()) == {"self-asserted"}


def test_a_run_is_named_by_its_first_record_whatever_it_is() -> None:
    run_id = audit(list(made()[0])).run
    records = list(made()[0])
    bytes_of(LAST, b"completed", b"abandoned")(records)
    assert run_id == audit(records).run
    bytes_of(OPEN, b'"trial":0', b'"trial":1')(records)
    assert run_id != audit(records).run
    for broken in (field(OPEN, kind="opening"), field(OPEN, body=b"{"), gone(OPEN)):
        records = list(made()[0])
        broken(records)
        found = audit(moved(records))
        assert {found.run} == {finding.run for finding in found.findings}
        assert 64 == len(found.run)


def test_nothing_is_judged_behind_a_record_that_cannot_be_read() -> None:
    records = list(made()[0])
    for seq in (SAID, WROTE, LAST):
        records[seq] = replace(records[seq], body=b"{")
    found = audit(records)
    assert [("record.form", SAID)] == [(finding.code, finding.seq) for finding in found.findings]
    assert {
        "1": "failed",
        "2": "not done",
        "3": "not done",
        "4": "not done",
        "5": "not done",
        "6": "not done",
    } == found.checks


def test_findings_come_by_record_and_then_by_check() -> None:
    records = list(made()[0])
    changed(SAID, key_of("nobody"), n=5)(records)
    field(SAID, prev=LEAF, parts=(PART,))(records)
    field(BRIEF, sig="A" * 88)(records)
    found = audit(records)
    expected = ["signature.unexpected", "record.prev", "part.digest", "message.n", "signature.invalid"]
    assert expected == [finding.code for finding in found.findings][:5]


def test_a_hundred_findings_are_enough() -> None:
    records = list(made()[0])
    more = [replace(records[BRIEF], sig="A" * 88, seq=seq) for seq in range(1, 5000)]
    assert 100 == len(audit([records[OPEN], *more]).findings)


def test_an_open_run_is_neither_good_nor_wrong() -> None:
    found = audit(list(made()[0][:-1]), notes=())
    assert ([], False, None, None) == (found.findings, found.good, found.outcome, found.root)
    assert ("done", "not done", "not done") == (found.checks["3"], found.checks["4"], found.checks["5"])


def test_without_start_rows_or_rules_re_execution_is_not_done() -> None:
    records = list(made()[0])
    found = audit(records, blobs={})
    assert ([], False) == (found.findings, found.good)
    assert ("not done", "not done", "done") == (found.checks["3"], found.checks["4"], found.checks["2"])
    assert found.task is None
    changed(21, events=[{"kind": "order.vanished"}])(records)
    seal_free = audit(records, blobs={}, notes=())
    assert "decision.differs" not in [finding.code for finding in seal_free.findings]
    bytes_of(21, b'"message":20', b'"message":-1')(records)
    assert ("record.form", 21) == (
        audit(records, blobs={}).findings[0].code,
        audit(records, blobs={}).findings[0].seq,
    )


def test_a_world_that_is_not_known_is_said() -> None:
    records = list(made()[0])
    changed(OPEN, world={"name": "retail", "params": {}, "version": 7})(records)
    assert "world.unknown" == audit(records).findings[0].code
    changed(OPEN, world={"name": "retail", "params": {"mode": "other"}, "version": 0})(records)
    assert "world.params" == audit(records).findings[0].code


def test_a_blob_that_is_wrong_is_the_files_and_not_the_runs() -> None:
    blobs = dict(made()[2])
    for name, blob in made()[2].items():
        blobs = {
            **made()[2],
            name: Blob(
                name,
                [line.replace(b"user wants", b"user hates").replace(b"Elm", b"Oak") for line in blob.lines],
            ),
        }
        found = audit(list(made()[0]), blobs=blobs)
        assert [("", None, "blob.digest")] == [(one.run, one.seq, one.code) for one in found.findings]
        assert "failed" == found.checks["1"]


def test_a_replay_judges_rules_and_not_signatures() -> None:
    records = list(made()[0])
    field(20, sig=None)(records)
    auditor = replay(iter(records), Shelf(made()[2].get))
    assert [] == auditor.findings
    assert "not done" == auditor.finish(made()[1][:0]).checks["2"]


def test_a_replay_stops_where_it_is_told() -> None:
    shelf = Shelf(made()[2].get)
    sizes = [replay(iter(made()[0]), shelf, seq).run for seq in (0, 9, 23)]
    assert [1, 10, 24] == [run.size for run in sizes if run is not None]
    states = [run.state.root() for run in sizes if run is not None and run.state is not None]
    assert states[0] != states[1] == states[2]


def test_what_was_said_is_kept_where_it_is_asked_for() -> None:
    found = audit(list(made()[0]), keep=True)
    assert [3, 5, 8, 10, 12, 14, 16, 20] == [deed.seq for deed in found.deeds]
    assert {"text": "please cancel my order"} == found.deeds[0].texts
    assert "message.send" == type(found.deeds[0].action).__struct_config__.tag
    assert [7, 22] == [one.seq for one in found.evidence]
    assert {"given": "the order is pending", "gave": "look it up"} == found.evidence[0].texts
    assert [] == audit(list(made()[0])).deeds


def test_parts_may_be_withheld_and_are_counted() -> None:
    records = [replace(one, parts=()) for one in made()[0]]
    found = audit(records)
    assert (True, 5) == (found.good, found.withheld)


def test_a_key_that_was_pinned_vouches_for_those_added_under_it() -> None:
    records = list(made()[0])
    pinned = Pins(vkeys=(vkey_of("outsider", OUTSIDER.public),))
    later = Pins(vkeys=(vkey_of("outsider", key_of("second").public),))
    other = Pins(vkeys=(vkey_of("outsider", key_of("third").public),))
    assert "pinned" == audit(records, pins=pinned).keys["outsider"]
    assert "self-asserted" == audit(records, pins=later).keys["outsider"]
    assert [] == audit(records, pins=later).findings
    assert ["key.pinned"] == [finding.code for finding in audit(records, pins=other).findings]
    assert NAME in audit(records).keys


# Rules that aren't a function of state and message


@pytest.fixture
def counters(tmp_path: Path) -> Iterator[Store]:
    with ledger(tmp_path / "a.db") as store:
        yield store


def test_a_steady_market_is_made_again(counters: Store) -> None:
    writer = counted(counters, "steady")
    assert ["accepted"] * 6 + ["refused"] * 2 == [
        json.loads(one.body)["outcome"] for one in counters.records(1) if one.kind == "decision"
    ]
    (found,) = verify_store(counters.path, counters.runs())
    assert (True, writer.run.root().hex()) == (found.good, found.root)


@pytest.mark.parametrize("name", ["time", "random", "env"])
def test_a_market_that_reads_more_than_its_state_is_found_out(
    counters: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted(counters, name)
    monkeypatch.setenv("TOLLBOOK_TEST_ENV", "another")
    (found,) = verify_store(counters.path, counters.runs())
    assert ("decision.differs", 2) == (found.findings[0].code, found.findings[0].seq)
    assert "the rules give another `events`" in found.findings[0].text
    assert "failed" == found.checks["3"]


def test_every_unsteady_market_is_tried() -> None:
    """That a set has another order in another process needs one: tests/quality/test_faults.py."""
    assert {"steady", "time", "random", "env", "set"} == set(UNSTEADY)


def test_findings_are_plain_values(counters: Store) -> None:
    begin(counters)
    found = audit_run(counters, 1, "ab" * 32, shelf_of(counters))
    assert Finding(found.run, None, "store.id", "the file calls this run `abababababab`") == found.findings[0]
    assert {"run", "seq", "code", "text"} == set(msgspec.to_builtins(found.findings[0]))

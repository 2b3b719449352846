"""docs/verify_trace.py against bundles made here, without the package: each thing broken once.

A small writer of the format stands in for the package, so that three readings of docs/FORMAT.md (the
package's, the verifier's and this one) have to agree.
"""

from __future__ import annotations

import copy
import importlib.util
import io
import json
import re
import subprocess
import sys
import tokenize
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import example, given, settings
from hypothesis import strategies as st

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPT = DOCS / "verify_trace.py"
_spec = importlib.util.spec_from_file_location("verify_trace", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
vt: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(vt)
vt.verify = lru_cache(maxsize=4_096)(vt.verify)  # pure, slow, and asked the same thing by most tests

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
HEX = "ab" * 32
SIGNED = ("open", "message", "key")
ENVIRONMENT = "tollbook.environment/1"


# A small writer of the format


class Signer:
    """A key made from one byte."""

    def __init__(self, byte: int) -> None:
        self.key = Ed25519PrivateKey.from_private_bytes(bytes([byte]) * 32)
        self.public = self.key.public_key().public_bytes_raw()
        self.text = b64encode(self.public).decode()

    def sign(self, data: bytes) -> str:
        return b64encode(self.key.sign(data)).decode()


KEYS = {"ledger": Signer(1), "ada": Signer(2), "bob": Signer(3), "spare": Signer(4), "thief": Signer(5)}


def canonical(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def digest(value: Any) -> str:
    return sha256(canonical(value)).hexdigest()


def leaf(data: bytes) -> bytes:
    return sha256(b"\x00" + data).digest()


def root(leaves: list[bytes]) -> bytes:
    """RFC 6962 2.1, as it is written there: split at the largest power of two below n."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256().digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\x01" + root(leaves[:split]) + root(leaves[split:])).digest()


def state_root(tables: list[str], rows: list[Any]) -> str:
    found = []
    for table in tables:
        leaves = [leaf(canonical(row)) for row in rows if row[0] == table]
        found.append(leaf(canonical([table, len(leaves), root(leaves).hex()])))
    return root(found).hex()


def pae(kind: str, body: bytes) -> bytes:
    name = f"application/vnd.tollbook.{kind}.v1+json"
    return f"DSSEv1 {len(name)} {name} {len(body)} ".encode() + body


def note(text: str, signer: Signer, name: str = "test/market") -> str:
    ident = sha256(name.encode() + b"\n\x01" + signer.public).digest()[:4]
    return f"{text}\n\N{EM DASH} {name} {b64encode(ident + signer.key.sign(text.encode())).decode()}\n"


ROWS = [
    ["item", "i1", {"price_minor": 900}],
    ["item", "i2", {"price_minor": 1200}],
    ["order", "o1", {"item": "i1"}],
]
TABLES = ["idempotency", "item", "order"]
TASK = "title = 'An apple'\n"


def part(text: str) -> dict[str, str]:
    return {"salt": "0123456789abcdef" * 2, "text": text}


def part_digest(text: str) -> str:
    return digest([part(text)["salt"], text])


def party(name: str) -> dict[str, Any]:
    agent = {"model": "none", "name": "reference", "settings": {"depth": "2"}, "version": "1"}
    return {"agent": agent, "id": name, "key": KEYS[name].text, "role": "buyer"}


def opening() -> dict[str, Any]:
    return {
        "catalog": None,
        "facts": state_root(TABLES, ROWS),
        "ledger": {"key": KEYS["ledger"].text, "name": "test/market"},
        "nonce": "11" * 32,
        "origin": {"custody": "played", "source": None},
        "parent": None,
        "parties": [party("ada"), party("bob")],
        "seed": "22" * 32,
        "task": {"case": "plain", "digest": sha256(TASK.encode()).hexdigest(), "id": "apple"},
        "trial": 0,
        "world": {"name": "stall", "params": {"mode": "strict", "rounds": 3}, "version": 0},
    }


def message(sender: str, n: int, seen: int, **more: Any) -> dict[str, Any]:
    action = more.pop("action", {"kind": "offer.ask", "text": part_digest(f"hello {n}")})
    body = {"action": action, "from": sender, "key": None, "n": n, "reply_to": None, "seen": seen, "to": None}
    return body | more


def decision(at: int) -> dict[str, Any]:
    return {
        "delta": digest([]),
        "detail": {"left": 3, "rules": ["a", "b"]},
        "events": [{"kind": "offer.made", "n": -4}],
        "message": at,
        "outcome": "accepted",
        "reads": [["item", "i1"], ["item", "*"]],
        "result": None,
        "rule": None,
    }


def key_change(party: str, key: str, n: int, seen: int, **more: str) -> dict[str, Any]:
    body = {"by": "party", "change": "add", "key": KEYS[key].text, "n": n, "party": party, "seen": seen}
    return body | more


def turn() -> dict[str, Any]:
    usage = {"cost_micros": 12, "input_tokens": 3, "output_tokens": None}
    return {"gave": part_digest("gave"), "given": None, "n": 0, "party": "ada", "usage": usage}


def record(kind: str, body: dict[str, Any], signer: str | None = None, **parts: str) -> dict[str, Any]:
    beside = {field: part(text) for field, text in parts.items()}
    return {"kind": kind, "body": body, "signer": signer, "parts": beside}


def sound() -> list[dict[str, Any]]:
    """A run with every kind of record; a record's place in the list is its seq."""
    return [
        record("open", opening(), "ledger"),
        record("brief", {"part": part_digest("sell"), "party": "ada"}, part="sell"),
        record("brief", {"part": part_digest("buy"), "party": "bob"}),
        record("message", message("ada", 0, 2), "ada", text="hello 0"),
        record("decision", decision(3)),
        record("turn", turn(), gave="gave"),
        record("message", message("bob", 0, 4, to="ada", reply_to=3, key="k1"), "bob"),
        record("decision", decision(6)),
        record("key", key_change("ada", "spare", 1, 7), "ada"),
        record("message", message("ada", 2, 8), "spare", text="hello 2"),
        record("decision", decision(9)),
        record("key", key_change("ada", "ada", 0, 10, change="revoke", by="ledger"), "ledger"),
        record("key", key_change("bob", "bob", 1, 11, change="revoke"), "bob"),
        record("seal", {"outcome": "completed", "root": HEX, "rows": 3}),
    ]


Records = list[dict[str, Any]]
Edit = Callable[[Records], object]


class Bundle:
    """A bundle as lines, and the records' leaves as they were written."""

    def __init__(self, records: Records, *, notes: Any = None, blobs: list[Any] | None = None) -> None:
        self.leaves: list[bytes] = []
        self.lines = [b'{"blob":%b}' % canonical(one) for one in (start_blobs() if blobs is None else blobs)]
        for one in records:
            self._record(one)
        self.run = self.leaves[0].hex()
        sealed = records[-1]["kind"] == "seal"
        for text in (self.notes() if sealed else []) if notes is None else notes(self):
            self.lines.append(b'{"note":%b}' % canonical({"text": text}))

    def _record(self, one: dict[str, Any]) -> None:
        body = dict(one["body"])
        if isinstance(body.get("seen"), int):
            seen = body["seen"]
            body["seen"] = [seen, self.leaves[seen].hex() if seen < len(self.leaves) else HEX]
        prev = self.leaves[-1].hex() if self.leaves else "0" * 64
        made = {"body": body, "kind": one["kind"], "prev": prev, "seq": len(self.leaves), "sig": None, "v": 1}
        if one["signer"]:
            made["sig"] = KEYS[one["signer"]].sign(pae(one["kind"], canonical(body)))
        made |= one.get("set", {})
        data = one.get("bytes", canonical)(made)
        self.leaves.append(leaf(data))
        self.lines.append(b'{"record":%b}' % data)
        for field, text in sorted(one["parts"].items()):
            self.lines.append(b'{"part":%b}' % canonical({"field": field, **text}))

    def origin(self) -> str:
        return f"test/market/run/{self.run}"

    def root(self) -> bytes:
        return root(self.leaves)

    def checkpoint(self, **other: Any) -> str:
        parts = {"origin": self.origin(), "size": len(self.leaves), "root": b64encode(self.root()).decode()}
        parts |= other
        return f"{parts['origin']}\n{parts['size']}\n{parts['root']}\n"

    def environment(self, **other: Any) -> str:
        return f"{ENVIRONMENT}\n{canonical({'python': '3', 'root': self.root().hex()} | other).decode()}\n"

    def notes(self) -> list[str]:
        return [note(self.checkpoint(), KEYS["ledger"]), note(self.environment(), KEYS["ledger"])]

    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)


def start_blobs() -> list[dict[str, Any]]:
    of = state_root(TABLES, ROWS)
    rows = [{"kind": "rows", "of": of, "rows": some, "tables": TABLES} for some in (ROWS[:1], ROWS[1:])]
    return [*rows, {"kind": "task", "of": sha256(TASK.encode()).hexdigest(), "text": TASK}]


def findings(data: bytes, pin: str | None = None) -> list[tuple[int | None, str]]:
    found, _runs = vt.audit(data, pin)
    return [(None if seq == "-" else seq, code) for _run, seq, code in found]


def first(data: bytes) -> tuple[int | None, str]:
    found = findings(data)
    assert found, "nothing was found"
    return found[0]


# What is sound


def test_a_sound_run_has_no_finding() -> None:
    made = Bundle(sound())
    assert ([], {made.run: True}) == vt.audit(made.data())


def test_an_open_run_is_open_and_its_checkpoint_not_missed() -> None:
    made = Bundle(sound()[:8])
    assert ([], {made.run: False}) == vt.audit(made.data())


def test_any_part_can_be_withheld() -> None:
    lines = [line for line in Bundle(sound()).lines if not line.startswith(b'{"part"')]
    assert [] == findings(b"".join(line + b"\n" for line in lines))


def test_runs_share_blobs_and_are_judged_apart() -> None:
    other = sound()
    other[0]["body"]["trial"] = 1
    other[3]["signer"] = "thief"
    one, two = Bundle(sound()), Bundle(other, blobs=[])
    expected = [(two.run, 3, "signature.invalid")], {one.run: True, two.run: True}
    assert expected == vt.audit(one.data() + two.data())


def test_a_record_with_seq_0_begins_the_next_run() -> None:
    other = sound()[:8]
    other[0]["body"]["trial"] = 1
    one, two = Bundle(sound()[:8]), Bundle(other, blobs=[])
    assert ([], {one.run: False, two.run: False}) == vt.audit(one.data() + two.data())


def test_the_same_run_twice_counts_once() -> None:
    made = Bundle(sound())
    assert ([], {made.run: True}) == vt.audit(made.data() + Bundle(sound(), blobs=[]).data())


def test_only_the_ledgers_key_can_be_pinned() -> None:
    data = Bundle(sound()).data()
    assert [] == findings(data, vkey(KEYS["ledger"]))
    others = [vkey(KEYS["ledger"], "test/other"), vkey(KEYS["thief"]), vkey(KEYS["ledger"])[:-1], "x", ""]
    for pin in others:
        assert [(None, "checkpoint.key")] == findings(data, pin)


@pytest.mark.parametrize("size", range(12))
def test_tree_is_that_of_rfc_6962(size: int) -> None:
    entries = [bytes([place]) for place in range(size)]
    assert root([leaf(entry) for entry in entries]) == vt.tree(entries)


# Fields that a check needs, of another form or left out, with all hashes and signatures made again

NO_RECORD = (None, 7, "", [], {})
NEEDED = [
    # seq, path to the field, values that it may not have
    (0, "ledger", (*NO_RECORD, [KEYS["ledger"].text])),
    (0, "ledger.key", (None, 7, {})),
    (0, "ledger.name", ()),
    (0, "parties", (None, 7, [None], [7], [{}], [["ada"]])),
    (0, "parties.0.id", ([], {})),
    (0, "parties.0.key", (None, 7)),
    (1, "party", ([], {})),
    (3, "action", (None, 7, "", [])),
    (3, "from", ([], {})),
    (3, "n", (None, "0", [], {})),
    (3, "seen", (None, "", [], [2], [2, HEX, 0], [HEX, 2], [None, HEX], {})),
    (5, "party", ([], {})),
    (8, "by", (*NO_RECORD, "bob")),
    (8, "change", (*NO_RECORD, "added")),
    (8, "key", (None, 7, {})),
    (8, "n", (None, "1", [], {})),
    (8, "party", ([], {})),
    (8, "seen", (None, "", [], [7], [7, HEX, 0], [HEX, 7], {})),
]
PATHS = [f"{seq}.{path}" for seq, path, _ in NEEDED]
LEFT_OUT = {
    "1.party": "brief.party", "3.from": "message.from", "5.party": "turn.party", "8.party": "key.unknown",
}  # fmt: skip
"""What is said instead if the field is left out."""


def walk(records: Records, seq: int, path: str) -> tuple[Any, Any]:
    *steps, name = [int(step) if step.isdecimal() else step for step in path.split(".")]
    holder = records[seq]["body"]
    for step in steps:
        holder = holder[step]
    return holder, name


@pytest.mark.parametrize(("seq", "path", "values"), NEEDED, ids=PATHS)
def test_a_field_that_is_needed(seq: int, path: str, values: tuple[Any, ...]) -> None:
    for value in values:
        records = sound()
        holder, name = walk(records, seq, path)
        holder[name] = value
        assert (seq, "record.form") == first(Bundle(records).data()), value
    records = sound()
    holder, name = walk(records, seq, path)
    del holder[name]
    assert (seq, LEFT_OUT.get(f"{seq}.{path}", "record.form")) == first(Bundle(records).data())


def paths(value: Any) -> Iterator[str]:
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, one in places:
        yield str(place)
        yield from (f"{place}.{path}" for path in paths(one))


@pytest.mark.parametrize("seq", [0, 1, 3, 4, 5, 8, 13])
def test_any_value_in_any_field_is_taken_or_found(seq: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vt, "verify", library_verifies)  # its own is tested below, and slow
    for path in paths(sound()[seq]["body"]):
        for value in (None, True, -1, 10**4000, "", "\x00", [], [[]], [None, {}], {}, {"id": {}, "key": ""}):
            records = sound()
            holder, name = walk(records, seq, path)
            holder[name] = value
            findings(Bundle(records).data())
        records = sound()
        holder, name = walk(records, seq, path)
        del holder[name]
        findings(Bundle(records).data())


# The record around the body: what is set replaces what the writer would have written

def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels - 1):
        value = [value]
    return value


ENVELOPES = [
    # code, seq, what is set
    ("record.form", 4, {"v": 2}),
    ("record.form", 4, {"v": True}),
    ("record.form", 4, {"kind": "ruling"}),
    ("record.form", 4, {"kind": None}),
    ("record.form", 4, {"sig": 7}),
    ("record.form", 3, {"sig": 7}),
    ("record.form", 4, {"body": []}),
    ("record.form", 4, {"body": None}),
    ("record.form", 4, {"note": None}),
    ("record.seq", 4, {"seq": 5}),
    ("record.seq", 4, {"seq": 3}),
    ("record.seq", 4, {"seq": -1}),
    ("record.seq", 4, {"seq": "4"}),
    ("record.seq", 1, {"seq": True}),
    ("record.prev", 4, {"prev": HEX}),
    ("record.prev", 4, {"prev": HEX[1:]}),
    ("record.prev", 4, {"prev": None}),
    ("record.prev", 0, {"prev": HEX}),
    ("signature.missing", 0, {"sig": None}),
    ("signature.missing", 3, {"sig": None}),
    ("signature.missing", 8, {"sig": None}),
    ("signature.unexpected", 1, {"sig": "A" * 86 + "=="}),
    ("signature.unexpected", 4, {"sig": "A" * 86 + "=="}),
    ("signature.unexpected", 5, {"sig": ""}),
    ("signature.unexpected", 5, {"sig": [""]}),
    ("signature.unexpected", 13, {"sig": "A" * 86 + "=="}),
    ("signature.form", 3, {"sig": ""}),
    ("signature.form", 3, {"sig": "A" * 84}),  # 63 bytes
    ("signature.form", 3, {"sig": "A" * 87 + "="}),  # 65 bytes
    ("signature.form", 3, {"sig": "A" * 85 + "B=="}),  # spare bits
    ("signature.form", 3, {"sig": "A" * 86}),
    ("signature.form", 3, {"sig": "_" * 86 + "=="}),
    ("signature.form", 3, {"sig": "é" * 88}),
    ("signature.invalid", 3, {"sig": "A" * 86 + "=="}),
    ("signature.invalid", 0, {"sig": "A" * 86 + "=="}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "seq", "set_"), ENVELOPES)
def test_envelope(code: str, seq: int, set_: dict[str, Any]) -> None:
    records = sound()
    records[seq]["set"] = set_
    assert (seq, code) == first(Bundle(records).data())


SPELLINGS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("record.spelling", lambda data: data.replace(b",", b", ", 1)),
    ("record.spelling", lambda data: data + b" "),
    ("record.spelling", lambda data: data.replace(b"hello", b"\\u0068ello").replace(b"offer", b"\\u006ffer")),
    ("record.spelling", lambda data: data.replace(b'"v":1', b'"v":1,"v":1')),
    ("record.spelling", lambda data: data.replace(b'"v":1', b'"v":2,"v":1')),
    ("record.spelling", lambda data: data.replace(b'"n":0', b'"n":-0')),
    ("record.spelling", lambda data: data.replace(b',"v":1}', b"}").replace(b"{", b'{"v":1,', 1)),
    ("record.form", lambda data: data.replace(b'"n":0', b'"n":0.0')),
    ("record.form", lambda data: data.replace(b'"n":0', b'"n":0e1')),
    ("record.form", lambda data: data.replace(b'"n":0', b'"n":1e400')),
    ("record.form", lambda data: data.replace(b'"n":0', b'"n":NaN')),
    ("record.form", lambda data: data.replace(b'"n":0', b'"n":-Infinity')),
    ("record.form", lambda data: data.replace(b'"n":0', b'"n":' + b"9" * 5000)),
    ("record.form", lambda data: data.replace(b'"n":0', b'"n":00')),
    ("record.form", lambda data: b"\xef\xbb\xbf" + data),
    ("record.form", lambda data: data.replace(b"offer", b"off\xff")),
    ("record.form", lambda data: data.replace(b"offer", b"\\ud800")),
    ("record.form", lambda data: data.replace(b"offer", b"\xed\xa0\x80")),
    ("record.form", lambda data: data.replace(b"offer", b"o\x01")),
    ("record.form", lambda data: data[:-1]),
    ("record.form", lambda data: data + data),
    ("record.form", lambda data: b"[" + data + b"]"),
    ("record.form", lambda _data: b"null"),
    ("record.form", lambda _data: b""),
    ("record.depth", lambda _data: b"[" * 100_000 + b"]" * 100_000),
]  # fmt: skip


@pytest.mark.parametrize(("code", "spell"), SPELLINGS)
def test_spelling(code: str, spell: Callable[[bytes], bytes]) -> None:
    records = sound()
    records[3]["bytes"] = lambda made: spell(canonical(made))
    data = Bundle(records).data()
    expected = "record.size" if b"[" * 100_000 in data else code
    assert (3, expected) == first(data)


def test_what_is_spelled_in_one_way_only_is_taken() -> None:
    records = sound()
    text = '\x00\x1f\x7f\u2028"\\/é\U0001f600'
    records[3]["body"]["action"] = {"kind": "note.say", "text": text, "whole": 2**53 - 1, "under": 1 - 2**53}
    records[3]["parts"] = {}
    assert [] == findings(Bundle(records).data())


def test_depth_counts_the_record_as_the_first_level() -> None:
    for levels, expected in ((13, []), (14, [(3, "record.depth")])):
        records = sound()
        records[3]["body"]["action"] = {"kind": "a", "x": nested(levels)}
        records[3]["parts"] = {}
        assert expected == findings(Bundle(records).data())


def test_size() -> None:
    records = sound()
    for size, expected in ((65_535, []), (65_536, [(3, "record.size")])):
        records[3] = record("message", message("ada", 0, 2, action={"kind": "a", "x": ""}), "ada")
        short = len(Bundle(records).lines[7]) - len(b'{"record":}')
        records[3]["body"]["action"]["x"] = "x" * (size - short)
        assert expected == findings(Bundle(records).data())


def test_size_of_open() -> None:
    records = sound()
    for size, expected in ((2**20, []), (2**20 + 1, [(0, "record.size")])):
        records[0]["body"]["world"]["params"] = {"x": ""}
        short = len(Bundle(records).lines[3]) - len(b'{"record":}')
        records[0]["body"]["world"]["params"] = {"x": "x" * (size - short)}
        assert expected == findings(Bundle(records).data())


# What is said: records changed by somebody who holds every key and makes all hashes again

def put(seq: int, **fields: Any) -> Edit:
    return lambda records: records[seq]["body"].update(fields)


def sign(seq: int, signer: str) -> Edit:
    return lambda records: records[seq].update(signer=signer)


def insert(seq: int, one: dict[str, Any]) -> Edit:
    return lambda records: records.insert(seq, one)


def drop(*seqs: int) -> Edit:
    return lambda records: [records.pop(seq) for seq in sorted(seqs, reverse=True)]


def set_parts(seq: int, **texts: str) -> Edit:
    return lambda records: records[seq].update(parts={field: part(text) for field, text in texts.items()})


def encode(y: int, sign: int = 0) -> str:
    return b64encode((y + (sign << 255)).to_bytes(32, "little")).decode()


def party_key(key: str) -> Edit:
    return lambda records: records[0]["body"]["parties"][0].update(key=key)


ORDER_8 = int("7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7", 16)
SMALL = [encode(y, s) for y in (0, 1, P - 1, P, P + 1, ORDER_8, P - ORDER_8) for s in (0, 1)]
BRIEF = record("brief", {"part": HEX, "party": "ada"})
SEAL = record("seal", {"outcome": "completed", "root": HEX, "rows": 3})

SAID: list[tuple[str, int | None, Edit]] = [
    # code, seq, what is changed
    ("grammar.open", 0, lambda records: records.pop(0)),
    ("grammar.open", 2, insert(2, record("open", opening(), "ledger"))),
    ("grammar.brief", 5, insert(5, BRIEF)),
    ("grammar.brief", 6, insert(6, BRIEF)),
    ("grammar.decision", 4, drop(4)),
    ("grammar.decision", 3, drop(3)),
    ("grammar.decision", 5, insert(5, record("decision", decision(3)))),
    ("grammar.decision", 4, insert(4, record("turn", turn()))),
    ("grammar.decision", 9, lambda records: records.__delitem__(slice(10, None))),
    ("grammar.after_seal", 14, lambda records: records.append(SEAL)),
    ("grammar.after_seal", 12, insert(11, SEAL)),
    ("part.orphan", 2, set_parts(2, part="buy", other="x")),
    ("part.orphan", 3, set_parts(3, kind="x")),
    ("part.orphan", 3, set_parts(3, price="x")),
    ("part.orphan", 4, set_parts(4, delta="x")),
    ("part.orphan", 5, set_parts(5, given="x")),
    ("part.orphan", 8, set_parts(8, key="x")),
    ("part.orphan", 13, set_parts(13, root="x")),
    ("part.digest", 1, set_parts(1, part="Sell")),
    ("part.digest", 3, set_parts(3, text="hello")),
    ("part.digest", 5, set_parts(5, gave="")),
    ("key.form", 0, party_key("A" * 44)),
    ("key.form", 0, party_key("A" * 42 + "B=")),
    ("key.form", 0, party_key("-" * 43 + "=")),
    *[("key.small_order", 0, party_key(key)) for key in SMALL],
    ("key.not_canonical", 0, party_key(encode(P + 2))),
    ("key.not_canonical", 0, party_key(encode(P + 18, 1))),
    ("key.small_order", 0, lambda records: records[0]["body"]["ledger"].update(key=SMALL[0])),
    ("key.not_canonical", 0, lambda records: records[0]["body"]["ledger"].update(key=encode(P + 3))),
    ("key.duplicate", 0, party_key(KEYS["bob"].text)),
    ("key.duplicate", 0, party_key(KEYS["ledger"].text)),
    ("key.duplicate", 0, lambda records: records[0]["body"]["parties"][0].update(id="bob")),
    ("key.duplicate", 8, put(8, key=KEYS["ada"].text)),
    ("key.duplicate", 8, put(8, key=KEYS["bob"].text)),
    ("key.duplicate", 8, put(8, key=KEYS["ledger"].text)),
    ("key.small_order", 8, put(8, key=SMALL[5])),
    ("key.not_canonical", 8, put(8, key=encode(P + 5))),
    ("key.form", 8, put(8, key="A" * 44)),
    ("key.duplicate", 13, insert(13, record("key", key_change("ada", "ada", 3, 12), "spare"))),
    ("key.revoke", 11, put(11, change="add", key=KEYS["thief"].text)),
    ("key.revoke", 11, put(11, key=KEYS["thief"].text)),
    ("key.revoke", 11, put(11, party="bob")),
    ("key.form", 12, put(12, key="A" * 44)),
    ("key.revoke", 13, insert(13, record("key", key_change("ada", "ada", 3, 12, change="revoke"), "spare"))),
    ("key.unknown", 8, put(8, party="eve")),
    ("key.unknown", 13, insert(13, record("key", key_change("bob", "thief", 2, 12), "bob"))),
    ("key.unknown", 13, insert(13, record("message", message("bob", 2, 12), "bob"))),
    ("message.from", 3, put(3, **{"from": "eve"})),
    ("message.from", 3, put(3, **{"from": "test/market"})),
    ("brief.party", 1, put(1, party="eve")),
    ("turn.party", 5, put(5, party="eve")),
    ("message.n", 3, put(3, n=1)),
    ("message.n", 6, put(6, n=1)),
    ("message.n", 8, put(8, n=0)),
    ("message.n", 8, put(8, n=2)),
    ("message.n", 9, put(9, n=1)),
    ("message.n", 11, put(11, n=1)),
    ("message.seen", 3, put(3, seen=[2, HEX])),
    ("message.seen", 3, put(3, seen=[2, ""])),
    ("message.seen", 3, put(3, seen=3)),
    ("message.seen", 3, put(3, seen=200)),
    ("message.seen", 3, put(3, seen=0)),  # before its own brief
    ("message.seen", 6, put(6, seen=1)),
    ("message.seen", 9, put(9, seen=3)),  # before the decision on its last message
    ("message.seen", 8, put(8, seen=[7, HEX])),
    ("message.seen", 8, put(8, seen=3)),
    ("message.seen", 11, put(11, seen=[10, HEX])),
    ("signature.invalid", 0, sign(0, "thief")),
    ("signature.invalid", 3, sign(3, "thief")),
    ("signature.invalid", 3, sign(3, "bob")),
    ("signature.invalid", 3, sign(3, "ledger")),
    ("signature.invalid", 3, sign(3, "spare")),  # not added yet
    ("signature.invalid", 8, sign(8, "spare")),  # its own key, not a current one
    ("signature.invalid", 8, sign(8, "ledger")),
    ("signature.invalid", 8, lambda records: (put(8, **{"from": "bob"})(records), sign(8, "bob")(records))),
    ("signature.invalid", 11, sign(11, "ada")),
    ("signature.invalid", 13, insert(13, record("message", message("ada", 3, 12), "ada"))),  # revoked
]  # fmt: skip


@pytest.mark.parametrize(("code", "seq", "change"), SAID)
def test_said(code: str, seq: int | None, change: Edit) -> None:
    records = sound()
    change(records)
    assert (seq, code) == first(Bundle(records).data())


def test_at_one_record_findings_come_by_check() -> None:
    records = sound()
    put(3, n=1)(records)
    set_parts(3, text="hello")(records)
    assert [(3, "part.digest"), (3, "message.n")] == findings(Bundle(records).data())[:2]


@pytest.mark.parametrize(
    ("expected", "change"),
    [
        ([], put(3, seen=1)),  # its brief is the last that it must have seen
        ([], put(6, seen=2)),
        ([], put(9, seen=4)),
        ([], put(9, seen=8)),
        ([], put(3, to="eve", reply_to=9)),  # a wrong addressee is for the rules to refuse
        ([], put(5, n=7)),
        ([], put(4, message=0)),  # check 3
        ([], put(13, root="00" * 32, rows=0)),  # check 4
        ([], put(0, seed="", trial=-1, world=None)),  # fields that no check here needs
        ([], put(4, outcome="perhaps", more=None)),
        ([], put(5, usage=[], given="")),
    ],
)
def test_not_for_these_checks(expected: list[Any], change: Edit) -> None:
    records = sound()
    change(records)
    assert expected == findings(Bundle(records).data())


# Lines of a bundle: changed by somebody who only has the file

Change = Callable[[Bundle], object]


def at(made: Bundle, seq: int) -> int:
    """Where in the file the record stands; blobs take three lines, and some records have a part."""
    return [place for place, line in enumerate(made.lines) if line.startswith(b'{"record"')][seq]


def edit(seq: int, old: bytes, new: bytes, *, part: bool = False) -> Change:
    def change(made: Bundle) -> None:
        place = at(made, seq) + part
        assert old in made.lines[place]
        made.lines[place] = made.lines[place].replace(old, new)

    return change


def edit_line(place: int, old: bytes, new: bytes) -> Change:
    return lambda made: made.lines.__setitem__(place, made.lines[place].replace(old, new))


def add_before(seq: int, line: bytes | Callable[[Bundle], bytes]) -> Change:
    return lambda made: made.lines.insert(at(made, seq), line if isinstance(line, bytes) else line(made))


def cut(first: int, last: int) -> Change:
    return lambda made: made.lines.__delitem__(slice(at(made, first), at(made, last)))


def swap_records(made: Bundle) -> None:
    one = at(made, 6)
    made.lines[one : one + 2] = made.lines[one : one + 2][::-1]


def rewrite_prev(made: Bundle) -> None:
    edit(7, b'"prev":"' + made.leaves[6].hex().encode(), b'"prev":"' + HEX.encode())(made)


def a_part(made: Bundle) -> bytes:
    return made.lines[at(made, 3) + 1]


LINES: list[tuple[str, int | None, Change]] = [
    # code, seq, what is changed
    ("record.seq", 3, cut(3, 4)),
    ("record.seq", 3, add_before(3, lambda made: made.lines[at(made, 2)])),
    ("record.seq", 6, swap_records),
    ("record.seq", 0, lambda made: made.lines.append(made.lines[at(made, 13)])),
    ("record.prev", 7, rewrite_prev),
    ("record.prev", 5, edit(4, b"accepted", b"refused")),
    ("record.size", 3, edit(3, b"offer.ask", b"x" * 65_536)),
    ("signature.invalid", 3, edit(3, b"ask", b"bid")),
    ("part.digest", 3, edit(3, b"hello", b"hallo", part=True)),
    ("checkpoint.size", None, lambda made: made.lines.pop(at(made, 13))),
    ("checkpoint.root", None, edit(13, b'"rows":3', b'"rows":4')),
    ("checkpoint.missing", None, lambda made: made.lines.__delitem__(slice(-2, None))),
    ("checkpoint.missing", None, lambda made: made.lines.pop(-2)),
    ("bundle.form", None, add_before(5, b"")),
    ("bundle.form", None, add_before(5, b"{}")),
    ("bundle.form", None, add_before(5, b"\xff")),
    ("bundle.form", None, add_before(5, b'{"recorb":{}}')),
    ("bundle.form", None, add_before(5, b'{"record":{"body"')),
    ("record.form", 5, add_before(5, b'{"record":{}')),
    ("bundle.form", None, add_before(5, b'{"part":{}}')),
    ("bundle.form", None, add_before(5, lambda made: made.lines[0])),
    ("bundle.form", None, add_before(4, a_part)),
    ("bundle.form", None, add_before(0, a_part)),
    ("bundle.form", None, add_before(0, lambda made: made.lines[-1])),
    ("bundle.form", None, lambda made: made.lines.append(a_part(made))),
    ("bundle.form", None, lambda made: made.lines.append(made.lines[-2])),
    ("bundle.form", None, lambda made: made.lines.append(b'{"note":{"text":1}}')),
    ("bundle.form", None, lambda made: made.lines.append(b'{"note":{"text":"\\u0061"}}')),
    ("bundle.form", None, edit(3, b'"salt"', b'"salty"', part=True)),
    ("part.digest", 3, edit(3, b"0123", b"012G", part=True)),
    ("bundle.form", None, edit_line(0, b'"rows"', b'"row"')),
    ("blob.digest", None, lambda made: made.lines.insert(3, made.lines[0])),
    ("blob.digest", None, lambda made: made.lines.pop(0)),
    ("blob.digest", None, lambda made: made.lines.insert(2, made.lines[1])),
    ("blob.digest", None, lambda made: made.lines.insert(3, made.lines[2])),
    ("blob.digest", None, lambda made: made.lines.insert(1, made.lines.pop(0))),
    ("blob.digest", None, edit_line(1, b"1200", b"1201")),
    ("blob.digest", None, edit_line(2, b"apple", b"Apple")),
]


@pytest.mark.parametrize(("code", "seq", "change"), LINES)
def test_lines(code: str, seq: int | None, change: Change) -> None:
    made = Bundle(sound())
    change(made)
    assert (seq, code) == first(made.data())


def test_a_torn_end_is_found_and_the_records_before_it_are_judged() -> None:
    made = Bundle(sound())
    for cut in (1, 2, 300):
        assert ([(made.run, "-", "bundle.torn")], {made.run: True}) == vt.audit(made.data()[:-cut])
    forged = sound()
    forged[3]["signer"] = "thief"
    assert [(3, "signature.invalid"), (None, "bundle.torn")] == findings(Bundle(forged).data()[:-1])
    assert [(None, "bundle.torn")] == findings(b'{"blob":')


# Notes: written by the ledger

def two_signatures(made: Bundle, more: str) -> str:
    """The checkpoint with a second signature under the same name and key id."""
    first = note(made.checkpoint(), KEYS["ledger"])
    ident = sha256(b"test/market\n\x01" + KEYS["ledger"].public).digest()[:4]
    return f"{first}\N{EM DASH} test/market {b64encode(ident + b64decode(more)).decode()}\n"


def other_key_id(text: str) -> str:
    """The note with the first letters of the key id in each signature changed."""
    return re.sub(r"(?m)^(\N{EM DASH} \S+ )....", r"\1AAAA", text)


NOTES: list[tuple[str, Callable[[Bundle], list[str]]]] = [
    ("checkpoint.missing", lambda _made: []),
    ("checkpoint.missing", lambda made: made.notes()[1:]),
    ("checkpoint.signature", lambda made: [note(made.checkpoint(), KEYS["thief"])]),
    ("checkpoint.signature", lambda made: [note(made.checkpoint(), KEYS["ledger"], "other")]),
    ("checkpoint.signature", lambda made: [made.checkpoint()]),
    ("checkpoint.signature", lambda made: [made.notes()[0] + "x"]),
    ("checkpoint.signature", lambda made: [made.notes()[0] + "\n"]),
    ("checkpoint.signature", lambda made: [made.notes()[0][:-1]]),
    ("checkpoint.signature", lambda made: [made.notes()[0].replace(" test/market ", " test/marked ")]),
    ("checkpoint.signature", lambda made: [made.notes()[0].replace("\N{EM DASH}", "-")]),
    ("checkpoint.signature", lambda made: [made.notes()[0].replace("\n14\n", "\n15\n")]),
    ("checkpoint.signature", lambda _made: [""]),
    ("checkpoint.signature", lambda made: [other_key_id(made.notes()[0])]),
    ("checkpoint.signature", lambda made: [two_signatures(made, KEYS["ledger"].sign(b"other text"))]),
    ("checkpoint.origin", lambda made: [note(made.checkpoint(origin="test/market"), KEYS["ledger"])]),
    ("checkpoint.origin", lambda made: [note(made.checkpoint(origin=f"o/run/{made.run}"), KEYS["ledger"])]),
    ("checkpoint.origin", lambda _made: [note("tollbook.environment/2\n", KEYS["ledger"])]),
    ("checkpoint.size", lambda made: [note(made.checkpoint(size=13), KEYS["ledger"])]),
    ("checkpoint.size", lambda made: [note(made.checkpoint(size="014"), KEYS["ledger"])]),
    ("checkpoint.size", lambda made: [note(f"{made.origin()}\n", KEYS["ledger"])]),
    ("checkpoint.root", lambda made: [note(f"{made.origin()}\n14\n", KEYS["ledger"])]),
    ("checkpoint.root", lambda made: [note(made.checkpoint(root="A" * 43 + "="), KEYS["ledger"])]),
    ("checkpoint.root", lambda made: [note(made.checkpoint() + "more\n", KEYS["ledger"])]),
    ("bundle.form", lambda made: made.notes()[::-1]),
    ("bundle.form", lambda made: [*made.notes(), made.notes()[0]]),
    ("note.signature", lambda made: [made.notes()[0], note(made.environment(), KEYS["thief"])]),
    ("note.signature", lambda made: [made.notes()[0], made.notes()[1].replace("python", "Python")]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "notes"), NOTES)
def test_notes(code: str, notes: Callable[[Bundle], list[str]]) -> None:
    assert (None, code) == first(Bundle(sound(), notes=notes).data())


def test_what_another_note_says_is_not_for_these_checks() -> None:
    for text in (f"{ENVIRONMENT}\n[]\n", f"{ENVIRONMENT}\n{{}} \n", f"{ENVIRONMENT}\nmore\nand more\n"):
        made = Bundle(sound(), notes=lambda made, text=text: [made.notes()[0], note(text, KEYS["ledger"])])
        assert [] == findings(made.data())


def test_other_signatures_beside_the_ledgers_are_passed_over() -> None:
    def notes(made: Bundle) -> list[str]:
        witness = note(made.checkpoint(), KEYS["thief"], "witness").rpartition("\n\n")[2]
        return [made.notes()[0] + witness]

    assert [] == findings(Bundle(sound(), notes=notes).data())


def with_row(row: list[Any]) -> Callable[[list[Any]], object]:
    """One more row at the end, and the state root to fit."""

    def change(blobs: list[Any]) -> None:
        for blob in blobs[:2]:
            blob["of"] = state_root(TABLES, [*ROWS, row])
        blobs[1]["rows"] = [*blobs[1]["rows"], row]

    return change


BAD_BLOBS: list[tuple[str, Callable[[list[Any]], object]]] = [
    ("blob.digest", lambda blobs: blobs[0].update(tables=TABLES[1:])),
    ("blob.digest", lambda blobs: [blob.update(tables=TABLES[1:]) for blob in blobs[:2]]),
    ("blob.digest", lambda blobs: [blob.update(tables=[*TABLES, "zoo"]) for blob in blobs[:2]]),
    ("blob.digest", lambda blobs: blobs[1]["rows"].reverse()),
    ("blob.digest", lambda blobs: blobs[1].update(tables=[*TABLES, "zoo"])),
    ("blob.digest", lambda blobs: [blob.update(tables=TABLES[::-1], of=state_root(TABLES[::-1], ROWS))
                                   for blob in blobs[:2]]),
    ("blob.digest", lambda blobs: blobs[1]["rows"].append(["order", "o2", 1])),
    ("blob.digest", lambda blobs: blobs[1]["rows"].append(["order", "é", {}])),
    ("blob.digest", lambda blobs: blobs[1]["rows"].append(["order", "o2"])),
    ("blob.digest", lambda blobs: blobs[1]["rows"].append(["zoo", "z1", {}])),
    ("blob.digest", with_row(["order", "o2", 1])),
    ("blob.digest", with_row(["order", "o2", {}, {}])),
    ("blob.digest", with_row(["order", "o1", {}])),
    ("blob.digest", with_row(["order", "o0", {}])),
    ("blob.digest", lambda blobs: blobs[1]["rows"].append([["order"], "o2", {}])),
    ("blob.digest", lambda blobs: blobs[2].update(text=TASK + " ")),
    ("blob.digest", lambda blobs: blobs[2].update(kind="tusk")),
    ("blob.digest", lambda blobs: [blob.update(kind="tusk") for blob in blobs[:2]]),
    ("blob.digest", lambda blobs: blobs[2].update(of=HEX[1:])),
    ("blob.digest", lambda blobs: blobs[2].update(text=7)),
    ("blob.digest", lambda blobs: blobs[0].update(tables=[])),
    ("blob.digest", lambda blobs: blobs[0].update(tables=[[]])),
    ("blob.digest", lambda blobs: blobs[0].update(rows={})),
    ("blob.digest", lambda blobs: blobs[0].update(rows=7)),
    ("blob.digest", lambda blobs: blobs[0].update(rows=[["item", 1, {}], ["item", "i1", {}]])),
    ("bundle.form", lambda blobs: blobs[2].update(more="")),
    ("bundle.form", lambda blobs: blobs[0].update(text="")),
    ("bundle.form", lambda blobs: blobs[0].pop("tables")),
]  # fmt: skip


@pytest.mark.parametrize(("code", "change"), BAD_BLOBS)
def test_blobs(code: str, change: Callable[[list[Any]], object]) -> None:
    blobs = copy.deepcopy(start_blobs())
    change(blobs)
    assert (None, code) == first(Bundle(sound(), blobs=blobs).data())


def test_a_blob_of_no_rows() -> None:
    blob = {"kind": "rows", "of": state_root(["idempotency"], []), "rows": [], "tables": ["idempotency"]}
    assert [] == findings(Bundle(sound(), blobs=[blob]).data())


# Any bytes

@settings(deadline=None, max_examples=150)
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_every_changed_byte_is_found(place: int, byte: int) -> None:
    data = bytearray(WHOLE)
    place %= len(data)
    changed = data[place] != byte
    data[place] = byte
    assert changed == bool(findings(bytes(data)))


WHOLE = Bundle(sound()).data()


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=200) | st.lists(st.sampled_from(WHOLE.split(b"\n")), max_size=12).map(b"\n".join))
@example(b"")
@example(b"\n")
@example(b'{"record":}\n')
@example(b'{"record":null}\n{"note":{"text":""}}\n{"part":[]}\n')
@example(b'{"record":{"body":{},"kind":"open","prev":"","seq":0,"sig":null,"v":1}}\n')
@example(WHOLE + b'{"note":{"text":1}}\n')
@example(WHOLE + b'{"note":{"text":"\\ud800"}}\n')
@example(b"\n".join(WHOLE.split(b"\n")[:4]) + b'\n{"part":{"field":{},"salt":1,"text":[]}}\n')
@example(b"\n".join(WHOLE.split(b"\n")[:4]) + b'\n{"part":{"field salt":"","text":""}}\n')
@example(b'{"blob":' + b"[" * 20_000 + b"]" * 20_000 + b"}\n")
def test_any_bytes_end_in_findings_or_nothing(data: bytes) -> None:
    findings(data)


# Ed25519 against cryptography's


def library_verifies(key: bytes, signature: bytes, data: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


@settings(deadline=None, max_examples=40)
@given(seed=st.binary(min_size=32, max_size=32), data=st.binary(max_size=300), flip=st.integers(0, 511))
def test_ed25519_on_random_signatures(seed: bytes, data: bytes, flip: int) -> None:
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public, signature = key.public_key().public_bytes_raw(), key.sign(data)
    bent = (int.from_bytes(signature, "little") ^ 1 << flip).to_bytes(64, "little")
    assert (True, False) == (vt.verify(public, signature, data), vt.verify(public, bent, data))
    assert not vt.verify(public, signature, data + b"x")


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**256 - 1).map(lambda one: one.to_bytes(32, "little")))
@example(bytes([2]) + bytes(31))  # no point of the curve
def test_points_decode_as_the_library_has_them(key: bytes) -> None:
    """A key that is no point verifies nothing; whether it is one shows in x² alone."""
    found = vt.point(key)
    if found is not None:
        x, y, z = found
        assert 0 == (-x * x + y * y - 1 - vt.D * x * x * y * y) % P
        assert 1 == z


EDGES = [bytes.fromhex(text) for text in (
    "00" * 32, "01" + "00" * 31, "ff" * 32, "ec" + "ff" * 30 + "7f", "ed" + "ff" * 30 + "7f",
)] + [vt.decode64(key, 32) for key in SMALL]  # fmt: skip


def test_ed25519_on_edges() -> None:
    key = KEYS["ada"]
    sound_signature = key.key.sign(b"edge")
    r, s = sound_signature[:32], int.from_bytes(sound_signature[32:], "little")
    scalars = [s, s + L, 0, L - 1, L, 2**256 - 1]
    points = [r, *EDGES, (int.from_bytes(r, "little") ^ 1 << 255).to_bytes(32, "little")]
    for public in (key.public, KEYS["bob"].public):
        for point in points:
            for scalar in scalars:
                signature = point + scalar.to_bytes(32, "little")
                assert library_verifies(public, signature, b"edge") == vt.verify(public, signature, b"edge")


def test_keys_of_small_order_are_refused_where_the_library_takes_them() -> None:
    forged = (1).to_bytes(32, "little") + bytes(32)  # R the neutral element, S = 0
    taken = [key for key in SMALL if library_verifies(vt.decode64(key, 32), forged, b"anything")]
    assert taken
    assert 14 == len(set(SMALL))
    assert {"small_order"} == {vt.unfit(vt.decode64(key, 32)) for key in SMALL}
    assert not any(vt.verify(vt.decode64(key, 32), forged, b"anything") for key in SMALL)
    beyond = [y + sign for y in range(P + 2, 2**255) for sign in (0, 1 << 255)]
    assert {"not_canonical"} == {vt.unfit(y.to_bytes(32, "little")) for y in beyond}
    assert "" == vt.unfit(KEYS["ada"].public)


@pytest.mark.shared
def test_ed25519_on_published_vectors(shared: Path) -> None:
    """Wycheproof, and the edge cases of CCTV and speccheck: as the library, but for keys that are unfit."""
    folder, cases = shared / "vectors" / "ed25519", 0
    groups = json.loads((folder / "wycheproof_ed25519_test.json").read_text())["testGroups"]
    for group in groups:
        public = bytes.fromhex(group["publicKey"]["pk"])
        for test in group["tests"]:
            signature, data = bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"])
            good = len(signature) == 64 and vt.verify(public, signature, data)
            assert (test["result"] == "valid") == good, test["tcId"]
            cases += 1
    vectors = json.loads((folder / "cctv_ed25519vectors.json").read_text())
    for one in vectors[::9]:
        public, signature, data = bytes.fromhex(one["key"]), bytes.fromhex(one["sig"]), one["msg"].encode()
        expected = library_verifies(public, signature, data) and not vt.unfit(public)
        assert expected == vt.verify(public, signature, data)
        cases += 1
    for one in json.loads((folder / "speccheck_cases.json").read_text()):
        public, signature = bytes.fromhex(one["pub_key"]), bytes.fromhex(one["signature"])
        data = bytes.fromhex(one["message"])
        expected = library_verifies(public, signature, data) and not vt.unfit(public)
        assert expected == vt.verify(public, signature, data)
        cases += 1
    assert 151 + 102 + 12 == cases


# The script as a stranger runs it


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    # -I -S: neither the package nor any other library can be imported.
    line = [sys.executable, "-I", "-S", str(SCRIPT), *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def vkey(signer: Signer, name: str = "test/market") -> str:
    ident = sha256(name.encode() + b"\n\x01" + signer.public).digest()[:4]
    return f"{name}+{ident.hex()}+{b64encode(bytes([1]) + signer.public).decode()}"


def test_command(tmp_path: Path) -> None:
    made = Bundle(sound())
    file = tmp_path / "run.jsonl"
    file.write_bytes(made.data())
    expected = [
        ([], 0, "1 runs, 0 findings, unanchored\n"),
        ([vkey(KEYS["ledger"])], 0, "1 runs, 0 findings, anchored\n"),
        (
            [vkey(KEYS["thief"])],
            3,
            f"finding {made.run} - checkpoint.key\n1 runs, 1 findings, unanchored\n",
        ),
    ]
    for pin, status, output in expected:
        found = run(str(file), *pin)
        assert (status, output, "") == (found.returncode, found.stdout, found.stderr)


def test_an_open_run_is_not_anchored(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_bytes(Bundle(sound()[:8]).data())
    assert "1 runs, 0 findings, unanchored\n" == run(str(file), vkey(KEYS["ledger"])).stdout


@pytest.mark.parametrize(
    ("status", "data"),
    [(0, WHOLE), (1, Bundle(sound()[:8]).data()), (3, WHOLE[:-1]), (3, b"\xff\xfe\n"), (1, b""), (1, None)],
)
def test_exit_status(status: int, data: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "file"
    if data is not None:
        file.write_bytes(data)
    found = run(str(file))
    assert status == found.returncode
    assert "Traceback" not in found.stderr
    assert (not data) == found.stderr.startswith("error: ")


def test_without_a_file_it_says_what_is_missing() -> None:
    found = run()
    assert (1, "") == (found.returncode, found.stdout)
    assert found.stderr.startswith("error: ")
    assert "FILE" in found.stderr


def test_it_has_under_200_lines_that_fit_a_screen() -> None:
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 200
    assert 110 >= max(len(line) for line in lines)


def test_it_shares_no_code_with_the_package() -> None:
    source = SCRIPT.read_text()
    tokens = [token.string for token in tokenize.generate_tokens(io.StringIO(source).readline)]
    assert not {"tollbook", "cryptography", "msgspec", "eval", "exec"} & set(tokens)


# docs/FORMAT.md, read by machine

FORMAT = (DOCS / "FORMAT.md").read_text(encoding="utf-8")


def example() -> tuple[list[bytes], list[Any]]:
    """The worked example's lines, and what each holds."""
    lines = FORMAT.split("```jsonl\n")[1].split("\n```")[0].encode().split(b"\n")
    return lines, [next(iter(json.loads(line).items())) for line in lines]


def test_the_worked_example_is_good() -> None:
    lines, held = example()
    (opened,) = [canonical(one) for kind, one in held if kind == "record" and one["seq"] == 0]
    assert ([], {leaf(opened).hex(): True}) == vt.audit(b"".join(line + b"\n" for line in lines))


def test_the_worked_example_says_what_it_gives() -> None:
    _, held = example()
    records = [one for kind, one in held if kind == "record"]
    (text,) = [one for kind, one in held if kind == "part"]
    leaves = [leaf(canonical(one)) for one in records]
    ledger = records[0]["body"]["ledger"]
    salted = canonical([text["salt"], text["text"]])
    table = canonical(["idempotency", 0, sha256().hexdigest()])
    assert records[0]["body"]["facts"] == root([leaf(table)]).hex() == records[3]["body"]["root"]
    assert records[1]["body"]["action"]["text"] == sha256(salted).hexdigest()
    stated = [
        ledger["key"],
        sha256().hexdigest(),
        table.decode(),
        salted.decode(),
        pae("message", canonical(records[1]["body"])).decode(),
        *[one.hex() for one in leaves],
        root(leaves).hex(),
    ]
    assert [] == [one for one in stated if f"`{one}`" not in FORMAT]


def test_the_worked_example_has_the_keys_of_rfc_8032() -> None:
    _, held = example()
    opened = held[1][1]["body"]
    seeds = ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
             "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")  # fmt: skip
    keys = [Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed)).public_key() for seed in seeds]
    stated = [opened["ledger"]["key"], opened["parties"][0]["key"]]
    assert [b64encode(key.public_bytes_raw()).decode() for key in keys] == stated


def test_the_page_names_every_code() -> None:
    """Those of checks 1, 2 and 5 as the verifier and these tables have them."""
    listed = set(re.findall(r"`([a-z]+\.[a-z_]+)`", FORMAT.split("## Checks")[1].split("## What")[0]))
    tables = [*SAID, *LINES, *NOTES, *ENVELOPES, *SPELLINGS, *BAD_BLOBS]
    used = {one[0] for one in tables} | {"bundle.torn", "checkpoint.key"}
    assert used <= listed
    # Codes that only the package gives: of limits and forms that no check here needs, and of what needs a
    # ledger, the rules or the reader's own checkpoints.
    others = {
        "part.size", "note.form", "note.root", "blob.form", "turn.n", "key.pinned", "store.id",
        "store.damaged", "source.digest", "source.differs", "source.missing", "world.params",
        "world.unknown", "decision.differs", "seal.root", "seal.rows", "seal.outcome",
        "checkpoint.form", "checkpoint.inconsistent",
    }  # fmt: skip
    assert {one for one in listed if not one.startswith("conduct.")} == used | others  # see test_task_runs

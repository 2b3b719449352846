"""Faults and bad input that users of databases, event stores, logs and verifiers have reported.

One test for each, named after it, and more of its kind than was reported. Modules' own tests go further; here
it is one place to see that each kind is stood.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from killer import Killer, aftermath
from small_run import (
    NAME,
    OUTSIDER,
    SECRET,
    Exported,
    begin,
    exported,
    key_of,
    ledger,
    play,
    signed,
    signed_key,
    small_run,
)
from steady_world import counted

from tollbook.ledger.anchor import Pins
from tollbook.ledger.audited import Audit
from tollbook.ledger.bundle import MAX_LINE_BYTES
from tollbook.ledger.store import Store
from tollbook.ledger.transfer import import_bundle
from tollbook.ledger.verify import audit_run, shelf_of, strays, verify_bundle, verify_store
from tollbook.ledger.writer import Writer
from tollbook.protocol.canonical import encode
from tollbook.protocol.errors import BundleError, CanonicalError, DoorError, ProofError, TollbookError
from tollbook.protocol.keys import pae, signature_bytes, signature_text
from tollbook.protocol.merkle import (
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from tollbook.protocol.retail.actions import CancelPendingOrder, GetUserDetails, ListAllProductTypes
from tollbook.protocol.retail.arithmetic import Cents
from tollbook.scorers.predicates import load
from tollbook.scorers.receipt import diff, receipt_of
from tollbook.scorers.score import score_run
from tollbook.scorers.view import Answers, case_view

SUPPORT = Path(__file__).resolve().parent.parent / "support"
ZOE = GetUserDetails("zoe")
L = 2**252 + 27742317777372353535851937790883648493


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    held = Killer()
    yield held
    held.close()


def code_of(act: Callable[[], object], kind: type[TollbookError] = DoorError) -> str:
    with pytest.raises(kind) as caught:
        act()
    return caught.value.code


def firsts(path: Path, pins: Pins | None = None) -> list[tuple[str, int | None] | None]:
    """The first finding of each run of a ledger or a bundle."""
    if path.suffix == ".jsonl":
        audits = list(verify_bundle(path, pins or Pins()))
    else:
        with Store.read(path) as store:
            audits = list(verify_store(path, store.runs(), pins or Pins()))
    found = [audit.findings[0] if audit.findings else None for audit in audits]
    return [None if one is None else (one.code, one.seq) for one in found]


def process(script: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])
    command = [
        sys.executable,
        *([str(SUPPORT / script)] if script.endswith(".py") else ["-c", script]),
        *arguments,
    ]
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": paths, **environment}, stdout=subprocess.PIPE, text=True
    )


@contextmanager
def tool(path: Path) -> Iterator[sqlite3.Connection]:
    """The file in the hands of somebody who drops its triggers."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        yield connection


# kill -9 between append and commit, reopen


def test_killed_between_append_and_commit(killer: Killer, tmp_path: Path) -> None:
    """At every commit of a short run: the acknowledged is there, the other wholly absent (see test_crash)."""
    job = {"group": 1, "messages": 5, "trial": 0, "seal": True, "stop": "commit"}
    found: list[str] = []
    for at in range(1, 20):
        said = killer.run(tmp_path, **job, at=at)
        found.append(aftermath(tmp_path, said))
        if found[-1] == "sealed":
            break
    # The file's tables, the open, five messages, the seal: none, none, then open six times, then sealed.
    assert ["none"] * 2 + ["open"] * 6 + ["sealed"] == found


# copy only the main file while -wal holds commits


def test_the_main_file_copied_without_its_log(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with ledger(path) as store:
        writer = begin(store, group=1)
        shutil.copy(path, tmp_path / "empty.db")
        for _ in range(3):
            writer.voice("assistant").say(ZOE, to="platform")
        sqlite3.connect(path).execute("PRAGMA wal_checkpoint(PASSIVE)").connection.close()
        for _ in range(3):
            writer.voice("assistant").say(ZOE, to="platform")
        writer.seal("completed")
        note, size = store.notes(1)[0], writer.run.size
        assert store.backlog_bytes > 0
        shutil.copy(path, copy)
    pins = Pins(checkpoints=(note,))
    assert [None] == firsts(path, pins)
    (audit,) = audits_of(copy, pins)
    (finding,) = audit.findings
    assert ("checkpoint.size", 7) == (finding.code, audit.records)
    assert f"log shorter than checkpoint size {size}: it has 7 records" == finding.text
    (stray,) = strays(audits_of(tmp_path / "empty.db", pins), (), pins)
    assert "checkpoint.origin" == stray.code
    assert stray.text.startswith(f"log shorter than checkpoint size {size}: there is no such run")
    assert not audit.anchored
    with Store.read(copy) as store:
        assert [None] == firsts(copy)  # without a checkpoint from outside, it is an open run like any other
        assert 7 == store.size(1)


def audits_of(path: Path, pins: Pins) -> list[Audit]:
    with Store.read(path) as store:
        return list(verify_store(path, store.runs(), pins))


# JSONL export with torn last line, then import or append


def test_a_torn_export(path: Path, tmp_path: Path) -> None:
    """All cuts, and damage in the middle: tests/unit/ledger/test_transfer.py."""
    with ledger(path) as store:
        small_run(store)
        lines = exported(store).lines
    torn = Exported([*lines[:-3], lines[-3][:-20]]).write(tmp_path / "torn.jsonl")
    assert [("bundle.torn", None)] == firsts(torn)
    with ledger(tmp_path / "b.db") as store:
        transfer = import_bundle(torn, store)
        assert (True, transfer.runs) == (transfer.torn, transfer.open)
        before = exported(store).lines
        assert before == lines[: len(before)]
        writer = Writer.resume(store, SECRET, 1)
        writer.voice("assistant").say(ZOE, to="platform")
        writer.seal("completed")
    assert [None] == firsts(tmp_path / "b.db")
    damaged = Exported([*lines[:9], lines[9][:-20] + b"\n", *lines[10:]]).write(tmp_path / "damaged.jsonl")
    with ledger(tmp_path / "c.db") as store:
        assert "bundle.damaged" == code_of(lambda: import_bundle(damaged, store), BundleError)
        assert [] == store.runs()


# two processes append at once, 1,000 each


@pytest.mark.parametrize("trials", [("0", "1"), ("0", "0")], ids=["two runs", "one run"])
def test_two_processes_append_at_once(path: Path, trials: tuple[str, str]) -> None:
    running = [process("appender.py", str(path), trial, "1000", "250") for trial in trials]
    assert [0, 0] == [one.wait() for one in running]
    for one in running:
        one.communicate()
    with Store.read(path) as store:
        runs = store.runs()
        assert len(set(trials)) == len(runs)
        for number, _run_id in runs:
            assert list(range(store.size(number))) == [stored.seq for stored in store.records(number)]
        assert 2 * 2_000 + len(runs) == sum(store.size(number) for number, _run_id in runs)
        audits = list(verify_store(path, runs))
    assert [[]] * len(runs) == [audit.findings for audit in audits]


# reader holds a snapshot for 10,000 appends


def test_a_reader_holds_a_snapshot_over_10_000_appends(path: Path) -> None:
    with ledger(path) as store:
        writer = begin(store, group=100)
        with Store.read(path) as reader, reader.snapshot():
            assert 1 == reader.size(1)
            for _ in range(5_000):
                writer.voice("assistant").say(ListAllProductTypes(), to="platform")
            assert (10_001, 1) == (store.size(1), reader.size(1))
            assert store.backlog_bytes > 2**21
        writer.seal("completed")
    assert not path.with_name("a.db-wal").exists()


# edit one payload byte / swap two records / insert / delete in the middle


def test_a_record_edited_swapped_inserted_or_deleted(path: Path, tmp_path: Path) -> None:
    with ledger(path) as store:
        small_run(store)
        lines = exported(store).lines
    places = [place for place, line in enumerate(lines) if line.startswith(b'{"record":')]
    for seq in range(1, len(places) - 1):
        one, other = places[seq], places[seq + 1]
        edited = bytearray(lines[one])
        edited[edited.index(b'"prev":"') + 9] ^= 1
        cases = {
            "edited": [*lines[:one], bytes(edited), *lines[one + 1 :]],
            "swapped": [*lines[:one], *lines[other : other + 1], *lines[one:other], *lines[other + 1 :]],
            "inserted": [*lines[:one], lines[places[seq - 1]] if seq > 1 else lines[places[5]], *lines[one:]],
            "deleted": [*lines[:one], *lines[other:]],
        }
        for name, changed in cases.items():
            (found,) = firsts(Exported(changed).write(tmp_path / "a.jsonl"))
            assert seq == (found or ("", None))[1], name


def test_a_row_of_the_file_edited_swapped_or_deleted(path: Path) -> None:
    """No `prev` is kept there: decisions, signatures, the seal or the checkpoint tell."""
    with ledger(path) as store:
        small_run(store)
        size = store.size(1)
    first = 1 << 31
    for seq in range(size):
        for change in (
            "UPDATE records SET body = replace(body, '1', '2') WHERE place = ?1",
            "UPDATE records SET body = substr(body, 1, length(body) - 1) WHERE place = ?1",
            "UPDATE records SET sig = zeroblob(64) WHERE place = ?1",
            "UPDATE records SET kind = 'turn' WHERE place = ?1 AND kind != 'turn'",
            "DELETE FROM records WHERE place = ?1",
        ):
            other = path.with_name("other.db")
            shutil.copy(path, other)
            with tool(other) as connection:
                changed = connection.execute(change, (first + seq,)).rowcount
            if changed and _differs(path, other):
                (finding,) = firsts(other)
                assert finding is not None, (seq, change)
                assert finding[1] is None or finding[1] >= seq, (seq, change)
            for made in path.parent.glob("other.db*"):
                made.unlink()


def _differs(path: Path, other: Path) -> bool:
    found: list[Any] = []
    for one in (path, other):
        with closing(sqlite3.connect(one)) as connection:
            found.append(
                connection.execute("SELECT place, kind, body, sig FROM records ORDER BY place").fetchall()
            )
    return found[0] != found[1]


# same signed message twice, and after restart


def test_the_same_signed_message_again(path: Path) -> None:
    """After other messages, after a restart, and with the key revoked meanwhile."""
    with ledger(path) as store:
        writer = begin(store, group=1)
        cancel = CancelPendingOrder("#ann-lamp", "no longer needed")
        assert "party.role" == writer.voice("user").say(cancel, to="platform").decision.rule
        said = [signed(writer.run, "outsider", cancel, to="platform")]
        first = [writer.admit(*said[0]).body]
        said.append(signed(writer.run, "outsider", cancel, to="platform"))
        first.append(writer.admit(*said[1]).body)
        assert b"order.cancelled" in first[0]
        assert b"cancel.not_pending" in first[1]
        size, root = writer.run.size, writer.run.root()
        assert first == [writer.admit(*one).body for one in said]
        assert (size, root) == (writer.run.size, writer.run.root())
    with ledger(path) as store:
        writer = Writer.resume(store, SECRET, 1)
        assert first == [writer.admit(*one).body for one in said]
        assert (size, root) == (writer.run.size, writer.run.root())
        writer.revoke_key("outsider", OUTSIDER.public)
        assert first == [writer.admit(*one).body for one in said]
        writer.seal("completed")
    assert [None] == firsts(path)


# n skips, repeats with other bytes or goes back; seen from the future, from another run, or going back


def test_numbers_and_sights_that_do_not_fit(path: Path) -> None:
    with ledger(path) as store:
        other = begin(store, trial=1)
        other.voice("assistant").say(ListAllProductTypes(), to="platform")
        writer = begin(store)
        for _ in range(2):
            writer.admit(*signed(writer.run, "outsider", ZOE))
        run = writer.run
        cases: list[tuple[str, str, dict[str, Any]]] = [
            ("message.n", "n is 3, the next of `outsider` is 2", {"n": 3}),
            ("message.n", "n is 2147483647, the next of `outsider` is 2", {"n": 2**31 - 1}),
            ("message.n", "n is 1, the next of `outsider` is 2", {"n": 1}),
            ("message.n", "n is 0, the next of `outsider` is 2", {"n": 0}),
            ("message.seen", "seen is record 5, expected 4 to 4", {"seen": (5, run.prev)}),
            ("message.seen", "seen is record 2147483647, expected 4 to 4", {"seen": (2**31 - 1, run.prev)}),
            (
                "message.seen",
                "seen names another record 4 than this run has",
                {"seen": (4, other.run.leaf(2).hex())},
            ),
            ("message.seen", "seen names another record 4 than this run has", {"seen": (4, "")}),
            ("message.seen", "seen is record 3, expected 4 to 4", {"seen": (3, run.leaf(3).hex())}),
            ("message.seen", "seen is record 0, expected 4 to 4", {"seen": (0, run.id)}),
        ]
        for code, text, fields in cases:
            with pytest.raises(DoorError) as caught:
                writer.admit(*signed(run, "outsider", ZOE, **fields))
            assert (code, text) == (caught.value.code, caught.value.text)
        writer.admit(*signed(run, "outsider", ZOE))
        for one in (writer, other):
            one.seal("completed")
    assert [None, None] == firsts(path)


# signature with S+L, 63 or 65 bytes, bit flipped, signed by another registered agent


def test_signatures_that_are_not_good(path: Path) -> None:
    with ledger(path) as store:
        writer = begin(store)
        body, sig = signed(writer.run, "outsider", ZOE)
        raw = signature_bytes(sig)
        s_plus_l = (int.from_bytes(raw[32:], "little") + L).to_bytes(32, "little")
        forms = [raw[:-1], raw + b"\0", b"", raw + raw]
        for wrong in forms:
            assert "signature.form" == code_of(lambda wrong=wrong: writer.admit(body, signature_text(wrong)))
        for text in (
            sig[:-2],
            sig[:-2] + "A=",
            sig.replace("/", "_").replace("+", "-") + " ",
            sig + "\n",
            " " + sig[1:],
        ):
            assert "signature.form" == code_of(lambda text=text: writer.admit(body, text))
        invalid = [raw[:32] + s_plus_l, raw[32:] + raw[:32], bytes(64), raw[:32] + bytes(32)]
        invalid += [
            bytes(byte ^ (at == place) << bit for at, byte in enumerate(raw))
            for place in range(64)
            for bit in (0, 7)
        ]
        for wrong in invalid:
            assert "signature.invalid" == code_of(
                lambda wrong=wrong: writer.admit(body, signature_text(wrong))
            )
        user = signed(writer.run, "user", ZOE)
        assert "signature.invalid" == code_of(lambda: writer.admit(*user))
        for kind in ("open", "key"):
            other = signature_text(OUTSIDER.sign(pae(kind, body)))
            assert "signature.invalid" == code_of(lambda other=other: writer.admit(body, other))
        writer.admit(body, sig)
        writer.seal("completed")
    assert [None] == firsts(path)


# event signed by a key after its revocation seq; before its registration seq


def test_keys_before_their_time_and_after_it(path: Path, tmp_path: Path) -> None:
    """At the door and, where an operator recorded it all the same, in an audit."""
    second = key_of("second")
    with ledger(path) as store:
        writer = begin(store)
        writer.admit(*signed(writer.run, "outsider", ZOE))
        early = signed(writer.run, "outsider", ZOE, signer=second)
        assert "signature.invalid" == code_of(lambda: writer.admit(*early))
        writer.change_key(*signed_key(writer.run, "outsider", "add", second))
        writer.change_key(*signed_key(writer.run, "outsider", "revoke", OUTSIDER))
        late = signed(writer.run, "outsider", ZOE)
        assert "signature.invalid" == code_of(lambda: writer.admit(*late))
        writer.admit(*signed(writer.run, "outsider", ZOE, signer=second))
        writer.seal("completed")
    assert [None] == firsts(path)
    for name, when, signer in (("early", 1, second), ("late", 3, OUTSIDER)):
        with ledger(tmp_path / f"{name}.db") as store:
            writer = begin(store)
            steps: list[Callable[[], object]] = [
                lambda: writer.admit(*signed(writer.run, "outsider", ZOE)),  # noqa: B023 - called at once
                lambda: writer.change_key(*signed_key(writer.run, "outsider", "add", second)),  # noqa: B023
                lambda: writer.change_key(*signed_key(writer.run, "outsider", "revoke", OUTSIDER)),  # noqa: B023
            ]
            for step in steps[:when]:
                step()
            seq = writer.run.size
            writer.admit(*signed(writer.run, "outsider", ZOE, signer=signer), verified=True)
            writer.seal("completed")
        assert [("signature.invalid", seq)] == firsts(tmp_path / f"{name}.db")


# duplicate JSON key, whitespace, BOM, escaped ASCII, 1.0, 1e2, -0, trailing bytes


def spellings(body: bytes) -> list[bytes]:
    """The same value, or one that sloppy readers take for it, in other bytes."""
    return [
        body.replace(b'"key":null', b'"key":null,"key":null'),
        body.replace(b'{"kind"', b'{"kind":"x","kind"'),
        body.replace(b":", b": ", 1),
        b" " + body,
        body + b"\n",
        body + b"\0",
        body + b"{}",
        body + b",",
        b"\xef\xbb\xbf" + body,
        b"\xff\xfe" + body.decode().encode("utf-16-le"),
        body.replace(b"zoe", b"z\\u006fe"),
        body.replace(b'"user_id"', b'"user\\u005fid"'),
        body.replace(b'"n":0', b'"n":0.0'),
        body.replace(b'"n":0', b'"n":0e0'),
        body.replace(b'"n":0', b'"n":-0'),
        body.replace(b'"n":0', b'"n":00'),
        body.replace(b'"n":0', b'"n":+0'),
        body.replace(b'"n":0', b'"n":"0"'),
        body.replace(b"{", b"/**/{", 1),
        body.replace(b'"', b"'"),
        body[:-1] + b",}",
        body.replace(b"zoe", b"zo\xc3"),
        body.replace(b"zoe", b"zo\xed\xa0\x80"),
        body.replace(b"zoe", b"\\ud800"),
        body.replace(b'"action":', b'"a\\u0063tion":'),
    ]


def test_bytes_that_are_not_canonical(path: Path) -> None:
    """Turned away whether their signature is good or not."""
    with ledger(path) as store:
        writer = begin(store)
        body, sig = signed(writer.run, "outsider", ZOE)
        for wrong in spellings(body):
            assert wrong != body
            good = signature_text(OUTSIDER.sign(pae("message", wrong)))
            for signature in (good, sig, "", "no signature"):
                code = code_of(lambda wrong=wrong, signature=signature: writer.admit(wrong, signature))
                assert code in {"canonical.form", "canonical.spelling"}, wrong
        writer.admit(body, sig)


# NaN, Infinity, 1e400, floats in money


def test_numbers_that_are_no_integers(path: Path) -> None:
    """Refused when they are built and when they come in; none becomes null."""

    class Anything(msgspec.Struct, tag_field="kind", tag="tool.pay"):
        amount: Any

    numbers = [float("nan"), float("inf"), float("-inf"), 0.1, -0.0, 1e16, 1e22, 2**53, -(2**53), 10**400]
    with ledger(path) as store:
        writer = begin(store)
        voice = writer.voice("assistant")
        for number in numbers:
            for value in (number, [number], {"a": {"b": number}}):
                with pytest.raises(CanonicalError):
                    encode(value)
                with pytest.raises(CanonicalError):
                    voice.say(Anything(value), to="platform")
        body, _sig = signed(writer.run, "outsider", Anything(7))
        for text in (
            b"NaN",
            b"Infinity",
            b"-Infinity",
            b"1e400",
            b"1e2",
            b"7.0",
            b"0.1",
            b"-0",
            b"9007199254740992",
            b"9" * 400,
        ):
            wrong = body.replace(b'"amount":7', b'"amount":' + text)
            good = signature_text(OUTSIDER.sign(pae("message", wrong)))
            code = code_of(lambda wrong=wrong, good=good: writer.admit(wrong, good))
            assert code in {"canonical.form", "canonical.spelling", "canonical.float", "canonical.integer"}, (
                text
            )
        assert 1 == writer.run.size


# 0.1 + 0.2 style price sums, 10,000 tax splits


def test_sums_of_prices_are_exact() -> None:
    """No market here has a tax; what is split is a total, into prices that add up to it again."""
    money = Cents()
    tenth, fifth = money.of_number(0.1), money.of_number(0.2)
    assert tenth is not None
    assert fifth is not None
    assert money.of_number(0.3) == money.plus(tenth, fifth)
    chance = random.Random("splits")
    for _ in range(10_000):
        total = chance.randrange(1, 10**7)
        cuts = sorted(chance.randrange(total + 1) for _ in range(chance.randrange(1, 6)))
        parts = [after - before for before, after in zip([0, *cuts], [*cuts, total], strict=True)]
        amounts = [money.of_number(float(Fraction(part, 100))) for part in parts]
        assert parts == amounts
        added: Any = 0
        for amount in amounts:
            assert amount is not None
            added = money.plus(added, amount)
        assert total == added
        for amount in amounts:
            assert amount is not None
            added = money.minus(added, amount)
        assert added == 0
    assert [None, None] == [money.of_number(number) for number in (0.001, 0.1 + 0.2)]
    assert not money.is_amount(money.of_number(1e300))


# 10 MB message, 100,000-deep nesting, 1 M-element array


@contextmanager
def bounded(limit_bytes: int, limit_seconds: float = 5.0) -> Iterator[None]:
    """Fails if more is held at once, or if it takes longer."""
    tracemalloc.start()
    begun = time.monotonic()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit_bytes
        assert time.monotonic() - begun < limit_seconds
    finally:
        tracemalloc.stop()


def giants() -> dict[str, bytes]:
    return {
        "10 MB of text": b'"' + b"x" * 10_000_000 + b'"',
        "100,000 deep": b"[" * 100_000 + b"]" * 100_000,
        "100,000 objects deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "1 M elements": b"[" + b"0," * 999_999 + b"0]",
        "1 M lists": b"[" + b"[]," * 999_999 + b"[]]",
        "100,000 brackets, none closed": b"[" * 100_000,
        "100,000 quotes": b'"' * 100_000,
        "an integer of 10 MB": b"9" * 10_000_000,
        "17 deep": b"[" * 16 + b"]" * 16,
        "10,001 elements": b"[" + b"0," * 10_000 + b"0]",
    }


@pytest.mark.parametrize("name", giants())
def test_giants_at_the_door(path: Path, name: str) -> None:
    with ledger(path) as store:
        writer = begin(store)
        body, sig = signed(writer.run, "outsider", ZOE)
        wrong = body.replace(b'"user_id":"zoe"', b'"user_id":' + giants()[name])
        with bounded(2**20):
            assert code_of(lambda: writer.admit(wrong, sig)).startswith("canonical.")
        writer.admit(body, sig)


@pytest.mark.parametrize("name", giants())
def test_giants_in_a_bundle(path: Path, tmp_path: Path, name: str) -> None:
    with ledger(path) as store:
        small_run(store)
        lines = exported(store).lines
    giant = giants()[name]
    record = next(place for place, line in enumerate(lines) if b'"kind":"turn"' in line)
    places = [
        ("record", record, lines[record].replace(b'"usage":null', b'"usage":' + giant)),
        ("part", record + 1, b'{"part":{"field":"gave","salt":"%b","text":%b}}\n' % (b"0" * 32, giant)),
        ("note", len(lines) - 1, b'{"note":{"text":' + giant + b"}}\n"),
        ("blob", 0, b'{"blob":{"kind":"task","of":"%b","text":%b}}\n' % (b"0" * 64, giant)),
        ("line", record, giant + b"\n"),
    ]
    for form, place, line in places:
        bundle = Exported([*lines[:place], line, *lines[place + 1 :]]).write(tmp_path / "a.jsonl")
        with bounded(12 * MAX_LINE_BYTES):
            (found,) = firsts(bundle)
        assert found is not None, form


def test_a_giant_in_the_ledgers_file(path: Path) -> None:
    with ledger(path) as store:
        small_run(store)
    with tool(path) as connection:
        connection.execute(
            "UPDATE records SET body = body || ? WHERE place = (1 << 31) + 7", (" " * 10_000_000,)
        )
    with bounded(2**27):
        assert [("record.size", 7)] == firsts(path)


# wall clock steps back an hour between appends; two events in one ms


def test_the_clock_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands still, steps back, or is in another century: the same bytes, and none of them a time."""
    bundles: list[Exported] = []
    for name, seconds in (("now", None), ("still", 0.0), ("back", -3600.0), ("ahead", 3e9)):
        with monkeypatch.context() as patch:
            if seconds is not None:
                ticks = iter(range(10**9))
                start = time.time()

                def clock(start: float = start, step: float = seconds, ticks: Iterator[int] = ticks) -> float:
                    return start + step * next(ticks)

                patch.setattr(time, "time", clock)
                patch.setattr(time, "time_ns", lambda clock=clock: int(clock() * 1e9))
            with ledger(tmp_path / f"{name}.db") as store:
                writer = begin(store, group=1)
                play(writer)
                writer.seal("completed")
                bundles.append(exported(store))
    assert all(bundles[0] == bundle for bundle in bundles)
    text = b"".join(bundles[0].lines).decode()
    assert str(datetime.now(UTC).year) not in text.replace(NAME, "")
    assert [None] == firsts(tmp_path / "back.db")


# transition function reads time, random, env or iterates a set

_VERIFY = """
import sys
from pathlib import Path
from steady_world import counted, register
from small_run import ledger
from tollbook.ledger.verify import verify_store
act, path, name = sys.argv[1:]
register(name)
with ledger(Path(path)) as store:
    if act == "write":
        counted(store, name, acts=20)
    else:
        (audit,) = verify_store(store.path, store.runs())
        first = audit.findings[0] if audit.findings else None
        print("good" if first is None else f"{first.code} {first.text.split(':')[0]}")
"""


@pytest.mark.parametrize("name", ["steady", "time", "random", "env", "set"])
def test_rules_that_read_more_than_state_and_message(tmp_path: Path, name: str) -> None:
    """Made again in another process, under another hash seed and environment, the event is named."""
    path = str(tmp_path / "a.db")
    said: list[str] = []
    for act, seed in (("write", "1"), ("verify", "2"), ("verify", "3")):
        one = process(_VERIFY, act, path, name, PYTHONHASHSEED=seed, TOLLBOOK_TEST_ENV=seed)
        said.append(one.communicate()[0].strip())
        assert one.returncode == 0
    expected = "good" if name == "steady" else "decision.differs the rules give another `events`"
    assert ["", expected] == said[:2] or ["", expected] == [said[0], said[2]]


def test_a_steady_market_verifies_in_the_process_that_wrote_it(path: Path) -> None:
    with ledger(path) as store:
        counted(store, "steady")
        counted(store, "time")
    found = firsts(path)
    assert (None, ("decision.differs", 2)) == (found[0], found[1])


# inclusion proof for wrong index, short hash, extra node; consistency 0 -> n, n -> m < n; CT vectors


def refused(verify: Callable[..., None], *arguments: Any) -> bool:
    try:
        verify(*arguments)
    except ProofError:
        return True
    return False


def spoiled(proof: list[bytes], root: bytes) -> list[list[bytes]]:
    """Proofs with a node too many, too few, too short, too long, or another."""
    return [
        [*proof, root],
        [root, *proof],
        [one[:-1] for one in proof] or [b""],
        [one + b"\0" for one in proof] or [b"\0"],
        proof[:-1] if proof else [root],
        [bytes(32), *proof[1:]],
    ]


def test_proofs_that_do_not_prove() -> None:
    """Every tree up to 17 leaves; the 196 published probes are in tests/vectors/test_rfc6962.py."""
    leaves = [leaf_hash(b"%d" % place) for place in range(17)]
    for size in range(1, 18):
        root = root_of(leaves[:size])
        for index, leaf in enumerate(leaves[:size]):
            proof = inclusion_proof(leaves, index, size)
            verify_inclusion(leaf, index, size, proof, root)
            for other in {*range(-1, size + 2)} - {index}:
                assert refused(verify_inclusion, leaf, other, size, proof, root)
            for bad in spoiled(proof, root):
                assert refused(verify_inclusion, leaf, index, size, bad, root)
            assert refused(verify_inclusion, leaf[:-1], index, size, proof, root)
            assert refused(verify_inclusion, leaf, index, size, proof, root + b"\0")
        assert refused(verify_consistency, 0, root_of([]), size, root, [])
        for old in range(1, size + 1):
            old_root = root_of(leaves[:old])
            proof = consistency_proof(leaves, old, size)
            verify_consistency(old, old_root, size, root, proof)
            for bad in spoiled(proof, root):
                assert refused(verify_consistency, old, old_root, size, root, bad)
            if old < size:
                assert refused(verify_consistency, size, root, old, old_root, proof)
                assert refused(verify_consistency, old, root, size, root, proof)


# scorer run on a trace with a rejected tail, empty trace, trace of another run

_PREDICATES = """
id = "cancel"
view = 1
[predicate.cancelled]
stage  = "execution"
weight = 600
expr   = "events.order.cancelled.size() == 1"
[predicate.asked]
stage  = "search"
weight = 400
expr   = "acts.size() > 0"
"""


def test_scores_of_odd_traces(path: Path) -> None:
    predicates = load(_PREDICATES)
    with ledger(path) as store:
        tail = begin(store)
        assistant = tail.voice("assistant")
        assistant.say(CancelPendingOrder("#ann-lamp", "no longer needed"), to="platform")
        for _ in range(3):
            assistant.say(CancelPendingOrder("#ann-lamp", "no longer needed"), to="platform")
        tail.seal("agent_stopped")
        begin(store, trial=1).seal("agent_failed")
        begin(store, trial=2).voice("assistant").say(ZOE, to="platform")
        audits = [audit_run(store, run, run_id, shelf_of(store), keep=True) for run, run_id in store.runs()]
        again = [audit_run(store, run, run_id, shelf_of(store), keep=True) for run, run_id in store.runs()]
    scores = [
        score_run(audit, predicates, case_view(audit, "assistant", Answers(), predicates.reads))
        for audit in audits[:2]
    ]
    rescored = [
        score_run(audit, predicates, case_view(audit, "assistant", Answers(), predicates.reads))
        for audit in again[:2]
    ]
    assert [("scored", 1000), ("scored", 0)] == [(score.outcome, score.value) for score in scores]
    assert [score.document() for score in scores] == [score.document() for score in rescored]
    assert ("open", None) == ((unsealed := score_run(audits[2], predicates, None)).outcome, unsealed.value)
    assert "receipt.run" == code_of(lambda: diff(receipt_of(scores[0]), scores[1]), TollbookError)
    with tool(path) as connection:
        connection.execute("UPDATE runs SET id = replace(id, substr(id, 1, 8), '00000000') WHERE run = 1")
    with Store.read(path) as store:
        ((run, run_id), *_) = store.runs()
        wrong = audit_run(store, run, run_id, shelf_of(store), keep=True)
    assert ("invalid", None) == (
        (refused_score := score_run(wrong, predicates, None)).outcome,
        refused_score.value,
    )

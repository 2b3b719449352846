from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from small_run import NAME, SECRET, Exported, begin, exported, ledger, play, small_run

from tollbook.ledger.anchor import Pins
from tollbook.ledger.audited import Audit
from tollbook.ledger.notes import vkey_of
from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of, strays, verify_bundle, verify_store
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.errors import BundleError, LedgerError
from tollbook.protocol.retail.actions import ListAllProductTypes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger of two sealed runs and an open one."""
    path = tmp_path / "a.db"
    with ledger(path) as store:
        small_run(store)
        small_run(store, trial=1)
        writer = begin(store, trial=2)
        play(writer)
        writer.flush()
    return path


def verified(path: Path, pins: Pins | None = None, jobs: int = 1) -> list[Audit]:
    with Store.read(path) as store:
        runs = store.runs()
    return list(verify_store(path, runs, pins or Pins(), jobs))


def summary(audits: list[Audit]) -> list[tuple[str | None, bool, list[str]]]:
    return [(audit.outcome, audit.good, [finding.code for finding in audit.findings]) for audit in audits]


def edit(path: Path, *statements: str) -> None:
    """What somebody with the file does, past the triggers."""
    with closing(sqlite3.connect(path, isolation_level=None)) as tool:
        for (name,) in tool.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            tool.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            tool.execute(statement)


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises((LedgerError, BundleError)) as caught:
        act()
    return caught.value.code


def test_a_ledgers_runs_are_verified_in_order(path: Path) -> None:
    audits = verified(path)
    assert [("completed", True, []), ("completed", True, []), (None, False, [])] == summary(audits)
    with Store.read(path) as store:
        assert [run_id for _run, run_id in store.runs()] == [audit.run for audit in audits]


def test_two_processes_find_what_one_does(path: Path) -> None:
    edit(path, "UPDATE records SET sig = zeroblob(64) WHERE place = (2 << 31) + 3")
    one, two = verified(path), verified(path, jobs=2)
    assert [audit._replace(replayed=None) for audit in one] == two
    assert ["signature.invalid"] == summary(one)[1][2][:1]


def test_a_ledger_and_its_export_are_verified_alike(path: Path, tmp_path: Path) -> None:
    with Store.read(path) as store:
        bundle = exported(store).write(tmp_path / "a.jsonl")
    ours = [audit._replace(replayed=None) for audit in verified(path)]
    assert ours == [audit._replace(replayed=None) for audit in verify_bundle(bundle)]


def test_pins_are_for_every_run(path: Path) -> None:
    pins = Pins(vkeys=(vkey_of(NAME, ledger_key(SECRET).public),))
    assert [True, True, False] == [audit.anchored for audit in verified(path, pins)]


def test_a_file_that_calls_a_run_by_another_id_is_found(path: Path) -> None:
    edit(path, f"UPDATE runs SET id = '{'0' * 64}' WHERE run = 1")
    (first, *_) = verified(path)
    assert ["store.id"] == [finding.code for finding in first.findings]


def test_damage_of_the_file_comes_with_the_first_run(path: Path) -> None:
    with closing(sqlite3.connect(path)) as tool:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'receipts_of_run'"
        (page,) = tool.execute(query).fetchone()
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    data[size * (page - 1) : size * page] = b"\xff" * size
    path.write_bytes(data)
    for jobs in (1, 2):
        audits = verified(path, jobs=jobs)
        assert [["store.damaged"], [], []] == [codes for _outcome, _good, codes in summary(audits)]
        assert ("", None) == (audits[0].findings[0].run, audits[0].findings[0].seq)
        assert not audits[0].good


def test_a_run_that_cannot_be_read_to_its_end_is_damaged(path: Path) -> None:
    edit(path, "UPDATE records SET kind = CAST(x'ff' AS TEXT) WHERE place = (1 << 31) + 20")
    (first, second, _third) = verified(path)
    assert "store.damaged" in [finding.code for finding in first.findings]
    assert (20, True) == (first.records, second.good)


def test_a_run_is_audited_as_it_stands_at_one_moment(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seal and its checkpoint that come while a run is read are both seen, or neither."""
    with ledger(path) as writing, Store.read(path) as reading:
        writer = begin(writing, trial=3, group=1)
        writer.voice("assistant").say(ListAllProductTypes(), to="platform")
        number, run_id = reading.runs()[-1]
        notes = reading.notes

        def late(run: int) -> list[str]:
            writer.seal("completed")
            return notes(run)

        monkeypatch.setattr(reading, "notes", late)
        audit = audit_run(reading, number, run_id, shelf_of(reading))
        assert ([], None, 3) == (audit.findings, audit.outcome, audit.records)
        monkeypatch.undo()
        audit = audit_run(reading, number, run_id, shelf_of(reading))
        assert ([], "completed", 4) == (audit.findings, audit.outcome, audit.records)


def test_a_checkpoint_of_a_run_that_is_gone_is_said(path: Path, tmp_path: Path) -> None:
    with Store.read(path) as store:
        notes = tuple(store.notes(run)[0] for run in (1, 2))
        ids = [run_id for _run, run_id in store.runs()]
    pins = Pins(checkpoints=notes)
    assert [True, True, False] == [audit.anchored for audit in verified(path, pins)]
    with Store.read(path) as store:
        some = list(verify_store(path, store.runs()[2:], pins))
    assert 1 == len(some)
    assert ["is of none of the runs verified" in one.text for one in strays(some, ids, pins)] == [True] * 2
    other = tmp_path / "other.db"
    with ledger(other) as store:
        small_run(store, trial=1)
    audits = verified(other, pins)
    assert [(True, True)] == [(audit.good, audit.anchored) for audit in audits]
    (finding,) = strays(audits, {audits[0].run}, pins)
    assert (ids[0], None, "checkpoint.origin") == (finding.run, finding.seq, finding.code)
    assert finding.text.startswith("log shorter than checkpoint size 24: there is no such run")


def test_a_bundles_flaws_come_with_its_first_run(path: Path, tmp_path: Path) -> None:
    with Store.read(path) as store:
        lines = exported(store).lines
    audits = list(verify_bundle(Exported([b"{}\n", *lines]).write(tmp_path / "a.jsonl")))
    assert [["bundle.form"], [], []] == [codes for _outcome, _good, codes in summary(audits)]
    assert "line 1: a line is no blob, record, part or note" == audits[0].findings[0].text


def test_a_blob_that_no_run_reads_is_checked_too(path: Path, tmp_path: Path) -> None:
    with Store.read(path) as store:
        lines = exported(store).lines
    stray = b'{"blob":{"kind":"task","of":"%b","text":"another"}}\n' % (b"0" * 64)
    audits = list(verify_bundle(Exported([stray, *lines]).write(tmp_path / "a.jsonl")))
    assert [[], [], ["blob.digest"]] == [codes for _outcome, _good, codes in summary(audits)]


def test_a_run_that_is_in_a_bundle_twice_is_found(path: Path, tmp_path: Path) -> None:
    with Store.read(path) as store:
        first = list(exported(store).lines)
        runs = [place for place, line in enumerate(first) if b'"kind":"open"' in line]
    lines = [*first, *first[runs[0] : runs[1]]]
    audits = list(verify_bundle(Exported(lines).write(tmp_path / "a.jsonl")))
    assert [[], [], [], ["bundle.form"]] == [codes for _outcome, _good, codes in summary(audits)]


def flips(data: bytes, count: int, seed: str) -> Iterator[tuple[int, bytes]]:
    chance = random.Random(seed)
    for _ in range(count):
        place = chance.randrange(len(data))
        changed = bytearray(data)
        changed[place] ^= 1 << chance.randrange(8)
        yield place, bytes(changed)


def told(path: Path) -> str:
    """What verifying says of a file: `good`, codes of findings, or the code of an error."""
    try:
        audits = verified(path)
    except LedgerError as error:
        return error.code
    found = sorted({finding.code for audit in audits for finding in audit.findings})
    return " ".join(found) or "good"


def flip_all(path: Path, tmp_path: Path, count: int) -> dict[str, int]:
    """Verifies the ledger with a bit flipped, many times; any exception but our errors fails the test."""
    outcomes: dict[str, int] = {}
    other = tmp_path / "flipped.db"
    for _place, data in flips(path.read_bytes(), count, "flips"):
        other.write_bytes(data)
        outcome = told(other)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        for made in tmp_path.glob("flipped.db-*"):
            made.unlink()
    return outcomes


def test_a_flipped_bit_of_the_file_is_found_or_harmless_and_never_a_crash(path: Path, tmp_path: Path) -> None:
    outcomes = flip_all(path, tmp_path, 200)
    assert sum(outcomes.values()) - outcomes.get("good", 0) > 60


@pytest.mark.long
def test_many_flipped_bits_of_the_file(path: Path, tmp_path: Path) -> None:
    outcomes = flip_all(path, tmp_path, 5_000)
    assert sum(outcomes.values()) - outcomes.get("good", 0) > 1_250


def test_what_is_good_in_spite_of_a_flipped_bit_is_what_was_written(path: Path, tmp_path: Path) -> None:
    """Where nothing is found, every record, part and note is as it was."""
    with Store.read(path) as store:
        expected = exported(store)
    other = tmp_path / "flipped.db"
    for place, data in flips(path.read_bytes(), 200, "harmless"):
        other.write_bytes(data)
        if told(other) == "good":
            with Store.read(other) as store:
                assert expected == exported(store), place
        for made in tmp_path.glob("flipped.db-*"):
            made.unlink()


def test_an_export_of_a_damaged_ledger_is_found(path: Path, tmp_path: Path) -> None:
    edit(path, "UPDATE records SET body = replace(body, 'ann', 'zoe') WHERE kind = 'message'")
    with Store.read(path) as store:
        bundle = exported(store).write(tmp_path / "a.jsonl")
    assert not any(audit.good for audit in verify_bundle(bundle))
    shutil.copy(path, tmp_path / "b.db")
    assert summary(verified(tmp_path / "b.db")) == summary(verified(path))
    assert json.loads(bundle.read_bytes().splitlines()[0])


def test_what_is_no_ledger_is_an_error(tmp_path: Path) -> None:
    assert "ledger.missing" == code_of(lambda: list(verify_store(tmp_path / "none", [])))
    assert "bundle.missing" == code_of(lambda: list(verify_bundle(tmp_path / "none")))


def test_a_run_without_records_is_a_finding(path: Path) -> None:
    edit(path, f"INSERT INTO runs VALUES (9, '{'ab' * 32}')")
    last = verified(path)[-1]
    assert (last.run, last.good, [(finding.code, finding.seq) for finding in last.findings]) == (
        "ab" * 32,
        False,
        [("grammar.open", None)],
    )


def test_what_is_kept_comes_with_what_is_wrong_with_the_file(path: Path) -> None:
    with Store.read(path) as store:
        runs = store.runs()
    kept = list(verify_store(path, runs, keep=True, jobs=2))
    assert [bool(audit.deeds) for audit in kept] == [True, True, True]
    assert summary(kept) == summary(verified(path))


def test_a_decision_of_unknown_start_rows_may_accept_what_reached_nobody(tmp_path: Path) -> None:
    """Nothing is made again then, so the file's word is taken, and ends in findings."""
    with ledger(tmp_path / "a.db") as store:
        small_run(store)
        bundle = exported(store)
    lines = [line for line in bundle.lines if not line.startswith(b'{"blob":{"kind":"rows"')]
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines).replace(b'"to":"assistant"', b'"to":"assistent"', 1))
    audit = next(verify_bundle(tmp_path / "a.jsonl"))
    assert "signature.invalid" in [finding.code for finding in audit.findings]


def test_run_numbers_have_an_end(path: Path) -> None:
    edit(path, f"INSERT INTO runs VALUES ({2**32 - 2}, '{'ab' * 32}')")
    with ledger(path) as store:
        assert code_of(lambda: begin(store, trial=7)) == "store.damaged"

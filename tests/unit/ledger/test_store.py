from __future__ import annotations

import multiprocessing
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple
from small_run import NAME, OUTSIDER, begin, ledger, opened_of, signed, small_run

from tollbook.ledger import database
from tollbook.ledger.records import Part
from tollbook.ledger.store import Draft, Store
from tollbook.protocol.bodies import PartText
from tollbook.protocol.errors import LedgerError
from tollbook.protocol.keys import key_text
from tollbook.protocol.retail.actions import ListAllProductTypes

RUN = "ab" * 32
SIG = "A" * 86 + "=="
PART = Part("text", PartText(salt="0" * 32, text="grüße\U0001f600"))
DRAFTS = [Draft("open", b'{"a":"\xc3\xa9"}', SIG), Draft("brief", b"{}", None, [PART])]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a ledger#?%.db"


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """The file without this package, as any SQLite tool opens it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(LedgerError) as caught:
        act()
    error = caught.value
    assert "\n" not in error.text
    assert not error.text.endswith(".")
    assert error.hint
    return error.code


def test_what_is_appended_is_read(path: Path) -> None:
    with ledger(path) as store:
        number = store.add_run(RUN, DRAFTS, [("cd" * 32, [b'{"blob":1}', b'{"blob":2}'])], ["a note\n"])
        store.append(number, 2, [Draft("turn", b"[]", None)], ["another\n"])
    with Store.read(path) as store:
        assert (NAME, 44) == (store.identity()[0], len(store.identity()[1]))
        assert [(number, RUN)] == store.runs()
        assert RUN == store.id(number)
        assert [
            (0, "open", DRAFTS[0].body, SIG, None, ()),
            (1, "brief", b"{}", None, None, (PART,)),
            (2, "turn", b"[]", None, None, ()),
        ] == [astuple(stored) for stored in store.records(number)]
        assert 3 == store.size(number)
        assert (DRAFTS[0].body, SIG) == store.signed(number, 0)
        assert b"{}" == store.body(number, 1)
        assert ["a note\n", "another\n"] == store.notes(number)
        assert [b'{"blob":1}', b'{"blob":2}'] == store.blob("cd" * 32)
        assert [] == store.blob("ef" * 32)
        assert store.receipt(number) is None
        assert store.damage() is None


def test_runs_are_apart(path: Path) -> None:
    with ledger(path) as store:
        first, second = (store.add_run(name * 32, DRAFTS[:1], []) for name in ("aa", "bb"))
        store.append(second, 1, [Draft("turn", b'"second"', None, [PART])])
        store.append(first, 1, [Draft("turn", b'"first"', None)])
        assert [[b'"first"'], [b'"second"']] == [
            [one.body for one in store.records(run)][1:] for run in (first, second)
        ]
        assert [(), (PART,)] == [list(store.records(run))[1].parts for run in (first, second)]
        assert 0 == store.size(second + 1)
        assert "run.seq" == code_of(lambda: store.body(first, 2))
        assert "run.unknown" == code_of(lambda: store.id(second + 1))


def test_a_blob_is_kept_once(path: Path) -> None:
    with ledger(path) as store:
        for run in ("aa", "bb"):
            store.add_run(run * 32, DRAFTS, [("cd" * 32, [b"1", b"2"])])
        assert [b"1", b"2"] == store.blob("cd" * 32)


def test_the_last_receipt_counts(path: Path) -> None:
    with ledger(path) as store:
        run = store.add_run(RUN, DRAFTS, [])
        store.add_receipts([(run, "s", "first"), (run, "s", "second")])
        assert "second" == store.receipt(run)


def test_a_run_is_found_by_the_beginning_of_its_id(path: Path) -> None:
    with ledger(path) as store:
        for name in ("aa" * 32, "ab" * 32):
            store.add_run(name, DRAFTS, [])
        assert (2, "ab" * 32) == store.find("AB")
        cases = {
            "a": "run.ambiguous",
            "b": "run.unknown",
            "": "run.form",
            "x": "run.form",
            "a" * 65: "run.form",
        }
        assert cases == {prefix: code_of(lambda prefix=prefix: store.find(prefix)) for prefix in cases}


def test_the_overview_says_what_a_run_is(path: Path) -> None:
    with ledger(path) as store:
        sealed, opened = small_run(store), begin(store, trial=1)
        assert [
            (sealed.id, "retail", "cancel", "first", 0, "played", sealed.run.size, "completed"),
            (opened.id, "retail", "cancel", "first", 1, "played", 1, None),
        ] == [tuple(row.values()) for row in store.overview()]


def test_a_run_that_is_there_is_refused_and_nothing_of_it_is_kept(path: Path) -> None:
    with ledger(path) as store:
        store.add_run(RUN, DRAFTS, [])
        assert "run.exists" == code_of(lambda: store.add_run(RUN, DRAFTS, [("cd" * 32, [b"1"])], ["note"]))
        assert [(1, RUN)] == store.runs()
        assert [] == store.blob("cd" * 32)


@pytest.mark.parametrize("seq", [0, 1, 3, 2**31 - 1])
def test_an_append_elsewhere_than_at_the_end_is_a_conflict(path: Path, seq: int) -> None:
    with ledger(path) as store:
        run = store.add_run(RUN, DRAFTS, [])
        assert "ledger.conflict" == code_of(lambda: store.append(run, seq, DRAFTS, ["note"]))
        assert (2, []) == (store.size(run), store.notes(run))
        store.append(run, 2, DRAFTS)
        assert "ledger.conflict" == code_of(lambda: store.append(run, 2, DRAFTS))


def test_a_file_belongs_to_one_name_and_key(path: Path) -> None:
    with ledger(path) as store:
        name, key = store.identity()
    other = key_text(OUTSIDER.public)
    assert "ledger.name" == code_of(lambda: Store.write(path, "other.name", key))
    assert "ledger.key" == code_of(lambda: Store.write(path, name, other))
    with ledger(path):
        pass


def test_what_is_no_ledger_is_refused_and_left_as_it_is(path: Path, tmp_path: Path) -> None:
    def foreign() -> None:
        with raw(path) as connection:
            connection.execute("CREATE TABLE other (a)")

    def later() -> None:
        ledger(path).close()
        with raw(path) as connection:
            connection.execute("PRAGMA user_version = 2")

    cases: list[tuple[str, Callable[[], Any]]] = [
        ("ledger.directory", path.mkdir),
        ("ledger.form", lambda: path.write_text("something else\n" * 100)),
        ("ledger.form", lambda: path.write_bytes(b"SQLite")),
        ("ledger.foreign", foreign),
        ("ledger.foreign", lambda: path.write_bytes(b"SQLite format 3\0")),
        ("ledger.format", later),
        ("ledger.open", lambda: path.symlink_to(path)),
    ]
    for code, make in cases:
        make()
        before = path.read_bytes() if path.is_file() else b""
        assert code == code_of(lambda: Store.read(path))
        if code != "ledger.open":
            assert code == code_of(lambda: ledger(path))
        assert before == (path.read_bytes() if path.is_file() else b"")
        for made in tmp_path.iterdir():
            shutil.rmtree(made) if made.is_dir() else made.unlink()
    assert "ledger.missing" == code_of(lambda: Store.read(path))
    assert [] == list(tmp_path.iterdir())
    assert "ledger.open" == code_of(lambda: ledger(tmp_path / "no folder" / "a.db"))


def test_an_empty_file_is_written_and_not_read(path: Path) -> None:
    path.touch()
    assert "ledger.form" == code_of(lambda: Store.read(path))
    with ledger(path) as store:
        assert [] == store.runs()


@pytest.mark.parametrize("table", ["ledger", "runs", "records", "parts", "blobs", "notes", "receipts"])
def test_no_tool_changes_a_row(path: Path, table: str) -> None:
    with ledger(path) as store:
        run = small_run(store)
        store.add_receipts([(1, "s", run.id)])
    with raw(path) as connection:
        for change in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid = rowid"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(change)


def test_any_tool_reads_the_views(path: Path) -> None:
    with ledger(path) as store:
        writer = small_run(store)
    with raw(path) as connection:
        said = connection.execute("SELECT count(*), min(run), max(run) FROM messages").fetchone()
        ruled = connection.execute("SELECT outcome, count(*) FROM decisions GROUP BY 1 ORDER BY 1").fetchall()
    assert (8, writer.id, writer.id) == said
    assert [("accepted", 6), ("refused", 2)] == ruled


def test_readers_are_read_only(path: Path) -> None:
    with ledger(path) as store:
        store.add_run(RUN, DRAFTS, [])
    with Store.read(path) as store:
        assert "ledger.write" == code_of(lambda: store.append(1, 2, DRAFTS))


def test_a_second_writer_waits_or_is_told(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    with ledger(path):
        link.symlink_to(path)
        assert "ledger.busy" == code_of(lambda: ledger(path, wait_seconds=0.05))
        assert "ledger.busy" == code_of(lambda: ledger(link, wait_seconds=0.05))
    with ledger(link, wait_seconds=0):
        pass


def test_a_tool_that_writes_makes_a_writer_wait_and_lose_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    with ledger(path) as store, raw(path) as tool:
        run = store.add_run(RUN, DRAFTS, [])
        tool.execute("BEGIN IMMEDIATE")
        assert "ledger.busy" == code_of(lambda: store.append(run, 2, DRAFTS))
        tool.execute("ROLLBACK")
        store.append(run, 2, DRAFTS)
        assert 4 == store.size(run)


def test_the_lock_is_free_after_closing_although_a_forked_process_lives(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    store = ledger(path)
    done = context.Event()
    process = context.Process(target=done.wait)
    process.start()
    try:
        store.close()
        ledger(path, wait_seconds=0).close()
    finally:
        done.set()
        process.join()


def test_closing_twice_is_closing(path: Path) -> None:
    store = ledger(path)
    store.close()
    store.close()


def test_a_full_disk_keeps_nothing_of_the_append_and_the_next_one_goes_on(path: Path) -> None:
    with ledger(path) as store:
        run = store.add_run(RUN, DRAFTS, [])
        connection = store._connection  # noqa: SLF001 - the limit is one of the connection
        connection.execute("PRAGMA max_page_count = 30")
        large = [Draft("turn", b'"' + b"x" * 60_000 + b'"', None) for _ in range(10)]
        assert "ledger.write" == code_of(lambda: store.append(run, 2, large, ["note"]))
        assert (2, []) == (store.size(run), store.notes(run))
        connection.execute("PRAGMA max_page_count = 1000000")
        store.append(run, 2, large, ["note"])
        assert (12, ["note"]) == (store.size(run), store.notes(run))
        assert store.damage() is None


def test_a_reader_with_a_snapshot_holds_up_nobody_and_the_log_is_reported(path: Path) -> None:
    with ledger(path) as store:
        run = store.add_run(RUN, DRAFTS, [])
        with Store.read(path) as reader, reader.snapshot():
            assert 2 == reader.size(run)
            for seq in range(2, 10_002, 100):
                store.append(run, seq, [Draft("turn", b"%d" % (seq + i), None) for i in range(100)])
            assert 10_002 == store.size(run)
            assert 2 == reader.size(run)
            grown = store.backlog_bytes
            assert grown > 100 * 4096
        assert grown == store.backlog_bytes
        with Store.read(path) as reader:
            assert list(range(2, 10_002)) == [
                int(one.body) for one in reader.records(run) if one.kind == "turn"
            ]
    with Store.read(path) as reader:
        assert 0 == reader.backlog_bytes
    assert not database.log_of(path).exists() or database.log_of(path).stat().st_size == 0


def test_without_readers_the_log_stays_bounded(path: Path) -> None:
    with ledger(path) as store:
        run = store.add_run(RUN, DRAFTS, [])
        for seq in range(2, 402, 4):
            store.append(run, seq, [Draft("turn", b'"' + b"x" * 50_000 + b'"', None)] * 4)
        assert store.backlog_bytes < 2 * database.BACKLOG_LIMIT_BYTES
        assert path.stat().st_size > 3 * database.BACKLOG_LIMIT_BYTES


def test_the_log_shrinks_once_a_reader_lets_go(path: Path) -> None:
    large = [Draft("turn", b'"' + b"x" * 60_000 + b'"', None)] * 100
    with ledger(path) as store:
        run = store.add_run(RUN, DRAFTS, [])
        with Store.read(path) as reader, reader.snapshot():
            reader.runs()
            for seq in (2, 102, 202):
                store.append(run, seq, large)
            assert store.backlog_bytes > 4 * database.BACKLOG_LIMIT_BYTES
        for seq in range(302, 306):
            store.append(run, seq, large[:1])
        assert store.backlog_bytes <= database.BACKLOG_LIMIT_BYTES


def test_closing_folds_the_log_although_a_reader_has_the_file_open(path: Path) -> None:
    store = ledger(path)
    store.add_run(RUN, DRAFTS, [])
    with Store.read(path) as reader:
        reader.runs()
        assert store.backlog_bytes > 0
        store.close()
        assert 0 == reader.backlog_bytes
        assert 2 == reader.size(1)


def test_what_failed_late_leaves_the_run_where_it_was(path: Path) -> None:
    """Its records were in the transaction already when the note was not taken."""
    with ledger(path) as store:
        run = store.add_run(RUN, DRAFTS, [])
        nothing: Any = None
        assert "ledger.write" == code_of(lambda: store.append(run, 2, DRAFTS, [nothing]))
        store.append(run, 2, DRAFTS)
        assert 4 == store.size(run)


def test_a_closed_ledger_is_one_file(path: Path, tmp_path: Path) -> None:
    with ledger(path) as store:
        writer = small_run(store)
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    with Store.read(copy) as store:
        assert writer.run.size == store.size(1)


def test_closing_does_not_wait_for_a_reader(path: Path) -> None:
    store = ledger(path)
    store.add_run(RUN, DRAFTS, [])
    with Store.read(path) as reader, reader.snapshot():
        reader.runs()
        store.append(1, 2, DRAFTS)
        begun = time.monotonic()
        store.close()
        assert time.monotonic() - begun < database.BUSY_SECONDS / 2
        assert 2 == reader.size(1)
        with Store.read(path) as other:
            assert 4 == other.size(1)


def test_records_and_their_parts_are_of_one_moment(path: Path) -> None:
    """Nothing had parts when the reading began; what is appended meanwhile isn't seen by half."""
    with ledger(path) as store, Store.read(path) as reader:
        run = store.add_run(RUN, DRAFTS[:1], [])
        seen = reader.records(run)
        first = next(seen)
        store.append(run, 1, [Draft("turn", b"1", None, [PART])])
        assert 0 == first.seq
        assert [] == list(seen)
        assert [(), (PART,)] == [one.parts for one in reader.records(run)]


def test_a_ledger_in_a_closed_folder_is_read(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where SQLite can't make the files of a write-ahead log, there is none to miss."""
    with ledger(path) as store:
        store.add_run(RUN, DRAFTS, [])
    assert {path.name, f"{path.name}.lock"} == {made.name for made in tmp_path.iterdir()}
    connect = sqlite3.connect

    def refuse(target: str, **options: Any) -> sqlite3.Connection:
        if "mode=ro" in target:
            raise sqlite3.OperationalError("unable to open database file")
        return connect(target, **options)

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with Store.read(path) as store:
        assert 2 == store.size(1)
    database.log_of(path).touch()
    assert "ledger.open" == code_of(lambda: Store.read(path))


def test_a_column_of_another_type_is_damage(path: Path) -> None:
    with ledger(path) as store:
        small_run(store)
    with raw(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT', ''), 'NOT NULL', '')"
        )
        connection.execute("DELETE FROM sqlite_schema WHERE type = 'trigger'")
    cases: list[tuple[str, Callable[[Store], Any]]] = [
        ("UPDATE records SET sig = 'text'", lambda store: list(store.records(1))),
        ("UPDATE records SET kind = x'ff'", lambda store: list(store.records(1))),
        ("UPDATE records SET kind = CAST(x'ff' AS TEXT)", lambda store: list(store.records(1))),
        ("UPDATE records SET body = NULL", lambda store: list(store.records(1))),
        ("UPDATE records SET body = NULL", lambda store: store.body(1, 0)),
        ("UPDATE parts SET salt = 'text'", lambda store: list(store.records(1))),
        ("UPDATE parts SET text = NULL", lambda store: list(store.records(1))),
        ("UPDATE parts SET field = x'00' WHERE part = 1", lambda store: list(store.records(1))),
        ("UPDATE notes SET text = x'00'", lambda store: store.notes(1)),
        ("UPDATE blobs SET body = NULL", lambda store: store.blob(opened_of(store, 1).facts)),
        ("UPDATE runs SET id = x'00'", lambda store: store.runs()),
        ("UPDATE runs SET id = x'00'", lambda store: store.id(1)),
        ("UPDATE records SET body = '{'", lambda store: store.overview()),
    ]
    for change, read in cases:
        other = path.with_name("other.db")
        shutil.copy(path, other)
        with raw(other) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute(change)
        with Store.read(other) as store:
            assert "store.damaged" == code_of(lambda read=read, store=store: read(store)), change
        for made in path.parent.glob("other.db*"):
            made.unlink()


def test_damage_is_told_by_sqlites_own_check(path: Path) -> None:
    with ledger(path) as store:
        small_run(store)
    with raw(path) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'records'").fetchone()
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    data[size * (page - 1) : size * page] = b"\xff" * size
    path.write_bytes(data)
    with Store.read(path) as store:
        assert "the file is damaged" in (store.damage() or "")
        assert "\n" not in (store.damage() or "")


def test_appending_is_refused_once_the_signature_is_no_signature(path: Path) -> None:
    """The store keeps 64 bytes; what isn't the base64 of them can't be kept, nor lost."""
    with ledger(path) as store:
        run = begin(store)
        body, _sig = signed(run.run, "outsider", ListAllProductTypes())
        assert "ledger.signature" == code_of(
            lambda: store.append(1, 1, [Draft("message", body, "not base64")])
        )
        assert 1 == store.size(1)

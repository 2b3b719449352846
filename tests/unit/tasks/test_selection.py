"""What words name: runs of a ledger, or a bundle; and what is said of words that name neither."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from script import Stage

from tollbook.ledger.store import Store
from tollbook.protocol.errors import BundleError, LedgerError, TollbookError
from tollbook.tasks.selection import bundle_file, bundle_of, find_run, naming, select

FIRST = "491b0a273b8585a1f48a77253bb4f651c570580e33cbd1105e26afc539ef45ec"
SECOND = "9c624e9dd62605d64e3f1ff4a1b5a424cfedc625e3b9a43f2fabe06405633524"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.chdir(tmp_path)
    for name in ("runs.jsonl", "491b", "abc", "c"):
        Stage(tmp_path).prepare(f"bundle {name}")
    for step in ("ledger tollbook.db", "laid-out empty.db"):
        Stage(tmp_path).prepare(step)
    with Store.read(Path("tollbook.db")) as opened:
        yield opened


def code(error: pytest.ExceptionInfo[TollbookError]) -> str:
    assert error.value.hint
    return error.value.code


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (None, ()),
        (None, ("491b",)),
        (None, ("491B", "9c62")),
        (None, (FIRST,)),
        (None, ("abc",)),
        ("runs.jsonl", ("runs.jsonl",)),
        ("abc", ("./abc",)),
        (".", (".",)),
    ],
)
@pytest.mark.usefixtures("store")
def test_a_word_is_an_id_before_it_is_a_file(expected: str | None, words: tuple[str, ...]) -> None:
    assert (None if expected is None else Path(expected)) == bundle_of(words)


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ("usage.mixed", ("runs.jsonl", "491b")),
        ("usage.mixed", ("runs.jsonl", "runs.jsonl")),
        ("bundle.missing", ("none.jsonl",)),
        ("bundle.missing", (FIRST + "0",)),
        ("bundle.ledger", ("tollbook.db",)),
        ("bundle.not_a_file", ("/dev/null",)),
    ],
)
@pytest.mark.usefixtures("store")
def test_what_is_no_bundle(expected: str, words: tuple[str, ...]) -> None:
    with pytest.raises(TollbookError) as error:
        bundle_of(words)
    assert expected == code(error)


def test_a_pipe_is_no_bundle(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BundleError) as error:
        bundle_file(tmp_path / "pipe")
    assert code(error) == "bundle.not_a_file"


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ([FIRST, SECOND], ("491b", "9c62")),
        ([SECOND, FIRST], (SECOND.upper(), "491b0")),
        ([FIRST], ("491b", "491b0", FIRST)),
    ],
)
def test_runs_come_in_the_order_of_their_words_each_once(
    store: Store, expected: list[str], words: tuple[str, ...]
) -> None:
    assert expected == [run_id for _run, run_id in select(store, words)]


def test_without_words_all_runs_are_meant(store: Store) -> None:
    assert store.runs() == select(store, ())
    assert len(store.runs()) == 15


def test_a_ledger_without_runs_is_told(store: Store) -> None:
    del store
    with Store.read(Path("empty.db")) as empty, pytest.raises(LedgerError) as error:
        select(empty, ())
    assert code(error) == "ledger.empty"


@pytest.mark.parametrize(
    ("expected", "is_told", "word"),
    [
        ("run.unknown", False, "ffff"),
        ("run.unknown", True, "abc"),
        ("run.form", False, "zz"),
        ("run.form", False, ""),
        ("run.form", False, "a" * 300),
        ("run.form", True, "runs.jsonl"),
        ("run.ambiguous", False, "5"),
        ("run.ambiguous", False, "c"),
    ],
)
def test_a_file_in_place_of_a_run_is_told_where_it_belongs(
    store: Store, expected: str, is_told: bool, word: str  # noqa: FBT001 - a column
) -> None:
    with pytest.raises(LedgerError) as error:
        find_run(store, word)
    assert expected == code(error)
    assert is_told == ("tollbook import bundle" in str(error.value.hint))
    assert is_told == ("but a file" in error.value.text)


def test_an_id_goes_before_a_file_of_its_name(store: Store) -> None:
    assert find_run(store, "491b") == (1, FIRST)


@pytest.mark.parametrize(
    ("expected", "text"),
    [("`a.jsonl`: the file is cut", "the file is cut"), ("`a.jsonl` is a folder", "`a.jsonl` is a folder")],
)
def test_a_bundle_is_named_once(expected: str, text: str) -> None:
    with pytest.raises(BundleError) as error, naming(Path("a.jsonl")):
        raise BundleError("bundle.form", text, "a hint")
    assert (expected, "bundle.form", "a hint") == (error.value.text, error.value.code, error.value.hint)


def test_what_is_packed_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"SQLite format 3\0"))
    assert path == bundle_file(path)

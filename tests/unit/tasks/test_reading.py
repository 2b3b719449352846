"""Stored records, shown: what is missing or can't be read is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from script import Stage

from tollbook.ledger.records import Part, Stored
from tollbook.ledger.store import Store
from tollbook.protocol.bodies import PartText
from tollbook.protocol.errors import LedgerError
from tollbook.tasks.reading import check_seq, document_of, ends_of, record_of, texts_of

RUN = "491b0a273b8585a1f48a77253bb4f651c570580e33cbd1105e26afc539ef45ec"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as stage:
        stage.prepare("ledger tollbook.db")
        yield stage


def store_of(stage: Stage) -> Store:
    return Store.read(stage.folder / "tollbook.db")


@pytest.mark.parametrize("seq", [0, 7, 25])
def test_a_record_by_its_place(stage: Stage, seq: int) -> None:
    with store_of(stage) as store:
        found = record_of(store, 1, RUN, seq)
        assert (seq, store.body(1, seq)) == (found.seq, found.body)


@pytest.mark.parametrize("seq", [26, 2**31, 10**30])
def test_a_place_behind_the_end_is_told_with_the_last_one(stage: Stage, seq: int) -> None:
    with store_of(stage) as store:
        for ask in (check_seq, record_of):
            with pytest.raises(LedgerError) as error:
                ask(store, 1, RUN, seq)
            assert ("run.seq", "give a number from 0 to 25") == (error.value.code, error.value.hint)


def test_a_run_is_known_by_its_ends(stage: Stage) -> None:
    with store_of(stage) as store:
        assert [("open", 0), ("seal", 25)] == [(one.kind, one.seq) for one in ends_of(store, 1, RUN)]


def test_a_record_that_is_gone(stage: Stage) -> None:
    stage.damage("records", f"DELETE FROM records WHERE place = {(1 << 31) + 3}")
    with store_of(stage) as store, pytest.raises(LedgerError) as error:
        record_of(store, 1, RUN, 3)
    assert ("run.seq", True) == (error.value.code, "tollbook verify" in str(error.value.hint))


@pytest.mark.parametrize("which", ["place >> 31 = 1", f"place = {1 << 31}"])
def test_a_run_whose_beginning_is_gone(stage: Stage, which: str) -> None:
    stage.damage("records", f"DELETE FROM records WHERE {which}")
    with store_of(stage) as store, pytest.raises(LedgerError) as error:
        ends_of(store, 1, RUN)
    assert error.value.code == "run.damaged"
    with store_of(stage) as store, pytest.raises(LedgerError) as error:
        record_of(store, 1, RUN, 0)
    assert error.value.code == "run.seq"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("seal", b""),
        ("seal", b"{}"),
        ("seal", b"\xff"),
        ("seal", b"[" * 100_000),
        ("other", b"{}"),
        ("decision", b'{"outcome":"accepted"}'),
    ],
)
def test_a_body_that_is_not_of_its_form(kind: str, body: bytes) -> None:
    with pytest.raises(LedgerError) as error:
        document_of(Stored(4, kind, body, None), RUN)
    assert ("run.damaged", True) == (error.value.code, "record 4 of run `491b0a273b85`" in error.value.text)


def test_a_body_is_shown_as_it_stands() -> None:
    body = b'{"outcome":"imported","root":"%b","rows":3}' % (b"0" * 64)
    stored = Stored(1, "seal", body, None)
    assert {"outcome": "imported", "root": "0" * 64, "rows": 3} == document_of(stored, RUN)


def test_texts_are_by_field() -> None:
    parts = (Part("a", PartText("0" * 32, "one")), Part("b", PartText("1" * 32, "two")))
    assert {"a": "one", "b": "two"} == texts_of(Stored(1, "turn", b"", None, None, parts))

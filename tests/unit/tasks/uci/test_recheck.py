"""Runs against the file they came from: the same file, and others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from uci_ledger import INVOICES, play

from tollbook.ledger.audit import Audit
from tollbook.ledger.store import Store
from tollbook.ledger.verify import verify_store
from tollbook.tasks.uci.recheck import is_ledger, recheck


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Audit]:
    folder = tmp_path_factory.mktemp("recheck")
    play(folder, INVOICES.read_bytes())
    with Store.read(folder / "market.db") as store:
        runs = store.runs()
    return list(verify_store(folder / "market.db", runs, keep=True))


def told(audits: Sequence[Audit], path: Path) -> list[tuple[int, int | None, str]]:
    places = {audit.run: place for place, audit in enumerate(audits)}
    return [(places[one.run], one.seq, one.code) for one in recheck(audits, path)]


def test_the_same_file_gives_the_same_runs(audits: Sequence[Audit]) -> None:
    assert [] == told(audits, INVOICES)


def test_another_line_is_found_at_its_record(audits: Sequence[Audit], tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_bytes(INVOICES.read_bytes().replace(b"-4,2.55,", b"-4,2.56,"))
    found = told(audits, path)
    assert [(0, 0, "source.digest"), (1, 0, "source.digest")] == [one for one in found if "digest" in one[2]]
    differs = [one for one in found if one[2] == "source.differs"]
    assert [0] == [run for run, _seq, _code in differs]
    seq = differs[0][1]
    assert seq is not None
    deed = next(deed for deed in audits[0].deeds if deed.seq == seq)
    assert "C536374: -4 of 85123A" == deed.texts["reason"]


def test_a_period_that_the_file_lacks_is_missing(audits: Sequence[Audit], tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_bytes(b"".join(INVOICES.read_bytes().splitlines(keepends=True)[:7]))
    assert (1, None, "source.missing") in told(audits, path)


def test_which_files_are_such_ledgers(tmp_path: Path) -> None:
    other = tmp_path / "recorded.json"
    other.write_text("{}")
    assert [True, False, False] == [is_ledger(path) for path in (INVOICES, other, tmp_path / "none")]

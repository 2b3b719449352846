"""Ctrl-C at any moment of a command that writes: what is there is whole, and the same command goes on."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from script import Ran, Stage

from tollbook.ledger import bundle
from tollbook.ledger.store import Store
from tollbook.tasks.tau2 import importer

Moment = tuple[Any, str, int, bool]
"""Before or after the n-th call of a function, from 0: its owner, its name, n, whether after."""

IMPORT = "tollbook import tau2 recorded.json --db shop.json"
INTERRUPTED = ["! error: interrupted", "! hint: run the command again", "= 130"]


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def nth(call: Callable[..., Any], n: int, *, after: bool) -> Callable[..., Any]:
    """The function, its n-th call (from 0) interrupted at its beginning or at its end."""
    count = 0

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        if count == n + 1 and not after:
            signal.raise_signal(signal.SIGINT)
        result = call(*args, **kwargs)
        if count == n + 1:
            signal.raise_signal(signal.SIGINT)
        return result

    return interrupted


def interrupted(stage: Stage, line: str, at: Moment) -> Ran:
    owner, name, n, after = at
    with mock.patch.object(owner, name, nth(getattr(owner, name), n, after=after)):
        return stage.run(line)


@pytest.mark.parametrize(
    ("runs", "at"),
    [
        (0,  (importer, "_say", 0, False)),
        (0,  (importer, "_say", 3, True)),
        (3,  (importer, "_say", 19, False)),
        (0,  (Store, "_prepare", 0, False)),
        (0,  (Store, "_prepare", 0, True)),
        (0,  (Store, "add_run", 0, False)),
        (1,  (Store, "add_run", 0, True)),
        (7,  (Store, "add_run", 7, False)),
        (8,  (Store, "add_run", 7, True)),
        (15, (Store, "add_run", 14, True)),
        (0,  (Store, "_insert", 0, True)),
        (5,  (Store, "_insert", 5, False)),
        (5,  (Store, "_insert", 5, True)),
    ],
    ids=str,
)  # fmt: skip
def test_an_import_leaves_whole_runs_and_goes_on(tmp_path: Path, runs: int, at: Moment) -> None:
    with Stage(tmp_path) as stage:
        for step in ("suite .", "secret tollbook.db.secret"):
            stage.prepare(step)
        assert INTERRUPTED == interrupted(stage, IMPORT, at).lines()
        if runs:
            noun = "run" if runs == 1 else "runs"
            last = stage.run("tollbook verify").lines()[-1]
            assert last == f"> {runs} {noun}, {runs} good, 0 findings"
        again = stage.run(IMPORT)
        assert again.stdout.startswith(f"imported {15 - runs} runs: ")
        assert (again.exit, again.stderr.count("is in this ledger already")) == (int(runs > 0), runs)
        assert ["> 15 runs, 15 good, 0 findings"] == stage.run("tollbook verify").lines()[-1:]


@pytest.mark.parametrize("name", ["record_bytes", "encode_typed", "opened_of"])
def test_an_export_leaves_no_file(tmp_path: Path, name: str) -> None:
    with Stage(tmp_path) as stage:
        stage.prepare("ledger tollbook.db")
        before = stage.files()
        ran = interrupted(stage, "tollbook export -o out.jsonl", (bundle, name, 3, False))
        assert INTERRUPTED == ran.lines()
        assert before == stage.files()


def test_a_score_keeps_all_receipts_or_none(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        stage.prepare("ledger tollbook.db")
        before = stage.files()
        assert INTERRUPTED == interrupted(stage, "tollbook score", (Store, "add_receipts", 0, False)).lines()
        assert before == stage.files()

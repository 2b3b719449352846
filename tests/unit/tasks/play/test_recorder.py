"""A run that is played is written, audited from what was written, and the same wherever it is played."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
import roots
from small_task import (
    ASK,
    LOOK,
    NAME,
    SECRET,
    TEXT,
    Memory,
    Says,
    changed,
    kinds_of,
    ledger_on,
    store_at,
    task_of,
)

from tollbook.ledger.store import Draft, Store
from tollbook.ledger.verify import verify_store
from tollbook.protocol.errors import LedgerError, TaskError
from tollbook.tasks.play.agent import Answer, Asked
from tollbook.tasks.play.conduct import with_conduct
from tollbook.tasks.play.environment import code_digest
from tollbook.tasks.play.recorder import Copy, Ledger, record, seats_of

TASK = task_of()
SUPPORT = Path(roots.__file__).resolve().parent


def started(folder: Path, *options: str, **settings: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, *options, roots.__file__],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, **settings},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_give_the_same_roots(tmp_path: Path) -> None:
    """Whatever they hash with, whatever the time of day and the language."""
    one = started(tmp_path, PYTHONHASHSEED="1", TZ="Pacific/Auckland", LC_ALL="C")
    other = started(SUPPORT, "-O", PYTHONHASHSEED="424242", TZ="America/Lima", LC_ALL="de_DE.UTF-8")
    printed = [process.communicate()[0].splitlines() for process in (one, other)]
    assert (0, 0) == (one.returncode, other.returncode)
    assert 4 * len(roots.WORDS) == len(printed[0])
    assert len(set(printed[0])) == len({line.split()[2] for line in printed[0]})
    assert printed[0] == printed[1]


def test_what_was_written_is_what_was_audited(tmp_path: Path) -> None:
    with store_at(tmp_path / "a.db") as store:
        audits = [record(ledger_on(store), TASK, "cheap", trial, Says(LOOK, ASK)).audit for trial in (0, 1)]
        runs = store.runs()
        texts = [note.splitlines() for note in store.notes(1)]
    notes = [json.loads(lines[1]) for lines in texts if lines[0].startswith("tollbook.environment/")]
    again = list(verify_store(tmp_path / "a.db", runs, keep=True, further=with_conduct))
    assert [(1, audits[0].run), (2, audits[1].run)] == runs
    same = ("run", "records", "root", "checks", "findings", "deeds", "briefs", "outcome")
    for audit, other in zip(audits, again, strict=True):
        assert [getattr(audit, name) for name in same] == [getattr(other, name) for name in same]
    assert [(audits[0].root, code_digest())] == [(note["root"], note["code"]) for note in notes]


def test_what_differs_gives_another_run() -> None:
    text = changed(("no less.", "no less!"))
    runs = [
        record(*arguments).audit
        for arguments in (
            (ledger_on(), TASK, "cheap", 0, Says(LOOK)),
            (ledger_on(), TASK, "cheap", 1, Says(LOOK)),
            (ledger_on(), TASK, "dear", 0, Says(LOOK)),
            (ledger_on(), TASK, "cheap", 0, Says(LOOK, name="another")),
            (ledger_on(), task_of(text), "cheap", 0, Says(LOOK)),
            (Ledger(Memory(), bytes(32), NAME), TASK, "cheap", 0, Says(LOOK)),
            (Ledger(Memory(), SECRET, "another"), TASK, "cheap", 0, Says(LOOK)),
        )
    ]
    assert 7 == len({audit.run for audit in runs}) == len({audit.root for audit in runs})
    again = record(ledger_on(), TASK, "cheap", 0, Says(LOOK)).audit
    assert (runs[0].run, runs[0].root) == (again.run, again.root)
    other = record(ledger_on(), TASK, "cheap", 0, Says(ASK)).audit
    assert runs[0].run == other.run
    assert runs[0].root != other.root


def test_who_plays_is_stated() -> None:
    seats = seats_of(TASK, {TASK.actor: Says(name="someone")})
    assert [
        ("buyer", "buyer", "someone"),
        ("merchant", "merchant", "script"),
        ("friend", "buyer", "script"),
        ("operator", "operator", "script"),
    ] == [(seat.id, seat.role, seat.agent.name) for seat in seats]
    assert TASK.roles == {seat.id: seat.role for seat in seats}


class Told(Memory):
    """A store that counts what is on disk."""

    def __init__(self) -> None:
        self.writes: list[str] = []

    @property
    def size(self) -> int:
        return len("".join(self.writes))

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        del run_id, notes
        assert ["rows", "task"] == [json.loads(lines[0])["blob"]["kind"] for _digest, lines in blobs]
        self.writes.append(kinds_of(records))
        return 1

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        assert (1, self.size, bool(notes)) == (run, seq, records[-1].kind == "seal")
        self.writes.append(kinds_of(records))


class Watching(Says):
    """An agent that looks at what is on disk when it is asked."""

    def __init__(self, told: Told, *, outside: bool) -> None:
        super().__init__(LOOK, ASK, outside=outside)
        self.sizes: list[int] = []
        self._told = told

    def act(self, asked: Asked) -> Answer:
        self.sizes.append(self._told.size)
        return super().act(asked)


def test_somebody_outside_is_answered_after_what_it_did_is_on_disk() -> None:
    told = Told()
    agent = Watching(told, outside=True)
    audit = record(ledger_on(told), TASK, "cheap", 0, agent).audit
    assert ["o", "bbmd", "tmd", "md", "tmd", "md", "md", "md", "md", "ts"] == told.writes
    assert [5, 10, 21] == agent.sizes
    assert (told.size, []) == (audit.records, audit.findings)


def test_a_run_in_process_is_written_whole() -> None:
    told = Told()
    agent = Watching(told, outside=False)
    record(ledger_on(told), TASK, "cheap", 0, agent)
    assert ["obb" + "md" * 8 + "s"] == told.writes
    assert [0, 0, 0] == agent.sizes


def test_a_copy_passes_everything_on(tmp_path: Path) -> None:
    with store_at(tmp_path / "a.db") as store:
        copy = Copy(store)
        audit = record(Ledger(copy, SECRET, NAME), TASK, "cheap", 0, Says(LOOK)).audit
        assert (audit.records, 2) == (len(copy.records), len(copy.notes))
        assert (audit.records, copy.notes) == (store.size(1), list(store.notes(1)))
        assert store.signed(1, 5) == copy.signed(1, 5)
        with pytest.raises(LedgerError):
            copy.refuse_known(audit.run)


def test_a_run_that_is_there_is_not_played_again(tmp_path: Path) -> None:
    with store_at(tmp_path / "a.db") as store:
        for outside in (False, True):
            record(ledger_on(store), TASK, "cheap", int(outside), Says(LOOK, outside=outside))
            before = counts(store)
            agent = Says(ASK, outside=outside)
            with pytest.raises(LedgerError) as caught:
                record(ledger_on(store), TASK, "cheap", int(outside), agent)
            assert ("run.exists", [], before) == (caught.value.code, agent.asked, counts(store))


def counts(store: Store) -> tuple[int, list[int]]:
    return len(store.runs()), [store.size(number) for number, _run in store.runs()]


def test_a_case_that_can_not_be_worked_out_opens_no_run(tmp_path: Path) -> None:
    wrong = task_of(changed(("price = 900,", 'price = "=1 / 0",')))
    with store_at(tmp_path / "a.db") as store:
        for task, case in ((TASK, "free"), (wrong, "cheap")):
            with pytest.raises(TaskError):
                record(ledger_on(store), task, case, 0, Says())
        assert [] == store.runs()
        record(ledger_on(store), wrong, "dear", 0, Says())
    assert TEXT == TASK.text

"""A run that broke off, wherever it did, goes on to the end that it would have had; or is refused by name."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import small_run
from small_task import ASK, LOOK, NAME, SECRET, Memory, Says, kinds_of, ledger_on, propose, store_at, task_of

from tollbook.ledger.audited import Audit
from tollbook.ledger.blobs import Blob, facts_blob, task_blob
from tollbook.ledger.bundle import export_lines
from tollbook.ledger.store import Draft, Store
from tollbook.ledger.transfer import import_bundle
from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.ledger.writer import Writer
from tollbook.protocol.bodies import Agent as Stated
from tollbook.protocol.bodies import Origin, Source
from tollbook.protocol.errors import LedgerError, TaskError
from tollbook.tasks.format.task import Task, load_task
from tollbook.tasks.judging import Judge
from tollbook.tasks.play.agent import Agent, Answer
from tollbook.tasks.play.casting import Part, cast, limits_of
from tollbook.tasks.play.conduct import with_conduct
from tollbook.tasks.play.recorder import Copy, Recorded, record
from tollbook.tasks.play.resume import abandon, resume
from tollbook.tasks.shelf import find_task

BUYER = Path(__file__).resolve().parents[4] / "docs" / "agents" / "buyer.py"
PROGRAM = f"exec:{shlex.join([sys.executable, '-I', str(BUYER)])}"
ZOPA = "t4.buyer_zopa"


class Whole(NamedTuple):
    """A run that nothing interrupted."""

    task: Task
    run: str
    root: str | None
    records: Sequence[Draft]
    blobs: Sequence[Blob]
    outcome: str

    def cut(self, store: Store, size: int) -> int:
        """A run of the store that broke off after so many records."""
        blobs = [(blob.digest, blob.lines) for blob in self.blobs]
        return store.add_run(self.run, self.records[:size], blobs)

    @property
    def breaks(self) -> list[int]:
        """Where a run may break off: never between a message and its decision, which are one transaction."""
        return [size for size in range(1, len(self.records)) if self.records[size - 1].kind != "message"]


@cache
def task_named(name: str) -> Task:
    return task_of() if name == "small.deal" else load_task(find_task(name).text)


def played(task: Task, case: str, agent: Agent) -> Whole:
    copy = Copy(Memory())
    recorded = record(ledger_on(copy), task, case, 0, agent)
    assert [] == recorded.audit.findings
    scene = task.scenes.stage(case, task.scenes.seed(case, 0))
    audit = recorded.audit
    blobs = [facts_blob(scene.facts), task_blob(task.text)]
    return Whole(task, audit.run, audit.root, copy.records, blobs, recorded.ending.outcome)


@cache
def whole(name: str, case: str, word: str) -> Whole:
    task = task_named(name)
    return played(task, case, cast(task, Part(word))(task.scenes.seed(case, 0)))


def by_word(word: str) -> Callable[[Task, Stated, str], Agent]:
    def made(task: Task, stated: Stated, seed: str) -> Agent:
        return cast(task, Part(word, name=stated.name, limits=limits_of(stated)))(seed)

    return made


def by(agent: Agent) -> Callable[[Task, Stated, str], Agent]:
    return lambda _task, _stated, _seed: agent


def gone_on(
    folder: Path, run: Whole, size: int, caster: Callable[[Task, Stated, str], Agent], secret: bytes = SECRET
) -> Recorded:
    with store_at(folder / f"{size}.db") as store:
        return resume(store, secret, run.cut(store, size), caster)


# Anywhere

IN_PROCESS = [
    ("small.deal", "cheap", "reference"),
    ("small.deal", "dear", "mutation:never_settles"),
    ("small.deal", "dear", "cheat:random_legal.7"),
    (ZOPA, "tit_for_tat", "cheat:random_legal.0"),
    (ZOPA, "linear", "cheat:takes_the_first_ask"),
]


@pytest.mark.parametrize(("name", "case", "word"), IN_PROCESS)
def test_at_each_record_in_process(tmp_path: Path, name: str, case: str, word: str) -> None:
    run = whole(name, case, word)
    assert {1, 2} < set(run.breaks)
    for size in run.breaks:
        recorded = gone_on(tmp_path, run, size, by_word(word))
        assert (run.root, run.outcome, []) == (
            recorded.audit.root, recorded.ending.outcome, recorded.audit.findings
        )  # fmt: skip


def test_the_reference_of_the_worked_task(tmp_path: Path) -> None:
    run = whole(ZOPA, "boulware", "reference")
    sizes = run.breaks[::3]
    assert 8 <= len(sizes)
    assert [run.root] * len(sizes) == [
        gone_on(tmp_path, run, size, by_word("reference")).audit.root for size in sizes
    ]


def test_at_records_of_a_program_outside(tmp_path: Path) -> None:
    run = whole(ZOPA, "linear", PROGRAM)
    after: dict[str, list[int]] = {}
    for size in run.breaks:
        after.setdefault(run.records[size - 1].kind, []).append(size)
    sizes = [1, *after["brief"], *after["turn"][::5], *after["decision"][::9], len(run.records) - 1]
    assert 9 <= len(sizes)
    for size in sizes:
        recorded = gone_on(tmp_path, run, size, by_word(PROGRAM))
        assert (run.root, []) == (recorded.audit.root, recorded.audit.findings)


class Dies(Memory):
    """A store whose process is killed when it is to write for the `count`-th time."""

    def __init__(self, store: Store, count: int) -> None:
        self._store = store
        self._left = count

    def add_run(
        self,
        run_id: str,
        records: Sequence[Draft],
        blobs: Iterable[tuple[str, Sequence[bytes]]],
        notes: Sequence[str] = (),
    ) -> int:
        self._count()
        return self._store.add_run(run_id, records, blobs, notes)

    def append(self, run: int, seq: int, records: Sequence[Draft], notes: Sequence[str] = ()) -> None:
        self._count()
        self._store.append(run, seq, records, notes)

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("count", [1, 2, 3, 6, 9])
def test_killed_while_it_writes(tmp_path: Path, count: int) -> None:
    """A run with somebody outside is on disk, message by message; one in process whole or not at all."""
    acts = [LOOK, ASK, propose(100)]
    run = played(task_of(), "cheap", Says(*acts, outside=True))
    with store_at(tmp_path / "a.db") as store:
        agent = Says(*acts, outside=True)
        with pytest.raises(KeyboardInterrupt):
            record(ledger_on(Dies(store, count)), run.task, "cheap", 0, agent)
        assert 1 == agent.closed or count == 1
        assert ([(1, run.run)] if count > 1 else []) == store.runs()
        if count > 1:
            assert store.size(1) in run.breaks
            assert run.root == resume(store, SECRET, 1, by(Says(*acts, outside=True))).audit.root
        with pytest.raises(KeyboardInterrupt):
            record(ledger_on(Dies(store, 1)), run.task, "dear", 0, Says(*acts))
        assert bool(count > 1) == len(store.runs())


def test_a_file_cut_off_anywhere(tmp_path: Path) -> None:
    """Of what was exported and torn, the whole pairs are taken; from there it goes on to the same root."""
    run = whole("small.deal", "cheap", "reference")
    with store_at(tmp_path / "a.db") as store:
        record(ledger_on(store), run.task, "cheap", 0, by_word("reference")(run.task, _stated(run), ""))
        lines = list(export_lines(store, store.runs()))
    first = next(at for at, line in enumerate(lines) if line.startswith(b'{"record"')) + 1
    for at in range(first, len(lines), 5):
        torn = tmp_path / f"{at}.jsonl"
        torn.write_bytes(b"".join(lines[:at]) + lines[at][:9])
        with store_at(tmp_path / f"{at}.db") as store:
            assert [run.run] == import_bundle(torn, store).open, at
            assert run.root == resume(store, SECRET, 1, by_word("reference")).audit.root


def _stated(run: Whole) -> Stated:
    return cast(run.task, Part())("").stated


# What somebody outside said stands

LINES: list[dict[str, Any] | str] = [
    LOOK,
    "as you wish",
    '{"act":{"kind":"listing.get","listing":"l1"},"turn":99}',
    ASK,
    propose(100),
]


def outside(*lines: dict[str, Any] | str) -> Says:
    """An agent outside, one of whose answers is a stale one: it names no turn of its own."""
    answers = [Answer(gave=line) if isinstance(line, str) and "99" in line else line for line in lines]
    return Says(*answers, outside=True)


def acts_of(audit: Audit) -> list[str]:
    kinds = [deed.message.action for deed in audit.deeds if deed.message.sender == "buyer"]
    return [bytes(kind).split(b'"kind":"')[1].split(b'"')[0].decode() for kind in kinds]


def test_what_was_recorded_of_somebody_outside_stands(tmp_path: Path) -> None:
    run = played(task_of(), "cheap", outside(*LINES))
    assert "t" in kinds_of(run.records)
    said = ["listing.get", "agent.unparsed", "agent.unparsed", "message.send", "negotiation.propose"]
    for size in run.breaks:
        turns = kinds_of(run.records[:size]).count("t")
        other = outside(*[propose(100)] * turns, *LINES[turns:])
        recorded = gone_on(tmp_path, run, size, by(other))
        assert (said, run.root) == (acts_of(recorded.audit), recorded.audit.root)
        assert 1 == other.closed


def test_what_somebody_outside_says_now_is_what_it_says(tmp_path: Path) -> None:
    run = played(task_of(), "cheap", outside(*LINES))
    size = next(size for size in run.breaks if kinds_of(run.records[:size]).count("t") == 2)
    recorded = gone_on(tmp_path, run, size, by(outside(ASK, ASK, ASK)))
    assert ["listing.get", "agent.unparsed", "message.send"] == acts_of(recorded.audit)
    assert ([], "agent_stopped") == (recorded.audit.findings, recorded.audit.outcome)
    assert run.root != recorded.audit.root


@pytest.mark.parametrize("end", ["agent_stopped", "agent_failed"])
def test_an_end_that_was_said_but_not_sealed(tmp_path: Path, end: str) -> None:
    """A program may fail for what it said, such as what its last words cost."""
    last = Answer(end=end, gave='{"done":true}', reason="secret reason")  # type: ignore[arg-type]
    run = played(task_of(), "cheap", Says(LOOK, last, outside=True))
    assert kinds_of(run.records).endswith("ts")
    recorded = gone_on(tmp_path, run, len(run.records) - 1, by(Says(LOOK, last, outside=True)))
    assert (run.root, end) == (recorded.audit.root, recorded.audit.outcome)


# Refusals


@pytest.mark.parametrize(
    ("text",                                                              "acts"),
    [
        ("`buyer`: to is `None`, and `merchant` is due at record 5",      [ASK, ASK, ASK]),
        ("`buyer`: to is `merchant`, and `friend` is due at record 9",    [LOOK, {**ASK, "to": "friend"}]),
        ('"text":"May I?"}` is due at record 9',                           [LOOK, {**ASK, "text": "May I?"}]),
        ("the play ends before the record does at record 9",              [LOOK]),
        ("the play ends before the record does at record 5",              []),
    ],
)  # fmt: skip
def test_another_agent_in_process_is_refused_by_name(
    tmp_path: Path, text: str, acts: list[dict[str, Any]]
) -> None:
    run = played(task_of(), "cheap", Says(LOOK, ASK, propose(100)))
    with store_at(tmp_path / "a.db") as store:
        number = run.cut(store, len(run.records) - 1)
        with pytest.raises(LedgerError) as caught:
            resume(store, SECRET, number, by(Says(*acts)))
        assert ("run.departed", len(run.records) - 1) == (caught.value.code, store.size(number))
        assert "`--abandon` seals it" in (caught.value.hint or "")
        assert text in caught.value.text
        assert "abandoned" == abandon(store, SECRET, number).outcome


@pytest.mark.parametrize(
    "stated",
    [
        {"name": "another"},
        {"model": "m2"},
        {"version": "2"},
        {"settings": {"limit.turn_seconds": "1"}},
    ],
)
def test_another_agent_or_other_settings_are_refused(tmp_path: Path, stated: dict[str, object]) -> None:
    run = played(task_of(), "cheap", Says(LOOK))
    other = Says(LOOK)
    fields = {name: getattr(other.stated, name) for name in other.stated.__struct_fields__}
    other.stated = Stated(**{**fields, **stated})
    with pytest.raises(LedgerError) as caught:
        gone_on(tmp_path, run, 5, by(other))
    assert ("run.agent", 0) == (caught.value.code, other.closed)


def refused(store: Store, number: int, secret: bytes = SECRET) -> tuple[str, str]:
    """The codes by which going on and giving up are refused."""
    codes: list[str] = []
    acts = (lambda: resume(store, secret, number, by(Says(LOOK))), lambda: abandon(store, secret, number))
    for act in acts:
        with pytest.raises((LedgerError, TaskError)) as caught:
            act()
        codes.append(caught.value.code)
    return codes[0], codes[1]


def test_runs_that_nobody_goes_on_with(tmp_path: Path) -> None:
    run = played(task_of(), "cheap", Says(LOOK))
    with store_at(tmp_path / "a.db") as store:
        number = run.cut(store, 5)
        assert ("run.foreign", "run.foreign") == refused(store, number, bytes(32))
        assert ("run.unknown", "run.unknown") == refused(store, 99)
        assert 5 == store.size(number)
        resume(store, SECRET, number, by(Says(LOOK)))
        assert ("run.sealed", "run.sealed") == refused(store, number)


def test_an_imported_run_is_not_gone_on_with(tmp_path: Path) -> None:
    source = Source(digest="0" * 64, form="tau2", index=0, name="results.json")
    with store_at(tmp_path / "a.db") as store:
        plan = small_run.plan()._replace(origin=Origin(custody="imported", source=source))
        facts = small_run.facts()
        Writer.begin(store, SECRET, NAME, plan, facts, [facts_blob(facts), task_blob(small_run.TASK)])
        assert ("run.imported", "run.imported") == refused(store, 1)
        assert 1 == store.size(1)


def test_a_run_that_is_damaged_or_lacks_what_it_rests_on(tmp_path: Path) -> None:
    run = played(task_of(), "cheap", Says(LOOK))
    forged = run.records[4]._replace(body=run.records[4].body.replace(b"accepted", b"refused"))
    damaged = run._replace(records=[*run.records[:4], forged])
    for name, other, code in (
        ("a", damaged, ("run.damaged", "run.damaged")),
        ("b", run._replace(blobs=run.blobs[1:]), ("run.facts", "run.facts")),
    ):
        with store_at(tmp_path / f"{name}.db") as store:
            assert code == refused(store, other.cut(store, 5))
    with store_at(tmp_path / "c.db") as store:
        number = run._replace(blobs=run.blobs[:1]).cut(store, 5)
        with pytest.raises(TaskError) as caught:
            resume(store, SECRET, number, by(Says(LOOK)))
        assert "task.run" == caught.value.code
        assert "abandoned" == abandon(store, SECRET, number).outcome


# Given up


def test_given_up_anywhere_a_run_is_good_and_has_no_score(tmp_path: Path) -> None:
    run = whole("small.deal", "cheap", "reference")
    for size in run.breaks[::3]:
        with store_at(tmp_path / f"{size}.db") as store:
            number = run.cut(store, size)
            audit = abandon(store, SECRET, number)
            assert ("abandoned", [], "done") == (audit.outcome, audit.findings, audit.checks["6"])
            assert audit.good
            score = Judge().score(audit)
            assert ("abandoned", None) == (score.outcome, score.value)


def test_an_open_run_has_nothing_to_be_found(tmp_path: Path) -> None:
    """Wherever it broke off, briefs included, its conduct so far is as the task says."""
    run = whole("small.deal", "cheap", "reference")
    for size in run.breaks:
        with store_at(tmp_path / f"{size}.db") as store:
            number = run.cut(store, size)
            audit = with_conduct(audit_run(store, number, run.run, shelf_of(store), keep=True))
            assert (None, [], "done") == (audit.outcome, audit.findings, audit.checks["6"])
            assert "open" == Judge().score(audit).outcome

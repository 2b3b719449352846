"""The suites: what is in them, and that a right way through each case is worth all, wherever it is played.

What each file must hold of itself the linter asks (test_builtin_tasks.py). Here every reference and
alternative goes through the recorder into a ledger, out of it again, and references go over HTTP; roots
in another process: tests/golden.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hosted import hosted
from played_run import builtin
from small_task import Memory, ledger_on, store_at

from tollbook.ledger.bundle import export_lines
from tollbook.ledger.verify import verify_bundle, verify_store
from tollbook.protocol.commerce.world import CommerceWorld
from tollbook.protocol.derive import party_seed
from tollbook.scorers.cases import parts_of
from tollbook.scorers.predicates import FULL
from tollbook.tasks.format.faults import Faults
from tollbook.tasks.format.file import TaskFile
from tollbook.tasks.format.parties import offered
from tollbook.tasks.format.read import read
from tollbook.tasks.format.rendering import cases_of
from tollbook.tasks.format.task import Task
from tollbook.tasks.judging import Judge
from tollbook.tasks.play.casting import REFERENCE, Part, cast
from tollbook.tasks.play.conduct import remember, with_conduct
from tollbook.tasks.play.recorder import Ledger, Recorded, record
from tollbook.tasks.serve.client import Client
from tollbook.tasks.shelf import builtin_tasks

SUITES = Path(__file__).resolve().parents[3] / "tasks" / "suites"
FOLDERS = {"t1": "discovery", "t4": "negotiation", "t7": "lifecycle", "a": "auctions"}
FILES = {"t1": 5, "t4": 10, "t7": 10, "a": 17}
CASES = {"t1": 20, "t4": 20, "t7": 20, "a": 42}
"""In all files of a family, played plainly."""

READ = {found.name: read(found.text) for found in builtin_tasks()}
"""Each task's file, not compiled."""


def family(name: str) -> str:
    return name.partition(".")[0]


def side(name: str, actor: str) -> list[TaskFile]:
    """The files of a family in which this party acts."""
    return [file for file in READ.values() if (family(file.id), file.actor) == (name, actor)]


# What is there


def test_a_family_has_its_files_and_cases() -> None:
    names = [family(name) for name in READ]
    assert FILES == {name: names.count(name) for name in names}
    found = {name: sum(len(file.case) for file in READ.values() if family(file.id) == name) for name in names}
    assert CASES == found


@pytest.mark.parametrize("name", READ)
def test_a_file_is_called_as_its_task_and_lies_with_its_family(name: str) -> None:
    assert name == READ[name].id
    assert (SUITES / FOLDERS[family(name)] / f"{name}.toml").is_file()


def test_the_tasks_are_those_of_the_specification(shared: Path) -> None:
    text = (shared / "spec" / "commerce.md").read_text(encoding="utf-8")
    due: dict[str, int] = {}
    families = [name for name in FILES if name != "a"]
    for name in families:
        section = text.split(f"### {name.upper()} ")[1].split("\n### ")[0]
        for capability, cases in re.findall(r"^\| (\S+) \|(?: [BM] \|)? ([0-9]+)", section, re.MULTILINE):
            for actor in ("buyer", "merchant") if "*" in capability else ("",):
                due[capability.replace("*", f"{name}.{actor}")] = int(cases)
    assert due == {name: len(file.case) for name, file in READ.items() if family(name) in families}


@pytest.mark.parametrize(("name", "actor"), [("t1", "buyer"), *product(("t4", "t7"), ("buyer", "merchant"))])
def test_the_tools_are_the_same_in_all_files_of_a_side(name: str, actor: str) -> None:
    """Else which tools there are would tell what is to be done."""
    tools = {file.id: offered(file, CommerceWorld(), Faults()) for file in side(name, actor)}
    assert len(tools) > 1
    first = next(iter(tools.values()))
    assert dict.fromkeys(tools, first) == tools


# What a right way is worth


@pytest.fixture(scope="module", params=READ)
def task(request: pytest.FixtureRequest) -> Task:
    """Each task, compiled once for all that is asked of it."""
    return builtin(request.param)


def played(ledger: Ledger, task: Task, word: str, case: str) -> Recorded:
    agent = cast(task, Part(word))(task.scenes.seed(case, 0))
    return record(ledger, task, case, 0, agent)


def right_ways(task: Task) -> Iterator[tuple[str, str]]:
    """The reference and each alternative, in each case that it is for, and the reference in other words."""
    yield from product([REFERENCE], cases_of(task.file))
    for name, entry in task.file.alternative.items():
        yield from product([f"alternative:{name}"], entry.cases or task.file.case)


def test_a_right_way_is_worth_all_and_the_same_again_from_an_export(task: Task, tmp_path: Path) -> None:
    judge = Judge()
    remember(task)
    with store_at(tmp_path / "a.db") as store:
        ledger = ledger_on(store)
        ways = list(right_ways(task))
        audits = [played(ledger, task, *way).audit for way in ways]
        runs = store.runs()
        (tmp_path / "a.jsonl").write_bytes(b"".join(export_lines(store, runs)))
    assert [] == [finding for audit in audits for finding in audit.findings]
    assert dict.fromkeys("123456", "done").items() <= audits[0].checks.items()
    scores = [judge.score(audit) for audit in audits]
    assert dict.fromkeys(ways, FULL) == dict(zip(ways, [score.value for score in scores], strict=True))
    assert {True} == {score.conduct_checked for score in scores}
    from_store = verify_store(tmp_path / "a.db", runs, keep=True, further=with_conduct)
    from_file = verify_bundle(tmp_path / "a.jsonl", keep=True, further=with_conduct)
    for audited in (from_store, from_file):
        assert scores == [Judge().score(audit) for audit in audited]


def test_a_reference_gives_the_same_run_over_http(task: Task, tmp_path: Path) -> None:
    """With the key, and so the salts, that the ledger would make for a party of its own.

    Where there are labels, who reads is shown other words than a policy asks for.
    """
    labelled = {name for name, entry in task.file.rendering.items() if entry.labels}
    cases = [case for case in cases_of(task.file) if parts_of(case)[1] not in labelled]
    with hosted(tmp_path, (task.file.id,)) as made, Client(made.url) as client:
        ledger = Ledger(Memory(), made.session.secret(), made.session.name)
        for case in cases:
            own = played(ledger, task, REFERENCE, case).audit.replayed
            assert own is not None
            agent = cast(task, Part())("")
            seed = party_seed(ledger.secret, own.opened.nonce, task.actor)
            end = client.open(task.file.id, case, seed, agent.stated).play(agent)
            assert (own.root().hex(), own.id) == (end["root"], made.ended[-1].run)
            assert () == tuple(made.ended[-1].findings)

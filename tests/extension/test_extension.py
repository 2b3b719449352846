"""The market with more than the package has, from a file beside this one: products, an action, a row type."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.protocol.commerce.world import CommerceWorld
from tollbook.protocol.errors import UsageError, WorldError
from tollbook.protocol.retail.world import RetailWorld
from tollbook.protocol.world import World, latest, register, world_of
from tollbook.tasks.lint.linter import lint
from tollbook.tasks.play.tools import tools_of
from tollbook.tasks.shelf import builtin_tasks
from tollbook.tasks.studies import extension
from tollbook.tasks.studies.extension import Case, Extension

TEA = Path(__file__).parent / "tea.py"


@pytest.fixture(scope="module")
def tea() -> Extension:
    found = extension.load(TEA)
    for (name, version), make in found.worlds.items():
        register(name, version, make)
    return found


def test_all_of_it_is_played(tea: Extension, tmp_path: Path) -> None:
    report = extension.study(tmp_path, tea)
    assert report.holds
    assert [
        ("a product domain", [], []),
        ("an action", [], ["listing.withdraw"]),
        ("a row type", ["tasting"], ["tasting.book", "tasting.hold"]),
    ] == [(case["adds"], case["tables"], case["actions"]) for case in report.figures["cases"]]


def test_a_case_that_comes_otherwise_is_seen(tea: Extension, tmp_path: Path) -> None:
    wrong = Extension(tea.worlds, [tea.cases[0]._replace(play=lambda _say: False)])
    report = extension.study(tmp_path, wrong)
    assert ["each case came as it should"] == [claim.claim for claim in report.claims if not claim.holds]


def test_its_actions_are_tools_with_schemas(tea: Extension) -> None:
    assert tea
    world = world_of(latest("tea.tasting"))
    book, search = tools_of(world, ["tasting.book", "listing.search"])
    assert ("tasting.book", "listing.search") == (book.kind, search.kind)
    assert ["listing", "tick"] == book.schema["required"]


def test_a_task_can_be_set_in_it(tea: Extension) -> None:
    assert tea
    (found,) = (each for each in builtin_tasks() if each.name == "t4.buyer_zopa")
    report = lint(re.sub('^world( *)= "commerce"', r'world\1= "tea.shelf"', found.text, flags=re.MULTILINE))
    assert report.task is not None
    assert ("tea.shelf", ()) == (report.task.world.name, tuple(report.errors))


def test_its_rows_and_states_are_kept_to_by_the_invariants(tea: Extension) -> None:
    assert tea
    world = world_of(latest("tea.tasting"))
    assert isinstance(world, CommerceWorld)
    assert {"tasting"} == set(world.machines) - set(CommerceWorld.machines)
    assert "tasting" not in CommerceWorld.tables
    rows = {"tasting": {"x": {"listing": "l9", "buyer": "b", "merchant": "m", "tick": 1}}}
    with pytest.raises(WorldError) as raised:
        world.complete(rows)
    assert ("facts.row", "row `x` of `tasting` names listing `l9`, which is not there") == (
        raised.value.code,
        raised.value.text,
    )


def test_without_the_file_its_runs_are_not_taken_for_good(tea: Extension, tmp_path: Path) -> None:
    extension.study(tmp_path, tea)
    ledger = tmp_path / "extension3.db"
    with Store.read(ledger) as store:
        assert [] == audit_run(store, 1, store.id(1), shelf_of(store)).findings
    words = [sys.executable, "-m", "tollbook.tasks.cli", "--ledger", str(ledger), "verify"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert 3 == ran.returncode
    assert "world.unknown at record 0: no rules for world `tea.tasting` version 0" in ran.stdout


def make(_params: Mapping[str, object]) -> World:
    return RetailWorld(_params)  # pyright: ignore[reportArgumentType] - never called


@pytest.mark.parametrize(
    ("name",       "version", "hint"),
    [
        ("commerce",    0, "give it a name of its own"),
        ("commerce",    7, "give it a name of its own"),
        ("retail",      1, "give it a name of its own"),
        ("tea.tasting", 0, "a change of rules is a new version"),
    ],
)  # fmt: skip
def test_what_is_there_stays(tea: Extension, name: str, version: int, hint: str) -> None:
    assert tea
    before = latest(name)
    with pytest.raises(WorldError) as raised:
        register(name, version, make)
    assert ("world.taken", f"there is a world `{name}` version {version} already", hint) == (
        raised.value.code,
        raised.value.text,
        raised.value.hint,
    )
    assert before == latest(name)


def test_the_same_can_be_said_twice(tea: Extension) -> None:
    assert tea is extension.load(TEA)
    for (name, version), maker in tea.worlds.items():
        register(name, version, maker)


@pytest.mark.parametrize(
    ("why",                               "text"),
    [
        ("it has no `EXTENSION`",         "x = 1\n"),
        ("it has no `EXTENSION`",         "EXTENSION = 3\n"),
        ("ZeroDivisionError: division by zero", "1 / 0\n"),
        ("SyntaxError: ",                 "def\n"),
    ],
)  # fmt: skip
def test_a_file_without_an_extension(why: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "tea.py"
    path.write_text(text)
    with pytest.raises(UsageError) as raised:
        extension.load(path)
    assert "study.extension" == raised.value.code
    assert raised.value.text.startswith(f"there is no extension in `{path}`: {why}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        extension.load(tmp_path / "tea.py")


def test_a_case_says_what_it_is_played_in(tea: Extension) -> None:
    assert all(isinstance(case, Case) for case in tea.cases)
    assert ["commerce", "tea.shelf", "tea.tasting"] == [case.world for case in tea.cases]

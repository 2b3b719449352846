"""Each fault planted in a worked task is found, by its code, at its place.

The faults are in planted.toml. They are linted with one random cheat in place
of twenty, which none of them needs. That the built-in tasks have none of them:
tests/unit/tasks/test_builtin_tasks.py.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tollbook.tasks.lint.finding import CODES
from tollbook.tasks.lint.linter import Report, lint
from tollbook.tasks.shelf import find_task

FAULTS: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("planted.toml").read_text(encoding="utf-8")
)["fault"]


@pytest.fixture
def _one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tollbook.tasks.play.cheats.SEEDS", 1)


@cache
def report(text: str) -> Report:
    return lint(text)


def planted(fault: dict[str, Any]) -> str:
    """The worked file's text with each change made once."""
    text = find_task(fault["task"]).text
    for old, new in fault["change"]:
        assert old in text, f"{fault['name']}: the worked file doesn't hold {old!r} any more"
        text = text.replace(old, new, 1)
    return text


@pytest.mark.usefixtures("_one_seed")
@pytest.mark.parametrize("fault", FAULTS, ids=[fault["name"] for fault in FAULTS])
def test_a_planted_fault_is_found(fault: dict[str, Any]) -> None:
    findings = report(planted(fault)).findings
    found = [each for each in findings if (each.code, each.place) == (fault["code"], fault["place"])]
    assert [each for each in found if fault["said"] in each.text], findings
    assert {fault["level"]} == {each.level for each in found}
    assert all(each.line > 0 for each in found if fault["place"])


@pytest.mark.usefixtures("_one_seed")
def test_findings_are_one_line_in_our_form_with_a_hint() -> None:
    found = [each for fault in FAULTS for each in report(planted(fault)).findings]
    assert [] == [each for each in found if "\n" in each.text or each.text.endswith(".")]
    assert [] == [each for each in found if not each.hint]
    assert [] == [each for each in found if each.code.startswith("lint.") and each.code not in CODES]


def test_every_code_has_its_fault() -> None:
    assert set(CODES) == {fault["code"] for fault in FAULTS if fault["code"].startswith("lint.")}

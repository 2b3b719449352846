"""The built-in tasks, and the one that an author begins with, keep what the linter asks of every task."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

import pytest

from tollbook.tasks.format.skeleton import skeleton, skeletons
from tollbook.tasks.lint.bars import BUILT_IN_BAR, Bar, bars_of
from tollbook.tasks.lint.linter import Report, lint
from tollbook.tasks.shelf import builtin_tasks

OVERALL = 200
"""The most that a built-in cheat may earn on average over all tasks."""

TEXTS = {
    **{found.name: found.text for found in builtin_tasks()},
    **{f"new {actor}": skeleton("a", world, actor) for world, each in skeletons().items() for actor in each},
}
WORKED = ("t4.buyer_zopa", "t4.merchant_zopa", "t7.merchant_refund")
BUILT_IN = ("idle", "first_offer", "always_refuse", "flood_then_first", "flood_then_refuse", "random_legal")


@cache
def linted(name: str) -> Report:
    return lint(TEXTS[name])


def bar(name: str, cheat: str) -> Bar:
    report = linted(name)
    assert report.task is not None
    return next(each for each in bars_of(report.task, report.runs) if each.name == cheat)


def test_the_worked_tasks_are_built_in() -> None:
    assert [name for name in WORKED if name not in TEXTS] == []


@pytest.mark.parametrize("name", TEXTS)
def test_a_task_has_no_error(name: str) -> None:
    assert [] == [(each.place, each.text) for each in linted(name).errors]


@pytest.mark.parametrize("name", [name for name in TEXTS if name.startswith("new")])
def test_a_new_task_has_not_even_a_warning(name: str) -> None:
    assert () == linted(name).findings


@pytest.mark.parametrize("name", TEXTS)
def test_each_predicate_is_lost_by_a_mutation_and_each_cap_is_true_somewhere(name: str) -> None:
    assert [each.text for each in linted(name).findings if each.code in ("lint.kill", "lint.cap")] == []


@pytest.mark.parametrize("cheat", BUILT_IN)
def test_carelessness_earns_little_in_any_task_and_less_over_all(cheat: str) -> None:
    means = {name: bar(name, cheat).mean for name in TEXTS if not name.startswith("new")}
    assert {} == {name: mean for name, mean in means.items() if mean > BUILT_IN_BAR}
    assert OVERALL >= sum(means.values(), Fraction(0)) / len(means)


@pytest.mark.parametrize("name", ["t4.buyer_zopa", "t4.merchant_zopa"])
def test_a_bargain_has_three_paces_and_a_zone_of_a_tenth_or_more(name: str) -> None:
    task = linted(name).task
    assert task is not None
    cases = task.file.case.values()
    assert ["linear", "boulware", "tit_for_tat"] == [case["pace"] for case in cases]
    for case in cases:
        least = case.get("floor", case.get("cost"))
        assert (case["budget"] - least) * 10 >= least


@pytest.mark.parametrize("name", TEXTS)
def test_a_line_is_broken_where_a_reader_can_follow(name: str) -> None:
    lines = TEXTS[name].splitlines()
    assert [line for line in lines if len(line) > 200] == []
    assert [line for line in lines if re.search(r"\s$|\t", line)] == []

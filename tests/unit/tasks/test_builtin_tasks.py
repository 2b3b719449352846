"""The built-in tasks, and the one that an author begins with, keep what the linter asks of every task."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import generate
import pytest
from linted import Reports

from tollbook.scorers.analysis.collisions import collisions
from tollbook.tasks.format.read import read
from tollbook.tasks.format.skeleton import skeleton, skeletons
from tollbook.tasks.lint.bars import BUILT_IN_BAR
from tollbook.tasks.shelf import builtin_tasks

PAGE = Path(__file__).resolve().parents[3] / "docs" / "KILLS.md"
OVERALL = 200
"""The most that a built-in cheat may earn on average over all tasks."""

TEXTS = {
    **{found.name: found.text for found in builtin_tasks()},
    **{f"new {actor}": skeleton("a", world, actor) for world, each in skeletons().items() for actor in each},
}
WORKED = ("t4.buyer_zopa", "t4.merchant_zopa", "t7.merchant_refund")
BUILT_IN = ("idle", "first_offer", "always_refuse", "flood_then_first", "flood_then_refuse", "random_legal")


def test_the_worked_tasks_are_built_in() -> None:
    assert [name for name in WORKED if name not in TEXTS] == []


@pytest.mark.parametrize("name", TEXTS)
def test_a_task_has_no_error(linted: Reports, name: str) -> None:
    assert [] == [(each.place, each.text) for each in linted(TEXTS[name]).errors]


@pytest.mark.parametrize("name", [name for name in TEXTS if name.startswith("new")])
def test_a_new_task_has_not_even_a_warning(linted: Reports, name: str) -> None:
    assert () == linted(TEXTS[name]).findings


@pytest.mark.parametrize("name", TEXTS)
def test_each_predicate_is_lost_by_a_mutation_and_each_cap_is_true_somewhere(
    linted: Reports, name: str
) -> None:
    findings = linted(TEXTS[name]).findings
    assert [] == [each.text for each in findings if each.code in ("lint.kill", "lint.cap")]


@pytest.mark.parametrize("cheat", BUILT_IN)
def test_carelessness_earns_little_in_any_task_and_less_over_all(linted: Reports, cheat: str) -> None:
    told = [linted(found.text).told for found in builtin_tasks()]
    means = {each.id: bar.mean for each in told for bar in each.bars if bar.name == cheat}
    assert len(told) == len(means)
    assert {} == {name: mean for name, mean in means.items() if mean > BUILT_IN_BAR}
    assert OVERALL >= sum(means.values(), Fraction(0)) / len(means)


@pytest.mark.parametrize("name", ["t4.buyer_zopa", "t4.merchant_zopa"])
def test_a_bargain_has_three_paces_and_a_zone_of_a_tenth_or_more(name: str) -> None:
    cases = read(TEXTS[name]).case.values()
    assert ["linear", "boulware", "tit_for_tat"] == [case["pace"] for case in cases]
    for case in cases:
        least = case.get("floor", case.get("cost"))
        assert (case["budget"] - least) * 10 >= least


def test_no_cheat_of_a_file_s_own_earns_more_than_a_built_in_one_may(linted: Reports) -> None:
    told = [linted(found.text).told for found in builtin_tasks()]
    means = {(each.id, bar.name): bar.mean for each in told for bar in each.bars if bar.name in each.own}
    assert len(means) >= len(told), "each file has one"
    assert {} == {name: mean for name, mean in means.items() if mean > BUILT_IN_BAR}


def test_the_page_of_wrong_runs_is_up_to_date(linted: Reports) -> None:
    told = [linted(found.text).told for found in builtin_tasks()]
    assert generate.wrong_runs_page(told) == PAGE.read_text(encoding="utf-8"), "run `make docs`"


def test_the_whole_trace_tells_every_mutation_and_less_than_that_does_not(linted: Reports) -> None:
    seen = [each for found in builtin_tasks() for each in linted(found.text).told.seen]
    found = {each.view: len(each.pairs) for each in collisions(seen)}
    assert ["trace"] == [view for view, count in found.items() if count == 0]


@pytest.mark.parametrize("name", TEXTS)
def test_a_line_is_broken_where_a_reader_can_follow(name: str) -> None:
    lines = TEXTS[name].splitlines()
    assert [line for line in lines if len(line) > 200] == []
    assert [line for line in lines if re.search(r"\s$|\t", line)] == []

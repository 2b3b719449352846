"""Renderings: a case in other words is a case of its own, on the plain one's seed."""

from __future__ import annotations

from typing import Any

import pytest

from tollbook.protocol.errors import TaskError
from tollbook.scorers.cases import parts_of
from tollbook.tasks.format.rendering import Rendering, cases_of, worded
from tollbook.tasks.format.scene import Scene
from tollbook.tasks.format.task import Task, examine, load_task
from tollbook.tasks.play.play import setup_of

HEAD = """\
id = "a.small"
title = "t"
world = "auction"
actor = "b1"
tools = ["bid.*"]
brief = "Up to {case.high:money}."
[defaults]
high = 100
cap = "=2 * case.high"
[case]
two = { bidders = ["b1", "b2"] }
more = { bidders = ["b1", "b2"], high = 500, late = 1 }
[facts.session.s]
format = "first_price"
bidders = "=case.bidders"
high = "=case.high"
cap = "=case.cap"
seed = "=draw('session', 0, 1000000)"
[party]
b1 = { role = "bidder", mandate = { told = "=case.rendering" } }
b2 = { role = "bidder", plays = "truthful" }
[predicate]
p = { stage = "choice", weight = 1000, expr = "did.bid.submit.size() == 1" }
[reference]
step = [{ do = { kind = "bid.submit", amount = "=market.value" } }]
"""


def task_of(rendering: str) -> Task:
    return load_task(f"{HEAD}[rendering.other]\n{rendering}\n")


def staged(rendering: str, case: str = "two@other", trial: int = 0) -> Scene:
    scenes = task_of(rendering).scenes
    return scenes.stage(case, scenes.seed(case, trial))


def faults(rendering: str) -> list[tuple[str, str]]:
    return [(fault.place, fault.problem) for fault in examine(f"{HEAD}{rendering}\n")[1]]


# Cases


def test_the_cases_of_a_file_are_the_plain_ones_and_then_those_of_each_rendering() -> None:
    task = load_task(f'{HEAD}[rendering.b]\norder = ["bid.pass"]\n[rendering.a]\nbrief = "x"\n')
    assert ["two", "more", "two@b", "more@b", "two@a", "more@a"] == cases_of(task.file)


@pytest.mark.parametrize(("case", "parts"), [("low", ("low", "")), ("low@euro", ("low", "euro"))])
def test_the_parts_of_a_name(case: str, parts: tuple[str, str]) -> None:
    assert parts == parts_of(case)


def test_a_case_has_the_plain_ones_seed_and_rows() -> None:
    plain, other = staged('brief = "x"', "two"), staged('brief = "x"')
    assert (plain.seed, plain.facts.root) == (other.seed, other.facts.root)
    assert plain.seed != staged('brief = "x"', trial=1).seed
    assert ("two", "two@other") == (plain.case_name, other.case_name)
    assert ("", "other") == (plain.mandates["b1"]["told"], other.mandates["b1"]["told"])


@pytest.mark.parametrize("case", ["two@", "two@none", "@other", "three@other", "two@other@other"])
def test_no_other_case_can_be_staged(case: str) -> None:
    with pytest.raises(TaskError, match="there is no case"):
        staged('brief = "x"', case)


def test_the_case_goes_by_its_plain_name_where_expressions_ask() -> None:
    case = staged('brief = "x"').case
    assert ("two", "other") == (case["id"], case["rendering"])


# What it changes


def test_other_parameters_are_worked_out_in_their_places() -> None:
    for case, high, cap in (("two", 100, 200), ("two@other", 250, 500), ("more@other", 650, 1300)):
        found = staged('case = { high = "=case.high + 150" }', case)
        assert (high, cap) == (found.case["high"], found.case["cap"])
        assert f"Up to {high / 100:.2f}." == found.brief


def test_a_brief_and_descriptions_may_ask_for_what_briefs_may() -> None:
    found = staged('brief = " By {case.rendering}. "\ntools = { "bid.pass" = "Not {case.high}." }')
    assert "By other." == found.brief
    assert {"bid.pass": "Not 100."} == found.rendering.tools


def test_what_an_agent_is_told_has_another_order_and_other_descriptions() -> None:
    text = 'order = ["bid.pass"]\ntools = { "bid.pass" = "Empty." }\nlabels = { value = "worth" }'
    task = task_of(text)
    plain, other = (setup_of(task, staged(text, case), "b1") for case in ("two", "two@other"))
    assert ["bid.submit", "bid.pass"] == [tool.kind for tool in plain.tools]
    assert ["bid.pass", "bid.submit"] == [tool.kind for tool in other.tools]
    assert "Empty." == other.tools[0].description
    assert plain.tools[0].description == other.tools[1].description
    assert ({}, {"value": "worth"}) == (plain.labels, other.labels)


def test_an_order_says_nothing_of_acts_that_are_not_there() -> None:
    assert ["b", "a", "c"] == Rendering(order=("b", "z")).listed(["a", "b", "c"])


LABELS = {"value": "worth", "open": "shut", "a": "b", "b": "a"}


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        ({"value": 3, "values": 4}, {"worth": 3, "values": 4}),
        ({"state": "open", "note": "open now"}, {"state": "shut", "note": "open now"}),
        ({"a": {"b": ["a", "c"]}}, {"b": {"a": ["b", "c"]}}),
        ([("open", 1), None, True], [["shut", 1], None, True]),
        (None, None),
        (5, 5),
    ],
)
def test_labels_are_for_keys_and_whole_texts(shown: Any, told: Any) -> None:
    assert told == worded(shown, LABELS)
    assert shown == worded(shown, {})


# What is wrong with one


@pytest.mark.parametrize(
    ("rendering", "place", "problem"),
    [
        ("[rendering.x]", "rendering.x", "it changes nothing"),
        ("[rendering.x]\nlabels = {}", "rendering.x", "it changes nothing"),
        (
            '[rendering.x]\norder = ["quote.buy"]',
            "rendering.x.order[0]",
            "`quote.buy` is not among the task's tools",
        ),
        (
            '[rendering.x]\norder = ["bid.pass", "bid.pass"]',
            "rendering.x.order[1]",
            "`bid.pass` is listed twice",
        ),
        (
            '[rendering.x]\ntools = { "bid.hold" = "" }',
            "rendering.x.tools.bid.hold",
            "`bid.hold` is not among the task's tools",
        ),
        (
            "[rendering.x]\ntools = { bid.pass = 'no' }",
            "rendering.x.tools.bid",
            "expected text, got a table",
        ),
        (
            "[rendering.x]\nlabels = { value = 3 }",
            "rendering.x.labels.value",
            "expected text, got the number `3`",
        ),
        (
            "[rendering.x]\nlabels = { value = '' }",
            "rendering.x.labels.value",
            "expected text of at least 1 characters, got an empty text",
        ),
        (
            "[rendering.x]\nlabels = { value = 'v', cap = 'v' }",
            "rendering.x.labels.cap",
            "two words have the label `v`",
        ),
        (
            "[rendering.x]\ncase = { late = 2 }",
            "rendering.x.case.late",
            "not every case has a parameter `late`",
        ),
        (
            "[rendering.x]\ncase = { id = 'y' }",
            "rendering.x.case.id",
            "not every case has a parameter `id`",
        ),
        ("[rendering.x]\nbrief = '{oracle.x}'", "rendering.x.brief", "`oracle.x` can't be used here"),
        ("[rendering.X]\nbrief = 'x'", "rendering.X", "`X` can't be a name here"),
        ("[rendering.all]\nbrief = 'x'", "rendering.all", "`all` stands for every rendering"),
        ("[rendering.x]\nmandate = {}\nbrief = 'x'", "rendering.x.mandate", "there is no field `mandate`"),
    ],
)
def test_what_is_wrong_is_told_once_where_it_stands(rendering: str, place: str, problem: str) -> None:
    assert [(place, problem)] == faults(rendering)


def test_the_longest_names_make_a_case_that_a_record_can_hold() -> None:
    name = "x" * 64
    assert [] == faults(f"[rendering.{name[1:]}]\nbrief = 'x'")
    assert [(f"rendering.{name}", f"`{name}` can't be a name here")] == faults(
        f"[rendering.{name}]\nbrief = 'x'"
    )


def test_values_that_contradict_each_other_are_told_of_the_rendering() -> None:
    with pytest.raises(TaskError, match="case `two@other`: a row of `session` contradicts itself"):
        staged('case = { bidders = ["b1", "b1"] }')


# What policies see


def test_a_policy_sees_what_the_market_shows_where_it_shows_something() -> None:
    assert [] == faults("[cheat.x]\nstep = [{ do = { kind = 'bid.submit', amount = '=market.cap' } }]")
    place = "predicate.p.expr"
    text = HEAD.replace("did.bid.submit.size() == 1", "market.cap == 1")
    assert [place] == [fault.place for fault in examine(text)[1]]


def test_no_let_can_have_its_name() -> None:
    cheat = "[cheat.x]\nlet.market = '1'\nstep = [{ do = { kind = 'bid.submit', amount = 1 } }]"
    assert [("cheat.x.let.market", "`market` can't be a let's name")] == faults(cheat)

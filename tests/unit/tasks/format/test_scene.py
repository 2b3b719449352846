"""A case worked out: in the order of the file, the same for the same seed, and told where it can't be."""

from __future__ import annotations

from typing import Any

import pytest

from tollbook.protocol.errors import TaskError
from tollbook.scorers.acts import plain
from tollbook.tasks.format.scene import Scene
from tollbook.tasks.format.task import Task, load_task

HEAD = """\
id = "a"
title = "t"
world = "commerce"
actor = "buyer"
brief = '''
{brief}'''
[predicate]
p = {{ stage = "choice", weight = 1000, expr = "true" }}
[reference]
step = []
[party]
merchant = {{}}
"""


def task_of(rest: str, brief: str = "Buy.") -> Task:
    return load_task(HEAD.format(brief=brief) + "buyer = {}\n" * ("buyer" not in rest) + rest)


def staged(rest: str, case: str = "one", seed: str = "00", brief: str = "Buy.") -> Scene:
    return task_of(rest, brief).scenes.stage(case, seed)


def rows(scene: Scene, table: str) -> dict[str, Any]:
    return {key: plain(row) for name, key, row in scene.facts.rows() if name == table}


def test_parameters_use_those_before_them_and_the_cases_own_name() -> None:
    text = """[defaults]
a = "=case.id + '!'"
b = 1
[case]
one = { b = 2, c = "=case.b * 10", d = "{case.a} {case.c}" }
two = {}
"""
    assert {"id": "one", "rendering": "", "a": "one!", "b": 2, "c": 20, "d": "one! 20"} == staged(text).case
    assert {"id": "two", "rendering": "", "a": "two!", "b": 1} == staged(text, "two").case


def test_rows_use_the_case_and_the_rows_before_them() -> None:
    text = """[case]
one = { price = 100 }
[facts.listing]
l1 = { merchant = "merchant", title = "lamp", price = "=case.price" }
l2 = { merchant = "merchant", title = "{facts.listing.l1.title} two", price = "=facts.listing.l1.price + 1" }
"""
    found = rows(staged(text), "listing")
    assert [("lamp", 100), ("lamp two", 101)] == [(row["title"], row["price"]) for row in found.values()]


def test_rows_made_for_each_element() -> None:
    text = """[case]
one = { names = ["lamp", "desk"] }
[facts.listing]
l = { each = "case.names", merchant = "merchant", title = "{it} {i}", price = "=100 * i" }
"""
    found = rows(staged(text), "listing")
    assert {"l1": ("lamp 1", 100), "l2": ("desk 2", 200)} == {
        key: (row["title"], row["price"]) for key, row in found.items()
    }


def test_mandates_and_the_brief_see_what_came_before() -> None:
    text = """buyer.mandate = { limit = "=facts.listing.l1.price * 2", rule = { sizes = ["=case.price"] } }
[case]
one = { price = 100 }
[facts.listing]
l1 = { merchant = "merchant", title = "lamp", price = "=case.price" }
"""
    scene = staged(text, brief="A {facts.listing.l1.title} for {mandate.limit:money}, {case.id}.\n")
    assert {"merchant": {}, "buyer": {"limit": 200, "rule": {"sizes": [100]}}} == scene.mandates
    assert "A lamp for 2.00, one." == scene.brief


def test_the_brief_sees_what_the_market_adds_to_rows() -> None:
    text = """[case]
one = {}
[facts]
listing.l1 = { merchant = "merchant", title = "lamp", price = 1 }
inventory.l1 = { available = 3 }
"""
    brief = "{facts.inventory.l1.on_hand} of {facts.listing.l1.currency}"
    assert "3 of EUR" == staged(text, brief=brief).brief


def test_right_answers_use_those_before_them() -> None:
    text = """[case]
one = { price = 100 }
[facts.listing]
l1 = { merchant = "merchant", title = "lamp", price = "=case.price" }
[oracle]
best = "initial.listing.map(l, l.price)[0] + facts.listing.l1.price"
twice = "oracle.best * 2"
"""
    task = task_of(text)
    assert {"best": 200, "twice": 400} == task.scenes.oracle(task.scenes.stage("one", "00"))
    assert {} == (plain := task_of("[case]\none = {}\n")).scenes.oracle(plain.scenes.stage("one", "00"))


DRAWN = """[case]
two = { b = "=draw('b', 1, 1000000)" }
[case.one]
a = "=draw('a', 1, 1000000)"
b = "=draw('b', 1, 1000000)"
again = "=draw('a', 1, 1000000)"
only = "=draw('x', 7, 7)"
[facts.listing]
l = { each = "[1, 2]", merchant = "merchant", title = "lamp", price = "=draw('a', 1, 1000000)" }
"""


def test_a_draw_follows_from_the_seed_and_its_label() -> None:
    scene, other = staged(DRAWN), staged(DRAWN, seed="01")
    assert scene.case == staged(DRAWN).case
    assert scene.case["a"] == scene.case["again"]
    assert scene.case["a"] != scene.case["b"]
    assert 7 == scene.case["only"]
    assert scene.case["b"] == staged(DRAWN, "two").case["b"], "where it is asked makes no difference"
    assert {scene.case["a"]} == {row["price"] for row in rows(scene, "listing").values()}
    assert (scene.case["a"], scene.case["b"]) != (other.case["a"], other.case["b"])


def test_the_draw_of_a_seed_stays_as_it_is() -> None:
    # 1 + the first 8 bytes of SHA-256 of ["00","draw:a",0], modulo a million
    assert [947_511, 162_486] == [staged(DRAWN).case[name] for name in "ab"]


def test_a_seed_is_of_a_task_case_and_trial() -> None:
    scenes = task_of(DRAWN).scenes
    assert 3 == len({scenes.seed("one", 0), scenes.seed("one", 1), scenes.seed("two", 0)})
    assert scenes.seed("one", 0) == task_of(DRAWN).scenes.seed("one", 0)


OF_ANOTHER_CASE = """[case]
one = {}
two = { a = 1 }
[facts.listing.l1]
merchant = 'm'
title = 't'
price = '=case.a'
"""
OF_TWO_TYPES = """[case]
one = {}
[facts.listing]
l = { each = "[1, 'two']", merchant = 'm', title = 't', price = '=it' }
"""
TWICE = """[case]
one = {}
[facts.listing]
l1 = { merchant = 'm', title = 't', price = 1 }
l = { each = '[1]', merchant = 'm', title = 't', price = 1 }
"""


@pytest.mark.parametrize(
    ("code", "line", "place", "says", "rest"),
    [
        ("task.value", 15, "case.one.b", "there is no key `c`", "[case]\none = { b = '=case.c', c = 1 }"),
        ("task.value", 15, "defaults.b", "division by zero", "[defaults]\nb = '=1 / 0'\n[case]\none = {}"),
        ("task.value", 20, "facts.listing.l1.price", "there is no key `a`",
         OF_ANOTHER_CASE),
        ("task.facts", 17, "facts.listing.l.price", "expected a whole number, got text `two`",
         OF_TWO_TYPES),
        ("task.facts", 18, "facts.listing.l", "row `l1` of `listing` is already made by `facts.listing.l1`",
         TWICE),
        ("task.facts", 17, "facts.inventory.l1", "row `l1` of `inventory` is of no listing",
         "[case]\none = {}\n[facts]\ninventory.l1 = { available = 1 }"),
    ],
)  # fmt: skip
def test_what_can_not_be_worked_out_is_told_at_its_line(
    code: str, line: int, place: str, says: str, rest: str
) -> None:
    with pytest.raises(TaskError) as told:
        staged(rest)
    assert (code, place) == (told.value.code, told.value.place)
    assert says in told.value.problem
    assert told.value.problem.startswith("case `one`: ")
    assert told.value.hint
    assert line == told.value.line


def test_a_case_that_there_is_not() -> None:
    with pytest.raises(TaskError, match="there is no case `on`") as told:
        staged("[case]\none = {}", "on")
    assert "did you mean `one`?" == told.value.hint

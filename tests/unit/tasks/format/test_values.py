"""Values worked out: plain ones, expressions, texts; what they give, and what is said where they can't."""

from __future__ import annotations

from typing import Any

import pytest

from tollbook.protocol.errors import TaskError
from tollbook.scorers.cel import Scope, activation
from tollbook.tasks.format.faults import Faults
from tollbook.tasks.format.values import Maker, Unformed

SEES = Scope(("case", "known", "it", "i"), why=(("oracle", "nobody tells"),))
HELD: dict[str, Any] = {
    "case": {"price": 13_000, "name": "lamp", "yes": True, "none": None, "list": [1, 2], "big": 2**53},
    "known": {"listing": [{"id": "l1"}]},
    "it": "x",
    "i": 3,
}


def value_of(raw: Any, **lets: str) -> Any:
    return Maker(SEES, "here", lets).value(raw, "here.a")(activation(HELD))


def faults_of(raw: Any, **lets: str) -> list[tuple[str, int, str]]:
    faults = Faults()
    Maker(SEES, "here", lets, faults=faults).value(raw, "here.a")
    return [(fault.place, fault.within, fault.problem) for fault in faults.found]


@pytest.mark.parametrize(
    ("expected", "raw"),
    [
        (5,                              5),
        (True,                           True),
        ("text",                         "text"),
        ("",                             ""),
        (13_000,                         "=case.price"),
        (None,                           "=null"),
        ({"a": [1, "lamp"], "b": "x3"},  {"a": [1, "=case.name"], "b": "{it}{i}"}),
        ([],                             []),
        ("lamp at 130.00, true",         "{case.name} at {case.price:money}, {case.yes}"),
        ("{lamp}",                       "{{{case.name}}"),
        ("a = b",                        "a = b"),
        ("=",                            "='='"),
        ([1, 2],                         "=case.list"),
        ({"a": 1},                       "={'a': 1}"),
        (26_000,                         "=twice"),
        ("52000",                        "{twice + twice}"),
    ],
)  # fmt: skip
def test_what_a_value_gives(expected: object, raw: object) -> None:
    assert expected == value_of(raw, twice="case.price + once", once="case.price")


@pytest.mark.parametrize(
    ("says", "raw"),
    [
        ("there is no key `missing`",                        "=case.missing"),
        ("there is no element 1 in a list of 1",             "=known.listing[1]"),
        ("division by zero",                                 "=1 / 0"),
        ("`+` doesn't go with a text and a number",          "=case.name + case.price"),
        ("a number beyond ±(2^53 − 1)",                      "=case.big"),
        ("a number beyond ±(2^53 − 1)",                      "=[{'a': [case.big]}]"),
        ("a map whose keys are no texts",                    "={1: 2}"),
        ("no number, text, list or map",                     "=b'x'"),
        ("`:money` prints a number of minor units, not a text", "{case.name:money}"),
        ("`:money` prints a number of minor units, not true or false", "{case.yes:money}"),
        ("a text can't hold a list",                         "{case.list}"),
        ("a text can't hold null",                           "{case.none}"),
        ("a text can't hold a map",                          "{ {'a': 1}}"),
        ("an optional value",                                "=case.?price"),
    ],
)  # fmt: skip
def test_what_can_not_be_worked_out(says: str, raw: object) -> None:
    with pytest.raises(Unformed) as told:
        value_of({"deep": [raw]})
    assert "here.a.deep[0]" == told.value.place
    assert says in told.value.text
    assert told.value.hint


def test_the_line_of_a_text_whose_expression_fails() -> None:
    with pytest.raises(Unformed) as told:
        value_of("one\ntwo {case.name}\nthree {case.missing}")
    assert 3 == told.value.within


@pytest.mark.parametrize(
    ("expected", "raw"),
    [
        ([],                                                                       "=case.price"),
        ([("here.a", 1, "an expression begins with `=`")],                         "==case.price"),
        ([("here.a", 1, "`oracle.x` can't be used here")],                         "=oracle.x"),
        ([("here.a", 2, "it ends after `case.price +`, where more must follow")],  "=1 +\ncase.price +"),
        ([("here.a", 3, "there is no name `y` here")],                             "one\n{case.name}\n{y}"),
        ([("here.a", 4, "there is no name `y` here")],                             "one\n\n{case.name +\ny}"),
        ([("here.a", 2, "a `{` without its `}`")],                                 "one\n{case.name"),
        ([("here.a.b", 1, "there is no name `x` here"), ("here.a.c[0]", 1, "there is no name `y` here")],
         {"b": "=x", "c": ["=y"]}),
    ],
)  # fmt: skip
def test_every_fault_of_a_value_is_noted_at_its_place(expected: object, raw: object) -> None:
    assert expected == faults_of(raw)


@pytest.mark.parametrize(
    ("expected", "lets"),
    [
        ([],                                                                  {"x": "y", "y": "case.price"}),
        ([("here.let.x", 1, "there is no name `z` here")],                    {"x": "z"}),
        ([("here.let.x", 0, "each uses the next: `x` → `y` → `x`")],          {"x": "y", "y": "x"}),
        ([("here.let.case", 0, "`case` can't be a let's name")],              {"case": "1"}),
        ([("here.let.in", 0, "`in` can't be a let's name")],                  {"in": "1"}),
        ([("here.let.A", 0, "`A` can't be a let's name")],                    {"A": "1"}),
        ([("here.let.list", 0, "`list` can't be a let's name")],              {"list": "[1]", "x": "list"}),
        ([("here.let.x", 2, "`+` doesn't go with a text and a number")],      {"x": "\ny + 1", "y": "'a'"}),
        ([("here.let.x", 1, "there is no name `z` here"), ("here.a", 1, "there is no name `w` here")],
         {"x": "z", "ok": "1"}),
    ],
)  # fmt: skip
def test_a_fault_of_a_let_is_told_where_it_stands(expected: list[object], lets: dict[str, str]) -> None:
    raw = "=w" if len(expected) == 2 else "=1"
    assert expected == faults_of(raw, **lets)


def test_a_let_that_stands_elsewhere_has_its_place_there() -> None:
    faults = Faults()
    Maker(SEES, "mutation.m", {"x": "z"}, faults=faults, places={"x": "reference.let.x"})
    assert ["reference.let.x"] == [fault.place for fault in faults.found]


def test_without_faults_the_first_is_raised() -> None:
    with pytest.raises(TaskError, match="no name `x`"):
        Maker(SEES, "here").value(["=x", "=y"], "here.a")


@pytest.mark.parametrize(("expected", "source"), [(True, "case.yes"), (False, "1 == 2")])
def test_a_condition(expected: bool, source: str) -> None:  # noqa: FBT001 - as in the table
    assert expected is Maker(SEES, "").expression(source, "a").holds(activation(HELD))


@pytest.mark.parametrize("source", ["1", "'true'", "null", "[true]", "case.none"])
def test_a_condition_is_true_or_false_alone(source: str) -> None:
    with pytest.raises(Unformed, match="where true or false decides"):
        Maker(SEES, "").expression(source, "a").holds(activation(HELD))


def test_elements() -> None:
    maker = Maker(SEES, "")
    assert [1, 2] == maker.expression("case.list", "a").elements(activation(HELD), 2)
    with pytest.raises(Unformed, match=r"its list of 2 is over the limit of 1$"):
        maker.expression("case.list", "a").elements(activation(HELD), 1)
    with pytest.raises(Unformed, match="it gives a map, and a list is gone through"):
        maker.expression("{'a': 1}", "a").elements(activation(HELD), 1)

"""Verdicts on hand-made views: each kind of value, needs, caps, defects, withheld parts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tollbook.scorers.predicates import Cap, Predicate, PredicateSet
from tollbook.scorers.verdict import UNDECIDED, Defect, Judgement, judge
from tollbook.scorers.view import View

ORACLE: dict[str, Any] = {
    "n": 3, "none": None, "text": "a\u202eb", "list": [1, 2], "map": {"a": 1}, "two": {"b": 1, "a": 2},
    "big": 2**53,
}  # fmt: skip
VIEW: dict[str, Any] = {
    "acts": [{"seq": 3, "ok": True}, {"seq": 5}],
    "case": {"id": "c"},
    "did": {"a": {"b": [{"seq": 3, "note": "for 3"}]}},
    "oracle": ORACLE,
}


def judged(
    expr: str,
    view: View | None = None,
    needs: tuple[str, ...] = (),
    **others: str,
) -> Judgement:
    """The judgement on `p`, worth everything, and on others worth nothing."""
    predicates = {name: Predicate("evidence", 0, each) for name, each in others.items()}
    predicates["p"] = Predicate("choice", 1_000, expr, needs)
    return judge(PredicateSet("x", predicates, oracle=dict.fromkeys(ORACLE, "")), view or View(VIEW))


@pytest.mark.parametrize(
    ("points", "value", "expr"),
    [
        (1_000,           True,        "true"),
        (0,               False,       "false"),
        (1_000,           True,        "oracle.n == 3"),
        (1_000,           True,        "did.a.b.exists(a, a.seq == oracle.n)"),
        (Fraction(1000, 3), (1, 3),    "[1, 3]"),
        (Fraction(1000, 3), (1, 3),    "[1, oracle.n]"),
        (500,             (2, 4),      "[2, 4]"),
        (1_000,           (4, 4),      "[9, 4]"),
        (0,               (0, 4),      "[-9, 4]"),
        (0,               (0, 1),      "[0, 1]"),
        (1_000,           (1, 1),      "[1, 1]"),
        (Fraction(1000, 2**53 - 1), (1, 2**53 - 1), "[1, oracle.big - 1]"),
    ],
)  # fmt: skip
def test_values(points: int | Fraction, value: object, expr: str) -> None:
    found = judged(expr)
    assert Fraction(points) == found.points
    assert value == found.verdicts[0].value
    assert type(value) is type(found.verdicts[0].value)
    assert () == found.defects


@pytest.mark.parametrize(
    ("says", "expr"),
    [
        ("there is no key `c`",            "did.a.c == []"),
        ("there is no key `ok`",           "acts.all(a, a.ok)"),
        ("there is no key `b`",            "[oracle.list[0], oracle.map.b]"),
        ("there is no element 7 in",             "acts[7].ok"),
        ("division by zero",               "1 / (oracle.n - 3) == 1"),
        ("beyond 64 bits",                 "oracle.big * oracle.big == 1"),
        ("`+` doesn't go with a text",      "oracle.text + 1 == 2"),
        ("a\\u202eb",                      "oracle.map[oracle.text] == 1"),
        ("10,000 loop steps",              "lists.range(10001).all(x, x >= 0)"),
        ("the order of a map",             "oracle.two.map(k, k)[0] == 'b'"),
        ("an optional value",              "acts[?9]"),
        ("gives a text",                   "oracle.text"),
        ("gives null",                     "oracle.none"),
        ("gives an integer",               "oracle.n"),
        ("gives a map",                    "oracle.map"),
        ("gives a value of another type",  "b'ab'"),
        ("not [part, whole]",              "[]"),
        ("not [part, whole]",              "[1]"),
        ("not [part, whole]",              "[1, 2, 3]"),
        ("not [part, whole]",              "[true, true]"),
        ("not [part, whole]",              "['1', '2']"),
        ("not [part, whole]",              "[[1, 2], [3, 4]]"),
        ("[1, 0], and a whole is",         "[1, 0]"),
        ("[1, -2], and a whole is",        "[1, -2]"),
        ("2^53",                           "[1, oracle.big]"),
    ],
)  # fmt: skip
def test_a_planted_error_is_a_defect_and_earns_nothing(says: str, expr: str) -> None:
    found = judged(expr)
    verdict = found.verdicts[0]
    assert (0, None) == (found.points, verdict.value)
    assert says in (verdict.error or "")
    assert (Defect("predicate `p`", verdict.error or ""),) == found.defects
    assert (verdict.error or "").isprintable()


@pytest.mark.parametrize(
    ("points", "value", "unmet", "needed"),
    [
        (1_000, True,  (),     "true"),
        (1_000, True,  (),     "[3, 3]"),
        (0,     False, ("q",), "false"),
        (0,     False, ("q",), "[2, 3]"),
        (0,     False, ("q",), "oracle.map.b"),
    ],
)
def test_needs(points: int, value: object, unmet: tuple[str, ...], needed: str) -> None:
    found = judged("true", needs=("q",), q=needed)
    assert (points, value, unmet) == (found.points, found.verdicts[-1].value, found.verdicts[-1].unmet)


def test_what_is_needed_reaches_through() -> None:
    predicates = {
        "p": Predicate("choice", 400, "true", ("q",)),
        "q": Predicate("choice", 300, "[1, 1]", ("r",)),
        "r": Predicate("choice", 300, "false"),
    }
    found = judge(PredicateSet("x", predicates), View(VIEW))
    assert (0, [False, False, False]) == (found.points, [each.value for each in found.verdicts])
    assert [("q",), ("r",), ()] == [each.unmet for each in found.verdicts]


def test_an_error_outlives_a_need_that_fails() -> None:
    found = judged("oracle.map.b", needs=("q",), q="false")
    assert ("predicate `p`",) == tuple(defect.place for defect in found.defects)


def test_an_error_in_a_let_reaches_only_what_uses_it() -> None:
    predicates = {
        "p": Predicate("choice", 600, "true || first"),
        "q": Predicate("choice", 400, "first"),
    }
    found = judge(PredicateSet("x", predicates, lets={"first": "acts[9].ok"}), View(VIEW))
    assert (600, [True, None]) == (found.points, [each.value for each in found.verdicts])


@pytest.mark.parametrize(
    ("points", "value", "error", "expr"),
    [
        (1_000, False, None,           "false"),
        (300,   True,  None,           "true"),
        (300,   True,  "no key", "oracle.map.b"),
        (300,   True,  "a fraction",   "[0, 1]"),
        (300,   True,  "gives a text", "'no'"),
    ],
)
def test_caps(*, points: int, value: bool, error: str | None, expr: str) -> None:
    caps = {"low": Cap(expr, 300), "high": Cap("true", 1_000)}
    predicates = {"p": Predicate("choice", 1_000, "true")}
    found = judge(PredicateSet("x", predicates, caps=caps, oracle=dict.fromkeys(ORACLE, "")), View(VIEW))
    assert (points, value) == (found.points, found.flags[0].value)
    assert (error or "") in (found.flags[0].error or "")
    assert int(error is not None) == len(found.defects)


def test_a_cap_never_raises_a_score() -> None:
    predicates = {"p": Predicate("choice", 1_000, "[1, 10]")}
    for points, caps in ((100, {"c": Cap("true")}), (0, {"c": Cap("true"), "d": Cap("true", 0)})):
        assert points == judge(PredicateSet("x", predicates, caps=caps), View(VIEW)).points


OPEN = View(VIEW, {"did": frozenset({"note", "figures"}), "oracle": frozenset({"text"})})


@pytest.mark.parametrize(
    ("undecided", "expr"),
    [
        (True,  "did.a.b.exists(a, a.note == 'for 3')"),
        (True,  "did.a.b.exists(a, a['note'] == 'for 3')"),
        (True,  "did.a.b.exists(a, a[case.id] == 'for 3')"),
        (True,  "did.a.b.exists(a, 3 in a.figures)"),
        (True,  "did.a.b.exists(a, a.exists(k, v, v == 3))"),
        (True,  "oracle.text == 'a'"),
        (False, "did.a.b.exists(a, a.seq == 3)"),
        (False, "did['a']['b'].exists(a, a['seq'] == 3)"),
        (False, "acts.exists(a, a.?note.orValue('') == 'x') || true"),
        (False, "oracle.n == 3"),
    ],
)  # fmt: skip
def test_what_hangs_on_a_withheld_part(*, undecided: bool, expr: str) -> None:
    found = judged(expr, OPEN)
    verdict = found.verdicts[0]
    assert undecided == verdict.undecided
    assert (None if undecided else 1_000) == found.points
    assert () == found.defects


@pytest.mark.parametrize(
    ("value", "error", "points", "needs"),
    [
        (False, None,      0,     ("no",)),
        (False, None,      0,     ("no", "open")),
        (False, None,      0,     ("open", "no")),
        (None,  UNDECIDED, None,  ("open",)),
        (None,  UNDECIDED, None,  ("yes", "open")),
        (True,  None,      1_000, ("yes",)),
    ],
)
def test_needs_that_are_undecided(
    value: object, error: str | None, points: int | None, needs: tuple[str, ...]
) -> None:
    found = judged("true", OPEN, needs, yes="true", no="false", open="oracle.text == ''")
    assert (value, error, points) == (found.verdicts[-1].value, found.verdicts[-1].error, found.points)


def test_a_false_predicate_is_false_whatever_its_needs_are() -> None:
    found = judged("false", OPEN, ("open",), open="oracle.text == ''")
    assert (0, False) == (found.points, found.verdicts[-1].value)


def test_what_is_worth_nothing_and_undecided_leaves_the_score() -> None:
    found = judged("true", OPEN, open="oracle.text == ''")
    assert (1_000, [None, True]) == (found.points, [each.value for each in found.verdicts])


def test_an_undecided_cap_leaves_no_score() -> None:
    caps = {"c": Cap("oracle.text == ''")}
    predicates = PredicateSet("x", {"p": Predicate("choice", 1_000, "true")}, caps=caps, oracle={"text": ""})
    found = judge(predicates, OPEN)
    assert (None, None, ()) == (found.points, found.flags[0].value, found.defects)


@pytest.mark.parametrize(
    ("seqs", "defects", "expr"),
    [
        ((3, 5),    0, "acts.map(a, a.seq)"),
        ((3, 5),    0, "[[5], [3, 5], []]"),
        ((3,),      0, "3"),
        ((),        0, "[]"),
        ((3,),      0, "[null, 3]"),
        ((),        0, "oracle.text == '' ? [1] : [2]"),
        ((),        1, "acts.map(a, a.nothing)"),
        ((),        1, "['3']"),
        ((),        1, "[true]"),
        ((),        1, "[-3]"),
    ],
)  # fmt: skip
def test_seqs(seqs: tuple[int, ...], defects: int, expr: str) -> None:
    predicates = PredicateSet("x", {"p": Predicate("choice", 1_000, "true", seqs=expr)}, oracle={"text": ""})
    found = judge(predicates, OPEN)
    assert (1_000, seqs, defects) == (found.points, found.verdicts[0].seqs, len(found.defects))

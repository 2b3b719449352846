"""Predicates in CEL against plain Python: those of recorded retail runs, and random expressions.

The Python below is written from the same readings and shares no code with the file or the runtime.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import celpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tollbook.scorers.cel import Failure, activation, compile_source
from tollbook.scorers.predicates import load
from tollbook.scorers.verdict import judge
from tollbook.scorers.view import View

RECORDED = load((files("tollbook.tasks") / "suites" / "retail" / "recorded.toml").read_text("utf-8"))
Oracle = dict[str, Any]


def rewarded(oracle: Oracle) -> bool:
    return oracle["ended"] and oracle["state_matches"] and communicated(oracle)


def communicated(oracle: Oracle) -> bool:
    return not [string for string in oracle["strings"] if not string["told"]]


def catalog_consistent(oracle: Oracle) -> bool:
    return not [line for order in oracle["orders"] for line in order["lines"] if not line["consistent"]]


def whole_cents(oracle: Oracle) -> bool:
    return not [row for order in oracle["orders"] for row in order["payments"] if not row["whole"]]


def money_conserved(oracle: Oracle) -> bool:
    for order in oracle["orders"]:
        due = order["lines_cents"]
        if order["cancelled"]:
            due = 0
        if order["paid_minus_refunded_cents"] != due:
            return False
    return True


def authenticated_first(oracle: Oracle) -> bool:
    found, wrote = oracle["authenticated"], oracle["first_write"]
    if wrote is None:
        return True
    return found is not None and found < wrote


def one_user_only(oracle: Oracle) -> bool:
    return set(oracle["touched_users"]) <= {oracle["owner"]}


def asked_before_write(oracle: Oracle) -> bool:
    return not [write for write in oracle["writes"] if not write["asked"]]


NAIVE: dict[str, Callable[[Oracle], bool]] = {
    "rewarded": rewarded,
    "ended_normally": lambda oracle: oracle["ended"],
    "state_matches_reference": lambda oracle: oracle["state_matches"],
    "communicated": communicated,
    "catalog_consistent": catalog_consistent,
    "whole_cents": whole_cents,
    "money_conserved": money_conserved,
    "authenticated_first": authenticated_first,
    "one_call_at_a_time": lambda oracle: len(oracle["groups"]) == 0,
    "one_user_only": one_user_only,
    "asked_before_write": asked_before_write,
}
SEQ = st.integers(0, 40)
OFTEN = st.sampled_from([True, True, True, False])
CENTS = st.sampled_from([0, 1_000, 2_550])
ORACLES = st.fixed_dictionaries(
    {
        "authenticated": st.none() | SEQ,
        "ended": OFTEN,
        "first_write": st.none() | SEQ,
        "graded": OFTEN,
        "groups": st.lists(st.lists(SEQ, min_size=2, max_size=3), max_size=1),
        "orders": st.lists(
            st.fixed_dictionaries(
                {
                    "id": st.just("#W1"),
                    "cancelled": st.booleans(),
                    "lines": st.lists(
                        st.fixed_dictionaries({"item_id": st.just("1"), "consistent": OFTEN}), max_size=2
                    ),
                    "payments": st.lists(
                        st.fixed_dictionaries({"amount_cents": CENTS, "whole": OFTEN}), max_size=2
                    ),
                    "paid_minus_refunded_cents": CENTS,
                    "lines_cents": CENTS,
                    "seqs": st.lists(SEQ, max_size=2),
                }
            ),
            max_size=2,
        ),
        "owner": st.sampled_from([None, "ann", "bob"]),
        "state_matches": OFTEN,
        "strings": st.lists(
            st.fixed_dictionaries(
                {"text": st.text(max_size=3), "told": OFTEN, "seqs": st.lists(SEQ, max_size=2)}
            ),
            max_size=2,
        ),
        "termination": st.sampled_from(["agent_stop", "user_stop", "max_steps"]),
        "touched_users": st.lists(st.sampled_from(["ann", "bob"]), max_size=2, unique=True),
        "writes": st.lists(st.fixed_dictionaries({"seq": SEQ, "asked": OFTEN}), max_size=2),
    }
)


def test_every_predicate_of_the_file_has_a_naive_one_and_asks_only_for_what_the_oracle_has() -> None:
    assert NAIVE.keys() == RECORDED.predicates.keys()
    assert () == RECORDED.local
    assert {"oracle"} == RECORDED.reads


@settings(max_examples=300)
@given(ORACLES)
def test_predicates_of_recorded_runs(oracle: Oracle) -> None:
    found = judge(RECORDED, View({"oracle": oracle}))
    assert () == found.defects
    values = {each.id: each.value for each in found.verdicts}
    assert {name: naive(oracle) for name, naive in NAIVE.items()} == values
    assert found.points == (1_000 if rewarded(oracle) else 0)


@given(ORACLES)
def test_records_that_verdicts_of_recorded_runs_rest_on(oracle: Oracle) -> None:
    seqs = {each.id: each.seqs for each in judge(RECORDED, View({"oracle": oracle})).verdicts}
    bad_orders = [
        order for order in oracle["orders"] if not all(line["consistent"] for line in order["lines"])
    ]
    assert tuple(sorted({seq for order in bad_orders for seq in order["seqs"]})) == seqs["catalog_consistent"]
    unasked = {write["seq"] for write in oracle["writes"] if not write["asked"]}
    assert tuple(sorted(unasked)) == seqs["asked_before_write"]
    assert tuple(sorted({seq for group in oracle["groups"] for seq in group})) == seqs["one_call_at_a_time"]


def expanded(source: str) -> str:
    """An expression of the file with its lets written out: `cel.bind` is no part of the portable core."""
    for _ in RECORDED.lets:
        for name, body in RECORDED.lets.items():
            source = re.sub(rf"\b{name}\b", f"({body})", source)
    return source


def test_another_runtime_gives_the_same_verdicts() -> None:
    environment = celpy.Environment()
    programs = {
        name: environment.program(environment.compile(expanded(predicate.expr)))
        for name, predicate in RECORDED.predicates.items()
        if not predicate.needs
    }

    @settings(max_examples=30, deadline=None)
    @given(ORACLES)
    def agree(oracle: Oracle) -> None:
        view = {"oracle": celpy.json_to_cel(oracle)}
        verdicts = {each.id: each.value for each in judge(RECORDED, View({"oracle": oracle})).verdicts}
        for name, program in programs.items():
            assert bool(program.evaluate(view)) == verdicts[name]

    agree()


# (in CEL, in Python) over two integers, a boolean and a list of integers.
Pair = tuple[str, str]


def _both(cel: str, python: str) -> Callable[..., Pair]:
    def join(*parts: Pair) -> Pair:
        return cel.format(*(part[0] for part in parts)), python.format(*(part[1] for part in parts))

    return join


INTEGERS = st.deferred(
    lambda: st.one_of(
        st.integers(-3, 3).map(lambda value: (f"({value})", f"({value})")),
        st.sampled_from([("oracle.a", "a"), ("oracle.b", "b")]),
        st.builds(_both("({0} + {1})", "({0} + {1})"), INTEGERS, INTEGERS),
        st.builds(_both("({0} - {1})", "({0} - {1})"), INTEGERS, INTEGERS),
        st.builds(_both("({0} * {1})", "({0} * {1})"), INTEGERS, INTEGERS),
        st.builds(_both("({0} / {1})", "divide({0}, {1})"), INTEGERS, INTEGERS),
        st.builds(_both("({0} % {1})", "({0} - {1} * divide({0}, {1}))"), INTEGERS, INTEGERS),
        st.builds(_both("({0} ? {1} : {2})", "({1} if {0} else {2})"), BOOLEANS, INTEGERS, INTEGERS),
        st.builds(_both("{0}.size()", "len({0})"), LISTS),
        st.builds(_both("{0}[{1}]", "item({0}, {1})"), LISTS, INTEGERS),
    )
)
BOOLEANS = st.deferred(
    lambda: st.one_of(
        st.sampled_from([("true", "True"), ("false", "False"), ("oracle.yes", "yes")]),
        st.builds(_both("({0} < {1})", "({0} < {1})"), INTEGERS, INTEGERS),
        st.builds(_both("({0} == {1})", "({0} == {1})"), INTEGERS, INTEGERS),
        st.builds(_both("({0} == {1})", "({0} == {1})"), LISTS, LISTS),
        st.builds(_both("(!{0})", "(not {0})"), BOOLEANS),
        st.builds(_both("({0} in {1})", "({0} in {1})"), INTEGERS, LISTS),
        st.builds(_both("{0}.exists(x, x > {1})", "any([x > {1} for x in {0}])"), LISTS, INTEGERS),
        st.builds(_both("{0}.all(x, x > {1})", "all([x > {1} for x in {0}])"), LISTS, INTEGERS),
        st.builds(_both("{0}.exists_one(x, x == {1})", "({0}.count({1}) == 1)"), LISTS, INTEGERS),
    )
)
LISTS = st.deferred(
    lambda: st.one_of(
        st.just(("oracle.list", "list_")),
        st.builds(_both("[{0}, {1}]", "[{0}, {1}]"), INTEGERS, INTEGERS),
        st.builds(_both("({0} + {1})", "({0} + {1})"), LISTS, LISTS),
        st.builds(_both("{0}.map(x, x * {1})", "[x * {1} for x in {0}]"), LISTS, INTEGERS),
        st.builds(_both("{0}.filter(x, x != {1})", "[x for x in {0} if x != {1}]"), LISTS, INTEGERS),
    )
)


def divide(part: int, whole: int) -> int:
    """Towards zero, as CEL divides."""
    return abs(part) // abs(whole) * (1 if (part < 0) == (whole < 0) else -1)


def item(items: list[int], place: int) -> int:
    if place < 0:
        raise IndexError
    return items[place]


NUMBERS = st.integers(-2, 2)


@settings(max_examples=100)
@given(pair=BOOLEANS, a=NUMBERS, b=NUMBERS, yes=st.booleans(), items=st.lists(NUMBERS, max_size=3))
def test_random_expressions(*, pair: Pair, a: int, b: int, yes: bool, items: list[int]) -> None:
    cel, python = pair
    if len(cel) > 400:
        return
    program = compile_source(cel)
    found = program.run(activation({"oracle": {"a": a, "b": b, "yes": yes, "list": items}}))
    names = {"a": a, "b": b, "yes": yes, "list_": items, "divide": divide, "item": item}
    try:
        expected = eval(python, names)
    except (IndexError, ZeroDivisionError):
        # CEL decides `exists` and `all` by one element though another is in error; Python stops at the first.
        assert isinstance(found, (Failure, bool))
        return
    if found != Failure("integer overflow"):
        assert expected is found
    assert frozenset() == program.reach.library
    assert program.reach.free <= {"oracle"}


@pytest.mark.parametrize(
    ("expected", "expr"),
    [
        ({"oracle"},               "oracle.x == 1"),
        ({"acts", "oracle"},       "acts.exists(a, a.n == oracle.x)"),
        ({"acts"},                 "acts.exists(oracle, oracle.n == 1)"),
        ({"acts", "oracle"},       "acts.exists(oracle, oracle.n == 1) || oracle.x"),
        ({"acts", "did"},          "cel.bind(did, acts, did == []) && did == {}"),
        ({"acts"},                 "cel.bind(did, acts, did.map(x, x.n).sort() == [])"),
        ({"acts", "oracle"},       "acts.sortBy(a, a.n) == [] && oracle.x == 1"),
        ({"acts", "tick"},         "acts.exists(i, a, i == tick && a.n == i)"),
        (set(),                    "'oracle.x' == \"acts\"  // did"),
    ],
)  # fmt: skip
def test_free_names(expected: set[str], expr: str) -> None:
    assert expected == compile_source(expr).reach.free

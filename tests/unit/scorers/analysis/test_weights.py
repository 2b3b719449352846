"""Invented scores with equal weights: what they would be, and whether agents swap."""

from __future__ import annotations

from fractions import Fraction

import pytest
from panel_scores import ALPHA, BETA, GAMMA, Said, run, worth

from tollbook.scorers.analysis.sheet import Dots, text_of
from tollbook.scorers.analysis.weights import equal_value, sheet
from tollbook.scorers.score import Score


@pytest.mark.parametrize(
    ("expected",         "cap", "said"),
    [
        (Fraction(1000),     None, [("search", 900, "1"), ("choice", 100, "1")]),
        (Fraction(500),      None, [("search", 900, "1"), ("choice", 100, "0")]),
        (Fraction(2000, 3),  None, [("search", 800, "1"), ("choice", 100, "1/2"), ("choice", 100, "1/2")]),
        (Fraction(250),      250,  [("search", 900, "1"), ("choice", 100, "0")]),
        (Fraction(0),        250,  [("search", 900, "0"), ("choice", 100, "0")]),
        (Fraction(500),      600,  [("search", 900, "1"), ("choice", 100, "0")]),
        (Fraction(1000),     None, [("search", 1000, "1"), ("choice", 0, "0")]),
        (Fraction(500),      None, [("search", 900, "1"), ("choice", 100, "!")]),
    ],
)  # fmt: skip
def test_each_predicate_that_weighs_is_worth_the_same(
    expected: Fraction, cap: int | None, said: list[Said]
) -> None:
    assert expected == equal_value(run(ALPHA, "t1.x a 0", *said, cap=cap))


def two(player: str, heavy: str, light: str) -> list[Score]:
    """Two runs alike, of predicates that weigh 900 and 100."""
    said: list[Said] = [("search", 900, heavy), ("choice", 100, light)]
    return [run(player, f"t1.x {case} 0", *said) for case in ("a", "b")]


# As scored 900, 190, 90; with equal weights 500, 550, 450.
SCORES = [*two(ALPHA, "1", "0"), *two(BETA, "1/10", "1"), *two(GAMMA, "0", "9/10")]

TEXT = """\
Weights: means were every predicate worth the same

agent  runs  as scored  equal weights   delta
alpha     2      900.0          500.0  -400.0
beta      2      190.0          550.0   360.0
gamma     2       90.0          450.0   360.0

the order of agents changes: 1 of 3 pairs swap
swap: alpha and beta
"""


def test_as_text() -> None:
    assert TEXT == text_of(sheet(SCORES))


def test_a_tie_that_is_one_only_one_way_changes_the_order_without_a_swap() -> None:
    found = sheet([*two(ALPHA, "1", "0"), *two(BETA, "0", "1")])
    order = "the order of agents changes: 0 of 1 pairs swap"
    assert (order, "tied one way only: alpha and beta") == found.notes
    assert ([], [("alpha", "beta")], False) == tuple(
        found.document[name] for name in ("swapped", "parted", "order_holds")
    )


def test_where_weights_are_equal_nothing_changes() -> None:
    said: list[Said] = [("search", 500, "1/7"), ("choice", 500, "2/3")]
    found = sheet([run(ALPHA, "t1.x a 0", *said), run(BETA, "t1.x a 0", *said[::-1], cap=300)])
    assert [0, 0] == [entry["delta"]["exact"] for entry in found.document["agents"]]
    assert found.document["order_holds"] is True
    assert ("the order of agents holds: 0 of 1 pairs swap",) == found.notes


def test_the_document_has_the_means_both_ways() -> None:
    document = sheet(SCORES).document
    beta = document["agents"][1]
    assert ("beta", 190, 550) == (beta["agent"], beta["scored"]["exact"], beta["equal"]["exact"])
    assert {"exact": 360, "points": "360.000"} == beta["delta"]
    assert (3, [("alpha", "beta")]) == (document["pairs"], document["swapped"])


def test_the_chart_has_both_means_of_an_agent_together() -> None:
    (chart,) = sheet(SCORES).charts
    assert isinstance(chart, Dots)
    assert [
        ("alpha, as scored", 900, None), ("alpha, equal weights", 500, None), ("beta, as scored", 190, None),
    ] == [*chart.rows[:3]]  # fmt: skip


def test_of_one_agent_there_is_no_order() -> None:
    found = sheet([worth(ALPHA, "t1.x a 0", 500)])
    assert ((), 0, True) == (found.notes, found.document["pairs"], found.document["order_holds"])
    assert () == sheet([]).tables

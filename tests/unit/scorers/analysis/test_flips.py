"""Flips of invented trials: the chance that two of one case come out differently."""

from __future__ import annotations

from fractions import Fraction

import pytest
from panel_scores import ALPHA, BETA, run, unscored, worth

from tollbook.scorers.analysis.flips import flip, sheet
from tollbook.scorers.analysis.sheet import Dots, text_of
from tollbook.scorers.score import Score


@pytest.mark.parametrize(
    ("expected",       "times", "trials"),
    [
        (0,                0,       2),
        (1,                1,       2),
        (0,                2,       2),
        (Fraction(2, 3),   1,       3),
        (Fraction(2, 3),   2,       4),
        (Fraction(1, 2),   1,       4),
        (0,                9,       9),
    ],
)  # fmt: skip
def test_the_chance_that_two_of_so_many_trials_differ(expected: Fraction, times: int, trials: int) -> None:
    assert expected == flip(times, trials)


def test_it_is_the_share_of_the_pairs_of_trials_that_differ() -> None:
    for trials in range(2, 8):
        for times in range(trials + 1):
            held = [place < times for place in range(trials)]
            pairs = [(one, other) for one in range(trials) for other in range(one)]
            differ = sum(held[one] != held[other] for one, other in pairs)
            assert Fraction(differ, len(pairs)) == flip(times, trials)


def trials(player: str, cell: str, *marks: str) -> list[Score]:
    """A trial for each of the marks: what two predicates of 500 earn, as `1 0`."""
    return [
        run(player, f"{cell} {trial}", *(("choice", 500, credit) for credit in mark.split()))
        for trial, mark in enumerate(marks)
    ]


SCORES = [
    *trials(ALPHA, "t1.x a", "1 1", "1 0", "1 1"),
    *trials(ALPHA, "t1.x b", "1 1", "1 1"),
    *trials(ALPHA, "t2.x a", "0 1/2", "1/2 0"),
    *trials(ALPHA, "t2.x b", "1 1"),
    *trials(BETA, "t1.x a", "0 0", "1 1"),
    unscored(worth(BETA, "t1.x a 2", 0), "open"),
]

# Full credit: alpha 2/3 of 1 a, 0 of 1 b and of 2 a: mean 2/9, sums 2/9 and −2/9, shares 2/3 and 1/3:
# SE² = (4/81·3 + 4/81·1.5) / 9 = 0.157²: to both ends. A predicate: 0 and 2/3, four zeros: 1/9.
# All: 2/3, 0, 0, 1 of two tasks; and 0, 2/3, 0, 0, 0, 0, 1, 1.
TEXT = """\
Flips: how often two trials of one case come out differently

agent  cells  tasks  trials  full credit   95 % interval  a predicate   95 % interval
alpha      3      2  2 to 3        0.222  0.000 to 1.000        0.111  0.000 to 1.000
beta       1      1       2        1.000               –        1.000               –
all        4      2  2 to 3        0.417  0.000 to 1.000        0.333  0.000 to 1.000

Predicates: the 10 that flip most
task  predicate  cells   flip
t1.x  p1             3  0.556
t1.x  p0             3  0.333

Cases: the 10 that flip most
case                agent  trials  full   flip
t1.x@t1.x:digest a  beta        2     1  1.000
t1.x@t1.x:digest a  alpha       3     2  0.667

left out: 1 open (beta t1.x a )
"""


def test_as_text() -> None:
    assert TEXT == text_of(sheet(SCORES))


def test_the_document_has_every_cell_and_predicate() -> None:
    document = sheet(SCORES).document
    assert [
        ("t1.x", "p1", 3, [5, 9], "0.5556"), ("t1.x", "p0", 3, [1, 3], "0.3333"),
        ("t2.x", "p0", 1, 0, "0.0000"), ("t2.x", "p1", 1, 0, "0.0000"),
    ] == [tuple(each.values()) for each in document["predicates"]]  # fmt: skip
    assert [("beta", "a", 1), ("alpha", "a", [2, 3]), ("alpha", "b", 0), ("alpha", "a", 0)] == [
        (cell["agent"], cell["case"], cell["exact"]) for cell in document["cells"]
    ]
    alpha, beta = document["agents"]
    assert ("alpha", 3, 2, 2, 3) == tuple(alpha.values())[:5]
    assert ([2, 9], [1, 9]) == (alpha["full"]["exact"], alpha["verdicts"]["exact"])
    assert 1 == beta["full"]["exact"]
    assert [5, 12] == document["all"]["full"]["exact"]


def test_trials_that_are_alike_never_flip() -> None:
    found = sheet([*trials(ALPHA, "t1.x a", *["1 0"] * 3), *trials(ALPHA, "t2.x a", *["1 1"] * 3)])
    assert 0 == found.document["all"]["full"]["exact"] == found.document["all"]["verdicts"]["exact"]
    assert 1 == len(found.tables)


def test_a_part_more_or_less_is_no_flip() -> None:
    """What is asked is whether a predicate held in full."""
    found = sheet(trials(ALPHA, "t1.x a", "1/2 1", "1/3 1"))
    assert [0, 0] == [each["exact"] for each in found.document["predicates"]]


def test_what_is_undecided_is_no_verdict() -> None:
    said = [("choice", 1000, "1"), ("search", 0, "?")]
    scores = [run(ALPHA, f"t1.x a {trial}", said[0], ("search", 0, mark)) for trial, mark in enumerate("?10")]
    by_name = {each["predicate"]: each["exact"] for each in sheet(scores).document["predicates"]}
    assert {"p0": 0, "p1": 1} == by_name
    assert ["p0"] == [each["predicate"] for each in sheet(scores[:2]).document["predicates"]]


def test_without_a_second_trial_there_is_nothing_to_say() -> None:
    found = sheet([worth(ALPHA, "t1.x a 0", 0), worth(BETA, "t1.x a 0", 1000)])
    assert ((), (), ("no agent has two trials of a case",)) == (found.tables, found.charts, found.notes)
    assert (None, [], []) == tuple(found.document[name] for name in ("all", "agents", "cells"))


def test_the_chart_goes_from_never_to_always() -> None:
    (chart,) = sheet(SCORES).charts
    assert isinstance(chart, Dots)
    assert (0, 1, ["alpha", "beta", "all"]) == (chart.low, chart.high, [row[0] for row in chart.rows])


def test_agents_of_one_label_stay_two() -> None:
    scores = [*trials("–", "t1.x a", "1 1", "0 0"), *(
        each._replace(agent=None) for each in trials("–", "t1.x a", "1 1", "1 1"))]  # fmt: skip
    rows = sheet(scores).document["agents"]
    assert [("–", 1, 1), ("–", 1, 0)] == [(row["agent"], row["cells"], row["full"]["exact"]) for row in rows]

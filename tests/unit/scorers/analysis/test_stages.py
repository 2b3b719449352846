"""Where invented runs lost most: ties are mixed, and what a cap took is authority's."""

from __future__ import annotations

from fractions import Fraction

import pytest
from panel_scores import ALPHA, BETA, Said, run, unscored

from tollbook.scorers.analysis.sheet import Heat, text_of
from tollbook.scorers.analysis.stages import Where, lost_in, sheet, stage_of


@pytest.mark.parametrize(
    ("expected",  "cap", "said"),
    [
        (None,        None, [("search", 500, "1"),   ("choice", 500, "1")]),
        ("choice",    None, [("search", 500, "1"),   ("choice", 500, "999/1000")]),
        ("search",    None, [("search", 400, "0"),   ("choice", 600, "1/2")]),
        ("choice",    None, [("search", 300, "0"),   ("choice", 600, "1/3"), ("choice", 100, "1")]),
        ("mixed",     None, [("search", 300, "0"),   ("choice", 600, "1/2"), ("choice", 100, "1")]),
        ("evidence",  None, [("evidence", 200, "0"), ("evidence", 200, "1/2"), ("choice", 600, "3/4")]),
        ("execution", None, [("execution", 500, "!"), ("choice", 500, "1/2")]),
        ("authority", 250,  [("search", 500, "1"),   ("choice", 500, "1")]),
        ("authority", 250,  [("search", 600, "1"),   ("choice", 400, "1/4")]),
        ("choice",    250,  [("search", 400, "1"),   ("choice", 600, "0")]),
        ("mixed",     250,  [("search", 625, "1"),   ("choice", 375, "0")]),
        ("choice",    250,  [("search", 200, "1"),   ("choice", 800, "0")]),
        ("mixed",     0,    [("authority", 100, "0"), ("search", 500, "0"), ("choice", 400, "1")]),
        ("authority", None, [("authority", 1000, "0"), ("choice", 0, "0")]),
    ],
)  # fmt: skip
def test_a_run_is_where_it_lost_most(expected: Where | None, cap: int | None, said: list[Said]) -> None:
    score = run(ALPHA, "t1.x a 0", *said, cap=cap)
    assert expected == stage_of(score)
    assert score.value is not None
    assert 1000 - score.value == sum(lost_in(score).values())


def test_what_a_cap_takes_counts_as_authority() -> None:
    lost = lost_in(run(ALPHA, "t1.x a 0", ("choice", 600, "1/3"), ("authority", 400, "3/4"), cap=250))
    # 400 of choice and 100 of authority leave 500, the cap half of that.
    assert {"search": 0, "evidence": 0, "choice": 400, "execution": 0, "authority": 350} == lost


FULL = (("choice", 500, "1"), ("search", 500, "1"))
NONE = (("choice", 600, "0"), ("search", 400, "0"))
HALF = (("choice", 500, "0"), ("search", 500, "1"))
BOTH = (("choice", 500, "1/2"), ("search", 500, "1/2"))
SCORES = [
    run(ALPHA, "t1.x a 0", *FULL),
    run(ALPHA, "t1.x b 0", *NONE),
    run(ALPHA, "t2.x a 0", *HALF),
    run(ALPHA, "t2.x b 0", *BOTH),
    run(BETA, "t1.x a 0", *FULL),
    run(BETA, "t2.x a 0", *HALF),
    run(BETA, "t2.x b 0", *FULL, cap=0),
    run(BETA, "t3.x a 0", *FULL),
    unscored(run(BETA, "t3.x b 0", *FULL), "abandoned"),
]

TEXT = """\
Stages: where runs short of full credit lost most of it

Runs with a part of the credit/with none
agent  search  evidence  choice  execution  authority  mixed  all
alpha     0/0       0/0     1/1        0/0        0/0    1/0  2/1
beta      0/0       0/0     1/0        0/0        0/1    0/0  1/1
all       0/0       0/0     2/1        0/0        0/1    1/0  3/2

Shares of the runs short of full credit, by family
family  runs  short  share  search  evidence  choice  execution  authority  mixed
t1         3      1  0.333   0.000     0.000   1.000      0.000      0.000  0.000
t2         4      4  1.000   0.000     0.000   0.500      0.000      0.250  0.250
t3         1      0  0.000       –         –       –          –          –      –

left out: 1 abandoned (beta t3.x b )
"""


def test_as_text() -> None:
    assert TEXT == text_of(sheet(SCORES))


def test_the_chart_is_empty_where_nothing_was_lost() -> None:
    (chart,) = sheet(SCORES).charts
    assert isinstance(chart, Heat)
    assert ("search", "evidence", "choice", "execution", "authority", "mixed") == chart.columns
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    assert [("t1", [0, 0, 1, 0, 0, 0]), ("t2", [0, 0, half, 0, quarter, quarter]), ("t3", [None] * 6)] == [
        *chart.rows
    ]


def test_the_document() -> None:
    document = sheet(SCORES).document
    alpha, beta = document["agents"]
    assert ("alpha", 4, 3) == (alpha["agent"], alpha["runs"], alpha["short"])
    assert {"partial": 1, "zero": 1, "exact": [2, 3], "share": "0.6667"} == alpha["stages"]["choice"]
    assert {"partial": 0, "zero": 1, "exact": [1, 2], "share": "0.5000"} == beta["stages"]["authority"]
    assert (8, 5) == (document["all"]["runs"], document["all"]["short"])
    assert ["t1", "t2", "t3"] == [family["family"] for family in document["families"]]
    third = document["families"][2]["stages"]
    assert {"partial": 0, "zero": 0, "exact": None, "share": None} == third["mixed"]
    assert () == sheet([]).tables

"""Agents compared: the gaps of `compare`, with who was worth more at how many places."""

from __future__ import annotations

from fractions import Fraction

from panel_scores import ALPHA, BETA, GAMMA, unscored, worth

from tollbook.scorers.analysis.pairs import sheet
from tollbook.scorers.analysis.sheet import Dots, text_of
from tollbook.scorers.compare import compare

# 600, 0, −100 | 300: mean 200, sums −100 and 100, shares ¾ and ¼: SE² = (1e4·4 + 1e4·4/3) / 16 = 57.74²;
# 1/d = 10/16 + 2·(9/4)·(1/12) = 1: ± 12.706 · 57.74, smallest (12.706 + 1.376) · 57.74.
# With 0 for the open one: mean 160, sums 20 and −20, shares 3/5 and 2/5:
# SE² = (400·5/2 + 400·5/3) / 25 = 8.165²; 1/d = 13/25 + 2·0.9·0.2667 = 1: ± 103.7, smallest 115.0.
SCORES = [
    worth(ALPHA, "t1.x a 0", 1000),
    worth(ALPHA, "t1.x b 0", 500),
    worth(ALPHA, "t1.x c 0", 0),
    worth(ALPHA, "t2.x a 0", 300),
    worth(ALPHA, "t2.x b 0", 0),
    worth(BETA, "t1.x a 0", 400),
    worth(BETA, "t1.x b 0", 500),
    worth(BETA, "t1.x c 0", 100),
    worth(BETA, "t2.x a 0", 0),
    unscored(worth(BETA, "t2.x b 0", 0), "open"),
]

TEXT = """\
Pairs: agents compared where both played

difference    over                  pairs  tasks   mean    95 % interval  smallest gap  won  tied  lost
alpha − beta  scored runs               4      2  200.0  -533.6 to 933.6         813.0    2     1     1
alpha − beta  open, abandoned at 0      5      2  160.0    56.3 to 263.7         115.0    2     2     1

left out: 1 open (beta t2.x b )
unpaired, alpha − beta: t2.x@t2.x:digest b trial 0, beta is open
smallest gap: told from 0 in 80 % of repetitions, two-sided at 5 %; beyond 1000 none is
"""


def test_as_text() -> None:
    assert TEXT == text_of(sheet(SCORES))


def test_the_differences_are_those_of_the_comparison() -> None:
    document = sheet(SCORES).document
    plain = compare(SCORES).document()["differences"]
    assert plain == [
        {name: value for name, value in each.items() if name not in ("won", "tied", "lost")}
        for each in document["differences"]
    ]
    assert [(2, 1, 1), (2, 2, 1)] == [
        (each["won"], each["tied"], each["lost"]) for each in document["differences"]
    ]


def test_a_trial_that_was_played_twice_is_one_place() -> None:
    twice = [worth(ALPHA, "t1.x a 0", 1000, run="one"), worth(ALPHA, "t1.x a 0", 0, run="two")]
    (gap,) = sheet([*twice, worth(BETA, "t1.x a 0", 500)]).document["differences"]
    assert (1, 0, 1, 0) == (gap["pairs"], gap["won"], gap["tied"], gap["lost"])


def test_the_chart_has_scored_runs_only_and_marks_nothing_between_them() -> None:
    (chart,) = sheet(SCORES).charts
    assert isinstance(chart, Dots)
    assert (-1000, 1000, 0) == (chart.low, chart.high, chart.mark)
    assert [("alpha − beta", Fraction(200))] == [row[:2] for row in chart.rows]
    never = sheet([SCORES[0], worth(GAMMA, "t9.x a 0", 0)])
    assert () == never.charts
    assert 1 == len(never.tables)


def test_one_agent_has_nobody_to_be_compared_with() -> None:
    found = sheet(SCORES[:5])
    assert ((), (), ("there are no two agents to compare",)) == (found.tables, found.charts, found.notes)
    assert [] == found.document["differences"]

"""Credit: counts and shares of invented scores, worked out by hand."""

from __future__ import annotations

from fractions import Fraction

from panel_scores import ALPHA, BETA, run, unscored, worth

from tollbook.scorers.analysis.credit import Credit, credit_of, sheet
from tollbook.scorers.analysis.sheet import Stacked, text_of

SCORES = [
    worth(ALPHA, "t1 a 0", 0),
    worth(ALPHA, "t1 b 0", 1),
    worth(ALPHA, "t1 c 0", 999),
    worth(ALPHA, "t1 d 0", 1000),
    worth(BETA, "t1 a 0", 1000),
    worth(BETA, "t1 b 0", 100),
    unscored(worth(BETA, "t1 c 0", 1000), "open"),
    unscored(worth(BETA, "t1 d 0", 1000), "invalid"),
]

TEXT = """\
Credit: how many runs earn nothing, a part, all

agent  runs  zero  share  partial  share  full  share
alpha     4     1  0.250        2  0.500     1  0.250
beta      2     0  0.000        1  0.500     1  0.500
all       6     1  0.167        3  0.500     2  0.333

Runs by score
agent  < 100  < 200  < 300  < 400  < 500  < 600  < 700  < 800  < 900  < 1000  1000
alpha      2      0      0      0      0      0      0      0      0       1     1
beta       0      1      0      0      0      0      0      0      0       0     1
all        2      1      0      0      0      0      0      0      0       1     2

left out: 1 open (beta t1 c 0), 1 invalid (beta t1 d 0)
"""


def test_a_part_begins_above_nothing_and_ends_below_all() -> None:
    assert Credit(1, 2, 1, (2, *[0] * 8, 1, 1)) == credit_of(SCORES[:4])
    capped = run(ALPHA, "t1 a 0", ("choice", 1000, "1"), cap=0)
    assert (1, 0, 0) == credit_of([capped]).parts
    third = run(ALPHA, "t1 a 0", ("choice", 1000, "2999/3000"))  # 999⅔
    assert (0, 1, 0) == credit_of([third]).parts
    assert 1 == credit_of([third]).tenths[9]


def test_as_text() -> None:
    assert TEXT == text_of(sheet(SCORES))


def test_one_agent_has_no_row_of_all() -> None:
    parts, tenths = sheet(SCORES[:4]).tables
    assert ["alpha"] == [row[0] for row in parts.rows] == [row[0] for row in tenths.rows]


def test_the_chart_has_the_shares_as_they_are() -> None:
    (chart,) = sheet(SCORES).charts
    assert isinstance(chart, Stacked)
    assert ("zero", "partial", "full") == chart.parts
    half, third, sixth = Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)
    assert [
        ("alpha", [half / 2, half, half / 2]), ("beta", [0, half, half]), ("all", [sixth, half, third]),
    ] == [*chart.rows]  # fmt: skip


def test_the_document() -> None:
    document = sheet(SCORES).document
    alpha, beta = document["agents"]
    assert ("alpha", 4, {"runs": 2, "exact": [1, 2], "share": "0.5000"}) == (
        alpha["agent"], alpha["runs"], alpha["partial"],
    )  # fmt: skip
    assert {"runs": 0, "exact": 0, "share": "0.0000"} == beta["zero"]
    assert [2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2] == document["all"]["tenths"]
    assert [{"run": "beta t1 d 0", "reason": "so it is"}] == document["left_out"]["invalid"]
    assert [] == document["left_out"]["abandoned"]


def test_of_nothing_nothing_is_said() -> None:
    nothing = sheet([SCORES[6]])
    assert ((), (), ("left out: 1 open (beta t1 c 0)",)) == (nothing.tables, nothing.charts, nothing.notes)
    assert {"runs": 0, "exact": None, "share": None} == nothing.document["all"]["full"]

"""Means of invented scores: by family, role and capability, each with what hangs together."""

from __future__ import annotations

from fractions import Fraction

from panel_scores import ALPHA, BETA, run, worth

from tollbook.scorers.analysis.means import sheet
from tollbook.scorers.analysis.sheet import Dots, text_of
from tollbook.scorers.stats import Interval

SCORES = [
    worth(ALPHA, "t2.x a 0", 1000),
    worth(ALPHA, "t2.x a 1", 600),
    worth(ALPHA, "t2.x b 0", 400),
    worth(ALPHA, "t2.x b 1", 400),
    worth(ALPHA, "t2.y a 0", 0, role="merchant"),
    worth(ALPHA, "t2.y a 1", 200, role="merchant"),
    worth(ALPHA, "t10.z a 0", 500),
    worth(BETA, "t2.x a 0", 300),
]

# t2 of alpha: 2600/6 = 433.33; sums about it 666⅔ of x, −666⅔ of y, shares 2/3 and 1/3:
# SE² = (666.67²·3 + 666.67²·1.5) / 36 = 235.7², times 12.706: to both ends.
# buyer of alpha: 2900/5 = 580; sums 80 of x, −80 of z, shares 4/5 and 1/5:
# SE² = (6400·5 + 6400·1.25) / 25 = 40², times 12.706 = 508.2.
# t2.x of alpha: 600; cases 1600 − 1200 = 400 and −400, shares ½: SE² = 2·160000·2 / 16 = 200²: to both ends.
TEXT = """\
Means by family, role and capability

By family
family  agent  runs  tasks   mean  95 % interval
t2      alpha     6      2  433.3  0.0 to 1000.0
t2      beta      1      1  300.0              –
t10     alpha     1      1  500.0              –

By role
role      agent  runs  tasks   mean   95 % interval
buyer     alpha     5      2  580.0  71.8 to 1000.0
buyer     beta      1      1  300.0               –
merchant  alpha     2      1  100.0               –

By capability
capability  agent  runs  cases   mean  95 % interval
t2.x        alpha     4      2  600.0  0.0 to 1000.0
t2.x        beta      1      1  300.0              –
t2.y        alpha     2      1  100.0              –
t10.z       alpha     1      1  500.0              –

intervals at 95 %: of families and roles over tasks, of capabilities over cases
– where there is one task or case, or none differ: no error shows, and there may be one
"""


def test_as_text() -> None:
    assert TEXT == text_of(sheet(SCORES))


def test_trials_of_a_case_are_no_cases() -> None:
    """Ten trials of each of two cases say no more of other cases than one of each."""
    many = [worth(ALPHA, f"t1.x {case} {trial}", points) for case, points in (("a", 520), ("b", 480))
            for trial in range(10)]  # fmt: skip
    few = [score for score in many if score.trial == 0]
    for scores in (many, few):
        entry = sheet(scores).document["capabilities"][0]
        # ±20 about 500: SE = 20, times 12.706.
        assert (500, "245.880", "754.120", 2) == (
            entry["exact"], entry["low"], entry["high"], entry["cases"],
        )  # fmt: skip


def test_where_nothing_differs_there_is_no_interval() -> None:
    alike = [worth(ALPHA, "t1.x a 0", 500), worth(ALPHA, "t1.y a 0", 500)]
    (family,) = sheet(alike).document["families"]
    assert (500, None, None, 2) == (family["exact"], family["low"], family["high"], family["tasks"])


def test_a_dot_names_its_agent_where_there_are_several() -> None:
    families, roles = sheet(SCORES).charts
    assert isinstance(families, Dots)
    assert ["t2, alpha", "t2, beta", "t10, alpha"] == [label for label, _, _ in families.rows]
    assert (0, 1000) == (families.low, families.high)
    assert ("t2, alpha", Fraction(1300, 3), Interval(Fraction(0), Fraction(1000))) == families.rows[0]
    assert isinstance(roles, Dots)
    alone, _ = sheet(SCORES[:-1]).charts
    assert isinstance(alone, Dots)
    assert ["t2", "t10"] == [label for label, _, _ in alone.rows]


def test_files_that_share_an_id_are_told_apart() -> None:
    changed = worth(ALPHA, "t2.x a 0", 0, task_digest="f" * 64)
    names = [entry["task"] for entry in sheet([*SCORES[:4], changed]).document["capabilities"]]
    assert ["t2.x@ffffffffffff", "t2.x@t2.x:digest"] == names


def test_a_run_without_a_task_comes_last_without_a_name() -> None:
    foreign = run(None, "8 a 0", ("choice", 1000, "1"), task=None, role=None, run="f" * 64)
    families, roles, capabilities = sheet([foreign, *SCORES]).tables
    rows = [families.rows[-1][:2], roles.rows[-1][:2], capabilities.rows[-1][:2]]
    assert [("–", "–")] * 3 == rows
    assert [] == sheet([]).document["families"]

"""Whether results survive other words: by task and agent, trial by trial."""

from __future__ import annotations

from fractions import Fraction

import pytest
from panel_scores import ALPHA, BETA, unscored, worth

from tollbook.scorers.analysis.renderings import sheet
from tollbook.scorers.analysis.sheet import Dots, text_of
from tollbook.scorers.score import Score


def runs(player: str, task: str, **by_rendering: list[int]) -> list[Score]:
    """What an agent is worth in each trial of case `c`, by rendering; `_` is the plain case."""
    return [
        worth(player, f"{task} {'c' if name == '_' else f'c@{name}'} {trial}", points)
        for name, worths in by_rendering.items()
        for trial, points in enumerate(worths)
    ]


# alpha − of a.x: plain − euro are 400, 600, 500: mean 500, SE = 100/√3 = 57.735, ± 4.303 · 57.735 = 248.4.
SCORES = [
    *runs(ALPHA, "a.x", _=[1000, 1000, 900], euro=[600, 400, 400], last=[1000, 1000, 900]),
    *runs(BETA, "a.x", _=[500, 500, 500], euro=[500, 500, 500], last=[500, 500, 500]),
    *runs(ALPHA, "a.y", _=[1000]),
    unscored(runs(BETA, "a.y", euro=[0])[0], "open"),
]

TEXT = """\
Renderings: whether results survive other words

task  agent  renderings  largest difference  pairs   mean   95 % interval  survives
a.x   alpha           3  plain − euro            3  500.0  251.6 to 748.4  no
a.x   beta            3  plain − euro            3    0.0      0.0 to 0.0  yes

By rendering
task  agent  rendering  runs   mean    95 % interval
a.x   alpha  plain         3  966.7  823.2 to 1000.0
a.x   alpha  euro          3  466.7   179.8 to 753.5
a.x   alpha  last          3  966.7  823.2 to 1000.0
a.x   beta   plain         3  500.0                –
a.x   beta   euro          3  500.0                –
a.x   beta   last          3  500.0                –

left out: 1 open (beta a.y c@e)
"""


def test_as_text() -> None:
    assert TEXT == text_of(sheet(SCORES))


def test_tasks_that_were_played_plainly_alone_are_not_looked_at() -> None:
    found = sheet([each for each in SCORES if each.task == "a.y"])
    assert ((), ()) == (found.tables, found.charts)
    assert [] == found.document["rows"]
    assert "no task was played in other words" in found.notes


@pytest.mark.parametrize(
    ("survives", "by_rendering"),
    [
        ("no", {"_": [1000, 900], "a": [0, 0]}),
        ("no", {"_": [500, 500], "a": [500, 500], "b": [600, 600]}),
        ("yes", {"_": [700, 100], "a": [700, 100]}),
        ("yes", {"_": [500, 520] * 20, "a": [520, 500] * 20}),
        ("open", {"_": [500, 900, 100], "a": [900, 100, 500]}),  # too little was played to tell 100 points
        ("open", {"_": [500], "a": [900]}),
        ("open", {"_": [500], "a": [500]}),
        ("open", {"a": [500, 500]}),
        ("open", {"_": [500, 500], "a": [500, 500], "b": []}),
        ("no", {"a": [500, 500], "b": [900, 900]}),
        ("yes", {"a": [500, 700], "b": [500, 700]}),
    ],
)
def test_it_survives_where_a_difference_would_have_been_seen(
    survives: str, by_rendering: dict[str, list[int]]
) -> None:
    scores = runs(ALPHA, "a.x", **by_rendering)
    if "b" in by_rendering and not by_rendering["b"]:
        scores.append(worth(ALPHA, "a.x c@b 9", 500))  # never where another was played
    (row,) = sheet(scores).document["rows"]
    assert survives == row["survives"]


def test_trials_are_compared_one_by_one() -> None:
    plain = {"c 0": 100, "c 1": 900, "d 0": 400}
    other = {"c@a 0": 0, "c@a 1": 800, "d@a 0": 300, "d@a 7": 1000}
    scores = [worth(ALPHA, f"a.x {place}", points) for place, points in {**plain, **other}.items()]
    (row,) = sheet(scores).document["rows"]
    assert (3, 100, "no") == (row["largest"]["pairs"], row["largest"]["exact"], row["survives"])
    assert [3, 4] == [each["places"] for each in row["renderings"]]


def test_a_trial_that_was_played_twice_is_one_place() -> None:
    again = worth(ALPHA, "a.x c 0", 0, run="again")
    scores = [*runs(ALPHA, "a.x", _=[1000, 500], a=[500, 500]), again]
    (row,) = sheet(scores).document["rows"]
    assert (2, 0) == (row["largest"]["pairs"], row["largest"]["exact"])


def test_the_largest_is_farthest_from_nothing_on_either_side() -> None:
    (row,) = sheet(runs(ALPHA, "a.x", _=[500, 500], a=[400, 400], b=[900, 900])).document["rows"]
    assert ("", "b", -400) == (row["largest"]["first"], row["largest"]["second"], row["largest"]["exact"])


def test_the_chart_has_a_dot_for_each_rendering() -> None:
    (chart,) = sheet(SCORES).charts
    assert isinstance(chart, Dots)
    assert ("a.x euro, alpha", Fraction(1400, 3)) == chart.rows[1][:2]
    assert 6 == len(chart.rows)

"""Measures over runs: groups by task and agent, their tables, and what moved since a baseline."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from sittings import Sitting

from tollbook.protocol.bodies import Agent
from tollbook.protocol.errors import ScoreError
from tollbook.scorers import figures, shift
from tollbook.scorers.figures import Group, document, measured_groups
from tollbook.scorers.measures import Key, RunMeasures, counted, market_of, measured
from tollbook.scorers.report import document_of, markdown_of, text_of
from tollbook.scorers.score import Score

F = Fraction
SIX: dict[Any, Any] = dict.fromkeys("123456", "done")


def agent(version: str = "1", name: str = "bidder") -> Agent:
    return Agent(model="", name=name, settings={}, version=version)


def score(revenue: int, profit: int, trial: int, **fields: Any) -> Score:
    """A run of two auctions that brought so much each, and a bidder who was left with so much of them."""
    session = {Key("revenue"): counted(2 * revenue, 2), Key("alpha", 2): counted(3, 1)}
    party = {Key("profit"): counted(profit, 2)}
    plain: dict[str, Any] = {
        "run": f"{trial:02}" + "a" * 62,
        "root": "b" * 64,
        "task": "a.second",
        "task_digest": "c" * 64,
        "case": "two",
        "trial": trial,
        "cluster": "c",
        "custody": "played",
        "checks": SIX,
        "anchored": True,
        "scorer": None,
        "outcome": "scored",
        "reason": None,
        "value": F(1_000),
        "predicates": (),
        "caps": (),
        "defects": (),
        "recorded": None,
        "label": None,
        "agent": agent(),
        "measured": RunMeasures("auction", session, party),
    }
    return Score(**{**plain, **fields})


SCORES = [score(600, 50, 0), score(700, 10, 1), score(500, 30, 2)]


def test_a_figure_is_pooled_over_sessions() -> None:
    (group,) = measured_groups(SCORES)
    told = [(each.of, each.key.text, each.unit, each.value, each.sessions) for each in figures.figures(group)]
    assert [
        ("session", "score", "points", 1_000, 3),
        ("session", "revenue", "minor", 600, 3),
        ("session", "alpha.2", "percent", 3, 3),
        ("party", "profit", "minor", 15, 3),
    ] == told


def test_a_figure_is_of_the_sessions_that_say_something() -> None:
    silent = RunMeasures("auction", {Key("revenue"): counted(0, 0)}, {})
    (group,) = measured_groups([*SCORES, score(0, 0, 3, measured=silent)])
    assert {"score": 4, "revenue": 3, "alpha.2": 3, "profit": 3} == {
        each.key.text: each.sessions for each in figures.figures(group)
    }


def test_runs_in_any_order_give_the_same() -> None:
    assert document(measured_groups(SCORES)) == document(measured_groups(SCORES[::-1]))


def test_tasks_and_agents_are_groups() -> None:
    others = [score(1, 1, 0, task="a.first", task_digest="d" * 64), score(1, 1, 0, agent=agent(name="other"))]
    found = [(group.task, group.label, len(group.sessions)) for group in measured_groups([*SCORES, *others])]
    assert [("a.first", "bidder", 1), ("a.second", "bidder", 3), ("a.second", "other", 1)] == found


def test_the_text_has_a_block_for_each_group() -> None:
    # Each of three sessions is drawn three times in one of 27 resamples: the ends are theirs.
    text = text_of(SCORES, ())
    block = text[text.index("Measures: ") :].split("\n\n", 1)[0]
    assert [
        "Measures: a.second, bidder",
        "measure  unit     of        value     95 % interval  sessions",
        "score    points   session  1000.0  1000.0 to 1000.0         3",
        "revenue  minor    session  600.00  500.00 to 700.00         3",
        "alpha.2  percent  session     3.0        3.0 to 3.0         3",
        "profit   minor    party     15.00     5.00 to 25.00         3",
    ] == block.splitlines()
    assert figures.INTERVALS in text
    assert "## Measures: a.second, bidder\n\n| measure |" in markdown_of(SCORES, ())


def test_a_report_on_runs_without_measures_is_as_ever() -> None:
    plain = [each._replace(measured=None) for each in SCORES]
    assert {"runs", "summary"} == set(document_of(plain, ()))
    assert "easures" not in text_of(plain, ()) + markdown_of(plain, ())
    assert text_of(plain, ()) in {text_of(SCORES, ()).replace(cut, "") for cut in _added(text_of(SCORES, ()))}


def _added(text: str) -> list[str]:
    block = text[text.index("Measures: ") :].split("\n\n", 1)[0]
    return [part for part in (f"{block}\n\n{figures.INTERVALS}\n", f"{block}\n\n") if part in text]


def test_markets_without_measures_have_none() -> None:
    assert (None, None) == (market_of("commerce"), market_of("retail"))
    assert market_of("auction") is not None


def test_a_run_is_measured_for_its_session_and_its_actor() -> None:
    episode = Sitting({"b1": 800, "b2": 600}, format="second_price").moves(800, 600).episode
    found = measured(episode, "b1")
    assert found is not None
    assert ("auction", 600, 200) == (
        found.world,
        found.session[Key("revenue")].value,
        found.party[Key("profit")].value,
    )
    other = measured(episode, "operator")
    assert other is not None
    assert {} == other.party


def kept(scores: list[Score]) -> list[Group]:
    """As a baseline holds them."""
    data = json.dumps({"schema": "tollbook.score/1", **document_of(scores, ())}).encode()
    return shift.read_baseline(data, "base.json")


def shifts(now: list[Score], then: list[Score]) -> dict[str, bool]:
    (found,) = shift.versus(measured_groups(now), kept(then))
    return {each.key.text: each.is_shifted for each in found.shifts}


def test_a_baseline_is_read_as_it_was_measured() -> None:
    assert measured_groups(SCORES) == kept(SCORES)


def test_the_same_results_are_no_shift() -> None:
    assert {"score": False, "revenue": False, "alpha.2": False, "profit": False} == shifts(SCORES, SCORES)


def raised(by: list[int], trials: int = 0, **fields: Any) -> list[Score]:
    """The runs of another version, with so much more revenue in each."""
    revenues = [600, 700, 500]
    return [
        score(revenue + more, 30, trial + trials, agent=agent("2"), **fields)
        for trial, (revenue, more) in enumerate(zip(revenues, by, strict=True))
    ]


def test_a_shift_is_seen_in_pairs_though_sessions_differ_more_than_it() -> None:
    assert shifts(raised([9, 10, 11]), SCORES)["revenue"]


def test_of_other_trials_it_is_not_to_be_told_from_chance() -> None:
    (found,) = shift.versus(measured_groups(raised([9, 10, 11], trials=3)), kept(SCORES))
    assert not found.is_paired
    assert {"revenue": False} == {
        each.key.text: each.is_shifted for each in found.shifts if each.key == Key("revenue")
    }


def test_a_difference_that_may_be_none_is_no_shift() -> None:
    assert not shifts(raised([-40, 10, 50]), SCORES)["revenue"]


def test_one_session_shows_no_shift() -> None:
    (found,) = shift.versus(measured_groups([score(900, 1, 0)]), kept(SCORES[:1]))
    assert {None} == {each.interval for each in found.shifts}


def test_shifts_in_the_report() -> None:
    now = raised([9, 10, 11])
    text = text_of(now, (), kept(SCORES))
    title = "Baseline: a.second, bidder 2 now, bidder 1 kept, 3 and 3 sessions, paired"
    block = text[text.index("Baseline: ") :].split("\n\n", 1)[0].splitlines()
    assert title == block[0]
    assert "revenue  minor    session  600.00  610.00       10.00    9.00 to 11.00  shift" in block
    assert shift.CHANCE in text
    document = document_of(now, (), kept(SCORES))["baseline"]
    assert [True] == [each["shifted"] for each in document["compared"]]
    assert [] == document["not_compared"]


@pytest.mark.parametrize(
    ("expected",                     "fields"),
    [
        ("of its agent",             {"agent": agent(name="other")}),
        ("of the task as it is now", {"task_digest": "d" * 64}),
        ("of the task",              {"task": "a.first", "task_digest": "d" * 64}),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_named(expected: str, fields: dict[str, Any]) -> None:
    now = measured_groups([score(600, 50, 0, **fields)])
    assert [] == shift.versus(now, kept(SCORES))
    (line,) = shift.unmatched(now, kept(SCORES))
    assert line.endswith(f"nothing was kept {expected}")


def test_runs_without_measures_are_compared_with_nothing() -> None:
    assert ["not compared: no run has measures"] == shift.unmatched([], kept(SCORES))


@pytest.mark.parametrize(
    ("code",           "data"),
    [
        ("baseline.form",  b""),
        ("baseline.form",  b"[]"),
        ("baseline.form",  b'{"schema":"tollbook.ls/1","measures":[]}'),
        ("baseline.empty", b'{"schema":"tollbook.score/1","runs":[]}'),
        ("baseline.form",  b'{"schema":"tollbook.score/1","measures":[{}]}'),
        ("baseline.form",  b'{"schema":"tollbook.score/1","measures":' + b"[" * 100_000),
        ("baseline.form",  b"\xff"),
    ],
)  # fmt: skip
def test_what_is_no_baseline(code: str, data: bytes) -> None:
    with pytest.raises(ScoreError, match=r"`base\.json`") as caught:
        shift.read_baseline(data, "base.json")
    assert code == caught.value.code


@pytest.mark.parametrize("text", ["1e999999999", "1/0", "x", "1/", "nan", "", "1" * 2_000])
def test_a_sum_that_is_no_fraction(text: str) -> None:
    data = document_of(SCORES, ())
    data["measures"][0]["sessions"][0]["party"]["profit"][1] = text
    with pytest.raises(ScoreError, match="no document"):
        shift.read_baseline(json.dumps({"schema": "tollbook.score/1", **data}).encode(), "base.json")


def test_measures_that_are_no_more_are_left_out() -> None:
    data = document_of(SCORES, ())
    data["measures"][0]["sessions"][0]["party"]["gone.3"] = ["1", "1"]
    (found,) = shift.read_baseline(json.dumps({"schema": "tollbook.score/1", **data}).encode(), "base.json")
    assert {Key("profit")} == set(found.sessions[0].party)

"""The report on hand-made scores: every number in it can be worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec
import pytest

from tollbook.protocol.bodies import Agent
from tollbook.scorers.predicates import PredicateSet, load
from tollbook.scorers.report import EACH, SMALLEST, document_of, markdown_of, points, text_of
from tollbook.scorers.score import Outcome, Score
from tollbook.scorers.verdict import UNDECIDED, Defect, Flag, Value, Verdict

PREDICATES = load("""
id = "small"
title = "A small | file"
view = 1
[predicate]
bought  = {stage = "execution", weight = 600, expr = "true"}
cheaply = {stage = "choice", weight = 400, expr = "acts.map(a, a.n).sort() == []"}
[cap]
greedy = {expr = "true", points = 250}
""")


YES, NO = True, False


def score(name: str, bought: Value, cheaply: Value | str, **fields: Any) -> Score:
    """A scored run; a text in place of a value is an error."""
    error = cheaply if isinstance(cheaply, str) else None
    verdicts = (
        Verdict("bought", "execution", 600, bought, None, (), ()),
        Verdict("cheaply", "choice", 400, None if isinstance(cheaply, str) else cheaply, error, (), (3,)),
    )
    value = sum((each.weight * each.credit for each in verdicts), Fraction(0))
    capped = bool(fields.pop("capped", False))
    plain: dict[str, Any] = {
        "root": "b" * 64,
        "outcome": "scored",
        "reason": None,
        "value": min(value, Fraction(250)) if capped else value,
        "predicates": verdicts,
        "caps": (Flag("greedy", 250, capped, None),),
        "defects": () if error in (None, UNDECIDED) else (Defect("predicate `cheaply`", error),),
        "recorded": None,
        "label": None,
        "custody": "played",
        "cluster": "t1",
        "anchored": True,
        "task": "t1",
        "task_digest": "c" * 64,
        "case": "first",
        "trial": 0,
    }
    checks: dict[str, Any] = dict.fromkeys("123456", "done")
    return Score(
        run=name * 64, checks=checks, scorer=PREDICATES.digest, **{**plain, **fields},
    )  # fmt: skip


def without(name: str, outcome: Outcome, reason: str) -> Score:
    root = None if outcome == "open" else "b" * 64
    whole = score(name, YES, YES)
    return whole._replace(outcome=outcome, reason=reason, value=None, predicates=(), caps=(), root=root)


SCORES = [
    score("1", YES, YES, recorded=Fraction(1), custody="imported", anchored=False),
    score("2", YES, (1, 3), recorded=Fraction(1), label="called t9, graded as t1", cluster="t2", task="t2"),
    score("3", YES, "divide by zero"),
    score("4", YES, NO, capped=True, cluster="t3", task="t3"),
    score("5", NO, UNDECIDED, outcome="undecided", reason="a part", value=None),
    without("6", "open", "the run is not sealed"),
    without("7", "abandoned", "the run was given up"),
    without("8", "invalid", "check 2 failed: signature.invalid, the message is not signed"),
]

# With open and abandoned runs at 0: 1000, 600, 0, 0 of t1, 733⅓ of t2, 250 of t3. Sums about the mean
# 430.556 are −122.222, 302.778, −180.556, shares of runs 2/3, 1/6, 1/6:
# SE² = (14938/(1/3) + 91674/(5/6) + 32600/(5/6)) / 36, SE = 73.40; 1/d = 1/2 + 9/50 = 0.68,
# t = 4.303 + (0.68 − 0.5) / 0.5 · 8.403 = 7.328: ± 537.9.
# The other intervals reach beyond what a score can be.
TEXT = f"""\
run           task  case       score  recorded  remark
111111111111  t1    first       1000      1000
222222222222  t2    first    733.333      1000  differs; called t9, graded as t1
333333333333  t1    first        600         –
444444444444  t3    first        250         –
555555555555  t1    first  undecided         –
666666666666  t1    first       open         –
777777777777  t1    first  abandoned         –
888888888888  t1    first    invalid         –

8 runs opened, 7 sealed, 4 scored, 4 left out
mean score: 645.8 of 1000, 95 % interval 0.0 to 1000.0, 4 runs of 3 tasks
without runs in which a predicate was in error: 661.1 of 1000, 95 % interval 0.0 to 1000.0, 3 runs of 3 tasks
with open and abandoned runs at 0: 430.6 of 1000, 95 % interval 0.0 to 968.4, 6 runs of 3 tasks
at full marks: 1 of 4, 95 % interval 0.046 to 0.699
agreement with the recorded reward: 1 of 2

predicate        stage      weight  held  in part  failed  error  undecided
bought           execution     600     4        0       1      0          0
cheaply (local)  choice        400     1        1       1      1          1

left out: {"5" * 64} is undecided: a part
left out: {"6" * 64} is open: the run is not sealed
left out: {"7" * 64} is abandoned: the run was given up
left out: {"8" * 64} is invalid: check 2 failed: signature.invalid, the message is not signed
differs from the recorded reward: {"2" * 64}
defect: predicate `cheaply`: divide by zero, in 1 run, first {"3" * 64}
cap `greedy`, at most 250: 1 run
label: 1 run called other than they were graded
points lost on average: choice 266.7
1 of 2 predicates are local: they use more than the portable core
signatures of imported runs prove custody since the import, not authorship (1 of 8 runs)
unanchored: no checkpoint or pinned key from outside, so a cut tail can't be seen (1 of 8 runs)
intervals at 95 %: means by Student's t over tasks, shares by Wilson's score
scorer {PREDICATES.digest}
"""


def test_as_text() -> None:
    assert TEXT == text_of(SCORES, [PREDICATES])


def test_as_markdown() -> None:
    lines = markdown_of(SCORES, [PREDICATES]).splitlines()
    assert ["# A small \\| file", "", "- 8 runs opened, 7 sealed, 4 scored, 4 left out"] == lines[:3]
    assert "| predicate | stage | weight | held | in part | failed | error | undecided |" in lines
    assert "| --- | --- | --: | --: | --: | --: | --: | --: |" in lines
    assert "| cheaply (local) | choice | 400 | 1 | 1 | 1 | 1 | 1 |" in lines
    assert "| 222222222222 | t2 | first | 733.333 | 1000 | differs; called t9, graded as t1 |" in lines
    assert f"- left out: {'6' * 64} is open: the run is not sealed" in lines
    assert [] == [line for line in lines if not line.isprintable()]


def test_as_json() -> None:
    document = msgspec.json.decode(msgspec.json.encode(document_of(SCORES, [PREDICATES])))
    runs, summary = document["runs"], document["summary"]
    assert [1000, [2200, 3], 600, 250, None, None, None, None] == [run["score"] for run in runs]
    fields = ["run", "task", "case", "score", "predicates", "recorded", "agrees", "label"]
    assert [fields] * 8 == [list(run) for run in runs]
    assert (8, 7, 4) == (summary["opened"], summary["sealed"], summary["scored"])
    assert {
        "undecided": ["5" * 64], "open": ["6" * 64], "abandoned": ["7" * 64], "invalid": ["8" * 64],
    } == {outcome: [run["run"] for run in left] for outcome, left in summary["left_out"].items()}  # fmt: skip
    assert {
        "exact": [3875, 6], "mean": "645.833", "low": "0.000", "high": "1000.000", "runs": 4, "tasks": 3,
    } == summary["mean"]  # fmt: skip
    assert [[5950, 9], [3875, 9]] == [
        summary["mean_without_errors"]["exact"], summary["mean_with_unscored_at_0"]["exact"],
    ]  # fmt: skip
    assert {"part": 1, "whole": 4, "share": "0.2500", "low": "0.0456", "high": "0.6994"} == summary["full"]
    assert {"compared": 2, "agree": 1, "disagree": ["2" * 64]} == summary["recorded"]
    assert ["0.8000", "0.3333"] == [row["credit"] for row in summary["predicates"]]
    assert [False, True] == [row["local"] for row in summary["predicates"]]
    assert "266.667" == summary["lost"]["choice"]
    assert [("greedy", ["4" * 64])] == [(cap["name"], cap["runs"]) for cap in summary["caps"]]
    (defect,) = summary["defects"]
    assert ("predicate `cheaply`", "divide by zero", ["3" * 64]) == tuple(defect.values())
    assert (1, 1) == (summary["labelled"], summary["imported"])


def played(name: str, *trials: str) -> list[Score]:
    """Two trials of each of five tasks: `+` at full marks, `-` with 600, `.` open."""
    player = Agent(model="", name=name, settings={}, version="")
    found: list[Score] = []
    for task, marks in enumerate(trials, 1):
        at = {"task": f"t{task}", "cluster": f"t{task}", "task_digest": str(task) * 64, "agent": player}
        for trial, mark in enumerate(marks):
            run = f"{name[0]}{task}{trial}"
            whole = score(run, YES, mark == "+", **at, trial=trial)
            found.append(whole if mark != "." else whole._replace(
                outcome="open", reason="it goes on", value=None, predicates=(), caps=(), root=None))
    return found


ALPHA = played("alpha", "++", "+-", "--", "++", "-+")
BETA = played("beta", "--", "--", "--", "+-", "-.")

# 840: sums 320, −80, −480, 320, −80, SE² = 5/4 · 448000 / 100, t(4) = 2.776: ± 207.7.
# 644.4: sums −88.9 three times, 311.1, −44.4, shares 2/9 and 1/9:
# SE² = (120494·9/7 + 1975·9/8) / 81 = 44.05²; 1/d = 17/81 + 0.0554 = 0.2653, t = 2.851: ± 125.6.
# 580: SE² = 5/4 · 512000 / 100 = 80²: ± 222.1.
# pass@1 0.6 of 1 ½ 0 1 ½: SE² = 0.7/20: ± 0.519. 0.1 of 0 0 0 ½ 0: SE = 0.1: ± 0.278; and so on.
# 400 400 | 400 0 | 0 0 | 0 400 | 0: mean 177.8, sums 444.4, 44.4, −355.6, 44.4, −177.8:
# SE² = (327901·9/7 + 31605·9/8) / 81 = 75.12², t = 2.851: ± 214.1; t₈₀ = 0.948: 3.798 · 75.12.
# With 1000 for the open one: mean 260, SE² = 5/4 · 608000 / 100 = 87.18²: ± 242.0, 3.717 · 87.18.
COMPARED = """\
alpha: 10 runs opened, 10 sealed, 10 scored, 0 left out
beta: 10 runs opened, 9 sealed, 9 scored, 1 left out

agent  over                  runs  tasks   mean    95 % interval
alpha  scored runs             10      5  840.0  632.3 to 1000.0
beta   scored runs              9      5  644.4   518.9 to 770.0
beta   open, abandoned at 0    10      5  580.0   357.9 to 802.1

agent  over                  cells  tasks  k  pass@k   95 % interval  pass^k   95 % interval
alpha  scored runs               5      5  1   0.600  0.081 to 1.000   0.600  0.081 to 1.000
alpha  scored runs               5      5  2   0.800  0.245 to 1.000   0.400  0.000 to 1.000
beta   scored runs               5      5  1   0.100  0.000 to 0.378   0.100  0.000 to 0.378
beta   open, abandoned at 0      5      5  1   0.100  0.000 to 0.378   0.100  0.000 to 0.378
beta   open, abandoned at 0      5      5  2   0.200  0.000 to 0.755   0.000               –

difference    over                  pairs  tasks   mean   95 % interval  smallest gap
alpha − beta  scored runs               9      5  177.8  -36.4 to 391.9         285.4
alpha − beta  open, abandoned at 0     10      5  260.0   18.0 to 502.0         324.0
"""
COMPARED_REMARKS = """\
unpaired, alpha − beta: t5@555555555555 first trial 1, beta is open
beta, scored runs: k ends at 1, the fewest trials, of t5@555555555555 first
smallest gap: told from 0 in 80 % of repetitions, two-sided at 5 %; beyond 1000 none is
left out: """


@pytest.mark.parametrize("scores", [[*ALPHA, *BETA], [*BETA[::-1], *ALPHA[::-1]]], ids=["there", "back"])
def test_agents_are_compared_in_any_order(scores: list[Score]) -> None:
    text = text_of(scores, [PREDICATES])
    assert COMPARED in text
    assert COMPARED_REMARKS in text


def test_what_is_never_paired_is_said_once() -> None:
    text = text_of([*ALPHA, *BETA[1:]], [PREDICATES])
    assert 1 == text.count("unpaired, alpha − beta: t1@111111111111 first trial 0, no run of beta\n")
    assert 2 == text.count("unpaired")


def test_one_agent_adds_its_trials_alone() -> None:
    text = text_of(ALPHA, [PREDICATES])
    before, table, after = text.split("\n\n")[1:4]
    assert "at full marks: 6 of 10, 95 % interval 0.313 to 0.832" == before.splitlines()[-1]
    assert [
        "agent  over         cells  tasks  k  pass@k   95 % interval  pass^k   95 % interval",
        "alpha  scored runs      5      5  1   0.600  0.081 to 1.000   0.600  0.081 to 1.000",
    ] == table.splitlines()[:2]
    assert after.startswith("predicate")
    assert "unpaired" not in text
    once = [score for score in ALPHA if score.trial == 0]
    unnamed = [score._replace(agent=None) for score in once]
    assert text_of(unnamed, [PREDICATES]) == text_of(once, [PREDICATES])
    assert "pass@k" not in text_of(once, [PREDICATES])


def test_agents_in_markdown() -> None:
    lines = markdown_of([*ALPHA, *BETA], [PREDICATES]).splitlines()
    titles = ["## Agents", "## Trials", "## Differences", "## Predicates", "## Runs", "## Remarks"]
    assert titles == [line for line in lines if line.startswith("##")]
    assert "- beta: 10 runs opened, 9 sealed, 9 scored, 1 left out" in lines
    assert "| beta | open, abandoned at 0 | 10 | 5 | 580.0 | 357.9 to 802.1 |" in lines
    assert "| beta | scored runs | 5 | 5 | 1 | 0.100 | 0.000 to 0.378 | 0.100 | 0.000 to 0.378 |" in lines
    assert "| alpha − beta | scored runs | 9 | 5 | 177.8 | -36.4 to 391.9 | 285.4 |" in lines
    assert "- unpaired, alpha − beta: t5@555555555555 first trial 1, beta is open" in lines
    assert "## Trials" not in markdown_of(SCORES, [PREDICATES])


def test_agents_in_json() -> None:
    summary = document_of([*ALPHA, *BETA], [PREDICATES])["summary"]
    assert ["alpha", "beta"] == [agent["label"] for agent in summary["agents"]]
    assert ["alpha", "beta", "beta"] == [trials["label"] for trials in summary["trials"]]
    assert ["177.778", "260.000"] == [gap["mean"] for gap in summary["differences"]]
    assert SMALLEST in summary["notes"]
    alone = document_of(ALPHA[::2], [PREDICATES])["summary"]
    assert set(alone) == set(summary) - {"agents", "trials", "differences"}
    assert SMALLEST not in alone["notes"]


def test_of_many_agents_it_is_said_which_are_compared() -> None:
    many = [each for name in "edcba" for each in played(name, "++")]
    only = "of more than 4 agents each is compared with the next below by its mean"
    assert only in text_of(many, [PREDICATES]).splitlines()
    assert EACH in text_of(many, [PREDICATES]).splitlines()
    assert only not in text_of(many[2:], [PREDICATES])
    assert EACH not in text_of(many[6:], [PREDICATES])


def test_an_agents_name_stays_in_its_cell() -> None:
    hostile = Agent(model="", name="a | b\n# `c`", settings={}, version="")
    scores = [*ALPHA, *(each._replace(agent=hostile) for each in BETA)]
    lines = markdown_of(scores, [PREDICATES]).splitlines()
    (row,) = [line for line in lines if line.startswith("| a \\| b") and " 644.4 " in line]
    assert "a \\| b\\\\n\\# \\`c\\`" in row
    assert all(line.isprintable() for line in text_of(scores, [PREDICATES]).splitlines())


def test_conduct_that_was_not_checked_is_said() -> None:
    checks: Any = {**dict.fromkeys("12345", "done"), "6": "not done"}
    assert "conduct unchecked" in text_of([SCORES[0]._replace(checks=checks)], [PREDICATES])
    assert "conduct unchecked" not in text_of(SCORES, [PREDICATES])


def test_invalid_and_undecided_runs_are_in_no_mean() -> None:
    alone = document_of(SCORES[:1], [PREDICATES])["summary"]
    among = document_of([SCORES[0], SCORES[4], SCORES[7]], [PREDICATES])["summary"]
    assert alone["mean"] == among["mean"]
    assert among["mean_with_unscored_at_0"] is None


@pytest.mark.parametrize("scores", [[], SCORES[4:]])
def test_no_score_at_all(scores: list[Score]) -> None:
    summary = document_of(scores, [PREDICATES])["summary"]
    assert (None, 0) == (summary["mean"], summary["full"]["whole"])
    assert f"{len(scores)} runs opened" in text_of(scores, [PREDICATES])
    assert f"{len(scores)} runs opened" in markdown_of(scores, [PREDICATES])


def test_what_comes_from_outside_stays_in_its_cell() -> None:
    hostile = SCORES[0]._replace(label="a | b\n# c `d` <e> [f](g) _h_ *i*", task="|`x`", case="[y](z)")
    lines = markdown_of([hostile], [PREDICATES]).splitlines()
    (row,) = [line for line in lines if line.startswith("| 111111111111")]
    cells = row.replace("\\|", "").strip("| ").split("|")
    assert 6 == len(cells)
    assert all(character not in row.replace(f"\\{character}", "") for character in "`<>[]*_#")
    assert [] == [line for line in text_of([hostile], [PREDICATES]).splitlines() if not line.isprintable()]


def test_scores_of_another_predicate_set_are_our_own_bug() -> None:
    other = PredicateSet("x", PREDICATES.predicates)
    with pytest.raises(AssertionError):
        text_of(SCORES, [other])


def test_points() -> None:
    values = [Fraction(each) for each in ("1000", "0", "1000/3", "2000/3")]
    assert ["1000", "0", "333.333", "666.667"] == [points(value) for value in values]

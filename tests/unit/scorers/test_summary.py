"""Which runs a mean is over, each way once; the numbers themselves are tested with the report."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tollbook.scorers.score import Score
from tollbook.scorers.summary import Mean, bases, mean_of, values_of
from tollbook.scorers.verdict import UNDECIDED, Verdict


def score(name: str, outcome: Any = "scored", error: str | None = None) -> Score:
    checks: Any = dict.fromkeys("123456", "done")
    verdict = Verdict("p", "choice", 1000, None if error else True, error, (), ())
    return Score(
        run=name, root=None, task="t", task_digest="d", case="c", trial=0, cluster="d", custody="played",
        checks=checks, anchored=True, scorer="s", outcome=outcome, reason=None,
        value=Fraction(500) if outcome == "scored" else None, predicates=(verdict,), caps=(), defects=(),
        recorded=None, label=None,
    )  # fmt: skip


PLAIN, WRONG = score("plain"), score("wrong", error="no such key")
OPEN, GIVEN_UP = score("open", "open"), score("given up", "abandoned")
NEVER = [score("invalid", "invalid"), score("undecided", "undecided", UNDECIDED)]


@pytest.mark.parametrize(
    ("scored", "without_errors", "with_unscored_at_0", "scores"),
    [
        ("",            None,    None,                  []),
        ("plain",       None,    None,                  [PLAIN, *NEVER]),
        ("plain wrong", "plain", None,                  [PLAIN, WRONG]),
        ("wrong",       "",      None,                  [WRONG]),
        ("plain",       None,    "plain open given up", [OPEN, PLAIN, GIVEN_UP]),
        ("",            None,    "open",                [OPEN, *NEVER]),
        ("plain wrong", "plain", "plain wrong open",    [PLAIN, OPEN, WRONG]),
    ],
)  # fmt: skip
def test_a_way_that_takes_the_same_runs_is_left_away(
    scored: str, without_errors: str | None, with_unscored_at_0: str | None, scores: list[Score]
) -> None:
    ways = {"scored": scored, "without_errors": without_errors, "with_unscored_at_0": with_unscored_at_0}
    found = {basis: " ".join(score.run for score in runs) for basis, runs in bases(scores).items()}
    assert {basis: names for basis, names in ways.items() if names is not None} == found


def test_a_run_without_a_score_is_0() -> None:
    assert [500, 0] == values_of([PLAIN, OPEN])
    assert Mean(Fraction(250), None, 2, 1) == mean_of([PLAIN, OPEN])
    assert None is mean_of([])


def test_the_document_of_a_mean() -> None:
    assert {
        "exact": [1000, 3], "mean": "333.333", "low": None, "high": None, "runs": 3, "tasks": 1,
    } == Mean(Fraction(1000, 3), None, 3, 1).document()  # fmt: skip

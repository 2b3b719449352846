"""Scores of runs that nobody played, for the analyses: what each is worth follows from what is said of it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tollbook.protocol.bodies import Agent
from tollbook.scorers.predicates import Stage
from tollbook.scorers.projection import Projections
from tollbook.scorers.score import Outcome, Score
from tollbook.scorers.verdict import UNDECIDED, Flag, Value, Verdict

Said = tuple[Stage, int, str]
"""A predicate's stage, weight and credit; `?` is undecided, `!` an error."""

ALPHA, BETA, GAMMA = "alpha", "beta", "gamma"


def run(player: str | None, place: str, *said: Said, cap: int | None = None, **fields: Any) -> Score:
    """A scored run at `task case trial`; ``cap`` is the points of a cap that is true."""
    task, case, trial = place.split()
    verdicts = tuple(_verdict(number, *each) for number, each in enumerate(said))
    points = sum((each.weight * each.credit for each in verdicts), Fraction(0))
    plain: dict[str, Any] = {
        "run": f"{player} {place}",
        "task": task,
        "task_digest": f"{task}:digest",
        "cluster": f"{task}:digest",
        "agent": None if player is None else Agent(model="", name=player, settings={}, version=""),
        "role": "buyer",
        "checks": dict.fromkeys("123456", "done"),
    }
    return Score(
        root="b", case=case, trial=int(trial), custody="played", anchored=True, scorer="s",
        outcome="scored", reason=None, value=points if cap is None else min(points, Fraction(cap)),
        predicates=verdicts, caps=(Flag("greedy", cap or 0, cap is not None, None),),
        defects=(), recorded=None, label=None, **{**plain, **fields},
    )  # fmt: skip


def worth(player: str | None, place: str, points: int, **fields: Any) -> Score:
    """A run of one predicate that is worth so much."""
    return run(player, place, ("choice", 1000, f"{points}/1000"), **fields)


def unscored(score: Score, outcome: Outcome) -> Score:
    """The run without its score."""
    return score._replace(outcome=outcome, reason="so it is", value=None, predicates=(), caps=())


def seen(final: str, last: str = "", acts: str = "", trace: str | None = "") -> Projections:
    """A run's projections; those that are left out are as the one before."""
    last = last or final
    acts = acts or last
    return Projections(final, last, acts, acts if trace == "" else trace)


def _verdict(number: int, stage: Stage, weight: int, credit: str) -> Verdict:
    errors = {"?": UNDECIDED, "!": "no such key"}
    value: Value = None if credit in errors else _value(Fraction(credit))
    return Verdict(f"p{number}", stage, weight, value, errors.get(credit), (), ())


def _value(credit: Fraction) -> Value:
    return credit == 1 if credit in (0, 1) else credit.as_integer_ratio()

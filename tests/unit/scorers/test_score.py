"""The score of a run: each outcome, and nothing judged that wasn't verified."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from small_run import AGENT, begin, ledger, small_run

from tollbook.ledger.audit import Audit
from tollbook.ledger.findings import Finding
from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.protocol.bodies import Agent, Outcome
from tollbook.scorers.predicates import PredicateSet, load
from tollbook.scorers.score import Score, exact, score_run, standing
from tollbook.scorers.view import Answers, View, Withheld, case_view

PREDICATES = load("""
id = "cancel"
view = 1
[oracle]
n = "what it takes"
[predicate]
one_third = {stage = "choice", weight = 400, expr = "[oracle.n, 3]"}
[predicate.cancelled]
stage  = "execution"
weight = 600
expr   = "events.order.cancelled.size() == 1"
seqs   = "acts.map(a, a.seq)"
""")


def audited(path: Path, outcome: Outcome | None = "completed", **settings: bool) -> Audit:
    with ledger(path / "a.db") as store:
        if outcome is None:
            writer = begin(store)
            writer.brief("user", "nothing happens")
            writer.flush()
        else:
            small_run(store, outcome=outcome)
        ((run, run_id),) = store.runs()
        return audit_run(store, run, run_id, shelf_of(store), keep=True, **settings)


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return audited(tmp_path_factory.mktemp("score"))


def view_of(audit: Audit, predicates: PredicateSet = PREDICATES, n: Any = 1) -> View:
    return case_view(audit, "assistant", Answers(oracle={"n": n}), predicates.reads)


def test_a_scored_run(audit: Audit) -> None:
    score = score_run(audit, PREDICATES, view_of(audit))
    assert ("scored", None) == (score.outcome, score.reason)
    assert Fraction(600 + Fraction(400, 3)) == score.value
    assert (audit.run, audit.root) == (score.run, score.root)
    assert ("cancel", "first", 0) == (score.task, score.case, score.trial)
    assert (PREDICATES.digest, "played") == (score.scorer, score.custody)
    assert (score.task_digest, False) == (score.cluster, score.conduct_checked)


def test_the_fields_of_a_run_in_json(audit: Audit) -> None:
    score = score_run(audit, PREDICATES, view_of(audit), recorded=Fraction(1, 2), label="called otherwise")
    document = score.document()
    seqs = document["predicates"][1].pop("seqs")
    assert {
        "run": audit.run,
        "task": "cancel",
        "case": "first",
        "score": [2200, 3],
        "predicates": [
            {"id": "one_third", "stage": "choice", "weight": 400, "value": (1, 3), "error": None, "seqs": ()},
            {"id": "cancelled", "stage": "execution", "weight": 600, "value": True, "error": None},
        ],
        "recorded": {"reward": 0.5},
        "agrees": False,
        "label": "called otherwise",
    } == document
    assert len(seqs) > 2


def test_an_undecided_run(audit: Audit) -> None:
    score = score_run(audit, PREDICATES, view_of(audit, n=Withheld.PART), recorded=Fraction(1))
    assert ("undecided", "what is not in the file leaves open: one_third") == (score.outcome, score.reason)
    assert (None, None) == (score.value, score.agrees)
    assert "part.withheld" == score.predicates[0].error


@pytest.mark.parametrize("ended", ["completed", "turn_limit", "agent_stopped", "agent_failed"])
def test_a_run_that_its_actor_ended_is_scored(tmp_path: Path, ended: Outcome) -> None:
    audit = audited(tmp_path, ended)
    assert "scored" == score_run(audit, PREDICATES, view_of(audit)).outcome


@pytest.mark.parametrize(
    ("outcome", "reason", "make"),
    [
        ("open",      "the run is not sealed",     lambda path: audited(path, None)),
        ("abandoned", "the run was given up",      lambda path: audited(path, "abandoned")),
        ("invalid",   "check 2 was not done",      lambda path: audited(path, signatures=False)),
    ],
)  # fmt: skip
def test_outcomes_without_a_score(
    tmp_path: Path, outcome: str, reason: str, make: Callable[[Path], Audit]
) -> None:
    score = score_run(make(tmp_path), PREDICATES, None, recorded=Fraction(1))
    assert (outcome, reason, None, (), None) == (
        score.outcome, score.reason, score.value, score.predicates, score.agrees,
    )  # fmt: skip
    assert None is score.document()["score"]


@pytest.mark.parametrize("check", ["1", "2", "3", "4", "5", "6"])
def test_a_run_that_fails_a_check_is_invalid_and_not_judged(audit: Audit, check: str) -> None:
    codes = {"1": "record.prev", "2": "signature.invalid", "3": "decision.differs", "4": "seal.root",
             "5": "checkpoint.missing", "6": "source.differs"}  # fmt: skip
    finding = Finding(audit.run, 3, codes[check], "it is not so")
    failed = audit._replace(checks={**audit.checks, check: "failed"}, findings=[finding])
    score = score_run(failed, PREDICATES, View({"not": "looked at"}))
    assert ("invalid", f"check {check} failed: {codes[check]}, it is not so") == (score.outcome, score.reason)
    assert (None, ()) == (score.value, score.predicates)


@pytest.mark.parametrize("check", ["1", "2", "3", "4", "5"])
def test_a_check_that_was_not_done_was_not_passed(audit: Audit, check: str) -> None:
    assert ("invalid", f"check {check} was not done") == standing(
        audit._replace(checks={**audit.checks, check: "not done"})
    )


def test_an_open_run_that_fails_is_invalid(audit: Audit) -> None:
    failed = audit._replace(outcome=None, checks={**audit.checks, "3": "failed", "4": "not done",
         "5": "not done"})
    assert ("invalid", "check 3 failed") == standing(failed)


def test_a_run_of_which_nothing_could_be_read(audit: Audit) -> None:
    nothing = audit._replace(replayed=None, root=None, outcome=None,
         checks=dict.fromkeys(audit.checks, "not done"))
    score: Score = score_run(nothing, PREDICATES, None)
    assert ("invalid", None, None, audit.run) == (score.outcome, score.task, score.trial, score.cluster)
    assert None is score_run(nothing, PREDICATES, None, actor="assistant").agent


@pytest.mark.parametrize(
    ("agrees", "value", "recorded"),
    [
        (True, Fraction(1_000), Fraction(1)),
        (True, Fraction(0), Fraction(0)),
        (True, Fraction(1_000, 3), Fraction(1, 3)),
        (False, Fraction(1_000, 3), Fraction(333, 1_000)),
        (False, Fraction(0), Fraction(1)),
        (None, Fraction(0), None),
        (None, None, Fraction(1)),
    ],
)  # fmt: skip
def test_agreement(
    audit: Audit, *, agrees: bool | None, value: Fraction | None, recorded: Fraction | None
) -> None:
    score = score_run(audit, PREDICATES, view_of(audit), recorded=recorded)
    assert agrees is score._replace(value=value).agrees


def test_a_task_of_ones_own(audit: Audit) -> None:
    assert "others" == score_run(audit, PREDICATES, view_of(audit), cluster="others").cluster


@pytest.mark.parametrize(
    ("agent", "actor"), [(AGENT, "assistant"), (None, "nobody"), (None, None)]
)  # fmt: skip
def test_the_agent_is_what_played_the_actor(audit: Audit, agent: Agent | None, actor: str | None) -> None:
    assert agent == score_run(audit, PREDICATES, view_of(audit), actor=actor).agent


def test_a_run_that_must_not_be_judged_still_has_its_agent(tmp_path: Path) -> None:
    assert AGENT == score_run(audited(tmp_path, None), PREDICATES, None, actor="assistant").agent


def test_exact() -> None:
    assert [0, 1000, [1, 3], [2500, 3]] == [exact(Fraction(text)) for text in ("0", "1000", "1/3", "2500/3")]

"""Played runs exported with and without their parts: what is scored as before, and what is undecided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from small_run import exported
from small_task import ledger_on, store_at

from tollbook.ledger.audit import Audit
from tollbook.ledger.verify import verify_bundle
from tollbook.scorers.predicates import Predicate, PredicateSet
from tollbook.scorers.score import Score
from tollbook.scorers.verdict import UNDECIDED, judge
from tollbook.scorers.view import Answers, View, case_view
from tollbook.tasks.format.task import Task, load_task
from tollbook.tasks.judging import Judge
from tollbook.tasks.play.policies import PolicyAgent
from tollbook.tasks.play.recorder import record
from tollbook.tasks.shelf import find_task

BARGAIN, REFUND, UNREAD = "t4.buyer_zopa", "t7.merchant_refund", "t1.hard_constraint_filtering"


class Both(NamedTuple):
    """A run as it was kept, and as a stranger has it who was given no texts."""

    whole: Audit
    cut: Audit


def task_of(name: str) -> Task:
    return load_task(find_task(name).text)


def agents(task: Task, case: str) -> Iterator[PolicyAgent]:
    yield PolicyAgent("reference", task.reference)
    for name, mutation in task.mutations.items():
        if case in mutation.cases:
            yield PolicyAgent(name, mutation.policy, lenient=True)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Both]]:
    """The runs of a task's references and mutations in every case, exported twice."""
    made: dict[str, list[Both]] = {}
    for name in (BARGAIN, REFUND, UNREAD):
        folder, task = tmp_path_factory.mktemp("withheld"), task_of(name)
        with store_at(folder / "a.db") as store:
            for case in task.file.case:
                for trial, agent in enumerate(agents(task, case)):
                    record(ledger_on(store), task, case, trial, agent)
            whole = exported(store).write(folder / "whole.jsonl")
            cut = exported(store, withhold=True).write(folder / "cut.jsonl")
        pairs = zip(verify_bundle(whole, keep=True), verify_bundle(cut, keep=True), strict=True)
        made[name] = [Both(*pair) for pair in pairs]
    return made


def scored(audit: Audit) -> Score:
    return Judge().score(audit)


def values(score: Score) -> dict[str, object]:
    return {verdict.id: verdict.value for verdict in score.predicates}


def test_what_asks_for_no_text_is_scored_as_before(runs: dict[str, list[Both]]) -> None:
    values_seen: set[object] = set()
    for whole, cut in runs[UNREAD]:
        one, other = scored(whole), scored(cut)
        assert whole.withheld == 0 < cut.withheld
        assert (one.value, one.predicates, one.caps, one.defects) == (
            other.value, other.predicates, other.caps, other.defects
        )  # fmt: skip
        values_seen.add(one.value)
    assert len(values_seen) > 2


def test_what_asks_for_figures_of_texts_is_undecided_and_nothing_else_is(runs: dict[str, list[Both]]) -> None:
    for whole, cut in runs[BARGAIN]:
        one, other = scored(whole), scored(cut)
        private = next(verdict for verdict in other.predicates if verdict.id == "limit_kept_private")
        assert {**values(one), "limit_kept_private": private.value} == values(other)
        assert () == other.defects
        # It reads `figures`, so it is open even where an offer gives the limit away.
        assert ((UNDECIDED, None), "undecided", None) == (
            (private.error, private.value), other.outcome, other.value
        )  # fmt: skip
    assert 19 == len(runs[BARGAIN])


def view_of(audit: Audit, actor: str) -> View:
    return case_view(audit, actor, Answers())


@pytest.mark.parametrize(
    ("undecided", "expr"),
    [
        (True,  "did.refund.deny.all(d, d.reason != '')"),
        (True,  "acts.exists(a, a.kind == 'refund.deny' && a['reason'] == 'no')"),
        (True,  "heard.refund.open.exists(h, h.text.contains('refund'))"),
        (True,  "heard.refund.open.exists(h, 8000 in h.figures)"),
        (True,  "did.refund.deny.exists(d, has(d.reason))"),
        (True,  "did.refund.deny.exists(d, d.?reason.orValue('') == 'no')"),
        (True,  "did.refund.deny.exists(d, d.exists(k, v, v == 'no'))"),
        (True,  "did.refund.deny.exists(d, d[oracle.field] == 'no')"),
        (True,  "'%s'.format([did.refund.deny]).contains('no')"),
        (True,  "cel.bind(f, did.refund.deny.map(d, d.reason), f == [])"),
        (False, "did.refund.deny == []"),
        (False, "did.refund.deny.all(d, d.seq > 0 && d.ok)"),
        (False, "heard.refund.open.exists(h, h.amount == 8000)"),
        (False, "final.refund_case.exists(r, r.state != '')"),
        (False, "events.refund.opened.size() == 1"),
        (False, "acts.all(a, a.result == null || true)"),
        (False, "case.id == 'part_refunded'"),
    ],
)  # fmt: skip
def test_which_expressions_hang_on_texts(
    runs: dict[str, list[Both]], *, undecided: bool, expr: str
) -> None:
    """Over a run that was heard and answered in texts: a denial, with its reason."""
    predicates = PredicateSet("x", {"p": Predicate("choice", 1_000, expr)}, oracle={"field": ""})
    views = [[view_of(audit, "merchant") for audit in both] for both in runs[REFUND]]
    denied = next(both for both in views if both[0].document["did"]["refund"]["deny"])
    (whole,), (cut,) = (judge(predicates, view).verdicts for view in denied)
    assert undecided == cut.undecided
    assert undecided or whole.value == cut.value


def test_briefs_and_mandates_are_no_part_of_a_view(runs: dict[str, list[Both]]) -> None:
    """What a party alone was told comes from the task, so nothing is open where its part isn't there."""
    for whole, cut in runs[BARGAIN]:
        assert whole.withheld == 0 < cut.withheld
        names = view_of(cut, "buyer").withheld
        assert {"acts", "did", "heard"} == {*names, "did", "acts", "heard"}
        assert all(fields <= {"note", "reason", "text", "figures"} for fields in names.values())

"""Renderings of auctions: the rules are the same in all of them, and what reads words is found out.

A baseline bids the same in all; an agent that goes by the order of what it is offered doesn't, and is told.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from played_run import builtin
from small_task import Says, ledger_on

from tollbook.protocol.bodies import Agent as Stated
from tollbook.scorers.analysis.renderings import sheet
from tollbook.scorers.score import Score
from tollbook.tasks.format.read import read
from tollbook.tasks.format.rendering import cases_of
from tollbook.tasks.format.task import Task
from tollbook.tasks.judging import Judge
from tollbook.tasks.play.agent import Agent, Answer, Asked, Setup
from tollbook.tasks.play.baselines import baseline, company
from tollbook.tasks.play.casting import Part, cast
from tollbook.tasks.play.conduct import remember
from tollbook.tasks.play.desk import DryDesk
from tollbook.tasks.play.lines import turn_line
from tollbook.tasks.play.play import Play, setup_of
from tollbook.tasks.play.policies import PolicyAgent
from tollbook.tasks.play.recorder import Recorded, record
from tollbook.tasks.shelf import builtin_tasks

RENDERED = ("a.first_price", "a.second_price", "a.posted_price", "a.english_closed", "a.collusion_probe")


class TakesTheFirst:
    """Bids its value if bidding is listed first, and otherwise does what is: a planted fault."""

    outside = False
    given = None
    stated = Stated(model="", name="planted", settings={}, version="")

    def begin(self, setup: Setup) -> None:
        self.first = setup.tools[0].kind

    def act(self, asked: Asked) -> Answer:
        fields = {"amount": asked.market["value"]} if self.first == "bid.submit" else {}
        return Answer(act={"kind": self.first, **fields})

    def close(self) -> None:
        pass


def recorded(task: Task, case: str, agent: Agent, trial: int = 0) -> Recorded:
    remember(task)
    return record(ledger_on(), task, case, trial, agent)


def scores_of(task: Task, agent: Agent) -> list[Score]:
    judge = Judge()
    return [
        judge.score(recorded(task, case, agent, trial).audit)
        for case in cases_of(task.file)
        for trial in (0, 1)
    ]


def own_acts(task: Task, case: str, agent: Agent) -> list[str]:
    """The acts of the actor, as a record holds them."""
    audit = recorded(task, case, agent).audit
    return [bytes(deed.message.action).decode() for deed in audit.deeds if deed.message.sender == task.actor]


def test_these_are_the_tasks_that_have_some() -> None:
    found = [each.name for each in builtin_tasks() if read(each.text).rendering]
    assert sorted(RENDERED) == sorted(found)


@pytest.mark.parametrize("name", RENDERED)
@pytest.mark.parametrize("plays", ["benchmark", "truthful", "crra", "random"])
def test_a_baseline_that_goes_by_the_rules_acts_the_same_in_all_words(name: str, plays: str) -> None:
    task = builtin(name)
    moved = {other for other, entry in task.file.rendering.items() if entry.case}
    for case in task.file.case:
        acts = {
            other: own_acts(task, other, baseline(task, plays)(task.scenes.seed(other, 0), task.actor))
            for other in cases_of(task.file)
            if other.split("@")[0] == case
        }
        plain = acts.pop(case)
        assert plain
        same = {other: found for other, found in acts.items() if other.split("@")[1] not in moved}
        assert same
        assert dict.fromkeys(same, plain) == same


def test_what_such_a_baseline_is_worth_survives() -> None:
    task = builtin("a.first_price")
    (row,) = sheet(scores_of(task, baseline(task, "benchmark")("", task.actor))).document["rows"]
    assert ("yes", 0) == (row["survives"], row["largest"]["exact"])
    assert ["", *sorted(task.file.rendering)] == [each["rendering"] for each in row["renderings"]]


def test_an_agent_that_goes_by_the_order_of_acts_is_found_out() -> None:
    task = builtin("a.second_price")
    (row,) = sheet(scores_of(task, TakesTheFirst())).document["rows"]
    assert "no" == row["survives"]
    assert ("", "pass_first", 1000) == tuple(row["largest"][name] for name in ("first", "second", "exact"))
    told = {each["second"]: each["exact"] for each in row["differences"]}
    assert {"pass_first": 1000, "plain_words": 0, "higher_values": 0} == told


@pytest.mark.parametrize("name", RENDERED)
def test_a_run_says_its_rendering_and_its_conduct_is_checked(name: str) -> None:
    task = builtin(name)
    for case in cases_of(task.file):
        found = recorded(task, case, cast(task, Part())(""))
        audit = found.audit
        assert audit.replayed is not None
        assert audit.replayed.opened.task is not None
        assert (case, []) == (audit.replayed.opened.task.case, audit.findings)
        assert "done" == audit.checks["6"]
        briefs = {json.loads(told.text)["brief"] for told in audit.briefs if told.text is not None}
        assert {task.scenes.stage(case, task.scenes.seed(case, 0)).brief} == briefs


def test_who_reads_is_shown_the_labels_and_who_is_in_this_process_the_market() -> None:
    task = builtin("a.second_price")
    shown: dict[str, Any] = {}
    for case in ("two", "two@plain_words"):
        scene = task.scenes.stage(case, task.scenes.seed(case, 0))
        agent = Says({"kind": "bid.pass"})
        desk = DryDesk(task.world, task.roles, scene.facts)
        Play(task, scene, desk, agent, company(task, scene.seed)).run()
        shown[case] = agent.asked[0].market
    assert shown["two"] == shown["two@plain_words"], "the market itself has no other words"
    asked, labels = agent.asked[0], agent.setup.labels
    line = json.loads(turn_line(asked, 1, labels))["turn"]["market"]
    value = line.pop("resale_price")
    assert (shown["two"]["value"], "runner_up_sets_the_price", 2) == (value, line["format"], line["people"])
    assert {"value", "bidders"} == shown["two"].keys() - line.keys()
    assert shown["two"] == json.loads(turn_line(asked, 1))["turn"]["market"]


def test_what_is_told_first_has_other_descriptions() -> None:
    task = builtin("a.second_price")
    setup = setup_of(task, task.scenes.stage("two@plain_words", task.scenes.seed("two@plain_words", 0)), "b1")
    assert "resale_price" == setup.labels["value"]
    assert ["Writes the most that you would give, in cents.", "Hands in an empty slip."] == [
        tool.description for tool in setup.tools
    ]


def test_a_reference_is_written_once() -> None:
    task = builtin("a.english_closed")
    policy = PolicyAgent("reference", task.reference)
    assert 1000 == Judge().score(recorded(task, "three@plain_words", policy).audit).value

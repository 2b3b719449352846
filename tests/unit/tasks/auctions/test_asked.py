"""Whoever is asked by a market that shows how things stand: careless policies, the file's, other parties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from played_run import builtin

from tollbook.scorers.acts import plain
from tollbook.tasks.format.task import Task, examine
from tollbook.tasks.lint.linter import lint
from tollbook.tasks.lint.sheet import document_of
from tollbook.tasks.play.agent import Agent
from tollbook.tasks.play.baselines import company
from tollbook.tasks.play.cheats import cheat_agent, variants_of
from tollbook.tasks.play.desk import DryDesk
from tollbook.tasks.play.play import Play, setup_of
from tollbook.tasks.play.policies import PolicyAgent

SMALL = """\
id = "a.small"
title = "t"
world = "auction"
actor = "b1"
tools = ["bid.*"]
brief = "Bid."
[case]
one = {}
[facts]
session.s = { format = "second_price", bidders = ["b1", "b2"], rounds = 3, values = "stated", cap = 900 }
induced.b1 = { bidder = "b1", value = 70 }
induced.b2 = { bidder = "b2", value = 60 }
[party]
b1 = { role = "bidder" }
b2 = { role = "bidder", plays = "truthful" }
[predicate]
p = { stage = "choice", weight = 1000, expr = "did.bid.submit.size() == 3" }
[reference]
step = [{ while = "true", do = { kind = "bid.submit", amount = "=market.value - market.round" } }]
"""


def task_of(text: str = SMALL) -> Task:
    task, faults = examine(text)
    assert task is not None, [fault.text for fault in faults]
    return task


def acts(task: Task, agent: Agent, case: str = "one") -> list[Mapping[str, Any]]:
    """The actor's acts, those that were refused marked by their rule."""
    scene = task.scenes.stage(case, task.scenes.seed(case, 0))
    desk = DryDesk(task.world, task.roles, scene.facts)
    Play(task, scene, desk, agent, company(task, scene.seed)).run()
    own = [deed for deed in desk.deeds if deed.message.sender == task.actor]
    rules = [deed.decision.rule for deed in own]
    return [
        {**plain(deed.action), **({} if rule is None else {"rule": rule})}
        for deed, rule in zip(own, rules, strict=True)
    ]


def bids(*amounts: int) -> list[dict[str, Any]]:
    return [{"kind": "bid.submit", "amount": amount} for amount in amounts]


def test_a_policy_sees_what_the_market_shows_at_each_turn() -> None:
    assert bids(69, 68, 67) == acts(task_of(), PolicyAgent("reference", task_of().reference))


PASSES: Sequence[Mapping[str, Any]] = [{"kind": "bid.pass"}] * 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("idle", []),
        ("first_offer", bids(1, 1, 1)),  # the first number shown, the round's; then what it bid before
        ("flood_then_first", bids(1, 1, 1)),
        ("always_refuse", PASSES),
        ("flood_then_refuse", PASSES),
    ],
)
def test_careless_policies_answer_anew_each_time_they_are_asked(
    name: str, expected: list[Mapping[str, Any]]
) -> None:
    assert expected == acts(task_of(), cheat_agent(task_of(), "0" * 64, name))


def test_what_was_refused_is_not_tried_again_while_things_stand_as_they_did() -> None:
    """Below the reserve until a number that is shown isn't: rounds, bidders, then the value."""
    text = SMALL.replace("rounds = 3", "rounds = 2, reserve = 60")
    found = acts(task_of(text), cheat_agent(task_of(text), "0" * 64, "first_offer"))
    refused = [each for each in found if "rule" in each]
    assert {"bid.reserve"} == {each["rule"] for each in refused}
    assert bids(70) == [each for each in found if "rule" not in each][:1]
    assert len(refused) == len({str(each) for each in refused[:3]}) + len(refused[3:])


def test_random_acts_are_of_numbers_that_were_shown() -> None:
    task = task_of()
    agents = [cheat_agent(task, "7" * 64, "random_legal", at) for at in range(20)]
    amounts = {each["amount"] for agent in agents for each in acts(task, agent) if "amount" in each}
    assert 70 in amounts
    shown = {0, 1, 2, 3, 70, 900}  # what else there is of the session
    before = {60, 10}  # what was paid in the round before, and kept
    assert amounts <= shown | before


def test_a_number_of_the_reference_is_jittered() -> None:
    task = task_of()
    (at,) = [at for at, name in enumerate(variants_of(task)["jitter"]) if name.endswith("+1")]
    assert bids(70, 69, 68) == acts(task, cheat_agent(task, "0" * 64, "jitter", at))


def test_the_actor_is_offered_the_files_tools_and_others_all_of_their_role() -> None:
    task = builtin("a.double")
    scene = task.scenes.stage("third", task.scenes.seed("third", 0))
    own, other = ([tool.kind for tool in setup_of(task, scene, party).tools] for party in ("b1", "s1"))
    assert ["quote.buy", "quote.pass"] == own
    assert {"quote.buy", "quote.sell", "quote.pass"} <= set(other)
    assert not {"round.open", "turn.pass", "agent.unparsed"} & set(other)
    assert (own, other) == (list(task.offered("b1")), list(task.offered("s1")))


def test_others_can_do_what_the_actor_is_not_offered() -> None:
    task = builtin("a.double")
    scene = task.scenes.stage("third", task.scenes.seed("third", 0))
    desk = DryDesk(task.world, task.roles, scene.facts)
    Play(task, scene, desk, PolicyAgent("reference", task.reference), company(task, scene.seed)).run()
    assert [row for _key, row in desk.state.rows("trade")], "sellers sold"


def test_a_sheet_says_who_plays_and_what_the_reference_does_in_other_words() -> None:
    text = SMALL + '[rendering.x]\norder = ["bid.pass"]\n'
    report = lint(text)
    assert report.task is not None
    document = document_of(report.task, report)
    assert ["the agent", "baseline truthful", "the schedule"] == [
        each["played_by"] for each in document["parties"]
    ]
    assert [{"rendering": "x", "case": "one@x", "acts": 3, "score": 1000}] == document["renderings"]


@pytest.mark.parametrize("which", ["bid", "bid.submit", "bid.pass"])
def test_tools_of_one_side_tell_what_is_right(which: str) -> None:
    tools = ["bid.*"] if which == "bid" else [which]
    text = SMALL.replace('["bid.*"]', str(tools).replace("'", '"'))
    if which == "bid.pass":
        text = text.replace('"bid.submit", amount = "=market.value - market.round"', '"bid.pass"')
        text = text.replace("did.bid.submit", "did.bid.pass")
    found = [each for each in lint(text).findings if each.code == "lint.tools"]
    assert (which != "bid") == bool(found)

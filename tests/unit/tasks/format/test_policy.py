"""Steps in order: skipped, repeated, once for each; a mutation as the reference with one thing changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tollbook.protocol.errors import TaskError
from tollbook.protocol.world import latest, world_of
from tollbook.scorers.cel import Activation, activation
from tollbook.tasks.format import places
from tollbook.tasks.format.acts import ActMaker
from tollbook.tasks.format.faults import Faults, FirstFault
from tollbook.tasks.format.file import MutationEntry, PolicyEntry, Step
from tollbook.tasks.format.policy import Policy, changed_steps, compile_policy, mutated, placed
from tollbook.tasks.format.values import Maker, Unformed

WORLD = world_of(latest("commerce"))
GET = {"kind": "listing.get", "listing": "l1"}


def policy_of(*steps: Step, faults: Faults | None = None, **lets: str) -> Policy:
    maker = Maker(places.POLICY, "reference", lets, faults=faults or FirstFault())
    acts = ActMaker(WORLD, maker, tuple(WORLD.kinds), ("buyer", "merchant"))
    return compile_policy(placed(steps, "reference"), maker, acts, "reference")


def held(names: dict[str, Any]) -> Callable[[Any, int], Activation]:
    groups: dict[str, Any] = {"did": {}, "heard": {}, "known": {}, "refused": {}}
    return lambda it, i: activation({**groups, **names, "it": it, "i": i})


def played(policy: Policy, most: int = 9) -> list[dict[str, Any]]:
    """The acts, each seen by those after it as one more tick."""
    mandate = {"keys": ["a", "b"], "none": []}
    found: list[dict[str, Any]] = []

    def now(it: Any, i: int) -> Activation:
        return held({"mandate": mandate, "tick": len(found)})(it, i)

    for act in policy.acts(now):
        found.append(act)
        if len(found) == most:
            break
    return found


def keys(*steps: Step) -> list[str]:
    return [act["listing"] for act in played(policy_of(*steps))]


def get(listing: str, **more: str) -> Step:
    return Step(do={"kind": "listing.get", "listing": listing}, **more)


@pytest.mark.parametrize(
    ("expected", "steps"),
    [
        ([],                        []),
        (["x", "y"],                [get("x"), get("y")]),
        (["y"],                     [get("x", when="tick > 0"), get("y")]),
        (["y", "x"],                [get("y"), get("x", when="tick > 0")]),
        (["t0", "t1", "t2"],        [get("t{tick}", repeat="tick < 3")]),
        ([],                        [get("x", repeat="false")]),
        ([],                        [get("x", when="false", repeat="true")]),
        (["a1", "b2"],              [get("{it}{i}", each="mandate.keys")]),
        ([],                        [get("{it}", each="mandate.none")]),
        (["b"],                     [get("=it", each="mandate.keys", when="i == 2")]),
        (["a", "a", "b", "b"],      [get("=it", each="mandate.keys", repeat="tick < 2 * i")]),
        (["z"],                     [get("{i}", each="mandate.keys", when="i > 2"), get("z")]),
        (["second"],                [Step(do=[{**GET, "when": "tick > 0"}, {**GET, "listing": "second"}])]),
        (["x"],                     [Step(do=[{**GET, "when": "tick > 0"}]), get("x")]),
    ],
)  # fmt: skip
def test_steps(expected: list[str], steps: list[Step]) -> None:
    assert expected == keys(*steps)


def test_an_act_is_formed_when_it_is_asked_for() -> None:
    acts = policy_of(get("{tick}"), get("{tick}")).acts(held({"tick": 7, "mandate": {}}))
    assert {"kind": "listing.get", "listing": "7"} == next(acts)
    assert 1 == len(list(acts))


def test_whom_an_act_is_for() -> None:
    step = Step(do={"kind": "message.send", "text": "{i}", "to": "merchant"})
    assert [{"kind": "message.send", "text": "0", "to": "merchant"}] == played(policy_of(step))


@pytest.mark.parametrize(
    ("place", "step"),
    [
        ("reference.step[0].do.listing", get("=known.listing[0].id")),
        ("reference.step[0].when",       get("x", when="tick")),
        ("reference.step[0].while",      get("x", repeat="mandate.keys")),
        ("reference.step[0].each",       get("x", each="tick")),
        ("reference.step[0].each",       get("x", each="lists.range(1001)")),
        ("reference.step[0].do[1].when", Step(do=[{**GET, "when": "false"}, {**GET, "when": "tick"}])),
        ("reference.step[0]",            Step(do=[{**GET, "when": "false"}], repeat="true")),
    ],
)  # fmt: skip
def test_where_a_policy_can_not_go_on(place: str, step: Step) -> None:
    with pytest.raises(Unformed) as told:
        played(policy_of(step))
    assert place == told.value.place


REFERENCE = PolicyEntry(
    step=[
        Step(id="look", do=GET, when="tick == 0"),
        Step(id="say", do={"kind": "message.send", "text": "{a}"}),
        Step(id="ask", do=[GET, GET]),
    ],
    let={"a": "'one'", "b": "2"},
)
NO = {"kind": "purchase.decline", "reason": "no"}


def changed(faults: Faults | None = None, **mutation: Any) -> list[tuple[str, str, Any]]:
    """The steps: place, where the act stands, the act."""
    entry = MutationEntry(loses=["p"], **mutation)
    steps = changed_steps(REFERENCE, entry, "mutation.m", faults or FirstFault())
    return [(each.place, each.part("do"), each.step.do) for each in steps]


PLAIN = [(each.place, each.part("do"), each.step.do) for each in placed(REFERENCE.step, "reference")]
BEFORE = ("mutation.m.before", "mutation.m.before", NO)


@pytest.mark.parametrize(
    ("expected", "mutation"),
    [
        (PLAIN,                                                          {"let": {"a": "'two'"}}),
        ([PLAIN[0], PLAIN[2]],                                           {"step": "say", "drop": True}),
        ([PLAIN[0], (PLAIN[1][0], "mutation.m.do", NO), PLAIN[2]],       {"step": "say", "do": NO}),
        ([BEFORE, *PLAIN],                                               {"before": NO}),
        ([PLAIN[0], BEFORE, *PLAIN[1:]],                                 {"step": "say", "before": NO}),
        ([BEFORE, *PLAIN[1:]],                             {"step": "look", "before": NO, "drop": True}),
        ([PLAIN[0], (*PLAIN[1][:2], {"kind": "message.send", "text": "two"}), PLAIN[2]],
         {"step": "say", "set": {"text": "two"}}),
    ],
)  # fmt: skip
def test_what_a_mutation_changes(expected: list[object], mutation: dict[str, Any]) -> None:
    assert expected == changed(**mutation)


def test_conditions_of_a_mutation_and_their_places() -> None:
    change = {"when": "tick > 1", "each": "[1]", "repeat": "false", "set": {"listing": "l2"}}
    entry = MutationEntry(loses=["p"], step="look", **change)
    step = changed_steps(REFERENCE, entry, "mutation.m", FirstFault())[0]
    assert ("tick > 1", "[1]", "false") == (step.step.when, step.step.each, step.step.repeat)
    assert {
        "when": "mutation.m.when",
        "each": "mutation.m.each",
        "while": "mutation.m.while",
        "do.listing": "mutation.m.set.listing",
    } == step.moved
    assert "reference.step[0].do" == step.part("do")


def test_what_comes_before_a_step_has_its_condition() -> None:
    entry = MutationEntry(loses=["p"], step="look", before=NO)
    before = changed_steps(REFERENCE, entry, "mutation.m", FirstFault())[0]
    assert ("tick == 0", "reference.step[0].when") == (before.step.when, before.part("when"))


def test_the_lets_of_a_mutation() -> None:
    found = mutated(REFERENCE, MutationEntry(loses=["p"], let={"a": "'two'", "c": "3"}), "mutation.m")
    assert {"a": "'two'", "b": "2", "c": "3"} == found.let
    assert REFERENCE.step == found.step


@pytest.mark.parametrize(
    ("place", "says", "mutation"),
    [
        ("mutation.m",      "it changes nothing",              {}),
        ("mutation.m",      "it changes nothing",              {"step": "look"}),
        ("mutation.m",      "a change of no step",             {"drop": True}),
        ("mutation.m",      "a change of no step",             {"when": "true"}),
        ("mutation.m.step", "the reference has no step `loo`", {"step": "loo", "drop": True}),
        ("mutation.m.set",  "`set` changes one act",           {"step": "ask", "set": {"listing": "x"}}),
    ],
)  # fmt: skip
def test_what_is_no_mutation(place: str, says: str, mutation: dict[str, Any]) -> None:
    faults = Faults()
    changed(faults, **mutation)
    (fault,) = faults.found
    assert ("task.mutation", place) == (fault.code, fault.place)
    assert says in fault.problem
    with pytest.raises(TaskError, match=says):
        changed(**mutation)


def test_every_fault_of_a_policy_is_noted() -> None:
    faults = Faults()
    wrong = Step(do={**GET, "listing": 1, "more": "=x"})
    policy_of(get("x", when="case.a"), Step(do={"kind": "listing.gt"}), wrong, faults=faults)
    assert [
        "reference.step[0].when", "reference.step[1].do.kind", "reference.step[2].do.listing",
        "reference.step[2].do.more", "reference.step[2].do.more",
    ] == [fault.place for fault in faults.found]  # fmt: skip

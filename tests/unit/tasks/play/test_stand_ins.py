"""Stand-ins: what goes wrong with an act, what a grade does, and that the grades come out in their order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from small_task import TEXT, changed, ledger_on, propose, task_of

from tollbook.protocol.bodies import WorldRef
from tollbook.protocol.errors import UsageError, WorldError
from tollbook.protocol.tables import Facts
from tollbook.protocol.world import kind_of
from tollbook.scorers import stats
from tollbook.scorers.acts import Watch
from tollbook.tasks.format.task import Task, load_task
from tollbook.tasks.lint.rehearsal import Rehearsal, Staged, stage_all
from tollbook.tasks.play.agent import Answer, Asked, Setup, Tool
from tollbook.tasks.play.baselines import company
from tollbook.tasks.play.casting import Part, cast
from tollbook.tasks.play.cheats import MAX_ACTS
from tollbook.tasks.play.desk import DryDesk
from tollbook.tasks.play.play import Play
from tollbook.tasks.play.policies import PolicyAgent
from tollbook.tasks.play.recorder import record
from tollbook.tasks.play.slips import Slips
from tollbook.tasks.play.stand_ins import (
    GRADES,
    OF_ACTS,
    OF_READINGS,
    PATIENCE,
    VERSION,
    Grade,
    StandIn,
    stand_in,
)
from tollbook.tasks.shelf import builtin_tasks

SEED = "5" * 64
NONE = Grade(*[0] * len(Grade._fields))
ALWAYS = 1_000
WILD = Grade(*[90] * 10, 500)
"""Everything goes wrong often, and half of what shows is put right: the most ways through the code."""


@cache
def tasks() -> Sequence[Task]:
    return [load_task(alone(found.text)) for found in builtin_tasks()]


def alone(text: str) -> str:
    """A task without its other policies, which take as long to compile as all the rest."""
    sections = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    return "".join(each for each in sections if not each.startswith(("[alternative", "[mutation", "[cheat")))


@cache
def staged(trial: int) -> Sequence[tuple[Task, Staged]]:
    """The cases of the tasks on which grades were calibrated."""
    return [each for each in staged_all(trial) if each[0].file.world == "commerce"]


@cache
def staged_all(trial: int) -> Sequence[tuple[Task, Staged]]:
    return [(task, case) for task in tasks() for case in stage_all(task, trial)[0].values()]


# What goes wrong with an act

TWO = changed(
    ('brief  = "Buy', 'brief  = "There are listings l1 and l2. Buy'),
    ("inventory.l1", 'listing.l2   = { merchant = "merchant", title = "lamp", price = 500 }\ninventory.l1'),
    ('tools  = ["listing.get",', 'tools  = ["listing.get", "inquiry.*", "order.get",'),
)
COUNTER = {"kind": "negotiation.counter", "negotiation": "n9", "unit_price": 700, "note": "Yes"}
RESPOND = {"kind": "inquiry.respond", "inquiry": "q1", "resolution": "answered", "text": "", "values": []}


ASK = {"kind": "inquiry.ask", "to": "merchant", "text": "Is it new?"}


class Looks:
    """Asks and proposes, so that there are rows to name, and then keeps what it could get wrong."""

    outside = False
    given = None
    stated = PolicyAgent("", task_of().reference).stated

    def __init__(self, task: Task) -> None:
        self.slips: Slips | None = None
        self._task = task
        self._acts = [propose(700), ASK]

    def begin(self, setup: Setup) -> None:
        self.slips = Slips(self._task.world, setup)

    def act(self, asked: Asked) -> Answer:
        assert self.slips is not None
        self.slips.look(asked)
        return Answer(act=self._acts.pop()) if self._acts else Answer(end="agent_stopped")

    def close(self) -> None:
        pass


@cache
def slips(text: str = TWO) -> Slips:
    task = task_of(text)
    scene = task.scenes.stage("cheap", SEED)
    agent = Looks(task)
    Play(task, scene, DryDesk(task.world, task.roles, scene.facts), agent).run()
    assert agent.slips is not None
    return agent.slips


def differences(act: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each what it has other than the act; None for what it hasn't."""
    names = [dict.fromkeys([*act, *each]) for each in found]
    return [
        {name: each.get(name) for name in both if each.get(name) != act.get(name)}
        for both, each in zip(names, found, strict=True)
    ]


@pytest.mark.parametrize(
    ("expected",                                    "act"),
    [
        ([{"listing": "l2"}],                       propose(100)),
        ([{"listing": "l1"}, {"listing": "l2"}],    {"kind": "listing.get", "listing": "l3"}),
        ([],                                        COUNTER),
        ([{"agreement": "a11"}],                    {"kind": "agreement.settle", "agreement": "a1"}),
        ([{"inquiry": "q5"}],                       {"kind": "inquiry.get", "inquiry": "q1"}),
        ([{"listing": "l2"}],                       {"kind": "inquiry.ask", "text": "", "listing": "l1"}),
        ([],                                        {"kind": "inquiry.ask", "text": "l1", "listing": None}),
        ([],                                        {"kind": "order.get", "order": "l1"}),
        ([],                                        {"kind": "nothing.such", "listing": "l1"}),
        ([],                                        {"kind": "listing.get", "listing": {"l1": 1}}),
    ],
)  # fmt: skip
def test_another_row_is_one_of_the_table_that_was_seen(
    expected: list[dict[str, Any]], act: dict[str, Any]
) -> None:
    assert expected == differences(act, slips().rows(act))


@pytest.mark.parametrize(
    ("expected",                            "price"),
    [
        ([99, 101, 90, 110, 10],            100),
        ([1_939, 1_941, 1_746, 2_134, 9_140, 1_490, 1_904], 1_940),
        ([0, 2],                            1),
        ([1],                               0),
        ([10**12 - 1, 10**12 - 10**11, 10**11], 10**12),
        ([],                                "100"),
    ],
)  # fmt: skip
def test_a_number_is_off_by_little_by_a_tenth_or_in_its_digits(expected: list[int], price: Any) -> None:
    quantity, *prices = differences(propose(price), slips().numbers(propose(price)))
    assert {"quantity": 2} == quantity, "none is under the schema's least"
    assert [{"unit_price": each} for each in expected] == prices


def test_a_number_is_found_wherever_it_stands() -> None:
    act = {**RESPOND, "values": [{"field": "price", "value": "7"}, {"field": "price", "value": 7}]}
    found = [each["values"] for each in slips().numbers(act)]
    assert [[act["values"][0], {"field": "price", "value": value}] for value in (6, 8)] == found
    numbers = {"type": "array", "items": {"type": "integer", "minimum": 3}}
    tool = Tool("a.b", "", {"type": "object", "properties": {"c": {"anyOf": [{"type": "null"}, numbers]}}})
    found = Slips(task_of().world, Setup("a", "a", "", {}, [tool], (), 1)).numbers({"kind": "a.b", "c": [3]})
    assert [{"kind": "a.b", "c": [4]}] == found


def test_another_choice_is_a_verb_of_the_noun_or_a_value_of_an_enumeration() -> None:
    found = slips().choices(COUNTER)
    assert ["negotiation.accept", "negotiation.reject", "negotiation.withdraw"] == sorted(
        each["kind"] for each in found
    )
    assert ["n9"] * 3 == [each["negotiation"] for each in found]
    assert [{"resolution": "declined"}] == differences(RESPOND, slips().choices(RESPOND))
    assert [] == slips().choices({"kind": "listing.reprice", "listing": "l1", "price": 1})


def test_what_the_mandate_holds_is_told_in_words() -> None:
    said = "My budget is 9.00."
    assert [[{**COUNTER, "note": f"Yes {said}"}]] == slips().told(COUNTER)
    assert [[{**RESPOND, "text": said}]] == slips().told(RESPOND)
    accept = {"kind": "negotiation.accept", "to": "merchant", "negotiation": "n9"}
    assert [[{"kind": "message.send", "text": said, "to": "merchant"}, accept]] == slips(TEXT).told(accept)


MUTE = changed(
    (', "agreement.settle", "message.send"]', ', "agreement.settle"]'),
    text=TEXT[: TEXT.index("[reference]")]
    + '[reference]\nstep = [{ do = { kind = "listing.get", listing = "l1" } }]\n',
)
NOBODY = changed(
    ('buyer.mandate    = { budget = "=case.price" }', "buyer = {}"), ("{mandate.budget:money}", "9.00")
)


@pytest.mark.parametrize("text", [MUTE, NOBODY], ids=["no field of words", "no mandate"])
def test_nothing_is_told_where_there_are_no_words_or_no_numbers(text: str) -> None:
    assert [] == slips(text).told({"kind": "negotiation.accept", "negotiation": "n9"})


def test_a_number_is_told_as_the_brief_has_it() -> None:
    text = changed(
        ("{mandate.budget:money} at most", "{mandate.budget:money} at most, in {mandate.most_days} days"),
        ('budget = "=case.price" }', 'budget = "=case.price", most_days = 4, is_new = true }'),
    )
    told = slips(text).told({"kind": "message.send", "text": ""})
    assert ["My budget is 9.00.", "My most days is 4."] == [act["text"] for (act,) in told]


def test_what_is_garbled_is_no_act_of_the_market() -> None:
    words, short, text = slips().garbled(COUNTER)
    assert (None, True) == (words.act, words.gave is not None)
    assert [{"negotiation": None}] == differences(COUNTER, [short.act or {}])
    assert [{"unit_price": "700"}] == differences(COUNTER, [text.act or {}])
    assert 1 == len(slips().garbled({"kind": "nothing.such"}))


ODD: Mapping[str, Any] = {
    "no type": {"properties": {"a": {"description": "key of a row of `nothing`"}}},
    "itself": {"$ref": "#/$defs/none"},
    "no branch": {"properties": {"a": {"anyOf": []}}},
    "lists": {"type": "object", "properties": {"a": {"type": "array"}}},
    "closed": {"type": "object", "additionalProperties": False},
    "empty": {},
}


@pytest.mark.parametrize("schema", ODD.values(), ids=ODD)
@pytest.mark.parametrize("value", [None, True, -70, 10**30, "x", ["y", {"z": 1}], {"a": [[]]}])
def test_a_schema_that_says_little_gives_little(schema: Mapping[str, Any], value: Any) -> None:
    setup = Setup("buyer", "buyer", "", {"b": [1], "c": None}, [Tool("a.b", "", schema)], (), 3)
    found = Slips(task_of().world, setup)
    act = {"kind": "a.b", "a": value}
    assert [] == found.rows(act) == found.told(act)
    assert found.choices(act) in ([], [{**act, "a": False}])
    assert 1 <= len(found.garbled(act)) <= 2


# What a grade does


def lines(grade: Grade, text: str = TEXT, case: str = "cheap", seed: str = SEED) -> list[str]:
    """The kinds of what a stand-in did, `!` before what was refused."""
    task = task_of(text)
    scene = task.scenes.stage(case, seed)
    desk = DryDesk(task.world, task.roles, scene.facts)
    ending = Play(task, scene, desk, StandIn("x", grade, task.world, task.reference, seed)).run()
    own = [deed for deed in desk.deeds if deed.message.sender == task.actor]
    said = [("" if deed.decision.outcome == "accepted" else "!") + _kind(deed.action) for deed in own]
    return [*said, ending.outcome]


def _kind(action: Any) -> str:
    return "?" if action is None else kind_of(type(action)).replace("negotiation.", "")


GET, SAY, OPEN, MEET, ACCEPT, SETTLE = (
    "listing.get", "message.send", "propose", "counter", "accept", "agreement.settle"
)  # fmt: skip
STOP, END = "agent_stopped", "completed"
LONG = changed(("turns  = 6", "turns  = 20"))
BOTH = changed(("turns  = 6", "turns  = 20"), text=TWO)


@pytest.mark.parametrize(
    ("expected",                                              "text", "rates"),
    [
        ([GET, SAY, OPEN, MEET, SETTLE, END],                 LONG, {}),
        ([SAY, OPEN, MEET, SETTLE, END],                      LONG, {"unread": ALWAYS}),
        ([SAY, OPEN, MEET, SETTLE, END],                      LONG, {"blind": ALWAYS}),
        ([STOP],                                              LONG, {"stops": ALWAYS}),
        # Nothing can be met that wasn't opened: a guess, the first that can be taken; or what was left out.
        ([GET, OPEN, STOP],                                   LONG, {"undone": ALWAYS}),
        ([GET, SAY, OPEN, MEET, STOP],                        LONG, {"undone": ALWAYS, "mends": ALWAYS}),
        ([GET, SAY, OPEN, MEET, SETTLE, END],                 LONG, {"row": ALWAYS}),  # no other row was seen
        ([GET, SAY, OPEN, MEET, "!accept", STOP],             BOTH, {"row": ALWAYS}),
        ([GET, SAY, OPEN, MEET, GET, "!accept", STOP],        BOTH, {"row": ALWAYS, "mends": ALWAYS}),
        ([GET, SAY, OPEN, MEET, ACCEPT, STOP],                LONG, {"number": ALWAYS}),
        ([GET, SAY, OPEN, "!withdraw", ACCEPT, STOP],         LONG, {"choice": ALWAYS}),
        ([GET, SAY, OPEN, "!withdraw", MEET, SETTLE, END],    LONG, {"choice": ALWAYS, "mends": ALWAYS}),
        ([GET, SAY, OPEN, MEET, SAY, SETTLE, END],            LONG, {"told": ALWAYS}),
        ([GET, GET, SAY, SAY, OPEN, OPEN, MEET, "!counter", SETTLE, END], LONG, {"again": ALWAYS}),
    ],
)  # fmt: skip
def test_what_a_slip_does(expected: list[str], text: str, rates: dict[str, int]) -> None:
    assert expected == lines(NONE._replace(**rates), text)


def test_what_is_garbled_costs_a_turn_and_no_more() -> None:
    done = lines(NONE._replace(garbled=ALWAYS), LONG)
    assert [GET, SAY, OPEN, MEET, SETTLE, END] == done[1::2] + done[-1:]
    assert ["!"] * 5 == [each[0] for each in done[:-1:2]]


BID = """{ kind = "negotiation.propose", to = "merchant", listing = "l1",\
 quantity = 1, unit_price = 1, note = "" }"""
STEPS = """
[reference]
let.bids = "did.negotiation.propose"
step = [
    { each = "['l1', 'l2', 'l1']", do = { kind = "listing.get", listing = "=it" } },
    { each = "[0, 1, 0]", do = { kind = "message.send", to = "merchant", text = "{known.listing[it].id}?" } },
    { while = "bids.size() < 3", do = BID },
    { do = { kind = "agreement.settle", agreement = "a1" } },
]
"""
MANY = changed(
    ("turns  = 6", "turns  = 40"),
    text=TWO[: TWO.index("[reference]")] + STEPS.replace("BID", BID),
)


def test_a_step_goes_on_where_an_act_of_it_could_not_be_formed() -> None:
    rest = [*[OPEN] * 3, "!agreement.settle", STOP]
    assert [*[GET] * 3, *[SAY] * 3, *rest] == lines(NONE, MANY)
    mended = lines(NONE._replace(blind=ALWAYS, mends=ALWAYS), MANY)
    assert [GET, SAY, GET, SAY, SAY, *rest] == mended, "nothing is read that isn't missed, or said twice"
    assert [STOP] == lines(NONE._replace(blind=ALWAYS), MANY), "there is nothing to guess"
    runs = [lines(NONE._replace(blind=ALWAYS, mends=500), MANY, seed=str(at) * 64) for at in range(9)]
    assert {0, 1, 2} == {run.count(GET) for run in runs}, "what comes up again is made up for or not anew"


def test_of_a_step_one_act_is_left_out_and_of_one_that_repeats_the_rest() -> None:
    """Which of them, the draws say."""
    seeds = [str(at) * 64 for at in range(9)]
    read = [lines(NONE._replace(unread=ALWAYS), MANY, seed=seed).count(GET) for seed in seeds]
    assert {2, 3} == {*read}
    said = [lines(NONE._replace(undone=ALWAYS), MANY, seed=seed) for seed in seeds]
    assert {2, 3} == {each.count(SAY) for each in said}
    assert {0, 1, 2, 3} == {each.count(OPEN) for each in said}


RETURN = """
id = "tests.return"
title = "A return that is taken back"
world = "commerce"
actor = "merchant"
brief = "See to return r1 of order o1."
turns = 20
tools = ["order.get", "policy.get", "return.*", "message.send"]
[case]
cheap = {}
[facts]
policy.returns = { accepted_conditions = ["unused"] }
order.o1 = { buyer = "buyer", merchant = "merchant", total = 8_000, state = "delivered" }
return.r1 = { order = "o1", state = "requested", condition = "unused" }
payment.p1 = { order = "o1", captured = 8_000, state = "captured" }
[party]
buyer = {}
merchant = {}
[predicate]
taken_back = { stage = "execution", weight = 1_000, expr = "did.return.receive.size() == 1" }
[reference]
let.seen = "known.order.size() + known.policy.size()"
step = [
    { do = { kind = "order.get", order = "o1" } },
    { do = { kind = "policy.get", policy = "returns" } },
    { do = { kind = "return.authorize", return = "r1" } },
    { do = { kind = "return.receive", return = "r1", condition = "unused", quantity = 1 } },
    { do = { kind = "message.send", text = "{seen == 2 ? known.policy[0].id : known.policy[9].id}" } },
    { do = { kind = "message.send", text = "{known.posting[9].account}" } },
]
"""


def test_what_was_left_out_is_done_when_a_refusal_shows_it_and_not_again() -> None:
    grade = NONE._replace(undone=300, mends=ALWAYS)
    runs = [lines(grade, RETURN, seed=f"{at:x}" * 64) for at in range(16)]
    mended = ["!return.receive", "return.authorize", "return.receive", SAY]
    guess = "!return.receive"
    assert ["order.get", "policy.get", *mended, guess, STOP] in runs
    assert not [run for run in runs if "!return.authorize" in run]


def test_who_reads_what_is_missing_reads_on_until_it_is_there() -> None:
    runs = [lines(NONE._replace(blind=ALWAYS, mends=500), RETURN, seed=f"{at:x}" * 64) for at in range(16)]
    assert {0, 2} == {run.count("order.get") + run.count("policy.get") for run in runs}


# All of them


def test_a_stand_in_says_what_it_is() -> None:
    agent = cast(task_of(), Part("stand_in:steady"))(SEED)
    rates = {name: str(rate) for name, rate in GRADES["steady"]._asdict().items()}
    assert ("", "stand_in:steady", VERSION, rates) == (
        agent.stated.model, agent.stated.name, agent.stated.version, agent.stated.settings
    )  # fmt: skip
    with pytest.raises(UsageError, match="there is no stand-in `stedy`") as caught:
        cast(task_of(), Part("stand_in:stedy"))
    assert "did you mean `steady`?" == caught.value.hint


def test_a_better_grade_is_better_in_everything() -> None:
    for worse, better in pairwise(GRADES.values()):
        assert all(one > other for one, other in zip(worse[:-1], better[:-1], strict=True))
        assert worse.mends < better.mends
    for grade in GRADES.values():
        for slips_of in (OF_READINGS, OF_ACTS):
            assert 1 <= sum(getattr(grade, slip) for slip in slips_of) < 1_000
        assert 1 <= grade.blind < 1_000


def test_its_run_is_an_honest_run() -> None:
    task = task_of()
    for name in GRADES:
        agent = stand_in(name, task.world, task.reference, SEED)
        recorded = record(ledger_on(), task, "cheap", 0, agent)
        assert ([], "done") == (recorded.audit.findings, recorded.audit.checks["6"])


def points(grade: Grade, name: str, trials: int) -> tuple[list[Fraction], list[str]]:
    """What each run on the built-in tasks of commerce is worth, and its task."""
    found: list[Fraction] = []
    names: list[str] = []
    for trial in range(trials):
        for task, case in (each for each in staged(trial) if each[0].file.world == "commerce"):
            agent = StandIn(name, grade, task.world, task.reference, case.scene.seed)
            found.append(Rehearsal("cheat", name, task, case, agent).points)
            names.append(task.file.id)
    return found, names


def test_without_slips_it_does_what_the_reference_does() -> None:
    for task, case in staged_all(0):
        reference = PolicyAgent("reference", task.reference)
        same = [reference, StandIn("x", NONE, task.world, task.reference, case.scene.seed)]
        one, other = (Rehearsal("reference", "", task, case, agent) for agent in same)
        assert [deed.action for deed in one.deeds] == [deed.action for deed in other.deeds], task.file.id
        assert one.ending.outcome == other.ending.outcome


def test_the_grades_come_out_in_their_order() -> None:
    found = {name: points(grade, name, trials=3) for name, grade in GRADES.items()}
    means = {name: stats.mean(values) for name, (values, _tasks) in found.items()}
    assert sorted(means.values()) == list(means.values())
    assert 50 <= means["careless"] <= 150
    assert 900 <= means["expert"] < 1_000
    for worse, better in pairwise(found.values()):
        gaps = [two - one for one, two in zip(worse[0], better[0], strict=True)]
        interval = stats.interval(gaps, better[1])
        assert interval is not None
        assert interval.low > 0


def test_the_same_seed_gives_the_same_run_and_another_another() -> None:
    grade = GRADES["uneven"]
    seeds = [str(at) * 64 for at in range(8)]
    runs = [lines(grade, MANY, seed=seed) for seed in seeds]
    assert runs == [lines(grade, MANY, seed=seed) for seed in seeds]
    assert 4 <= len({*map(tuple, runs)})


PROGRAM = """
from hashlib import sha256
from tollbook.tasks.format.task import load_task
from tollbook.tasks.lint.rehearsal import Rehearsal, stage_all
from tollbook.tasks.play.stand_ins import GRADES, stand_in
from tollbook.tasks.shelf import find_task
for task in [load_task(find_task(word).text) for word in ("t4.merchant_zopa", "t7.merchant_refund")]:
    for trial in range(3):
        for case in stage_all(task, trial)[0].values():
            for name in GRADES:
                agent = stand_in(name, task.world, task.reference, case.scene.seed)
                run = Rehearsal("cheat", name, task, case, agent)
                said = [(each.action, each.texts) for each in run.deeds]
                print(name, sha256(repr(said).encode()).hexdigest())
"""


def test_no_order_of_a_set_comes_into_it() -> None:
    one, other = (
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        for seed in ("1", "2")
    )
    assert one == other
    assert 45 < len(set(one))


# Whatever comes


def starts(task: Task, facts: Facts) -> Iterator[Facts]:
    """The start, and it without the rows of a table that the others can do without."""
    yield facts
    tables = task.world.tables
    rows = [(table, key, row) for table in tables for key, row in facts.tables[table].rows.items()]
    for left_out in tables:
        kept = [row for row in rows if row[0] != left_out]
        if len(kept) < len(rows):
            with suppress(WorldError):
                yield task.world.facts(kept)


def test_it_comes_to_an_end_wherever_it_starts() -> None:
    count = 0
    for task, case in staged(0):
        for facts in starts(task, case.scene.facts):
            desk = DryDesk(task.world, task.roles, facts)
            agent = StandIn("wild", WILD, task.world, task.reference, str(count % 10) * 64)
            others = company(task, case.scene.seed)
            ending = Play(task, case.scene._replace(facts=facts), desk, agent, others).run()
            assert ending.outcome in ("agent_stopped", "completed", "turn_limit")
            count += 1
    assert 2 * len(staged(0)) < count


def test_who_is_refused_again_and_again_stops() -> None:
    ref = 'step = [{ while = "true", do = { kind = "listing.get", listing = "l2" } }]\n'
    text = LONG[: LONG.index("[reference]")] + "[reference]\n" + ref
    assert ["!listing.get"] * PATIENCE + [STOP] == lines(NONE, text)


def test_none_goes_on_for_ever() -> None:
    ref = 'step = [{ while = "true", do = { kind = "message.send", to = "merchant", text = "" } }]\n'
    task = task_of(LONG[: LONG.index("[reference]")] + "[reference]\n" + ref)
    agent = StandIn("x", NONE, task.world, task.reference, SEED)
    agent.begin(Setup("buyer", "buyer", "", {}, (), (), 1_000))
    asked = Asked(0, 1_000, None, (), Watch(task.world, "buyer"))
    ends = [agent.act(asked).end for _ in range(MAX_ACTS + 1)]
    assert [*[None] * MAX_ACTS, "agent_stopped"] == ends


def test_who_leaves_everything_out_comes_to_an_end() -> None:
    ref = 'step = [{ while = "true", do = { kind = "listing.get", listing = "l1" } }]\n'
    endless = changed(("turns  = 6", "turns  = 200"))
    text = endless[: endless.index("[reference]")] + "[reference]\n" + ref
    assert [*[GET] * MAX_ACTS, "turn_limit"] == lines(NONE, text)
    assert [STOP] == lines(NONE._replace(unread=ALWAYS), text)[-1:]
    assert [STOP] == lines(NONE._replace(blind=ALWAYS, mends=ALWAYS), text)[-1:]


RETAIL = """
id = "retail.small"
title = "A shop that shows rows as text"
world = "retail"
actor = "assistant"
brief = "Help mia_li_3668 with order #W1 (user mia_li_3668)."
turns = 30
[case]
one = {}
[party]
assistant = {}
user = {}
operator = { role = "user" }
[predicate]
done = { stage = "choice", weight = 1000, expr = "acts.size() > 900" }
[reference]
step = [
    { do = { kind = "tool.get_order_details", order_id = "#W1" } },
    { do = { kind = "tool.cancel_pending_order", order_id = "#W1", reason = "no longer needed" } },
]
"""


@pytest.mark.parametrize("grade", [NONE, WILD, *GRADES.values()])
def test_another_market_is_played_too(grade: Grade) -> None:
    ref = WorldRef(name="retail", params={"mode": "strict"}, version=0)
    task = load_task(RETAIL, ref)
    for trial in range(5):
        scene = task.scenes.stage("one", task.scenes.seed("one", trial))
        desk = DryDesk(task.world, task.roles, scene.facts)
        ending = Play(task, scene, desk, StandIn("x", grade, task.world, task.reference, scene.seed)).run()
        assert "agent_stopped" == ending.outcome
        assert grade is not NONE or 2 == len(desk.deeds)

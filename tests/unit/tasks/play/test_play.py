"""The schedule: who is asked when, who answers whom, how it ends; and what is made of what an agent gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from small_task import ASK, LOOK, TEXT, Says, changed, ledger_on, propose, task_of

from tollbook.ledger.audited import Deed
from tollbook.protocol.canonical import MAX_PART_BYTES
from tollbook.tasks.play.agent import Answer, Asked
from tollbook.tasks.play.desk import DryDesk, fitting
from tollbook.tasks.play.play import MAX_ANSWERS, Ending, Play
from tollbook.tasks.play.recorder import Recorded, record

TICK = "operator> clock.advance"
OPENS = "merchant>buyer message.send"
LOOKS = "buyer> listing.get"
ASKS = "buyer>merchant message.send"
SETTLE = {"kind": "agreement.settle", "to": "merchant", "agreement": "a17"}
ENDS = "did.agreement.settle.size() > 0"
OPENING = 'to = "buyer", text = "Lamps at'
TO_FRIEND = 'to = "friend", text = "Do you know them?"'
TO_BUYER = 'to = "buyer", text = "You may bargain."'
I_DO = '{ do = { kind = "message.send", text = "I do." } }'
COUNTERS = 'unit_price = "=mandate.floor", note'


class Played(NamedTuple):
    recorded: Recorded
    agent: Says

    @property
    def lines(self) -> list[str]:
        return said(self.recorded.audit.deeds)

    @property
    def ending(self) -> Ending:
        return self.recorded.ending


def plays(text: str, *answers: dict[str, Any] | str | Answer, outside: bool = False) -> Played:
    agent = Says(*answers, outside=outside)
    recorded = record(ledger_on(), task_of(text), "cheap", 0, agent)
    assert ([], "done") == (recorded.audit.findings, recorded.audit.checks["6"])
    return Played(recorded, agent)


def said(deeds: Sequence[Deed]) -> list[str]:
    """Who said what to whom, in answer to which record, and by which rule it was refused."""
    lines: list[str] = []
    for deed in deeds:
        message = deed.message
        action = json.loads(bytes(message.action) or b"{}")
        kind = action.get("kind") or type(deed.action).__struct_config__.tag
        reply = "" if message.reply_to is None else f" ^{message.reply_to}"
        rule = "" if deed.decision.rule is None else f" {deed.decision.rule}"
        lines.append(f"{message.sender}>{message.to or ''} {kind}{reply}{rule}")
    return lines


def test_a_play_whole() -> None:
    played = plays(TEXT, LOOK, ASK, propose(100), {**propose(700), "kind": "nothing.such"}, propose(700))
    assert [
        OPENS,
        LOOKS, TICK,
        ASKS, "merchant>friend message.send", "friend>merchant message.send ^11", OPENS, TICK,
        "buyer>merchant negotiation.propose", "merchant>buyer negotiation.counter ^19", TICK,
        "buyer>merchant nothing.such action.unknown", TICK,
        "buyer>merchant negotiation.propose", "merchant>buyer negotiation.accept ^29", TICK,
    ] == played.lines  # fmt: skip
    assert (Ending("agent_stopped", None, ()), 1) == (played.ending, played.agent.closed)


def test_it_is_done_after_the_clock() -> None:
    played = plays(TEXT, propose(700), {**SETTLE, "agreement": "a7"})
    assert [
        OPENS,
        "buyer>merchant negotiation.propose", "merchant>buyer negotiation.accept ^5", TICK,
        "buyer>merchant agreement.settle", TICK,
    ] == played.lines  # fmt: skip
    assert ("completed", 2) == (played.ending.outcome, len(played.agent.asked))


def test_a_play_by_rules_alone_is_the_same() -> None:
    """What is rehearsed without a ledger has the same records, turns of an agent outside aside."""
    acts = (LOOK, ASK, propose(100), "words", propose(1))
    task = task_of()
    scene = task.scenes.stage("cheap", task.scenes.seed("cheap", 0))
    for outside in (False, True):
        deeds = plays(TEXT, *acts, outside=outside).recorded.audit.deeds
        desk = DryDesk(task.world, task.roles, scene.facts)
        agent = Says(*acts, outside=outside)
        Play(task, scene, desk, agent).run()
        same = ("seq", "decision")
        assert [[getattr(deed, name) for name in same] for deed in deeds if deed.decision.result is None] == [
            [getattr(deed, name) for name in same] for deed in desk.deeds if deed.decision.result is None
        ]
        assert len(deeds) == len(desk.deeds)


# The start


def test_scripts_that_open_nothing() -> None:
    assert [] == plays(changed(('{ on = "start", do', '{ on = "start", when = "case.floor < 0", do'))).lines


def test_openings_come_in_the_order_of_the_file_and_are_answered_before_the_next() -> None:
    first = changed(
        (OPENING, OPENING.replace("buyer", "friend")),
        ('on   = "message.send"', 'on   = ["start", "message.send"]'),
        (I_DO, f'{{ on = "start", do = {{ kind = "message.send", to = "merchant", text = "H" }} }}, {I_DO}'),
    )
    assert [
        "merchant>friend message.send", "friend>merchant message.send ^3", OPENS,
        "friend>merchant message.send", OPENS,
    ] == plays(first).lines  # fmt: skip


def test_who_opens_without_saying_to_whom_speaks_to_the_only_other_party_or_to_nobody() -> None:
    nobody = changed((OPENING, 'text = "Lamps at'))
    assert ["merchant> message.send message.addressee"] == plays(nobody).lines
    two = changed(
        (OPENING, 'text = "Lamps at'),
        ('friend.role      = "buyer"\n', ""),
        (f'[script.friend]\non   = "message.send"\nrule = [{I_DO}]\n', ""),
        ('to = "friend"', 'to = "buyer"'),
    )
    assert [OPENS] == plays(two).lines


# Answers


def test_an_answer_to_another_than_the_sender_answers_no_message() -> None:
    lines = plays(changed((TO_FRIEND, 'to = "buyer", text = "Ask on."')), ASK).lines
    assert [OPENS, ASKS, "merchant>buyer message.send ^5", TICK] == lines


def test_answers_to_answers_come_to_an_end() -> None:
    endless = changed((TO_BUYER, 'to = "friend", text = "You may bargain."'))
    played = plays(endless, ASK, LOOK)
    between = played.lines[2:-3]
    assert [OPENS, ASKS, TICK, LOOKS, TICK] == [*played.lines[:2], *played.lines[-3:]]
    assert MAX_ANSWERS == len(between) == 20
    assert ["friend>merchant message.send", "merchant>friend message.send"] == sorted(
        {line.split(" ^")[0] for line in between}
    )


def test_an_opening_is_answered_so_many_times_too() -> None:
    endless = changed(
        (OPENING, OPENING.replace("buyer", "friend")), (TO_BUYER, 'to = "friend", text = "You may bargain."')
    )
    assert 1 + MAX_ANSWERS == len(plays(endless).lines)


@pytest.mark.parametrize(
    "act",
    [{**ASK, "to": "nobody"}, {**ASK, "to": "buyer"}, {**propose(700), "listing": "l9"}, {**ASK, "x": 1}],
)
def test_what_is_refused_is_not_answered(act: dict[str, Any]) -> None:
    played = plays(TEXT, act)
    assert [OPENS, TICK] == played.lines[::2]
    assert "refused" == played.recorded.audit.deeds[1].decision.outcome


def test_what_a_script_is_refused_ends_the_chain() -> None:
    lines = plays(changed((TO_FRIEND, 'to = "merchant", text = "Hm."')), ASK).lines
    assert [OPENS, ASKS, "merchant>merchant message.send message.to", TICK] == lines


def test_who_has_no_rule_for_it_is_silent() -> None:
    lines = plays(TEXT, {**ASK, "to": "operator"}, {**LOOK, "to": "merchant"}).lines
    assert [OPENS, "buyer>operator message.send", TICK, "buyer>merchant listing.get", TICK] == lines


# What an agent is asked


def test_what_the_actor_is_told_at_each_turn() -> None:
    asked = plays(TEXT, LOOK, ASK, propose(100)).agent.asked
    assert [(0, 6), (1, 5), (2, 4), (3, 3)] == [(each.tick, each.turns_left) for each in asked]
    last = [None if each.last is None else each.last["kind"] for each in asked]
    assert [None, "listing.get", "message.send", "negotiation.propose"] == last
    assert [["message.send"], [], ["message.send"], ["negotiation.counter"]] == [
        [act["kind"] for act in each.inbox] for each in asked
    ]
    assert "Lamps at 9.00." == asked[0].inbox[0]["text"]
    assert asked[1].last is not None
    assert 900 == asked[1].last["result"]["listing"][0]["price"]


def test_turns_run_out() -> None:
    played = plays(TEXT, *[LOOK] * 9)
    assert ("turn_limit", [6, 5, 4, 3, 2, 1]) == (
        played.ending.outcome, [asked.turns_left for asked in played.agent.asked]
    )  # fmt: skip
    assert [LOOKS, TICK] == played.lines[-2:]


@pytest.mark.parametrize(
    ("outcome",        "asked", "ends"),
    [
        ("completed",        0, "true"),
        ("completed",        0, "case.floor == 700 && case.id == 'cheap'"),
        ("completed",        1, "tick > 0"),
        ("completed",        1, "did.listing.get.size() == 1"),
        ("agent_stopped",    3, "refused.listing.get.size() > 0"),
        ("agent_stopped",    3, "did.message.send[0].text == ''"),
    ],
)  # fmt: skip
def test_when_it_ends(outcome: str, asked: int, ends: str) -> None:
    """What gives an error doesn't hold."""
    played = plays(changed((ENDS, ends)), LOOK, LOOK)
    assert (outcome, asked, 1) == (played.ending.outcome, len(played.agent.asked), played.agent.closed)


def test_an_agent_that_fails_us_is_let_go() -> None:
    class Broken(Says):
        def act(self, asked: Asked) -> Answer:
            raise ZeroDivisionError(asked.tick)

    agent = Broken()
    with pytest.raises(ZeroDivisionError):
        record(ledger_on(), task_of(), "cheap", 0, agent)
    assert 1 == agent.closed


def test_turns_of_somebody_outside_are_kept_before_what_they_led_to() -> None:
    for outside, kept in ((True, [0, 1, None]), (False, [])):
        audit = plays(TEXT, LOOK, "as you wish", outside=outside).recorded.audit
        assert kept == [evidence.turn.n for evidence in audit.evidence]
        mine = [deed.seq for deed in audit.deeds if deed.message.sender == "buyer"]
        assert not outside or [seq - 1 for seq in mine] == [evidence.seq for evidence in audit.evidence[:2]]


# What is made of an answer


def nested(levels: int) -> Any:
    return json.loads("[" * levels + "]" * levels)


UNPARSED = "buyer> agent.unparsed agent.unparsed"


@pytest.mark.parametrize(
    ("line",                                       "answer"),
    [
        (LOOKS,                                    LOOK),
        ("buyer>merchant listing.get",             {**LOOK, "to": "merchant"}),
        (f"{LOOKS} action.invalid",                {"kind": "listing.get"}),
        (f"{LOOKS} action.invalid",                {**LOOK, "listing": 7}),
        (f"{LOOKS} action.invalid",                {**LOOK, "party": "merchant"}),
        (f"{LOOKS} action.invalid",                {**LOOK, "listing": "é"}),
        ("buyer> message.send message.addressee",  {"kind": "message.send", "text": "Hello?"}),
        ("buyer> a.b action.unknown",              {"kind": "a.b", "x": nested(13)}),
        ("buyer>merchant a.b action.unknown",      {"kind": "a.b", "to": "merchant"}),
        ("buyer>nobody a.b message.to",            {"kind": "a.b", "to": "nobody"}),
        ("buyer> a.b action.unknown",              {"kind": "a.b", "x": "y" * 59_900}),
        (UNPARSED,                                 {"kind": "a.b", "x": "y" * 60_000}),
        (UNPARSED,                                 {"kind": "a.b", "x": nested(14)}),
        (UNPARSED,                                 {"kind": "a.b", "x": nested(15)}),
        (UNPARSED,                                 {"kind": "a.b", "x": nested(60)}),
        (UNPARSED,                                 {"kind": "a.b", "x": 0.5}),
        (UNPARSED,                                 {"kind": "a.b", "x": "\ud800"}),
        (UNPARSED,                                 {"kind": "a.b", "é": 1}),
        (UNPARSED,                                 {"kind": "a.b", "to": 7}),
        (UNPARSED,                                 {"kind": "a.b", "to": ""}),
        (UNPARSED,                                 {"kind": "a.b", "to": "the merchant"}),
        (UNPARSED,                                 {"kind": "a.b", "to": "m" * 129}),
        (UNPARSED,                                 {"kind": 7}),
        (UNPARSED,                                 {"listing": "l1"}),
        (UNPARSED,                                 {}),
        (UNPARSED,                                 {"kind": "stock.get", "listing": "l1"}),  # not offered
        (UNPARSED,                                 {"kind": "clock.advance"}),               # not its to do
        (UNPARSED,                                 {"kind": "agent.unparsed", "text": "I am"}),
        (UNPARSED,                                 {**ASK, "text": "y" * (MAX_PART_BYTES + 1)}),
        (UNPARSED,                                 {**ASK, "text": "y\udc80"}),
        (UNPARSED,                                 Answer(gave="as you wish, sir")),
        (UNPARSED,                                 Answer(gave="\udc80")),
        (UNPARSED,                                 Answer(gave="é" * MAX_PART_BYTES)),
        (UNPARSED,                                 Answer()),
    ],
)  # fmt: skip
def test_what_is_made_of_an_answer(line: str, answer: dict[str, Any] | Answer) -> None:
    """Whatever it is, it is a message of the run, and the run goes on."""
    played = plays(TEXT, answer if isinstance(answer, Answer) else Answer(act=answer), LOOK)
    assert [OPENS, line, TICK, LOOKS, TICK] == [each for each in played.lines if "friend" not in each]


def test_a_text_that_just_fits() -> None:
    played = plays(TEXT, Answer(act={**ASK, "text": "y" * MAX_PART_BYTES}))
    assert ASKS == played.lines[1]


@pytest.mark.parametrize(
    ("expected",                             "text"),
    [
        ("",                                 ""),
        ("é\U0001f4b6",                      "é\U0001f4b6"),
        ("a\\udc80b",                        "a\udc80b"),
        ("x" * MAX_PART_BYTES,               "x" * MAX_PART_BYTES),
        ("x" * (MAX_PART_BYTES - 3) + "…",   "x" * (MAX_PART_BYTES + 1)),
        ("é" * (MAX_PART_BYTES // 2 - 2) + "…",  "é" * MAX_PART_BYTES),
    ],
    ids=["nothing", "characters", "half a character", "the limit", "over it", "over it within a character"],
)  # fmt: skip
def test_a_text_is_made_to_fit_a_part(expected: str, text: str) -> None:
    assert expected == fitting(text)
    assert len(fitting(text).encode()) <= MAX_PART_BYTES


def test_an_inbox_beyond_what_a_part_holds_is_kept_as_far_as_it_goes() -> None:
    """Texts of a tenth of a megabyte, each sent on four times as long: the turn that tells of it is cut."""
    four = '"=message.text + message.text + message.text + message.text"'
    same = '"=message.text"'
    loud = changed(('"Do you know them?"', four), ('"I do."', four), ('"You may bargain."', same))
    played = plays(loud, {**ASK, "text": "é" * 30_000}, LOOK, outside=True)
    assert [OPENS, LOOKS, TICK] == [played.lines[0], *played.lines[-2:]]
    assert 960_000 == len(played.agent.asked[1].inbox[0]["text"].encode())
    given = [evidence.texts["given"] for evidence in played.recorded.audit.evidence]
    assert [False, True, False] == [text.endswith("…") for text in given]
    assert MAX_PART_BYTES == len(given[1].encode())


# Scripts in error


@pytest.mark.parametrize(
    ("place",          "text",                           "fields"),
    [
        ("",            "negotiation.counter: Expected", 'unit_price = "=[1]", note'),
        ("",            "negotiation.counter: Expected", 'unit_price = "=0 - 1", note'),
        ("",            "to: what can't be",             f'to = "=[1]", {COUNTERS}'),
        ("",            "to: what can't be",             f"to = \"='a b'\", {COUNTERS}"),
        (".unit_price", "division by zero",              'unit_price = "=1 / 0", note'),
    ],
)  # fmt: skip
def test_a_script_whose_act_can_not_be_sent_is_silent_and_that_is_told(
    place: str, text: str, fields: str
) -> None:
    played = plays(changed((COUNTERS, fields)), propose(100), LOOK)
    assert [OPENS, "buyer>merchant negotiation.propose", TICK, LOOKS, TICK] == played.lines
    ((where, why, seq),) = played.ending.silences
    assert (f"script.merchant.rule[4].do{place}", 5) == (where, seq)
    assert why.startswith(text)


def test_a_script_whose_text_is_over_the_limit_is_silent() -> None:
    grows = '"=message.text + message.text + message.text + message.text"'
    loud = changed(('"Do you know them?"', grows), ('"I do."', grows), ('"You may bargain."', grows))
    played = plays(loud, Answer(act={**ASK, "text": "y" * 60_000}))
    answers = ["merchant>friend message.send", "friend>merchant message.send ^7"]
    assert [OPENS, ASKS, *answers, TICK] == played.lines
    ((where, why, seq),) = played.ending.silences
    assert ("script.merchant.rule[2].do", 9) == (where, seq)
    assert "over 1048576 bytes" in why

"""The market as a whole: every format has a family, every rule its refusals, every run its end."""

from __future__ import annotations

from typing import get_args

import pytest
from laboratory import MOVES, OPERATOR, WORLD, Laboratory, moves_of

from tollbook.protocol.auction import families
from tollbook.protocol.auction.session import Format
from tollbook.protocol.auction.world import make
from tollbook.protocol.errors import WorldError
from tollbook.protocol.world import Ask, Operate, kind_of

FORMATS: tuple[str, ...] = get_args(Format)
ACT = {
    "bid.submit": 300,
    "proxy.bid": 300,
}


def test_it_takes_no_parameters() -> None:
    with pytest.raises(WorldError, match="does not take these"):
        make({"x": 1})


def test_every_format_has_one_family_whose_moves_are_acts_of_the_market() -> None:
    names = [name for family in families.FAMILIES for name in family.formats]
    assert sorted(FORMATS) == sorted(names)
    for family in families.FAMILIES:
        assert {*family.moves} <= WORLD.kinds.keys()


def test_every_refusal_of_a_rule_has_a_meaning_and_every_meaning_a_rule() -> None:
    checked = {name for rule in WORLD.rules.values() for name in rule.checks}
    assert WORLD.refusals.keys() == checked
    order = list(WORLD.refusals)
    for rule in WORLD.rules.values():
        places = [order.index(name) for name in rule.checks]
        assert sorted(places) == places, kind_of(rule.action)


def test_the_operator_s_acts_are_offered_to_nobody() -> None:
    own = {kind for kind, roles in WORLD.roles.items() if roles == {OPERATOR}}
    assert {*own, "agent.unparsed"} == WORLD.unoffered
    assert {"round.open", "clock.raise", "clock.lower", "turn.pass"} == own


def test_acts_are_for_nobody_and_read_nothing() -> None:
    assert {kind_of(action) for action in WORLD.actions} == WORLD.unaddressed
    assert set() == {*WORLD.queries}


@pytest.mark.parametrize("kind", MOVES)
def test_an_act_of_another_family_is_refused_as_such(kind: str) -> None:
    lab = Laboratory(kind, ["b1", "b2"], price=50, reserve=50)
    asked = lab.asked or ""
    for act in {act for acts in MOVES.values() for act in acts} - {*MOVES[kind]}:
        fields = {"amount": ACT[act]} if act in ACT else {}
        assert f"{act.split('.')[0]}.format" == lab.say(asked, act, **fields).rule or act[:5] == "clock"
        assert "refused" == lab.say(asked, act, **fields).outcome


@pytest.mark.parametrize("kind", MOVES)
@pytest.mark.parametrize("place", [0, 1])
def test_whoever_always_does_the_same_comes_to_an_end(kind: str, place: int) -> None:
    lab = Laboratory(kind, ["b1", "b2", "b3"], rounds=3, price=100, reserve=100, increment=50, cap=400)
    act = moves_of(kind)[place]
    asked = 0
    while (party := lab.asked) is not None:
        amount = (lab.sight(party).get("maximum") or 250) + 50
        fields = {"amount": min(amount, 400)} if act in ACT else {}
        if lab.say(party, act, **fields).rule is not None:
            assert None is lab.say("operator", "turn.pass", party=party).rule
        asked += 1
    assert 9 == len(lab.results)
    assert (3 if act == "price.accept" else 9) <= asked <= 63


@pytest.mark.parametrize("kind", MOVES)
def test_a_market_that_nobody_answers_ends(kind: str) -> None:
    lab = Laboratory(kind, ["b1", "b2", "b3"], rounds=2, group=0, price=100, reserve=100)
    while (due := WORLD.due(lab.state)) is not None:
        lab.say(OPERATOR, "turn.pass", party=due.party) if isinstance(due, Ask) else lab.operate()
    assert [([], 0)] * 2 == lab.sold


def test_first_of_all_a_round_is_opened() -> None:
    lab = Laboratory("proxy", ["b1", "b2"])
    assert isinstance(WORLD.due(lab.state), Operate)
    assert None is lab.sight("b1") is WORLD.understood(lab.state, "b1", "hold")
    assert ["proxy.closed"] == lab.rules(("b1", "proxy.hold", None))

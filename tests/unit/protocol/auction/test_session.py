"""Sessions: rounds and groups, and parameters that don't fit together."""

from __future__ import annotations

from typing import Any

import pytest
from laboratory import WORLD, Laboratory, truthful

from tollbook.protocol.auction.session import Session, groups_of, problem
from tollbook.protocol.errors import WorldError

SIX = tuple(f"b{place}" for place in range(1, 7))


def _session(**fields: Any) -> Session:
    return Session(**{"format": "first_price", "bidders": SIX, **fields})


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (None, {}),
        ("a bidder twice", {"bidders": ("b1", "b1")}),
        ("bidders that fill no whole groups", {"group": 4}),
        ("values of which the lowest is above the highest", {"low": 2, "high": 1}),
        ("a reserve over the cap", {"reserve": 11, "cap": 10}),
        ("an error where values aren't common", {"error": 1}),
        (None, {"error": 1, "values": "common"}),
        ("more than one unit where one is sold", {"units": 2}),
        (None, {"units": 5, "format": "uniform_price"}),
        ("as many units as bidders, or more", {"units": 6, "format": "uniform_price"}),
        ("as many units as bidders, or more", {"units": 3, "group": 3, "format": "posted_price"}),
        ("a price over the cap", {"price": 11, "cap": 10}),
        ("a reserve where the clock doesn't begin", {"format": "english_open", "reserve": 5}),
        ("a reserve where the clock doesn't begin", {"format": "english_closed", "price": 5}),
        (None, {"format": "english_closed", "price": 5, "reserve": 5}),
        ("a price below the reserve", {"format": "dutch", "reserve": 5, "price": 4}),
        ("a price below the reserve", {"format": "posted_price", "reserve": 5, "price": 4}),
        ("sellers who don't bid", {"format": "double", "sellers": ("x",)}),
        ("sellers where nobody but the house sells", {"sellers": ("b1",)}),
        ("a double auction of one side", {"format": "double"}),
        ("a double auction of one side", {"format": "double", "sellers": SIX}),
        ("a double auction in groups", {"format": "double", "sellers": ("b1",), "group": 3}),
        (None, {"format": "double", "sellers": ("b1",)}),
    ],
)
def test_parameters_that_contradict_each_other(text: str | None, fields: dict[str, Any]) -> None:
    assert text == problem(_session(**fields))


def test_a_session_that_contradicts_itself_is_no_start_row() -> None:
    with pytest.raises(WorldError, match="a row of `session` contradicts itself: bidders that fill no"):
        Laboratory("first_price", SIX, group=4)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "there is no row `s` of `session`"),
        ([("session", "t")], "row `t` of `session` can't be there before the first round"),
        ([("session", "s"), ("played", "s")], "row `s` of `played` can't be there before the first round"),
        ([("session", "s")], "row `s` of `session` has `b1` bid, whose value isn't"),
        ([("session", "s"), ("induced", "late")], "row `s` of `session` has `b1` bid, whose value isn't"),
        ([("session", "s"), ("induced", "one")], "row `s` of `session` has `b2` bid, whose value isn't"),
    ],
)
def test_start_rows_that_no_session_can_begin_with(rows: list[tuple[str, str]], message: str) -> None:
    tables = WORLD.tables
    stated = {
        ("session", "s"): _session(values="stated"),
        ("session", "t"): _session(),
        ("played", "s"): tables["played"](rounds=0, auctions=()),
        ("induced", "late"): tables["induced"](bidder="b1", value=5, round=2),
        ("induced", "one"): tables["induced"](bidder="b1", value=5),
    }
    with pytest.raises(WorldError) as caught:
        WORLD.facts([(table, key, stated[table, key]) for table, key in rows])
    assert ("facts.row", message) == (caught.value.code, caught.value.text[: len(message)])


def test_groups_as_listed_and_drawn_anew() -> None:
    assert (SIX,) == groups_of(_session(), 1)
    listed = (("b1", "b2", "b3"), ("b4", "b5", "b6"))
    for matching in ("single", "fixed"):
        assert {listed} == {groups_of(_session(group=3, matching=matching), n) for n in (1, 2, 9)}
    drawn = [groups_of(_session(group=3, matching="rematched", seed=5), n) for n in range(1, 30)]
    assert {SIX} == {tuple(sorted(sum(groups, ()))) for groups in drawn}
    assert 25 < len(set(drawn))
    assert drawn[0] != groups_of(_session(group=3, matching="rematched", seed=6), 1)


@pytest.mark.parametrize("kind", ["dutch", "posted_price"])
def test_where_order_matters_it_is_drawn_for_each_round(kind: str) -> None:
    session = _session(format=kind, group=3, price=10)
    drawn = [groups_of(session, n) for n in range(1, 60)]
    assert {("b1", "b2", "b3")} == {tuple(sorted(groups[0])) for groups in drawn}
    assert 6 == len({groups[0] for groups in drawn})
    assert 6 == len({groups[1] for groups in drawn})
    assert any(groups[0] != tuple(f"b{int(each[1]) - 3}" for each in groups[1]) for groups in drawn)


def test_rounds_open_one_after_another_and_are_closed_after_the_last() -> None:
    lab = Laboratory("first_price", SIX, rounds=2, group=3)
    assert None is lab.say("operator", "round.open").rule
    assert "round.running" == lab.say("operator", "round.open").rule
    assert "party.role" == lab.say("b1", "round.open").rule
    assert 12 == len(lab.play(truthful))
    assert "round.last" == lab.say("operator", "round.open").rule
    assert ("a2_1", "a2_2") == lab.state.get("played", "s").auctions


def test_groups_are_auctions_of_their_own() -> None:
    values = dict(zip(SIX, (600, 500, 400, 60, 50, 40), strict=True))
    lab = Laboratory("second_price", values, group=3)
    lab.play(truthful)
    assert [(["b1"], 500), (["b4"], 50)] == lab.sold
    assert {"b4": (1, 50, 10), "b5": (0, 0, 0), "b6": (0, 0, 0)} == lab.came_to("a1_2")


def test_a_bidder_that_was_rematched_bids_in_its_new_auction() -> None:
    lab = Laboratory("second_price", SIX, group=2, matching="rematched", rounds=20, feedback="bids", seed=1)
    lab.play(truthful)
    for number in range(1, 21):
        for place, group in enumerate(groups_of(lab.state.get("session", "s"), number), 1):
            assert {*group} == lab.came_to(f"a{number}_{place}").keys()


def test_a_group_s_second_auction_waits_for_the_first() -> None:
    lab = Laboratory("second_price", SIX, group=3)
    asked = []
    while (party := lab.asked) is not None:
        asked.append(party)
        lab.say(party, "bid.pass")
    assert list(SIX) == asked


def test_values_don_t_depend_on_the_format_or_on_what_is_bid() -> None:
    drawn = []
    for kind, act in (("first_price", "bid.pass"), ("english_open", "clock.exit"), ("proxy", "proxy.hold")):
        lab = Laboratory(kind, SIX, rounds=3, seed=4)
        lab.play(lambda _market, act=act: {"kind": act})
        drawn.append({key: (row.value, row.signal) for key, row in lab.state.rows("valuation")})
    assert drawn[0] == drawn[1] == drawn[2]
    assert 18 == len(drawn[0])

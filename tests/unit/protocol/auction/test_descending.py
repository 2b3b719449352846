"""Dutch clocks: who takes it at which price, that being asked first favours nobody, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from laboratory import WORLD, Laboratory, shading, stopping

from tollbook.protocol.auction.descending import ClockLower, ClockStop, ClockWait
from tollbook.protocol.errors import CanonicalError
from tollbook.protocol.tables import NO_CHANGE
from tollbook.protocol.world import Ask, Operate

THREE = {"b1": 60, "b2": 40, "b3": 20}
STOP, WAIT = {"kind": "clock.stop"}, {"kind": "clock.wait"}

# The highest price at which each stops (None: at none), and who takes it at which price.
OUTCOMES: list[tuple[dict[str, Any], list[int | None], list[tuple[list[str], int]]]] = [
    ({}, [50, 40, 90], [(["b3"], 90)]),
    ({}, [99, 40, 50], [(["b1"], 90)]),
    ({}, [500, 40, 50], [(["b1"], 100)]),
    ({}, [None, None, None], [([], 0)]),
    ({}, [None, 0, None], [(["b2"], 0)]),
    ({}, [None, 9, None], [(["b2"], 0)]),
    ({"reserve": 40}, [None, 40, 20], [(["b2"], 40)]),
    ({"reserve": 40}, [None, 39, 20], [([], 0)]),
    ({"reserve": 45}, [None, 49, 20], [(["b2"], 45)]),  # the clock's last step is shorter
    ({"reserve": 100}, [100, None, None], [(["b1"], 100)]),
    ({"increment": 1}, [73, 72, 20], [(["b1"], 73)]),
    ({"increment": 1_000}, [73, None, None], [(["b1"], 0)]),
]  # fmt: skip


def _lab(**session: Any) -> Laboratory:
    return Laboratory("dutch", THREE, **{"price": 100, "increment": 10, "seed": 1, **session})


@pytest.mark.parametrize(("session", "first", "sold"), OUTCOMES)
def test_stops_come_to(
    session: dict[str, Any], first: list[int | None], sold: list[tuple[list[str], int]]
) -> None:
    lab = _lab(**session)
    at = dict(zip(THREE, first, strict=True))
    while (party := lab.asked) is not None:
        stops_at = at[party]
        lab.move(party, STOP if stops_at is not None and lab.sight(party)["price"] <= stops_at else WAIT)
    assert sold == lab.sold


def test_of_several_who_stop_each_is_as_likely_to_win_whoever_was_asked_first() -> None:
    won, first = [], []
    for seed in range(120):
        lab = _lab(seed=seed)
        first.append(lab.asked)
        lab.play(lambda market: STOP if market["price"] <= 50 else WAIT)
        won.append(lab.sold[0][0][0])
    assert [50] == list({price for _winners, price in lab.sold})
    for party in THREE:
        assert 20 <= won.count(party) <= 60
        assert 20 <= first.count(party) <= 60
    assert 20 <= sum(one == other for one, other in zip(won, first, strict=True)) <= 60


def test_all_are_asked_at_a_price_and_told_nothing_of_the_others() -> None:
    lab = _lab()
    lab.operate()
    order = lab.auction().bidders
    shown = [lab.sight(party)["price"] for party in order]
    assert None is lab.say(order[0], "clock.stop").rule
    assert Ask(order[1]) == WORLD.due(lab.state)
    assert shown == [lab.sight(party)["price"] for party in order]
    assert {"active", "exits"}.isdisjoint(lab.sight(order[1]))
    assert "clock.waits" == lab.say("operator", "clock.lower", auction="a1_1").rule
    assert [None, None] == lab.rules((order[1], "clock.wait", None), (order[2], "clock.wait", None))
    assert [([order[0]], 100)] == lab.sold


def test_the_clock_goes_down_once_everybody_waits() -> None:
    lab = _lab(reserve=95)
    lab.operate()
    for party in lab.auction().bidders:
        assert None is lab.say(party, "clock.wait").rule
        assert "clock.twice" == lab.say(party, "clock.stop").rule
    assert Operate(ClockLower("a1_1")) == WORLD.due(lab.state)
    assert "clock.auction" == lab.say("operator", "clock.lower", auction="other").rule
    assert "clock.format" == lab.say("operator", "clock.raise", auction="a1_1").rule
    assert None is lab.say("operator", "clock.lower", auction="a1_1").rule
    assert 95 == lab.auction().price


def test_refusals_come_in_their_order_and_change_nothing() -> None:
    lab = _lab()
    lab.operate()
    one, two, three = lab.auction().bidders
    refused: list[tuple[str | None, str, str]] = [
        ("party.role", "operator", "clock.stop"),
        ("clock.format", one, "clock.stay"),
        ("proxy.format", one, "proxy.hold"),
        ("clock.turn", two, "clock.stop"),
        (None, one, "clock.stop"),
        ("clock.twice", one, "clock.stop"),
        ("clock.twice", one, "clock.wait"),
        ("clock.turn", three, "clock.wait"),
        (None, two, "clock.wait"),
        ("clock.twice", two, "clock.stop"),
        (None, three, "clock.wait"),
        ("clock.closed", two, "clock.stop"),
        ("clock.closed", one, "clock.wait"),
    ]
    for rule, party, kind in refused:
        before = lab.state.root()
        decision = lab.say(party, kind)
        assert (rule, rule is None) == (decision.rule, decision.delta != NO_CHANGE), (party, kind)
        assert (rule is not None) == (before == lab.state.root())
    assert [([one], 100)] == lab.sold


def test_an_answer_has_no_amount_and_is_nobody_else_s() -> None:
    lab = _lab()
    one = lab.asked or ""
    before = lab.state.root()
    for field in (b'"amount":-5', b'"amount":5', b'"amount":"x"', b'"auction":"a1_1"', b'"bidder":"b2"'):
        assert "action.invalid" == lab.say_raw(one, b"{" + field + b',"kind":"clock.stop"}').rule
    for amount in (b"NaN", b"1000000000000000000000000000000"):
        with pytest.raises(CanonicalError):
            lab.say_raw(one, b'{"amount":' + amount + b',"kind":"clock.wait"}')
    assert before == lab.state.root()


@pytest.mark.parametrize(
    ("words", "move"),
    [("Stop!", ClockStop()), ("I wait", ClockWait()), ("Don't stop", None), ("Wait… no, stop", None)],
)
def test_words(words: str, move: object) -> None:
    lab = _lab()
    assert move == WORLD.understood(lab.state, lab.asked or "", words)


def test_the_operator_s_pass_waits() -> None:
    lab = _lab()
    one = lab.asked
    assert None is lab.say("operator", "turn.pass", party=one).rule
    assert (1, True) == (lab.auction().turn, lab.asked != one)


@pytest.mark.parametrize(
    ("n", "session"),
    [(2, {}), (3, {}), (5, {}), (3, {"reserve": 30}), (4, {"group": 2, "matching": "rematched"})],
)
def test_with_an_increment_of_a_cent_it_is_the_first_price_auction(n: int, session: dict[str, Any]) -> None:
    """Ties of the highest bids among them: with values up to 60 there are some."""
    bidders = [f"b{place}" for place in range(1, n + 1)]
    common = {"rounds": 60, "high": 60, "seed": 11, **session}
    clock = Laboratory("dutch", bidders, increment=1, price=60, **common)
    sealed = Laboratory("first_price", bidders, **common)
    clock.play(stopping)
    sealed.play(shading)
    assert sealed.sold == clock.sold
    assert [row.profit for row in sealed.results] == [row.profit for row in clock.results]


def test_with_a_larger_increment_the_price_is_within_one() -> None:
    bidders = ["b1", "b2", "b3"]
    common = {"rounds": 150, "high": 1_000, "seed": 12}
    clock = Laboratory("dutch", bidders, increment=25, price=1_000, **common)
    sealed = Laboratory("first_price", bidders, **common)
    clock.play(stopping)
    sealed.play(shading)
    off = [other[1] - one[1] for one, other in zip(clock.sold, sealed.sold, strict=True)]
    assert 0 <= min(off) <= max(off) < 25
    assert 130 < sum(one[0] == other[0] for one, other in zip(clock.sold, sealed.sold, strict=True)) < 150

"""English clocks: who wins at which price, what is shown of exits, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from laboratory import WORLD, Laboratory, staying, truthful

from tollbook.protocol.auction.ascending import ClockExit, ClockRaise, ClockStay
from tollbook.protocol.auction.session import lots
from tollbook.protocol.errors import CanonicalError
from tollbook.protocol.tables import NO_CHANGE
from tollbook.protocol.world import Ask, Operate

THREE = {"b1": 60, "b2": 40, "b3": 20}
OPEN = ("english_open", "english_closed")
STAY, EXIT = {"kind": "clock.stay"}, {"kind": "clock.exit"}

# The last price at which each stays (None: at none), and who wins at which price.
OUTCOMES: list[tuple[dict[str, Any], list[int | None], list[tuple[list[str], int]]]] = [
    ({}, [90, 30, 20], [(["b1"], 40)]),
    ({}, [90, 30, 30], [(["b1"], 40)]),
    ({}, [30, 90, 30], [(["b2"], 40)]),
    ({}, [90, None, None], [(["b1"], 0)]),
    ({}, [None, None, None], [([], 0)]),
    ({}, [None, None, 0], [(["b3"], 0)]),
    ({}, [20, None, 20], [(["b1"], 21)]),  # both exit at 30
    ({"unit": 5}, [20, None, 20], [(["b1"], 25)]),
    ({"unit": 20}, [20, None, 20], [(["b1"], 30)]),  # never more than the price at which they left
    ({"increment": 1}, [20, None, 20], [(["b1"], 21)]),
    ({"cap": 55}, [90, 90, 30], [(["b1"], 50)]),  # the clock can't go on
    ({"cap": 50}, [90, 40, 30], [(["b1"], 50)]),
    ({"cap": 9}, [90, 40, 30], [(["b1"], 0)]),
    ({"price": 20, "reserve": 20}, [90, None, None], [(["b1"], 20)]),
    ({"price": 20, "reserve": 20}, [None, None, None], [([], 0)]),
    ({"price": 20, "reserve": 20}, [90, 20, None], [(["b1"], 30)]),
]  # fmt: skip


def _lab(kind: str = "english_open", **session: Any) -> Laboratory:
    return Laboratory(kind, THREE, **{"increment": 10, "cap": 1_000, "seed": 1, **session})


@pytest.mark.parametrize("kind", OPEN)
@pytest.mark.parametrize(("session", "last", "sold"), OUTCOMES)
def test_exits_come_to(
    kind: str, session: dict[str, Any], last: list[int | None], sold: list[tuple[list[str], int]]
) -> None:
    lab = _lab(kind, **session)
    until = dict(zip(THREE, last, strict=True))
    assert "b1" == lots(lab.state.get("session", "s"), "a1_1", THREE)[0]
    while (party := lab.asked) is not None:
        stays_to = until[party]
        lab.move(party, STAY if stays_to is not None and lab.sight(party)["price"] <= stays_to else EXIT)
    assert sold == lab.sold


def test_a_tie_goes_by_lot_to_each_of_those_in_it() -> None:
    won = []
    for seed in range(40):
        lab = _lab(seed=seed)
        lab.play(lambda market: STAY if market["price"] < 20 + 10 * (market["value"] > 20) else EXIT)
        won.append(lab.sold[0])
    assert {"b1", "b2"} == {winners[0] for winners, _price in won}
    assert {21} == {price for _winners, price in won}


def test_whoever_is_asked_last_answers_though_all_others_left_and_pays_no_more_than_it_said() -> None:
    lab = _lab()
    for party in THREE:
        lab.move(party, STAY) if lab.asked == party else None
    lab.operate()
    assert [None, None] == lab.rules(("b1", "clock.exit", None), ("b2", "clock.exit", None))
    assert "b3" == lab.asked
    assert None is lab.say("b3", "clock.exit").rule
    assert [(["b1"], 1)] == lab.sold  # all of them left at 10, having stayed at 0


def test_the_clock_goes_up_once_everybody_has_answered() -> None:
    lab = _lab()
    lab.say("operator", "round.open")
    for party in THREE:
        assert Ask(party) == WORLD.due(lab.state)
        assert "clock.waits" == lab.say("operator", "clock.raise", auction="a1_1").rule
        lab.say(party, "clock.stay")
    assert Operate(ClockRaise("a1_1")) == WORLD.due(lab.state)
    assert ["clock.twice"] * 3 == lab.rules(*((party, "clock.stay", None) for party in THREE))
    assert "clock.auction" == lab.say("operator", "clock.raise", auction="a1_2").rule
    assert None is lab.say("operator", "clock.raise", auction="a1_1").rule
    assert (10, Ask("b1")) == (lab.auction().price, WORLD.due(lab.state))


def test_an_open_clock_shows_exits_once_a_price_is_over() -> None:
    lab = _lab()
    lab.operate()
    assert ([], 3) == (lab.sight("b1")["exits"], lab.sight("b1")["active"])
    lab.say("b1", "clock.exit")
    assert ([], 3) == (lab.sight("b2")["exits"], lab.sight("b2")["active"])
    lab.rules(("b2", "clock.stay", None), ("b3", "clock.stay", None))
    lab.operate()
    assert ([0], 2, 10) == tuple(lab.sight("b3")[name] for name in ("exits", "active", "price"))


def test_a_closed_clock_shows_the_price_alone() -> None:
    lab = _lab("english_closed")
    lab.operate()
    shown = lab.sight("b2")
    assert not {"exits", "active"} & shown.keys()
    lab.say("b1", "clock.exit")
    assert shown == lab.sight("b2")
    lab.rules(("b2", "clock.stay", None), ("b3", "clock.stay", None))
    lab.operate()
    assert {**shown, "price": 10} == lab.sight("b2")


REFUSED: list[tuple[str | None, str, str]] = [
    # refused by        by          kind
    ("party.role",     "operator",  "clock.stay"),
    ("clock.format",   "b1",        "clock.stop"),
    ("bid.format",     "b1",        "bid.pass"),
    ("clock.turn",     "b2",        "clock.stay"),
    ("clock.turn",     "b3",        "clock.exit"),
    (None,             "b1",        "clock.exit"),
    ("clock.left",     "b1",        "clock.stay"),
    ("clock.left",     "b1",        "clock.exit"),
    ("clock.turn",     "b3",        "clock.stay"),
    (None,             "b2",        "clock.stay"),
    ("clock.twice",    "b2",        "clock.exit"),
    (None,             "b3",        "clock.exit"),
    ("clock.closed",   "b2",        "clock.stay"),
    ("clock.closed",   "b1",        "clock.exit"),
]  # fmt: skip


@pytest.mark.parametrize("kind", OPEN)
def test_refusals_come_in_their_order_and_change_nothing(kind: str) -> None:
    lab = _lab(kind)
    lab.operate()
    for rule, party, act in REFUSED:
        before = lab.state.root()
        decision = lab.say(party, act)
        assert (rule, rule is None) == (decision.rule, decision.delta != NO_CHANGE), (party, act)
        assert (rule is not None) == (before == lab.state.root())
    assert "clock.auction" == lab.say("operator", "clock.raise", auction="a1_1").rule
    assert "clock.format" == lab.say("operator", "clock.lower", auction="a1_1").rule
    assert [(["b2"], 0)] == lab.sold


@pytest.mark.parametrize("kind", OPEN)
def test_an_answer_has_no_amount_and_is_nobody_else_s(kind: str) -> None:
    lab = _lab(kind)
    lab.operate()
    before = lab.state.root()
    for field in (b'"amount":-5', b'"amount":5', b'"amount":"x"', b'"auction":"a1_1"', b'"bidder":"b2"'):
        assert "action.invalid" == lab.say_raw("b1", b"{" + field + b',"kind":"clock.stay"}').rule
    for amount in (b"NaN", b"1000000000000000000000000000000"):
        with pytest.raises(CanonicalError):
            lab.say_raw("b1", b'{"amount":' + amount + b',"kind":"clock.exit"}')
    assert before == lab.state.root()


@pytest.mark.parametrize(
    ("words", "move"),
    [("I stay.", ClockStay()), ("EXIT", ClockExit()), ("I will not exit", None), ("stay or exit", None)],
)
def test_words(words: str, move: object) -> None:
    lab = _lab()
    lab.operate()
    assert move == WORLD.understood(lab.state, "b1", words)


def test_the_operator_s_pass_is_an_exit() -> None:
    lab = _lab()
    lab.operate()
    assert None is lab.say("operator", "turn.pass", party="b1").rule
    assert (("b2", "b3"), 0) == (lab.auction().active, lab.state.get("exit", "e1_b1").price)


def test_feedback_of_all_bids_is_the_prices_at_which_others_left() -> None:
    lab = _lab("english_closed", rounds=2, feedback="bids")
    lab.play(staying, rounds=1)
    assert [40, 20] == lab.sight("b1")["before"]["bids"]


@pytest.mark.parametrize(
    ("kind", "n", "session"),
    [
        ("english_open", 2, {}),
        ("english_closed", 3, {}),
        ("english_open", 5, {}),
        ("english_open", 4, {"group": 2, "matching": "rematched"}),
    ],
)
def test_with_an_increment_of_a_cent_it_is_the_second_price_auction(
    kind: str, n: int, session: dict[str, Any]
) -> None:
    """Ties of the highest values among them: with values up to 60 there are some."""
    bidders = [f"b{place}" for place in range(1, n + 1)]
    common = {"rounds": 60, "high": 60, "seed": 11, **session}
    clock = Laboratory(kind, bidders, increment=1, **common)
    sealed = Laboratory("second_price", bidders, **common)
    clock.play(staying)
    sealed.play(truthful)
    assert sealed.sold == clock.sold
    assert [row.profit for row in sealed.results] == [row.profit for row in clock.results]


def test_with_a_larger_increment_the_price_is_within_one() -> None:
    bidders = ["b1", "b2", "b3"]
    common = {"rounds": 150, "high": 1_000, "seed": 12}
    clock = Laboratory("english_open", bidders, increment=25, **common)
    sealed = Laboratory("second_price", bidders, **common)
    clock.play(staying)
    sealed.play(truthful)
    off = [one[1] - other[1] for one, other in zip(clock.sold, sealed.sold, strict=True)]
    assert -25 < min(off) <= max(off) < 25
    assert 0 <= min(row.profit for row in clock.results)
    differing = [place for place, each in enumerate(clock.sold) if each[0] != sealed.sold[place][0]]
    for number in differing:  # values between the same two prices are a tie
        values = sorted(clock.state.get("valuation", f"v{number + 1}_{party}").value for party in bidders)
        assert (values[-1] - 1) // 25 == (values[-2] - 1) // 25


def test_with_a_reserve_it_is_the_second_price_auction_where_the_highest_value_is_over_it() -> None:
    """Who values it at the reserve exactly gains nothing by buying, and on a clock doesn't."""
    bidders = ["b1", "b2", "b3"]
    common = {"rounds": 80, "high": 60, "seed": 13, "reserve": 40}
    clock = Laboratory("english_open", bidders, increment=1, price=40, **common)
    sealed = Laboratory("second_price", bidders, **common)
    clock.play(staying)
    sealed.play(truthful)
    highest = [
        max(clock.state.get("valuation", f"v{number}_{party}").value for party in bidders)
        for number in range(1, 81)
    ]
    alike = [one == other for one, other in zip(clock.sold, sealed.sold, strict=True)]
    assert [value != 40 for value in highest] == alike
    assert 10 < sum(not each[0] for each in clock.sold)

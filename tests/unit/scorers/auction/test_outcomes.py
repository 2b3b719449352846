"""What auctions came to, each figure worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from sittings import WORLD, Move, Sitting

from tollbook.scorers.auction.measures import MARKET, measure
from tollbook.scorers.auction.reading import Reading
from tollbook.scorers.measures import Key, Measured

F = Fraction
HOLD: Move = {"kind": "proxy.hold"}


def values(measured: Measured, party: str | None = None) -> dict[str, Fraction | None]:
    sums = measured.session if party is None else measured.parties[party]
    return {key.text: each.value for key, each in sums.items() if each.weight}


# Round 1: 800 beats 600 at 650. Round 2: 500 bids 700 and beats 900, who bids 690: a loss of 190.
TWO = Sitting({"b1": [800, 500], "b2": [600, 900]}, format="second_price", rounds=2).moves(820, 650, 700, 690)


@pytest.mark.parametrize(
    ("expected",      "party", "name"),
    [
        (670,         None,    "revenue"),           # 650 and 690
        (F(13, 17),   None,    "efficiency"),        # 800 + 500 of 800 + 900
        (F(-10),      None,    "profit"),            # 150 and −190, over four rounds of a bidder
        (F(-40, 2800), None,   "profit_ratio"),
        (F(1, 2),     None,    "win"),
        (F(1, 2),     None,    "loss"),
        (F(-20),      "b1",    "profit"),
        (F(0),        "b2",    "profit"),
        (1,           "b1",    "win"),
        (F(1, 2),     "b1",    "loss"),
        (F(0),        "b2",    "win"),
    ],
)  # fmt: skip
def test_two_rounds(expected: Fraction, party: str | None, name: str) -> None:
    assert expected == values(measure(TWO.episode), party)[name]


def test_who_never_won_has_no_rate_of_losses() -> None:
    assert "loss" not in values(measure(TWO.episode), "b2")


def test_of_stated_values_no_revenue_is_expected() -> None:
    assert "revenue_ratio" not in values(measure(TWO.episode))


def test_revenue_over_what_theory_expects() -> None:
    sitting = Sitting(["b1", "b2"], format="second_price", values="private", high=9_000, seed=1)
    # Of two values from 0 to 9,000 the lower is 3,000 on average.
    assert F(1, 3) == values(measure(sitting.moves(1_000, 1_000).episode))["revenue_ratio"]


def test_in_an_all_pay_auction_everybody_pays() -> None:
    found = values(measure(Sitting({"b1": 800, "b2": 600}, format="all_pay").moves(300, 200).episode))
    assert (500, F(300 - 0, 2) - 0, 1) == (found["revenue"], found["profit"], found["efficiency"])


def test_what_is_not_sold_brings_nothing() -> None:
    sitting = Sitting({"b1": 800, "b2": 600}, format="second_price", reserve=700).moves(None, None)
    found = values(measure(sitting.episode))
    assert (0, 0) == (found["revenue"], found["efficiency"])


def cursed(amounts: list[int], **session: Any) -> Measured:
    fields = {"values": "common", "low": 0, "high": 10_000, "error": 1_000, "seed": 1, **session}
    return measure(Sitting(["b1", "b2"], format="first_price", **fields).moves(*amounts).episode)


def worth(**session: Any) -> tuple[int, dict[str, int]]:
    """The value that is drawn, and the signals."""
    fields = {"values": "common", "low": 0, "high": 10_000, "error": 1_000, "seed": 1, **session}
    reading = Reading(Sitting(["b1", "b2"], format="first_price", **fields).episode)
    return reading.worth[1, "b1"].value, {bidder: reading.worth[1, bidder].signal for bidder in ("b1", "b2")}


def test_a_winner_is_cursed_by_a_bid_above_what_the_highest_signal_is_worth() -> None:
    value, signals = worth()
    assert 2_000 <= value <= 8_000
    cap = signals["b1"] - 1_000 // 3  # x − e(n − 1)/(n + 1), e 1,000 and n 2: x − 333.3…
    assert 1 == values(cursed([cap, 0]))["curse"]
    assert 0 == values(cursed([cap - 1, 0]))["curse"]


def test_what_winners_lose_and_what_they_are_left_with() -> None:
    value, _ = worth()
    found = values(cursed([value + 70, 0]))
    assert (70, -70, 1) == (found["curse_loss"], found["winner_profit"], found["loss"])
    found = values(cursed([value - 70, 0]))
    assert (0, 70, 0) == (found["curse_loss"], found["winner_profit"], found["loss"])


def test_of_a_value_near_the_ends_no_curse_is_told() -> None:
    found = values(cursed([100, 0], error=4_000))
    assert ("curse" in found, found["win"]) == (False, F(1, 2))


@pytest.mark.parametrize("seed", [4, 1])
def test_a_value_is_inside_two_errors_from_either_end(seed: int) -> None:
    value, _ = worth(seed=seed)
    least = min(value, 10_000 - value) // 2
    for expected, error in ((True, least), (False, least + 1)):
        fields = {"values": "common", "low": 0, "high": 10_000, "error": error, "seed": seed}
        reading = Reading(Sitting(["b1", "b2"], format="first_price", **fields).episode)
        assert expected == reading.is_inside((1, "b1"))


def test_these_values_are_nearer_to_one_end_each() -> None:
    assert [True, False] == [worth(seed=seed)[0] < 5_000 for seed in (4, 1)]


def proxy(*periods: tuple[Move, Move], **session: Any) -> dict[str, Fraction | None]:
    sitting = Sitting({"b1": 800, "b2": 600}, format="proxy", **session)
    return values(measure(sitting.moves(*(move for period in periods for move in period)).episode))


def most(amount: int) -> Move:
    return {"kind": "proxy.bid", "amount": amount}


EARLY, LATE, NONE = (most(700), most(500)), (HOLD, most(800)), (HOLD, HOLD)


@pytest.mark.parametrize(
    ("expected", "periods",                  "session"),
    [
        (0,      (EARLY, NONE),              {"periods": 2}),
        (1,      (EARLY, LATE),              {"periods": 2}),
        (0,      (EARLY, LATE, NONE),        {"periods": 3}),
        # The second period was the last when b2 took the lead in it, though it added a third.
        (1,      (EARLY, LATE, NONE),        {"periods": 2, "close": "soft"}),
        # b1 answers in the third: last again, and then there is a fourth.
        (1,      (EARLY, LATE, (most(900), HOLD), NONE), {"periods": 2, "close": "soft"}),
        (0,      (EARLY, NONE),              {"periods": 2, "close": "soft"}),
        # A higher maximum of who leads already decides nothing.
        (0,      (EARLY, (most(790), HOLD)), {"periods": 2}),
    ],
)  # fmt: skip
def test_late_bids(expected: int, periods: tuple[tuple[Move, Move], ...], session: dict[str, Any]) -> None:
    assert expected == proxy(*periods, **session)["last_period"]


def test_where_nobody_bids_nothing_is_late() -> None:
    assert "last_period" not in proxy(NONE, periods=1)


def test_turns() -> None:
    sitting = Sitting({"b1": 800, "b2": 600}, format="second_price", cap=1_000, rounds=2)
    text = {"kind": "agent.unparsed", "text": "0" * 64}
    sitting.moves(text, 2_000, text, 700, 600, text, None, 600)
    found = measure(sitting.episode)
    assert {"unparsed": F(3, 2), "refused": F(1, 2), "passed": F(1, 2)} == {
        name: found.parties["b1"][Key(name)].value for name in ("unparsed", "refused", "passed")
    }
    assert F(3, 4) == found.session[Key("unparsed")].value


def test_every_measure_says_what_it_is_and_none_is_unlisted() -> None:
    episodes = [TWO.episode, Sitting(["b1", "b2"], format="proxy", values="common").episode]
    found = {key.name for episode in episodes for key in measure(episode).session}
    assert found <= set(MARKET.measures)
    assert "" not in {measure.meaning for measure in MARKET.measures.values()}
    assert WORLD.name == "auction"

"""What each bidder's moves say that it bid, in every format; b1 is worth 800, b2 600 unless stated."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from sittings import Move, Sitting

from tollbook.scorers.auction.bids import Bid, bids_of
from tollbook.scorers.auction.reading import Reading

STAY, EXIT = {"kind": "clock.stay"}, {"kind": "clock.exit"}
STOP, WAIT = {"kind": "clock.stop"}, {"kind": "clock.wait"}
ACCEPT, DECLINE = {"kind": "price.accept"}, {"kind": "price.decline"}
HOLD = {"kind": "proxy.hold"}


def most(amount: int) -> dict[str, Any]:
    return {"kind": "proxy.bid", "amount": amount}


def bounds(format_: str, said: dict[str, list[Move]], **session: Any) -> dict[str, Any]:
    sitting = Sitting({"b1": 800, "b2": 600}, format=format_, **session).all_say(said)
    return {bid.bidder: (bid.low, bid.high) for bid in bids_of(Reading(sitting.episode))}


CLOCK = {"increment": 100, "unit": 10}
ENGLISH = {**CLOCK, "cap": 1_000}
DUTCH = {**CLOCK, "price": 900, "reserve": 500}
POSTED = {"price": 700, "unit": 10}


TWO: dict[str, Any] = {"periods": 2}


@pytest.mark.parametrize(
    ("b1",        "b2",        "format_",        "says_1",               "says_2",             "session"),
    [
        ((700, 700),  None,        "second_price",   [700],                  [None],               {}),
        ((700, 700),  (0, 0),      "all_pay",        [700],                  [0],                  {}),
        # b1 stays at 0 and 100; b2 leaves at 100, having stayed at 0
        ((110, None), (10, 100),   "english_closed", [STAY, STAY],           [STAY, EXIT],         ENGLISH),
        # who leaves at the price at which the clock begins has bid nothing
        ((10, None),  None,        "english_open",   [STAY],                 [EXIT],               ENGLISH),
        (None,        None,        "english_open",   [EXIT],                 [EXIT],               ENGLISH),
        # both leave at 200: both bids are known, though one of them wins
        ((110, 200),  (110, 200),  "english_open",   [STAY, STAY, EXIT],     [STAY, STAY, EXIT],   ENGLISH),
        # b1 waits at 900 and stops at 800; b2 would have gone lower still
        ((800, 890),  (None, 790), "dutch",          [WAIT, STOP],           [WAIT, WAIT],         DUTCH),
        # stopped where the clock begins: any amount from there on
        ((900, None), (None, 890), "dutch",          [STOP],                 [WAIT],               DUTCH),
        # nobody takes it at the reserve: both have bid nothing
        (None,        None,        "dutch",          [WAIT] * 5,             [WAIT] * 5,           DUTCH),
        ((700, 700),  (300, 300),  "proxy",          [most(500), most(700)], [most(300), HOLD],    TWO),
        ((700, 700),  None,        "proxy",          [HOLD, most(700)],      [HOLD, HOLD],         TWO),
        ((None, 690), (700, None), "posted_price",   [DECLINE],              [ACCEPT],             POSTED),
    ],
)  # fmt: skip
def test_the_bounds_of_bids(  # noqa: PLR0913 - two bidders
    b1: Any, b2: Any, format_: str, says_1: list[Move], says_2: list[Move], session: dict[str, Any]
) -> None:
    nothing = (None, None)
    found = bounds(format_, {"b1": says_1, "b2": says_2}, **session)
    assert {"b1": b1 or nothing, "b2": b2 or nothing} == found


def test_who_comes_when_all_is_sold_has_made_no_choice() -> None:
    said = {"b1": [ACCEPT], "b2": [ACCEPT]}
    assert 1 == len(bounds("posted_price", said, price=500))


def test_a_bid_that_was_refused_is_none() -> None:
    sitting = Sitting({"b1": 800, "b2": 600}, format="second_price", cap=1_000)
    assert "bid.cap" == sitting.move(2_000).rule
    (first, _) = bids_of(Reading(sitting.moves(700, 600).episode))
    assert (700, 700) == (first.low, first.high)


def test_an_auction_that_is_open_at_the_end_has_no_bids() -> None:
    assert [] == bids_of(Reading(Sitting({"b1": 800, "b2": 600}, format="second_price").moves(700).episode))


def bid(low: int | None, high: int | None, benchmark: int | None) -> Bid:
    return Bid(
        1, "b1", 800, low, high, None if benchmark is None else Fraction(benchmark), has_benchmark=True
    )


@pytest.mark.parametrize(
    ("expected", "low", "high", "benchmark"),
    [
        (20,     820,   820,    800),
        (-20,    780,   780,    800),
        (0,      710,   800,    800),   # left at 800, as who stays while it is below does
        (0,      710,   800,    710),
        (-100,   710,   800,    900),   # left too early
        (110,    710,   800,    600),   # stayed too long
        (0,      700,   None,   800),   # bought, as told
        (100,    700,   None,   600),   # bought, though told not to
        (-110,   None,  690,    800),   # declined, though told to buy
    ],
)  # fmt: skip
def test_the_amount_nearest_to_the_benchmark_stands_for_a_bid(
    expected: int, low: int | None, high: int | None, benchmark: int
) -> None:
    assert expected == bid(low, high, benchmark).deviation


def test_benchmarks_are_those_of_the_market() -> None:
    sitting = Sitting(["b1", "b2"], format="first_price", values="private", high=10_000, seed=7)
    bids = bids_of(Reading(sitting.moves(100, 100).episode))
    assert [Fraction(each.value, 2) for each in bids] == [each.benchmark for each in bids]


def test_of_stated_values_theory_has_no_first_price_bid() -> None:
    sitting = Sitting({"b1": 800, "b2": 600}, format="first_price")
    assert {False} == {each.has_benchmark for each in bids_of(Reading(sitting.moves(100, 100).episode))}

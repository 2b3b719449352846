"""Double auctions: two buyers and two sellers, each figure worked out by hand; then Smith's market."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from sittings import Move, Sitting

from tollbook.scorers.auction.measures import measure
from tollbook.scorers.measures import Key
from tollbook.scorers.stats import root

F = Fraction

# Demand 300, 200 and supply 100, 250: one pair, prices from 200 to 250, a surplus of 200.
TRADERS = {"b1": 300, "b2": 200, "s1": 100, "s2": 250}
# By this seed b1, s1, b2, s2, b1 are asked; once b1 and s1 have traded, s2 and b2.
SEED = 7545


def buy(amount: int) -> Move:
    return {"kind": "quote.buy", "amount": amount}


def sell(amount: int) -> Move:
    return {"kind": "quote.sell", "amount": amount}


PASS: Move = {"kind": "quote.pass"}
ROUND = (buy(150), sell(240), PASS, PASS, buy(240), sell(260), buy(270))
"""s1 asks 240 though 150 is bid; b1 takes it. s2 asks 260, and b2 takes it at a loss of 60."""


def market(*moves: Move, **session: Any) -> Sitting:
    fields = {"format": "double", "sellers": ["s1", "s2"], "seed": SEED, **session}
    return Sitting(TRADERS, **fields).moves(*moves)


SUMS = measure(market(*ROUND).episode)


@pytest.mark.parametrize(
    ("expected",                     "party", "name"),
    [
        (F(3, 4),                    None,    "efficiency"),     # 60 + 140 + 10 − 60, of 200
        (100 * root(F(725)) / 225,   None,    "alpha"),          # 15² and 35², about 225
        (2,                          None,    "trades"),
        (2,                          None,    "quantity_ratio"),
        (250,                        None,    "price"),
        (25,                         None,    "price_error"),
        (10,                         None,    "spread"),
        (F(2, 3),                    None,    "crossing"),       # s1 quotes and doesn't, b1 and b2 do
        (F(1, 2),                    None,    "gain_taken"),     # s1 leaves 50, b1 takes 60
        (F(0),                       "s1",    "crossing"),
        (1,                          "b2",    "crossing"),
        (F(0),                       "s1",    "gain_taken"),
        (1,                          "b1",    "gain_taken"),
        (None,                       "b2",    "gain_taken"),     # it was never offered any
        (-60,                        "b2",    "profit"),
    ],
)  # fmt: skip
def test_a_round(expected: Fraction | None, party: str | None, name: str) -> None:
    sums = SUMS.session if party is None else SUMS.parties[party]
    assert expected == sums[Key(name)].value


def test_a_double_auction_has_no_revenue_and_no_bids() -> None:
    assert {"revenue", "win", "bid_ratio", "no_bid"}.isdisjoint(key.name for key in SUMS.session)


def test_each_of_several_rounds_has_its_own() -> None:
    assert {0} == {key.round for key in SUMS.session}
    sums = measure(market(*ROUND, rounds=2).episode).session
    assert {"alpha", "efficiency", "price", "spread", "trades"} == {
        key.name for key in sums if key.round == 1
    }
    assert SUMS.session[Key("alpha")] == sums[Key("alpha", 1)]


def test_a_round_that_is_not_over_is_in_none_of_them() -> None:
    sums = measure(market(*ROUND[:5]).episode).session
    assert {"efficiency": 0, "alpha_slope": 0} == {
        key.name: each.weight
        for key, each in sums.items()
        if key.name in ("efficiency", "alpha", "alpha_slope")
    }


def test_a_round_without_trades_has_no_price() -> None:
    sums = measure(market(*[PASS] * 5, steps=5).episode).session
    assert (0, 0) == (sums[Key("trades")].value, sums[Key("efficiency")].value)
    assert {"alpha", "price", "spread"}.isdisjoint(key.name for key in sums)


@pytest.mark.parametrize(("expected", "clears"), [(0, True), (1, False)])
def test_what_stands_on_after_a_trade_is_there_to_cross(expected: int, *, clears: bool) -> None:
    # b2's bid of 160 stands when b1 and s1 trade; s2 then asks 260, over it where it still stands.
    moves = (buy(150), sell(240), buy(160), PASS, buy(240), sell(260))
    sums = measure(market(*moves, PASS, steps=7, clears=clears).episode).parties["s2"]
    assert expected == sums[Key("crossing")].weight


def test_the_slope_of_alpha_over_rounds() -> None:
    pair = {"format": "double", "sellers": ["s"], "rounds": 2, "steps": 50}
    sitting = Sitting({"b": 300, "s": 100}, **pair)
    for price in (300, 240):  # 50 % and 20 % off the equilibrium of 200
        while sitting.go_on() == "s":
            sitting.move(PASS)
        sitting.move(buy(price))
        while sitting.go_on() == "b":
            sitting.move(PASS)
        sitting.move(sell(price))
    sums = measure(sitting.episode).session
    assert (50, 20, 35, -30) == tuple(
        sums[key].value for key in (Key("alpha", 1), Key("alpha", 2), Key("alpha"), Key("alpha_slope"))
    )

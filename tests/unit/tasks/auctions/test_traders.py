"""What each baseline trader makes of a market, and what markets of them come to (B3 of the auctions page)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from smith_market import PRICE, SURPLUS, Round, alpha, rounds_of, session_of, smith_task

from tollbook.tasks.auctions.baselines import BASELINES
from tollbook.tasks.auctions.traders import (
    Constrained,
    GjerstadDickhaut,
    Trader,
    TruthfulQuotes,
    Unconstrained,
    Zip,
)

MARKET: dict[str, Any] = {
    "round": 1,
    "side": "buy",
    "value": 150,
    "bid": None,
    "ask": None,
    "reserve": 1,
    "cap": 400,
    "unit": 1,
    "improves": True,
    "quotes": [],
}
SELLING: dict[str, Any] = {**MARKET, "side": "sell", "cost": 150}
del SELLING["value"]
PASS = {"kind": "quote.pass"}


def _quote(n: int, side: str, amount: int, price: int | None = None, **more: Any) -> dict[str, Any]:
    traded = {} if price is None else {"price": price}
    return {"n": n, "round": 1, "side": side, "amount": amount, **traded, **more}


def _amounts(trader: Trader, market: dict[str, Any], times: int = 400) -> list[int]:
    moves = [trader.move(market) for _ in range(times)]
    assert {f"quote.{market['side']}"} == {move["kind"] for move in moves}
    return [move["amount"] for move in moves]


@pytest.mark.parametrize(
    ("kind", "market", "low", "high"),
    [
        (Constrained, MARKET, 1, 150),
        (Constrained, SELLING, 150, 400),
        (Constrained, {**SELLING, "reserve": 200, "cap": 325}, 200, 325),
        (Unconstrained, MARKET, 1, 400),
        (Unconstrained, SELLING, 1, 400),
        (Unconstrained, {**MARKET, "reserve": 75, "cap": 325}, 75, 325),
        (TruthfulQuotes, MARKET, 150, 150),
        (TruthfulQuotes, SELLING, 150, 150),
    ],
)
def test_prices_are_within_bounds_and_fill_them(
    kind: type[Trader], market: dict[str, Any], low: int, high: int
) -> None:
    amounts = _amounts(kind("seed", "b1"), market)
    assert low <= min(amounts) <= max(amounts) <= high
    assert max(amounts) - min(amounts) >= (high - low) * 9 // 10


def test_prices_are_multiples_of_the_unit() -> None:
    assert {0} == {amount % 25 for amount in _amounts(Constrained("seed", "b1"), {**MARKET, "unit": 25})}


@pytest.mark.parametrize(
    ("market", "move"),
    [
        ({**MARKET, "bid": 149}, {"kind": "quote.buy", "amount": 150}),
        ({**MARKET, "bid": 150}, PASS),
        ({**MARKET, "bid": 150, "improves": False}, {"kind": "quote.buy", "amount": 150}),
        ({**MARKET, "cap": 149}, PASS),
        ({**MARKET, "unit": 100}, PASS),
        ({**SELLING, "ask": 151}, {"kind": "quote.sell", "amount": 150}),
        ({**SELLING, "ask": 150}, PASS),
        ({**SELLING, "reserve": 151}, PASS),
    ],
)
def test_what_cannot_be_quoted_is_a_pass(market: dict[str, Any], move: dict[str, Any]) -> None:
    assert move == TruthfulQuotes("seed", "b1").move(market)


def test_a_trader_is_the_same_from_the_same_seed_alone() -> None:
    first = _amounts(Constrained("seed", "b1"), MARKET)
    assert first == _amounts(Constrained("seed", "b1"), MARKET)
    assert first != _amounts(Constrained("seed", "b2"), MARKET)
    assert first != _amounts(Constrained("other", "b1"), MARKET)


ZIP_MOVES: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    # What is heard, by whom, of what market (p is its price): whether its price rises, falls or stays.
    ("bought for less than a buyer would pay", MARKET, _quote(1, "buy", 100, 90), -1),
    ("sold for less than a buyer would pay", MARKET, _quote(1, "sell", 80, 90), -1),
    ("sold for more than a buyer would pay", MARKET, _quote(1, "sell", 140, 150), 1),
    ("bought for more than a buyer would pay", MARKET, _quote(1, "buy", 160, 150), 0),
    ("a bid above a buyer's", MARKET, _quote(1, "buy", 150), 1),
    ("a bid below a buyer's", MARKET, _quote(1, "buy", 80), 0),
    ("an ask", MARKET, _quote(1, "sell", 90), 0),
    ("sold for more than a seller asks", SELLING, _quote(1, "sell", 250, 260), 1),
    ("bought for more than a seller asks", SELLING, _quote(1, "buy", 270, 260), 1),
    ("bought for less than a seller asks", SELLING, _quote(1, "buy", 150, 140), -1),
    ("sold for less than a seller asks", SELLING, _quote(1, "sell", 130, 140), 0),
    ("an ask below a seller's", SELLING, _quote(1, "sell", 150), -1),
    ("an ask above a seller's", SELLING, _quote(1, "sell", 260), 0),
    ("a bid", SELLING, _quote(1, "buy", 150), 0),
]


@pytest.mark.parametrize(("case", "market", "heard", "way"), ZIP_MOVES)
def test_zip_learns_from_what_it_hears(
    case: str, market: dict[str, Any], heard: dict[str, Any], way: int
) -> None:
    del case
    trader = Zip("seed", "b1")
    before = trader.price(market)
    trader.hear(market, heard)
    after = trader.price(market)
    assert way == (after > before) - (after < before)


@pytest.mark.parametrize("market", [MARKET, SELLING])
def test_zip_gives_way_where_its_own_rounded_quote_is_not_taken(market: dict[str, Any]) -> None:
    for seed in range(20):
        trader = Zip(str(seed), "b1")
        own = trader.price(market)
        for n in range(1, 40):
            trader.hear(market, _quote(n, market["side"], trader.price(market), own=True))
        assert abs(trader.price(market) - 150) < abs(own - 150)


def test_zip_that_has_left_never_narrows_its_margin() -> None:
    trader = Zip("seed", "b1")
    trader.hear(MARKET, _quote(1, "sell", 130, 140, own=True))
    before = trader.price(MARKET)
    trader.hear(MARKET, _quote(2, "sell", 130, 150))
    trader.hear(MARKET, _quote(3, "buy", 150))
    assert before == trader.price(MARKET)
    trader.hear(MARKET, {**_quote(4, "buy", 150), "round": 2})
    assert before < trader.price(MARKET)


def test_zip_hears_what_stands_once_more_where_it_cannot_improve() -> None:
    trader = Zip("seed", "b1")
    before = trader.price(MARKET)
    assert PASS == trader.move({**MARKET, "bid": before + 10})
    assert before < trader.price(MARKET)


def test_zip_never_bids_below_nothing() -> None:
    trader = Zip("seed", "b1")
    for n in range(1, 60):
        trader.hear(MARKET, _quote(n, "sell", 0, 0))
    assert 0 == trader.price(MARKET)


def test_zip_never_trades_at_a_loss() -> None:
    for market, loss in ((MARKET, 1000), (SELLING, 1)):
        trader = Zip("seed", "b1")
        for n in range(1, 60):
            trader.hear(market, _quote(n, market["side"], loss))
        assert 150 == trader.price(market)


def test_a_quote_is_heard_once() -> None:
    trader, shown = Zip("seed", "b1"), {**MARKET, "quotes": [_quote(1, "buy", 149)]}
    trader.move(shown)
    before = trader.price(MARKET)
    trader.move(shown)
    assert before == trader.price(MARKET)


GD_TAPE = [
    # Asks at 200 and 190 that nobody took, a bid at 140 that somebody did, an ask at 170 that somebody did.
    _quote(1, "sell", 200),
    _quote(2, "sell", 190),
    _quote(3, "buy", 140),
    _quote(4, "sell", 100, 140),
    _quote(5, "sell", 170),
    _quote(6, "buy", 180, 170),
]


@pytest.mark.parametrize(
    ("market", "move"),
    [
        # A bid of b: taken ≤ b and asks ≤ b, of those and missed ≥ b: all from 140, none below.
        ({**MARKET, "value": 200}, {"kind": "quote.buy", "amount": 140}),
        ({**MARKET, "value": 200, "bid": 151}, {"kind": "quote.buy", "amount": 155}),
        # An ask of a: the taken one and no bid, so all are taken up to 170; then missed ones say no.
        ({**SELLING, "cost": 100}, {"kind": "quote.sell", "amount": 170}),
        ({**SELLING, "cost": 100, "ask": 168}, {"kind": "quote.sell", "amount": 165}),
        # What stands on the other side is sure, and need not be on the grid.
        ({**SELLING, "cost": 100, "bid": 183}, {"kind": "quote.sell", "amount": 183}),
        ({**MARKET, "value": 200, "ask": 138}, {"kind": "quote.buy", "amount": 138}),
        # No gain to be had.
        ({**MARKET, "value": 130}, PASS),
        ({**SELLING, "cost": 210}, PASS),
    ],
)
def test_gd_quotes_the_highest_expected_gain(market: dict[str, Any], move: dict[str, Any]) -> None:
    assert move == GjerstadDickhaut("seed", "b1").move({**market, "quotes": GD_TAPE})


def test_gd_weighs_gain_by_chance() -> None:
    # Three bids at 100, one of them taken, so a gain there counts by 1/3; from 105 on nothing was missed.
    tape = [_quote(n, "buy", 100) for n in (1, 2, 3)]
    tape += [_quote(4, "sell", 90, 100)]
    tape += [_quote(5, "buy", 120), _quote(6, "sell", 90, 120)]
    for value, amount in ((200, 105), (107, 100)):
        buyer = {**MARKET, "value": value, "quotes": tape}
        assert {"kind": "quote.buy", "amount": amount} == GjerstadDickhaut("seed", "b1").move(buyer)


def test_gd_remembers_sixteen_trades() -> None:
    trader = GjerstadDickhaut("seed", "b1")
    old = [_quote(1, "buy", 50), _quote(2, "sell", 50, 50)]
    pairs = [(_quote(n, "buy", 120), _quote(n + 1, "sell", 90, 120)) for n in range(3, 35, 2)]
    new = [quote for pair in pairs for quote in pair]
    assert {"kind": "quote.buy", "amount": 50} == trader.move({**MARKET, "quotes": [*old, *new[:-2]]})
    assert {"kind": "quote.buy", "amount": 120} == trader.move({**MARKET, "quotes": new[-2:]})


def test_gd_quotes_as_zi_c_until_the_first_trade() -> None:
    amounts = _amounts(GjerstadDickhaut("seed", "b1"), {**MARKET, "quotes": [_quote(1, "buy", 90)]})
    assert 1 <= min(amounts) <= 10
    assert 140 <= max(amounts) <= 150


def _played(plays: str, trials: int, **session: Any) -> list[list[Round]]:
    task = smith_task(plays, **session)
    return [rounds_of(session_of(task, plays, trial)) for trial in range(trials)]


def _mean(figures: Any) -> Fraction:
    found = list(figures)
    return Fraction(sum(found), len(found))


def _efficiency(runs: list[list[Round]]) -> Fraction:
    """The share of the surplus that was had, in percent."""
    return _mean(100 * Fraction(each.gain, SURPLUS) for rounds in runs for each in rounds)


def _alphas(runs: list[list[Round]]) -> list[Fraction]:
    """Alpha by round."""
    return [_mean(alpha(each.prices) for each in rounds) for rounds in zip(*runs, strict=True)]


def test_zi_u_trades_all_and_gains_nothing() -> None:
    for rounds in _played("zi_u", 4):
        assert [(11, 0)] * 5 == [(len(each.prices), each.gain) for each in rounds]


def test_zi_c_is_efficient_and_does_not_learn() -> None:
    runs = _played("zi_c", 10, steps=400)
    alphas = _alphas(runs)
    assert 94 <= _efficiency(runs) <= 99  # as of ten seeds; the study has fifty
    assert all(13 <= each <= 27 for each in alphas)
    assert 15 <= _mean(alphas) <= 25


def test_zi_c_misses_trades_where_steps_are_few() -> None:
    runs = _played("zi_c", 10, steps=100)
    assert 65 <= _efficiency(runs) <= 88
    assert _mean(len(each.prices) for rounds in runs for each in rounds) < 5


def test_truthful_quotes_trade_too_much() -> None:
    runs = _played("truthful_quotes", 6, steps=600)
    assert 58 <= _efficiency(runs) <= 76
    assert 30 <= _mean(_alphas(runs)) <= 40


def test_zip_finds_the_price() -> None:
    runs = _played("zip", 10, steps=500)
    first, *_between, last = _alphas(runs)
    assert last < 4
    assert last < first / 3
    assert _efficiency(runs) >= 98


def test_gd_is_efficient() -> None:
    assert _efficiency(_played("gd", 10, steps=300)) >= 96


def test_alpha_by_hand() -> None:
    assert (0, 5) == (alpha([PRICE]), alpha([190, 210]))
    assert Fraction(7_071_065, 10**6) == alpha([200, 220])  # 5 · sqrt(2), cut


def test_the_traders_are_baselines() -> None:
    assert {"zi_u", "zi_c", "zip", "gd", "truthful_quotes"} <= BASELINES.keys()
    assert "baseline:zip" == BASELINES["zip"]("seed", "b1").stated.name

"""Bids against benchmarks, each figure worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tollbook.scorers.auction.bids import Bid
from tollbook.scorers.auction.deviations import MEASURES, deviations
from tollbook.scorers.measures import Key, Sum

F = Fraction


def made(amount: int | None, benchmark: int | None, number: int = 1) -> Bid:
    theory = None if benchmark is None else F(benchmark)
    return Bid(number, "b1", 0, amount, amount, theory, has_benchmark=True)


# Off by +5 (at it), +100, −40 and, at a benchmark of 20 whose ratio isn't taken, +10; a round without a bid.
BIDS = [made(805, 800, 1), made(700, 600, 2), made(360, 400, 3), made(30, 20, 4), made(None, 500, 5)]


@pytest.mark.parametrize(
    ("total",                                        "weight", "name"),
    [
        # 805/800 = 1.00625, 700/600 = 1.1666…, 360/400 = 0.9
        (F(1_006_250_000 + 1_166_666_667 + 900_000_000, 10**9), 3, "bid_ratio"),
        (75,                                         4,        "deviation"),
        (155,                                        4,        "error"),
        (155,                                        1_820,    "error_scaled"),
        (1,                                          4,        "within"),
        (2,                                          4,        "above"),
        (1,                                          4,        "below"),
        (1,                                          5,        "no_bid"),
        # t − 2.5 times 5, 100, 40, 10: −7.5 − 50 + 20 + 15, over 2.25 + 0.25 + 0.25 + 2.25
        (F(-45, 2),                                  5,        "learning"),
    ],
)  # fmt: skip
def test_each_figure(total: Fraction | int, weight: int, name: str) -> None:
    assert Sum(F(total), F(weight)) == deviations(BIDS)[Key(name)]


@pytest.mark.parametrize(("expected", "off"), [("below", -6), ("within", -5), ("within", 5), ("above", 6)])
def test_five_minor_units_off_are_within(expected: str, off: int) -> None:
    found = deviations([made(600 + off, 600)])
    assert [expected] == [name for name in ("within", "above", "below") if found[Key(name)].total]


def test_there_is_nothing_else() -> None:
    assert set(MEASURES) == {key.name for key in deviations(BIDS)}


def test_a_bid_of_who_is_told_to_stay_out_is_above() -> None:
    found = deviations([made(700, None)])
    assert (1, 0) == (found[Key("above")].total, found[Key("error")].weight)


def test_of_bids_that_theory_says_nothing_of_only_their_number_is_known() -> None:
    found = deviations([made(700, None)._replace(has_benchmark=False)])
    assert {"no_bid": 1} == {key.name: each.weight for key, each in found.items() if each.weight}


def test_one_bound_is_an_observation_of_a_choice_and_not_of_a_bid() -> None:
    bought = Bid(1, "b1", 600, 700, None, F(600), has_benchmark=True, is_choice=True)
    assert (1, 1, 0) == tuple(deviations([bought])[Key(name)].weight for name in ("above", "no_bid", "error"))
    stayed = bought._replace(is_choice=False)
    assert 0 == deviations([stayed])[Key("above")].weight


def test_who_errs_less_each_round_learns() -> None:
    found = deviations([made(1_000 - off, 1_000, number) for number, off in enumerate((90, 60, 30), 1)])
    assert -30 == found[Key("learning")].value


def test_one_round_tells_nothing_of_learning() -> None:
    assert None is deviations([made(900, 1_000)])[Key("learning")].value


def test_no_bids_no_figures() -> None:
    assert {} == deviations([])

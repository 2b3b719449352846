"""Human reference bids: the published shares, their bootstrap, and what a report refuses (B4)."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest

from tollbook.protocol.draws import Draws
from tollbook.protocol.errors import ScoreError
from tollbook.scorers.auction import human, mixture
from tollbook.scorers.auction.human import REFERENCES
from tollbook.scorers.auction.mixture import BINS, PARTS, Mixture, exponentials

F = Fraction
BELOW, ABOVE = 50, 2_830  # values of the experiments, in cents

PUBLISHED = {"kagel_levin_1993": (27.0, 67.2, 5.7), "ebay": (21.2, 37.5, 41.3)}


def drawn(name: str, count: int) -> tuple[list[int], list[int]]:
    draws = Draws("values", name)
    values = [draws.integer(BELOW, ABOVE) for _ in range(count)]
    return values, human.bids(REFERENCES[name], values, "bids")


def percent(values: list[int], bids: list[int]) -> list[float]:
    """Bids at most five cents from the value, above and below."""
    off = [bid - value for value, bid in zip(values, bids, strict=True)]
    counts = (
        sum(-5 <= each <= 5 for each in off),
        sum(each > 5 for each in off),
        sum(each < -5 for each in off),
    )
    return [100 * count / len(off) for count in counts]


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize(
    ("count", "bar"),
    [
        (10_000, 400 * sqrt(0.25 / 10_000) + 0.1),  # four standard errors, and the published rounding
        pytest.param(100_000, 1.0, marks=pytest.mark.long),
    ],
)
def test_the_shares_are_those_published(name: str, count: int, bar: float) -> None:
    found = percent(*drawn(name, count))
    assert all(abs(a - b) <= bar for a, b in zip(PUBLISHED[name], found, strict=True)), found


def test_ratio_and_scaled_deviation_are_those_of_the_design() -> None:
    values, bids = drawn("kagel_levin_1993", 10_000)
    ratio = sum(bid / value for value, bid in zip(values, bids, strict=True)) / len(values)
    scaled = sum(abs(bid - value) for value, bid in zip(values, bids, strict=True)) / sum(values)
    # The excess is 0.12·E in 0.73 of bids: a standard deviation of about 0.14 a bid, in either.
    bar = 4 * 0.14 / sqrt(10_000)
    assert abs(1.079 - ratio) <= bar
    assert abs(0.091 - scaled) <= bar
    assert abs(scaled - float(REFERENCES["kagel_levin_1993"].mixture.error(F(sum(values), 10_000)))) <= bar


@pytest.mark.parametrize(
    ("at",         "above",      "count"),
    [
        ((21.0, 33.0), (60.5, 73.5), 200),
        pytest.param((23.2, 30.8), (63.2, 71.2), 500, marks=pytest.mark.long),
        pytest.param((24.2, 29.6), (64.5, 70.2), 1_000, marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_the_intervals_of_shares(at: tuple[float, float], above: tuple[float, float], count: int) -> None:
    found = human.shares(REFERENCES["kagel_levin_1993"], count)
    # A quantile at 2.5 % of 2,000 draws has a standard error of 0.06 standard deviations, there and here.
    bar = 4 * sqrt(2) * 0.06 * 100 * sqrt(0.67 * 0.33 / count) + 100 / count
    for part, expected in (("at", at), ("above", above)):
        ends = [100 * float(end) for end in found[part].interval]
        assert all(abs(a - b) <= bar for a, b in zip(expected, ends, strict=True)), (part, ends)


def test_the_exponential_table() -> None:
    table = exponentials()
    assert BINS == len(table)
    assert list(table) == sorted(table, reverse=True)
    assert abs(sum(table) - BINS * 10**9) <= BINS
    # The first bin's mean is 1 − ln(1/4096), the last's 1 + 4095·ln(4095/4096).
    assert (9_317_766_167, 122_080) == (table[0], table[-1])


@pytest.mark.parametrize("part", PARTS)
def test_no_bid_leaves_its_part(part: str) -> None:
    sure = Mixture(*(int(each == part) for each in PARTS), F(12, 100), F(12, 100))
    values = [*range(6, 200)] * 5
    off = [
        bid - value for value, bid in zip(values, mixture.bids(sure, values, Draws("s", "l")), strict=True)
    ]
    assert {"at": 5 >= max(map(abs, off)), "above": min(off) > 5, "below": max(off) < -5}[part]


def test_no_bid_is_below_nothing() -> None:
    sure = Mixture(0, 0, 1, F(0), F(5))
    assert 0 == min(mixture.bids(sure, [100] * 100, Draws("s", "l")))
    assert {0} == set(mixture.bids(sure, [3] * 10, Draws("s", "l")))


def test_the_same_seed_gives_the_same_bids() -> None:
    values = [1_000] * 8
    assert human.bids(REFERENCES["ebay"], values, "a") == human.bids(REFERENCES["ebay"], values, "a")
    assert human.bids(REFERENCES["ebay"], values, "a") != human.bids(REFERENCES["ebay"], values, "b")
    assert [885, 973, 1021, 986, 1053, 1003, 832, 1112] == human.bids(REFERENCES["ebay"], values, "a")


def test_a_mixture_is_fitted_to_bids() -> None:
    # At 100: 105 is at it; 126 is 20 above what keeps it out of the band, 74 as much below.
    assert Mixture(1, 1, 1, F(20, 100), F(20, 100)) == mixture.fitted([(100, 105), (100, 126), (100, 74)])
    assert None is mixture.fitted([(0, 5)])


def test_a_fit_gives_back_what_was_drawn() -> None:
    values, bids = drawn("ebay", 10_000)
    found = mixture.fitted(list(zip(values, bids, strict=True)))
    assert found is not None
    assert abs(float(found.excess_above) - 0.12) <= 4 * 0.12 * 1.2 / sqrt(3_750)
    assert abs(float(found.excess_below) - 0.12) <= 4 * 0.12 * 1.2 / sqrt(4_130)


def test_what_is_assumed_is_labelled() -> None:
    assert {("reported", "assumed", "assumed")} == {
        tuple(each.rests_on[name] for name in ("shares", "excess_above", "excess_below"))
        for each in REFERENCES.values()
    }


def test_a_report_says_directions() -> None:
    source = "Kagel and Levin 1993, second-price sealed bids"
    agents = {"timid": Mixture(1, 2, 7, F(0), F(0)), "bold": Mixture(1, 7, 2, F(0), F(0))}
    assert [
        f"people ({source}): off the benchmark mostly above, in 100.0 % of draws",
        "assumed, not reported: excess_above, excess_below",
        "timid: mostly below, unlike people",
        "bold: mostly above, as people",
    ] == human.lines(REFERENCES["kagel_levin_1993"], agents, 200)


def test_a_report_refuses_to_compare_levels() -> None:
    with pytest.raises(ScoreError, match="is assumed") as caught:
        human.lines(REFERENCES["ebay"], {}, 200, compared="level")
    assert ("human.level", True) == (caught.value.code, "orderings" in str(caught.value.hint))


def test_formats_without_published_shares_have_no_reference() -> None:
    assert list(REFERENCES) == list(human.references_of("second_price"))
    with pytest.raises(ScoreError, match="no shares of human bids in `first_price`") as caught:
        human.references_of("first_price")
    assert ("human.unpublished", "there are some of `second_price`") == (caught.value.code, caught.value.hint)

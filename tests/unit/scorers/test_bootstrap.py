"""Intervals of pooled ratios: sessions drawn anew, whole."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest

from tollbook.protocol.draws import Draws
from tollbook.scorers.bootstrap import (
    NANOS,
    REPLICATES,
    digits,
    interval,
    intervals,
    replicates,
    resamples,
)
from tollbook.scorers.measures import Key, Sums, counted
from tollbook.scorers.stats import Interval

F = Fraction
A, B = Key("a"), Key("b", 3)


def sessions(*ratios: tuple[int | Fraction, int]) -> list[Sums]:
    return [{A: counted(*ratio)} for ratio in ratios]


def naive(rows: list[Sums], key: Key, label: str = "") -> list[int | None]:
    """As `replicates`, sum by sum."""
    found: list[int | None] = []
    for places in resamples(len(rows), label):
        drawn = [rows[place][key] for place in places if key in rows[place]]
        weight = sum(round(each.weight * NANOS) for each in drawn)
        total = sum(round(each.total * NANOS) for each in drawn)
        found.append(total * NANOS // weight if weight else None)
    return found


def test_replicates_are_those_of_the_sums_added_one_by_one() -> None:
    rows: list[Sums] = [
        {A: counted(-7, 2), B: counted(F(1, 3), 5)},
        {A: counted(10**12, 4)},
        {B: counted(-(10**15), 7), A: counted(0, 1)},
        {A: counted(3, 0)},
    ]
    found = replicates(rows)
    assert (naive(rows, A), naive(rows, B)) == (found[A], found[B])


@pytest.mark.parametrize(
    ("expected",                     "values"),
    [
        # Of 2,000 the 50th from either end.
        (Interval(F(49), F(1_950)),  [*range(2_000)]),
        (Interval(F(49), F(1_950)),  [*reversed(range(2_000))]),
        (Interval(F(0), F(39)),      [*range(40)]),
        (Interval(F(0), F(39)),      [*range(40), None, None]),
        (None,                       [*range(39)]),
    ],
)  # fmt: skip
def test_the_ends_of_an_interval(expected: Interval | None, values: list[int | None]) -> None:
    assert expected == interval(None if value is None else value * NANOS for value in values)


def test_two_sessions_give_their_values_as_ends() -> None:
    # Either is drawn twice in a quarter of the draws.
    assert {A: Interval(F(1), F(3))} == intervals(sessions((1, 1), (3, 1)))


def test_sessions_that_agree_leave_no_doubt() -> None:
    assert {A: Interval(F(1, 2), F(1, 2))} == intervals(sessions((1, 2), (2, 4), (5, 10)))


def test_the_ratio_is_of_sums_and_no_mean_of_ratios() -> None:
    low, high = intervals(sessions((1, 1), (0, 9)))[A] or (None, None)
    assert (0, 1) == (low, high)
    assert F(1, 10) * NANOS in replicates(sessions((1, 1), (0, 9)))[A]


def test_one_session_has_no_interval() -> None:
    assert {A: None} == intervals(sessions((1, 2)))
    assert {A: None, B: None} == intervals([{A: counted(1, 2)}, {B: counted(1, 2), A: counted(0, 0)}])
    assert {} == intervals([])


def test_the_interval_of_a_mean_is_about_that_of_theory() -> None:
    draws = Draws("a", "b")
    values = [draws.integer(0, 1_000) for _ in range(200)]
    found = intervals(sessions(*((value, 1) for value in values)))[A]
    assert found is not None
    mean = sum(values) / 200
    error = sqrt(sum((value - mean) ** 2 for value in values)) / 200
    # A quantile of 2,000 draws has a standard error of 0.06 of the mean's.
    for end, expected in ((found.low, mean - 1.96 * error), (found.high, mean + 1.96 * error)):
        assert abs(float(end) - expected) <= 4 * 0.06 * error + 0.05 * error


def test_the_same_label_draws_the_same() -> None:
    rows = sessions(*((each, 1) for each in range(9)))
    assert replicates(rows)[A] == replicates(rows, "")[A]
    assert replicates(rows)[A] != replicates(rows, "other")[A]


def test_resamples_are_as_many_as_there_are_sessions() -> None:
    found = resamples(7, "")
    assert (REPLICATES, {7}) == (len(found), {len(places) for places in found})
    assert {*range(7)} == {place for places in found for place in places}


@pytest.mark.parametrize("base", [2, 3, 999, 4_096])
def test_digits_are_even(base: int) -> None:
    found = digits(Draws("seed", "label"), base, 20_000)
    expected = 20_000 / base
    counts = [found.count(digit) for digit in range(min(base, 10))]
    assert (20_000, True) == (len(found), max(found) < base)
    assert all(abs(count - expected) <= 4.5 * sqrt(expected) + 1 for count in counts)


def test_one_digit_takes_no_draw() -> None:
    assert [0, 0, 0] == digits(Draws("seed", "label"), 1, 3)

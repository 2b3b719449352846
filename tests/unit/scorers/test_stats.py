"""Means and intervals against published values, the density itself, linear algebra and repetition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
from statistics import NormalDist

import pytest

from tollbook.scorers.stats import (
    T80,
    Interval,
    Quantiles,
    T,
    Z,
    decimal,
    estimate,
    interval,
    mean,
    pass_all,
    pass_at,
    quantile,
    root,
    smallest_gap,
    wilson,
)


def fractions(*values: int) -> list[Fraction]:
    return [Fraction(value) for value in values]


def texts(found: Interval | None, places: int) -> tuple[str, str] | None:
    return None if found is None else (decimal(found.low, places), decimal(found.high, places))


@pytest.mark.parametrize(
    ("expected", "value", "places"),
    [
        ("0.000",   "0",          3),
        ("0.333",   "1/3",        3),
        ("0.667",   "2/3",        3),
        ("1000.0",  "1000",       1),
        ("0.2",     "1/4",        1),  # a half goes to the even digit
        ("0.4",     "7/20",       1),
        ("0.4",     "9/20",       1),
        ("-0.3",    "-1/3",       1),
        ("0.0",     "-1/1000",    1),
        ("1.00",    "999/1000",   2),
        ("12.05",   "241/20",     2),
    ],
)  # fmt: skip
def test_decimal(expected: str, value: str, places: int) -> None:
    assert expected == decimal(Fraction(value), places)


def test_mean_is_exact() -> None:
    assert Fraction(1, 3) == mean(fractions(1, 0, 0))


# Brown, Cai and DasGupta 2001, Stat. Sci. 16, and plain arithmetic on the formula.
@pytest.mark.parametrize(
    ("expected", "part", "whole"),
    [
        (("0.0000", "0.2775"), 0, 10),
        (("0.7225", "1.0000"), 10, 10),
        (("0.2366", "0.7634"), 5, 10),
        (("0.0000", "0.7935"), 0, 1),
        (("0.7642", "0.8977"), 96, 114),
        (None, 0, 0),
    ],
)
def test_wilson(expected: tuple[str, str] | None, part: int, whole: int) -> None:
    assert expected == texts(wilson(part, whole), 4)


@pytest.mark.parametrize(("part", "whole"), [(0, 7), (3, 7), (7, 7), (96, 114), (1, 1_000)])
def test_wilson_solves_its_own_equation(part: int, whole: int) -> None:
    found = wilson(part, whole)
    assert found is not None
    for end in found:
        if 0 < end < 1:
            error = (Fraction(part, whole) - end) ** 2 - Z * Z * end * (1 - end) / whole
            assert abs(error) < Fraction(1, 10**25)


def test_students_interval_of_one_run_a_task() -> None:
    # Mean 3, standard deviation √2.5, t(4) = 2.776: 3 ± 2.776 · √(2.5 / 5).
    found = interval(fractions(1, 2, 3, 4, 5), "abcde")
    assert ("1.037", "4.963") == texts(found, 3)


def test_runs_of_one_task_hang_together() -> None:
    # Two tasks of three equal runs each say no more than two runs.
    assert interval(fractions(0, 0, 0, 1, 1, 1), "aaabbb") == interval(fractions(0, 1), "ab")
    # Cluster sums about the mean 5/2 are −3, 2 and 1: SE² = 3/2 · 14 / 36.
    found = interval(fractions(1, 1, 2, 5, 3, 3), "aabbcc")
    square = Fraction(3, 2) * Fraction((-3) ** 2 + 2**2 + 1**2, 36)
    assert found is not None
    assert abs((found.high - Fraction(5, 2)) ** 2 - quantile(2) ** 2 * square) < Fraction(1, 10**25)


@pytest.mark.parametrize(("values", "clusters"), [([5], "a"), ([5, 7, 9], "aaa")])
def test_one_task_gives_no_interval(values: list[int], clusters: str) -> None:
    assert interval(fractions(*values), clusters) is None


def test_equal_runs_leave_no_doubt_to_measure() -> None:
    assert Interval(Fraction(7), Fraction(7)) == interval(fractions(7, 7, 7), "abc")


def test_z() -> None:
    assert math.isclose(NormalDist().inv_cdf(0.975), Z, rel_tol=1e-12)


def area(degrees: float, end: float) -> float:
    """What Student's density holds from 0 to `end`: Simpson's rule with x = tan u, its tail then finite."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    steps = 2_000

    def density(angle: float) -> float:
        x = math.tan(angle)
        return scale * (1 + x * x / degrees) ** (-(degrees + 1) / 2) * (1 + x * x)

    width = math.atan(end) / steps
    weights = [1 if step in (0, steps) else 4 if step % 2 else 2 for step in range(steps + 1)]
    return sum(weight * density(width * step) for step, weight in enumerate(weights)) * width / 3


@pytest.mark.parametrize(("share", "table", "error"), [(0.475, T, 4e-5), (0.3, T80, 2e-4)])
@pytest.mark.parametrize("degrees", [*range(1, 31), 40, 50, 60, 80, 100])
def test_quantiles_are_those_of_the_density(
    degrees: int, share: float, table: Quantiles, error: float
) -> None:
    assert abs(area(degrees, float(quantile(degrees, table))) - share) < error


@pytest.mark.parametrize("degrees", ["11/10", "3/2", "17/10", "5/2", "29/10", "7/2", "21/2", "59/2"])
def test_part_of_a_degree_gives_no_less_than_the_quantile(degrees: str) -> None:
    assert 0.475 - 4e-5 < area(float(Fraction(degrees)), float(quantile(Fraction(degrees)))) < 0.4822
    assert 0.3 - 2e-4 < area(float(Fraction(degrees)), float(quantile(Fraction(degrees), T80))) < 0.302


@pytest.mark.parametrize(
    ("expected", "degrees"), [("2.042", 30), ("2.042", 39), ("2.021", 40), ("1.984", 100), ("1.984", 10**6)]
)
def test_between_two_rows_the_wider_interval_stands(expected: str, degrees: int) -> None:
    assert expected == decimal(quantile(degrees), 3)


# 1/d from 1 to 1/2 goes from 12.706 to 4.303: at 3/4 it is half of the way.
def test_a_part_of_a_degree_lies_on_the_chord() -> None:
    assert Fraction("8.5045") == quantile(Fraction(4, 3))


SIZES = [[1, 1], [3, 1], [1, 1, 1, 1, 1], [3, 3, 3], [4, 1, 1], [8, 1, 1, 1], [5, 4, 3, 2, 1]]


def names(sizes: Sequence[int]) -> list[int]:
    return [group for group, size in enumerate(sizes) for _ in range(size)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_error_is_right_on_average_and_its_degrees_are_satterthwaites(sizes: list[int]) -> None:
    # SE² is y'Qy. Of values with variance 1, apart, its mean is tr Q, which is to be 1/N, and
    # its variance 2·tr Q²; a chi-square over its degrees has 2·mean² / variance of them.
    clusters, whole = names(sizes), sum(sizes)

    def square(*places: int) -> Fraction:
        found = estimate([Fraction(places.count(place)) for place in range(whole)], clusters)
        assert found is not None
        return found.square

    alone = [square(place) for place in range(whole)]
    q = {
        (i, j): alone[i] if i == j else (square(i, j) - alone[i] - alone[j]) / 2
        for i in range(whole)
        for j in range(whole)
    }
    assert Fraction(1, whole) == sum(alone)
    found = estimate(fractions(*range(whole)), clusters)
    assert found is not None
    assert sum(alone) ** 2 / sum(each * each for each in q.values()) == found.degrees


@pytest.mark.parametrize("sizes", [[1, 1], [3, 3, 3], [2, 2, 2, 2, 2, 2]], ids=str)
def test_of_tasks_with_equally_many_runs_the_formula_is_the_usual_one(sizes: list[int]) -> None:
    # G/(G−1) · Σ s² / N², with t of G−1 degrees: Cameron and Miller 2015, J. Human Resources 50(2).
    clusters, groups, whole = names(sizes), len(sizes), sum(sizes)
    values = [Fraction(place * place) for place in range(whole)]
    sums = [
        sum(value - mean(values) for value, cluster in zip(values, clusters, strict=True) if cluster == group)
        for group in range(groups)
    ]
    usual = Fraction(groups, groups - 1) * sum(each**2 for each in sums) / whole**2
    assert (mean(values), usual, groups - 1) == estimate(values, clusters)


def test_one_task_of_many_runs_by_hand() -> None:
    # Values 4, 0, 2 | 3 | 6, mean 3: s = −3, 0, 3, h = 3/5, 1/5, 1/5. SE² = (9/(2/5) + 9/(4/5)) / 25.
    # Σ h² = 11/25; a = 9/10, 1/20, 1/20; Σ a·a of two tasks = 2·(9/200 + 9/200 + 1/400) = 37/200.
    assert (3, Fraction(27, 20), Fraction(8, 5)) == estimate(fractions(4, 0, 2, 3, 6), "aaabc")


# The error √2.5/√5 and four degrees: 2.776 + 0.941 = 3.717 times √0.5.
def test_smallest_gap() -> None:
    found = smallest_gap(fractions(1, 2, 3, 4, 5), "abcde")
    assert found is not None
    assert "2.628" == decimal(found, 3)
    assert None is smallest_gap(fractions(7, 7, 7), "abc")
    assert None is smallest_gap(fractions(1, 2, 3), "aaa")


def chances(name: str) -> Iterator[float]:
    """Draws from the normal distribution, the same on every machine: a counter, hashed."""
    count = 0
    while True:
        block = sha256(f"{name} {count}".encode()).digest()
        for place in range(0, 32, 4):
            yield NormalDist().inv_cdf((int.from_bytes(block[place : place + 4]) + 0.5) / 2**32)
        count += 1


def drawn(source: Iterator[float], sizes: Sequence[int], shared: float) -> list[Fraction]:
    """Runs with mean 0 and variance 1 (times 1000), of which so much is their task's."""
    values: list[Fraction] = []
    for size in sizes:
        task = math.sqrt(shared) * next(source)
        values += [
            Fraction(round(1_000 * (task + math.sqrt(1 - shared) * next(source)))) for _ in range(size)
        ]
    return values


@pytest.mark.parametrize("shared", [0.2, 0.8])
@pytest.mark.parametrize("sizes", [[3] * 6, [8, 8, 8, 16, 24], [9] + [1] * 9], ids=str)
def test_of_many_repetitions_the_interval_holds_the_mean_in_95_of_100(
    sizes: list[int], shared: float
) -> None:
    source, times = chances(f"coverage {sizes} {shared}"), 600
    found = [interval(drawn(source, sizes, shared), names(sizes)) for _ in range(times)]
    held = sum(each is not None and each.low <= 0 <= each.high for each in found)
    assert 0.93 <= held / times <= 0.985


def test_of_many_repetitions_the_smallest_gap_is_seen_in_80_of_100() -> None:
    sizes, times = [1] * 12, 1_000
    source = chances("power")
    gap = Fraction(round(1_000 * (2.201 + 0.876) / math.sqrt(12)))
    found = [
        interval([value + gap for value in drawn(source, sizes, 0)], names(sizes)) for _ in range(times)
    ]
    seen = sum(each is not None and not each.low <= 0 <= each.high for each in found)
    assert 0.77 <= seen / times <= 0.83


@pytest.mark.parametrize("trials", range(1, 8))
def test_pass_at_and_pass_all_are_shares_of_the_choices(trials: int) -> None:
    for passes in range(trials + 1):
        passed = [place < passes for place in range(trials)]
        for k in range(1, trials + 1):
            choices = list(combinations(passed, k))
            assert Fraction(sum(map(any, choices)), len(choices)) == pass_at(passes, trials, k)
            assert Fraction(sum(map(all, choices)), len(choices)) == pass_all(passes, trials, k)


# Chen et al. 2021 and Yao et al. 2024, worked out: 1 − C(7,2)/C(10,2) = 1 − 21/45, C(3,2)/C(10,2) = 3/45.
def test_pass_of_two_among_ten() -> None:
    assert (Fraction(8, 15), Fraction(1, 15)) == (pass_at(3, 10, 2), pass_all(3, 10, 2))
    assert (Fraction(3, 10), Fraction(3, 10)) == (pass_at(3, 10, 1), pass_all(3, 10, 1))


def test_root() -> None:
    assert [0, 3, Fraction(1, 2)] == [root(Fraction(text)) for text in ("0", "9", "1/4")]
    assert "1.414213562373095" == decimal(root(Fraction(2)), 15)

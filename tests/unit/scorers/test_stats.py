"""Means and intervals against published values and against the density itself."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import pytest

from tollbook.scorers.stats import Interval, Z, decimal, interval, mean, quantile, root, wilson


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


@pytest.mark.parametrize("degrees", [*range(1, 31), 40, 50, 60, 80, 100])
def test_quantiles_are_those_of_the_density(degrees: int) -> None:
    # Simpson's rule with x = tan u, over which the density's tail is finite.
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    end, steps = math.atan(float(quantile(degrees))), 2_000

    def density(angle: float) -> float:
        x = math.tan(angle)
        return scale * (1 + x * x / degrees) ** (-(degrees + 1) / 2) * (1 + x * x)

    weights = [1 if step in (0, steps) else 4 if step % 2 else 2 for step in range(steps + 1)]
    area = sum(weight * density(end * step / steps) for step, weight in enumerate(weights)) * end / steps / 3
    assert abs(area - 0.475) < 4e-5


@pytest.mark.parametrize(
    ("expected", "degrees"), [("2.042", 30), ("2.042", 39), ("2.021", 40), ("1.984", 100), ("1.984", 10**6)]
)
def test_between_two_rows_the_wider_interval_stands(expected: str, degrees: int) -> None:
    assert expected == decimal(quantile(degrees), 3)


def test_root() -> None:
    assert [0, 3, Fraction(1, 2)] == [root(Fraction(text)) for text in ("0", "9", "1/4")]
    assert "1.414213562373095" == decimal(root(Fraction(2)), 15)

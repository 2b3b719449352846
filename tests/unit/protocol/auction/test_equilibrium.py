"""Competitive equilibria worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import pytest
from smith_market import LIMITS, smith_task

from tollbook.protocol.auction.equilibrium import Equilibrium, answer, equilibrium

TABLE = [
    # values, costs, then quantity, low, high, surplus
    ("Smith's design", LIMITS, LIMITS, (6, 200, 200, 750)),
    ("no marginal pair", (300, 200, 100), (50, 150, 250), (2, 150, 200, 300)),
    ("the excluded pair narrows it", (300, 200, 170), (50, 150, 180), (2, 170, 180, 300)),
    ("one pair that trades", (10,), (4,), (1, 4, 10, 6)),
    ("one pair that doesn't", (4,), (10,), (0, 4, 10, 0)),
    ("a pair that gains nothing", (7,), (7,), (1, 7, 7, 0)),
    ("more buyers than sellers", (9, 8, 7), (1,), (1, 8, 9, 8)),
    ("more sellers than buyers", (9,), (1, 2, 3), (1, 1, 2, 8)),
]


@pytest.mark.parametrize(("case", "values", "costs", "expected"), TABLE)
def test_by_hand(
    case: str, values: Sequence[int], costs: Sequence[int], expected: tuple[int, int, int, int]
) -> None:
    del case
    assert Equilibrium(*expected) == equilibrium(values, costs)


def test_the_price_is_the_middle() -> None:
    assert Fraction(351, 2) == Equilibrium(2, 170, 181, 300).price


def test_demand_is_supply_at_its_prices_and_no_others() -> None:
    for values, costs in product(product(range(4), repeat=2), product(range(4), repeat=3)):
        found = equilibrium(values, costs)
        clearing = [
            price
            for price in range(-1, 6)
            # Who is indifferent may trade or not.
            if max(sum(v > price for v in values), sum(c < price for c in costs))
            <= min(sum(v >= price for v in values), sum(c <= price for c in costs))
        ]
        assert clearing == [*range(found.low, found.high + 1)]
        best = max(sum(sorted(values)[2 - k :]) - sum(sorted(costs)[:k]) for k in range(3))
        assert best == found.surplus


def test_a_task_may_ask_for_every_round() -> None:
    task = smith_task("zi_c", rounds=2)
    scene = task.scenes.stage("base", task.scenes.seed("base", 0))
    row = {"quantity": 6, "low": 200, "high": 200, "surplus": 750}
    assert [row, row] == answer(scene.facts)

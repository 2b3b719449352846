"""The best assignment, against every assignment there is."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollbook.tasks.studies.assignment import best_assignment, worth_of

WORTH = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(-9, 30), min_size=columns, max_size=columns), min_size=1, max_size=columns
    )
)


@pytest.mark.parametrize(
    ("expected",   "worth"),
    [
        ([],           []),
        ([0],          [[4]]),
        ([None],       [[-4]]),
        ([None],       [[0]]),
        ([1, 0],       [[5, 6], [9, 1]]),
        ([0, 1],       [[9, 6], [9, 7]]),
        ([1, None],    [[-1, 3], [-2, 2]]),
        ([2, 0, 1],    [[7, 5, 9], [8, 1, 9], [3, 4, 2]]),
    ],
)  # fmt: skip
def test_the_best_assignment(expected: list[int | None], worth: list[list[int]]) -> None:
    assert expected == best_assignment(worth)


@given(WORTH)
def test_no_assignment_is_worth_more(worth: list[list[int]]) -> None:
    ways = permutations(range(len(worth[0])), len(worth))
    best = max(sum(max(0, row[at]) for row, at in zip(worth, way, strict=True)) for way in ways)
    given = best_assignment(worth)
    columns = [column for column in given if column is not None]
    assert best == worth_of(worth, given)
    assert len(columns) == len(set(columns))
    assert all(row[column] > 0 for row, column in zip(worth, given, strict=True) if column is not None)

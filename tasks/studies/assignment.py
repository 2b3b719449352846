"""The best assignment: which pairs to make so that their worth is greatest, exactly.

    worth   rows × columns of integers; a pair worth nothing or less is not made
    paths   the Hungarian method: one row after the other, by a shortest augmenting path over reduced costs

Source: Kuhn 1955, "The Hungarian method for the assignment problem"; Munkres 1957. O(rows · columns²).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def best_assignment(worth: Sequence[Sequence[int]]) -> list[int | None]:
    """For each row the column that it gets in an assignment of greatest worth; None for none.

    A column is given once. There have to be at least as many columns as rows.
    """
    gains = [[max(0, each) for each in row] for row in worth]
    rows, columns = len(gains), len(gains[0]) if gains else 0
    assert all(len(row) == columns >= rows for row in gains)
    row_price, column_price = [0] * (rows + 1), [0] * (columns + 1)
    holder = [0] * (columns + 1)  # the row, from 1, that has a column; 0 for none
    for row in range(1, rows + 1):
        _augment(gains, row, row_price, column_price, holder)
    given: list[int | None] = [None] * rows
    for column in range(1, columns + 1):
        row = holder[column]
        if row and worth[row - 1][column - 1] > 0:
            given[row - 1] = column - 1
    return given


def _augment(
    gains: Sequence[Sequence[int]], row: int, row_price: list[int], column_price: list[int], holder: list[int]
) -> None:
    """Gives the row a column, along the cheapest path of columns that change hands; it begins at column 0."""
    columns = len(holder) - 1
    holder[0] = row
    slack: list[int | None] = [None] * (columns + 1)
    before = [0] * (columns + 1)
    is_reached = [False] * (columns + 1)
    column = 0
    while holder[column]:
        is_reached[column] = True
        at = holder[column]
        step: int | None = None
        nearest = 0
        for other in range(1, columns + 1):
            if is_reached[other]:
                continue
            cost = -gains[at - 1][other - 1] - row_price[at] - column_price[other]
            known = slack[other]
            if known is None or cost < known:
                slack[other] = known = cost
                before[other] = column
            if step is None or known < step:
                step, nearest = known, other
        assert step is not None
        for other in range(columns + 1):
            left = slack[other]
            if is_reached[other]:
                row_price[holder[other]] += step
                column_price[other] -= step
            elif left is not None:
                slack[other] = left - step
        column = nearest
    while column:
        holder[column] = holder[before[column]]
        column = before[column]


def worth_of(worth: Sequence[Sequence[int]], given: Sequence[int | None]) -> int:
    """What an assignment is worth."""
    return sum(row[column] for row, column in zip(worth, given, strict=True) if column is not None)

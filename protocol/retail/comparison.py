"""Whether two states of the shop are the same, by value.

    equal            the records print the same numbers: -0.0 is 0.0, and a record
                     rewritten to its start value is unchanged
    equal_in_cents   the same with every amount in whole cents, so that a compat
                     state and a strict one of the same shop can be compared

Not here: where the states come from (replay), what a difference is worth.
"""

from __future__ import annotations

from ..tables import State
from .arithmetic import cents, number
from .rendering import DOCUMENTS, Document, Reading


def equal(one: State, other: State) -> bool:
    """Whether two states of one mode hold the same records, by value."""
    same = one.facts is other.facts or one.facts.root == other.facts.root
    touched = _changed(one) | _changed(other) if same else _every(one) | _every(other)
    return all(_alike(one, other, table, key, number) for table, key in touched)


def equal_in_cents(one: State, other: State) -> bool:
    """Whether two states that began as the same shop, in any mode, hold the same records in cents.

    An amount that isn't whole goes to the nearest cent, a tie to the even one.
    """
    return all(
        _alike(one, other, table, key, cents) for table, key in _changed(one) | _changed(other)
    )


def record_in_cents(state: State, table: str, key: str) -> Document | None:
    """A record as the shop prints it, its amounts in cents; None when there is none."""
    row = state.get(table, key)
    return None if row is None else DOCUMENTS[table](row, cents)


def _alike(one: State, other: State, table: str, key: str, amount: Reading) -> bool:
    left, right = one.get(table, key), other.get(table, key)
    if left is None or right is None:
        return left is right
    return left == right or DOCUMENTS[table](left, amount) == DOCUMENTS[table](right, amount)


def _changed(state: State) -> set[tuple[str, str]]:
    return {(table, key) for table, key, _row in state.changed() if table in DOCUMENTS}


def _every(state: State) -> set[tuple[str, str]]:
    return {(table, key) for table in DOCUMENTS for key, _row in state.rows(table)}

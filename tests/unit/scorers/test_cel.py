"""What the CEL runtime gives back is Python's own: references counted, oddities turned into failures."""

from __future__ import annotations

import sys

import pytest

from tollbook.scorers.cel import Failure, activation, compile_source

VIEW = {"oracle": {"none": None, "some": [None, 1, [None]], "map": {"a": None, "b": {"c": None}}}}


@pytest.mark.parametrize(
    ("expected", "source"),
    [
        (None, "oracle.none"),
        ([None, None], "[oracle.none, null]"),
        ([None, 1, [None]], "oracle.some"),
        ({"a": None, "b": {"c": None}}, "oracle.map"),
        (True, "oracle.none == null"),
        ([1, 1, 256], "[1, 1, 256]"),
        ([True, False], "[true, false]"),
    ],
)
def test_no_reference_is_lost(expected: object, source: str) -> None:
    program, held = compile_source(source), activation(VIEW)
    assert expected == program.run(held)
    shared = (None, True, False, 1, 256)
    before = [sys.getrefcount(each) for each in shared]
    for _ in range(500):
        program.run(held)
    changed = [sys.getrefcount(each) - count for each, count in zip(shared, before, strict=True)]
    assert all(abs(change) < 100 for change in changed), changed


@pytest.mark.parametrize("source", ["optional.none()", "[optional.none()]", "{'a': [optional.of(1)]}"])
def test_an_optional_that_nothing_unwraps_is_a_failure(source: str) -> None:
    expected = Failure("an optional value, which nothing unwraps")
    assert expected == compile_source(source).run(activation(VIEW))

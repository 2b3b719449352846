"""The shop's calculator against Python's own eval, which only a test may call."""

from __future__ import annotations

import sys
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tollbook.protocol.retail.calculator import Refused, calculate
from tollbook.protocol.retail.refusals import wording

NUMBERS = st.sampled_from([
    "0", "00", "1", "2", "3", "8", "10", "0.5", ".5", "2.", "007.25", "100.25", "0.1", "9" * 20, "9" * 40,
])  # fmt: skip
OPERATORS = st.sampled_from(["+", "-", "*", "/", "//", "**", " + ", " - ", " * ", " / "])
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.tuples(inner, OPERATORS, inner).map("".join),
        inner.map("({})".format),
        st.tuples(st.sampled_from("+-"), inner).map("".join),
    ),
    max_leaves=8,
)
SCRAMBLED = st.text("0123456789+-*/(). 12(())", max_size=12)


def by_python(expression: str) -> str | Exception:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of calls like `5(3)`
        try:
            return str(round(float(eval(expression, {"__builtins__": None}, {})), 2))
        except (SyntaxError, TypeError, ArithmeticError) as error:
            return error


@given(st.one_of(EXPRESSIONS, EXPRESSIONS, SCRAMBLED))
@settings(max_examples=1_500, deadline=None)
def test_calculator_gives_what_python_gives(expression: str) -> None:
    ours = calculate(expression)
    if isinstance(ours, Refused) and ours.rule == "calculate.limit":
        return  # Python would take all day for some of these
    theirs = by_python(expression)
    assert isinstance(ours, Refused) == isinstance(theirs, Exception)
    if not isinstance(ours, Refused):
        assert ours == theirs


PLAIN = [
    "", "1+", "1 2", "(5 1)", "1..2", "*2", "((1)", "1)", "012+1", "2(3)", "1.5(3)",
    "1/0", "1.0/0", "1//0", "1//0.0", "0**-1", "0.0**-2", "(-8)**.5",
    "10**400", "10**400/3", "10.0**400", "10**400*1.5",
]  # fmt: skip


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the recorded words are CPython 3.11's")
@pytest.mark.parametrize("expression", PLAIN)
def test_plain_refusals_are_worded_as_python_words_them(expression: str) -> None:
    ours = calculate(expression)
    assert isinstance(ours, Refused)
    assert wording(ours.rule, {"type": ours.type}) == str(by_python(expression))

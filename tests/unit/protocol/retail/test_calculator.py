"""The calculator: values as Python prints them, refusals by name, and its limits."""

from __future__ import annotations

import pytest

from tollbook.protocol.retail.calculator import MAX_BITS, Refused, calculate


@pytest.mark.parametrize(
    ("value", "expression"),
    [
        ("4.0", "2 + 2"),
        ("7.0", "1+2*3"),
        ("9.0", "(1+2)*3"),
        ("-4.0", "-2**2"),
        ("0.25", "2**-2"),
        ("512.0", "2**3**2"),
        ("3.0", "7//2"),
        ("-4.0", "-7//2"),
        ("3.5", "7/2"),
        ("1.5", "1.+.5"),
        ("7.2", "007.2"),
        ("0.0", "00"),
        ("0.3", "0.1+0.2"),
        ("2.67", "2.675"),
        ("-0.0", "-0.0"),
        ("3.333333333333333e+19", "10**20//3"),
        ("2.0", "- -2"),
        ("1.0", "  1  "),
        ("10.0", "10**400/10**399"),
        ("inf", "9" * 400 + "."),
        ("1.0", "0**0"),
        ("-1.0", "(-1)**99999"),
    ],
)
def test_values(value: str, expression: str) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    ("rule", "expression"),
    [
        ("characters", "2 ^ 2"),
        ("characters", "1e5"),
        ("characters", "1,000"),
        ("characters", "1\t+1"),
        ("characters", "٣+1"),
        ("empty", "  "),
        ("syntax", "1+"),
        ("syntax", "1 2"),
        ("syntax", "1.2.3"),
        ("syntax", "1 * / 2"),
        ("comma", "(1 2)"),
        ("unclosed", "((1)"),
        ("unmatched", "1)"),
        ("leading_zeros", "1+007"),
        ("malformed", "(1 2"),
        ("malformed", "(*1)"),
        ("call", "5(3)"),
        ("zero_division", "5/(2-2)"),
        ("zero_division_float", "5/0.0"),
        ("zero_floor", "5//0"),
        ("zero_floor_float", "5.//0"),
        ("zero_power", "0**-1"),
        ("complex", "(-8)**.5"),
        ("overflow_integer", "10**400"),
        ("overflow_division", "10**400/3"),
        ("overflow_power", "10.**400"),
        ("not_a_number", "()"),
        ("not_a_number", "...+1"),
    ],
)
def test_refusals(rule: str, expression: str) -> None:
    refused = calculate(expression)
    assert isinstance(refused, Refused)
    assert refused.rule == f"calculate.{rule}"


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "2**99999999999999999999",
        "(" * 65 + "1" + ")" * 65,
        "2**" * 65 + "1",
        f"2**{MAX_BITS}",
        f"2**{MAX_BITS - 1}*2",
        f"2**{MAX_BITS - 1}+2**{MAX_BITS - 1}",
        f"-2**{MAX_BITS - 1}-2**{MAX_BITS - 1}",
        "1+" * 1000 + "1",
    ],
)
def test_limits(expression: str) -> None:
    assert calculate(expression) == Refused("calculate.limit")


def test_syntax_is_checked_before_anything_is_computed() -> None:
    assert calculate("1/0 + 1 2") == Refused("calculate.syntax")
    assert calculate("9**9**9 (") != Refused("calculate.limit")


def test_within_the_limits() -> None:
    assert calculate("(" * 60 + "1" + ")" * 60) == "1.0"
    assert calculate("-" * 1999 + "1") == "-1.0"
    assert calculate(f"2**{MAX_BITS - 1}//2**{MAX_BITS - 2}") == "2.0"

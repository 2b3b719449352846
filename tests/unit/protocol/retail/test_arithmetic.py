"""Amounts as the recorded shop prints them, and in cents."""

from __future__ import annotations

import pytest

from tollbook.protocol.retail.arithmetic import Cents, Floats, cents, is_whole, number
from tollbook.protocol.retail.rows import Amount

FLOATS, CENTS = Floats(), Cents()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("100.0", 100),
        ("0.0", 0),
        ("-0.0", -0.0),
        ("62.5", 62.5),
        ("1e-07", 1e-7),
        ("0.30000000000000004", 0.1 + 0.2),
    ],
)
def test_an_amount_is_the_text_python_prints(text: str, value: float) -> None:
    assert FLOATS.of_number(value) == text
    assert repr(number(text)) == text
    assert FLOATS.is_amount(text)


@pytest.mark.parametrize(
    ("amount", "value"),
    [(None, 0.001), (None, 0.1 + 0.2), (30, 0.3), (-5, -0.05), (10000, 100), (0, -0.0), (115, 1.15)],
)
def test_a_number_is_whole_cents_or_no_amount(amount: int | None, value: float) -> None:
    assert CENTS.of_number(value) == amount


@pytest.mark.parametrize(
    "text", ["nan", "inf", "-inf", "1", "1.50", "+1.0", "1e9", "", "x", "1_0.0", "2000000000.0"]
)
def test_another_spelling_is_no_amount(text: str) -> None:
    assert not FLOATS.is_amount(text)


@pytest.mark.parametrize("value", [1.0, "1.0", True, None, 10**11 + 1])
def test_cents_are_bounded_integers(value: object) -> None:
    assert not CENTS.is_amount(value)
    assert CENTS.is_amount(10**11)


@pytest.mark.parametrize(
    ("printed", "amount"),
    [("0", "0"), ("0.0", "0.0"), ("-0.0", "-0.0"), ("1.5", "1.5"), ("1.15", 115), ("100.0", 10000)],
)
def test_an_integer_zero_prints_apart_from_a_float(printed: str, amount: Amount) -> None:
    assert repr(number(amount)) == printed


def test_floats_keep_their_noise_until_rounded() -> None:
    noisy = FLOATS.plus("0.1", "0.2")
    assert noisy == "0.30000000000000004"
    assert FLOATS.rounded(noisy) == "0.3"
    assert FLOATS.rounded("-3.5e-15") == "-0.0"
    assert FLOATS.rounded("2.675") == "2.67"
    assert FLOATS.absolute("-0.1") == "0.1"
    assert FLOATS.absolute(FLOATS.zero) == "0.0"
    assert FLOATS.plus(FLOATS.zero, FLOATS.minus("0.3", "0.1")) == "0.19999999999999998"
    assert FLOATS.is_less("9.5", "10.0")


@pytest.mark.parametrize(
    ("whole", "value", "amount"),
    [
        (True, 11371, "113.71"),
        (False, 11371, "113.71000000000004"),
        (False, 0, "0.005"),
        (False, 2, "0.015"),
        (False, -2, "-0.015"),
        (True, 0, "-0.0"),
        (True, 0, "0"),
        (True, 7, 7),
    ],
)
def test_amounts_in_cents(whole: bool, value: int, amount: Amount) -> None:  # noqa: FBT001 - a table's column
    assert (is_whole(amount), cents(amount)) == (whole, value)

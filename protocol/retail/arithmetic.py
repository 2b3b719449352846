"""Amounts and what may be done with them, once for binary floats and once for cents.

    Floats   "113.71000000000004"   decimal text exactly as Python prints the number
    Cents    11371                  integer cents

The rules are written once over this interface. Python prints the shortest text
that reads back as the same float, so going through text loses nothing, and an
integer's text (`0`, from a sum of no prices) stays apart from a float's (`0.0`).

Money in floats is what the recorded shop did: only `Floats` may do it.

Source: Python's ``repr(float)`` and ``round(float, 2)`` (correctly rounded, ties to even).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache

from .rows import Amount

MAX_AMOUNT = 10**9
"""Units of currency: the bound on start rows, so that no sum gets near infinity or 2^53 cents."""

_MAX_TEXT = 32


class Arithmetic(ABC):
    """How one mode keeps amounts."""

    zero: Amount

    @abstractmethod
    def of_number(self, number: float) -> Amount | None:
        """The amount of a JSON number; None when it has no exact form here. The number is finite."""

    @abstractmethod
    def is_amount(self, value: object) -> bool:
        """Whether a value is an amount within the bound, in its one spelling."""

    @abstractmethod
    def plus(self, one: Amount, other: Amount) -> Amount:
        """The sum."""

    @abstractmethod
    def minus(self, one: Amount, other: Amount) -> Amount:
        """The difference."""

    @abstractmethod
    def rounded(self, amount: Amount) -> Amount:
        """The amount to two decimal places."""

    @abstractmethod
    def absolute(self, amount: Amount) -> Amount:
        """The amount without its sign, as a payment's amount is kept."""

    @abstractmethod
    def is_less(self, one: Amount, other: Amount) -> bool:
        """Whether one amount is under the other."""


class Floats(Arithmetic):
    """Binary floats as decimal text, as the recorded shop computed."""

    zero: Amount = "0"

    def of_number(self, number: float) -> Amount | None:
        """As `Arithmetic.of_number`; every number has a form."""
        return repr(float(number))

    def is_amount(self, value: object) -> bool:
        """As `Arithmetic.is_amount`."""
        return isinstance(value, str) and len(value) <= _MAX_TEXT and _is_printed(value)

    def plus(self, one: Amount, other: Amount) -> Amount:
        """As `Arithmetic.plus`."""
        return repr(number(one) + number(other))

    def minus(self, one: Amount, other: Amount) -> Amount:
        """As `Arithmetic.minus`."""
        return repr(number(one) - number(other))

    def rounded(self, amount: Amount) -> Amount:
        """As `Arithmetic.rounded`."""
        return repr(round(number(amount), 2))

    def absolute(self, amount: Amount) -> Amount:
        """As `Arithmetic.absolute`."""
        return repr(float(abs(number(amount))))

    def is_less(self, one: Amount, other: Amount) -> bool:
        """As `Arithmetic.is_less`."""
        return number(one) < number(other)


class Cents(Arithmetic):
    """Integer cents."""

    zero: Amount = 0

    def of_number(self, number: float) -> Amount | None:
        """As `Arithmetic.of_number`; None when the number is not whole cents."""
        text = repr(number)
        return cents(text) if is_whole(text) else None

    def is_amount(self, value: object) -> bool:
        """As `Arithmetic.is_amount`."""
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_AMOUNT * 100

    def plus(self, one: Amount, other: Amount) -> Amount:
        """As `Arithmetic.plus`."""
        return int(one) + int(other)

    def minus(self, one: Amount, other: Amount) -> Amount:
        """As `Arithmetic.minus`."""
        return int(one) - int(other)

    def rounded(self, amount: Amount) -> Amount:
        """As `Arithmetic.rounded`: cents are already."""
        return amount

    def absolute(self, amount: Amount) -> Amount:
        """As `Arithmetic.absolute`."""
        return abs(int(amount))

    def is_less(self, one: Amount, other: Amount) -> bool:
        """As `Arithmetic.is_less`."""
        return int(one) < int(other)


@lru_cache(maxsize=10_000)  # a shop has few prices and very many lines
def _is_printed(text: str) -> bool:
    """Whether a text is a number within the bound, as Python prints it."""
    try:
        found = number(text)
    except ValueError:
        return False
    # The only integer is the sum of no prices.
    if isinstance(found, int) and text != "0":
        return False
    return abs(found) <= MAX_AMOUNT and repr(found) == text


def number(amount: Amount) -> float:
    """The amount as the JSON number that the shop prints, in units of currency.

    A text without a point or exponent is an integer, as in Python. Cents below
    2^53 divided by 100 print with at most two decimals.
    """
    if isinstance(amount, int):
        return amount / 100
    return float(amount) if "." in amount or "e" in amount else int(amount)


def cents(amount: Amount) -> int:
    """The amount in cents; one that isn't whole goes to the nearest, a tie to the even one."""
    if isinstance(amount, int):
        return amount
    return int((Decimal(amount) * 100).to_integral_value(ROUND_HALF_EVEN))


def is_whole(amount: Amount) -> bool:
    """Whether the amount is a whole number of cents, without float noise."""
    return isinstance(amount, int) or Decimal(amount) * 100 == cents(amount)

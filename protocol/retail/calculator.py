"""The shop's calculator: Python's arithmetic, parsed by hand.

    sum     = product (("+" | "-") product)*
    product = signed (("*" | "/" | "//") signed)*
    signed  = ("+" | "-") signed | power
    power   = called ("**" signed)?
    called  = atom ("(" sum? ")")*          5(3) is a call in Python, and fails as one
    atom    = number | "(" sum? ")" | "..."

    text  ─►  symbols  ─►  postfix  ─►  a number  ─►  str(round(float(number), 2))

Integers stay exact, as in Python. Sizes are bounded: no expression takes more
than a moment, so `9**9**9` is refused and not tried.

Not here: the words of a refusal (`refusals`). Syntax is all checked before anything
is computed, as Python does, and the names don't depend on Python's version.

Source: The Python Language Reference 2.4.5, 2.4.6, 6.5 to 6.7; checked against CPython 3.11.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

ALLOWED = frozenset("0123456789+-*/(). ")
MAX_CHARACTERS = 2_000
MAX_DEPTH = 64
MAX_BITS = 20_000
"""Bits of an integer on the way; ten times what a float can hold."""

Number = int | float
_SYMBOL = re.compile(r" *(?:(\d+\.\d*|\.\d+|\d+)|(\*\*|//|\.\.\.|[-+*/().]))")
_Step = Number | str


class Refused(NamedTuple):
    """Why an expression has no value: a rule of `refusals`, and the type that was called as a function."""

    rule: str
    type: str | None = None


class _Stop(Exception):  # noqa: N818 - control flow inside this module, never raised out of it
    def __init__(self, rule: str, kind: str | None = None) -> None:
        super().__init__(rule)
        self.refused = Refused(f"calculate.{rule}", kind)


def calculate(expression: str) -> str | Refused:
    """The value to two places as text, or why there is none."""
    if not ALLOWED.issuperset(expression):
        return Refused("calculate.characters")
    try:
        value = _evaluated(_Parser(_symbols(expression)).postfix())
        return str(round(_as_float(value), 2))
    except _Stop as stop:
        return stop.refused


def _symbols(expression: str) -> list[str]:
    symbols: list[str] = []
    level = place = 0
    end = len(expression.rstrip(" "))
    if end == 0:
        raise _Stop("empty")
    if end > MAX_CHARACTERS:
        raise _Stop("limit")
    while place < end:
        found = _SYMBOL.match(expression, place)
        assert found is not None  # every allowed character begins a symbol
        symbol = found[1] or found[2]
        if symbol.isdigit() and symbol.lstrip("0") and symbol[0] == "0":
            raise _Stop("leading_zeros")
        level += (symbol == "(") - (symbol == ")")
        if level < 0:
            raise _Stop("unmatched")
        symbols.append(symbol)
        place = found.end()
    return symbols


class _Parser:
    """Symbols to postfix: numbers, and operators as text (``neg`` and ``pos`` for signs)."""

    def __init__(self, symbols: list[str]) -> None:
        self._symbols = [*symbols, ""]
        self._place = 0
        self._depth = 0
        self._postfix: list[_Step] = []

    def postfix(self) -> list[_Step]:
        """All of the expression."""
        self._sum()
        self._expect("")
        return self._postfix

    def _next(self) -> str:
        return self._symbols[self._place]

    def _expect(self, symbol: str) -> None:
        if self._next() != symbol:
            raise _Stop(self._fault())
        self._place += 1

    def _fault(self) -> str:
        """The name of what Python would say of a symbol that doesn't fit here."""
        before, symbol = self._symbols[self._place - 1], self._next()
        is_open = self._symbols.count("(") > self._symbols.count(")")
        if is_open and not symbol:
            return "unclosed"
        if is_open or (before == "(" and symbol in ("*", "**")):
            return "malformed"
        opened = sum((past == "(") - (past == ")") for past in self._symbols[: self._place])
        follows = _is_operand(symbol) and (_is_operand(before) or before == ")")
        return "comma" if opened and follows else "syntax"

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Stop("limit")

    def _sum(self) -> None:
        self._deeper()
        self._chain(("+", "-"), self._product)
        self._depth -= 1

    def _product(self) -> None:
        self._chain(("*", "/", "//"), self._signed)

    def _chain(self, operators: tuple[str, ...], operand: Callable[[], None]) -> None:
        operand()
        while (operator := self._next()) in operators:
            self._place += 1
            operand()
            self._postfix.append(operator)

    def _signed(self) -> None:
        signs: list[_Step] = []
        while (symbol := self._next()) in ("+", "-"):
            signs.append("neg" if symbol == "-" else "pos")
            self._place += 1
        self._power()
        self._postfix.extend(signs)

    def _power(self) -> None:
        self._atom()
        while self._next() == "(":
            self._group()
            self._postfix.append("call")
        if self._next() == "**":
            self._place += 1
            self._deeper()
            self._signed()
            self._depth -= 1
            self._postfix.append("**")

    def _atom(self) -> None:
        symbol = self._next()
        if symbol == "(":
            self._group()
        elif symbol == "...":
            self._place += 1
            self._postfix.append("object")
        else:
            self._expect(symbol if _is_operand(symbol) else "a number")
            self._postfix.append(float(symbol) if "." in symbol else int(symbol))

    def _group(self) -> None:
        self._expect("(")
        if self._next() == ")":
            self._postfix.append("object")
        else:
            self._sum()
        self._expect(")")


def _is_operand(symbol: str) -> bool:
    return symbol == "..." or symbol[-2:].strip(".").isdigit()


def _evaluated(postfix: list[_Step]) -> Number:
    stack: list[Number | None] = []
    for step in postfix:
        if not isinstance(step, str):
            stack.append(step)
        elif step == "object":
            stack.append(None)
        elif step in ("neg", "pos"):
            value = _real(stack.pop())
            stack.append(-value if step == "neg" else value)
        else:
            right, left = stack.pop(), stack.pop()
            if step == "call":
                raise _Stop("call", type(_real(left)).__name__)
            stack.append(_OPERATIONS[step](_real(left), _real(right)))
    return _real(stack.pop())


def _real(value: Number | None) -> Number:
    if value is None:
        raise _Stop("not_a_number")
    return value


def _as_float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        raise _Stop("overflow_integer") from None


def _alike(left: Number, right: Number) -> tuple[Number, Number]:
    """Both integers, or both floats."""
    if isinstance(left, int) and isinstance(right, int):
        return left, right
    return _as_float(left), _as_float(right)


def _plus(left: Number, right: Number) -> Number:
    left, right = _alike(left, right)
    return _bounded(left + right)


def _minus(left: Number, right: Number) -> Number:
    left, right = _alike(left, right)
    return _bounded(left - right)


def _times(left: Number, right: Number) -> Number:
    left, right = _alike(left, right)
    return _bounded(left * right)


def _over(left: Number, right: Number) -> Number:
    left, right = _alike(left, right)
    if right == 0:
        raise _Stop("zero_division" if isinstance(right, int) else "zero_division_float")
    try:
        return left / right
    except OverflowError:
        raise _Stop("overflow_division") from None


def _floor(left: Number, right: Number) -> Number:
    left, right = _alike(left, right)
    if right == 0:
        raise _Stop("zero_floor" if isinstance(right, int) else "zero_floor_float")
    return left // right


def _power(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int) and right >= 0:
        # Refused by its size before it is worked out: a power has more bits than this.
        if (left.bit_length() - 1) * right > MAX_BITS:
            raise _Stop("limit")
        return _bounded(left**right)
    base, exponent = _as_float(left), _as_float(right)
    if base == 0 and exponent < 0:
        raise _Stop("zero_power")
    try:
        value: float | complex = base**exponent
    except OverflowError:
        raise _Stop("overflow_power") from None
    if isinstance(value, complex):
        raise _Stop("complex")
    return value


def _bounded(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise _Stop("limit")
    return value


_OPERATIONS: dict[str, Callable[[Number, Number], Number]] = {
    "+": _plus,
    "-": _minus,
    "*": _times,
    "/": _over,
    "//": _floor,
    "**": _power,
}

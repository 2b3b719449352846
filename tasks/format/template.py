"""Texts with expressions in them, taken apart.

    "At most {mandate.budget:money}, {{sic}"   →   "At most ", Hole(mandate.budget, money), ", {sic}"

`{{` is a brace. Braces and quotes within a hole are the expression's own.

Not here: what the expressions give (`values`).

Source: the task format, its first paragraph.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_MONEY: Final = ":money"


class Hole(NamedTuple):
    """An expression in a text: whether its value is printed as money, and on which line it begins, from 0."""

    source: str
    is_money: bool
    line: int


class UnclosedError(Exception):
    """A brace that is opened on this line, from 0, and never closed."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def money_text(minor: int) -> str:
    """Minor units as people write them: 13000 is `130.00`."""
    sign = "-" if minor < 0 else ""
    return f"{sign}{abs(minor) // 100}.{abs(minor) % 100:02d}"


def pieces_of(raw: str) -> list[str | Hole]:
    """A text in pieces: plain ones and holes in turn, plain ones first and last.

    Raises:
        UnclosedError: a brace isn't closed.
    """
    pieces: list[str | Hole] = []
    plain: list[str] = []
    at = 0
    while at < len(raw):
        if raw.startswith("{{", at):
            plain.append("{")
            at += 2
        elif raw[at] == "{":
            end = _closing(raw, at)
            source = raw[at + 1 : end]
            hole = Hole(source.removesuffix(_MONEY), source.endswith(_MONEY), raw.count("\n", 0, at))
            pieces += ["".join(plain), hole]
            plain = []
            at = end + 1
        else:
            plain.append(raw[at])
            at += 1
    return [*pieces, "".join(plain)]


def _closing(raw: str, start: int) -> int:
    """Where the brace opened at `start` is closed."""
    depth, quote = 0, ""
    at = start
    while at < len(raw):
        char = raw[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if depth == 0:
                return at
        at += 1
    raise UnclosedError(raw.count("\n", 0, start))

"""Tables as they are printed: columns of words and of numbers, for a terminal and for Markdown.

    Table ─► aligned text · Markdown

A cell is text already: how a number is written is for whoever made it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_ESCAPED = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|~&"})
_MARK = re.compile(r"^(?=[+-](?: |$)|[ -]+$)|^[0-9]{1,9}(?=[.)](?: |$))")
"""Where a line would begin a list or be a rule: before its sign, or after its number."""


class Table(NamedTuple):
    """A table: its column heads and rows. ``words`` are the places of columns of words."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    words: frozenset[int]
    title: str = ""


def aligned(table: Table) -> str:
    """Columns two spaces apart: words begin, and numbers end, at one place."""
    lines = [table.heads, *table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(cells, widths, table.words) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int], words: frozenset[int]) -> str:
    padded = (
        cell.ljust(width) if place in words else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(padded).rstrip()


def markdown(table: Table) -> str:
    """The table in Markdown, whatever its cells hold."""
    rule = " | ".join("---" if place in table.words else "--:" for place in range(len(table.heads)))
    head, *body = (f"| {' | '.join(map(escaped, cells))} |" for cells in (table.heads, *table.rows))
    return "\n".join([head, f"| {rule} |", *body])


def bullets(lines: Iterable[str]) -> str:
    """A list in Markdown."""
    return "\n".join(f"- {paragraph(line)}" for line in lines)


def paragraph(text: str) -> str:
    """Text on a line of its own that Markdown takes as text alone, whatever it begins with."""
    return _MARK.sub(lambda mark: f"{mark[0]}\\", escaped(text))


def escaped(text: str) -> str:
    """Text on one line that Markdown takes as text alone."""
    return " ".join(text.split()).translate(_ESCAPED)

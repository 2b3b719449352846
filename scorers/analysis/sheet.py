"""What an analysis says: tables, charts, notes, and the same as a document.

    scores ─► analysis ─► Sheet ─► text · Markdown · JSON · SVG (`plots`)

Not here: the analyses, one to a module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..tables import Table, aligned, bullets, escaped, markdown

if TYPE_CHECKING:
    from ..stats import Interval


class Stacked(NamedTuple):
    """Bars in parts: a row for each label, a value for each part."""

    title: str
    unit: str
    parts: tuple[str, ...]
    rows: Sequence[tuple[str, Sequence[Fraction]]]


class Dots(NamedTuple):
    """Values with their intervals on one axis: a row for each label; None where there is no interval.

    ``low`` and ``high`` are the ends of the axis; ``mark`` is a place on it to be drawn as a line.
    """

    title: str
    unit: str
    low: int
    high: int
    rows: Sequence[tuple[str, Fraction, Interval | None]]
    mark: int | None = None


class Heat(NamedTuple):
    """Shares from 0 to 1, dark for many: a row for each label, a cell for each column; None is empty."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, Sequence[Fraction | None]]]


Point = tuple[Fraction, Fraction]
Look = Literal["points", "steps", "line", "broken"]
"""Points alone; points joined by lines; a line; a broken line, for what they are set beside."""


class Plane(NamedTuple):
    """Points over two axes, which reach as far as they do: a row for each label, in its look.

    ``across`` is the unit of the axis below, ``unit`` that of the one upwards. Each
    ``break`` is a place across at which a thin line stands.
    """

    title: str
    across: str
    unit: str
    rows: Sequence[tuple[str, Look, Sequence[Point]]]
    breaks: Sequence[Fraction] = ()


Chart = Stacked | Dots | Heat | Plane


class Sheet(NamedTuple):
    """What one analysis says. ``document`` is what `tollbook.analyse/1` holds of it."""

    name: str
    title: str
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]
    notes: tuple[str, ...]
    document: Mapping[str, Any]


def text_of(sheet: Sheet) -> str:
    """The sheet as text for a terminal, ended by a line end."""
    tables = [f"{table.title}\n{aligned(table)}" if table.title else aligned(table) for table in sheet.tables]
    return "\n\n".join([sheet.title, *tables, *(["\n".join(sheet.notes)] if sheet.notes else [])]) + "\n"


def markdown_of(sheet: Sheet, level: int = 1) -> str:
    """The sheet in Markdown, its title a heading of this level; ended by a line end."""
    blocks = [f"{'#' * level} {escaped(sheet.title)}"]
    for table in sheet.tables:
        if table.title:
            blocks.append(f"{'#' * (level + 1)} {escaped(table.title)}")
        blocks.append(markdown(table))
    if sheet.notes:
        blocks.append(bullets(sheet.notes))
    return "\n\n".join(blocks) + "\n"

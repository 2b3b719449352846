"""Charts as one SVG picture that is the same wherever it is made.

    charts ─► drawn (`drawing`, matplotlib) ─► what matplotlib leaves in it taken out ─► SVG

What is written stays text, in whatever sans-serif font its reader has; it names
no file, font or address but SVG's own. Lines and words are in the current colour,
dark unless a page says otherwise, and the ground may be left out, so that a
picture goes into a light page and a dark one. A title and a description say in
words what is to be seen.

Not here: how charts are drawn (`drawing`), which there are (each analysis).

Source: Scalable Vector Graphics (SVG) 1.1; WAI-ARIA 1.2, role `img`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from ...protocol.errors import UsageError
from .. import stats
from .sheet import Chart, Dots, Heat, Plane, Stacked

if TYPE_CHECKING:
    from ..stats import Interval
    from .sheet import Point

HINT: Final = "install `tollbook[plots]`: `pip install 'tollbook[plots]'`"

_NOTHING: Final = Heat("No charts", (), ())

_FEW = 12  # points of a path that are told one by one

_TAG = re.compile(r"<[^>]*>")  # matplotlib writes no `>` within one
_STYLE = re.compile(r"<defs>\s*<style.*?</defs>", re.DOTALL)
_FRACTION = re.compile(r"\d+\.\d{3,}")


def svg_of(charts: Sequence[Chart], *, ground: bool = True) -> str:
    """The charts below one another as one SVG element, ended by a line end; 720 px wide.

    ``ground``: on white; else on what is behind it, in its colour of text.

    Raises:
        UsageError: `plots.missing`.
    """
    check_extra("a picture", "matplotlib")
    from .drawing import INK, WIDTH, draw  # noqa: PLC0415 - brings in matplotlib, which may be absent

    charts = [_visible_chart(chart) for chart in charts or [_NOTHING]]
    drawn, height = draw(charts)
    body = _bare(drawn, INK)
    title = escape("; ".join(chart.title for chart in charts))
    told = "\n".join(escape(line) for chart in charts for line in _told(chart))
    size = f'width="{WIDTH * 4 / 3:.0f}" height="{height * 4 / 3:.0f}" viewBox="0 0 {WIDTH} {height:.6g}"'
    paper = f'<rect width="{WIDTH}" height="{height:.6g}" fill="#ffffff"/>\n' if ground else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" color="{INK}" stroke-linejoin="round">\n'
        f"<title>{title}</title>\n<desc>{told}</desc>\n{paper}{body}</svg>\n"
    )


def check_extra(what: str, *modules: str) -> None:
    """Refuses to begin without the modules that something takes.

    Raises:
        UsageError: `plots.missing`.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        problem = f"{what} needs {' and '.join(missing)}, which isn't installed"
        raise UsageError("plots.missing", problem, HINT)


def visible(text: str) -> str:
    """A text on one line, what can't be seen in it escaped as Python escapes it."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)


def _visible_chart(chart: Chart) -> Chart:
    """The chart, its texts as `visible`: they come from strangers."""
    rows = [(visible(row[0]), *row[1:]) for row in chart.rows]
    chart = chart._replace(title=visible(chart.title), rows=rows)
    match chart:
        case Stacked():
            return chart._replace(unit=visible(chart.unit), parts=tuple(map(visible, chart.parts)))
        case Dots():
            return chart._replace(unit=visible(chart.unit))
        case Heat():
            return chart._replace(columns=tuple(map(visible, chart.columns)))
        case Plane():
            return chart._replace(across=visible(chart.across), unit=visible(chart.unit))


def _bare(drawn: str, ink: str) -> str:
    """What is within the drawing's element, without names, styles or a colour of its own."""
    inside = drawn[drawn.index("<svg") :].partition(">")[2].rpartition("</svg>")[0]
    inside = _TAG.sub(lambda tag: _bare_tag(tag[0], ink), _STYLE.sub("", inside))
    return "".join(f"{line.strip()}\n" for line in inside.splitlines() if line.strip())


def _bare_tag(tag: str, ink: str) -> str:
    """A tag without line ends or long fractions; of a group, which only has a name, nothing."""
    if tag.startswith(("<g ", "</g")):
        return ""
    tag = _FRACTION.sub(lambda number: f"{float(number[0]):.2f}", tag.replace(ink, "currentColor"))
    return " ".join(tag.split())


def _told(chart: Chart) -> Iterator[str]:
    """A chart in words: what it is, then a line for each row."""
    if not chart.rows:
        yield f"{chart.title}. Nothing to show."
        return
    match chart:
        case Stacked():
            yield f"{chart.title}. Bars in parts, {chart.unit}."
            for label, values in chart.rows:
                parts = zip(chart.parts, map(_number, values), strict=True)
                yield f"{label}: {', '.join(f'{part} {value}' for part, value in parts)}."
        case Dots():
            ends = f"{chart.low} to {chart.high}"
            yield f"{chart.title}. Values with their intervals, {chart.unit}, from {ends}."
            for label, value, interval in chart.rows:
                yield f"{label}: {_number(value)}{_between(interval)}."
        case Heat():
            yield f"{chart.title}. Shares from 0 to 1."
            for label, shares in chart.rows:
                known = [
                    f"{column} {_number(share)}"
                    for column, share in zip(chart.columns, shares, strict=True)
                    if share is not None
                ]
                yield f"{label}: {', '.join(known) or 'none'}."
        case Plane():
            yield f"{chart.title}. {chart.unit} over {chart.across}."
            for label, look, points in chart.rows:
                yield f"{label}: {_walked(points, is_path=look != 'points')}."


def _walked(points: Sequence[Point], *, is_path: bool) -> str:
    """Points in words: a few of a path one by one, of many the first and last, or how far they reach."""
    if not points:
        return "none"
    if is_path and len(points) <= _FEW:
        return ", ".join(f"{_number(value)} at {_number(at)}" for at, value in points)
    if is_path:
        (first_at, first), (last_at, last) = points[0], points[-1]
        return f"from {_number(first)} at {_number(first_at)} to {_number(last)} at {_number(last_at)}"
    values = [value for _at, value in points]
    return f"{len(points)} points from {_number(min(values))} to {_number(max(values))}"


def _between(interval: Interval | None) -> str:
    return "" if interval is None else f" ({_number(interval.low)} to {_number(interval.high)})"


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else stats.decimal(value, 3)

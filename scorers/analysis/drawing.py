"""Charts drawn by matplotlib: one under another in one picture, all lengths in points.

    ┌ title ────────────────────────────┐
    │ keys of the parts                 │
    │  label │ ▇▇▇▇▇▇▇▇▇▇▇▇▇▇           │   a row is as high as its label needs
    │  label │ ├──●──┤           value  │   a label that is too wide goes on below
    │        └─0────────500──────1000   │
    └─────────────── unit ──────────────┘
    a plane has two axes in place of labels, its unit above the upward one

The same charts give the same text: matplotlib's settings are its defaults for the
while, its widths those of its own font, and nothing goes by a clock or by chance.

Not here: what makes the picture part of a page (`plots`).
"""

# Its stubs leave the keywords of matplotlib's artists open, so that every method that takes any is
# "partially unknown"; what is passed is checked when it is drawn.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import logging
import warnings
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from fractions import Fraction
from io import StringIO
from typing import Any, Final, Literal, NamedTuple

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Affine2D

from .. import stats
from .lettering import PLAIN, SMALL, TITLE, high, shortened, wide, wrapped
from .sheet import Chart, Dots, Heat, Look, Plane, Point, Stacked

WIDTH: Final = 540
Side = Literal["left", "center", "right"]

INK: Final = "#1f2328"
"""The colour of all lines and words, which whoever shows the picture may replace."""

# Both get steadily lighter or darker, so that they are told apart in grey, and by every eye.
_PARTS = mpl.colormaps["viridis"]
_SHARES = LinearSegmentedColormap.from_list("shares", ["#eef3f9", "#86b0d8", "#11457e"])
_DOT = "#2f7fc1"  # stands out from white and from black alike

# Of rows of a plane: each stands out from white and from black, and has a mark of its own shape.
_ROWS = ("#2f7fc1", "#c25a1a", "#2f8f5b", "#9055b8", "#8a7a1c", "#c0447a")
_MARKS = (
    ((1.7, 0.7), (0.7, 1.7), (-0.7, 1.7), (-1.7, 0.7), (-1.7, -0.7), (-0.7, -1.7), (0.7, -1.7), (1.7, -0.7)),
    ((2.2, 0.0), (0.0, 2.2), (-2.2, 0.0), (0.0, -2.2)),
    ((1.6, 1.6), (-1.6, 1.6), (-1.6, -1.6), (1.6, -1.6)),
    ((0.0, -2.3), (2.1, 1.6), (-2.1, 1.6)),
)

_AS_FAR_FROM_BOTH = 0.179  # the luminance whose contrast with black is that with white, 4.6

_EDGE = 6
_GAP = 20
_TALL = 16  # a row of one line
_BAR = 12
_SQUARE = 8
_MOST_LABEL = 180
_PLANE = 230
_LINE = 18  # of a key that is one
_NEAR = (20, 2)  # an axis across, or upwards, begins with nothing where its lowest value is this near to it
_OWN = {"svg.fonttype": "none", "svg.hashsalt": "tollbook", "font.sans-serif": ()}


class _Paper(NamedTuple):
    """The figure, with lengths from a chart's left and from its top downwards."""

    figure: Figure
    place: Affine2D

    def say(  # noqa: PLR0913 - what and how, and where
        self, x: float, y: float, text: str, font: FontProperties, at: Side = "left", colour: str = INK
    ) -> None:
        """Writes a line, its middle at ``y``."""
        line = Text(x, y, text, color=colour, fontproperties=font, parse_math=False)
        line.set_horizontalalignment(at)
        line.set_verticalalignment("center_baseline")
        self._add(line)

    def say_lines(
        self, x: float, y: float, lines: Sequence[str], font: FontProperties, at: Side = "left"
    ) -> None:
        """Writes lines one below another, all of them around ``y``."""
        for place, line in enumerate(lines):
            self.say(x, y + (place - (len(lines) - 1) / 2) * high(font), line, font, at)

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A box of a colour, its left edge at ``x`` and its middle at ``y``."""
        corner = (x, y - height / 2)
        self._add(Rectangle(corner, width, height, facecolor=colour, edgecolor=INK, linewidth=0.4))

    def value(self, x: float, y: float, text: str, ground: str) -> None:
        """Writes a number on a colour, in black or white as it stands out more."""
        colour = "#000000" if luminance(ground) > _AS_FAR_FROM_BOTH else "#ffffff"
        self.say(x, y, text, SMALL, "center", colour)

    def dot(self, x: float, y: float) -> None:
        """Marks a place."""
        self._add(Ellipse((x, y), 6.4, 6.4, facecolor=_DOT, edgecolor=INK, linewidth=0.4, zorder=3))

    def rule(self, x: float, top: float, below: float, *, broken: bool = False, dark: bool = False) -> None:
        """A thin line downwards, broken or dark where it means something."""
        thin: Any = {"linewidth": 0.7, "alpha": 0.6 if dark else 0.2}
        look: Any = {"linewidth": 1, "dashes": (4, 2)} if broken else thin
        self._add(Line2D([x, x], [top, below], color=INK, zorder=0, **look))

    def span(self, low: float, high: float, y: float) -> None:
        """A line across, with ends."""
        xs, ys = [low, low, low, high, high, high], [y - 3, y + 3, y, y, y - 3, y + 3]
        self._add(Line2D(xs, ys, color=_DOT, linewidth=1.6, zorder=2))

    def level(self, y: float, left: float, right: float) -> None:
        """A thin line across."""
        self._add(Line2D([left, right], [y, y], color=INK, linewidth=0.7, alpha=0.2, zorder=0))

    def path(self, xs: Sequence[float], ys: Sequence[float], colour: str, *, broken: bool = False) -> None:
        """A line from place to place; broken, over what else there is and in the colour of words."""
        over: Any = {"color": INK, "dashes": (4, 2), "zorder": 4}
        look: Any = over if broken else {"color": colour, "zorder": 2}
        self._add(Line2D(xs, ys, linewidth=1.2, **look))

    def marks(self, points: Sequence[tuple[float, float]], place: int) -> None:
        """Marks all places of a row as one shape."""
        corners = _MARKS[place % len(_MARKS)]
        around = [(x + right, y + down) for x, y in points for right, down in (*corners, corners[0])]
        codes = [Path.MOVETO, *[Path.LINETO] * (len(corners) - 1), Path.CLOSEPOLY] * len(points)
        self._add(PathPatch(Path(around, codes), facecolor=row_colour(place), edgecolor="none", zorder=3))

    def _add(self, artist: Artist) -> None:
        artist.set_transform(self.place)
        self.figure.add_artist(artist, clip=False)


class _Layout(NamedTuple):
    """A chart's words broken into lines, and the room that they leave for rows: ``wide``, from ``left``."""

    title: list[str]
    keys: list[list[str]]
    heads: list[list[str]]
    labels: list[list[str]]
    has_axis: bool
    left: float
    wide: float
    tall: float | None = None
    """The height of a plane, which has no rows."""

    @property
    def rows(self) -> list[float]:
        """The height of each row."""
        if self.tall is not None:
            return [self.tall]
        return [max(_TALL, len(lines) * high(PLAIN) + 5) for lines in self.labels]

    @property
    def middles(self) -> list[float]:
        """The middle of each row."""
        rows = self.rows
        return [self.top + sum(rows[:place]) + row / 2 for place, row in enumerate(rows)]

    @property
    def keyed(self) -> float:
        """Where the keys begin."""
        return len(self.title) * high(TITLE) + 4

    @property
    def top(self) -> float:
        """Where the rows begin."""
        heads = max(map(len, self.heads), default=0) * high(SMALL)
        heads += 4 if self.tall is not None else 0
        return self.keyed + len(self.keys) * (high(PLAIN) + 2) + heads + 4

    @property
    def below(self) -> float:
        """Where the rows end."""
        return self.top + sum(self.rows)

    @property
    def height(self) -> float:
        """From the title to the unit."""
        return self.below + (2 * high(SMALL) + 6 if self.has_axis else 2)


def draw(charts: Sequence[Chart]) -> tuple[str, float]:
    """The charts, one at least, as matplotlib writes them, on no ground, and how high that is.

    Their texts are one line each, of characters that can be seen.
    """
    with _undisturbed():
        layouts = [_layout(chart) for chart in charts]
        height = sum(layout.height + _GAP for layout in layouts) - _GAP + 2 * _EDGE
        figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=72, frameon=False)
        top = float(_EDGE)
        for chart, layout in zip(charts, layouts, strict=True):
            _draw(_Paper(figure, Affine2D().scale(1, -1).translate(0, height - top)), chart, layout)
            top += layout.height + _GAP
        text = StringIO()
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))  # else there is a date in it
        FigureCanvasSVG(figure).print_svg(text, metadata=metadata)
    return text.getvalue(), height


@contextmanager
def _undisturbed() -> Generator[None]:
    """Matplotlib with its own defaults, and saying nothing; as it was before, after."""
    settings: Any = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}
    settings.update(_OWN)
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with mpl.rc_context(settings), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of letters that its font lacks: the reader's has them
            yield
    finally:
        logger.setLevel(level)


def _layout(chart: Chart) -> _Layout:
    if isinstance(chart, Plane) and chart.rows:
        return _plane_layout(chart)
    labels = [wrapped(row[0], PLAIN, _MOST_LABEL) for row in chart.rows]
    left = max((wide(line, PLAIN) for lines in labels for line in lines), default=0.0) + _EDGE + 8
    room = WIDTH - left - (58 if isinstance(chart, Dots) else 14)
    heads: list[list[str]] = []
    if isinstance(chart, Heat) and chart.rows:
        heads = [wrapped(column, SMALL, room / len(chart.columns) - 3) for column in chart.columns]
    return _Layout(
        title=wrapped(chart.title, TITLE, WIDTH - 2 * _EDGE),
        keys=_key_lines(chart.parts) if isinstance(chart, Stacked) and chart.rows else [],
        heads=heads,
        labels=labels or [["nothing to show"]],
        has_axis=bool(chart.rows) and not isinstance(chart, Heat),
        left=left,
        wide=room,
    )


def _plane_layout(chart: Plane) -> _Layout:
    low, high_end = _ends(chart, 1)
    ticks = _ticks(low, high_end)
    digits = max(wide(_number(tick, _places(ticks)), SMALL) for tick in ticks)
    left = digits + _EDGE + 6
    return _Layout(
        title=wrapped(chart.title, TITLE, WIDTH - 2 * _EDGE),
        keys=_key_lines((_fitted(row[0]) for row in chart.rows), _LINE),
        heads=[wrapped(chart.unit, SMALL, WIDTH - 2 * _EDGE)],
        labels=[],
        has_axis=True,
        left=left,
        wide=WIDTH - left - 14,
        tall=_PLANE,
    )


def _fitted(label: str) -> str:
    """A label of a key on one line, cut off where it has to be."""
    first, *rest = wrapped(label, PLAIN, WIDTH - 2 * _EDGE - _LINE - 16)
    return f"{first}…" if rest else first


def _draw(paper: _Paper, chart: Chart, layout: _Layout) -> None:
    for place, line in enumerate(layout.title):
        paper.say(_EDGE, (place + 0.5) * high(TITLE), line, TITLE)
    if not chart.rows:
        paper.say(_EDGE, layout.middles[0], layout.labels[0][0], PLAIN)
        return
    for middle, lines in zip(layout.middles if layout.labels else (), layout.labels, strict=True):
        paper.say_lines(layout.left - 8, middle, lines, PLAIN, "right")
    match chart:
        case Stacked():
            _draw_bars(paper, chart, layout)
        case Dots():
            _draw_dots(paper, chart, layout)
        case Heat():
            _draw_cells(paper, chart, layout)
        case Plane():
            _draw_plane(paper, chart, layout)


def _draw_axis(paper: _Paper, layout: _Layout, low: Fraction, high_end: Fraction, unit: str) -> float:
    """Lines upwards from round numbers, the unit below these; returns the length of 1."""
    scale = layout.wide / float(high_end - low)
    ticks = _ticks(low, high_end)
    for tick in ticks:
        x = layout.left + float(tick - low) * scale
        paper.rule(x, layout.top, layout.below)
        paper.say(x, layout.below + 2 + 0.5 * high(SMALL), _number(tick, _places(ticks)), SMALL, "center")
    middle = layout.left + layout.wide / 2
    paper.say(middle, layout.below + 3 + 1.5 * high(SMALL), shortened(unit), SMALL, "center")
    return scale


def _ticks(low: Fraction, high_end: Fraction) -> list[Fraction]:
    """Round numbers from one end to the other."""
    found = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(float(low), float(high_end))
    ticks = [Fraction(f"{float(tick):.6g}") for tick in found]
    return [tick for tick in ticks if low <= tick <= high_end]


def _draw_bars(paper: _Paper, chart: Stacked, layout: _Layout) -> None:
    """A row's parts end to end, each with its value where there is room for it."""
    _draw_keys(paper, chart, layout)
    longest = max(sum(values, Fraction(0)) for _, values in chart.rows) or Fraction(1)
    scale = _draw_axis(paper, layout, Fraction(0), longest, chart.unit)
    places = _places(value for _, values in chart.rows for value in values)
    for middle, (_, values) in zip(layout.middles, chart.rows, strict=True):
        x = layout.left
        for place, value in enumerate(values):
            length, colour = float(value) * scale, part_colour(place, len(chart.parts))
            if length > 0:
                paper.box(x, middle, length, _BAR, colour)
            text = _number(value, places)
            if wide(text, SMALL) + 4 <= length:
                paper.value(x + length / 2, middle, text, colour)
            x += length


def _draw_keys(paper: _Paper, chart: Stacked, layout: _Layout) -> None:
    place = 0
    for row, line in enumerate(layout.keys):
        x, middle = float(_EDGE), layout.keyed + (row + 0.5) * (high(PLAIN) + 2)
        for key in line:
            paper.box(x, middle, _SQUARE, _SQUARE, part_colour(place, len(chart.parts)))
            paper.say(x + _SQUARE + 4, middle, key, PLAIN)
            x += _key_wide(key)
            place += 1


def _key_lines(parts: Iterable[str], mark: float = _SQUARE) -> list[list[str]]:
    """The names of the parts, as many on a line as there is room for."""
    lines: list[list[str]] = [[]]
    for part in map(shortened, parts):
        if lines[-1] and sum(_key_wide(key, mark) for key in (*lines[-1], part)) > WIDTH - 2 * _EDGE:
            lines.append([])
        lines[-1].append(part)
    return lines


def _key_wide(key: str, mark: float = _SQUARE) -> float:
    return mark + 4 + wide(key, PLAIN) + 16


def _draw_dots(paper: _Paper, chart: Dots, layout: _Layout) -> None:
    """A row's interval as a line with ends, its value as a dot and at the right in digits."""
    low = Fraction(chart.low)
    scale = _draw_axis(paper, layout, low, Fraction(chart.high), chart.unit)
    if chart.mark is not None:
        x = layout.left + float(chart.mark - low) * scale
        paper.rule(x, layout.top, layout.below, broken=True)
    places = 1 if chart.high - chart.low > 10 else 3
    for middle, (_, value, interval) in zip(layout.middles, chart.rows, strict=True):
        if interval is not None:
            start, end = (layout.left + float(each - low) * scale for each in interval)
            paper.span(start, end, middle)
        paper.dot(layout.left + float(value - low) * scale, middle)
        paper.say(WIDTH - _EDGE, middle, _number(value, places), SMALL, "right")


def _draw_cells(paper: _Paper, chart: Heat, layout: _Layout) -> None:
    cell = layout.wide / len(chart.columns)
    for place, lines in enumerate(layout.heads):
        middle = layout.top - 3 - len(lines) / 2 * high(SMALL)
        paper.say_lines(layout.left + (place + 0.5) * cell, middle, lines, SMALL, "center")
    for middle, tall, (_, values) in zip(layout.middles, layout.rows, chart.rows, strict=True):
        for place, value in enumerate(values):
            x = layout.left + place * cell
            if value is None:
                paper.say(x + cell / 2, middle, "–", SMALL, "center")
                continue
            colour = to_hex(_SHARES(float(value)))
            paper.box(x + 1, middle, cell - 2, tall - 2, colour)
            paper.value(x + cell / 2, middle, _number(value, 2), colour)


def _ends(chart: Plane, axis: int) -> tuple[Fraction, Fraction]:
    """How far an axis reaches: to all points, and from nothing where that is near."""
    values = [point[axis] for _label, _look, points in chart.rows for point in points] or [Fraction(0)]
    low, high_end = min(values), max(values)
    if 0 < low <= (high_end - low) / _NEAR[axis]:
        low = Fraction(0)
    room = (high_end - low) / 20 if axis else Fraction(0)
    if low != 0:
        low -= room
    return low, high_end + (room or Fraction(low == high_end))


def _draw_plane(paper: _Paper, chart: Plane, layout: _Layout) -> None:
    """Both axes, then each row's points and lines."""
    (left, right), (low, high_end) = _ends(chart, 0), _ends(chart, 1)
    scale = _draw_axis(paper, layout, left, right, chart.across)
    rise = (layout.below - layout.top) / float(high_end - low)
    unit = layout.heads[0]
    paper.say_lines(_EDGE, layout.top - 6 - len(unit) / 2 * high(SMALL), unit, SMALL)
    ticks = _ticks(low, high_end)
    for tick in ticks:
        y = layout.below - float(tick - low) * rise
        paper.level(y, layout.left, layout.left + layout.wide)
        paper.say(layout.left - 5, y, _number(tick, _places(ticks)), SMALL, "right")
    for each in chart.breaks:
        paper.rule(layout.left + float(each - left) * scale, layout.top, layout.below, dark=True)

    def placed(point: Point) -> tuple[float, float]:
        at, value = point
        return layout.left + float(at - left) * scale, layout.below - float(value - low) * rise

    _draw_row_keys(paper, chart, layout)
    for place, (_label, look, points) in enumerate(chart.rows):
        _draw_row(paper, [placed(point) for point in points], look, place)


def _draw_row(paper: _Paper, points: Sequence[tuple[float, float]], look: Look, place: int) -> None:
    if not points:
        return
    if look != "points":
        xs, ys = zip(*points, strict=True)
        paper.path(xs, ys, row_colour(place), broken=look == "broken")
    if look in ("points", "steps"):
        paper.marks(points, place)


def _draw_row_keys(paper: _Paper, chart: Plane, layout: _Layout) -> None:
    """Each row's label beside a piece of how it looks."""
    place = 0
    for row, line in enumerate(layout.keys):
        x, middle = float(_EDGE), layout.keyed + (row + 0.5) * (high(PLAIN) + 2)
        for key in line:
            look = chart.rows[place][1]
            ends = [(x + _LINE / 2, middle)] if look == "points" else [(x, middle), (x + _LINE, middle)]
            _draw_row(paper, ends, look, place)
            paper.say(x + _LINE + 4, middle, key, PLAIN)
            x += _key_wide(key, _LINE)
            place += 1


def luminance(colour: str) -> float:
    """How light a colour is, from 0 to 1. Source: WCAG 2.2, "relative luminance"."""
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def part_colour(place: int, count: int) -> str:
    """A part's colour; neither end of the scale, which are near black and near white."""
    return to_hex(_PARTS(0.08 + 0.88 * place / max(count - 1, 1)))


def row_colour(place: int) -> str:
    """The colour of a plane's row; after the last colour the first again."""
    return _ROWS[place % len(_ROWS)]


def _places(values: Iterable[Fraction]) -> int:
    """With how many decimals values of one kind are written."""
    values = list(values)
    if all(value.denominator == 1 for value in values):
        return 0
    return 2 if max(map(abs, values)) <= 10 else 1


def _number(value: Fraction, places: int) -> str:
    text = stats.decimal(value, places) if places else str(round(value))
    return text.replace("-", "−")

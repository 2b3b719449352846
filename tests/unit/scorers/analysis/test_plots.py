"""Pictures of charts that nobody measured: what is drawn is read back from the SVG."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest

from tollbook.protocol.errors import TollbookError
from tollbook.scorers.analysis.drawing import WIDTH, luminance, part_colour, row_colour
from tollbook.scorers.analysis.lettering import PLAIN, SMALL, TITLE, wide, wrapped
from tollbook.scorers.analysis.plots import svg_of
from tollbook.scorers.analysis.sheet import Chart, Dots, Heat, Look, Plane, Stacked
from tollbook.scorers.stats import Interval

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "a<script>alert('1')</script>|`b` \"c\" $x^2$ &amp; id=\"d\" #1f2328\n\x1b[2J\u202eend"
AS_TEXT = "a<script>alert('1')</script>|`b` \"c\" $x^2$ &amp; id=\"d\" #1f2328 \\x1b[2J\\u202eend"
LONG = "an agent whose operator states all there is: " + "unbroken" * 9 + " v1.2.3-rc4+build.2026/11/30"
WIDE = "日本語の長い名前のエージェントの名前がまだ続いている"


ENDS = [(Fraction(1), Fraction(2)), (Fraction(10), Fraction(20, 3))]
THEORY = ("theory", "broken", ENDS)


def third(count: int) -> Fraction:
    return Fraction(count, 3)


def charts(labels: list[str]) -> list[Chart]:
    """One of each kind with these rows."""
    shares = [third(1), third(0), third(2)]
    ends = Interval(Fraction(100), Fraction(900))
    means = [(row, Fraction(2000, 3), ends if place else None) for place, row in enumerate(labels)]
    parts = ("zero", "partial", "full")
    return [
        Stacked("Parts of them all", "share of runs", parts, [(row, shares) for row in labels]),
        Dots("Means", "points", 0, 1000, means, 500),
        Heat("Stages", ("search", "evidence"), [(row, [third(1), None]) for row in labels]),
        Plane("Bids", "value", "bid", [*((row, "points", ENDS) for row in labels), THEORY]),
    ]


def texts(svg: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter(f"{SVG}text"))


def said(svg: str) -> str:
    return " ".join(each.text or "" for each in texts(svg))


def test_a_picture_says_in_words_what_it_shows() -> None:
    picture = ET.fromstring(svg_of(charts(["careful", "careless"])))
    assert "img" == picture.get("role")
    assert "Parts of them all; Means; Stages; Bids" == picture.findtext(f"{SVG}title")
    assert (
        "Parts of them all. Bars in parts, share of runs.\n"
        "careful: zero 0.333, partial 0, full 0.667.\n"
        "careless: zero 0.333, partial 0, full 0.667.\n"
        "Means. Values with their intervals, points, from 0 to 1000.\n"
        "careful: 666.667.\n"
        "careless: 666.667 (100 to 900).\n"
        "Stages. Shares from 0 to 1.\n"
        "careful: search 0.333.\n"
        "careless: search 0.333.\n"
        "Bids. bid over value.\n"
        "careful: 2 points from 2 to 6.667.\n"
        "careless: 2 points from 2 to 6.667.\n"
        "theory: 2 at 1, 6.667 at 10."
    ) == picture.findtext(f"{SVG}desc")


@pytest.mark.parametrize("chart", charts(["careful", "careless"]), ids=lambda chart: chart.title)
def test_what_is_written_is_text(chart: Chart) -> None:
    svg = svg_of([chart])
    assert {chart.title, "careful", "careless"} <= {each.text for each in texts(svg)}
    fonts = re.findall("font-family: ([^;]*)", svg)
    assert {"sans-serif"} == set(fonts)
    assert len(texts(svg)) == len(fonts)


def test_nothing_is_named_or_asked_of_others() -> None:
    svg = svg_of(charts(["careful"]))
    assert ["http://www.w3.org/2000/svg"] == re.findall(r"\w+://[^\s\"]*", svg)
    tags = re.findall("<[^>]*>", svg)
    assert [] == [tag for tag in tags if re.search(r"\sid=|href|url\(|clip-path", tag)]
    assert {"svg", "title", "desc", "rect", "path", "text"} == {
        each.tag.removeprefix(SVG) for each in ET.fromstring(svg).iter()
    }


def test_hostile_words_are_words() -> None:
    svg = svg_of([*charts([HOSTILE]), Stacked(HOSTILE, HOSTILE, (HOSTILE,), [("a", [Fraction(1)])])])
    assert svg.replace("\n", "").isprintable()
    assert AS_TEXT in (ET.fromstring(svg).findtext(f"{SVG}title") or "")
    assert AS_TEXT.replace(" ", "") in said(svg).replace(" ", "")


@pytest.mark.parametrize("count", [1, 2, 12])
@pytest.mark.parametrize("label", ["careful", LONG, WIDE, HOSTILE, ""])
def test_nothing_is_cut_off_and_no_line_is_on_another(count: int, label: str) -> None:
    svg = svg_of(charts([f"{label} {place}" for place in range(count)]))
    height = float((ET.fromstring(svg).get("viewBox") or "").split()[3])
    sizes = {"8.5px": PLAIN, "7.5px": SMALL, "10px": TITLE}
    columns: dict[str, list[float]] = {}
    for each in texts(svg):
        style = each.get("style") or ""
        font = sizes[re.findall("font-size: ([^;]*)", style)[0]]
        length = wide(each.text or "", font)
        anchor = re.findall("text-anchor: ([a-z]*)", style)[0]
        left = float(each.get("x") or 0) - length * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        assert 0 <= left
        assert WIDTH >= left + length
        assert 0 < float(each.get("y") or 0) < height
        columns.setdefault(f"{each.get('x')} {'end' in style}", []).append(float(each.get("y") or 0))
    assert min(after - before for ys in columns.values() for before, after in pairwise(sorted(ys))) > 9


@pytest.mark.parametrize("label", [LONG, WIDE, "x" * 150, "a-b/c_d:e " * 9])
def test_a_label_goes_on_below_whole(label: str) -> None:
    lines = wrapped(label, PLAIN, 100)
    assert len(lines) > 1
    assert max(wide(line, PLAIN) for line in lines) <= 100
    assert label.replace(" ", "") == "".join(lines).replace(" ", "")


def test_bars_are_as_long_as_their_values() -> None:
    rows = [("a", [Fraction(1), Fraction(3)]), ("b", [Fraction(2), Fraction(2)])]
    svg = svg_of([Stacked("Runs", "runs", ("zero", "full"), rows)])
    boxes = re.findall(r'd="M (\S+) \S+ L (\S+) [^"]* z " style="fill: (#\w+)', svg)
    lengths = [(float(right) - float(left), colour) for left, right, colour in boxes]
    zero, full = part_colour(0, 2), part_colour(1, 2)
    assert [(8, zero), (8, full)] == [(round(length), colour) for length, colour in lengths[:2]]  # the keys
    quarter = lengths[2][0]
    assert [(1, zero), (3, full), (2, zero), (2, full)] == [
        (round(length / quarter, 2), colour) for length, colour in lengths[2:]
    ]


def test_numbers_stand_where_there_is_room_for_them() -> None:
    chart = Stacked("Runs", "share", ("zero", "full"), [("a", [Fraction(1, 100), Fraction(99, 100)])])
    assert ["0.99"] == [each.text for each in texts(svg_of([chart])) if each.text in ("0.01", "0.99")]


@pytest.mark.parametrize(
    ("expected",                          "low", "high"),
    [
        (["0", "200", "400", "600", "800", "1000"], 0,     1000),
        (["−1000", "−500", "0", "500", "1000"],     -1000, 1000),
        (["0.00", "0.20", "0.40", "0.60", "0.80", "1.00"], 0, 1),
    ],
)  # fmt: skip
def test_the_axis_is_of_round_numbers(expected: list[str], low: int, high: int) -> None:
    svg = svg_of([Dots("Means", "points", low, high, [("a", Fraction(1, 3), None)])])
    assert expected == [each.text for each in texts(svg) if each.text in expected]


@pytest.mark.parametrize("count", range(2, 8))
def test_parts_are_told_apart_in_grey_and_numbers_read_on_them(count: int) -> None:
    lights = [luminance(part_colour(place, count)) for place in range(count)]
    contrasts = [(after + 0.05) / (before + 0.05) for before, after in pairwise(lights)]
    assert min(contrasts) > 1.25
    on_black, on_white = (lights[0] + 0.05) / 0.05, 1.05 / (lights[-1] + 0.05)
    assert min(on_black, on_white) > 1.2


def test_points_lie_where_their_values_are() -> None:
    line = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(3)), (Fraction(4), Fraction(12))]
    svg = svg_of([Plane("Bids", "value", "bid", [("a", "line", line)])])
    (path,) = re.findall(rf'd="([^"]*)"[^>]*stroke: {row_colour(0)}', svg)[1:]  # the first is the key
    (x0, y0), (x1, y1), (x2, y2) = re.findall(r"[ML] (\S+) (\S+)", path)
    assert pytest.approx(4, abs=0.01) == (float(x2) - float(x0)) / (float(x1) - float(x0))
    assert pytest.approx(4, abs=0.01) == (float(y2) - float(y0)) / (float(y1) - float(y0))
    assert float(y2) < float(y0), "more is higher up"


@pytest.mark.parametrize(
    ("marks", "lines", "look"),
    [
        (3,  0, "points"),
        (3,  1, "steps"),
        (0,  1, "line"),
        (0,  1, "broken"),
    ],
)  # fmt: skip
def test_rows_look_as_they_say(marks: int, lines: int, look: Look) -> None:
    line = [(Fraction(place), Fraction(place)) for place in range(3)]
    svg = svg_of([Plane("Bids", "value", "bid", [("a", look, line)])])
    filled = re.findall(rf'd="([^"]*)"[^>]*fill: {row_colour(0)}', svg)
    assert marks == (filled[-1].count("M") if filled else 0)
    colour = "currentColor" if look == "broken" else row_colour(0)
    drawn = re.findall(rf'd="[^"]*"[^>]*stroke: {colour}[^>]*stroke-width: 1.2', svg)
    assert lines == len(drawn[1:])
    assert (look == "broken") == ("stroke-dasharray" in svg)


@pytest.mark.parametrize(
    ("expected", "values"),
    [
        ("0",    [1, 5]),
        ("3",    [3, 5]),
        ("−2",   [-2, 2]),
        ("7",    [7, 7]),
    ],
)  # fmt: skip
def test_a_plane_begins_with_nothing_where_that_is_near(expected: str, values: list[int]) -> None:
    points = [(Fraction(place), Fraction(value)) for place, value in enumerate(values)]
    svg = svg_of([Plane("Bids", "value", "bid", [("a", "line", points)])])
    ticks = [each.text or "" for each in texts(svg) if "end" in (each.get("style") or "")]
    assert float(expected.replace("−", "-")) == min(float(tick.replace("−", "-")) for tick in ticks)


def test_rows_stand_out_from_black_and_from_white() -> None:
    for place in range(12):
        light = luminance(row_colour(place))
        assert 3 < min((light + 0.05) / 0.05, 1.05 / (light + 0.05))


EMPTY = [
    Stacked("T", "u", ("a",), []), Dots("T", "u", 0, 1, []), Heat("T", ("a",), []), Plane("T", "u", "v", []),
]  # fmt: skip


@pytest.mark.parametrize("chart", EMPTY, ids=lambda chart: type(chart).__name__)
def test_an_empty_chart_says_so(chart: Chart) -> None:
    svg = svg_of([chart])
    assert ["T", "nothing to show"] == [each.text for each in texts(svg)]
    assert "T. Nothing to show." == ET.fromstring(svg).findtext(f"{SVG}desc")


def test_no_charts_are_a_picture_too() -> None:
    assert ["No charts", "nothing to show"] == [each.text for each in texts(svg_of([]))]


def test_bars_of_nothing_are_none() -> None:
    svg = svg_of([Stacked("T", "runs", ("a", "b"), [("x", [Fraction(0)] * 2)])])
    assert 2 == svg.count("fill: #"), "the keys alone"


@pytest.mark.parametrize("ground", [True, False])
def test_the_ground_is_white_or_the_pages(ground: bool) -> None:  # noqa: FBT001
    svg = svg_of(charts(["a"]), ground=ground)
    assert ground == bool(list(ET.fromstring(svg).iter(f"{SVG}rect")))
    assert 'color="#1f2328"' in svg
    assert "1f2328" not in svg.partition(">")[2]
    assert "fill: currentColor" in svg


def test_matplotlib_is_left_as_it_was() -> None:
    before = dict(mpl.rcParams)
    svg_of(charts(["a"]))
    assert before == dict(mpl.rcParams)


SCRIPT = """
import sys
from fractions import Fraction
from tollbook.scorers.analysis.plots import svg_of
from tollbook.scorers.analysis.sheet import Dots, Heat, Plane, Stacked
from tollbook.scorers.stats import Interval
half = Fraction(1, 2)
svg = svg_of([
    Stacked("Parts", "share", ("a", "b"), [("x", [half, half])]),
    Dots("Means", "points", 0, 1000, [("x \\u65e5", half, Interval(half, 2 * half))], 500),
    Heat("Stages", ("a", "b"), [("x", [half, None])]),
    Plane("Bids", "value", "bid", [("x", "steps", [(half, half), (1 + half, half)])], [half]),
])
sys.stdout.buffer.write(svg.encode())
assert "matplotlib.pyplot" not in sys.modules
"""


def test_the_same_bytes_wherever_it_is_made(tmp_path: Path) -> None:
    settings_of_a_user = "svg.fonttype: path\nlines.solid_capstyle: round\ntext.usetex: True\n"
    (tmp_path / "matplotlibrc").write_text(settings_of_a_user)
    runs = []
    for settings in (
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "SOURCE_DATE_EPOCH": "1", "MATPLOTLIBRC": str(tmp_path)},
    ):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env={**os.environ, **settings}, capture_output=True, check=True
        )
        assert b"" == done.stderr
        runs.append(done.stdout)
    assert runs[0] == runs[1]
    assert b"Stages" in runs[0]


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(TollbookError) as caught:
        svg_of(charts(["a"]))
    assert ("plots.missing", "a picture needs matplotlib, which isn't installed") == (
        caught.value.code,
        caught.value.text,
    )
    assert "tollbook[plots]" in str(caught.value.hint)

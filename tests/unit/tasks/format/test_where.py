"""The line of a place: found in every form of TOML, and in files that aren't TOML as far as they are."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tollbook.protocol.errors import TaskError
from tollbook.tasks.format.where import line_of, located

SUITES = Path(__file__).resolve().parents[4] / "tasks" / "suites"
WORKED = [path for path in sorted(SUITES.rglob("*.toml")) if path.parent.name != "retail"]

FILE = """\
id = "x"
text = '''
first
second'''
"quoted key" = 1
"caf\\u00e9".b = 2
a.b.c = { d = [1, { e = "f" }], g = 'h' }

[table]  # a comment = 1
list = [
    "one",   # ]
    { two = 2, three.four = "=4" },
    [[5], 6],
]
[table . "sub.x"]
k = "a # b { [ \\" } ]"
[[many]]
n = 1
[[many]]
n = 2
[many.below]
m = 3
"""


@pytest.mark.parametrize(
    ("expected", "place"),
    [
        (1,  "id"),
        (2,  "text"),
        (5,  "quoted key"),
        (6,  "café"),
        (6,  "café.b"),
        (7,  "a"),
        (7,  "a.b.c.d[1].e"),
        (7,  "a.b.c.g"),
        (9,  "table"),
        (10, "table.list"),
        (11, "table.list[0]"),
        (12, "table.list[1].two"),
        (12, "table.list[1].three.four"),
        (13, "table.list[2][0][0]"),
        (13, "table.list[2][1]"),
        (15, "table.sub.x"),
        (16, "table.sub.x.k"),
        (17, "many[0]"),
        (18, "many[0].n"),
        (20, "many[1].n"),
        (15, "table.sub.x.nothing[3].there"),
        (9,  "table.nothing"),
        (0,  "nothing"),
        (0,  "nothing.there[1]"),
        (0,  ""),
        (0,  "]a["),
    ],
)  # fmt: skip
def test_the_line_of_a_place(expected: int, place: str) -> None:
    assert expected == line_of(FILE, place)


@pytest.mark.parametrize(
    ("expected", "within", "text"),
    [
        (1, 0, "a = '''\nx\ny'''"),
        (2, 1, "a = '''\nx\ny'''"),
        (3, 2, "a = '''\nx\ny'''"),
        (1, 1, "a = '''x\ny'''"),
        (2, 2, 'a = """x\ny"""'),
        (1, 1, "a = 'x'"),
        (2, 1, "\na = 'x'"),
        (1, 2, 'a = "x\\ny"'),            # its second line is not one of the file's
        (1, 2, 'a = """x\\\ny"""'),       # nor is this one
        (3, 2, 'a = """\r\nx\r\ny"""'),
        (2, 2, 'a = """x\n"y""""'),       # a quote may stand before the end
        (1, 2, "a = 1"),
    ],
)  # fmt: skip
def test_a_line_within_a_text(expected: int, within: int, text: str) -> None:
    assert expected == line_of(text, "a", within)


@pytest.mark.parametrize(
    "text",
    [
        "", "a", "a =", "a = [", "a = {", "a = '", 'a = """', "[", "[[", "[a", "[a]]", "a = 1 b = 2", "a.",
        ".", "=", "\0", 'a = "\\', '"a\\x" = 1', "a = {b = 1", "a = [1 2]", "a = " + "[" * 500,
        "a = " + "{b = " * 500,
    ],
)  # fmt: skip
def test_what_is_no_toml_is_walked_as_far_as_it_is(text: str) -> None:
    assert 1 == line_of(f"first = 1\n{text}", "first")
    assert 0 <= line_of(f"first = 1\n{text}", "a") <= 2


def test_a_backslash_in_single_quotes_is_only_that() -> None:
    assert 2 == line_of("a = 'x\\'\nb = 1", "b")


def places(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    yield place, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        below = f"[{name}]" if isinstance(value, list) else f".{name}" if place else name
        yield from places(item, place + below)


@pytest.mark.parametrize("path", WORKED, ids=lambda path: path.stem)
def test_every_place_of_a_worked_file_is_found_where_its_key_stands(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    for place, _value in list(places(tomllib.loads(text)))[1:]:
        name = place.rpartition(".")[2].partition("[")[0]
        assert place.endswith("]") or name in lines[line_of(text, place) - 1], place


def test_a_fault_gets_its_line_once() -> None:
    fault = located(TaskError("task.name", "table.list[0]", "wrong"), FILE)
    assert 11 == fault.line
    assert 11 == located(fault, "").line
    assert "x.toml:11: table.list[0]: wrong" == fault.of_file("x.toml")
    assert "x.toml: whole: wrong" == TaskError("task.name", "whole", "wrong").of_file("x.toml")

"""Whatever becomes of a task file, it loads, or each of its faults is told at its place.

    a worked file  ─►  lines, characters, values, keys, expressions changed  ─►  examine  ─►  stage each case
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tollbook.protocol.errors import TaskError
from tollbook.tasks.format.scene import Scene
from tollbook.tasks.format.task import Task, examine

SUITES = Path(__file__).resolve().parent.parent.parent / "tasks" / "suites"
TEXTS = tuple(
    (SUITES / name).read_text(encoding="utf-8")
    for name in ("negotiation/t4.buyer_zopa.toml", "lifecycle/t7.merchant_refund.toml")
)
UNPLACED = ("task.field", "task.size", "task.toml")
"""What may be told of the file as a whole."""

texts = st.sampled_from(TEXTS)
scraps = st.sampled_from(
    [
        "=", "{", "}", "[", "]", '"', "'", '"""', "#", ".", ",", "\\", "\n", "\r", "\0", "{{", "}}", "_", "0",
        "9" * 20, "é", "\u202e", "\ud800", "1.5", "true", "null", "=1/0", "{it}", "[a]", "x = 1\n",
        "[[case]]\n", "case.", ":money",
    ]
)  # fmt: skip
leaves = st.sampled_from(
    [
        0, 1, -1, 2**53, 10**30, True, False, "", "x", "=", "=1", "=1 / 0", "=case", "=it", "={}", "{case.x}",
        "{", "*", "a\nb", "buyer", "refund.open", "=[1, 2]", "=draw('a', 2, 1)", "=lists.range(2000)",
        "=null", "=optional.none()",
    ]
)  # fmt: skip
keys = st.sampled_from(["a", "kind", "when", "é"])
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2),
    max_leaves=4,
)
names = st.sampled_from(
    ["id", "kind", "do", "step", "each", "case", "it", "in", "", "a b", "ü", "x", "zz", "while", "to"]
)
tokens = st.sampled_from(
    [
        "", "(", ")", "[", "]", "{", "}", "?", ":", "=", "==", "&&", "||", "!", "-", ".", ",", "'", "1",
        "9_9", "1.5", "null", "true", "in", "did", "case", "oracle", "facts", "known", "it", "acts", "[0]",
        ".size()", ".map(x, x)", ".sort()", "x", "draw('a', 1, 2)", "/ 0", "* 9223372036854775807", "?.a",
        "[?0]", "{'a': 1}", "// ", "\n", "é", "cel.bind(a, 1, a)",
    ]
)  # fmt: skip


def check(text: str) -> None:
    """What must hold of any text."""
    task, faults = examine(text)
    assert (task is None) == bool(faults)
    for fault in faults:
        check_fault(fault, text)
    if task is not None:
        for case in task.file.case:
            check_case(task, case)


def check_fault(fault: TaskError, text: str) -> None:
    assert type(fault) is TaskError
    assert fault.hint
    assert fault.place or fault.code in UNPLACED
    assert 0 <= fault.line <= text.count("\n") + 1
    assert fault.line or fault.place == ""
    assert f"{fault.text} {fault.hint}".isprintable()


def check_case(task: Task, case: str) -> None:
    try:
        scene = task.scenes.stage(case, task.scenes.seed(case, 0))
        oracle = task.scenes.oracle(scene)
    except TaskError as error:
        fault = error
    else:
        assert type(scene) is Scene
        assert isinstance(oracle, dict)
        return
    assert fault.code in ("task.value", "task.facts")
    check_fault(fault, task.text)


@st.composite
def edited(draw: st.DrawFn) -> str:
    """A worked file of which some lines or characters are others."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 3))):
        lines = text.split("\n")
        at, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 5)):
            case 0:
                del lines[at]
            case 1:
                lines.insert(other, lines[at])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                start = draw(st.integers(0, len(lines[at])))
                lines[at] = lines[at][:start] + draw(scraps) + lines[at][start:]
            case 4:
                start = draw(st.integers(0, len(lines[at])))
                lines[at] = lines[at][:start] + lines[at][start + draw(st.integers(1, 4)) :]
            case _:
                start = draw(st.integers(0, len(lines[at])))
                lines[at] = lines[at][:start] + draw(st.characters()) + lines[at][start + 1 :]
        text = "\n".join(lines)
    return text


@st.composite
def revalued(draw: st.DrawFn) -> str:
    """A worked file of which some values, or names, are others."""
    document = tomllib.loads(draw(texts))
    for _ in range(draw(st.integers(1, 2))):
        change, name, _value = draw(st.sampled_from(list(holders(document))))
        if isinstance(name, str) and draw(st.booleans()):
            change(draw(names))
        else:
            change(None, draw(values))
    return toml_of(document)


@st.composite
def reworded(draw: st.DrawFn) -> str:
    """A worked file of which some expressions are others."""
    document = tomllib.loads(draw(texts))
    for _ in range(draw(st.integers(1, 2))):
        holding = [each for each in holders(document) if isinstance(each[2], str)]
        found = [each for each in holding if re.search(r"[=.({]", each[2])]
        change, _name, source = draw(st.sampled_from(found))
        parts = re.findall(r"\w+|\W", source)
        at = draw(st.integers(1, len(parts)))
        parts[at : at + draw(st.integers(0, 2))] = [draw(tokens)]
        change(None, "".join(parts))
    return toml_of(document)


Change = Callable[..., None]


def holders(value: Any) -> Iterator[tuple[Change, str | int, Any]]:
    """Every value below one: how it is changed, its name or number, and itself."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in list(items):

        def change(new: str | None, other: Any = None, *, name: Any = name, item: Any = item) -> None:
            if new is None:
                value[name] = other
            else:
                del value[name]
                value[new] = item

        yield change, name, item
        yield from holders(item)


def toml_of(document: dict[str, Any]) -> str:
    """The document as TOML, a line for each section."""
    return "".join(f"{json.dumps(name)} = {inline(value)}\n" for name, value in document.items())


def inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {inline(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value)


@settings(max_examples=120, deadline=None)
@given(edited())
def test_any_edit_of_a_file(text: str) -> None:
    check(text)


@settings(max_examples=120, deadline=None)
@given(revalued())
def test_any_change_of_its_values(text: str) -> None:
    check(text)


@settings(max_examples=120, deadline=None)
@given(reworded())
def test_any_change_of_its_expressions(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", TEXTS, ids=["t4", "t7"])
def test_written_anew_a_file_still_loads(text: str) -> None:
    again = toml_of(tomllib.loads(text))
    check(again)
    assert examine(again)[0] is not None


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    check(text)

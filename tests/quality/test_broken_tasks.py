"""Each kind of mistake in a task file ends in one located message that says what to try."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from broken_tasks import WORKED, Mistake, lines_of, mistakes, page, staging_faults, told_of

from tollbook.tasks.format.task import examine

ROOT = Path(__file__).resolve().parent.parent.parent
MISTAKES = mistakes()
CODES = {
    f"task.{name}"
    for name in (
        "act", "case", "expression", "facts", "field", "limit", "mutation", "name", "names", "party",
        "predicate", "rendering", "script", "size", "text", "toml", "tools", "type", "utf8", "value", "world",
    )
}  # fmt: skip
WORDS_OF_OTHERS = ("overload", "dyn", "mismatched", "EOF", "undeclared", "Object", "Expected", "$")


def once(mistake: Mistake) -> set[tuple[str, str]]:
    """What is told, that of every case once."""
    own = re.compile(r"^case `[\w@]+`: |, got text `\w+`$")
    return {(fault.place, own.sub("", fault.problem)) for fault in told_of(mistake).faults}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.title)
def test_a_mistake_is_told_once_at_its_line(mistake: Mistake) -> None:
    found, faults = told_of(mistake)
    assert mistake.found == found
    assert 1 == len(once(mistake)), [fault.text for fault in faults]
    assert mistake.elsewhere or faults[0].line in mistake.changed, faults[0].of_file(mistake.name)
    assert faults[0].place or faults[0].code in ("task.field", "task.size", "task.toml", "task.utf8")


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.title)
def test_a_message_is_two_lines_in_our_form(mistake: Mistake) -> None:
    error, hint = lines_of(mistake)
    fault = told_of(mistake).faults[0]
    assert fault.code in CODES
    assert fault.hint
    assert re.fullmatch(r"error: [^\n]*[^.\n]", error)
    assert re.fullmatch(r"hint: [^\n]*[^.\n]", hint)
    assert re.match(r"[^A-Z]", fault.problem), "it begins with a small letter"
    assert [word for word in WORDS_OF_OTHERS if word in error] == []


def test_every_kind_of_mistake_is_there_once() -> None:
    titles = [mistake.title for mistake in MISTAKES]
    assert sorted(set(titles)) == sorted(titles)
    assert len(titles) >= 100
    assert CODES == {told_of(mistake).faults[0].code for mistake in MISTAKES}


def test_the_page_is_up_to_date() -> None:
    assert page() == (ROOT / "docs" / "TASK_ERRORS.md").read_text(encoding="utf-8"), "run `make docs`"


def test_several_mistakes_are_told_at_once_from_top_to_bottom() -> None:
    text = WORKED["t4"].read_text(encoding="utf-8")
    places: list[str] = []
    for mistake in MISTAKES:
        fits = mistake.file == "t4" and mistake.section in ("Acts and scripts", "Mutations and alternatives")
        if fits and text.count(mistake.old) == 1:
            text = text.replace(mistake.old, mistake.new)
            places.append(told_of(mistake).faults[0].place)
    task, faults = examine(text)
    assert task is None
    assert sorted(places) == sorted(fault.place for fault in faults)
    assert len(places) >= 5
    assert [fault.line for fault in faults] == sorted(fault.line for fault in faults)


@pytest.mark.parametrize("path", WORKED.values(), ids=lambda path: path.stem)
def test_a_worked_file_has_none(path: Path) -> None:
    task, faults = examine(path.read_text(encoding="utf-8"))
    assert [] == list(faults)
    assert task is not None
    assert [] == staging_faults(task)

"""The table of analyses is the folder's; each says something of any panel, in every form."""

from __future__ import annotations

from importlib.resources import files

import msgspec
import pytest
from panel_scores import ALPHA, BETA, run, seen, unscored, worth

from tollbook.scorers.analysis.names import NAMES, OF_VIEWS, sheet_of
from tollbook.scorers.analysis.panel import natural, panel_of
from tollbook.scorers.analysis.sheet import markdown_of, text_of
from tollbook.scorers.score import Score

SCORES = [
    run(player, f"{task} {case} {trial}", ("choice", 600, half), ("search", 400, "1"), projections=seen("f"))
    for player, half in ((ALPHA, "1"), (BETA, "1/2"))
    for task in ("t1.x", "t2.x")
    for case in "ab"
    for trial in (0, 1)
]
HOSTILE = [each._replace(agent=msgspec.structs.replace(each.agent, name="a | b\n# `c`")) for each in SCORES]


def test_every_analysis_is_named() -> None:
    modules = [path for path in files("tollbook.scorers.analysis").iterdir() if path.name.endswith(".py")]
    found = [path.name for path in modules if "\ndef sheet(" in path.read_text(encoding="utf-8")]
    assert sorted(f"{name}.py" for name in NAMES) == sorted(found)
    assert OF_VIEWS < {*NAMES}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "scores", [[], SCORES, [unscored(each, "open") for each in SCORES], HOSTILE, SCORES[:1]],
    ids=["none", "some", "open", "hostile", "one"],
)  # fmt: skip
def test_any_panel_in_any_form(name: str, scores: list[Score]) -> None:
    sheet = sheet_of(name, scores)
    assert name == sheet.name
    text, markdown = text_of(sheet), markdown_of(sheet)
    assert text.startswith(f"{sheet.title}\n")
    assert all(line.isprintable() for line in (*text.splitlines(), *markdown.splitlines()))
    assert "\n# `c`" not in markdown
    assert "left_out" in msgspec.json.decode(msgspec.json.encode(sheet.document))
    assert sheet == sheet_of(name, list(scores))


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_runs_changes_no_table(name: str) -> None:
    assert sheet_of(name, SCORES).tables == sheet_of(name, SCORES[::-1]).tables


def test_numbers_in_names_are_told_by_their_size() -> None:
    assert ["t1", "t2", "t10.x", "u", "–"] == sorted(["–", "t10.x", "u", "t2", "t1"], key=natural)


def test_a_label_is_the_same_whatever_is_left_out() -> None:
    """The second agent of the name has no score, and the first one's label still tells them apart."""
    other = worth(ALPHA, "t1.x a 0", 0)
    assert other.agent is not None
    twin = other._replace(agent=msgspec.structs.replace(other.agent, model="m"))
    assert ["alpha"] == [label for label, _ in panel_of([other, unscored(twin, "open")]).agents]
    assert ["alpha m"] == [label for label, _ in panel_of([unscored(other, "open"), twin]).agents]

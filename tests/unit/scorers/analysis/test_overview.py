"""What a page says of made-up runs: agents as they are stated, each run once, those left out by name."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from panel_scores import seen, unscored, worth

from tollbook.protocol.bodies import Agent, LedgerKey
from tollbook.scorers.analysis.overview import overview
from tollbook.scorers.analysis.page import Block, Heading, Points, Words, html_page, markdown_page
from tollbook.scorers.analysis.sheet import Dots
from tollbook.scorers.predicates import load
from tollbook.scorers.report import CUSTODY, INTERVALS, UNANCHORED
from tollbook.scorers.score import Score
from tollbook.scorers.tables import Table

PREDICATES = load("""
id = "small"
view = 1
[predicate]
p0 = {stage = "choice", weight = 1000, expr = "true"}
""")
HERE = LedgerKey(name="here.example", key="A" * 43 + "=")
SETTINGS = {"temperature": "0.7", "prompt": "be good " * 100}
STATED = Agent(model="m-1", name="alpha", settings=SETTINGS, version="2")


def score(player: str, place: str, points: int, **fields: Any) -> Score:
    plain = {"ledger": HERE, "projections": seen(f"{points}")}
    return worth(player, place, points, **{**plain, **fields})._replace(scorer=PREDICATES.digest)


SCORES = [
    score("alpha", "t1.find one 0", 1000, agent=STATED, run="1" * 64)._replace(root="a" * 64),
    score("alpha", "t1.find one 1", 0, agent=STATED, run="2" * 64),
    score("beta", "t1.find one 0", 500, run="3" * 64),
    score("beta", "t4.sell two 0", 250, run="4" * 64)._replace(label="called t9"),
    unscored(score("beta", "t4.sell two 1", 0, run="5" * 64, ledger=None)._replace(root=None), "open"),
    unscored(score("beta", "t4.sell two 2", 0, run="6" * 64), "invalid"),
]
RECEIPTS = {"1" * 64: "c" * 64}


def page(scores: Sequence[Score] = SCORES) -> list[Block]:
    return [*overview(scores, [PREDICATES], RECEIPTS)]


def section(title: str, blocks: Sequence[Block]) -> list[Block]:
    """What stands below a heading, up to the next of its level."""
    start = blocks.index(Heading(2, title)) + 1
    ends = [place for place, block in enumerate(blocks) if isinstance(block, Heading) and block.level == 2]
    return [*blocks[start : min([place for place in ends if place >= start], default=len(blocks))]]


def tables(title: str, blocks: Sequence[Block]) -> list[Table]:
    return [block for block in section(title, blocks) if isinstance(block, Table)]


def test_the_sections_of_a_page() -> None:
    blocks = page()
    assert Heading(1, "2 agents at 2 tasks") == blocks[0]
    assert isinstance(blocks[1], Points)
    assert "6 runs opened, 5 sealed, 4 scored, 2 left out" == blocks[1].lines[0]
    titles = [block.text.split(":")[0] for block in blocks if isinstance(block, Heading) and block.level == 2]
    assert [
        "Agents", "Tasks and ledgers", "Credit", "Means by family, role and capability", "Stages", "Weights",
        "Collisions", "Flips", "Pairs", "Renderings", "Left out", "Remarks", "Runs, roots and receipts",
    ] == titles  # fmt: skip


def test_agents_are_as_they_are_stated() -> None:
    stated, means = tables("Agents", page())
    prompt = ("be good " * 100)[:200]
    assert [
        ("alpha", "m-1", "2", f"prompt {prompt}…, temperature 0.7", "2", "2", "2", "0"),
        ("beta", "–", "–", "–", "4", "3", "2", "2"),
    ] == stated.rows
    assert [
        ("alpha", "scored runs", "2", "1", "500.0", "–"),
        ("beta", "scored runs", "2", "2", "375.0", "0.0 to 1000.0"),
        ("beta", "open, abandoned at 0", "3", "2", "250.0", "0.0 to 1000.0"),
        ("all", "scored runs", "4", "2"),
    ] == [*means.rows[:3], means.rows[3][:4]]
    (chart,) = (block for block in section("Agents", page()) if isinstance(block, Dots))
    assert [("alpha", 500), ("beta", 375), ("all", Fraction(875, 2))] == [row[:2] for row in chart.rows]


def test_a_name_that_is_not_the_label_is_told_whole() -> None:
    twin = [SCORES[0], SCORES[1]._replace(agent=Agent(model="m-2", name="alpha", settings={}, version=""))]
    (table, _) = tables("Agents", page(twin))
    assert ("agent", "name", "model") == table.heads[:3]
    assert [("alpha m-1", "alpha", "m-1"), ("alpha m-2", "alpha", "m-2")] == [row[:3] for row in table.rows]
    assert {5, 6, 7, 8} == {*range(9)} - table.words


def test_tasks_with_their_digests_and_ledgers_with_their_keys() -> None:
    tasks, ledgers = tables("Tasks and ledgers", page())
    assert [
        ("t1.find", "1", "3", "t1.find:digest", PREDICATES.digest),
        ("t4.sell", "1", "3", "t4.sell:digest", PREDICATES.digest),
    ] == tasks.rows
    assert [("here.example", HERE.key, "5"), ("–", "–", "1")] == ledgers.rows


def test_runs_that_are_left_out_are_named_with_why() -> None:
    (left,) = tables("Left out", page())
    assert [
        ("5" * 64, "beta", "t4.sell", "open", "so it is"),
        ("6" * 64, "beta", "t4.sell", "invalid", "so it is"),
    ] == left.rows
    assert [Words("No run is left out.")] == section("Left out", page(SCORES[:4]))


def test_each_run_with_its_root_and_the_digest_of_its_receipt() -> None:
    (runs,) = tables("Runs, roots and receipts", page())
    assert ("run", "agent", "task", "case", "label", "trial", "score", "root", "receipt") == runs.heads
    assert ("1" * 12, "alpha", "t1.find", "one", "", "0", "1000", "a" * 64, "c" * 64) == runs.rows[0]
    assert ("4" * 12, "beta", "t4.sell", "two", "called t9", "0", "250", "b", "–") == runs.rows[3]
    assert ("5" * 12, "beta", "t4.sell", "two", "", "1", "open", "–", "–") == runs.rows[4]
    assert {5, 6} == {*range(9)} - runs.words
    (unlabelled,) = tables("Runs, roots and receipts", page(SCORES[:3]))
    assert "label" not in unlabelled.heads
    assert {4, 5} == {*range(8)} - unlabelled.words


def test_what_the_numbers_rest_on_is_said() -> None:
    imported = [each._replace(custody="imported", anchored=False) for each in SCORES]
    (remarks,) = section("Remarks", page(imported))
    assert isinstance(remarks, Points)
    assert "label: 1 run called other than they were graded" == remarks.lines[0]
    assert {f"{CUSTODY} (6 of 6 runs)", f"{UNANCHORED} (6 of 6 runs)", INTERVALS} < {*remarks.lines}
    assert not any("left out" in line or PREDICATES.digest in line for line in remarks.lines)


def test_the_order_of_runs_of_one_agent_changes_nothing_but_their_list() -> None:
    changed = [SCORES[1], SCORES[0], *SCORES[2:]]
    assert page()[:-1] == page(changed)[:-1]


@pytest.mark.parametrize(
    "scores", [[], SCORES[:1], SCORES[4:], [each._replace(agent=None, role=None) for each in SCORES]],
    ids=["none", "one", "unscored", "nobody"],
)  # fmt: skip
def test_any_runs_make_a_page(scores: list[Score]) -> None:
    blocks = page(scores)
    assert html_page(blocks).startswith("<!doctype html>")
    assert markdown_page(blocks).startswith("# ")


def test_a_hostile_agent_is_text_everywhere() -> None:
    name = "<script>alert(1)</script>|`x`\u202e\n# head"
    hostile = Agent(model=name, name=name, settings={name: name}, version=name)
    scores = [each._replace(agent=hostile) if each.agent == STATED else each for each in SCORES]
    text = html_page(page(scores))
    assert "<script" not in text
    assert "\u202e" not in text
    assert text.count("&lt;script&gt;") > 20
    assert "\u202e" not in markdown_page(page(scores))

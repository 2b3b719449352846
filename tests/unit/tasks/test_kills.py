"""The page of wrong runs, of files that nobody linted: each figure worked out by hand."""

from __future__ import annotations

from fractions import Fraction

from kills import Told, kills_page
from panel_scores import seen

from tollbook.scorers.analysis.collisions import Seen
from tollbook.scorers.tables import Table
from tollbook.tasks.lint.bars import Bar

NONE = Table(("mutation",), [("lost",)], frozenset({0}))


def told(name: str, *runs: Seen, **means: int) -> Told:
    """A file whose cheats earn so much; `lazy` is its own, with a bar of 250."""
    bars = [
        Bar(cheat, Fraction(mean), {"a": Fraction(mean)}, 250 if cheat == "lazy" else 300)
        for cheat, mean in means.items()
    ]
    return Told(name, f"Title of {name}", NONE, NONE, tuple(bars), ("lazy",), 9, runs)


def shown(*files: Told) -> list[str]:
    return kills_page("<!-- made -->", files).splitlines()


def test_a_built_in_cheat_is_summed_up_over_files_and_an_own_one_stands_by_its_file() -> None:
    lines = shown(
        told("t1.a", idle=0, first_offer=100, lazy=50),
        told("t1.b", idle=0, first_offer=201),
        told("t4.c", idle=0, jitter=7, first_offer=201),
    )
    at = lines.index("| cheat | files | mean over files | highest | in |")
    assert [
        "| idle | 3 | 0 | 0 | – |",
        "| first\\_offer | 3 | 167.3 | 201 | t1.b and 1 more |",
        "| jitter | 1 | 7 | 7 | t4.c |",
    ] == lines[at + 2 : at + 5]
    at = lines.index("| file | cheat | at most | mean |")
    assert ["| t1.a | lazy | 250 | 50 |", ""] == lines[at + 2 : at + 4]


def test_a_mutation_is_missed_where_it_looks_like_full_credit_at_the_same_place() -> None:
    lines = shown(
        told(
            "t1.a",
            Seen("reference", ("t1.a", "x"), is_full=True, projections=seen("end", "pay", "look, pay", "1")),
            Seen("blind", ("t1.a", "x"), is_full=False, projections=seen("end", "pay", "pay", "2")),
            Seen("elsewhere", ("t1.a", "y"), is_full=False, projections=seen("end", "pay", "look, pay", "1")),
        ),
        told("t4.c", Seen("alone", ("t4.c", "x"), is_full=False, projections=seen("none"))),
    )
    at = lines.index("| seen | all files | t1 | t4 |")
    assert [
        "| mutations | 3 | 2 | 1 |",
        "| the final state | 1 (33.3 %) | 1 (50 %) | 0 (0 %) |",
        "| the last act | 1 (33.3 %) | 1 (50 %) | 0 (0 %) |",
        "| the acts in order | 0 (0 %) | 0 (0 %) | 0 (0 %) |",
        "| the whole trace | 0 (0 %) | 0 (0 %) | 0 (0 %) |",
    ] == lines[at + 2 : at + 7]


def test_each_file_has_its_section() -> None:
    lines = shown(told("t1.a_b"), told("t4.c"))
    heads = [line for line in lines if line.startswith("### ")]
    assert ["### t1.a\\_b", "### t4.c"] == heads
    at = lines.index(heads[0])
    assert ["", "Title of t1.a\\_b. 9 runs were played.", "", "| mutation |"] == lines[at + 1 : at + 5]

"""Invented runs that look alike to who sees less than all of them."""

from __future__ import annotations

from typing import Any

from panel_scores import ALPHA, BETA, seen, worth

from tollbook.scorers.analysis.collisions import Collisions, Seen, collisions, sheet
from tollbook.scorers.analysis.sheet import Heat, text_of
from tollbook.scorers.projection import Projections
from tollbook.scorers.score import Score


def one(name: str, place: str, *, full: bool, looks: Projections | None) -> Seen:
    return Seen(name, place, full, looks)


def test_a_run_collides_with_the_first_full_one_of_its_place_that_looks_the_same() -> None:
    runs = [
        one("x", "here", full=False, looks=seen("f", "l", "a", "t")),
        one("y", "here", full=False, looks=seen("f", "other", "b", "u")),
        one("A", "here", full=True, looks=seen("f", "l", "a", "v")),
        one("B", "here", full=True, looks=seen("f", "l", "c", "w")),
        one("z", "there", full=False, looks=seen("f", "l", "a", "t")),
        one("C", "there", full=True, looks=seen("g", "l", "c", "w")),
        one("v", "nowhere", full=False, looks=seen("f", "l", "a", "t")),
    ]
    assert (
        Collisions("final", 4, 0, (("x", "A"), ("y", "A"))),
        Collisions("last", 4, 0, (("x", "A"), ("z", "C"))),
        Collisions("acts", 4, 0, (("x", "A"),)),
        Collisions("trace", 4, 0, ()),
    ) == collisions(runs)


def test_a_view_that_is_missing_collides_with_nothing_and_is_counted_apart() -> None:
    runs = [
        one("x", "here", full=False, looks=seen("f", trace=None)),
        one("y", "here", full=False, looks=None),
        one("A", "here", full=True, looks=seen("f", trace=None)),
        one("B", "here", full=True, looks=None),
    ]
    final, *_, trace = collisions(runs)
    assert (2, 1, (("x", "A"),)) == final[1:]
    assert (2, 2, ()) == trace[1:]
    assert [(0, 0, ())] * 4 == [each[1:] for each in collisions([])]


def test_places_are_told_apart_whatever_they_are() -> None:
    """A task's rehearsals have no ids; a place is anything that can be told from another."""
    runs = [
        Seen("mutation", ("t4.x", "a"), is_full=False, projections=seen("f")),
        Seen("reference", ("t4.x", "a"), is_full=True, projections=seen("f")),
        Seen("other", ("t4.x", "b"), is_full=False, projections=seen("f")),
    ]
    assert [1, 1, 1, 1] == [len(each.pairs) for each in collisions(runs)]


def played(player: str, place: str, points: int, looks: str, **fields: Any) -> Score:
    """A run with the four projections that `looks` names."""
    return worth(player, place, points, projections=seen(*looks.split()), **fields)


SCORES = [
    played(ALPHA, "t1.x a 0", 1000, "f l a t"),
    played(BETA, "t1.x a 0", 800, "f l a u"),
    played(ALPHA, "t1.x a 1", 0, "f l a t"),  # another trial may draw another question
    played(BETA, "t1.x b 0", 1000, "f l a t"),
    played(ALPHA, "t1.x b 0", 0, "g l b u"),
    played(ALPHA, "t2.x a 0", 1000, "f l a t"),
    played(BETA, "t2.x a 0", 999, "g m b u"),
    played(BETA, "t3.x a 0", 1000, "f l a t"),
]

TEXT = """\
Collisions: runs short of full credit that look like one at full credit

view           short  missing  collide  share
final state        4        0        1  0.250
last act           4        0        2  0.500
acts in order      4        0        1  0.250
whole trace        4        0        0  0.000

Collisions by family
family  short  final state  last act  acts in order  whole trace
t1          3            1         2              1            0
t2          1            0         0              0            0

of 4 short of full credit 1 were played where no run has it
"""


def test_as_text() -> None:
    assert TEXT == text_of(sheet(SCORES))


def test_the_document_names_pairs_up_to_ten() -> None:
    document = sheet(SCORES).document
    final, last, *_ = document["views"]
    assert {"run": "beta t1.x a 0", "full": "alpha t1.x a 0"} == final["pairs"][0]
    assert ("last", 4, 0, 2, [1, 2], "0.5000") == tuple(last.values())[:-1]
    assert 1 == document["alone"]
    assert {"final": 1, "last": 2, "acts": 1, "trace": 0} == document["families"][0]["colliding"]
    many = [SCORES[0], *(played(BETA, "t1.x a 0", 0, "f m b u", run=f"{place:02}") for place in range(12))]
    pairs = sheet(many).document["views"][0]["pairs"]
    assert [f"{place:02}" for place in range(10)] == [pair["run"] for pair in pairs]
    assert 12 == sheet(many).document["views"][0]["colliding"]


def test_shares_are_of_the_runs_that_a_view_shows() -> None:
    withheld = SCORES[1]._replace(projections=seen("f", "l", "a", None))
    found = sheet([SCORES[0], withheld, *SCORES[2:5]])
    trace = found.document["views"][3]
    assert (3, 1, 0, "0.0000") == (trace["short"], trace["missing"], trace["colliding"], trace["share"])
    assert "missing: a part that the view takes is withheld; shares are of the others" in found.notes
    (chart,) = sheet([SCORES[0], withheld]).charts
    assert isinstance(chart, Heat)
    assert [("t1", [1, 1, 1, None])] == [*chart.rows]


def test_of_runs_without_projections_nothing_is_found() -> None:
    found = sheet([worth(ALPHA, "t1.x a 0", 0), worth(BETA, "t1.x a 0", 1000)])
    assert [(1, 0, None)] * 4 == [
        (view["missing"], view["colliding"], view["share"]) for view in found.document["views"]
    ]
    assert () == sheet([]).tables

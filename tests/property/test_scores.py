"""Scores of random predicate files over random views: exact, within bounds, and the same in any key order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tollbook.scorers.predicates import FULL, STAGES, Cap, Predicate, PredicateSet
from tollbook.scorers.receipt import parse_receipt, print_receipt, receipt_of
from tollbook.scorers.score import Score
from tollbook.scorers.stats import interval, mean, wilson
from tollbook.scorers.verdict import Judgement, judge
from tollbook.scorers.view import View

# What each expression is worth by hand; None is an error.
EXPRESSIONS: dict[str, Fraction | None] = {
    "true": Fraction(1),
    "false": Fraction(0),
    "[1, 3]": Fraction(1, 3),
    "[7, 5]": Fraction(1),
    "[-1, 5]": Fraction(0),
    "[oracle.some, 7]": Fraction(2, 7),
    "oracle.some == 2": Fraction(1),
    "oracle.rows.all(r, r.n > 0)": Fraction(1),
    "[oracle.rows.filter(r, r.n > 1).size(), oracle.rows.size()]": Fraction(2, 3),
    "oracle.none.size() == 0": None,
    "oracle.rows[9].n == 1": None,
    "[1, 0]": None,
    "oracle.some": None,
}
ORACLE = {"some": 2, "none": None, "rows": [{"n": 1}, {"n": 2}, {"n": 3}]}


@st.composite
def files(draw: st.DrawFn) -> tuple[PredicateSet, Fraction]:
    """A predicate set and its points by hand."""
    count = draw(st.integers(1, 5))
    cuts = sorted(draw(st.lists(st.integers(0, FULL), min_size=count - 1, max_size=count - 1)))
    weights = [high - low for low, high in zip([0, *cuts], [*cuts, FULL], strict=True)]
    predicates: dict[str, Predicate] = {}
    earned: dict[str, Fraction] = {}
    points = Fraction(0)
    for place, weight in enumerate(weights):
        expr = draw(st.sampled_from([*EXPRESSIONS]))
        needs = tuple(draw(st.lists(st.sampled_from([*predicates]), unique=True))) if predicates else ()
        stage = draw(st.sampled_from(STAGES))
        name = f"p{place}"
        predicates[name] = Predicate(stage, weight, expr, needs)
        held = all(earned[need] == 1 for need in needs)
        earned[name] = (EXPRESSIONS[expr] or Fraction(0)) if held else Fraction(0)
        points += weight * earned[name]
    caps: dict[str, Cap] = {}
    for place in range(draw(st.integers(0, 2))):
        expr = draw(st.sampled_from(["true", "false", "oracle.none.size() == 0"]))
        limit = draw(st.integers(0, FULL))
        caps[f"c{place}"] = Cap(expr, limit)
        points = points if expr == "false" else min(points, Fraction(limit))
    return PredicateSet("x", predicates, caps=caps, oracle=dict.fromkeys(ORACLE, "")), points


@given(files())
def test_points_are_exact_and_what_they_are_by_hand(file: tuple[PredicateSet, Fraction]) -> None:
    predicates, points = file
    found = judge(predicates, View({"oracle": ORACLE}))
    assert points == found.points
    assert isinstance(found.points, Fraction)
    assert 0 <= found.points <= FULL
    errors = sum(EXPRESSIONS[each.expr] is None for each in predicates.predicates.values())
    assert errors == sum(defect.place.startswith("predicate") for defect in found.defects)


@given(files())
def test_a_receipt_comes_back_as_it_went(file: tuple[PredicateSet, Fraction]) -> None:
    predicates, _ = file
    found = judge(predicates, View({"oracle": ORACLE}))
    receipt = receipt_of(score_of(found, predicates))
    assert receipt == parse_receipt(print_receipt(receipt))
    assert found.points == receipt.value


def score_of(found: Judgement, predicates: PredicateSet) -> Score:
    checks: Any = {**dict.fromkeys("12345", "done"), "6": "not done"}
    return Score(
        run="a" * 64,
        root="b" * 64,
        task=None,
        task_digest=None,
        case=None,
        trial=0,
        cluster="",
        custody="played",
        checks=checks,
        anchored=False,
        scorer=predicates.digest,
        outcome="scored",
        reason=None,
        value=found.points,
        predicates=found.verdicts,
        caps=found.flags,
        defects=found.defects,
        recorded=None,
        label=None,
    )


FREE = PredicateSet(
    "x",
    {
        "any": Predicate("choice", 300, "oracle.m.exists(k, oracle.m[k] == 1)"),
        "every": Predicate("choice", 300, "oracle.m.all(k, v, v >= 0 && k != 'z')"),
        "share": Predicate("choice", 200, "[did.a.b.filter(x, x.n > 2).size(), did.a.b.size()]"),
        "sorted": Predicate("choice", 100, "did.map(k, k).sort() == ['a', 'c'] ? [1, 3] : [2, 3]"),
        "one": Predicate("choice", 100, "oracle.m.exists_one(k, oracle.m[k] > 1)"),
    },
    oracle={"m": "a map"},
)  # fmt: skip
ACTS = st.lists(st.fixed_dictionaries({"n": st.integers(0, 5), "ok": st.booleans()}), max_size=4)
VIEWS = st.fixed_dictionaries(
    {
        "oracle": st.fixed_dictionaries({"m": st.dictionaries(st.sampled_from("abxyz"), st.integers(-1, 3))}),
        "did": st.fixed_dictionaries({"a": st.fixed_dictionaries({"b": ACTS}), "c": st.just({})}),
        "acts": ACTS,
    }
)


def turned(value: Any) -> Any:
    """The same value, the keys of each map in the opposite order."""
    if isinstance(value, dict):
        return {key: turned(each) for key, each in reversed(value.items())}
    return [turned(each) for each in value] if isinstance(value, list) else value


@given(VIEWS)
def test_the_order_of_keys_changes_no_verdict(document: dict[str, Any]) -> None:
    assert judge(FREE, View(document)) == judge(FREE, View(turned(document)))


CLUSTERED = st.tuples(st.fractions(0, 1_000, max_denominator=20), st.sampled_from("abcde"))
VALUES = st.lists(CLUSTERED, min_size=1, max_size=12)


@given(VALUES, st.randoms(use_true_random=False))
def test_an_interval_lies_about_its_mean_in_any_order(
    values: list[tuple[Fraction, str]], random: Any
) -> None:
    found = interval(*zip(*values, strict=True))
    if found is None:
        assert 1 == len({cluster for _, cluster in values})
        return
    middle = mean([value for value, _ in values])
    assert found.low + found.high == 2 * middle
    assert found.low <= middle <= found.high
    random.shuffle(values)
    assert found == interval(*zip(*values, strict=True))


@settings(max_examples=50)
@given(st.integers(1, 500).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole))))
def test_a_share_and_its_opposite_have_opposite_intervals(counts: tuple[int, int]) -> None:
    part, whole = counts
    found, opposite = wilson(part, whole), wilson(whole - part, whole)
    assert found is not None
    assert opposite is not None
    assert 0 <= found.low <= Fraction(part, whole) <= found.high <= 1
    # A root is cut off after thirty digits, so the two meet but for the last.
    assert abs(found.low + opposite.high - 1) < Fraction(1, 10**27)

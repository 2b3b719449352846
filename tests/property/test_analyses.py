"""Laws of the analyses, over panels at random."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st
from panel_scores import ALPHA, BETA, Said, run, seen

from tollbook.scorers.analysis import credit, flips, means, pairs, stages, weights
from tollbook.scorers.analysis.collisions import VIEWS, Seen, collisions
from tollbook.scorers.analysis.sheet import Heat, Stacked
from tollbook.scorers.predicates import FULL, STAGES, Stage
from tollbook.scorers.projection import Projections
from tollbook.scorers.score import Score

CREDITS = st.sampled_from(["0", "1/7", "1/2", "999/1000", "1", "1", "1", "!"])


@st.composite
def said(draw: st.DrawFn, *, alike: bool = False) -> list[Said]:
    """Up to five predicates whose weights sum to 1,000; ``alike``: all of them the same."""
    count = draw(st.sampled_from([1, 2, 4, 5])) if alike else draw(st.integers(1, 5))
    cuts = sorted(draw(st.lists(st.integers(0, FULL), min_size=count - 1, max_size=count - 1)))
    ends = zip([0, *cuts], [*cuts, FULL], strict=True)
    sizes = [FULL // count] * count if alike else [high - low for low, high in ends]
    names: list[Stage] = draw(st.lists(st.sampled_from(STAGES), min_size=count, max_size=count))
    return [(stage, size, draw(CREDITS)) for stage, size in zip(names, sizes, strict=True)]


@st.composite
def panels(draw: st.DrawFn, *, alike: bool = False) -> list[Score]:
    """Runs of two agents at up to eight places."""
    places = st.tuples(st.sampled_from(["t1.x", "t1.y", "t2.x"]), st.sampled_from("ab"), st.integers(0, 2))
    found: list[Score] = []
    for player, place in draw(
        st.lists(st.tuples(st.sampled_from([ALPHA, BETA]), places), min_size=1, max_size=16)
    ):
        cap = draw(st.none() | st.sampled_from([0, 250, 900]))
        name = f"r{len(found)}"
        found.append(run(player, " ".join(map(str, place)), *draw(said(alike=alike)), cap=cap, run=name))
    return found


@given(panels())
def test_the_shares_of_credit_sum_to_1(scores: list[Score]) -> None:
    (chart,) = credit.sheet(scores).charts
    assert isinstance(chart, Stacked)
    assert {Fraction(1)} == {sum(shares) for _, shares in chart.rows}
    found = credit.credit_of(scores)
    assert len(scores) == found.runs == sum(found.tenths)
    assert found.full == found.tenths[-1]


@given(panels())
def test_each_run_short_of_full_credit_is_in_one_stage(scores: list[Score]) -> None:
    short = sum(score.value != FULL for score in scores)
    assert short == stages.stages_of(scores).total()
    for score in scores:
        assert score.value is not None
        lost = stages.lost_in(score)
        assert FULL - score.value == sum(lost.values())
        assert min(lost.values()) >= 0
        assert (stages.stage_of(score) is None) == (score.value == FULL)
    document = stages.sheet(scores).document
    for entries in (document["agents"], document["families"]):
        assert short == sum(entry["short"] for entry in entries)
        counts = [each["partial"] + each["zero"] for entry in entries for each in entry["stages"].values()]
        assert short == sum(counts)
    (chart,) = stages.sheet(scores).charts
    assert isinstance(chart, Heat)
    assert all(None in row or sum(filter(None, row)) == 1 for _, row in chart.rows)


@given(panels(alike=True))
def test_equal_weights_change_nothing_where_weights_are_equal(scores: list[Score]) -> None:
    assert [score.value for score in scores] == [weights.equal_value(score) for score in scores]
    assert {0} == {entry["delta"]["exact"] for entry in weights.sheet(scores).document["agents"]}


@given(panels())
def test_equal_weights_leave_nothing_and_all_as_they_are(scores: list[Score]) -> None:
    for score in scores:
        equal = weights.equal_value(score)
        assert 0 <= equal <= FULL
        whole = all(verdict.credit == 1 for verdict in score.predicates if verdict.weight)
        assert not whole or score.value == equal


@given(panels())
def test_a_mean_over_families_is_the_mean_over_runs(scores: list[Score]) -> None:
    document = means.sheet(scores).document
    total = sum((score.value for score in scores if score.value is not None), Fraction(0))
    for entries in (document["families"], document["roles"], document["capabilities"]):
        assert len(scores) == sum(entry["runs"] for entry in entries)
        assert total == sum(entry["runs"] * exactly(entry["exact"]) for entry in entries)


LOOKS = st.builds(
    Projections,
    final=st.sampled_from("ab"),
    last=st.sampled_from("ab"),
    acts=st.sampled_from("abc"),
    trace=st.sampled_from("abcd") | st.none(),
)
SEEN = st.lists(st.tuples(st.sampled_from("xy"), st.booleans(), LOOKS | st.none()), max_size=12)


@given(SEEN)
def test_a_collision_is_a_pair_that_one_view_does_not_tell_apart(drawn: Sequence[tuple]) -> None:
    runs = [Seen(f"r{number}", *each) for number, each in enumerate(drawn)]
    by_name = {each.name: each for each in runs}
    for found in collisions(runs):
        colliding = {name for name, _ in found.pairs}
        assert len(found.pairs) == len(colliding) <= found.short - found.missing
        for one, other in found.pairs:
            short, full = by_name[one], by_name[other]
            assert (False, True, short.place) == (short.is_full, full.is_full, full.place)
            assert looks(short, found.view) == looks(full, found.view) is not None
        for short, full in permutations(runs, 2):
            alike = short.place == full.place and looks(short, found.view) == looks(full, found.view)
            if alike and looks(full, found.view) is not None and full.is_full and not short.is_full:
                assert short.name in colliding


@given(SEEN)
def test_who_sees_the_whole_trace_confuses_equal_traces_only(drawn: Sequence[tuple]) -> None:
    """Where equal traces have equal scores, as a judge of them gives, the trace collides with nothing."""
    runs = [
        Seen(f"r{number}", place, is_full=judged(projections), projections=projections)
        for number, (place, _, projections) in enumerate(drawn)
    ]
    assert () == collisions(runs)[VIEWS.index("trace")].pairs


def judged(projections: Projections | None) -> bool:
    return projections is not None and projections.trace in ("a", "b")


def looks(run: Seen, view: str) -> str | None:
    return getattr(run.projections, view, None)


@given(panels())
def test_a_flip_is_a_chance_and_none_of_identical_trials(scores: list[Score]) -> None:
    document = flips.sheet(scores).document
    for entry in (*document["cells"], *document["predicates"]):
        assert 0 <= exactly(entry["exact"]) <= 1
    again = [
        score._replace(trial=trial, run=f"{score.run} {trial}")
        for score in {score.case: score for score in scores}.values()
        for trial in (0, 1, 2)
    ]
    assert {0} == {entry["exact"] for entry in flips.sheet(again).document["cells"]}


@given(st.integers(1, 50))
def test_where_half_of_the_trials_are_full_a_flip_is_half_and_a_bit(half: int) -> None:
    trials = 2 * half
    assert Fraction(1, 2) * Fraction(trials, trials - 1) == flips.flip(half, trials)


@given(panels())
def test_each_pair_of_runs_is_won_tied_or_lost(scores: list[Score]) -> None:
    for gap in pairs.sheet(scores).document["differences"]:
        assert gap["pairs"] == gap["won"] + gap["tied"] + gap["lost"]
        assert min(gap["won"], gap["tied"], gap["lost"]) >= 0


def exactly(value: int | list[int]) -> Fraction:
    return Fraction(*value) if isinstance(value, list) else Fraction(value)


def test_projections_at_random_are_of_the_kind_that_scores_have() -> None:
    assert VIEWS == Projections._fields == seen("f")._fields

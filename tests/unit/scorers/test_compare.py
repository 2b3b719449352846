"""Comparisons of hand-made runs: every number in them can be worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from tollbook.protocol.bodies import Agent
from tollbook.scorers.compare import Comparison, Gap, Place, Repeats, compare
from tollbook.scorers.score import Outcome, Score
from tollbook.scorers.stats import decimal
from tollbook.scorers.verdict import Verdict

FILES = {"t1": "1" * 64, "t2": "2" * 64, "t3": "3" * 64, "t4": "4" * 64, "t5": "5" * 64}
AT_0 = "with_unscored_at_0"


def agent(name: str, **fields: Any) -> Agent:
    return Agent(**{"model": "", "settings": {}, "version": "", **fields}, name=name)


ALPHA, BETA = agent("alpha"), agent("beta")


def run(player: Agent | None, place: str, value: int | Outcome, **fields: Any) -> Score:
    """A run at `task case trial`, with its points or its outcome."""
    task, case, trial = place.split()
    scored = isinstance(value, int)
    plain: dict[str, Any] = {
        "run": f"{'-' if player is None else player.name} {place}",
        "root": None if value == "open" else "b" * 64,
        "outcome": "scored" if scored else value,
        "reason": None if scored else "so it is",
        "value": Fraction(value) if scored else None,
        "predicates": (),
        "cluster": FILES[task],
        "task_digest": FILES[task],
        "task": task,
        "case": case,
        "trial": int(trial),
    }
    checks: Any = dict.fromkeys("123456", "done")
    return Score(
        custody="played", checks=checks, anchored=True, scorer="s",
        caps=(), defects=(), recorded=None, label=None, agent=player, **{**plain, **fields},
    )  # fmt: skip


def runs(player: Agent | None, **cells: list[int | Outcome]) -> list[Score]:
    """The trials of each `task_case`."""
    return [
        run(player, f"{cell.replace('_', ' ')} {trial}", value)
        for cell, values in cells.items()
        for trial, value in enumerate(values)
    ]


PLAYED = [
    *runs(ALPHA, t1_a=[1000, 0], t1_b=[1000, 1000], t2_a=[0, 500]),
    *runs(BETA, t1_a=[0, 0], t1_b=[1000, 0], t2_a=[0, "open"]),
]


def rates(repeats: Repeats) -> list[tuple[int, Fraction, Fraction]]:
    return [(chance.k, chance.one.value, chance.every.value) for chance in repeats.chances]


def of(found: Comparison, basis: str = "scored") -> Gap:
    (gap,) = [gap for gap in found.gaps if gap.basis == basis]
    return gap


def lacks(gap: Gap) -> list[str]:
    return [f"{each.place.task} {each.place.case} {each.place.trial}: {each.why}" for each in gap.unpaired]


def test_pass_at_k_and_pass_all_k_are_means_over_cells() -> None:
    # Passes among trials: 1 of 2, 2 of 2, 0 of 2; the other agent's 0 of 2, 1 of 2, and 0 of 1, then of 2.
    alpha, beta, at_0 = compare(PLAYED).repeats
    half, third, sixth = Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)
    assert [(1, half, half), (2, 2 * third, third)] == rates(alpha)
    assert [(1, sixth, sixth)] == rates(beta)
    assert [(1, sixth, sixth), (2, third, 0)] == rates(at_0)
    assert [("alpha", "scored"), ("beta", "scored"), ("beta", AT_0)] == [
        (each.label, each.basis) for each in (alpha, beta, at_0)
    ]
    assert [(3, 2, 2, 2, ())] * 2 == [
        (each.cells, each.tasks, each.fewest, each.most, each.short) for each in (alpha, at_0)
    ]
    assert (1, 2, ("t2@222222222222 a",)) == (beta.fewest, beta.most, beta.short)


def test_the_interval_of_a_rate_is_clustered_by_task_and_ends_at_0_and_1() -> None:
    # Shares ½, 1 | 0 of two tasks: s = ½ and −½, h = 2/3 and 1/3: SE² = (¼·3 + ¼·3/2) / 9, times 12.706.
    first, *_ = compare(PLAYED).repeats
    interval = first.chances[0].one.interval
    assert interval == (0, 1)
    # One cell a task, 1 1 1 1 0: mean 0.8, SE² = 0.2/5, 0.8 − 2.776 · 0.2.
    cells: dict[str, list[int | Outcome]] = {f"{task}_a": [1000, 1000] for task in FILES}
    (found,) = compare(runs(None, **{**cells, "t5_a": [0, 0]})).repeats
    interval = found.chances[1].every.interval
    assert interval is not None
    assert ("0.245", "1.000") == (decimal(interval.low, 3), decimal(interval.high, 3))
    (found,) = compare(runs(None, **cells)).repeats
    assert (1, None) == found.chances[1].every


@pytest.mark.parametrize(
    "scores",
    [
        runs(ALPHA, t1_a=[1000], t1_b=[0], t2_a=["open"]),
        [run(ALPHA, "t1 a 0", 0, run="one"), run(ALPHA, "t1 a 0", 0, run="two")],
        [run(ALPHA, "t1 a 0", 0), run(ALPHA, "t1 a 1", "invalid")],
        [run(None, "t1 a 0", 0), run(None, "t1 a 0", 0, task=None), run(None, "t1 a 1", 0, case=None)],
        [],
    ],
    ids=["one trial each", "one trial twice", "no second one", "no task", "nothing"],
)
def test_one_agent_of_single_trials_adds_nothing(scores: list[Score]) -> None:
    assert ((), (), ()) == compare(scores)
    assert {} == compare(scores).document()


def test_nearly_full_marks_are_no_pass() -> None:
    (found,) = compare(runs(None, t1_a=[999, 1000])).repeats
    assert [(1, Fraction(1, 2), Fraction(1, 2)), (2, 1, 0)] == rates(found)


def test_a_mean_for_each_agent_by_name() -> None:
    alpha, beta = compare(PLAYED[::-1]).standings
    assert (("alpha", ALPHA, 6, 6), ("beta", BETA, 5, 5)) == tuple(
        (each.label, each.agent, each.sealed, each.scored) for each in (alpha, beta)
    )
    assert (6, 6) == (len(alpha.runs), len(beta.runs))
    assert [("scored", Fraction(1750, 3), 6, 2)] == [
        (basis, mean.value, mean.runs, mean.tasks) for basis, mean in alpha.means
    ]
    assert [("scored", 200, 5), (AT_0, Fraction(500, 3), 6)] == [
        (basis, mean.value, mean.runs) for basis, mean in beta.means
    ]


def test_a_difference_over_what_both_played() -> None:
    # 1000, 0, 0, 1000 | 0: mean 400, s = ±400, h = 4/5 and 1/5: SE² = (16e4·5 + 16e4·5/4) / 25 = 200².
    # One degree of freedom: 12.706 + 1.376 = 14.082.
    gap = of(compare(PLAYED))
    assert ("alpha", "beta", 5, 2, 400) == (gap.first, gap.second, gap.pairs, gap.tasks, gap.mean)
    assert gap.interval == (-1000, 1000)
    assert gap.smallest == Fraction("2816.4")
    assert ["t2 a 1: beta is open"] == lacks(gap)


def test_a_difference_with_open_and_abandoned_runs_at_0() -> None:
    # A sixth pair of 500: s = ±333⅓, h = 2/3 and 1/3: SE² = 111111·(3 + 3/2) / 36 = 117.85².
    gap = of(compare(PLAYED), AT_0)
    assert (6, Fraction(1250, 3), ()) == (gap.pairs, gap.mean, gap.unpaired)
    assert gap.smallest is not None
    assert "1659.580" == decimal(gap.smallest, 3)


def test_a_difference_of_one_pair_a_task_has_students_interval() -> None:
    # Differences 100 … 500: SE² = 25000/5, 2.776 · 70.71 = 196.29, 3.717 · 70.71 = 262.83.
    cells = [f"{task} a 0" for task in FILES]
    gap = of(
        compare(
            [
                *(run(ALPHA, cell, 500 + 100 * place) for place, cell in enumerate(cells)),
                *(run(BETA, cell, 400) for cell in cells),
            ]
        )
    )
    assert gap.interval is not None
    assert gap.smallest is not None
    assert gap.mean == 300
    assert ["103.7", "496.3", "262.8"] == [decimal(each, 1) for each in (*gap.interval, gap.smallest)]


def test_where_nothing_differs_nothing_is_claimed_of_the_error() -> None:
    gap = of(compare([*runs(ALPHA, t1_a=[0], t2_a=[0]), *runs(BETA, t1_a=[0], t2_a=[0])]))
    assert (0, None, None) == (gap.mean, gap.interval, gap.smallest)


def test_of_one_task_there_is_a_mean_and_no_interval() -> None:
    gap = of(compare([*runs(ALPHA, t1_a=[500]), *runs(BETA, t1_a=[0])]))
    assert (1, 1, 500, None, None) == (gap.pairs, gap.tasks, gap.mean, gap.interval, gap.smallest)


def test_what_is_not_paired_is_named_with_why() -> None:
    error = (Verdict("p", "choice", 1000, None, "no", (), ()),)
    found = compare(
        [
            *runs(ALPHA, t1_a=[0, 0, "invalid", "open", "abandoned"], t2_a=[0]),
            *runs(BETA, t1_a=[0, "undecided", 0, "abandoned"], t1_b=[0]),
            run(BETA, "t2 a 0", 0, task_digest="f" * 64),
            run(ALPHA, "t1 a 5", 0, predicates=error),
            run(BETA, "t1 a 5", 0),
            run(BETA, "t1 a 0", 0, task=None, run="9" * 64),
        ]
    )
    never = [
        "t1 a 1: beta is undecided", "t1 a 2: alpha is invalid", "t1 b 0: no run of alpha",
        "t2 a 0: no run of beta", "t2 a 0: no run of alpha",
    ]  # fmt: skip
    nowhere = " 0: no run of alpha"
    unsealed = ["t1 a 3: alpha is open, beta is abandoned", "t1 a 4: alpha is abandoned, no run of beta"]
    assert sorted([*never, f" {nowhere}", *unsealed]) == sorted(lacks(of(found)))
    assert sorted([*never, f" {nowhere}", *unsealed, "t1 a 5: alpha is in error"]) == sorted(
        lacks(of(found, "without_errors"))
    )
    assert sorted([*never, f" {nowhere}", "t1 a 4: no run of beta"]) == sorted(lacks(of(found, AT_0)))
    assert [2, 1, 3] == [of(found, basis).pairs for basis in ("scored", "without_errors", AT_0)]
    names = [each.place.name for each in of(found).unpaired]
    assert ["run 999999999999", "t1@111111111111 a trial 1"] == names[:2]
    assert ["t2@222222222222 a trial 0", "t2@ffffffffffff a trial 0"] == names[-2:]


def test_a_trial_that_was_played_twice_counts_as_the_mean_of_both() -> None:
    twice = [run(ALPHA, "t1 a 0", 1000, run="one"), run(ALPHA, "t1 a 0", 0, run="two")]
    gap = of(compare([*twice, run(BETA, "t1 a 0", 100)]))
    assert (1, 400) == (gap.pairs, gap.mean)
    gap = of(compare([twice[0], run(ALPHA, "t1 a 0", "open"), run(BETA, "t1 a 0", 100)]))
    assert (1, 900) == (gap.pairs, gap.mean)


def test_agents_that_played_nothing_in_common() -> None:
    gap = of(compare([run(ALPHA, "t1 a 0", 0), run(BETA, "t2 a 0", 0)]))
    assert (0, 0, None, None, None, 2) == (
        gap.pairs, gap.tasks, gap.mean, gap.interval, gap.smallest, len(gap.unpaired),
    )  # fmt: skip


def test_neither_order_changes_a_number() -> None:
    there, back = compare(PLAYED), compare(PLAYED[::-1])
    assert (there.repeats, there.gaps) == (back.repeats, back.gaps)


def test_where_all_is_paired_the_difference_is_that_of_the_means() -> None:
    scores = [each for each in PLAYED if (each.case, each.trial) != ("a", 1)]
    found = compare(scores)
    alpha, beta = (dict(each.means)["scored"].value for each in found.standings)
    assert (alpha - beta, ()) == (of(found).mean, of(found).unpaired)


@pytest.mark.parametrize(
    ("pairs", "names"),
    [
        ([], "a"),
        (["a b"], "ba"),
        (["a b", "a c", "a d", "b c", "b d", "c d"], "dcba"),
        (["a b", "b c", "c d", "d e"], "aecdb"),
    ],
)
def test_up_to_four_agents_are_compared_with_each_other(pairs: list[str], names: str) -> None:
    found = compare([run(agent(name), "t1 a 0", 0) for name in names])
    assert pairs == [f"{gap.first} {gap.second}" for gap in found.gaps]
    assert (sorted(names) if pairs else []) == [each.label for each in found.standings]


def test_of_more_agents_each_is_compared_with_the_next_below() -> None:
    worth = {"a": 300, "b": 900, "c": 0, "d": 1_000, "e": 500}
    found = compare([run(agent(name), "t1 a 0", points) for name, points in worth.items()])
    pairs = [(gap.first, gap.second, gap.mean) for gap in found.gaps]
    assert [("d", "b", 100), ("b", "e", 400), ("e", "a", 200), ("a", "c", 300)] == pairs


@pytest.mark.parametrize(
    ("labels", "agents"),
    [
        (["x", "y"], [agent("x", model="m"), agent("y", version="1")]),
        (["x m1", "x m2", "y"], [agent("x", model="m1"), agent("x", model="m2"), agent("y", model="m")]),
        (["x m 1", "x m 2"], [agent("x", model="m", version="1"), agent("x", model="m", version="2")]),
        (["x", "x m"], [agent("x"), agent("x", model="m")]),
        (["unnamed", "x\\n\\u2028|"], [agent(""), agent("x\n\u2028|")]),
        (["a" * 40 + "…", "b"], [agent("a" * 41), agent("b")]),
    ],
)
def test_a_label_is_as_long_as_tells_an_agent_from_the_others(
    labels: list[str], agents: list[Agent]
) -> None:
    found = compare([run(each, "t1 a 0", 0) for each in reversed(agents)])
    assert labels == [each.label for each in found.standings]


def test_agents_are_told_apart_by_their_settings() -> None:
    hot, cold = agent("x", settings={"t": "1"}), agent("x", settings={"t": "0"})
    found = compare([run(hot, "t1 a 0", 1000), run(cold, "t1 a 0", 0)])
    labels = [each.label for each in found.standings]
    assert all(label.startswith("x ") and len(label) == 14 for label in labels)
    assert 2 == len(set(labels))
    same = [agent("x", settings={"t": "0", "u": "1"}), agent("x", settings={"u": "1", "t": "0"})]
    assert () == compare([run(each, f"t1 a {trial}", 0) for trial, each in enumerate(same)]).standings


def test_no_run_is_lost_where_two_labels_are_one() -> None:
    nobody, dash = run(None, "t1 a 0", 1000), run(agent("–"), "t1 a 0", 0)
    found = compare([nobody, dash, run(ALPHA, "t1 a 0", 0)])
    assert [("alpha", 1), ("–", 1), ("–", 1)] == [(each.label, len(each.runs)) for each in found.standings]
    assert [None] == [each.agent for each in found.standings[2:]]
    assert [("alpha", "–")] == [(gap.first, gap.second) for gap in found.gaps]


def test_the_document() -> None:
    document = msgspec.json.decode(msgspec.json.encode(compare(PLAYED).document()))
    assert ["agents", "trials", "differences"] == list(document)
    beta = document["agents"][1]
    assert {"model": "", "name": "beta", "settings": {}, "version": ""} == beta["agent"]
    assert ("beta", 6, 5, 5) == (beta["label"], len(beta["runs"]), beta["sealed"], beta["scored"])
    assert [("scored", 200), (AT_0, [500, 3])] == [(mean["basis"], mean["exact"]) for mean in beta["means"]]
    trials = document["trials"][0]
    assert ("alpha", "scored", 3, 2, 2, 2, []) == tuple(trials.values())[:-1]
    second = trials["chances"][1]
    assert (2, [2, 3], "0.6667", "0.0000", "1.0000") == (second["k"], *second["pass_at"].values())
    assert ([1, 3], "0.3333") == tuple(second["pass_all"].values())[:2]
    assert {
        "first": "alpha", "second": "beta", "basis": "scored", "pairs": 5, "tasks": 2,
        "exact": 400, "mean": "400.000", "low": "-1000.000", "high": "1000.000", "smallest": "2816.400",
        "unpaired": [{"task": "t2", "digest": "2" * 64, "case": "a", "trial": 1, "why": "beta is open"}],
    } == document["differences"][0]  # fmt: skip


def test_a_place_without_a_task_is_the_run() -> None:
    assert "run 999999999999" == Place("", "9" * 64, "", 0).name


def test_more_trials_never_make_one_pass_less_likely_or_all_more() -> None:
    (found,) = compare(runs(None, t1_a=[1000, 0, 1000, 0, 0], t2_a=[0, 0, 0, 0, 1000])).repeats

    assert 5 == len(found.chances)
    for fewer, more in pairwise(found.chances):
        assert fewer.one.value <= more.one.value
        assert fewer.every.value >= more.every.value

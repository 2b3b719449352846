"""What runs say of the agents that played them: how surely, how much better, how small a gap could be seen.

    scores ─► by agent          the mean of each agent's runs
           ─► by cell           pass@k and pass^k of c passes among n trials, the mean over cells
           ─► by agent, place   first − second over what both played, the mean over places

A cell is a case of a task, a place one trial of it; of a trial that an agent played
twice a difference takes the mean. A pass is full marks. Agents are compared where
there are two of them, pass@k is said where a case was tried twice. Each stands
once for every way of taking runs (`summary.bases`), and what could not be paired
is named with why. Intervals are clustered by task.

Not here: the formulas (`stats`), how it looks (`report`); what many comparisons
at once would ask of an interval: each stands for itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, Final, NamedTuple

import msgspec

from ..protocol.bodies import Agent
from ..protocol.canonical import digest_typed
from . import stats
from .predicates import FULL
from .score import Score, exact
from .summary import UNSCORED_AT_0, Basis, Mean, bases, mean_of, values_of

ALL_PAIRS: Final = 4
"""Up to so many agents each is compared with each; of more, each with the next below by its mean."""

Group = tuple[str, list[Score]]  # an agent's label and its runs

_LABEL = 40
_SHORT = 12
_UNKNOWN = "–"


class Place(NamedTuple):
    """Where agents are compared: a trial of a case of a task file. A run without a task is a place itself."""

    task: str
    digest: str
    case: str
    trial: int

    @property
    def cell(self) -> str:
        """The name of the case that it is a trial of."""
        short = self.digest[:_SHORT]
        return f"{self.task}@{short} {self.case}" if self.task else f"run {short}"

    @property
    def name(self) -> str:
        """The name of the trial."""
        return f"{self.cell} trial {self.trial}" if self.task else self.cell


class Standing(NamedTuple):
    """One agent over all of its runs."""

    label: str
    agent: Agent | None
    runs: tuple[str, ...]
    sealed: int
    scored: int
    means: tuple[tuple[Basis, Mean], ...]


class Rate(NamedTuple):
    """A mean of shares. ``interval`` ends at 0 and 1; None where no tasks differ, which shows no error."""

    value: Fraction
    interval: stats.Interval | None

    def document(self) -> dict[str, Any]:
        """The mean as JSON."""
        low, high = stats.ends(self.interval, 4)
        return {"exact": exact(self.value), "rate": stats.decimal(self.value, 4), "low": low, "high": high}


class Chance(NamedTuple):
    """How surely a cell is passed by one of ``k`` trials, and by all of them."""

    k: int
    one: Rate
    every: Rate


class Repeats(NamedTuple):
    """One agent's trials, over cells.

    ``fewest`` and ``most`` are trials of a cell; ``short`` names the cells with
    the fewest, where others have more.
    """

    label: str
    basis: Basis
    cells: int
    tasks: int
    fewest: int
    most: int
    short: tuple[str, ...]
    chances: tuple[Chance, ...]


class Unpaired(NamedTuple):
    """A place at which two agents could not be compared, and why."""

    place: Place
    why: str


class Gap(NamedTuple):
    """How much more the first agent was worth than the second, out of 1,000, over ``pairs`` of places.

    ``won`` are the places at which it was worth more, ``lost`` those at which
    it was worth less. ``interval`` ends at −1,000 and 1,000, ``smallest`` is the
    gap that could have been seen: None where no two tasks differ, which shows no error.
    """

    first: str
    second: str
    basis: Basis
    pairs: int
    tasks: int
    won: int
    lost: int
    mean: Fraction | None
    interval: stats.Interval | None
    smallest: Fraction | None
    unpaired: tuple[Unpaired, ...]


class Comparison(NamedTuple):
    """What runs say of agents; each empty where there is nothing to say."""

    standings: tuple[Standing, ...]
    repeats: tuple[Repeats, ...]
    gaps: tuple[Gap, ...]

    def document(self) -> dict[str, Any]:
        """What it adds to the summary of `score --json`: only what there is."""
        lists = {
            "agents": [_standing_document(each) for each in self.standings],
            "trials": [_repeats_document(each) for each in self.repeats],
            "differences": [_gap_document(each) for each in self.gaps],
        }
        return {name: each for name, each in lists.items() if each}


def compare(scores: Sequence[Score]) -> Comparison:
    """What these scores say of the agents behind them."""
    agents = groups(scores)
    repeats = [found for label, runs in agents for found in _repeats(label, runs)]
    named = [(label, runs) for label, runs in agents if runs[0].agent is not None]
    pairs = list(combinations(named, 2) if len(named) <= ALL_PAIRS else pairwise(sorted(named, key=_worth)))
    return Comparison(
        standings=tuple(_standing(*group) for group in agents) if pairs else (),
        repeats=tuple(repeats) if any(_tried_again(runs) for _, runs in agents) else (),
        gaps=tuple(gap for first, second in pairs for gap in _gaps(first, second)),
    )


def _worth(group: Group) -> Fraction:
    """The mean of an agent's scored runs, the highest first; those without any come last."""
    mean = mean_of(bases(group[1])["scored"])
    return Fraction(1) if mean is None else -mean.value


def place_of(score: Score) -> Place:
    """Where a run was played."""
    if score.task is None or score.task_digest is None or score.case is None:
        return Place("", score.run, "", 0)
    return Place(score.task, score.task_digest, score.case, score.trial or 0)


def groups(scores: Iterable[Score]) -> list[Group]:
    """The runs of each agent under its label, by label; those of which no agent is known come last."""
    agents: dict[str, Agent] = {}
    runs: dict[str, list[Score]] = {}
    for score in scores:
        key = "" if score.agent is None else digest_typed(score.agent)
        if score.agent is not None:
            agents[key] = score.agent
        runs.setdefault(key, []).append(score)
    order = sorted((label, key) for key, label in _labels(agents).items())
    known = [(label, runs[key]) for label, key in order]
    return [*known, (_UNKNOWN, runs[""])] if "" in runs else known


def _labels(agents: Mapping[str, Agent]) -> dict[str, str]:
    """Each agent's name, with as much more as tells it from others: model, version, its digest."""
    parts = {
        key: (plain(agent.name) or "unnamed", plain(agent.model), plain(agent.version), key[:_SHORT])
        for key, agent in agents.items()
    }
    labels = {key: name for key, (name, *_) in parts.items()}
    for part in (1, 2, 3):
        times = Counter(labels.values())
        for key, label in labels.items():
            if times[label] > 1:
                labels[key] = f"{label} {parts[key][part]}".rstrip()
    return labels


def plain(text: str) -> str:
    """A text from a stranger on one line, escaped where it can't be seen, and cut off where it is long."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return line if len(line) <= _LABEL else f"{line[:_LABEL]}…"


def _standing(label: str, runs: Sequence[Score]) -> Standing:
    means: list[tuple[Basis, Mean | None]] = [(basis, mean_of(taken)) for basis, taken in bases(runs).items()]
    return Standing(
        label=label,
        agent=runs[0].agent,
        runs=tuple(score.run for score in runs),
        sealed=sum(score.root is not None for score in runs),
        scored=sum(score.outcome == "scored" for score in runs),
        means=tuple((basis, mean) for basis, mean in means if mean is not None),
    )


def _repeats(label: str, runs: Sequence[Score]) -> Iterator[Repeats]:
    for basis, taken in bases(runs).items():
        cells: dict[Place, list[Score]] = {}
        for score in taken:
            cells.setdefault(place_of(score)._replace(trial=0), []).append(score)
        if not cells:
            continue
        trials = list(cells.values())
        fewest, most = min(map(len, trials)), max(map(len, trials))
        short = sorted(place_of(each[0]).cell for each in trials if len(each) == fewest < most)
        yield Repeats(
            label=label,
            basis=basis,
            cells=len(cells),
            tasks=len({each[0].cluster for each in trials}),
            fewest=fewest,
            most=most,
            short=tuple(short),
            chances=tuple(_chance(k, trials) for k in range(1, fewest + 1)),
        )


def _tried_again(runs: Iterable[Score]) -> bool:
    """Whether an agent has two trials of a case: one trial twice is none of them."""
    trials = {place_of(score) for score in runs if score.outcome in ("scored", *UNSCORED_AT_0)}
    return len(trials) > len({trial._replace(trial=0) for trial in trials})


def _chance(k: int, cells: Sequence[Sequence[Score]]) -> Chance:
    clusters = [trials[0].cluster for trials in cells]
    counts = [(sum(score.value == FULL for score in trials), len(trials)) for trials in cells]
    one, every = (
        [share(passes, trials, k) for passes, trials in counts] for share in (stats.pass_at, stats.pass_all)
    )
    return Chance(k, rate(one, clusters), rate(every, clusters))


def rate(values: list[Fraction], clusters: list[str]) -> Rate:
    """The mean of one share or more, those of one cluster hanging together."""
    return Rate(stats.mean(values), _interval(values, clusters, 0, 1))


def _interval(values: list[Fraction], clusters: list[str], low: int, high: int) -> stats.Interval | None:
    found = stats.interval(values, clusters) if values else None
    return None if found is None or found.low == found.high else stats.within(found, low, high)


def _gaps(first: Group, second: Group) -> Iterator[Gap]:
    """First − second, for each way of taking runs; unpaired are all places of either that gave no pair."""
    labels = (first[0], second[0])
    sides = [_places(runs) for _, runs in (first, second)]
    for basis, both in bases([*first[1], *second[1]]).items():
        taken = _places(both)
        values: list[Fraction] = []
        clusters: list[str] = []
        unpaired: list[Unpaired] = []
        for place in sorted({*sides[0], *sides[1]}):
            played = [side.get(place, []) for side in sides]
            one, two = ([score for score in each if score in taken.get(place, [])] for each in played)
            if one and two:
                values.append(stats.mean(values_of(one)) - stats.mean(values_of(two)))
                clusters.append(one[0].cluster)
            else:
                lacks = zip(labels, played, (one, two), strict=True)
                why = ", ".join(_lack(label, each) for label, each, some in lacks if not some)
                unpaired.append(Unpaired(place, why))
        yield _gap((*labels, basis), values, clusters, unpaired)


def _gap(
    of: tuple[str, str, Basis], values: list[Fraction], clusters: list[str], unpaired: list[Unpaired]
) -> Gap:
    return Gap(
        *of,
        pairs=len(values),
        tasks=len(set(clusters)),
        won=sum(value > 0 for value in values),
        lost=sum(value < 0 for value in values),
        mean=stats.mean(values) if values else None,
        interval=_interval(values, clusters, -FULL, FULL),
        smallest=stats.smallest_gap(values, clusters) if values else None,
        unpaired=tuple(unpaired),
    )


def _places(runs: Iterable[Score]) -> dict[Place, list[Score]]:
    places: dict[Place, list[Score]] = {}
    for score in runs:
        places.setdefault(place_of(score), []).append(score)
    return places


def _lack(label: str, runs: Sequence[Score]) -> str:
    """Why an agent has no value at a place."""
    if not runs:
        return f"no run of {label}"
    outcomes = {"in error" if score.outcome == "scored" else score.outcome for score in runs}
    return f"{label} is {' and '.join(sorted(outcomes))}"


def _standing_document(standing: Standing) -> dict[str, Any]:
    return {
        **standing._asdict(),
        "agent": msgspec.to_builtins(standing.agent, order="sorted"),
        "means": [{"basis": basis, **mean.document()} for basis, mean in standing.means],
    }


def _repeats_document(repeats: Repeats) -> dict[str, Any]:
    chances = [
        {"k": chance.k, "pass_at": chance.one.document(), "pass_all": chance.every.document()}
        for chance in repeats.chances
    ]
    return {**repeats._asdict(), "chances": chances}


def _gap_document(gap: Gap) -> dict[str, Any]:
    low, high = stats.ends(gap.interval, 3)
    return {
        "first": gap.first,
        "second": gap.second,
        "basis": gap.basis,
        "pairs": gap.pairs,
        "tasks": gap.tasks,
        "exact": None if gap.mean is None else exact(gap.mean),
        "mean": None if gap.mean is None else stats.decimal(gap.mean, 3),
        "low": low,
        "high": high,
        "smallest": None if gap.smallest is None else stats.decimal(gap.smallest, 3),
        "unpaired": [{**each.place._asdict(), "why": each.why} for each in gap.unpaired],
    }

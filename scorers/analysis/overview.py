"""What a page on a panel of agents says: who was scored at what, the analyses, and what the numbers rest on.

    scores, predicate sets, receipts ─► blocks (`page`)

    agents, as their operators state them    tasks, ledgers    mean of each agent
    the seven analyses
    runs left out, by name and reason        remarks           each run's root, score and receipt

Not here: how it looks (`page`), the analyses, one to a module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from .. import stats
from ..compare import Group, groups
from ..predicates import FULL, PredicateSet
from ..report import OVER, headlines, points, remarks, span
from ..score import Score
from ..summary import bases, mean_of, summarize
from ..tables import Table
from .names import NAMES, sheet_of
from .page import Block, Heading, Points, Words, blocks_of
from .panel import ALL, NONE, natural, task_namer
from .sheet import Dots

_STATED: Final = "Model, version and settings are what an agent's operator says of it: evidence, not proof."
_ROOTS: Final = (
    "A root stands for all records of a run. A receipt is a note, signed by the ledger, of what a run was "
    "worth by which predicates: that of the score beside it, by the SHA-256 of its text."
)
_NONE_LEFT: Final = "No run is left out."
_SHORT = 12  # digits of a run's id
_LONGEST = 200  # of what is stated, each


def overview(
    scores: Sequence[Score], sets: Sequence[PredicateSet], receipts: Mapping[str, str]
) -> Iterator[Block]:
    """The page on these scores, each by one of the predicate sets; ``receipts`` are digests by run."""
    agents = groups(scores)
    summary = summarize(scores, sets)
    yield Heading(1, _title(agents, scores))
    yield Points([*headlines(summary)])
    yield Heading(2, "Agents")
    yield _agent_table(agents)
    yield Words(_STATED)
    yield from _means(agents, scores)
    yield Heading(2, "Tasks and ledgers")
    yield _task_table(scores)
    yield _ledger_table(scores)
    for name in NAMES:
        yield from blocks_of(sheet_of(name, scores))
    yield Heading(2, "Left out")
    yield _left_out(agents) if summary.left_out else Words(_NONE_LEFT)
    yield Heading(2, "Remarks")
    yield Points([*remarks(summary)])
    yield Heading(2, "Runs, roots and receipts")
    yield Words(_ROOTS)
    yield _run_table(agents, scores, receipts)


def _title(agents: Sequence[Group], scores: Sequence[Score]) -> str:
    tasks = len({score.task_digest for score in scores})
    return f"{_counted(len(agents), 'agent')} at {_counted(tasks, 'task')}"


def _agent_table(agents: Sequence[Group]) -> Table:
    """Each agent as it is stated; names only where a label is shorter than one, or says more."""
    names = ("name",) if any(_name(runs) not in (label, NONE) for label, runs in agents) else ()
    rows: list[tuple[str, ...]] = []
    for label, runs in agents:
        agent = runs[0].agent
        sealed = sum(score.root is not None for score in runs)
        scored = sum(score.outcome == "scored" for score in runs)
        counts = (len(runs), sealed, scored, len(runs) - scored)
        stated = ("", "") if agent is None else (agent.model, agent.version)
        settings = "" if agent is None else _settings(agent.settings)
        named = (_name(runs),) if names else ()
        told = (*map(_beginning, stated), settings)
        rows.append((label, *named, *(text or NONE for text in told), *map(str, counts)))
    heads = ("agent", *names, "model", "version", "settings", "opened", "sealed", "scored", "left out")
    return Table(heads, rows, frozenset(range(4 + len(names))))


def _name(runs: Sequence[Score]) -> str:
    agent = runs[0].agent
    return NONE if agent is None else _beginning(agent.name) or NONE


def _settings(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {_beginning(value)}" for name, value in sorted(settings.items()))


def _beginning(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _means(agents: Sequence[Group], scores: Sequence[Score]) -> Iterator[Block]:
    """Each agent's mean, and that of all where there are several."""
    rows: list[tuple[str, ...]] = []
    dots: list[tuple[str, Fraction, stats.Interval | None]] = []
    for label, runs in [*agents, *([(ALL, scores)] if len(agents) > 1 else [])]:
        for basis, taken in bases(runs).items():
            mean = mean_of(taken)
            if mean is None:
                continue
            counts = (str(mean.runs), str(mean.tasks))
            value = stats.decimal(mean.value, 1)
            rows.append((label, OVER[basis], *counts, value, span(mean.interval, 1)))
            if basis == "scored":
                dots.append((label, mean.value, mean.interval))
    if rows:
        heads = ("agent", "over", "runs", "tasks", "mean", "95 % interval")
        yield Dots("Mean score", f"points of {FULL}", 0, FULL, dots)
        yield Table(heads, rows, frozenset({0, 1}))


def _task_table(scores: Sequence[Score]) -> Table:
    """Each task file: how many of its cases were played, and the predicates that judged."""
    named = task_namer(scores)
    files: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        files.setdefault((named(score), score.task_digest or NONE), []).append(score)
    rows = [
        (
            name,
            str(len({score.case for score in runs})),
            str(len(runs)),
            digest,
            " ".join(sorted({score.scorer for score in runs if score.scorer})) or NONE,
        )
        for (name, digest), runs in sorted(files.items(), key=lambda file: (natural(file[0][0]), file[0][1]))
    ]
    return Table(("task", "cases", "runs", "task digest", "scorer digest"), rows, frozenset({0, 3, 4}))


def _ledger_table(scores: Sequence[Score]) -> Table:
    """Who recorded how many of the runs."""
    ledgers = (score.ledger for score in scores)
    kept = Counter((NONE, NONE) if each is None else (each.name, each.key) for each in ledgers)
    rows = [(name, key, str(runs)) for (name, key), runs in sorted(kept.items())]
    return Table(("ledger", "key", "runs"), rows, frozenset({0, 1}))


def _left_out(agents: Sequence[Group]) -> Table:
    rows = [
        (score.run, label, score.task or NONE, score.outcome, score.reason or NONE)
        for label, runs in agents
        for score in runs
        if score.outcome != "scored"
    ]
    return Table(("run", "agent", "task", "is", "because"), rows, frozenset(range(5)))


def _run_table(agents: Sequence[Group], scores: Sequence[Score], receipts: Mapping[str, str]) -> Table:
    """Each run; what its makers called it only where they called one something else than it was."""
    named = task_namer(scores)
    labels = ("label",) if any(score.label for score in scores) else ()
    rows = [
        (
            score.run[:_SHORT],
            label,
            named(score),
            score.case or NONE,
            *((score.label or "",) if labels else ()),
            NONE if score.trial is None else str(score.trial),
            score.outcome if score.value is None else points(score.value),
            score.root or NONE,
            receipts.get(score.run, NONE),
        )
        for label, runs in agents
        for score in runs
    ]
    heads = ("run", "agent", "task", "case", *labels, "trial", "score", "root", "receipt")
    numbers = {heads.index("trial"), heads.index("score")}
    return Table(heads, rows, frozenset(range(len(heads))) - numbers)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

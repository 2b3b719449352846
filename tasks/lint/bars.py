"""What carelessness earns: every cheat at or under its bar, and nothing for who does nothing.

    mean of a cheat = mean over the cases of the mean of its variants    ≤ its points, built in: ≤ 300

`jitter` has no bar: it says which numbers of the reference nothing looks at.

Source: the task format, `[cheat]`; commerce, part C 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from ...scorers.predicates import FULL
from .finding import LintFinding, Tally, decimal, error, warning

if TYPE_CHECKING:
    from ..format.task import Task
    from .rehearsal import Rehearsal

BUILT_IN_BAR: Final = 300
"""The most that a built-in cheat may earn on average, of 1,000."""

JITTER: Final = "jitter"
IDLE: Final = "idle"


class Bar(NamedTuple):
    """A cheat's mean over the cases, its mean in each, and the most that it may be; None for no bar."""

    name: str
    mean: Fraction
    by_case: Mapping[str, Fraction]
    most: int | None


def bars_of(task: Task, runs: Sequence[Rehearsal]) -> list[Bar]:
    """Every cheat that was played, in the order of play."""
    found: dict[tuple[str, str], dict[str, list[Fraction]]] = {}
    for run in runs:
        if run.kind in ("cheat", "built-in"):
            name = run.name.partition(".")[0]
            found.setdefault((run.kind, name), {}).setdefault(run.case, []).append(run.points)
    bars: list[Bar] = []
    for (kind, name), played in found.items():
        by_case = {case: sum(each, Fraction(0)) / len(each) for case, each in played.items()}
        most = task.cheats[name].points if kind == "cheat" else None if name == JITTER else BUILT_IN_BAR
        bars.append(Bar(name, sum(by_case.values(), Fraction(0)) / len(by_case), by_case, most))
    return bars


def check(task: Task, runs: Sequence[Rehearsal]) -> list[LintFinding]:
    """Cheats over their bars, what an idle run earns, and numbers that may be anything."""
    return [*_over(task, runs), *_idle(task, runs), *_jitter(runs)]


def _over(task: Task, runs: Sequence[Rehearsal]) -> Iterator[LintFinding]:
    for bar in bars_of(task, runs):
        if bar.most is not None and bar.mean > bar.most:
            by_case = ", ".join(f"{case} {decimal(points, 1)}" for case, points in bar.by_case.items())
            own = bar.name in task.file.cheat
            mean = decimal(bar.mean, 1)
            text = f"`{bar.name}` scores {mean} on average, over its bar of {bar.most}: {by_case}"
            hint = "add the twin case in which that is wrong, or use `needs`"
            yield error("lint.cheat", f"cheat.{bar.name}" if own else "", text, hint)


def _idle(task: Task, runs: Sequence[Rehearsal]) -> list[LintFinding]:
    tally = Tally()
    for run in runs:
        for verdict in run.judgement.verdicts if (run.kind, run.name) == ("built-in", IDLE) else ():
            earned = verdict.weight * verdict.credit
            if earned:
                text = f"`idle` scores {decimal(earned, 1)} on `{verdict.id}`"
                hint = "say that something was done: `… .size() > 0 && …`, or name in `needs` what was"
                tally.add(error("lint.idle", f"predicate.{verdict.id}", text, hint), run.case)
    return tally.findings(tuple(task.file.case))


def _jitter(runs: Sequence[Rehearsal]) -> Iterator[LintFinding]:
    """Numbers that may be one more or one less in every case in which they are said at all."""
    full: dict[str, bool] = {}
    for run in runs:
        if run.kind == "built-in" and run.name.startswith(f"{JITTER}."):
            name = run.name.removeprefix(f"{JITTER}.")
            full[name] = full.get(name, True) and run.points == FULL
    free = [name for name, is_full in full.items() if is_full]
    if free:
        text = f"moved by one, these numbers still earn full credit in every case: {', '.join(_moves(free))}"
        hint = "say in a predicate what they must be, if they must"
        yield warning("lint.jitter", "reference", text, hint)


def _moves(names: Sequence[str]) -> Iterator[str]:
    """Moved numbers as a message gives them: `` `open.unit_price` ±1 ``."""
    moves: dict[str, str] = {}
    for name in names:
        moves[name[:-2]] = moves.get(name[:-2], "") + name[-2]
    for name, signs in moves.items():
        yield f"`{name}` {'±' if len(signs) > 1 else signs.replace('-', '−')}1"

"""Whether each mutation loses what it says, in each case that it says; and what no mutation shows.

    lost = predicates with a credit other than 1         `loses` = lost, exactly

    killed(mutation, predicate) = it is lost in some case

Not here: runs that should lose nothing (`credit`), or nearly everything (`bars`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .credit import credits_text, full_cases
from .finding import LintFinding, Tally, error, warning

if TYPE_CHECKING:
    from ..format.task import Task
    from .rehearsal import Rehearsal


def check(task: Task, runs: Sequence[Rehearsal]) -> list[LintFinding]:
    """Mutations that lose something else, and predicates and caps that nothing shows at work."""
    tally = Tally()
    played = [run for run in runs if run.kind == "mutation"]
    right = full_cases(runs)
    for run in played:
        if run.case not in right:
            continue  # the reference loses something itself
        declared = task.mutations[run.name].loses
        if run.lost != declared:
            lost = credits_text(run.credits, run.lost) or "nothing"
            text = f"lost {lost}; declared {', '.join(declared)}"
            tally.add(error("lint.loses", run.place, text, _hint(run)), run.case)
    found = tally.findings(tuple(task.file.case))
    if right != frozenset(run.case for run in runs):
        return found
    return [*found, *_unkilled(task, played), *_untrue(task, runs)]


def _hint(run: Rehearsal) -> str:
    if run.ending.reason:
        return f"it ends early, as an act can't be formed: {run.ending.reason}"
    if not run.lost:
        return "name in `cases` those in which it changes something, or make a predicate look at it"
    return "correct `loses`, or the predicates"


def _unkilled(task: Task, played: Sequence[Rehearsal]) -> Iterator[LintFinding]:
    killed = {name for run in played for name in run.lost}
    for name, predicate in task.predicates.predicates.items():
        if name not in killed and predicate.weight:
            text = f"no mutation takes credit from it, and {predicate.weight} points hang on it"
            hint = "add a mutation that does this one thing wrong"
            yield warning("lint.kill", f"predicate.{name}", text, hint)


def _untrue(task: Task, runs: Sequence[Rehearsal]) -> Iterator[LintFinding]:
    seen = {flag.id for run in runs for flag in run.judgement.flags if flag.value}
    for name in task.predicates.caps:
        if name not in seen:
            text = f"it is true in none of the {len(runs)} runs played"
            hint = "add a mutation or a cheat that it is for"
            yield warning("lint.cap", f"cap.{name}", text, hint)

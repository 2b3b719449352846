"""What the verdicts of all runs together show: errors, predicates that are one, a factor that does nothing.

    error of a predicate or cap, in any run           a defect
    same credit in every run                          the predicates are one Boolean
    same acts, same verdicts in every case            the factor changes nothing

Source: design section 4; commerce, part C 6 and 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from ...protocol.canonical import encode
from ...scorers.failures import advice
from ...scorers.orders import BY_ORDER
from .credit import full_cases
from .finding import LintFinding, error, listed, warning

if TYPE_CHECKING:
    from ..format.task import Task
    from .rehearsal import Rehearsal

_CODES: Final = {"more than 10,000 loop steps": "lint.steps", BY_ORDER: "lint.order"}
_DEFECT = re.compile(r"(seqs of )?(predicate|cap) `(.*)`")


def check(task: Task, runs: Sequence[Rehearsal]) -> list[LintFinding]:
    """What is wrong with predicates and caps by all that they gave."""
    found = [*_defects(runs), *_ends(task, runs)]
    if full_cases(runs) == frozenset(run.case for run in runs):
        found += [*_agree(task, runs), *_factor(task, runs)]
    return found


def _defects(runs: Sequence[Rehearsal]) -> Iterator[LintFinding]:
    """Expressions in error, each told of the first run, with how many there are."""
    found: dict[tuple[str, str], list[tuple[str, Rehearsal]]] = {}
    for run in runs:
        for place, text in sorted({(defect.place, defect.text) for defect in run.judgement.defects}):
            match = _DEFECT.fullmatch(place)
            assert match is not None, "a defect is of a predicate or a cap"
            where = f"{match[2]}.{match[3]}" + (".seqs" if match[1] else "")
            code = _CODES.get(text, "lint.defect")
            found.setdefault((code, where), []).append((text, run))
    for (code, where), runs_in_error in found.items():
        text, run = runs_in_error[0]
        told = f"{text}: in {len(runs_in_error)} of {len(runs)} runs, first in {run.title}, case `{run.case}`"
        yield error(code, where, told, _hint(code, text))


def _hint(code: str, text: str) -> str:
    if code == "lint.order":
        return "go through `initial` or `final`, or `.sort()` what is made of the map"
    return advice(text) or "make it give true, false or [part, whole] whatever was done"


def _ends(task: Task, runs: Sequence[Rehearsal]) -> Iterator[LintFinding]:
    """`ends` in error, where a run stood still."""
    for run in runs:
        text = run.ends_error if run.kind == "reference" or run.name == "idle" else None
        if text is not None:
            told = f"{text}: in {run.title}, case `{run.case}`; an error counts as false"
            hint = advice(text) or "guard it with `size()`"
            yield error(_CODES.get(text, "lint.defect"), task.ends.place, told, hint)
            return


def _agree(task: Task, runs: Sequence[Rehearsal]) -> Iterator[LintFinding]:
    given: dict[tuple[Fraction, ...], list[str]] = {}
    for name in task.predicates.predicates:
        given.setdefault(tuple(run.credits[name] for run in runs), []).append(name)
    for names in given.values():
        if len(names) > 1:
            text = f"{listed(names)} gave the same in all {len(runs)} runs played"
            hint = "keep one of them, or add a mutation that parts them"
            yield error("lint.agree", f"predicate.{names[0]}", text, hint)


def _factor(task: Task, runs: Sequence[Rehearsal]) -> Iterator[LintFinding]:
    """A factor whose values all give the same acts of the reference and the same verdicts of every run."""
    factor = task.file.factor
    if factor is None or len(task.file.case) < 2:
        return
    values = {run.case: encode(run.staged.scene.case[factor]) for run in runs if run.kind == "reference"}
    if len(set(values.values())) < 2:
        text = f"`{factor}` is the same in every case"
        yield warning("lint.factor", "factor", text, "name the parameter that the cases vary")
        return
    seen = {case: _shown(run for run in runs if run.case == case) for case in values}
    if len(set(seen.values())) == 1:
        text = f"`{factor}` changes nothing: in all cases the same acts are right, and runs are judged alike"
        hint = "make it change the right act, or how much has to be read"
        yield warning("lint.factor", "factor", text, hint)


def _shown(runs: Iterator[Rehearsal]) -> tuple[object, ...]:
    """What the runs of one case show of it; random ones aside, which differ by their seeds."""
    shown: list[object] = []
    for run in runs:
        if run.kind == "reference":
            shown.append(tuple(run.kinds))
        if run.kind in ("reference", "mutation", "cheat"):
            shown.append((run.name, tuple(run.credits.values())))
    return tuple(shown)

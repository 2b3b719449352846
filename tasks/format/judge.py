"""The predicates, caps and names of a task file, compiled: what its runs are judged by.

    predicate, cap, let  ──check_predicates──►  faults, or  ──predicate_set──►  PredicateSet

Each expression is compiled at its place, so every fault is told there; the set
itself is made once there are none.

Not here: judging (`tollbook.scorers`).

Source: the task format, `[let]`, `[predicate]`, `[cap]`.
"""

from __future__ import annotations

from ...protocol.errors import ScoreError
from ...scorers.lets import CircleError, near, ordered
from ...scorers.predicates import FULL, PredicateSet
from .faults import Faults
from .file import TaskFile
from .values import Maker


def check_predicates(file: TaskFile, maker: Maker) -> None:
    """Compiles what a run is judged by, each expression at its place.

    Notes `task.predicate`, and as `Maker`.
    """
    for name, predicate in file.predicate.items():
        maker.expression(predicate.expr, f"predicate.{name}.expr")
        if predicate.seqs is not None:
            maker.expression(predicate.seqs, f"predicate.{name}.seqs")
    for name, cap in file.cap.items():
        maker.expression(cap.expr, f"cap.{name}.expr")
        if name in file.predicate:
            problem = f"`{name}` names a predicate and a cap"
            maker.faults.note("task.predicate", f"cap.{name}", problem, "rename one of them")
    _check_weights(file, maker.faults)
    _check_needs(file, maker.faults)


def predicate_set(file: TaskFile, faults: Faults) -> PredicateSet | None:
    """The predicate set of a file without a fault so far, or None where the scorer finds one."""
    try:
        made = PredicateSet(
            file.id, file.predicate, caps=file.cap, lets=file.let, oracle=file.oracle, title=file.title
        )
        _ = made.programs
    except ScoreError as error:
        faults.note("task.predicate", "predicate", error.text, error.hint)
        return None
    return made


def _check_weights(file: TaskFile, faults: Faults) -> None:
    weights = [predicate.weight for predicate in file.predicate.values()]
    if sum(weights) != FULL:
        sums = " + ".join(map(str, weights))
        problem = f"the weights come to {sum(weights):,}, not {FULL:,}"
        hint = f"change them: {sums}" if sums else "write predicates"
        faults.note("task.predicate", "predicate", problem, hint)


def _check_needs(file: TaskFile, faults: Faults) -> None:
    """Notes what a predicate needs that there isn't, and predicates that need each other."""
    needs = {name: predicate.needs for name, predicate in file.predicate.items()}
    for name, wanted in needs.items():
        for each in wanted:
            if each not in needs:
                hint = near(each, needs, f"there are {', '.join(needs)}")
                place = f"predicate.{name}.needs"
                faults.note("task.predicate", place, f"there is no predicate `{each}`", hint)
    known = {name: [each for each in wanted if each in needs] for name, wanted in needs.items()}
    try:
        ordered(known, "predicate.needs")
    except CircleError as error:
        place = f"predicate.{error.circle[0]}.needs"
        faults.note("task.predicate", place, error.text.replace("uses", "needs"), error.hint)

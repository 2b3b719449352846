"""The linter: plays a task file in memory, every way that it says and some that it doesn't.

    in each case   reference · alternatives · variations of the reference      full credit
                   the reference under each rendering                         full credit
                   mutations                                                  lose what they say
                   cheats, the file's and the built-in ones                   stay under their bars

    lint(text)  ─►  Report(task, findings, runs)

What the checks find are values. A file whose form is wrong is not played: its
faults are the findings.

Not here: the checks, one to a module.

Source: the task format; design section 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...scorers.predicates import FULL
from ...scorers.syntax import Call
from ..format.task import examine
from ..play.cheats import Jitter, cheat_agent, variants_of
from ..play.policies import PolicyAgent
from . import bars, credit, literals, loses, orders, renderings, told, unused, verdicts
from .finding import LintFinding, in_order
from .rehearsal import Rehearsal, Staged, stage_all
from .sources import Source, sources_of
from .variations import variations

if TYPE_CHECKING:
    from ...protocol.bodies import WorldRef
    from ...protocol.errors import TaskError
    from ..format.task import Task

MORE_TRIALS = 2
"""The further trials in which a task that draws from the seed has its reference played."""


class Report(NamedTuple):
    """What the linter says of a file. ``task`` is None where its form is wrong; ``runs`` are those played."""

    task: Task | None
    findings: tuple[LintFinding, ...]
    runs: tuple[Rehearsal, ...]

    @property
    def errors(self) -> tuple[LintFinding, ...]:
        """The findings that are no mere warnings."""
        return tuple(each for each in self.findings if each.level == "error")


def lint(text: str, ref: WorldRef | None = None) -> Report:
    """What is wrong with a task file's text, under the newest rules of its world or those that are given."""
    task, faults = examine(text, ref)
    if task is None:
        return Report(None, in_order(map(_of_fault, faults), text), ())
    return lint_task(task)


def lint_task(task: Task) -> Report:
    """What is wrong with a task whose form is right."""
    staged, faults = stage_all(task)
    sources = sources_of(task.file, task.world)
    runs = [run for case in staged.values() for run in _played(task, case)]
    if any(isinstance(part, Call) and part.function == "draw" for each in sources for part in each.parts):
        for trial in range(1, 1 + MORE_TRIALS):
            runs += [_reference(task, case, trial) for case in stage_all(task, trial)[0].values()]
    readers: dict[str, list[renderings.Reader]] = {}
    for name in task.file.rendering if not faults else ():  # what is wrong plainly is told once
        rendered, more = stage_all(task, rendering=name)
        faults += more
        for each in rendered.values():
            reader = renderings.Reader(task)
            readers.setdefault(name, []).append(reader)
            runs.append(Rehearsal("rendering", name, task, each, reader))
    findings = [*map(_of_fault, faults), *_checked(task, sources, runs), *renderings.check(task, readers)]
    return Report(task, in_order(findings, task.text), tuple(runs))


def _checked(task: Task, sources: list[Source], runs: list[Rehearsal]) -> Iterator[LintFinding]:
    references = [run for run in runs if run.kind == "reference"]
    yield from credit.check(runs, tuple(task.file.case))
    yield from unused.check(task, sources)
    if references:
        yield from loses.check(task, runs)
        yield from bars.check(task, runs)
        yield from verdicts.check(task, runs)
        yield from literals.check(task, sources, runs)
        yield from told.check(task, references)
        for name in task.file.rendering:
            yield from told.check(task, [run for run in runs if (run.kind, run.name) == ("rendering", name)])
        yield from orders.check(task, sources, runs)


def _reference(task: Task, staged: Staged, trial: int = 0) -> Rehearsal:
    return Rehearsal("reference", f"trial {trial}", task, staged, PolicyAgent("reference", task.reference))


def _played(task: Task, staged: Staged) -> Iterator[Rehearsal]:
    """The runs of one case."""
    case = staged.scene.case_name
    reference = _reference(task, staged)
    yield reference
    for name, policy in task.alternatives.items():
        cases = task.file.alternative[name].cases
        if cases is None or case in cases:
            yield Rehearsal("alternative", name, task, staged, PolicyAgent(name, policy))
    if reference.points == FULL:  # else every variation says over again what the reference says
        for variation in variations(task, reference):
            run = Rehearsal("variation", variation.name, task, staged, variation.agent(task))
            if variation.is_fair(reference, run):
                yield run
    for name, mutation in task.mutations.items():
        if case in mutation.cases:
            yield Rehearsal("mutation", name, task, staged, PolicyAgent(name, mutation.policy, lenient=True))
    for name, cheat in task.cheats.items():
        yield Rehearsal("cheat", name, task, staged, PolicyAgent(name, cheat.policy, lenient=True))
    yield from _careless(task, staged)


def _careless(task: Task, staged: Staged) -> Iterator[Rehearsal]:
    """The built-in cheats, each of their variants."""
    for name, names in variants_of(task).items():
        for at, variant in enumerate(names):
            agent = cheat_agent(task, staged.scene.seed, name, at)
            run = Rehearsal("built-in", variant, task, staged, agent)
            if not isinstance(agent, Jitter) or agent.moved:  # else it is the reference's
                yield run


def _of_fault(fault: TaskError) -> LintFinding:
    return LintFinding(fault.code, "error", fault.place, fault.problem, fault.hint, fault.line)

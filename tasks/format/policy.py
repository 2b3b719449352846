"""Policies: what references, alternatives, mutations and cheats do, step by step.

    steps in order:  skipped unless `when` · once for each of `each` (`it`, `i` from 1) · again as long as `while`

A mutation is the reference with one thing changed, so it is compiled from the
changed steps like any other policy. A policy sees what its role sees, each time
anew, and holds nothing but its place in the steps.

Not here: who plays a policy (`tollbook.tasks.play`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ...protocol.errors import TaskError
from ...scorers.cel import Activation
from ...scorers.lets import near
from .acts import Act, ActMaker, Formed, first_that_holds
from .file import MAX_LIST, MutationEntry, PolicyEntry, Step
from .values import Expression, Json, Maker, Unformed

Held = Callable[[Json, int], Activation]
"""What the policy's role sees at this moment, with `it` and `i`."""


class PolicyStep(NamedTuple):
    """A step, compiled."""

    place: str
    do: tuple[Act, ...]
    when: Expression | None
    each: Expression | None
    repeat: Expression | None


class Policy(NamedTuple):
    """Steps in order."""

    place: str
    steps: tuple[PolicyStep, ...]

    def acts(self, held: Held) -> Generator[Formed]:
        """The acts, each formed when it is asked for, by what is seen then.

        Raises:
            Unformed: an act that is due can't be formed.
        """
        for step in self.steps:
            if step.each is None:
                yield from _times(step, held, None, 0)
                continue
            for i, it in enumerate(step.each.elements(held(None, 0), MAX_LIST), 1):
                yield from _times(step, held, it, i)


def _times(step: PolicyStep, held: Held, it: Json, i: int) -> Generator[Formed]:
    """A step for one element."""
    if step.when is not None and not step.when.holds(held(it, i)):
        return
    while step.repeat is None or step.repeat.holds(held(it, i)):
        act = first_that_holds(step.do, held(it, i))
        if act is not None:
            yield act
        elif step.repeat is not None:
            raise Unformed(step.place, "it goes on as long as its `while` holds, and no act of it does")
        if step.repeat is None:
            return


def compile_policy(entry: PolicyEntry, maker: Maker, acts: ActMaker, place: str) -> Policy:
    """The policy of these steps.

    Raises:
        TaskError: as `Maker` and `ActMaker`.
    """

    def expression(source: str | None, where: str) -> Expression | None:
        return None if source is None else maker.expression(source, where)

    def step(each: Step, where: str) -> PolicyStep:
        return PolicyStep(
            where,
            acts.acts(each.do, f"{where}.do"),
            expression(each.when, f"{where}.when"),
            expression(each.each, f"{where}.each"),
            expression(each.repeat, f"{where}.while"),
        )

    return Policy(place, tuple(step(each, f"{place}.step[{at}]") for at, each in enumerate(entry.step)))


def mutated(reference: PolicyEntry, mutation: MutationEntry, place: str) -> PolicyEntry:
    """The reference with the mutation's change.

    Raises:
        TaskError: `task.mutation`, for a step that there isn't, or for nothing that is changed.
    """
    steps = list(reference.step)
    changes = (mutation.drop, mutation.set, mutation.do, mutation.when, mutation.each, mutation.repeat)
    if not any(changes) and mutation.before is None and not mutation.let:
        hint = "give `drop`, `set`, `do`, `when`, `each`, `while`, `let` or `before`"
        raise TaskError("task.mutation", place, "it changes nothing", hint)
    if mutation.step is not None:
        at = _place_of(mutation.step, steps, f"{place}.step")
        steps[at : at + 1] = _changed(steps[at], mutation, place)
    elif any(changes):
        hint = "name the step that it changes: `step = \"…\"`"
        raise TaskError("task.mutation", place, "a change of no step", hint)
    elif mutation.before is not None:
        steps.insert(0, Step(do=mutation.before))
    return PolicyEntry(step=steps, let={**reference.let, **mutation.let})


def _place_of(name: str, steps: Sequence[Step], place: str) -> int:
    names = [step.id for step in steps]
    if name not in names:
        known = [each for each in names if each is not None]
        hint = near(name, known, f"its steps are {', '.join(known) or 'without ids'}")
        raise TaskError("task.mutation", place, f"the reference has no step `{name}`", hint)
    return names.index(name)


def _changed(step: Step, mutation: MutationEntry, place: str) -> list[Step]:
    before = [] if mutation.before is None else [Step(do=mutation.before, when=step.when)]
    if mutation.drop:
        return before
    do = step.do if mutation.do is None else mutation.do
    if mutation.set:
        if isinstance(do, list):
            hint = "write the whole `do` anew"
            raise TaskError("task.mutation", f"{place}.set", "`set` changes one act, and the step has a list", hint)
        do = {**do, **mutation.set}
    changed = replace(
        step,
        do=do,
        when=step.when if mutation.when is None else mutation.when,
        each=step.each if mutation.each is None else mutation.each,
        repeat=step.repeat if mutation.repeat is None else mutation.repeat,
    )
    return [*before, changed]

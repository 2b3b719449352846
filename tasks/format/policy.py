"""Policies: what references, alternatives, mutations and cheats do, step by step.

    steps in order:  skipped unless `when` · once for each of `each` (`it`, `i` from 1) · again while `while`

A policy sees what its role sees, each time anew, and holds nothing but its
place in the steps. A mutation is the reference with one thing changed, so it is
compiled from the changed steps like any other policy; what isn't changed keeps
its place in the reference, so a fault there is told once.

Not here: who plays a policy (`tollbook.tasks.play`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...scorers.cel import Activation, Asked
from ...scorers.lets import near
from .acts import Act, ActMaker, Formed, first_that_holds
from .faults import Faults, FirstFault
from .file import MAX_LIST, MutationEntry, PolicyEntry, Step
from .values import Expression, Json, Maker, Unformed

_CHANGES = ("drop", "set", "do", "when", "each", "repeat")

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
    asked: Asked

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


class PlacedStep(NamedTuple):
    """A step and its place; ``moved`` are the parts of it that stand elsewhere: `when`, `do`, `do.amount`."""

    step: Step
    place: str
    moved: Mapping[str, str] = {}

    def part(self, name: str) -> str:
        """Where a part of it stands."""
        return self.moved.get(name, f"{self.place}.{name}")


def placed(steps: Sequence[Step], place: str) -> list[PlacedStep]:
    """Steps as they stand at a place."""
    return [PlacedStep(step, f"{place}.step[{at}]") for at, step in enumerate(steps)]


def compile_policy(steps: Sequence[PlacedStep], maker: Maker, acts: ActMaker, place: str) -> Policy:
    """The policy of these steps.

    Raises:
        TaskError: as `Maker` and `ActMaker`.
    """

    def expression(source: str | None, where: str) -> Expression | None:
        return None if source is None else maker.expression(source, where)

    def compiled(each: PlacedStep) -> PolicyStep:
        fields = {name.removeprefix("do."): at for name, at in each.moved.items() if name.startswith("do.")}
        return PolicyStep(
            each.place,
            acts.acts(each.step.do, each.part("do"), fields),
            expression(each.step.when, each.part("when")),
            expression(each.step.each, each.part("each")),
            expression(each.step.repeat, each.part("while")),
        )

    made = tuple(compiled(each) for each in steps)
    return Policy(place, made, maker.asked)


def mutated(reference: PolicyEntry, mutation: MutationEntry, place: str) -> PolicyEntry:
    """The reference with the mutation's change.

    Raises:
        TaskError: as `changed_steps` notes.
    """
    steps = changed_steps(reference, mutation, place, FirstFault())
    return PolicyEntry(step=[each.step for each in steps], let={**reference.let, **mutation.let})


def changed_steps(
    reference: PolicyEntry, mutation: MutationEntry, place: str, faults: Faults
) -> list[PlacedStep]:
    """The steps of the reference with the mutation's change.

    Notes `task.mutation`, for a step that there isn't, and for a change of nothing.
    """
    steps = placed(reference.step, "reference")
    is_change = any(getattr(mutation, name) not in (None, False, {}) for name in _CHANGES)
    if not is_change and mutation.before is None and not mutation.let:
        hint = "give `drop`, `set`, `do`, `when`, `each`, `while`, `let` or `before`"
        faults.note("task.mutation", place, "it changes nothing", hint)
    elif mutation.step is not None:
        at = _place_of(mutation.step, reference.step, f"{place}.step", faults)
        if at is not None:
            steps[at : at + 1] = _changed(steps[at], mutation, place, faults)
    elif is_change:
        hint = 'name the step that it changes: `step = "…"`'
        faults.note("task.mutation", place, "a change of no step", hint)
    elif mutation.before is not None:
        steps.insert(0, _before(mutation.before, None, place))
    return steps


def _place_of(name: str, steps: Sequence[Step], place: str, faults: Faults) -> int | None:
    names = [step.id for step in steps]
    if name in names:
        return names.index(name)
    known = [each for each in names if each is not None]
    hint = near(name, known, f"its steps are {', '.join(known) or 'without ids'}")
    faults.note("task.mutation", place, f"the reference has no step `{name}`", hint)
    return None


def _before(act: dict[str, Any], when: str | None, place: str, at: str = "") -> PlacedStep:
    return PlacedStep(Step(do=act, when=when), f"{place}.before", {"do": f"{place}.before", "when": at})


def _changed(old: PlacedStep, mutation: MutationEntry, place: str, faults: Faults) -> list[PlacedStep]:
    step = old.step
    before = [] if mutation.before is None else [_before(mutation.before, step.when, place, old.part("when"))]
    if mutation.drop:
        return before
    given = {"do": mutation.do, "when": mutation.when, "each": mutation.each, "while": mutation.repeat}
    moved = {name: f"{place}.{name}" for name, value in given.items() if value is not None}
    do = step.do if mutation.do is None else mutation.do
    if mutation.set:
        if isinstance(do, list):
            problem = "`set` changes one act, and the step has a list"
            faults.note("task.mutation", f"{place}.set", problem, "write the whole `do` anew")
        else:
            do = {**do, **mutation.set}
            moved.update({f"do.{name}": f"{place}.set.{name}" for name in mutation.set})
    changed = replace(
        step,
        do=do,
        when=step.when if mutation.when is None else mutation.when,
        each=step.each if mutation.each is None else mutation.each,
        repeat=step.repeat if mutation.repeat is None else mutation.repeat,
    )
    return [*before, PlacedStep(changed, old.place, moved)]

"""A task, compiled: every expression of its file ready to run, every name looked up.

    TaskFile + the market's rules  ──examine──►  Task  ──stage(case, seed)──►  Scene     (`scene`)

All faults of a file are collected, so that an author sees them at once; the
first one is what a run stops at.

Not here: the form of the file (`read`), what only playing shows (`tollbook.tasks.lint`).

Source: the task format; design section 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from ...protocol.bodies import WorldRef
from ...protocol.errors import TaskError, WorldError
from ...protocol.world import World, latest, world_of
from ...scorers.cel import JUDGE, Scope
from ...scorers.lets import near
from ...scorers.predicates import PredicateSet
from ...scorers.schema import Record, Shape, shapes_of, unknown_names
from . import places
from .acts import ActMaker
from .faults import Faults
from .file import CheatEntry, MutationEntry, PolicyEntry, ScriptEntry, TaskFile
from .judge import check_predicates, predicate_set
from .parties import OPERATOR, check_parties, offered, open_to
from .policy import PlacedStep, Policy, changed_steps, compile_policy, placed
from .read import read_all
from .scene import SceneMaker
from .script import Script, compile_script
from .values import Expression, Maker


class Mutation(NamedTuple):
    """A mutation, compiled. ``loses`` are predicates, sorted; ``cases`` those in which it is played."""

    policy: Policy
    loses: tuple[str, ...]
    cases: tuple[str, ...]


class Cheat(NamedTuple):
    """A cheat of the file, compiled."""

    policy: Policy
    points: int


class Task(NamedTuple):
    """A task that can be played."""

    text: str
    digest: str
    file: TaskFile
    world: World
    ref: WorldRef
    roles: Mapping[str, str]
    tools: tuple[str, ...]
    ends: Expression
    scripts: Mapping[str, Script]
    predicates: PredicateSet
    reference: Policy
    alternatives: Mapping[str, Policy]
    mutations: Mapping[str, Mutation]
    cheats: Mapping[str, Cheat]
    scenes: SceneMaker

    @property
    def actor(self) -> str:
        """The evaluated party."""
        return self.file.actor

    @property
    def players(self) -> tuple[str, ...]:
        """The parties that agents play, in file order: the actor, and whom a baseline plays."""
        party = self.file.party
        return tuple(name for name in party if name == self.file.actor or party[name].plays is not None)

    def offered(self, party: str) -> Sequence[str]:
        """The kinds that a party is offered: the actor those of the file, others all of their role."""
        return self.tools if party == self.actor else open_to(self.world, self.roles[party])

    @property
    def counterparties(self) -> tuple[str, ...]:
        """The parties that are neither the actor nor the operator, in file order."""
        return tuple(party for party in self.roles if party not in (self.file.actor, OPERATOR))


def load_task(text: str, ref: WorldRef | None = None) -> Task:
    """The task of a file's text, under the newest rules of its world or those that are given.

    Raises:
        TaskError: the first fault of the file.
    """
    task, faults = examine(text, ref)
    if task is None:
        raise faults[0]
    return task


def examine(text: str, ref: WorldRef | None = None) -> tuple[Task | None, Sequence[TaskError]]:
    """The task of a file's text, or None and every fault of the file, from top to bottom."""
    faults = Faults()
    file = read_all(text, faults)
    found = None if file is None else _world(file, ref, faults)
    if file is None or found is None:
        return None, faults.located(text)
    is_played = check_parties(file, found[0], faults)
    task = _Compiler(text, file, *found, faults).task() if is_played else None
    return (None if faults.found else task), faults.located(text)


def _world(file: TaskFile, ref: WorldRef | None, faults: Faults) -> tuple[World, WorldRef] | None:
    try:
        found = latest(file.world) if ref is None else ref
        world = world_of(found)
    except WorldError as error:
        is_params = error.code == "world.params"
        problem = f"world `{file.world}` takes parameters, which a task can't give"
        hint = "a task plays in a world without parameters: `commerce`"
        told = (problem, hint) if is_params else (error.text, error.hint)
        faults.note("task.world", "world", *told)
        return None
    if found.name != file.world:
        problem = f"the task is of world `{file.world}`, not of `{found.name}`"
        faults.note("task.world", "world", problem, f'write `world = "{found.name}"`')
        return None
    return world, found


class _Compiler:
    """Compiles a file section by section, and notes what is wrong."""

    def __init__(self, text: str, file: TaskFile, world: World, ref: WorldRef, faults: Faults) -> None:
        self._text = text
        self._file = file
        self._world = world
        self._ref = ref
        self._faults = faults
        parameters = (name for values in file.case.values() for name in values)
        self._case_names = {"id", "rendering", *file.defaults, *parameters}
        self._makers: list[tuple[Maker, dict[str, Shape]]] = []
        self._shown = shapes_of(world)
        self._tools = offered(file, world, faults)
        self._roles = {name: party.role or name for name, party in file.party.items()}
        self._roles.setdefault(OPERATOR, OPERATOR)

    def task(self) -> Task | None:
        """The task; None where there is a fault."""
        file = self._file
        scenes = SceneMaker(file, self._world, self._faults, self._text, kinds=self._tools)
        self._makers += [(maker, self._shapes(self._mandate())) for maker in scenes.makers]
        scripts = {name: self._script(name, entry) for name, entry in file.script.items()}
        ends = self._maker(places.ENDS, "", {}, {}).expression(file.ends, "ends")
        reference = self._policy(placed(file.reference.step, "reference"), file.reference.let, "reference")
        alternatives = {name: self._alternative(name, entry) for name, entry in file.alternative.items()}
        mutations = {name: self._mutation(name, entry) for name, entry in file.mutation.items()}
        cheats = {name: self._cheat(name, entry) for name, entry in file.cheat.items()}
        check_predicates(file, self._maker(JUDGE, "", file.let, self._mandate()))
        self._check_shapes()
        predicates = None if self._faults.found else predicate_set(file, self._faults)
        if predicates is None:
            return None
        return Task(
            text=self._text,
            digest=sha256(self._text.encode()).hexdigest(),
            file=file,
            world=self._world,
            ref=self._ref,
            roles=self._roles,
            tools=self._tools,
            ends=ends,
            scripts=scripts,
            predicates=predicates,
            reference=reference,
            alternatives=alternatives,
            mutations=mutations,
            cheats=cheats,
            scenes=scenes,
        )

    def _script(self, name: str, entry: ScriptEntry) -> Script:
        place = f"script.{name}"
        party = self._file.party.get(name)
        maker = self._maker(places.SCRIPT, place, entry.let, {} if party is None else party.mandate)
        acts = ActMaker(self._world, maker, tuple(self._world.kinds), tuple(self._roles))
        return compile_script(entry, place, self._world, maker, acts)

    def _alternative(self, name: str, entry: PolicyEntry) -> Policy:
        place = f"alternative.{name}"
        self._cases(entry.cases, f"{place}.cases")
        return self._policy(placed(entry.step, place), entry.let, place)

    def _cheat(self, name: str, entry: CheatEntry) -> Cheat:
        place = f"cheat.{name}"
        return Cheat(self._policy(placed(entry.step, place), entry.let, place), entry.points)

    def _mutation(self, name: str, entry: MutationEntry) -> Mutation:
        place, reference = f"mutation.{name}", self._file.reference
        loses = self._loses(entry.loses, f"{place}.loses")
        cases = self._cases(entry.cases, f"{place}.cases")
        steps = changed_steps(reference, entry, place, self._faults)
        unchanged = {let: f"reference.let.{let}" for let in reference.let if let not in entry.let}
        policy = self._policy(steps, {**reference.let, **entry.let}, place, unchanged)
        return Mutation(policy, loses, cases)

    def _policy(
        self,
        steps: Sequence[PlacedStep],
        lets: Mapping[str, str],
        place: str,
        elsewhere: Mapping[str, str] | None = None,
    ) -> Policy:
        """The policy of these steps; ``elsewhere`` are the places of lets that don't stand at its own."""
        maker = self._maker(places.policy_of(self._world), place, lets, self._mandate(), elsewhere)
        acts = ActMaker(self._world, maker, self._tools, tuple(self._roles))
        return compile_policy(steps, maker, acts, place)

    def _loses(self, names: Sequence[str], place: str) -> tuple[str, ...]:
        known = self._file.predicate
        if list(names) == ["*"]:
            return tuple(sorted(known))
        for name in names:
            if name not in known:
                hint = near(name, known, f"there are {', '.join(known)}")
                self._faults.note("task.mutation", place, f"there is no predicate `{name}`", hint)
        if not names:
            hint = 'name the predicates that it loses, or ["*"] for all'
            self._faults.note("task.mutation", place, "a mutation that loses nothing shows nothing", hint)
        return tuple(sorted(names))

    def _cases(self, names: Sequence[str] | None, place: str) -> tuple[str, ...]:
        known = self._file.case
        for name in names or ():
            if name not in known:
                hint = near(name, known, f"there are {', '.join(known)}")
                self._faults.note("task.case", place, f"there is no case `{name}`", hint)
        return tuple(known) if names is None else tuple(names)

    def _maker(
        self,
        scope: Scope,
        place: str,
        lets: Mapping[str, str],
        mandate: Mapping[str, object],
        elsewhere: Mapping[str, str] | None = None,
    ) -> Maker:
        maker = Maker(scope, place, lets, faults=self._faults, places=elsewhere)
        self._makers.append((maker, self._shapes(mandate)))
        return maker

    def _mandate(self) -> Mapping[str, object]:
        return self._file.party[self._file.actor].mandate

    def _shapes(self, mandate: Mapping[str, object]) -> dict[str, Shape]:
        return {
            **self._shown,
            "case": Record("`case`", dict.fromkeys(self._case_names)),
            "mandate": Record("`mandate`", dict.fromkeys(mandate)),
            "oracle": Record("`oracle`", dict.fromkeys(self._file.oracle)),
        }

    def _check_shapes(self) -> None:
        """Looks for names that no run can hold, in every expression."""
        for maker, shapes in self._makers:
            told: set[str] = set()
            # A let's faults are told where it stands, not again in each expression that uses it.
            for expression in (*maker.lets.values(), *maker.made):
                for problem, hint in unknown_names(expression.program, shapes):
                    if problem not in told:
                        place, within = expression.place, expression.within
                        self._faults.note("task.names", place, problem, hint, within=within)
                    if expression.place in maker.let_places:
                        told.add(problem)

"""A task, compiled: every expression of its file ready to run, every name looked up.

    TaskFile + the market's rules  ──compile_task──►  Task  ──stage(case, seed)──►  Scene     (`scene`)

All faults of a file are collected, so that an author sees them at once; the
first one is what a run stops at.

Not here: the form of the file (`file`), what only playing shows (`tollbook.tasks.lint`).

Source: the task format; design section 5.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import NamedTuple

from ...protocol.bodies import WorldRef
from ...protocol.errors import TaskError, TollbookError, WorldError
from ...protocol.world import World, latest, world_of
from ...scorers.cel import Scope
from ...scorers.lets import near
from ...scorers.predicates import PredicateSet
from ...scorers.schema import Record, Shape, check_names, shapes_of, unknown_names
from . import places
from .acts import Act, ActMaker
from .file import ScriptEntry, TaskFile, read
from .policy import Policy, compile_policy, mutated
from .scene import SceneMaker
from .values import Expression, Maker

OPERATOR = "operator"


class ScriptRule(NamedTuple):
    """A rule of a script: the kinds it answers (None for all of the script's), when, and the acts."""

    place: str
    on: frozenset[str] | None
    when: Expression | None
    do: tuple[Act, ...]


class Script(NamedTuple):
    """A counterparty's script."""

    on: frozenset[str]
    rules: tuple[ScriptRule, ...]


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


def examine(text: str, ref: WorldRef | None = None) -> tuple[Task | None, list[TaskError]]:
    """The task of a file's text, or None and every fault of the file."""
    try:
        file = read(text)
        found = _world(file, ref)
    except TaskError as fault:
        return None, [fault]
    compiler = _Compiler(text, file, *found)
    task = compiler.task()
    return (None if compiler.faults else task), compiler.faults


def _world(file: TaskFile, ref: WorldRef | None) -> tuple[World, WorldRef]:
    try:
        found = latest(file.world) if ref is None else ref
        world = world_of(found)
    except WorldError as error:
        raise TaskError("task.world", "world", error.text, error.hint) from None
    if found.name != file.world:
        raise TaskError("task.world", "world", f"the task is of world `{file.world}`, not of `{found.name}`")
    return world, found


class _Compiler:
    """Compiles a file section by section, and collects what is wrong."""

    def __init__(self, text: str, file: TaskFile, world: World, ref: WorldRef) -> None:
        self._text = text
        self._file = file
        self._world = world
        self._ref = ref
        self._case_names = {name for values in file.case.values() for name in values} | {*file.defaults, "id"}
        self._makers: list[tuple[Maker, dict[str, Shape]]] = []
        self.faults: list[TaskError] = []

    def task(self) -> Task | None:
        file = self._file
        roles = {name: party.role or name for name, party in file.party.items()}
        roles.setdefault(OPERATOR, OPERATOR)
        self._parties = tuple(roles)
        self._check_top(roles)
        self._tools = self._offered()
        scripts = {name: self._script(name, entry) for name, entry in file.script.items()}
        predicates = self._predicates()
        ends = None
        with self._guard():
            ends = self._maker(places.ENDS, "", {}, {}).expression(file.ends, "ends")
        policies = self._policies()
        scenes = None
        with self._guard():
            scenes = SceneMaker(file, self._world)
            self._makers += [(maker, self._shapes(self._mandate())) for maker in scenes.makers]
        self._check_shapes()
        if self.faults:
            return None
        assert predicates is not None
        assert ends is not None
        assert scenes is not None
        task = Task(
            text=self._text,
            digest=sha256(self._text.encode()).hexdigest(),
            file=file,
            world=self._world,
            ref=self._ref,
            roles=roles,
            tools=self._tools,
            ends=ends,
            scripts={name: script for name, script in scripts.items() if script is not None},
            predicates=predicates,
            scenes=scenes,
            **policies,
        )
        return task

    @contextmanager
    def _guard(self, place: str = "") -> Generator[None]:
        try:
            yield
        except TaskError as fault:
            self.faults.append(fault)
        except TollbookError as error:
            self.faults.append(TaskError("task.expression", place, error.text, error.hint))

    def _fault(self, code: str, place: str, problem: str, hint: str | None = None) -> None:
        self.faults.append(TaskError(code, place, problem, hint))

    def _check_top(self, roles: Mapping[str, str]) -> None:
        file = self._file
        if file.actor not in file.party:
            hint = near(file.actor, file.party, f"write `{file.actor} = {{}}` under `[party]`")
            self._fault("task.party", "actor", f"there is no party `{file.actor}`", hint)
        for name in file.script:
            if name not in roles or name == file.actor:
                what = "the actor has no script" if name == file.actor else f"there is no party `{name}`"
                self._fault("task.party", f"script.{name}", what, near(name, file.party))
        known = {role for allowed in self._world.roles.values() for role in allowed}
        for name, role in roles.items():
            if known and role not in known:
                hint = near(role, sorted(known), f"there are {', '.join(sorted(known))}")
                self._fault("task.party", f"party.{name}.role", f"the market has no role `{role}`", hint)
        if file.factor is not None:
            for case, values in file.case.items():
                if file.factor not in {**file.defaults, **values}:
                    hint = near(file.factor, values, "name the parameter that the cases vary")
                    problem = f"case `{case}` has no parameter `{file.factor}`"
                    self._fault("task.case", "factor", problem, hint)

    def _offered(self) -> tuple[str, ...]:
        """The kinds of act that the actor is offered, in the market's order."""
        file, world = self._file, self._world
        role = (file.party[file.actor].role or file.actor) if file.actor in file.party else file.actor
        open_to = [kind for kind in world.kinds if role in world.roles.get(kind, (role,))]
        offered = [kind for kind in open_to if kind not in world.unoffered]
        if file.tools is None:
            return tuple(offered)
        wanted: set[str] = set()
        for at, pattern in enumerate(file.tools):
            found = {kind for kind in offered if fnmatchcase(kind, pattern)}
            if not found:
                hint = near(pattern, offered, f"there are {', '.join(offered)}")
                self._fault("task.tools", f"tools[{at}]", f"`{pattern}` is no tool of a {role}", hint)
            wanted |= found
        return tuple(kind for kind in offered if kind in wanted)

    def _script(self, name: str, entry: ScriptEntry) -> Script | None:
        place = f"script.{name}"
        with self._guard():
            maker = self._maker(places.SCRIPT, place, entry.let, self._file.party[name].mandate)
            acts = ActMaker(self._world, maker, tuple(self._world.kinds), self._parties)
            on = self._kinds(entry.on, f"{place}.on")
            rules: list[ScriptRule] = []
            for at, rule in enumerate(entry.rule):
                where = f"{place}.rule[{at}]"
                when = None if rule.when is None else maker.expression(rule.when, f"{where}.when")
                only = None if rule.on is None else self._kinds(rule.on, f"{where}.on")
                if only is not None and not only <= on:
                    hint = f"add it to `{place}.on`"
                    self._fault("task.script", f"{where}.on", "the script isn't called on these kinds", hint)
                rules.append(ScriptRule(where, only, when, acts.acts(rule.do, f"{where}.do")))
            return Script(on, tuple(rules))
        return None

    def _kinds(self, on: str | Sequence[str], place: str) -> frozenset[str]:
        kinds = [on] if isinstance(on, str) else list(on)
        for kind in kinds:
            if kind != "start" and kind not in self._world.kinds:
                hint = near(kind, [*self._world.kinds, "start"])
                self._fault("task.script", place, f"the market has no act `{kind}`", hint)
        return frozenset(kinds)

    def _predicates(self) -> PredicateSet | None:
        file = self._file
        predicates = None
        with self._guard("predicate"):
            predicates = PredicateSet(
                file.id, file.predicate, caps=file.cap, lets=file.let, oracle=file.oracle, title=file.title
            )
        if predicates is None:
            return None
        with self._guard("predicate"):
            _ = predicates.programs
            check_names(predicates, self._shapes(self._mandate()))
        return predicates

    def _policies(self) -> dict[str, object]:
        file = self._file
        alternatives: dict[str, Policy] = {}
        mutations: dict[str, Mutation] = {}
        cheats: dict[str, Cheat] = {}
        reference = self._policy(file.reference, "reference")
        for name, entry in file.alternative.items():
            place = f"alternative.{name}"
            self._cases(entry.cases, f"{place}.cases")
            policy = self._policy(entry, place)
            if policy is not None:
                alternatives[name] = policy
        for name, entry in file.mutation.items():
            place = f"mutation.{name}"
            loses = self._loses(entry.loses, f"{place}.loses")
            cases = self._cases(entry.cases, f"{place}.cases")
            with self._guard():
                policy = self._policy(mutated(file.reference, entry, place), place)
                if policy is not None:
                    mutations[name] = Mutation(policy, loses, cases)
        for name, entry in file.cheat.items():
            policy = self._policy(entry, f"cheat.{name}")
            if policy is not None:
                cheats[name] = Cheat(policy, entry.points)
        return {
            "reference": reference,
            "alternatives": alternatives,
            "mutations": mutations,
            "cheats": cheats,
        }

    def _policy(self, entry: object, place: str) -> Policy | None:
        with self._guard():
            maker = self._maker(places.POLICY, place, entry.let, self._mandate())
            acts = ActMaker(self._world, maker, self._tools, self._parties)
            return compile_policy(entry, maker, acts, place)
        return None

    def _loses(self, names: Sequence[str], place: str) -> tuple[str, ...]:
        known = self._file.predicate
        if list(names) == ["*"]:
            return tuple(sorted(known))
        for name in names:
            if name not in known:
                hint = near(name, known, f"there are {', '.join(known)}")
                self._fault("task.mutation", place, f"there is no predicate `{name}`", hint)
        if not names:
            hint = "name the predicates that it loses, or [\"*\"] for all"
            self._fault("task.mutation", place, "a mutation that loses nothing shows nothing", hint)
        return tuple(sorted(names))

    def _cases(self, names: Sequence[str] | None, place: str) -> tuple[str, ...]:
        known = self._file.case
        for name in names or ():
            if name not in known:
                hint = near(name, known, f"there are {', '.join(known)}")
                self._fault("task.case", place, f"there is no case `{name}`", hint)
        return tuple(known) if names is None else tuple(names)

    def _maker(self, scope: Scope, place: str, lets: Mapping[str, str], mandate: Mapping[str, object]) -> Maker:
        maker = Maker(scope, place, lets)
        self._makers.append((maker, self._shapes(mandate)))
        return maker

    def _mandate(self) -> Mapping[str, object]:
        actor = self._file.party.get(self._file.actor)
        return {} if actor is None else actor.mandate

    def _shapes(self, mandate: Mapping[str, object]) -> dict[str, Shape]:
        return {
            **shapes_of(self._world),
            "case": Record("`case`", dict.fromkeys(self._case_names)),
            "mandate": Record("`mandate`", dict.fromkeys(mandate)),
            "oracle": Record("`oracle`", dict.fromkeys(self._file.oracle)),
        }

    def _check_shapes(self) -> None:
        """Looks for names that no run can hold, in every expression that isn't a predicate's."""
        for maker, shapes in self._makers:
            for expression in maker.made:
                for problem, hint in unknown_names(expression.program, shapes):
                    self._fault("task.names", expression.place, problem, hint)

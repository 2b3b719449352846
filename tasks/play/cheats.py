"""The built-in cheats: what anybody could do who doesn't do the task.

    idle                nothing
    first_offer         takes the first thing that can be taken; reads one thing when there is none; stops
    always_refuse       turns down the first thing that can be; reads only until something can be named
    flood_then_first    as first_offer, but all that can be read is read first; a quarter of the turns is kept
    flood_then_refuse   as always_refuse, likewise
    jitter              the reference with one field's numbers moved by one unit, up or down
    random_legal        any tool, any values among what it saw; 20 of them

They know the market's types and which kinds take and refuse (`World.taking`,
`World.refusing`), and of the run what their party saw: no rows, no oracle. A
task on which one of them does well asks for too little.

    builtin(task, scene.seed)["jitter"]  ─►  one fresh agent for each variant, to be played once

Not here: playing and judging them (`tollbook.tasks.lint`).

Source: the task format, "Built-in cheats".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from ...protocol.bodies import Agent as Stated
from ...protocol.draws import Draws
from ..format.task import OPERATOR, Task
from .agent import Agent, Answer, Asked, Setup
from .fillings import Filler, has_number, slots_of
from .policies import PolicyAgent
from .sight import Sight

if TYPE_CHECKING:
    from ...protocol.world import World
    from ...scorers.cel import Activation
    from ..format.acts import Act, Formed
    from ..format.policy import Policy
    from ..format.values import Value

Json = Any

NAMES: Final = (
    "idle",
    "first_offer",
    "always_refuse",
    "flood_then_first",
    "flood_then_refuse",
    "jitter",
    "random_legal",
)
SEEDS: Final = 20
MAX_ACTS: Final = 200
"""The most acts of one cheat, whatever the turns: as many as a task may have."""


def builtin(task: Task, seed: str) -> dict[str, Sequence[Agent]]:
    """The cheats of a task by name, each with its variants, for one play of a scene with this seed."""
    return {
        name: [cheat_agent(task, seed, name, at) for at in range(len(variants))]
        for name, variants in variants_of(task).items()
    }


def variants_of(task: Task) -> dict[str, Sequence[str]]:
    """The names of the variants of each cheat, the same in every case; none of `jitter` without numbers."""
    jitters = [f"jitter.{place}.{field}{step:+d}" for place, _at, field, step in _moves(task)]
    seeds = [f"random_legal.{at}" for at in range(SEEDS)]
    return {**{name: (name,) for name in NAMES}, "jitter": jitters, "random_legal": seeds}


def cheat_agent(task: Task, seed: str, name: str, variant: int = 0) -> Agent:
    """One variant of a cheat, by its place; it is stated under the variant's name."""
    stated = variants_of(task)[name][variant]
    world = task.world
    if name == "idle":
        return Grabber(world, stated, ())
    if name == "jitter":
        _place, at, field, step = _moves(task)[variant]
        return Jitter(task.reference, stated, (at, field), step)
    if name == "random_legal":
        return RandomLegal(world, stated, Draws(seed, f"cheat:{stated}"))
    floods = name.startswith("flood")
    if name in ("first_offer", "flood_then_first"):
        return Grabber(world, stated, world.taking, floods=floods, reads_on=True)
    return Grabber(world, stated, world.refusing, floods=floods)


class _Cheat(ABC):
    """What all cheats that look have in common: a sight, and an end."""

    outside: bool = False
    given: str | None = None

    def __init__(self, world: World, name: str) -> None:
        self.stated = Stated(model="", name=name, settings={}, version="")
        self._world = world
        self._acts = 0

    def begin(self, setup: Setup) -> None:
        """As `Agent.begin`."""
        self._turns = setup.turns
        self._kinds = [tool.kind for tool in setup.tools]
        self._sight = Sight(self._world, setup)
        others = [party for party, role in setup.others if OPERATOR not in (party, role)]
        self._filler = Filler(self._world, self._sight, others)

    def act(self, asked: Asked) -> Answer:
        """As `Agent.act`."""
        self._sight.look(asked)
        found = self._next(asked) if self._acts < MAX_ACTS else None
        self._acts += 1
        return Answer(end="agent_stopped") if found is None else Answer(act=found)

    def close(self) -> None:  # noqa: B027 - every cheat's
        """As `Agent.close`: there is nothing to let go of."""

    @abstractmethod
    def _next(self, asked: Asked) -> Formed | None:
        """Its next act, or None when it stops."""


class Grabber(_Cheat):
    """Does the first of some kinds of act that can be done, and reads where it must.

    What was refused is tried again only once something has changed; what was
    done to some rows is not done to them again. A market that asks shows how
    things stand: where that has changed, all is new.
    """

    def __init__(
        self,
        world: World,
        name: str,
        wanted: Sequence[str],
        *,
        floods: bool = False,
        reads_on: bool = False,
    ) -> None:
        """``wanted``: those first that are wanted most. ``reads_on``: even after something was done."""
        super().__init__(world, name)
        self._wanted = wanted
        self._floods = floods
        self._reads_on = reads_on
        self._is_done = not wanted
        self._read: set[str] = set()
        self._tried: set[str] = set()
        self._closed: set[tuple[str, ...]] = set()
        self._last: Formed | None = None
        self._market: Json = None

    def _next(self, asked: Asked) -> Formed | None:
        self._take_note(asked)
        found = None
        if self._floods and asked.turns_left > self._turns // 4:  # the rest is for what it came for
            found = self._reading()
        found = found or self._grab()
        if found is None and (self._reads_on or not self._is_done):
            found = self._reading()
        self._last = found
        return found

    def _take_note(self, asked: Asked) -> None:
        """Learns what became of its last act, and whether anything has changed since."""
        last = self._last
        done = asked.last is not None and asked.last["ok"]
        if last is not None and done and last["kind"] in self._wanted:
            self._is_done = True
            self._closed.add((last["kind"], *self._filler.rows_of(last)))
        if asked.inbox or (last is not None and done and last["kind"] not in self._world.queries):
            self._tried.clear()
        if asked.market != self._market:
            self._market = asked.market
            self._tried.clear()
            self._closed.clear()

    def _grab(self) -> Formed | None:
        wanted = [kind for kind in self._wanted if kind in self._kinds]
        return next(filter(None, (self._first(kind, self._tried) for kind in wanted)), None)

    def _reading(self) -> Formed | None:
        queries = [kind for kind in self._kinds if kind in self._world.queries]
        searches = [kind for kind in self._kinds if kind in self._world.searching]
        looks = (self._first(kind, self._read) for kind in (*queries, *searches))
        return next(filter(None, looks), None)

    def _first(self, kind: str, known: set[str]) -> Formed | None:
        """The first filling of a kind that is neither known nor closed; it is known from now on."""
        for act in self._filler.fillings(kind):
            key = repr(act)
            if key not in known and not self._is_closed(act):
                known.add(key)
                if self._filler.fits(act):
                    return act
        return None

    def _is_closed(self, act: Formed) -> bool:
        """Whether this was done to these rows, or to each of them alone."""
        kind, rows = act["kind"], self._filler.rows_of(act)
        alone = [(kind, row) in self._closed for row in rows]
        return (kind, *rows) in self._closed or (bool(alone) and all(alone))


class RandomLegal(_Cheat):
    """Any act of the right form."""

    def __init__(self, world: World, name: str, draws: Draws) -> None:
        super().__init__(world, name)
        self._draws = draws

    def _next(self, asked: Asked) -> Formed | None:
        del asked
        for kind in self._draws.shuffle(self._kinds):
            act = self._filler.drawn(kind, self._draws)
            if act is not None:
                return act
        return None


class Jitter(PolicyAgent):
    """The reference with the numbers of one field of one of its acts moved.

    ``moved`` counts them: where it stays 0 (the act was never due) the run is
    the reference's, and says nothing of the task.
    """

    def __init__(self, policy: Policy, name: str, where: tuple[tuple[int, int], str], step: int) -> None:
        """``where``: which step, which act of its `do`, which field; ``step`` is 1 or −1."""
        self.moved = 0
        (at, nth), field = where
        changed = policy.steps[at]
        do = tuple(self._off(act, field, step) if each == nth else act for each, act in enumerate(changed.do))
        steps = (*policy.steps[:at], changed._replace(do=do), *policy.steps[at + 1 :])
        super().__init__(name, policy._replace(steps=steps), lenient=True)

    def _off(self, act: Act, field: str, step: int) -> Act:
        value: Value = act.fields[field]

        def moved(held: Activation) -> Json:
            return self._moved(value(held), step)

        return act._replace(fields={**act.fields, field: moved})

    def _moved(self, value: Json, step: int) -> Json:
        if type(value) is int:
            self.moved += 1
            return value + step
        if isinstance(value, list):
            return [self._moved(each, step) for each in cast("list[Json]", value)]
        if isinstance(value, dict):
            fields = cast("dict[str, Json]", value)
            return {name: self._moved(each, step) for name, each in fields.items()}
        return value


def _moves(task: Task) -> list[tuple[str, tuple[int, int], str, int]]:
    """Every number of the reference: its act's name, where the act is, its field, and the move."""
    found: list[tuple[str, tuple[int, int], str, int]] = []
    for at, step in enumerate(task.reference.steps):
        for nth, act in enumerate(step.do):
            numbers = [slot.name for slot in slots_of(task.world.kinds[act.kind]) if has_number(slot.type)]
            name = task.file.reference.step[at].id or act.kind
            where = name if len(step.do) == 1 else f"{name}[{nth}]"
            given = [field for field in numbers if field in act.fields]
            found += [(where, (at, nth), field, move) for field in given for move in (1, -1)]
    return found

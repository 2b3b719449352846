"""Stand-ins for models: agents that know the right way and go wrong on it, as often as their grade says.

    step of the reference ─► one draw ─► its acts as they are, or one of them left out or gone wrong
    act that is refused ─► put right, or on with the plan
    act that can't be formed ─► what was left out, one by one; else a guess, and the end

A grade is a row of rates. The draws are those of the run's seed under the
stand-in's name: a trial repeats to the byte, trials differ, and no two grades
share their luck. Their runs are honest runs like any other, for reports and
analyses to be tried on; of models they say nothing.

Not here: what an act gone wrong looks like (`slips`); skill: who makes no slip
does what the reference does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from ...protocol.bodies import Agent as Stated
from ...protocol.draws import Draws
from .agent import Answer, Asked, Setup
from .cheats import MAX_ACTS
from .policies import PolicyAgent
from .slips import Slips

if TYPE_CHECKING:
    from ...protocol.world import World
    from ..format.acts import Formed
    from ..format.policy import Policy

VERSION: Final = "1"
"""Of what stand-ins do: a change of that, or of a grade, is a new version."""

PATIENCE: Final = 4
"""A stand-in stops after so many refusals in a row."""

Slip = Literal["unread", "undone", "row", "number", "choice", "told", "garbled", "again", "stops"]

OF_READINGS: Final[Sequence[Slip]] = ("unread", "row", "number", "garbled", "again", "stops")
OF_ACTS: Final[Sequence[Slip]] = ("undone", "row", "number", "choice", "told", "garbled", "again", "stops")
_WHOLE: Final = 1_000


class Grade(NamedTuple):
    """How often what happens, of 1,000.

    Of runs: ``blind``, nothing is read before it is missed. Of steps that read:
    ``unread``, a reading is left out. Of other steps: ``undone``, an act is left
    out, and while a step repeats the rest of it; ``choice``, another verb or
    value; ``told``, a number of the mandate is said. Of both: ``row``, another
    row; ``number``, a number that is off; ``garbled``, at first no act at all;
    ``again``, twice; ``stops``, the end. Of what is refused or can't be formed:
    ``mends``, put right.
    """

    blind: int
    unread: int
    undone: int
    row: int
    number: int
    choice: int
    told: int
    garbled: int
    again: int
    stops: int
    mends: int


GRADES: Final[Mapping[str, Grade]] = MappingProxyType(
    {
        #                 blind unread undone row  number choice told garbled again stops mends
        "careless": Grade(460,  370,   185,   125, 110,  110,    80,  90,     80,   80,   220),
        "hasty":    Grade(360,  290,   145,   95,  85,   85,     60,  70,     60,   60,   370),
        "uneven":   Grade(240,  192,   96,    64,  56,   56,     40,  48,     40,   40,   550),
        "steady":   Grade(145,  116,   58,    39,  34,   34,     24,  29,     24,   24,   690),
        "careful":  Grade(68,   54,    27,    18,  16,   16,     11,  14,     11,   11,   800),
        "expert":   Grade(18,   14,    7,     5,   4,    4,      3,   4,      3,    3,    870),
    }
)  # fmt: skip
"""From careless to all but perfect."""


def stand_in(name: str, world: World, reference: Policy, seed: str) -> StandIn:
    """The stand-in of a name in `GRADES`, for one play of a scene with this seed."""
    return StandIn(name, GRADES[name], world, reference, seed)


class Plan:
    """A policy, act by act, that can be gone on with after an act that couldn't be formed."""

    def __init__(self, policy: Policy) -> None:
        self._steps = [policy._replace(steps=(step,)) for step in policy.steps]
        self.at = 0  # the place of the step that it is at
        self._given: list[Formed] = []  # by the step so far
        self._past: list[Formed] = []  # what it gave before it was begun again
        self._agent: PolicyAgent | None = None

    def begin(self, setup: Setup) -> None:
        """What its acts are formed by from the start."""
        self._setup = setup

    @property
    def is_done(self) -> bool:
        """Whether every step is done."""
        return self.at == len(self._steps)

    def next(self, asked: Asked) -> Formed | None:
        """The next act; None where all are done, or where it can't be formed as things are."""
        while not self.is_done:
            agent = self._agent or self._begun()
            answer = agent.act(asked)
            if agent.unformed is not None:
                self._agent, self._past = None, list(self._given)
                return None
            if answer.act is None:
                self._go_on()
            elif answer.act in self._past:
                self._past.remove(dict(answer.act))
            else:
                self._given.append(dict(answer.act))
                return self._given[-1]
        return None

    def leave(self) -> None:
        """Leaves out the act that was given last: of a step that repeats, all that is left of it."""
        if self._repeats:
            self._go_on()

    @property
    def is_long(self) -> bool:
        """Whether the step may have more than one act."""
        step = self._steps[self.at].steps[0]
        return step.repeat is not None or step.each is not None

    @property
    def _repeats(self) -> bool:
        return self._steps[self.at].steps[0].repeat is not None

    def _begun(self) -> PolicyAgent:
        self._agent = PolicyAgent("", self._steps[self.at])
        self._agent.begin(self._setup)
        return self._agent

    def _go_on(self) -> None:
        self.at += 1
        self._given, self._past = [], []
        self._agent = None


class StandIn:
    """Plays a policy with the slips of a grade."""

    outside = False
    given: str | None = None

    def __init__(self, name: str, grade: Grade, world: World, policy: Policy, seed: str) -> None:
        settings = {rate: str(value) for rate, value in grade._asdict().items()}
        self.stated = Stated(model="", name=f"stand_in:{name}", settings=settings, version=VERSION)
        self._grade = grade
        self._world = world
        self._plan = Plan(policy)
        self._draws = Draws(seed, f"stand_in:{name}")
        self._acts = 0
        self._refusals = 0  # in a row
        self._step = -1  # whose slip is drawn
        self._slip: Slip | None = None
        self._is_over = False
        self._is_mending = False
        self._due: list[Formed] = []  # what is done next, whatever the plan says
        self._left: list[Formed] = []  # acts of the plan that weren't done
        self._if_refused: list[Formed] = []  # what would put the last act right

    def begin(self, setup: Setup) -> None:
        """As `Agent.begin`."""
        self._plan.begin(setup)
        self._slips = Slips(self._world, setup)
        self._is_blind = self._happens(self._grade.blind)

    def act(self, asked: Asked) -> Answer:
        """As `Agent.act`."""
        self._slips.look(asked)
        self._take_note(asked)
        answer = None if self._is_over or self._acts == MAX_ACTS else self._answer(asked)
        self._acts += 1
        return Answer(end="agent_stopped") if answer is None else answer

    def close(self) -> None:
        """As `Agent.close`: there is nothing to let go of."""

    def _take_note(self, asked: Asked) -> None:
        """Sees whether its last act was refused, and whether it puts that right."""
        is_refused = asked.last is not None and not asked.last["ok"]
        self._refusals = self._refusals + 1 if is_refused else 0
        self._is_over |= self._refusals == PATIENCE
        if is_refused and self._if_refused and self._happens(self._grade.mends):
            self._due += self._if_refused
            self._left = [act for act in self._left if act not in self._due]
        self._if_refused = []

    def _answer(self, asked: Asked) -> Answer | None:
        """The next answer, or None at the end."""
        if self._due:
            return Answer(act=self._due.pop(0))
        while True:
            act = self._plan.next(asked)
            if act is None:
                return None if self._plan.is_done else self._stuck()
            self._is_mending = False
            answer = self._played(act)
            if answer is not None or self._is_over:
                return answer

    def _stuck(self) -> Answer | None:
        """What it does where the plan can't go on: what was left out, else a guess and no more."""
        self._is_mending = bool(self._left) and (self._is_mending or self._happens(self._grade.mends))
        if self._is_mending:
            return Answer(act=self._left.pop(0))
        self._is_over = True
        guess = self._slips.first_of((*self._world.taking, *self._world.refusing))
        return None if guess is None else Answer(act=guess)

    def _played(self, act: Formed) -> Answer | None:
        """An act of the plan as it gets played; None where it is left out, or nothing more is done."""
        slip = self._slip_of(act)
        if slip == "stops":
            self._is_over = True
            return None
        if slip in ("unread", "undone"):
            self._plan.leave()
            self._left.append(act)
            return None
        if slip == "garbled":
            self._due.append(act)
            return self._draws.choice(self._slips.garbled(act))
        if slip == "again":
            self._due.append(act)
        if slip == "told":
            return self._telling(act)
        return self._wrong(slip, act)

    def _telling(self, act: Formed) -> Answer:
        """An act with a number of the mandate in its words, or after words that have it."""
        found = self._slips.told(act)
        first, *rest = self._draws.choice(found) if found else [act]
        self._due += rest
        return Answer(act=first)

    def _wrong(self, slip: Slip | None, act: Formed) -> Answer:
        """An act with a row, a number or a choice gone wrong, if there is another; else as it is."""
        found = self._others(slip, act)
        if found:
            self._left += [act] if self._reads(act) else []
            self._if_refused = [act]
            return Answer(act=self._draws.choice(found))
        undone = [each for each in self._left if not self._reads(each)]
        self._if_refused = [*undone, act] if undone else []
        return Answer(act=act)

    def _others(self, slip: Slip | None, act: Formed) -> list[Formed]:
        if slip == "row":
            return self._slips.rows(act)
        if slip == "number":
            return self._slips.numbers(act)
        return self._slips.choices(act) if slip == "choice" else []

    def _slip_of(self, act: Formed) -> Slip | None:
        """What goes wrong with an act: of a step's acts it is the first, or by as many coins a later one."""
        reads = self._reads(act)
        if self._step != self._plan.at:
            self._step, self._slip = self._plan.at, self._drawn(OF_READINGS if reads else OF_ACTS)
        if reads and self._is_blind:
            return "unread"
        if self._slip is None or (self._plan.is_long and self._draws.integer(0, 1)):
            return None
        slip, self._slip = self._slip, None
        return slip

    def _drawn(self, slips: Sequence[Slip]) -> Slip | None:
        """What goes wrong in a step, by one draw."""
        left = self._draws.integer(1, _WHOLE)
        for slip in slips:
            left -= getattr(self._grade, slip)
            if left <= 0:
                return slip
        return None

    def _happens(self, rate: int) -> bool:
        return self._draws.integer(1, _WHOLE) <= rate

    def _reads(self, act: Formed) -> bool:
        return act["kind"] in self._world.queries or act["kind"] in self._world.searching

"""Runs played in memory, each judged once: what the linter looks at.

    task, case, agent ─► play at a dry desk ─► deeds, ending ─► case view ─► verdicts

Cases are worked out once. A rehearsal shows no more than what happened; what is
wrong with it is for the checks to say.

Not here: who plays (`variations`, `tollbook.tasks.play`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from ...protocol.errors import TaskError
from ...protocol.world import kind_of, made_by
from ...scorers.cases import AT
from ...scorers.cel import activation
from ...scorers.projection import Projections, projections
from ...scorers.verdict import Judgement, judge
from ...scorers.view import Answers, Episode, view_of
from ..format.values import Unformed
from ..play.baselines import company
from ..play.desk import DryDesk
from ..play.play import Play

if TYPE_CHECKING:
    from fractions import Fraction

    import msgspec

    from ...ledger.audited import Deed
    from ..format.scene import Scene
    from ..format.task import Task
    from ..play.agent import Agent
    from ..play.play import Ending

Json = Any
Kind = Literal["reference", "alternative", "variation", "mutation", "cheat", "built-in", "rendering"]
"""What a run is played for; ``built-in`` are the cheats that every file is tried with.

A ``rendering`` is the reference in a case of that rendering.
"""


class Staged(NamedTuple):
    """A case worked out, with its right answers."""

    scene: Scene
    oracle: Mapping[str, Json]


class Rehearsal:
    """A run that was played and judged."""

    def __init__(self, kind: Kind, name: str, task: Task, staged: Staged, agent: Agent) -> None:
        self.kind: Kind = kind
        self.name = name
        self.case = staged.scene.case_name
        self.staged = staged
        self._task = task
        desk = DryDesk(task.world, task.roles, staged.scene.facts)
        self.ending: Ending = Play(task, staged.scene, desk, agent, company(task, staged.scene.seed)).run()
        self.deeds: Sequence[Deed] = desk.deeds
        self._episode = Episode(task.world, task.roles, desk.deeds, desk.state, self.case)
        document = view_of(self._episode, task.actor, self._answers, task.predicates.reads)
        self.judgement: Judgement = judge(task.predicates, document)

    @property
    def place(self) -> str:
        """Where the file says it: `mutation.stops_early`; empty for what the linter plays of itself."""
        if self.kind in ("alternative", "cheat", "mutation", "rendering"):
            return f"{self.kind}.{self.name}"
        return "reference" if self.kind in ("reference", "variation") else ""

    @property
    def title(self) -> str:
        """What to call it in a message."""
        return self.kind if self.kind == "reference" else f"{self.kind} `{self.name}`"

    @property
    def points(self) -> Fraction:
        """Its score, of 1,000."""
        assert self.judgement.points is not None, "nothing is withheld from the linter"
        return self.judgement.points

    @cached_property
    def credits(self) -> dict[str, Fraction]:
        """The credit of each predicate, in the order of the file."""
        return {verdict.id: verdict.credit for verdict in self.judgement.verdicts}

    @cached_property
    def lost(self) -> tuple[str, ...]:
        """The predicates short of full credit, sorted."""
        return tuple(sorted(name for name, credit in self.credits.items() if credit != 1))

    @cached_property
    def document(self) -> Mapping[str, Json]:
        """The whole case view, made again when it is asked for."""
        return view_of(self._episode, self._task.actor, self._answers).document

    @cached_property
    def projections(self) -> Projections:
        """The run as judges would see it who see less than all of it."""
        return projections(self._episode, self._task.actor)

    def seen_by(self, party: str) -> Mapping[str, Json]:
        """What a counterparty's script sees when the run is over."""
        scene = self.staged.scene
        answers = Answers(scene.case, scene.mandates.get(party, {}))
        return view_of(self._episode, party, answers).document

    @property
    def own(self) -> list[Deed]:
        """What the actor did, refused or not."""
        return [deed for deed in self.deeds if deed.message.sender == self._task.actor]

    @property
    def kinds(self) -> list[str]:
        """The kinds of what the actor did, in order; empty for what is no act of the market."""
        actions = [cast("msgspec.Struct | None", deed.action) for deed in self.own]
        return ["" if action is None else kind_of(type(action)) for action in actions]

    @cached_property
    def ends_error(self) -> str | None:
        """Why `ends` gives no answer where the run ended, or None."""
        try:
            self._task.ends.holds(activation(self.document))
        except Unformed as error:
            return error.text
        return None

    def made(self) -> list[str]:
        """The keys of the rows that the run made, in order."""
        return [
            key
            for deed in self.deeds
            for event in cast("list[msgspec.Struct]", deed.decision.events)
            for _field, key in made_by(event)
        ]

    @property
    def _answers(self) -> Answers:
        scene = self.staged.scene
        return Answers(scene.case, scene.mandates.get(self._task.actor, {}), self.staged.oracle)


def stage_all(
    task: Task, trial: int = 0, rendering: str | None = None
) -> tuple[dict[str, Staged], list[TaskError]]:
    """Every case that can be worked out, plain or of a rendering, and why the others can't."""
    found: dict[str, Staged] = {}
    faults: list[TaskError] = []
    for plain in task.file.case:
        case = plain if rendering is None else f"{plain}{AT}{rendering}"
        try:
            scene = task.scenes.stage(case, task.scenes.seed(case, trial))
            found[case] = Staged(scene, task.scenes.oracle(scene))
        except TaskError as fault:
            faults.append(fault)
    return found, faults

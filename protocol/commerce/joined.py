"""A market made of subjects: what each adds, joined into one `World`.

    class TeaMarket(CommerceWorld):
        name, version = "tea", 0
        subjects = (*CommerceWorld.subjects, TASTINGS)

Rows, actions, events, roles, refusals and machines follow from the subjects. Not here: any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from ..tables import State
from ..world import Accepted, Act, Refusal, Shown, World, kind_of
from .subject import Machine, Rule, Subject


class JoinedWorld(World):
    """A market that states its ``subjects``.

    ``refusals`` gives each refusal's meaning, in the order of checks.
    """

    subjects: ClassVar[tuple[Subject, ...]] = ()
    rules: ClassVar[Mapping[type[msgspec.Struct], Rule]]
    refusals: ClassVar[Mapping[str, str]]
    machines: ClassVar[Mapping[str, Machine]]
    _steps: ClassVar[Mapping[type[msgspec.Struct], Callable[[State, Any], None]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        subjects = cls.subjects
        cls.tables = {table: row for subject in subjects for table, row in subject.rows.items()}
        cls.rules = {rule.action: rule for subject in subjects for rule in subject.rules}
        cls.refusals = {name: meaning for subject in subjects for name, meaning in subject.refusals.items()}
        cls.machines = {table: machine for subject in subjects for table, machine in subject.machines.items()}
        cls._steps = {event: step for subject in subjects for event, step in subject.events.items()}
        cls.actions = tuple(cls.rules)
        cls.events = tuple(cls._steps)
        rules = cls.rules.values()
        cls.roles = {kind_of(rule.action): rule.roles for rule in rules if rule.roles is not None}
        cls.queries = frozenset(kind_of(rule.action) for rule in rules if rule.is_query)
        cls.unaddressed = frozenset(kind_of(rule.action) for rule in rules if rule.is_unaddressed)

    def decide(self, state: State, act: Act) -> Refusal | Accepted:
        """The ruling on an act, by its subject."""
        return self.rules[type(act.action)].decide(state, act)

    def evolve(self, state: State, event: Any) -> None:  # noqa: ANN401 - one of `events`
        """Stages what one event changes."""
        self._steps[type(event)](state, event)

    def show(self, state: State, act: Act, events: Sequence[msgspec.Struct]) -> Shown | None:
        """The rows that the sender asked for, or that its act made or changed, in full."""
        return self.rules[type(act.action)].show(state, act, events)

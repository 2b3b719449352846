"""A market made of subjects: what each adds, joined into one `World`.

    Subject = rows + rules + events + refusals + machines
    Rule    = an action, who may send it, the refusals it checks for in their order, what it decides and shows

    class TeaMarket(CommerceWorld):
        name, version = "tea", 0
        subjects = (*CommerceWorld.subjects, TASTINGS)

Rows, actions, events, roles, refusals and machines of the market follow from its
subjects. The catalogue of refusals is theirs in their order; every rule checks in that order.

Not here: any subject.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import msgspec

from .tables import Row, State
from .world import Accepted, Act, Refusal, Shown, World, kind_of

Verdict = Refusal | Accepted
Events = Sequence[msgspec.Struct]

ALLOWED = Accepted()
"""The verdict on a query that may be asked."""


def nothing(_state: State, _act: Act, _events: Events) -> None:
    """Shows nothing."""


class Rule(NamedTuple):
    """One action of the market.

    ``checks`` names its refusals in the order of checks; ``roles`` is None
    where every role may send it. What is unaddressed is sent to nobody, as
    queries are.
    """

    action: type[msgspec.Struct]
    decide: Callable[[State, Act], Verdict]
    show: Callable[[State, Act, Any], Shown | None] = nothing
    checks: tuple[str, ...] = ()
    roles: frozenset[str] | None = None
    is_query: bool = False
    is_unaddressed: bool = False


class Machine(NamedTuple):
    """The states that a new row may have, and those that may follow each state."""

    first: frozenset[str]
    steps: Mapping[str, frozenset[str]]


class Subject(NamedTuple):
    """What one subject adds to the market; ``refusals`` gives each of its refusals a meaning."""

    rows: Mapping[str, type[Row]]
    rules: tuple[Rule, ...]
    events: Mapping[type[msgspec.Struct], Callable[[State, Any], None]]
    refusals: Mapping[str, str]
    machines: Mapping[str, Machine] = {}


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

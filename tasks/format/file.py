"""The task file as it is written: its sections and their fields.

    TaskFile = id, title, world, actor, brief, … + sections: name → entry

Mappings keep the order of the file. Expressions and values are as their author
wrote them.

Not here: how a text becomes one (`read`), what its expressions mean (`task`).

Source: the task format, "Sections".
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from ...scorers.predicates import Cap, Predicate

MAX_FILE_BYTES: Final = 64 * 1024
MAX_CASES: Final = 50
MAX_DEPTH: Final = 12
MAX_LIST: Final = 1_000
"""The most elements that an `each` may go through."""

Points = Annotated[int, msgspec.Meta(ge=0, le=1_000)]
Label = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Act = dict[str, Any]
"""An act as an author writes it: kind, fields, `to`; in a list of acts also `when`."""


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class PartyEntry(_Section, frozen=True):
    """A party to be: its role, by default its own name, what it alone is told, the baseline that plays it."""

    role: str | None = None
    mandate: dict[str, Any] = {}
    plays: str | None = None


class Rule(_Section, frozen=True):
    """What a counterparty does about an act: the first rule that holds answers."""

    do: Act | list[Act]
    on: str | list[str] | None = None
    when: str | None = None


class ScriptEntry(_Section, frozen=True):
    """A counterparty's script: which kinds it answers, by which rules."""

    on: str | list[str]
    rule: list[Rule]
    let: dict[str, str] = {}


class Step(_Section, frozen=True, rename={"repeat": "while"}):
    """A step of a policy: skipped unless `when`, once for each of `each`, again as long as `while`."""

    do: Act | list[Act]
    id: str | None = None
    when: str | None = None
    each: str | None = None
    repeat: str | None = None


class PolicyEntry(_Section, frozen=True):
    """A policy: names and steps. ``cases`` are those in which an alternative is one; all by default."""

    step: list[Step]
    let: dict[str, str] = {}
    cases: list[str] | None = None


class MutationEntry(_Section, frozen=True, rename={"repeat": "while"}):
    """The reference with one thing changed, and the predicates that lose by it."""

    loses: list[str]
    step: str | None = None
    drop: bool = False
    set: dict[str, Any] = {}
    do: Act | list[Act] | None = None
    when: str | None = None
    each: str | None = None
    repeat: str | None = None
    let: dict[str, str] = {}
    before: Act | None = None
    cases: list[str] | None = None


class CheatEntry(_Section, frozen=True):
    """A policy that must not be worth much: at most ``points`` on average over the cases."""

    step: list[Step]
    points: Points = 300
    let: dict[str, str] = {}


class RenderingEntry(_Section, frozen=True):
    """Every case in other words: brief, labels, order and descriptions of tools; or on other parameters."""

    brief: str | None = None
    labels: dict[str, Label] = {}
    order: list[str] = []
    tools: dict[str, str] = {}
    case: dict[str, Any] = {}


class TaskFile(_Section, frozen=True):
    """A task file, each section by name. Mappings keep the order of the file."""

    id: str
    title: str
    world: str
    actor: str
    brief: str
    case: dict[str, dict[str, Any]]
    party: dict[str, PartyEntry]
    predicate: dict[str, Predicate]
    reference: PolicyEntry
    factor: str | None = None
    tools: list[str] | None = None
    turns: Annotated[int, msgspec.Meta(ge=1)] = 40
    ends: str = "false"
    defaults: dict[str, Any] = {}
    facts: dict[str, dict[str, dict[str, Any]]] = {}
    script: dict[str, ScriptEntry] = {}
    oracle: dict[str, str] = {}
    let: dict[str, str] = {}
    cap: dict[str, Cap] = {}
    alternative: dict[str, PolicyEntry] = {}
    mutation: dict[str, MutationEntry] = {}
    cheat: dict[str, CheatEntry] = {}
    rendering: dict[str, RenderingEntry] = {}


class WrittenFile(TaskFile, frozen=True):
    """A task file with its entries yet to be converted."""

    party: dict[str, dict[str, Any]]  # pyright: ignore[reportIncompatibleVariableOverride]
    predicate: dict[str, dict[str, Any]]  # pyright: ignore[reportIncompatibleVariableOverride]
    reference: dict[str, Any]  # pyright: ignore[reportIncompatibleVariableOverride]
    script: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
    cap: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
    alternative: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
    mutation: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
    cheat: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
    rendering: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]

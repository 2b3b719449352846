"""Acts as a task file writes them, checked against the market, and formed when they are due.

    {kind, …fields, to, when}  ──ActMaker──►  Act  ──form──►  {kind, …fields, to}

A kind that the market hasn't, or that the task doesn't offer, a field that the
kind hasn't, one that is missing, and a literal of another type are found before
anything is played.

Not here: sending them (`tollbook.tasks.play`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from ...protocol.world import World, part_fields
from ...scorers.cel import Activation
from ...scorers.lets import near
from .faults import Faults
from .kinds import complaint, shown
from .values import Expression, Json, Maker, Value

Written = Mapping[str, Json]
"""An act as the file has it."""

Formed = dict[str, Json]
"""An act ready to be sent: `kind`, its fields, and `to` where the file says so."""


class Act(NamedTuple):
    """An act to be formed: its kind, the value of each field, whom it is for, and when."""

    place: str
    kind: str
    fields: Mapping[str, Value]
    when: Expression | None

    def form(self, held: Activation) -> Formed:
        """The act.

        Raises:
            Unformed: a value can't be worked out.
        """
        return {"kind": self.kind, **{name: value(held) for name, value in self.fields.items()}}


def first_that_holds(acts: Sequence[Act], held: Activation) -> Formed | None:
    """The first act whose `when` holds, formed; None where none does.

    Raises:
        Unformed: as `Act.form`.
    """
    for act in acts:
        if act.when is None or act.when.holds(held):
            return act.form(held)
    return None


class ActMaker:
    """Compiles acts of one place of the file."""

    def __init__(self, world: World, maker: Maker, kinds: Sequence[str], parties: Sequence[str]) -> None:
        """``kinds`` are those that may be sent from there, ``parties`` those that there are."""
        self._world = world
        self._maker = maker
        self._faults = maker.faults
        self._kinds = kinds
        self._parties = parties

    def acts(
        self, raw: Written | Sequence[Written], place: str, moved: Mapping[str, str] | None = None
    ) -> tuple[Act, ...]:
        """The acts of a `do`: one, or a list of them. ``moved`` are fields that stand elsewhere.

        Raises:
            TaskError: `task.act`, `task.type`, and as `Maker`.
        """
        if isinstance(raw, Mapping):
            return self._act(raw, place, moved or {})
        if not raw:
            self._faults.note("task.act", place, "a list of acts without an act", "write `{ kind = … }`")
        return tuple(act for at, each in enumerate(raw) for act in self._act(each, f"{place}[{at}]", {}))

    def _act(self, raw: Written, place: str, moved: Mapping[str, str]) -> tuple[Act, ...]:
        """The act, or nothing where it has no kind of its own."""
        kind = raw.get("kind")
        where = moved.get("kind", f"{place}.kind")
        if not isinstance(kind, str):
            hint = 'write `kind = "noun.verb"`'
            self._faults.note("task.act", where if kind else place, "an act needs a `kind`", hint)
            return ()
        self._check_kind(kind, where)
        if kind not in self._world.kinds:
            return ()
        fields = {
            name: self._field(kind, name, value, moved.get(name, f"{place}.{name}"))
            for name, value in raw.items()
            if name not in ("kind", "when")
        }
        for field in msgspec.structs.fields(self._world.kinds[kind]):
            name = field.encode_name
            if field.required and name not in fields:
                hint = f"write `{name} = …`"
                self._faults.note("task.act", place, f"`{kind}` needs the field `{name}`", hint)
        return (Act(place, kind, fields, self._when(raw.get("when"), f"{place}.when")),)

    def _when(self, raw: Json, place: str) -> Expression | None:
        if raw is None or isinstance(raw, str):
            return None if raw is None else self._maker.expression(raw, place)
        problem = f"a condition is an expression, got {shown(raw)}"
        self._faults.note("task.type", place, problem, 'write it as text: `when = "…"`')
        return None

    def _field(self, kind: str, name: str, raw: Json, place: str) -> Value:
        """The value of one field of a kind of act."""
        value = self._maker.value(raw, place)
        if name == "to":
            self._check_to(raw, place)
            return value
        action = self._world.kinds[kind]
        known = {field.encode_name: field for field in msgspec.structs.fields(action)}
        if name not in known:
            hint = near(name, known, f"its fields are {', '.join(known) or 'none'}")
            self._faults.note("task.act", place, f"`{kind}` has no field `{name}`", hint)
        else:
            # A part is written as text; the rules see its digest.
            wanted = str if name in part_fields(action) else known[name].type
            check_literal(raw, wanted, place, self._faults)
        return value

    def _check_kind(self, kind: str, place: str) -> None:
        if kind in self._kinds:
            return
        if kind in self._world.kinds:
            hint = "add it to `tools`, or use one that is there"
            self._faults.note("task.act", place, f"`{kind}` is not among the task's tools", hint)
            return
        hint = near(kind, self._kinds, f"there are {', '.join(sorted(self._kinds))}")
        self._faults.note("task.act", place, f"the market has no act `{kind}`", hint)

    def _check_to(self, raw: Json, place: str) -> None:
        if not isinstance(raw, str):
            self._faults.note("task.type", place, f"`to` is a party's name, got {shown(raw)}", _TO_HINT)
        elif not raw.startswith("=") and "{" not in raw and raw not in self._parties:
            hint = near(raw, self._parties, f"there are {', '.join(self._parties)}")
            self._faults.note("task.act", place, f"there is no party `{raw}`", hint)


_TO_HINT = 'write `to = "…"`'


def check_literal(raw: Json, kind: Any, place: str, faults: Faults) -> None:  # noqa: ANN401 - as msgspec takes it
    """Notes a plain value that is not of the type; what is worked out when played is looked at then."""
    if _is_worked_out(raw):
        return
    found = complaint(raw, kind)
    if found is not None:
        faults.note("task.type", place + found.below, found.problem, found.hint)


def _is_worked_out(raw: Json) -> bool:
    """Whether there is an expression in a value."""
    if isinstance(raw, str):
        return raw.startswith("=") or "{" in raw
    if isinstance(raw, dict):
        return any(map(_is_worked_out, cast("dict[str, Json]", raw).values()))
    return isinstance(raw, list) and any(map(_is_worked_out, cast("list[Json]", raw)))

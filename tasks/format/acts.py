"""Acts as a task file writes them, checked against the market, and formed when they are due.

    {kind, …fields, to, when}  ──ActMaker──►  Act  ──form──►  {kind, …fields, to}

A kind that the market hasn't, or that the task doesn't offer, a field that the
kind hasn't, one that is missing, and a literal of another type are found before
anything is played.

Not here: sending them (`tollbook.tasks.play`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ...protocol.errors import TaskError
from ...protocol.world import World, part_fields
from ...scorers.cel import Activation
from ...scorers.lets import near
from .values import Expression, Json, Maker, Value

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
        self._kinds = kinds
        self._parties = parties

    def acts(self, raw: Mapping[str, Json] | Sequence[Mapping[str, Json]], place: str) -> tuple[Act, ...]:
        """The acts of a `do`: one, or the first of a list that holds.

        Raises:
            TaskError: `task.act`, `task.type`, and as `Maker`.
        """
        if isinstance(raw, Mapping):
            return (self._act(raw, place),)
        if not raw:
            raise TaskError("task.act", place, "a list of acts without an act", "write `{ kind = … }`")
        return tuple(self._act(each, f"{place}[{at}]") for at, each in enumerate(raw))

    def field(self, kind: str, name: str, raw: Json, place: str) -> Value:
        """The value of one field of a kind of act.

        Raises:
            TaskError: as `acts`.
        """
        if name == "to":
            self._check_to(raw, place)
            return self._maker.value(raw, place)
        action = self._world.kinds[kind]
        known = {field.encode_name: field for field in msgspec.structs.fields(action)}
        if name not in known:
            hint = near(name, known, f"its fields are {', '.join(known) or 'none'}")
            raise TaskError("task.act", place, f"`{kind}` has no field `{name}`", hint)
        value = self._maker.value(raw, place)
        check_literal(raw, str if name in part_fields(action) else known[name].type, place)
        return value

    def _act(self, raw: Mapping[str, Json], place: str) -> Act:
        kind = raw.get("kind")
        if not isinstance(kind, str):
            raise TaskError("task.act", place, "an act needs a `kind`", 'write `kind = "noun.verb"`')
        self._check_kind(kind, place)
        when = raw.get("when")
        if when is not None and not isinstance(when, str):
            hint = "write it as text: `when = \"…\"`"
            raise TaskError("task.type", f"{place}.when", "a condition is an expression", hint)
        fields = {
            name: self.field(kind, name, value, f"{place}.{name}")
            for name, value in raw.items()
            if name not in ("kind", "when")
        }
        for field in msgspec.structs.fields(self._world.kinds[kind]):
            if field.required and field.encode_name not in fields:
                hint = f"write `{field.encode_name} = …`"
                raise TaskError("task.act", place, f"`{kind}` needs the field `{field.encode_name}`", hint)
        condition = None if when is None else self._maker.expression(when, f"{place}.when")
        return Act(place, kind, fields, condition)

    def _check_kind(self, kind: str, place: str) -> None:
        if kind in self._kinds:
            return
        if kind in self._world.kinds:
            hint = "add it to `tools`, or use one that is there"
            raise TaskError("task.act", f"{place}.kind", f"`{kind}` is not among the task's tools", hint)
        hint = near(kind, self._kinds, f"there are {', '.join(sorted(self._kinds))}")
        raise TaskError("task.act", f"{place}.kind", f"the market has no act `{kind}`", hint)

    def _check_to(self, raw: Json, place: str) -> None:
        if isinstance(raw, str) and not raw.startswith("=") and raw not in self._parties:
            hint = near(raw, self._parties, f"there are {', '.join(self._parties)}")
            raise TaskError("task.act", place, f"there is no party `{raw}`", hint)


def check_literal(raw: Json, kind: Any, place: str) -> None:  # noqa: ANN401 - a type, as msgspec takes it
    """Refuses a plain value that is not of the type; what is worked out when played is looked at then.

    Raises:
        TaskError: `task.type`.
    """
    if isinstance(raw, str) and raw.startswith("="):
        return
    if isinstance(raw, (dict, list)) and "=" in str(raw):
        return
    plain = "text" if isinstance(raw, str) and "{" in raw else raw
    try:
        msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise TaskError("task.type", place, expected(str(error), raw), _type_hint(raw)) from None


def expected(said: str, raw: Json) -> str:
    """msgspec's complaint about a value, in an author's words."""
    got = f"text `{raw}`" if isinstance(raw, str) else f"`{raw}`"
    if said.startswith("Expected `"):
        wanted = said.removeprefix("Expected `").partition("`")[0].replace(" | null", "")
        if ", got" in said:
            return f"expected {wanted}, got {got}"
        return f"{said.partition(' - at')[0].replace('Expected', 'expected')}, got {got}"
    return f"{said.partition(' - at')[0]}, got {got}"


def _type_hint(raw: Json) -> str | None:
    return "begin with `=` where it is an expression" if isinstance(raw, str) else None

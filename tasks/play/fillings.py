"""Acts filled from what was seen: every field from its candidates, those that name rows first.

    kind + sight  ─►  {kind, …fields, to}, …     the likeliest first; only required fields

    row       the keys seen of its table
    number    what was seen under its name, beside the rows named; else what the market shows at this turn;
              else the least, where that is 1 or more
    text      what was seen under its name; free text is left empty
    list      of one candidate each, then of all; an enumeration: its values

With draws, a field takes any of its candidates or of all numbers and texts
seen. Not here: who fills in what, and when (`cheats`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgspec
from msgspec import inspect

from ...protocol.canonical import encode
from ...protocol.errors import CanonicalError
from ..format.values import Unformed
from .play import typed

if TYPE_CHECKING:
    from ...protocol.draws import Draws
    from ...protocol.world import World
    from ..format.acts import Formed
    from .sight import Sight

Json = Any

MAX_FILLINGS: Final = 1_000
"""The most fillings of one kind that are looked at."""

MAX_VALUES: Final = 20
"""The most values of a field that names no row."""

_MAX_DEPTH: Final = 4
_TRIES: Final = 4
_NOTHING: frozenset[str] = frozenset()


class Slot(NamedTuple):
    """A field of an act: its type without its mark, and its mark."""

    name: str
    type: inspect.Type
    table: str | None
    is_part: bool
    required: bool


class Filler:
    """Fills acts for one party."""

    def __init__(self, world: World, sight: Sight, parties: Sequence[str]) -> None:
        """``parties`` are those whom an act may be for."""
        self._world = world
        self._sight = sight
        self._parties = parties

    def fillings(self, kind: str) -> Iterator[Formed]:
        """The acts of a kind that what was seen can fill, whether or not they fit."""
        return islice(self._products(kind), MAX_FILLINGS)

    def rows_of(self, act: Formed) -> tuple[str, ...]:
        """The keys of rows that an act names, those in lists one by one."""
        slots = self._slots(act["kind"])
        return tuple(_flat(act[slot.name] for slot in slots if slot.table is not None and slot.name in act))

    def fits(self, act: Formed) -> bool:
        """Whether the market can type an act."""
        try:
            fields = {name: value for name, value in act.items() if name != "to"}
            encode(fields)
            typed(self._world, fields)
        except (Unformed, CanonicalError):
            return False
        return True

    def drawn(self, kind: str, draws: Draws) -> Formed | None:
        """An act of a kind, each of its fields drawn; None where some field has no candidate that fits."""
        for _ in range(_TRIES):
            act: Formed = {"kind": kind}
            for slot in self._slots(kind):
                if not slot.required and draws.integer(0, 1):
                    continue
                found = self._wide(slot)
                if not found:
                    return None
                act[slot.name] = draws.choice(found)
            if self._world.is_addressed(kind) and len(self._parties) > 1:
                act["to"] = draws.choice(self._parties)
            if self.fits(act):
                return act
        return None

    def _products(self, kind: str) -> Iterator[Formed]:
        slots = [slot for slot in self._slots(kind) if slot.required]
        naming = [slot for slot in slots if slot.table is not None]
        rest = [slot for slot in slots if slot.table is None]
        for keys in product(*(self._candidates(slot, _NOTHING) for slot in naming)):
            beside = frozenset(_flat(keys))
            named = {slot.name: key for slot, key in zip(naming, keys, strict=True)}
            choices = [self._candidates(slot, beside) for slot in rest]
            for to in self._addressees(kind, beside):
                for values in product(*choices):
                    filled = {slot.name: value for slot, value in zip(rest, values, strict=True)}
                    yield {"kind": kind, **named, **filled, **to}

    def _addressees(self, kind: str, beside: frozenset[str]) -> list[dict[str, str]]:
        """Whom an act is for, first those beside the rows that it names; unsaid where there is no choice."""
        if not self._world.is_addressed(kind) or len(self._parties) < 2:
            return [{}]
        near = self._sight.parties(beside)
        return [{"to": party} for party in sorted(self._parties, key=lambda party: party not in near)]

    def _slots(self, kind: str) -> list[Slot]:
        slots = slots_of(self._world.kinds[kind])
        return [
            slot if slot.is_part else slot._replace(table=slot.table or self._sight.table_of(slot.name))
            for slot in slots
        ]

    def _candidates(self, slot: Slot, beside: frozenset[str], depth: int = 0) -> list[Json]:
        """The values of a field that what was seen gives, the likeliest first."""
        if depth > _MAX_DEPTH:
            return []
        if slot.is_part:
            return [""]
        kind = slot.type
        if isinstance(kind, (inspect.ListType, inspect.VarTupleType, inspect.SetType)):
            items = self._candidates(_slot(slot.name, kind.item_type, slot.table), beside, depth + 1)
            return [*([item] for item in items), *([items] if len(items) > 1 else [])]
        if isinstance(kind, inspect.UnionType):
            members = [_slot(slot.name, each, slot.table) for each in kind.types]
            return [value for each in members for value in self._candidates(each, beside, depth + 1)]
        if isinstance(kind, inspect.StructType):
            return self._documents(kind, beside, depth + 1)
        if slot.table is not None and isinstance(kind, inspect.StrType):
            return list(self._sight.ids(slot.table))
        return self._scalars(slot.name, kind, beside)[:MAX_VALUES]

    def _scalars(self, name: str, kind: inspect.Type, beside: frozenset[str]) -> list[Json]:
        seen = self._sight.values(name, beside)
        if isinstance(kind, inspect.BoolType):
            return [True, False]
        if isinstance(kind, inspect.IntType):
            numbers = [value for value in seen if type(value) is int]
            least = kind.ge if kind.ge is not None and kind.ge >= 1 else None
            return numbers or self._sight.shown or ([] if least is None else [least])
        if isinstance(kind, inspect.StrType):
            texts = [value for value in seen if isinstance(value, str)]
            return texts or ([] if kind.min_length or kind.pattern else [""])
        if isinstance(kind, inspect.LiteralType):
            return list(kind.values)
        return [{}] if isinstance(kind, inspect.DictType) else []

    def _documents(self, kind: inspect.StructType, beside: frozenset[str], depth: int) -> list[Json]:
        """Maps of a struct's required fields."""
        slots = [slot for slot in slots_of(kind.cls) if slot.required]
        choices = [self._candidates(slot, beside, depth) for slot in slots]
        names = [slot.name for slot in slots]
        return [dict(zip(names, values, strict=True)) for values in islice(product(*choices), MAX_VALUES)]

    def _wide(self, slot: Slot) -> list[Json]:
        """As `_candidates`, and beyond them whatever is of the right type."""
        found = self._candidates(slot, _NOTHING)
        if slot.is_part:
            return [*found, *self._sight.texts]
        if slot.table is not None and found:
            return found
        if isinstance(slot.type, inspect.IntType):
            least = [] if slot.type.ge is None or slot.type.ge < 0 else [slot.type.ge]
            return list(dict.fromkeys([*found, *least, *self._sight.numbers]))
        if isinstance(slot.type, inspect.StrType):
            return list(dict.fromkeys([*found, *self._sight.texts]))
        return found


@cache
def slots_of(struct: type[msgspec.Struct]) -> tuple[Slot, ...]:
    """The fields of an act or of a struct within one, in its order."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return tuple(
        _slot(field.encode_name, field.type, None)._replace(required=field.required) for field in info.fields
    )


def has_number(kind: inspect.Type, depth: int = 0) -> bool:
    """Whether values of a type can hold whole numbers."""
    if depth > _MAX_DEPTH:
        return False
    inner: tuple[inspect.Type, ...] = ()
    if isinstance(kind, inspect.Metadata):
        inner = (kind.type,)
    elif isinstance(kind, inspect.UnionType):
        inner = kind.types
    elif isinstance(kind, (inspect.ListType, inspect.VarTupleType, inspect.SetType)):
        inner = (kind.item_type,)
    elif isinstance(kind, inspect.DictType):
        inner = (kind.value_type,)
    elif isinstance(kind, inspect.StructType):
        inner = tuple(field.type for field in kind.fields)
    return isinstance(kind, inspect.IntType) or any(has_number(each, depth + 1) for each in inner)


def _flat(keys: Iterable[Json]) -> Iterator[str]:
    """The keys that fields name, those within lists too."""
    for key in keys:
        if isinstance(key, list):
            yield from _flat(cast("list[Json]", key))
        else:
            yield str(key)


def _slot(name: str, kind: inspect.Type, table: str | None) -> Slot:
    marks: dict[str, Json] = {}
    while isinstance(kind, inspect.Metadata):
        marks.update(cast("dict[str, Json]", kind.extra or {}))
        kind = kind.type
    return Slot(name, kind, marks.get("row", table), bool(marks.get("part")), required=True)

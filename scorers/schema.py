"""Misspelt names, found before any run: what a world's case view can hold, walked with each expression.

    world  →  shapes of `did`, `final`, …        expression + shapes  →  objections

    shape = kinds and tables by name · a list of a shape · a map to a shape · a record of fields · unknown

A name that isn't in its shape would be an error in every run, or silently
absent from a text: `did.refund.denied`, `a.ordr_id`. What can't be known before
a run (an oracle's inside, an element of mixed lists) is left alone, and so is
a field asked for as optional (`a.?f`) or by `has`.

Not here: names that aren't declared at all, which don't compile (`cel`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

import msgspec

from ..protocol.errors import ScoreError
from ..protocol.world import World, made_fields
from .cel import Program
from .lets import near
from .predicates import PredicateSet
from .syntax import Call, Const, Fold, Made, Name, Node, Select

_ACT: Final = ("seq", "n", "tick", "kind", "from", "to", "ok", "rule", "figures", "result")
_SAME_LIST: Final = frozenset({"sort", "@sortByAssociatedKeys", "reverse", "slice", "distinct"})


class Record(NamedTuple):
    """Fields by name; ``what`` names the thing in an objection. ``grouped``: of kinds, not of values."""

    what: str
    fields: Mapping[str, Shape]
    grouped: bool = False


class ListOf(NamedTuple):
    """A list; ``item`` is `NOTHING` of an empty one."""

    item: Shape


class MapTo(NamedTuple):
    """A map from any text."""

    value: Shape


class Nothing(NamedTuple):
    """The shape of no value: what an empty list holds."""


NOTHING: Final = Nothing()
Shape = Record | ListOf | MapTo | Nothing | None
"""None is unknown."""


def check_names(predicates: PredicateSet, shapes: Mapping[str, Shape]) -> None:
    """Refuses expressions that ask for what no view of these shapes can hold.

    Raises:
        ScoreError: `predicate.names`, for the first such name; and as `PredicateSet.programs`.
    """
    for what, group in zip(("predicate", "seqs of", "cap"), predicates.programs, strict=True):
        for name, program in group.items():
            for problem, hint in unknown_names(program, shapes):
                raise ScoreError("predicate.names", f"{what} `{name}`: {problem}", hint)


def unknown_names(program: Program, shapes: Mapping[str, Shape]) -> list[tuple[str, str | None]]:
    """What an expression asks for that isn't in the shapes: what is wrong, and a hint."""
    walk = _Walk()
    walk.shape(program.checked.root, shapes)
    return walk.found


@cache
def shapes_of(world: World) -> Mapping[str, Shape]:
    """What each name of the case view holds in this world."""
    # Which events an act gives is known when it is decided; the keys that any of them makes may be asked for.
    made = {field for event in world.events for field in made_fields(event)}
    acts = {kind: _fields(f"`{kind}`", action, (*_ACT, *made)) for kind, action in world.kinds.items()}
    events = {kind: _fields(f"`{kind}`", event, ("seq", "kind")) for kind, event in world.event_kinds.items()}
    rows = {table: _fields(f"a row of `{table}`", row, ("id",)) for table, row in world.tables.items()}
    lists = {table: ListOf(row) for table, row in rows.items()}
    groups = {name: _grouped(name, acts) for name in ("did", "refused", "heard")}
    tables = {name: Record(f"`{name}`", lists) for name in ("known", "initial", "final")}
    facts = Record("`facts`", {table: MapTo(row) for table, row in rows.items()})
    read = Record("`read`", {table: MapTo(None) for table in rows})
    return {**groups, **tables, "events": _grouped("events", events), "facts": facts, "read": read}


def _grouped(name: str, kinds: Mapping[str, Record]) -> Record:
    nouns: dict[str, dict[str, Shape]] = {}
    for kind, record in kinds.items():
        noun, _, verb = kind.partition(".")
        nouns.setdefault(noun, {})[verb] = ListOf(record)
    groups = {noun: Record(f"`{name}.{noun}`", verbs, grouped=True) for noun, verbs in nouns.items()}
    return Record(f"`{name}`", groups, grouped=True)


def _fields(what: str, struct: type[msgspec.Struct], more: tuple[str, ...] = ()) -> Record:
    info = msgspec.inspect.type_info(struct)
    assert isinstance(info, msgspec.inspect.StructType)
    fields = {field.encode_name: _shape(field.type) for field in info.fields}
    return Record(what, {**dict.fromkeys(more), **fields})


def _shape(kind: msgspec.inspect.Type) -> Shape:
    if isinstance(kind, msgspec.inspect.Metadata):
        return _shape(kind.type)
    if isinstance(kind, msgspec.inspect.StructType):
        return _fields(f"`{kind.cls.__name__}`", kind.cls)
    if isinstance(kind, (msgspec.inspect.VarTupleType, msgspec.inspect.ListType)):
        return ListOf(_shape(kind.item_type))
    if isinstance(kind, msgspec.inspect.UnionType):
        others = [each for each in kind.types if not isinstance(each, msgspec.inspect.NoneType)]
        return _shape(others[0]) if len(others) == 1 else None
    return None


class _Walk:
    """Goes through an expression with the shapes of its names, and notes what isn't there."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str | None]] = []

    def shape(self, node: Node, names: Mapping[str, Shape]) -> Shape:
        """The shape of what a node gives."""
        if isinstance(node, Name):
            return names.get(node.name)
        if isinstance(node, Select):
            return self._field(self.shape(node.operand, names), node.field, asked=node.tested)
        if isinstance(node, Made):
            items = [self.shape(item, names) for item in node.items]
            return ListOf(_merged(items)) if node.is_list else None
        if isinstance(node, Call):
            return self._call(node, [self.shape(each, names) for each in node.args])
        if isinstance(node, Fold):
            return self._fold(node, names)
        return None

    def _field(self, of: Shape, name: str, *, asked: bool = False) -> Shape:
        if isinstance(of, MapTo):
            return of.value
        if not isinstance(of, Record):
            return None
        if name not in of.fields and not asked:
            hint = near(name, list(of.fields), f"there are {', '.join(sorted(of.fields))}")
            self.found.append((f"there is no `{name}` in {of.what}", hint))
        return of.fields.get(name)

    def _call(self, call: Call, args: list[Shape]) -> Shape:
        function, first = call.function, args[0] if args else None
        if function in ("_[_]", "_[?_]", "_?._"):
            key = call.args[1]
            if isinstance(first, ListOf):
                return first.item
            if isinstance(key, Const) and key.text is not None:
                return self._field(first, key.text, asked=function != "_[_]")
            return first.value if isinstance(first, MapTo) else None
        if function == "size" and isinstance(first, Record) and first.grouped:
            self.found.append((f"{first.what} is a group of kinds, not a list", "add a verb"))
        if function == "_+_":
            return _merged(args)
        if function == "_?_:_":
            return _merged(args[1:])
        return first if function in _SAME_LIST else None

    def _fold(self, fold: Fold, names: Mapping[str, Shape]) -> Shape:
        over = self.shape(fold.over, names)
        start = self.shape(fold.start, names)
        item = over.item if isinstance(over, ListOf) else None
        loop = {fold.second: item, fold.first: None} if fold.second else {fold.first: item}
        inside = {**names, **loop, fold.accumulator: start}
        self.shape(fold.condition, inside)
        step = self.shape(fold.step, inside)
        grown = step if isinstance(start, ListOf) and start.item is NOTHING else start
        return self.shape(fold.result, {**names, fold.accumulator: grown})


def _merged(shapes: list[Shape]) -> Shape:
    """What can be any of these: a record with the fields of all, else unknown."""
    merged: Shape = NOTHING
    for shape in shapes:
        merged = _both(merged, shape)
    return merged


def _both(one: Shape, other: Shape) -> Shape:
    if one is NOTHING:
        return other
    if other is NOTHING or one == other:
        return one
    if isinstance(one, ListOf) and isinstance(other, ListOf):
        return ListOf(_both(one.item, other.item))
    if isinstance(one, Record) and isinstance(other, Record):
        return Record(f"{one.what} or {other.what}", dict(_united(one, other)))
    return None


def _united(one: Record, other: Record) -> Iterator[tuple[str, Shape]]:
    for name in {**one.fields, **other.fields}:
        if name in one.fields and name in other.fields:
            yield name, _both(one.fields[name], other.fields[name])
        else:
            yield name, one.fields.get(name) or other.fields.get(name)

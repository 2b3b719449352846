"""A checked CEL expression as a tree, read from what the runtime itself serializes.

    Any{type_url = 1, value = 2} ─► CheckedExpr{references = 2, types = 3, expr = 4} ─► Checked(root, types)

The library that compiles an expression shows its tree in one way only: as
protobuf bytes. Reading them (three wire types, eight kinds of node) needs no
second CEL parser that could see another expression than the one that runs.

Not here: what an expression may hold (`profile`); parsing or running one (`cel`).

Source: google/cel-spec proto/cel/expr/{checked,syntax}.proto; protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Const(NamedTuple):
    """A literal; ``text`` is None where it is no text, ``number`` where it is no integer."""

    id: int
    text: str | None
    number: int | None = None


class Name(NamedTuple):
    """An identifier: a name of the view, or one bound around it."""

    id: int
    name: str


class Select(NamedTuple):
    """``operand.field``, or, where ``tested``, ``has(operand.field)``."""

    id: int
    operand: Node
    field: str
    tested: bool


class Call(NamedTuple):
    """A function or operator; a method's receiver is the first of ``args``."""

    id: int
    function: str
    args: tuple[Node, ...]


class Made(NamedTuple):
    """A list or map made in place; of a map, keys and values in turn."""

    id: int
    is_list: bool
    items: tuple[Node, ...]


class Fold(NamedTuple):
    """A comprehension: what `all`, `map`, `cel.bind` and the like expand to.

    ``second`` is the second loop variable, or empty.
    """

    id: int
    first: str
    second: str
    over: Node
    accumulator: str
    start: Node
    condition: Node
    step: Node
    result: Node


Node = Const | Name | Select | Call | Made | Fold


class Type(NamedTuple):
    """A static type: ``name`` is empty for what is only known when run."""

    name: str
    parameters: tuple[Type, ...] = ()


DYN = Type("")


class Checked(NamedTuple):
    """A tree and the static type of each of its nodes, by the node's id."""

    root: Node
    types: dict[int, Type]


def read(serialized: bytes) -> Checked:
    """The tree of a serialized expression."""
    checked = _last(wire_fields(serialized), 2)
    assert isinstance(checked, bytes)
    types: dict[int, Type] = {}
    root: Node | None = None
    for number, value in wire_fields(checked):
        if number == 3 and isinstance(value, bytes):
            entry = dict(wire_fields(value))
            key, kind = entry.get(1, 0), entry.get(2, b"")
            assert isinstance(key, int)
            assert isinstance(kind, bytes)
            types[key] = _type(kind)
        elif number == 4 and isinstance(value, bytes):
            root = _node(value)
    assert root is not None
    return Checked(root, types)


def wire_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: their numbers, and a number or bytes each."""
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        wire = tag & 7
        if wire == 0:
            value, place = _varint(data, place)
            yield tag >> 3, value
            continue
        length, place = _varint(data, place) if wire == 2 else ({1: 8, 5: 4}[wire], place)
        yield tag >> 3, data[place : place + length]
        place += length


def wire_form(number: int, value: int | bytes) -> bytes:
    """A field of a message, as `wire_fields` reads it; numbers of fixed width aren't written again."""
    if isinstance(value, int):
        return _varint_form(number << 3) + _varint_form(value)
    return _varint_form(number << 3 | 2) + _varint_form(len(value)) + value


def _varint_form(value: int) -> bytes:
    form = bytearray()
    while value > 127:
        form.append(value & 127 | 128)
        value >>= 7
    form.append(value)
    return bytes(form)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place


def _last(fields: Iterator[tuple[int, int | bytes]], number: int) -> int | bytes:
    return {key: value for key, value in fields}[number]  # noqa: C416 - the last of each number stands


_PRIMITIVES = ("", "bool", "int", "uint", "double", "string", "bytes")
_WELL_KNOWN = ("", "any", "timestamp", "duration")


def _type(data: bytes) -> Type:
    for number, value in wire_fields(data):
        if number in (3, 4) and isinstance(value, int):
            return Type(_PRIMITIVES[value])
        if number == 5 and isinstance(value, int):
            return Type(_WELL_KNOWN[value])
        if number == 6 and isinstance(value, bytes):
            return Type("list", _parameters(value))
        if number == 7 and isinstance(value, bytes):
            return Type("map", _parameters(value))
    return DYN


def _parameters(data: bytes) -> tuple[Type, ...]:
    return tuple(_type(each) for _, each in wire_fields(data) if isinstance(each, bytes))


def _node(data: bytes) -> Node:
    number, value, place = 0, b"", 0
    for field, found in wire_fields(data):
        if field == 2 and isinstance(found, int):
            place = found
        elif isinstance(found, bytes):
            number, value = field, found
    return _KINDS[number](place, value)


def _const(place: int, data: bytes) -> Const:
    parts = dict(wire_fields(data))
    text, number = parts.get(6), parts.get(3)
    if isinstance(number, int) and number >= 1 << 63:  # 64 bits, two's complement
        number -= 1 << 64
    plain = number if isinstance(number, int) else None
    return Const(place, text.decode() if isinstance(text, bytes) else None, plain)


def _name(place: int, data: bytes) -> Name:
    return Name(place, _text(dict(wire_fields(data)), 1))


def _select(place: int, data: bytes) -> Select:
    fields = dict(wire_fields(data))
    return Select(place, _child(fields, 1), _text(fields, 2), tested=bool(fields.get(3)))


def _call(place: int, data: bytes) -> Call:
    function = ""
    receiver: list[Node] = []
    args: list[Node] = []
    for number, value in wire_fields(data):
        assert isinstance(value, bytes)
        if number == 1:
            receiver = [_node(value)]
        elif number == 2:
            function = value.decode()
        else:
            args.append(_node(value))
    return Call(place, function, (*receiver, *args))


def _list(place: int, data: bytes) -> Made:
    items = [_node(value) for number, value in wire_fields(data) if number == 1 and isinstance(value, bytes)]
    return Made(place, is_list=True, items=tuple(items))


def _struct(place: int, data: bytes) -> Made:
    items: list[Node] = []
    for number, entry in wire_fields(data):
        if number == 2 and isinstance(entry, bytes):
            fields = dict(wire_fields(entry))
            items += [_child(fields, key) for key in (3, 4) if key in fields]
    return Made(place, is_list=False, items=tuple(items))


def _fold(place: int, data: bytes) -> Fold:
    fields = dict(wire_fields(data))
    return Fold(
        place,
        first=_text(fields, 1),
        second=_text(fields, 8),
        over=_child(fields, 2),
        accumulator=_text(fields, 3),
        start=_child(fields, 4),
        condition=_child(fields, 5),
        step=_child(fields, 6),
        result=_child(fields, 7),
    )


def _text(fields: dict[int, int | bytes], number: int) -> str:
    value = fields.get(number, b"")
    assert isinstance(value, bytes)
    return value.decode()


def _child(fields: dict[int, int | bytes], number: int) -> Node:
    value = fields[number]
    assert isinstance(value, bytes)
    return _node(value)


_KINDS = {3: _const, 4: _name, 5: _select, 6: _call, 7: _list, 8: _struct, 9: _fold}

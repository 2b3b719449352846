"""Whether an expression gives something else when maps are gone through in another order.

    r.map(k, …)    ─►    cel.bind(o, r, is o a map ? o's keys, sorted and turned : o).map(k, …)

The runtime goes through a map in an order of its own, new in each process and
for each activation, whatever the order in the document. So a copy of the tree is
run instead, in which every range that may be a map is put in one stated order:
sorted or reversed, turned by some places. What gives other values, or other
words of an error, depends on the order.

A list of a map's keys and values (two loop variables) can't be put in order from
outside: made of a map of two entries and more, it counts as depending on it.

Not here: maps known when compiled (`profile` refuses lists made of them). A use
that tells apart only keys that none of the orders brings to its place is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, Final, cast

from .cel import Activation, Failure, Program, Scope, activation, compile_source, revived
from .profile import lists_items, nodes
from .syntax import DYN, Fold, wire_fields, wire_form

BY_ORDER: Final = "it depends on the order of a map, which has none"

TOO_DEEP: Final = "loops that stand too deep in each other"

_TURNS: Final = (0, 1, 2, 5)
_ORDERS: Final = tuple((turn, turned) for turn in _TURNS for turned in ("", ".reverse()"))
_PLACE: Final = "it"
_IN_ORDER: Final = """cel.bind(o, it, type(o) == type({{}})
    ? cel.bind(s, o.map(k, k).sort(){turned},
        s.size() < 2 ? s : s.slice({turn} % s.size(), s.size()) + s.slice(0, {turn} % s.size()))
    : o)"""
_REFUSED: Final = "cel.bind(o, it, type(o) == type({{}}) && o.size() > 1 ? dyn({{}})[{turn}] : o)"
_FAR: Final = 1_000_000
"""Added to the ids of what is put around, so that none is an id of the tree."""

_NODES: Final[Mapping[int, tuple[int, ...]]] = {5: (1,), 6: (1, 3), 7: (1,), 9: (2, 4, 5, 6, 7)}
"""The fields that hold nodes, by the kind of node."""

_Change = Callable[[int, bytes], bytes]


def depends_on_order(program: Program, document: Mapping[str, Any]) -> bool:
    """Whether the order of maps changes what an expression gives for the names of a document.

    One that is nested too deeply to be told in other orders counts as if it did.
    """
    return bool(_ranges(program)) and _differs(program, activation(document))


def steady(program: Program, held: Activation, work: int = 0) -> object:
    """What an expression gives, as `Program.run`; a `Failure` where the order of a map decides it."""
    if not _ranges(program):
        return program.run(held, work)
    wary = _wary(program)
    if wary is None:
        return Failure(TOO_DEEP)
    # Mostly no map of two entries is gone through, and one run shows it.
    found = wary.run(held, work)
    if not isinstance(found, Failure):
        return found
    return Failure(BY_ORDER) if _differs(program, held, work) else program.run(held, work)


def _differs(program: Program, held: Activation, work: int = 0) -> bool:
    variants = _variants(program)
    found = [_comparable(each.run(held, work)) for each in variants if each is not None]
    return None in variants or any(each != found[0] for each in found)


def _comparable(value: object) -> object:
    """A value that equals another only where they are of one type, within too: 1 is not true."""
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return sorted((repr(key), repr(_comparable(item))) for key, item in items)
    if isinstance(value, list):
        return [_comparable(item) for item in cast("list[object]", value)]
    return value if isinstance(value, Failure) else repr(value)


@lru_cache(maxsize=512)  # many documents are judged by few programs
def _variants(program: Program) -> tuple[Program | None, ...]:
    """The program with its maps in one order after the other."""
    ranges = _ranges(program)
    return tuple(
        _rewritten(program, {place: each.format(turn=turn, turned=turned) for place, each in ranges.items()})
        for turn, turned in _ORDERS
    )


@lru_cache(maxsize=512)
def _wary(program: Program) -> Program | None:
    """The program with an error wherever it would go through a map of two entries or more."""
    return _rewritten(program, dict.fromkeys(_ranges(program), _REFUSED.format(turn=0)))


def _rewritten(program: Program, templates: Mapping[int, str]) -> Program | None:
    """The program with templates put around nodes, by their ids."""

    def change(place: int, node: bytes) -> bytes:
        return _put(_template(templates[place]), node) if place in templates else node

    return revived(_changed_tree(program.serialized, change))


@lru_cache(maxsize=4_096)
def _ranges(program: Program) -> dict[int, str]:
    """The nodes that may be maps and are gone through, by id, and what is put around each."""
    checked = program.checked
    return {
        node.over.id: _REFUSED if node.second else _IN_ORDER
        for node in nodes(checked.root)
        if isinstance(node, Fold)
        and checked.types.get(node.over.id, DYN).name in ("", "map")
        and (lists_items(node) or not node.second)
    }


@cache
def _template(source: str) -> bytes:
    """A tree to be put around a node, with ids of its own and the name `it` in the node's place."""

    def renumbered(place: int, node: bytes) -> bytes:
        return b"".join(wire_form(n, place + _FAR if n == 2 else v) for n, v in wire_fields(node))

    tree = compile_source(source, Scope((_PLACE,))).serialized
    return _changed(_root(tree), renumbered)


def _put(template: bytes, node: bytes) -> bytes:
    """The template with a node in its place."""

    def placed(_id: int, each: bytes) -> bytes:
        name = dict(wire_fields(each)).get(4)
        is_place = isinstance(name, bytes) and dict(wire_fields(name)).get(1) == _PLACE.encode()
        return node if is_place else each

    return _changed(template, placed)


def _root(serialized: bytes) -> bytes:
    checked = cast("bytes", dict(wire_fields(serialized))[2])
    return cast("bytes", dict(wire_fields(checked))[4])


def _changed_tree(serialized: bytes, change: _Change) -> bytes:
    def of_checked(data: bytes) -> bytes:
        return _mapped(data, (4,), lambda node: _changed(node, change))

    return _mapped(serialized, (2,), of_checked)


def _changed(node: bytes, change: _Change) -> bytes:
    """A node whose nodes below, then itself, went through `change(id, node)`."""

    def deeper(each: bytes) -> bytes:
        return _changed(each, change)

    whole: list[bytes] = []
    place = 0
    for number, value in wire_fields(node):
        changed = value
        if number == 2 and isinstance(value, int):
            place = value
        elif number in _NODES and isinstance(value, bytes):
            changed = _mapped(value, _NODES[number], deeper)
        elif number == 8 and isinstance(value, bytes):
            changed = _mapped(value, (2,), lambda entry: _mapped(entry, (3, 4), deeper))
        whole.append(wire_form(number, changed))
    return change(place, b"".join(whole))


def _mapped(data: bytes, numbers: tuple[int, ...], change: Callable[[bytes], bytes]) -> bytes:
    """A message whose fields of these numbers are changed."""
    return b"".join(
        wire_form(number, change(value) if number in numbers and isinstance(value, bytes) else value)
        for number, value in wire_fields(data)
    )

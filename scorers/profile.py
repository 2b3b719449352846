"""What an expression may hold, what it reads, and whether another runtime would agree.

    objection(checked)  →  why the profile refuses it, or None
    reach(checked)      →  Reach(free names, fields, library functions)

The profile, version 1: integers are CEL int; no double, uint, timestamp or
duration, by the static type of every part of the tree; no `matches`, no `size`
of a text; nothing made in the order of a map. The portable core are the
language's own operators, functions and macros, with `cel.bind` expanded, but
for conversions from and to texts: an expression that calls anything more is
`local`, and counted.

Types known only when run (`oracle.x.size()` of a text) pass this walk.

Source: design section 4; the list of standard functions is that of the CEL
language definition, google/cel-spec doc/langdef.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .syntax import DYN, Call, Checked, Const, Fold, Made, Name, Node, Select, Type

VERSION = 1

ANY_FIELD = "*"
"""Stands among a `Reach`'s fields where a field is chosen only when run."""

_REFUSED_TYPES = {
    "double": "decimals",
    "duration": "durations",
    "timestamp": "timestamps",
    "uint": "unsigned integers",
}
_ORDERLESS = frozenset({"sort", "size"})
_OPERATORS = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_", "-_", "!_", "_&&_", "_||_", "_?_:_", "_[_]"})
_COMPARISONS = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"})
_FUNCTIONS = frozenset({"contains", "dyn", "endsWith", "size", "startsWith", "type"})
_STANDARD = _OPERATORS | _COMPARISONS | _FUNCTIONS | {"@in", "@not_strictly_false"}
_CONVERSIONS = frozenset({"bool", "int", "string"})
"""Standard too, but runtimes read and write texts differently (` 3`, `0x10`, `True`): of integers only."""


class Reach(NamedTuple):
    """What an expression reads: names bound outside of it, fields of anything, library functions.

    ``oracle`` holds the fields that it takes from the name `oracle` itself;
    ``asked`` the names with each field taken from them, None for all of a name.
    """

    free: frozenset[str]
    fields: frozenset[str]
    library: frozenset[str]
    oracle: frozenset[str]
    asked: frozenset[tuple[str, str | None]]


def objection(checked: Checked) -> str | None:
    """Why an expression is outside the profile, or None."""
    # By node: the runtime lists types in no order of its own.
    for _node, kind in sorted(checked.types.items()):
        for name in _type_names(kind):
            if name in _REFUSED_TYPES:
                return f"there are no {_REFUSED_TYPES[name]} here: integers only"
    return _refused(checked.root, checked.types, sorted_later=False)


def reach(checked: Checked) -> Reach:
    """What an expression reads."""
    free: set[str] = set()
    fields: set[str] = set()
    library: set[str] = set()
    oracle: set[str] = set()
    for node, bound in _scoped(checked.root, frozenset()):
        if isinstance(node, Name) and node.name not in bound:
            free.add(node.name)
        elif isinstance(node, Select):
            fields.add(node.field)
            if isinstance(node.operand, Name) and node.operand.name == "oracle" and "oracle" not in bound:
                oracle.add(node.field)
        elif isinstance(node, Const) and node.text is not None:
            fields.add(node.text)  # `act['text']` reads a field as `act.text` does
        elif isinstance(node, Call):
            fields.update(_chosen(node, checked.types))
            if not _is_portable(node, checked.types):
                library.add(node.function)
        elif isinstance(node, Fold) and node.second:
            fields.add(ANY_FIELD)
            library.add("two-variable comprehension")
    asked = frozenset(_asked(checked.root, frozenset()))
    return Reach(frozenset(free), frozenset(fields), frozenset(library), frozenset(oracle), asked)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below one."""
    if isinstance(node, Select):
        return (node.operand,)
    if isinstance(node, Call):
        return node.args
    if isinstance(node, Made):
        return node.items
    if isinstance(node, Fold):
        return (node.over, node.start, node.condition, node.step, node.result)
    return ()


def nodes(root: Node) -> Iterator[Node]:
    """A node and all below it."""
    yield root
    for child in children(root):
        yield from nodes(child)


def lists_items(fold: Fold) -> bool:
    """Whether a comprehension makes a list, as `map` and `filter` do."""
    return isinstance(fold.start, Made) and fold.start.is_list


def _scoped(node: Node, bound: frozenset[str]) -> Iterator[tuple[Node, frozenset[str]]]:
    """Every node with the names that are bound around it."""
    yield node, bound
    for child, names in _below(node, bound):
        yield from _scoped(child, names)


def _below(node: Node, bound: frozenset[str]) -> Sequence[tuple[Node, frozenset[str]]]:
    """The nodes right below one, each with the names that are bound around it."""
    if not isinstance(node, Fold):
        return [(child, bound) for child in children(node)]
    result = bound | {node.accumulator}
    loop = result | {node.first, node.second}
    return [
        (node.over, bound),
        (node.start, bound),
        (node.condition, loop),
        (node.step, loop),
        (node.result, result),
    ]


def _asked(node: Node, bound: frozenset[str]) -> Iterator[tuple[str, str | None]]:
    """The free names, each with the field that is taken from it, or None where it is used whole."""
    of, field = node, None
    while isinstance(of, Select):
        of, field = of.operand, of.field
    if not isinstance(of, Name):
        for child, names in _below(of, bound):
            yield from _asked(child, names)
    elif of.name not in bound:
        yield of.name, field


def _is_portable(call: Call, types: dict[int, Type]) -> bool:
    if call.function in _CONVERSIONS:
        return types.get(call.args[0].id, DYN).name == "int"
    return call.function in _STANDARD


def _chosen(call: Call, types: dict[int, Type]) -> Iterator[str]:
    if call.function == "format":
        yield ANY_FIELD  # it prints whole maps
    if call.function in ("_[_]", "_[?_]", "@in"):
        key = call.args[0 if call.function == "@in" else 1]
        if not isinstance(key, Const) and types.get(key.id, DYN).name in ("", "string"):
            yield ANY_FIELD


def _refused(node: Node, types: dict[int, Type], *, sorted_later: bool) -> str | None:
    if isinstance(node, Call):
        if node.function == "matches":
            return "there is no `matches` here: patterns differ between runtimes"
        if node.function == "size" and types.get(node.args[0].id, DYN).name == "string":
            return "there is no `size` of a text here: runtimes count different units"
    if isinstance(node, Fold) and not sorted_later and _lists_a_map(node, types):
        return "a list made from a map has no order: sort it, or go through a list"
    below = isinstance(node, Call) and node.function in _ORDERLESS
    for child in children(node):
        found = _refused(child, types, sorted_later=below)
        if found is not None:
            return found
    return None


def _lists_a_map(fold: Fold, types: dict[int, Type]) -> bool:
    return lists_items(fold) and types.get(fold.over.id, DYN).name == "map"


def _type_names(kind: Type) -> Iterator[str]:
    yield kind.name
    for parameter in kind.parameters:
        yield from _type_names(parameter)

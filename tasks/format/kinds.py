"""What a value must be and what is there instead, in an author's words.

    complaint(raw, type)  →  ("expected a whole number, got text `owed`", "begin with `=` …") or None

msgspec decides; its words (`int`, `$.a[0]`, `Invalid enum value`) are told anew.

Not here: which fields there are (`file`, `acts`, `scene`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from ...scorers.lets import near

_MAX_SHOWN: Final = 60
_KINDS: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number with a point",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}
_BOUND: Final = re.compile(r"Expected `(\w+)` (of length )?([<>]=?) (-?\d+)")
_BOUNDS: Final = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
_PATH: Final = re.compile(r" - at `(?:key in )?\$?([^`]*)`")


class Complaint(NamedTuple):
    """What is wrong with a value: where below it (`.lines[0].quantity`), how, and what to try."""

    below: str
    problem: str
    hint: str | None


def complaint(raw: object, kind: Any) -> Complaint | None:  # noqa: ANN401 - a type, as msgspec takes it
    """What is wrong with a value as one of a type, or None."""
    try:
        msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        return told(str(error), raw, kind)
    return None


def told(
    said: str,
    raw: object,
    kind: Any,  # noqa: ANN401 - as `complaint`
    *,
    worked_out: bool = True,
) -> Complaint:
    """What msgspec said of a value; ``worked_out``: an expression may stand there."""
    found = _PATH.search(said)
    below = found[1] if found else ""
    value = _at(raw, below)
    head = said.partition(" - at `")[0]
    if head.startswith("Object missing required field"):
        name = head.split("`")[1]
        return Complaint(below, f"the field `{name}` is missing", f"write `{name} = …`")
    if head.startswith("Object contains unknown field"):
        name = head.split("`")[1]
        fields = list(_fields(msgspec.inspect.type_info(kind), below))
        hint = near(name, fields, f"its fields are {', '.join(fields)}") if fields else "leave it out"
        return Complaint(below, f"there is no field `{name}`", hint)
    if head.startswith("Invalid enum value"):
        choices = list(_choices(msgspec.inspect.type_info(kind), below))
        others = f"it is one of {', '.join(choices)}" if choices else "choose another"
        hint = near(str(value), choices, others)
        return Complaint(below, f"`{value}` is none of its values", hint)
    problem = f"expected {_wanted(head)}, got {shown(value)}"
    return Complaint(below, problem, _hint(head, value, worked_out=worked_out))


def shown(value: object) -> str:
    """A value as a message quotes it."""
    if isinstance(value, str):
        text = value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}…"
        return f"text `{text}`" if value else "an empty text"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int):
        return f"the number `{value}`"
    if value is None:
        return "nothing"
    return "a list" if isinstance(value, list) else "a table"


def _wanted(head: str) -> str:
    bound = _BOUND.match(head)
    if bound is not None:
        what, many, sign, number = bound.groups()
        if many:
            unit = "characters" if what == "str" else "elements"
            return f"{_KINDS.get(what, what)} of {_BOUNDS[sign]} {number} {unit}"
        return f"{_KINDS.get(what, what)} of {_BOUNDS[sign]} {number}"
    names = re.match(r"Expected `([^`]*)`", head)
    if names is None:
        return head.removeprefix("Expected ")
    kinds = [_KINDS.get(name.strip(), name.strip()) for name in names[1].split("|")]
    kinds = [each for each in kinds if each != "nothing"] or kinds
    return " or ".join(kinds) + (" of another form" if "matching regex" in head else "")


def _hint(head: str, value: object, *, worked_out: bool) -> str:
    if "of length" in head or "matching regex" in head:
        return "change its length" if "of length" in head else "ids are of letters, digits, `.`, `_` and `-`"
    if _BOUND.match(head):
        return "write a number in that range"
    if "`array" in head or "`object" in head:
        return "write it in brackets: `[…]`" if "`array" in head else "write a table: `{ name = … }`"
    if isinstance(value, str) and "`int" in head and re.fullmatch(r"-?\d[\d_]*", value):
        return f"write it without quotes: `{value}`"
    if "`str" in head and isinstance(value, int):
        return f'write it as text: `"{str(value).lower() if isinstance(value, bool) else value}"`'
    return "begin with `=` where it is an expression" if worked_out else "write it so"


def _at(raw: object, below: str) -> object:
    """The value at a path such as `.a[0].b`; the nearest above it where the path can't be followed."""
    found: Any = raw
    for name, index in re.findall(r"\.([^.\[]+)|\[(\d+)\]", below):
        try:
            found = found[name] if name else found[int(index)]
        except (LookupError, TypeError):
            break
    return found


def _choices(kind: msgspec.inspect.Type, below: str) -> Iterator[str]:
    """The texts that a type admits at a path below it, where they are listed."""
    for each in _types(kind, below):
        if isinstance(each, msgspec.inspect.LiteralType):
            yield from (str(value) for value in each.values)


def _fields(kind: msgspec.inspect.Type, below: str) -> Iterator[str]:
    """The names of the fields that a table has at a path below a type."""
    for each in _types(kind, below):
        if isinstance(each, msgspec.inspect.StructType):
            yield from (field.encode_name for field in each.fields)


def _types(kind: msgspec.inspect.Type, below: str) -> Iterator[msgspec.inspect.Type]:
    """The types that a value may have at a path below a type."""
    if isinstance(kind, msgspec.inspect.Metadata):
        yield from _types(kind.type, below)
    elif isinstance(kind, msgspec.inspect.UnionType):
        for each in kind.types:
            yield from _types(each, below)
    elif not below:
        yield kind
    elif isinstance(kind, (msgspec.inspect.ListType, msgspec.inspect.VarTupleType)):
        yield from _types(kind.item_type, re.sub(r"^\[[^\]]*\]", "", below))
    elif isinstance(kind, msgspec.inspect.StructType):
        found = re.match(r"\.([^.\[]+)", below)
        for field in kind.fields:
            if found is not None and field.encode_name == found[1]:
                yield from _types(field.type, below[found.end() :])

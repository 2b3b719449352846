"""The task file as it is written: sections, their fields, and where one is wrong.

    TOML text ──read──► TaskFile      form alone: no expression is looked at

A field that isn't one, a value of another type, a section without its entries:
each error says the place (`mutation.stops_early.loses`), what is there and what
to write. msgspec calls every key of a table `[...]`, so each entry is converted
on its own, under its own name.

Not here: what expressions mean (`task`), what a case is made of (`scene`).

Source: the task format, "Sections".
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeVar, cast

import msgspec

from ...protocol.canonical import MAX_INTEGER
from ...protocol.errors import TaskError
from ...scorers.lets import near
from ...scorers.predicates import Cap, Predicate

S = TypeVar("S", bound=msgspec.Struct)

MAX_FILE_BYTES: Final = 64 * 1024
MAX_CASES: Final = 50
MAX_TURNS: Final = 200
MAX_LIST: Final = 1_000
"""The most elements that an `each` may go through."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_TASK_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}")
_WRONG = re.compile(r"^Expected `([^`]*)`, got `([^`]*)`(?: - at `\$([^`]*)`)?")
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")

Points = Annotated[int, msgspec.Meta(ge=0, le=1_000)]
Act = dict[str, Any]
"""An act as an author writes it: kind, fields, `to`; in a list of acts also `when`."""


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class PartyEntry(_Section, frozen=True):
    """A party to be: its role, by default its own name, and what it alone is told."""

    role: str | None = None
    mandate: dict[str, Any] = {}


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
    turns: Annotated[int, msgspec.Meta(ge=1, le=MAX_TURNS)] = 40
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


class _Top(TaskFile, frozen=True):
    """The same with its entries yet to be converted."""

    party: dict[str, dict[str, Any]]  # pyright: ignore[reportIncompatibleVariableOverride]
    predicate: dict[str, dict[str, Any]]  # pyright: ignore[reportIncompatibleVariableOverride]
    reference: dict[str, Any]  # pyright: ignore[reportIncompatibleVariableOverride]
    script: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
    cap: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
    alternative: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
    mutation: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]
    cheat: dict[str, dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]


_ENTRIES: Final[Mapping[str, type[msgspec.Struct]]] = {
    "party": PartyEntry,
    "predicate": Predicate,
    "script": ScriptEntry,
    "cap": Cap,
    "alternative": PolicyEntry,
    "mutation": MutationEntry,
    "cheat": CheatEntry,
}
_LISTS: Final[Mapping[str, type[msgspec.Struct]]] = {"step": Step, "rule": Rule}
_KINDS: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number with a point",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}


def read(text: str) -> TaskFile:
    """The file of a task's text.

    Raises:
        TaskError: `task.size`, `task.toml`, `task.field`, `task.type`, `task.name`, `task.limit`.
    """
    size = len(text.encode(errors="surrogatepass"))
    if size > MAX_FILE_BYTES:
        problem = f"a task file of {size} bytes is over the limit of {MAX_FILE_BYTES}"
        raise TaskError("task.size", "", problem, "make start rows with `each`, or split the task")
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TaskError("task.toml", "", f"not TOML: {_sentence(str(error))}", _toml_hint(text)) from None
    _check_values(document, "", 0)
    top = _convert(document, _Top, "")
    sections: dict[str, Any] = {name: getattr(top, name) for name in top.__struct_fields__}
    for section, kind in _ENTRIES.items():
        sections[section] = {
            name: _entry(entry, kind, f"{section}.{name}") for name, entry in sections[section].items()
        }
    sections["reference"] = _entry(top.reference, PolicyEntry, "reference")
    file = TaskFile(**sections)
    _check_names(file)
    return file


def _entry(value: Mapping[str, Any], kind: type[S], place: str) -> S:
    entry = dict(value)
    for name, each in _LISTS.items():
        items = entry.get(name)
        if name in kind.__struct_fields__ and isinstance(items, list):
            listed = enumerate(cast("list[object]", items))
            entry[name] = [_convert(item, each, f"{place}.{name}[{at}]") for at, item in listed]
    return _convert(entry, kind, place)


def _convert(value: object, kind: type[S], place: str) -> S:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _wrong(str(error), kind, place) from None


def _wrong(said: str, kind: type[msgspec.Struct], place: str) -> TaskError:
    """An error of msgspec's in an author's words."""
    known = kind.__struct_encode_fields__
    unknown = _UNKNOWN.search(said)
    if unknown:
        hint = near(unknown[1], known, f"its fields are {', '.join(known)}")
        return TaskError("task.field", place, f"there is no field `{unknown[1]}`", hint)
    missing = re.search(r"missing required field `([^`]*)`", said)
    if missing:
        hint = f"write `{missing[1]} = …`"
        return TaskError("task.field", place, f"the field `{missing[1]}` is missing", hint)
    wrong = _WRONG.match(said)
    if wrong:
        where = (wrong[3] or "").lstrip(".")
        at = ".".join(part for part in (place, where) if part)
        return TaskError("task.type", at, f"expected {_kinds(wrong[1])}, got {_kinds(wrong[2])}")
    problem, _, where = said.partition(" - at `$")
    at = ".".join(part for part in (place, where.strip("`.")) if part)
    return TaskError("task.type", at, _sentence(problem))


def _kinds(names: str) -> str:
    return " or ".join(_KINDS.get(name.strip(), name.strip()) for name in names.split("|"))


def _check_values(value: object, place: str, depth: int) -> None:
    """Refuses what no place of a task file can hold: decimals, dates, integers beyond ±(2^53 − 1)."""
    if depth > 12:
        raise TaskError("task.limit", place, "tables within tables within tables, over 12 deep")
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            _check_values(item, f"{place}.{key}" if place else key, depth + 1)
    elif isinstance(value, list):
        for at, item in enumerate(cast("list[object]", value)):
            _check_values(item, f"{place}[{at}]", depth + 1)
    elif isinstance(value, float):
        hint = "write money in minor units: 130.00 is 13_000"
        raise TaskError("task.type", place, f"`{value}` has a point, and there are only whole numbers here", hint)
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_INTEGER:
        raise TaskError("task.limit", place, f"`{value}` is beyond ±(2^53 − 1)", "write a smaller number")
    elif not isinstance(value, (str, int)):
        hint = "write it as text, or as a tick"
        raise TaskError("task.type", place, f"`{value}` is a date or time, which no place takes", hint)


def _check_names(file: TaskFile) -> None:
    if _TASK_ID.fullmatch(file.id) is None:
        hint = "use a to z, 0 to 9, `.`, `_` and `-`, as in `t4.buyer_zopa`"
        raise TaskError("task.name", "id", f"`{file.id}` can't name a task", hint)
    for section in ("case", "party", "script", "oracle", "let", "predicate", "cap", *_POLICIES):
        for name in cast("Mapping[str, object]", getattr(file, section)):
            if _NAME.fullmatch(name) is None:
                hint = "use a to z, 0 to 9 and `_`, a letter first"
                raise TaskError("task.name", f"{section}.{name}", f"`{name}` can't be a name here", hint)
    if not file.case:
        hint = "write one: `[case]` and `name = { … }`"
        raise TaskError("task.limit", "case", "the task has no case", hint)
    if len(file.case) > MAX_CASES:
        problem = f"{len(file.case)} cases are over the limit of {MAX_CASES}"
        raise TaskError("task.limit", "case", problem, "split the task")


_POLICIES: Final = ("alternative", "mutation", "cheat")


def _toml_hint(text: str) -> str | None:
    """What to try where a file isn't TOML, for the mistakes that are made most."""
    if re.search(r"^\s*[\w.]+\s*=\s*\{[^}\n]*$", text, re.MULTILINE):
        return "an inline table `{ … }` can't be broken over lines: use `[section.name]`"
    return "see https://toml.io for the form"


def _sentence(text: str) -> str:
    line = " ".join(text.split()).removesuffix(".")
    return line[:1].lower() + line[1:]

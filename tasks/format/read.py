"""A task's text becomes its file, and where its form is wrong each fault has a place.

    TOML text ──read──► TaskFile or faults      form alone: no expression is looked at

A field that isn't one, a value of another type, a section without its entries:
each fault says the place (`mutation.stops_early.loses`), what is there and what
to write. msgspec calls every key of a table `[...]`, so each entry is converted
on its own, under its own name.

Not here: what expressions mean (`task`), what a case is made of (`scene`).

Source: the task format, "Sections"; TOML 1.0.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast

import msgspec

from ...protocol.canonical import MAX_INTEGER
from ...protocol.errors import TaskError
from ...scorers.lets import near
from ...scorers.predicates import Cap, Predicate
from .faults import Faults
from .file import (
    MAX_CASES,
    MAX_DEPTH,
    MAX_FILE_BYTES,
    CheatEntry,
    Label,
    MutationEntry,
    PartyEntry,
    PolicyEntry,
    RenderingEntry,
    Rule,
    ScriptEntry,
    Step,
    TaskFile,
    WrittenFile,
)
from .kinds import complaint, told
from .rendering import ALL

S = TypeVar("S", bound=msgspec.Struct)

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_RENDERING = re.compile(r"[a-z][a-z0-9_]{0,62}")  # with a case's name and `@` it is an id of 128 signs
_TASK_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}")


_ENTRIES: Final[Mapping[str, type[msgspec.Struct]]] = {
    "party": PartyEntry,
    "predicate": Predicate,
    "script": ScriptEntry,
    "cap": Cap,
    "alternative": PolicyEntry,
    "mutation": MutationEntry,
    "cheat": CheatEntry,
    "rendering": RenderingEntry,
}
_OF_CASES: Final = {"id": "the case's own name", "rendering": "the name of its rendering"}
_LISTS: Final[Mapping[str, type[msgspec.Struct]]] = {"step": Step, "rule": Rule}
_POLICIES: Final = ("alternative", "mutation", "cheat")


def read(text: str) -> TaskFile:
    """The file of a task's text.

    Raises:
        TaskError: `task.size`, `task.toml`, `task.field`, `task.type`, `task.name`, `task.limit`.
    """
    faults = Faults()
    file = read_all(text, faults)
    if file is None:
        raise faults.located(text)[0]
    return file


def read_all(text: str, faults: Faults) -> TaskFile | None:
    """As `read`, but every fault is noted, and the file is None where there is one."""
    document = _document(text, faults)
    if document is None:
        return None
    _check_values(document, "", 0, faults)
    if faults.found:
        return None
    top = _convert(document, WrittenFile, "", faults)
    if top is None:
        return None
    sections: dict[str, Any] = {name: getattr(top, name) for name in top.__struct_fields__}
    for section, kind in _ENTRIES.items():
        sections[section] = {
            name: _entry(entry, kind, f"{section}.{name}", faults)
            for name, entry in sections[section].items()
        }
    sections["reference"] = _entry(top.reference, PolicyEntry, "reference", faults)
    if faults.found:
        return None
    file = TaskFile(**sections)
    _check_names(file, faults)
    return None if faults.found else file


def _document(text: str, faults: Faults) -> dict[str, Any] | None:
    size = len(text.encode(errors="surrogatepass"))
    if size > MAX_FILE_BYTES:
        problem = f"a task file of {size} bytes is over the limit of {MAX_FILE_BYTES}"
        faults.note("task.size", "", problem, "make start rows with `each`, or split the task")
        return None
    if not text.strip():
        hint = "`tollbook task new` writes one to begin with"
        faults.note("task.toml", "", "the file is empty", hint)
        return None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        faults.add(_unread(str(error), text))
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
        faults.note("task.toml", "", f"not TOML: {_sentence(str(error))}", "write it simpler")
    return None


def _unread(said: str, text: str) -> TaskError:
    """What the TOML reader says, at its line."""
    found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", said)
    line = int(found[1]) if found and found[1] else text.count("\n", 0, len(text.rstrip())) + 1
    at = text.split("\n")[line - 1]
    problem, hint = _told(said if found is None else said[: found.start()], at)
    fault = TaskError("task.toml", "", f"not TOML: {problem}", hint)
    fault.line = line
    return fault


def _told(said: str, line: str) -> tuple[str, str]:
    """A complaint of the TOML reader's about a line, and what to try, for the mistakes that are made most."""
    if re.search(r"=\s*\{[^}]*$", line):
        hint = "an inline table `{ … }` stands on one line: use a `[section.name]` of its own for more"
        return "an inline table isn't closed on its line", hint
    if re.match(r"Cannot (overwrite|declare|mutate)|Duplicate", said):
        return "the same name stands here twice", "rename one, or join them"
    if said.startswith("Illegal character '\\n'"):
        return "a text isn't closed on its line", 'close it with `"`; texts of more lines stand in `"""`'
    if said.startswith("Invalid value") and re.search(r"=\s*[A-Za-z_=]", line):
        return "there is no such value", 'a text stands in quotes: `name = "…"`'
    return _sentence(said), "see toml.io for how tables, lists and texts are written"


def _entry(value: Mapping[str, Any], kind: type[S], place: str, faults: Faults) -> S | None:
    entry: dict[str, Any] = dict(value)
    for name, each in _LISTS.items():
        items: object = entry.get(name)
        if name in kind.__struct_fields__ and isinstance(items, list):
            listed = enumerate(cast("list[object]", items))
            made = [_convert(item, each, f"{place}.{name}[{at}]", faults) for at, item in listed]
            if None in made:
                return None
            entry[name] = made
    if kind is RenderingEntry and not _are_texts(entry, place, faults):
        return None
    return _convert(entry, kind, place, faults)


def _are_texts(entry: Mapping[str, Any], place: str, faults: Faults) -> bool:
    """Whether the labels and descriptions of a rendering are texts; of others that is noted."""
    before = len(faults.found)
    for name, kind in (("labels", Label), ("tools", str)):
        fields: object = entry.get(name)
        if not isinstance(fields, dict):
            continue
        for key, text in cast("dict[str, object]", fields).items():
            found = complaint(text, kind)
            if found is not None:
                quoted = f'a kind of act stands in quotes here: `"{key}.…" = "…"`'
                hint = quoted if name == "tools" and isinstance(text, dict) else 'write a text: `"…"`'
                faults.note("task.type", f"{place}.{name}.{key}", found.problem, hint)
    return len(faults.found) == before


def _convert(value: object, kind: type[S], place: str, faults: Faults) -> S | None:
    """The entry of a kind; every field that there isn't, and that is missing, is noted."""
    before = len(faults.found)
    if isinstance(value, dict):
        _check_fields(cast("dict[str, object]", value), kind, place, faults)
        if len(faults.found) > before:
            return None
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        below, problem, hint = told(str(error), cast("object", value), kind, worked_out=False)
        faults.note("task.type", (place + below).lstrip("."), problem, hint)
    return None


def _check_fields(
    value: Mapping[str, object], kind: type[msgspec.Struct], place: str, faults: Faults
) -> None:
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    what = "field" if place else "section or field"
    if "do" in fields and "do" not in value and "kind" in value:
        hint = "write `do = { kind = …, … }`"
        faults.note("task.field", place, "an act stands where a step or rule does", hint)
        return
    missing = [name for name, field in fields.items() if field.required and name not in value]
    for name in value:
        if name not in fields:
            hint = near(name, fields, f"there are {', '.join(fields)}")
            # What is only misspelt isn't missing too.
            missing = [each for each in missing if hint != f"did you mean `{each}`?"]
            at = f"{place}.{name}" if place else name
            faults.note("task.field", at, f"there is no {what} `{name}`", hint)
    for name in missing:
        is_table = name in _TABLES and not place
        hint = f"write `[{name}]` and what belongs to it" if is_table else f"write `{name} = …`"
        faults.note("task.field", place, f"the {what} `{name}` is missing", hint)


_TABLES: Final = ("case", "party", "predicate", "reference")


def _check_values(value: object, place: str, depth: int, faults: Faults) -> None:
    """Notes what no place of a task file can hold: decimals, dates, integers beyond ±(2^53 − 1)."""
    if depth > MAX_DEPTH:
        faults.note("task.limit", place, f"tables within tables, over {MAX_DEPTH} deep", "write it flatter")
    elif isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            _check_values(item, f"{place}.{key}" if place else key, depth + 1, faults)
    elif isinstance(value, list):
        for at, item in enumerate(cast("list[object]", value)):
            _check_values(item, f"{place}[{at}]", depth + 1, faults)
    elif isinstance(value, float):
        hint = "write money in minor units: 130.00 is 13_000"
        faults.note("task.type", place, f"`{value}` has a point, and there are only whole numbers here", hint)
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_INTEGER:
        faults.note("task.limit", place, f"{_few(value)} is beyond ±(2^53 − 1)", "write a smaller number")
    elif not isinstance(value, (str, int)):
        hint = "write it as text, or as a tick"
        faults.note("task.type", place, f"`{value}` is a date or time, which no place takes", hint)


def _few(value: int) -> str:
    """A number as a message quotes it: Python prints none of thousands of digits."""
    return f"`{value}`" if abs(value) < 10**24 else "a number of many digits"


def _check_names(file: TaskFile, faults: Faults) -> None:
    if _TASK_ID.fullmatch(file.id) is None:
        hint = "use a to z, 0 to 9, `.`, `_` and `-`, as in `t4.buyer_zopa`"
        faults.note("task.name", "id", f"`{file.id}` can't name a task", hint)
    for section in ("case", "party", "script", "oracle", "let", "predicate", "cap", *_POLICIES, "rendering"):
        for name in cast("Mapping[str, object]", getattr(file, section)):
            if (_RENDERING if section == "rendering" else _NAME).fullmatch(name) is None:
                hint = "use a to z, 0 to 9 and `_`, a letter first"
                faults.note("task.name", f"{section}.{name}", f"`{name}` can't be a name here", hint)
    _check_cases(file, faults)


def _check_cases(file: TaskFile, faults: Faults) -> None:
    if not file.case:
        faults.note("task.limit", "case", "the task has no case", "write one: `[case]` and `name = { … }`")
    if len(file.case) > MAX_CASES:
        problem = f"{len(file.case)} cases are over the limit of {MAX_CASES}"
        faults.note("task.limit", "case", problem, "split the task")
    parameters = {"defaults": file.defaults, **{f"case.{name}": each for name, each in file.case.items()}}
    for place, values in parameters.items():
        for name, what in _OF_CASES.items():
            if name in values:
                problem = f"`{name}` is always {what}"
                faults.note("task.name", f"{place}.{name}", problem, "rename the parameter")
    if ALL in file.rendering:
        hint = "give it a name of its own"
        faults.note("task.name", f"rendering.{ALL}", f"`{ALL}` stands for every rendering", hint)


def _sentence(text: str) -> str:
    line = " ".join(text.split()).removesuffix(".")
    return line[:1].lower() + line[1:]

"""The text of docs/COMMERCE.md: what the market has for authors of tasks, from its types and docstrings.

    Subject = rows + rules + events + machines   ─►   one section: its idea, states, acts, rows, events
    all subjects                                 ─►   the catalogue of refusals, in the order of checks

An act's description is what an agent reads of it as a tool. Wide things are lists: a table has short cells.

Not here: how a task is written (docs/TASKS.md).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from inspect import cleandoc
from types import ModuleType
from typing import Any

import msgspec

from tollbook.protocol.commerce import completion
from tollbook.protocol.commerce.coherence import INHERITED
from tollbook.protocol.commerce.world import SUBJECTS
from tollbook.protocol.joined import Machine, Rule, Subject
from tollbook.protocol.world import kind_of, made_fields

INTRO = """\
What a task of `world = "commerce"` can use: acts, start rows, events and refusals. How a task is written is
in [TASKS.md](TASKS.md).

- **An act** is `{ kind = "noun.verb", …fields, to = "party" }`; without `to` it goes to the party it answers,
  else to the only other one. A query goes to nobody, changes nothing and shows rows.
- **An amount** is a whole number of minor units (cents), **basis points** are hundredths of a percent, a
  **tick** is the market's time; **free text** is words, whose numbers are an act's `figures`.
- **An event** is what an accepted act comes to; the keys of rows that it makes are in bold.
- **A row** is shown in full to who asked for it or whose act made or changed it, and is then among that
  party's `known`. Who only heard of an act sees the act with the keys that it made (`message.agreement`), not
  the rows.
- A party can't learn that rows of others exist: a foreign row is refused as an unknown one is."""

FIRST = {
    "message.to": "there is no such party, or it is the sender",
    "message.reply_to": "what is answered never reached the sender",
    "action.unknown": "the market has no such kind of act",
    "action.invalid": "the fields are not those of the kind",
    "party.role": "the sender's role may not do this",
}
"""What every market refuses before its own rules are asked, in order."""

COMPLETED = """\
A column with a default may be left out, and so may one that follows from others: whatever a row can take from
the one that it names, and what the equations below give. Rows that don't agree are an error of the file, by
table and key."""

REFUSED = """\
A refused act changes nothing and is recorded; it is among `refused`, and its `rule` says why. The first that
applies is given, in this order; `invariant.…` would be a defect of the market."""


def market_page(made: str) -> str:
    """The page; ``made`` is the line that says where it comes from."""
    lines = ["# The market `commerce`", "", made, "", *INTRO.splitlines(), "", *_contents(), ""]
    lines += ["## Start rows", "", *COMPLETED.splitlines(), "", *_drawing(completion.__doc__), ""]
    lines += ["| a row of | takes from its | these columns |", "| --- | --- | --- |"]
    lines += [f"| `{row}` | `{of}` | {_names(names)} |" for row, of, names in INHERITED]
    lines.append("")
    for subject in SUBJECTS:
        lines += _section(subject)
    lines += ["## Refusals", "", *REFUSED.splitlines(), ""]
    lines += ["| rule | meaning |", "| --- | --- |"]
    lines += [f"| `{rule}` | {meaning} |" for rule, meaning in FIRST.items()]
    for subject in SUBJECTS:
        lines += [f"| `{rule}` | {meaning} |" for rule, meaning in subject.refusals.items()]
    return "\n".join([*lines, ""])


def _contents() -> Iterator[str]:
    """A line for each subject, with its acts."""
    rules = [rule for subject in SUBJECTS for rule in subject.rules]
    queries = sum(rule.is_query for rule in rules)
    yield f"There are {len(rules) - queries} acts and {queries} queries (in italics), by subject:"
    yield ""
    for subject in SUBJECTS:
        title = _title(subject)
        kinds = ", ".join(_linked(rule) for rule in subject.rules)
        yield f"- [{title}](#{title.lower().replace(' ', '-')})" + (f": {kinds}" if kinds else "")


def _linked(rule: Rule) -> str:
    kind = kind_of(rule.action)
    link = f"[`{kind}`](#{kind.replace('.', '')})"
    return f"*{link}*" if rule.is_query else link


def _module(subject: Subject) -> ModuleType:
    """The module of a subject that has rules, rows or events, as each has."""
    first = next((rule.action for rule in subject.rules), None) or next(iter(subject.rows.values()))
    return sys.modules[first.__module__]


def _title(subject: Subject) -> str:
    return _module(subject).__name__.rpartition(".")[2].replace("_", " ").capitalize()


def _section(subject: Subject) -> list[str]:
    lines = [f"## {_title(subject)}", "", *_prose(_module(subject).__doc__), ""]
    for table, machine in subject.machines.items():
        lines += _diagram(table, machine)
    for rule in subject.rules:
        lines += _act(rule)
    for table, row in subject.rows.items():
        lines += [f"### Rows of `{table}`", "", *_prose(row.__doc__), ""]
        lines += ["| column | holds | default |", "| --- | --- | --- |"]
        lines += [f"| `{name}` | {what} | {default} |" for name, what, default in _columns(row)]
        lines += ["", *_inside(row)]
    if subject.events:
        lines += [f"### Events of {_title(subject).lower()}", ""]
        lines += [_event(event) for event in subject.events]
        lines.append("")
    return lines


def _diagram(table: str, machine: Machine) -> list[str]:
    """A state machine as a drawing that pages show."""
    steps = [(before, after) for before, found in machine.steps.items() for after in sorted(found)]
    last = dict.fromkeys(after for _before, after in steps if after not in machine.steps)
    return [
        f"The states of `{table}`:", "", "```mermaid", "stateDiagram-v2",
        *(f"    [*] --> {state}" for state in sorted(machine.first)),
        *(f"    {before} --> {after}" for before, after in steps),
        *(f"    {state} --> [*]" for state in last),
        "```", "",
    ]  # fmt: skip


def _act(rule: Rule) -> list[str]:
    """An act: what it does, by whom and to whom, its fields, its refusals in their order."""
    by = "everybody" if rule.roles is None else ", ".join(sorted(rule.roles))
    way = f"*{_way(rule)}, by: {by}.*"
    lines = [f"### {kind_of(rule.action)}", "", *_prose(rule.action.__doc__), "", way, ""]
    fields = list(_columns(rule.action))
    lines += [f"- `{name}`: {what}{default and f' (else {default})'}" for name, what, default in fields]
    lines += _inside(rule.action) or ([""] if fields else [])
    return [*lines, f"Refused, in this order: {_names(rule.checks) or 'never'}.", ""]


def _way(rule: Rule) -> str:
    if rule.is_query:
        return "A query"
    if rule.is_unaddressed:
        return "An act sent to nobody"
    is_directed = any(check.endswith(".addressee") for check in rule.checks)
    return "An act" if is_directed else "An act sent to any other party, or to nobody"


def _inside(struct: type[msgspec.Struct]) -> list[str]:
    """What the structs within a struct's fields hold."""
    lines: list[str] = []
    for kind in _structs(struct):
        columns = _columns(kind)
        fields = (f"`{name}` {what}{default and f' (else {default})'}" for name, what, default in columns)
        lines += [f"- *{kind.__name__}*: {_line(kind)} Fields: {', '.join(fields)}."]
    return [*lines, ""] if lines else []


def _structs(struct: type[msgspec.Struct]) -> dict[type[msgspec.Struct], None]:
    """The structs within a struct, outer ones first."""
    found: dict[type[msgspec.Struct], None] = {}
    info = msgspec.inspect.type_info(struct)
    assert isinstance(info, msgspec.inspect.StructType)
    for field in info.fields:
        _find(field.type, found)
    return found


def _find(kind: msgspec.inspect.Type, found: dict[type[msgspec.Struct], None]) -> None:
    match kind:
        case msgspec.inspect.Metadata():
            _find(kind.type, found)
        case msgspec.inspect.UnionType():
            for each in kind.types:
                _find(each, found)
        case msgspec.inspect.VarTupleType() | msgspec.inspect.ListType():
            _find(kind.item_type, found)
        case msgspec.inspect.StructType() if kind.cls not in found:
            found[kind.cls] = None
            found.update(dict.fromkeys(_structs(kind.cls)))
        case _:
            pass


def _event(event: type[msgspec.Struct]) -> str:
    made = made_fields(event)
    names = event.__struct_encode_fields__
    fields = ", ".join(f"**`{name}`**" if name in made else f"`{name}`" for name in names)
    return f"- `{kind_of(event)}`: {_line(event)} {f'({fields})' if fields else ''}".rstrip()


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _columns(struct: type[msgspec.Struct]) -> Iterator[tuple[str, str, str]]:
    """Each field: its name, what it holds, and what stands there when it is left out."""
    info = msgspec.inspect.type_info(struct)
    assert isinstance(info, msgspec.inspect.StructType)
    for field in info.fields:
        yield field.encode_name, words_of(field.type), "" if field.required else _default(field)


def _default(field: msgspec.inspect.Field) -> str:
    value: object = field.default
    if value is msgspec.NODEFAULT:
        value = field.default_factory() if callable(field.default_factory) else None
    if isinstance(value, msgspec.Struct):
        return "nothing"
    return f"`{msgspec.json.encode(value).decode()}`"


def words_of(kind: msgspec.inspect.Type) -> str:  # noqa: PLR0911 - one kind of type, one line
    """What a field of this type holds, in an author's words."""
    match kind:
        case msgspec.inspect.Metadata():
            return _marked(kind, kind.extra or {})
        case msgspec.inspect.UnionType():
            others = [words_of(each) for each in kind.types if not isinstance(each, msgspec.inspect.NoneType)]
            return " or ".join([*others, "null"] if len(others) < len(kind.types) else others)
        case msgspec.inspect.LiteralType():
            return ", ".join(f"`{value}`" for value in kind.values)
        case msgspec.inspect.IntType():
            return _range(kind)
        case msgspec.inspect.StructType():
            return f"*{kind.cls.__name__}*"
        case msgspec.inspect.VarTupleType() | msgspec.inspect.ListType():
            return f"list of {words_of(kind.item_type)}"
        case msgspec.inspect.DictType():
            return f"map from {words_of(kind.key_type)} to {words_of(kind.value_type)}"
        case msgspec.inspect.BoolType():
            return "true or false"
        case _:
            return "name" if getattr(kind, "pattern", None) == NAME else "text"


NAME = "^[!-~]+(?!\\n)$"
"""The pattern of ids and row keys."""


def _marked(kind: msgspec.inspect.Metadata, marks: Mapping[str, Any]) -> str:
    if "row" in marks:
        optional = isinstance(kind.type, msgspec.inspect.UnionType)
        return f"key of `{marks['row']}`" + (" or null" if optional else "")
    unit = {"minor": "amount", "bps": "basis points", "tick": "tick"}.get(marks.get("unit", ""))
    if unit is not None:
        return unit
    return "free text" if "part" in marks else words_of(kind.type)


def _range(kind: msgspec.inspect.IntType) -> str:
    low, high = kind.ge, kind.le
    if low is None or low < 0:
        return "whole number"
    return f"whole number from {low}" if high is None or high > 10**5 else f"whole number, {low} to {high}"


def _line(struct: type[msgspec.Struct]) -> str:
    """A docstring on one line, as Markdown."""
    return " ".join((struct.__doc__ or "").split()).replace("``", "`")


def _prose(doc: str | None) -> list[str]:
    """A module's docstring: sentences as prose, its drawing as code; what it isn't about stays out."""
    lines: list[str] = []
    for paragraph in cleandoc(doc or "").split("\n\n"):
        if paragraph.startswith("    "):
            lines += ["", "```text", *(line[4:] for line in paragraph.splitlines()), "```"]
            continue
        said = re.split(r"(?:Not here|Source):", paragraph)[0].strip()
        if said:
            lines += ["", *said.replace("``", "`").splitlines()]
    return lines[1:]


def _drawing(doc: str | None) -> list[str]:
    """The drawings of a docstring alone."""
    drawn = (each for each in cleandoc(doc or "").split("\n\n") if each.startswith("    "))
    return ["```text", *"\n\n".join(drawn).replace("\n    ", "\n").removeprefix("    ").splitlines(), "```"]

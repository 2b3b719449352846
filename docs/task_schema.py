"""docs/schemas/task.schema.json: what an editor knows of a task file while it is written.

    tasks/format/file.py's types   ─►  sections and fields
    the markets' actions and rows  ─►  `do`, `before`, `on`; for each market its `tools` and [facts]

A value is of its field's type, or text: `=…` is worked out when played. So the schema knows the form of a
file, and `tollbook task lint` its meaning.

Source: JSON Schema 2020-12; Even Better TOML and taplo read it by a first line `#:schema PATH`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tollbook.protocol.world import World, latest, part_fields, world_of
from tollbook.tasks.format.file import MAX_CASES, TaskFile

Json = dict[str, Any]

ID = r"^[a-z0-9][a-z0-9._-]{0,127}$"
NAME = r"^[a-z][a-z0-9_]{0,63}$"
EXPRESSION = "^[^=]"
EXPRESSIONS = frozenset({"each", "ends", "expr", "seqs", "when", "while"})
NAMED = (
    *("case", "party", "script", "oracle", "let", "predicate", "cap"),
    *("alternative", "mutation", "cheat", "rendering"),
)
WORLDS = ("auction", "commerce")
"""The markets that tasks are written for."""

ABOUT = {
    "id": "The task's name; a built-in task's file is called <id>.toml.",
    "title": "One line for lists and reports.",
    "world": "The market that it is played on.",
    "actor": "The party that is judged.",
    "factor": "The one parameter that the cases vary.",
    "brief": "What the actor is told: text, with {expressions} over case, facts and mandate.",
    "tools": "The acts that the actor is offered, `noun.*` for all of a noun; all of its role by default.",
    "turns": "How often the actor is asked at most.",
    "ends": "An expression: where it is true after a turn, the run has ended.",
    "case": "The settings that the task is played in, by name.",
    "defaults": "Parameters of every case.",
    "facts": "Start rows: table.key, or with `each` one for every element of a list.",
    "party": "Who plays, and what each alone is told.",
    "script": "What the other parties do: the first rule that holds answers.",
    "oracle": "The right answers, as expressions over the start rows. No agent sees them.",
    "let": "Names for the judge's expressions.",
    "predicate": "What is judged; weights sum to 1,000.",
    "cap": "Flags that limit the score.",
    "reference": "A right way: full credit in every case.",
    "alternative": "Other right ways: full credit too.",
    "mutation": "The reference with one thing changed, and the predicates that lose by it.",
    "cheat": "Ways without merit, that must be worth little on average over the cases.",
    "rendering": "Every case in other words, another order, or on other values, by the same rules.",
}


def schema_text() -> str:
    """The text of docs/schemas/task.schema.json."""
    return json.dumps(task_schema(), indent=2, ensure_ascii=False) + "\n"


def task_schema() -> Json:
    """The schema of task files."""
    _, found = msgspec.json.schema_components([TaskFile], ref_template="#/$defs/{name}")
    defs: dict[str, Json] = {name: _without_null(each) for name, each in found.items()}
    top = defs.pop("TaskFile")
    worlds = {name: world_of(latest(name)) for name in WORLDS}
    for name, text in ABOUT.items():
        top["properties"][name]["description"] = text
    for name in NAMED:
        top["properties"][name]["propertyNames"] = {"pattern": NAME}
    top["properties"]["id"]["pattern"] = ID
    top["properties"]["case"] |= {"minProperties": 1, "maxProperties": MAX_CASES}
    top["properties"]["world"]["enum"] = [*WORLDS]
    for name in ("tools", "facts"):
        top["properties"][name] = {"description": ABOUT[name]}
    kinds = {kind: action for world in worlds.values() for kind, action in world.kinds.items()}
    offered = sorted({kind for world in worlds.values() for kind in _offered(world)})
    _put_acts(defs, kinds)
    _put_renderings(defs["RenderingEntry"]["properties"], offered)
    for each in (top, *defs.values()):
        _put_expressions(each["properties"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tollbook task",
        **{name: value for name, value in top.items() if name != "title"},
        "allOf": [_of_world(name, world) for name, world in worlds.items()],
        "$defs": defs | _acts(kinds),
    }


def _of_world(name: str, world: World) -> Json:
    """What holds of tasks of one market."""
    return {
        "if": {"required": ["world"], "properties": {"world": {"const": name}}},
        "then": {
            "properties": {
                "tools": {"type": "array", "items": _pattern_of(world)},
                "facts": _facts(world),
            }
        },
    }


def _without_null(schema: Any) -> Any:  # noqa: ANN401 - a schema or a part of one
    """The same without nulls, which TOML doesn't have, and without names that say nothing."""
    if isinstance(schema, list):
        return [_without_null(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    named = "type" in schema and "title" in schema
    kept = {name: _without_null(each) for name, each in schema.items() if not (named and name == "title")}
    if kept.get("default", 0) in (None, {}, []):
        del kept["default"]
    options = [each for each in kept.get("anyOf", ()) if each != {"type": "null"}]
    if len(options) == 1:
        return {**options[0], **{name: each for name, each in kept.items() if name != "anyOf"}}
    if "description" in kept:
        kept["description"] = kept["description"].replace("``", "`")
    return {**kept, "anyOf": options} if options else kept


def _put_expressions(fields: Mapping[str, Json]) -> None:
    """Says which fields are expressions: an `=` before one is the commonest slip."""
    for name in EXPRESSIONS & fields.keys():
        fields[name]["pattern"] = EXPRESSION
    for name in ("let", "oracle"):
        if name in fields:
            fields[name]["additionalProperties"]["pattern"] = EXPRESSION


def _put_renderings(fields: Mapping[str, Json], kinds: Sequence[str]) -> None:
    """Says of a rendering which acts there are."""
    fields["order"]["items"] = {"enum": [*kinds]}
    fields["tools"]["propertyNames"] = {"enum": [*kinds]}
    fields["case"]["propertyNames"] = {"pattern": NAME}


def _put_acts(defs: Mapping[str, Json], kinds: Mapping[str, type[msgspec.Struct]]) -> None:
    """Says of `do`, `before`, `set` and `on` what the markets have."""
    one = {"$ref": "#/$defs/act"}
    some = _one_or_some(one)
    for name in ("Step", "Rule", "MutationEntry"):
        defs[name]["properties"]["do"] = some
    defs["MutationEntry"]["properties"]["before"] = one
    fields = {field for action in kinds.values() for field in _fields(action)}
    defs["MutationEntry"]["properties"]["set"]["propertyNames"] = {"enum": sorted({*fields, "to"})}
    for name in ("ScriptEntry", "Rule"):
        defs[name]["properties"]["on"] = _one_or_some({"enum": ["start", *kinds]})


def _one_or_some(one: Json) -> Json:
    """One or a list of them; said so that an error has the place of what is wrong."""
    return {"if": {"type": "array"}, "then": {"items": one, "minItems": 1}, "else": one}


def _acts(kinds: Mapping[str, type[msgspec.Struct]]) -> dict[str, Json]:
    """An act of any kind, and one definition for each."""
    act = {"type": "object", "required": ["kind"], "properties": {"kind": {"enum": list(kinds)}}}
    chosen = [
        {
            "if": {"required": ["kind"], "properties": {"kind": {"const": kind}}},
            "then": {"$ref": f"#/$defs/{kind}"},
        }
        for kind in kinds
    ]
    each = {kind: _act(kind, action) for kind, action in kinds.items()}
    return {"act": {**act, "allOf": chosen}, **each}


def _act(kind: str, action: type[msgspec.Struct]) -> Json:
    fields = _fields(action)
    parts = part_fields(action)
    values = {
        name: {"type": "string"} if name in parts else _value(field.type) for name, field in fields.items()
    }
    when = {**_text("An expression, in a list of acts: the first that holds is sent."), "pattern": EXPRESSION}
    about = {"kind": {"const": kind}, "when": when, "to": _text("The party it is for.")}
    return {
        "description": " ".join((action.__doc__ or "").split()),
        "type": "object",
        "properties": about | values,
        "required": ["kind", *(name for name, field in fields.items() if field.required)],
        "additionalProperties": False,
    }


def _facts(world: World) -> Json:
    about = _text("An expression: a row for every element, with `it` and `i` from 1.")
    each = {"each": {**about, "pattern": EXPRESSION}}
    tables = {
        table: {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": each | {name: _value(field.type) for name, field in _fields(row).items()},
                "additionalProperties": False,
            },
        }
        for table, row in world.tables.items()
    }
    return {"type": "object", "properties": tables, "additionalProperties": False}


def _fields(struct: type[msgspec.Struct]) -> dict[str, msgspec.inspect.Field]:
    info = msgspec.inspect.type_info(struct)
    assert isinstance(info, msgspec.inspect.StructType)
    return {field.encode_name: field for field in info.fields}


def _value(kind: msgspec.inspect.Type) -> Json:
    """A plain value of a type, or text that gives one."""
    options = _options(kind)
    texts = any(option == {"type": "string"} for option in options)
    found = options if texts else [*options, {"type": "string", "pattern": "^=|\\{"}]
    return found[0] if len(found) == 1 else {"anyOf": found}


def _options(kind: msgspec.inspect.Type) -> list[Json]:  # noqa: PLR0911 - one kind of type, one line
    match kind:
        case msgspec.inspect.Metadata():
            return _options(kind.type)
        case msgspec.inspect.UnionType():
            return [option for each in kind.types for option in _options(each)]
        case msgspec.inspect.NoneType():
            return []
        case msgspec.inspect.LiteralType():
            return [{"enum": list(kind.values)}]
        case msgspec.inspect.IntType():
            bounds = {"minimum": kind.ge, "maximum": kind.le}
            return [{"type": "integer", **{name: at for name, at in bounds.items() if at is not None}}]
        case msgspec.inspect.BoolType():
            return [{"type": "boolean"}]
        case msgspec.inspect.VarTupleType() | msgspec.inspect.ListType():
            return [{"type": "array", "items": _value(kind.item_type)}]
        case msgspec.inspect.DictType():
            return [{"type": "object", "additionalProperties": _value(kind.value_type)}]
        case msgspec.inspect.StructType():
            inside = {field.encode_name: _value(field.type) for field in kind.fields}
            return [{"type": "object", "properties": inside, "additionalProperties": False}]
        case _:
            return [{"type": "string"}]


def _text(about: str) -> Json:
    return {"type": "string", "description": about}


def _offered(world: World) -> list[str]:
    return [kind for kind in world.kinds if kind not in world.unoffered]


def _pattern_of(world: World) -> Json:
    """A kind of act that may be offered, or a pattern of some."""
    kinds = _offered(world)
    nouns = list(dict.fromkeys(kind.partition(".")[0] for kind in kinds))
    glob = {"type": "string", "pattern": rf"^(({'|'.join(nouns)})\.[a-z_]*|[a-z_]*)[*?\[]"}
    return {"anyOf": [{"enum": [*kinds, *(f"{noun}.*" for noun in nouns)]}, glob]}

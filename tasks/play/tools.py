"""The tools that an agent is offered: a kind of act each, with the JSON Schema of its fields.

Made from the market's action types, so that what is offered is what is decided: the description is the
type's docstring, and each field says what it is the key of, or its unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from inspect import cleandoc
from typing import Any

import msgspec

from ...protocol.world import World, part_fields
from .agent import Tool

Json = Any


def tools_of(
    world: World, kinds: Sequence[str], descriptions: Mapping[str, str] | None = None
) -> tuple[Tool, ...]:
    """The tools of these kinds, in their order; ``descriptions`` are others than the market's, by kind."""
    tools = (_tool(world.kinds[kind], kind) for kind in kinds)
    others = descriptions or {}
    return tuple(tool._replace(description=others.get(tool.kind, tool.description)) for tool in tools)


@cache
def _tool(action: type[msgspec.Struct], kind: str) -> Tool:
    (schema,), defs = msgspec.json.schema_components([action], ref_template="#/$defs/{name}")
    name = schema["$ref"].rpartition("/")[2] if "$ref" in schema else None
    found: dict[str, Json] = dict(defs.pop(name) if name is not None else schema)
    properties: Mapping[str, Json] = found.get("properties", {})
    shown = {field: value for field, value in properties.items() if field != "kind"}
    for field in part_fields(action):
        shown[field] = {"description": "free text", "type": "string"}
    required = [field for field in found.get("required", []) if field != "kind"]
    parameters: dict[str, Json] = {
        "type": "object",
        "properties": shown,
        "required": required,
        "additionalProperties": False,
    }
    if defs:
        parameters["$defs"] = defs
    return Tool(kind, cleandoc(action.__doc__ or ""), parameters)

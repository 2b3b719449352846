"""A recorded tool call as an action of the shop.

    tool name, arguments ─► tool.<name> {…}, or call.unparsed where nothing fits
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ...protocol.retail.actions import TOOLS, UnparsedCall
from ...protocol.world import kind_of, part_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

_TYPES = {kind_of(tool): tool for tool in TOOLS}
# What a part's field must look like for the typed check; the text takes its place.
_DIGEST = "0" * 64


def action_of(tool: str, arguments: Mapping[str, Any] | None, raw_arguments: str) -> msgspec.Struct:
    """The action; fields that are parts hold their text."""
    kind = _TYPES.get(f"tool.{tool}")
    if kind is None or arguments is None or "kind" in arguments:
        return UnparsedCall(arguments=raw_arguments, tool=tool)
    texts = {field: arguments[field] for field in part_fields(kind) if isinstance(arguments.get(field), str)}
    try:
        fields = {**arguments, **dict.fromkeys(texts, _DIGEST), "kind": f"tool.{tool}"}
        action = msgspec.convert(fields, kind)
    except msgspec.ValidationError:
        return UnparsedCall(arguments=raw_arguments, tool=tool)
    return msgspec.structs.replace(action, **texts)

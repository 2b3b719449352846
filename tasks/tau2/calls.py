"""A recorded tool call as an action of the shop.

tool name, arguments ─► tool.<name> {…}, or call.unparsed where nothing fits

Arguments fit that are exactly the tool's, of its types, in a size that a record holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ...protocol.canonical import MAX_RECORD_BYTES, encode_typed
from ...protocol.retail.actions import TOOLS, UnparsedCall
from ...protocol.world import kind_of, part_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

_TYPES = {kind_of(tool): tool for tool in TOOLS}
# What a part's field must look like for the typed check; the text takes its place.
_DIGEST = "0" * 64
# What is left of a record for an action, whatever ids and numbers are around it.
_MAX_ACTION_BYTES = MAX_RECORD_BYTES - 2_048
_MAX_BYTES_A_LETTER = 4


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
    if len(raw_arguments) * _MAX_BYTES_A_LETTER > _MAX_ACTION_BYTES and _is_large(action):
        return UnparsedCall(arguments=raw_arguments, tool=tool)
    return msgspec.structs.replace(action, **texts)


def _is_large(action: msgspec.Struct) -> bool:
    try:
        return len(encode_typed(action)) > _MAX_ACTION_BYTES
    except UnicodeEncodeError:
        return False  # half a surrogate pair: nothing can hold it, as whoever says it is told

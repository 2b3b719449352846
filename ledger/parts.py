"""Parts: free text beside a record, which holds only its salted digest.

    text, salt ─► part            digest of [salt, text] ─► a field of the body
    body ─► the digests that it names, by field ◄── compared ── the parts beside it

The door turns away what an audit would find: both ask `misfits`. A part that
isn't there was withheld, which is no fault.

Not here: where salts come from (`tollbook.protocol.derive`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from ..protocol.bodies import Message, PartText
from ..protocol.canonical import MAX_PART_BYTES
from ..protocol.errors import CanonicalError
from ..protocol.world import part_fields
from .run import Objection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .records import Part

_HEX = re.compile("[0-9a-f]{64}")


def part_text(salt: str, text: str) -> PartText:
    """A part of this text.

    Raises:
        CanonicalError: over 1 MiB, or text that is not Unicode scalar values.
    """
    try:
        size_bytes = len(text.encode())
    except UnicodeEncodeError:
        raise CanonicalError("canonical.text", "a text holds a lone surrogate") from None
    if size_bytes > MAX_PART_BYTES:
        what = f"a text of {size_bytes} bytes is over the limit of {MAX_PART_BYTES}"
        raise CanonicalError("canonical.size", what)
    return PartText(salt=salt, text=text)


def named_by(message: Message, action: Any) -> dict[str, Any]:  # noqa: ANN401 - one of the world's actions
    """The digests of parts that a message names, by field; without a type, all that look like one."""
    if action is not None:
        kind: type[msgspec.Struct] = type(action)  # pyright: ignore[reportUnknownVariableType]
        return {field: getattr(action, field) for field in part_fields(kind)}
    said: dict[str, Any] = msgspec.json.decode(bytes(message.action))
    return {field: value for field, value in said.items() if _HEX.fullmatch(str(value))}


def misfits(parts: Sequence[Part], digests: dict[str, Any]) -> list[Objection]:
    """Why parts are not those that a record names; takes from `digests` what has its part here.

    Parts come in the order of their fields, so one that is there twice is one too many.
    """
    found: list[Objection] = []
    last = ""
    for part in parts:
        field, text, digest = part.field, part.text.text, digests.pop(part.field, None)
        if digest is None or field <= last:
            found.append(Objection("part.orphan", f"no field `{field}` of the record names this part"))
        # No character has more than four bytes, so most texts need no encoding to be known as short.
        elif len(text) * 4 > MAX_PART_BYTES and len(text.encode("utf-8", "replace")) > MAX_PART_BYTES:
            found.append(Objection("part.size", f"the part `{field}` is over {MAX_PART_BYTES} bytes"))
        elif part.text.digest != digest:
            what = f"the part `{field}` is not the text that the record names"
            found.append(Objection("part.digest", what))
        last = field
    return found

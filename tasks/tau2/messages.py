"""The messages of a recorded run, each call with the output that answers it.

    {role: assistant | user, content, tool_calls [{id, name, arguments, requestor}]}
    {role: tool, id, content}            answers the call of that id

An output is matched to its call by id alone. Ids need not be unique: of calls
in one message that share one, the first unanswered is meant; an id that comes
back in a later message is that message's. An output that answers no call is
kept where it stood.

Not here: what a call means in the shop (`calls`).
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ...protocol.errors import SourceError
from .document import list_of, object_of, shown, text_of

ROLES = ("assistant", "user", "tool")


class Call(NamedTuple):
    """One tool call: its arguments, or None where they are no JSON object, and what the source showed."""

    tool: str
    arguments: dict[str, Any] | None
    raw_arguments: str
    requestor: str
    output: str | None


class Said(NamedTuple):
    """One message of a party: its text, which may be empty, and its calls in order."""

    role: str
    text: str
    calls: list[Call]


class Orphan(NamedTuple):
    """An output that answers no call; it stood before message `place`."""

    place: int
    text: str


class Conversation:
    """What was said, and the outputs that answer no call."""

    def __init__(self, messages: list[Any]) -> None:
        """The conversation of a run's messages.

        Raises:
            SourceError: a message that can't be read.
        """
        self.said: list[Said] = []
        self.orphans: list[Orphan] = []
        self._waiting: dict[str, list[tuple[int, int]]] = {}  # call id → places of its unanswered calls
        for place, message in enumerate(messages):
            where = f"messages[{place}]"
            self._read(_object(message, where), where)

    def _read(self, fields: dict[str, Any], where: str) -> None:
        role = fields.get("role")
        if role not in ROLES:
            raise SourceError("source.role", f"{where} has role {shown(role)}")
        if role == "tool":
            several = list_of(fields.get("tool_messages"))
            for output in [fields] if several is None else several:
                self._answer(_object(output, f"{where}.tool_messages"), where)
            return
        calls = _calls(fields, role, where)
        for number, (call_id, _call) in enumerate(calls):
            places = self._waiting.setdefault(call_id, [])
            places[:] = [place for place in places if place[0] == len(self.said)]
            places.append((len(self.said), number))
        self.said.append(Said(role, _text(fields, where), [call for _id, call in calls]))

    def _answer(self, fields: dict[str, Any], where: str) -> None:
        text = _text(fields, where)
        places = self._waiting.get(_call_id(fields))
        if not places:
            self.orphans.append(Orphan(len(self.said), text))
            return
        place, number = places.pop(0)
        calls = self.said[place].calls
        calls[number] = calls[number]._replace(output=text)


def arguments_of(value: object) -> tuple[dict[str, Any] | None, str]:
    """Arguments as an object, None where they are none, and as text; they may be written as either.

    Raises:
        SourceError: nested too deep, or a number of too many digits.
    """
    if not isinstance(value, str):
        return object_of(value), text_of(value, "a call's arguments")
    try:
        return object_of(json.loads(value)), value
    except (ValueError, RecursionError):
        return None, value


def _calls(fields: dict[str, Any], role: str, where: str) -> list[tuple[str, Call]]:
    given = fields.get("tool_calls")
    calls = [] if given is None else list_of(given)
    if calls is None:
        raise SourceError("source.calls", f"{where}.tool_calls is not a list")
    return [_call(_object(call, f"{where}.tool_calls"), role, where) for call in calls]


def _call(fields: dict[str, Any], role: str, where: str) -> tuple[str, Call]:
    tool = fields.get("name")
    if not isinstance(tool, str):
        raise SourceError("source.calls", f"{where} calls a tool without a name")
    requestor = fields.get("requestor") or role
    if requestor not in ("assistant", "user"):
        raise SourceError("source.calls", f"{where} has a call by {shown(requestor)}")
    arguments, raw = arguments_of(fields.get("arguments"))
    return _call_id(fields), Call(tool, arguments, raw, requestor, None)


def _call_id(fields: dict[str, Any]) -> str:
    # As JSON text, so that the id 1 is not "1", and no id is not "null".
    return text_of(fields.get("id"), "a call's id")


def _text(fields: dict[str, Any], where: str) -> str:
    content = fields.get("content")
    if content is None:
        return ""
    if not isinstance(content, str):
        raise SourceError("source.content", f"{where}.content is not text")
    return content


def _object(value: object, where: str) -> dict[str, Any]:
    fields = object_of(value)
    if fields is None:
        raise SourceError("source.messages", f"{where} is not an object")
    return fields

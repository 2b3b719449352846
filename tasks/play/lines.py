r"""The lines that an agent outside the process is told, and those it answers with: version 1.

    told first      {"tollbook": 1, "begin": {party, role, brief, mandate, tools, others, turns}}
    told a turn     {"turn": {number, tick, turns_left, last, inbox}}, with `market` where it shows something
    answered        {"act": {kind, …fields, to}}   or   {"done": true}
      with either   "usage": {input_tokens, output_tokens, cost_micros}, "turn": number

    tools  = [{name, description, parameters}]      others = [{party, role}]
    last   = the act before, null at first          inbox  = acts of others since, in order

An act that is told has the case view's fields but `seq`, `n` and `figures`, so
an agent never sees a record's place. Whatever else an agent says is words that
hold no act: not UTF-8 or JSON, a key twice, a key that is none of these, a
number that isn't an integer within ±(2^53−1), nesting beyond 16, an act without
a proper `kind`, both act and done, or neither.

What is told is ASCII, every other character as `\u…`, with keys in order: some
runtimes end a line at U+2028, which another party could write into a note, and
the bytes are the same for the same turn.

Not here: whether the act is one that the market knows; the pipes (`child`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from ...protocol.bodies import Usage
from ...protocol.canonical import MAX_DEPTH, MAX_INTEGER, Id, Index, depth, encode
from ...protocol.errors import CanonicalError
from ..format.rendering import worded
from .agent import Asked, Setup

Json = Any

VERSION: Final = 1

_KEPT_BACK = frozenset({"seq", "n", "figures"})
_MAX_DIGITS = len(str(-MAX_INTEGER))


class Said(NamedTuple):
    """An answer as the agent gave it; without an act it is done. ``turn`` is None where it named none."""

    act: Mapping[str, Json] | None
    usage: Usage | None
    turn: int | None


class _Usage(msgspec.Struct, forbid_unknown_fields=True):
    cost_micros: Index | None = None
    input_tokens: Index | None = None
    output_tokens: Index | None = None


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    act: dict[str, Json] | None = None
    done: bool = False
    turn: Index | None = None
    usage: _Usage | None = None


class _Addressed(msgspec.Struct):
    """What every act has, whatever its other fields."""

    kind: Id
    to: Id | None = None


def begin_line(setup: Setup) -> str:
    """What an agent is told first, without the line's end."""
    begin = {
        "party": setup.party,
        "role": setup.role,
        "brief": setup.brief,
        "mandate": dict(setup.mandate),
        "tools": [
            {"name": tool.kind, "description": tool.description, "parameters": dict(tool.schema)}
            for tool in setup.tools
        ],
        "others": [{"party": party, "role": role} for party, role in setup.others],
        "turns": setup.turns,
    }
    return _written({"tollbook": VERSION, "begin": begin})


def turn_line(asked: Asked, number: int, labels: Mapping[str, str] | None = None) -> str:
    """What an agent is told at its turn ``number``, counted from 1, without the line's end.

    ``labels`` are those of its setup, for what the market shows.
    """
    turn: dict[str, Json] = {
        "number": number,
        "tick": asked.tick,
        "turns_left": asked.turns_left,
        "last": None if asked.last is None else _told(asked.last),
        "inbox": [_told(act) for act in asked.inbox],
    }
    if asked.market is not None:
        turn["market"] = worded(asked.market, labels or {})
    return _written({"turn": turn})


def read_answer(line: bytes) -> Said | None:
    """What a line of an agent's says; None for words that hold no act."""
    # As many brackets as levels is the worst case; the parser would take a thousand of them on the stack.
    if depth(line) > MAX_DEPTH:
        return None
    try:
        value = json.loads(
            line.decode(),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_no_number,
            parse_constant=_no_number,
        )
        encode(value)  # refuses keys that aren't ASCII, lone surrogates, long arrays
        answer = msgspec.convert(value, _Answer)
        if answer.act is not None:
            msgspec.convert(answer.act, _Addressed)
    except (ValueError, CanonicalError):  # of bytes, of JSON, of types: each is a ValueError but ours
        return None
    if answer.done == (answer.act is not None):
        return None
    usage = answer.usage
    counted = None if usage is None else Usage(usage.cost_micros, usage.input_tokens, usage.output_tokens)
    return Said(answer.act, counted, answer.turn)


def words(line: bytes, limit_chars: int) -> str:
    r"""A line as text to keep: bytes that aren't UTF-8 as `\xff`, `…` for what is over the limit."""
    text = line.decode(errors="backslashreplace")
    return text if len(text) <= limit_chars else text[:limit_chars] + "…"


def _told(act: Mapping[str, Json]) -> dict[str, Json]:
    return {field: value for field, value in act.items() if field not in _KEPT_BACK}


def _written(value: Mapping[str, Json]) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _object(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key twice")
    return value


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError("too many digits")
    return int(digits)


def _no_number(text: str) -> Json:
    raise ValueError(f"`{text}` is no integer")

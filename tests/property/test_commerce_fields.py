"""Every field of every act said wrong, from the schemas of the tools that agents are offered.

    schema ─► a value that fits it    ─► an act the market knows, ruled on
          ─┬► one field said wrong    ─► `action.invalid`, or bytes that can't be read; nothing changes
           └► anything at all         ─► one of these, and never an exception

The fields within fields are meant too. What fits a schema is what the market takes as well formed: an
agent that keeps to its tools' schemas is never told that its act isn't one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whole_market import FACTS, PART, ROLES, ROWS, WORLD

from tollbook.protocol.bodies import Message
from tollbook.protocol.canonical import MAX_INTEGER, MAX_TEXT_BYTES, encode_typed
from tollbook.protocol.commerce.world import REFUSALS
from tollbook.protocol.engine import decide, read_action
from tollbook.protocol.errors import CanonicalError
from tollbook.protocol.tables import NO_CHANGE, State
from tollbook.protocol.world import part_fields
from tollbook.tasks.play.tools import tools_of

Json = Any
Path = tuple[str | int, ...]

KINDS = [kind for kind in WORLD.kinds if kind not in WORLD.unoffered]
SHARED = {"action.invalid", "action.unknown", "party.role"}
KEYS = sorted({key for found in ROWS.values() for key in found})
NAME = "^[!-~]+(?!\\n)$"


def nested(levels: int) -> Json:
    value: Json = 0
    for _ in range(levels):
        value = [value]
    return value


AWKWARD: dict[str, Json] = {
    "null": None,
    "true": True,
    "zero": 0,
    "below zero": -1,
    "a fraction": 0.5,
    "the most": MAX_INTEGER,
    "beyond the most": MAX_INTEGER + 1,
    "beyond 64 bits": 2**64,
    "of 4,000 digits": 10**4_000,
    "an empty text": "",
    "a name": "lamp",
    "a key": "l1",
    "a name with a line end": "l1\n",
    "a control character": "\x00",
    "a lone surrogate": "\ud800",
    "other scripts": "лампа 灯",
    "a digest": PART,
    "a long name": "x" * 129,
    "a long text": "x" * (MAX_TEXT_BYTES + 1),
    "a text that is long in bytes": "é" * (MAX_TEXT_BYTES // 2 + 1),
    "a text over a record": "x" * 70_000,
    "an empty list": [],
    "a list of anything": [None, 0, "lamp", {}],
    "a long list": ["l1"] * 300,
    "a huge list": [""] * 10_001,
    "an empty map": {},
    "a map of anything": {"lamp": None, "size": 1, "": [], "\n": {}},
    "a deep list": nested(12),
    "too deep a list": nested(40),
    "far too deep a list": nested(900),
}


class Said(NamedTuple):
    """What became of an act: an error's code, a refusal's rule, or neither where it was taken."""

    unread: str | None
    rule: str | None

    @property
    def is_formed(self) -> bool:
        return self.unread is None and self.rule not in ("action.invalid", "action.unknown")


def spelled(act: Json) -> bytes:
    """Canonical bytes, of values that have no canonical form too."""
    text = json.dumps(act, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def written(act: Json) -> bytes:
    """An act's bytes; what its schema lets an agent leave out is written for it."""
    try:
        return encode_typed(msgspec.convert(act, WORLD.kinds[act["kind"]]))
    except (msgspec.ValidationError, KeyError, TypeError, ValueError):
        return spelled(act)


def say(act: Json, sender: str | None = None, to: str | None = None) -> Said:
    """Says an act to a fresh market; whatever isn't taken changes nothing."""
    state = State(FACTS)
    raw = written(act)
    try:
        action = read_action(WORLD, raw)
    except CanonicalError as error:
        return Said(error.code, None)
    party = sender or sender_of(str(act["kind"]))
    to = None if to == party else to
    message = Message(
        action=msgspec.Raw(raw), sender=party, key=None, n=0, reply_to=None, seen=(0, PART), to=to
    )
    decision = decide(WORLD, state, message, action, 1, ROLES, lambda _seq, _party: True).decision
    if decision.outcome == "refused":
        assert decision.rule in REFUSALS or decision.rule in SHARED
        assert (NO_CHANGE, [], FACTS.root) == (decision.delta, decision.events, state.root())
    return Said(None, decision.rule)


@cache
def sender_of(kind: str) -> str:
    """One who may send this kind."""
    allowed = WORLD.roles.get(kind, frozenset(ROLES.values()))
    return next(party for party, role in ROLES.items() if role in allowed)


@cache
def schema_of(kind: str) -> Mapping[str, Json]:
    """The schema of a kind's tool; digests stand where an agent writes free text."""
    (tool,) = tools_of(WORLD, (kind,))
    schema = json.loads(json.dumps(tool.schema))
    for field in part_fields(WORLD.kinds[kind]):
        schema["properties"][field] = {"type": "string", "pattern": "^[0-9a-f]{64}$", "maxLength": 64}
    return schema


@cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema_of(kind))


def resolved(schema: Mapping[str, Json], kind: str) -> Mapping[str, Json]:
    while "$ref" in schema:
        schema = schema_of(kind)["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def least(schema: Mapping[str, Json], kind: str) -> Json:
    """A value that fits, with everything that may be said said once."""
    schema = resolved(schema, kind)
    if "anyOf" in schema:
        return least(schema["anyOf"][0], kind)
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "integer":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return True
        case "array":
            return [least(schema["items"], kind)]
        case "object":
            named = schema.get("properties", {})
            if not named and isinstance(schema.get("additionalProperties"), dict):
                return {"size": least(schema["additionalProperties"], kind)}
            return {name: least(each, kind) for name, each in named.items()}
        case _:
            pattern = schema.get("pattern", "")
            return PART if "0-9a-f" in pattern else "EUR" if "A-Z" in pattern else "l1"


def places(value: Json, path: Path = ()) -> Iterator[Path]:
    """Every place within a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inside:
        yield (*path, name)
        yield from places(each, (*path, name))


def put(value: Json, path: Path, other: Json) -> Json:
    """The value with another one at this place."""
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(copy[path[0]], path[1:], other)
    return copy


def fits(kind: str, fields: Json) -> bool:
    """Whether the schema has it so; a text's limit is in bytes too, which a schema can't say."""
    try:
        return validator(kind).is_valid(fields) and not any(map(is_long, texts(fields)))
    except RecursionError:
        return False


def texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(each)


def is_long(text: str) -> bool:
    return len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_said_wrong_is_refused_and_one_said_right_is_not(kind: str) -> None:
    whole = least(schema_of(kind), kind)
    assert say({"kind": kind, **whole}).is_formed
    for path in places(whole):
        for name, value in AWKWARD.items():
            fields = put(whole, path, value)
            said = say({"kind": kind, **fields})
            unwritten = said.unread is not None and name in UNWRITTEN
            assert unwritten or said.is_formed == fits(kind, fields), (path, name, said)


UNWRITTEN = {"a lone surrogate", "a text over a record"}
"""What a schema may allow, and the bytes of a message can't hold."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_left_out_or_made_up_is_refused_where_the_schema_has_it_so(kind: str) -> None:
    whole = least(schema_of(kind), kind)
    for field in whole:
        fields = {name: value for name, value in whole.items() if name != field}
        assert say({"kind": kind, **fields}).is_formed == fits(kind, fields), field
    assert "action.invalid" == say({"kind": kind, **whole, "made_up": 1}).rule
    for other in ("x", "", None, 7):
        said = say({**whole, "kind": other})
        assert said.unread == "canonical.form" or said.rule == "action.unknown"


def within(schema: Json) -> Iterator[Mapping[str, Json]]:
    """The schemas within one."""
    if isinstance(schema, dict):
        yield schema
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from within(each)


@pytest.mark.parametrize("kind", KINDS)
def test_every_list_and_map_of_an_act_has_an_end(kind: str) -> None:
    for schema in within(schema_of(kind)):
        if schema.get("type") == "array":
            assert schema["maxItems"] <= 256
        if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
            assert schema["maxProperties"] <= 64


def fitting(schema: Mapping[str, Json], kind: str) -> st.SearchStrategy[Json]:
    """Values that fit a schema: mostly keys that there are, small numbers, and the ends of what may be."""
    schema = resolved(schema, kind)
    if "anyOf" in schema:
        return st.one_of([fitting(each, kind) for each in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "integer":
            low = schema["minimum"]
            high = schema.get("maximum", schema.get("exclusiveMaximum", 0) - 1)
            return st.sampled_from([low, high, max(low, 1), max(low, 2)]) | st.integers(low, high)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            most = min(4, schema.get("maxItems", 4))
            return st.lists(fitting(schema["items"], kind), min_size=schema.get("minItems", 0), max_size=most)
        case "object":
            return objects(schema, kind)
        case _:
            return texts_of(schema)


def objects(schema: Mapping[str, Json], kind: str) -> st.SearchStrategy[Json]:
    named = {name: fitting(each, kind) for name, each in schema.get("properties", {}).items()}
    if not named and isinstance(schema.get("additionalProperties"), dict):
        names = st.sampled_from(["size", "weight_g", "x" * 128])
        least_size = schema.get("minProperties", 0)
        return st.dictionaries(names, fitting(schema["additionalProperties"], kind), min_size=least_size)
    required = set(schema.get("required", ()))
    return st.fixed_dictionaries(
        {name: each for name, each in named.items() if name in required},
        optional={name: each for name, each in named.items() if name not in required},
    )


def texts_of(schema: Mapping[str, Json]) -> st.SearchStrategy[str]:
    pattern, most = schema.get("pattern"), schema.get("maxLength", 64)
    if pattern == NAME:
        return st.sampled_from(KEYS) | st.sampled_from(["lamp", "~" * most])
    if pattern is not None:
        return st.just(PART) if "0-9a-f" in pattern else st.sampled_from(["EUR", "SEK"])
    low = schema.get("minLength", 0)
    return st.sampled_from(["lamp", "unused", "x" * most]) | st.text(min_size=low, max_size=min(most, 20))


parties = st.sampled_from([None, *ROLES])
acts = st.sampled_from(KINDS).flatmap(
    lambda kind: st.tuples(st.just(kind), fitting(schema_of(kind), kind), parties, parties)
)
whatever = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(KEYS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)


@given(acts)
@settings(max_examples=400, deadline=None)
def test_what_fits_a_schema_is_ruled_on_as_an_act(act: tuple[str, Json, str | None, str | None]) -> None:
    kind, fields, sender, to = act
    assert say({"kind": kind, **fields}, sender, to).is_formed == fits(kind, fields)


@given(acts, st.data())
@settings(max_examples=200, deadline=None)
def test_whatever_stands_in_a_field_is_ruled_on_or_unread(
    act: tuple[str, Json, str | None, str | None], data: st.DataObject
) -> None:
    kind, fields, sender, to = act
    found = list(places(fields))
    if found:
        fields = put(fields, data.draw(st.sampled_from(found)), data.draw(whatever))
    with suppress(CanonicalError):  # what is left out is not written for it here
        read_action(WORLD, spelled({"kind": kind, **fields}))
    said = say({"kind": kind, **fields}, sender, to)
    assert said.unread is not None or said.is_formed == fits(kind, fields)

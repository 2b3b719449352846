"""Canonical bytes: one value, one spelling, and an error of ours for everything else."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tollbook.protocol import canonical
from tollbook.protocol.errors import CanonicalError

BIG = canonical.MAX_INTEGER

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = st.text(st.characters(max_codepoint=127), max_size=4)
leaves = st.none() | st.booleans() | st.integers(-BIG, BIG) | texts
documents = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=15,
)


def admitted(data: bytes) -> tuple[bool, Any]:
    """Whether the bytes get in, and their value; an error that isn't ours is a failure."""
    try:
        return True, canonical.admit_any(data)
    except CanonicalError:
        return False, None


def shape(value: Any) -> Any:
    """The value with each leaf's type, so that true and 1 differ."""
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return type(value), value


@settings(deadline=None)
@given(documents)
def test_what_is_encoded_is_admitted_as_it_was(document: Any) -> None:
    assert shape(canonical.admit_any(canonical.encode(document))) == shape(document)


@settings(deadline=None)
@given(documents, st.integers(0, 255))
@example({"a": [1, True, None, "é\n"], "b": {"": -12}}, 0x20)
def test_any_other_byte_is_refused_or_another_value(document: Any, byte: int) -> None:
    data = canonical.encode(document)
    for index, before in enumerate(data[:100]):
        for after in {byte, before ^ 1, before ^ 0x20, ord("0")} - {before}:
            changed = data[:index] + bytes([after]) + data[index + 1 :]
            got_in, value = admitted(changed)
            assert not got_in or shape(value) != shape(document)


@settings(deadline=None)
@given(documents, st.binary(min_size=1, max_size=2))
@example([], b"\n")
def test_bytes_put_in_or_cut_out_are_refused_or_another_value(document: Any, added: bytes) -> None:
    data = canonical.encode(document)
    for index in range(min(len(data), 100) + 1):
        for changed in (data[:index] + added + data[index:], data[:index] + data[index + 1 :]):
            got_in, value = admitted(changed)
            assert changed == data or not got_in or shape(value) != shape(document)


@settings(deadline=None)
@given(documents, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_of_all_spellings_of_a_value_only_one_is_admitted(
    document: Any, indent: int | str | None, ascii_only: bool  # noqa: FBT001 - drawn
) -> None:
    spelled = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()
    got_in, value = admitted(spelled)
    assert got_in == (spelled == canonical.encode(document))
    assert not got_in or shape(value) == shape(document)


json_like = st.lists(
    st.sampled_from([*b'[]{}",:\\ \n01-+.eEu/', *range(0x7F, 0x100)]) | st.integers(0, 255), max_size=40
).map(bytes)


@settings(deadline=None, max_examples=500)
@given(json_like)
def test_any_bytes_end_in_a_value_or_an_error_of_ours(data: bytes) -> None:
    got_in, value = admitted(data)
    assert not got_in or canonical.encode(value) == data


anything = st.recursive(
    leaves | st.floats() | st.integers() | st.binary() | st.text() | st.dates() | st.decimals() | st.uuids(),
    lambda inner: st.lists(inner)
    | st.tuples(inner, inner)
    | st.sets(st.integers())
    | st.dictionaries(st.text() | st.integers() | st.none() | st.binary(), inner),
    max_leaves=10,
)


@settings(deadline=None)
@given(anything)
def test_any_value_ends_in_bytes_or_an_error_of_ours(value: Any) -> None:
    try:
        data = canonical.encode(value)
    except CanonicalError:
        return
    assert canonical.encode(canonical.admit_any(data)) == data


def naive_depth(value: Any) -> int:
    if isinstance(value, list):
        return 1 + max(map(naive_depth, value), default=0)
    if isinstance(value, dict):
        return 1 + max(map(naive_depth, value.values()), default=0)
    return 0


bracketed = st.text(st.sampled_from('[]{}"\\/ué'), max_size=6)
nested = st.recursive(
    bracketed, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(bracketed, inner, max_size=3)
)


@settings(deadline=None)
@given(nested, st.integers(0, 24), st.booleans())
def test_depth_is_that_of_the_value(value: Any, more: int, ascii_only: bool) -> None:  # noqa: FBT001 - drawn
    for _ in range(more):
        value = [value]
    data = json.dumps(value, indent=1, ensure_ascii=ascii_only).encode()
    assert canonical.depth(data) == min(naive_depth(value), canonical.MAX_DEPTH + 1)

"""Our encoder and a pure RFC 8785 encoder agree on the profile; beyond it we refuse.

Source: the `rfc8785` package, an implementation of its own in Python.
"""

from __future__ import annotations

from typing import Any

import msgspec
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tollbook.protocol import canonical
from tollbook.protocol.errors import CanonicalError

BIG = canonical.MAX_INTEGER

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.text(st.characters(max_codepoint=127), max_size=6)
leaves = st.none() | st.booleans() | st.integers(-BIG, BIG) | texts
documents = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(names, inner, max_size=5),
    max_leaves=30,
)


class Inner(msgspec.Struct, frozen=True, tag_field="kind", tag="inner.made"):
    zeta: str
    Alpha: int
    list_: list[Any]


class Outer(msgspec.Struct, frozen=True, rename={"sender": "from"}):
    to: str | None
    sender: str
    inner: Inner
    more: dict[str, Any]


@settings(deadline=None, max_examples=300)
@given(documents)
@example({"\x7f": 1, "\x00": 2, "~": 3, "a\nb": 4, '"': 5, "\\": 6, "": 7})
@example([BIG, -BIG, 0, "\u2028\u2029\x7f\x80\ufeff\U0010ffff", [], {}])
def test_documents(document: Any) -> None:
    expected = rfc8785.dumps(document)
    assert canonical.encode(document) == expected
    assert canonical.encode_typed(document) == expected
    assert canonical.admit_any(expected) == document


@settings(deadline=None)
@given(texts, st.integers(-BIG, BIG), texts | st.none(), st.dictionaries(names, documents, max_size=3))
def test_typed_records(text: str, number: int, other: str | None, more: dict[str, Any]) -> None:
    # Field names and tags are sorted among one another, as keys of a dict are.
    inner = {"kind": "inner.made", "zeta": text, "Alpha": number, "list_": [more]}
    expected = rfc8785.dumps({"to": other, "from": text, "inner": inner, "more": more})
    record = Outer(other, text, Inner(text, number, [more]), more)
    assert canonical.encode_typed(record) == expected
    assert canonical.encode(record) == expected
    assert canonical.admit(expected, msgspec.json.Decoder(Outer)) == record


beyond = (
    st.floats()
    | st.integers(min_value=BIG + 1)
    | st.integers(max_value=-BIG - 1)
    | st.dictionaries(st.text(st.characters(min_codepoint=128), min_size=1), st.none(), min_size=1)
    | st.text(st.characters(categories=["Cs"]), min_size=1)
)


@settings(deadline=None)
@given(beyond, st.sampled_from(["alone", "in a list", "in a dict", "deep"]))
def test_what_the_two_encoders_could_differ_on_is_refused(value: Any, place: str) -> None:
    wrapped = {
        "alone": value,
        "in a list": [1, value],
        "in a dict": {"a": value},
        "deep": [{"b": [{"c": value}]}],
    }[place]
    try:
        canonical.encode(wrapped)
    except CanonicalError as error:
        refused = error.code
    else:
        refused = None
    assert refused in {"canonical.float", "canonical.integer", "canonical.key", "canonical.value"}

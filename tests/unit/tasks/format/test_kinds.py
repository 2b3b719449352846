"""What a value must be, in an author's words."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest

from tollbook.tasks.format.kinds import complaint, shown

State = Literal["open", "closed"]
EQUALS = "begin with `=` where it is an expression"


class Line(msgspec.Struct, forbid_unknown_fields=True):
    quantity: Annotated[int, msgspec.Meta(ge=1)]
    state: State = "open"


class Row(msgspec.Struct, forbid_unknown_fields=True):
    lines: tuple[Line, ...]
    note: str | None = None


@pytest.mark.parametrize(
    ("expected", "raw", "kind"),
    [
        (None, 1, int),
        (None, "open", State),
        (("", "expected a whole number, got text `owed`", EQUALS), "owed", int),
        (("", "expected a whole number, got text `9_900`", "write it without quotes: `9_900`"), "9_900", int),
        (("", "expected a whole number, got an empty text", EQUALS), "", int),
        (("", "expected text, got the number `1`", 'write it as text: `"1"`'), 1, str),
        (("", "expected text, got `true`", 'write it as text: `"true"`'), True, str),
        (("", "expected text, got a list", None), [], str),
        (("", "expected true or false, got text `yes`", EQUALS), "yes", bool),
        (("", "expected a whole number, got a table", None), {"a": 1}, int | None),
        (("", "expected a list, got text `a`", "write it in brackets: `[…]`"), "a", list[str]),
        (("", "expected a table, got text `a`", "write a table: `{ name = … }`"), "a", dict[str, int]),
        (("", "`opne` is none of its values", "did you mean `open`?"), "opne", State),
        (("", "`x` is none of its values", "it is one of closed, open"), "x", State | None),
        (("", "expected a whole number of at least 1, got the number `0`", "write a number in that range"),
         0, Annotated[int, msgspec.Meta(ge=1)]),
        (("", "expected text of at most 2 characters, got text `abc`", "change its length"),
         "abc", Annotated[str, msgspec.Meta(max_length=2)]),
        (("", "expected text of another form, got text `a b`", None),
         "a b", Annotated[str, msgspec.Meta(pattern="^[a-z]+$")]),
        ((".lines[1].quantity", "expected a whole number of at least 1, got the number `0`",
          "write a number in that range"), {"lines": [{"quantity": 1}, {"quantity": 0}]}, Row),
        ((".lines[0].state", "`shut` is none of its values", "it is one of closed, open"),
         {"lines": [{"quantity": 1, "state": "shut"}]}, Row),
        ((".lines[0]", "the field `quantity` is missing", "write `quantity = …`"), {"lines": [{}]}, Row),
        (("", "there is no field `x`", "its fields are lines, note"), {"lines": [], "x": 1}, Row),
        (("", "there is no field `nota`", "did you mean `note`?"), {"lines": [], "nota": 1}, Row),
        ((".lines[0]", "there is no field `quality`", "did you mean `quantity`?"),
         {"lines": [{"quantity": 1, "quality": 1}]}, Row),
        ((".note", "expected text, got the number `1`", None), {"lines": [], "note": 1}, Row),
    ],
)  # fmt: skip
def test_complaints(expected: tuple[str, str, str | None] | None, raw: object, kind: Any) -> None:
    found = complaint(raw, kind)
    if expected is None or found is None:
        assert expected is found
        return
    assert expected[:2] == found[:2]
    assert found.hint
    assert expected[2] is None or expected[2] == found.hint


def test_a_long_text_is_cut() -> None:
    assert f"text `{'a' * 60}…`" == shown("a" * 100)

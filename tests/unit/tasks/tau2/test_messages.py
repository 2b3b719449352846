"""A run's messages: what was said, in order, each call with the output that answers it."""

from __future__ import annotations

from typing import Any

import pytest
from recordings import call, message, output

from tollbook.protocol.errors import SourceError
from tollbook.tasks.tau2.document import Oversized
from tollbook.tasks.tau2.messages import Conversation, Said, arguments_of


def outputs(*messages: dict[str, Any]) -> list[list[str | None]]:
    return [[call.output for call in said.calls] for said in Conversation([*messages]).said]


def test_texts_and_calls_are_taken_as_they_stand_and_null_is_nothing() -> None:
    conversation = Conversation([
        message("assistant", " Hi \n"),
        message("user", None),
        {"role": "user"},
        message("assistant", "", call("1", "a", {"b": 1}), call("2", "c", '{"d": 2}', requestor="user")),
        message("user", "x", call("3", "e", requestor=None)),
    ])
    said = conversation.said
    assert [" Hi \n", "", "", "", "x"] == [one.text for one in said]
    assert [0, 0, 0, 2, 1] == [len(one.calls) for one in said]
    calls = [call for one in said for call in one.calls]
    assert [("a", "assistant"), ("c", "user"), ("e", "user")] == [(one.tool, one.requestor) for one in calls]
    assert [({"b": 1}, '{"b": 1}'), ({"d": 2}, '{"d": 2}'), ({}, "{}")] == [one[1:3] for one in calls]
    assert [] == conversation.orphans


ONE = message("assistant", None, call("1", "a"))
TWO = message("assistant", None, call("1", "a"), call("2", "b"))
NO_ID = message("assistant", None, call(None, "a"))
NUMBER = message("assistant", None, call(1, "a"))
BOTH = [output("2", "y"), output("1", "x")]
SAME = message("assistant", None, call("1", "a"), call("1", "b"))


@pytest.mark.parametrize(
    ("expected",          "orphans",      "messages"),
    [
        ([["x"]],             [],             [ONE, output("1", "x")]),
        ([[""]],              [],             [ONE, output("1", None)]),
        ([[None]],            [],             [ONE]),
        ([["x", "y"]],        [],             [TWO, output("1", "x"), output("2", "y")]),
        ([["x", "y"]],        [],             [TWO, output("2", "y"), output("1", "x")]),
        ([["x", None]],       [],             [TWO, output("1", "x")]),
        ([["x", "y"]],        [],             [TWO, {"role": "tool", "tool_messages": BOTH}]),
        ([["x", "y"]],        [],             [SAME, output("1", "x"), output("1", "y")]),
        ([["x"], ["y"]],      [],             [ONE, output("1", "x"), ONE, output("1", "y")]),
        ([[None], ["x"]],     [],             [ONE, ONE, output("1", "x")]),
        ([[None], ["x"]],     [(2, "y")],     [ONE, ONE, output("1", "x"), output("1", "y")]),
        ([["x"], []],         [],             [ONE, message("user", "?"), output("1", "x")]),
        ([[None]],            [(1, "x")],     [ONE, output("2", "x")]),
        ([["x"]],             [(1, "y")],     [ONE, output("1", "x"), output("1", "y")]),
        ([[None]],            [(0, "x")],     [output("1", "x"), ONE]),
        ([["x"]],             [],             [NO_ID, output(None, "x")]),
        ([[None]],            [(1, "x")],     [NO_ID, output("null", "x")]),
        ([[None]],            [(1, "x")],     [NUMBER, output("1", "x")]),
    ],
)  # fmt: skip
def test_an_output_answers_the_call_of_its_id(
    expected: list[list[str]], orphans: list[tuple[int, str]], messages: list[dict[str, Any]]
) -> None:
    assert expected == outputs(*messages)
    assert orphans == Conversation(messages).orphans


def calling(*of: Any, **fields: Any) -> dict[str, Any]:
    return message("assistant", None, call(*of, **fields))


@pytest.mark.parametrize(
    ("code",             "told",                "bad"),
    [
        ("source.messages",  "messages[1]",         None),
        ("source.messages",  "messages[1]",         ["user", "text"]),
        ("source.role",      "`system`",            message("system", "x")),
        ("source.role",      "`NoneType`",          {"content": "x"}),
        ("source.role",      "`dict`",              {"role": {"user": 1}}),
        ("source.content",   "messages[1]",         message("user", ["x"])),
        ("source.content",   "messages[1]",         message("user", 0)),
        ("source.content",   "messages[1]",         output("1", {"a": 1})),
        ("source.calls",     "not a list",          {**ONE, "tool_calls": {"id": "1", "name": "a"}}),
        ("source.messages",  "tool_calls",          {**ONE, "tool_calls": ["a"]}),
        ("source.messages",  "tool_messages",       {"role": "tool", "tool_messages": ["a"]}),
        ("source.calls",     "without a name",      calling("1", None)),
        ("source.calls",     "without a name",      calling("1", ["a"])),
        ("source.calls",     "by `platform`",       calling("1", "a", requestor="platform")),
        ("source.calls",     "by `list`",           calling("1", "a", requestor=["user"])),
        ("source.number",    "9 digits",            calling("1", "a", {"b": [Oversized(9)]})),
        ("source.number",    "9 digits",            calling(Oversized(9), "a")),
    ],
)  # fmt: skip
def test_a_message_that_cant_be_read_is_refused_by_its_place(code: str, told: str, bad: object) -> None:
    with pytest.raises(SourceError) as refused:
        Conversation([message("user", "good"), bad])
    assert (code, True) == (refused.value.code, told in refused.value.text)


@pytest.mark.parametrize(
    ("arguments", "text",                  "value"),
    [
        ({},          "{}",                    {}),
        ({"a": None}, '{"a": null}',           {"a": None}),
        ({"a": "ä"},  '{"a": "\\u00e4"}',      {"a": "ä"}),
        (None,        "null",                  None),
        (None,        "[1]",                   [1]),
        (None,        "1",                     1),
        ({"a": [1]},  ' {"a":[1]} ',           ' {"a":[1]} '),
        (None,        "",                      ""),
        (None,        "order 1",               "order 1"),
        (None,        '["a"]',                 '["a"]'),
        (None,        '{"a": 1',               '{"a": 1'),
        (None,        '"{}"',                  '"{}"'),
        (None,        "[" * 100_000,           "[" * 100_000),
        (None,        f'{{"a": {"9" * 5000}}}', f'{{"a": {"9" * 5000}}}'),
    ],
)  # fmt: skip
def test_arguments_are_an_object_or_its_json_text(arguments: object, text: str, value: object) -> None:
    assert (arguments, text) == arguments_of(value)


def test_messages_are_said_by_their_role() -> None:
    assert [Said("user", "a", []), Said("assistant", "b", [])] == Conversation([
        message("user", "a"), message("assistant", "b")
    ]).said  # fmt: skip

"""What an outside agent is told, and what its lines say."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from tollbook.protocol.bodies import Usage
from tollbook.tasks.play.agent import Asked, Setup, Tool
from tollbook.tasks.play.lines import Said, begin_line, read_answer, turn_line, words

NOBODY = cast("Any", None)
TOLD = {
    "tick": 1, "kind": "negotiation.counter", "from": "merchant", "to": "buyer", "ok": True, "rule": None,
    "result": None, "negotiation": "n5", "unit_price": 13000, "note": "130\u2028…",
}  # fmt: skip
HEARD = {"seq": 7, "n": 0, "figures": [13000], **TOLD}


def test_the_begin_says_what_the_party_is_there_for() -> None:
    tool = Tool("listing.get", "Reads a listing.", {"type": "object"})
    setup = Setup("b1", "buyer", "Buy.", {"budget": 9}, [tool], [("m1", "merchant")], 40)
    line = begin_line(setup)
    assert {
        "tollbook": 1,
        "begin": {
            "party": "b1",
            "role": "buyer",
            "brief": "Buy.",
            "mandate": {"budget": 9},
            "tools": [
                {"name": "listing.get", "description": "Reads a listing.", "parameters": {"type": "object"}}
            ],
            "others": [{"party": "m1", "role": "merchant"}],
            "turns": 40,
        },
    } == json.loads(line)


def test_a_turn_keeps_back_where_acts_stand() -> None:
    line = turn_line(Asked(2, 39, HEARD, [HEARD, HEARD], NOBODY), 1)
    turn = {"number": 1, "tick": 2, "turns_left": 39, "last": TOLD, "inbox": [TOLD, TOLD]}
    assert {"turn": turn} == json.loads(line)
    first = turn_line(Asked(0, 40, None, [], NOBODY), 1)
    assert '{"turn":{"inbox":[],"last":null,"number":1,"tick":0,"turns_left":40}}' == first


def test_what_is_told_is_one_line_to_any_reader() -> None:
    line = turn_line(Asked(0, 1, {"note": "a\r\n\x85\u2028\u2029\ud800 é"}, [], NOBODY), 1)
    assert line.isascii()
    assert [line] == line.splitlines()


DEEP = {"kind": "a.b", "to": "m", "x": [{"y": None}]}


@pytest.mark.parametrize(
    ("expected",                                            "line"),
    [
        (Said({"kind": "a.b"}, None, None),                 '{"act":{"kind":"a.b"}}'),
        (Said({"kind": "a.b"}, None, None),                 ' {"act" : {"kind":"a.b"} , "done":false}\r'),
        (Said({"kind": "a.b", "to": None}, None, None),     '{"act":{"kind":"a.b","to":null}}'),
        (Said({"kind": "a.b", "note": "é"}, None, None),    '{"act":{"kind":"a.b","note":"\\u00e9"}}'),
        (Said({"kind": "a.b", "note": "é"}, None, None),    '{"act":{"kind":"a.b","note":"é"}}'),
        (Said(DEEP, None, 3),                               '{"turn":3,"act":%s}'),
        (Said(None, None, None),                            '{"done":true}'),
        (Said(None, Usage(5, None, None), None),            '{"done":true,"usage":{"cost_micros":5}}'),
        (Said(None, Usage(None, 2, 1), None),
         '{"done":true,"usage":{"output_tokens":1,"input_tokens":2}}'),
        (Said({"kind": "a.b", "x": 1 - 2**53}, None, None),
         '{"act":{"kind":"a.b","x":-9007199254740991}}'),
        (None,                                              '{"act":{"kind":"a.b","x":-9007199254740992}}'),
        (None,
         '{"done":true,"usage":{"cost_micros":2147483648}}'),
        (None,                                              '{"done":true,"usage":{"input_tokens":true}}'),
        (None,                                              '{"done":true,"turn":-1}'),
        (None,                                              '{"done":true,"turn":"1"}'),
        (None,                                              '{"done":true,"done":true}'),
        (None,                                              '{"done":true} {"done":true}'),
        (None,                                              '{"done":true,"act":{"kind":"a.b"}}'),
        (None,                                              '{"act":null}'),
        (None,                                              '{"act":{"kind":"a.b","x":1.5}}'),
        (None,                                              '{"act":{"kind":"a.b","x":Infinity}}'),
        (None,                                              '{"act":{"kind":"a.b","é":1}}'),
        (None,                                              '{"act":{"kind":"a.b\\n"}}'),
        (None,                                              '{"act":{"kind":""}}'),
        (None,                                              '{"act":{"kind":"a.b","note":"\x01"}}'),
        (None,                                              "null"),
        (None,                                              ""),
    ],
)  # fmt: skip
def test_an_answer_is_one_of_two_or_words(expected: Said | None, line: str) -> None:
    assert expected == read_answer(line.replace("%s", json.dumps(DEEP)).encode())


@pytest.mark.parametrize(("is_read", "levels"), [(True, 14), (False, 15), (False, 40_000)])
def test_nesting_has_a_limit(is_read: bool, levels: int) -> None:  # noqa: FBT001 - a column
    line = b'{"act":{"kind":"a.b","x":' + b"[" * levels + b"]" * levels + b"}}"
    assert is_read == (read_answer(line) is not None)


@pytest.mark.parametrize(
    ("expected",       "line"),
    [
        ("no",         b"no"),
        ("abcd",       b"abcd"),
        ("abcd…",      b"abcde"),
        ("é\\xff",     b"\xc3\xa9\xff"[:4]),
        ("\\xc3\\…",   b"\xc3\xff"),
        ("éééé",       "éééé".encode()),
    ],
)  # fmt: skip
def test_words_are_kept_as_text(expected: str, line: bytes) -> None:
    assert expected == words(line, 5 if "\\" in expected else 4)

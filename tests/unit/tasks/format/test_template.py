"""Texts with expressions in them: what is plain, what is not, and what isn't closed."""

from __future__ import annotations

import pytest

from tollbook.tasks.format.template import Hole, UnclosedError, money_text, pieces_of


def hole(source: str, line: int = 0) -> Hole:
    return Hole(source, is_money=False, line=line)


def money(source: str) -> Hole:
    return Hole(source, is_money=True, line=0)


@pytest.mark.parametrize(
    ("expected", "minor"),
    [
        ("130.00",                 13_000),
        ("0.00",                   0),
        ("0.05",                   5),
        ("-0.05",                  -5),
        ("-1.00",                  -100),
        ("90071992547409.91",      2**53 - 1),
    ],
)  # fmt: skip
def test_money(expected: str, minor: int) -> None:
    assert expected == money_text(minor)


@pytest.mark.parametrize(
    ("expected", "raw"),
    [
        ([""],                                 ""),
        (["plain } text"],                     "plain } text"),
        (["", hole("a"), ""],                  "{a}"),
        (["x ", money("a.b"), " y"],           "x {a.b:money} y"),
        (["a\nb ", hole("c", 1), ""],          "a\nb {c}"),
        (["{a}"],                              "{{a}"),
        (["{", hole("a"), ""],                 "{{{a}"),
        (["", hole(" {'k': 1}.k"), ""],        "{ {'k': 1}.k}"),
        (["", hole("'}'"), "!"],               "{'}'}!"),
        (["", hole("'\\'}'"), ""],             "{'\\'}'}"),
        (["", hole('"{"'), ""],                '{"{"}'),
        (["", hole(""), ""],                   "{}"),
        (["", hole("a ? 'x' : b"), ""],        "{a ? 'x' : b}"),
        (["", hole("a"), "", money("b"), ""],  "{a}{b:money}"),
    ],
)  # fmt: skip
def test_pieces(expected: list[str | Hole], raw: str) -> None:
    assert expected == pieces_of(raw)


@pytest.mark.parametrize(
    ("line", "raw"), [(0, "{"), (0, "a {b"), (2, "a\n\n{b"), (0, "{'}"), (1, "{a}\n{c {d}")]
)
def test_a_brace_that_is_not_closed(line: int, raw: str) -> None:
    with pytest.raises(UnclosedError) as told:
        pieces_of(raw)
    assert line == told.value.line

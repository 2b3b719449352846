"""Tables and lists whose words mean something in Markdown, read back by a parser of it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tollbook.scorers.tables import Table, aligned, bullets, markdown

TABLE = Table(("agent", "runs"), [("careful", "3"), ("b", "12")], frozenset({0}))


def test_words_begin_and_numbers_end_at_one_place() -> None:
    assert "agent    runs\ncareful     3\nb          12" == aligned(TABLE)
    assert "| agent | runs |\n| --- | --: |\n| careful | 3 |\n| b | 12 |" == markdown(TABLE)


def said(text: str, *marks: str) -> list[str]:
    """What a reader sees between these marks."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return [shown(after) for before, after in pairwise(tokens) if before.type in marks]


def shown(token: Token) -> str:
    return "".join(child.content for child in token.children or [])


@pytest.mark.parametrize(
    "word",
    [
        "a|b", "`code`", "*bold* _it_ ~~no~~", "[a](http://b) ![a](data:b)", "<script>alert(1)</script>",
        "&lt; &amp; &#60;", "\\| \\", "# head", "<http://a.b>", "http://a.b", "a\\", "- a", "+ a", "1. a",
        "23) a", "-", "---", "- - -", "+", "***", "* a", "7.", "-5.0", "=====", "> a", "| a |", "```",
        "<!-- a", "$x^2$", "a  b", "[a]: http://b",
    ],
)  # fmt: skip
def test_words_stay_as_they_are(word: str) -> None:
    assert [" ".join(word.split())] == said(markdown(Table(("a",), [(word,)], frozenset({0}))), "td_open")
    assert ["before", " ".join(word.split()), "after"] == said(
        bullets(["before", word, "after"]), "paragraph_open"
    )


def test_a_line_end_does_not_end_a_line() -> None:
    assert ["a b"] == said(markdown(Table(("a",), [("a\n\n b",)], frozenset({0}))), "td_open")
    assert ["a b"] == said(bullets(["a\r\n b"]), "paragraph_open")

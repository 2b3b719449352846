"""Pages of made-up blocks: what a reader is shown is read back by parsers of HTML and of Markdown."""

from __future__ import annotations

import re
import sys
from base64 import b64decode
from fractions import Fraction
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from tollbook.protocol.errors import TollbookError
from tollbook.scorers.analysis.page import (
    Block,
    Heading,
    Points,
    Words,
    blocks_of,
    html_page,
    markdown_page,
)
from tollbook.scorers.analysis.sheet import Sheet, Stacked
from tollbook.scorers.tables import Table

HOSTILE = [
    "<script>alert(1)</script>", "</td></table></style></svg><img src=x onerror=alert(1)>", "a|b", "`code`",
    "[a](javascript:alert(1))", "![a](http://b/c.png)", "<http://a.b>", "&lt;b&gt;", "**bold** __so__ ~~no~~",
    '" onload="alert(1)', "1. list", "- list", "# head", "$x^2$", "[a]: http://b", "<!-- a", "]]>", "-->",
    "chart-0", "![c](chart-0)", "שלום", "日本語",
]  # fmt: skip
UNSEEN = {"a\u202eb": "a\\u202eb", "a\nb": "a b", "a\x1b[2Jb": "a\\x1b[2Jb", "a\x00b": "a\\x00b", " a ": "a"}
VOID = {"meta", "br"}
CHART = Stacked("Parts", "share", ("a", "b"), [("x", [Fraction(1, 3), Fraction(2, 3)])])
PAGE: list[Block] = [
    Heading(1, "A page"),
    Points(["first", "second"]),
    Heading(2, "One"),
    CHART,
    Table(("name", "n"), [("a", "1"), ("b", "2")], frozenset({0})),
    Heading(3, "Deeper"),
    Words("So it is."),
    Heading(2, "Two & more"),
    CHART,
]


class Reader(HTMLParser):
    """What a page holds: its elements with what is in them, all closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._texts: list[tuple[str, list[str]]] = []
        self._open: list[tuple[str, list[str]]] = []
        self.feed(page)
        self.close()
        assert [] == self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append((tag, []))
            self._texts.append(self._open[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert tag == self._open.pop()[0]

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1][1].append(data)

    def all(self, tag: str) -> list[str]:
        """The texts of the elements of a kind, without what is in elements within them."""
        return ["".join(text) for name, text in self._texts if name == tag]


def test_a_page_is_whole() -> None:
    page = Reader(html_page(PAGE))
    assert ["A page"] == page.all("h1") == [page.all("title")[0]]
    assert ["One", "Two & more"] == page.all("h2") == page.all("a")
    assert ["first", "second"] == page.all("li")[:2]
    assert [("name", "n"), ("a", "1"), ("b", "2")] == [
        tuple(page.all("th")), tuple(page.all("td")[:2]), tuple(page.all("td")[2:])
    ]  # fmt: skip
    assert ["So it is."] == [text for text in page.all("p") if text.strip()]
    assert 2 == sum(tag == "svg" for tag, _ in page.elements)


def test_links_lead_to_sections() -> None:
    page = Reader(html_page(PAGE))
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert ["section-1", "section-2"] == ids
    assert [f"#{each}" for each in ids] == [attrs["href"] for tag, attrs in page.elements if tag == "a"]


def test_nothing_is_loaded_and_nothing_runs() -> None:
    text = html_page(PAGE)
    page = Reader(text)
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"\w+://[^\s\"<]*", text))
    policy = [attrs["content"] for tag, attrs in page.elements if attrs.get("http-equiv")]
    assert ["default-src 'none'; style-src 'unsafe-inline'"] == policy
    assert not {tag for tag, _ in page.elements} & {"script", "img", "link", "iframe", "object", "use"}
    names = {name for _, attrs in page.elements for name in attrs}
    assert not {name for name in names if name.startswith("on")} | names & {"src", "xlink:href", "srcset"}


def blocks_with(word: str) -> list[Block]:
    return [
        Heading(1, word),
        Points([word]),
        Heading(2, word),
        Stacked(word, word, (word,), [(word, [Fraction(1)])]),
        Words(word),
        Table((word, "n"), [(word, word)], frozenset({0})),
    ]


@pytest.mark.parametrize(("word", "shown"), [*((word, word) for word in HOSTILE), *UNSEEN.items()])
def test_words_of_strangers_are_words(word: str, shown: str) -> None:
    text = html_page(blocks_with(word))
    page = Reader(text)
    assert all(line.isprintable() for line in text.splitlines())
    for tag, count in (("h1", 1), ("h2", 1), ("a", 1), ("th", 1), ("td", 2)):
        assert [shown] * count == page.all(tag)[:count]
    assert shown in page.all("li")
    assert shown in page.all("p")
    assert [shown] == page.all("title")[:1]
    plain = Reader(html_page(blocks_with("plain")))
    assert [tag for tag, _ in plain.elements if tag != "text"] == [
        tag for tag, _ in page.elements if tag != "text"
    ]


@pytest.mark.parametrize(("word", "shown"), [*((word, word) for word in HOSTILE), *UNSEEN.items()])
def test_words_of_strangers_are_words_in_markdown(word: str, shown: str) -> None:
    text = markdown_page(blocks_with(word))
    assert all(line.isprintable() for line in text.splitlines())
    md = MarkdownIt("commonmark").enable("table")
    md.validateLink = lambda _: True  # type: ignore[method-assign]
    page = Reader(md.render(text).replace(" />", ">").replace("<img", "<br"))
    assert [shown] == page.all("h1") == page.all("h2") == page.all("li")
    assert [shown, shown] == page.all("td")
    assert [shown] == [attrs["alt"] for tag, attrs in page.elements if tag == "br"]


def test_a_chart_in_markdown_is_the_picture_as_data() -> None:
    found = re.findall(r"!\[Parts\]\(data:image/svg\+xml;base64,([^)]*)\)", markdown_page(PAGE))
    assert 2 == len(found)
    picture = ET.fromstring(b64decode(found[0]))
    assert "Parts" == picture.findtext("{http://www.w3.org/2000/svg}title")
    assert "#ffffff" in b64decode(found[0]).decode()


def test_digests_and_keys_can_be_broken() -> None:
    digest, key = "0a" * 32, "A+/" * 14 + "z="
    page = Reader(html_page([Points([f"scorer {digest}"]), Table(("key",), [(key,)], frozenset({0}))]))
    assert [digest, key] == page.all("code")


def test_a_sheet_is_its_title_its_charts_its_tables_its_notes() -> None:
    table = Table(("a",), [("b",)], frozenset({0}), "Below")
    sheet = Sheet("credit", "Credit", (table, table._replace(title="")), (CHART,), ("so it is",), {})
    expected = [Heading(2, "Credit"), CHART, Heading(3, "Below"), table, table._replace(title="")]
    assert [*expected, Points(("so it is",))] == [*blocks_of(sheet)]
    assert [Heading(2, "Credit")] == [*blocks_of(sheet._replace(tables=(), charts=(), notes=()))]


def test_a_page_of_nothing() -> None:
    assert ["A page"] == Reader(html_page([Heading(1, "A page")])).all("h1")
    assert "# A page\n" == markdown_page([Heading(1, "A page")])


@pytest.mark.parametrize(
    ("lacks",                      "what"),
    [
        (["markdown_it"],               "markdown_it"),
        (["matplotlib"],                "matplotlib"),
        (["matplotlib", "markdown_it"], "matplotlib and markdown_it"),
    ],
)  # fmt: skip
def test_without_the_extra_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, lacks: list[str], what: str
) -> None:
    for name in lacks:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(TollbookError, match=f"^a page needs {what}, which isn't installed$") as caught:
        html_page(PAGE)
    assert "plots.missing" == caught.value.code

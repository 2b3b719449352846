"""A page of headings, words, tables and charts, as one file of Markdown or of HTML that needs no other.

    blocks ─► Markdown, a chart an image in it ─► HTML (markdown-it), the chart in its place

Both say the same, since one is made of the other. All words may come from strangers:
in Markdown they are escaped, and what can't be seen is shown as an escape; of
Markdown the HTML knows no more than the blocks need, and raw HTML not at all.
A browser is told besides to load and run nothing.

Not here: what a page says (`overview`, the analyses), how charts are drawn (`plots`).

Source: CommonMark 0.31 with tables as in GitHub Flavored Markdown; HTML Living Standard;
data URLs: RFC 2397; Content Security Policy Level 3.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

from ..tables import Table, bullets, escaped, markdown, paragraph
from .plots import check_extra, svg_of, visible
from .sheet import Chart, Dots, Heat, Plane, Sheet, Stacked
from .style import STYLE

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

_RULES: Final = ("escape", "heading", "image", "list", "table")  # beside paragraphs of text
_DIGITS = re.compile(r"\b[0-9a-f]{64}\b|(?<![\w+/])[\w+/]{43}=")  # a digest, a key
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


class Heading(NamedTuple):
    """A title; 1 is the page's, 2 a section's."""

    level: int
    text: str


class Words(NamedTuple):
    """A paragraph."""

    text: str


class Points(NamedTuple):
    """A list."""

    lines: Sequence[str]


Block = Heading | Words | Points | Table | Chart


def blocks_of(sheet: Sheet, level: int = 2) -> Iterator[Block]:
    """What an analysis says, its title a heading of this level, its charts first."""
    yield Heading(level, sheet.title)
    yield from sheet.charts
    for table in sheet.tables:
        if table.title:
            yield Heading(level + 1, table.title)
        yield table
    if sheet.notes:
        yield Points(sheet.notes)


def markdown_page(blocks: Sequence[Block]) -> str:
    """The page in Markdown, its charts within it as data; ended by a line end.

    Raises:
        UsageError: `plots.missing`.
    """
    check_extra("a page", "matplotlib")
    return _markdown(blocks, [_data(svg_of([chart])) for chart in _charts(blocks)])


def html_page(blocks: Sequence[Block]) -> str:
    """The page in HTML; ended by a line end.

    Raises:
        UsageError: `plots.missing`.
    """
    check_extra("a page", "matplotlib", "markdown_it")
    names = [f"chart-{place}" for place, _ in enumerate(_charts(blocks))]
    pictures = [svg_of([chart], ground=False) for chart in _charts(blocks)]
    main = _reader().render(_markdown(blocks, names), {"pictures": dict(zip(names, pictures, strict=True))})
    headings = [block for block in blocks if isinstance(block, Heading)]
    title = next((heading.text for heading in headings if heading.level == 1), "")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(visible(title))}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{_with_contents(main, headings)}</main>\n</body>\n</html>\n"
    )


def _charts(blocks: Sequence[Block]) -> list[Chart]:
    return [block for block in blocks if isinstance(block, (Stacked, Dots, Heat, Plane))]


def _data(svg: str) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def _markdown(blocks: Sequence[Block], images: Sequence[str]) -> str:
    """The page in Markdown; its charts are these images, in their order."""
    rest = iter(images)
    return "\n\n".join(_visible(_block(block, rest)) for block in blocks) + "\n"


def _block(block: Block, images: Iterator[str]) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {escaped(block.text)}"
        case Words():
            return paragraph(block.text)
        case Points():
            return bullets(block.lines)
        case Table():
            return markdown(block)
        case Stacked() | Dots() | Heat() | Plane():
            return f"![{escaped(block.title)}]({next(images)})"


def _visible(text: str) -> str:
    """Lines with what can't be seen in them escaped."""
    return "\n".join(map(visible, text.split("\n")))


def _with_contents(main: str, headings: Sequence[Heading]) -> str:
    """The page with a list of its sections after its first heading and what stands below that."""
    sections = [heading.text for heading in headings if heading.level == 2]
    links = (
        f'<li><a href="#{_section(place)}">{escape(visible(text))}</a></li>\n'
        for place, text in enumerate(sections)
    )
    before, mark, after = main.partition("<h2")
    return f"{before}<nav aria-label=\"Contents\">\n<ol>\n{''.join(links)}</ol>\n</nav>\n{mark}{after}"


def _section(place: int) -> str:
    return f"section-{place + 1}"


def _reader() -> MarkdownIt:
    """What reads the Markdown of a page and writes its HTML."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - may be absent
    from markdown_it.renderer import RendererHTML  # noqa: PLC0415 - as above

    class Renderer(RendererHTML):
        """As markdown-it's, with room to scroll, charts in their places, and digests that can be broken."""

        def table_open(self, *_: object) -> str:
            return '<div class="scroll" tabindex="0" role="group" aria-label="table">\n<table>\n'

        def table_close(self, *_: object) -> str:
            return "</table>\n</div>\n"

        def heading_open(self, tokens: Sequence[Token], idx: int, *_: object) -> str:
            tag = tokens[idx].tag
            if tag != "h2":
                return f"<{tag}>"
            place = sum(token.type == "heading_open" and token.tag == tag for token in tokens[:idx])
            return f'<{tag} id="{_section(place)}">'

        def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
            del options
            picture = env["pictures"][str(tokens[idx].attrs["src"])]
            return f'<span class="chart">\n{picture}</span>'

        def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
            del options, env
            return _DIGITS.sub(r"<code>\g<0></code>", escape(tokens[idx].content))

    reader = MarkdownIt("zero", renderer_cls=Renderer)
    return reader.enable(list(_RULES))

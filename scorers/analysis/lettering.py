"""Words in a picture: how wide they are, and how they are broken into lines that fit. Lengths in points.

Widths are those of the font that comes with matplotlib, which is a wide one: what
fits in it fits in the sans-serif font of whoever looks at the picture. Of scripts
that it lacks every letter is taken to be as wide as its widest.

Not here: where words go (`drawing`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final
from unicodedata import east_asian_width

import matplotlib as mpl
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

_FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"


def _font(size: float, file: str, weight: str = "normal") -> FontProperties:
    """A font as it is written, `sans-serif`, and as it is measured."""
    return FontProperties(family="sans-serif", size=size, weight=weight, fname=_FONTS / file)


PLAIN: Final = _font(8.5, "DejaVuSans.ttf")
SMALL: Final = _font(7.5, "DejaVuSans.ttf")
TITLE: Final = _font(10, "DejaVuSans-Bold.ttf", "bold")

_LINE = 1.35  # of a font's size
_LONGEST = 200
_BREAKS = re.compile(r"(?<=[\s/_:-])")  # after these a line may end


def high(font: FontProperties) -> float:
    """How far one line is below another."""
    return font.get_size() * _LINE


@lru_cache(maxsize=4096)
def wide(text: str, font: FontProperties) -> float:
    """How wide a line is."""
    known = "".join("W" if east_asian_width(char) in "WF" else char for char in text)
    return TextToPath().get_text_width_height_descent(known, font, ismath=False)[0] if known else 0.0


def wrapped(text: str, font: FontProperties, room: float) -> list[str]:
    """A text in lines that are no wider than there is room, broken within words only where they are."""
    lines = [""]
    for piece in _pieces(shortened(text), font, room):
        if lines[-1] and wide(f"{lines[-1]}{piece}".rstrip(), font) > room:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return lines


def _pieces(text: str, font: FontProperties, room: float) -> Iterator[str]:
    for word in _BREAKS.split(text):
        rest = word
        while len(rest) > 1 and wide(rest, font) > room:
            widths = (range(1, len(rest) + 1), room)
            fits = max(1, bisect_right(*widths, key=lambda count, rest=rest: wide(rest[:count], font)))
            yield rest[:fits]
            rest = rest[fits:]
        yield rest


def shortened(text: str) -> str:
    """Of a very long text the beginning."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

"""The line of a place of a task file, so that an author need not look for it.

    line_of(text, "predicate.looked_first.expr")    →  57
    line_of(text, "reference.step[2].do.amount")    →  96

The text is walked once, as far as it is TOML: headers, keys, and within values
strings, lists and inline tables; what they hold isn't looked at. A place that
the file doesn't hold (a row made by `each`) has the line of what it is in.

Not here: reading TOML (`file`).

Source: TOML 1.0, toml.io/en/v1.0.0.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from contextlib import suppress
from functools import lru_cache
from typing import Final, NamedTuple

from ...protocol.errors import TaskError

_SPACE: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK: Final = re.compile(r"[ \t]*")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN: Final = re.compile(r"[^,\]}#\n]*")
_QUOTES: Final = ('"""', "'''", '"', "'")
_MAX_DEPTH: Final = 32


class _Spot(NamedTuple):
    """Where a key stands, and where its text begins; -1 where it is no text of the file's own lines."""

    key: int
    text: int = -1


class _UnreadableError(Exception):
    """What follows isn't TOML."""


def located(fault: TaskError, text: str) -> TaskError:
    """The fault, with the line of its place in the file's text."""
    if fault.line == 0:
        fault.line = line_of(text, fault.place, fault.within)
    return fault


def line_of(text: str, place: str, within: int = 0) -> int:
    """The line of a place, from 1; 0 where there is nothing of it.

    ``within`` asks for a line of the text that stands there, from 1.
    """
    places, starts = _places(text)
    asked = place
    while asked and asked not in places:
        asked = asked[: max(asked.rfind("."), asked.rfind("["), 0)]
    if not asked:
        return 0
    spot = places[asked]
    if within and asked == place and spot.text >= 0:
        return bisect_right(starts, spot.text) + within - 1
    return bisect_right(starts, spot.key)


@lru_cache(maxsize=8)  # the faults of one file are looked up one after the other
def _places(text: str) -> tuple[dict[str, _Spot], list[int]]:
    """Each place and where it is; and where each line begins."""
    walk = _Walk(text)
    with suppress(_UnreadableError):  # what was found before it stands
        walk.document()
    return walk.places, [0, *(found.end() for found in re.finditer("\n", text))]


class _Walk:
    """Goes through a text of TOML and notes where each place is."""

    def __init__(self, text: str) -> None:
        self.places: dict[str, _Spot] = {}
        self._text = text
        self._at = 0
        self._counts: dict[str, int] = {}

    def document(self) -> None:
        table = ""
        self._skip(_SPACE)
        while self._at < len(self._text):
            table = self._header() if self._text[self._at] == "[" else self._pair(table)
            self._skip(_SPACE)

    def _header(self) -> str:
        """Reads `[a.b]` or `[[a.b]]`: the table that follows."""
        start = self._at
        listed = self._text.startswith("[[", start)
        self._at += 2 if listed else 1
        table = self._key("", start)
        self._expect("]]" if listed else "]")
        if listed:
            count = self._counts.get(table, 0)
            self._counts[table] = count + 1
            table = f"{table}[{count}]"
            self._note(table, start)
        return table

    def _pair(self, table: str, depth: int = 0) -> str:
        """Reads `key = value` of a table; gives the table."""
        place = self._key(table, self._at)
        self._expect("=")
        self._skip(_BLANK)
        self._value(place, depth)
        return table

    def _key(self, table: str, start: int) -> str:
        """Reads a key, dotted or not: its place."""
        place = table
        while True:
            self._skip(_BLANK)
            name = self._name()
            place = f"{place}.{name}" if place else name
            self._note(place, start)
            self._skip(_BLANK)
            if not self._text.startswith(".", self._at):
                return place
            self._at += 1

    def _name(self) -> str:
        if self._text[self._at : self._at + 1] in ("'", '"'):
            start = self._at
            self._string()
            return _unquoted(self._text[start : self._at])
        found = _BARE.match(self._text, self._at)
        if found is None:
            raise _UnreadableError
        self._at = found.end()
        return found[0]

    def _value(self, place: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise _UnreadableError
        sign = self._text[self._at : self._at + 1]
        if sign in ("'", '"'):
            start = self._string()
            self.places[place] = self.places[place]._replace(text=start)
        elif sign == "[":
            self._list(place, depth)
        elif sign == "{":
            self._table(place, depth)
        else:
            self._skip(_PLAIN)

    def _list(self, place: str, depth: int) -> None:
        self._at += 1
        count = 0
        while not self._closes("]"):
            item = f"{place}[{count}]"
            self._note(item, self._at)
            self._value(item, depth + 1)
            count += 1
            self._comma("]")

    def _table(self, place: str, depth: int) -> None:
        self._at += 1
        while not self._closes("}"):
            self._pair(place, depth + 1)
            self._comma("}")

    def _closes(self, sign: str) -> bool:
        self._skip(_SPACE)
        if self._text.startswith(sign, self._at):
            self._at += 1
            return True
        return False

    def _comma(self, sign: str) -> None:
        self._skip(_SPACE)
        if self._text.startswith(",", self._at):
            self._at += 1
        elif not self._text.startswith(sign, self._at):
            raise _UnreadableError

    def _string(self) -> int:
        """Reads a text: where its first line begins, or -1 where its lines are not those of the file."""
        quote = next(each for each in _QUOTES if self._text.startswith(each, self._at))
        start = self._at + len(quote)
        at = start
        while not self._text.startswith(quote, at):
            if at >= len(self._text):
                raise _UnreadableError
            at += 2 if quote[0] == '"' and self._text[at] == "\\" else 1
        self._at = at + len(quote)
        if len(quote) == 3:
            while self._text.startswith(quote[0], self._at):  # up to two quotes may stand before the end
                self._at += 1
        held = self._text[start:at]
        if quote[0] == '"' and re.search(r"\\(?:n|[ \t]*\r?\n)", held):
            return -1
        first = re.match(r"\r?\n", held)
        return start + (first.end() if first and len(quote) == 3 else 0)

    def _note(self, place: str, at: int) -> None:
        self.places.setdefault(place, _Spot(at))

    def _expect(self, sign: str) -> None:
        self._skip(_BLANK)
        if not self._text.startswith(sign, self._at):
            raise _UnreadableError
        self._at += len(sign)

    def _skip(self, form: re.Pattern[str]) -> None:
        found = form.match(self._text, self._at)
        assert found is not None, "the form matches nothing too"
        self._at = found.end()


def _unquoted(quoted: str) -> str:
    """The name that stands in quotes."""
    if "\\" not in quoted:
        return quoted[1:-1]
    try:
        return str(tomllib.loads(f"name = {quoted}")["name"])
    except tomllib.TOMLDecodeError:
        raise _UnreadableError from None

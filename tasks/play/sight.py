"""What a party has seen, sorted by what it can be used for.

    brief, mandate, acts, results, rows  ─►  ids by table · values by name · numbers · texts

A document is a row, an act or any map inside one. Its values are kept by name,
with what they stand beside: the price that stands beside `l1` is the price of
`l1`. A word of a text is a key where it looks like one (`l1`, #W12, or in
backticks); the noun before it says of which table, as in "listing l1".

Only what reached the party counts: its own refused acts show nothing, since
what they name may not exist. Not here: what is done with it (`fillings`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgspec

from ...protocol.world import World, row_fields
from ...scorers.acts import figures

if TYPE_CHECKING:
    from .agent import Asked, Setup

Json = Any
Scalar = str | int | bool

MAX_DOCUMENT: Final = 60_000
"""The longest text that is read as a document of its own, in characters."""

_ENVELOPE: Final = frozenset({"seq", "n", "tick", "kind", "from", "to", "ok", "rule", "figures"})
_WORD = re.compile(r"`[^`\s]+`|[^\s`]+")
_EDGES = ".,;:!?()[]{}<>\"'"
_LINKS = frozenset({"", "and", "or", "&"})
_NOBODY: frozenset[str] = frozenset()
_KEY = re.compile(r"[!-~]{1,128}")


class Seen(NamedTuple):
    """A value, the name it was seen under, and the texts that stood beside it."""

    name: str
    value: Scalar
    beside: frozenset[str]


class Sight:
    """What one party has seen so far."""

    def __init__(self, world: World, setup: Setup) -> None:
        self._tables = _tables_by_name(world)
        self._ids: dict[str, dict[str, None]] = {table: {} for table in world.tables}
        self._stray: dict[str, None] = {}
        self._seen: dict[Seen, None] = {}
        self._by_name: dict[str, list[Seen]] = {}
        self._texts: dict[str, None] = {}
        self._numbers: dict[int, None] = {}
        self._rows: dict[tuple[str, str], Json] = {}
        self._near: dict[str, frozenset[str]] = {}
        self._read_text(setup.brief)
        self._read("", setup.mandate, frozenset())

    def look(self, asked: Asked) -> None:
        """Takes in what came since the last look."""
        for act in (asked.last, *asked.inbox):
            if act is not None and act["ok"]:
                fields = {name: value for name, value in act.items() if name not in _ENVELOPE}
                self._read("", fields, frozenset())
        for table, rows in asked.watch.known.items():
            for row in rows:
                if self._rows.get((table, row["id"])) is not row:
                    self._rows[table, row["id"]] = row
                    self._read(table, row, frozenset())

    def table_of(self, name: str) -> str | None:
        """The table whose rows a field of this name names, or None."""
        return self._tables.get(name)

    def ids(self, table: str) -> list[str]:
        """The keys seen of a table, and after them those that may be of any table."""
        known = self._ids.get(table, {})
        taken = {key for keys in self._ids.values() for key in keys}
        return [*known, *(key for key in self._stray if key not in taken)]

    def values(self, name: str, beside: frozenset[str] = frozenset()) -> list[Scalar]:
        """The values seen under a name of the same last word, those beside one of the texts first.

        ``unit_price`` also takes what was seen as ``price``; of two equally near
        the value of the same whole name comes first, then the one seen first.
        """
        found = self._by_name.get(_last_word(name), [])
        ranked = sorted(found, key=lambda seen: (not (seen.beside & beside), seen.name != name))
        return list(dict.fromkeys(seen.value for seen in ranked))

    def neighbours(self, text: str) -> frozenset[str]:
        """The texts that stood beside a text."""
        return self._near.get(text, _NOBODY)

    @property
    def numbers(self) -> list[int]:
        """All numbers seen, those of the brief as minor units."""
        return list(self._numbers)

    @property
    def texts(self) -> list[str]:
        """All texts seen in acts and rows, and the keys that texts held."""
        return list(self._texts)

    def _read(self, name: str, value: Json, beside: frozenset[str]) -> None:
        """Reads a value found under a name; within a map, with what stands there beside it."""
        if isinstance(value, Mapping):
            document = cast("Mapping[str, Json]", value)
            key = document.get("id")
            if isinstance(key, str) and name in self._tables:
                self._ids[self._tables[name]][key] = None
            here = beside | {each for each in document.values() if isinstance(each, str)}
            for each in here:
                self._near[each] = self._near.get(each, _NOBODY) | here
            for field, each in document.items():
                self._read(field, each, here)
        elif isinstance(value, (list, tuple)):
            for each in cast("list[Json]", value):
                self._read(name, each, beside)
        elif isinstance(value, (str, int)):
            self._keep(name, value, beside)

    def _keep(self, name: str, value: Scalar, beside: frozenset[str]) -> None:
        if isinstance(value, str):
            document = _document(value)
            if document is not None:
                self._read(name, document, beside)
                return
            self._texts[value] = None
            table = self._tables.get(name)
            if table is not None:
                self._ids[table][value] = None
            elif " " in value:
                self._read_text(value)
        elif not isinstance(value, bool):
            self._numbers[value] = None
        seen = Seen(name, value, beside)
        if seen not in self._seen:
            self._seen[seen] = None
            self._by_name.setdefault(_last_word(name), []).append(seen)

    def _read_text(self, text: str) -> None:
        """Takes the keys and the numbers out of a text."""
        for key, table in _keys(text, self._tables):
            self._texts[key] = None
            if table is None:
                self._stray[key] = None
            else:
                self._ids[table][key] = None
        self._numbers.update(dict.fromkeys(figures(text)))


def _tables_by_name(world: World) -> dict[str, str]:
    """The tables by the names that fields naming their rows have: by mark, else by the table's own name."""
    found: dict[str, str] = {}
    for table in world.tables:
        for name in (table, f"{table}s", f"{table}_id", f"{table}_ids"):
            found[name] = table
    for struct in (*world.actions, *world.tables.values()):
        for name, table in row_fields(struct).items():
            found.setdefault(name, table)
    return found


def _last_word(name: str) -> str:
    return name.rpartition("_")[2]


def _document(text: str) -> Json:
    """The map or list that a text spells, or None: some markets show rows as text."""
    if text[:1] not in ("{", "[") or len(text) > MAX_DOCUMENT:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _keys(text: str, tables: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """The words that look like keys, each with the table named before it."""
    table, before = None, ""
    for raw in _WORD.findall(text):
        quoted = raw.startswith("`")
        word = raw.strip("`" if quoted else _EDGES)
        plain = word.lower()
        if _KEY.fullmatch(word) and (quoted or _looks_like_key(word)):
            yield word, table
        elif plain not in _LINKS:
            table = tables.get(f"{before}_{plain}") or tables.get(plain)
        before = plain


def _looks_like_key(word: str) -> bool:
    has_digit = any(char.isdigit() for char in word)
    return has_digit and any(char.isalpha() or char == "#" for char in word)

"""What a party has seen, sorted by what it can be used for.

    brief, mandate, acts, results, rows, market  ─►  ids by table · values by name · numbers · texts

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

MAX_DEPTH: Final = 32
"""How far into a document it looks."""

_ENVELOPE: Final = frozenset({"seq", "n", "tick", "kind", "from", "to", "ok", "rule", "figures"})
_WORD = re.compile(r"`[^`\s]+`|[^\s`]+")
_EDGES = ".,;:!?()[]{}<>\"'"
_NOTHING: frozenset[str] = frozenset()
_LINKS = frozenset({"", "and", "or", "&"})
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
        self._parties = frozenset(party for party, _role in setup.others)
        self._ids: dict[str, dict[str, None]] = {table: {} for table in world.tables}
        self._owned: set[str] = set()
        self._stray: dict[str, None] = {}
        self._seen: dict[Seen, None] = {}
        self._by_name: dict[str, list[Seen]] = {}
        self._texts: dict[str, None] = {}
        self._numbers: dict[int, None] = {}
        self._rows: dict[tuple[str, str], Json] = {}
        self._beside: dict[str, frozenset[str]] = {}
        self._read_text(setup.brief)
        self._read("", setup.mandate, _NOTHING)
        self.shown: list[int] = []  # the numbers that the market shows at this turn, in its order

    def look(self, asked: Asked) -> None:
        """Takes in what came since the last look."""
        for act in (asked.last, *asked.inbox):
            if act is not None and act["ok"]:
                fields = {name: value for name, value in act.items() if name not in _ENVELOPE}
                self._read("", fields, _NOTHING)
        self._look_at_market(asked.market)
        for table, rows in asked.watch.known.items():
            for row in rows:
                if self._rows.get((table, row["id"])) is not row:
                    self._rows[table, row["id"]] = row
                    self._read(table, row, _NOTHING)

    def _look_at_market(self, market: Json) -> None:
        """Takes in what the market shows of itself; None where it shows nothing unasked."""
        if market is not None:
            before, self._numbers = self._numbers, {}
            self._read("", market, _NOTHING)
            self.shown = list(self._numbers)
            self._numbers = {**before, **self._numbers}

    def table_of(self, name: str) -> str | None:
        """The table whose rows a field of this name names, or None."""
        return self._tables.get(name)

    def ids(self, table: str) -> list[str]:
        """The keys seen of a table, and after them those that may be of any table."""
        return [*self._ids.get(table, {}), *self._stray]

    def values(self, name: str, beside: frozenset[str] = _NOTHING) -> list[Scalar]:
        """The values seen under a name of the same last word, those beside one of the texts first.

        So a ``unit_price`` is also what was seen as ``price``. Of two equally near
        the value of the same whole name comes first, then the one seen first.
        """
        found = self._by_name.get(_stem(name), [])
        ranked = sorted(found, key=lambda seen: (not (seen.beside & beside), seen.name != name))
        return list(dict.fromkeys(seen.value for seen in ranked))

    def parties(self, beside: frozenset[str]) -> frozenset[str]:
        """The parties that stood beside one of these texts."""
        return frozenset(party for text in beside for party in self._beside.get(text, _NOTHING))

    @property
    def numbers(self) -> list[int]:
        """All numbers seen, those of the brief as minor units."""
        return list(self._numbers)

    @property
    def texts(self) -> list[str]:
        """All texts seen in acts and rows, and the keys that texts held."""
        return list(self._texts)

    def _read(self, name: str, value: Json, beside: frozenset[str], depth: int = 0) -> None:
        """Reads a value found under a name; within a map, with what stands there beside it."""
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            self._read_map(name, cast("Mapping[str, Json]", value), beside, depth)
        elif isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
            for each in cast("list[Json]", value):
                self._read(name, each, beside, depth + 1)
        elif isinstance(value, str):
            self._keep_text(name, value, beside, depth)
        elif isinstance(value, int):
            if not isinstance(value, bool):
                self._numbers[value] = None
            self._keep(name, value, beside)

    def _read_map(self, name: str, found: Mapping[str, Json], beside: frozenset[str], depth: int) -> None:
        key, table = found.get("id"), self._tables.get(name)
        if isinstance(key, str) and table is not None:
            self._own(table, key)
        here = beside | {each for each in found.values() if isinstance(each, str)}
        parties = here & self._parties
        if parties:
            for text in here:
                self._beside[text] = self._beside.get(text, _NOTHING) | parties
        for field, each in found.items():
            self._read(field, each, here, depth + 1)

    def _keep_text(self, name: str, text: str, beside: frozenset[str], depth: int) -> None:
        document = _document(text)
        if document is not None:
            self._read(name, document, beside, depth + 1)
            return
        table = self._tables.get(name)
        if table is not None and _KEY.fullmatch(text):
            self._own(table, text)
        elif " " in text and text not in self._texts:
            self._read_text(text)
        self._texts[text] = None
        self._keep(name, text, beside)

    def _keep(self, name: str, value: Scalar, beside: frozenset[str]) -> None:
        seen = Seen(name, value, beside)
        if seen not in self._seen:
            self._seen[seen] = None
            self._by_name.setdefault(_stem(name), []).append(seen)

    def _own(self, table: str, key: str) -> None:
        self._ids[table][key] = None
        self._owned.add(key)
        self._stray.pop(key, None)

    def _read_text(self, text: str) -> None:
        """Takes the keys and the numbers out of a text."""
        for key, table in _keys(text, self._tables):
            self._texts[key] = None
            if table is not None:
                self._own(table, key)
            elif key not in self._owned:
                self._stray[key] = None
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


def _stem(name: str) -> str:
    """The last word of a name, in the singular; of `item_ids` the last two, `item_id`."""
    words = name.removesuffix("s").split("_")
    return "_".join(words[-2:] if words[-1] == "id" else words[-1:])


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
        word = raw.strip("`" if quoted else _EDGES).removesuffix("'s")
        plain = word.lower()
        if _KEY.fullmatch(word) and (quoted or _looks_like_key(word)):
            yield word, table
        elif plain not in _LINKS:
            table = tables.get(f"{before}_{plain}") or tables.get(plain)
        before = plain


def _looks_like_key(word: str) -> bool:
    has_digit = any(char.isdigit() for char in word)
    return has_digit and any(char.isalpha() or char == "#" for char in word)

"""The few moves that every subject of the market makes.

A party can't learn that a row of others exists: a foreign row is refused as an unknown one is.

Not here: what a subject is (`tollbook.protocol.joined`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ..tables import State
from ..world import Act, Refusal, Shown


def unknown(rule: str, table: str, key: str) -> Refusal:
    """The refusal of a row that is not there, or not the sender's to see."""
    return Refusal(rule, {table: key})


def misdirected(rule: str, act: Act) -> Refusal:
    """The refusal of an act that was not sent to the party it concerns."""
    return Refusal(rule, {"to": act.to})


def own(state: State, table: str, key: str, party: str) -> Any:  # noqa: ANN401 - the table says which row type
    """The row, when there is one and `party` is its buyer or its merchant; otherwise None."""
    row = state.get(table, key)
    return row if row is not None and party in (row.buyer, row.merchant) else None


def other(row: Any, party: str) -> str:  # noqa: ANN401 - any row of a buyer and a merchant
    """The other party of a row."""
    return row.merchant if party == row.buyer else row.buyer


def fresh(state: State, table: str, stem: str) -> str:
    """The key of a row to be made: `stem`, prolonged while an author's row has it."""
    key = stem
    while state.get(table, key) is not None:
        key += "x"
    return key


def start_keys(state: State, table: str, party: str, columns: Sequence[str]) -> Sequence[str]:
    """The keys of a table's rows that name the party in one of the columns; no act may add to the table."""
    name = f"commerce.{table} by party"
    index: dict[str, list[str]] | None = state.facts.memo.get(name)
    if index is None:
        index = state.facts.memo[name] = {}
        for key, row in state.facts.tables[table].rows.items():
            for named in dict.fromkeys(getattr(row, column) for column in columns):
                index.setdefault(named, []).append(key)
    return index.get(party, ())


def shown(state: State, *rows: tuple[str, str]) -> Shown:
    """These rows in full, as {table: [row]}; a row is {id, …columns}."""
    value: dict[str, list[dict[str, Any]]] = {}
    for table, key in rows:
        value.setdefault(table, []).append(_document(state, table, key))
    return Shown(value, rows)


def shown_lists(state: State, lists: Iterable[tuple[str, Sequence[str]]]) -> Shown:
    """As `shown`, for the rows of each table; a table without rows is an empty list."""
    value: dict[str, list[dict[str, Any]]] = {}
    reads: list[tuple[str, str]] = []
    for table, keys in lists:
        value[table] = [_document(state, table, key) for key in keys]
        reads.extend((table, key) for key in keys)
    return Shown(value, reads)


def _document(state: State, table: str, key: str) -> dict[str, Any]:
    document = msgspec.structs.asdict(state.get(table, key))
    document["id"] = key
    return document

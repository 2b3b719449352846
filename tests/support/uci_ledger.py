"""A small ledger of invoice lines with one of everything (invoices.csv); importing and auditing any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tollbook.ledger.audit import Audit
from tollbook.ledger.store import Store
from tollbook.ledger.verify import verify_store
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import key_text
from tollbook.tasks.uci.importer import Imported, Refused, import_ledger
from tollbook.tasks.uci.source import HEADER

SECRET = bytes(32)
NAME = "market.example"

INVOICES = Path(__file__).with_name("invoices.csv")


class Played(NamedTuple):
    """An import, what it named, and the audits of its runs."""

    imported: Imported
    refused: list[Refused]
    audits: list[Audit]

    def rows(self, table: str) -> Iterator[Any]:
        for audit in self.audits:
            assert audit.replayed is not None
            assert audit.replayed.state is not None
            yield from (row for _key, row in audit.replayed.state.rows(table))


def play(folder: Path, content: bytes, name: str = "ledger.csv") -> Played:
    """The file imported into the folder's ledger, and every run verified."""
    source, path = folder / name, folder / "market.db"
    source.write_bytes(content)
    refused: list[Refused] = []
    with Store.write(path, NAME, key_text(ledger_key(SECRET).public)) as store:
        imported = import_ledger(store, SECRET, NAME, source, refused.append)
        runs = store.runs()
    audits = list(verify_store(path, runs))
    assert [[]] * len(runs) == [audit.findings for audit in audits]
    return Played(imported, refused, audits)


def lines_of(text: str) -> bytes:
    return f"{HEADER}\n{text}".encode()


def moved(audits: Iterable[Audit]) -> Iterator[int]:
    """By how much the shop's account moved in each run."""
    for audit in audits:
        assert audit.replayed is not None
        state = audit.replayed.state
        assert state is not None
        started: Any = state.facts.tables["account"].rows.get("merchant:shop")
        ended = state.get("account", "merchant:shop")
        before, after = (0 if row is None else row.balances["GBP"] for row in (started, ended))
        yield after - before

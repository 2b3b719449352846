"""A small ledger of invoice lines with one of everything, and a way to import one and audit its runs."""

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

LINES = """\
536365,2010-12-01 08:26,85123A,6,2.55,
536365,2010-12-01 08:26,85123A,2,2.55,
536365,2010-12-01 08:26,85123A,1,3.39,
536365,2010-12-01 08:26,BANK CHARGES,1,15.0,
not a line
536370,2010-12-01 08:45,22728,24,3.75,
536371,2010-12-02 09:00,22086,80,0.0,
C536372,2010-12-02 09:10,22728,-24,3.75,536370
C536373,2010-12-02 09:20,85123A,-2,2.55,536365
C536374,2010-12-02 09:30,85123A,-4,2.55,
C536375,2010-12-02 09:40,BANK CHARGES,-2,15.0,536365
536376,2010-12-02 10:00,22086,-9,0.0,
536377,2010-12-02 10:10,PADS,1,0.001,
A536378,2010-12-02 11:00,B,1,-11062.06,
536379,2011-01-04 10:00,22728,3,1.25,
C536380,2011-01-04 11:00,85123A,-5,2.55,536365
C536381,2011-01-04 11:01,85123A,-1,2.55,536365
C536382,2011-01-04 11:02,22728,-3,1.25,536379
"""


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

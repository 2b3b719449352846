"""A scratch market: two buyers, a merchant and the operator, each with a key, in a ledger of its own.

    rows ─► open ─► say, say, … ─► (closed and opened again) ─► seal ─► export ─► audit

The rows are those that a case needs. Names and secret are fixed, so a case
gives the same roots wherever it is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...ledger.blobs import facts_blob
from ...ledger.bundle import export_lines
from ...ledger.plan import Plan, Seat
from ...ledger.store import Store
from ...ledger.verify import verify_bundle
from ...ledger.writer import Writer
from ...protocol.bodies import Agent, Origin
from ...protocol.canonical import digest_typed, encode
from ...protocol.derive import ledger_key
from ...protocol.engine import Ruling
from ...protocol.keys import key_text
from ...protocol.world import latest, world_of
from ..play.environment import environment_note
from ..play.play import typed

if TYPE_CHECKING:
    from ...ledger.anchor import Pins
    from ...ledger.audit import Audit

Json = Any
Rows = Mapping[str, Mapping[str, Mapping[str, Json]]]

NAME: Final = "scratch"
SECRET: Final = bytes(range(32))
ROLES: Final = {"ann": "buyer", "bob": "buyer", "shop": "merchant", "operator": "operator"}

_AGENT = Agent(model="", name="integrity", settings={}, version="")


class Scratch:
    """One run of a scratch market, being written."""

    def __init__(self, path: Path, rows: Rows, *, trial: int = 0, group: int = 1) -> None:
        self._path = path
        self._store = _store(path)
        ref = latest("commerce")
        world = world_of(ref)
        start: dict[str, dict[str, dict[str, Json]]] = {table: {} for table in world.tables}
        start |= {table: {key: dict(row) for key, row in keyed.items()} for table, keyed in rows.items()}
        facts = world.facts(
            (table, key, world.read_row(table, encode(row)))
            for table, keyed in world.complete(start).items()
            for key, row in keyed.items()
        )
        plan = Plan(
            world=ref,
            seats=[Seat(party, role, _AGENT) for party, role in ROLES.items()],
            seed=digest_typed(["integrity", trial]),
            origin=Origin(custody="played", source=None),
            trial=trial,
        )
        self.writer = Writer.begin(
            self._store, SECRET, NAME, plan, facts, [facts_blob(facts)], group=group
        )
        self.number, self.id = self._store.find(self.writer.id)

    def say(
        self, party: str, kind: str, *, to: str | None = None, key: str | None = None, **fields: Json
    ) -> Ruling:
        """What the market rules on an act."""
        voice = self.writer.voice(party)
        self.formed = voice.form(typed(self._world(), {"kind": kind, **fields}), to=to, key=key)
        return voice.send(self.formed)

    def again(self) -> Ruling:
        """What it rules on the last act, said again: the same bytes of it, its texts under the same salts."""
        message = self.formed.message
        voice = self.writer.voice(message.sender)
        return voice.send(voice.form(message.action, to=message.to, key=message.key))

    @property
    def root(self) -> str:
        """The state root, in hex."""
        state = self.writer.run.state
        assert state is not None
        return state.root()

    def row(self, table: str, key: str) -> Any:  # noqa: ANN401 - one of the market's rows
        """A row as it stands."""
        state = self.writer.run.state
        assert state is not None
        return state.get(table, key)

    def rows(self, table: str) -> list[str]:
        """The keys of a table as it stands."""
        state = self.writer.run.state
        assert state is not None
        return [key for key, _row in state.rows(table)]

    def reopen(self) -> None:
        """Closes the ledger, opens it again, and goes on from what it holds."""
        self.close()
        self._store = _store(self._path)
        self.writer = Writer.resume(self._store, SECRET, self.number, group=1)

    def seal(self) -> str:
        """Ends the run; its root."""
        return self.writer.seal("completed", environment_note)

    def export(self) -> list[bytes]:
        """The lines of the run's export, each with its end."""
        return list(export_lines(self._store, [(self.number, self.id)]))

    def notes(self) -> list[str]:
        """The notes beside the run, its checkpoint first."""
        return self._store.notes(self.number)

    def close(self) -> None:
        """Closes the ledger."""
        self._store.close()

    def _world(self) -> Any:  # noqa: ANN401 - the commerce world
        world = self.writer.run.world
        assert world is not None
        return world


def audit_of(lines: Sequence[bytes], path: Path, pins: Pins | None = None) -> Audit:
    """The audit of the only run of a bundle, written to a path.

    Raises:
        BundleError: it can't be read.
    """
    path.write_bytes(b"".join(lines))
    return next(iter(verify_bundle(path) if pins is None else verify_bundle(path, pins)))


def _store(path: Path) -> Store:
    return Store.write(path, NAME, key_text(ledger_key(SECRET).public))


def shelf(units: int, **more: Mapping[str, Mapping[str, Json]]) -> Rows:
    """The rows of a shop with one listing, of which there are so many units, and these."""
    return {
        "listing": {"lamp": {"merchant": "shop", "title": "desk lamp", "price": 4_000}},
        "inventory": {"lamp": {"available": units}},
        **more,
    }


def agreed(quantity: int, buyer: str, short: int = 0) -> dict[str, Json]:
    """An agreement on lamps, of which so many are yet without stock that is set aside."""
    return {
        "listing": "lamp",
        "buyer": buyer,
        "merchant": "shop",
        "quantity": quantity,
        "unit_price": 4_000,
        "total": 4_000 * quantity,
        "short": short,
    }

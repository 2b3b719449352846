"""A double auction's rules without records: who is asked, what is said there, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tollbook.protocol.auction.double import Book, book_of
from tollbook.protocol.auction.session import Auction, auction_of, session_of
from tollbook.protocol.auction.world import make
from tollbook.protocol.bodies import Decision, Message
from tollbook.protocol.canonical import encode_typed
from tollbook.protocol.engine import decide, read_action
from tollbook.protocol.tables import State
from tollbook.protocol.world import Ask

WORLD = make({})


class Floor:
    """One session, its first round open; values and costs as stated."""

    def __init__(self, buyers: Mapping[str, int], sellers: Mapping[str, int], /, **session: Any) -> None:
        parties = {**buyers, **sellers}
        parameters = {"format": "double", "values": "stated", "cap": 400, **session}
        row = {"bidders": [*parties], "sellers": [*sellers], **parameters}
        rows = [("session", "s", row)]
        rows += [("induced", party, {"bidder": party, "value": worth}) for party, worth in parties.items()]
        read = [(table, key, msgspec.convert(row, WORLD.tables[table])) for table, key, row in rows]
        for table, _key, each in read:
            WORLD.check_row(table, each)
        self.state = State(WORLD.facts(read))
        roles = {party: "seller" if party in sellers else "buyer" for party in parties}
        self.roles = {**roles, "operator": "operator"}
        self._said = 0
        self.say("operator", "round.open")

    @property
    def asked(self) -> str | None:
        """Whose step it is; nobody's between rounds."""
        due = WORLD.due(self.state)
        return due.party if isinstance(due, Ask) else None

    @property
    def auction(self) -> tuple[str, Auction]:
        """The auction that is open."""
        found = next(filter(None, (auction_of(self.state, party) for party in self.roles)), None)
        assert found is not None
        return found

    @property
    def book(self) -> Book:
        """The book of the auction that is open."""
        return book_of(self.state, session_of(self.state), *self.auction)

    def say(self, sender: str, /, kind: str, **fields: Any) -> Decision:
        """What becomes of an act."""
        raw = encode_typed({"kind": kind, **fields})
        self._said += 2
        message = Message(msgspec.Raw(raw), sender, None, 0, None, (0, ""), None)
        action = read_action(WORLD, raw)
        return decide(WORLD, self.state, message, action, self._said, self.roles, _reaches_nobody).decision

    def wait_for(self, party: str) -> None:
        """Has everybody pass until a party is asked."""
        while self.asked != party:
            assert self.asked is not None
            self.say(self.asked, "quote.pass")

    def quote(self, party: str, amount: int) -> Decision:
        """A party's quote when it is asked next, everybody passing until then."""
        self.wait_for(party)
        side = "sell" if self.roles[party] == "seller" else "buy"
        return self.say(party, f"quote.{side}", amount=amount)

    def rows(self, table: str) -> list[Any]:
        """The rows of a table, by key."""
        return [row for _key, row in self.state.rows(table)]


def _reaches_nobody(_seq: int, _party: str) -> bool:
    return False

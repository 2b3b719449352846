"""Sessions of auctions without records: bidders say what a test has them say, and an episode is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tollbook.ledger.audit import Deed
from tollbook.protocol.auction.session import session_of
from tollbook.protocol.auction.world import make
from tollbook.protocol.bodies import Decision, Message
from tollbook.protocol.canonical import encode_typed
from tollbook.protocol.engine import decide, read_action
from tollbook.protocol.tables import State
from tollbook.protocol.world import Ask, Operate
from tollbook.scorers.view import Episode

WORLD = make({})

Move = Mapping[str, Any] | int | None
"""A move; an amount is a sealed bid, None a pass."""


class Sitting:
    """One session; ``values`` are stated for each bidder, by round or for all rounds."""

    def __init__(self, values: Mapping[str, int | list[int]] | Iterable[str], /, **session: Any) -> None:
        bidders = [*values]
        rows: list[tuple[str, str, Mapping[str, Any]]] = []
        if isinstance(values, Mapping):
            session = {"values": "stated", **session}
            for bidder, stated in values.items():
                for number, value in enumerate([stated] if isinstance(stated, int) else stated, 1):
                    row = {"bidder": bidder, "round": number, "value": value}
                    rows.append(("induced", f"{bidder}_{number}", row))
        rows.append(("session", "s", {"bidders": bidders, **session}))
        read = [(table, key, msgspec.convert(row, WORLD.tables[table])) for table, key, row in rows]
        for table, _key, each in read:
            WORLD.check_row(table, each)
        self.state = State(WORLD.facts(read))
        sellers = session_of(self.state).sellers
        self.roles = {bidder: "seller" if bidder in sellers else "bidder" for bidder in bidders}
        self.roles["operator"] = "operator"
        self.deeds: list[Deed] = []
        self.go_on()

    def go_on(self) -> str | None:
        """Has the operator do what is due; whose turn it is then, nobody's at the end."""
        due = WORLD.due(self.state)
        while isinstance(due, Operate):
            self._say("operator", encode_typed(due.action))
            due = WORLD.due(self.state)
        return due.party if isinstance(due, Ask) else None

    def move(self, move: Move) -> Decision:
        """What becomes of a move of whoever's turn it is."""
        asked = self.go_on()
        assert asked is not None, "the session is over"
        if move is None:
            return self._say("operator", encode_typed(WORLD.passing(asked)))
        said = {"kind": "bid.submit", "amount": move} if isinstance(move, int) else move
        return self._say(asked, encode_typed(said))

    def moves(self, *moves: Move) -> Sitting:
        """The session after these moves, one after the other."""
        for move in moves:
            self.move(move)
        self.go_on()
        return self

    def all_say(self, said: Mapping[str, list[Move]]) -> Sitting:
        """The session after each bidder has made its own moves whenever it was asked."""
        left = {bidder: list(moves) for bidder, moves in said.items()}
        while (asked := self.go_on()) is not None and left.get(asked):
            self.move(left[asked].pop(0))
        return self

    @property
    def episode(self) -> Episode:
        """What has happened."""
        return Episode(WORLD, self.roles, self.deeds, self.state, "first")

    def _say(self, sender: str, raw: bytes) -> Decision:
        seq = 2 * len(self.deeds) + 1
        message = Message(msgspec.Raw(raw), sender, None, 0, None, (0, ""), None)
        action = read_action(WORLD, raw)
        ruling = decide(WORLD, self.state, message, action, seq, self.roles, _reaches_nobody)
        self.deeds.append(Deed(seq, message, action, {}, ruling.decision))
        return ruling.decision


def _reaches_nobody(_seq: int, _party: str) -> bool:
    return False

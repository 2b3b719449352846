"""An auction's rules without records: who is due, what is said there, and what a session comes to.

Bidders are functions from what the market shows to an act, the benchmark of each format among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from tollbook.protocol.auction.results import Result
from tollbook.protocol.auction.session import Auction
from tollbook.protocol.auction.world import make
from tollbook.protocol.bodies import Decision, Message
from tollbook.protocol.canonical import encode_typed
from tollbook.protocol.engine import decide, read_action
from tollbook.protocol.tables import State
from tollbook.protocol.world import Accepted, Act, Ask, Operate, kind_of

WORLD = make({})
OPERATOR = "operator"

Act_ = Mapping[str, Any]
Bidder = Callable[[Mapping[str, Any]], Act_]


class Laboratory:
    """One session. ``values`` are those of its bidders, one for all rounds; without them they are drawn."""

    def __init__(self, kind: str, values: Mapping[str, int] | Sequence[str], /, **session: Any) -> None:
        row: dict[str, Any] = {"format": kind, "bidders": [*values], **session}
        rows: list[tuple[str, str, dict[str, Any]]] = [("session", "s", row)]
        if isinstance(values, Mapping):
            row["values"] = "stated"
            rows += [("induced", party, {"bidder": party, "value": value}) for party, value in values.items()]
        read = [(table, key, msgspec.convert(each, WORLD.tables[table])) for table, key, each in rows]
        for table, _key, each in read:
            WORLD.check_row(table, each)
        self.state = State(WORLD.facts(read))
        self.roles = {OPERATOR: OPERATOR, **dict.fromkeys(values, "bidder")}
        self._said = 0

    def say(self, party: str, kind: str, /, **fields: Any) -> Decision:
        """What becomes of an act."""
        return self.say_raw(party, encode_typed({"kind": kind, **fields}))

    def say_raw(self, party: str, raw: bytes) -> Decision:
        """As `say`, of an action's bytes."""
        self._said += 2
        message = Message(msgspec.Raw(raw), party, None, 0, None, (0, ""), None)
        action = read_action(WORLD, raw)
        return decide(
            WORLD, self.state, message, action, self._said, self.roles, lambda _seq, _party: False
        ).decision

    def rules(self, *acts: tuple[str, str, Any]) -> list[str | None]:
        """By which rule each act is refused; an act is (party, kind, amount or auction or None)."""
        return [self.say(party, kind, **_fields(kind, given)).rule for party, kind, given in acts]

    def operate(self) -> None:
        """Has the operator do what is due of it, as often as it is."""
        while isinstance(due := WORLD.due(self.state), Operate):
            self.say_raw(OPERATOR, encode_typed(due.action))

    @property
    def asked(self) -> str | None:
        """Whose turn it is, once the operator has done its part; nobody's after the last round."""
        self.operate()
        due = WORLD.due(self.state)
        return due.party if isinstance(due, Ask) else None

    def sight(self, party: str) -> Mapping[str, Any]:
        """What a bidder is shown."""
        return WORLD.sight(self.state, party)

    def play(self, bidders: Mapping[str, Bidder] | Bidder, *, rounds: int = 0) -> list[Result]:
        """Plays on to the end, or until so many rounds are over; gives the results in order."""
        while (party := self.asked) is not None:
            if rounds and self.sight(party)["round"] > rounds:
                break
            bidder = bidders[party] if isinstance(bidders, Mapping) else bidders
            self.move(party, bidder(self.sight(party)))
        return self.results

    def move(self, party: str, act: Act_) -> None:
        """An act that is allowed, without the engine around it: plays are long."""
        fields = dict(act)
        kind = WORLD.kinds[fields.pop("kind")]
        verdict = WORLD.decide(self.state, Act(kind(**fields), party, "bidder", 0))
        assert isinstance(verdict, Accepted), verdict
        for event in verdict.events:
            WORLD.evolve(self.state, event)
        self.state.commit()

    @property
    def results(self) -> list[Result]:
        """The results, by round, auction and bidder."""
        rows = [row for _key, row in self.state.rows("result")]
        return sorted(rows, key=lambda row: (row.round, row.auction, row.bidder))

    def auction(self, key: str = "a1_1") -> Auction:
        """An auction."""
        return self.state.get("auction", key)

    def came_to(self, key: str = "a1_1") -> dict[str, tuple[int, int, int]]:
        """Units, payment and profit of an auction's bidders."""
        return {row.bidder: (row.units, row.paid, row.profit) for row in self.results if row.auction == key}

    @property
    def sold(self) -> list[tuple[list[str], int]]:
        """Who won each auction, and at which price, in order."""
        found: dict[str, tuple[list[str], int]] = {}
        for row in self.results:
            winners, _price = found.setdefault(row.auction, ([], row.price))
            winners += [row.bidder] * row.units
        return list(found.values())


def _fields(kind: str, given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    return {"auction" if kind.startswith("clock.") else "amount": given}


def moves_of(kind: str) -> list[str]:
    """The kinds of act of the format's bidders."""
    return [kind_of(each) for each in WORLD.actions if kind_of(each) in MOVES[kind]]


MOVES = {
    **dict.fromkeys(
        ("first_price", "second_price", "all_pay", "uniform_price", "discriminatory"),
        ("bid.submit", "bid.pass"),
    ),
    **dict.fromkeys(("english_open", "english_closed"), ("clock.stay", "clock.exit")),
    "dutch": ("clock.stop", "clock.wait"),
    "posted_price": ("price.accept", "price.decline"),
    "proxy": ("proxy.bid", "proxy.hold"),
}


def truthful(market: Mapping[str, Any]) -> Act_:
    """Bids its value, sealed."""
    amount = market["value"]
    return {"kind": "bid.submit", "amount": amount} if amount >= market["reserve"] else {"kind": "bid.pass"}


def shading(market: Mapping[str, Any]) -> Act_:
    """Bids v (n − 1) / n, rounded down."""
    amount = shaded(market)
    return {"kind": "bid.submit", "amount": amount} if amount >= market["reserve"] else {"kind": "bid.pass"}


def staying(market: Mapping[str, Any]) -> Act_:
    """Stays while the price is below its value."""
    return {"kind": "clock.stay" if market["price"] < market["value"] else "clock.exit"}


def stopping(market: Mapping[str, Any]) -> Act_:
    """Stops at the first price that isn't above v (n − 1) / n."""
    return {"kind": "clock.stop" if market["price"] <= shaded(market) else "clock.wait"}


def taking(market: Mapping[str, Any]) -> Act_:
    """Accepts a price up to its value."""
    return {"kind": "price.accept" if market["value"] >= market["price"] else "price.decline"}


def stating(market: Mapping[str, Any]) -> Act_:
    """States its value as its maximum, at once."""
    if market["maximum"] is None and market["value"] >= market["reserve"]:
        return {"kind": "proxy.bid", "amount": market["value"]}
    return {"kind": "proxy.hold"}


def shaded(market: Mapping[str, Any]) -> int:
    n = market["bidders"]
    return market["value"] * (n - 1) // n

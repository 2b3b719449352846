"""The world `auction`, version 0: sessions of laboratory auctions that pace themselves.

    due     the next round is opened · whoever's move it is · None after the last round
    sight   what everybody is shown, what the bidder was given, and what its family adds

Not here: any format (a family each), what theory says of it (`benchmarks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from ..errors import WorldError
from ..joined import JoinedWorld
from ..world import Operate, PacedWorld
from . import (
    ascending,
    benchmarks,
    descending,
    double,
    families,
    posted,
    proxy,
    results,
    sealed,
    session,
    turns,
    valuations,
)
from .session import Auction, RoundOpen, auction_of, first_open, played, session_of
from .turns import TurnPass

if TYPE_CHECKING:
    from ..bodies import Scalar
    from ..tables import Facts, Row, State
    from ..world import Due


class AuctionWorld(JoinedWorld, PacedWorld):
    """The market. It takes no parameters: what varies is in its rows."""

    name = "auction"
    version = 0
    subjects: ClassVar = (
        session.SUBJECT,
        valuations.SUBJECT,
        results.SUBJECT,
        sealed.SUBJECT,
        ascending.SUBJECT,
        descending.SUBJECT,
        proxy.SUBJECT,
        posted.SUBJECT,
        double.SUBJECT,
        turns.SUBJECT,
    )
    most_turns = 100_000
    answers: ClassVar = benchmarks.ANSWERS
    unoffered = frozenset({"agent.unparsed", "clock.lower", "clock.raise", "round.open", "turn.pass"})
    refusing = ("bid.pass", "clock.exit", "clock.wait", "proxy.hold", "price.decline")
    taking = ("bid.submit", "clock.stay", "clock.stop", "proxy.bid", "price.accept")

    def due(self, state: State) -> Due | None:
        """The move that is due: of the first auction that is open, or the next round."""
        parameters, found = session_of(state), first_open(state)
        if found is not None:
            return families.of(parameters.format).due(state, parameters, *found)
        return Operate(RoundOpen()) if played(state).rounds < parameters.rounds else None

    def passing(self, party: str) -> msgspec.Struct:
        """The operator's pass for a party."""
        return TurnPass(party)

    def sight(self, state: State, party: str) -> Any:  # noqa: ANN401 - plain JSON
        """What a bidder is shown when it is asked; amounts in minor units."""
        worth: valuations.Valuation | None = session.worth_of(state, party)
        auction: Auction | None = None if worth is None else state.get("auction", worth.auction)
        if worth is None or auction is None or auction.state != "open":
            return None
        parameters = session_of(state)
        shown: dict[str, Any] = {
            "format": parameters.format,
            "round": auction.round,
            "rounds": parameters.rounds,
            "bidders": len(auction.bidders),
            valuations.called(parameters, party): worth.signal,
            "reserve": parameters.reserve,
            "units": parameters.units,
            "cap": parameters.cap,
            "unit": parameters.unit,
            **_support(parameters),
        }
        before = results.feedback(state, parameters, auction.round - 1, party)
        if before is not None:
            shown["before"] = before
        if auction.round <= len(parameters.news) and parameters.news[auction.round - 1]:
            shown["news"] = parameters.news[auction.round - 1]
        more = families.of(parameters.format).sight(state, parameters, worth.auction, auction, party)
        shown.update(more)
        return shown

    def understood(self, state: State, party: str, text: str) -> msgspec.Struct | None:
        """The move that a bidder's words come to."""
        found = auction_of(state, party)
        if found is None:
            return None
        parameters = session_of(state)
        return families.of(parameters.format).understood(state, parameters, *found, party, text)

    def facts(self, rows: Iterable[tuple[str, str, Row]]) -> Facts:
        """As `World.facts`: a session of which no round was played, and the values that it says are stated.

        Raises:
            WorldError: as `World.facts`, or `facts.row`.
        """
        facts = super().facts(rows)
        for table, key, row in facts.rows():
            if table == "induced" or (isinstance(row, session.Session) and key == session.SESSION):
                continue
            raise WorldError("facts.row", f"row `{key}` of `{table}` can't be there before the first round")
        parameters = facts.tables["session"].rows.get(session.SESSION)
        if not isinstance(parameters, session.Session):
            raise WorldError("facts.row", f"there is no row `{session.SESSION}` of `session`")
        party = valuations.unstated(facts, parameters)
        if party is not None:
            problem = f"row `{session.SESSION}` of `session` has `{party}` bid, whose value isn't stated"
            raise WorldError("facts.row", problem, "state it in a row of `induced`, for round 1")
        return facts

    def check_row(self, table: str, row: Row) -> None:
        """Refuses a session whose parameters don't fit together."""
        problem = session.problem(row) if isinstance(row, session.Session) else None
        if problem is not None:
            raise WorldError("facts.row", f"a row of `{table}` contradicts itself: {problem}")


def _support(parameters: session.Session) -> dict[str, int]:
    """How values are drawn, which everybody is told; of stated values nobody is."""
    if parameters.values == "stated":
        return {}
    error = {"error": parameters.error} if parameters.values == "common" else {}
    return {"low": parameters.low, "high": parameters.high, **error}


def make(params: Mapping[str, Scalar]) -> AuctionWorld:
    """The world; it takes no parameters.

    Raises:
        WorldError: there are parameters.
    """
    if params:
        hint = "leave `params` empty: what varies is in the rows"
        raise WorldError("world.params", "world `auction` does not take these parameters", hint)
    return AuctionWorld()

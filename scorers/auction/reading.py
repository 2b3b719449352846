"""An auction run as its measures read it: who won and paid, what happened, what theory says.

    state ─► auctions that closed, values, results      events, in order      facts ─► benchmarks

An auction that is open when the run ends is in no measure. Theory's answers are the
market's own (`World.answers`), made again from the start rows; amounts in micros of a
minor unit become exact fractions of it.

Not here: any measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ...protocol.auction.benchmarks import MICROS
from ...protocol.auction.session import session_of

if TYPE_CHECKING:
    from ...protocol.auction.results import Result
    from ...protocol.auction.session import Auction, Session
    from ...protocol.auction.valuations import Valuation
    from ..view import Episode

Place = tuple[int, str]
"""A round, and a bidder in it."""

Event = TypeVar("Event")


class Reading:
    """A run of a world `auction`, read on demand."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.session: Session = session_of(episode.state)

    @cached_property
    def auctions(self) -> Mapping[str, Auction]:
        """The auctions that closed, in order of their rounds."""
        rows = (row for row in self.episode.state.rows("auction") if row[1].state == "closed")
        return dict(sorted(rows, key=lambda row: (row[1].round, row[0])))

    @cached_property
    def worth(self) -> Mapping[Place, Valuation]:
        """What each bidder was given in each round."""
        return {(row.round, row.bidder): row for _key, row in self.episode.state.rows("valuation")}

    @cached_property
    def results(self) -> Mapping[str, Sequence[Result]]:
        """What each auction that closed came to, for each of its bidders."""
        found: dict[str, list[Result]] = {key: [] for key in self.auctions}
        for _key, row in self.episode.state.rows("result"):
            found[row.auction].append(row)
        return found

    @property
    def bidders(self) -> Sequence[str]:
        """The parties that bid."""
        return self.session.bidders

    def events(self, *kinds: type[Event]) -> Iterator[Event]:
        """The events of these kinds, in order."""
        for deed in self.episode.deeds:
            events = cast("Iterable[object]", deed.decision.events)  # typed ones, of a replayed run
            yield from (event for event in events if isinstance(event, kinds))

    def answer(self, name: str) -> Any:  # noqa: ANN401 - plain JSON
        """What the market's theory answers."""
        return self.episode.world.answers[name](self.episode.state.facts)

    def amounts(self, name: str) -> Mapping[Place, Fraction | None]:
        """An answer that is an amount for each round and bidder, in minor units; null is None."""
        return {
            (number, bidder): None if micros is None else Fraction(micros, MICROS)
            for number, by_bidder in enumerate(self.answer(name), 1)
            for bidder, micros in by_bidder.items()
        }

    def is_inside(self, place: Place) -> bool:
        """Whether a common value lies so far inside its support that no signal of it tells of the ends.

        By the value and not by the signals: which signals were drawn must not decide what is averaged.
        """
        session = self.session
        return session.low + 2 * session.error <= self.worth[place].value <= session.high - 2 * session.error

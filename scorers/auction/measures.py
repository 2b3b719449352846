"""The measures of auctions, as the market's `MARKET`.

    session   the session's own, and what its bidders come to together
    parties   each bidder's own

Not here: what each is (the modules that are joined here).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..measures import Market, Measured, Sums, added
from . import deviations, outcomes, trading, turns
from .bids import bids_of
from .reading import Reading

if TYPE_CHECKING:
    from ..view import Episode


def measure(episode: Episode) -> Measured:
    """The measures of a session, and of each of its bidders."""
    reading = Reading(episode)
    bids = bids_of(reading)
    outcome, quotes, answers = (
        outcomes.of_bidders(reading, bids),
        trading.of_traders(reading),
        turns.turns(reading),
    )
    parties: dict[str, Sums] = {
        bidder: {
            **outcome[bidder],
            **deviations.deviations([bid for bid in bids if bid.bidder == bidder]),
            **quotes[bidder],
            **answers[bidder],
        }
        for bidder in reading.bidders
    }
    own = {**outcomes.of_session(reading), **trading.of_session(reading)}
    return Measured({**own, **added(parties.values())}, parties)


MARKET: Final = Market(
    {**outcomes.MEASURES, **deviations.MEASURES, **trading.MEASURES, **turns.MEASURES}, measure
)

"""What clocks have in common: a price that the operator moves, and one answer of each bidder at each price.

    round.opened at `price` ─► answers of all that are in ─► the clock moves ─► answers ─► … ─► closed

Everybody answers for itself: what others answer at a price is shown to nobody before
all have, so who is asked first decides nothing.

Not here: which way a clock goes, and what its answers mean (`ascending`, `descending`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..world import Refusal
from .session import Turn, session_of

if TYPE_CHECKING:
    from ..tables import State

ANSWERING = ("clock.format", "clock.closed", "clock.left", "clock.twice", "clock.turn")
ONCE = ("clock.format", "clock.closed", "clock.twice", "clock.turn")
MOVING = ("clock.format", "clock.auction", "clock.waits")

REFUSALS = {
    "clock.format": "this auction takes no such move",
    "clock.closed": "no auction of the bidder's is open",
    "clock.left": "the bidder has left the auction",
    "clock.twice": "the bidder has answered at this price",
    "clock.turn": "it is another's turn",
    "clock.auction": "no such auction is open",
    "clock.waits": "a bidder that is still in it has not answered at this price",
}


def moving(state: State, key: str, formats: Collection[str]) -> Turn | Refusal:
    """The auction whose clock the operator may move, or why it may not."""
    session = session_of(state)
    if session.format not in formats:
        return Refusal("clock.format", {"format": session.format})
    auction = state.get("auction", key)
    if auction is None or auction.state != "open":
        return Refusal("clock.auction", {"auction": key})
    if auction.turn < len(auction.active):
        return Refusal("clock.waits", {"auction": key})
    return session, key, auction

"""What the fields of auctions are made of: amounts, rounds, and the moves every family makes.

    Amount   whole minor units; of a bid, a value, a price, a payment
    Family   who is due in an open auction, what a party is shown of it, and what its words mean

Not here: any family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec

from ..canonical import Id, Index

if TYPE_CHECKING:
    from ..joined import Verdict
    from ..tables import State
    from ..world import Due
    from .session import Auction, Session

MAX_AMOUNT = 10**12

Amount = Annotated[
    int, msgspec.Meta(ge=0, le=MAX_AMOUNT, description="in minor units (cents)", extra={"unit": "minor"})
]
Signed = Annotated[int, msgspec.Meta(ge=-MAX_AMOUNT, le=MAX_AMOUNT, extra={"unit": "minor"})]
"""A profit, or a value that a signal's error may take below nothing."""
Round = Annotated[int, msgspec.Meta(ge=1, le=100_000)]
Party = Id
Key = Id
"""The key of an auction."""
Count = Index

BIDDER = frozenset({"bidder", "buyer", "seller"})
OPERATOR = frozenset({"operator"})


class AuctionRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row; its columns are whole numbers, texts and lists of them."""


class AuctionAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """What a party says; its kind is `noun.verb`."""


class AuctionEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """What happened; its kind is `noun.past`."""


class Family(NamedTuple):
    """How one family of formats is played.

    ``due`` says what comes next in an open auction (never None: an auction that
    is over is closed by the act that ended it); ``sight`` adds to what a party
    is shown; ``moves`` are the kinds of act it may answer with; ``understood``
    reads words as one of these, or gives None; ``passed`` is the verdict on no
    move at all.
    """

    formats: frozenset[str]
    moves: tuple[str, ...]
    due: Callable[[State, Session, str, Auction], Due]
    sight: Callable[[State, Session, str, Auction, str], Mapping[str, Any]]
    understood: Callable[[State, Session, str, Auction, str, str], msgspec.Struct | None]
    passed: Callable[[State, Session, str, Auction, str], Verdict]

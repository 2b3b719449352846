"""Reviews of listings by buyers.

    verified = its order was delivered to the reviewer and holds the listing

A party reviews a listing once. Reviews are public; `review_index` names those of each listing. A verified
review counts in its merchant's reputation. What a start row says in words is its ``text``; the words of a
review made in a run are a part, of which the row holds the digest.
Not here: what a review is worth to a reader.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from ..bodies import Made, Part, Text
from ..canonical import Hex, Id
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import Listing
from .orders import Order
from .reputation import counted
from .subject import fresh, misdirected, own, shown, shown_lists, unknown
from .talk import tick_of
from .terms import BUYER, CommerceAction, CommerceEvent, CommerceRow, ListingId, OrderIdOrNone, Tick

Rating = Annotated[int, msgspec.Meta(ge=1, le=5)]

HAD = frozenset({"delivered", "returned", "refunded", "exchanged"})
"""The states of an order whose goods its buyer had."""


class Review(CommerceRow, frozen=True):
    """A row of `review`, from 1 (worst) to 5; ``part`` is the digest of the words of one made in a run."""

    reviewer: Id
    listing: ListingId
    rating: Rating
    verified: bool = False
    order: OrderIdOrNone = None
    text: Text = ""
    part: Hex | None = None
    tick: Tick = 0

    def problem(self) -> str | None:
        """As `CommerceRow.problem`."""
        return "names an order, and isn't verified" if self.order is not None and not self.verified else None


class ReviewIndex(CommerceRow, frozen=True):
    """A row of `review_index`, its key a listing's: the key of each reviewer's review."""

    reviews: dict[Id, Id]


class ReviewSubmit(CommerceAction, frozen=True, tag="review.submit"):
    """Reviews a listing, once, from 1 to 5; by naming an order that was delivered, as verified.

    Sent to the listing's merchant.
    """

    listing: ListingId
    rating: Rating
    text: Part
    order: OrderIdOrNone = None


class ReviewList(CommerceAction, frozen=True, tag="review.list"):
    """Reads all reviews of a listing, oldest first: rating, words, whether the purchase was verified."""

    listing: ListingId


class ReviewSubmitted(CommerceEvent, frozen=True, tag="review.submitted"):
    """A buyer reviewed a listing."""

    review: Made
    reviewer: str
    listing: str
    merchant: str
    rating: int
    verified: bool
    order: str | None
    part: str
    tick: int


def reviews_of(state: State, listing: str) -> dict[str, str]:
    """The reviews of a listing by their reviewers."""
    index: ReviewIndex | None = state.get("review_index", listing)
    return {} if index is None else index.reviews


def _submit(state: State, act: Act) -> Verdict:
    action: ReviewSubmit = act.action
    listing: Listing | None = state.get("listing", action.listing)
    if listing is None:
        return unknown("listing.unknown", "listing", action.listing)
    order: Order | None = None
    if action.order is not None:
        order = own(state, "order", action.order, act.sender)
        if order is None:
            return unknown("order.unknown", "order", action.order)
    if act.to != listing.merchant:
        return misdirected("review.addressee", act)
    if order is not None and order.state not in HAD:
        return Refusal("review.order_state", {"order": action.order, "state": order.state})
    if order is not None and all(line.listing != action.listing for line in order.lines):
        return Refusal("review.listing", {"order": action.order, "listing": action.listing})
    if act.sender in reviews_of(state, action.listing):
        return Refusal("review.twice", {"listing": action.listing})
    submitted = ReviewSubmitted(
        review=fresh(state, "review", f"v{act.seq}"),
        reviewer=act.sender,
        listing=action.listing,
        merchant=listing.merchant,
        rating=action.rating,
        verified=order is not None,
        order=action.order,
        part=action.text,
        tick=tick_of(state),
    )
    return Accepted([submitted])


def _show_submitted(state: State, _act: Act, events: Events) -> Shown:
    submitted = events[0]
    assert isinstance(submitted, ReviewSubmitted)
    return shown(state, ("review", submitted.review))


def _list(state: State, act: Act) -> Verdict:
    action: ReviewList = act.action
    if state.get("listing", action.listing) is None:
        return unknown("listing.unknown", "listing", action.listing)
    return ALLOWED


def _show_list(state: State, act: Act, _events: Events) -> Shown:
    keys = reviews_of(state, act.action.listing).values()
    return shown_lists(
        state, (("review", sorted(keys, key=lambda key: (state.get("review", key).tick, key))),)
    )


def _submitted(state: State, event: ReviewSubmitted) -> None:
    review = Review(
        reviewer=event.reviewer,
        listing=event.listing,
        rating=event.rating,
        verified=event.verified,
        order=event.order,
        part=event.part,
        tick=event.tick,
    )
    state.put("review", event.review, review)
    reviews = {**reviews_of(state, event.listing), event.reviewer: event.review}
    state.put("review_index", event.listing, ReviewIndex(reviews))
    if event.verified:
        counted(state, event.merchant, ratings=1, rating_sum=event.rating)


SUBJECT = Subject(
    rows={"review": Review, "review_index": ReviewIndex},
    rules=(
        Rule(
            ReviewSubmit,
            _submit,
            _show_submitted,
            (
                "listing.unknown", "order.unknown", "review.addressee", "review.order_state",
                "review.listing", "review.twice",
            ),
            BUYER,
        ),
        Rule(ReviewList, _list, _show_list, ("listing.unknown",), is_query=True),
    ),
    events={ReviewSubmitted: _submitted},
    refusals={
        "review.addressee": "a review is sent to the listing's merchant",
        "review.order_state": "the order's goods have not been delivered",
        "review.listing": "the order holds nothing of the listing",
        "review.twice": "the sender has reviewed the listing before",
    },
)  # fmt: skip

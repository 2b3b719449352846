"""Start rows of searches and what is said of listings, as an author writes them: filled in and checked.

    offer_ranking    price, stock and place in front from its listing; ranks in the order of the file
    search_session   results: the offers that name it, by rank          review_index   from the reviews
    match_certificate.unit_price = its offer's price, else its listing's

Not here: what one row says against itself (`CommerceRow.problem`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..world import StartRows
from .orders import Order
from .reviews import Review, ReviewIndex
from .search import OfferRanking

Typed = Mapping[str, dict[str, Any]]
Problem = tuple[str, str, str]


def fill_offers(written: StartRows) -> None:
    """Puts the missing columns that follow from other written rows."""
    given: dict[str, list[str]] = {}
    for key, offer in written["offer_ranking"].items():
        listing = _named(written, "listing", offer)
        _put(offer, "price", listing.get("price"))
        _put(offer, "sponsored", listing.get("sponsored"))
        available = written["inventory"].get(str(offer.get("listing")), {}).get("available", 0)
        offer.setdefault("in_stock", isinstance(available, int) and available > 0)
        offers = given.setdefault(str(offer.get("search_session")), [])
        offers.append(key)
        offer.setdefault("rank", len(offers))
    for key, session in written["search_session"].items():
        offers = given.get(key, [])
        ranks = {name: written["offer_ranking"][name]["rank"] for name in offers}
        if all(isinstance(rank, int) for rank in ranks.values()):
            session.setdefault("results", sorted(offers, key=ranks.__getitem__))
    for certificate in written["match_certificate"].values():
        _put(certificate, "unit_price", _named(written, "offer_ranking", certificate).get("price"))
        _put(certificate, "unit_price", _named(written, "listing", certificate).get("price"))
    for merchant, reputation in written["reputation"].items():
        reputation.setdefault("merchant", merchant)


def index_reviews(typed: Typed) -> None:
    """Makes the index rows of listings that are reviewed and have none."""
    for listing, reviews in _reviews(typed).items():
        typed["review_index"].setdefault(listing, ReviewIndex(reviews))


def offer_problems(typed: Typed) -> Iterator[Problem]:
    """What these rows say against each other."""
    yield from _rankings(typed)
    yield from _of_reviews(typed)
    for merchant, reputation in typed["reputation"].items():
        if reputation.merchant != merchant:
            yield "reputation", merchant, f"is of `{reputation.merchant}`: its key is its merchant's id"
    for key, revision in typed["mandate_revision"].items():
        previous = typed["mandate_revision"].get(revision.previous)
        if previous is None:
            continue
        if previous.party != revision.party or previous.revision >= revision.revision:
            yield "mandate_revision", key, "follows one that isn't an earlier one of its party"


def _rankings(typed: Typed) -> Iterator[Problem]:
    """An offer stands at its rank among its session's results, and nothing else stands there."""
    offer: OfferRanking
    for key, session in typed["search_session"].items():
        if len(set(session.results)) < len(session.results):
            yield "search_session", key, "names an offer twice"
        for name in session.results:
            offer = typed["offer_ranking"][name]
            if offer.search_session != key:
                yield "search_session", key, f"has offer `{name}` of another search"
    for key, offer in typed["offer_ranking"].items():
        results = typed["search_session"][offer.search_session].results
        if offer.rank > len(results) or results[offer.rank - 1] != key:
            yield "offer_ranking", key, "isn't at its rank among its search's results"


def _of_reviews(typed: Typed) -> Iterator[Problem]:
    review: Review
    seen: set[tuple[str, str]] = set()
    for key, review in typed["review"].items():
        if (review.reviewer, review.listing) in seen:
            yield "review", key, f"is the second of `{review.listing}` by `{review.reviewer}`"
        seen.add((review.reviewer, review.listing))
        order: Order | None = None if review.order is None else typed["order"][review.order]
        if order is not None and order.buyer != review.reviewer:
            yield "review", key, "names an order that wasn't its reviewer's"
        if order is not None and all(line.listing != review.listing for line in order.lines):
            yield "review", key, "names an order that holds nothing of its listing"
    expected = _reviews(typed)
    for listing in {**expected, **typed["review_index"]}:
        index: ReviewIndex | None = typed["review_index"].get(listing)
        if index is None or index.reviews != expected.get(listing):
            yield "review_index", listing, "names others than the reviews of that listing"


def _reviews(typed: Typed) -> dict[str, dict[str, str]]:
    """The reviews by listing and reviewer."""
    found: dict[str, dict[str, str]] = {}
    for key, review in typed["review"].items():
        found.setdefault(review.listing, {})[review.reviewer] = key
    return found


def _named(written: StartRows, column: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row that a column called as its table names, or an empty one."""
    key = row.get(column)
    return written[column].get(key, {}) if isinstance(key, str) else {}


def _put(row: dict[str, Any], column: str, value: object) -> None:
    if value is not None:
        row.setdefault(column, value)

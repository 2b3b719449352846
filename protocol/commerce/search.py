"""Searching the market: what a buyer asked for, and what it was offered, in the market's order.

    listing.search ─► a search session, and an offer for each listing found
    order   advertised first, then the highest score, then the key       score: `search_index`
    found   holds a word of the query, is offered, and meets every filter

An offer shows what a ranking shows (title, price, whether there is stock); attributes stand in the listing.
Who searches does so alone: a search is sent to nobody, and its offers are its buyer's.
The policy `ranking` may say how many are offered, and for how many ticks an offer can be taken.
Not here: taking an offer (`matching`).
"""

from __future__ import annotations

from heapq import nsmallest
from typing import Annotated, Final, Literal

import msgspec

from ..bodies import Made, Text
from ..canonical import Id, Integer
from ..joined import Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Shown
from .catalog import Attributes, Inventory, Listing, is_same
from .policies import RANKING, last_tick, policy_of
from .search_index import candidates, index_of
from .subject import fresh, misdirected, shown_lists
from .talk import tick_of
from .terms import (
    BUYER,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    Currency,
    ListingId,
    Money,
    OfferRankingId,
    Quantity,
    SearchSessionId,
    Tick,
)

MAX_RESULTS: Final = 20
"""The offers of a search where no policy says otherwise."""

MOST_RESULTS: Final = 50
"""The offers of a search, whatever a policy says."""

MAX_FILTERS: Final = 64
"""The features that a search may ask for, and the attributes in each of its filters."""

Bounds = dict[Id, Integer]
SomeBounds = Annotated[Bounds, msgspec.Meta(max_length=MAX_FILTERS)]
SomeAttributes = Annotated[Attributes, msgspec.Meta(max_length=MAX_FILTERS)]


class Filters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a listing must meet to be found.

    ``price_max`` is for one unit, in the listing's own currency. ``at_most``,
    ``at_least`` and ``equals`` name attributes: a listing without one, or with
    one of another type, isn't found.
    """

    price_max: Money | None = None
    in_stock: bool = False
    required_features: Annotated[tuple[Text, ...], msgspec.Meta(max_length=MAX_FILTERS)] = ()
    at_most: SomeBounds = msgspec.field(default_factory=Bounds)
    at_least: SomeBounds = msgspec.field(default_factory=Bounds)
    equals: SomeAttributes = msgspec.field(default_factory=Attributes)


class SearchSession(CommerceRow, frozen=True):
    """A row of `search_session`: what was asked, and the offers it gave, best first."""

    buyer: Id
    query: Text = ""
    filters: Filters = msgspec.field(default_factory=Filters)
    results: tuple[OfferRankingId, ...] = ()
    tick: Tick = 0


class OfferRanking(CommerceRow, frozen=True):
    """A row of `offer_ranking`: a listing as it was shown at its rank, from 1; open until ``expires``."""

    search_session: SearchSessionId
    listing: ListingId
    buyer: Id
    merchant: Id
    rank: Quantity
    title: Text
    price: Money
    in_stock: bool
    currency: Currency = "EUR"
    sponsored: bool = False
    state: Literal["open", "accepted"] = "open"
    expires: Tick | None = None


class ListingSearch(CommerceAction, frozen=True, tag="listing.search"):
    """Finds listings that hold words of the query and meet all filters; gives offers, best first.

    An empty query takes all listings. An offer shows price and title; `listing.get` shows the rest. Sent to
    nobody.
    """

    query: Text
    filters: Filters = msgspec.field(default_factory=Filters)


class Ranked(msgspec.Struct, frozen=True):
    """A listing found, as it was then, and the key of its offer."""

    offer_ranking: str
    listing: str
    price: int
    in_stock: bool
    sponsored: bool


class SearchMade(CommerceEvent, frozen=True, tag="search.made"):
    """A buyer searched, and these were offered, best first."""

    search_session: Made
    buyer: str
    query: str
    filters: Filters
    tick: int
    expires: int | None
    offers: tuple[Ranked, ...]


def _search(state: State, act: Act) -> Verdict:
    action: ListingSearch = act.action
    if act.to is not None:
        return misdirected("search.addressee", act)
    session = fresh(state, "search_session", f"s{act.seq}")
    made = SearchMade(
        search_session=session,
        buyer=act.sender,
        query=action.query,
        filters=action.filters,
        tick=tick_of(state),
        expires=last_tick(state, RANKING),
        offers=tuple(_ranked(state, action, session)),
    )
    return Accepted([made])


def _ranked(state: State, action: ListingSearch, session: str) -> list[Ranked]:
    filters = action.filters
    is_open = filters == _NO_FILTERS
    found: list[tuple[bool, int, str, Listing]] = []
    for key, score in candidates(index_of(state.facts), action.query, filters.required_features).items():
        listing: Listing = state.get("listing", key)
        if listing.state == "active" and (is_open or _meets(state, key, listing, filters)):
            found.append((not listing.sponsored, -score, key, listing))
    limit = policy_of(state, RANKING).max_results
    # A key stands there once, so that nothing is compared beyond it.
    best = nsmallest(min(MAX_RESULTS if limit is None else limit, MOST_RESULTS), found)
    return [
        Ranked(
            fresh(state, "offer_ranking", f"{session}_{rank}"),
            key,
            listing.price,
            _has_stock(state, key),
            listing.sponsored,
        )
        for rank, (_unsponsored, _score, key, listing) in enumerate(best, 1)
    ]


_NO_FILTERS = Filters()


def _meets(state: State, key: str, listing: Listing, filters: Filters) -> bool:
    has = listing.attributes
    return (
        (filters.price_max is None or listing.price <= filters.price_max)
        and (not filters.in_stock or _has_stock(state, key))
        and (not filters.required_features or set(filters.required_features) <= set(listing.features))
        and (not filters.at_most or _are_within(has, filters.at_most, -1))
        and (not filters.at_least or _are_within(has, filters.at_least, 1))
        and (not filters.equals or all(is_same(has.get(name), each) for name, each in filters.equals.items()))
    )


def _are_within(attributes: Attributes, bounds: Bounds, sign: int) -> bool:
    """Whether all these attributes are numbers, and at most (-1) or at least (1) as large as their bounds."""
    for name, bound in bounds.items():
        value = attributes.get(name)
        if type(value) is not int or sign * value < sign * bound:
            return False
    return True


def _has_stock(state: State, key: str) -> bool:
    stock: Inventory | None = state.get("inventory", key)
    return stock is not None and stock.available > 0


def _show(state: State, _act: Act, events: Events) -> Shown:
    made = events[0]
    assert isinstance(made, SearchMade)
    offers = [ranked.offer_ranking for ranked in made.offers]
    return shown_lists(state, (("search_session", (made.search_session,)), ("offer_ranking", offers)))


def _made(state: State, event: SearchMade) -> None:
    results = tuple(ranked.offer_ranking for ranked in event.offers)
    session = SearchSession(event.buyer, event.query, event.filters, results, event.tick)
    state.put("search_session", event.search_session, session)
    for rank, ranked in enumerate(event.offers, 1):
        listing: Listing = state.get("listing", ranked.listing)
        offer = OfferRanking(
            search_session=event.search_session,
            listing=ranked.listing,
            buyer=event.buyer,
            merchant=listing.merchant,
            rank=rank,
            title=listing.title,
            price=ranked.price,
            in_stock=ranked.in_stock,
            currency=listing.currency,
            sponsored=ranked.sponsored,
            expires=event.expires,
        )
        state.put("offer_ranking", ranked.offer_ranking, offer)


SUBJECT = Subject(
    rows={"search_session": SearchSession, "offer_ranking": OfferRanking},
    rules=(Rule(ListingSearch, _search, _show, ("search.addressee",), BUYER, is_unaddressed=True),),
    events={SearchMade: _made},
    refusals={"search.addressee": "a search is sent to nobody"},
    machines={"offer_ranking": Machine(frozenset({"open"}), {"open": frozenset({"accepted"})})},
)

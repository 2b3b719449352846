"""What is for sale, and how much of it there is.

    listing    active | withdrawn
    inventory  on_hand = available + reserved, none below zero; its key is the listing's

    reserve   available ─► reserved      an agreement was made
    sell      reserved  ─► gone          it was settled
    release   reserved  ─► available     it was not, or its order was called off before it was paid
    restock   back      ─► available     a paid order was called off, or goods came back to be sold again

Listings and stock are public; a listing's merchant may set its price and its attributes.
Not here: who may reserve or buy (`negotiation`, `agreements`), finding listings (`search`).
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ..bodies import Text
from ..canonical import Id, Integer
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .subject import shown, unknown
from .terms import MERCHANT, CommerceAction, CommerceEvent, CommerceRow, Currency, ListingId, Money, Stock

_replace = msgspec.structs.replace

Attributes = dict[Id, Text | Integer | bool]


class Listing(CommerceRow, frozen=True):
    """A row of `listing`: what a merchant offers, at its list price for one unit.

    Title, description and features stay as they are (`search_index` rests on
    it); a ``sponsored`` listing comes first in searches.
    """

    merchant: Id
    title: Text
    price: Money
    currency: Currency = "EUR"
    state: Literal["active", "withdrawn"] = "active"
    description: Text = ""
    attributes: Attributes = msgspec.field(default_factory=Attributes)
    features: tuple[Text, ...] = ()
    sponsored: bool = False


class Inventory(CommerceRow, frozen=True):
    """A row of `inventory`: units of the listing with the same key."""

    on_hand: Stock
    available: Stock
    reserved: Stock = 0


class ListingGet(CommerceAction, frozen=True, tag="listing.get"):
    """Reads a listing: title, list price of one unit, description, features, attributes, if it is offered."""

    listing: ListingId


class ListingUpdate(CommerceAction, frozen=True, tag="listing.update"):
    """Sets attributes of one's own listing; those that aren't named stay as they are."""

    listing: ListingId
    attributes: Annotated[Attributes, msgspec.Meta(max_length=64)]


class ListingReprice(CommerceAction, frozen=True, tag="listing.reprice"):
    """Sets the list price of one's own listing, for one unit."""

    listing: ListingId
    price: Money


class StockGet(CommerceAction, frozen=True, tag="stock.get"):
    """Reads how many units of a listing are on hand, available and reserved."""

    listing: ListingId


class ListingUpdated(CommerceEvent, frozen=True, tag="listing.updated"):
    """Attributes of a listing have other values."""

    listing: str
    attributes: Attributes


class ListingRepriced(CommerceEvent, frozen=True, tag="listing.repriced"):
    """A listing has another price."""

    listing: str
    price: int


class StockReserved(CommerceEvent, frozen=True, tag="stock.reserved"):
    """Units were set aside for an agreement."""

    listing: str
    quantity: int


class StockSold(CommerceEvent, frozen=True, tag="stock.sold"):
    """Units that were set aside left the stock."""

    listing: str
    quantity: int


class StockReleased(CommerceEvent, frozen=True, tag="stock.released"):
    """Units that were set aside can be had again."""

    listing: str
    quantity: int


class StockRestocked(CommerceEvent, frozen=True, tag="stock.restocked"):
    """Units that had left the stock are back in it."""

    listing: str
    quantity: int


def _get_listing(state: State, act: Act) -> Verdict:
    action: ListingGet = act.action
    if state.get("listing", action.listing) is None:
        return unknown("listing.unknown", "listing", action.listing)
    return ALLOWED


def _show_listing(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("listing", act.action.listing))


def _update(state: State, act: Act) -> Verdict:
    action: ListingUpdate = act.action
    listing = _own(state, act)
    if isinstance(listing, Refusal):
        return listing
    if all(is_same(listing.attributes.get(name), value) for name, value in action.attributes.items()):
        return Refusal("listing.unchanged", {"listing": action.listing})
    return Accepted([ListingUpdated(action.listing, action.attributes)])


def _reprice(state: State, act: Act) -> Verdict:
    action: ListingReprice = act.action
    listing = _own(state, act)
    if isinstance(listing, Refusal):
        return listing
    if listing.price == action.price:
        return Refusal("listing.unchanged", {"listing": action.listing})
    return Accepted([ListingRepriced(action.listing, action.price)])


def _own(state: State, act: Act) -> Listing | Refusal:
    """The sender's listing. That others' are there is no secret: listings are public."""
    key: str = act.action.listing
    listing: Listing | None = state.get("listing", key)
    if listing is None:
        return unknown("listing.unknown", "listing", key)
    return listing if listing.merchant == act.sender else Refusal("listing.foreign", {"listing": key})


def is_same(value: object, other: object) -> bool:
    """Whether attributes have the same value; true and 1 are not the same."""
    return type(value) is type(other) and value == other


def _get_stock(state: State, act: Act) -> Verdict:
    action: StockGet = act.action
    if state.get("listing", action.listing) is None:
        return unknown("listing.unknown", "listing", action.listing)
    if state.get("inventory", action.listing) is None:
        return unknown("stock.unknown", "listing", action.listing)
    return ALLOWED


def _show_stock(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("inventory", act.action.listing))


def _updated(state: State, event: ListingUpdated) -> None:
    listing: Listing = state.get("listing", event.listing)
    after = _replace(listing, attributes={**listing.attributes, **event.attributes})
    state.put("listing", event.listing, after)


def _repriced(state: State, event: ListingRepriced) -> None:
    state.put("listing", event.listing, _replace(state.get("listing", event.listing), price=event.price))


def _reserved(state: State, event: StockReserved) -> None:
    row: Inventory = state.get("inventory", event.listing)
    after = _replace(
        row, available=row.available - event.quantity, reserved=row.reserved + event.quantity
    )
    state.put("inventory", event.listing, after)


def _sold(state: State, event: StockSold) -> None:
    row: Inventory = state.get("inventory", event.listing)
    after = _replace(row, on_hand=row.on_hand - event.quantity, reserved=row.reserved - event.quantity)
    state.put("inventory", event.listing, after)


def _released(state: State, event: StockReleased) -> None:
    row: Inventory = state.get("inventory", event.listing)
    after = _replace(
        row, available=row.available + event.quantity, reserved=row.reserved - event.quantity
    )
    state.put("inventory", event.listing, after)


def _restocked(state: State, event: StockRestocked) -> None:
    row: Inventory = state.get("inventory", event.listing)
    after = _replace(
        row, on_hand=row.on_hand + event.quantity, available=row.available + event.quantity
    )
    state.put("inventory", event.listing, after)


_MINE = ("listing.unknown", "listing.foreign", "listing.unchanged")

SUBJECT = Subject(
    rows={"listing": Listing, "inventory": Inventory},
    rules=(
        Rule(ListingGet, _get_listing, _show_listing, ("listing.unknown",), is_query=True),
        Rule(ListingUpdate, _update, _show_listing, _MINE, MERCHANT),
        Rule(ListingReprice, _reprice, _show_listing, _MINE, MERCHANT),
        Rule(StockGet, _get_stock, _show_stock, ("listing.unknown", "stock.unknown"), is_query=True),
    ),
    events={
        ListingUpdated: _updated,
        ListingRepriced: _repriced,
        StockReserved: _reserved,
        StockSold: _sold,
        StockReleased: _released,
        StockRestocked: _restocked,
    },
    refusals={
        "listing.unknown": "there is no such listing",
        "listing.foreign": "the listing is another merchant's",
        "listing.unchanged": "the listing is like that already",
        "listing.withdrawn": "the listing is no longer offered",
        "stock.unknown": "no stock is kept for the listing",
    },
)

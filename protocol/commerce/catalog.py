"""What is for sale, and how much of it there is.

    listing    active | withdrawn
    inventory  on_hand = available + reserved, none below zero; its key is the listing's

    reserve   available ─► reserved      an agreement was made
    sell      reserved  ─► gone          it was settled
    release   reserved  ─► available     it was not, or its order was called off before it was paid
    restock   back      ─► available     a paid order was called off, or goods came back to be sold again

Listings and stock are public. Not here: who may reserve or buy (`negotiation`, `agreements`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..bodies import Text
from ..canonical import Id, Integer
from ..tables import State
from ..world import Act, Shown
from .subject import ALLOWED, Events, Rule, Subject, Verdict, shown, unknown
from .terms import CommerceAction, CommerceEvent, CommerceRow, Currency, ListingId, Money, Stock

_replace = msgspec.structs.replace

Attributes = dict[Id, Text | Integer | bool]


class Listing(CommerceRow, frozen=True):
    """A row of `listing`: what a merchant offers, at its list price for one unit."""

    merchant: Id
    title: Text
    price: Money
    currency: Currency = "EUR"
    state: Literal["active", "withdrawn"] = "active"
    description: Text = ""
    attributes: Attributes = msgspec.field(default_factory=Attributes)


class Inventory(CommerceRow, frozen=True):
    """A row of `inventory`: units of the listing with the same key."""

    on_hand: Stock
    available: Stock
    reserved: Stock = 0


class ListingGet(CommerceAction, frozen=True, tag="listing.get"):
    """Reads a listing: title, list price, description, attributes."""

    listing: ListingId


class StockGet(CommerceAction, frozen=True, tag="stock.get"):
    """Reads how many units of a listing are on hand, available and reserved."""

    listing: ListingId


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


def _get_stock(state: State, act: Act) -> Verdict:
    action: StockGet = act.action
    if state.get("listing", action.listing) is None:
        return unknown("listing.unknown", "listing", action.listing)
    if state.get("inventory", action.listing) is None:
        return unknown("stock.unknown", "listing", action.listing)
    return ALLOWED


def _show_stock(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("inventory", act.action.listing))


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


SUBJECT = Subject(
    rows={"listing": Listing, "inventory": Inventory},
    rules=(
        Rule(ListingGet, _get_listing, _show_listing, ("listing.unknown",), is_query=True),
        Rule(StockGet, _get_stock, _show_stock, ("listing.unknown", "stock.unknown"), is_query=True),
    ),
    events={
        StockReserved: _reserved,
        StockSold: _sold,
        StockReleased: _released,
        StockRestocked: _restocked,
    },
    refusals={
        "listing.unknown": "there is no such listing",
        "listing.withdrawn": "the listing is no longer offered",
        "stock.unknown": "no stock is kept for the listing",
    },
)

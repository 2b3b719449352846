"""An extension: tea in the market, a merchant who takes a listing off sale, and tastings.

Run by `tollbook study extension tests/extension/tea.py`, and by test_extension.py. No module of the package
knows of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import msgspec

from tollbook.protocol.bodies import Made
from tollbook.protocol.canonical import Id
from tollbook.protocol.commerce.matching import OfferAcceptRanked
from tollbook.protocol.commerce.search import Filters, ListingSearch
from tollbook.protocol.commerce.subject import fresh, own, shown, unknown
from tollbook.protocol.commerce.terms import (
    BUYER,
    MERCHANT,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    ListingId,
    Tick,
)
from tollbook.protocol.commerce.world import CommerceWorld
from tollbook.protocol.joined import Machine, Rule, Subject, Verdict
from tollbook.protocol.tables import State
from tollbook.protocol.world import Accepted, Act, Refusal, Shown
from tollbook.tasks.studies.extension import Case, Extension, Say

# An action: a merchant takes a listing off sale. Its rows are the market's own.


class ListingWithdraw(CommerceAction, frozen=True, tag="listing.withdraw"):
    """Takes one's own listing off sale."""

    listing: ListingId


class ListingWithdrawn(CommerceEvent, frozen=True, tag="listing.withdrawn"):
    """A listing is no longer offered."""

    listing: str


def _withdraw(state: State, act: Act) -> Verdict:
    listing = state.get("listing", act.action.listing)
    if listing is None or listing.merchant != act.sender:
        return unknown("withdrawal.listing", "listing", act.action.listing)
    if listing.state == "withdrawn":
        return Refusal("withdrawal.state", {"listing": act.action.listing})
    return Accepted([ListingWithdrawn(act.action.listing)])


def _withdrawn(state: State, event: ListingWithdrawn) -> None:
    row = msgspec.structs.replace(state.get("listing", event.listing), state="withdrawn")
    state.put("listing", event.listing, row)


def _show_listing(state: State, act: Act, _events: object) -> Shown:
    return shown(state, ("listing", act.action.listing))


WITHDRAWALS = Subject(
    rows={},
    rules=(
        Rule(
            ListingWithdraw,
            _withdraw,
            _show_listing,
            ("withdrawal.listing", "withdrawal.state"),
            MERCHANT,
            is_unaddressed=True,
        ),
    ),
    events={ListingWithdrawn: _withdrawn},
    refusals={
        "withdrawal.listing": "the sender has no such listing",
        "withdrawal.state": "the listing is off sale already",
    },
)


# A row type: a tasting that a buyer books with a merchant, and what the merchant makes of it.


class Tasting(CommerceRow, frozen=True):
    """A row of `tasting`."""

    listing: ListingId
    buyer: Id
    merchant: Id
    tick: Tick
    state: Literal["booked", "held"] = "booked"


class TastingBook(CommerceAction, frozen=True, tag="tasting.book"):
    """Books a tasting of a listing, for a tick. Sent to its merchant."""

    listing: ListingId
    tick: Tick


class TastingHold(CommerceAction, frozen=True, tag="tasting.hold"):
    """Says that a tasting was held. Sent to its buyer."""

    tasting: Id


class TastingBooked(CommerceEvent, frozen=True, tag="tasting.booked"):
    """A tasting was booked."""

    tasting: Made
    listing: str
    buyer: str
    merchant: str
    tick: int


class TastingHeld(CommerceEvent, frozen=True, tag="tasting.held"):
    """A tasting was held."""

    tasting: str


def _book(state: State, act: Act) -> Verdict:
    action: TastingBook = act.action
    listing = state.get("listing", action.listing)
    if listing is None or listing.merchant != act.to:
        return unknown("tasting.listing", "listing", action.listing)
    key = fresh(state, "tasting", f"t{act.seq}")
    return Accepted([TastingBooked(key, action.listing, act.sender, listing.merchant, action.tick)])


def _hold(state: State, act: Act) -> Verdict:
    key: str = act.action.tasting
    found: Tasting | None = own(state, "tasting", key, act.sender)
    if found is None or found.buyer != act.to:
        return unknown("tasting.unknown", "tasting", key)
    if found.state == "held":
        return Refusal("tasting.state", {"tasting": key})
    return Accepted([TastingHeld(key)])


def _booked(state: State, event: TastingBooked) -> None:
    state.put("tasting", event.tasting, Tasting(event.listing, event.buyer, event.merchant, event.tick))


def _held(state: State, event: TastingHeld) -> None:
    state.put(
        "tasting", event.tasting, msgspec.structs.replace(state.get("tasting", event.tasting), state="held")
    )


def _show_tasting(state: State, _act: Act, events: Any) -> Shown:
    return shown(state, ("tasting", events[0].tasting))


TASTINGS = Subject(
    rows={"tasting": Tasting},
    rules=(
        Rule(TastingBook, _book, _show_tasting, ("tasting.listing",), BUYER),
        Rule(TastingHold, _hold, _show_tasting, ("tasting.unknown", "tasting.state"), MERCHANT),
    ),
    events={TastingBooked: _booked, TastingHeld: _held},
    refusals={
        "tasting.listing": "the party that it is sent to offers no such listing",
        "tasting.unknown": "the sender has no such tasting with the party that it is sent to",
        "tasting.state": "the tasting was held already",
    },
    machines={"tasting": Machine(frozenset({"booked"}), {"booked": frozenset({"held"})})},
)


class ShelfMarket(CommerceWorld):
    """The market with an action more."""

    name = "tea.shelf"
    subjects: ClassVar = (*CommerceWorld.subjects, WITHDRAWALS)


class TastingMarket(CommerceWorld):
    """The market with a row type more, and what changes its rows."""

    name = "tea.tasting"
    subjects: ClassVar = (*CommerceWorld.subjects, TASTINGS)


def _shelf(params: Mapping[str, object]) -> ShelfMarket:
    assert not params
    return ShelfMarket()


def _tasting(params: Mapping[str, object]) -> TastingMarket:
    assert not params
    return TastingMarket()


# A product domain: rows of the market as it is, with attributes of its own.

ROWS: dict[str, dict[str, dict[str, Any]]] = {
    "listing": {
        "t1": {
            "merchant": "m1",
            "title": "Oolong, Alishan",
            "price": 1_800,
            "attributes": {
                "oxidation_percent": 25,
                "cultivar": "Qingxin",
                "harvest": "spring",
                "altitude_m": 1_400,
            },
        },
        "t2": {
            "merchant": "m1",
            "title": "Oolong, Wuyi",
            "price": 2_400,
            "attributes": {
                "oxidation_percent": 60,
                "cultivar": "Rougui",
                "harvest": "spring",
                "altitude_m": 600,
            },
        },
    },
    "inventory": {"t1": {"on_hand": 3}, "t2": {"on_hand": 3}},
}
PARTIES = {"b1": "buyer", "m1": "merchant"}


def play_domain(say: Say) -> bool:
    filters = Filters(at_most={"oxidation_percent": 30}, at_least={"altitude_m": 1_000})
    offers = say("b1", None, ListingSearch("oolong", filters))
    assert isinstance(offers, dict)
    found = offers["offer_ranking"]
    bought = say("b1", "m1", OfferAcceptRanked(found[0]["id"]))
    assert isinstance(bought, dict)
    return [offer["listing"] for offer in found] == ["t1"] and bought["order"][0]["total"] == 1_800


def play_action(say: Say) -> bool:
    offers = say("b1", None, ListingSearch("alishan"))
    assert isinstance(offers, dict)
    gone = say("m1", None, ListingWithdraw("t1"))
    assert isinstance(gone, dict)
    refused = say("b1", "m1", OfferAcceptRanked(offers["offer_ranking"][0]["id"]))
    again = say("m1", None, ListingWithdraw("t1"))
    foreign = say("b1", None, ListingWithdraw("t2"))
    is_gone = gone["listing"][0]["state"] == "withdrawn"
    return is_gone and [refused, again, foreign] == ["offer.withdrawn", "withdrawal.state", "party.role"]


def play_row_type(say: Say) -> bool:
    booked = say("b1", "m1", TastingBook("t2", 3))
    assert isinstance(booked, dict)
    key = booked["tasting"][0]["id"]
    held = say("m1", "b1", TastingHold(key))
    assert isinstance(held, dict)
    refused = [say("m1", "b1", TastingHold(key)), say("m1", "b1", TastingHold("t99"))]
    return held["tasting"][0]["state"] == "held" and refused == ["tasting.state", "tasting.unknown"]


EXTENSION = Extension(
    worlds={("tea.shelf", 0): _shelf, ("tea.tasting", 0): _tasting},
    cases=(
        Case("tea", "a product domain", "commerce", ROWS, PARTIES, play_domain),
        Case("shelf", "an action", "tea.shelf", ROWS, PARTIES, play_action),
        Case("tasting", "a row type", "tea.tasting", ROWS, PARTIES, play_row_type),
    ),
)

"""How much of a listing there will be, and who may say so.

    supply_state      incoming units and the tick at which they are due; its key is the listing's
    supply_authority  a party that may update the supply of a listing of another's, until a tick

    update ─► inventory.available, supply_state.incoming, supply_state.eta     each only where it is given

The merchant of a listing needs no authority; everyone else does, operators too. Announced units are not
there: they can be had when an update makes them available. Supply is public.
Not here: prices, or which orders get what came in (`fulfilment`).
"""

from __future__ import annotations

import msgspec

from ..canonical import Id
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import Inventory, Listing
from .subject import shown_lists, unknown
from .talk import tick_of
from .terms import (
    MERCHANT,
    OPERATOR,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    ListingId,
    Stock,
    SupplyAuthorityIdOrNone,
    Tick,
)

_replace = msgspec.structs.replace


class SupplyState(CommerceRow, frozen=True):
    """A row of `supply_state`: ``incoming`` units are due at tick ``eta``; ``revision`` counts updates."""

    incoming: Stock = 0
    eta: Tick | None = None
    revision: Stock = 0

    def problem(self) -> str | None:
        """What the row says against itself."""
        return "announces units without a tick" if self.incoming and self.eta is None else None


class SupplyAuthority(CommerceRow, frozen=True):
    """A row of `supply_authority`: ``holder`` may update the listing's supply up to tick ``expires``."""

    listing: ListingId
    holder: Id
    expires: Tick | None = None


class SupplyGet(CommerceAction, frozen=True, tag="supply.get"):
    """Reads what there is of a listing and what is to come: listing, stock, incoming units and their tick."""

    listing: ListingId


class SupplyUpdate(CommerceAction, frozen=True, tag="supply.update"):
    """Says how many units are available now, how many are to come, and at which tick; null: as it is.

    Nothing more is to come where `incoming` is 0. Who isn't the listing's merchant names an authority.
    """

    listing: ListingId
    available: Stock | None = None
    incoming: Stock | None = None
    eta: Tick | None = None
    authority: SupplyAuthorityIdOrNone = None


class SupplyUpdated(CommerceEvent, frozen=True, tag="supply.updated"):
    """The supply of a listing is now this."""

    listing: str
    available: int
    incoming: int
    eta: int | None


def _get(state: State, act: Act) -> Verdict:
    action: SupplyGet = act.action
    if state.get("listing", action.listing) is None:
        return unknown("listing.unknown", "listing", action.listing)
    if state.get("inventory", action.listing) is None:
        return unknown("stock.unknown", "listing", action.listing)
    return ALLOWED


def _update(state: State, act: Act) -> Verdict:
    action: SupplyUpdate = act.action
    listing: Listing | None = state.get("listing", action.listing)
    if listing is None:
        return unknown("listing.unknown", "listing", action.listing)
    stock: Inventory | None = state.get("inventory", action.listing)
    if stock is None:
        return unknown("stock.unknown", "listing", action.listing)
    if act.sender != listing.merchant:
        refusal = _barred(state, act, action)
        if refusal is not None:
            return refusal
    before: SupplyState = state.get("supply_state", action.listing) or _NOTHING
    incoming = before.incoming if action.incoming is None else action.incoming
    eta = before.eta if action.eta is None else action.eta
    if incoming and eta is None:
        return Refusal("supply.eta", {"listing": action.listing, "incoming": incoming})
    return Accepted([
        SupplyUpdated(
            listing=action.listing,
            available=stock.available if action.available is None else action.available,
            incoming=incoming,
            eta=eta if incoming else None,
        )
    ])


def _barred(state: State, act: Act, action: SupplyUpdate) -> Refusal | None:
    """The refusal of one who isn't the listing's merchant and has no authority that holds."""
    key = action.authority
    found: SupplyAuthority | None = None if key is None else state.get("supply_authority", key)
    if found is None or found.holder != act.sender or found.listing != action.listing:
        return Refusal("supply.authority", {"supply_authority": key})
    if found.expires is not None and tick_of(state) > found.expires:
        return Refusal("supply.expired", {"supply_authority": key, "expires": found.expires})
    return None


def _show(state: State, act: Act, _events: Events) -> Shown:
    key: str = act.action.listing
    supply = () if state.get("supply_state", key) is None else (key,)
    return shown_lists(state, (("listing", (key,)), ("inventory", (key,)), ("supply_state", supply)))


def _updated(state: State, event: SupplyUpdated) -> None:
    stock: Inventory = state.get("inventory", event.listing)
    after = _replace(stock, available=event.available, on_hand=event.available + stock.reserved)
    state.put("inventory", event.listing, after)
    before: SupplyState = state.get("supply_state", event.listing) or _NOTHING
    supply = SupplyState(incoming=event.incoming, eta=event.eta, revision=before.revision + 1)
    state.put("supply_state", event.listing, supply)


_NOTHING = SupplyState()

SUBJECT = Subject(
    rows={"supply_state": SupplyState, "supply_authority": SupplyAuthority},
    rules=(
        Rule(SupplyGet, _get, _show, ("listing.unknown", "stock.unknown"), is_query=True),
        Rule(
            SupplyUpdate,
            _update,
            _show,
            ("listing.unknown", "stock.unknown", "supply.authority", "supply.expired", "supply.eta"),
            MERCHANT | OPERATOR,
            is_unaddressed=True,
        ),
    ),
    events={SupplyUpdated: _updated},
    refusals={
        "supply.authority": "the listing is another's, and the sender holds no such authority over it",
        "supply.expired": "the tick until which the authority holds has passed",
        "supply.eta": "units are announced without the tick at which they are due",
        "stock.short": "fewer units are available",
    },
)

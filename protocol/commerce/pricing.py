"""What merchants publish of their prices beside the list price, as rows that quotes are worked out from.

    tiers       from so many units on, another unit price     units are summed over a tier's listings
    bundles     so much off for each full set of parts        off the line of the set's first part
    charges     fixed + per unit + a rate of the subtotal     while the subtotal is within a window
    relations   what is bought together                       told to buyers; no rule holds them to it

The key of a merchant's row is the merchant's. A merchant without one sells at list prices. Pricing is
public. Not here: the arithmetic (`quoting`), asking what a cart costs (`carts`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

import msgspec

from ..canonical import Id
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Act, Shown
from .subject import shown, unknown
from .terms import Bps, CommerceAction, CommerceRow, Currency, ListingId, Money, PricingId, Quantity

MAX_TERMS = 1_000

Listings = Annotated[tuple[ListingId, ...], msgspec.Meta(min_length=1, max_length=MAX_TERMS)]


class Step(CommerceRow, frozen=True):
    """From ``quantity`` units on, each is at ``unit_price``."""

    quantity: Quantity
    unit_price: Money


class Tier(CommerceRow, frozen=True):
    """Steps for the units of some listings together; below the first, each is at its list price."""

    listings: Listings
    steps: Annotated[tuple[Step, ...], msgspec.Meta(min_length=1, max_length=100)]


class Units(CommerceRow, frozen=True):
    """Units of a listing."""

    listing: ListingId
    quantity: Quantity


class Bundle(CommerceRow, frozen=True):
    """``discount`` off the line of the first part, for each full set in the cart, ``limit`` sets at most."""

    parts: Annotated[tuple[Units, ...], msgspec.Meta(min_length=1, max_length=100)]
    discount: Money
    limit: Quantity | None = None


class Charge(CommerceRow, frozen=True):
    """What is added while the subtotal is from ``subtotal_from`` to ``subtotal_to``, both included."""

    kind: Id
    fixed: Money = 0
    per_unit: Money = 0
    subtotal_rate_bps: Bps = 0
    subtotal_from: Money = 0
    subtotal_to: Money | None = None


class Relation(CommerceRow, frozen=True):
    """What makes sense together.

    `complement_all_or_none`: all of the listings, or none of them.
    `required_with`: who buys the first needs ``minimum_quantity`` units of each of the others.
    """

    kind: Literal["complement_all_or_none", "required_with"]
    listings: Annotated[tuple[ListingId, ...], msgspec.Meta(min_length=2, max_length=100)]
    minimum_quantity: Quantity = 1


class Pricing(CommerceRow, frozen=True):
    """A row of `pricing`.

    ``stacking`` says which bundles count: the `best` alone, that is the one
    that takes most off, or `all` of them, each for itself.
    """

    tiers: Annotated[tuple[Tier, ...], msgspec.Meta(max_length=MAX_TERMS)] = ()
    bundles: Annotated[tuple[Bundle, ...], msgspec.Meta(max_length=MAX_TERMS)] = ()
    stacking: Literal["best", "all"] = "best"
    charges: Annotated[tuple[Charge, ...], msgspec.Meta(max_length=100)] = ()
    relations: Annotated[tuple[Relation, ...], msgspec.Meta(max_length=MAX_TERMS)] = ()
    currency: Currency = "EUR"

    def problem(self) -> str | None:
        """As `CommerceRow.problem`: terms that could be read in two ways."""
        tiered = [listing for tier in self.tiers for listing in tier.listings]
        if len(set(tiered)) < len(tiered):
            return "has a listing in two tiers"
        if any(one.quantity >= next_.quantity for tier in self.tiers for one, next_ in pairwise(tier.steps)):
            return "has steps that don't rise"
        named = [[part.listing for part in bundle.parts] for bundle in self.bundles]
        named += [list(relation.listings) for relation in self.relations]
        if any(len(set(each)) < len(each) for each in named):
            return "has a bundle or relation that names a listing twice"
        if any(
            charge.subtotal_to is not None and charge.subtotal_to < charge.subtotal_from
            for charge in self.charges
        ):
            return "has a charge whose window ends before it begins"
        return None


class PricingGet(CommerceAction, frozen=True, tag="pricing.get"):
    """Reads what a merchant publishes beside list prices: tiers, bundles, charges, what goes together."""

    merchant: PricingId


def listings_of(row: Pricing) -> set[str]:
    """The listings that a merchant's terms name."""
    return {
        *(listing for tier in row.tiers for listing in tier.listings),
        *(part.listing for bundle in row.bundles for part in bundle.parts),
        *(listing for relation in row.relations for listing in relation.listings),
    }


def _get(state: State, act: Act) -> Verdict:
    action: PricingGet = act.action
    if state.get("pricing", action.merchant) is None:
        return unknown("pricing.unknown", "merchant", action.merchant)
    return ALLOWED


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("pricing", act.action.merchant))


SUBJECT = Subject(
    rows={"pricing": Pricing},
    rules=(Rule(PricingGet, _get, _show, ("pricing.unknown",), is_query=True),),
    events={},
    refusals={"pricing.unknown": "the merchant publishes no prices but those of its listings"},
)

"""What a cart costs: the arithmetic of quotes, in whole minor units.

    unit price = that of the last step which the tier's units, over all its lines, reach; else the list price
    subtotal   = Σ quantity × unit price                            before any discount
    discount   = sets × the bundle's, at most what its line comes to       sets = min ⌊quantity / part⌋
    charge     = fixed + per unit × units + ⌊subtotal × bps / 10,000⌋      where its window holds the subtotal
    total      = subtotal − Σ discounts + Σ charges

Each merchant's lines are priced by themselves, by its own terms. Of bundles that stack as `best` the
one that takes most off counts, the first of equals; where `all` count, those that come off the same
line do so in their order, until nothing is left of it. A charge's rate floors; nothing else divides money.

Not here: rows that merchants publish (`pricing`), who may ask and buy (`carts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Annotated, NamedTuple

import msgspec

from ..canonical import Id
from ..tables import State
from .catalog import Listing
from .pricing import Bundle, Charge, Pricing, Tier, Units
from .terms import MAX_MONEY, CommerceRow, ListingId, Money, Quantity

BPS = 10_000
MAX_LINES = 100


class LineQuote(CommerceRow, frozen=True):
    """What one line costs: quantity × unit price − discount."""

    listing: ListingId
    quantity: Quantity
    unit_price: Money
    discount: Money = 0


class ChargeQuote(CommerceRow, frozen=True):
    """What is added for one charge."""

    kind: Id
    amount: Money


LineQuotes = Annotated[tuple[LineQuote, ...], msgspec.Meta(min_length=1, max_length=MAX_LINES)]
ChargeQuotes = Annotated[tuple[ChargeQuote, ...], msgspec.Meta(max_length=MAX_LINES)]


class MerchantQuote(CommerceRow, frozen=True):
    """What a merchant's lines cost together; ``subtotal`` is before discounts, charges of 0 are left out."""

    merchant: Id
    lines: LineQuotes
    subtotal: Money
    charges: ChargeQuotes
    total: Money


class Terms(NamedTuple):
    """A merchant's terms, and where in them a listing is: its tier, and the bundles that it is first in."""

    pricing: Pricing
    tiers: Mapping[str, Tier]
    bundles: Mapping[str, Sequence[tuple[int, Bundle]]]


def terms(pricing: Pricing) -> Terms:
    """The terms of a row of `pricing`."""
    bundles: dict[str, list[tuple[int, Bundle]]] = {}
    for place, bundle in enumerate(pricing.bundles):
        bundles.setdefault(bundle.parts[0].listing, []).append((place, bundle))
    return Terms(pricing, {listing: tier for tier in pricing.tiers for listing in tier.listings}, bundles)


def terms_of(state: State, merchant: str) -> Terms:
    """A merchant's terms; those of a merchant that publishes none add nothing to list prices."""
    pricing: Pricing | None = state.get("pricing", merchant)
    if pricing is None:
        return _NO_TERMS
    if not state.is_start("pricing", merchant):
        return terms(pricing)
    memo: dict[str, Terms] = state.facts.memo.setdefault("pricing", {})
    found = memo.get(merchant)
    if found is None:
        found = memo[merchant] = terms(pricing)
    return found


def quote(by: Terms, merchant: str, lines: Sequence[Units], prices: Mapping[str, int]) -> MerchantQuote:
    """What lines of one merchant cost by its terms, no listing in two of them; ``prices`` are list prices."""
    units = {line.listing: line.quantity for line in lines}
    each = _unit_prices(by.tiers, units, prices)
    off = _discounts(by, units, each) if by.bundles else {}
    subtotal = total = 0
    quoted: list[LineQuote] = []
    for name, quantity in units.items():
        price, discount = each[name], off.get(name, 0)
        quoted.append(LineQuote(name, quantity, price, discount))
        subtotal += quantity * price
        total -= discount
    charges = _charges(by.pricing.charges, subtotal, units)
    for charge in charges:
        total += charge.amount
    return MerchantQuote(merchant, tuple(quoted), subtotal, charges, subtotal + total)


def quotes_by(
    by: Callable[[str], Terms], lines: Sequence[Units], listings: Mapping[str, Listing]
) -> tuple[MerchantQuote, ...]:
    """What lines cost by each merchant's terms, merchants in the order of their first lines."""
    of: dict[str, list[Units]] = {}
    for line in lines:
        of.setdefault(listings[line.listing].merchant, []).append(line)
    prices = {line.listing: listings[line.listing].price for line in lines}
    return tuple(quote(by(merchant), merchant, its, prices) for merchant, its in of.items())


def fits(quotes: Sequence[MerchantQuote]) -> bool:
    """Whether the amounts of quotes, and what they come to together, are amounts that can be paid."""
    return (
        sum([each.total for each in quotes]) <= MAX_MONEY
        and max([each.subtotal for each in quotes]) <= MAX_MONEY
    )


def by_kind(charges: Iterable[ChargeQuote]) -> dict[str, int]:
    """What charges of each kind come to; kinds that come to 0 are left out."""
    kinds: dict[str, int] = {}
    for charge in charges:
        kinds[charge.kind] = kinds.get(charge.kind, 0) + charge.amount
    return {kind: amount for kind, amount in kinds.items() if amount}


def adds_up(found: MerchantQuote) -> bool:
    """Whether a quote's sums are those of its lines and charges, and no discount is more than its line."""
    gross = [line.quantity * line.unit_price for line in found.lines]
    off = [line.discount for line in found.lines]
    return (
        found.subtotal == sum(gross)
        and all(one <= of for one, of in zip(off, gross, strict=True))
        and found.total == sum(gross) - sum(off) + sum(charge.amount for charge in found.charges)
    )


def _unit_prices(
    tiers: Mapping[str, Tier], units: Mapping[str, int], prices: Mapping[str, int]
) -> dict[str, int]:
    together: dict[str, int] = {}
    for name, quantity in units.items():
        if name in tiers:
            first = tiers[name].listings[0]
            together[first] = together.get(first, 0) + quantity
    each: dict[str, int] = {}
    for name in units:
        each[name] = prices[name]
        if name in tiers:
            tier = tiers[name]
            for step in tier.steps:
                if together[tier.listings[0]] < step.quantity:
                    break
                each[name] = step.unit_price
    return each


def _discounts(by: Terms, units: Mapping[str, int], each: Mapping[str, int]) -> dict[str, int]:
    """What comes off, by the listing of the line that it comes off."""
    found = [pair for name in units if name in by.bundles for pair in by.bundles[name]]
    off: dict[str, int] = {}
    best = 0
    for _place, bundle in sorted(found, key=itemgetter(0)):
        name = bundle.parts[0].listing
        most = units[name] * each[name]
        amount = min(_sets(bundle, units) * bundle.discount, most)
        if by.pricing.stacking == "all":
            off[name] = min(off.get(name, 0) + amount, most)
        elif amount > best:
            best, off = amount, {name: amount}
    return off


def _sets(bundle: Bundle, units: Mapping[str, int]) -> int:
    sets = min([units.get(part.listing, 0) // part.quantity for part in bundle.parts])
    return sets if bundle.limit is None else min(sets, bundle.limit)


def _charges(charges: Sequence[Charge], subtotal: int, units: Mapping[str, int]) -> tuple[ChargeQuote, ...]:
    found: list[ChargeQuote] = []
    for charge in charges:
        last = charge.subtotal_to
        if charge.subtotal_from <= subtotal and (last is None or subtotal <= last):
            amount = charge.fixed + subtotal * charge.subtotal_rate_bps // BPS
            amount += charge.per_unit * sum(units.values())
            if amount:
                found.append(ChargeQuote(charge.kind, amount))
    return tuple(found)


_NO_TERMS = terms(Pricing())

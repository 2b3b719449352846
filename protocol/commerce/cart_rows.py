"""Start rows of carts, as an author writes them: what follows from others, and whether all of it agrees.

    a quote in state quoted or ordered without parts   is quoted by the terms in the file
    an order group                                     holds the orders that name it, and what they come to

Not here: what one row says against itself (`Pricing.problem`, `Quote.problem`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from ..world import StartRows
from .carts import Quote
from .checkout import OrderGroup
from .orders import Order
from .pricing import Pricing, listings_of
from .quoting import Terms, fits, quotes_by, terms

Typed = Mapping[str, dict[str, Any]]
Problem = tuple[str, str, str]


def fill_carts(written: StartRows) -> None:
    """Puts the missing columns of quotes and order groups that other written rows give."""
    for key, group in written["order_group"].items():
        orders = {name: row for name, row in written["order"].items() if row.get("order_group") == key}
        first: Mapping[str, Any] = next(iter(orders.values()), _NOTHING)
        group.setdefault("orders", list(orders))
        totals = [row["total"] for row in orders.values() if isinstance(row.get("total"), int)]
        if totals:
            group.setdefault("total", sum(totals))
        for column in ("buyer", "currency"):
            if column in first:
                group.setdefault(column, first[column])
        quote = written["cart_quote"].get(str(group.get("cart_quote")))
        if quote is not None:
            quote.setdefault("order_group", key)
            quote.setdefault("state", "ordered")
    for quote in written["cart_quote"].values():
        quote.setdefault("state", "quoted" if quote.get("merchant") is None else "requested")
        currency = _currency(written, quote.get("lines"))
        if currency is not None:
            quote.setdefault("currency", currency)


def quote_carts(typed: Typed) -> None:
    """Quotes the carts that have no parts yet and are beyond a request."""
    by = {merchant: terms(pricing) for merchant, pricing in typed["pricing"].items()}
    found: Quote
    for key, found in typed["cart_quote"].items():
        if found.state == "requested" or found.quotes or _unlisted(typed, found):
            continue
        quotes = quotes_by(lambda merchant: by.get(merchant, _NO_TERMS), found.lines, typed["listing"])
        if fits(quotes):
            total = sum(each.total for each in quotes)
            typed["cart_quote"][key] = msgspec.structs.replace(found, quotes=quotes, grand_total=total)


def cart_problems(typed: Typed) -> Iterator[Problem]:
    """What is wrong between the rows of pricing, quotes, order groups and those that they name."""
    pricing: Pricing
    for key, pricing in typed["pricing"].items():
        for listing in sorted(listings_of(pricing)):
            row = typed["listing"][listing]
            if (row.merchant, row.currency) != (key, pricing.currency):
                yield "pricing", key, f"prices `{listing}`, which is another's or in another currency"
    quote: Quote
    for key, quote in typed["cart_quote"].items():
        yield from (("cart_quote", key, problem) for problem in _quote_problems(typed, key, quote))
    grouped: dict[str, list[str]] = {}
    for key, order in typed["order"].items():
        if order.order_group is not None:
            grouped.setdefault(order.order_group, []).append(key)
    group: OrderGroup
    for key, group in typed["order_group"].items():
        problems = _group_problems(typed, key, group, grouped.get(key, []))
        yield from (("order_group", key, problem) for problem in problems)


def _quote_problems(typed: Typed, key: str, quote: Quote) -> Iterator[str]:
    listings = {line.listing: typed["listing"][line.listing] for line in quote.lines}
    for name, listing in listings.items():
        if listing.currency != quote.currency:
            yield f"says currency `{quote.currency}`, and listing `{name}` `{listing.currency}`"
        if quote.merchant not in (None, listing.merchant):
            yield f"asks `{quote.merchant}` for `{name}`, which is another's"
    for part in quote.quotes:
        for line in part.lines:
            if listings[line.listing].merchant != part.merchant:
                yield f"has `{part.merchant}` quote `{line.listing}`, which is another's"
    if quote.order_group is not None and typed["order_group"][quote.order_group].cart_quote != key:
        yield f"names order_group `{quote.order_group}`, which is of another quote"


def _group_problems(typed: Typed, key: str, group: OrderGroup, grouped: list[str]) -> Iterator[str]:
    if sorted(group.orders) != sorted(grouped):
        yield "names other orders than those that name it"
    orders: list[Order] = [typed["order"][name] for name in group.orders]
    if any((row.buyer, row.currency) != (group.buyer, group.currency) for row in orders):
        yield "has an order of another buyer, or in another currency"
    if group.total != sum(row.total for row in orders):
        yield "has a total that its orders don't come to"
    quote: Quote | None = None if group.cart_quote is None else typed["cart_quote"][group.cart_quote]
    if quote is not None and (quote.order_group, quote.buyer) != (key, group.buyer):
        yield "is of a quote that doesn't name it, or has another buyer"


def _currency(written: StartRows, lines: object) -> str | None:
    """The currency of the first line's listing, where lines are written well enough to tell."""
    first = cast("list[object]", lines)[0] if isinstance(lines, (list, tuple)) and lines else None
    if not isinstance(first, dict):
        return None
    listing = written["listing"].get(str(cast("dict[str, Any]", first).get("listing")))
    return None if listing is None else listing.get("currency")


def _unlisted(typed: Typed, found: Quote) -> bool:
    return any(line.listing not in typed["listing"] for line in found.lines)


_NOTHING: Mapping[str, Any] = {}
_NO_TERMS: Terms = terms(Pricing())

"""Quotes for carts: what lines of one or several merchants cost together.

    asked of the market    ─► quoted                       at once, by the published terms of each merchant
    asked of a merchant    ─► requested ─ quote ─► quoted  all lines are its own, and its quote by its terms
    quoted ─ checkout ─► ordered                           until it expires

A quote holds its prices, and no stock: a later change of a listing doesn't touch it. The policy `cart` may
limit the ticks for which it can be taken. Not here: the arithmetic (`quoting`), buying (`checkout`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated, Literal

import msgspec

from ..bodies import Made
from ..canonical import Id
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import Listing
from .policies import CART, policy_of
from .pricing import Pricing, Units
from .quoting import (
    MAX_LINES,
    ChargeQuotes,
    LineQuotes,
    MerchantQuote,
    adds_up,
    by_kind,
    fits,
    quotes_by,
    terms_of,
)
from .subject import fresh, misdirected, own, shown, shown_lists, unknown
from .talk import LAST_TICK, tick_of
from .terms import (
    BUYER,
    MERCHANT,
    CartQuoteId,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    Currency,
    Money,
    OrderGroupIdOrNone,
    Tick,
)

_replace = msgspec.structs.replace

CartLines = Annotated[tuple[Units, ...], msgspec.Meta(min_length=1, max_length=MAX_LINES)]


class Quote(CommerceRow, frozen=True):
    """A row of `cart_quote`.

    ``merchant`` is who was asked for it, unset where the market quotes.
    ``quotes`` has one part for each merchant, and is empty while it is only
    requested; after tick ``expires`` it can't be taken any more.
    """

    buyer: Id
    lines: CartLines
    state: Literal["requested", "quoted", "ordered"] = "requested"
    merchant: Id | None = None
    quotes: tuple[MerchantQuote, ...] = ()
    grand_total: Money | None = None
    currency: Currency = "EUR"
    expires: Tick | None = None
    order_group: OrderGroupIdOrNone = None

    def problem(self) -> str | None:
        """As `CommerceRow.problem`."""
        units = {line.listing: line.quantity for line in self.lines}
        if len(units) < len(self.lines):
            return "has a listing twice"
        if self.state == "requested":
            return self._problem_of_a_request()
        quoted = [(line.listing, line.quantity) for part in self.quotes for line in part.lines]
        merchants = {part.merchant for part in self.quotes}
        if sorted(quoted) != sorted(units.items()) or len(merchants) < len(self.quotes):
            return "quotes other lines than it has"
        if self.buyer in merchants or self.merchant not in (None, *merchants):
            return "is not between its buyer and its merchants"
        if not all(map(adds_up, self.quotes)) or self.grand_total != sum(each.total for each in self.quotes):
            return "has sums that are not those of its lines"
        if (self.state == "ordered") != (self.order_group is not None):
            return "is `ordered` without a group of orders, or has one and isn't"
        return None

    def _problem_of_a_request(self) -> str | None:
        if self.merchant is None or self.merchant == self.buyer:
            return "is asked of no merchant"
        is_bare = not self.quotes and (self.grand_total, self.expires, self.order_group) == (None, None, None)
        return None if is_bare else "is only requested, and says what a quote says"


class CartRequestQuote(CommerceAction, frozen=True, tag="cart.request_quote"):
    """Asks what units of one or several listings cost together, each listing once.

    The market quotes at once, by what each merchant publishes; the merchant of all lines, asked to, makes
    its own quote. Sent to a merchant of the lines, or, where it is for the market, to nobody.
    """

    lines: CartLines
    quoted_by: Literal["market", "merchant"] = "market"


class CartQuote(CommerceAction, frozen=True, tag="cart.quote"):
    """Quotes the lines that a buyer asked for, by the prices one has published; sent to the buyer.

    `subtotal` is the sum of quantity times unit price, before discounts; `grand_total` is the subtotal
    less the lines' discounts plus the charges. Rates floor to a whole minor unit.
    """

    cart_quote: CartQuoteId
    lines: LineQuotes
    subtotal: Money
    charges: ChargeQuotes
    grand_total: Money


class CartGet(CommerceAction, frozen=True, tag="cart.get"):
    """Reads a quote of one's own, and after its checkout the group of its orders."""

    cart_quote: CartQuoteId


class CartQuoteRequested(CommerceEvent, frozen=True, tag="cart.quote_requested"):
    """A buyer asked what a cart costs."""

    cart_quote: Made
    buyer: str
    merchant: str | None
    lines: tuple[Units, ...]
    currency: str


class CartQuoted(CommerceEvent, frozen=True, tag="cart.quoted"):
    """What a cart costs was said, and until which tick it holds."""

    cart_quote: str
    quotes: tuple[MerchantQuote, ...]
    grand_total: int
    expires: int | None


def _request(state: State, act: Act) -> Verdict:
    action: CartRequestQuote = act.action
    listings = _on_offer(state, action.lines)
    if isinstance(listings, Refusal):
        return listings
    merchants = list(dict.fromkeys(listing.merchant for listing in listings.values()))
    of_market = action.quoted_by == "market"
    if act.to not in ((None, *merchants) if of_market else merchants) or not (
        of_market or len(merchants) == 1
    ):
        return misdirected("cart.addressee", act)
    currencies = _currencies(state, listings.values(), merchants)
    if len(currencies) > 1:
        return Refusal("cart.currency", {"currencies": currencies})
    quotes = quotes_by(partial(terms_of, state), action.lines, listings)
    if not fits(quotes):
        return Refusal("cart.total", {"lines": len(action.lines)})
    key = fresh(state, "cart_quote", f"q{act.seq}")
    asked = None if of_market else act.to
    requested = CartQuoteRequested(key, act.sender, asked, action.lines, currencies[0])
    return Accepted([requested, _quoted_now(state, key, quotes)] if of_market else [requested])


def _on_offer(state: State, lines: Sequence[Units]) -> dict[str, Listing] | Refusal:
    """The listings of a cart's lines, all of them for sale and none named twice."""
    found = {line.listing: state.get("listing", line.listing) for line in lines}
    for name, listing in found.items():
        if listing is None:
            return unknown("listing.unknown", "listing", name)
    for name, listing in found.items():
        if listing.state != "active":
            return Refusal("listing.withdrawn", {"listing": name})
    if len(found) < len(lines):
        return Refusal("cart.twice", {"lines": len(lines), "listings": len(found)})
    return found


def _currencies(state: State, listings: Iterable[Listing], merchants: Iterable[str]) -> list[str]:
    found = {listing.currency for listing in listings}
    terms: list[Pricing | None] = [state.get("pricing", merchant) for merchant in merchants]
    return sorted(found.union(row.currency for row in terms if row is not None))


def _quoted_now(state: State, key: str, quotes: tuple[MerchantQuote, ...]) -> CartQuoted:
    ticks = policy_of(state, CART).deadline_ticks
    expires = None if ticks is None else min(tick_of(state) + ticks, LAST_TICK)
    return CartQuoted(key, quotes, sum(each.total for each in quotes), expires)


def _quote(state: State, act: Act) -> Verdict:
    action: CartQuote = act.action
    found: Quote | None = own(state, "cart_quote", action.cart_quote, act.sender)
    if found is None:
        return unknown("cart.unknown", "cart_quote", action.cart_quote)
    if act.to != found.buyer:
        return misdirected("cart.addressee", act)
    if found.state != "requested":
        return Refusal("cart.state", {"cart_quote": action.cart_quote, "state": found.state})
    listings = {line.listing: state.get("listing", line.listing) for line in found.lines}
    quotes = quotes_by(partial(terms_of, state), found.lines, listings)
    return _differs(action, quotes[0]) or Accepted([_quoted_now(state, action.cart_quote, quotes)])


def _differs(said: CartQuote, published: MerchantQuote) -> Refusal | None:
    """The first thing in which a merchant's quote isn't what it published; never what it should be."""
    key = said.cart_quote
    lines = {line.listing: line for line in said.lines}
    asked = {line.listing: line for line in published.lines}
    units = [(name, line.quantity) for name, line in sorted(lines.items())]
    if len(lines) < len(said.lines) or units != [(name, asked[name].quantity) for name in sorted(asked)]:
        return Refusal("cart.lines", {"cart_quote": key})
    for name, line in asked.items():
        if lines[name].unit_price != line.unit_price:
            return Refusal("cart.unit_price", {"cart_quote": key, "listing": name})
    for name, line in asked.items():
        if lines[name].discount != line.discount:
            return Refusal("cart.discount", {"cart_quote": key, "listing": name})
    if said.subtotal != published.subtotal:
        return Refusal("cart.subtotal", {"cart_quote": key})
    if by_kind(said.charges) != by_kind(published.charges):
        return Refusal("cart.charges", {"cart_quote": key})
    if said.grand_total != published.total:
        return Refusal("cart.grand_total", {"cart_quote": key})
    return None


def _get(state: State, act: Act) -> Verdict:
    action: CartGet = act.action
    if own(state, "cart_quote", action.cart_quote, act.sender) is None:
        return unknown("cart.unknown", "cart_quote", action.cart_quote)
    return ALLOWED


def _show_requested(state: State, _act: Act, events: Events) -> Shown:
    requested = events[0]
    assert isinstance(requested, CartQuoteRequested)
    return shown(state, ("cart_quote", requested.cart_quote))


def _show_quoted(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("cart_quote", act.action.cart_quote))


def _show_cart(state: State, act: Act, _events: Events) -> Shown:
    key: str = act.action.cart_quote
    found: Quote = state.get("cart_quote", key)
    groups = () if found.order_group is None else (found.order_group,)
    return shown_lists(state, (("cart_quote", (key,)), ("order_group", groups)))


def _requested(state: State, event: CartQuoteRequested) -> None:
    row = Quote(buyer=event.buyer, lines=event.lines, merchant=event.merchant, currency=event.currency)
    state.put("cart_quote", event.cart_quote, row)


def _quoted(state: State, event: CartQuoted) -> None:
    after = _replace(
        state.get("cart_quote", event.cart_quote),
        state="quoted",
        quotes=event.quotes,
        grand_total=event.grand_total,
        expires=event.expires,
    )
    state.put("cart_quote", event.cart_quote, after)


SUBJECT = Subject(
    rows={"cart_quote": Quote},
    rules=(
        Rule(
            CartRequestQuote,
            _request,
            _show_requested,
            (
                "listing.unknown",
                "listing.withdrawn",
                "cart.twice",
                "cart.addressee",
                "cart.currency",
                "cart.total",
            ),
            BUYER,
        ),
        Rule(
            CartQuote,
            _quote,
            _show_quoted,
            (
                "cart.unknown",
                "cart.addressee",
                "cart.state",
                "cart.lines",
                "cart.unit_price",
                "cart.discount",
                "cart.subtotal",
                "cart.charges",
                "cart.grand_total",
            ),
            MERCHANT,
        ),
        Rule(CartGet, _get, _show_cart, ("cart.unknown",), is_query=True),
    ),
    events={CartQuoteRequested: _requested, CartQuoted: _quoted},
    refusals={
        "cart.unknown": "the sender has no such quote",
        "cart.twice": "a listing stands in a cart once",
        "cart.addressee": "a cart's acts are sent to a merchant of its lines, or to nobody where the market"
        " quotes; a merchant's own quote is asked of the merchant of all lines, and sent to the buyer",
        "cart.state": "the quote is not in the state for this: requested, then quoted, then ordered",
        "cart.currency": "a cart's listings and their merchants' charges are in one currency",
        "cart.total": "the cart comes to more than an amount may be",
        "cart.lines": "the lines quoted are not exactly the lines asked for",
        "cart.unit_price": "a unit price is not the published one for so many units",
        "cart.discount": "a line's discount is not what the published bundles take off it",
        "cart.subtotal": "the subtotal is not the sum of quantity times unit price",
        "cart.charges": "the charges are not, kind by kind, the published ones",
        "cart.grand_total": "the grand total is not the subtotal less the discounts plus the charges",
    },
    machines={
        "cart_quote": Machine(
            frozenset({"requested", "quoted"}),
            {"requested": frozenset({"quoted"}), "quoted": frozenset({"ordered"})},
        )
    },
)

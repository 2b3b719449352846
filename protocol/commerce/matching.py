"""Taking an offer of a search: one unit is bought at once, or its price is certified for later.

    offer.accept_ranked ─► settle       order, payment, postings; the unit leaves the stock
                        └► certificate  issued ─ certificate.redeem ─► used, with all that a sale makes

The policy `matching` says which (`acceptance`), and for how many ticks a certificate can be redeemed.
An offer is taken at the price it was shown at: when the listing's price has changed since, it can't be.
A certificate fixes the price; it sets no unit aside, so that one which is never redeemed holds up nobody.
Not here: how offers are found (`search`).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..bodies import Made
from ..canonical import Id
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import Inventory, Listing, StockReserved
from .confirmations import confirmed
from .orders import Line, Order
from .policies import MATCHING, last_tick, policy_of
from .sales import Paid, Sale, paid
from .search import OfferRanking
from .subject import fresh, misdirected, own, shown, unknown
from .talk import tick_of
from .terms import (
    BUYER,
    MAX_MONEY,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    Currency,
    ListingId,
    MatchCertificateId,
    Money,
    OfferRankingId,
    OfferRankingIdOrNone,
    OrderIdOrNone,
    Quantity,
    Tick,
)

_replace = msgspec.structs.replace


class MatchCertificate(CommerceRow, frozen=True):
    """A row of `match_certificate`: a price for units of a listing, redeemed until tick ``expires``."""

    listing: ListingId
    buyer: Id
    merchant: Id
    unit_price: Money
    quantity: Quantity = 1
    currency: Currency = "EUR"
    state: Literal["issued", "used"] = "issued"
    offer_ranking: OfferRankingIdOrNone = None
    order: OrderIdOrNone = None
    expires: Tick | None = None

    def problem(self) -> str | None:
        """As `CommerceRow.problem`."""
        if self.quantity * self.unit_price > MAX_MONEY:
            return "is for more than an amount may be"
        if (self.state == "used") != (self.order is not None):
            return "is used by an order, and by nothing else"
        return None


class OfferAcceptRanked(CommerceAction, frozen=True, tag="offer.accept_ranked"):
    """Takes an offer of one's own search: one unit, at the price shown. Sent to the merchant.

    By the policy `matching` it is bought at once, or its price is certified for `certificate.redeem`.
    """

    offer_ranking: OfferRankingId


class CertificateGet(CommerceAction, frozen=True, tag="certificate.get"):
    """Reads a match certificate of one's own: what it is for, at which price, until when."""

    match_certificate: MatchCertificateId


class CertificateRedeem(CommerceAction, frozen=True, tag="certificate.redeem"):
    """Buys what a match certificate is for, at its price, until it expires. Sent to the merchant."""

    match_certificate: MatchCertificateId


class OfferAccepted(CommerceEvent, frozen=True, tag="offer.accepted"):
    """A buyer took an offer."""

    offer_ranking: str


class CertificateIssued(CommerceEvent, frozen=True, tag="certificate.issued"):
    """The price of an offer was certified."""

    match_certificate: Made
    offer_ranking: str
    listing: str
    buyer: str
    merchant: str
    unit_price: int
    quantity: int
    currency: str
    expires: int | None


class CertificateUsed(CommerceEvent, frozen=True, tag="certificate.used"):
    """What a certificate is for was bought."""

    match_certificate: str
    order: str


def _accept(state: State, act: Act) -> Verdict:
    key: str = act.action.offer_ranking
    offer: OfferRanking | None = state.get("offer_ranking", key)
    if offer is None or offer.buyer != act.sender:
        return unknown("offer.unknown", "offer_ranking", key)
    if act.to != offer.merchant:
        return misdirected("offer.addressee", act)
    refused = _cant_be_taken(state, key, offer)
    if refused is not None:
        return refused
    if _is_short(state, offer.listing, 1):
        return _short(offer.listing, 1)
    taken = OfferAccepted(key)
    if policy_of(state, MATCHING).acceptance == "certificate":
        return Accepted([taken, _certificate(state, act.seq, key, offer)])
    sold = _sale(state, act.seq, offer, Line(offer.listing, 1, offer.price))
    confirmation = confirmed(state, act, sold.order, offer, offer.price)
    return Accepted([taken, StockReserved(offer.listing, 1), *sold.events, confirmation])


def _cant_be_taken(state: State, key: str, offer: OfferRanking) -> Refusal | None:
    """Why an offer isn't to be had any more, or None."""
    if offer.state != "open":
        return Refusal("offer.state", {"offer_ranking": key, "state": offer.state})
    if offer.expires is not None and tick_of(state) > offer.expires:
        return Refusal("offer.expired", {"offer_ranking": key, "expires": offer.expires})
    listing: Listing = state.get("listing", offer.listing)
    if listing.state != "active":
        return Refusal("offer.withdrawn", {"listing": offer.listing})
    if listing.price != offer.price:
        return Refusal("offer.repriced", {"listing": offer.listing, "price": listing.price})
    return None


def _certificate(state: State, seq: int, key: str, offer: OfferRanking) -> CertificateIssued:
    return CertificateIssued(
        match_certificate=fresh(state, "match_certificate", f"m{seq}"),
        offer_ranking=key,
        listing=offer.listing,
        buyer=offer.buyer,
        merchant=offer.merchant,
        unit_price=offer.price,
        quantity=1,
        currency=offer.currency,
        expires=last_tick(state, MATCHING),
    )


def _sale(state: State, seq: int, of: OfferRanking | MatchCertificate, line: Line) -> Paid:
    total = line.quantity * line.unit_price
    return paid(state, str(seq), Sale(of.buyer, of.merchant, (line,), total, of.currency))


def _redeem(state: State, act: Act) -> Verdict:
    key: str = act.action.match_certificate
    found: MatchCertificate | None = own(state, "match_certificate", key, act.sender)
    if found is None:
        return unknown("certificate.unknown", "match_certificate", key)
    if act.to != found.merchant:
        return misdirected("certificate.addressee", act)
    if found.state != "issued":
        return Refusal("certificate.state", {"match_certificate": key, "state": found.state})
    if found.expires is not None and tick_of(state) > found.expires:
        return Refusal("certificate.expired", {"match_certificate": key, "expires": found.expires})
    if _is_short(state, found.listing, found.quantity):
        return _short(found.listing, found.quantity)
    sold = _sale(state, act.seq, found, Line(found.listing, found.quantity, found.unit_price))
    aside = StockReserved(found.listing, found.quantity)
    confirmation = confirmed(state, act, sold.order, found, found.quantity * found.unit_price)
    return Accepted([CertificateUsed(key, sold.order), aside, *sold.events, confirmation])


def _get(state: State, act: Act) -> Verdict:
    key: str = act.action.match_certificate
    if own(state, "match_certificate", key, act.sender) is None:
        return unknown("certificate.unknown", "match_certificate", key)
    return ALLOWED


def _is_short(state: State, listing: str, quantity: int) -> bool:
    stock: Inventory | None = state.get("inventory", listing)
    return stock is None or stock.available < quantity


def _short(listing: str, quantity: int) -> Refusal:
    return Refusal("stock.short", {"listing": listing, "quantity": quantity})


def _show_accepted(state: State, act: Act, events: Events) -> Shown:
    offer = ("offer_ranking", act.action.offer_ranking)
    issued = events[1]
    if isinstance(issued, CertificateIssued):
        return shown(state, ("match_certificate", issued.match_certificate), offer)
    return shown(state, *_bought(state, events[2]), offer)


def _show_redeemed(state: State, act: Act, events: Events) -> Shown:
    return shown(state, *_bought(state, events[2]), ("match_certificate", act.action.match_certificate))


def _bought(state: State, made: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - a sale's first event
    """The order that a sale made, its payments and its confirmation."""
    order: Order = state.get("order", made.order)
    hanging = ("payment", order.payments), ("confirmation", order.confirmations)
    return [("order", made.order), *((table, key) for table, keys in hanging for key in keys)]


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("match_certificate", act.action.match_certificate))


def _accepted(state: State, event: OfferAccepted) -> None:
    offer: OfferRanking = state.get("offer_ranking", event.offer_ranking)
    state.put("offer_ranking", event.offer_ranking, _replace(offer, state="accepted"))


def _issued(state: State, event: CertificateIssued) -> None:
    certificate = MatchCertificate(
        listing=event.listing,
        buyer=event.buyer,
        merchant=event.merchant,
        unit_price=event.unit_price,
        quantity=event.quantity,
        currency=event.currency,
        offer_ranking=event.offer_ranking,
        expires=event.expires,
    )
    state.put("match_certificate", event.match_certificate, certificate)


def _used(state: State, event: CertificateUsed) -> None:
    found: MatchCertificate = state.get("match_certificate", event.match_certificate)
    state.put("match_certificate", event.match_certificate, _replace(found, state="used", order=event.order))


SUBJECT = Subject(
    rows={"match_certificate": MatchCertificate},
    rules=(
        Rule(
            OfferAcceptRanked,
            _accept,
            _show_accepted,
            (
                "offer.unknown", "offer.addressee", "offer.state", "offer.expired", "offer.withdrawn",
                "offer.repriced", "stock.short",
            ),
            BUYER,
        ),
        Rule(CertificateGet, _get, _show, ("certificate.unknown",), is_query=True),
        Rule(
            CertificateRedeem,
            _redeem,
            _show_redeemed,
            (
                "certificate.unknown", "certificate.addressee", "certificate.state", "certificate.expired",
                "stock.short",
            ),
            BUYER,
        ),
    ),
    events={OfferAccepted: _accepted, CertificateIssued: _issued, CertificateUsed: _used},
    refusals={
        "offer.unknown": "no search of the sender gave such an offer",
        "offer.addressee": "an offer is taken by a message to its merchant",
        "offer.state": "the offer was taken before",
        "offer.expired": "the tick until which the offer could be taken has passed",
        "offer.withdrawn": "the listing is no longer offered",
        "offer.repriced": "the listing's price has changed since the search",
        "certificate.unknown": "the sender has no such certificate",
        "certificate.addressee": "a certificate is redeemed by a message to its merchant",
        "certificate.state": "the certificate was used before",
        "certificate.expired": "the tick until which the certificate could be redeemed has passed",
    },
    machines={"match_certificate": Machine(frozenset({"issued"}), {"issued": frozenset({"used"})})},
)  # fmt: skip

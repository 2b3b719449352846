"""Agreements: a price both sides took, units set aside, and the settlement that pays for them.

    agreed ─► settled       order, payment and postings are made; the units leave the stock
    agreed ─► expired       the tick until which it could be settled has passed (`clock`)

    settle = agreement.settled [+ stock.reserved] + a sale (`sales`) + confirmation.made

Units that no stock was set aside for are taken from what is available when the agreement is settled; what
is not there then either is still to come, for a buyer who allows that, and otherwise nothing is bought.

A buyer who wants nothing of what is offered says so with `purchase.decline`, which binds nobody.
Not here: how the price came about (`negotiation`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..bodies import Made, Part
from ..canonical import Id
from ..joined import Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .agenda import enter
from .catalog import Inventory, StockReserved
from .confirmations import confirmed
from .orders import Line, Order
from .sales import Sale, paid
from .subject import misdirected, own, shown_lists, unknown
from .talk import tick_of
from .terms import (
    BUYER,
    AgreementId,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    Currency,
    ListingId,
    Money,
    NegotiationIdOrNone,
    OrderIdOrNone,
    Quantity,
    Stock,
    Tick,
)


class Agreement(CommerceRow, frozen=True):
    """A row of `agreement`; ``total`` is quantity × unit price.

    ``short`` counts the units of it that no stock is set aside for; after tick ``expires`` it can't be
    settled.
    """

    listing: ListingId
    buyer: Id
    merchant: Id
    quantity: Quantity
    unit_price: Money
    total: Money
    state: Literal["agreed", "settled", "expired"] = "agreed"
    negotiation: NegotiationIdOrNone = None
    order: OrderIdOrNone = None
    currency: Currency = "EUR"
    short: Stock = 0
    expires: Tick | None = None

    def problem(self) -> str | None:
        """What the row says against itself."""
        return "has more units that are short than it has units" if self.short > self.quantity else None

    @property
    def set_aside(self) -> int:
        """How many of its units are reserved for it while it is agreed."""
        return self.quantity - self.short


class AgreementSettle(CommerceAction, frozen=True, tag="agreement.settle"):
    """Pays for an agreement; its units are then the buyer's. Sent to the merchant.

    Where fewer units are there than agreed, nothing is bought, unless `allow_partial`: then what is there is
    paid, and the price of what is still to come is held.
    """

    agreement: AgreementId
    allow_partial: bool = False


class PurchaseDecline(CommerceAction, frozen=True, tag="purchase.decline"):
    """Says that nothing is bought, and why. It binds nobody."""

    reason: Part


class AgreementMade(CommerceEvent, frozen=True, tag="agreement.made"):
    """Both sides took the same price."""

    agreement: Made
    negotiation: str
    listing: str
    buyer: str
    merchant: str
    quantity: int
    unit_price: int
    total: int
    currency: str
    short: int = 0
    expires: int | None = None


class AgreementExpired(CommerceEvent, frozen=True, tag="agreement.expired"):
    """The tick until which an agreement could be settled has passed."""

    agreement: str


class AgreementSettled(CommerceEvent, frozen=True, tag="agreement.settled"):
    """An agreement was paid for and became an order."""

    agreement: str
    order: str


class PurchaseDeclined(CommerceEvent, frozen=True, tag="purchase.declined"):
    """A buyer bought nothing."""

    buyer: str
    reason: str


def _settle(state: State, act: Act) -> Verdict:
    action: AgreementSettle = act.action
    found: Agreement | None = own(state, "agreement", action.agreement, act.sender)
    if found is None:
        return unknown("agreement.unknown", "agreement", action.agreement)
    if act.to != found.merchant:
        return misdirected("agreement.addressee", act)
    if found.state != "agreed":
        return Refusal("agreement.state", {"agreement": action.agreement, "state": found.state})
    if found.expires is not None and tick_of(state) > found.expires:
        return Refusal("agreement.expired", {"agreement": action.agreement, "expires": found.expires})
    stock: Inventory | None = state.get("inventory", found.listing) if found.short else None
    more = 0 if stock is None else min(found.short, stock.available)
    if more < found.short and not action.allow_partial:
        return Refusal("stock.short", {"listing": found.listing, "quantity": found.quantity})
    return Accepted(_settlement(state, act, found, more))


def _settlement(state: State, act: Act, agreement: Agreement, more: int) -> list[msgspec.Struct]:
    """The events of a settlement that takes `more` units beyond those set aside."""
    key: str = act.action.agreement
    line = Line(
        agreement.listing, agreement.quantity, agreement.unit_price, short=agreement.short - more
    )
    sale = Sale(
        agreement.buyer, agreement.merchant, (line,), agreement.total, agreement.currency, agreement=key
    )
    made = paid(state, str(act.seq), sale)
    reserved = [StockReserved(agreement.listing, more)] if more else []
    confirmation = confirmed(state, act, made.order, agreement, agreement.total)
    return [AgreementSettled(key, made.order), *reserved, *made.events, confirmation]


def _show_settled(state: State, act: Act, events: Events) -> Shown:
    settled = events[0]
    assert isinstance(settled, AgreementSettled)
    order: Order = state.get("order", settled.order)
    return shown_lists(
        state,
        (
            ("agreement", (act.action.agreement,)),
            ("order", (settled.order,)),
            ("payment", order.payments),
            ("confirmation", order.confirmations),
        ),
    )


def _decline(_state: State, act: Act) -> Verdict:
    action: PurchaseDecline = act.action
    return Accepted([PurchaseDeclined(act.sender, action.reason)])


def _made(state: State, event: AgreementMade) -> None:
    agreement = Agreement(
        listing=event.listing,
        buyer=event.buyer,
        merchant=event.merchant,
        quantity=event.quantity,
        unit_price=event.unit_price,
        total=event.total,
        negotiation=event.negotiation,
        currency=event.currency,
        short=event.short,
        expires=event.expires,
    )
    state.put("agreement", event.agreement, agreement)
    if event.expires is not None:
        enter(state, event.agreement, event.expires)


def _expired(state: State, event: AgreementExpired) -> None:
    agreement: Agreement = state.get("agreement", event.agreement)
    state.put("agreement", event.agreement, msgspec.structs.replace(agreement, state="expired"))


def _settled(state: State, event: AgreementSettled) -> None:
    agreement: Agreement = state.get("agreement", event.agreement)
    after = msgspec.structs.replace(agreement, state="settled", order=event.order)
    state.put("agreement", event.agreement, after)


def _declined(_state: State, _event: PurchaseDeclined) -> None:
    """No row changes: a refusal to buy binds nobody."""


SUBJECT = Subject(
    rows={"agreement": Agreement},
    rules=(
        Rule(
            AgreementSettle,
            _settle,
            _show_settled,
            (
                "agreement.unknown",
                "agreement.addressee",
                "agreement.state",
                "agreement.expired",
                "stock.short",
            ),
            BUYER,
        ),
        Rule(PurchaseDecline, _decline, roles=BUYER),
    ),
    events={
        AgreementMade: _made,
        AgreementExpired: _expired,
        AgreementSettled: _settled,
        PurchaseDeclined: _declined,
    },
    refusals={
        "agreement.unknown": "the sender has no such agreement",
        "agreement.addressee": "a settlement is sent to the merchant of the agreement",
        "agreement.state": "the agreement is settled already, or has expired",
        "agreement.expired": "the tick until which the agreement could be settled has passed",
    },
    machines={
        "agreement": Machine(frozenset({"agreed"}), {"agreed": frozenset({"settled", "expired"})})
    },
)

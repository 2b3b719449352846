"""Confirmations: what an act that moved money or goods came to, for one order, never changed after.

    settlement, checkout, refund, cancellation, …  ─►  one confirmation for each order that it concerns

A retry under an idempotency key returns the first confirmation, because it returns the first result. An
order's row names its confirmations, and `order.get` shows them.

`confirmed` is the one function that makes them. Not here: the acts that they confirm.
"""

from __future__ import annotations

from typing import Protocol, cast

import msgspec

from ..bodies import Made
from ..canonical import Id
from ..joined import Subject
from ..tables import State
from ..world import Act, kind_of
from .orders import order_named
from .subject import fresh
from .talk import tick_of
from .terms import CommerceEvent, CommerceRow, Currency, Money, OrderId, Tick


class Confirmation(CommerceRow, frozen=True):
    """A row of `confirmation`: the kind of act that it confirms, and the money moved or held, or 0."""

    order: OrderId
    buyer: Id
    merchant: Id
    act: Id
    amount: Money
    tick: Tick = 0
    currency: Currency = "EUR"


class ConfirmationMade(CommerceEvent, frozen=True, tag="confirmation.made"):
    """What an act came to was put down."""

    confirmation: Made
    order: str
    buyer: str
    merchant: str
    act: str
    amount: int
    tick: int
    currency: str


class Concerned(Protocol):
    """What says whom a confirmation is for: an order, an agreement, a sale."""

    @property
    def buyer(self) -> str: ...  # noqa: D102 - as the order has it
    @property
    def merchant(self) -> str: ...  # noqa: D102 - as the order has it
    @property
    def currency(self) -> str: ...  # noqa: D102 - as the order has it


def confirmed(  # noqa: PLR0913 - an act, what it came to, and its place among those of one act
    state: State, act: Act, order: str, concerned: Concerned, amount: int, place: int = 1
) -> ConfirmationMade:
    """The event that confirms `act` for one order; ``place`` counts the orders of one act from 1.

    The order may be one that the same decision makes. The event comes after
    the one that makes it.
    """
    stem = f"k{act.seq}" if place == 1 else f"k{act.seq}_{place}"
    return ConfirmationMade(
        confirmation=fresh(state, "confirmation", stem),
        order=order,
        buyer=concerned.buyer,
        merchant=concerned.merchant,
        act=kind_of(cast("type[msgspec.Struct]", type(act.action))),
        amount=amount,
        tick=tick_of(state),
        currency=concerned.currency,
    )


def _made(state: State, event: ConfirmationMade) -> None:
    row = Confirmation(
        order=event.order,
        buyer=event.buyer,
        merchant=event.merchant,
        act=event.act,
        amount=event.amount,
        tick=event.tick,
        currency=event.currency,
    )
    state.put("confirmation", event.confirmation, row)
    order_named(state, event.order, "confirmations", (event.confirmation,))


SUBJECT = Subject(
    rows={"confirmation": Confirmation}, rules=(), events={ConfirmationMade: _made}, refusals={}
)

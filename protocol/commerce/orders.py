"""Orders: what was bought, and where it stands.

    proposed ─► accepted ─► settled | partially_settled | backordered ─► dispatched ─► delivered
    delivered ─► returned | refunded | exchanged        returned ─► refunded | exchanged
    cancelled from everything that isn't dispatched yet

An order's row names what hangs on it (payments, postings, returns, refund cases), so that its
histories are read without going through a table.

`order.get` shows the order with its returns and refund cases, to its buyer and its merchant alone.
Not here: what makes an order (`agreements`), what moves it on after the sale (`returns`, `refunds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ..bodies import Made
from ..canonical import Id
from ..tables import State
from ..world import Act, Shown
from .subject import ALLOWED, Events, Machine, Rule, Subject, Verdict, own, shown_lists, unknown
from .terms import (
    AgreementIdOrNone,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    Currency,
    ListingId,
    Money,
    OrderGroupIdOrNone,
    OrderId,
    Quantity,
)

OrderState = Literal[
    "proposed", "accepted", "settled", "partially_settled", "backordered", "dispatched", "delivered",
    "returned", "refunded", "exchanged", "cancelled",
]  # fmt: skip


class Line(CommerceRow, frozen=True):
    """Units of one listing at the price they were sold for; ``discount`` came off all of them together."""

    listing: ListingId
    quantity: Quantity
    unit_price: Money
    discount: Money = 0


class Order(CommerceRow, frozen=True):
    """A row of `order`; one without ``lines`` stands for a single unit of something.

    ``charges`` is what was added to its lines: shipping, fees, tax.
    """

    buyer: Id
    merchant: Id
    total: Money
    state: OrderState
    lines: tuple[Line, ...] = ()
    agreement: AgreementIdOrNone = None
    currency: Currency = "EUR"
    payments: tuple[Id, ...] = ()
    postings: tuple[Id, ...] = ()
    returns: tuple[Id, ...] = ()
    refund_cases: tuple[Id, ...] = ()
    confirmations: tuple[Id, ...] = ()
    order_group: OrderGroupIdOrNone = None
    charges: Money = 0

    @property
    def units(self) -> int:
        """How many units were ordered."""
        return sum(line.quantity for line in self.lines) if self.lines else 1


class OrderGet(CommerceAction, frozen=True, tag="order.get"):
    """Reads an order of one's own, with its returns and refund cases."""

    order: OrderId


class OrderSettled(CommerceEvent, frozen=True, tag="order.settled"):
    """An agreement, or a cart's part of one merchant, became an order that is paid."""

    order: Made
    agreement: str | None
    buyer: str
    merchant: str
    total: int
    currency: str
    lines: tuple[Line, ...]
    order_group: str | None = None
    charges: int = 0


class OrderReturned(CommerceEvent, frozen=True, tag="order.returned"):
    """Everything that was ordered came back."""

    order: str


class OrderRefunded(CommerceEvent, frozen=True, tag="order.refunded"):
    """Everything that was paid was given back."""

    order: str


def order_named(state: State, key: str, column: str, keys: Sequence[str]) -> None:
    """Stages an order that names more of what hangs on it."""
    order: Order = state.get("order", key)
    state.put("order", key, msgspec.structs.replace(order, **{column: (*getattr(order, column), *keys)}))


def _get(state: State, act: Act) -> Verdict:
    action: OrderGet = act.action
    if own(state, "order", action.order, act.sender) is None:
        return unknown("order.unknown", "order", action.order)
    return ALLOWED


def _show(state: State, act: Act, _events: Events) -> Shown:
    key: str = act.action.order
    order: Order = state.get("order", key)
    return shown_lists(
        state, (("order", (key,)), ("return", order.returns), ("refund_case", order.refund_cases))
    )


def _settled(state: State, event: OrderSettled) -> None:
    order = Order(
        buyer=event.buyer,
        merchant=event.merchant,
        total=event.total,
        state="settled",
        lines=event.lines,
        agreement=event.agreement,
        currency=event.currency,
        order_group=event.order_group,
        charges=event.charges,
    )
    state.put("order", event.order, order)


def _returned(state: State, event: OrderReturned) -> None:
    _move(state, event.order, "returned")


def _refunded(state: State, event: OrderRefunded) -> None:
    _move(state, event.order, "refunded")


def _move(state: State, key: str, to: OrderState) -> None:
    state.put("order", key, msgspec.structs.replace(state.get("order", key), state=to))


_PAID = frozenset({"settled", "partially_settled", "backordered"})

SUBJECT = Subject(
    rows={"order": Order},
    rules=(Rule(OrderGet, _get, _show, ("order.unknown",), is_query=True),),
    events={OrderSettled: _settled, OrderReturned: _returned, OrderRefunded: _refunded},
    refusals={"order.unknown": "the sender has no such order"},
    machines={
        "order": Machine(
            first=_PAID | {"proposed"},
            steps={
                "proposed": frozenset({"accepted", "cancelled"}),
                "accepted": _PAID | {"cancelled"},
                "settled": frozenset({"dispatched", "cancelled"}),
                "partially_settled": frozenset({"dispatched", "cancelled"}),
                "backordered": frozenset({"dispatched", "cancelled"}),
                "dispatched": frozenset({"delivered"}),
                "delivered": frozenset({"returned", "refunded", "exchanged"}),
                "returned": frozenset({"refunded", "exchanged"}),
            },
        )
    },
)

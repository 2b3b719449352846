"""Orders: what was bought, and where it stands.

    proposed ─► accepted ─► settled | partially_settled | backordered
    backordered ─► partially_settled ─► settled ─► dispatched ─► delivered
    dispatched ─► refunded                               what was sent never arrived
    delivered ─► returned | refunded | exchanged         returned ─► refunded | exchanged
    cancelled from everything that isn't dispatched yet

An accepted order's money is only held, and its units are set aside. A paid order's units have left the
stock; those that are still to come are ``short`` of their lines: none of them (settled), some
(partially settled) or all (backordered).

An order's row names what hangs on it (payments, postings, returns, refund cases, …), so that its
histories are read without going through a table.

`order.get` shows the order with its returns, refund cases and confirmations, to its buyer and its merchant
alone. Not here: what makes an order (`sales`), what moves it on (`cancellations`, `fulfilment`, `shipments`,
`returns`, `refunds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from ..bodies import Made, Text
from ..canonical import Id
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Act, Shown
from .reputation import counted
from .subject import own, shown_lists, unknown
from .talk import tick_of
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
    Stock,
    Tick,
)

_replace = msgspec.structs.replace

OrderState = Literal[
    "proposed", "accepted", "settled", "partially_settled", "backordered", "dispatched", "delivered",
    "returned", "refunded", "exchanged", "cancelled",
]  # fmt: skip


class Line(CommerceRow, frozen=True):
    """Units of one listing at the price they were sold for; ``discount`` came off all of them together.

    ``short`` counts those of them that are still to come.
    """

    listing: ListingId
    quantity: Quantity
    unit_price: Money
    discount: Money = 0
    short: Stock = 0


class Order(CommerceRow, frozen=True):
    """A row of `order`; one without ``lines`` stands for a single unit of something.

    ``charges`` is what was added to its lines: shipping, fees, tax. ``placed`` is the tick at which it was
    made, ``promised`` the one by which it should be there; ``tier`` and ``prior_orders`` are what the
    merchant knows of the buyer: their standing, and how many orders of theirs were completed before.
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
    packings: tuple[Id, ...] = ()
    shipments: tuple[Id, ...] = ()
    placed: Tick = 0
    promised: Tick | None = None
    tier: Text = ""
    prior_orders: Stock = 0
    exchanges: tuple[Id, ...] = ()
    disputes: tuple[Id, ...] = ()
    reconciliations: tuple[Id, ...] = ()

    def problem(self) -> str | None:
        """What the row says against itself."""
        if any(line.short > line.quantity for line in self.lines):
            return "has a line with more units that are short than it has units"
        if self.state in _WAITING and self.state != paid_state(self.lines):
            return f"is `{self.state}`, and its lines say `{paid_state(self.lines)}`"
        return None

    @property
    def units(self) -> int:
        """How many units were ordered."""
        return sum(line.quantity for line in self.lines) if self.lines else 1


_WAITING = ("settled", "partially_settled", "backordered")


class OrderGet(CommerceAction, frozen=True, tag="order.get"):
    """Reads an order of one's own, with its returns, refund cases, exchanges, disputes and confirmations."""

    order: OrderId


class _OrderMade(CommerceEvent, frozen=True):
    order: Made
    agreement: str | None
    buyer: str
    merchant: str
    total: int
    currency: str
    lines: tuple[Line, ...]
    order_group: str | None = None
    charges: int = 0


class OrderSettled(_OrderMade, frozen=True, tag="order.settled"):
    """An agreement, or a cart's part of one merchant, became an order that is paid."""


class OrderPartiallySettled(_OrderMade, frozen=True, tag="order.partially_settled"):
    """As `order.settled`; some of its units are still to come, and their money is held."""


class OrderBackordered(_OrderMade, frozen=True, tag="order.backordered"):
    """As `order.settled`; all of its units are still to come, and their money is held."""


class OrderAccepted(_OrderMade, frozen=True, tag="order.accepted"):
    """As `order.settled`; all of its money is held, and its units are set aside."""


class OrderPaid(CommerceEvent, frozen=True, tag="order.paid"):
    """The money held for an order was taken, as far as its units are there."""

    order: str


class OrderFilled(CommerceEvent, frozen=True, tag="order.filled"):
    """Units that an order waited for are there."""

    order: str
    listing: str
    quantity: int


class OrderDispatched(CommerceEvent, frozen=True, tag="order.dispatched"):
    """An order is on its way."""

    order: str


class OrderDelivered(CommerceEvent, frozen=True, tag="order.delivered"):
    """Everything that was on its way for an order is there, or was made good."""

    order: str


class OrderCancelled(CommerceEvent, frozen=True, tag="order.cancelled"):
    """An order was called off before it was dispatched."""

    order: str


class OrderReturned(CommerceEvent, frozen=True, tag="order.returned"):
    """Everything that was ordered came back."""

    order: str


class OrderRefunded(CommerceEvent, frozen=True, tag="order.refunded"):
    """Everything that was paid was given back."""

    order: str


class OrderExchanged(CommerceEvent, frozen=True, tag="order.exchanged"):
    """Everything that was ordered was replaced."""

    order: str


def order_named(state: State, key: str, column: str, keys: Sequence[str]) -> None:
    """Stages an order that names more of what hangs on it."""
    order: Order = state.get("order", key)
    state.put("order", key, _replace(order, **{column: (*getattr(order, column), *keys)}))


def paid_state(lines: Sequence[Line]) -> OrderState:
    """The state of an order that is paid as far as its units are there."""
    if not any(line.short for line in lines):
        return "settled"
    return "partially_settled" if any(line.short < line.quantity for line in lines) else "backordered"


def filled(lines: Sequence[Line], listing: str, quantity: int) -> tuple[Line, ...]:
    """The lines once `quantity` units of the listing came; first lines first."""
    after: list[Line] = []
    for line in lines:
        part = min(line.short, quantity) if line.listing == listing else 0
        quantity -= part
        after.append(_replace(line, short=line.short - part) if part else line)
    return tuple(after)


def _get(state: State, act: Act) -> Verdict:
    action: OrderGet = act.action
    if own(state, "order", action.order, act.sender) is None:
        return unknown("order.unknown", "order", action.order)
    return ALLOWED


def _show(state: State, act: Act, _events: Events) -> Shown:
    key: str = act.action.order
    order: Order = state.get("order", key)
    return shown_lists(
        state,
        (
            ("order", (key,)),
            ("return", order.returns),
            ("refund_case", order.refund_cases),
            ("exchange", order.exchanges),
            ("dispute", order.disputes),
            ("confirmation", order.confirmations),
        ),
    )


def _made(state: State, event: _OrderMade) -> None:
    order = Order(
        buyer=event.buyer,
        merchant=event.merchant,
        total=event.total,
        state=_MADE[type(event)],
        lines=event.lines,
        agreement=event.agreement,
        currency=event.currency,
        order_group=event.order_group,
        charges=event.charges,
        placed=tick_of(state),
    )
    state.put("order", event.order, order)


_MADE: dict[type[_OrderMade], OrderState] = {
    OrderSettled: "settled",
    OrderPartiallySettled: "partially_settled",
    OrderBackordered: "backordered",
    OrderAccepted: "accepted",
}


def _paid(state: State, event: OrderPaid) -> None:
    order: Order = state.get("order", event.order)
    state.put("order", event.order, _replace(order, state=paid_state(order.lines)))


def _filled(state: State, event: OrderFilled) -> None:
    order: Order = state.get("order", event.order)
    lines = filled(order.lines, event.listing, event.quantity)
    state.put("order", event.order, _replace(order, lines=lines, state=paid_state(lines)))


def _delivered(state: State, event: OrderDelivered) -> None:
    _move("delivered", state, event)
    counted(state, state.get("order", event.order).merchant, fulfilled=1)


def _returned(state: State, event: OrderReturned) -> None:
    _move("returned", state, event)
    counted(state, state.get("order", event.order).merchant, returned=1)


def _move(to: OrderState, state: State, event: Any) -> None:  # noqa: ANN401 - any event of one order
    state.put("order", event.order, _replace(state.get("order", event.order), state=to))


_PAID = frozenset({"settled", "partially_settled", "backordered"})

SUBJECT = Subject(
    rows={"order": Order},
    rules=(Rule(OrderGet, _get, _show, ("order.unknown",), is_query=True),),
    events={
        **dict.fromkeys(_MADE, _made),
        OrderPaid: _paid,
        OrderFilled: _filled,
        OrderDispatched: partial(_move, "dispatched"),
        OrderDelivered: _delivered,
        OrderCancelled: partial(_move, "cancelled"),
        OrderReturned: _returned,
        OrderRefunded: partial(_move, "refunded"),
        OrderExchanged: partial(_move, "exchanged"),
    },
    refusals={
        "order.unknown": "there is no such order, or it isn't the sender's",
        "order.addressee": "what becomes of an order is sent to its other party, or by an operator to either",
        "order.state": "the order is not in a state for this",
    },
    machines={
        "order": Machine(
            first=_PAID | {"accepted", "proposed"},
            steps={
                "proposed": frozenset({"accepted", "cancelled"}),
                "accepted": _PAID | {"cancelled"},
                "settled": frozenset({"dispatched", "cancelled"}),
                "partially_settled": frozenset({"settled", "cancelled"}),
                "backordered": frozenset({"settled", "partially_settled", "cancelled"}),
                "dispatched": frozenset({"delivered", "refunded"}),
                "delivered": frozenset({"returned", "refunded", "exchanged"}),
                "returned": frozenset({"refunded", "exchanged"}),
            },
        )
    },
)

"""Buying a quoted cart: one checkout, one order for each merchant, all of them or none.

    checkout = cart.checked_out + stock.reserved, once for each line
             + a sale (`sales`) and confirmation.made for each merchant

The orders of a checkout are a group. Each is paid by itself, by what its merchant's part of the quote
says, its discounts and charges included. Not here: what a cart costs (`carts`, `quoting`).
"""

from __future__ import annotations

import msgspec

from ..bodies import Made
from ..canonical import Id
from ..joined import Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .carts import Quote
from .catalog import Inventory, StockReserved
from .confirmations import confirmed
from .orders import Line, Order
from .quoting import MerchantQuote
from .sales import Sale, paid
from .subject import fresh, misdirected, own, shown_lists, unknown
from .talk import tick_of
from .terms import (
    BUYER,
    CartQuoteId,
    CartQuoteIdOrNone,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    Currency,
    Money,
    OrderId,
)


class OrderGroup(CommerceRow, frozen=True):
    """A row of `order_group`: the orders of one checkout, one for each merchant."""

    buyer: Id
    total: Money
    orders: tuple[OrderId, ...] = ()
    cart_quote: CartQuoteIdOrNone = None
    currency: Currency = "EUR"


class CartCheckout(CommerceAction, frozen=True, tag="cart.checkout"):
    """Buys and pays a quoted cart as a whole, or nothing of it: one order for each merchant.

    Sent to the merchant that made the quote; where the market did, to a merchant of its lines or to nobody.
    """

    cart_quote: CartQuoteId


class CartCheckedOut(CommerceEvent, frozen=True, tag="cart.checked_out"):
    """A cart was bought; its orders come after."""

    cart_quote: str
    order_group: Made
    buyer: str
    orders: tuple[str, ...]
    total: int
    currency: str


def _checkout(state: State, act: Act) -> Verdict:
    action: CartCheckout = act.action
    found: Quote | None = own(state, "cart_quote", action.cart_quote, act.sender)
    if found is None:
        return unknown("cart.unknown", "cart_quote", action.cart_quote)
    if not _concerns(found, act.to):
        return misdirected("cart.addressee", act)
    if found.state != "quoted":
        return Refusal("cart.state", {"cart_quote": action.cart_quote, "state": found.state})
    if found.expires is not None and tick_of(state) > found.expires:
        return Refusal("cart.expired", {"cart_quote": action.cart_quote, "expires": found.expires})
    for line in found.lines:
        stock: Inventory | None = state.get("inventory", line.listing)
        if stock is None or stock.available < line.quantity:
            return Refusal("stock.short", {"listing": line.listing, "quantity": line.quantity})
    return Accepted(_bought(state, act, found))


def _concerns(found: Quote, to: str | None) -> bool:
    if found.merchant is not None:
        return to == found.merchant
    return to is None or any(to == part.merchant for part in found.quotes)


def _bought(state: State, act: Act, found: Quote) -> list[msgspec.Struct]:
    group = fresh(state, "order_group", f"g{act.seq}")
    orders: list[str] = []
    events: list[msgspec.Struct] = []
    for place, part in enumerate(found.quotes, 1):
        sale = _sale(found, part, group)
        made = paid(state, str(act.seq) if place == 1 else f"{act.seq}_{place}", sale)
        orders.append(made.order)
        events += [*made.events, confirmed(state, act, made.order, sale, sale.total, place)]
    total = sum(part.total for part in found.quotes)
    return [
        CartCheckedOut(act.action.cart_quote, group, found.buyer, tuple(orders), total, found.currency),
        *(StockReserved(line.listing, line.quantity) for line in found.lines),
        *events,
    ]


def _sale(found: Quote, part: MerchantQuote, group: str) -> Sale:
    return Sale(
        buyer=found.buyer,
        merchant=part.merchant,
        lines=tuple(Line(each.listing, each.quantity, each.unit_price, each.discount) for each in part.lines),
        total=part.total,
        currency=found.currency,
        order_group=group,
        charges=sum(charge.amount for charge in part.charges),
    )


def _show_bought(state: State, act: Act, events: Events) -> Shown:
    bought = events[0]
    assert isinstance(bought, CartCheckedOut)
    orders: list[Order] = [state.get("order", key) for key in bought.orders]
    return shown_lists(
        state,
        (
            ("cart_quote", (act.action.cart_quote,)),
            ("order_group", (bought.order_group,)),
            ("order", bought.orders),
            ("payment", [key for order in orders for key in order.payments]),
            ("confirmation", [key for order in orders for key in order.confirmations]),
        ),
    )


def _checked_out(state: State, event: CartCheckedOut) -> None:
    after = msgspec.structs.replace(
        state.get("cart_quote", event.cart_quote), state="ordered", order_group=event.order_group
    )
    state.put("cart_quote", event.cart_quote, after)
    group = OrderGroup(
        buyer=event.buyer,
        total=event.total,
        orders=event.orders,
        cart_quote=event.cart_quote,
        currency=event.currency,
    )
    state.put("order_group", event.order_group, group)


SUBJECT = Subject(
    rows={"order_group": OrderGroup},
    rules=(
        Rule(
            CartCheckout,
            _checkout,
            _show_bought,
            ("cart.unknown", "cart.addressee", "cart.state", "cart.expired", "stock.short"),
            BUYER,
        ),
    ),
    events={CartCheckedOut: _checked_out},
    refusals={"cart.expired": "the tick until which the quote could be taken has passed"},
)

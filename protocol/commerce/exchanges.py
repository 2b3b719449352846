"""Goods that go out instead of those that come back.

    request ─► requested ─► authorized ─► completed      request: by the buyer; the rest by the merchant
                        └─► denied ◄─┘

    authorize = exchange.authorized + stock.reserved
    complete  = exchange.completed + stock.sold [+ stock.released] [+ order.exchanged] + confirmation.made

An exchange replaces the units of one return, unit for unit, by another listing of the same merchant, and
moves no money: what one is worth beside the other is for both sides to weigh, and a difference is claimed as
a refund. As many units go out as came back. An order is exchanged when all its units were replaced.
Not here: the return (`returns`), the money (`refunds`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..bodies import Made, Part
from ..canonical import Id
from ..joined import Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import Inventory, Listing, StockReleased, StockReserved, StockSold
from .confirmations import confirmed
from .orders import Order, OrderExchanged, order_named
from .returns import Return
from .subject import fresh, misdirected, own, shown, unknown
from .terms import (
    BUYER,
    MERCHANT,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    ExchangeId,
    ListingId,
    OrderId,
    Quantity,
    ReturnId,
)

_replace = msgspec.structs.replace


class Exchange(CommerceRow, frozen=True):
    """A row of `exchange`: units of ``listing`` for those that come back by the return ``returned``.

    ``replaced`` counts the units that went out, unset until then.
    """

    order: OrderId
    returned: ReturnId
    buyer: Id
    merchant: Id
    listing: ListingId
    quantity: Quantity
    state: Literal["requested", "authorized", "denied", "completed"] = "requested"
    replaced: Quantity | None = None

    def problem(self) -> str | None:
        """Units went out of completed exchanges, at most those asked for."""
        if (self.replaced is not None) != (self.state == "completed"):
            return f"is `{self.state}`, and units go out when it is `completed`"
        if self.replaced is not None and self.replaced > self.quantity:
            return "replaces more units than were asked for"
        return None


class ExchangeRequest(CommerceAction, frozen=True, tag="exchange.request"):
    """Asks for units of another listing of the same merchant instead of those of a return.

    Sent to the merchant.
    """

    return_: ReturnId = msgspec.field(name="return")
    listing: ListingId
    reason: Part


class ExchangeAuthorize(CommerceAction, frozen=True, tag="exchange.authorize"):
    """Agrees to replace the goods of an authorized or received return, and sets the units aside.

    Sent to the buyer.
    """

    exchange: ExchangeId


class ExchangeDeny(CommerceAction, frozen=True, tag="exchange.deny"):
    """Turns an exchange down; units set aside for it can be had again. Sent to the buyer."""

    exchange: ExchangeId
    reason: Part


class ExchangeComplete(CommerceAction, frozen=True, tag="exchange.complete"):
    """Hands the replacement over, once the goods of the return are in. Sent to the buyer."""

    exchange: ExchangeId


class ExchangeRequested(CommerceEvent, frozen=True, tag="exchange.requested"):
    """A buyer asked for other goods instead."""

    exchange: Made
    order: str
    returned: str
    buyer: str
    merchant: str
    listing: str
    quantity: int


class ExchangeAuthorized(CommerceEvent, frozen=True, tag="exchange.authorized"):
    """The merchant agreed to replace goods."""

    exchange: str


class ExchangeDenied(CommerceEvent, frozen=True, tag="exchange.denied"):
    """The merchant does not replace goods."""

    exchange: str


class ExchangeCompleted(CommerceEvent, frozen=True, tag="exchange.completed"):
    """So many units went out instead of those that came back."""

    exchange: str
    replaced: int


def _request(state: State, act: Act) -> Verdict:
    action: ExchangeRequest = act.action
    listing: Listing | None = state.get("listing", action.listing)
    if listing is None:
        return unknown("listing.unknown", "listing", action.listing)
    if listing.state != "active":
        return Refusal("listing.withdrawn", {"listing": action.listing})
    found = _returned(state, act)
    if isinstance(found, Refusal):
        return found
    order: Order = state.get("order", found.order)
    if any(row.returned == action.return_ and row.state != "denied" for row in _exchanges(state, order)):
        return Refusal("exchange.again", {"return": action.return_})
    if (listing.merchant, listing.currency) != (order.merchant, order.currency):
        return Refusal("exchange.listing", {"listing": action.listing, "merchant": order.merchant})
    requested = ExchangeRequested(
        exchange=fresh(state, "exchange", f"x{act.seq}"),
        order=found.order,
        returned=action.return_,
        buyer=found.buyer,
        merchant=found.merchant,
        listing=action.listing,
        quantity=found.received_quantity or found.quantity,
    )
    return Accepted([requested])


def _returned(state: State, act: Act) -> Return | Refusal:
    """The sender's return that an act names, told to its merchant, if its goods can be replaced."""
    key: str = act.action.return_
    found: Return | None = own(state, "return", key, act.sender)
    if found is None:
        return unknown("return.unknown", "return", key)
    if act.to != found.merchant:
        return misdirected("exchange.addressee", act)
    if found.state == "denied":
        return Refusal("exchange.return_state", {"return": key, "state": found.state})
    order: Order = state.get("order", found.order)
    return found if order.state in _AFTER else _gone_on(found.order, order)


def _authorize(state: State, act: Act) -> Verdict:
    action: ExchangeAuthorize = act.action
    found = _open(state, act, ("requested",), ("authorized", "received"))
    if isinstance(found, Refusal):
        return found
    stock: Inventory | None = state.get("inventory", found.listing)
    if stock is None or stock.available < found.quantity:
        return Refusal("stock.short", {"listing": found.listing, "quantity": found.quantity})
    return Accepted([ExchangeAuthorized(action.exchange), StockReserved(found.listing, found.quantity)])


def _deny(state: State, act: Act) -> Verdict:
    action: ExchangeDeny = act.action
    found = _in_state(state, act, ("requested", "authorized"))
    if isinstance(found, Refusal):
        return found
    denied = ExchangeDenied(action.exchange)
    if found.state == "requested":
        return Accepted([denied])
    return Accepted([denied, StockReleased(found.listing, found.quantity)])


def _complete(state: State, act: Act) -> Verdict:
    action: ExchangeComplete = act.action
    found = _open(state, act, ("authorized",), ("received",))
    if isinstance(found, Refusal):
        return found
    replaced = min(found.quantity, state.get("return", found.returned).received_quantity)
    events: list[msgspec.Struct] = [
        ExchangeCompleted(action.exchange, replaced), StockSold(found.listing, replaced)
    ]  # fmt: skip
    if replaced < found.quantity:
        events.append(StockReleased(found.listing, found.quantity - replaced))
    order: Order = state.get("order", found.order)
    before = sum(row.replaced or 0 for row in _exchanges(state, order))
    if before + replaced >= order.units:
        events.append(OrderExchanged(found.order))
    events.append(confirmed(state, act, found.order, order, 0))
    return Accepted(events)


def _exchanges(state: State, order: Order) -> list[Exchange]:
    return [state.get("exchange", key) for key in order.exchanges]


def _open(state: State, act: Act, wanted: tuple[str, ...], returned: tuple[str, ...]) -> Exchange | Refusal:
    """As `_in_state`, of a return in a state of ``returned`` and an order that wasn't settled otherwise."""
    found = _in_state(state, act, wanted)
    if isinstance(found, Refusal):
        return found
    row: Return = state.get("return", found.returned)
    if row.state not in returned:
        return Refusal("exchange.return_state", {"return": found.returned, "state": row.state})
    order: Order = state.get("order", found.order)
    return found if order.state in _AFTER else _gone_on(found.order, order)


def _in_state(state: State, act: Act, wanted: tuple[str, ...]) -> Exchange | Refusal:
    """The sender's exchange that an act names, in a state wanted and answered to its buyer."""
    key: str = act.action.exchange
    found: Exchange | None = own(state, "exchange", key, act.sender)
    if found is None:
        return unknown("exchange.unknown", "exchange", key)
    if act.to != found.buyer:
        return misdirected("exchange.addressee", act)
    if found.state not in wanted:
        return Refusal("exchange.state", {"exchange": key, "state": found.state})
    return found


def _gone_on(key: str, order: Order) -> Refusal:
    return Refusal("exchange.order_state", {"order": key, "state": order.state})


def _show_requested(state: State, _act: Act, events: Events) -> Shown:
    requested = events[0]
    assert isinstance(requested, ExchangeRequested)
    return shown(state, ("exchange", requested.exchange))


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("exchange", act.action.exchange))


def _show_completed(state: State, act: Act, _events: Events) -> Shown:
    key: str = act.action.exchange
    order: str = state.get("exchange", key).order
    confirmation: str = state.get("order", order).confirmations[-1]
    return shown(state, ("exchange", key), ("order", order), ("confirmation", confirmation))


def _requested(state: State, event: ExchangeRequested) -> None:
    row = Exchange(
        order=event.order,
        returned=event.returned,
        buyer=event.buyer,
        merchant=event.merchant,
        listing=event.listing,
        quantity=event.quantity,
    )
    state.put("exchange", event.exchange, row)
    order_named(state, event.order, "exchanges", (event.exchange,))


def _authorized(state: State, event: ExchangeAuthorized) -> None:
    after = _replace(state.get("exchange", event.exchange), state="authorized")
    state.put("exchange", event.exchange, after)


def _denied(state: State, event: ExchangeDenied) -> None:
    state.put("exchange", event.exchange, _replace(state.get("exchange", event.exchange), state="denied"))


def _completed(state: State, event: ExchangeCompleted) -> None:
    found = state.get("exchange", event.exchange)
    state.put("exchange", event.exchange, _replace(found, state="completed", replaced=event.replaced))


_AFTER = ("delivered", "returned")
_MINE = ("exchange.unknown", "exchange.addressee", "exchange.state")

SUBJECT = Subject(
    rows={"exchange": Exchange},
    rules=(
        Rule(
            ExchangeRequest,
            _request,
            _show_requested,
            (
                "listing.unknown", "listing.withdrawn", "return.unknown", "exchange.addressee",
                "exchange.return_state", "exchange.order_state", "exchange.again", "exchange.listing",
            ),
            BUYER,
        ),
        Rule(
            ExchangeAuthorize,
            _authorize,
            _show,
            (*_MINE, "exchange.return_state", "exchange.order_state", "stock.short"),
            MERCHANT,
        ),
        Rule(ExchangeDeny, _deny, _show, _MINE, MERCHANT),
        Rule(
            ExchangeComplete,
            _complete,
            _show_completed,
            (*_MINE, "exchange.return_state", "exchange.order_state"),
            MERCHANT,
        ),
    ),
    events={
        ExchangeRequested: _requested,
        ExchangeAuthorized: _authorized,
        ExchangeDenied: _denied,
        ExchangeCompleted: _completed,
    },
    refusals={
        "exchange.unknown": "the sender has no such exchange",
        "exchange.addressee": "an exchange is asked of the merchant of the return, and answered to its buyer",
        "exchange.state": "the exchange is not in the state for this: requested, then authorized",
        "exchange.return_state": "the return was denied, or is not yet as far as this needs",
        "exchange.order_state": "only what was delivered and not refunded is exchanged, and only once",
        "exchange.again": "there is an exchange for this return already",
        "exchange.listing": "goods are replaced by a listing of the same merchant, in the order's currency",
    },
    machines={
        "exchange": Machine(
            frozenset({"requested"}),
            {
                "requested": frozenset({"authorized", "denied"}),
                "authorized": frozenset({"completed", "denied"}),
            },
        )
    },
)  # fmt: skip

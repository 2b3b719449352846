"""Who gets the units that came in, and how a paid order leaves.

    allocate = for each order named, as far as the units last:
               stock.reserved + stock.sold + order.filled + hold.captured + ledger.posted + confirmation.made
    dispatch = packing.moved, once for each packing + shipment.sent + order.dispatched

What an order pays for units that came is their price; with the last of them, all that is still held for it.
Not here: what becomes of goods on their way (`shipments`).
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from ..joined import Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import Inventory, Listing, StockReserved, StockSold
from .confirmations import confirmed
from .orders import Order, OrderDispatched, OrderFilled, filled
from .packing import moved, packings_in
from .payments import captures, held
from .shipments import Sending, sending, units_of
from .subject import misdirected, own, shown_lists, unknown
from .terms import MERCHANT, CommerceAction, ListingId, OrderId


class FulfilmentAllocate(CommerceAction, frozen=True, tag="fulfilment.allocate"):
    """Gives available units of a listing to orders that wait for them, the first order first.

    Each gets all that it waits for, as far as the units last.
    """

    listing: ListingId
    orders: Annotated[tuple[OrderId, ...], msgspec.Meta(min_length=1, max_length=20)]


class OrderDispatch(CommerceAction, frozen=True, tag="order.dispatch"):
    """Sends a settled order off; what was begun to be packed has to be packed. Sent to the buyer."""

    order: OrderId


def dispatching(state: State, stem: str, key: str, order: Order) -> list[msgspec.Struct] | Refusal:
    """The events by which an order leaves, or why it can't; its shipment's key begins with ``stem``."""
    if order.state != "settled":
        return Refusal("order.state", {"order": key, "state": order.state})
    unpacked = packings_in(state, order, "created")
    if unpacked:
        return Refusal("packing.state", {"packing": unpacked[0], "state": "created"})
    packed = packings_in(state, order, "packed")
    sent = sending(state, stem, key, order, Sending(units_of(order.lines)))
    return [*moved(state, packed, "handed_off"), sent, OrderDispatched(key)]


def _dispatch(state: State, act: Act) -> Verdict:
    action: OrderDispatch = act.action
    order: Order | None = own(state, "order", action.order, act.sender)
    if order is None:
        return unknown("order.unknown", "order", action.order)
    if act.to != order.buyer:
        return misdirected("order.addressee", act)
    events = dispatching(state, f"s{act.seq}", action.order, order)
    return events if isinstance(events, Refusal) else Accepted(events)


def _allocate(state: State, act: Act) -> Verdict:
    action: FulfilmentAllocate = act.action
    listing: Listing | None = state.get("listing", action.listing)
    if listing is None:
        return unknown("listing.unknown", "listing", action.listing)
    stock: Inventory | None = state.get("inventory", action.listing)
    if stock is None:
        return unknown("stock.unknown", "listing", action.listing)
    orders: dict[str, Order] = {}
    for key in action.orders:
        order: Order | None = own(state, "order", key, act.sender)
        if order is None:
            return unknown("order.unknown", "order", key)
        orders[key] = order
    if listing.merchant != act.sender:
        return Refusal("fulfilment.listing", {"listing": action.listing})
    if len(orders) < len(action.orders):
        return Refusal("fulfilment.twice", {"listing": action.listing})
    for key, order in orders.items():
        if _waiting(order, action.listing) == 0:
            return Refusal("fulfilment.order", {"order": key, "state": order.state})
    if stock.available == 0:
        return Refusal("stock.short", {"listing": action.listing, "quantity": 0})
    return Accepted(_allocated(state, act, orders, stock.available))


def _waiting(order: Order, listing: str) -> int:
    """The units of a listing that a paid order waits for; none of one that isn't such an order."""
    if order.state not in ("partially_settled", "backordered"):
        return 0
    return sum(line.short for line in order.lines if line.listing == listing)


def _allocated(state: State, act: Act, orders: dict[str, Order], available: int) -> list[msgspec.Struct]:
    listing: str = act.action.listing
    events: list[msgspec.Struct] = []
    for place, (key, order) in enumerate(orders.items(), 1):
        units = min(available, _waiting(order, listing))
        if units == 0:
            break
        available -= units
        due = _due(state, order, listing, units)
        events += (StockReserved(listing, units), StockSold(listing, units), OrderFilled(key, listing, units))
        events += captures(state, f"{act.seq}_{place}", key, order, due)
        events.append(confirmed(state, act, key, order, due, place))
    return events


def _due(state: State, order: Order, listing: str, units: int) -> int:
    """What is captured when so many units of a listing came."""
    left = held(state, order)
    after = filled(order.lines, listing, units)
    if not any(line.short for line in after):
        return left
    came = sum(
        (before.short - line.short) * line.unit_price
        for before, line in zip(order.lines, after, strict=True)
    )
    return min(left, came)


def _show_dispatched(state: State, act: Act, _events: Events) -> Shown:
    key: str = act.action.order
    order: Order = state.get("order", key)
    return shown_lists(
        state, (("order", (key,)), ("packing", order.packings), ("shipment", order.shipments))
    )


def _show_allocated(state: State, act: Act, _events: Events) -> Shown:
    action: FulfilmentAllocate = act.action
    return shown_lists(state, (("order", action.orders), ("inventory", (action.listing,))))


SUBJECT = Subject(
    rows={},
    rules=(
        Rule(
            FulfilmentAllocate,
            _allocate,
            _show_allocated,
            (
                "listing.unknown",
                "stock.unknown",
                "order.unknown",
                "fulfilment.listing",
                "fulfilment.twice",
                "fulfilment.order",
                "stock.short",
            ),
            MERCHANT,
            is_unaddressed=True,
        ),
        Rule(
            OrderDispatch,
            _dispatch,
            _show_dispatched,
            ("order.unknown", "order.addressee", "order.state", "packing.state"),
            MERCHANT,
        ),
    ),
    events={},
    refusals={
        "fulfilment.listing": "the listing is another merchant's",
        "fulfilment.twice": "an order is named twice",
        "fulfilment.order": "the order doesn't wait for units of this listing",
    },
)

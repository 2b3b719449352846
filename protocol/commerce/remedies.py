"""What is done about goods that don't arrive.

    wait      shipment.remedied
    replace   shipment.remedied + stock.reserved + stock.sold + shipment.sent + confirmation.made
    refund    shipment.remedied + (payment.refunded + ledger.posted) per payment [+ order.refunded]
              + confirmation.made

Of a shipment that is delayed, missing or lost, either party may ask for each; the policy `fulfilment` may say
which are open in which state. Waiting may be followed by another remedy, the others by none. A refund is the
price of the shipment's units; of one that carries the whole order, all that is left of its payments.
Not here: where a shipment stands (`shipments`).
"""

from __future__ import annotations

import msgspec

from ..joined import Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import Inventory, Listing, StockReserved, StockSold
from .confirmations import confirmed
from .orders import Order, OrderRefunded
from .payments import refundable, refunds
from .policies import FULFILMENT, policy_of
from .shipments import SETTLING, Remedy, Sending, Shipment, ShipmentSent, sending, standing
from .subject import misdirected, other, own, shown, shown_lists, unknown
from .terms import TRADERS, CommerceAction, CommerceEvent, ListingId, ShipmentId


class ShipmentWait(CommerceAction, frozen=True, tag="shipment.wait"):
    """Waits for a shipment that is late. Sent to the other party of the order.

    The policy `fulfilment` says by a shipment's state which remedies there are.
    """

    shipment: ShipmentId


class ShipmentReplace(CommerceAction, frozen=True, tag="shipment.replace"):
    """Has as many units of a listing of the same merchant sent in place of a shipment.

    The policy `fulfilment` says by a shipment's state which remedies there are. Sent to the other party of
    the order.
    """

    shipment: ShipmentId
    listing: ListingId


class ShipmentRefund(CommerceAction, frozen=True, tag="shipment.refund"):
    """Has the price of a shipment paid back. Sent to the other party of the order.

    The policy `fulfilment` says by a shipment's state which remedies there are.
    """

    shipment: ShipmentId


class ShipmentRemedied(CommerceEvent, frozen=True, tag="shipment.remedied"):
    """Something was done about a shipment that doesn't arrive."""

    shipment: str
    remedy: str


def _wait(state: State, act: Act) -> Verdict:
    found = _late(state, act, "wait")
    if isinstance(found, Refusal):
        return found
    return Accepted([ShipmentRemedied(act.action.shipment, "wait")])


def _send_again(state: State, act: Act) -> Verdict:
    action: ShipmentReplace = act.action
    listing: Listing | None = state.get("listing", action.listing)
    if listing is None:
        return unknown("listing.unknown", "listing", action.listing)
    if listing.state != "active":
        return Refusal("listing.withdrawn", {"listing": action.listing})
    found = _late(state, act, "replace")
    if isinstance(found, Refusal):
        return found
    if listing.merchant != found.merchant:
        return Refusal("shipment.listing", {"listing": action.listing, "merchant": found.merchant})
    quantity = sum(each.quantity for each in found.units) or 1
    stock: Inventory | None = state.get("inventory", action.listing)
    if stock is None or stock.available < quantity:
        return Refusal("stock.short", {"listing": action.listing, "quantity": quantity})
    order: Order = state.get("order", found.order)
    sent = Sending(found.units, action.listing, action.shipment)
    return Accepted([
        ShipmentRemedied(action.shipment, "replace"),
        StockReserved(action.listing, quantity),
        StockSold(action.listing, quantity),
        sending(state, f"s{act.seq}", found.order, order, sent),
        confirmed(state, act, found.order, order, 0),
    ])


def _refund(state: State, act: Act) -> Verdict:
    key: str = act.action.shipment
    found = _late(state, act, "refund")
    if isinstance(found, Refusal):
        return found
    order: Order = state.get("order", found.order)
    left = refundable(state, order)
    if left == 0:
        return Refusal("shipment.unpaid", {"order": found.order})
    amount = min(left, _price(order, found))
    events: list[msgspec.Struct] = [ShipmentRemedied(key, "refund")]
    events.extend(refunds(state, f"e{act.seq}", found.order, order, amount))
    if amount == left and order.state in ("dispatched", "delivered"):
        events.append(OrderRefunded(found.order))
    events.append(confirmed(state, act, found.order, order, amount))
    return Accepted(events)


def _price(order: Order, found: Shipment) -> int:
    """What a shipment's units cost, or more than anything where they are the whole order."""
    if sum(each.quantity for each in found.units) in (0, order.units):
        return order.total
    prices = {line.listing: line.unit_price for line in order.lines}
    return sum(each.quantity * prices.get(each.listing, 0) for each in found.units)


def _late(state: State, act: Act, remedy: Remedy) -> Shipment | Refusal:
    """The sender's shipment that an act names, told to the other party, if it is open to that remedy."""
    key: str = act.action.shipment
    found: Shipment | None = own(state, "shipment", key, act.sender)
    if found is None:
        return unknown("shipment.unknown", "shipment", key)
    if act.to != other(found, act.sender):
        return misdirected("shipment.addressee", act)
    if found.state not in _LATE or found.remedy in SETTLING:
        return standing(key, found)
    allowed = policy_of(state, FULFILMENT).remedies
    if allowed is not None and remedy not in allowed.get(found.state, ()):
        return Refusal("shipment.remedy", {"shipment": key, "state": found.state})
    return found


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("shipment", act.action.shipment))


def _show_remedied(state: State, act: Act, events: Events) -> Shown:
    key: str = act.action.shipment
    order_key: str = state.get("shipment", key).order
    order: Order = state.get("order", order_key)
    sent = tuple(event.shipment for event in events if isinstance(event, ShipmentSent))
    return shown_lists(
        state,
        (
            ("shipment", (key, *sent)),
            ("order", (order_key,)),
            ("payment", () if sent else order.payments),
            ("confirmation", order.confirmations[-1:]),
        ),
    )


def _remedied(state: State, event: ShipmentRemedied) -> None:
    found: Shipment = state.get("shipment", event.shipment)
    state.put("shipment", event.shipment, msgspec.structs.replace(found, remedy=event.remedy))


_LATE = ("delayed", "missing_scan", "lost")
_REMEDY = ("shipment.unknown", "shipment.addressee", "shipment.state", "shipment.remedy")

SUBJECT = Subject(
    rows={},
    rules=(
        Rule(ShipmentWait, _wait, _show, _REMEDY, TRADERS),
        Rule(
            ShipmentReplace,
            _send_again,
            _show_remedied,
            ("listing.unknown", "listing.withdrawn", *_REMEDY, "shipment.listing", "stock.short"),
            TRADERS,
        ),
        Rule(ShipmentRefund, _refund, _show_remedied, (*_REMEDY, "shipment.unpaid"), TRADERS),
    ),
    events={ShipmentRemedied: _remedied},
    refusals={
        "shipment.remedy": "the policy `fulfilment` doesn't have this remedy for the shipment's state",
        "shipment.listing": "goods are replaced by a listing of the same merchant",
        "shipment.unpaid": "nothing that was paid for the order is left",
    },
)

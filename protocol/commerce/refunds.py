"""Claims for money back, and what their merchant makes of them.

    open ─► approved     the merchant pays, at most what was claimed and what the payments still hold
        └─► denied

    approve = refund.approved + (payment.refunded + ledger.posted) per payment [+ order.refunded]
              + confirmation.made

A claim may be higher than what is owed: it is the approval that is bounded. An order is refunded when
nothing of its payments is left and it was delivered; one that never was keeps its state, and calling
it off is another act.

A claim may rest on the ruling of a dispute, once. Then its merchant pays what was awarded, so far as it was
claimed and the payments still hold it, and denies it when that is nothing. Every other claim is for the
merchant to weigh, but for an order that was exchanged: goods and money are not both given.

Not here: whether the goods came back (`returns`); a merchant may pay before.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..bodies import Made, Part
from ..canonical import Id
from ..joined import Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .confirmations import confirmed
from .disputes import Dispute
from .orders import Order, OrderRefunded, order_named
from .payments import PaymentRefunded, refundable, refunds
from .rulings import awarded
from .subject import fresh, misdirected, own, shown, unknown
from .terms import (
    BUYER,
    MERCHANT,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    DisputeIdOrNone,
    Money,
    OrderId,
    RefundCaseId,
)

_replace = msgspec.structs.replace


class RefundCase(CommerceRow, frozen=True):
    """A row of `refund_case`: ``amount`` was claimed, ``approved`` is what was paid back, or unset.

    ``dispute`` is the one on whose ruling the claim rests.
    """

    order: OrderId
    buyer: Id
    merchant: Id
    amount: Money
    state: Literal["open", "approved", "denied"] = "open"
    approved: Money | None = None
    dispute: DisputeIdOrNone = None


class RefundOpen(CommerceAction, frozen=True, tag="refund.open"):
    """Claims money back for an order that was paid, or what a ruling on its dispute awarded.

    Sent to the order's merchant.
    """

    order: OrderId
    amount: Money
    text: Part
    dispute: DisputeIdOrNone = None


class RefundApprove(CommerceAction, frozen=True, tag="refund.approve"):
    """Pays this much of a claim back, and closes it. Sent to the buyer.

    At most what was claimed and what is left of the payments; after a ruling, what it awarded.
    """

    refund_case: RefundCaseId
    amount: Money


class RefundDeny(CommerceAction, frozen=True, tag="refund.deny"):
    """Pays nothing of a claim, and closes it. Sent to the buyer."""

    refund_case: RefundCaseId
    reason: Part


class RefundOpened(CommerceEvent, frozen=True, tag="refund.opened"):
    """A buyer claimed money back."""

    refund_case: Made
    order: str
    buyer: str
    merchant: str
    amount: int
    dispute: str | None = None


class RefundApproved(CommerceEvent, frozen=True, tag="refund.approved"):
    """A claim was paid."""

    refund_case: str
    amount: int


class RefundDenied(CommerceEvent, frozen=True, tag="refund.denied"):
    """A claim was turned down."""

    refund_case: str


def _open(state: State, act: Act) -> Verdict:
    action: RefundOpen = act.action
    order: Order | None = own(state, "order", action.order, act.sender)
    if order is None:
        return unknown("order.unknown", "order", action.order)
    if act.to != order.merchant:
        return misdirected("refund.addressee", act)
    if not any(state.get("payment", key).captured for key in order.payments):
        return Refusal("refund.unpaid", {"order": action.order})
    if action.amount == 0:
        return Refusal("refund.amount", {"amount": 0})
    if action.dispute is not None:
        dispute: Dispute | None = own(state, "dispute", action.dispute, act.sender)
        if dispute is None or (dispute.order, dispute.state, dispute.refund_case) != (
            action.order, "ruled", None
        ):  # fmt: skip
            return unknown("refund.dispute", "dispute", action.dispute)
    opened = RefundOpened(
        refund_case=fresh(state, "refund_case", f"c{act.seq}"),
        order=action.order,
        buyer=order.buyer,
        merchant=order.merchant,
        amount=action.amount,
        dispute=action.dispute,
    )
    return Accepted([opened])


def _approve(state: State, act: Act) -> Verdict:
    action: RefundApprove = act.action
    found = _pending(state, act)
    if isinstance(found, Refusal):
        return found
    if action.amount == 0:
        return Refusal("refund.amount", {"amount": 0})
    if action.amount > found.amount:
        return Refusal("refund.exceeds_claim", {"amount": action.amount, "claimed": found.amount})
    order: Order = state.get("order", found.order)
    left = refundable(state, order)
    if action.amount > left:
        return Refusal("refund.exceeds_paid", {"amount": action.amount, "left": left})
    owed = _owed(state, found, left)
    if owed not in (None, action.amount):
        return Refusal("refund.ruling", {"amount": action.amount, "owed": owed})
    if owed is None and order.state == "exchanged":
        return Refusal("refund.exchanged", {"order": found.order})
    events: list[msgspec.Struct] = [RefundApproved(action.refund_case, action.amount)]
    events.extend(refunds(state, f"e{act.seq}", found.order, order, action.amount))
    if action.amount == left and order.state in ("delivered", "returned"):
        events.append(OrderRefunded(found.order))
    events.append(confirmed(state, act, found.order, order, action.amount))
    return Accepted(events)


def _deny(state: State, act: Act) -> Verdict:
    action: RefundDeny = act.action
    found = _pending(state, act)
    if isinstance(found, Refusal):
        return found
    owed = _owed(state, found, refundable(state, state.get("order", found.order)))
    if owed:
        return Refusal("refund.ruling", {"amount": 0, "owed": owed})
    return Accepted([RefundDenied(action.refund_case)])


def _owed(state: State, found: RefundCase, left: int) -> int | None:
    """What a case's ruling leaves to pay, of ``left`` in the payments; None for a case without one."""
    return None if found.dispute is None else min(found.amount, awarded(state, found.dispute), left)


def _pending(state: State, act: Act) -> RefundCase | Refusal:
    """The sender's open case that an act names, answered to its buyer."""
    key: str = act.action.refund_case
    found: RefundCase | None = own(state, "refund_case", key, act.sender)
    if found is None:
        return unknown("refund.unknown", "refund_case", key)
    if act.to != found.buyer:
        return misdirected("refund.addressee", act)
    if found.state != "open":
        return Refusal("refund.state", {"refund_case": key, "state": found.state})
    return found


def _show_opened(state: State, _act: Act, events: Events) -> Shown:
    opened = events[0]
    assert isinstance(opened, RefundOpened)
    return shown(state, ("refund_case", opened.refund_case))


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("refund_case", act.action.refund_case))


def _show_approved(state: State, act: Act, events: Events) -> Shown:
    key: str = act.action.refund_case
    payments = [("payment", event.payment) for event in events if isinstance(event, PaymentRefunded)]
    order: str = state.get("refund_case", key).order
    confirmation: str = state.get("order", order).confirmations[-1]
    return shown(state, ("refund_case", key), ("order", order), *payments, ("confirmation", confirmation))


def _opened(state: State, event: RefundOpened) -> None:
    row = RefundCase(
        order=event.order,
        buyer=event.buyer,
        merchant=event.merchant,
        amount=event.amount,
        dispute=event.dispute,
    )
    if event.dispute is not None:
        dispute = state.get("dispute", event.dispute)
        state.put("dispute", event.dispute, _replace(dispute, refund_case=event.refund_case))
    state.put("refund_case", event.refund_case, row)
    order_named(state, event.order, "refund_cases", (event.refund_case,))


def _approved(state: State, event: RefundApproved) -> None:
    found = state.get("refund_case", event.refund_case)
    state.put("refund_case", event.refund_case, _replace(found, state="approved", approved=event.amount))


def _denied(state: State, event: RefundDenied) -> None:
    found = state.get("refund_case", event.refund_case)
    state.put("refund_case", event.refund_case, _replace(found, state="denied"))


_MINE = ("refund.unknown", "refund.addressee", "refund.state")

SUBJECT = Subject(
    rows={"refund_case": RefundCase},
    rules=(
        Rule(
            RefundOpen,
            _open,
            _show_opened,
            ("order.unknown", "refund.addressee", "refund.unpaid", "refund.amount", "refund.dispute"),
            BUYER,
        ),
        Rule(
            RefundApprove,
            _approve,
            _show_approved,
            (
                *_MINE, "refund.amount", "refund.exceeds_claim", "refund.exceeds_paid", "refund.ruling",
                "refund.exchanged",
            ),
            MERCHANT,
        ),
        Rule(RefundDeny, _deny, _show, (*_MINE, "refund.ruling"), MERCHANT),
    ),
    events={RefundOpened: _opened, RefundApproved: _approved, RefundDenied: _denied},
    refusals={
        "refund.unknown": "the sender has no such refund case",
        "refund.addressee": "a refund is asked of the order's merchant, and answered to its buyer",
        "refund.unpaid": "nothing was paid for the order",
        "refund.state": "the refund case is closed",
        "refund.amount": "an amount of nothing",
        "refund.exceeds_claim": "more than was claimed",
        "refund.exceeds_paid": "more than was captured and not refunded yet",
        "refund.dispute": "the order has no such dispute that was ruled on, or its award was claimed before",
        "refund.ruling": "a ruling says how much of this claim is owed, and that is another amount",
        "refund.exchanged": "everything that was ordered was replaced, and no ruling says otherwise",
    },
    machines={
        "refund_case": Machine(frozenset({"open"}), {"open": frozenset({"approved", "denied"})})
    },
)  # fmt: skip

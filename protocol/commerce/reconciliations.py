"""Reconciliations: what the books of one order say beside what was agreed, decided and sent back.

    paid        what left the buyer's account by the postings of the order
    paid_back   what came back to it
    approved    what its refund cases approved

    reconcile = reconciliation.made: these sums, and where they and the order don't fit (`Discrepancy`)

A merchant reconciles an order of its own, and again only once a sum or a discrepancy is another. Nothing is
mended by it. Not here: that entries balance and payments agree with them, which holds always (`invariants`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from ..bodies import Made
from ..canonical import Id, Integer
from ..joined import Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .books import Posting, account_of
from .orders import Order, order_named
from .rulings import awarded
from .subject import fresh, own, shown, unknown
from .talk import tick_of
from .terms import MERCHANT, CommerceAction, CommerceEvent, CommerceRow, Currency, Money, OrderId, Tick

Discrepancy = Literal[
    "underpaid", "overpaid", "refund_missing", "refund_unfounded",
    "cancelled_unpaid", "returned_unpaid", "award_unpaid",
]  # fmt: skip
"""What may not fit.

    underpaid, overpaid   the buyer paid less, or more, than the order comes to
    refund_missing        more was approved than came back
    refund_unfounded      more came back than was approved, and nothing else gives back: no cancellation,
                          no lost shipment, no event
    cancelled_unpaid      the order was called off, and not everything came back
    returned_unpaid       all goods are back, nothing was paid back, and nothing goes out instead
    award_unpaid          a ruling awarded more than was paid on it, and money is left
"""


class Reconciliation(CommerceRow, frozen=True):
    """A row of `reconciliation`: sums in minor units, and what didn't fit."""

    order: OrderId
    buyer: Id
    merchant: Id
    total: Money
    paid: Integer
    paid_back: Integer
    approved: Integer
    discrepancies: tuple[Discrepancy, ...] = ()
    currency: Currency = "EUR"
    tick: Tick = 0


class LedgerReconcile(CommerceAction, frozen=True, tag="ledger.reconcile"):
    """Holds the books of an order against what was agreed and approved, and puts down what differs.

    Once, as long as nothing changes.
    """

    order: OrderId


class ReconciliationMade(CommerceEvent, frozen=True, tag="reconciliation.made"):
    """The books of an order were reconciled."""

    reconciliation: Made
    order: str
    buyer: str
    merchant: str
    total: int
    paid: int
    paid_back: int
    approved: int
    discrepancies: tuple[Discrepancy, ...]
    currency: str
    tick: int


def _reconcile(state: State, act: Act) -> Verdict:
    action: LedgerReconcile = act.action
    order: Order | None = own(state, "order", action.order, act.sender)
    if order is None:
        return unknown("order.unknown", "order", action.order)
    now = _reconciled(state, action.order, order)
    if order.reconciliations:
        last = order.reconciliations[-1]
        if msgspec.structs.replace(state.get("reconciliation", last), tick=now.tick) == now:
            return Refusal("reconciliation.again", {"reconciliation": last})
    made = ReconciliationMade(fresh(state, "reconciliation", f"b{act.seq}"), **msgspec.structs.asdict(now))
    return Accepted([made])


def _reconciled(state: State, key: str, order: Order) -> Reconciliation:
    postings: list[Posting] = [state.get("posting", name) for name in order.postings]
    account = account_of("buyer", order.buyer)
    amounts = [posting.amount for posting in postings if posting.account == account]
    row = Reconciliation(
        order=key,
        buyer=order.buyer,
        merchant=order.merchant,
        total=order.total,
        paid=-sum(amount for amount in amounts if amount < 0),
        paid_back=sum(amount for amount in amounts if amount > 0),
        approved=sum(state.get("refund_case", name).approved or 0 for name in order.refund_cases),
        currency=order.currency,
        tick=tick_of(state),
    )
    return msgspec.structs.replace(row, discrepancies=tuple(_discrepancies(state, order, row)))


def _discrepancies(state: State, order: Order, row: Reconciliation) -> Iterator[Discrepancy]:
    if row.paid < row.total and order.state in _PAID:
        yield "underpaid"
    if row.paid > row.total:
        yield "overpaid"
    if row.paid_back < row.approved:
        yield "refund_missing"
    if row.paid_back > row.approved and not _gives_back(state, order):
        yield "refund_unfounded"
    left = row.paid - row.paid_back
    if left > 0:
        if order.state == "cancelled":
            yield "cancelled_unpaid"
        if order.state == "returned" and row.paid_back == 0 and not _is_replaced(state, order):
            yield "returned_unpaid"
        if _has_open_award(state, order):
            yield "award_unpaid"


def _gives_back(state: State, order: Order) -> bool:
    """Whether something other than a refund case may have given money back for an order."""
    acts = {state.get("confirmation", key).act for key in order.confirmations}
    return order.state == "cancelled" or not acts.isdisjoint(_GIVING_BACK)


def _is_replaced(state: State, order: Order) -> bool:
    return any(state.get("exchange", key).state != "denied" for key in order.exchanges)


def _has_open_award(state: State, order: Order) -> bool:
    for key in order.disputes:
        dispute = state.get("dispute", key)
        if dispute.state == "ruled":
            case = dispute.refund_case
            paid = 0 if case is None else state.get("refund_case", case).approved or 0
            if awarded(state, key) > paid:
                return True
    return False


def _show_made(state: State, _act: Act, events: Events) -> Shown:
    made = events[0]
    assert isinstance(made, ReconciliationMade)
    return shown(state, ("reconciliation", made.reconciliation))


def _made(state: State, event: ReconciliationMade) -> None:
    columns = msgspec.structs.asdict(event)
    key = columns.pop("reconciliation")
    state.put("reconciliation", key, Reconciliation(**columns))
    order_named(state, event.order, "reconciliations", (key,))


_PAID = ("settled", "dispatched", "delivered", "returned", "refunded", "exchanged")
_GIVING_BACK = ("order.cancel", "shipment.refund", "event.process")

SUBJECT = Subject(
    rows={"reconciliation": Reconciliation},
    rules=(
        Rule(
            LedgerReconcile,
            _reconcile,
            _show_made,
            ("order.unknown", "reconciliation.again"),
            MERCHANT,
            is_unaddressed=True,
        ),
    ),
    events={ReconciliationMade: _made},
    refusals={"reconciliation.again": "the order was reconciled, and nothing is otherwise since"},
)

"""Start rows of after-sales, as an author writes them: what follows from others, and whether they agree.

    an exchange             is for as many units as its return
    a ruling                makes its dispute ruled; upheld awards the whole amount, denied nothing
    a refund case           on a dispute is named by it; an approved one pays what was claimed
    what evidence cites     is there, for both parties of the order to read, and on the order

Not here: what one row says against itself (`Exchange.problem`, `Dispute.problem`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..world import StartRows
from .disputes import Dispute
from .exchanges import Exchange
from .orders import Order
from .refunds import RefundCase
from .returns import Return
from .rulings import Ruling, is_award

Typed = Mapping[str, dict[str, Any]]
Problem = tuple[str, str, str]


def fill_after_sales(written: StartRows) -> None:
    """Puts the missing columns of exchanges, disputes, rulings and refund cases that others give."""
    for exchange in written["exchange"].values():
        returned = written["return"].get(str(exchange.get("returned")), {})
        exchange.setdefault("quantity", returned.get("quantity", 1))
    for key, ruling in written["ruling"].items():
        dispute = written["dispute"].get(str(ruling.get("dispute")), {})
        dispute.setdefault("ruling", key)
        dispute.setdefault("state", "ruled")
        award = {"upheld": dispute.get("amount"), "denied": 0}.get(str(ruling.get("outcome")))
        for column, value in (("award", award), ("adjudicator", dispute.get("adjudicator"))):
            if value is not None:
                ruling.setdefault(column, value)
    for key, case in written["refund_case"].items():
        if case.get("dispute") is not None:
            written["dispute"].get(str(case["dispute"]), {}).setdefault("refund_case", key)
        if case.get("state") == "approved":
            case.setdefault("approved", case.get("amount"))


def after_sales_problems(typed: Typed) -> Iterator[Problem]:
    """What is wrong between the rows of after-sales and those that they name."""
    returned: Return
    for key, returned in typed["return"].items():
        yield from _citing(typed, ("return", key), returned.order, returned.evidence)
    live: dict[str, str] = {}
    exchange: Exchange
    for key, exchange in typed["exchange"].items():
        for problem in _exchange_problems(typed, exchange):
            yield "exchange", key, problem
        if exchange.state != "denied" and live.setdefault(exchange.returned, key) != key:
            yield "exchange", key, f"is of a return that `{live[exchange.returned]}` is of"
    yield from _dispute_problems(typed)
    ruling: Ruling
    for key, ruling in typed["ruling"].items():
        dispute: Dispute = typed["dispute"][ruling.dispute]
        if dispute.ruling != key:
            yield "ruling", key, f"is on dispute `{ruling.dispute}`, which doesn't name it"
        if not is_award(ruling.outcome, ruling.award, dispute.amount):
            yield "ruling", key, f"is `{ruling.outcome}`, and awards {ruling.award} of {dispute.amount}"
        if dispute.adjudicator not in (None, ruling.adjudicator):
            yield "ruling", key, f"is by another than adjudicates dispute `{ruling.dispute}`"
    case: RefundCase
    for key, case in typed["refund_case"].items():
        if case.dispute is not None and typed["dispute"][case.dispute].refund_case != key:
            yield "refund_case", key, f"rests on dispute `{case.dispute}`, which doesn't name it"


def _exchange_problems(typed: Typed, row: Exchange) -> Iterator[str]:
    returned: Return = typed["return"][row.returned]
    order: Order = typed["order"][row.order]
    listing = typed["listing"][row.listing]
    if returned.order != row.order:
        yield f"is of return `{row.returned}`, which is of another order"
    if (listing.merchant, listing.currency) != (order.merchant, order.currency):
        yield f"gives `{row.listing}`, which is another's or in another currency"
    if row.quantity > returned.quantity:
        yield f"is for more units than return `{row.returned}`"
    if returned.state not in _RETURNED[row.state]:
        yield f"is `{row.state}`, and return `{row.returned}` is `{returned.state}`"


def _dispute_problems(typed: Typed) -> Iterator[Problem]:
    live: dict[str, str] = {}
    dispute: Dispute
    for key, dispute in typed["dispute"].items():
        yield from _citing(typed, ("dispute", key), dispute.order, dispute.evidence)
        if dispute.state != "withdrawn" and live.setdefault(dispute.order, key) != key:
            yield "dispute", key, f"is of an order that `{live[dispute.order]}` is of"
        ruling: Ruling | None = None if dispute.ruling is None else typed["ruling"][dispute.ruling]
        if ruling is not None and ruling.dispute != key:
            yield "dispute", key, f"names ruling `{dispute.ruling}`, which is on another"
        case: RefundCase | None = None
        if dispute.refund_case is not None:
            case = typed["refund_case"][dispute.refund_case]
        if case is not None and (case.dispute, case.order) != (key, dispute.order):
            yield "dispute", key, f"names refund_case `{dispute.refund_case}`, which rests on another"


def _citing(
    typed: Typed, row: tuple[str, str], order_key: str, evidence: tuple[str, ...]
) -> Iterator[Problem]:
    order: Order = typed["order"][order_key]
    subjects = {order_key, *order.returns, *(line.listing for line in order.lines)}
    for name in evidence:
        record = typed["evidence_record"][name]
        if not (record.is_read_by(order.buyer) and record.is_read_by(order.merchant)):
            yield *row, f"cites `{name}`, which not both parties of the order may read"
        if record.subject not in subjects:
            yield *row, f"cites `{name}`, which is on neither the order nor its returns nor its listings"


_RETURNED: Mapping[str, tuple[str, ...]] = {
    "requested": ("requested", "authorized", "denied", "received"),
    "denied": ("requested", "authorized", "denied", "received"),
    "authorized": ("authorized", "received"),
    "completed": ("received",),
}
"""The states that a return may have beside the state of its exchange."""

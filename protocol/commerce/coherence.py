"""Whether start rows agree with themselves and with each other.

    references   a row that another names is there
    inherited    a return's parties are its order's, an agreement's price its negotiation's, …
    hanging      an order names exactly the payments, postings, returns and refund cases that name it
    amounts      totals, stock, payments against their states, payments and accounts against the postings

Rules may rest on all of it: rows that don't agree never become a state.
Not here: mending them (`completion`), or what later decisions keep (`invariants`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from ..canonical import MAX_INTEGER
from ..errors import WorldError
from ..tables import Row
from ..world import row_fields
from .after_sales_rows import after_sales_problems
from .agreements import Agreement
from .books import Posting
from .cart_rows import cart_problems
from .evidence import filed
from .fulfilment_rows import fulfilment_problems
from .governance_rows import filed_cases
from .invariants import row_holds
from .negotiation import Negotiation
from .offer_rows import offer_problems
from .orders import Order
from .payments import Payment, state_of
from .processing import operation_problems
from .references import fields_with_names, names_within
from .talk import CLOCK_KEY
from .terms import CommerceRow

Typed = dict[str, dict[str, Any]]
"""Rows by table and key."""

Problem = tuple[str, str, str]
"""(table, key, what is wrong with the row)."""

INHERITED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("negotiation", "listing", ("merchant",)),
    ("agreement", "negotiation", ("listing", "buyer", "merchant", "quantity", "unit_price")),
    ("agreement", "listing", ("merchant", "currency")),
    ("order", "agreement", ("buyer", "merchant", "total", "currency")),
    ("payment", "order", ("currency",)),
    ("posting", "payment", ("order", "currency")),
    ("return", "order", ("buyer", "merchant")),
    ("refund_case", "order", ("buyer", "merchant")),
    ("offer_ranking", "search_session", ("buyer",)),
    ("offer_ranking", "listing", ("merchant", "currency", "title")),
    ("match_certificate", "offer_ranking", ("listing", "buyer", "merchant", "currency")),
    ("match_certificate", "listing", ("merchant", "currency")),
    ("match_certificate", "order", ("buyer", "merchant", "currency")),
    ("mandate_revision", "mandate_authority", ("party", "source")),
    ("listing_claim", "listing", ("merchant",)),
    ("placement", "campaign", ("merchant",)),
    ("placement", "listing", ("merchant",)),
    ("confirmation", "order", ("buyer", "merchant", "currency")),
    ("exchange", "order", ("buyer", "merchant")),
    ("dispute", "order", ("buyer", "merchant")),
    ("ruling", "dispute", ("order",)),
    ("reconciliation", "order", ("buyer", "merchant", "currency")),
    ("packing", "order", ("buyer", "merchant")),
    ("shipment", "order", ("buyer", "merchant")),
)
"""(table, the column that names a row, columns that are that row's), later ones resting on earlier ones."""

HANGING = (
    ("payment", "payments"),
    ("posting", "postings"),
    ("return", "returns"),
    ("refund_case", "refund_cases"),
    ("exchange", "exchanges"),
    ("dispute", "disputes"),
    ("reconciliation", "reconciliations"),
    ("confirmation", "confirmations"),
    ("packing", "packings"),
    ("shipment", "shipments"),
)
"""(table, the column of its order that names such rows)."""


def check(typed: Typed) -> None:
    """Refuses start rows that don't agree.

    Raises:
        WorldError: `facts.row`, naming the first row that is wrong.
    """
    for problems in (
        _references, _inherited, _hanging, _files, operation_problems,
        _rows, cart_problems, offer_problems, fulfilment_problems, after_sales_problems, _books,
    ):  # fmt: skip
        for table, key, problem in problems(typed):
            raise wrong(table, key, problem)


def wrong(table: str, key: str, problem: str) -> WorldError:
    """The error about a start row."""
    return WorldError("facts.row", f"row `{key}` of `{table}` {problem}")


def not_there(table: str, key: str) -> str:
    """What is wrong with a row that names one which isn't there."""
    return f"names {table} `{key}`, which is not there"


def balances_of(postings: Iterable[Posting]) -> dict[str, dict[str, int]]:
    """What postings come to: account → currency → balance."""
    accounts: dict[str, dict[str, int]] = {}
    for posting in postings:
        balances = accounts.setdefault(posting.account, {})
        balances[posting.currency] = balances.get(posting.currency, 0) + posting.amount
    return accounts


def by_order(rows: Mapping[str, Any]) -> dict[str, list[str]]:
    """The keys of rows that hang on orders, by order."""
    hanging: dict[str, list[str]] = {}
    for key, row in rows.items():
        if row.order is not None:
            hanging.setdefault(row.order, []).append(key)
    return hanging


def _references(typed: Typed) -> Iterator[Problem]:
    for table, found in typed.items():
        kind = next((type(row) for row in cast("dict[str, Row]", found).values()), None)
        for field, other in () if kind is None else row_fields(kind).items():
            for key, row in found.items():
                name = getattr(row, field)
                if name is not None and name not in typed[other]:
                    yield table, key, not_there(other, name)
    for key in typed["inventory"]:
        if key not in typed["listing"]:
            yield "inventory", key, "is of no listing"
    for table, found in typed.items():
        for key, row in cast("dict[str, Row]", found).items():
            if not fields_with_names(type(row)):
                break
            for other, name in names_within(row):
                if name not in typed[other]:
                    yield table, key, not_there(other, name)


def _inherited(typed: Typed) -> Iterator[Problem]:
    for table, column, columns in INHERITED:
        for key, row in typed[table].items():
            source = typed[column].get(getattr(row, column))
            for name in () if source is None else columns:
                mine, theirs = getattr(row, name), getattr(source, name)
                if mine != theirs:
                    yield table, key, f"says {name} `{mine}`, and its {column} `{theirs}`"


def _hanging(typed: Typed) -> Iterator[Problem]:
    for table, column in HANGING:
        hanging = by_order(typed[table])
        for key, order in typed["order"].items():
            if sorted(getattr(order, column)) != sorted(hanging.get(key, ())):
                yield "order", key, f"names others in `{column}` than the rows that name it"


def _files(typed: Typed) -> Iterator[Problem]:
    for subject, keys in _misfiled(typed["evidence_file"], filed(typed["evidence_record"]), "records"):
        yield "evidence_file", subject, f"names other records than those on its subject: {keys}"
    for party, keys in _misfiled(typed["governance_file"], filed_cases(typed["governance_case"]), "cases"):
        yield "governance_file", party, f"names other cases than those that concern it: {keys}"


def _misfiled(
    files: Mapping[str, Any], expected: Mapping[str, list[str]], column: str
) -> Iterator[tuple[str, str]]:
    for key in {**files, **expected}:
        found: tuple[str, ...] = getattr(files[key], column) if key in files else ()
        if sorted(found) != sorted(expected.get(key, ())):
            yield key, ", ".join(expected.get(key, ())) or "none"


def _rows(typed: Typed) -> Iterator[Problem]:
    for key in typed["clock"]:
        if key != CLOCK_KEY:
            yield "clock", key, f"is not called `{CLOCK_KEY}`"
    for table, found in typed.items():
        for key, row in found.items():
            problem = _problem(row)
            if problem is not None:
                yield table, key, problem


def _problem(row: Row) -> str | None:
    """What a row says against itself."""
    if not row_holds(row):
        return "contradicts itself: on_hand is available + reserved, and refunded is at most captured"
    if isinstance(row, Agreement | Negotiation | Order) and row.buyer == row.merchant:
        return "has one party on both sides"
    if isinstance(row, Agreement) and row.total != row.quantity * row.unit_price:
        return "has a total that isn't quantity times unit price"
    if isinstance(row, Negotiation) and row.offered_by not in (row.buyer, row.merchant):
        return "has a last offer by neither of its parties"
    if isinstance(row, Payment):
        should = state_of(row.captured, row.refunded)
        if row.state not in ("authorized", "voided"):
            return None if row.state == should else f"is `{row.state}`, and its amounts say `{should}`"
        return f"is `{row.state}`, and holds captured money" if row.captured else None
    return row.problem() if isinstance(row, CommerceRow) else None


def _books(typed: Typed) -> Iterator[Problem]:
    entries: dict[tuple[str, str], int] = {}
    paid: dict[str, int] = {}
    for posting in typed["posting"].values():
        entry = posting.entry, posting.currency
        entries[entry] = entries.get(entry, 0) + posting.amount
        if posting.payment is not None and posting.account.startswith("buyer:"):
            paid[posting.payment] = paid.get(posting.payment, 0) - posting.amount
    for key, posting in typed["posting"].items():
        if entries[posting.entry, posting.currency]:
            yield "posting", key, f"is of entry `{posting.entry}`, which doesn't sum to zero"
    for key, payment in typed["payment"].items():
        if payment.captured - payment.refunded != paid.get(key, 0):
            yield "payment", key, "says otherwise than its postings"
    accounts = balances_of(typed["posting"].values())
    for name in {**accounts, **typed["account"]}:
        account = typed["account"].get(name)
        if account is None or account.balances != accounts.get(name):
            yield "account", name, "doesn't hold what its postings come to"
        elif any(abs(balance) > MAX_INTEGER for balance in account.balances.values()):
            yield "account", name, "holds more than can be written"

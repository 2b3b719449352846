"""Start rows as an author writes them, made whole.

    written rows ─► columns that follow ─► typed ─► opening postings, accounts, what hangs on orders
                 ─► checked (`coherence`)

    inventory.on_hand = available + reserved          agreement.total = quantity × unit price
    a return's parties = its order's                  a payment's postings say what it captured and refunded

Rows made here have neutral keys. Completing whole rows changes nothing.
Not here: what the rules do with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from ..canonical import encode_typed
from ..errors import WorldError
from ..tables import Row
from ..world import StartRows, row_fields
from .after_sales_rows import fill_after_sales
from .books import Account, Posting, sale
from .cart_rows import fill_carts, quote_carts
from .coherence import HANGING, INHERITED, Typed, balances_of, by_order, check, not_there, wrong
from .evidence import file_evidence
from .fulfilment_rows import fill_fulfilment, fill_hold, plan_agenda
from .governance_rows import file_cases
from .offer_rows import fill_offers, index_reviews
from .orders import Order
from .payments import Payment, state_of
from .processing import name_operations
from .talk import CLOCK_KEY

Columns = dict[str, Any]

def complete(rows: StartRows, tables: Mapping[str, type[Row]]) -> StartRows:
    """The rows with every column, and the rows that follow from them.

    Raises:
        WorldError: `facts.table`, for a table that the world lacks; `facts.row`,
            for a row that isn't of its table's type, or doesn't agree with the
            others: see `coherence.check`.
    """
    for table in rows:
        if table not in tables:
            raise WorldError("facts.table", f"the world has no table `{table}`")
    written = {table: {key: dict(row) for key, row in rows.get(table, {}).items()} for table in tables}
    written["clock"].setdefault(CLOCK_KEY, {"tick": 0})
    _check_names(written, tables)
    _fill(written)
    typed = {
        table: {key: _typed(table, key, row, tables[table]) for key, row in found.items()}
        for table, found in written.items()
    }
    quote_carts(typed)
    index_reviews(typed)
    plan_agenda(typed)
    _open_books(typed)
    _hang_on_orders(typed)
    file_evidence(typed)
    file_cases(typed)
    name_operations(typed)
    check(typed)
    return {table: {key: _plain(row) for key, row in found.items()} for table, found in typed.items()}


def _check_names(written: StartRows, tables: Mapping[str, type[Row]]) -> None:
    """Says that a named row isn't there before anything is missed that would have come from it."""
    for table, found in written.items():
        names = row_fields(tables[table])
        for key, row in found.items():
            for column, other in names.items():
                name = row.get(column)
                if isinstance(name, str) and name not in written[other]:
                    raise wrong(table, key, not_there(other, name))


def _fill(written: StartRows) -> None:
    """Puts the columns that follow from others where they are missing; what can't be worked out stays out."""
    for table in dict.fromkeys(table for table, _column, _columns in INHERITED):
        sources = [(column, columns) for name, column, columns in INHERITED if name == table]
        for row in written[table].values():
            for column, columns in sources:
                source = _named(written, column, row)
                for name in columns:
                    _put(row, name, source.get(name))
            _work_out(table, row)
    fill_after_sales(written)
    fill_fulfilment(written)
    fill_carts(written)
    fill_offers(written)


def _work_out(table: str, row: Columns) -> None:
    """Puts the columns that follow from the row's own."""
    if table == "negotiation":
        _put(row, "offered_by", row.get("buyer"))
    elif table == "agreement":
        _put(row, "total", _product(row))
    elif table == "order":
        _put(row, "total", _lines_total(row.get("lines"), row.get("charges", 0)))
    elif table == "payment":
        fill_hold(row)
        captured, refunded = row.get("captured"), row.get("refunded", 0)
        if isinstance(captured, int) and isinstance(refunded, int):
            _put(row, "state", state_of(captured, refunded))


def _named(written: StartRows, column: str, row: Columns) -> Columns:
    """The row that a column names (the column is called as its table), or an empty one."""
    key = row.get(column)
    return written[column].get(key, {}) if isinstance(key, str) else {}


def _put(row: Columns, column: str, value: object) -> None:
    if value is not None:
        row.setdefault(column, value)


def _product(row: Columns) -> int | None:
    quantity, price = row.get("quantity"), row.get("unit_price")
    return quantity * price if isinstance(quantity, int) and isinstance(price, int) else None


def _lines_total(lines: object, charges: object) -> int | None:
    if not isinstance(lines, (list, tuple)) or not lines or not isinstance(charges, int):
        return None
    total = charges
    for line in cast("list[object]", lines):
        columns = cast("Columns", line) if isinstance(line, dict) else {}
        product, discount = _product(columns), columns.get("discount", 0)
        if product is None or not isinstance(discount, int):
            return None
        total += product - discount
    return total


def _plain(row: Row) -> Columns:
    """A row's columns as JSON has them: lists, no tuples."""
    return cast("Columns", msgspec.json.decode(encode_typed(row)))


def _typed(table: str, key: str, row: Columns, kind: type[Row]) -> Row:
    try:
        return msgspec.convert(row, kind)
    except msgspec.ValidationError as error:
        raise wrong(table, key, f"is not such a row: {error}") from None


def _open_books(typed: Typed) -> None:
    """Makes the postings of payments that have none, and the accounts that follow from all postings."""
    has_books = {posting.payment for posting in typed["posting"].values()}
    place = 0
    payment: Payment
    for key, payment in typed["payment"].items():
        if key not in has_books:
            order: Order = typed["order"][payment.order]
            for amount in (payment.captured, -payment.refunded):
                if amount:
                    place += 1
                    _open_entry(typed, f"e0_{place}", key, payment, sale(order.buyer, order.merchant, amount))
    for name, balances in balances_of(typed["posting"].values()).items():
        typed["account"].setdefault(name, Account(balances))


def _open_entry(
    typed: Typed, entry: str, key: str, payment: Payment, flows: tuple[tuple[str, int], ...]
) -> None:
    for place, (account, amount) in enumerate(flows, 1):
        name = f"{entry}_{place}"
        while name in typed["posting"]:
            name += "x"
        typed["posting"][name] = Posting(
            order=payment.order,
            payment=key,
            account=account,
            amount=amount,
            currency=payment.currency,
            entry=entry,
            tick=0,
        )


def _hang_on_orders(typed: Typed) -> None:
    """Lets each order name its payments, postings, returns and refund cases, in the order of the file."""
    for table, column in HANGING:
        for key, hanging in by_order(typed[table]).items():
            order: Order = typed["order"][key]
            if not getattr(order, column):
                typed["order"][key] = msgspec.structs.replace(order, **{column: tuple(hanging)})

"""Start rows as an author writes them, made whole.

    written rows ─► columns that follow ─► typed ─► opening postings, accounts, what hangs on orders
                 ─► contradictions refused

    inventory.on_hand = available + reserved          agreement.total = quantity × unit price
    a return's parties = its order's                  a payment's postings say what it captured and refunded

Rows made here have neutral keys. Completing whole rows changes nothing.
Not here: what the rules do with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from ..errors import WorldError
from ..tables import Row
from ..world import StartRows, row_fields
from .agreements import Agreement
from .books import Account, Posting, sale
from .catalog import Inventory
from .invariants import row_holds
from .negotiation import Negotiation
from .orders import Order
from .payments import Payment, state_of
from .talk import CLOCK_KEY

Columns = dict[str, Any]
Typed = dict[str, dict[str, Any]]

_INHERITED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("negotiation", "listing", ("merchant",)),
    ("agreement", "negotiation", ("listing", "buyer", "merchant", "quantity", "unit_price")),
    ("agreement", "listing", ("merchant", "currency")),
    ("order", "agreement", ("buyer", "merchant", "total", "currency")),
    ("payment", "order", ("currency",)),
    ("posting", "payment", ("order", "currency")),
    ("return", "order", ("buyer", "merchant")),
    ("refund_case", "order", ("buyer", "merchant")),
)
"""(table, the column that names a row, columns that are that row's), later ones resting on earlier ones."""

_HANGING = (
    ("payment", "payments"),
    ("posting", "postings"),
    ("return", "returns"),
    ("refund_case", "refund_cases"),
)
"""(table, the column of its order that names such rows)."""


def complete(rows: StartRows, tables: Mapping[str, type[Row]]) -> StartRows:
    """The rows with every column, and the rows that follow from them.

    Raises:
        WorldError: `facts.table`, for a table that the world lacks; `facts.row`,
            for a row that isn't of its table's type, names a row that isn't there,
            or contradicts itself or another.
    """
    for table in rows:
        if table not in tables:
            raise WorldError("facts.table", f"the world has no table `{table}`")
    written = {table: {key: dict(row) for key, row in rows.get(table, {}).items()} for table in tables}
    written["clock"].setdefault(CLOCK_KEY, {"tick": 0})
    _fill(written)
    typed = {
        table: {key: _typed(table, key, row, tables[table]) for key, row in found.items()}
        for table, found in written.items()
    }
    _check_references(typed, tables)
    _open_books(typed)
    _hang_on_orders(typed)
    _check_rows(typed)
    return cast("StartRows", msgspec.to_builtins(typed))


def _fill(written: StartRows) -> None:
    """Puts the columns that follow from others where they are missing; what can't be worked out stays out."""
    for table, column, columns in _INHERITED:
        for row in written[table].values():
            source = _named(written, column, row)
            for name in columns:
                if name in source:
                    row.setdefault(name, source[name])
    for row in written["negotiation"].values():
        if "buyer" in row:
            row.setdefault("offered_by", row["buyer"])
    for row in written["agreement"].values():
        _put(row, "total", _product(row))
    for row in written["order"].values():
        _put(row, "total", _lines_total(row.get("lines")))
    for row in written["payment"].values():
        captured, refunded = row.get("captured"), row.get("refunded", 0)
        if isinstance(captured, int) and isinstance(refunded, int):
            row.setdefault("state", state_of(captured, refunded))
    for key, row in written["inventory"].items():
        _fill_stock(key, row, written["agreement"])


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


def _lines_total(lines: object) -> int | None:
    if not isinstance(lines, (list, tuple)) or not lines:
        return None
    total = 0
    for line in cast("list[object]", lines):
        product = _product(cast("Columns", line)) if isinstance(line, dict) else None
        if product is None:
            return None
        total += product
    return total


def _fill_stock(key: str, row: Columns, agreements: Mapping[str, Columns]) -> None:
    if "reserved" not in row:
        row["reserved"] = sum(
            quantity
            for agreement in agreements.values()
            if agreement.get("listing") == key and agreement.get("state", "agreed") == "agreed"
            for quantity in [agreement.get("quantity")]
            if isinstance(quantity, int)
        )
    reserved, on_hand, available = row["reserved"], row.get("on_hand"), row.get("available")
    if isinstance(reserved, int):
        if on_hand is None and isinstance(available, int):
            row["on_hand"] = available + reserved
        elif available is None and isinstance(on_hand, int):
            row["available"] = on_hand - reserved


def _typed(table: str, key: str, row: Columns, kind: type[Row]) -> Row:
    try:
        return msgspec.convert(row, kind)
    except msgspec.ValidationError as error:
        raise _wrong(table, key, f"is not such a row: {error}") from None


def _check_references(typed: Typed, tables: Mapping[str, type[Row]]) -> None:
    for table, found in typed.items():
        fields = row_fields(tables[table])
        for key, row in found.items():
            for field, other in fields.items():
                _check_reference(typed, (table, key, field), other, getattr(row, field))
    for key in typed["inventory"]:
        _check_reference(typed, ("inventory", key, "key"), "listing", key)
    for key, order in typed["order"].items():
        for line in order.lines:
            _check_reference(typed, ("order", key, "lines"), "listing", line.listing)
    for table, column, columns in _INHERITED:
        for key, row in typed[table].items():
            source = typed[column].get(getattr(row, column))
            for name in columns if source is not None else ():
                if getattr(row, name) != getattr(source, name):
                    what = f"says {name} `{getattr(row, name)}`, and its {column} `{getattr(source, name)}`"
                    raise _wrong(table, key, what)


def _check_reference(typed: Typed, place: tuple[str, str, str], table: str, key: str | None) -> None:
    if key is not None and key not in typed[table]:
        raise _wrong(place[0], place[1], f"names {table} `{key}` in `{place[2]}`, which is not there")


def _open_books(typed: Typed) -> None:
    """Makes the postings of payments that have none, and the accounts that follow from all postings."""
    has_books = {posting.payment for posting in typed["posting"].values()}
    place = 0
    for key in sorted(typed["payment"]):
        payment: Payment = typed["payment"][key]
        if key not in has_books:
            order: Order = typed["order"][payment.order]
            for amount in (payment.captured, -payment.refunded):
                if amount:
                    place += 1
                    _open_entry(typed, f"e0_{place}", key, payment, sale(order.buyer, order.merchant, amount))
    accounts: dict[str, dict[str, int]] = {}
    for posting in typed["posting"].values():
        balances = accounts.setdefault(posting.account, {})
        balances[posting.currency] = balances.get(posting.currency, 0) + posting.amount
    for name, account in typed["account"].items():
        if account.balances != accounts.get(name):
            raise _wrong("account", name, "doesn't hold what its postings come to")
    typed["account"] = {name: Account(balances) for name, balances in accounts.items()}


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
    """Lets each order name its payments, postings, returns and refund cases, by key."""
    for table, column in _HANGING:
        hanging: dict[str, list[str]] = {}
        for key in sorted(typed[table]):
            hanging.setdefault(typed[table][key].order, []).append(key)
        for key, order in typed["order"].items():
            found, named = hanging.get(key, []), getattr(order, column)
            if not named:
                typed["order"][key] = msgspec.structs.replace(order, **{column: tuple(found)})
            elif sorted(named) != found:
                raise _wrong("order", key, f"names others in `{column}` than the rows that name it")


def _check_rows(typed: Typed) -> None:
    if set(typed["clock"]) != {CLOCK_KEY}:
        raise _wrong("clock", min(set(typed["clock"]) - {CLOCK_KEY}), f"is not called `{CLOCK_KEY}`")
    for table, found in typed.items():
        for key, row in found.items():
            problem = None if row_holds(row) else "contradicts itself"
            problem = problem or _problem(row)
            if problem is not None:
                raise _wrong(table, key, problem)
    for table, key, problem in (*_stock_problems(typed), *_book_problems(typed)):
        raise _wrong(table, key, problem)


def _problem(row: Row) -> str | None:
    """What a row says against itself beyond what every changed row is held to."""
    if isinstance(row, Agreement) and row.total != row.quantity * row.unit_price:
        return "has a total that isn't quantity times unit price"
    if isinstance(row, Negotiation) and row.offered_by not in (row.buyer, row.merchant):
        return "has a last offer by neither of its parties"
    if isinstance(row, Payment):
        is_captured = row.state not in ("authorized", "voided")
        if is_captured and row.state != state_of(row.captured, row.refunded):
            return f"is `{row.state}`, and its amounts say `{state_of(row.captured, row.refunded)}`"
        if not is_captured and row.captured:
            return f"is `{row.state}`, and holds captured money"
    return None


def _stock_problems(typed: Typed) -> Iterator[tuple[str, str, str]]:
    agreed: dict[str, int] = {}
    for agreement in typed["agreement"].values():
        if agreement.state == "agreed":
            agreed[agreement.listing] = agreed.get(agreement.listing, 0) + agreement.quantity
    for key, units in sorted(agreed.items()):
        row: Inventory | None = typed["inventory"].get(key)
        if row is None or row.reserved < units:
            yield "inventory", key, f"reserves fewer than the {units} units agreed"


def _book_problems(typed: Typed) -> Iterator[tuple[str, str, str]]:
    entries: dict[tuple[str, str], int] = {}
    paid: dict[str, int] = {}
    for key, posting in typed["posting"].items():
        if typed["payment"][posting.payment].order != posting.order:
            yield "posting", key, "is of another order than its payment"
        entry = posting.entry, posting.currency
        entries[entry] = entries.get(entry, 0) + posting.amount
        if posting.account.startswith("buyer:"):
            paid[posting.payment] = paid.get(posting.payment, 0) - posting.amount
    for key, posting in typed["posting"].items():
        if entries[posting.entry, posting.currency]:
            yield "posting", key, f"is of entry `{posting.entry}`, which doesn't sum to zero"
    for key, payment in typed["payment"].items():
        if payment.captured - payment.refunded != paid.get(key, 0):
            yield "payment", key, "says otherwise than its postings"


def _wrong(table: str, key: str, problem: str) -> WorldError:
    return WorldError("facts.row", f"row `{key}` of `{table}` {problem}")

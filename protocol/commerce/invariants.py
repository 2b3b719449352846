"""What must hold of the rows that a decision changed, whatever rule made it.

    books     postings are added, never changed; each new entry sums to zero in its currency
    accounts  an account moved by exactly its new postings, and stays a whole number that can be written
    payment   Δcaptured − Δrefunded = what its buyer's account paid by new postings; 0 ≤ refunded ≤ captured
    stock     on_hand = available + reserved, none below zero
    state     a row begins in a first state of its machine, and moves only as the machine says
    removed   no row is ever taken away

Only staged rows are looked at. Not here: start rows (`coherence`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..canonical import MAX_INTEGER
from ..joined import Machine
from ..tables import Row, State
from .books import Posting
from .catalog import Inventory
from .payments import Payment

_MAX_KEY = 128
_Pair = tuple[Any, Any]


def broken(state: State, machines: Mapping[str, Machine]) -> str | None:
    """The name of what the staged rows break, or None."""
    money: dict[str, list[tuple[str, _Pair]]] = {"account": [], "payment": [], "posting": []}
    for table, key, before, after in state.staged():
        if after is None:
            return "removed"
        machine = machines.get(table)
        if machine is not None and not _follows(machine, before, after):
            return "state"
        if table in money:
            money[table].append((key, (before, after)))
        elif table == "inventory" and not _stock_holds(after):
            return "stock"
    return _money(money) if any(money.values()) else None


def _follows(machine: Machine, before: Any, after: Any) -> bool:  # noqa: ANN401 - any row with a state
    if before is None:
        return after.state in machine.first
    return before.state == after.state or after.state in machine.steps.get(before.state, ())


def _stock_holds(row: Inventory) -> bool:
    return row.available >= 0 and row.reserved >= 0 and row.on_hand == row.available + row.reserved


def _money(changed: Mapping[str, list[tuple[str, _Pair]]]) -> str | None:
    entries: dict[tuple[str, str], int] = {}
    moved: dict[tuple[str, str], int] = {}
    paid: dict[str, int] = {}
    posting: Posting
    for _key, (before, posting) in changed["posting"]:
        if before is not None:
            return "books"
        amount, currency = posting.amount, posting.currency
        entries[posting.entry, currency] = entries.get((posting.entry, currency), 0) + amount
        moved[posting.account, currency] = moved.get((posting.account, currency), 0) + amount
        if posting.payment is not None and posting.account.startswith("buyer:"):
            paid[posting.payment] = paid.get(posting.payment, 0) - amount
    if any(entries.values()):
        return "books"
    if not _accounts_hold(changed["account"], moved):
        return "accounts"
    return None if _payments_hold(changed["payment"], paid) else "payment"


def _accounts_hold(changed: list[tuple[str, _Pair]], moved: dict[tuple[str, str], int]) -> bool:
    for key, (before, after) in changed:
        if len(key) > _MAX_KEY:
            return False
        old: Mapping[str, int] = {} if before is None else before.balances
        new: Mapping[str, int] = after.balances
        for currency in {**old, **new}:
            balance = new.get(currency, 0)
            if balance - old.get(currency, 0) != moved.pop((key, currency), 0) or abs(balance) > MAX_INTEGER:
                return False
    return not any(moved.values())


def _payments_hold(changed: list[tuple[str, _Pair]], paid: dict[str, int]) -> bool:
    for key, (before, after) in changed:
        net = after.captured - after.refunded
        if not 0 <= after.refunded <= after.captured:
            return False
        if net - (0 if before is None else before.captured - before.refunded) != paid.pop(key, 0):
            return False
    return not any(paid.values())


def row_holds(row: Row) -> bool:
    """Whether a start row agrees with itself."""
    if isinstance(row, Inventory):
        return _stock_holds(row)
    return not isinstance(row, Payment) or row.refunded <= row.captured

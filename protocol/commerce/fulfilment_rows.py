"""Start rows of fulfilment, as an author writes them: what follows from others, and whether all of it agrees.

    inventory.reserved     what agreements, accepted orders and authorized exchanges have set aside
    a backordered order    waits for every unit of its lines
    a payment's hold       that is neither captured nor voided yet is authorized
    a shipment             carries the units of its order
    the agenda             holds every agreement that can still be settled and ends by tick

Not here: what one row says against itself (`Agreement.problem`, `Order.problem`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from ..world import StartRows
from .agenda import AGENDA_KEY, Agenda, Due
from .agreements import Agreement
from .catalog import Inventory
from .exchanges import Exchange
from .orders import Order

Columns = dict[str, Any]
Typed = dict[str, dict[str, Any]]
Problem = tuple[str, str, str]


def fill_fulfilment(written: StartRows) -> None:
    """Puts the missing columns of stock, holds, waiting orders and shipments that other written ones give."""
    reserved = _reserved(written)
    for key, row in written["inventory"].items():
        _fill_stock(row, reserved.get(key, 0))
    for row in written["order"].values():
        if row.get("state") == "backordered" and isinstance(row.get("lines"), (list, tuple)):
            row["lines"] = [_waiting(line) for line in row["lines"]]
    for row in written["shipment"].values():
        lines = _lines(written["order"].get(str(row.get("order")), {}))
        units = [{name: line.get(name) for name in ("listing", "quantity")} for line in lines]
        row.setdefault("units", units)


def fill_hold(payment: Columns) -> None:
    """Puts what follows from a payment's hold when nothing is said of a capture."""
    if payment.get("authorized") and "captured" not in payment:
        payment["captured"] = 0
        payment.setdefault("state", "authorized")


def _fill_stock(row: Columns, set_aside: int) -> None:
    row.setdefault("reserved", set_aside)
    reserved, on_hand, available = row["reserved"], row.get("on_hand"), row.get("available")
    if isinstance(reserved, int):
        if on_hand is None and isinstance(available, int):
            row["on_hand"] = available + reserved
        elif available is None and isinstance(on_hand, int):
            row["available"] = on_hand - reserved


def _reserved(written: StartRows) -> dict[str, int]:
    """The units set aside of each listing, as far as the written rows say."""
    units: dict[str, int] = {}
    agreed = (row for row in written["agreement"].values() if row.get("state", "agreed") == "agreed")
    accepted = (row for row in written["order"].values() if row.get("state") == "accepted")
    exchanged = (row for row in written["exchange"].values() if row.get("state") == "authorized")
    for line in (*agreed, *(line for row in accepted for line in _lines(row)), *exchanged):
        listing, quantity, short = line.get("listing"), line.get("quantity"), line.get("short", 0)
        if isinstance(listing, str) and isinstance(quantity, int) and isinstance(short, int):
            units[listing] = units.get(listing, 0) + max(0, quantity - short)
    return units


def _lines(order: Columns) -> list[Columns]:
    lines = order.get("lines")
    if not isinstance(lines, (list, tuple)):
        return []
    return [cast("Columns", line) for line in cast("list[object]", lines) if isinstance(line, dict)]


def _waiting(line: object) -> object:
    """A line whose units are all still to come, unless it says how many are."""
    if not isinstance(line, dict):
        return line
    columns = cast("Columns", line)
    return {"short": columns.get("quantity"), **columns}


def plan_agenda(typed: Typed) -> None:
    """Puts the agreements that end by tick on an agenda, where the rows have none."""
    if typed["agenda"] or typed["due"]:
        return
    ends = sorted((tick, key) for key, tick in _ends(typed))
    keys = [key for _tick, key in ends]
    for (tick, key), after in zip(ends, [*keys[1:], None], strict=False):
        typed["due"][key] = Due(tick, child=after)
    if keys:
        typed["agenda"][AGENDA_KEY] = Agenda(keys[0])


def _ends(typed: Typed) -> Iterator[tuple[str, int]]:
    agreement: Agreement
    for key, agreement in typed["agreement"].items():
        if agreement.state == "agreed" and agreement.expires is not None:
            yield key, agreement.expires


def fulfilment_problems(typed: Typed) -> Iterator[Problem]:
    """What start rows of fulfilment say against each other."""
    yield from _stock(typed)
    yield from _agenda(typed)
    for key in typed["supply_state"]:
        if key not in typed["listing"]:
            yield "supply_state", key, "is of no listing"


def _stock(typed: Typed) -> Iterator[Problem]:
    reserved: dict[str, int] = {}
    for table, key, listing, units in _set_aside(typed):
        reserved[listing] = reserved.get(listing, 0) + units
        row: Inventory | None = typed["inventory"].get(listing)
        if row is None or row.reserved < reserved[listing]:
            yield table, key, f"has units that no stock of `{listing}` reserves"


def _set_aside(typed: Typed) -> Iterator[tuple[str, str, str, int]]:
    agreement: Agreement
    for key, agreement in typed["agreement"].items():
        if agreement.state == "agreed":
            yield "agreement", key, agreement.listing, agreement.set_aside
    order: Order
    for key, order in typed["order"].items():
        for line in order.lines if order.state == "accepted" else ():
            yield "order", key, line.listing, line.quantity - line.short
    exchange: Exchange
    for key, exchange in typed["exchange"].items():
        if exchange.state == "authorized":
            yield "exchange", key, exchange.listing, exchange.quantity


def _agenda(typed: Typed) -> Iterator[Problem]:
    agenda: Mapping[str, Agenda] = typed["agenda"]
    for key in agenda:
        if key != AGENDA_KEY:
            yield "agenda", key, f"is not called `{AGENDA_KEY}`"
    for key in typed["due"]:
        if key not in typed["agreement"]:
            yield "due", key, "is of no agreement"
    found: dict[str, int] = {}
    open_ = [(key, 0) for row in agenda.values() for key in [row.first] if key is not None]
    while open_:
        key, least = open_.pop()
        row: Due | None = typed["due"].get(key)
        if row is None or row.tick < least or key in found or (not found and row.next is not None):
            yield "due", key, "is not where the agenda has it"
            return
        found[key] = row.tick
        open_ += [(row.next, least)] if row.next is not None else []
        open_ += [(row.child, row.tick)] if row.child is not None else []
    for key, tick in _ends(typed):
        if found.get(key) != tick:
            yield "agreement", key, f"ends after tick {tick}, and the agenda says otherwise"

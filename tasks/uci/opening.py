"""The market in which a period is played: what it begins with, and who trades in it.

    listing, inventory   each stock code at each price of the period, as many units as it sells or corrects
    order, payment       of earlier sales that the period cancels: what is left of what was paid for them
    posting, account     those of these payments

    shop          the merchant             2010-12-01 …   a buyer for each day: all who bought on it
    bookkeeper    the operator

A listing is a stock code at one price, `85123A@255`, since the same code is sold at several. Who bought what
is not in the data: the days stand for the customers, so that an account says what its day came to.
Not here: what they do (`importer`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from ...protocol.bodies import WorldRef
from ...protocol.commerce.books import Account, Posting, sale
from ...protocol.commerce.catalog import Inventory, Listing
from ...protocol.commerce.orders import Order
from ...protocol.commerce.payments import Payment
from ...protocol.commerce.talk import CLOCK_KEY, Clock
from ...protocol.world import world_of
from ..dates import date_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...protocol.tables import Facts, Row
    from .source import Entry

WORLD = WorldRef(name="commerce", params={}, version=0)
CURRENCY = "GBP"
SHOP = "shop"
BOOKKEEPER = "bookkeeper"

_MAX_STOCK = 10**9


class Due(NamedTuple):
    """An earlier sale as it is carried into a period: the key of its order, its day, what is left of it."""

    order: str
    day: int
    left: int


def buyer_of(day: int) -> str:
    """The party that bought on a day."""
    return date_of(day)


def listing_of(sku: str, price: int) -> str:
    """The key of the listing of a stock code at a price in pence."""
    return f"{quote(sku, safe='')}@{price}"


def opening(lines: Sequence[Entry], carried: Sequence[Due]) -> Facts:
    """The start rows of a period."""
    first = min(line.day for line in lines)
    return world_of(WORLD).facts([("clock", CLOCK_KEY, Clock(first)), *_shelves(lines), *_books(carried)])


def _shelves(lines: Sequence[Entry]) -> Iterator[tuple[str, str, Row]]:
    units: Counter[tuple[str, int]] = Counter()
    for line in lines:
        if line.kind in ("sale", "stock"):
            units[line.sku, line.price] += abs(line.quantity)
    for (sku, price), count in units.items():
        key = listing_of(sku, price)
        yield "listing", key, Listing(SHOP, sku, price, CURRENCY)
        stock = min(count, _MAX_STOCK)
        yield "inventory", key, Inventory(on_hand=stock, available=stock)


def _books(carried: Sequence[Due]) -> Iterator[tuple[str, str, Row]]:
    balances: dict[str, int] = {}
    for place, due in enumerate(carried, 1):
        payment, entry, buyer = f"p0_{place}", f"e0_{place}", buyer_of(due.day)
        flows = sale(buyer, SHOP, due.left)
        postings = tuple(f"{entry}_{leg}" for leg in range(1, len(flows) + 1))
        yield "order", due.order, Order(
            buyer=buyer,
            merchant=SHOP,
            total=due.left,
            state="settled",
            currency=CURRENCY,
            payments=(payment,),
            postings=postings,
            placed=due.day,
        )
        yield "payment", payment, Payment(
            order=due.order, captured=due.left, state="captured", currency=CURRENCY
        )
        for key, (account, amount) in zip(postings, flows, strict=True):
            balances[account] = balances.get(account, 0) + amount
            yield "posting", key, Posting(due.order, payment, account, amount, entry, due.day, CURRENCY)
    for account, balance in balances.items():
        yield "account", account, Account({CURRENCY: balance})

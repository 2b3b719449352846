"""The lines of the ledger, one at a time: what each says, or why it says nothing.

    invoice,time,sku,qty,unit_gbp,cancels
    536365,2010-12-01 08:26,85123A,6,2.55,          a sale; at 0.0 too
    C536506,2010-12-01 12:38,22960,-6,4.25,536488   a cancellation, of the sale named last if it is known
    A563186,2011-08-12 14:51,B,1,-11062.06,         an adjustment
    536589,2010-12-01 16:50,21777,-10,0.0,          a correction of stock: no money

A line ends where a line of text ends, and no quotes are known: nothing in a line can swallow the next one.
Amounts are whole pence. A price such as 0.001 is none, and its line is named, not rounded.

Not here: what becomes of a line (`importer`).
"""

from __future__ import annotations

import gzip
import re
import zlib
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from ...protocol.commerce.terms import MAX_MONEY
from ...protocol.errors import SourceError
from ..dates import day_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEADER = "invoice,time,sku,qty,unit_gbp,cancels"
MAX_QUANTITY = 10**6
MAX_LINE = 2_000
"""Bytes of a line; one that is longer says nothing, and is named by its beginning."""

Kind = Literal["sale", "cancellation", "adjustment", "stock"]

_GZIP = b"\x1f\x8b"
_HINT = f"the first line of such a file is `{HEADER}`"
_INVOICE = re.compile(r"[!-~]{1,30}")
_SKU = re.compile(r"[ -~]{1,30}")
_QUANTITY = re.compile(r"-?[0-9]{1,7}")
_PRICE = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,6})?")
_TIME = re.compile(r"([0-9-]{10}) (?:[01][0-9]|2[0-3]):[0-5][0-9]")


class Entry(NamedTuple):
    """A line that says something.

    ``day`` counts from 1970-01-01; ``price`` is a unit's, in pence; ``number``
    is the line's in the file, the first after the header being 1.
    """

    number: int
    kind: Kind
    invoice: str
    month: str
    day: int
    sku: str
    quantity: int
    price: int
    cancels: str

    @property
    def amount(self) -> int:
        """What the line comes to, in pence; what goes back is below zero."""
        return self.quantity * self.price


class Broken(NamedTuple):
    """A line that can't be read: a stable code, what is wrong, and the line itself.

    ``amount`` is what it comes to in pounds, where it says that much.
    """

    number: int
    code: str
    text: str
    line: str
    amount: Decimal | None = None


def read_lines(path: Path) -> Iterator[bytes]:
    """The file's lines as they stand, without their ends, unpacked if it is gzip; the header is the first.

    Raises:
        SourceError: it is missing, unreadable or damaged.
    """
    try:
        with path.open("rb") as plain:
            is_packed = plain.read(2) == _GZIP
            plain.seek(0)
            with gzip.open(plain) if is_packed else plain as file:
                while line := file.readline(MAX_LINE):
                    rest = line
                    while rest and not rest.endswith(b"\n"):
                        rest = file.readline(MAX_LINE)
                    yield line.removesuffix(b"\n").removesuffix(b"\r")
    except (OSError, EOFError, zlib.error) as error:
        what = (error.strerror if isinstance(error, OSError) else None) or str(error)
        hint = "check the path, and that the file is whole"
        raise SourceError("source.read", f"`{path}` can't be read: {what}", hint) from None


def check_header(line: bytes, path: Path) -> None:
    """Refuses a file that begins otherwise.

    Raises:
        SourceError: `source.form`.
    """
    if line.removeprefix(b"\xef\xbb\xbf") != HEADER.encode():
        raise SourceError("source.form", f"`{path}` is not a ledger of invoice lines", _HINT)


def entry_of(number: int, line: bytes) -> Entry | Broken:
    """What a line says."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return Broken(number, "uci.utf8", "it is not UTF-8", line.decode("utf-8", "backslashreplace"))
    fields = text.split(",")
    if len(fields) != 6:
        return Broken(number, "uci.columns", f"a line has 6 fields, this one {len(fields)}", text)
    invoice, time, sku, quantity_text, price_text, cancels = fields
    found = _TIME.fullmatch(time)
    day = None if found is None else _day(found[1])
    quantity = int(quantity_text) if _QUANTITY.fullmatch(quantity_text) else 0
    price = _price(price_text)
    if price is None or not 0 < abs(quantity) <= MAX_QUANTITY:
        return _without_amount(number, text, quantity_text, price_text, quantity)
    problem = _problem(invoice, sku, cancels, day)
    kind = _kind(invoice, quantity, price)
    if problem is None and kind is None:
        problem = "uci.sign", f"{quantity} units at {price_text} are no line of an invoice `{invoice}`"
    if problem is None and abs(quantity * price) > MAX_MONEY:
        problem = "uci.amount", f"{quantity} units at {price_text} are more than an amount may be"
    if problem is None and cancels and kind != "cancellation":
        problem = "uci.cancels", f"invoice `{invoice}` is no cancellation, and names `{cancels}` as cancelled"
    if problem is not None or kind is None or day is None:
        code, what = problem or ("uci.time", "no such time")
        return Broken(number, code, what, text, Decimal(quantity * price).scaleb(-2))
    return Entry(number, kind, invoice, time[:7], day, sku, quantity, price, cancels)


def _without_amount(number: int, text: str, quantity_text: str, price_text: str, quantity: int) -> Broken:
    if not 0 < abs(quantity) <= MAX_QUANTITY:
        what = f"quantity `{quantity_text[:30]}` is not a whole number of 1 to {MAX_QUANTITY:,} units"
        return Broken(number, "uci.quantity", what, text)
    if _PRICE.fullmatch(price_text):
        what = f"price `{price_text}` is not a whole number of pence"
        return Broken(number, "uci.fraction", what, text, quantity * Decimal(price_text))
    return Broken(number, "uci.price", f"price `{price_text[:30]}` is not one", text)


def _problem(invoice: str, sku: str, cancels: str, day: int | None) -> tuple[str, str] | None:
    if not _INVOICE.fullmatch(invoice):
        return "uci.invoice", f"`{invoice[:40]}` is not an invoice's number"
    if day is None:
        return "uci.time", "no such time"
    if not _SKU.fullmatch(sku):
        return "uci.sku", f"`{sku[:40]}` is not a stock code"
    if cancels and not _INVOICE.fullmatch(cancels):
        return "uci.cancels", f"`{cancels[:40]}` is not an invoice's number"
    return None


def _kind(invoice: str, quantity: int, price: int) -> Kind | None:
    """What a line is, by the first letter of its invoice and its signs; None where they don't go together."""
    if invoice[:1] == "A":
        return "adjustment" if price else None
    if price < 0:
        return None
    if invoice[:1] == "C":
        return "cancellation" if quantity < 0 and price else None
    if quantity > 0:
        return "sale"
    return None if price else "stock"


@lru_cache(maxsize=4_096)
def _day(text: str) -> int | None:
    return day_of(text)


@lru_cache(maxsize=4_096)
def _price(text: str) -> int | None:
    """The price in pence, or None where it is none or has a fraction of a penny."""
    if not _PRICE.fullmatch(text):
        return None
    pounds, _, part = text.lstrip("-").partition(".")
    part = part.rstrip("0")
    if len(part) > 2:
        return None
    pence = int(pounds) * 100 + int(part.ljust(2, "0") or "0")
    return -pence if text.startswith("-") else pence

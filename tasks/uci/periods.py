"""The file cut into runs, and what each run has to begin with: one pass before any is played.

    period   a month, `2011-11`; one of more than `MAX_LINES` lines goes on as `2011-11.2`
    survey   by period: units sold or corrected of each listing, invoices whose sales it cancels

A listing is a stock code at one price, `85123A@255`, since an invoice's price is what was paid and the same
code is sold at several. Only counts by listing are held, and the invoices that are cancelled later: nothing
grows with the lines.

Not here: the start rows themselves (`opening`).
"""

from __future__ import annotations

from collections import defaultdict
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from ...protocol.errors import SourceError
from .source import Broken, Entry, check_header, entry_of, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MAX_LINES = 100_000


class Needs(NamedTuple):
    """What the run of a period needs at its start.

    ``days`` are those of its lines, ``units`` counts by listing, ``cancelled``
    names the invoices that are cancelled in it.
    """

    days: set[int]
    units: dict[str, int]
    cancelled: set[str]


class Survey(NamedTuple):
    """The file as a whole: its lines, the needs of each period in their order, and SHA-256 of its content in hex."""

    lines: int
    periods: dict[str, Needs]
    digest: str


def listing_of(sku: str, price: int) -> str:
    """The key of the listing of a stock code at a price in pence."""
    return f"{quote(sku, safe='')}@{price}"


def survey(path: Path) -> Survey:
    """Reads the file once.

    Raises:
        SourceError: as `read_lines` and `check_header`; `source.empty`, no line of it says anything.
    """
    periods: dict[str, Needs] = {}
    content = sha256()
    lines = 0
    for period, item in dealt(path, content.update):
        lines += 1
        if isinstance(item, Broken):
            continue
        needs = periods.get(period)
        if needs is None:
            needs = periods[period] = Needs(set(), defaultdict(int), set())
        needs.days.add(item.day)
        if item.kind in ("sale", "stock"):
            needs.units[listing_of(item.sku, item.price)] += abs(item.quantity)
        elif item.cancels:
            needs.cancelled.add(item.cancels)
    if not periods:
        what = f"`{path}` holds no line that says anything"
        raise SourceError("source.empty", what, "check that it is the right file")
    return Survey(lines, periods, content.hexdigest())


def dealt(
    path: Path, content: Callable[[bytes], None] = lambda _line: None
) -> Iterator[tuple[str, Entry | Broken]]:
    """Every line with its period; one that can't be read is of the period around it, at the start of none ("").

    A line of an earlier month than one before it stays where it comes.
    ``content`` is given every line as it stands, ended by LF.
    """
    lines = read_lines(path)
    header = next(lines, b"")
    check_header(header, path)
    content(header + b"\n")
    month = invoice = period = ""
    held = part = 0
    for number, line in enumerate(lines, 1):
        content(line + b"\n")
        item = entry_of(number, line)
        if isinstance(item, Entry):
            if item.month > month:
                month, part, held = item.month, 1, 0
                period = month
            elif held >= MAX_LINES and item.invoice != invoice:
                part, held = part + 1, 0
                period = f"{month}.{part}"
            invoice = item.invoice
        held += 1
        yield period, item

"""The file cut into runs, and what has to be known of all of it before the first is played.

    period   a month, `2011-11`; after `MAX_LINES` lines its next invoice begins another, `2011-11.2`
    survey   one pass over the file: how many lines, its digest, which invoices each period cancels

Of the lines nothing is held but the names of the invoices that are cancelled some time.
Not here: the start rows of a period (`opening`).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from ...protocol.errors import SourceError
from .source import Broken, Entry, check_header, entry_of, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MAX_LINES = 20_000


class Survey(NamedTuple):
    """The file as a whole: how many lines, by period the invoices that it cancels, SHA-256 of the content."""

    lines: int
    periods: dict[str, set[str]]
    digest: str


def survey(path: Path) -> Survey:
    """Reads the file once.

    Raises:
        SourceError: as `read_lines` and `check_header`; `source.empty`, no line of it says anything.
    """
    periods: dict[str, set[str]] = {}
    content = sha256()
    lines = 0
    for period, item in dealt(path, content.update):
        lines += 1
        if isinstance(item, Entry):
            cancelled = periods.setdefault(period, set())
            if item.cancels:
                cancelled.add(item.cancels)
    if not periods:
        what = f"`{path}` holds no line that says anything"
        raise SourceError("source.empty", what, "check that it is the right file")
    return Survey(lines, periods, content.hexdigest())


def dealt(
    path: Path, content: Callable[[bytes], None] = lambda _line: None
) -> Iterator[tuple[str, Entry | Broken]]:
    """Every line with its period; "" for one that can't be read before all that can.

    A line that can't be read is of the period around it, and one of an earlier
    month than one before it stays where it comes. ``content`` is given every
    line as it stands, ended by LF.
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

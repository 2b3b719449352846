"""What was sold and is cancelled some time: which order a cancellation is of, and what is left of it.

    sale of an invoice that is cancelled ─► Sold ─ cancelled in part, or whole ─► left
    carried from period to period until nothing more names it

Only sales that some line names as cancelled are held. Not here: the acts (`importer`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .opening import Due

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .periods import Survey
    from .source import Entry

Bought = Counter[tuple[str, int, int]]
"""Lines by (stock code, units, price), units above zero."""


class Sold:
    """An order of an invoice; ``bought`` is None once it is carried into a later period."""

    __slots__ = ("bought", "codes", "day", "left", "order")

    def __init__(self, order: str, lines: Sequence[Entry]) -> None:
        """The order that was made of these lines of one invoice."""
        self.order = order
        self.day = lines[0].day
        self.codes = frozenset(line.sku for line in lines)
        self.bought: Bought | None = bought_by(lines)
        self.left = sum(line.amount for line in lines)

    def is_undone_by(self, lines: Bought) -> bool:
        """Whether all that was bought is among these cancelled lines, and none of it was cancelled before."""
        bought = self.bought
        return bought is not None and bought <= lines and self.left == sum(
            units * price * count for (_code, units, price), count in bought.items()
        )


class Sales:
    """The sales that are cancelled some time, by invoice."""

    def __init__(self, survey: Survey) -> None:
        """None yet; the survey says whose will have to be known."""
        self._last: dict[str, int] = {}
        for place, cancelled in enumerate(survey.periods.values()):
            self._last.update(dict.fromkeys(cancelled, place))
        self._found: dict[str, list[Sold]] = {}

    def is_kept(self, invoice: str) -> bool:
        """Whether a sale of this invoice will be asked for."""
        return invoice in self._last

    def add(self, invoice: str, sold: Sold) -> None:
        """Keeps a sale."""
        self._found.setdefault(invoice, []).append(sold)

    def of(self, invoice: str) -> Sequence[Sold]:
        """The sales of an invoice."""
        return self._found.get(invoice, ())

    def carry(self, place: int) -> None:
        """Lets go, at the start of the period at this place, of what nothing names any more."""
        self._found = {
            invoice: found for invoice, found in self._found.items() if self._last[invoice] >= place
        }
        for invoice, found in self._found.items():
            for number, sold in enumerate(found, 1):
                sold.order = f"{invoice}/{number}"
                sold.bought = None

    def due(self, invoices: set[str]) -> list[Due]:
        """Those of these invoices of which something is left, as a period begins with them."""
        return [
            Due(sold.order, sold.day, sold.left)
            for invoice in sorted(invoices)
            for sold in self.of(invoice)
            if sold.left
        ]


def bought_by(lines: Sequence[Entry]) -> Bought:
    """Lines without their places; what was cancelled is counted as what was bought."""
    return Counter((line.sku, abs(line.quantity), line.price) for line in lines)

"""The two readings of the shop, `compat` and `strict`, and all that sets them apart.

                      compat, as recorded                        strict
    amounts           binary floats, float noise kept            integer cents
    changed line      the first line with the old id, whatever   the first such line that no earlier
                      an earlier pair made of it; all changed    pair of the call took; its own
                      lines get the last pair's price, options   variant's price and options
    refund at cancel  every row of the history, refunds too      what is still paid, once

The checks, their order and everything else are the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .arithmetic import Arithmetic, Cents, Floats
from .rows import Amount, Line, Payment, Variant

Lines = Sequence[Line]


class Mode(NamedTuple):
    """One reading: how amounts add up, which line a pair means, what it becomes, what is refunded."""

    name: str
    money: Arithmetic
    places: Callable[[Lines, Sequence[str]], list[int]]
    changed: Callable[[Lines, Sequence[str], Sequence[Variant]], list[Line]]
    refunds: Callable[[Sequence[Payment], Arithmetic], list[Payment]]


def _first_places(lines: Lines, item_ids: Sequence[str]) -> list[int]:
    """For each id the place of the first line with it: one line may stand for several pairs."""
    ids = [line.item_id for line in lines]
    return [ids.index(item_id) for item_id in item_ids]


def _own_places(lines: Lines, item_ids: Sequence[str]) -> list[int]:
    """For each id the place of the first line with it that is not taken yet."""
    free: dict[str, list[int]] = {}
    for place in range(len(lines) - 1, -1, -1):
        free.setdefault(lines[place].item_id, []).append(place)
    return [free[item_id].pop() for item_id in item_ids]


def _changed_as_recorded(lines: Lines, item_ids: Sequence[str], variants: Sequence[Variant]) -> list[Line]:
    """The lines after a change, each pair finding its line among those already changed."""
    after = list(lines)
    ids = [line.item_id for line in lines]
    for item_id, variant in zip(item_ids, variants, strict=True):
        place = ids.index(item_id)
        ids[place] = variant.item_id
        # The recorded shop reads the price from a loop variable that is left at the last pair.
        after[place] = _as_variant(after[place], variant.item_id, variants[-1])
    return after


def _changed_own(lines: Lines, item_ids: Sequence[str], variants: Sequence[Variant]) -> list[Line]:
    """The lines after a change, each pair's line with its own variant."""
    after = list(lines)
    for place, variant in zip(_own_places(lines, item_ids), variants, strict=True):
        after[place] = _as_variant(after[place], variant.item_id, variant)
    return after


def _as_variant(line: Line, item_id: str, variant: Variant) -> Line:
    return Line(item_id, line.name, variant.options, variant.price, line.product_id)


def _refund_all(history: Sequence[Payment], _money: Arithmetic) -> list[Payment]:
    """A refund of every row, refund rows included, to the row's method."""
    return [_refund(row.payment_method_id, row.amount) for row in history]


def _refund_outstanding(history: Sequence[Payment], money: Arithmetic) -> list[Payment]:
    """A refund of each payment less what was refunded before.

    An earlier refund counts against payments by its own method first, then
    against any, the oldest first: so payments net of refunds come to zero.
    """
    left: list[Amount] = [row.amount for row in history]
    payments = [place for place, row in enumerate(history) if row.transaction_type == "payment"]
    refunds = [place for place, row in enumerate(history) if row.transaction_type == "refund"]
    for same_method in (True, False):
        for refund in refunds:
            for payment in payments:
                same = history[refund].payment_method_id == history[payment].payment_method_id
                if same or not same_method:
                    used = left[refund] if money.is_less(left[refund], left[payment]) else left[payment]
                    left[refund] = money.minus(left[refund], used)
                    left[payment] = money.minus(left[payment], used)
    return [
        _refund(history[place].payment_method_id, left[place])
        for place in payments
        if money.is_less(money.zero, left[place])
    ]


def _refund(method: str, amount: Amount) -> Payment:
    return Payment(amount, method, "refund")


COMPAT = Mode("compat", Floats(), _first_places, _changed_as_recorded, _refund_all)
STRICT = Mode("strict", Cents(), _own_places, _changed_own, _refund_outstanding)
MODES = {mode.name: mode for mode in (COMPAT, STRICT)}

"""What strict refunds: what is still paid, once."""

from __future__ import annotations

import pytest

from tollbook.protocol.retail.modes import STRICT
from tollbook.protocol.retail.rows import Payment


def rows(text: str) -> list[Payment]:
    """`card+10 gift-3`: a payment of 10 by card, a refund of 3 to a gift card."""
    found: list[Payment] = []
    for word in text.split():
        sign = "+" if "+" in word else "-"
        method, amount = word.split(sign)
        found.append(Payment(int(amount), method, "payment" if sign == "+" else "refund"))
    return found


@pytest.mark.parametrize(
    ("refunds", "history"),
    [
        ("", ""),
        ("card-10", "card+10"),
        ("card-10 gift-5", "card+10 gift+5"),
        ("", "card+10 card-10"),
        ("new-10", "card+10 new+10 card-10"),
        ("card-7", "card+10 card-3"),
        ("card-5 card-10", "card+10 card+10 card-5"),
        ("card-10", "card+10 card+10 card-10"),
        # A refund to another method than any payment's still counts: no more comes back than was paid.
        ("card-7", "card+10 gift-3"),
        ("gift-2", "card+10 gift+5 card-10 paypal-3"),
        ("gift-5", "gift+5 card+10 card-10"),
        ("", "card+10 card-20"),
        ("", "card-20"),
        ("", "card+0"),
    ],
)
def test_strict_refunds_what_is_still_paid(refunds: str, history: str) -> None:
    assert STRICT.refunds(rows(history), STRICT.money) == rows(refunds)

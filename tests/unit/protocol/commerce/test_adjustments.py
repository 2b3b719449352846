"""What the operator posts beside any order: refusals in order, the entry, and what start rows may say."""

from __future__ import annotations

from typing import Any

import pytest
from refusal_tables import check_refusal

from tollbook.protocol.errors import WorldError

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by              kind             from > to           fields
    ("adjustment.addressee",  "ledger.adjust", "operator",         "role=merchant amount=0"),
    ("adjustment.amount",     "ledger.adjust", "operator > m1",    "role=merchant amount=0"),
    (None,                    "ledger.adjust", "operator > m1",    "role=merchant amount=7"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_refusals_in_order_of_checks(market: Any, rule: str | None, kind: str, way: str, words: str) -> None:
    check_refusal(market, rule, kind, way, words)


def test_an_adjustment_is_an_entry_against_its_own_account(market: Any) -> None:
    before = market.row("account", "merchant:m1").balances["EUR"]
    shown = market.see("operator", "ledger.adjust", "m1", role="merchant", amount=-250)
    assert [("merchant:m1", -250, None), ("adjustments", 250, None)] == [
        (posting["account"], posting["amount"], posting["order"]) for posting in shown["posting"]
    ]
    assert before - 250 == market.row("account", "merchant:m1").balances["EUR"]
    assert {"EUR": 250} == market.row("account", "adjustments").balances


def test_each_currency_is_posted_for_itself(market: Any) -> None:
    market.see("operator", "ledger.adjust", "b1", role="buyer", amount=3)
    market.see("operator", "ledger.adjust", "b1", role="buyer", amount=5, currency="GBP")
    assert {"EUR": -3, "GBP": -5} == market.row("account", "adjustments").balances


def test_an_adjustment_of_a_buyer_is_no_payment_of_an_order(market: Any) -> None:
    payments = dict(market.state.rows("payment"))
    market.see("operator", "ledger.adjust", "b1", role="buyer", amount=-40)
    assert payments == dict(market.state.rows("payment"))


def _posting(**columns: Any) -> dict[str, Any]:
    return {"order": None, "payment": None, "entry": "e1", "currency": "GBP", **columns}


def test_start_rows_may_hold_adjustments(new_market: Any) -> None:
    postings = {
        "x": _posting(account="merchant:m1", amount=-9),
        "y": _posting(account="adjustments", amount=9),
    }
    market = new_market({"posting": postings})
    assert {"GBP": 9} == market.row("account", "adjustments").balances


def test_a_posting_names_both_an_order_and_a_payment_or_neither(new_market: Any) -> None:
    order = {"buyer": "b1", "merchant": "m1", "state": "settled", "total": 5}
    postings = {
        "x": _posting(account="merchant:m1", amount=-9, order="o1"),
        "y": _posting(account="adjustments", amount=9, order="o1"),
    }
    with pytest.raises(WorldError, match="names an order or a payment without the other"):
        new_market({"order": {"o1": order}, "posting": postings})

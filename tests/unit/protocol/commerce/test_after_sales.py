"""Returns, refunds and reconciliations: refusals in order, stock, money, and what the books don't fit."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from refusal_tables import check_refusal

from tollbook.protocol.errors import WorldError
from tollbook.protocol.world import StartRows

LINES = [{"listing": "l1", "quantity": 2, "unit_price": 1000}]
ORDER = {"buyer": "b1", "merchant": "m1", "state": "delivered", "lines": LINES}
RECORD = {"kind": "inspection", "issuer": "lab", "facts": {"seal": "broken"}}

ROWS: StartRows = {
    "policy": {
        "returns": {"accepted_conditions": ["unused"], "restocked_conditions": ["unused", "unopened"]}
    },
    "listing": {
        "l1": {"merchant": "m1", "title": "lamp", "price": 1000},
        "l3": {"merchant": "m2", "title": "rug", "price": 9000},
    },
    "inventory": {"l1": {"available": 3}},
    "order": {
        "o1": ORDER,
        "o2": {**ORDER, "state": "settled"},
        "o3": {**ORDER, "state": "proposed"},
        "o4": {**ORDER, "buyer": "b2"},
        "o5": {**ORDER, "state": "exchanged"},
    },
    "payment": {
        "p1": {"order": "o1", "captured": 2000, "refunded": 500},
        "p2": {"order": "o2", "captured": 2000},
        "p4": {"order": "o4", "captured": 2000},
        "p5": {"order": "o5", "captured": 2000},
    },
    "return": {
        "r1": {"order": "o1", "condition": "unused", "listing": "l1"},
        "r2": {"order": "o1", "condition": "worn", "listing": "l1", "state": "denied"},
        "r3": {"order": "o4", "condition": "worn", "listing": "l1"},
        "r4": {"order": "o4", "condition": "unused", "listing": "l1", "state": "authorized"},
    },
    "refund_case": {
        "c1": {"order": "o1", "amount": 1800},
        "c2": {"order": "o1", "amount": 10, "state": "denied"},
        "c4": {"order": "o4", "amount": 10},
        "c5": {"order": "o5", "amount": 2000},
        "ruled": {"order": "o5", "amount": 2000, "dispute": "d5"},
    },
    "dispute": {
        "d1": {"order": "o1", "amount": 1400, "position": "accept"},
        "d5": {"order": "o5", "amount": 700, "position": "accept"},
    },
    "ruling": {
        "j1": {"dispute": "d1", "outcome": "upheld", "adjudicator": "judge"},
        "j5": {"dispute": "d5", "outcome": "upheld", "adjudicator": "judge"},
    },
    "evidence_record": {
        "v1": {**RECORD, "subject": "o1"},
        "v2": {**RECORD, "subject": "l1"},
        "my": {**RECORD, "subject": "o1", "readers": ["b1"]},
        "far": {**RECORD, "subject": "l3"},
    },
    "reconciliation": {
        "b4": {"order": "o4", "total": 2000, "paid": 2000, "paid_back": 0, "approved": 0},
    },
}

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by             kind               from > to   fields
    ("order.unknown",        "return.request",   "b1 > m2", "order=o4 listing=l3 quantity=9 evidence=my"),
    ("return.addressee",     "return.request",   "b1 > m2", "order=o2 listing=l3 quantity=9 evidence=my"),
    ("return.order_state",   "return.request",   "b1 > m1", "order=o2 listing=l3 quantity=9 evidence=my"),
    ("return.listing",       "return.request",   "b1 > m1", "order=o1 listing=l3 quantity=9 evidence=my"),
    ("return.quantity",      "return.request",   "b1 > m1", "order=o1 listing=l1 quantity=2 evidence=my"),
    ("return.evidence",      "return.request",   "b1 > m1", "order=o1 listing=l1 quantity=1 evidence=far,my"),
    ("return.relevance",     "return.request",   "b1 > m1", "order=o1 listing=l1 quantity=1 evidence=v1,far"),
    (None,                   "return.request",   "b1 > m1", "order=o1 listing=l1 quantity=1 evidence=v1,v2"),
    ("return.unknown",       "return.authorize", "m2 > b2", "return=r2"),
    ("return.addressee",     "return.authorize", "m1 > b2", "return=r2"),
    ("return.state",         "return.authorize", "m1 > b1", "return=r2"),
    ("return.condition",     "return.authorize", "m1 > b2", "return=r3"),
    (None,                   "return.authorize", "m1 > b1", "return=r1"),
    ("return.unknown",       "return.deny",      "m2 > b2", "return=r2"),
    ("return.addressee",     "return.deny",      "m1",      "return=r2"),
    ("return.state",         "return.deny",      "m1 > b1", "return=r2"),
    (None,                   "return.deny",      "m1 > b2", "return=r3"),
    ("return.unknown",       "return.receive",   "m2 > b2", "return=r2 quantity=2"),
    ("return.addressee",     "return.receive",   "m1 > b2", "return=r2 quantity=2"),
    ("return.state",         "return.receive",   "m1 > b1", "return=r1 quantity=2"),
    ("return.quantity",      "return.receive",   "m1 > b2", "return=r4 quantity=2"),
    (None,                   "return.receive",   "m1 > b2", "return=r4 quantity=1"),
    ("order.unknown",        "refund.open",      "b1 > m2", "order=o4 amount=0 dispute=d5"),
    ("refund.addressee",     "refund.open",      "b1 > m2", "order=o3 amount=0 dispute=d5"),
    ("refund.unpaid",        "refund.open",      "b1 > m1", "order=o3 amount=0 dispute=d5"),
    ("refund.amount",        "refund.open",      "b1 > m1", "order=o1 amount=0 dispute=d5"),
    ("refund.dispute",       "refund.open",      "b1 > m1", "order=o1 amount=1 dispute=d5"),
    (None,                   "refund.open",      "b1 > m1", "order=o1 amount=MUCH dispute=d1"),
    ("refund.unknown",       "refund.approve",   "m2 > b2", "refund_case=c2 amount=0"),
    ("refund.addressee",     "refund.approve",   "m1 > b2", "refund_case=c2 amount=0"),
    ("refund.state",         "refund.approve",   "m1 > b1", "refund_case=c2 amount=0"),
    ("refund.amount",        "refund.approve",   "m1 > b1", "refund_case=c1 amount=0"),
    ("refund.exceeds_claim", "refund.approve",   "m1 > b1", "refund_case=c1 amount=1801"),
    ("refund.exceeds_paid",  "refund.approve",   "m1 > b1", "refund_case=c1 amount=1501"),
    ("refund.ruling",        "refund.approve",   "m1 > b1", "refund_case=ruled amount=701"),
    ("refund.exchanged",     "refund.approve",   "m1 > b1", "refund_case=c5 amount=700"),
    (None,                   "refund.approve",   "m1 > b1", "refund_case=ruled amount=700"),
    ("refund.unknown",       "refund.deny",      "m2 > b2", "refund_case=c2"),
    ("refund.addressee",     "refund.deny",      "m1 > b2", "refund_case=c2"),
    ("refund.state",         "refund.deny",      "m1 > b1", "refund_case=c2"),
    ("refund.ruling",        "refund.deny",      "m1 > b1", "refund_case=ruled"),
    (None,                   "refund.deny",      "m1 > b1", "refund_case=c1"),
    ("order.unknown",        "ledger.reconcile", "m2",      "order=o4"),
    ("reconciliation.again", "ledger.reconcile", "m1",      "order=o4"),
    (None,                   "ledger.reconcile", "m1",      "order=o1"),
]  # fmt: skip


@pytest.fixture
def shop(new_market: Any) -> Any:
    return new_market(ROWS)


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_refusals_in_order_of_checks(shop: Any, rule: str | None, kind: str, way: str, words: str) -> None:
    rest, _, cited = words.partition(" evidence=")
    more = {"evidence": cited.split(",")} if cited else {}
    check_refusal(shop, rule, kind, way, rest, **more)


def test_an_approved_refund_is_put_down_as_it_was_made(shop: Any) -> None:
    shown = shop.see("m1", "refund.approve", "b1", refund_case="c1", amount=1500)
    assert ("refunded", "refunded", 1500) == (
        shown["order"][0]["state"], shown["payment"][0]["state"], shown["refund_case"][0]["approved"],
    )  # fmt: skip
    assert [("refund.approve", 1500, "o1")] == [
        (row["act"], row["amount"], row["order"]) for row in shown["confirmation"]
    ]


@pytest.mark.parametrize(
    ("state", "amount", "after"),
    [
        ("delivered", 500, "refunded"),
        ("delivered", 499, "delivered"),
        ("settled",   500, "settled"),
    ],
)  # fmt: skip
def test_a_delivered_order_is_refunded_once_nothing_is_left(
    new_market: Any, state: str, amount: int, after: str
) -> None:
    market = new_market({**books(state, 500), "refund_case": {"c1": {"order": "o1", "amount": 500}}})
    shown = market.see("m1", "refund.approve", "b1", refund_case="c1", amount=amount)
    assert after == shown["order"][0]["state"]


def test_a_return_names_its_evidence(shop: Any) -> None:
    asked = {"order": "o1", "listing": "l1", "quantity": 1, "condition": "worn", "evidence": ["v2", "v1"]}
    assert ["v2", "v1"] == shop.see("b1", "return.request", "m1", **asked)["return"][0]["evidence"]
    shop.see("b1", "refund.open", "m1", order="o1", amount=1)
    asked["evidence"] = ["v1", "v1"]
    shop.see("m1", "return.deny", "b1", return_="r1")
    assert "return.evidence" == shop.say("b1", "return.request", "m1", **asked).rule


@pytest.mark.parametrize(
    ("condition", "listing", "kept", "restocked"),
    [
        ("unused", "l1", 3, 1),
        ("worn",   "l1", 3, 0),
        ("unused", None, 3, 0),
        ("unused", "l1", 0, 0),
    ],
)  # fmt: skip
def test_goods_are_available_again_by_the_condition_found(
    new_market: Any, condition: str, listing: str | None, kept: int, restocked: int
) -> None:
    rows = copy.deepcopy(ROWS)
    rows["return"]["r4"]["listing"] = listing
    if not kept:
        rows["inventory"] = {}
    market = new_market(rows)
    market.see("m1", "return.receive", "b2", return_="r4", condition=condition, quantity=1)
    if kept:
        row = market.row("inventory", "l1")
        assert (3 + restocked, 3 + restocked, 0) == (row.on_hand, row.available, row.reserved)


def test_without_a_word_of_it_nothing_is_restocked(new_market: Any) -> None:
    rows = {**ROWS, "policy": {}}
    market = new_market(rows)
    market.see("m1", "return.receive", "b2", return_="r4", condition="unused", quantity=1)
    assert 3 == market.row("inventory", "l1").on_hand


def books(state: str, paid: int, back: int = 0, *, approved: int = 0) -> StartRows:
    """An order of 500 with so much paid, paid back, and approved in a refund case."""
    line = {"listing": "l1", "quantity": 1, "unit_price": 500}
    rows: StartRows = {
        "listing": {"l1": {"merchant": "m1", "title": "lamp", "price": 500}},
        "inventory": {"l1": {"available": 1}},
        "order": {"o1": {"buyer": "b1", "merchant": "m1", "state": state, "lines": [line]}},
        "payment": {"p1": {"order": "o1", "captured": paid, "refunded": back}},
    }
    if approved:
        rows["refund_case"] = {"c1": {"order": "o1", "amount": approved, "state": "approved"}}
    return rows


BACK = {"return": {"r1": {"order": "o1", "condition": "unused", "state": "received", "received_quantity": 1}}}
OUT = {"exchange": {"x1": {"order": "o1", "returned": "r1", "listing": "l1"}}}
RULED = {
    "dispute": {"d1": {"order": "o1", "amount": 300, "position": "accept"}},
    "ruling": {"j1": {"dispute": "d1", "outcome": "upheld", "adjudicator": "judge"}},
}
PAID_RULING = {"refund_case": {"c1": {"order": "o1", "amount": 300, "state": "approved", "dispute": "d1"}}}
CANCELLED = {"confirmation": {"k1": {"order": "o1", "act": "order.cancel", "amount": 500}}}
LOST = {"confirmation": {"k1": {"order": "o1", "act": "shipment.refund", "amount": 100}}}
PAID = {"confirmation": {"k1": {"order": "o1", "act": "agreement.settle", "amount": 500}}}


@pytest.mark.parametrize(
    ("rows", "more", "found"),
    [
        (books("delivered", 500), {}, []),
        (books("delivered", 500, 100, approved=100), {}, []),
        (books("backordered", 200), {}, []),
        (books("delivered", 499), {}, ["underpaid"]),
        (books("delivered", 501), {}, ["overpaid"]),
        (books("delivered", 500, approved=100), {}, ["refund_missing"]),
        (books("delivered", 500, 100), {}, ["refund_unfounded"]),
        (books("delivered", 500, 100), PAID, ["refund_unfounded"]),
        (books("delivered", 500, 100), LOST, []),
        (books("delivered", 400, 500 - 100), LOST, ["underpaid"]),
        (books("cancelled", 500), {}, ["cancelled_unpaid"]),
        (books("cancelled", 500, 500), CANCELLED, []),
        (books("cancelled", 500, 500), {}, []),
        (books("returned", 500), BACK, ["returned_unpaid"]),
        (books("returned", 500), {**BACK, **OUT}, []),
        (books("returned", 500, 1, approved=1), BACK, []),
        (books("delivered", 500), RULED, ["award_unpaid"]),
        (books("delivered", 500, 300), {**RULED, **PAID_RULING}, []),
        (books("refunded", 500, 500, approved=500), RULED, []),
        (books("returned", 501, 0, approved=7), {**BACK, **RULED},
         ["overpaid", "refund_missing", "returned_unpaid", "award_unpaid"]),
    ],
)  # fmt: skip
def test_a_reconciliation_says_what_doesnt_fit(
    new_market: Any, rows: StartRows, more: StartRows, found: list[str]
) -> None:
    market = new_market({**rows, **more})
    made = market.see("m1", "ledger.reconcile", order="o1")["reconciliation"][0]
    assert found == made["discrepancies"]
    assert (made["id"],) == market.row("order", "o1").reconciliations


def test_a_reconciliation_holds_the_sums(new_market: Any) -> None:
    market = new_market(books("delivered", 500, 120, approved=120))
    market.say("operator", "clock.advance", ticks=4)
    made = market.see("m1", "ledger.reconcile", order="o1")["reconciliation"][0]
    names = ("buyer", "merchant", "total", "paid", "paid_back", "approved", "currency", "tick")
    assert ("b1", "m1", 500, 500, 120, 120, "EUR", 4) == tuple(made[name] for name in names)


def test_an_order_is_reconciled_again_once_something_is_otherwise(new_market: Any) -> None:
    market = new_market(books("delivered", 500))
    market.see("m1", "ledger.reconcile", order="o1")
    market.say("operator", "clock.advance")
    assert "reconciliation.again" == market.say("m1", "ledger.reconcile", order="o1").rule
    case = market.say("b1", "refund.open", "m1", order="o1", amount=5).events[0].refund_case
    assert "reconciliation.again" == market.say("m1", "ledger.reconcile", order="o1").rule
    market.see("m1", "refund.approve", "b1", refund_case=case, amount=5)
    again = market.see("m1", "ledger.reconcile", order="o1")["reconciliation"][0]
    assert (5, 5, []) == (again["paid_back"], again["approved"], again["discrepancies"])


@pytest.mark.parametrize(
    ("table", "columns", "problem"),
    [
        ("reconciliation", {"buyer": "b2"}, "says buyer `b2`, and its order `b1`"),
        ("reconciliation", {"currency": "SEK"}, "says currency `SEK`, and its order `EUR`"),
    ],
)
def test_a_reconciliation_is_of_its_orders_parties(
    new_market: Any, table: str, columns: dict[str, Any], problem: str
) -> None:
    rows = books("delivered", 500)
    rows[table] = {"b1": {"order": "o1", "total": 1, "paid": 1, "paid_back": 0, "approved": 0, **columns}}
    with pytest.raises(WorldError, match=problem):
        new_market(rows)

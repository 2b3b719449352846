"""Other goods instead of those that come back: refusals in order, the stock, the order, and who sees it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from refusal_tables import check_refusal

from tollbook.protocol.errors import WorldError
from tollbook.protocol.world import StartRows, kind_of

LINES = [{"listing": "red", "quantity": 3, "unit_price": 100}]
ORDER = {"buyer": "b1", "merchant": "m1", "state": "delivered", "lines": LINES}
RETURN = {"order": "o1", "listing": "red", "condition": "unused", "quantity": 2}


def exchange(returned: str, **columns: Any) -> dict[str, Any]:
    return {"order": columns.pop("order", "o1"), "returned": returned, "listing": "blue", **columns}


ROWS: StartRows = {
    "listing": {
        "red": {"merchant": "m1", "title": "red shoe", "price": 110},
        "blue": {"merchant": "m1", "title": "blue shoe", "price": 120},
        "old": {"merchant": "m1", "title": "old shoe", "price": 1, "state": "withdrawn"},
        "far": {"merchant": "m2", "title": "far shoe", "price": 1},
        "crown": {"merchant": "m1", "title": "shoe", "price": 1, "currency": "SEK"},
        "none": {"merchant": "m1", "title": "shoe without stock", "price": 1},
        "scarce": {"merchant": "m1", "title": "last shoe", "price": 1},
    },
    "inventory": {"red": {"available": 0}, "blue": {"available": 5}, "scarce": {"available": 1}},
    "order": {
        "o1": ORDER,
        "o2": {**ORDER, "buyer": "b2"},
        "gone": {**ORDER, "state": "refunded"},
        "part": ORDER,
    },
    "payment": {"p1": {"order": "o1", "captured": 300}, "p2": {"order": "part", "captured": 300}},
    "return": {
        "asked": RETURN,
        "no": {**RETURN, "state": "denied"},
        "late": {**RETURN, "order": "gone", "state": "received", "received_quantity": 2},
        "has": {**RETURN, "quantity": 1},
        "back": {**RETURN, "order": "part", "state": "received", "received_quantity": 1},
        "sent": {**RETURN, "order": "part", "quantity": 1, "state": "authorized"},
        "foreign": {**RETURN, "order": "o2"},
    },
    "exchange": {
        "x1": exchange("has", state="requested"),
        "x2": exchange("no", state="denied"),
        "xg": exchange("late", order="gone", state="requested"),
        "ag": exchange("late2", order="gone", state="authorized"),
        "xs": exchange("sent", order="part", state="authorized"),
        "xf": exchange("foreign", order="o2"),
        "xn": exchange("asked2", listing="none", order="part"),
        "xc": exchange("asked3", listing="scarce", order="part"),
    },
}
for key in ("asked2", "asked3"):
    ROWS["return"][key] = {**RETURN, "order": "part", "state": "authorized"}
ROWS["return"]["late2"] = {**RETURN, "order": "gone", "state": "received", "received_quantity": 1}

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by              kind                  from > to     fields
    ("listing.unknown",       "exchange.request",   "b1 > m2",  "return=foreign listing=l9"),
    ("listing.withdrawn",     "exchange.request",   "b1 > m2",  "return=foreign listing=old"),
    ("return.unknown",        "exchange.request",   "b1 > m2",  "return=foreign listing=far"),
    ("exchange.addressee",    "exchange.request",   "b1 > m2",  "return=no listing=far"),
    ("exchange.return_state", "exchange.request",   "b1 > m1",  "return=no listing=far"),
    ("exchange.order_state",  "exchange.request",   "b1 > m1",  "return=late listing=far"),
    ("exchange.again",        "exchange.request",   "b1 > m1",  "return=has listing=far"),
    ("exchange.listing",      "exchange.request",   "b1 > m1",  "return=asked listing=far"),
    (None,                    "exchange.request",   "b1 > m1",  "return=asked listing=blue"),
    ("exchange.unknown",      "exchange.authorize", "m2 > b2",  "exchange=x2"),
    ("exchange.addressee",    "exchange.authorize", "m1 > b2",  "exchange=x2"),
    ("exchange.state",        "exchange.authorize", "m1 > b1",  "exchange=x2"),
    ("exchange.return_state", "exchange.authorize", "m1 > b1",  "exchange=x1"),
    ("exchange.order_state",  "exchange.authorize", "m1 > b1",  "exchange=xg"),
    ("stock.short",           "exchange.authorize", "m1 > b1",  "exchange=xn"),
    (None,                    "exchange.authorize", "m1 > b1",  "exchange=ok"),
    ("exchange.unknown",      "exchange.deny",      "m2 > b2",  "exchange=x2"),
    ("exchange.addressee",    "exchange.deny",      "m1",       "exchange=x2"),
    ("exchange.state",        "exchange.deny",      "m1 > b1",  "exchange=x2"),
    (None,                    "exchange.deny",      "m1 > b1",  "exchange=xg"),
    ("exchange.unknown",      "exchange.complete",  "m2 > b2",  "exchange=x2"),
    ("exchange.addressee",    "exchange.complete",  "m1 > b2",  "exchange=x2"),
    ("exchange.state",        "exchange.complete",  "m1 > b1",  "exchange=x1"),
    ("exchange.return_state", "exchange.complete",  "m1 > b1",  "exchange=xs"),
    ("exchange.order_state",  "exchange.complete",  "m1 > b1",  "exchange=ag"),
    (None,                    "exchange.complete",  "m1 > b1",  "exchange=done"),
]  # fmt: skip
ROWS["return"]["rok"] = {**RETURN, "order": "part", "state": "authorized", "quantity": 1}
ROWS["return"]["rdone"] = {**RETURN, "order": "part", "state": "received", "received_quantity": 1}
ROWS["exchange"]["ok"] = exchange("rok", order="part")
ROWS["exchange"]["done"] = exchange("rdone", order="part", state="authorized")


@pytest.fixture
def shop(new_market: Any) -> Any:
    return new_market(ROWS)


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_refusals_in_order_of_checks(shop: Any, rule: str | None, kind: str, way: str, words: str) -> None:
    check_refusal(shop, rule, kind, way, words)


def test_a_replacement_is_of_the_merchant_and_in_the_orders_currency(shop: Any) -> None:
    decision = shop.say("b1", "exchange.request", "m1", return_="asked", listing="crown")
    assert "exchange.listing" == decision.rule


def test_scarce_goods_are_not_promised(shop: Any) -> None:
    decision = shop.say("m1", "exchange.authorize", "b1", exchange="xc")
    assert ("stock.short", {"listing": "scarce", "quantity": 2}) == (decision.rule, decision.detail)


def test_the_last_units_can_be_promised(new_market: Any) -> None:
    rows = copy.deepcopy(ROWS)
    rows["inventory"]["scarce"]["available"] = 2
    market = new_market(rows)
    assert market.say("m1", "exchange.authorize", "b1", exchange="xc").rule is None
    assert 0 == market.row("inventory", "scarce").available


def test_what_was_replaced_whole_may_be_a_start_row(new_market: Any) -> None:
    rows = copy.deepcopy(ROWS)
    rows["exchange"]["done"] |= {"state": "completed", "replaced": 2}
    assert 2 == new_market(rows).row("exchange", "done").replaced


def one_return(new_market: Any, *, received: int | None, ordered: int = 2) -> tuple[Any, str]:
    """A shop in which b1 asked for 2 blue ones for 2 red ones of an order, of which some are in."""
    state = {} if received is None else {"state": "received", "received_quantity": received}
    rows = {
        "listing": {key: ROWS["listing"][key] for key in ("red", "blue")},
        "inventory": {"blue": {"available": 5}},
        "order": {"o1": {**ORDER, "lines": [{**LINES[0], "quantity": ordered}]}},
        "payment": {"p1": {"order": "o1", "captured": 100 * ordered}},
        "return": {"r1": {**RETURN, **state}},
    }
    market = new_market(rows)
    asked = market.see("b1", "exchange.request", "m1", return_="r1", listing="blue")["exchange"][0]
    return market, asked["id"]


def stock(market: Any) -> tuple[int, int, int]:
    row = market.row("inventory", "blue")
    return row.on_hand, row.available, row.reserved


def test_an_exchange_replaces_a_return_unit_for_unit_and_moves_no_money(new_market: Any) -> None:
    market, key = one_return(new_market, received=None)
    balance = market.row("account", "buyer:b1")
    market.see("m1", "return.authorize", "b1", return_="r1")
    market.see("m1", "exchange.authorize", "b1", exchange=key)
    assert (5, 3, 2) == stock(market)
    market.see("m1", "return.receive", "b1", return_="r1", condition="unused", quantity=2)
    ruling = market.rule("m1", "exchange.complete", "b1", exchange=key)
    kinds = [kind_of(type(event)) for event in ruling.decision.events]
    assert ["exchange.completed", "stock.sold", "order.exchanged", "confirmation.made"] == kinds
    shown = ruling.shown.value
    assert (3, 3, 0) == stock(market)
    assert ("completed", 2, "exchanged") == (
        shown["exchange"][0]["state"], shown["exchange"][0]["replaced"], shown["order"][0]["state"],
    )  # fmt: skip
    assert [("exchange.complete", 0)] == [(row["act"], row["amount"]) for row in shown["confirmation"]]
    assert balance == market.row("account", "buyer:b1")
    claim = market.say("b1", "refund.open", "m1", order="o1", amount=200).events[0]
    refused = market.say("m1", "refund.approve", "b1", refund_case=claim.refund_case, amount=200)
    assert "refund.exchanged" == refused.rule


def test_as_many_units_go_out_as_came_back(new_market: Any) -> None:
    market, key = one_return(new_market, received=None, ordered=3)
    market.see("m1", "return.authorize", "b1", return_="r1")
    market.see("m1", "exchange.authorize", "b1", exchange=key)
    market.see("m1", "return.receive", "b1", return_="r1", condition="unused", quantity=1)
    shown = market.see("m1", "exchange.complete", "b1", exchange=key)
    assert (4, 4, 0) == stock(market)
    assert (1, "delivered") == (shown["exchange"][0]["replaced"], shown["order"][0]["state"])


def test_what_came_in_already_is_what_is_asked_for(new_market: Any) -> None:
    market, key = one_return(new_market, received=1)
    assert 1 == market.row("exchange", key).quantity


def test_an_exchange_called_off_lets_its_units_go(new_market: Any) -> None:
    market, key = one_return(new_market, received=2)
    market.see("m1", "exchange.authorize", "b1", exchange=key)
    assert "denied" == market.see("m1", "exchange.deny", "b1", exchange=key)["exchange"][0]["state"]
    assert (5, 5, 0) == stock(market)
    assert market.say("b1", "exchange.request", "m1", return_="r1", listing="blue").rule is None


def test_an_exchange_denied_before_it_was_authorized_touches_no_stock(new_market: Any) -> None:
    market, key = one_return(new_market, received=2)
    assert ["exchange.denied"] == [
        kind_of(type(event)) for event in market.say("m1", "exchange.deny", "b1", exchange=key).events
    ]


def test_an_order_shows_its_exchanges_to_its_parties_alone(shop: Any) -> None:
    shown = {row["id"] for row in shop.see("b1", "order.get", order="o1")["exchange"]}
    assert {"x1", "x2"} == shown
    assert "order.unknown" == shop.say("b2", "order.get", order="o1").rule


@pytest.mark.parametrize(
    ("table", "key", "columns", "problem"),
    [
        ("exchange", "x1", {"quantity": 2}, "is for more units than return `has`"),
        ("exchange", "x1", {"listing": "far"}, "gives `far`, which is another's or in another currency"),
        ("exchange", "x1", {"order": "part"}, "is of return `has`, which is of another order"),
        ("exchange", "x1", {"state": "authorized"}, "is `authorized`, and return `has` is `requested`"),
        ("exchange", "x1", {"state": "completed"}, "units go out when it is `completed`"),
        ("exchange", "x1", {"replaced": 1}, "units go out when it is `completed`"),
        ("exchange", "done", {"state": "completed", "replaced": 3}, "replaces more units than"),
        ("exchange", "xs", {"returned": "rok"}, "is of a return that `xs` is of"),
        ("inventory", "blue", {"reserved": 4}, "has units that no stock of `blue` reserves"),
    ],
)  # fmt: skip
def test_start_rows_that_dont_agree_are_refused(
    new_market: Any, table: str, key: str, columns: dict[str, Any], problem: str
) -> None:
    rows = copy.deepcopy(ROWS)
    rows[table][key].update(columns)
    with pytest.raises(WorldError, match=problem):
        new_market(rows)


def test_start_rows_are_filled_in(shop: Any) -> None:
    row = shop.row("exchange", "ok")
    assert ("b1", "m1", 1, "requested") == (row.buyer, row.merchant, row.quantity, row.state)
    assert 5 == shop.row("inventory", "blue").reserved
    assert {"xs", "xn", "xc", "ok", "done"} == set(shop.row("order", "part").exchanges)

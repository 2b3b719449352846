"""Settling in part, holds, cancelling, packing, shipments: what is refused when, and what is made."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest

from tests.support.refusal_tables import check_refusal
from tollbook.protocol.bodies import WorldRef
from tollbook.protocol.commerce.orders import Line, filled, paid_state
from tollbook.protocol.errors import WorldError
from tollbook.protocol.world import StartRows, made_fields, world_of


def line(listing: str, quantity: int, unit_price: int, **more: int) -> dict[str, Any]:
    return {"listing": listing, "quantity": quantity, "unit_price": unit_price, **more}


def order(state: str, *lines: dict[str, Any], buyer: str = "b1", merchant: str = "m1") -> dict[str, Any]:
    return {"buyer": buyer, "merchant": merchant, "state": state, "lines": list(lines)}


LAMPS = line("l1", 2, 1000)
AGREED = {"listing": "l1", "buyer": "b1", "unit_price": 1000}

ROWS: StartRows = {
    "clock": {"now": {"tick": 5}},
    "policy": {
        "fulfilment": {
            "deadline_ticks": 4,
            "remedies": {"delayed": ["wait"], "missing_scan": ["wait"], "lost": ["replace", "refund"]},
        }
    },
    "listing": {
        "l1": {"merchant": "m1", "title": "lamp", "price": 1000},
        "l2": {"merchant": "m1", "title": "cup", "price": 500},
        "l3": {"merchant": "m2", "title": "rug", "price": 9000},
        "old": {"merchant": "m1", "title": "jug", "price": 5, "state": "withdrawn"},
        "unkept": {"merchant": "m1", "title": "ode", "price": 5},
        "full": {"merchant": "m1", "title": "tin", "price": 500},
    },
    "inventory": {
        "l1": {"available": 3}, "l2": {"available": 0}, "l3": {"available": 5}, "full": {"available": 2},
    },
    "supply_state": {"l2": {"incoming": 4, "eta": 9}},
    "supply_authority": {
        "now": {"listing": "l1", "holder": "operator"},
        "past": {"listing": "l1", "holder": "operator", "expires": 4},
        "cups": {"listing": "l2", "holder": "operator"},
        "delegate": {"listing": "l1", "holder": "m2", "expires": 5},
    },
    "agreement": {
        "a1": {**AGREED, "quantity": 4, "short": 3},
        "more": {**AGREED, "quantity": 6, "short": 5, "expires": 5},
        "late": {**AGREED, "quantity": 6, "short": 5, "expires": 4},
        "gone": {**AGREED, "quantity": 2, "state": "expired", "expires": 4},
        "other": {**AGREED, "quantity": 1, "buyer": "b2"},
    },
    "order": {
        "held": order("accepted", LAMPS),
        "early": order("accepted", line("l2", 3, 500, short=3)),
        "asked": order("proposed", LAMPS),
        "kept_elsewhere": order("settled", line("unkept", 1, 5)),
        "plain": order("settled", LAMPS),
        "begun": order("settled", LAMPS),
        "packed": order("settled", LAMPS),
        "sent": order("dispatched", LAMPS),
        "unpaid": order("dispatched", LAMPS),
        "waits": order("backordered", line("l2", 3, 500)),
        "partly": order("partially_settled", line("full", 4, 500, short=3)),
        "other": order("dispatched", LAMPS, buyer="b2"),
        "theirs": order("backordered", line("l3", 1, 9000), merchant="m2"),
    },
    "payment": {
        "held": {"order": "held", "authorized": 2000},
        "plain": {"order": "plain", "captured": 2000},
        "packed": {"order": "packed", "captured": 2000, "refunded": 300},
        "sent": {"order": "sent", "captured": 2000},
        "waits": {"order": "waits", "authorized": 1500},
        "early": {"order": "early", "authorized": 1500},
        "first": {"order": "partly", "captured": 500},
        "rest": {"order": "partly", "authorized": 1500},
    },
    "packing": {"w1": {"order": "begun"}, "w2": {"order": "packed", "state": "packed"}},
    "shipment": {
        "way": {"order": "sent"},
        "slow": {"order": "sent", "state": "delayed"},
        "lost": {"order": "sent", "state": "lost"},
        "mended": {"order": "sent", "state": "lost", "remedy": "replace"},
        "free": {"order": "unpaid", "state": "lost"},
        "other": {"order": "other", "state": "lost"},
    },
}  # fmt: skip
"""A market at tick 5 with orders, packings and shipments in every state that a rule looks at."""

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by             kind                   from > to         fields
    ("agreement.unknown",    "agreement.settle",    "b1 > m2",        "agreement=other"),
    ("agreement.addressee",  "agreement.settle",    "b1 > m2",        "agreement=gone"),
    ("agreement.state",      "agreement.settle",    "b1 > m1",        "agreement=gone"),
    ("agreement.expired",    "agreement.settle",    "b1 > m1",        "agreement=late"),
    ("stock.short",          "agreement.settle",    "b1 > m1",        "agreement=more"),
    (None,                   "agreement.settle",    "b1 > m1",        "agreement=a1"),
    ("order.unknown",        "payment.capture",     "operator > m2",  "order=none"),
    ("order.addressee",      "payment.capture",     "operator > m2",  "order=plain"),
    ("order.state",          "payment.capture",     "operator > m1",  "order=plain"),
    (None,                   "payment.capture",     "operator > b1",  "order=held"),
    ("order.unknown",        "order.cancel",        "b1 > m2",        "order=other"),
    ("order.addressee",      "order.cancel",        "b1 > m2",        "order=sent"),
    ("order.state",          "order.cancel",        "m1 > b1",        "order=sent"),
    (None,                   "order.cancel",        "m1 > b1",        "order=begun"),
    ("order.unknown",        "packing.history",     "b1",             "order=other"),
    (None,                   "packing.history",     "b1",             "order=packed"),
    ("order.unknown",        "packing.create",      "operator > m2",  "order=none"),
    ("order.addressee",      "packing.create",      "operator > m2",  "order=sent"),
    ("order.state",          "packing.create",      "operator > m1",  "order=sent"),
    ("packing.begun",        "packing.create",      "operator > m1",  "order=begun"),
    (None,                   "packing.create",      "operator > m1",  "order=plain"),
    ("packing.unknown",      "packing.advance",     "operator > m2",  "packing=none"),
    ("packing.addressee",    "packing.advance",     "operator > m2",  "packing=w2"),
    ("packing.state",        "packing.advance",     "operator > m1",  "packing=w2"),
    (None,                   "packing.advance",     "operator > b1",  "packing=w1"),
    ("order.unknown",        "order.dispatch",      "m1 > m2",        "order=theirs"),
    ("order.addressee",      "order.dispatch",      "m1 > b2",        "order=held"),
    ("order.state",          "order.dispatch",      "m1 > b1",        "order=partly"),
    ("packing.state",        "order.dispatch",      "m1 > b1",        "order=begun"),
    (None,                   "order.dispatch",      "m1 > b1",        "order=plain"),
    ("shipment.unknown",     "shipment.get",        "b1",             "shipment=other"),
    (None,                   "shipment.get",        "m1",             "shipment=other"),
    ("shipment.unknown",     "shipment.scan",       "operator > m2",  "shipment=none state=in_transit"),
    ("shipment.addressee",   "shipment.scan",       "operator > m2",  "shipment=way state=lost"),
    ("shipment.state",       "shipment.scan",       "operator > m1",  "shipment=way state=lost"),
    (None,                   "shipment.scan",       "operator > b1",  "shipment=way state=delayed"),
    ("shipment.unknown",     "shipment.wait",       "b1 > m2",        "shipment=other"),
    ("shipment.addressee",   "shipment.wait",       "b1 > m2",        "shipment=mended"),
    ("shipment.state",       "shipment.wait",       "b1 > m1",        "shipment=mended"),
    ("shipment.remedy",      "shipment.wait",       "b1 > m1",        "shipment=lost"),
    (None,                   "shipment.wait",       "m1 > b1",        "shipment=slow"),
    ("listing.unknown",      "shipment.replace",    "b1 > m2",        "shipment=other listing=none"),
    ("listing.withdrawn",    "shipment.replace",    "b1 > m2",        "shipment=other listing=old"),
    ("shipment.unknown",     "shipment.replace",    "b1 > m2",        "shipment=other listing=l3"),
    ("shipment.addressee",   "shipment.replace",    "b1 > m2",        "shipment=way listing=l3"),
    ("shipment.state",       "shipment.replace",    "b1 > m1",        "shipment=way listing=l3"),
    ("shipment.remedy",      "shipment.replace",    "b1 > m1",        "shipment=slow listing=l3"),
    ("shipment.listing",     "shipment.replace",    "b1 > m1",        "shipment=lost listing=l3"),
    ("stock.short",          "shipment.replace",    "b1 > m1",        "shipment=lost listing=l2"),
    (None,                   "shipment.replace",    "b1 > m1",        "shipment=lost listing=l1"),
    ("shipment.unknown",     "shipment.refund",     "b2 > m2",        "shipment=free"),
    ("shipment.addressee",   "shipment.refund",     "b1 > m2",        "shipment=way"),
    ("shipment.state",       "shipment.refund",     "b1 > m1",        "shipment=way"),
    ("shipment.remedy",      "shipment.refund",     "b1 > m1",        "shipment=slow"),
    ("shipment.unpaid",      "shipment.refund",     "b1 > m1",        "shipment=free"),
    (None,                   "shipment.refund",     "b1 > m1",        "shipment=lost"),
    ("listing.unknown",      "supply.get",          "b1",             "listing=none"),
    ("stock.unknown",        "supply.get",          "b1",             "listing=unkept"),
    (None,                   "supply.get",          "b2",             "listing=l1"),
    ("listing.unknown",      "supply.update",       "m2",             "listing=none incoming=1"),
    ("stock.unknown",        "supply.update",       "m2",             "listing=unkept incoming=1"),
    ("supply.authority",     "supply.update",       "operator",       "listing=l1 incoming=1 authority=cups"),
    ("supply.expired",       "supply.update",       "operator",       "listing=l1 incoming=1 authority=past"),
    ("supply.eta",           "supply.update",       "operator",       "listing=l1 incoming=1 authority=now"),
    (None,                   "supply.update",       "operator",       "listing=l1 authority=now"),
    ("listing.unknown",      "fulfilment.allocate", "m1",             "listing=none orders=theirs,theirs"),
    ("stock.unknown",        "fulfilment.allocate", "m1",             "listing=unkept orders=theirs,theirs"),
    ("order.unknown",        "fulfilment.allocate", "m1",             "listing=l3 orders=theirs,theirs"),
    ("fulfilment.listing",   "fulfilment.allocate", "m1",             "listing=l3 orders=plain,plain"),
    ("fulfilment.twice",     "fulfilment.allocate", "m1",             "listing=l2 orders=plain,plain"),
    ("fulfilment.order",     "fulfilment.allocate", "m1",             "listing=l2 orders=waits,early"),
    ("stock.short",          "fulfilment.allocate", "m1",             "listing=l2 orders=waits"),
    (None,                   "fulfilment.allocate", "m1",             "listing=full orders=partly"),
]  # fmt: skip


@pytest.fixture
def shop(new_market: Any) -> Any:
    return new_market(ROWS)


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_a_refusal_comes_in_its_order_and_changes_nothing(
    shop: Any, rule: str | None, kind: str, way: str, words: str
) -> None:
    simple, _, orders = words.partition(" orders=")
    more = {"orders": orders.split(",")} if orders else {}
    check_refusal(shop, rule, kind, way, simple, **more)


@pytest.mark.parametrize(
    ("way",       "kind",                "key",      "absent"),
    [
        ("b1",      "packing.history",     "other",    "none"),
        ("m2",      "packing.history",     "packed",   "none"),
        ("operator", "packing.history",    "packed",   "none"),
        ("b1",      "shipment.get",        "other",    "none"),
        ("m2",      "shipment.get",        "way",      "none"),
        ("operator", "shipment.get",       "way",      "none"),
        ("b2 > m1", "order.cancel",        "plain",    "none"),
        ("m2 > b1", "order.dispatch",      "plain",    "none"),
        ("b2 > m1", "shipment.wait",       "slow",     "none"),
        ("m2 > b1", "shipment.refund",     "lost",     "none"),
        ("b2 > m1", "agreement.settle",    "a1",       "none"),
    ],
)  # fmt: skip
def test_a_party_cant_tell_a_foreign_row_from_one_that_is_not_there(
    shop: Any, way: str, kind: str, key: str, absent: str
) -> None:
    field = {"order.cancel": "order", "order.dispatch": "order", "packing.history": "order"}.get(
        kind, kind.partition(".")[0]
    )
    sender, _, to = way.partition(" > ")
    foreign = shop.say(sender, kind, to or None, **{field: key})
    unknown = shop.say(sender, kind, to or None, **{field: absent})
    assert unknown.rule == foreign.rule
    assert unknown.rule is not None
    assert ({field: key}, {field: absent}) == (foreign.detail, unknown.detail)


def test_a_foreign_order_cant_be_told_from_none_in_an_allocation(shop: Any) -> None:
    for key in ("theirs", "none"):
        tried = shop.say("m1", "fulfilment.allocate", listing="full", orders=["partly", key])
        assert ("order.unknown", {"order": key}) == (tried.rule, tried.detail)


def test_some_acts_are_not_for_every_role(shop: Any) -> None:
    roles = shop.world.roles
    for kind in ("payment.capture", "packing.create", "packing.advance", "shipment.scan"):
        assert {"operator"} == roles[kind]
    assert {"merchant"} == roles["order.dispatch"] == roles["fulfilment.allocate"]
    assert {"merchant", "operator"} == roles["supply.update"]
    assert {"buyer", "merchant"} == roles["order.cancel"] == roles["shipment.replace"]


def test_events_name_the_rows_they_make(shop: Any) -> None:
    made = {name: made_fields(kind) for name, kind in shop.world.event_kinds.items()}
    for event, table in {
        "confirmation.made": "confirmation",
        "order.partially_settled": "order",
        "order.backordered": "order",
        "order.accepted": "order",
        "payment.authorized": "payment",
        "packing.created": "packing",
        "shipment.sent": "shipment",
    }.items():
        assert (table,) == made[event]


def stock(shop: Any, listing: str) -> tuple[int, int, int]:
    row = shop.row("inventory", listing)
    return row.on_hand, row.available, row.reserved


def payments(shop: Any, order: str) -> list[tuple[str, int, int, int]]:
    rows = [shop.row("payment", key) for key in shop.row("order", order).payments]
    return [(row.state, row.authorized, row.captured, row.refunded) for row in rows]


def balance(shop: Any, party: str) -> int:
    return sum(row["balances"]["EUR"] for row in shop.see(party, "balance.get")["account"])


def test_what_isnt_there_rolls_the_whole_settlement_back(shop: Any) -> None:
    root = shop.state.root()
    tried = shop.say("b1", "agreement.settle", "m1", agreement="more")
    assert ("stock.short", [], root) == (tried.rule, tried.events, shop.state.root())


def test_a_part_is_settled_and_the_rest_waits_until_it_is_allocated(shop: Any) -> None:
    before = balance(shop, "m1")
    settled = shop.see("b1", "agreement.settle", "m1", agreement="more", allow_partial=True)
    key = settled["order"][0]["id"]
    assert ("partially_settled", [2]) == (
        settled["order"][0]["state"], [row["short"] for row in settled["order"][0]["lines"]]
    )  # fmt: skip
    assert [("captured", 0, 4000, 0), ("authorized", 2000, 0, 0)] == payments(shop, key)
    assert ["agreement.settle", 6000] == [settled["confirmation"][0][name] for name in ("act", "amount")]
    assert (before + 4000, (5, 0, 5)) == (balance(shop, "m1"), stock(shop, "l1"))
    shop.see("m1", "supply.update", listing="l1", available=1)
    shop.see("m1", "fulfilment.allocate", listing="l1", orders=[key])
    assert ("partially_settled", 1) == (shop.row("order", key).state, shop.row("order", key).lines[0].short)
    assert ("captured", 2000, 1000, 0) == payments(shop, key)[1]
    assert ("authorized", 1000, 0, 0) == payments(shop, key)[2]
    shop.see("m1", "supply.update", listing="l1", available=4)
    shop.see("m1", "fulfilment.allocate", listing="l1", orders=[key])
    assert ("settled", (8, 3, 5)) == (shop.row("order", key).state, stock(shop, "l1"))
    assert before + 6000 == balance(shop, "m1")
    acts = [shop.row("confirmation", each).act for each in shop.row("order", key).confirmations]
    assert ["agreement.settle", "fulfilment.allocate", "fulfilment.allocate"] == acts


def test_where_nothing_is_there_all_is_held(shop: Any) -> None:
    shop.see("m1", "supply.update", listing="l1", available=0)
    rows = copy.deepcopy(ROWS)
    rows["agreement"]["none"] = {**AGREED, "listing": "l2", "quantity": 3, "short": 3}
    market = type(shop)(rows)
    settled = market.see("b1", "agreement.settle", "m1", agreement="none", allow_partial=True)
    key = settled["order"][0]["id"]
    assert ("backordered", [("authorized", 3000, 0, 0)]) == (
        market.row("order", key).state, payments(market, key)
    )  # fmt: skip
    assert "stock.short" == market.say("m1", "fulfilment.allocate", listing="l2", orders=[key]).rule


def test_units_go_to_orders_as_named_as_far_as_they_last(new_market: Any) -> None:
    rows = copy.deepcopy(ROWS)
    rows["order"]["second"] = order("backordered", line("l2", 3, 400), buyer="b2")
    rows["payment"]["second"] = {"order": "second", "authorized": 1200}
    rows["order"]["third"] = order("backordered", line("l2", 1, 400), buyer="b2")
    rows["inventory"]["l2"] = {"available": 4}
    market = new_market(rows)
    decision = market.say("m1", "fulfilment.allocate", listing="l2", orders=["second", "waits", "third"])
    assert decision.rule is None
    assert ("settled", "partially_settled", "backordered") == tuple(
        market.row("order", key).state for key in ("second", "waits", "third")
    )
    assert [("captured", 1200, 1200, 0)] == payments(market, "second")
    assert [("captured", 1500, 500, 0), ("authorized", 1000, 0, 0)] == payments(market, "waits")
    assert ((0, 0, 0), ()) == (stock(market, "l2"), market.row("order", "third").confirmations)


def held_shop(new_market: Any) -> Any:
    rows = copy.deepcopy(ROWS)
    rows["policy"]["settlement"] = {"holds": True, "deadline_ticks": 2}
    return new_market(rows)


def test_a_sale_may_only_hold_the_money_until_it_is_captured(new_market: Any) -> None:
    shop = held_shop(new_market)
    before, shelf = balance(shop, "m1"), stock(shop, "l1")
    settled = shop.see("b1", "agreement.settle", "m1", agreement="a1")
    key = settled["order"][0]["id"]
    assert ("accepted", [("authorized", 4000, 0, 0)]) == (shop.row("order", key).state, payments(shop, key))
    assert (before, (shelf[0], shelf[1] - 3, shelf[2] + 3)) == (balance(shop, "m1"), stock(shop, "l1"))
    once = shop.say("operator", "payment.capture", "m1", order=key, key="k")
    root = shop.state.root()
    again = shop.say("operator", "payment.capture", "m1", order=key, key="k")
    assert (None, "message.retry", once.result, root) == (
        once.rule, again.rule, again.result, shop.state.root()
    )  # fmt: skip
    assert ("settled", [("captured", 4000, 4000, 0)]) == (shop.row("order", key).state, payments(shop, key))
    assert (before + 4000, shelf[0] - 4) == (balance(shop, "m1"), stock(shop, "l1")[0])
    assert 2 == len(shop.row("order", key).confirmations)


def test_a_held_sale_in_part_pays_for_what_is_there(new_market: Any) -> None:
    shop = held_shop(new_market)
    settled = shop.see("b1", "agreement.settle", "m1", agreement="more", allow_partial=True)
    key = settled["order"][0]["id"]
    shop.say("operator", "payment.capture", "b1", order=key)
    assert "partially_settled" == shop.row("order", key).state
    assert [("captured", 6000, 4000, 0), ("authorized", 2000, 0, 0)] == payments(shop, key)


def test_calling_off_a_held_order_frees_the_money_and_the_units(shop: Any) -> None:
    shelf, before = stock(shop, "l1"), balance(shop, "m1")
    shown = shop.see("b1", "order.cancel", "m1", order="held")
    assert ("cancelled", "voided") == (shown["order"][0]["state"], shown["payment"][0]["state"])
    assert ((shelf[0], shelf[1] + 2, shelf[2] - 2), before) == (stock(shop, "l1"), balance(shop, "m1"))
    assert ["order.cancel", 0] == [shown["confirmation"][0][name] for name in ("act", "amount")]
    assert "order.state" == shop.say("operator", "payment.capture", "m1", order="held").rule


def test_calling_off_a_packed_order_pays_back_what_is_left_and_restocks(shop: Any) -> None:
    shelf, before = stock(shop, "l1"), balance(shop, "m1")
    shown = shop.see("m1", "order.cancel", "b1", order="packed")
    assert ("refunded", 2000) == (shown["payment"][0]["state"], shown["payment"][0]["refunded"])
    assert ["cancelled"] == [row["state"] for row in shown["packing"]]
    assert (before - 1700, 1700) == (balance(shop, "m1"), shown["confirmation"][0]["amount"])
    assert (shelf[0] + 2, shelf[1] + 2, shelf[2]) == stock(shop, "l1")


def test_calling_off_a_part_gives_back_that_part_alone(shop: Any) -> None:
    before = balance(shop, "m1")
    shop.see("b1", "order.cancel", "m1", order="partly")
    assert [("refunded", 0, 500, 500), ("voided", 1500, 0, 0)] == payments(shop, "partly")
    assert (before - 500, (3, 3, 0)) == (balance(shop, "m1"), stock(shop, "full"))


def test_calling_off_what_was_only_proposed_or_has_no_stock_moves_no_units(shop: Any) -> None:
    shelf = stock(shop, "l1")
    for key in ("asked", "kept_elsewhere"):
        assert "cancelled" == shop.see("b1", "order.cancel", "m1", order=key)["order"][0]["state"]
    assert shelf == stock(shop, "l1")


def test_an_order_without_lines_is_one_unit_of_something(new_market: Any) -> None:
    rows = copy.deepcopy(ROWS)
    rows["order"]["bare"] = {"buyer": "b1", "merchant": "m1", "state": "settled", "total": 70}
    rows["payment"]["bare"] = {"order": "bare", "captured": 70}
    shop = new_market(rows)
    key = shop.see("m1", "order.dispatch", "b1", order="bare")["shipment"][0]["id"]
    for state in ("delayed", "missing_scan", "lost"):
        shop.say("operator", "shipment.scan", "b1", shipment=key, state=state)
    new = shop.see("b1", "shipment.replace", "m1", shipment=key, listing="full")["shipment"][1]["id"]
    assert (1, 1, 0) == stock(shop, "full")
    for state in ("delayed", "missing_scan", "lost"):
        shop.say("operator", "shipment.scan", "b1", shipment=new, state=state)
    assert 70 == shop.see("m1", "shipment.refund", "b1", shipment=new)["confirmation"][0]["amount"]
    assert "refunded" == shop.row("order", "bare").state


def test_the_last_units_take_all_that_is_still_held(new_market: Any) -> None:
    rows = copy.deepcopy(ROWS)
    rows["order"]["dear"] = {**order("partially_settled", line("full", 2, 500, short=1)), "charges": 40}
    rows["payment"]["d1"] = {"order": "dear", "captured": 500}
    rows["payment"]["d2"] = {"order": "dear", "authorized": 540}
    shop = new_market(rows)
    shop.see("m1", "fulfilment.allocate", listing="full", orders=["dear"])
    assert ("captured", 540, 540, 0) == payments(shop, "dear")[1]


def test_an_order_says_when_it_was_placed(shop: Any) -> None:
    assert 5 == shop.see("b1", "agreement.settle", "m1", agreement="a1")["order"][0]["placed"]


def test_what_is_found_after_it_was_paid_back_stays_paid_back(shop: Any) -> None:
    found = {"shipment": "slow", "state": "delivered"}
    shop.see("b1", "shipment.replace", "m1", shipment="lost", listing="l1")
    shop.say("operator", "shipment.scan", "b1", shipment="way", state="delivered")
    new = shop.row("order", "sent").shipments[-1]
    for state in ("delayed", "missing_scan", "lost"):
        shop.say("operator", "shipment.scan", "b1", shipment=new, state=state)
    shop.see("b1", "shipment.refund", "m1", shipment=new)
    assert shop.say("operator", "shipment.scan", "b1", **found).rule is None
    assert ("delivered", "refunded") == (shop.row("shipment", "slow").state, shop.row("order", "sent").state)


def test_an_order_is_packed_sent_lost_replaced_and_delivered(shop: Any) -> None:
    made = shop.say("operator", "packing.create", "m1", order="plain")
    key = made.events[0].packing
    assert "packing.state" == shop.say("m1", "order.dispatch", "b1", order="plain").rule
    assert shop.see("operator", "packing.advance", "m1", packing=key) is None
    sent = shop.see("m1", "order.dispatch", "b1", order="plain")
    assert ("dispatched", "handed_off") == (sent["order"][0]["state"], sent["packing"][0]["state"])
    first = sent["shipment"][0]["id"]
    assert ("in_transit", 9, [{"listing": "l1", "quantity": 2}]) == tuple(
        sent["shipment"][0][name] for name in ("state", "eta", "units")
    )
    assert "order.state" == shop.say("m1", "order.cancel", "b1", order="plain").rule
    shop.say("operator", "shipment.scan", "b1", shipment=first, state="delayed", eta=12)
    assert "wait" == shop.see("b1", "shipment.wait", "m1", shipment=first)["shipment"][0]["remedy"]
    for state in ("missing_scan", "lost"):
        shop.say("operator", "shipment.scan", "b1", shipment=first, state=state)
    assert ("lost", 12) == (shop.row("shipment", first).state, shop.row("shipment", first).eta)
    again = shop.see("b1", "shipment.replace", "m1", shipment=first, listing="full")
    old, new = again["shipment"]
    assert ("replace", first, "full", 0) == (
        old["remedy"], new["replaces"], new["instead"], again["confirmation"][0]["amount"]
    )  # fmt: skip
    assert (0, 0, 0) == stock(shop, "full")
    assert "shipment.state" == shop.say("b1", "shipment.refund", "m1", shipment=first).rule
    shop.say("operator", "shipment.scan", "m1", shipment=new["id"], state="delivered")
    assert "delivered" == shop.row("order", "plain").state
    assert shop.say("b1", "return.request", "m1", order="plain", listing="l1", quantity=2, condition="worn")


def test_an_order_is_delivered_when_nothing_of_it_is_on_its_way(shop: Any) -> None:
    shop.say("operator", "shipment.scan", "b1", shipment="way", state="delivered")
    assert "dispatched" == shop.row("order", "sent").state
    shop.see("b1", "shipment.replace", "m1", shipment="lost", listing="l1")
    new = shop.row("order", "sent").shipments[-1]
    shop.say("operator", "shipment.scan", "b1", shipment="slow", state="delivered")
    assert "dispatched" == shop.row("order", "sent").state
    shop.say("operator", "shipment.scan", "b1", shipment=new, state="delivered")
    assert "delivered" == shop.row("order", "sent").state


def test_what_is_lost_is_paid_back_once(shop: Any) -> None:
    before = balance(shop, "b1")
    shown = shop.see("b1", "shipment.refund", "m1", shipment="lost")
    assert ("refunded", "refunded", 2000) == (
        shown["order"][0]["state"], shown["payment"][0]["state"], shown["confirmation"][0]["amount"]
    )  # fmt: skip
    assert before + 2000 == balance(shop, "b1")
    assert "shipment.state" == shop.say("b1", "shipment.refund", "m1", shipment="lost").rule


def test_what_carries_the_whole_order_is_paid_back_with_its_charges(new_market: Any) -> None:
    rows = copy.deepcopy(ROWS)
    rows["order"]["unpaid"] |= {"charges": 70}
    rows["payment"]["unpaid"] = {"order": "unpaid", "captured": 2070}
    shop = new_market(rows)
    shown = shop.see("b1", "shipment.refund", "m1", shipment="free")
    assert (2070, "refunded") == (shown["confirmation"][0]["amount"], shown["order"][0]["state"])


def test_a_part_of_an_order_that_is_lost_is_paid_back_at_its_price(new_market: Any) -> None:
    rows = copy.deepcopy(ROWS)
    rows["shipment"]["half"] = {
        "order": "sent", "state": "lost", "units": [{"listing": "l1", "quantity": 1}],
    }  # fmt: skip
    shop = new_market(rows)
    shop.see("m1", "shipment.refund", "b1", shipment="half")
    assert ("dispatched", [("partially_refunded", 0, 2000, 1000)]) == (
        shop.row("order", "sent").state, payments(shop, "sent")
    )  # fmt: skip


def test_without_a_policy_every_remedy_is_open_to_what_is_late(new_market: Any) -> None:
    shop = new_market({table: rows for table, rows in ROWS.items() if table != "policy"})
    assert shop.see("b1", "shipment.wait", "m1", shipment="lost")
    assert shop.see("b1", "shipment.refund", "m1", shipment="slow")
    assert "shipment.state" == shop.say("b1", "shipment.wait", "m1", shipment="way").rule


def test_supply_is_what_its_merchant_or_an_authority_says(shop: Any) -> None:
    seen = shop.see("b2", "supply.get", listing="l2")
    assert (500, 0, 4, 9) == (
        seen["listing"][0]["price"], seen["inventory"][0]["available"],
        seen["supply_state"][0]["incoming"], seen["supply_state"][0]["eta"],
    )  # fmt: skip
    assert [] == shop.see("b1", "supply.get", listing="l1")["supply_state"]
    shop.see("m1", "supply.update", listing="l2", available=3, incoming=1)
    supply = shop.row("supply_state", "l2")
    assert ((3, 3, 0), 1, 9, 1) == (stock(shop, "l2"), supply.incoming, supply.eta, supply.revision)
    shop.see("m1", "supply.update", listing="l2", incoming=0)
    assert (0, None) == (shop.row("supply_state", "l2").incoming, shop.row("supply_state", "l2").eta)
    for words in ({}, {"authority": "delegate"}, {"authority": "none"}):
        assert "supply.authority" == shop.say("operator", "supply.update", listing="l1", **words).rule
    assert shop.see("m2", "supply.update", listing="l1", available=0, authority="delegate")
    shop.say("operator", "clock.advance")
    assert "supply.expired" == shop.say("m2", "supply.update", listing="l1", authority="delegate").rule


def test_more_than_the_stock_can_be_agreed_as_far_as_the_policy_lets_it_wait(new_market: Any) -> None:
    rows = {
        "policy": {"supply": {"max_backorder": 2}},
        "listing": {"l1": ROWS["listing"]["l1"]},
        "inventory": {"l1": {"available": 3}},
        "negotiation": {
            key: {"listing": "l1", "buyer": "b1", "quantity": units, "unit_price": 9, "offered_by": "m1"}
            for key, units in {"some": 5, "many": 6}.items()
        },
    }
    shop = new_market(rows)
    assert "stock.short" == shop.say("b1", "negotiation.accept", "m1", negotiation="many").rule
    agreed = shop.see("b1", "negotiation.accept", "m1", negotiation="some")["agreement"][0]
    assert (2, (3, 0, 3)) == (agreed["short"], stock(shop, "l1"))
    assert "stock.short" == shop.say("b1", "agreement.settle", "m1", agreement=agreed["id"]).rule


def test_a_checkout_may_hold_its_money_too(new_market: Any) -> None:
    shop = held_shop(new_market)
    lines = [{"listing": "full", "quantity": 2}]
    quote = shop.see("b1", "cart.request_quote", lines=lines)["cart_quote"][0]["id"]
    bought = shop.see("b1", "cart.checkout", cart_quote=quote)
    assert ("accepted", "authorized") == (bought["order"][0]["state"], bought["payment"][0]["state"])
    assert (2, 0, 2) == stock(shop, "full")
    shop.say("operator", "payment.capture", "b1", order=bought["order"][0]["id"])
    assert (0, 0, 0) == stock(shop, "full")


def test_an_order_shows_its_confirmations_to_its_parties(shop: Any) -> None:
    shop.see("b1", "order.cancel", "m1", order="begun")
    for party in ("b1", "m1"):
        ruling = shop.rule(party, "order.get", order="begun")
        shown = ruling.shown.value["confirmation"]
        assert [("order.cancel", 5)] == [(row["act"], row["tick"]) for row in shown]
        assert ("confirmation", shown[0]["id"]) in ruling.decision.reads


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("packing.history", {"order": "packed"}),
        ("shipment.get", {"shipment": "slow"}),
        ("supply.get", {"listing": "l2"}),
    ],
)
def test_a_query_shows_whole_rows_and_says_so(shop: Any, kind: str, fields: dict[str, str]) -> None:
    ruling = shop.rule("b1", kind, **fields)
    shown = {(name, row["id"]): row for name, rows in ruling.shown.value.items() for row in rows}
    assert set(shown) == set(ruling.decision.reads)
    assert shown
    for (table, key), row in shown.items():
        assert {"id": key, **msgspec.structs.asdict(shop.row(table, key))} == row


def test_lines_are_filled_from_the_first(shop: Any) -> None:
    lines = tuple(Line(key, 3, 1, short=short) for key, short in (("a", 2), ("b", 3), ("a", 3)))
    assert [0, 3, 1] == [each.short for each in filled(lines, "a", 4)]
    assert "partially_settled" == paid_state(lines)
    assert ("backordered", "settled") == (paid_state(lines[1:]), paid_state(()))
    assert shop.row("order", "waits").lines[0].short == 3


WORLD = world_of(WorldRef(name="commerce", params={}, version=0))


def test_what_follows_is_filled_in() -> None:
    rows = WORLD.complete(ROWS)
    stock = rows["inventory"]["l1"]
    assert (9, 3, 6) == (stock["on_hand"], stock["available"], stock["reserved"])
    assert ("authorized", 0) == (rows["payment"]["held"]["state"], rows["payment"]["held"]["captured"])
    assert 3 == rows["order"]["waits"]["lines"][0]["short"]
    assert [{"listing": "l1", "quantity": 2}] == rows["shipment"]["way"]["units"]
    assert ("b1", ["w2"]) == (rows["packing"]["w2"]["buyer"], rows["order"]["packed"]["packings"])
    assert "late" == rows["agenda"]["now"]["first"]
    assert rows == WORLD.complete(rows)


LESS = order("accepted", line("l2", 1, 1, short=2))
UNKEPT = order("accepted", line("unkept", 2, 1000))
NONE = {"listing": "none", "quantity": 1}
NO_LINE = {**order("backordered"), "total": 1}
CHAIN = {"late": {"tick": 4, "child": "more"}, "more": {"tick": 5}}
FIRST = {"now": {"first": "late"}}

WRONG: list[tuple[str, str, dict[str, Any]]] = [
    # what is said                                      table           rows put over the good ones
    ("has more units that are short than",              "agreement",    {"a1": {"short": 5}}),
    ("has a line with more units that are short",       "order",        {"waits": LESS}),
    ("is `settled`, and its lines say `partially_set",  "order",        {"partly": {"state": "settled"}}),
    ("is `backordered`, and its lines say `settled`",   "order",        {"x": NO_LINE}),
    ("has units that no stock of `l1` reserves",        "inventory",    {"l1": {"reserved": 4}}),
    ("has units that no stock of `unkept` reserves",    "order",        {"held": UNKEPT}),
    ("says buyer `b2`, and its order `b1`",             "packing",      {"w1": {"buyer": "b2"}}),
    ("names others in `shipments`",                     "order",        {"sent": {"shipments": ["way"]}}),
    ("names order `none`, which is not there",          "shipment",     {"x": {"order": "none"}}),
    ("names listing `none`, which is not there",        "shipment",     {"way": {"units": [NONE]}}),
    ("is of no listing",                                "supply_state", {"none": {}}),
    ("announces units without a tick",                  "supply_state", {"l1": {"incoming": 1}}),
    ("ends after tick 5, and the agenda says",          "agenda",       {"now": {"first": None}}),
    ("is not called `now`",                             "agenda",       {"then": {"first": None}}),
    ("is of no agreement",                              "due",          {"none": {"tick": 1}}),
    ("is not where the agenda has it",                "due",          {"late": {"tick": 4, "child": "late"}}),
    ("is not where the agenda has it",                "due",          {"late": {"tick": 6, "child": "more"}}),
    ("is not where the agenda has it",                "due",          {"late": {"tick": 4, "next": "more"}}),
    ("ends after tick 5, and the agenda says",          "due",          {"late": {"tick": 4, "child": None}}),
    ("names agreement `none`",                          "agenda",       {"now": {"first": "none"}}),
]  # fmt: skip


@pytest.mark.parametrize(("said", "table", "changes"), WRONG)
def test_rows_that_dont_agree_are_refused(said: str, table: str, changes: dict[str, Any]) -> None:
    rows = copy.deepcopy({**ROWS, "due": CHAIN, "agenda": FIRST})
    found = rows.setdefault(table, {})
    for key, columns in changes.items():
        found[key] = {**found.get(key, {}), **columns}
    with pytest.raises(WorldError) as caught:
        WORLD.complete(rows)
    assert ("facts.row", True) == (caught.value.code, said in caught.value.text), caught.value.text

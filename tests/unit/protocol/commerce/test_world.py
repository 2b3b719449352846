"""The two worked flows, what acts show and make, and what the world says of itself."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tollbook.protocol.bodies import WorldRef
from tollbook.protocol.commerce.returns import ReturnRequested
from tollbook.protocol.errors import WorldError
from tollbook.protocol.tables import NO_CHANGE
from tollbook.protocol.world import kind_of, made_by, made_fields, part_fields, row_fields, world_of

LAMP = {
    "listing": {"l1": {"merchant": "merchant", "title": "desk lamp", "price": 14_000}},
    "inventory": {"l1": {"available": 3}},
}


def returned(captured: int, refunded: int, state: str) -> dict[str, Any]:
    """The start rows of the worked return, as its author writes them."""
    return {
        "policy": {"returns": {"accepted_conditions": ["unused", "unopened"]}},
        "order": {
            "o1": {"buyer": "buyer", "merchant": "merchant", "total": captured, "state": "delivered"}
        },
        "return": {"r1": {"order": "o1", "state": "requested", "condition": "unused"}},
        "payment": {"p1": {"order": "o1", "captured": captured, "refunded": refunded, "state": state}},
    }


def test_a_bargain_is_struck_and_settled(new_market: Any) -> None:
    market = new_market(LAMP)
    assert 14_000 == market.see("buyer", "listing.get", listing="l1")["listing"][0]["price"]
    made = market.see("buyer", "negotiation.propose", "merchant", listing="l1", quantity=2, unit_price=4_900)
    key = made["negotiation"][0]["id"]
    market.see("merchant", "negotiation.counter", "buyer", negotiation=key, unit_price=13_000)
    market.see("buyer", "negotiation.counter", "merchant", negotiation=key, unit_price=9_000)
    market.see("merchant", "negotiation.counter", "buyer", negotiation=key, unit_price=10_000)
    taken = market.see("buyer", "negotiation.accept", "merchant", negotiation=key)
    agreement = taken["agreement"][0]
    assert (2, 10_000, 20_000) == tuple(agreement[name] for name in ("quantity", "unit_price", "total"))
    assert ("accepted", 4) == (taken["negotiation"][0]["state"], taken["negotiation"][0]["round"])
    stock = market.row("inventory", "l1")
    assert (3, 1, 2) == (stock.on_hand, stock.available, stock.reserved)
    settled = market.see("buyer", "agreement.settle", "merchant", agreement=agreement["id"])
    order, payment = settled["order"][0], settled["payment"][0]
    assert ("settled", order["id"]) == (settled["agreement"][0]["state"], settled["agreement"][0]["order"])
    assert ("settled", 20_000, [payment["id"]]) == (order["state"], order["total"], order["payments"])
    assert ("captured", 20_000, 0) == (payment["state"], payment["captured"], payment["refunded"])
    stock = market.row("inventory", "l1")
    assert (1, 1, 0) == (stock.on_hand, stock.available, stock.reserved)
    history = market.see("merchant", "ledger.history", order=order["id"])["posting"]
    assert [("buyer:buyer", -20_000), ("merchant:merchant", 20_000)] == [
        (row["account"], row["amount"]) for row in history
    ]
    assert {"EUR": 20_000} == market.see("merchant", "balance.get")["account"][0]["balances"]
    assert "agreement.state" == market.say(
        "buyer", "agreement.settle", "merchant", agreement=agreement["id"]
    ).rule


def test_the_merchant_may_take_the_offer_and_the_buyer_settles(new_market: Any) -> None:
    market = new_market(LAMP)
    proposed = market.say("buyer", "negotiation.propose", "merchant", listing="l1", quantity=1, unit_price=1)
    accepted = market.say(
        "merchant", "negotiation.accept", "buyer", negotiation=proposed.events[0].negotiation
    )
    agreement = next(event.agreement for event in accepted.events if hasattr(event, "agreement"))
    assert market.say("buyer", "agreement.settle", "merchant", agreement=agreement).outcome == "accepted"


def test_a_settlement_asked_for_twice_under_one_key_is_made_once(new_market: Any) -> None:
    agreed = {"listing": "l1", "buyer": "buyer", "quantity": 1, "unit_price": 5}
    market = new_market({**LAMP, "agreement": {"a1": agreed}})
    first = market.say("buyer", "agreement.settle", "merchant", agreement="a1", key="once")
    root = market.state.root()
    again = market.say("buyer", "agreement.settle", "merchant", agreement="a1", key="once")
    assert ("accepted", "message.retry", first.result, []) == (
        again.outcome, again.rule, again.result, again.events
    )  # fmt: skip
    assert root == market.state.root()
    other = market.say("buyer", "purchase.decline", "merchant", key="once")
    assert "message.key" == other.rule


@pytest.mark.parametrize(
    ("captured", "refunded", "state"),
    [
        (8_000,   0,          "captured"),
        (8_000,   2_500,      "partially_refunded"),
    ],
)  # fmt: skip
def test_a_return_is_taken_back_and_refunded(
    new_market: Any, captured: int, refunded: int, state: str
) -> None:
    market = new_market(returned(captured, refunded, state))
    owed = captured - refunded
    assert ["unused", "unopened"] == market.see("merchant", "policy.get", policy="returns")["policy"][0][
        "accepted_conditions"
    ]
    seen = market.see("merchant", "order.get", order="o1")
    assert (["r1"], []) == ([row["id"] for row in seen["return"]], seen["refund_case"])
    payment = market.see("merchant", "payment.history", order="o1")["payment"][0]
    assert owed == payment["captured"] - payment["refunded"]
    books = market.see("merchant", "ledger.history", order="o1")["posting"]
    assert owed == sum(row["amount"] for row in books if row["account"] == "merchant:merchant")
    market.see("merchant", "return.authorize", "buyer", return_="r1")
    received = market.see(
        "merchant", "return.receive", "buyer", return_="r1", condition="unused", quantity=1
    )
    assert ("received", "returned") == (received["return"][0]["state"], received["order"][0]["state"])
    opened = market.say("buyer", "refund.open", "merchant", order="o1", amount=captured)
    case = opened.events[0].refund_case
    paid = market.see("merchant", "refund.approve", "buyer", refund_case=case, amount=owed)
    assert ("approved", owed) == (paid["refund_case"][0]["state"], paid["refund_case"][0]["approved"])
    assert ("refunded", captured) == (paid["payment"][0]["state"], paid["payment"][0]["refunded"])
    assert "refunded" == paid["order"][0]["state"]
    books = market.see("buyer", "ledger.history", order="o1")["posting"]
    assert (0, 0) == tuple(
        sum(row["amount"] for row in books if row["account"] == account)
        for account in ("buyer:buyer", "merchant:merchant")
    )


def test_a_claim_on_what_was_refunded_is_turned_down(new_market: Any) -> None:
    market = new_market(returned(6_400, 6_400, "refunded"))
    market.see("merchant", "return.authorize", "buyer", return_="r1")
    market.see("merchant", "return.receive", "buyer", return_="r1", condition="unused", quantity=1)
    case = market.say("buyer", "refund.open", "merchant", order="o1", amount=6_400).events[0].refund_case
    tried = market.say("merchant", "refund.approve", "buyer", refund_case=case, amount=6_400)
    assert ("refund.exceeds_paid", {"amount": 6_400, "left": 0}) == (tried.rule, tried.detail)
    denied = market.see("merchant", "refund.deny", "buyer", refund_case=case)
    assert "denied" == denied["refund_case"][0]["state"]


def test_a_refund_of_a_part_leaves_the_order_as_it_is(market: Any) -> None:
    market.see("m1", "refund.approve", "b1", refund_case="c1", amount=1)
    assert ("delivered", ()) == (market.row("order", "o1").state, market.row("order", "o2").returns)
    payment = market.row("payment", "p1")
    assert ("partially_refunded", 501) == (payment.state, payment.refunded)


def test_an_order_that_was_not_delivered_keeps_its_state_when_all_is_refunded(market: Any) -> None:
    case = market.say("b1", "refund.open", "m1", order="o2", amount=2_000).events[0].refund_case
    market.see("m1", "refund.approve", "b1", refund_case=case, amount=2_000)
    assert ("settled", "refunded") == (market.row("order", "o2").state, market.row("payment", "p2").state)


def test_a_refund_goes_over_the_payments_oldest_first(new_market: Any) -> None:
    rows = returned(100, 30, "partially_refunded")
    rows["payment"]["a"] = {"order": "o1", "captured": 50}
    rows["refund_case"] = {"c1": {"order": "o1", "amount": 120}}
    market = new_market(rows)
    shown = market.see("merchant", "refund.approve", "buyer", refund_case="c1", amount=90)
    assert [("p1", 100), ("a", 20)] == [(row["id"], row["refunded"]) for row in shown["payment"]]
    assert "delivered" == market.row("order", "o1").state
    assert {"EUR": 30} == market.see("merchant", "balance.get")["account"][0]["balances"]
    entries = [row["entry"] for row in market.see("merchant", "ledger.history", order="o1")["posting"][-4:]]
    assert 2 == len(set(entries))
    assert [entries[0]] * 2 + [entries[2]] * 2 == entries


def test_an_order_is_returned_when_all_its_units_are_back(market: Any) -> None:
    market.see("m1", "return.authorize", "b1", return_="r1")
    market.see("m1", "return.receive", "b1", return_="r1", condition="broken", quantity=1)
    assert ("delivered", "broken", "unused") == (
        market.row("order", "o1").state,
        market.row("return", "r1").received_condition,
        market.row("return", "r1").condition,
    )
    again = market.say("b1", "return.request", "m1", order="o1", listing="l1", quantity=1, condition="unused")
    market.see("m1", "return.authorize", "b1", return_=again.events[0].return_)
    market.see("m1", "return.receive", "b1", return_=again.events[0].return_, condition="unused", quantity=1)
    assert "returned" == market.row("order", "o1").state


def test_a_declined_purchase_changes_no_row(market: Any) -> None:
    decision = market.say("b1", "purchase.decline", "m1")
    assert ("accepted", NO_CHANGE, None) == (decision.outcome, decision.delta, decision.result)
    assert "b1" == decision.events[0].buyer


def test_time_moves_by_the_operator_alone(market: Any) -> None:
    assert 5 == market.world.tick(market.state)
    assert "party.role" == market.say("b1", "clock.advance").rule
    assert 6 == market.see("operator", "clock.advance")["clock"][0]["tick"]
    market.say("operator", "clock.advance", ticks=4)
    assert 10 == market.world.tick(market.state)


def test_an_offer_can_be_taken_until_its_deadline(market: Any) -> None:
    offer = {"listing": "l1", "quantity": 1, "unit_price": 1}
    key = market.say("b1", "negotiation.propose", "m1", **offer).events[0].negotiation
    market.say("operator", "clock.advance", ticks=3)
    assert market.say("m1", "negotiation.counter", "b1", negotiation=key, unit_price=2).outcome == "accepted"
    market.say("operator", "clock.advance")
    assert "negotiation.expired" == market.say("b1", "negotiation.accept", "m1", negotiation=key).rule
    assert market.say("b1", "negotiation.reject", "m1", negotiation=key).outcome == "accepted"


def test_a_second_buyer_cant_have_reserved_units(new_market: Any) -> None:
    market = new_market({**LAMP, "inventory": {"l1": {"available": 1}}})
    for buyer in ("b1", "b2"):
        market.say(buyer, "negotiation.propose", "merchant", listing="l1", quantity=1, unit_price=1)
    first, second = (key for key, _row in market.state.rows("negotiation"))
    assert market.say("merchant", "negotiation.accept", "b1", negotiation=first).outcome == "accepted"
    assert "stock.short" == market.say("merchant", "negotiation.accept", "b2", negotiation=second).rule


def test_a_made_key_gives_way_to_an_authors(new_market: Any) -> None:
    taken = {f"n{seq}": {"listing": "l1", "buyer": "b1", "quantity": 1, "unit_price": 1} for seq in range(9)}
    market = new_market({**LAMP, "negotiation": taken})
    made = market.say("b1", "negotiation.propose", "merchant", listing="l1", quantity=1, unit_price=2)
    key = made.events[0].negotiation
    assert key not in taken
    assert taken.keys() | {key} == {found for found, _row in market.state.rows("negotiation")}


def test_what_is_shown_is_said_to_be_read(market: Any) -> None:
    for kind in market.world.queries - {"balance.get"}:
        table = next(iter(row_fields(market.world.kinds[kind]).values()), None)
        key = {"listing": "l1", "policy": "returns", "order": "o1"}.get(table or "")
        if key is None:
            continue  # its subject's tests look at it
        ruling = market.rule("b1", kind, **{table: key})
        shown = {(name, row["id"]) for name, rows in ruling.shown.value.items() for row in rows}
        assert shown == set(ruling.decision.reads), kind
        for name, rows in ruling.shown.value.items():
            for row in rows:
                assert {"id": row["id"], **msgspec.structs.asdict(market.row(name, row["id"]))} == row


def test_ones_own_balance_is_the_only_one_shown(market: Any) -> None:
    assert ["buyer:b1"] == [row["id"] for row in market.see("b1", "balance.get")["account"]]
    assert [] == market.see("m2", "balance.get")["account"]


def test_the_world_says_what_tasks_need(market: Any) -> None:
    world = market.world
    expected = {"listing.get", "stock.get", "policy.get", "order.get", "payment.history", "ledger.history"}
    assert expected | {"balance.get"} <= world.queries
    assert {"clock.advance", *world.taking, *world.refusing} <= world.kinds.keys()
    assert "clock.advance" == world.clock
    assert world.kinds["clock.advance"]() is not None
    for action in world.actions:
        assert set(row_fields(action).values()) <= world.tables.keys()
        assert action.__doc__


def test_a_key_that_an_event_makes_is_found_whatever_its_attribute_is_called() -> None:
    event = ReturnRequested(
        return_="r7",
        order="o1",
        buyer="buyer",
        merchant="merchant",
        listing="l1",
        quantity=1,
        condition="unused",
    )
    assert [("return", "r7")] == list(made_by(event))


def test_events_name_the_rows_they_make(market: Any) -> None:
    made = {kind_of(event): made_fields(event) for event in market.world.events if made_fields(event)}
    assert {
        "negotiation.proposed": ("negotiation",),
        "agreement.made": ("agreement",),
        "order.settled": ("order",),
        "payment.captured": ("payment",),
        "return.requested": ("return",),
        "refund.opened": ("refund_case",),
    }.items() <= made.items()
    for fields in made.values():
        assert set(fields) <= market.world.tables.keys()


def test_free_text_is_parts(market: Any) -> None:
    parts = {kind: part_fields(action) for kind, action in market.world.kinds.items() if part_fields(action)}
    assert {
        "message.send": ("text",),
        "agent.unparsed": ("text",),
        "negotiation.propose": ("note",),
        "negotiation.counter": ("note",),
        "negotiation.reject": ("reason",),
        "negotiation.withdraw": ("reason",),
        "purchase.decline": ("reason",),
        "return.request": ("reason",),
        "return.deny": ("reason",),
        "refund.open": ("text",),
        "refund.deny": ("reason",),
    }.items() <= parts.items()


def test_the_world_takes_no_parameters() -> None:
    with pytest.raises(WorldError) as caught:
        world_of(WorldRef(name="commerce", params={"mode": "strict"}, version=0))
    assert "world.params" == caught.value.code

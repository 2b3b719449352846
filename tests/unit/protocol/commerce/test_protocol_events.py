"""Events of the operator: done once, in time, on one's own order in its state; or refused."""

from __future__ import annotations

from typing import Any

import pytest
from refusal_tables import check_refusal

from tollbook.protocol.errors import WorldError
from tollbook.protocol.tables import NO_CHANGE

LINES = [{"listing": "l1", "quantity": 2, "unit_price": 1000}]


def order(buyer: str, state: str) -> dict[str, Any]:
    return {"buyer": buyer, "merchant": "m1", "state": state, "lines": LINES}


def event(effect: str, order: str, party: str, **columns: Any) -> dict[str, Any]:
    amount = {"amount": 2000} if effect == "refund" else {}
    return {"effect": effect, "order": order, "party": party, "operation": "op1", **amount, **columns}


ROWS: dict[str, dict[str, dict[str, Any]]] = {
    "clock": {"now": {"tick": 5}},
    "listing": {"l1": {"merchant": "m1", "title": "lamp", "price": 1000}},
    "inventory": {"l1": {"available": 3, "reserved": 4}},
    "match_certificate": {
        "past": {"listing": "l1", "buyer": "b1", "merchant": "m1", "unit_price": 1000, "expires": 4},
        "now": {"listing": "l1", "buyer": "b1", "merchant": "m1", "unit_price": 1000, "expires": 5},
    },
    "order": {
        "held": order("b1", "accepted"),
        "other": order("b2", "accepted"),
        "paid": order("b1", "settled"),
        "there": order("b1", "delivered"),
        "sent": order("b1", "dispatched"),
        "swapped": order("b1", "exchanged"),
    },
    "payment": {
        "p1": {"order": "held", "captured": 0, "authorized": 2000, "state": "authorized"},
        "p2": {"order": "other", "captured": 0, "authorized": 2000, "state": "authorized"},
        "p3": {"order": "paid", "captured": 2000},
        "p4": {"order": "there", "captured": 2000},
        "p5": {"order": "sent", "captured": 2000},
        "p6": {"order": "swapped", "captured": 2000},
    },
    "protocol_event": {
        "settle": event("settle", "held", "b1", expires=5, match_certificate="now"),
        "again": event("settle", "held", "b1"),
        "late": event("settle", "held", "b1", expires=4),
        "stale": event("settle", "held", "b1", match_certificate="past"),
        "gone": event("settle", "held", "b1", state="rejected", cause="expired", is_acknowledged=True),
        "foreign": event("settle", "other", "b1"),
        "wrong": event("dispatch", "paid", "b1", operation="done"),
        "first": event("settle", "paid", "b1", operation="done", state="processed"),
        "done": event("settle", "paid", "b1", operation="done"),
        "early": event("settle", "paid", "b1", required_order_state="accepted"),
        "never": event("settle", "paid", "b1"),
        "dispatch": event("dispatch", "paid", "m1", required_order_state="settled"),
        "soon": event("dispatch", "paid", "m1", required_order_state="accepted"),
        "replaced": event("refund", "swapped", "m1"),
        "back": event("refund", "there", "m1", required_order_state="delivered"),
        "much": event("refund", "there", "m1", amount=2001),
        "part": event("refund", "there", "m1", amount=500),
    },
}

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by           kind                 from > to        fields
    ("order.unknown",      "event.issue",       "operator",      "order=o9 match_certificate=c9 amount=1"),
    ("event.addressee",    "event.issue",       "operator",      "order=paid match_certificate=c9 amount=1"),
    ("event.certificate",  "event.issue",       "operator > b1", "order=paid match_certificate=c9 amount=1"),
    ("event.amount",       "event.issue",       "operator > b1", "order=paid match_certificate=now amount=1"),
    (None,                 "event.issue",       "operator > b1", "order=paid match_certificate=now"),
    ("event.unknown",      "event.process",     "m1",            "protocol_event=gone"),
    ("event.addressee",    "event.process",     "b1 > m1",       "protocol_event=gone"),
    ("event.state",        "event.process",     "b1 > operator", "protocol_event=gone"),
    ("event.expired",      "event.process",     "b1 > operator", "protocol_event=stale"),
    ("event.order",        "event.process",     "b1 > operator", "protocol_event=foreign"),
    ("event.role",         "event.process",     "b1 > operator", "protocol_event=wrong"),
    ("event.duplicate",    "event.process",     "b1 > operator", "protocol_event=done"),
    ("event.order_state",  "event.process",     "b1 > operator", "protocol_event=early"),
    ("event.exceeds_paid", "event.process",     "m1 > operator", "protocol_event=much"),
    (None,                 "event.process",     "b1 > operator", "protocol_event=settle"),
    ("event.unknown",      "event.reject",      "m1",            "protocol_event=gone"),
    ("event.addressee",    "event.reject",      "b1",            "protocol_event=gone"),
    ("event.state",        "event.reject",      "b1 > operator", "protocol_event=gone"),
    (None,                 "event.reject",      "b1 > operator", "protocol_event=settle"),
    ("event.unknown",      "event.acknowledge", "m1",            "protocol_event=gone"),
    ("event.addressee",    "event.acknowledge", "b1",            "protocol_event=gone"),
    ("event.acknowledged", "event.acknowledge", "b1 > operator", "protocol_event=gone"),
    (None,                 "event.acknowledge", "b1 > operator", "protocol_event=settle"),
    ("event.unknown",      "event.get",         "m1",            "protocol_event=settle"),
    (None,                 "event.get",         "b1",            "protocol_event=settle"),
]  # fmt: skip

UNSAID: dict[str, dict[str, Any]] = {
    "event.issue": {"effect": "settle", "operation": "op9"},
    "event.reject": {"cause": "other"},
}


@pytest.fixture
def market(new_market: Any) -> Any:
    return new_market(ROWS)


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_a_refusal_comes_in_its_order_and_changes_nothing(
    market: Any, rule: str | None, kind: str, way: str, words: str
) -> None:
    check_refusal(market, rule, kind, way, words, **UNSAID.get(kind, {}))


@pytest.mark.parametrize(
    ("sender", "kind"),
    [("m1", "event.process"), ("b2", "event.reject"), ("m1", "event.acknowledge"), ("b2", "event.get")],
)
def test_a_party_cant_tell_a_foreign_event_from_one_that_is_not_there(
    market: Any, sender: str, kind: str
) -> None:
    to = None if kind == "event.get" else "operator"
    first, second = (
        market.say(sender, kind, to, protocol_event=key, **UNSAID.get(kind, {})) for key in ("settle", "x9")
    )
    assert second.rule == first.rule == "event.unknown"
    assert ({"protocol_event": "settle"}, {"protocol_event": "x9"}) == (first.detail, second.detail)


@pytest.mark.parametrize(
    ("party", "key", "rule"),
    [
        ("b1",  "late",     "event.expired"),
        ("b1",  "stale",    "event.expired"),
        ("b1",  "foreign",  "event.order"),
        ("b1",  "done",     "event.duplicate"),
        ("b1",  "early",    "event.order_state"),
        ("b1",  "never",    "event.order_state"),
        ("m1",  "soon",     "event.order_state"),
        ("m1",  "replaced", "event.order_state"),
    ],
)  # fmt: skip
def test_what_must_not_be_done_leaves_the_order_as_it_was_and_can_be_rejected(
    market: Any, party: str, key: str, rule: str
) -> None:
    before = market.state.root()
    said = market.say(party, "event.process", "operator", protocol_event=key)
    assert (rule, NO_CHANGE, before) == (said.rule, said.delta, market.state.root())
    shown = market.see(party, "event.reject", "operator", protocol_event=key, cause="other")
    assert ("rejected", "other") == tuple(shown["protocol_event"][0][name] for name in ("state", "cause"))


def test_a_settlement_captures_what_is_held_once(market: Any) -> None:
    shown = market.see("b1", "event.process", "operator", protocol_event="settle")
    assert ("processed", "settled") == (shown["protocol_event"][0]["state"], shown["order"][0]["state"])
    payment = market.row("payment", "p1")
    assert ("captured", 2000) == (payment.state, payment.captured)
    assert "settle" == market.row("operation", "op1").protocol_event
    again = market.say("b1", "event.process", "operator", protocol_event="again")
    assert ("event.duplicate", {"operation": "op1"}) == (again.rule, again.detail)
    assert "event.state" == market.say("b1", "event.process", "operator", protocol_event="settle").rule
    assert 1 == len(market.see("b1", "order.get", order="held")["confirmation"])


def test_the_same_message_under_the_same_key_gives_the_first_confirmation(market: Any) -> None:
    first = market.say("b1", "event.process", "operator", protocol_event="settle", key="k")
    root = market.state.root()
    again = market.say("b1", "event.process", "operator", protocol_event="settle", key="k")
    assert ("message.retry", first.result, [], root) == (
        again.rule, again.result, again.events, market.state.root()
    )  # fmt: skip
    assert 1 == len(market.row("order", "held").confirmations)


def test_a_dispatch_sends_the_goods(market: Any) -> None:
    shown = market.see("m1", "event.process", "operator", protocol_event="dispatch")
    assert "dispatched" == shown["order"][0]["state"]
    assert 1 == len(market.row("order", "paid").shipments)


def test_a_refund_gives_back_its_amount(market: Any) -> None:
    market.see("m1", "event.process", "operator", protocol_event="back")
    assert ("refunded", 2000) == (market.row("payment", "p4").state, market.row("payment", "p4").refunded)
    assert "refunded" == market.row("order", "there").state
    paid = [row["amount"] for row in market.see("b1", "ledger.history", order="there")["posting"]]
    assert 0 == sum(paid)
    assert {"EUR": -6000} == market.row("account", "buyer:b1").balances


def test_a_refund_of_a_part_leaves_the_order_delivered(market: Any) -> None:
    market.see("m1", "event.process", "operator", protocol_event="part")
    assert ("delivered", 500) == (market.row("order", "there").state, market.row("payment", "p4").refunded)
    left = market.say("m1", "event.process", "operator", protocol_event="back")
    assert "event.duplicate" == left.rule


def test_an_event_holds_up_to_its_last_tick_and_that_of_its_certificate(market: Any) -> None:
    asked = {"effect": "settle", "order": "held", "operation": "op2"}
    for more in ({"expires": 6}, {"match_certificate": "now"}):
        key = market.say("operator", "event.issue", "b1", **asked, **more).events[0].protocol_event
        market.say("operator", "clock.advance")
        rule = market.say("b1", "event.process", "operator", protocol_event=key).rule
        assert ("event.expired" if "match_certificate" in more else None) == rule


def test_an_event_tells_when_it_was_issued(market: Any) -> None:
    asked = {"effect": "refund", "order": "there", "operation": "op3", "amount": 7, "sequence": 2}
    row = market.see("operator", "event.issue", "m1", **asked)["protocol_event"][0]
    assert ("operator", "m1", 5, 7, 2, "issued") == tuple(
        row[name] for name in ("issuer", "party", "issued", "amount", "sequence", "state")
    )


@pytest.mark.parametrize(
    ("key", "columns", "problem"),
    [
        ("settle", {"party": "operator"}, "has one party on both sides"),
        ("settle", {"amount": 1}, "is to `settle`, and an amount"),
        ("back", {"amount": 0}, "is to `refund`, and an amount"),
        ("settle", {"cause": "other"}, "is `issued`, and a cause"),
        ("gone", {"cause": None}, "is `rejected`, and a cause"),
        ("settle", {"match_certificate": "c9"}, "names match_certificate `c9`"),
    ],
)
def test_start_rows_that_dont_agree_are_refused(
    new_market: Any, key: str, columns: dict[str, Any], problem: str
) -> None:
    table = ROWS["protocol_event"]
    with pytest.raises(WorldError) as caught:
        new_market({**ROWS, "protocol_event": {**table, key: {**table[key], **columns}}})
    assert "facts.row" == caught.value.code
    assert f"row `{key}` of `protocol_event` {problem}" in caught.value.text


@pytest.mark.parametrize(
    ("table", "key", "row", "problem"),
    [
        ("operation", "done", {"protocol_event": "done"}, "doesn't name the event that did it"),
        ("operation", "op7", {"protocol_event": "first"}, "doesn't name the event that did it"),
        (
            "protocol_event",
            "twice",
            event("settle", "paid", "b1", operation="done", state="processed"),
            "did operation `done`, which `first` did",
        ),
    ],
)
def test_an_operation_is_one_events(
    new_market: Any, table: str, key: str, row: dict[str, Any], problem: str
) -> None:
    with pytest.raises(WorldError) as caught:
        new_market({**ROWS, table: {**ROWS.get(table, {}), key: row}})
    assert f"row `{key}` of `{table}` {problem}" in caught.value.text

"""Carts asked for, quoted and bought: what is refused in which order, what is made, and who sees it."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest

from tests.support.refusal_tables import check_refusal
from tollbook.protocol.bodies import WorldRef
from tollbook.protocol.errors import WorldError
from tollbook.protocol.tables import NO_CHANGE
from tollbook.protocol.world import StartRows, made_fields, world_of


def units(**quantities: int) -> list[dict[str, Any]]:
    return [{"listing": name, "quantity": quantity} for name, quantity in quantities.items()]


def line(listing: str, quantity: int, unit_price: int, discount: int = 0) -> dict[str, Any]:
    return {"listing": listing, "quantity": quantity, "unit_price": unit_price, "discount": discount}


TIER = {"listings": ["a"], "steps": [{"quantity": 3, "unit_price": 80}]}
PAIR = {"parts": units(b=1, a=2), "discount": 30}
SHIPPING = {"kind": "shipping", "fixed": 50, "subtotal_to": 999}
FEE = {"kind": "fee", "subtotal_rate_bps": 125}
BOUGHT = {"buyer": "b1", "lines": units(a=3, b=1)}

ROWS: StartRows = {
    "clock": {"now": {"tick": 5}},
    "policy": {"cart": {"deadline_ticks": 3}},
    "listing": {
        "a": {"merchant": "m1", "title": "cup", "price": 100},
        "b": {"merchant": "m1", "title": "pot", "price": 250},
        "c": {"merchant": "m2", "title": "tea", "price": 900},
        "w": {"merchant": "m1", "title": "old cup", "price": 1, "state": "withdrawn"},
        "s": {"merchant": "m2", "title": "te", "price": 10, "currency": "SEK"},
        "dear": {"merchant": "m2", "title": "ship", "price": 10**12},
        "crowns": {"merchant": "m3", "title": "crown", "price": 1},
    },
    "inventory": {key: {"available": units} for key, units in {"a": 20, "b": 5, "c": 1, "dear": 1}.items()},
    "pricing": {
        "m1": {"tiers": [TIER], "bundles": [PAIR], "charges": [SHIPPING, FEE]},
        "m2": {"charges": [{"kind": "shipping", "fixed": 5, "per_unit": 2}]},
        "m3": {"charges": [], "currency": "SEK"},
    },
    "cart_quote": {
        "q1": {"buyer": "b1", "lines": units(a=3, c=1, b=1), "expires": 5},
        "asked": {**BOUGHT, "merchant": "m1"},
        "own": {**BOUGHT, "merchant": "m1", "state": "quoted"},
        "late": {"buyer": "b1", "lines": units(c=2), "expires": 4},
        "many": {"buyer": "b1", "lines": units(a=1, c=2)},
        "unkept": {"buyer": "b1", "lines": units(s=1)},
        "done": {"buyer": "b1", "lines": units(a=1)},
        "other": {"buyer": "b2", "lines": units(a=1)},
        "others": {"buyer": "b2", "merchant": "m1", "lines": units(a=1)},
    },
    "order_group": {"g": {"cart_quote": "done"}},
    "order": {
        "og": {
            "buyer": "b1", "merchant": "m1", "state": "settled", "order_group": "g", "charges": 51,
            "lines": [{"listing": "a", "quantity": 1, "unit_price": 100}],
        },
    },
    "payment": {"pg": {"order": "og", "captured": 151}},
}  # fmt: skip

LINES: dict[str, list[dict[str, Any]]] = {
    "none_such": units(w=1, zz=1),
    "withdrawn": [*units(a=1, w=1), *units(a=2)],
    "twice": [*units(a=1, s=1), *units(a=2)],
    "mixed": units(a=1, s=1),
    "crowns": units(crowns=1),
    "much": units(a=1, dear=1),
    "two": units(a=3, c=1, b=1),
    "one": units(a=3, b=1),
    "short": units(c=99),
    # what a merchant quotes on a=3, b=1
    "few": [line("a", 3, 1, 9)],
    "fewer": [line("a", 2, 1, 9), line("b", 1, 250, 30)],
    "same_twice": [line("a", 3, 80), line("b", 1, 250, 30), line("a", 3, 80)],
    "list": [line("a", 3, 100, 9), line("b", 1, 250)],
    "off": [line("b", 1, 250, 29), line("a", 3, 80, 1)],
    "good": [line("b", 1, 250, 30), line("a", 3, 80)],
}
CHARGES: dict[str, list[dict[str, Any]]] = {
    "no": [],
    "half": [{"kind": "shipping", "amount": 50}],
    "swapped": [{"kind": "fee", "amount": 50}, {"kind": "shipping", "amount": 6}],
    "right": [{"kind": "fee", "amount": 6}, {"kind": "shipping", "amount": 50}],
    "split": [
        {"kind": "shipping", "amount": 20}, {"kind": "fee", "amount": 6}, {"kind": "tax", "amount": 0},
        {"kind": "shipping", "amount": 30},
    ],
}  # fmt: skip

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by              kind                   from > to     fields
    ("pricing.unknown",       "pricing.get",         "b1",         "merchant=m9"),
    (None,                    "pricing.get",         "b1",         "merchant=m1"),
    ("listing.unknown",       "cart.request_quote",  "b1 > b2",    "lines=none_such"),
    ("listing.withdrawn",     "cart.request_quote",  "b1 > b2",    "lines=withdrawn"),
    ("cart.twice",            "cart.request_quote",  "b1 > b2",    "lines=twice"),
    ("cart.addressee",        "cart.request_quote",  "b1 > b2",    "lines=mixed"),
    ("cart.currency",         "cart.request_quote",  "b1 > m1",    "lines=mixed"),
    ("cart.total",            "cart.request_quote",  "b1 > m2",    "lines=much"),
    (None,                    "cart.request_quote",  "b1 > m2",    "lines=two"),
    ("cart.unknown",          "cart.quote",          "m2 > b2",    "cart_quote=own lines=few subtotal=9"),
    ("cart.addressee",        "cart.quote",          "m1 > b2",    "cart_quote=own lines=few subtotal=9"),
    ("cart.state",            "cart.quote",          "m1 > b1",    "cart_quote=own lines=few subtotal=9"),
    ("cart.lines",            "cart.quote",          "m1 > b1",    "cart_quote=asked lines=few subtotal=9"),
    ("cart.unit_price",       "cart.quote",          "m1 > b1",    "cart_quote=asked lines=list subtotal=9"),
    ("cart.discount",         "cart.quote",          "m1 > b1",    "cart_quote=asked lines=off subtotal=9"),
    ("cart.subtotal", "cart.quote", "m1 > b1", "cart_quote=asked lines=good subtotal=460"),
    ("cart.charges", "cart.quote", "m1 > b1", "cart_quote=asked lines=good charges=half"),
    ("cart.grand_total", "cart.quote", "m1 > b1", "cart_quote=asked lines=good charges=right"),
    (None, "cart.quote", "m1 > b1", "cart_quote=asked lines=good charges=right grand_total=516"),
    ("cart.unknown",          "cart.checkout",       "b1 > b2",    "cart_quote=other"),
    ("cart.addressee",        "cart.checkout",       "b1 > b2",    "cart_quote=done"),
    ("cart.state",            "cart.checkout",       "b1",         "cart_quote=done"),
    ("cart.expired",          "cart.checkout",       "b1",         "cart_quote=late"),
    ("stock.short",           "cart.checkout",       "b1",         "cart_quote=many"),
    (None,                    "cart.checkout",       "b1",         "cart_quote=q1"),
    ("cart.unknown",          "cart.get",            "b1",         "cart_quote=other"),
    (None,                    "cart.get",            "b1",         "cart_quote=done"),
]  # fmt: skip

MORE: list[tuple[str | None, str, str, str]] = [
    (None,                    "cart.request_quote",  "b1",         "lines=two"),
    (None,                    "cart.request_quote",  "b1 > m1",    "lines=two"),
    (None,                    "cart.request_quote",  "b1",         "lines=short"),
    (None,                    "cart.request_quote",  "b1 > m1",    "lines=one quoted_by=merchant"),
    ("cart.addressee",        "cart.request_quote",  "b1",         "lines=one quoted_by=merchant"),
    ("cart.addressee",        "cart.request_quote",  "b1 > m1",    "lines=two quoted_by=merchant"),
    ("cart.addressee",        "cart.request_quote",  "b1 > m2",    "lines=one"),
    ("cart.currency",         "cart.request_quote",  "b1",         "lines=crowns"),
    ("cart.unknown",          "cart.quote",          "m1 > b1",    "cart_quote=q1 lines=good"),
    ("cart.addressee",        "cart.quote",          "m1",         "cart_quote=asked lines=good"),
    ("cart.lines",            "cart.quote",          "m1 > b1",    "cart_quote=asked lines=fewer"),
    ("cart.lines",            "cart.quote",          "m1 > b1",    "cart_quote=asked lines=same_twice"),
    ("cart.charges", "cart.quote", "m1 > b1", "cart_quote=asked lines=good charges=swapped"),
    (None, "cart.quote", "m1 > b1", "cart_quote=asked lines=good charges=split grand_total=516"),
    ("cart.state",            "cart.checkout",       "b1 > m1",    "cart_quote=asked"),
    ("cart.addressee",        "cart.checkout",       "b1",         "cart_quote=own"),
    (None,                    "cart.checkout",       "b1 > m1",    "cart_quote=own"),
    (None,                    "cart.checkout",       "b1 > m2",    "cart_quote=q1"),
    ("stock.short",           "cart.checkout",       "b1",         "cart_quote=unkept"),
    (None,                    "cart.get",            "m1",         "cart_quote=asked"),
    ("cart.unknown",          "cart.get",            "m2",         "cart_quote=asked"),
    ("cart.unknown",          "cart.get",            "m1",         "cart_quote=q1"),
    ("cart.unknown",          "cart.get",            "operator",   "cart_quote=q1"),
    ("cart.unknown",          "cart.get",            "b1",         "cart_quote=q9"),
    ("party.role",            "cart.request_quote",  "m1 > m2",    "lines=two"),
    ("party.role",            "cart.quote",          "b1 > m1",    "cart_quote=asked lines=good"),
    ("party.role",            "cart.checkout",       "m1",         "cart_quote=own"),
]  # fmt: skip


@pytest.fixture
def market(new_market: Any) -> Any:
    """A market of carts in every state that a rule looks at, at tick 5."""
    return new_market(ROWS)


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE + MORE)
def test_a_refusal_comes_in_its_order_and_changes_nothing(
    market: Any, rule: str | None, kind: str, way: str, words: str
) -> None:
    given = dict(word.split("=") for word in words.split())
    more: dict[str, Any] = {}
    if kind == "cart.quote":
        more = {"subtotal": 490, "grand_total": 9, "charges": CHARGES[given.pop("charges", "no")]}
    if "lines" in given:
        more["lines"] = LINES[given.pop("lines")]
    check_refusal(
        market, rule, kind, way, " ".join(f"{name}={value}" for name, value in given.items()), **more
    )


def test_the_market_quotes_at_once_for_each_merchant(market: Any) -> None:
    (quote,) = market.see("b1", "cart.request_quote", "m2", lines=LINES["two"])["cart_quote"]
    assert ("quoted", None, 516 + 907, "EUR", 8, None) == tuple(
        quote[name] for name in ("state", "merchant", "grand_total", "currency", "expires", "order_group")
    )
    assert [
        {
            "merchant": "m1", "subtotal": 490, "total": 516,
            "lines": [line("a", 3, 80), line("b", 1, 250, 30)],
            "charges": [{"kind": "shipping", "amount": 50}, {"kind": "fee", "amount": 6}],
        },
        {
            "merchant": "m2", "subtotal": 900, "total": 907,
            "lines": [line("c", 1, 900)],
            "charges": [{"kind": "shipping", "amount": 7}],
        },
    ] == quote["quotes"]  # fmt: skip
    assert LINES["two"] == quote["lines"]


def test_a_merchants_own_quote_is_bought_of_that_merchant(market: Any) -> None:
    asked = market.see("b1", "cart.request_quote", "m1", lines=LINES["one"], quoted_by="merchant")
    (quote,) = asked["cart_quote"]
    assert ("requested", "m1", [], None) == tuple(
        quote[name] for name in ("state", "merchant", "quotes", "grand_total")
    )
    market.say("operator", "clock.advance", ticks=4)
    said = {"lines": LINES["good"], "subtotal": 490, "charges": CHARGES["right"], "grand_total": 516}
    (quoted,) = market.see("m1", "cart.quote", "b1", cart_quote=quote["id"], **said)["cart_quote"]
    assert ("quoted", 516, 12) == (quoted["state"], quoted["grand_total"], quoted["expires"])
    bought = market.see("b1", "cart.checkout", "m1", cart_quote=quote["id"])
    assert [516] == [order["total"] for order in bought["order"]]


def test_a_checkout_makes_an_order_for_each_merchant_in_one_group(market: Any) -> None:
    bought = market.see("b1", "cart.checkout", cart_quote="q1")
    (quote,), (group,), orders = bought["cart_quote"], bought["order_group"], bought["order"]
    assert ("ordered", group["id"]) == (quote["state"], quote["order_group"])
    assert ("b1", 1423, "q1", [order["id"] for order in orders], "EUR") == tuple(
        group[name] for name in ("buyer", "total", "cart_quote", "orders", "currency")
    )
    assert [("m1", "settled", 516, 56), ("m2", "settled", 907, 7)] == [
        tuple(order[name] for name in ("merchant", "state", "total", "charges")) for order in orders
    ]
    assert [("a", 3, 80, 0), ("b", 1, 250, 30)] == [
        tuple(each[name] for name in ("listing", "quantity", "unit_price", "discount"))
        for each in orders[0]["lines"]
    ]
    assert [group["id"]] * 2 == [order["order_group"] for order in orders]
    assert [("captured", 516), ("captured", 907)] == [
        (row["state"], row["captured"]) for row in bought["payment"]
    ]
    assert [(order["id"], "cart.checkout", order["total"]) for order in orders] == [
        (row["order"], row["act"], row["amount"]) for row in bought["confirmation"]
    ]
    for merchant, order, amount in (("m1", orders[0], 516), ("m2", orders[1], 907)):
        history = market.see(merchant, "ledger.history", order=order["id"])["posting"]
        assert [("buyer:b1", -amount), (f"merchant:{merchant}", amount)] == [
            (row["account"], row["amount"]) for row in history
        ]
    assert [(17, 17, 0), (4, 4, 0), (0, 0, 0)] == [
        (row.on_hand, row.available, row.reserved) for row in (market.row("inventory", key) for key in "abc")
    ]
    assert "order.unknown" == market.say("m2", "order.get", order=orders[0]["id"]).rule
    seen = market.see("b1", "cart.get", cart_quote="q1")
    assert ([quote], [group]) == (seen["cart_quote"], seen["order_group"])
    assert "cart.state" == market.say("b1", "cart.checkout", cart_quote="q1").rule


def test_where_payments_are_held_a_checkout_holds_them_and_the_units(new_market: Any) -> None:
    market = new_market({**ROWS, "policy": {"settlement": {"holds": True}}})
    bought = market.see("b1", "cart.checkout", cart_quote="q1")
    assert ["accepted", "accepted"] == [order["state"] for order in bought["order"]]
    held = [(row["state"], row["authorized"], row["captured"]) for row in bought["payment"]]
    assert [("authorized", 516, 0), ("authorized", 907, 0)] == held
    stock = market.row("inventory", "a")
    assert (20, 17, 3) == (stock.on_hand, stock.available, stock.reserved)
    market.see("m1", "order.cancel", "b1", order=bought["order"][0]["id"])
    assert 20 == market.row("inventory", "a").available


def test_what_is_short_at_one_merchant_is_bought_at_none(market: Any) -> None:
    refused = market.say("b1", "cart.checkout", cart_quote="many")
    assert ({"listing": "c", "quantity": 2}, NO_CHANGE, []) == (refused.detail, refused.delta, refused.events)
    assert 20 == market.row("inventory", "a").available


def test_a_checkout_asked_for_twice_under_one_key_is_made_once(market: Any) -> None:
    first = market.say("b1", "cart.checkout", cart_quote="q1", key="once")
    root = market.state.root()
    again = market.say("b1", "cart.checkout", cart_quote="q1", key="once")
    assert ("accepted", "message.retry", first.result, []) == (
        again.outcome, again.rule, again.result, again.events
    )  # fmt: skip
    assert root == market.state.root()


def test_a_quote_can_be_taken_until_it_expires(market: Any) -> None:
    keys = [market.say("b1", "cart.request_quote", lines=units(a=1)).events[0].cart_quote for _ in range(2)]
    market.say("operator", "clock.advance", ticks=3)
    assert "accepted" == market.say("b1", "cart.checkout", cart_quote=keys[0]).outcome
    market.say("operator", "clock.advance")
    late = market.say("b1", "cart.checkout", cart_quote=keys[1])
    assert ("cart.expired", {"cart_quote": keys[1], "expires": 8}) == (late.rule, late.detail)


def test_a_quote_near_the_end_of_time_holds_until_then(market: Any) -> None:
    market.say("operator", "clock.advance", ticks=2**31 - 6)
    assert 2**31 - 1 == market.say("b1", "cart.request_quote", lines=units(a=1)).events[1].expires


def test_without_a_policy_a_quote_holds_for_good(new_market: Any) -> None:
    market = new_market({table: rows for table, rows in ROWS.items() if table != "policy"})
    key = market.say("b1", "cart.request_quote", lines=units(a=1)).events[0].cart_quote
    market.say("operator", "clock.advance", ticks=2**31 - 6)
    assert "accepted" == market.say("b1", "cart.checkout", cart_quote=key).outcome


def test_a_refused_quote_isnt_told_what_is_right(market: Any) -> None:
    """Else asking again and again would do a merchant's sums for it."""
    refused = market.say("m1", "cart.quote", "b1", cart_quote="asked", **SAID)
    assert ("cart.charges", {"cart_quote": "asked"}) == (refused.rule, refused.detail)


def test_a_merchant_without_published_prices_sells_at_list_prices(new_market: Any) -> None:
    market = new_market({table: rows for table, rows in ROWS.items() if table in ("listing", "inventory")})
    (quote,) = market.see("b1", "cart.request_quote", lines=LINES["two"])["cart_quote"]
    assert [(550, []), (900, [])] == [(each["total"], each["charges"]) for each in quote["quotes"]]


def test_published_prices_are_shown_whole(market: Any) -> None:
    (row,) = market.see("b1", "pricing.get", merchant="m1")["pricing"]
    assert {"id": "m1", **msgspec.json.decode(msgspec.json.encode(market.row("pricing", "m1")))} == row
    assert [TIER["steps"], [SHIPPING["fixed"], 0]] == [
        row["tiers"][0]["steps"], [charge["fixed"] for charge in row["charges"]]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sender", "kind", "fields"),
    [
        ("b1", "cart.get", {"cart_quote": "q1"}),
        ("b1", "cart.get", {"cart_quote": "done"}),
        ("m1", "cart.get", {"cart_quote": "own"}),
        ("m2", "pricing.get", {"merchant": "m1"}),
    ],
)
def test_what_is_shown_is_said_to_be_read(
    market: Any, sender: str, kind: str, fields: dict[str, str]
) -> None:
    ruling = market.rule(sender, kind, **fields)
    shown = [(name, row["id"]) for name, rows in ruling.shown.value.items() for row in rows]
    assert shown == ruling.decision.reads
    for name, rows in ruling.shown.value.items():
        for row in rows:
            assert {"id": row["id"], **msgspec.structs.asdict(market.row(name, row["id"]))} == row


SAID = {"lines": LINES["good"], "subtotal": 490, "charges": [], "grand_total": 1}


@pytest.mark.parametrize(
    ("way",     "kind",          "key",    "more"),
    [
        ("b1",  "cart.get",      "other",  {}),
        ("m2",  "cart.get",      "own",    {}),
        ("b1",  "cart.checkout", "other",  {}),
        ("m1", "cart.quote", "q1", SAID),
    ],
)  # fmt: skip
def test_a_party_cant_tell_a_foreign_quote_from_one_that_is_not_there(
    market: Any, way: str, kind: str, key: str, more: dict[str, Any]
) -> None:
    foreign = market.say(way, kind, cart_quote=key, **more)
    unknown = market.say(way, kind, cart_quote="q99", **more)
    assert "cart.unknown" == foreign.rule == unknown.rule
    assert ({"cart_quote": key}, {"cart_quote": "q99"}) == (foreign.detail, unknown.detail)


def test_events_name_the_rows_they_make(market: Any) -> None:
    kinds = market.world.event_kinds
    assert [("cart_quote",), (), ("order_group",)] == [
        made_fields(kinds[kind]) for kind in ("cart.quote_requested", "cart.quoted", "cart.checked_out")
    ]


WORLD = world_of(WorldRef(name="commerce", params={}, version=0))


def test_start_rows_are_made_whole() -> None:
    rows = WORLD.complete(ROWS)
    quotes = rows["cart_quote"]
    assert {
        "q1": ("quoted", 1423, None), "asked": ("requested", None, None), "own": ("quoted", 516, None),
        "done": ("ordered", 151, "g"),
    } == {
        key: (quotes[key]["state"], quotes[key]["grand_total"], quotes[key]["order_group"])
        for key in ("q1", "asked", "own", "done")
    }  # fmt: skip
    assert "SEK" == quotes["unkept"]["currency"]
    group = {"buyer": "b1", "orders": ["og"], "total": 151, "currency": "EUR", "cart_quote": "done"}
    assert group == rows["order_group"]["g"]
    assert 151 == rows["order"]["og"]["total"]
    assert rows == WORLD.complete(copy.deepcopy(rows))


def test_an_order_comes_to_its_lines_less_discounts_with_charges() -> None:
    rows = copy.deepcopy(ROWS)
    rows["order"]["og"]["lines"] = [line("a", 2, 100, 60)]
    rows["order"]["og"]["charges"] = 11
    assert 151 == WORLD.complete(rows)["order"]["og"]["total"]


PART = {"merchant": "m1", "lines": [line("a", 1, 100)], "subtotal": 100, "charges": [], "total": 100}
QUOTED = {"buyer": "b1", "lines": units(a=1), "state": "quoted", "quotes": [PART], "grand_total": 100}
GROUP = {"buyer": "b1", "total": 0}
FAR = {"listings": ["a"], "steps": [{"quantity": 3, "unit_price": 1}, {"quantity": 3, "unit_price": 0}]}
CLOSED = {"kind": "fee", "subtotal_from": 2, "subtotal_to": 1}

WRONG: list[tuple[str, str, dict[str, Any]]] = [
    # what is said                               table          rows put over the good ones
    ("names listing `zz`, which is not there", "pricing", {"m1": {"tiers": [{**TIER, "listings": ["zz"]}]}}),
    ("names listing `zz`, which is not there", "pricing",
        {"m1": {"bundles": [{**PAIR, "parts": units(zz=1)}]}}),
    ("names listing `zz`, which is not there", "cart_quote", {"q9": {"buyer": "b1", "lines": units(zz=1)}}),
    ("names order_group `g9`",                   "order",       {"og": {"order_group": "g9"}}),
    ("has a listing in two tiers",               "pricing",     {"m1": {"tiers": [TIER, TIER]}}),
    ("has steps that don't rise",                "pricing",     {"m1": {"tiers": [FAR]}}),
    ("a bundle or relation that names a listing twice", "pricing",
        {"m1": {"bundles": [{**PAIR, "parts": units(a=1) * 2}]}}),
    ("a bundle or relation that names a listing twice", "pricing",
        {"m1": {"relations": [{"kind": "required_with", "listings": ["a", "a"]}]}}),
    ("a charge whose window ends before",        "pricing",     {"m1": {"charges": [CLOSED]}}),
    ("prices `c`, which is another's", "pricing", {"m1": {"tiers": [{**TIER, "listings": ["c"]}]}}),
    ("prices `a`, which is another's or in another currency", "pricing", {"m1": {"currency": "SEK"}}),
    ("has a listing twice", "cart_quote", {"q9": {"buyer": "b1", "lines": units(a=1) * 2}}),
    ("is asked of no merchant",                  "cart_quote",  {"other": {"state": "requested"}}),
    ("is asked of no merchant",                  "cart_quote",  {"asked": {"buyer": "m1"}}),
    ("is only requested, and says what",         "cart_quote",  {"asked": {"expires": 9}}),
    ("is only requested, and says what",         "cart_quote",  {"asked": {"quotes": [PART]}}),
    ("asks `m2` for `a`",                        "cart_quote",  {"asked": {"merchant": "m2"}}),
    ("quotes other lines than it has",           "cart_quote",  {"q9": {**QUOTED, "lines": units(a=2)}}),
    ("quotes other lines than it has",           "cart_quote",  {"q9": {**QUOTED, "quotes": [PART, PART]}}),
    ("quotes other lines than it has", "cart_quote", {"q9": {"buyer": "b1", "lines": units(dear=2)}}),
    ("is not between its buyer and its merchants", "cart_quote", {"q9": {**QUOTED, "buyer": "m1"}}),
    ("is not between its buyer and its merchants", "cart_quote", {"q9": {**QUOTED, "merchant": "m2"}}),
    ("has sums that are not those of its lines", "cart_quote",  {"q9": {**QUOTED, "grand_total": 99}}),
    ("has sums that are not those of its lines", "cart_quote",
        {"q9": {**QUOTED, "quotes": [{**PART, "subtotal": 99}]}}),
    ("is `ordered` without a group",             "cart_quote",  {"q1": {"state": "ordered"}}),
    ("is `ordered` without a group",             "cart_quote",  {"done": {"state": "quoted"}}),
    ("says currency `SEK`, and listing `a` `EUR`", "cart_quote", {"q9": {**QUOTED, "currency": "SEK"}}),
    ("has `m2` quote `a`, which is another's",   "cart_quote",
        {"q9": {**QUOTED, "quotes": [{**PART, "merchant": "m2"}]}}),
    ("which is of another quote", "cart_quote", {"q9": {**QUOTED, "state": "ordered", "order_group": "g"}}),
    ("names other orders than those that name", "order_group",
        {"g9": {**GROUP, "orders": ["og"], "total": 151}}),
    ("names other orders than those that name", "order_group",
        {"g": {"orders": [], "total": 0, "buyer": "b1"}}),
    ("has an order of another buyer",            "order_group", {"g": {"buyer": "b2"}}),
    ("has an order of another buyer",            "order_group", {"g": {"currency": "SEK"}}),
    ("a total that its orders don't come to",    "order_group", {"g": {"total": 1}}),
    ("is of a quote that doesn't name it",       "order_group", {"g9": {**GROUP, "cart_quote": "done"}}),
    ("is of a quote that doesn't name it", "order_group",
        {"g9": {**GROUP, "buyer": "b2", "cart_quote": "q1"}}),
    ("is not such a row",                        "order_group", {"g9": {}}),
    ("is not such a row",                        "cart_quote",  {"q9": {"buyer": "b1", "lines": "a"}}),
    ("is not such a row",                        "cart_quote",  {"q9": {"buyer": "b1", "lines": [3]}}),
    ("is not such a row",                        "cart_quote",  {"q9": {"buyer": "b1"}}),
    ("is not such a row",                        "pricing",     {"m1": {"tiers": [3]}}),
]  # fmt: skip


@pytest.mark.parametrize(("said", "table", "changes"), WRONG)
def test_rows_that_dont_agree_are_refused(said: str, table: str, changes: dict[str, Any]) -> None:
    rows = copy.deepcopy(ROWS)
    for key, columns in changes.items():
        rows[table][key] = {**rows[table].get(key, {}), **columns}
    with pytest.raises(WorldError) as caught:
        WORLD.complete(rows)
    assert "facts.row" == caught.value.code
    assert said in caught.value.text

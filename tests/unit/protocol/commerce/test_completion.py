"""Start rows made whole, and those that are refused because they don't agree."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tollbook.protocol.bodies import WorldRef
from tollbook.protocol.canonical import encode
from tollbook.protocol.errors import WorldError
from tollbook.protocol.world import StartRows, world_of

WORLD = world_of(WorldRef(name="commerce", params={}, version=0))

ROWS: StartRows = {
    "listing": {
        "l1": {"merchant": "m", "title": "lamp", "price": 1000, "currency": "SEK"},
        "l2": {"merchant": "m", "title": "cup", "price": 5},
    },
    "inventory": {"l1": {"available": 3}, "l2": {"on_hand": 4, "reserved": 1}},
    "negotiation": {"n1": {"listing": "l1", "buyer": "b", "quantity": 2, "unit_price": 900}},
    "agreement": {
        "a1": {"negotiation": "n1", "listing": "l1"},
        "a2": {
            "listing": "l1", "buyer": "b", "quantity": 3, "unit_price": 7, "state": "settled", "order": "o1",
        },
    },
    "order": {
        "o1": {"agreement": "a2", "state": "settled"},
        "o2": {
            "buyer": "c", "merchant": "m", "state": "delivered",
            "lines": [
                {"listing": "l1", "quantity": 2, "unit_price": 40},
                {"listing": "l2", "quantity": 1, "unit_price": 5},
            ],
        },
    },
    "payment": {
        "p2": {"order": "o2", "captured": 60, "refunded": 20},
        "p1": {"order": "o2", "captured": 25},
        "p3": {"order": "o1", "captured": 0, "authorized": 21, "state": "authorized"},
    },
    "return": {"r1": {"order": "o2", "condition": "worn"}},
    "refund_case": {"c1": {"order": "o2", "amount": 5}},
}  # fmt: skip


def test_what_follows_is_filled_in() -> None:
    rows = WORLD.complete(ROWS)
    assert {"tick": 0} == rows["clock"]["now"]
    assert (5, 3, 2) == tuple(rows["inventory"]["l1"][name] for name in ("on_hand", "available", "reserved"))
    assert (4, 3, 1) == tuple(rows["inventory"]["l2"][name] for name in ("on_hand", "available", "reserved"))
    negotiation = rows["negotiation"]["n1"]
    assert ("m", "b", 1) == tuple(negotiation[name] for name in ("merchant", "offered_by", "round"))
    agreement = rows["agreement"]["a1"]
    assert ("b", "m", 2, 1800, "SEK") == tuple(
        agreement[name] for name in ("buyer", "merchant", "quantity", "total", "currency")
    )
    assert ("b", "m", 21, "SEK") == tuple(
        rows["order"]["o1"][name] for name in ("buyer", "merchant", "total", "currency")
    )
    assert (85, "EUR") == (rows["order"]["o2"]["total"], rows["order"]["o2"]["currency"])
    assert ["partially_refunded", "captured"] == [rows["payment"][key]["state"] for key in ("p2", "p1")]
    assert [("c", "m")] * 2 == [
        (row["buyer"], row["merchant"]) for row in (rows["return"]["r1"], rows["refund_case"]["c1"])
    ]


def test_an_order_names_what_hangs_on_it_in_the_order_of_the_file() -> None:
    order = WORLD.complete(ROWS)["order"]["o2"]
    assert (["p2", "p1"], ["r1"], ["c1"]) == (order["payments"], order["returns"], order["refund_cases"])


def test_a_payment_gets_postings_that_say_what_it_says() -> None:
    rows = WORLD.complete(ROWS)
    postings = [rows["posting"][key] for key in rows["order"]["o2"]["postings"]]
    assert [
        ("p2", "buyer:c", -60),
        ("p2", "merchant:m", 60),
        ("p2", "buyer:c", 20),
        ("p2", "merchant:m", -20),
        ("p1", "buyer:c", -25),
        ("p1", "merchant:m", 25),
    ] == [(row["payment"], row["account"], row["amount"]) for row in postings]
    assert [] == rows["order"]["o1"]["postings"]
    assert {"buyer:c": {"EUR": -65}, "merchant:m": {"EUR": 65}} == {
        name: row["balances"] for name, row in rows["account"].items()
    }


def test_whole_rows_stay_as_they_are() -> None:
    once = WORLD.complete(copy.deepcopy(ROWS))
    assert once == WORLD.complete(once)
    assert list(once) == list(WORLD.tables)


def test_what_was_written_is_not_changed() -> None:
    before = copy.deepcopy(ROWS)
    WORLD.complete(ROWS)
    assert before == ROWS


def test_nothing_is_completed_to_a_clock() -> None:
    assert {"clock": {"now": {"tick": 0}}} == {
        table: rows for table, rows in WORLD.complete({}).items() if rows
    }


POSTING = {"order": "o2", "payment": "p1", "entry": "x", "tick": 0, "account": "buyer:c", "amount": -25}
LINE = {"listing": "l9", "quantity": 1, "unit_price": 1}
SELF = {"buyer": "m", "merchant": "m", "state": "settled"}
RETURN = {"order": "o9", "condition": "worn"}
BOTH = {"x1": POSTING, "x2": {**POSTING, "account": "merchant:m", "amount": 25}}
SMALL = {"x1": {**POSTING, "amount": -1}, "x2": {**BOTH["x2"], "amount": 1}}
MOVED = {**BOTH, "x1": {**POSTING, "order": "o1"}}

WRONG: list[tuple[str, str, dict[str, Any]]] = [
    # what is said                                  table          rows put over the good ones
    ("is not such a row: Expected `int`",           "listing",     {"l1": {"price": "much"}}),
    ("is not such a row: Object contains unknown",  "listing",     {"l1": {"colour": "red"}}),
    ("is not such a row: Object missing",           "listing",     {"l3": {"merchant": "m"}}),
    ("is not such a row: Invalid enum",             "order",       {"o1": {"state": "payed"}}),
    ("is not such a row",                           "inventory",   {"l1": {"available": "3"}}),
    ("is not such a row",                           "payment",     {"p1": {"captured": None}}),
    ("is not such a row",                           "order",       {"o2": {"lines": "no"}}),
    ("is not such a row",                           "order",       {"o9": {"lines": [3]}}),
    ("is not such a row",                           "agreement",   {"a1": {"quantity": "2"}}),
    ("Object missing required field `total`",       "order",       {"o9": {**SELF, "lines": []}}),
    ("names order `o9`, which is not there",        "payment",     {"p9": {"order": "o9", "captured": 1}}),
    ("names order `o9`, which is not there",        "return",      {"r9": RETURN}),
    ("names negotiation `n9`",                      "agreement",   {"a2": {"negotiation": "n9"}}),
    ("names listing `l9`",                          "order",       {"o2": {"lines": [LINE]}}),
    ("is of no listing",                            "inventory",   {"l9": {"available": 1}}),
    ("says buyer `b`, and its order `c`",           "return",      {"r1": {"buyer": "b"}}),
    ("says unit_price `1`, and its negotiation",    "agreement",   {"a1": {"unit_price": 1}}),
    ("says currency `EUR`, and its listing `SEK`",  "agreement",   {"a1": {"currency": "EUR"}}),
    ("names others in `payments`",                  "order",       {"o2": {"payments": ["p1"]}}),
    ("names others in `returns`",                   "order",       {"o1": {"returns": ["r1"]}}),
    ("is not called `now`",                         "clock",       {"then": {"tick": 1}}),
    ("contradicts itself",                          "inventory",   {"l1": {"on_hand": 9}}),
    ("contradicts itself",                          "payment",     {"p1": {"refunded": 26}}),
    ("has one party on both sides",                 "order",       {"o9": {**SELF, "total": 1}}),
    ("has a total that isn't quantity times",       "agreement",   {"a1": {"total": 1}}),
    ("has a last offer by neither",                 "negotiation", {"n1": {"offered_by": "z"}}),
    ("is `captured`, and its amounts say `partly",  "payment",     {"p2": {"state": "captured"}}),
    ("is `voided`, and holds captured money",       "payment",     {"p1": {"state": "voided"}}),
    ("has units that no stock of `l1` reserves",    "inventory",   {"l1": {"reserved": 1}}),
    ("is of entry `x`, which doesn't sum to zero",  "posting",     {"x1": POSTING}),
    ("says otherwise than its postings",            "posting",     SMALL),
    ("says order `o1`, and its payment `o2`",       "posting",     MOVED),
    ("doesn't hold what its postings come to",      "account",     {"buyer:c": {"balances": {"EUR": 1}}}),
    ("doesn't hold what its postings come to",      "account",     {"buyer:z": {"balances": {}}}),
]  # fmt: skip


@pytest.mark.parametrize(("said", "table", "changes"), WRONG)
def test_rows_that_dont_agree_are_refused(said: str, table: str, changes: dict[str, Any]) -> None:
    rows = copy.deepcopy(ROWS)
    found = rows.setdefault(table, {})
    for key, columns in changes.items():
        found[key] = {**found.get(key, {}), **columns}
    with pytest.raises(WorldError) as caught:
        WORLD.complete(rows)
    assert "facts.row" == caught.value.code
    assert said.replace("partly", "partially_refunded") in caught.value.text
    assert any(f"row `{key}` of" in caught.value.text for key in (*changes, "a1", "p1", "o2"))


def test_a_books_entry_of_ones_own_stands() -> None:
    rows = {**copy.deepcopy(ROWS), "posting": BOTH}
    order = WORLD.complete(rows)["order"]["o2"]
    assert ["x1", "x2"] == order["postings"][:2]
    assert 6 == len(order["postings"])


def test_a_table_that_is_not_there_is_refused() -> None:
    with pytest.raises(WorldError) as caught:
        WORLD.complete({"shelf": {}})
    assert ("facts.table", "the world has no table `shelf`") == (caught.value.code, caught.value.text)


def test_rows_that_dont_agree_never_become_facts() -> None:
    """Whoever makes start rows without completing them meets the same checks."""
    rows = WORLD.complete(ROWS)
    rows["order"]["o2"]["payments"] = ["p1", "p2", "p9"]
    typed = [
        (table, key, WORLD.read_row(table, encode(row)))
        for table, found in rows.items()
        for key, row in found.items()
    ]
    with pytest.raises(WorldError, match="names others in `payments`"):
        WORLD.facts(typed)


def test_a_row_that_contradicts_itself_is_not_read() -> None:
    with pytest.raises(WorldError, match="contradicts itself"):
        WORLD.read_row("inventory", encode({"available": 1, "on_hand": 3, "reserved": 1}))

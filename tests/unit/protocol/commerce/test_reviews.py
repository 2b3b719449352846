"""Reviews, reputations, friendships and revisions of mandates: refusals in order, and who sees what."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from refusal_tables import check_refusal

from tollbook.protocol.commerce.orders import OrderDelivered, OrderReturned
from tollbook.protocol.errors import WorldError
from tollbook.protocol.world import StartRows

LINES = [{"listing": "l1", "quantity": 1, "unit_price": 5}]

ROWS: StartRows = {
    "clock": {"now": {"tick": 5}},
    "listing": {
        "l1": {"merchant": "m1", "title": "lamp", "price": 5},
        "l2": {"merchant": "m1", "title": "cup", "price": 5},
        "l3": {"merchant": "m2", "title": "rug", "price": 5},
    },
    "order": {
        "o1": {"buyer": "b1", "merchant": "m1", "state": "delivered", "lines": LINES},
        "o2": {"buyer": "b1", "merchant": "m1", "state": "settled", "lines": LINES},
        "o3": {"buyer": "b2", "merchant": "m1", "state": "returned", "lines": LINES},
    },
    "review": {
        "v1": {"reviewer": "b1", "listing": "l2", "rating": 1, "text": "It broke.", "tick": 3},
        "v2": {"reviewer": "b2", "listing": "l2", "rating": 5, "verified": True, "tick": 2},
        "v3": {"reviewer": "zoe", "listing": "l2", "rating": 4, "tick": 2},
        "v4": {"reviewer": "b2", "listing": "l1", "rating": 4, "order": "o3", "verified": True},
    },
    "reputation": {
        "m1": {
            "fulfilled": 3, "ratings": 1, "rating_sum": 4,
            "history": [{"what": "fulfilled", "verified": True}, {"what": "fulfilled"}],
        },
    },
    "friendship": {
        "fa": {"party": "b1", "friend": "zoe"},
        "fb": {"party": "zoe", "friend": "b2"},
        "fc": {"party": "b2", "friend": "b1", "since": 4},
    },
    "mandate_authority": {
        "a1": {"party": "b1", "source": "principal", "rank": 1, "scope": ["weights"]},
        "a2": {"party": "b2", "source": "principal"},
        "a3": {"party": "b1", "source": "mailer", "authorized": False, "rank": 9},
    },
    "mandate_revision": {
        "r1": {"mandate_authority": "a3", "revision": 2, "changes": {"price": 9}, "previous": "r2"},
        "r2": {"mandate_authority": "a1", "revision": 1, "changes": {"region": "north", "urgent": True}},
        "r3": {"party": "b2", "source": "someone", "revision": 1},
    },
}  # fmt: skip

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by               kind                  from > to   fields
    ("listing.unknown",         "review.submit",      "b1 > m2",  "listing=l9 rating=3 order=o3"),
    ("order.unknown",           "review.submit",      "b1 > m2",  "listing=l2 rating=3 order=o3"),
    ("review.addressee",        "review.submit",      "b1 > m2",  "listing=l2 rating=3 order=o2"),
    ("review.order_state",      "review.submit",      "b1 > m1",  "listing=l2 rating=3 order=o2"),
    ("review.listing",          "review.submit",      "b1 > m1",  "listing=l2 rating=3 order=o1"),
    ("review.twice",            "review.submit",      "b1 > m1",  "listing=l2 rating=3"),
    (None,                      "review.submit",      "b1 > m1",  "listing=l1 rating=3 order=o1"),
    ("listing.unknown",         "review.list",        "m2",       "listing=l9"),
    (None,                      "review.list",        "m2",       "listing=l2"),
    ("reputation.unknown",      "reputation.get",     "b1",       "merchant=m2"),
    (None,                      "reputation.get",     "b1",       "merchant=m1"),
    (None,                      "friends.list",       "b1",       ""),
    (None,                      "mandate.revisions",  "b1",       ""),
    ("mandate.unknown",         "mandate.authority",  "b1",       "mandate_authority=a2"),
    (None,                      "mandate.authority",  "b1",       "mandate_authority=a3"),
]  # fmt: skip


@pytest.fixture
def market(new_market: Any) -> Any:
    """A market in which things were said."""
    return new_market(ROWS)


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_a_refusal_comes_in_its_order_and_changes_nothing(
    market: Any, rule: str | None, kind: str, way: str, words: str
) -> None:
    check_refusal(market, rule, kind, way, words)


@pytest.mark.parametrize("party", ["b1", "m1", "operator"])
def test_anothers_authority_is_refused_as_one_that_is_not_there(market: Any, party: str) -> None:
    foreign, absent = (
        market.say(party, "mandate.authority", mandate_authority=key) for key in ("a2", "a99")
    )
    assert ("mandate.unknown", {"mandate_authority": "a2"}) == (foreign.rule, foreign.detail)
    assert ("mandate.unknown", {"mandate_authority": "a99"}) == (absent.rule, absent.detail)


@pytest.mark.parametrize(
    ("party",    "kind",              "table",             "keys"),
    [
        ("b1",       "friends.list",      "friendship",        ["fa", "fc"]),
        ("b2",       "friends.list",      "friendship",        ["fb", "fc"]),
        ("m1",       "friends.list",      "friendship",        []),
        ("operator", "friends.list",      "friendship",        []),
        ("b1",       "mandate.revisions", "mandate_revision",  ["r2", "r1"]),
        ("b2",       "mandate.revisions", "mandate_revision",  ["r3"]),
        ("m1",       "mandate.revisions", "mandate_revision",  []),
        ("operator", "mandate.revisions", "mandate_revision",  []),
    ],
)  # fmt: skip
def test_a_party_is_shown_its_own(market: Any, party: str, kind: str, table: str, keys: list[str]) -> None:
    ruling = market.rule(party, kind)
    assert {table: keys} == {name: [row["id"] for row in rows] for name, rows in ruling.shown.value.items()}
    assert [(table, key) for key in keys] == ruling.decision.reads
    for row in ruling.shown.value[table]:
        assert {"id": row["id"], **msgspec.structs.asdict(market.row(table, row["id"]))} == row


def test_reviews_are_shown_oldest_first(market: Any) -> None:
    ruling = market.rule("m2", "review.list", listing="l2")
    assert [("review", key) for key in ("v2", "v3", "v1")] == ruling.decision.reads
    assert "It broke." == ruling.shown.value["review"][2]["text"]
    assert {"review": []} == market.see("b1", "review.list", listing="l3")


def test_a_verified_review_counts_in_its_merchants_reputation(market: Any) -> None:
    review = market.see("b1", "review.submit", "m1", listing="l1", rating=2, order="o1")["review"][0]
    assert ("b1", 2, True, "o1", "", 5) == tuple(
        review[name] for name in ("reviewer", "rating", "verified", "order", "text", "tick")
    )
    reputation = market.see("m2", "reputation.get", merchant="m1")["reputation"][0]
    assert (3, 2, 6) == tuple(reputation[name] for name in ("fulfilled", "ratings", "rating_sum"))
    listed = market.see("m2", "review.list", listing="l1")["review"]
    assert ["v4", review["id"]] == [row["id"] for row in listed]


def test_a_review_without_an_order_counts_for_nothing(market: Any) -> None:
    review = market.see("b1", "review.submit", "m2", listing="l3", rating=5)["review"][0]
    assert (False, None) == (review["verified"], review["order"])
    assert "reputation.unknown" == market.say("b1", "reputation.get", merchant="m2").rule
    assert "review.twice" == market.say("b1", "review.submit", "m2", listing="l3", rating=1).rule
    assert market.say("b2", "review.submit", "m2", listing="l3", rating=1).rule is None


def test_what_becomes_of_orders_counts_in_their_merchants_reputation(market: Any) -> None:
    market.state.put("order", "o2", msgspec.structs.replace(market.row("order", "o2"), state="dispatched"))
    for event in (OrderDelivered("o2"), OrderReturned("o2")):
        market.world.evolve(market.state, event)
    found = market.row("reputation", "m1")
    assert (4, 1, 1, 4) == (found.fulfilled, found.returned, found.ratings, found.rating_sum)


@pytest.mark.parametrize("rating", [0, 6, -1])
def test_a_rating_is_from_one_to_five(market: Any, rating: int) -> None:
    with pytest.raises(msgspec.ValidationError):
        market.say("b1", "review.submit", "m2", listing="l3", rating=rating)


@pytest.mark.parametrize(
    ("table", "key", "columns"),
    [
        ("review",           "v1", {"order": "o1", "verified": True}),
        ("review",           "v4", {"reviewer": "b1"}),
        ("review",           "v4", {"verified": False}),
        ("review",           "v3", {"reviewer": "b1"}),
        ("review",           "v3", {"rating": 0}),
        ("review_index",     "l2", {"reviews": {"b1": "v1"}}),
        ("review_index",     "l9", {"reviews": {}}),
        ("reputation",       "m1", {"merchant": "m2"}),
        ("reputation",       "m1", {"rating_sum": 6}),
        ("reputation",       "m1", {"ratings": 5}),
        ("friendship",       "fa", {"friend": "b1"}),
        ("mandate_revision", "r1", {"party": "b2"}),
        ("mandate_revision", "r1", {"source": "principal"}),
        ("mandate_revision", "r1", {"previous": "r3"}),
        ("mandate_revision", "r1", {"revision": 1}),
        ("mandate_revision", "r1", {"previous": "r9"}),
    ],
)  # fmt: skip
def test_start_rows_that_dont_agree_are_refused(
    new_market: Any, table: str, key: str, columns: dict[str, Any]
) -> None:
    found = ROWS.get(table, {})
    with pytest.raises(WorldError) as caught:
        new_market({**ROWS, table: {**found, key: {**found.get(key, {}), **columns}}})
    assert "facts.row" == caught.value.code


def test_start_rows_are_filled_in(market: Any) -> None:
    assert {"b1": "v1", "b2": "v2", "zoe": "v3"} == market.row("review_index", "l2").reviews
    assert ("b1", "principal") == (market.row("mandate_revision", "r2").party,
                                   market.row("mandate_revision", "r2").source)  # fmt: skip
    assert "m1" == market.row("reputation", "m1").merchant
    made = market.world.complete(ROWS)
    assert made == market.world.complete(made)

"""Searches, and taking what they offer: refusals in order, the ranking by hand, what acts make and show."""

from __future__ import annotations

from typing import Any

import pytest
from refusal_tables import check_refusal, said

from tollbook.protocol.canonical import encode
from tollbook.protocol.commerce.search import MOST_RESULTS
from tollbook.protocol.commerce.search_index import candidates, index_of, words_of
from tollbook.protocol.commerce.talk import LAST_TICK
from tollbook.protocol.errors import WorldError
from tollbook.protocol.world import StartRows, row_fields

DESK = {"merchant": "m1", "title": "Desk lamp", "price": 1000}

ROWS: StartRows = {
    "clock": {"now": {"tick": 5}},
    "policy": {"ranking": {"deadline_ticks": 2}, "matching": {"deadline_ticks": 3}},
    "listing": {
        "l1": {
            **DESK, "features": ["dimmer", "usb"], "attributes": {"days": 5, "warranty": 18, "led": True},
        },
        "l2": {**DESK, "price": 1001, "features": ["usb"], "attributes": {"days": 6, "led": 1}},
        "l3": {"merchant": "m2", "title": "Floor lamp", "price": 900, "description": "No desk lamp."},
        "l4": {"merchant": "m2", "title": "Rug", "price": 9000, "sponsored": True, "currency": "SEK"},
        "l5": {**DESK, "state": "withdrawn"},
        "l6": {"merchant": "m1", "title": "LAMP Åre 2000", "price": 50, "sponsored": True},
    },
    "inventory": {"l1": {"available": 2}, "l2": {"available": 0}, "l3": {"available": 1}},
    "search_session": {"s1": {"buyer": "b1"}, "s2": {"buyer": "b2"}},
    "offer_ranking": {
        "f1": {"search_session": "s1", "listing": "l1", "expires": 5},
        "f2": {"search_session": "s1", "listing": "l5", "expires": 4, "state": "accepted", "price": 1},
        "f3": {"search_session": "s1", "listing": "l5", "expires": 4, "price": 1},
        "f4": {"search_session": "s1", "listing": "l5", "price": 1},
        "f5": {"search_session": "s1", "listing": "l2", "price": 1000},
        "f6": {"search_session": "s1", "listing": "l2"},
        "f7": {"search_session": "s2", "listing": "l2"},
    },
    "match_certificate": {
        "m1": {"buyer": "b1", "listing": "l1", "unit_price": 700, "quantity": 2, "expires": 5},
        "m2": {"buyer": "b1", "listing": "l1", "state": "used", "order": "o1", "expires": 4},
        "m3": {"buyer": "b1", "listing": "l1", "expires": 4, "quantity": 3},
        "m4": {"buyer": "b1", "listing": "l1", "quantity": 3},
        "m5": {"buyer": "b2", "listing": "l1"},
    },
    "order": {"o1": {"buyer": "b1", "merchant": "m1", "state": "settled", "total": 1000}},
}  # fmt: skip

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by                kind                    from > to   fields
    ("search.addressee",         "listing.search",       "b1 > m1",  "query=lamp"),
    (None,                       "listing.search",       "b1",       "query=lamp"),
    ("listing.unknown",          "listing.update",       "m1",       "listing=l9"),
    ("listing.foreign",          "listing.update",       "m1",       "listing=l3"),
    ("listing.unchanged",        "listing.update",       "m2",       "listing=l3"),
    (None,                       "listing.update",       "m1",       "listing=l1"),
    ("listing.unknown",          "listing.reprice",      "m1",       "listing=l9 price=900"),
    ("listing.foreign",          "listing.reprice",      "m1",       "listing=l3 price=900"),
    ("listing.unchanged",        "listing.reprice",      "m2",       "listing=l3 price=900"),
    (None,                       "listing.reprice",      "m2 > b1",  "listing=l3 price=0"),
    ("offer.unknown",            "offer.accept_ranked",  "b1 > m2",  "offer_ranking=f7"),
    ("offer.addressee",          "offer.accept_ranked",  "b1 > m2",  "offer_ranking=f2"),
    ("offer.state",              "offer.accept_ranked",  "b1 > m1",  "offer_ranking=f2"),
    ("offer.expired",            "offer.accept_ranked",  "b1 > m1",  "offer_ranking=f3"),
    ("offer.withdrawn",          "offer.accept_ranked",  "b1 > m1",  "offer_ranking=f4"),
    ("offer.repriced",           "offer.accept_ranked",  "b1 > m1",  "offer_ranking=f5"),
    ("stock.short",              "offer.accept_ranked",  "b1 > m1",  "offer_ranking=f6"),
    (None,                       "offer.accept_ranked",  "b1 > m1",  "offer_ranking=f1"),
    ("certificate.unknown",      "certificate.get",      "b1",       "match_certificate=m5"),
    (None,                       "certificate.get",      "m1",       "match_certificate=m5"),
    ("certificate.unknown",      "certificate.redeem",   "b1 > m2",  "match_certificate=m5"),
    ("certificate.addressee",    "certificate.redeem",   "b1 > m2",  "match_certificate=m2"),
    ("certificate.state",        "certificate.redeem",   "b1 > m1",  "match_certificate=m2"),
    ("certificate.expired",      "certificate.redeem",   "b1 > m1",  "match_certificate=m3"),
    ("stock.short",              "certificate.redeem",   "b1 > m1",  "match_certificate=m4"),
    (None,                       "certificate.redeem",   "b1 > m1",  "match_certificate=m1"),
]  # fmt: skip


@pytest.fixture
def market(new_market: Any) -> Any:
    """A market of lamps."""
    return new_market(ROWS)


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_a_refusal_comes_in_its_order_and_changes_nothing(
    market: Any, rule: str | None, kind: str, way: str, words: str
) -> None:
    more = {"attributes": {"days": 4} if rule is None else {}} if kind == "listing.update" else {}
    check_refusal(market, rule, kind, way, words, **more)


@pytest.mark.parametrize(
    ("way",      "kind",                 "foreign"),
    [
        ("b1 > m1",  "offer.accept_ranked",  "f7"),
        ("b1 > m1",  "certificate.redeem",   "m5"),
        ("b1",       "certificate.get",      "m5"),
        ("m2",       "certificate.get",      "m5"),
        ("operator", "certificate.get",      "m5"),
    ],
)  # fmt: skip
def test_a_party_cant_tell_a_foreign_row_from_one_that_is_not_there(
    market: Any, way: str, kind: str, foreign: str
) -> None:
    (field,) = row_fields(market.world.kinds[kind])
    found, absent = (said(market, kind, way, f"{field}={key}") for key in (foreign, "none"))
    assert (absent.rule, {field: foreign}) == (found.rule, found.detail)


@pytest.mark.parametrize(
    ("found", "query", "filters"),
    [
        (["l6", "l1", "l2", "l3"],   "lamp",           {}),
        (["l6", "l1", "l2", "l3"],   "desk LAMP lamp", {}),
        (["l3"],                     "floor",          {}),
        (["l6"],                     "åre",            {}),
        ([],                         "Åre",            {"in_stock": True}),
        ([],                         "chair",          {}),
        (["l4", "l6", "l1", "l2", "l3"], "",           {}),
        (["l4", "l6", "l1", "l2", "l3"], "- ?!",       {}),
        (["l1"],                     "",               {"required_features": ["usb", "dimmer"]}),
        (["l1", "l2"],               "",               {"required_features": ["usb"]}),
        ([],                         "",               {"required_features": ["usb", "none"]}),
        (["l1"],                     "desk",           {"price_max": 1000, "at_least": {"days": 0}}),
        (["l1", "l3"],               "desk",           {"price_max": 1000}),
        (["l1", "l3"],               "lamp",           {"in_stock": True}),
        (["l1"],                     "lamp",           {"required_features": ["dimmer"]}),
        (["l1"],                     "lamp",           {"at_most": {"days": 5}}),
        (["l1", "l2"],               "lamp",           {"at_most": {"days": 6}}),
        (["l2"],                     "lamp",           {"at_least": {"days": 6}}),
        ([],                         "lamp",           {"at_least": {"days": 6, "warranty": 0}}),
        ([],                         "lamp",           {"at_most": {"led": 9}, "at_least": {"warranty": 0}}),
        (["l1"],                     "lamp",           {"equals": {"led": True}}),
        (["l2"],                     "lamp",           {"equals": {"led": 1}}),
        ([],                         "lamp",           {"equals": {"led": "1"}}),
    ],
)  # fmt: skip
def test_what_is_found_and_in_which_order(
    market: Any, found: list[str], query: str, filters: dict[str, Any]
) -> None:
    if query == "åre":
        query = "Åre"  # letters beyond ASCII count as they are
    seen = market.see("b2", "listing.search", query=query, filters=filters)
    offers = seen["offer_ranking"]
    assert found == [offer["listing"] for offer in offers]
    assert list(range(1, len(found) + 1)) == [offer["rank"] for offer in offers]
    session = seen["search_session"][0]
    assert ("b2", query, 5) == (session["buyer"], session["query"], session["tick"])
    assert session["results"] == [offer["id"] for offer in offers]


def test_other_cases_of_letters_beyond_ascii_are_other_letters(market: Any) -> None:
    assert [] == market.see("b1", "listing.search", query="åre")["offer_ranking"]
    assert [b"\xc3\x85re", b"2000", b"x"] == words_of("Åre-2000 X x")


def test_an_offer_shows_what_a_ranking_shows(market: Any) -> None:
    offer = market.see("b1", "listing.search", query="rug")["offer_ranking"][0]
    assert {
        "id": offer["id"], "search_session": offer["search_session"], "listing": "l4", "buyer": "b1",
        "merchant": "m2", "rank": 1, "title": "Rug", "price": 9000, "in_stock": False, "currency": "SEK",
        "sponsored": True, "state": "open", "expires": 7,
    } == offer  # fmt: skip


def test_what_a_search_shows_is_said_to_be_read(market: Any) -> None:
    ruling = market.rule("b1", "listing.search", query="lamp")
    made = ruling.decision.events[0]
    assert [("search_session", made.search_session)] + [
        ("offer_ranking", ranked.offer_ranking) for ranked in made.offers
    ] == ruling.decision.reads
    assert ruling.shown is not None
    assert encode(ruling.shown.value)


def test_what_changed_in_the_run_is_searched_as_it_is_now(market: Any) -> None:
    market.see("m1", "listing.reprice", listing="l2", price=10)
    market.see("m1", "listing.update", listing="l2", attributes={"days": 1, "new": "yes"})
    filters = {"price_max": 999, "at_most": {"days": 1}, "equals": {"new": "yes"}}
    offers = market.see("b1", "listing.search", query="desk", filters=filters)["offer_ranking"]
    assert [("l2", 10)] == [(offer["listing"], offer["price"]) for offer in offers]
    assert {"days": 1, "led": 1, "new": "yes"} == market.row("listing", "l2").attributes


def test_a_value_of_another_type_is_a_change(market: Any) -> None:
    for value, rule in ((True, "listing.unchanged"), (1, None), (1, "listing.unchanged")):
        assert rule == market.say("m1", "listing.update", listing="l1", attributes={"led": value}).rule


@pytest.mark.parametrize(("limit", "offers"), [(None, 20), (3, 3), (49, 49), (51, MOST_RESULTS)])
def test_a_search_gives_so_many_offers(new_market: Any, limit: int | None, offers: int) -> None:
    listings = {f"l{place:02}": DESK for place in range(60)}
    market = new_market({"listing": listings, "policy": {"ranking": {"max_results": limit}}})
    seen = market.see("b1", "listing.search", query="lamp")
    assert sorted(listings)[:offers] == [offer["listing"] for offer in seen["offer_ranking"]]


def test_only_the_first_words_of_a_query_count(market: Any) -> None:
    index = index_of(market.state.facts)
    filler = " ".join(f"w{place}" for place in range(11))
    assert {"l3": 2} == candidates(index, f"{filler} floor lamp", [])
    assert {} == candidates(index, f"{filler} w11 floor", [])
    assert {"l3": 3, "l1": 4, "l2": 4, "l5": 4, "l6": 2} == candidates(index, "my desk lamp", [])


def test_an_offer_is_bought_at_once(market: Any) -> None:
    seen = market.see("b1", "offer.accept_ranked", "m1", offer_ranking="f1")
    order = seen["order"][0]
    assert (1000, [{"listing": "l1", "quantity": 1, "unit_price": 1000}]) == (
        order["total"],
        [{name: line[name] for name in ("listing", "quantity", "unit_price")} for line in order["lines"]],
    )
    assert ([1000], ["accepted"]) == (
        [row["captured"] for row in seen["payment"]],
        [row["state"] for row in seen["offer_ranking"]],
    )
    stock = market.row("inventory", "l1")
    assert (1, 1, 0) == (stock.on_hand, stock.available, stock.reserved)
    assert "offer.state" == market.say("b1", "offer.accept_ranked", "m1", offer_ranking="f1").rule


def certified(new_market: Any) -> Any:
    return new_market({**ROWS, "policy": {"matching": {"deadline_ticks": 3, "acceptance": "certificate"}}})


def test_an_offer_is_certified_and_bought_later(new_market: Any) -> None:
    market = certified(new_market)
    said = market.rule("b1", "offer.accept_ranked", "m1", offer_ranking="f1").decision
    key = said.events[1].match_certificate
    shown = market.see("b1", "certificate.get", match_certificate=key)["match_certificate"][0]
    assert ("issued", 1000, 1, 8, "f1", None) == tuple(
        shown[name] for name in ("state", "unit_price", "quantity", "expires", "offer_ranking", "order")
    )
    assert 2 == market.row("inventory", "l1").available
    market.see("m1", "listing.reprice", listing="l1", price=5000)
    market.see("operator", "clock.advance", ticks=3)
    bought = market.see("b1", "certificate.redeem", "m1", match_certificate=key)
    assert (1000, "used") == (bought["order"][0]["total"], bought["match_certificate"][0]["state"])
    assert bought["order"][0]["id"] == bought["match_certificate"][0]["order"]
    assert 1 == market.row("inventory", "l1").on_hand


def test_a_certificate_ends_at_its_tick(new_market: Any) -> None:
    market = certified(new_market)
    key = market.say("b1", "offer.accept_ranked", "m1", offer_ranking="f1").events[1].match_certificate
    market.see("operator", "clock.advance", ticks=4)
    assert "certificate.expired" == market.say("b1", "certificate.redeem", "m1", match_certificate=key).rule


def test_what_is_advertised_comes_first_once_its_campaign_is_active(new_market: Any) -> None:
    placed = {"merchant": "m2", "campaign": "c1"}
    campaign = {
        "campaign": {"c1": {"merchant": "m2", "title": "Lights", "state": "published"}},
        "placement": {"pa": {**placed, "listing": "l3", "fee": 9}, "pb": {**placed, "listing": "l4"}},
    }
    rows = {key: {**row, "sponsored": False} for key, row in ROWS["listing"].items()}
    market = new_market({**ROWS, **campaign, "listing": rows})
    before = market.see("b2", "listing.search", query="")["offer_ranking"]
    assert ["l1", "l2", "l3", "l4", "l6"] == [offer["listing"] for offer in before]
    market.see("m2", "campaign.activate", campaign="c1")
    after = market.see("b2", "listing.search", query="")["offer_ranking"]
    assert [("l3", True), ("l1", False)] == [(each["listing"], each["sponsored"]) for each in after[:2]]


def test_no_offer_outlasts_the_clock(new_market: Any) -> None:
    market = new_market({**ROWS, "clock": {"now": {"tick": LAST_TICK - 1}}})
    offer = market.see("b1", "listing.search", query="rug")["offer_ranking"][0]
    assert LAST_TICK == offer["expires"]


def test_of_two_buyers_of_the_last_unit_one_gets_it(market: Any) -> None:
    offers = {}
    for buyer in ("b1", "b2"):
        seen = market.see(buyer, "listing.search", query="floor")
        offers[buyer] = seen["offer_ranking"][0]["id"]
    market.see("b1", "offer.accept_ranked", "m2", offer_ranking=offers["b1"])
    assert "stock.short" == market.say("b2", "offer.accept_ranked", "m2", offer_ranking=offers["b2"]).rule


def test_searches_are_addressed_to_nobody(market: Any) -> None:
    world = market.world
    assert not world.is_addressed("listing.search")
    assert not world.is_addressed("listing.get")
    assert world.is_addressed("offer.accept_ranked")
    assert "listing.search" not in world.queries


@pytest.mark.parametrize(
    ("table", "key", "columns"),
    [
        ("offer_ranking",     "f1", {"rank": 2}),
        ("offer_ranking",     "f7", {"rank": 2}),
        ("offer_ranking",     "f1", {"buyer": "b2"}),
        ("offer_ranking",     "f1", {"merchant": "m2"}),
        ("offer_ranking",     "f1", {"title": "Lamp"}),
        ("offer_ranking",     "f1", {"listing": "l9"}),
        ("search_session",    "s1", {"results": []}),
        ("search_session",    "s2", {"results": ["f7", "f7"]}),
        ("search_session",    "s2", {"results": ["f7", "f1"]}),
        ("search_session",    "s2", {"results": ["f9"]}),
        ("match_certificate", "m1", {"merchant": "m2"}),
        ("match_certificate", "m1", {"offer_ranking": "f7"}),
        ("match_certificate", "m1", {"state": "used"}),
        ("match_certificate", "m1", {"order": "o1"}),
        ("match_certificate", "m5", {"order": "o1", "state": "used"}),
        ("match_certificate", "m1", {"unit_price": 10**12}),
    ],
)  # fmt: skip
def test_start_rows_that_dont_agree_are_refused(
    new_market: Any, table: str, key: str, columns: dict[str, Any]
) -> None:
    rows = {**ROWS, table: {**ROWS[table], key: {**ROWS[table][key], **columns}}}
    with pytest.raises(WorldError) as caught:
        new_market(rows)
    assert "facts.row" == caught.value.code


def test_start_rows_are_filled_in(market: Any) -> None:
    offer = market.row("offer_ranking", "f6")
    assert ("b1", "m1", "Desk lamp", 1001, 6, False, False) == (
        offer.buyer, offer.merchant, offer.title, offer.price, offer.rank, offer.in_stock, offer.sponsored
    )  # fmt: skip
    assert ("f1", "f2", "f3", "f4", "f5", "f6") == market.row("search_session", "s1").results
    assert (1000, "m1") == (
        market.row("match_certificate", "m5").unit_price,
        market.row("match_certificate", "m5").merchant,
    )
    made = market.world.complete(ROWS)
    assert made == market.world.complete(made)

"""Evidence, claims, inquiries and decision records: their refusals, and what they show to whom."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from refusal_tables import check_refusal

from tollbook.protocol.canonical import encode
from tollbook.protocol.errors import WorldError

LIGHT = {"metric": "weight_g", "operator": "less_than", "against": ["l3"]}
LIGHTEST = {"metric": "weight_g", "operator": "less_than", "scope": "market"}
GHOST = {"metric": "weight_g", "operator": "less_than", "against": ["l9"]}


def claim(**columns: Any) -> dict[str, Any]:
    return {"listing": "l1", "content": LIGHT, **columns}


def record(subject: str, **columns: Any) -> dict[str, Any]:
    return {"kind": "test", "issuer": "lab", "subject": subject, "facts": {"weight_g": 900}, **columns}


ROWS: dict[str, dict[str, dict[str, Any]]] = {
    "clock": {"now": {"tick": 5}},
    "listing": {
        "l1": {"merchant": "m1", "title": "lamp", "price": 1000},
        "l2": {"merchant": "m1", "title": "cup", "price": 500},
        "l3": {"merchant": "m2", "title": "rug", "price": 9000},
    },
    "order": {
        "o1": {"buyer": "b1", "merchant": "m1", "state": "delivered", "total": 1},
        "o2": {"buyer": "b2", "merchant": "m1", "state": "delivered", "total": 1},
    },
    "return": {"r1": {"order": "o1", "condition": "worn"}},
    "evidence_record": {
        "e1": record("l1"),
        "e2": record("l2"),
        "e3": record("l3"),
        "mine": record("l1", issuer="m1", readers=[]),
        "ours": record("o1", issuer="m1", readers=["b1"]),
    },
    "listing_claim": {
        "k1": claim(),
        "k2": claim(content=LIGHTEST),
        "k3": claim(state="published"),
        "k4": claim(state="retracted"),
        "k5": claim(listing="l3", content={**LIGHT, "against": []}),
    },
    "inquiry": {
        "q1": {"asker": "b1", "asked": "m1", "listing": "l1", "attachments": ["ours"]},
        "q2": {"asker": "b1", "asked": "m1", "state": "answered", "resolution": "declined"},
        "q3": {"asker": "b2", "asked": "m2"},
    },
}

NAMED: dict[str, Any] = {
    "NONE": [],
    "GHOSTS": ["e1", "e9"],
    "SECRET": ["e1", "mine"],
    "OTHER": ["e1", "e2"],
    "GOOD": ["e3", "e1"],
    "ANY": ["e2"],
    "FOREIGN": ["ours"],
    "GHOST": GHOST,
    "SAME": LIGHT,
    "WEAKER": {**LIGHT, "operator": "ratio_at_least", "value": 9_000},
    "TWICE": [{"field": "a", "value": 1, "source": "e9"}, {"field": "a", "value": 2}],
    "MADE_UP": [{"field": "a", "value": 1}, {"field": "b", "value": 2, "source": "e9"}],
    "UNSEEN": [{"field": "a", "value": 1, "source": "mine"}],
    "SOURCED": [{"field": "a", "value": 1, "source": "ours"}, {"field": "a", "value": 1, "about": "l1"}],
    "BOTH": ["q1", "ours"],
    "Q": ["q1"],
}

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by           kind                from > to  fields
    ("evidence.subject",   "evidence.publish", "m1",      "subject=o9"),
    (None,                 "evidence.publish", "m1",      "subject=r1"),
    ("evidence.unknown",   "evidence.get",     "b1",      "evidence_record=mine"),
    (None,                 "evidence.get",     "b1",      "evidence_record=ours"),
    (None,                 "evidence.list",    "b1",      "subject=l9"),
    ("claim.unknown",      "claim.publish",    "m2",      "listing_claim=k3 evidence=NONE"),
    ("claim.state",        "claim.publish",    "m1",      "listing_claim=k3 evidence=NONE"),
    ("claim.unsupported",  "claim.publish",    "m1",      "listing_claim=k1 evidence=NONE"),
    ("claim.evidence",     "claim.publish",    "m1",      "listing_claim=k1 evidence=GHOSTS"),
    ("claim.relevance",    "claim.publish",    "m1",      "listing_claim=k1 evidence=OTHER"),
    (None,                 "claim.publish",    "m1",      "listing_claim=k1 evidence=GOOD"),
    ("claim.unknown",      "claim.correct",    "m2",      "listing_claim=k1 content=GHOST evidence=NONE"),
    ("claim.state",        "claim.correct",    "m1",      "listing_claim=k1 content=GHOST evidence=NONE"),
    ("claim.against",      "claim.correct",    "m1",      "listing_claim=k3 content=GHOST evidence=NONE"),
    ("claim.unchanged",    "claim.correct",    "m1",      "listing_claim=k3 content=SAME evidence=NONE"),
    ("claim.unsupported",  "claim.correct",    "m1",      "listing_claim=k3 content=WEAKER evidence=NONE"),
    ("claim.evidence",     "claim.correct",    "m1",      "listing_claim=k3 content=WEAKER evidence=SECRET"),
    ("claim.relevance",    "claim.correct",    "m1",      "listing_claim=k3 content=WEAKER evidence=OTHER"),
    (None,                 "claim.correct",    "m1",      "listing_claim=k3 content=WEAKER evidence=GOOD"),
    ("claim.unknown",      "claim.retract",    "m2",      "listing_claim=k4"),
    ("claim.state",        "claim.retract",    "m1",      "listing_claim=k4"),
    (None,                 "claim.retract",    "m1",      "listing_claim=k3"),
    ("listing.unknown",    "claim.list",       "b1",      "listing=l9"),
    (None,                 "claim.list",       "b1",      "listing=l1"),
    ("record.empty",       "record.submit",    "b1",      ""),
    ("record.twice",       "record.submit",    "b1",      "values=TWICE"),
    ("record.source",      "record.submit",    "b1",      "values=MADE_UP"),
    (None,                 "record.submit",    "b1",      "values=SOURCED"),
    ("listing.unknown",    "inquiry.ask",      "b1 > m2", "listing=l9 attachments=SECRET"),
    ("inquiry.addressee",  "inquiry.ask",      "b1 > m2", "listing=l1 attachments=SECRET"),
    ("inquiry.attachment", "inquiry.ask",      "b1 > m1", "listing=l1 attachments=SECRET"),
    (None,                 "inquiry.ask",      "b1 > m1", "listing=l1 attachments=FOREIGN"),
    ("inquiry.unknown",    "inquiry.respond",  "m2 > b2", "inquiry=q2 accepted=ANY values=TWICE"),
    ("inquiry.addressee",  "inquiry.respond",  "m1 > b2", "inquiry=q2 accepted=ANY values=TWICE"),
    ("inquiry.state",      "inquiry.respond",  "m1 > b1", "inquiry=q2 accepted=ANY values=TWICE"),
    ("inquiry.content",    "inquiry.respond",  "m1 > b1", "inquiry=q1 accepted=BOTH rejected=Q values=TWICE"),
    ("inquiry.twice",      "inquiry.respond",  "m1 > b1", "inquiry=q1 accepted=BOTH values=TWICE"),
    ("inquiry.source",     "inquiry.respond",  "m1 > b1", "inquiry=q1 accepted=BOTH values=UNSEEN"),
    (None,                 "inquiry.respond",  "m1 > b1", "inquiry=q1 accepted=BOTH values=SOURCED"),
    ("inquiry.unknown",    "inquiry.get",      "b1",      "inquiry=q3"),
    (None,                 "inquiry.get",      "b1",      "inquiry=q1"),
]  # fmt: skip

UNSAID: dict[str, dict[str, Any]] = {
    "evidence.publish": {"record_kind": "photo", "facts": {"cracked": True}},
    "inquiry.respond": {"resolution": "answered"},
}


@pytest.fixture
def market(new_market: Any) -> Any:
    return new_market(ROWS)


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_a_refusal_comes_in_its_order_and_changes_nothing(
    market: Any, rule: str | None, kind: str, way: str, words: str
) -> None:
    fields = dict(word.split("=") for word in words.split())
    more = {name: NAMED.get(value, value) for name, value in fields.items()}
    check_refusal(market, rule, kind, way, "", **UNSAID.get(kind, {}), **more)


@pytest.mark.parametrize(
    ("way",           "kind",             "field",           "foreign", "absent"),
    [
        ("b1",        "evidence.get",     "evidence_record", "mine",    "e9"),
        ("m2",        "evidence.get",     "evidence_record", "ours",    "e9"),
        ("m2",        "claim.publish",    "listing_claim",   "k1",      "k9"),
        ("m2",        "claim.correct",    "listing_claim",   "k3",      "k9"),
        ("m2",        "claim.retract",    "listing_claim",   "k3",      "k9"),
        ("m2 > b1",   "inquiry.respond",  "inquiry",         "q1",      "q9"),
        ("b1 > m1",   "inquiry.respond",  "inquiry",         "q1",      "q9"),
        ("b2",        "inquiry.get",      "inquiry",         "q1",      "q9"),
    ],
)  # fmt: skip
def test_a_party_cant_tell_a_foreign_row_from_one_that_is_not_there(  # noqa: PLR0913 - a row of the table
    market: Any, way: str, kind: str, field: str, foreign: str, absent: str
) -> None:
    sender, _, to = way.partition(" > ")
    more = {"content": LIGHTEST} if kind == "claim.correct" else UNSAID.get(kind, {})
    more = {**more, **({"evidence": ["e1"]} if kind in ("claim.publish", "claim.correct") else {})}
    first, second = (
        market.say(sender, kind, to or None, **more, **{field: key}) for key in (foreign, absent)
    )
    assert second.rule == first.rule
    assert ({field: foreign}, {field: absent}) == (first.detail, second.detail)


def test_no_party_learns_of_a_private_record_by_citing_it(market: Any) -> None:
    for key in ("mine", "e9"):
        values = [{"field": "a", "value": 1, "source": key}]
        cited = market.say("b1", "record.submit", values=values)
        attached = market.say("b1", "inquiry.ask", "m1", attachments=[key])
        rested = market.say("m2", "claim.publish", listing_claim="k5", evidence=[key])
        assert ["record.source", "inquiry.attachment", "claim.evidence"] == [
            cited.rule, attached.rule, rested.rule
        ]  # fmt: skip
        assert [{"evidence_record": key}] * 3 == [cited.detail, attached.detail, rested.detail]


def test_evidence_is_found_by_its_subject_and_read_one_by_one(market: Any) -> None:
    found = market.rule("b1", "evidence.list", subject="l1")
    assert {"evidence_record": [{"id": "e1", "kind": "test", "issuer": "lab"}]} == found.shown.value
    assert [] == found.decision.reads
    own = market.see("m1", "evidence.list", subject="l1")["evidence_record"]
    assert ["e1", "mine"] == [row["id"] for row in own]
    assert [] == market.see("b2", "evidence.list", subject="o1")["evidence_record"]
    read = market.rule("b1", "evidence.get", evidence_record="e1")
    assert [("evidence_record", "e1")] == read.decision.reads
    assert {"weight_g": 900} == read.shown.value["evidence_record"][0]["facts"]


def test_evidence_is_under_the_name_of_who_published_it(market: Any) -> None:
    fields = {"record_kind": "photo", "subject": "o1", "facts": {"cracked": True}}
    made = market.see("b1", "evidence.publish", **fields, readers=["m1"])["evidence_record"][0]
    assert ("b1", 5, ["m1"]) == (made["issuer"], made["tick"], made["readers"])
    assert ("ours", made["id"]) == market.row("evidence_file", "o1").records
    assert market.say("m1", "evidence.get", evidence_record=made["id"]).outcome == "accepted"
    assert "evidence.unknown" == market.say("b2", "evidence.get", evidence_record=made["id"]).rule
    assert "evidence.subject" == market.say("b2", "evidence.publish", **fields).rule


def test_texts_within_facts_are_of_at_most_2_kb(market: Any) -> None:
    fields = {"record_kind": "photo", "subject": "l1"}
    for text, rule in (("€" * 666, None), ("€" * 667, "action.invalid")):
        assert rule == market.say("b1", "evidence.publish", **fields, facts={"text": text}).rule


def test_drafts_are_seen_by_their_merchant_alone(market: Any) -> None:
    def listed(party: str, listing: str) -> list[str]:
        ruling = market.rule(party, "claim.list", listing=listing)
        keys = [row["id"] for row in ruling.shown.value["listing_claim"]]
        assert [("listing_claim", key) for key in keys] == ruling.decision.reads
        return keys

    assert ["k1", "k2", "k3", "k4"] == listed("m1", "l1")
    assert ["k3", "k4"] == listed("b1", "l1") == listed("m2", "l1")
    market.see("m1", "claim.publish", listing_claim="k1", evidence=["e1"])
    assert ["k1", "k3", "k4"] == listed("b1", "l1")
    assert [] == listed("b1", "l2")


def test_a_claim_on_the_whole_market_rests_on_records_of_any_listing(market: Any) -> None:
    assert "claim.relevance" == market.say("m1", "claim.publish", listing_claim="k1", evidence=["e2"]).rule
    shown = market.see("m1", "claim.publish", listing_claim="k2", evidence=["e2"])["listing_claim"][0]
    assert ("published", ["e2"]) == (shown["state"], shown["evidence"])


def test_a_correction_stands_beside_what_was_claimed(market: Any) -> None:
    weaker = NAMED["WEAKER"]
    shown = market.see("m1", "claim.correct", listing_claim="k3", content=weaker, evidence=["e1", "e3"])
    row = shown["listing_claim"][0]
    assert ("corrected", "less_than", "ratio_at_least", 9_000) == (
        row["state"], row["content"]["operator"], row["correction"]["operator"], row["correction"]["value"]
    )  # fmt: skip
    assert "claim.state" == market.say("m1", "claim.retract", listing_claim="k3").rule


def test_an_inquiry_is_answered_once_with_what_both_may_read(market: Any) -> None:
    asked = market.see("b2", "inquiry.ask", "m1", listing="l1", fields=["weight_g"])["inquiry"][0]
    columns = ("asker", "asked", "state", "fields")
    assert ("b2", "m1", "open", ["weight_g"]) == tuple(asked[name] for name in columns)
    values = [{"field": "weight_g", "value": 900, "unit": "g", "about": "l1", "source": "e1"}]
    answer = {"inquiry": asked["id"], "resolution": "answered", "values": values, "accepted": [asked["id"]]}
    told = market.see("m1", "inquiry.respond", "b2", **answer)["inquiry"][0]
    assert ("answered", values, [asked["id"]]) == (told["state"], told["values"], told["accepted"])
    assert "inquiry.state" == market.say("m1", "inquiry.respond", "b2", **answer).rule
    assert told == market.see("b2", "inquiry.get", inquiry=asked["id"])["inquiry"][0]


def test_parties_of_any_role_ask_and_are_asked(market: Any) -> None:
    key = market.say("m1", "inquiry.ask", "b1").events[0].inquiry
    assert market.say("b1", "inquiry.respond", "m1", inquiry=key, resolution="declined").outcome == "accepted"


def test_a_decision_record_is_the_message_itself(market: Any) -> None:
    before = market.state.root()
    decision = market.say("b1", "record.submit", chosen="l1", considered=["l1", "l3"], used=[])
    assert ("accepted", None, before) == (decision.outcome, decision.result, market.state.root())
    assert "b1" == decision.events[0].party


def test_start_rows_are_made_whole(market: Any) -> None:
    assert ("e1", "mine") == market.row("evidence_file", "l1").records
    assert "m2" == market.row("listing_claim", "k5").merchant


@pytest.mark.parametrize(
    ("table", "key", "columns", "problem"),
    [
        ("listing_claim", "k1", {"evidence": ["e9"]},                     "names evidence_record `e9`"),
        ("listing_claim", "k1", {"content": GHOST},                       "names listing `l9`"),
        ("listing_claim", "k1", {"merchant": "m2"},                       "says merchant `m2`"),
        ("listing_claim", "k1", {"correction": LIGHT},                    "is `draft`, and a correction"),
        ("listing_claim", "k1", {"state": "corrected"},                   "is `corrected`, and a correction"),
        ("inquiry",       "q1", {"asked": "b1"},                          "has one party on both sides"),
        ("inquiry",       "q1", {"resolution": "answered"},               "is `open`, and a resolution"),
        ("inquiry",       "q1", {"values": NAMED["MADE_UP"]},             "names evidence_record `e9`"),
        ("evidence_file", "l1", {"records": ["e2", "e1", "mine"]},        "names other records"),
        ("evidence_file", "l9", {"records": ["e1"]},                      "names other records"),
    ],
)  # fmt: skip
def test_start_rows_that_dont_agree_are_refused(
    new_market: Any, table: str, key: str, columns: dict[str, Any], problem: str
) -> None:
    row = {**ROWS.get(table, {}).get(key, {}), **columns}
    with pytest.raises(WorldError) as caught:
        new_market({**ROWS, table: {**ROWS.get(table, {}), key: row}})
    assert "facts.row" == caught.value.code
    assert f"row `{key}` of `{table}` {problem}" in caught.value.text


def test_what_is_shown_is_the_row(market: Any) -> None:
    for kind, table, key in (
        ("evidence.get", "evidence_record", "e1"),
        ("inquiry.get", "inquiry", "q1"),
    ):
        shown = market.see("b1", kind, **{table: key})[table][0]
        row = msgspec.json.decode(encode(msgspec.to_builtins(market.row(table, key))))
        assert {"id": key, **row} == shown

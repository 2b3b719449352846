"""Disputes, their rulings and the refunds that rest on them: refusals in order, views, and the money."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from refusal_tables import check_refusal

from tollbook.protocol.errors import WorldError
from tollbook.protocol.world import StartRows

LINES = [{"listing": "l1", "quantity": 1, "unit_price": 500}]
ORDER = {"buyer": "b1", "merchant": "m1", "state": "delivered", "lines": LINES}


def record(subject: str, *readers: str) -> dict[str, Any]:
    columns = {"readers": list(readers)} if readers else {}
    return {"kind": "inspection", "issuer": "lab", "subject": subject, "facts": {"broken": True}, **columns}


def dispute(order: str, **columns: Any) -> dict[str, Any]:
    return {"order": order, "amount": 300, "adjudicator": "judge", **columns}


ROWS: StartRows = {
    "clock": {"now": {"tick": 5}},
    "policy": {"disputes": {"adjudicator": "judge", "deadline_ticks": 2}},
    "listing": {
        "l1": {"merchant": "m1", "title": "lamp", "price": 500},
        "l2": {"merchant": "m1", "title": "cup", "price": 5},
    },
    "order": {
        key: {**ORDER, "buyer": "b2"} if key == "foreign" else ORDER
        for key in (
            "new", "open", "review", "late", "ruled", "withdrawn", "split", "foreign", "over",
        )
    },
    "payment": {
        f"p_{key}": {"order": key, "captured": 500, "refunded": 100}
        for key in ("new", "open", "review", "late", "ruled", "withdrawn", "split", "foreign", "over")
    },
    "return": {"r1": {"order": "open", "listing": "l1", "condition": "broken"}},
    "evidence_record": {
        "v1": record("open"),
        "v2": record("l1", "b1", "m1"),
        "v3": record("r1"),
        "cited": record("open"),
        "secret": record("open", "b1"),
        "apart": record("l2"),
    },
    "dispute": {
        "open": dispute("open", buyer_evidence=["cited"], deadline=5),
        "review": dispute("review", state="under_review", position="contest"),
        "late": dispute("late", deadline=4),
        "ruled": dispute("ruled", position="contest"),
        "split": dispute("split", position="accept"),
        "gone": dispute("withdrawn", state="withdrawn"),
        "foreign": dispute("foreign", adjudicator="umpire"),
        "over": dispute("over", adjudicator=None, state="under_review", position="accept"),
    },
    "ruling": {
        "upheld": {"dispute": "ruled", "outcome": "upheld"},
        "half": {"dispute": "split", "outcome": "split", "award": 120},
    },
}  # fmt: skip

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by            kind                from > to       fields
    ("order.unknown",       "dispute.open",     "b1 > m2",      "order=foreign amount=0"),
    ("dispute.addressee",   "dispute.open",     "b1 > m2",      "order=open amount=0"),
    ("dispute.again",       "dispute.open",     "b1 > m1",      "order=open amount=0"),
    ("dispute.amount",      "dispute.open",     "b1 > m1",      "order=new amount=0"),
    (None,                  "dispute.open",     "b1 > m1",      "order=new amount=400"),
    ("dispute.unknown",     "dispute.evidence", "b1 > m2",      "dispute=foreign evidence_record=secret"),
    ("dispute.addressee",   "dispute.evidence", "b1 > m2",      "dispute=ruled evidence_record=secret"),
    ("dispute.state",       "dispute.evidence", "b1 > m1",      "dispute=ruled evidence_record=secret"),
    ("dispute.late",        "dispute.evidence", "b1 > m1",      "dispute=late evidence_record=secret"),
    ("dispute.evidence",    "dispute.evidence", "b1 > judge",   "dispute=open evidence_record=secret"),
    ("dispute.relevance",   "dispute.evidence", "m1 > judge",   "dispute=open evidence_record=apart"),
    (None,                  "dispute.evidence", "m1 > b1",      "dispute=open evidence_record=v1"),
    ("dispute.unknown",     "dispute.respond",  "m1 > b1",      "dispute=no evidence=secret"),
    ("dispute.addressee",   "dispute.respond",  "m1 > b2",      "dispute=review evidence=secret"),
    ("dispute.state",       "dispute.respond",  "m1 > b1",      "dispute=review evidence=secret"),
    ("dispute.late",        "dispute.respond",  "m1 > b1",      "dispute=late evidence=secret"),
    ("dispute.evidence",    "dispute.respond",  "m1 > judge",   "dispute=open evidence=v1,secret,apart"),
    ("dispute.relevance",   "dispute.respond",  "m1 > judge",   "dispute=open evidence=v1,apart"),
    (None,                  "dispute.respond",  "m1 > judge",   "dispute=open evidence=v1,v2,v3"),
    ("dispute.unknown",     "dispute.withdraw", "b1",           "dispute=foreign"),
    ("dispute.addressee",   "dispute.withdraw", "b1",           "dispute=gone"),
    ("dispute.state",       "dispute.withdraw", "b1 > judge",   "dispute=gone"),
    (None,                  "dispute.withdraw", "b1 > judge",   "dispute=review"),
    ("dispute.unknown",     "dispute.get",      "b2",           "dispute=open"),
    (None,                  "dispute.get",      "judge",        "dispute=open"),
    ("dispute.unknown",     "dispute.rule",     "judge > b2",   "dispute=foreign outcome=split award=0"),
    ("dispute.addressee",   "dispute.rule",     "judge > b2",   "dispute=gone outcome=split award=0"),
    ("dispute.state",       "dispute.rule",     "judge > b1",   "dispute=gone outcome=split award=0"),
    ("dispute.early",       "dispute.rule",     "judge > m1",   "dispute=open outcome=split award=0"),
    ("dispute.award",       "dispute.rule",     "judge > m1",   "dispute=review outcome=split award=0"),
    (None,                  "dispute.rule",     "judge > m1",   "dispute=review outcome=split award=299"),
]  # fmt: skip


@pytest.fixture
def court(new_market: Any) -> Any:
    return new_market(ROWS)


def cited(words: str) -> tuple[str, dict[str, Any]]:
    """The words without `evidence=a,b`, and that as a field."""
    rest = [word for word in words.split() if not word.startswith("evidence=")]
    given = [word.partition("=")[2].split(",") for word in words.split() if word not in rest]
    return " ".join(rest), {"evidence": given[0], "position": "contest"} if given else {}


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_refusals_in_order_of_checks(court: Any, rule: str | None, kind: str, way: str, words: str) -> None:
    rest, more = cited(words)
    check_refusal(court, rule, kind, way, rest, **more)


ANSWER = {"position": "accept", "evidence": []}


@pytest.mark.parametrize(
    ("way",         "kind",             "key",     "absent"),
    [
        ("b1 > m1", "dispute.open",     "foreign", "nowhere"),
        ("b1 > m1", "dispute.withdraw", "foreign", "nowhere"),
        ("m2 > b1", "dispute.respond",  "open",    "nowhere"),
        ("m2",      "dispute.get",      "open",    "nowhere"),
        ("b2",      "dispute.get",      "open",    "nowhere"),
        ("umpire",  "dispute.get",      "open",    "nowhere"),
        ("operator", "dispute.get",     "over",    "nowhere"),
    ],
)  # fmt: skip
def test_a_foreign_row_is_an_unknown_one(court: Any, way: str, kind: str, key: str, absent: str) -> None:
    noun = "order" if kind == "dispute.open" else "dispute"
    sender, _, to = way.partition(" > ")
    rest: dict[str, Any] = {"dispute.open": {"amount": 5}, "dispute.respond": ANSWER}.get(kind, {})
    foreign, unknown = (court.say(sender, kind, to or None, **{noun: name}, **rest) for name in (key, absent))
    assert unknown.rule == foreign.rule is not None
    assert ({noun: key}, {noun: absent}) == (foreign.detail, unknown.detail)


def test_a_dispute_is_shown_with_its_evidence_to_its_sides_and_its_adjudicator(court: Any) -> None:
    court.see("m1", "dispute.respond", "judge", dispute="open", position="contest", evidence=["v2"])
    for party in ("b1", "m1", "judge"):
        ruling = court.rule(party, "dispute.get", dispute="open")
        evidence = [("evidence_record", "cited"), ("evidence_record", "v2")]
        assert [("dispute", "open"), *evidence, ("order", "open")] == sorted(ruling.decision.reads)
        assert "under_review" == ruling.shown.value["dispute"][0]["state"]
    assert [("ruling", "upheld")] == court.rule("judge", "dispute.get", dispute="ruled").decision.reads[2:]


def test_a_dispute_without_an_adjudicator_is_ruled_on_by_any(court: Any) -> None:
    assert 1 == len(court.see("umpire", "dispute.get", dispute="over")["dispute"])
    shown = court.see("umpire", "dispute.rule", "m1", dispute="over", outcome="denied", award=0)
    ruling, row = shown["ruling"][0], shown["dispute"][0]
    assert ("umpire", "denied", 0) == (ruling["adjudicator"], ruling["outcome"], ruling["award"])
    assert ("ruled", ruling["id"]) == (row["state"], row["ruling"])


def test_the_policy_names_the_adjudicator_and_the_last_tick(court: Any) -> None:
    opened = court.see("b1", "dispute.open", "m1", order="new", amount=1)["dispute"][0]
    assert ("open", "judge", 7) == (opened["state"], opened["adjudicator"], opened["deadline"])
    key = opened["id"]
    court.say("operator", "clock.advance", ticks=2)
    upheld = {"dispute": key, "outcome": "upheld", "award": 1}
    assert "dispute.early" == court.say("judge", "dispute.rule", "b1", **upheld).rule
    court.say("operator", "clock.advance")
    assert "dispute.late" == court.say("m1", "dispute.respond", "b1", dispute=key, **ANSWER).rule
    ruled = court.see("judge", "dispute.rule", "b1", **upheld)
    assert ("ruled", None) == (ruled["dispute"][0]["state"], ruled["dispute"][0]["position"])


def test_evidence_stands_on_the_side_that_gave_it_and_once(court: Any) -> None:
    court.see("b1", "dispute.evidence", "m1", dispute="open", evidence_record="v1")
    court.see("m1", "dispute.evidence", "b1", dispute="open", evidence_record="v3")
    row = court.row("dispute", "open")
    assert (("cited", "v1"), ("v3",)) == (row.buyer_evidence, row.merchant_evidence)
    for sender, to in (("b1", "m1"), ("m1", "b1")):
        again = court.say(sender, "dispute.evidence", to, dispute="open", evidence_record="v1")
        assert ("dispute.evidence", {"evidence_record": "v1"}) == (again.rule, again.detail)
    twice = court.say("m1", "dispute.respond", "b1", dispute="open", position="accept", evidence=["v2", "v2"])
    assert "dispute.evidence" == twice.rule


def test_a_withdrawn_dispute_may_be_opened_again_and_a_ruled_one_not(court: Any) -> None:
    assert court.say("b1", "dispute.open", "m1", order="withdrawn", amount=1).rule is None
    assert "dispute.again" == court.say("b1", "dispute.open", "m1", order="ruled", amount=1).rule


@pytest.mark.parametrize(
    ("outcome", "award", "rule"),
    [
        ("upheld", 300, None),
        ("upheld", 299, "dispute.award"),
        ("denied", 0,   None),
        ("denied", 1,   "dispute.award"),
        ("split",  1,   None),
        ("split",  0,   "dispute.award"),
        ("split",  300, "dispute.award"),
    ],
)  # fmt: skip
def test_an_outcome_says_what_can_be_awarded(court: Any, outcome: str, award: int, rule: str | None) -> None:
    said = {"dispute": "review", "outcome": outcome, "award": award}
    assert rule == court.say("judge", "dispute.rule", "m1", **said).rule


def claimed(court: Any, order: str, amount: int, dispute: str) -> str:
    """The key of a refund case on a ruled dispute."""
    opened = court.see("b1", "refund.open", "m1", order=order, amount=amount, dispute=dispute)
    return opened["refund_case"][0]["id"]


def test_what_was_awarded_is_what_is_paid_back(court: Any) -> None:
    case = claimed(court, "split", 300, "split")
    assert case == court.row("dispute", "split").refund_case
    for amount in (119, 121):
        decision = court.say("m1", "refund.approve", "b1", refund_case=case, amount=amount)
        assert ("refund.ruling", {"amount": amount, "owed": 120}) == (decision.rule, decision.detail)
    denied = court.say("m1", "refund.deny", "b1", refund_case=case)
    assert ("refund.ruling", {"amount": 0, "owed": 120}) == (denied.rule, denied.detail)
    shown = court.see("m1", "refund.approve", "b1", refund_case=case, amount=120)
    assert (220, 120) == (shown["payment"][0]["refunded"], shown["confirmation"][0]["amount"])
    again = court.say("b1", "refund.open", "m1", order="split", amount=1, dispute="split")
    assert "refund.dispute" == again.rule


def test_no_more_is_owed_than_was_claimed(court: Any) -> None:
    case = claimed(court, "ruled", 50, "ruled")
    assert court.say("m1", "refund.approve", "b1", refund_case=case, amount=50).rule is None


def test_no_more_is_owed_than_is_left(court: Any) -> None:
    plain = court.say("b1", "refund.open", "m1", order="ruled", amount=400).events[0].refund_case
    case = claimed(court, "ruled", 300, "ruled")
    court.see("m1", "refund.approve", "b1", refund_case=plain, amount=150)
    assert "refund.exceeds_paid" == court.say("m1", "refund.approve", "b1", refund_case=case, amount=300).rule
    assert court.say("m1", "refund.approve", "b1", refund_case=case, amount=250).rule is None


def test_a_claim_on_a_denied_dispute_can_only_be_denied(court: Any) -> None:
    court.see("judge", "dispute.rule", "b1", dispute="review", outcome="denied", award=0)
    case = claimed(court, "review", 300, "review")
    assert "refund.ruling" == court.say("m1", "refund.approve", "b1", refund_case=case, amount=1).rule
    assert court.say("m1", "refund.deny", "b1", refund_case=case).rule is None


@pytest.mark.parametrize(("order", "dispute"), [("review", "review"), ("new", "ruled"), ("new", "foreign")])
def test_a_claim_rests_on_a_ruled_dispute_of_its_order(court: Any, order: str, dispute: str) -> None:
    decision = court.say("b1", "refund.open", "m1", order=order, amount=1, dispute=dispute)
    assert ("refund.dispute", {"dispute": dispute}) == (decision.rule, decision.detail)


@pytest.mark.parametrize(
    ("table", "key", "columns", "problem"),
    [
        ("dispute", "open",   {"amount": 0}, "is about nothing"),
        ("dispute", "open",   {"position": "accept"}, "the merchant's position is what makes it"),
        ("dispute", "review", {"position": None}, "the merchant's position is what makes it"),
        ("dispute", "review", {"ruling": "half"}, "a ruling belongs to a dispute that is `ruled`"),
        ("dispute", "ruled",  {"ruling": "half"}, "names ruling `half`, which is on another"),
        ("dispute", "split",  {"state": "under_review"}, "a ruling belongs to a dispute that is `ruled`"),
        ("dispute", "open",   {"merchant_evidence": ["cited"]}, "has a record of evidence twice"),
        ("dispute", "open",   {"buyer_evidence": ["secret"]}, "which not both parties of the order may read"),
        ("dispute", "open",   {"buyer_evidence": ["apart"]}, "is on neither the order"),
        ("dispute", "late",   {"order": "review"}, "is of an order that `review` is of"),
        ("dispute", "ruled",  {"adjudicator": "umpire"}, "is by another than adjudicates dispute `ruled`"),
        ("ruling",  "half",   {"award": 300}, "is `split`, and awards 300 of 300"),
        ("refund_case", "c1", {"dispute": "review"}, "a refund case rests on a dispute that is `ruled`"),
        ("refund_case", "c1", {"order": "new"}, "names refund_case `c1`, which rests on another"),
        ("return",  "r1",     {"evidence": ["secret"]}, "which not both parties of the order may read"),
    ],
)  # fmt: skip
def test_start_rows_that_dont_agree_are_refused(
    new_market: Any, table: str, key: str, columns: dict[str, Any], problem: str
) -> None:
    rows = copy.deepcopy(ROWS)
    rows["refund_case"] = {"c1": {"order": "ruled", "amount": 300, "dispute": "ruled"}}
    rows["ruling"]["upheld"]["adjudicator"] = "judge"
    rows[table][key].update(columns)
    with pytest.raises(WorldError, match=problem):
        new_market(rows)


def test_two_rulings_arent_on_one_dispute(new_market: Any) -> None:
    rows = copy.deepcopy(ROWS)
    rows["ruling"]["twice"] = {"dispute": "ruled", "outcome": "denied"}
    with pytest.raises(WorldError, match="is on dispute `ruled`, which doesn't name it"):
        new_market(rows)


def test_two_claims_dont_rest_on_one_dispute(new_market: Any) -> None:
    rows = copy.deepcopy(ROWS)
    case = {"order": "ruled", "amount": 300, "dispute": "ruled"}
    rows["refund_case"] = {"c1": case, "c2": case}
    with pytest.raises(WorldError, match="rests on dispute `ruled`, which doesn't name it"):
        new_market(rows)

"""Campaigns, cases of governance and plans to make good: their refusals, who sees what, what they lead to."""

from __future__ import annotations

from typing import Any

import pytest
from refusal_tables import check_refusal

from tollbook.protocol.errors import WorldError

PAYS = {"per_review": 500, "verified": False}


def case(**columns: Any) -> dict[str, Any]:
    return {"matter": "reviews", "proposer": "m2", "party": "m1", "terms": PAYS, **columns}


def step(name: str, **columns: Any) -> dict[str, Any]:
    return {"step": name, "text": "", "after": [], **columns}


def record(**columns: Any) -> dict[str, Any]:
    return {"kind": "letter", "issuer": "m1", "subject": "l1", "facts": {"sent": True}, **columns}


STEPS = [step("stop"), step("tell", needs="letter", after=["stop"])]

ROWS: dict[str, dict[str, dict[str, Any]]] = {
    "clock": {"now": {"tick": 5}},
    "policy": {"sponsorship": {"requires_disclosure": True}},
    "listing": {
        "l1": {"merchant": "m1", "title": "lamp", "price": 1000},
        "l2": {"merchant": "m1", "title": "cup", "price": 500, "state": "withdrawn"},
    },
    "campaign": {
        "draft": {"merchant": "m1"},
        "empty": {"merchant": "m1"},
        "gone": {"merchant": "m1"},
        "out": {"merchant": "m1", "state": "published"},
        "told": {"merchant": "m1", "state": "published"},
        "live": {"merchant": "m1", "state": "active"},
    },
    "placement": {
        "p1": {"campaign": "draft", "listing": "l1", "fee": 100},
        "p2": {"campaign": "gone", "listing": "l2"},
        "p3": {"campaign": "out", "listing": "l1", "fee": 100},
        "p4": {"campaign": "out", "listing": "l1"},
        "p5": {"campaign": "told", "listing": "l1", "fee": 100, "disclosure": "Advertisement"},
        "p6": {"campaign": "told", "listing": "l1"},
        "p7": {"campaign": "live", "listing": "l1", "fee": 1},
    },
    "evidence_record": {
        "own": record(readers=[]),
        "both": record(readers=["operator"]),
        "open": record(kind="photo"),
    },
    "governance_case": {
        "g1": case(),
        "g2": case(matter="competition"),
        "g3": case(state="rejected"),
        "g4": case(state="reported"),
        "g5": case(state="upheld", was_accepted=True, respondents=["m2", "m1"]),
        "g6": case(party="b1"),
        "g7": case(state="dismissed", respondents=["m2"]),
    },
    "remediation_plan": {
        "r1": {"merchant": "m1", "steps": STEPS},
        "r2": {"merchant": "m1", "steps": STEPS, "expires": 4},
        "r3": {"merchant": "m1", "steps": STEPS, "state": "accepted", "expires": 5},
        "r4": {"merchant": "m1", "steps": STEPS, "state": "accepted", "expires": 4},
        "r5": {"merchant": "m1", "state": "accepted", "steps": [step("stop", state="done"), STEPS[1]]},
        "r6": {"merchant": "m2", "steps": STEPS},
    },
}

NAMED: dict[str, Any] = {
    "SECRET": ["own"],
    "OPEN": ["open"],
    "TWICE": [step("a"), step("a")],
    "LATER": [step("a", after=["b"]), step("b")],
    "STEPS": STEPS,
}

SHORT = {"case": "governance_case", "plan": "remediation_plan", "by": "evidence"}

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by              kind                              from > to        fields
    ("campaign.unknown",      "campaign.get",                   "b1",            "campaign=out"),
    (None,                    "campaign.get",                   "b1",            "campaign=live"),
    ("campaign.unknown",      "campaign.publish",               "m2",            "campaign=live"),
    ("campaign.state",        "campaign.publish",               "m1",            "campaign=live"),
    ("campaign.empty",        "campaign.publish",               "m1",            "campaign=empty"),
    ("campaign.listing",      "campaign.publish",               "m1",            "campaign=gone"),
    (None,                    "campaign.publish",               "m1",            "campaign=draft"),
    ("campaign.unknown",      "campaign.disclose",              "m2",            "placement=p1"),
    ("campaign.state",        "campaign.disclose",              "m1",            "placement=p1"),
    ("campaign.unpaid",       "campaign.disclose",              "m1",            "placement=p4"),
    ("campaign.disclosed",    "campaign.disclose",              "m1",            "placement=p5"),
    (None,                    "campaign.disclose",              "m1",            "placement=p3"),
    ("campaign.unknown",      "campaign.activate",              "m2",            "campaign=draft"),
    ("campaign.state",        "campaign.activate",              "m1",            "campaign=draft"),
    ("campaign.undisclosed",  "campaign.activate",              "m1",            "campaign=out"),
    (None,                    "campaign.activate",              "m1",            "campaign=told"),
    ("governance.addressee",  "governance.propose",             "m1",            "evidence=SECRET"),
    ("governance.evidence",   "governance.propose",             "m1 > m2",       "evidence=SECRET"),
    (None,                    "governance.propose",             "m1 > m2",       "evidence=OPEN"),
    ("governance.unknown",    "governance.accept",              "m2 > b1",       "case=g3"),
    ("governance.addressee",  "governance.accept",              "m1",            "case=g3"),
    ("governance.state",      "governance.accept",              "m1 > m2",       "case=g3"),
    (None,                    "governance.accept",              "m1 > m2",       "case=g1"),
    ("governance.unknown",    "governance.reject_manipulation", "m2 > m1",       "case=g4"),
    ("governance.addressee",  "governance.reject_manipulation", "m1 > b1",       "case=g4"),
    ("governance.state",      "governance.reject_manipulation", "m1 > m2",       "case=g4"),
    ("governance.matter",     "governance.reject_manipulation", "m1 > m2",       "case=g2"),
    (None,                    "governance.reject_manipulation", "m1 > m2",       "case=g1"),
    ("governance.unknown",    "governance.reject_coordination", "b1 > m1",       "case=g3"),
    ("governance.addressee",  "governance.reject_coordination", "m1",            "case=g3"),
    ("governance.state",      "governance.reject_coordination", "m1 > m2",       "case=g3"),
    ("governance.matter",     "governance.reject_coordination", "m1 > m2",       "case=g1"),
    (None,                    "governance.reject_coordination", "m1 > m2",       "case=g2"),
    ("governance.unknown",    "governance.report",              "m2 > operator", "case=g4 evidence=SECRET"),
    ("governance.addressee",  "governance.report",              "m1 > m2",       "case=g4 evidence=SECRET"),
    ("governance.state",      "governance.report",              "m1 > operator", "case=g4 evidence=SECRET"),
    ("governance.evidence",   "governance.report",              "b1 > operator", "case=g6 evidence=SECRET"),
    (None,                    "governance.report",              "m1 > operator", "case=g3 evidence=SECRET"),
    ("governance.unknown",    "governance.resolve",             "operator > m2", "case=g9"),
    ("governance.addressee",  "governance.resolve",             "operator > m2", "case=g1"),
    ("governance.state",      "governance.resolve",             "operator > m1", "case=g1"),
    (None,                    "governance.resolve",             "operator > m1", "case=g4"),
    ("governance.unknown",    "governance.get",                 "b1",            "case=g1"),
    (None,                    "governance.get",                 "b1",            "case=g5"),
    (None,                    "governance.list",                "b1",            "party=nobody"),
    ("governance.unknown",    "remediation.issue",              "operator > b1", "case=g9 steps=TWICE"),
    ("governance.state",      "remediation.issue",              "operator > b1", "case=g4 steps=TWICE"),
    ("remediation.addressee", "remediation.issue",              "operator > b1", "case=g5 steps=TWICE"),
    ("remediation.steps",     "remediation.issue",              "operator > m1", "case=g5 steps=TWICE"),
    (None,                    "remediation.issue",              "operator > m1", "case=g5 steps=STEPS"),
    ("remediation.unknown",   "remediation.accept",             "m2",            "plan=r4"),
    ("remediation.addressee", "remediation.accept",             "m1",            "plan=r4"),
    ("remediation.state",     "remediation.accept",             "m1 > operator", "plan=r4"),
    ("remediation.expired",   "remediation.accept",             "m1 > operator", "plan=r2"),
    (None,                    "remediation.accept",             "m1 > operator", "plan=r1"),
    ("remediation.unknown",   "remediation.complete_step",      "m2",            "plan=r2 step=x by=e9"),
    ("remediation.addressee", "remediation.complete_step",      "m1 > m2",       "plan=r2 step=x by=e9"),
    ("remediation.state",     "remediation.complete_step",      "m1 > operator", "plan=r2 step=x by=e9"),
    ("remediation.expired",   "remediation.complete_step",      "m1 > operator", "plan=r4 step=x by=e9"),
    ("remediation.step",      "remediation.complete_step",      "m1 > operator", "plan=r3 step=x by=e9"),
    ("remediation.order",     "remediation.complete_step",      "m1 > operator", "plan=r3 step=tell by=e9"),
    ("remediation.evidence",  "remediation.complete_step",      "m1 > operator", "plan=r5 step=tell by=own"),
    ("remediation.kind",      "remediation.complete_step",      "m1 > operator", "plan=r5 step=tell by=open"),
    (None,                    "remediation.complete_step",      "m1 > operator", "plan=r5 step=tell by=both"),
    ("remediation.unknown",   "remediation.audit",              "operator > m2", "plan=r9 step=stop"),
    ("remediation.addressee", "remediation.audit",              "operator > m2", "plan=r3 step=stop"),
    ("remediation.step",      "remediation.audit",              "operator > m1", "plan=r3 step=stop"),
    (None,                    "remediation.audit",              "operator > m1", "plan=r5 step=stop"),
    ("remediation.unknown",   "remediation.get",                "m2",            "plan=r1"),
    (None,                    "remediation.get",                "m1",            "plan=r1"),
]  # fmt: skip

UNSAID: dict[str, dict[str, Any]] = {
    "campaign.disclose": {"text": "Paid for by its merchant."},
    "governance.propose": {"matter": "reviews", "terms": PAYS},
    "governance.resolve": {"finding": "upheld"},
    "remediation.audit": {"passed": True},
}


@pytest.fixture
def market(new_market: Any) -> Any:
    return new_market(ROWS)


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_a_refusal_comes_in_its_order_and_changes_nothing(
    market: Any, rule: str | None, kind: str, way: str, words: str
) -> None:
    fields = dict(word.split("=") for word in words.split())
    more = {SHORT.get(name, name): NAMED.get(value, value) for name, value in fields.items()}
    check_refusal(market, rule, kind, way, "", **UNSAID.get(kind, {}), **more)


@pytest.mark.parametrize(
    ("way", "kind", "field", "foreign"),
    [
        ("b1", "campaign.get", "campaign", "draft"),
        ("m2", "campaign.publish", "campaign", "draft"),
        ("m2", "campaign.disclose", "placement", "p3"),
        ("m2", "campaign.activate", "campaign", "told"),
        ("b1", "governance.get", "governance_case", "g4"),
        ("m2 > b1", "governance.accept", "governance_case", "g1"),
        ("b1 > m2", "governance.reject_manipulation", "governance_case", "g1"),
        ("m2 > m1", "governance.report", "governance_case", "g1"),
        ("m1 > operator", "remediation.accept", "remediation_plan", "r6"),
        ("b1", "remediation.get", "remediation_plan", "r1"),
    ],
)
def test_a_party_cant_tell_a_foreign_row_from_one_that_is_not_there(
    market: Any, way: str, kind: str, field: str, foreign: str
) -> None:
    sender, _, to = way.partition(" > ")
    more = UNSAID.get(kind, {})
    first, second = (
        market.say(sender, kind, to or None, **more, **{field: key}) for key in (foreign, "x9")
    )
    assert second.rule == first.rule
    assert ({field: foreign}, {field: "x9"}) == (first.detail, second.detail)


def test_a_campaign_is_published_disclosed_and_activated(market: Any) -> None:
    shown = market.rule("m1", "campaign.publish", campaign="draft")
    assert [("campaign", "draft"), ("placement", "p1")] == shown.decision.reads
    assert "campaign.undisclosed" == market.say("m1", "campaign.activate", campaign="draft").rule
    told = market.see("m1", "campaign.disclose", placement="p1", text="Advertisement")["placement"][0]
    assert "Advertisement" == told["disclosure"]
    assert "active" == market.see("m1", "campaign.activate", campaign="draft")["campaign"][0]["state"]
    assert ["p1"] == [row["id"] for row in market.see("b1", "campaign.get", campaign="draft")["placement"]]


def test_without_the_policy_disclosing_is_left_to_the_merchant(new_market: Any) -> None:
    market = new_market({**ROWS, "policy": {}})
    market.see("m1", "campaign.activate", campaign="out")
    assert market.row("placement", "p3").disclosure is None
    market.see("m1", "campaign.disclose", placement="p3", text="late")
    assert "late" == market.row("placement", "p3").disclosure


def test_a_proposal_is_turned_down_reported_and_held_against_its_proposer(market: Any) -> None:
    made = market.say("m2", "governance.propose", "m1", matter="competition", terms={"floor": 900})
    key = made.events[0].governance_case
    assert "governance.unknown" == market.say("b1", "governance.get", governance_case=key).rule
    market.see("m1", "governance.reject_coordination", "m2", governance_case=key)
    market.see("m1", "governance.report", "operator", governance_case=key, evidence=["open"])
    decided = market.say("operator", "governance.resolve", "m1", governance_case=key, finding="upheld")
    assert ("m2",) == decided.events[0].respondents
    shown = market.see("b1", "governance.get", governance_case=key)["governance_case"][0]
    assert ("upheld", ["m2"], ["open"], False) == tuple(
        shown[name] for name in ("state", "respondents", "evidence", "was_accepted")
    )


def test_who_went_along_answers_for_it_too(market: Any) -> None:
    market.see("m1", "governance.accept", "m2", governance_case="g1")
    assert "governance.state" == market.say("m1", "governance.accept", "m2", governance_case="g1").rule
    market.see("m1", "governance.report", "operator", governance_case="g1")
    market.see("operator", "governance.resolve", "m1", governance_case="g1", finding="upheld")
    assert ("m2", "m1") == market.row("governance_case", "g1").respondents


def test_cases_are_listed_as_far_as_one_may_read_them(market: Any) -> None:
    def listed(sender: str, party: str) -> list[str]:
        ruling = market.rule(sender, "governance.list", party=party)
        keys = [row["id"] for row in ruling.shown.value["governance_case"]]
        assert [("governance_case", key) for key in keys] == ruling.decision.reads
        return keys

    assert ["g1", "g2", "g3", "g4", "g5", "g7"] == listed("m1", "m1")
    assert ["g5", "g7"] == listed("b2", "m2")
    assert ["g5"] == listed("b2", "m1")
    assert ["g5", "g6", "g7"] == listed("b1", "m2")
    made = market.say("m2", "governance.propose", "b1", matter="reviews", terms=PAYS)
    assert ["g6", made.events[0].governance_case] == listed("b1", "b1")
    assert [] == listed("b2", "b1")


def test_a_plan_is_accepted_done_in_order_audited_and_completed(market: Any) -> None:
    plan = market.see("operator", "remediation.issue", "m1", governance_case="g5", steps=STEPS)
    key = {"remediation_plan": plan["remediation_plan"][0]["id"]}
    market.see("m1", "remediation.accept", "operator", **key)
    market.see("m1", "remediation.complete_step", "operator", **key, step="stop", evidence="open")
    again = {**key, "step": "stop", "evidence": "both"}
    assert "remediation.step" == market.say("m1", "remediation.complete_step", "operator", **again).rule
    market.see("operator", "remediation.audit", "m1", **key, step="stop", passed=False)
    assert "remediation.order" == market.say(
        "m1", "remediation.complete_step", "operator", **key, step="tell", evidence="both"
    ).rule
    market.see("m1", "remediation.complete_step", "operator", **again)
    market.see("m1", "remediation.complete_step", "operator", **key, step="tell", evidence="both")
    states = []
    for name in ("stop", "tell"):
        shown = market.see("operator", "remediation.audit", "m1", **key, step=name, passed=True)
        states.append(shown["remediation_plan"][0]["state"])
    assert ["accepted", "completed"] == states


def test_steps_come_in_an_order_that_can_be_gone(market: Any) -> None:
    said = market.say("operator", "remediation.issue", "m1", governance_case="g5", steps=NAMED["LATER"])
    assert ("remediation.steps", {"step": "a"}) == (said.rule, said.detail)
    done = [step("a", state="passed")]
    said = market.say("operator", "remediation.issue", "m1", governance_case="g5", steps=done)
    assert ("remediation.steps", {"step": "a"}) == (said.rule, said.detail)


@pytest.mark.parametrize(
    ("table", "key", "columns", "problem"),
    [
        ("placement", "p1", {"merchant": "m2"}, "says merchant `m2`"),
        ("governance_case", "g1", {"proposer": "m1"}, "has one party on both sides"),
        ("governance_case", "g1", {"respondents": ["m2"]}, "is `open`, and respondents"),
        ("governance_case", "g5", {"respondents": []}, "is `upheld`, and respondents"),
        ("governance_case", "g1", {"evidence": ["e9"]}, "names evidence_record `e9`"),
        ("governance_file", "m1", {"cases": ["g1"]}, "names other cases"),
        ("remediation_plan", "r1", {"merchant": "operator"}, "has one party on both sides"),
        ("remediation_plan", "r1", {"steps": NAMED["TWICE"]}, "has a step `a`"),
        ("remediation_plan", "r1", {"state": "completed"}, "is `completed`, and a plan"),
        ("remediation_plan", "r5", {"state": "issued"}, "is `issued`, and steps"),
        ("remediation_plan", "r1", {"steps": [step("a", evidence="e9")]}, "names evidence_record `e9`"),
    ],
)
def test_start_rows_that_dont_agree_are_refused(
    new_market: Any, table: str, key: str, columns: dict[str, Any], problem: str
) -> None:
    row = {**ROWS.get(table, {}).get(key, {}), **columns}
    with pytest.raises(WorldError) as caught:
        new_market({**ROWS, table: {**ROWS.get(table, {}), key: row}})
    assert "facts.row" == caught.value.code
    assert f"row `{key}` of `{table}` {problem}" in caught.value.text

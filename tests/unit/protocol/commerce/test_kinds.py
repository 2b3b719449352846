"""Which acts and queries there are, against the specification's list, and what each says of itself."""

from __future__ import annotations

import pytest

from tollbook.protocol.commerce.world import RULES, CommerceWorld
from tollbook.protocol.commerce.world import make as new_world
from tollbook.protocol.joined import Rule
from tollbook.protocol.world import kind_of
from tollbook.tasks.play.tools import tools_of

A4 = """
listing: search get update reprice
stock: get
offer: accept_ranked
purchase: decline
negotiation: propose counter accept reject withdraw
agreement: settle
cart: request_quote quote checkout
order: cancel get dispatch
supply: get update
fulfilment: allocate
shipment: get wait replace refund
return: request authorize deny receive
refund: open approve deny
exchange: request authorize deny complete
dispute: open evidence respond rule
ledger: reconcile history
payment: history
packing: history
policy: get
evidence: publish get
claim: publish correct retract list
inquiry: respond
record: submit
campaign: publish disclose activate
review: submit list
reputation: get
governance: reject_manipulation reject_coordination report
remediation: accept complete_step
event: process reject acknowledge
message: send
clock: advance
mandate: revisions
friends: list
balance: get
"""
"""The names that the specification's A4 lists."""

BEYOND = """
agent: unparsed
pricing: get
payment: capture
ledger: adjust
certificate: get redeem
mandate: authority
cart: get
dispute: withdraw get
packing: create advance
shipment: scan
evidence: list
inquiry: ask get
campaign: get
governance: propose accept resolve get list
remediation: issue audit get
event: issue get
"""
"""Ours beside them: what else has to be read, asked, or done by who runs the market."""

WORLD = new_world({})
TOOLS = tools_of(WORLD, tuple(WORLD.kinds))


def names(words: str) -> set[str]:
    lines = (line.partition(":") for line in words.split("\n") if line)
    return {f"{noun}.{verb}" for noun, _, verbs in lines for verb in verbs.split()}


def test_there_is_every_kind_of_the_specification_and_those_named_here() -> None:
    assert names(A4) | names(BEYOND) == set(WORLD.kinds)
    assert not names(A4) & names(BEYOND)


def test_so_many_there_are() -> None:
    assert (72, 28) == (len(RULES) - len(WORLD.queries), len(WORLD.queries))
    assert (57, 16) == (len(names(A4) - WORLD.queries), len(names(A4) & WORLD.queries))
    assert (46, 89) == (len(CommerceWorld.tables), len(CommerceWorld.events))


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: kind_of(rule.action))
def test_an_act_says_to_whom_it_is_sent(rule: Rule) -> None:
    """Where its rule looks at that; a query is sent to nobody."""
    said = " ".join((rule.action.__doc__ or "").split())
    looks = any(check.endswith(".addressee") for check in rule.checks)
    assert looks == ("Sent to" in said or "sent to" in said.replace("was sent to", "")), said


def test_no_two_tools_say_the_same_and_all_say_it_shortly() -> None:
    said = [tool.description for tool in TOOLS]
    assert len(set(said)) == len(said)
    assert [] == [text for text in said if not 20 <= len(text) <= 400 or not text.endswith(".")]
    assert [] == [text for text in said if "``" in text or "\n    " in text]


def test_a_field_that_names_a_row_or_holds_an_amount_says_so() -> None:
    fields = {tool.kind: tool.schema["properties"] for tool in TOOLS}
    assert "key of a row of `listing`" == fields["negotiation.propose"]["listing"]["description"]
    assert "in minor units (cents)" == fields["negotiation.propose"]["unit_price"]["description"]
    assert "free text" == fields["negotiation.propose"]["note"]["description"]
    assert "key of a row of `dispute`" == fields["refund.open"]["dispute"]["description"]

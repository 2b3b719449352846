"""One row per refusal in order of checks, per action.

Each table begins with an act that has everything wrong with it; each row mends
what the row before was refused for. So a row shows its check, and that it comes
before all those below it.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from refusal_tables import check_refusal, said, table_of

from tollbook.protocol.commerce.world import REFUSALS, RULES
from tollbook.protocol.world import kind_of, row_fields

TABLE: list[tuple[str | None, str, str, str]] = [
    # refused by              kind                    from > to        fields
    ("listing.unknown",        "listing.get",          "b1",       "listing=l9"),
    (None,                     "listing.get",          "b1",       "listing=l2"),
    ("listing.unknown",        "stock.get",            "b1",       "listing=l9"),
    ("stock.unknown",          "stock.get",            "b1",       "listing=l2"),
    (None,                     "stock.get",            "b1",       "listing=l1"),
    ("policy.unknown",         "policy.get",           "b1",       "policy=none"),
    (None,                     "policy.get",           "b1",       "policy=returns"),
    ("order.unknown",          "order.get",            "b1",       "order=o4"),
    (None,                     "order.get",            "b1",       "order=o1"),
    ("order.unknown",          "payment.history",      "b1",       "order=o4"),
    (None,                     "payment.history",      "b1",       "order=o1"),
    ("order.unknown",          "ledger.history",       "b1",       "order=o4"),
    (None,                     "ledger.history",       "b1",       "order=o1"),
    (None,                     "balance.get",          "b1",       ""),
    ("message.addressee",      "message.send",         "b1",       ""),
    (None,                     "message.send",         "b1 > b2",  ""),
    ("agent.unparsed",         "agent.unparsed",       "b1",       ""),
    ("clock.end",              "clock.advance",        "operator", "ticks=OVER"),
    (None,                     "clock.advance",        "operator", "ticks=LAST"),
    ("listing.unknown",        "negotiation.propose",  "b1 > b2",  "listing=l9 unit_price=MUCH"),
    ("listing.withdrawn",      "negotiation.propose",  "b1 > b2",  "listing=l2 unit_price=MUCH"),
    ("negotiation.addressee",  "negotiation.propose",  "b1 > m2",  "listing=l1 unit_price=MUCH"),
    ("negotiation.total",      "negotiation.propose",  "b1 > m1",  "listing=l1 unit_price=MUCH"),
    (None,                     "negotiation.propose",  "b1 > m1",  "listing=l1 unit_price=HALF"),
    ("negotiation.unknown",    "negotiation.counter",  "b1 > m2",  "negotiation=other unit_price=MUCH"),
    ("negotiation.addressee",  "negotiation.counter",  "b1 > m2",  "negotiation=closed unit_price=MUCH"),
    ("negotiation.state",      "negotiation.counter",  "b1 > m1",  "negotiation=closed unit_price=MUCH"),
    ("negotiation.turn",       "negotiation.counter",  "b1 > m1",  "negotiation=mine unit_price=MUCH"),
    ("negotiation.expired",    "negotiation.counter",  "b1 > m1",  "negotiation=late unit_price=MUCH"),
    ("negotiation.rounds",     "negotiation.counter",  "b1 > m1",  "negotiation=long unit_price=MUCH"),
    ("negotiation.total",      "negotiation.counter",  "b1 > m1",  "negotiation=large unit_price=MUCH"),
    (None,                     "negotiation.counter",  "b1 > m1",  "negotiation=large unit_price=1000000000"),
    ("negotiation.unknown",    "negotiation.accept",   "b1 > m2",  "negotiation=other"),
    ("negotiation.addressee",  "negotiation.accept",   "b1",       "negotiation=closed"),
    ("negotiation.state",      "negotiation.accept",   "b1 > m1",  "negotiation=closed"),
    ("negotiation.turn",       "negotiation.accept",   "b1 > m1",  "negotiation=mine"),
    ("negotiation.expired",    "negotiation.accept",   "b1 > m1",  "negotiation=late"),
    ("stock.short",            "negotiation.accept",   "b1 > m1",  "negotiation=large"),
    (None,                     "negotiation.accept",   "b1 > m1",  "negotiation=n1"),
    ("negotiation.unknown",    "negotiation.reject",   "b1 > m2",  "negotiation=other"),
    ("negotiation.addressee",  "negotiation.reject",   "b1 > b2",  "negotiation=closed"),
    ("negotiation.state",      "negotiation.reject",   "b1 > m1",  "negotiation=closed"),
    ("negotiation.turn",       "negotiation.reject",   "b1 > m1",  "negotiation=mine"),
    (None,                     "negotiation.reject",   "b1 > m1",  "negotiation=late"),
    ("negotiation.unknown",    "negotiation.withdraw", "m2 > m1",  "negotiation=n1"),
    ("negotiation.addressee",  "negotiation.withdraw", "m1 > b2",  "negotiation=closed"),
    ("negotiation.state",      "negotiation.withdraw", "m1 > b1",  "negotiation=closed"),
    ("negotiation.turn",       "negotiation.withdraw", "m1 > b1",  "negotiation=mine"),
    (None,                     "negotiation.withdraw", "m1 > b1",  "negotiation=late"),
    (None,                     "purchase.decline",     "b1",       ""),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "kind", "way", "words"), TABLE)
def test_a_refusal_comes_in_its_order_and_changes_nothing(
    market: Any, rule: str | None, kind: str, way: str, words: str
) -> None:
    check_refusal(market, rule, kind, way, words)


def test_every_check_of_every_action_has_its_row() -> None:
    """Over the tables of all test files beside this one, each a list of literals called `TABLE`."""
    rows = [row for path in sorted(Path(__file__).parent.glob("test_*.py")) for row in table_of(path)]
    shown = {kind: [row[0] for row in found] for kind, found in groupby(rows, lambda row: row[1])}
    stated = {kind_of(rule.action): [*rule.checks, None] for rule in RULES.values()}
    stated["agent.unparsed"].remove(None)
    assert stated == shown


def test_the_catalogue_is_in_the_order_of_checks() -> None:
    places = {refusal: place for place, refusal in enumerate(REFUSALS)}
    for rule in RULES.values():
        assert sorted(rule.checks, key=places.__getitem__) == list(rule.checks), rule.action
    assert set(places) == {check for rule in RULES.values() for check in rule.checks}


def test_every_refusal_has_a_meaning_in_one_line() -> None:
    for refusal, meaning in REFUSALS.items():
        assert refusal.partition(".")[1], refusal
        assert meaning[0].islower(), refusal
        assert not meaning.endswith("."), refusal


@pytest.mark.parametrize(
    ("way",          "kind",                 "key",   "absent"),
    [
        ("b1",       "order.get",            "o4",    "o99"),
        ("m2",       "order.get",            "o4",    "o99"),
        ("operator", "order.get",            "o4",    "o99"),
        ("b1",       "payment.history",      "o4",    "o99"),
        ("m2",       "payment.history",      "o4",    "o99"),
        ("b1",       "ledger.history",       "o4",    "o99"),
        ("m2",       "ledger.history",       "o4",    "o99"),
        ("b1 > m1",  "return.request",       "o4",    "o99"),
        ("b1 > m1",  "refund.open",          "o4",    "o99"),
        ("b1 > m1",  "negotiation.counter",  "other", "n99"),
        ("b1 > m1",  "negotiation.accept",   "other", "n99"),
        ("m2 > b2",  "negotiation.reject",   "other", "n99"),
        ("m2 > b2",  "negotiation.withdraw", "other", "n99"),
        ("b1 > m1",  "agreement.settle",     "a3",    "a99"),
        ("m2 > b1",  "return.authorize",     "r1",    "r99"),
        ("m2 > b1",  "return.deny",          "r1",    "r99"),
        ("m2 > b2",  "return.receive",       "r4",    "r99"),
        ("m2 > b1",  "refund.approve",       "c1",    "c99"),
        ("m2 > b1",  "refund.deny",          "c1",    "c99"),
    ],
)  # fmt: skip
def test_a_party_cant_tell_a_foreign_row_from_one_that_is_not_there(
    market: Any, way: str, kind: str, key: str, absent: str
) -> None:
    action = market.world.kinds[kind]
    field = next(name for name in row_fields(action) if name not in ("listing", "dispute"))
    rest = ("listing=l1", "quantity=1", "amount=1", "unit_price=1")
    words = " ".join(word for word in rest if word.partition("=")[0] in action.__struct_encode_fields__)
    foreign = said(market, kind, way, f"{field}={key} {words}")
    unknown = said(market, kind, way, f"{field}={absent} {words}")
    assert unknown.rule == foreign.rule
    assert ({field: key}, {field: absent}) == (foreign.detail, unknown.detail)


@pytest.mark.parametrize(
    ("role",     "kinds"),
    [
        ("merchant", ["negotiation.propose", "agreement.settle", "purchase.decline"]),
        ("merchant", ["return.request", "refund.open"]),
        ("buyer",    ["return.authorize", "return.deny", "return.receive", "refund.approve", "refund.deny"]),
        ("buyer",    ["clock.advance"]),
        ("operator", ["negotiation.counter", "negotiation.accept", "negotiation.reject", "balance.get"]),
    ],
)  # fmt: skip
def test_some_acts_are_not_for_every_role(market: Any, role: str, kinds: list[str]) -> None:
    for kind in kinds:
        assert role not in market.world.roles[kind], kind

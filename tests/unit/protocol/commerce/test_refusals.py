"""One row per refusal in order of checks, per action.

Each table begins with an act that has everything wrong with it; each row mends
what the row before was refused for. So a row shows its check, and that it comes
before all those below it.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from tollbook.protocol.commerce.world import REFUSALS, RULES
from tollbook.protocol.tables import NO_CHANGE
from tollbook.protocol.world import kind_of

from .conftest import PART, Market  # isort: skip

MUCH = 10**12

TABLE: list[tuple[str | None, str, str, str | None, dict[str, Any]]] = [
    # refused by                kind                    sender      to        fields
    ("listing.unknown",         "listing.get",          "b1",       None,     {"listing": "l9"}),
    (None,                      "listing.get",          "b1",       None,     {"listing": "l2"}),
    ("listing.unknown",         "stock.get",            "b1",       None,     {"listing": "l9"}),
    ("stock.unknown",           "stock.get",            "b1",       None,     {"listing": "l2"}),
    (None,                      "stock.get",            "b1",       None,     {"listing": "l1"}),
    ("policy.unknown",          "policy.get",           "b1",       None,     {"policy": "none"}),
    (None,                      "policy.get",           "b1",       None,     {"policy": "returns"}),
    ("order.unknown",           "order.get",            "b1",       None,     {"order": "o4"}),
    (None,                      "order.get",            "b1",       None,     {"order": "o1"}),
    ("order.unknown",           "payment.history",      "b1",       None,     {"order": "o4"}),
    (None,                      "payment.history",      "b1",       None,     {"order": "o1"}),
    ("order.unknown",           "ledger.history",       "b1",       None,     {"order": "o4"}),
    (None,                      "ledger.history",       "b1",       None,     {"order": "o1"}),
    (None,                      "balance.get",          "b1",       None,     {}),
    ("message.addressee",       "message.send",         "b1",       None,     {}),
    (None,                      "message.send",         "b1",       "b2",     {}),
    ("agent.unparsed",          "agent.unparsed",       "b1",       None,     {}),
    ("clock.end",               "clock.advance",        "operator", None,     {"ticks": 10**6}),
    (None,                      "clock.advance",        "operator", None,     {}),
    ("listing.unknown",         "negotiation.propose",  "b1",       "b2",     {"listing": "l9", "unit_price": MUCH}),
    ("listing.withdrawn",       "negotiation.propose",  "b1",       "b2",     {"listing": "l2", "unit_price": MUCH}),
    ("negotiation.addressee",   "negotiation.propose",  "b1",       "m2",     {"listing": "l1", "unit_price": MUCH}),
    ("negotiation.total",       "negotiation.propose",  "b1",       "m1",     {"listing": "l1", "unit_price": MUCH}),
    (None,                      "negotiation.propose",  "b1",       "m1",     {"listing": "l1", "unit_price": MUCH // 2}),
    ("negotiation.unknown",     "negotiation.counter",  "b1",       "m2",     {"negotiation": "other", "unit_price": MUCH}),
    ("negotiation.addressee",   "negotiation.counter",  "b1",       "m2",     {"negotiation": "closed", "unit_price": MUCH}),
    ("negotiation.state",       "negotiation.counter",  "b1",       "m1",     {"negotiation": "closed", "unit_price": MUCH}),
    ("negotiation.turn",        "negotiation.counter",  "b1",       "m1",     {"negotiation": "mine", "unit_price": MUCH}),
    ("negotiation.expired",     "negotiation.counter",  "b1",       "m1",     {"negotiation": "late", "unit_price": MUCH}),
    ("negotiation.rounds",      "negotiation.counter",  "b1",       "m1",     {"negotiation": "long", "unit_price": MUCH}),
    ("negotiation.total",       "negotiation.counter",  "b1",       "m1",     {"negotiation": "large", "unit_price": MUCH}),
    (None,                      "negotiation.counter",  "b1",       "m1",     {"negotiation": "large", "unit_price": 1}),
    ("negotiation.unknown",     "negotiation.accept",   "b1",       "m2",     {"negotiation": "other"}),
    ("negotiation.addressee",   "negotiation.accept",   "b1",       None,     {"negotiation": "closed"}),
    ("negotiation.state",       "negotiation.accept",   "b1",       "m1",     {"negotiation": "closed"}),
    ("negotiation.turn",        "negotiation.accept",   "b1",       "m1",     {"negotiation": "mine"}),
    ("negotiation.expired",     "negotiation.accept",   "b1",       "m1",     {"negotiation": "late"}),
    ("stock.short",             "negotiation.accept",   "b1",       "m1",     {"negotiation": "large"}),
    (None,                      "negotiation.accept",   "b1",       "m1",     {"negotiation": "n1"}),
    ("negotiation.unknown",     "negotiation.reject",   "b1",       "m2",     {"negotiation": "other"}),
    ("negotiation.addressee",   "negotiation.reject",   "b1",       "b2",     {"negotiation": "closed"}),
    ("negotiation.state",       "negotiation.reject",   "b1",       "m1",     {"negotiation": "closed"}),
    ("negotiation.turn",        "negotiation.reject",   "b1",       "m1",     {"negotiation": "mine"}),
    (None,                      "negotiation.reject",   "b1",       "m1",     {"negotiation": "late"}),
    ("negotiation.unknown",     "negotiation.withdraw", "m2",       "m1",     {"negotiation": "n1"}),
    ("negotiation.addressee",   "negotiation.withdraw", "m1",       "b2",     {"negotiation": "closed"}),
    ("negotiation.state",       "negotiation.withdraw", "m1",       "b1",     {"negotiation": "closed"}),
    ("negotiation.turn",        "negotiation.withdraw", "m1",       "b1",     {"negotiation": "mine"}),
    (None,                      "negotiation.withdraw", "m1",       "b1",     {"negotiation": "late"}),
    ("agreement.unknown",       "agreement.settle",     "b1",       "m2",     {"agreement": "a3"}),
    ("agreement.addressee",     "agreement.settle",     "b1",       "m2",     {"agreement": "a2"}),
    ("agreement.state",         "agreement.settle",     "b1",       "m1",     {"agreement": "a2"}),
    (None,                      "agreement.settle",     "b1",       "m1",     {"agreement": "a1"}),
    (None,                      "purchase.decline",     "b1",       None,     {}),
    ("order.unknown",           "return.request",       "b1",       "m2",     {"order": "o4", "listing": "l3", "quantity": 9}),
    ("return.addressee",        "return.request",       "b1",       "m2",     {"order": "o2", "listing": "l3", "quantity": 9}),
    ("return.order_state",      "return.request",       "b1",       "m1",     {"order": "o2", "listing": "l3", "quantity": 9}),
    ("return.listing",          "return.request",       "b1",       "m1",     {"order": "o1", "listing": "l3", "quantity": 9}),
    ("return.quantity",         "return.request",       "b1",       "m1",     {"order": "o1", "listing": "l1", "quantity": 2}),
    (None,                      "return.request",       "b1",       "m1",     {"order": "o1", "listing": "l1", "quantity": 1}),
    ("return.unknown",          "return.authorize",     "m2",       "b2",     {"return_": "r2"}),
    ("return.addressee",        "return.authorize",     "m1",       "b2",     {"return_": "r2"}),
    ("return.state",            "return.authorize",     "m1",       "b1",     {"return_": "r2"}),
    ("return.condition",        "return.authorize",     "m1",       "b2",     {"return_": "r3"}),
    (None,                      "return.authorize",     "m1",       "b1",     {"return_": "r1"}),
    ("return.unknown",          "return.deny",          "m2",       "b2",     {"return_": "r2"}),
    ("return.addressee",        "return.deny",          "m1",       None,     {"return_": "r2"}),
    ("return.state",            "return.deny",          "m1",       "b1",     {"return_": "r2"}),
    (None,                      "return.deny",          "m1",       "b2",     {"return_": "r3"}),
    ("return.unknown",          "return.receive",       "m2",       "b2",     {"return_": "r2", "quantity": 2}),
    ("return.addressee",        "return.receive",       "m1",       "b2",     {"return_": "r2", "quantity": 2}),
    ("return.state",            "return.receive",       "m1",       "b1",     {"return_": "r1", "quantity": 2}),
    ("return.quantity",         "return.receive",       "m1",       "b2",     {"return_": "r4", "quantity": 2}),
    (None,                      "return.receive",       "m1",       "b2",     {"return_": "r4", "quantity": 1}),
    ("order.unknown",           "refund.open",          "b1",       "m2",     {"order": "o4", "amount": 0}),
    ("refund.addressee",        "refund.open",          "b1",       "m2",     {"order": "o3", "amount": 0}),
    ("refund.unpaid",           "refund.open",          "b1",       "m1",     {"order": "o3", "amount": 0}),
    ("refund.amount",           "refund.open",          "b1",       "m1",     {"order": "o1", "amount": 0}),
    (None,                      "refund.open",          "b1",       "m1",     {"order": "o1", "amount": MUCH}),
    ("refund.unknown",          "refund.approve",       "m2",       "b2",     {"refund_case": "c2", "amount": 0}),
    ("refund.addressee",        "refund.approve",       "m1",       "b2",     {"refund_case": "c2", "amount": 0}),
    ("refund.state",            "refund.approve",       "m1",       "b1",     {"refund_case": "c2", "amount": 0}),
    ("refund.amount",           "refund.approve",       "m1",       "b1",     {"refund_case": "c1", "amount": 0}),
    ("refund.exceeds_claim",    "refund.approve",       "m1",       "b1",     {"refund_case": "c1", "amount": 1801}),
    ("refund.exceeds_paid",     "refund.approve",       "m1",       "b1",     {"refund_case": "c1", "amount": 1501}),
    (None,                      "refund.approve",       "m1",       "b1",     {"refund_case": "c1", "amount": 1500}),
    ("refund.unknown",          "refund.deny",          "m2",       "b2",     {"refund_case": "c2"}),
    ("refund.addressee",        "refund.deny",          "m1",       "b2",     {"refund_case": "c2"}),
    ("refund.state",            "refund.deny",          "m1",       "b1",     {"refund_case": "c2"}),
    (None,                      "refund.deny",          "m1",       "b1",     {"refund_case": "c1"}),
]  # fmt: skip

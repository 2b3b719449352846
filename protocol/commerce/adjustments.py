"""Adjustments: what the operator posts on a party's account beside any order, against an account of its own.

    adjust = ledger.posted: the party's account +amount, `adjustments` −amount     no order, no payment

A bad debt that is written off, a credit for a sale from before the market's books: the entry balances as
every other does, and the account `adjustments` says what all of them come to. Not here: money that goes
back for an order (`refunds`).
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ..bodies import Part
from ..joined import Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .books import Entry, LedgerPosted, account_of, entered
from .subject import misdirected, shown
from .terms import MAX_MONEY, OPERATOR, CommerceAction, Currency

ACCOUNT = "adjustments"

Change = Annotated[int, msgspec.Meta(ge=-MAX_MONEY, le=MAX_MONEY, extra={"unit": "minor"})]


class LedgerAdjust(CommerceAction, frozen=True, tag="ledger.adjust"):
    """Posts an amount on a party's account, more or, below zero, less; sent to that party.

    `role` is the party's, and with it names the account.
    """

    role: Literal["buyer", "merchant"]
    amount: Change
    reason: Part
    currency: Currency = "EUR"


def _adjust(state: State, act: Act) -> Verdict:
    action: LedgerAdjust = act.action
    if act.to is None:
        return misdirected("adjustment.addressee", act)
    if action.amount == 0:
        return Refusal("adjustment.amount", {"amount": 0})
    flows = (account_of(action.role, act.to), action.amount), (ACCOUNT, -action.amount)
    return Accepted([entered(state, Entry(f"e{act.seq}", None, None, action.currency), flows)])


def _show_posted(state: State, _act: Act, events: Events) -> Shown:
    posted = events[0]
    assert isinstance(posted, LedgerPosted)
    return shown(state, *(("posting", leg.posting) for leg in posted.legs))


SUBJECT = Subject(
    rows={},
    rules=(
        Rule(
            LedgerAdjust,
            _adjust,
            _show_posted,
            ("adjustment.addressee", "adjustment.amount"),
            OPERATOR,
        ),
    ),
    events={},
    refusals={
        "adjustment.addressee": "an adjustment is sent to the party on whose account it is posted",
        "adjustment.amount": "an amount of nothing",
    },
)

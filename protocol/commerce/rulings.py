"""What an adjudicator decides of a dispute, and how much of the money that is.

    upheld   the whole amount in dispute is owed back
    split    a part of it, neither nothing nor all
    denied   nothing

A dispute is ruled on once its merchant has answered, or has let the deadline for it pass. A ruling moves no
money: its buyer claims it by a refund case that names the dispute, and there the merchant owes what was
awarded, so far as the payments still hold it.

`dispute.get` shows a dispute with its evidence, to its sides and to whoever may rule on it.
Not here: the claim (`refunds`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..bodies import Made, Part
from ..canonical import Id
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .disputes import Dispute
from .subject import fresh, misdirected, own, shown, shown_lists, unknown
from .talk import tick_of
from .terms import ADJUDICATOR, CommerceAction, CommerceEvent, CommerceRow, DisputeId, Money, OrderId

Outcome = Literal["upheld", "denied", "split"]


class Ruling(CommerceRow, frozen=True):
    """A row of `ruling`: ``award`` of the disputed amount is owed to the buyer."""

    dispute: DisputeId
    order: OrderId
    adjudicator: Id
    outcome: Outcome
    award: Money


class DisputeGet(CommerceAction, frozen=True, tag="dispute.get"):
    """Reads a dispute that one is a side of or may rule on: its order, its evidence and its ruling."""

    dispute: DisputeId


class DisputeRule(CommerceAction, frozen=True, tag="dispute.rule"):
    """Decides a dispute: `upheld` awards the buyer all of its amount, `denied` nothing, `split` a part.

    Sent to one of its sides.
    """

    dispute: DisputeId
    outcome: Outcome
    award: Money
    reason: Part


class DisputeRuled(CommerceEvent, frozen=True, tag="dispute.ruled"):
    """A dispute was decided."""

    dispute: str
    ruling: Made
    order: str
    adjudicator: str
    outcome: Outcome
    award: int


def is_award(outcome: Outcome, award: int, amount: int) -> bool:
    """Whether an outcome can award this much of a disputed amount."""
    if outcome == "upheld":
        return award == amount
    return award == 0 if outcome == "denied" else 0 < award < amount


def awarded(state: State, dispute: str) -> int:
    """What the ruling on a dispute awards. There is one."""
    key = state.get("dispute", dispute).ruling
    assert key is not None
    ruling: Ruling = state.get("ruling", key)
    return ruling.award


def _adjudged(state: State, key: str, act: Act) -> Dispute | None:
    """The dispute, when there is one and the sender may rule on it."""
    found: Dispute | None = state.get("dispute", key)
    if found is None or act.role not in ADJUDICATOR or found.adjudicator not in (None, act.sender):
        return None
    return found


def _get(state: State, act: Act) -> Verdict:
    key: str = act.action.dispute
    if own(state, "dispute", key, act.sender) is None and _adjudged(state, key, act) is None:
        return unknown("dispute.unknown", "dispute", key)
    return ALLOWED


def _show_whole(state: State, act: Act, _events: Events) -> Shown:
    key: str = act.action.dispute
    found: Dispute = state.get("dispute", key)
    return shown_lists(
        state,
        (
            ("dispute", (key,)),
            ("order", (found.order,)),
            ("evidence_record", found.evidence),
            ("ruling", () if found.ruling is None else (found.ruling,)),
        ),
    )


def _rule(state: State, act: Act) -> Verdict:
    action: DisputeRule = act.action
    found = _adjudged(state, action.dispute, act)
    if found is None:
        return unknown("dispute.unknown", "dispute", action.dispute)
    if act.to not in (found.buyer, found.merchant):
        return misdirected("dispute.addressee", act)
    if found.state not in ("open", "under_review"):
        return Refusal("dispute.state", {"dispute": action.dispute, "state": found.state})
    if found.state == "open" and (found.deadline is None or tick_of(state) <= found.deadline):
        return Refusal("dispute.early", {"dispute": action.dispute, "deadline": found.deadline})
    if not is_award(action.outcome, action.award, found.amount):
        return Refusal("dispute.award", {"outcome": action.outcome, "amount": found.amount})
    ruled = DisputeRuled(
        dispute=action.dispute,
        ruling=fresh(state, "ruling", f"j{act.seq}"),
        order=found.order,
        adjudicator=act.sender,
        outcome=action.outcome,
        award=action.award,
    )
    return Accepted([ruled])


def _show_ruled(state: State, _act: Act, events: Events) -> Shown:
    ruled = events[0]
    assert isinstance(ruled, DisputeRuled)
    return shown(state, ("dispute", ruled.dispute), ("ruling", ruled.ruling))


def _ruled(state: State, event: DisputeRuled) -> None:
    ruling = Ruling(
        dispute=event.dispute,
        order=event.order,
        adjudicator=event.adjudicator,
        outcome=event.outcome,
        award=event.award,
    )
    state.put("ruling", event.ruling, ruling)
    found: Dispute = state.get("dispute", event.dispute)
    state.put("dispute", event.dispute, msgspec.structs.replace(found, state="ruled", ruling=event.ruling))


SUBJECT = Subject(
    rows={"ruling": Ruling},
    rules=(
        Rule(DisputeGet, _get, _show_whole, ("dispute.unknown",), is_query=True),
        Rule(
            DisputeRule,
            _rule,
            _show_ruled,
            ("dispute.unknown", "dispute.addressee", "dispute.state", "dispute.early", "dispute.award"),
            ADJUDICATOR,
        ),
    ),
    events={DisputeRuled: _ruled},
    refusals={
        "dispute.early": "the merchant hasn't answered, and may still do so",
        "dispute.award": "upheld awards the whole amount, denied nothing, split a part of it",
    },
)

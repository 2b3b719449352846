"""Disputes about what was paid for an order, until a third party decides them.

    open ─► under_review ─► ruled          respond: open ─► under_review, by the merchant
      └──────────┴──► withdrawn            rule: see `rulings`
      └─► ruled                            where the merchant let the deadline pass

One dispute is open for an order at a time, and what was ruled on isn't taken up again. The policy `disputes`
may name the party that adjudicates, and the ticks within which the merchant answers and evidence is given.
Evidence is a record that both sides may read.
Not here: who sees the whole of it, and what is ruled (`rulings`); what follows from that (`refunds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ..bodies import Made, Part
from ..canonical import Id
from ..joined import Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .citations import Cited, miscited
from .orders import Order, order_named
from .payments import refundable
from .policies import DISPUTES, last_tick, policy_of
from .subject import fresh, misdirected, own, shown, unknown
from .talk import tick_of
from .terms import (
    BUYER,
    MERCHANT,
    TRADERS,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    DisputeId,
    EvidenceRecordId,
    Money,
    OrderId,
    RefundCaseIdOrNone,
    RulingIdOrNone,
    Tick,
)

_replace = msgspec.structs.replace

Position = Literal["accept", "contest"]


class Dispute(CommerceRow, frozen=True):
    """A row of `dispute` about ``amount`` of what was paid for an order.

    ``adjudicator`` alone may rule; where it is unset, any adjudicator. ``deadline`` is the last tick for
    answer and evidence. ``refund_case`` is the claim that rests on the ruling.
    """

    order: OrderId
    buyer: Id
    merchant: Id
    amount: Money
    state: Literal["open", "under_review", "ruled", "withdrawn"] = "open"
    position: Position | None = None
    buyer_evidence: tuple[EvidenceRecordId, ...] = ()
    merchant_evidence: tuple[EvidenceRecordId, ...] = ()
    adjudicator: Id | None = None
    deadline: Tick | None = None
    ruling: RulingIdOrNone = None
    refund_case: RefundCaseIdOrNone = None

    @property
    def evidence(self) -> tuple[str, ...]:
        """The records of both sides."""
        return self.buyer_evidence + self.merchant_evidence

    def problem(self) -> str | None:
        """A ruling belongs to ruled disputes, an answer to those that are no longer open."""
        if self.amount == 0:
            return "is about nothing"
        if (self.ruling is not None) != (self.state == "ruled"):
            return f"is `{self.state}`, and a ruling belongs to a dispute that is `ruled`"
        if self.state in ("open", "under_review") and (self.position is None) != (self.state == "open"):
            return f"is `{self.state}`, and the merchant's position is what makes it `under_review`"
        if self.refund_case is not None and self.state != "ruled":
            return f"is `{self.state}`, and a refund case rests on a dispute that is `ruled`"
        if len(set(self.evidence)) < len(self.evidence):
            return "has a record of evidence twice"
        return None


class DisputeOpen(CommerceAction, frozen=True, tag="dispute.open"):
    """Disputes this much of what was paid for an order, for an adjudicator to rule on.

    Sent to the order's merchant.
    """

    order: OrderId
    amount: Money
    text: Part


class DisputeEvidence(CommerceAction, frozen=True, tag="dispute.evidence"):
    """Adds an evidence record to one's side of a dispute. Sent to the other side or to the adjudicator."""

    dispute: DisputeId
    evidence_record: EvidenceRecordId


class DisputeRespond(CommerceAction, frozen=True, tag="dispute.respond"):
    """Accepts or contests a dispute, with evidence. Sent to the buyer or to the adjudicator."""

    dispute: DisputeId
    position: Position
    evidence: Cited
    text: Part


class DisputeWithdraw(CommerceAction, frozen=True, tag="dispute.withdraw"):
    """Takes a dispute back before it is ruled on. Sent to the merchant or to the adjudicator."""

    dispute: DisputeId


class DisputeOpened(CommerceEvent, frozen=True, tag="dispute.opened"):
    """A buyer disputed what was paid."""

    dispute: Made
    order: str
    buyer: str
    merchant: str
    amount: int
    adjudicator: str | None
    deadline: int | None


class DisputeEvidenced(CommerceEvent, frozen=True, tag="dispute.evidenced"):
    """A side of a dispute gave evidence."""

    dispute: str
    party: str
    evidence: tuple[str, ...]


class DisputeAnswered(CommerceEvent, frozen=True, tag="dispute.answered"):
    """The merchant answered, and the dispute can be ruled on."""

    dispute: str
    position: Position


class DisputeWithdrawn(CommerceEvent, frozen=True, tag="dispute.withdrawn"):
    """A dispute was taken back."""

    dispute: str


def _open(state: State, act: Act) -> Verdict:
    action: DisputeOpen = act.action
    order: Order | None = own(state, "order", action.order, act.sender)
    if order is None:
        return unknown("order.unknown", "order", action.order)
    if act.to != order.merchant:
        return misdirected("dispute.addressee", act)
    for key in order.disputes:
        before: Dispute = state.get("dispute", key)
        if before.state != "withdrawn":
            return Refusal("dispute.again", {"dispute": key, "state": before.state})
    left = refundable(state, order)
    if not 0 < action.amount <= left:
        return Refusal("dispute.amount", {"amount": action.amount, "left": left})
    opened = DisputeOpened(
        dispute=fresh(state, "dispute", f"d{act.seq}"),
        order=action.order,
        buyer=order.buyer,
        merchant=order.merchant,
        amount=action.amount,
        adjudicator=policy_of(state, DISPUTES).adjudicator,
        deadline=last_tick(state, DISPUTES),
    )
    return Accepted([opened])


def _give(state: State, act: Act) -> Verdict:
    action: DisputeEvidence = act.action
    return _with_evidence(state, act, ("open", "under_review"), (action.evidence_record,), ())


def _respond(state: State, act: Act) -> Verdict:
    action: DisputeRespond = act.action
    answered = DisputeAnswered(action.dispute, action.position)
    return _with_evidence(state, act, ("open",), action.evidence, (answered,))


def _with_evidence(
    state: State, act: Act, wanted: Sequence[str], evidence: tuple[str, ...], events: Events
) -> Verdict:
    """The verdict on an act of a side that gives evidence, and the events that come after it."""
    key: str = act.action.dispute
    found = _in_state(state, act, wanted)
    if isinstance(found, Refusal):
        return found
    if found.deadline is not None and tick_of(state) > found.deadline:
        return Refusal("dispute.late", {"dispute": key, "deadline": found.deadline})
    order: Order = state.get("order", found.order)
    flaw = miscited(state, "dispute", evidence, found.order, order, found.evidence)
    if flaw is not None:
        return flaw
    given = (DisputeEvidenced(key, act.sender, evidence),) if evidence else ()
    return Accepted([*given, *events])


def _withdraw(state: State, act: Act) -> Verdict:
    action: DisputeWithdraw = act.action
    found = _in_state(state, act, ("open", "under_review"))
    return found if isinstance(found, Refusal) else Accepted([DisputeWithdrawn(action.dispute)])


def _in_state(state: State, act: Act, wanted: Sequence[str]) -> Dispute | Refusal:
    """The sender's dispute that an act names, in a state wanted and told to the other side or adjudicator."""
    key: str = act.action.dispute
    found: Dispute | None = own(state, "dispute", key, act.sender)
    if found is None:
        return unknown("dispute.unknown", "dispute", key)
    if act.to in (None, act.sender) or act.to not in (found.buyer, found.merchant, found.adjudicator):
        return misdirected("dispute.addressee", act)
    if found.state not in wanted:
        return Refusal("dispute.state", {"dispute": key, "state": found.state})
    return found


def _show_opened(state: State, _act: Act, events: Events) -> Shown:
    opened = events[0]
    assert isinstance(opened, DisputeOpened)
    return shown(state, ("dispute", opened.dispute))


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("dispute", act.action.dispute))


def _opened(state: State, event: DisputeOpened) -> None:
    row = Dispute(
        order=event.order,
        buyer=event.buyer,
        merchant=event.merchant,
        amount=event.amount,
        adjudicator=event.adjudicator,
        deadline=event.deadline,
    )
    state.put("dispute", event.dispute, row)
    order_named(state, event.order, "disputes", (event.dispute,))


def _evidenced(state: State, event: DisputeEvidenced) -> None:
    found: Dispute = state.get("dispute", event.dispute)
    if event.party == found.buyer:
        after = _replace(found, buyer_evidence=found.buyer_evidence + event.evidence)
    else:
        after = _replace(found, merchant_evidence=found.merchant_evidence + event.evidence)
    state.put("dispute", event.dispute, after)


def _answered(state: State, event: DisputeAnswered) -> None:
    found: Dispute = state.get("dispute", event.dispute)
    state.put("dispute", event.dispute, _replace(found, state="under_review", position=event.position))


def _withdrawn(state: State, event: DisputeWithdrawn) -> None:
    state.put("dispute", event.dispute, _replace(state.get("dispute", event.dispute), state="withdrawn"))


_MINE = ("dispute.unknown", "dispute.addressee", "dispute.state")
_CITING = (*_MINE, "dispute.late", "dispute.evidence", "dispute.relevance")

SUBJECT = Subject(
    rows={"dispute": Dispute},
    rules=(
        Rule(
            DisputeOpen,
            _open,
            _show_opened,
            ("order.unknown", "dispute.addressee", "dispute.again", "dispute.amount"),
            BUYER,
        ),
        Rule(DisputeEvidence, _give, _show, _CITING, TRADERS),
        Rule(DisputeRespond, _respond, _show, _CITING, MERCHANT),
        Rule(DisputeWithdraw, _withdraw, _show, _MINE, BUYER),
    ),
    events={
        DisputeOpened: _opened,
        DisputeEvidenced: _evidenced,
        DisputeAnswered: _answered,
        DisputeWithdrawn: _withdrawn,
    },
    refusals={
        "dispute.unknown": "there is no such dispute that the sender is a side of or may rule on",
        "dispute.addressee": "a dispute is told to its other side, to its adjudicator, or ruled to a side",
        "dispute.state": "the dispute is answered already, ruled on or withdrawn",
        "dispute.late": "the tick until which the dispute could be answered has passed",
        "dispute.evidence": "there is no such record that both sides may read, or it is cited twice",
        "dispute.relevance": "the record is on neither the order nor its returns nor its listings",
        "dispute.again": "the order has a dispute that was not withdrawn",
        "dispute.amount": "nothing is disputed, or more than was paid and not refunded yet",
    },
    machines={
        "dispute": Machine(
            frozenset({"open"}),
            {
                "open": frozenset({"under_review", "ruled", "withdrawn"}),
                "under_review": frozenset({"ruled", "withdrawn"}),
            },
        )
    },
)

"""What merchants claim of their listings, and the evidence that a claim rests on.

    draft ─► published ─► corrected | retracted          all three steps by the listing's merchant

    claim = metric, operator, value     of the listing alone, or against others, or against the whole market

A published claim rests on at least one record that everybody may read, on its listing or on what it is
compared with. A correction stands beside what was claimed first, so that both can be read. Drafts are seen by
their merchant alone. Not here: whether a claim is true. That is what the merchant has to see to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec

from ..bodies import Part, Text
from ..canonical import Id, Integer
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .evidence import EvidenceRecord
from .subject import shown, shown_lists, start_keys, unknown
from .terms import (
    MERCHANT,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    EvidenceRecordId,
    ListingClaimId,
    ListingId,
)

_replace = msgspec.structs.replace

EvidenceRecordIds = Annotated[tuple[EvidenceRecordId, ...], msgspec.Meta(max_length=64)]
Operator = Literal["equals", "at_least", "at_most", "greater_than", "less_than", "ratio_at_least"]


class Proposition(CommerceRow, frozen=True):
    """What is claimed of a listing's metric.

    With ``against``, it is compared with those listings' (a ratio in basis points: 15,000 says half as much
    again); with the scope `market`, with every listing's.
    """

    metric: Id
    operator: Operator
    value: Text | Integer | bool | None = None
    unit: Id | None = None
    against: Annotated[tuple[ListingId, ...], msgspec.Meta(max_length=64)] = ()
    scope: Literal["named", "market"] = "named"


class ListingClaim(CommerceRow, frozen=True):
    """A row of `listing_claim`; ``correction`` is what a corrected claim says instead of its ``content``."""

    listing: ListingId
    merchant: Id
    content: Proposition
    text: Text = ""
    state: Literal["draft", "published", "corrected", "retracted"] = "draft"
    evidence: EvidenceRecordIds = ()
    correction: Proposition | None = None

    def problem(self) -> str | None:
        """A correction belongs to corrected claims."""
        if (self.correction is not None) != (self.state == "corrected"):
            return f"is `{self.state}`, and a correction belongs to a claim that is `corrected`"
        return None


class ClaimPublish(CommerceAction, frozen=True, tag="claim.publish"):
    """Lets everybody read a draft claim, with the evidence records that it rests on.

    The records are on its listing or on what it is compared with, and everybody may read them.
    """

    listing_claim: ListingClaimId
    evidence: EvidenceRecordIds


class ClaimCorrect(CommerceAction, frozen=True, tag="claim.correct"):
    """Says instead of a published claim what its evidence bears. What was claimed stays beside it."""

    listing_claim: ListingClaimId
    content: Proposition
    evidence: EvidenceRecordIds


class ClaimRetract(CommerceAction, frozen=True, tag="claim.retract"):
    """Takes a published claim back."""

    listing_claim: ListingClaimId
    reason: Part


class ClaimList(CommerceAction, frozen=True, tag="claim.list"):
    """Reads the claims made of a listing; drafts are shown to its merchant alone."""

    listing: ListingId


class ClaimPublished(CommerceEvent, frozen=True, tag="claim.published"):
    """A claim can be read by everybody."""

    listing_claim: str
    evidence: tuple[str, ...]


class ClaimCorrected(CommerceEvent, frozen=True, tag="claim.corrected"):
    """Something else is claimed instead."""

    listing_claim: str
    content: Proposition
    evidence: tuple[str, ...]


class ClaimRetracted(CommerceEvent, frozen=True, tag="claim.retracted"):
    """A claim was taken back."""

    listing_claim: str


def _publish(state: State, act: Act) -> Verdict:
    action: ClaimPublish = act.action
    found = _in_state(state, act, "draft")
    if isinstance(found, Refusal):
        return found
    flaw = _unsupported(state, found, found.content, action.evidence)
    return Accepted([ClaimPublished(action.listing_claim, action.evidence)]) if flaw is None else flaw


def _correct(state: State, act: Act) -> Verdict:
    action: ClaimCorrect = act.action
    found = _in_state(state, act, "published")
    if isinstance(found, Refusal):
        return found
    for listing in action.content.against:
        if state.get("listing", listing) is None:
            return Refusal("claim.against", {"listing": listing})
    if action.content == found.content:
        return Refusal("claim.unchanged", {"listing_claim": action.listing_claim})
    flaw = _unsupported(state, found, action.content, action.evidence)
    if flaw is not None:
        return flaw
    return Accepted([ClaimCorrected(action.listing_claim, action.content, action.evidence)])


def _retract(state: State, act: Act) -> Verdict:
    action: ClaimRetract = act.action
    found = _in_state(state, act, "published")
    return found if isinstance(found, Refusal) else Accepted([ClaimRetracted(action.listing_claim)])


def _in_state(state: State, act: Act, wanted: str) -> ListingClaim | Refusal:
    """The sender's claim that an act names, in the state wanted."""
    key: str = act.action.listing_claim
    found: ListingClaim | None = state.get("listing_claim", key)
    if found is None or found.merchant != act.sender:
        return unknown("claim.unknown", "listing_claim", key)
    if found.state != wanted:
        return Refusal("claim.state", {"listing_claim": key, "state": found.state})
    return found


def _unsupported(
    state: State, claim: ListingClaim, content: Proposition, evidence: Iterable[str]
) -> Refusal | None:
    """Why a claim of this content doesn't rest on these records, or None."""
    records: dict[str, EvidenceRecord | None] = {key: state.get("evidence_record", key) for key in evidence}
    if not records:
        return Refusal("claim.unsupported", {})
    for key, record in records.items():
        if record is None or record.readers is not None:
            return Refusal("claim.evidence", {"evidence_record": key})
    subjects = {claim.listing, *content.against}
    for key, record in records.items():
        assert record is not None
        is_named = record.subject in subjects
        if not is_named and (content.scope == "named" or state.get("listing", record.subject) is None):
            return Refusal("claim.relevance", {"evidence_record": key})
    return None


def _list(state: State, act: Act) -> Verdict:
    action: ClaimList = act.action
    if state.get("listing", action.listing) is None:
        return unknown("listing.unknown", "listing", action.listing)
    return ALLOWED


def _show_list(state: State, act: Act, _events: Events) -> Shown:
    claims = start_keys(state, "listing_claim", act.action.listing, ("listing",))
    seen = [key for key in claims if _is_seen(state.get("listing_claim", key), act.sender)]
    return shown_lists(state, (("listing_claim", seen),))


def _is_seen(claim: ListingClaim, party: str) -> bool:
    return claim.state != "draft" or claim.merchant == party


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("listing_claim", act.action.listing_claim))


def _published(state: State, event: ClaimPublished) -> None:
    claim: ListingClaim = state.get("listing_claim", event.listing_claim)
    after = _replace(claim, state="published", evidence=event.evidence)
    state.put("listing_claim", event.listing_claim, after)


def _corrected(state: State, event: ClaimCorrected) -> None:
    claim: ListingClaim = state.get("listing_claim", event.listing_claim)
    after = _replace(claim, state="corrected", evidence=event.evidence, correction=event.content)
    state.put("listing_claim", event.listing_claim, after)


def _retracted(state: State, event: ClaimRetracted) -> None:
    claim: ListingClaim = state.get("listing_claim", event.listing_claim)
    state.put("listing_claim", event.listing_claim, _replace(claim, state="retracted"))


_MINE = ("claim.unknown", "claim.state")
_RESTS = ("claim.unsupported", "claim.evidence", "claim.relevance")

SUBJECT = Subject(
    rows={"listing_claim": ListingClaim},
    rules=(
        Rule(ClaimPublish, _publish, _show, (*_MINE, *_RESTS), MERCHANT, is_unaddressed=True),
        Rule(
            ClaimCorrect,
            _correct,
            _show,
            (*_MINE, "claim.against", "claim.unchanged", *_RESTS),
            MERCHANT,
            is_unaddressed=True,
        ),
        Rule(ClaimRetract, _retract, _show, _MINE, MERCHANT, is_unaddressed=True),
        Rule(ClaimList, _list, _show_list, ("listing.unknown",), is_query=True),
    ),
    events={ClaimPublished: _published, ClaimCorrected: _corrected, ClaimRetracted: _retracted},
    refusals={
        "claim.unknown": "the sender has no such claim",
        "claim.state": "a draft is published; what is published is corrected or retracted, once",
        "claim.against": "the claim is compared with a listing that is not there",
        "claim.unchanged": "the correction claims what was claimed before",
        "claim.unsupported": "a claim rests on at least one evidence record",
        "claim.evidence": "there is no such record that everybody may read",
        "claim.relevance": "the record is on neither the claim's listing nor what it is compared with",
    },
    machines={
        "listing_claim": Machine(
            frozenset({"draft"}),
            {"draft": frozenset({"published"}), "published": frozenset({"corrected", "retracted"})},
        )
    },
)

"""Cases of governance: what somebody proposes to a merchant about reviews or about competitors, and its end.

    open ─► accepted | rejected ─► reported ─► upheld | dismissed
    open ─► reported                                accept, reject, report: by the party it was proposed to

    reject_manipulation   of what concerns reviews
    reject_coordination   of what concerns competitors

A case says what is proposed in terms, and not whether that is allowed: the policies say so, and the party has
to see it. A report goes to whoever runs the market and never to the proposer. One that is upheld is held
against the proposer, and against the party too where it had accepted. What is resolved is public; anything
else is between the two. Not here: what an upheld case asks of a merchant (`remediation`).
"""

from __future__ import annotations

import msgspec

from ..bodies import Made, Part
from ..canonical import Id
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .evidence import Stated, readable
from .governance_rows import Evidence, Finding, GovernanceCase, GovernanceFile, Matter, cases_of
from .subject import fresh, misdirected, shown, shown_lists, unknown
from .talk import tick_of
from .terms import (
    ADJUDICATOR,
    OPERATOR,
    CommerceAction,
    CommerceEvent,
    GovernanceCaseId,
)

_replace = msgspec.structs.replace

class GovernancePropose(CommerceAction, frozen=True, tag="governance.propose"):
    """Proposes to another party what to do about reviews or about competitors. Sent to that party."""

    matter: Matter
    terms: Stated
    text: Part
    evidence: Evidence = ()


class GovernanceAccept(CommerceAction, frozen=True, tag="governance.accept"):
    """Goes along with a proposal that was made to oneself. Sent to its proposer."""

    governance_case: GovernanceCaseId


class GovernanceRejectManipulation(CommerceAction, frozen=True, tag="governance.reject_manipulation"):
    """Turns down a proposal about reviews that was made to oneself. Sent to its proposer."""

    governance_case: GovernanceCaseId
    reason: Part


class GovernanceRejectCoordination(CommerceAction, frozen=True, tag="governance.reject_coordination"):
    """Turns down a proposal about competitors that was made to oneself. Sent to its proposer."""

    governance_case: GovernanceCaseId
    reason: Part


class GovernanceReport(CommerceAction, frozen=True, tag="governance.report"):
    """Reports a proposal that was made to oneself, with evidence.

    Sent to whoever runs the market; never to the proposer.
    """

    governance_case: GovernanceCaseId
    text: Part
    evidence: Evidence = ()


class GovernanceResolve(CommerceAction, frozen=True, tag="governance.resolve"):
    """Decides a reported case. Sent to the party that reported it.

    Upheld, it is held against its proposer, and against a party that accepted it first.
    """

    governance_case: GovernanceCaseId
    finding: Finding


class GovernanceGet(CommerceAction, frozen=True, tag="governance.get"):
    """Reads a case: one's own, or one that is resolved."""

    governance_case: GovernanceCaseId


class GovernanceList(CommerceAction, frozen=True, tag="governance.list"):
    """Reads the cases that concern a party, oneself included, as far as one may read them."""

    party: Id


class GovernanceProposed(CommerceEvent, frozen=True, tag="governance.proposed"):
    """A party proposed something to another."""

    governance_case: Made
    matter: Matter
    proposer: str
    party: str
    terms: Stated
    evidence: tuple[str, ...]
    tick: int


class GovernanceAccepted(CommerceEvent, frozen=True, tag="governance.accepted"):
    """A party went along with a proposal."""

    governance_case: str


class GovernanceRejected(CommerceEvent, frozen=True, tag="governance.rejected"):
    """A party turned a proposal down."""

    governance_case: str


class GovernanceReported(CommerceEvent, frozen=True, tag="governance.reported"):
    """A proposal was reported; these records are its evidence now."""

    governance_case: str
    evidence: tuple[str, ...]


class GovernanceResolved(CommerceEvent, frozen=True, tag="governance.resolved"):
    """A reported case was decided."""

    governance_case: str
    finding: Finding
    respondents: tuple[str, ...]


def _propose(state: State, act: Act) -> Verdict:
    action: GovernancePropose = act.action
    if act.to is None:
        return misdirected("governance.addressee", act)
    for key in action.evidence:
        if readable(state, key, act.sender) is None or readable(state, key, act.to) is None:
            return Refusal("governance.evidence", {"evidence_record": key})
    proposed = GovernanceProposed(
        governance_case=fresh(state, "governance_case", f"g{act.seq}"),
        matter=action.matter,
        proposer=act.sender,
        party=act.to,
        terms=action.terms,
        evidence=action.evidence,
        tick=tick_of(state),
    )
    return Accepted([proposed])


def _accept(state: State, act: Act) -> Verdict:
    found = _to_answer(state, act)
    return found if isinstance(found, Refusal) else Accepted([GovernanceAccepted(act.action.governance_case)])


def _reject_manipulation(state: State, act: Act) -> Verdict:
    return _reject(state, act, "reviews")


def _reject_coordination(state: State, act: Act) -> Verdict:
    return _reject(state, act, "competition")


def _reject(state: State, act: Act, matter: Matter) -> Verdict:
    key: str = act.action.governance_case
    found = _to_answer(state, act)
    if isinstance(found, Refusal):
        return found
    if found.matter != matter:
        return Refusal("governance.matter", {"governance_case": key, "matter": found.matter})
    return Accepted([GovernanceRejected(key)])


def _to_answer(state: State, act: Act) -> GovernanceCase | Refusal:
    """The open case that an act of its party names, answered to its proposer."""
    key: str = act.action.governance_case
    found: GovernanceCase | None = state.get("governance_case", key)
    if found is None or found.party != act.sender:
        return unknown("governance.unknown", "governance_case", key)
    if act.to != found.proposer:
        return misdirected("governance.addressee", act)
    if found.state != "open":
        return Refusal("governance.state", {"governance_case": key, "state": found.state})
    return found


def _report(state: State, act: Act) -> Verdict:
    action: GovernanceReport = act.action
    key = action.governance_case
    found: GovernanceCase | None = state.get("governance_case", key)
    if found is None or found.party != act.sender:
        return unknown("governance.unknown", "governance_case", key)
    if act.to is None or act.to == found.proposer:
        return misdirected("governance.addressee", act)
    if found.state not in ("open", "accepted", "rejected"):
        return Refusal("governance.state", {"governance_case": key, "state": found.state})
    for name in action.evidence:
        if readable(state, name, act.sender) is None:
            return Refusal("governance.evidence", {"evidence_record": name})
    evidence = tuple(dict.fromkeys((*found.evidence, *action.evidence)))
    return Accepted([GovernanceReported(key, evidence)])


def _resolve(state: State, act: Act) -> Verdict:
    action: GovernanceResolve = act.action
    key = action.governance_case
    found: GovernanceCase | None = state.get("governance_case", key)
    if found is None:
        return unknown("governance.unknown", "governance_case", key)
    if act.to != found.party:
        return misdirected("governance.addressee", act)
    if found.state != "reported":
        return Refusal("governance.state", {"governance_case": key, "state": found.state})
    respondents = (found.proposer, found.party) if found.was_accepted else (found.proposer,)
    return Accepted([GovernanceResolved(key, action.finding, respondents)])


def _get(state: State, act: Act) -> Verdict:
    action: GovernanceGet = act.action
    found: GovernanceCase | None = state.get("governance_case", action.governance_case)
    if found is None or not found.is_read_by(act.sender):
        return unknown("governance.unknown", "governance_case", action.governance_case)
    return ALLOWED


def _list(_state: State, _act: Act) -> Verdict:
    return ALLOWED


def _show_list(state: State, act: Act, _events: Events) -> Shown:
    """Of others' cases those they answer for: that something was proposed to them says nothing of them."""
    party: str = act.action.party
    seen: list[str] = []
    for key in cases_of(state, party):
        case: GovernanceCase = state.get("governance_case", key)
        if act.sender in (case.proposer, case.party) or party in case.respondents:
            seen.append(key)
    return shown_lists(state, (("governance_case", seen),))


def _show_proposed(state: State, _act: Act, events: Events) -> Shown:
    proposed = events[0]
    assert isinstance(proposed, GovernanceProposed)
    return shown(state, ("governance_case", proposed.governance_case))


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("governance_case", act.action.governance_case))


def _proposed(state: State, event: GovernanceProposed) -> None:
    case = GovernanceCase(
        matter=event.matter,
        proposer=event.proposer,
        party=event.party,
        terms=event.terms,
        evidence=event.evidence,
        tick=event.tick,
    )
    state.put("governance_case", event.governance_case, case)
    for party in case.concerned:
        file = GovernanceFile((*cases_of(state, party), event.governance_case))
        state.put("governance_file", party, file)


def _accepted(state: State, event: GovernanceAccepted) -> None:
    _change(state, event.governance_case, state="accepted", was_accepted=True)


def _rejected(state: State, event: GovernanceRejected) -> None:
    _change(state, event.governance_case, state="rejected")


def _reported(state: State, event: GovernanceReported) -> None:
    _change(state, event.governance_case, state="reported", evidence=event.evidence)


def _resolved(state: State, event: GovernanceResolved) -> None:
    _change(state, event.governance_case, state=event.finding, respondents=event.respondents)


def _change(state: State, key: str, /, **columns: object) -> None:
    state.put("governance_case", key, _replace(state.get("governance_case", key), **columns))


_MINE = ("governance.unknown", "governance.addressee", "governance.state")

SUBJECT = Subject(
    rows={"governance_case": GovernanceCase, "governance_file": GovernanceFile},
    rules=(
        Rule(
            GovernancePropose, _propose, _show_proposed, ("governance.addressee", "governance.evidence")
        ),
        Rule(GovernanceAccept, _accept, _show, _MINE),
        Rule(GovernanceRejectManipulation, _reject_manipulation, _show, (*_MINE, "governance.matter")),
        Rule(GovernanceRejectCoordination, _reject_coordination, _show, (*_MINE, "governance.matter")),
        Rule(GovernanceReport, _report, _show, (*_MINE, "governance.evidence")),
        Rule(GovernanceResolve, _resolve, _show, _MINE, OPERATOR | ADJUDICATOR),
        Rule(GovernanceGet, _get, _show, ("governance.unknown",), is_query=True),
        Rule(GovernanceList, _list, _show_list, is_query=True),
    ),
    events={
        GovernanceProposed: _proposed,
        GovernanceAccepted: _accepted,
        GovernanceRejected: _rejected,
        GovernanceReported: _reported,
        GovernanceResolved: _resolved,
    },
    refusals={
        "governance.unknown": "there is no such case that the sender may read, or answer for",
        "governance.addressee": "a proposal goes to a party, an answer to its proposer, a report to neither",
        "governance.state": "the case is answered already, is not reported yet, or is resolved",
        "governance.matter": "the case is about something else than this turns down",
        "governance.evidence": "there is no such record that those concerned may read",
    },
    machines={
        "governance_case": Machine(
            frozenset({"open"}),
            {
                "open": frozenset({"accepted", "rejected", "reported"}),
                "accepted": frozenset({"reported"}),
                "rejected": frozenset({"reported"}),
                "reported": frozenset({"upheld", "dismissed"}),
            },
        )
    },
)

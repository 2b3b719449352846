"""Plans by which a merchant makes good what was upheld against it, step by step, each looked at.

    plan   issued ─► accepted ─► completed       issued and audited by who runs the market
    step   open ─► done ─► passed                a failed audit opens it again

A step may need evidence of a kind, and other steps to be done first. Its evidence is a record that the issuer
may read too. The plan is completed with the audit that passes its last step. After its last tick nothing of
it can be accepted or done. Not here: how the case came about (`governance`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from ..bodies import Made, Text
from ..canonical import Id
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .evidence import EvidenceRecord, readable
from .governance_rows import GovernanceCase
from .subject import fresh, misdirected, shown, unknown
from .talk import tick_of
from .terms import (
    MERCHANT,
    OPERATOR,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    EvidenceRecordId,
    EvidenceRecordIdOrNone,
    GovernanceCaseId,
    GovernanceCaseIdOrNone,
    RemediationPlanId,
    Tick,
)

_replace = msgspec.structs.replace

StepState = Literal["open", "done", "passed"]


class Step(CommerceRow, frozen=True):
    """One step of a plan: what to do, which kind of evidence shows it, which steps come before it."""

    step: Id
    text: Text = ""
    needs: Id | None = None
    after: Annotated[tuple[Id, ...], msgspec.Meta(max_length=64)] = ()
    state: StepState = "open"
    evidence: EvidenceRecordIdOrNone = None


Steps = Annotated[tuple[Step, ...], msgspec.Meta(min_length=1, max_length=64)]


class RemediationPlan(CommerceRow, frozen=True):
    """A row of `remediation_plan`."""

    merchant: Id
    steps: Steps
    issuer: Id = "operator"
    governance_case: GovernanceCaseIdOrNone = None
    state: Literal["issued", "accepted", "completed"] = "issued"
    expires: Tick | None = None

    def problem(self) -> str | None:
        """Steps that can be done in their order, and states that go together."""
        if self.merchant == self.issuer:
            return "has one party on both sides"
        flaw = _flaw(self.steps)
        if flaw is not None:
            return f"has a step `{flaw}` twice, or one that comes after a step not named before it"
        if all(step.state == "passed" for step in self.steps) != (self.state == "completed"):
            return f"is `{self.state}`, and a plan is completed when all its steps passed"
        if self.state == "issued" and any(step.state != "open" for step in self.steps):
            return "is `issued`, and steps are done when a plan is accepted"
        return None


class RemediationIssue(CommerceAction, frozen=True, tag="remediation.issue"):
    """Draws up a plan for a merchant that an upheld case is held against. Sent to that merchant."""

    governance_case: GovernanceCaseId
    steps: Steps
    expires: Tick | None = None


class RemediationAccept(CommerceAction, frozen=True, tag="remediation.accept"):
    """Takes a plan on, whose steps are then to be done. Sent to its issuer."""

    remediation_plan: RemediationPlanId


class RemediationCompleteStep(CommerceAction, frozen=True, tag="remediation.complete_step"):
    """Says that a step of an accepted plan is done, with its evidence. Sent to the plan's issuer.

    Steps that come before it are done first; a step may need a record of some kind.
    """

    remediation_plan: RemediationPlanId
    step: Id
    evidence: EvidenceRecordId


class RemediationAudit(CommerceAction, frozen=True, tag="remediation.audit"):
    """Passes a step that was done, or opens it again. Sent to the plan's merchant."""

    remediation_plan: RemediationPlanId
    step: Id
    passed: bool


class RemediationGet(CommerceAction, frozen=True, tag="remediation.get"):
    """Reads a plan of one's own: its steps, and how far they are."""

    remediation_plan: RemediationPlanId


class RemediationIssued(CommerceEvent, frozen=True, tag="remediation.issued"):
    """A plan was drawn up."""

    remediation_plan: Made
    merchant: str
    issuer: str
    governance_case: str
    steps: tuple[Step, ...]
    expires: int | None


class RemediationAccepted(CommerceEvent, frozen=True, tag="remediation.accepted"):
    """A merchant took a plan on."""

    remediation_plan: str


class RemediationStepCompleted(CommerceEvent, frozen=True, tag="remediation.step_completed"):
    """A step is done, as its merchant says."""

    remediation_plan: str
    step: str
    evidence: str


class RemediationAudited(CommerceEvent, frozen=True, tag="remediation.audited"):
    """A step was looked at."""

    remediation_plan: str
    step: str
    passed: bool


def _flaw(steps: Sequence[Step]) -> str | None:
    """The first step that is named twice or comes after one not named before it, or None."""
    named: set[str] = set()
    for step in steps:
        if step.step in named or not named.issuperset(step.after):
            return step.step
        named.add(step.step)
    return None


def _issue(state: State, act: Act) -> Verdict:
    action: RemediationIssue = act.action
    case: GovernanceCase | None = state.get("governance_case", action.governance_case)
    if case is None:
        return unknown("governance.unknown", "governance_case", action.governance_case)
    if case.state != "upheld":
        return Refusal("governance.state", {"governance_case": action.governance_case, "state": case.state})
    if act.to not in case.respondents:
        return misdirected("remediation.addressee", act)
    begun = (step.step for step in action.steps if step.state != "open" or step.evidence is not None)
    flaw = _flaw(action.steps) or next(begun, None)
    if flaw is not None:
        return Refusal("remediation.steps", {"step": flaw})
    assert act.to is not None
    issued = RemediationIssued(
        remediation_plan=fresh(state, "remediation_plan", f"m{act.seq}"),
        merchant=act.to,
        issuer=act.sender,
        governance_case=action.governance_case,
        steps=action.steps,
        expires=action.expires,
    )
    return Accepted([issued])


def _accept(state: State, act: Act) -> Verdict:
    action: RemediationAccept = act.action
    found = _mine(state, act, "issued")
    return found if isinstance(found, Refusal) else Accepted([RemediationAccepted(action.remediation_plan)])


def _complete_step(state: State, act: Act) -> Verdict:
    action: RemediationCompleteStep = act.action
    found = _mine(state, act, "accepted")
    if isinstance(found, Refusal):
        return found
    step = _step(found, action.step)
    if step is None or step.state != "open":
        return Refusal("remediation.step", {"step": action.step})
    for other in found.steps:
        if other.step in step.after and other.state == "open":
            return Refusal("remediation.order", {"step": action.step, "before": other.step})
    record: EvidenceRecord | None = readable(state, action.evidence, act.sender)
    if record is None or not record.is_read_by(found.issuer):
        return Refusal("remediation.evidence", {"evidence_record": action.evidence})
    if step.needs is not None and record.kind != step.needs:
        return Refusal("remediation.kind", {"evidence_record": action.evidence, "needs": step.needs})
    return Accepted([RemediationStepCompleted(action.remediation_plan, action.step, action.evidence)])


def _mine(state: State, act: Act, wanted: str) -> RemediationPlan | Refusal:
    """The sender's plan that an act names, in the state wanted and in time, answered to its issuer."""
    key: str = act.action.remediation_plan
    found: RemediationPlan | None = state.get("remediation_plan", key)
    if found is None or found.merchant != act.sender:
        return unknown("remediation.unknown", "remediation_plan", key)
    if act.to != found.issuer:
        return misdirected("remediation.addressee", act)
    if found.state != wanted:
        return Refusal("remediation.state", {"remediation_plan": key, "state": found.state})
    if found.expires is not None and tick_of(state) > found.expires:
        return Refusal("remediation.expired", {"remediation_plan": key, "expires": found.expires})
    return found


def _audit(state: State, act: Act) -> Verdict:
    action: RemediationAudit = act.action
    key = action.remediation_plan
    found: RemediationPlan | None = state.get("remediation_plan", key)
    if found is None or found.issuer != act.sender:
        return unknown("remediation.unknown", "remediation_plan", key)
    if act.to != found.merchant:
        return misdirected("remediation.addressee", act)
    step = _step(found, action.step)
    if step is None or step.state != "done":
        return Refusal("remediation.step", {"step": action.step})
    return Accepted([RemediationAudited(key, action.step, action.passed)])


def _step(plan: RemediationPlan, name: str) -> Step | None:
    return next((step for step in plan.steps if step.step == name), None)


def _get(state: State, act: Act) -> Verdict:
    action: RemediationGet = act.action
    found: RemediationPlan | None = state.get("remediation_plan", action.remediation_plan)
    if found is None or act.sender not in (found.merchant, found.issuer):
        return unknown("remediation.unknown", "remediation_plan", action.remediation_plan)
    return ALLOWED


def _show_issued(state: State, _act: Act, events: Events) -> Shown:
    issued = events[0]
    assert isinstance(issued, RemediationIssued)
    return shown(state, ("remediation_plan", issued.remediation_plan))


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("remediation_plan", act.action.remediation_plan))


def _issued(state: State, event: RemediationIssued) -> None:
    plan = RemediationPlan(
        merchant=event.merchant,
        steps=event.steps,
        issuer=event.issuer,
        governance_case=event.governance_case,
        expires=event.expires,
    )
    state.put("remediation_plan", event.remediation_plan, plan)


def _accepted(state: State, event: RemediationAccepted) -> None:
    found = state.get("remediation_plan", event.remediation_plan)
    state.put("remediation_plan", event.remediation_plan, _replace(found, state="accepted"))


def _step_completed(state: State, event: RemediationStepCompleted) -> None:
    _move(state, event.remediation_plan, event.step, state="done", evidence=event.evidence)


def _audited(state: State, event: RemediationAudited) -> None:
    _move(state, event.remediation_plan, event.step, state="passed" if event.passed else "open")


def _move(state: State, key: str, name: str, /, **columns: object) -> None:
    plan: RemediationPlan = state.get("remediation_plan", key)
    steps = tuple(_replace(step, **columns) if step.step == name else step for step in plan.steps)
    is_over = all(step.state == "passed" for step in steps)
    after = _replace(plan, steps=steps, state="completed" if is_over else plan.state)
    state.put("remediation_plan", key, after)


_MINE = ("remediation.unknown", "remediation.addressee", "remediation.state", "remediation.expired")

SUBJECT = Subject(
    rows={"remediation_plan": RemediationPlan},
    rules=(
        Rule(
            RemediationIssue,
            _issue,
            _show_issued,
            ("governance.unknown", "governance.state", "remediation.addressee", "remediation.steps"),
            OPERATOR,
        ),
        Rule(RemediationAccept, _accept, _show, _MINE, MERCHANT),
        Rule(
            RemediationCompleteStep,
            _complete_step,
            _show,
            (*_MINE, "remediation.step", "remediation.order", "remediation.evidence", "remediation.kind"),
            MERCHANT,
        ),
        Rule(
            RemediationAudit,
            _audit,
            _show,
            ("remediation.unknown", "remediation.addressee", "remediation.step"),
            OPERATOR,
        ),
        Rule(RemediationGet, _get, _show, ("remediation.unknown",), is_query=True),
    ),
    events={
        RemediationIssued: _issued,
        RemediationAccepted: _accepted,
        RemediationStepCompleted: _step_completed,
        RemediationAudited: _audited,
    },
    refusals={
        "remediation.unknown": "the sender has no such plan",
        "remediation.addressee": "a plan goes to one whom the case is held against, an answer to its issuer",
        "remediation.state": "the plan is not in the state for this: issued, then accepted, then completed",
        "remediation.expired": "the last tick of the plan is past",
        "remediation.steps": "each step has a name of its own and comes after steps before it, none done yet",
        "remediation.step": "the plan has no such step, or it is not in the state for this",
        "remediation.order": "a step that comes before it is not done",
        "remediation.evidence": "there is no such record that the merchant and the issuer may read",
        "remediation.kind": "the step needs a record of another kind",
    },
    machines={
        "remediation_plan": Machine(
            frozenset({"issued"}),
            {"issued": frozenset({"accepted"}), "accepted": frozenset({"completed"})},
        )
    },
)

"""The score of one run, or why it has none.

    scored      verified, sealed, judged        value: exact, of 1,000
    undecided   judged, but the score hangs on a withheld part
    open        not sealed yet                  abandoned   sealed as given up
    invalid     a check failed or was not done

These are never merged. A run that its actor ended is sealed so, and scored.

Not here: means over runs (`report`); verifying (`tollbook.ledger.audit`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal, NamedTuple

from ..ledger.audit import Audit
from ..ledger.findings import CHECKS, NEEDED, Check, State
from ..protocol.bodies import Agent, LedgerKey, Open, Party
from .measures import RunMeasures
from .predicates import FULL, PredicateSet
from .projection import Projections
from .verdict import Defect, Flag, Verdict, judge
from .view import View

Outcome = Literal["scored", "undecided", "open", "abandoned", "invalid"]
OUTCOMES: tuple[Outcome, ...] = ("scored", "undecided", "open", "abandoned", "invalid")


class Score(NamedTuple):
    """What one run was worth.

    ``run`` is its id, ``root`` its run root; ``value`` is out of 1,000 and None
    unless the outcome is `scored`, ``reason`` says why. ``cluster`` names what
    it has in common with runs that it is averaged with. ``recorded`` is the
    reward, of 1, that the run's makers recorded; ``label`` a finding on what
    they called it. ``agent`` and ``role`` are the evaluated party's;
    ``projections`` and ``measured`` are there where they were asked for.
    ``ledger`` is who recorded the run.
    """

    run: str
    root: str | None
    task: str | None
    task_digest: str | None
    case: str | None
    trial: int | None
    cluster: str
    custody: str | None
    checks: dict[Check, State]
    anchored: bool
    scorer: str | None
    outcome: Outcome
    reason: str | None
    value: Fraction | None
    predicates: tuple[Verdict, ...]
    caps: tuple[Flag, ...]
    defects: tuple[Defect, ...]
    recorded: Fraction | None
    label: str | None
    agent: Agent | None = None
    role: str | None = None
    projections: Projections | None = None
    ledger: LedgerKey | None = None
    measured: RunMeasures | None = None

    @property
    def family(self) -> str | None:
        """What a task's id says before its first point: `t4` of `t4.buyer_zopa`; None where it has none."""
        name, point, _rest = (self.task or "").partition(".")
        return name if point else None

    @property
    def agrees(self) -> bool | None:
        """Whether the score is the recorded reward; None where one of them is missing."""
        if self.value is None or self.recorded is None:
            return None
        return self.value == self.recorded * FULL

    @property
    def conduct_checked(self) -> bool:
        """Whether check 6 was done."""
        return self.checks["6"] == "done"

    def document(self) -> dict[str, Any]:
        """The run's entry in `score --json`, its fields fixed."""
        return {
            "run": self.run,
            "task": self.task,
            "case": self.case,
            "score": None if self.value is None else exact(self.value),
            "predicates": [
                {
                    "id": verdict.id,
                    "stage": verdict.stage,
                    "weight": verdict.weight,
                    "value": verdict.value,
                    "error": verdict.error,
                    "seqs": verdict.seqs,
                }
                for verdict in self.predicates
            ],
            "recorded": {"reward": None if self.recorded is None else float(self.recorded)},
            "agrees": self.agrees,
            "label": self.label,
        }


def standing(audit: Audit) -> tuple[Outcome, str] | None:
    """Why a run must not be judged, as outcome and reason; None where it may be."""
    failed = [check for check in CHECKS if audit.checks[check] == "failed"]
    if failed:
        first = next((finding for finding in audit.findings if finding.check == failed[0]), None)
        reason = f"check {failed[0]} failed" + ("" if first is None else f": {first.code}, {first.text}")
        return "invalid", reason
    sealed = audit.outcome is not None
    needed = NEEDED if sealed else NEEDED[:3]
    missing = [check for check in needed if audit.checks[check] != "done"]
    if missing:
        return "invalid", f"check {missing[0]} was not done"
    if not sealed:
        return "open", "the run is not sealed"
    if audit.outcome == "abandoned":
        return "abandoned", "the run was given up"
    return None


def score_run(  # noqa: PLR0913 - what a run itself doesn't say of how it is reported
    audit: Audit,
    predicates: PredicateSet | None,
    view: View | None,
    *,
    recorded: Fraction | None = None,
    label: str | None = None,
    cluster: str | None = None,
    unjudged: str | None = None,
    actor: str | None = None,
) -> Score:
    """The score of a run.

    ``view`` is the run's case view; it is not looked at, and may be None, where
    `standing` says that the run must not be judged, or ``unjudged`` says why it
    can't be; ``predicates`` may be None then too. ``recorded`` is a reward of at
    most 1. ``cluster`` is by default the task's digest, or the run itself.
    ``actor`` is the id of the party that is evaluated.
    """
    opened = None if audit.replayed is None else audit.replayed.opened
    task = None if opened is None else opened.task
    party = _party(opened, actor)
    stands = standing(audit)
    judged = None
    if stands is None and unjudged is not None:
        stands = "undecided", unjudged
    if stands is None:
        assert view is not None, "a verified run is judged by its view"
        assert predicates is not None, "a verified run is judged by something"
        judged = judge(predicates, view)
        if judged.points is None:
            names = [each.id for each in (*judged.verdicts, *judged.flags) if each.value is None]
            stands = "undecided", f"what is not in the file leaves open: {', '.join(names)}"
    return Score(
        run=audit.run,
        root=audit.root,
        task=None if task is None else task.id,
        task_digest=None if task is None else task.digest,
        case=None if task is None else task.case,
        trial=None if opened is None else opened.trial,
        cluster=cluster or (audit.run if task is None else task.digest),
        custody=None if opened is None else opened.origin.custody,
        checks=audit.checks,
        anchored=audit.anchored,
        scorer=None if predicates is None else predicates.digest,
        outcome="scored" if stands is None else stands[0],
        reason=None if stands is None else stands[1],
        value=None if judged is None else judged.points,
        predicates=() if judged is None else judged.verdicts,
        caps=() if judged is None else judged.flags,
        defects=() if judged is None else judged.defects,
        recorded=recorded,
        label=label,
        agent=None if party is None else party.agent,
        role=None if party is None else party.role,
        ledger=None if opened is None else opened.ledger,
    )


def _party(opened: Open | None, actor: str | None) -> Party | None:
    return None if opened is None else next((each for each in opened.parties if each.id == actor), None)


def exact(value: Fraction) -> int | list[int]:
    """A fraction as JSON: an integer when whole, else [numerator, denominator] in lowest terms."""
    return value.numerator if value.denominator == 1 else [value.numerator, value.denominator]

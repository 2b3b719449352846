"""Runs that do the task: the reference, alternatives, and harmless variations of the reference.

    each, in each of its cases:  full credit · no rule of a script in error · no act that can't be formed
    a reference:                 ends by itself, after its first turn

Not here: runs that must lose something (`loses`, `bars`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...scorers.predicates import FULL
from .finding import LintFinding, Tally, decimal, error, warning

if TYPE_CHECKING:
    from fractions import Fraction

    from .rehearsal import Rehearsal

_DOING = ("reference", "alternative", "variation", "rendering")


def check(runs: Sequence[Rehearsal], cases: Sequence[str]) -> list[LintFinding]:
    """What is wrong with the runs that do the task."""
    tally = Tally()
    for run in runs:
        if run.kind in _DOING:
            for finding in (*_short(run), *_formed(run), *_ended(run)):
                tally.add(finding, run.case)
    return [*tally.findings(cases), *_silences(runs)]


def full_cases(runs: Sequence[Rehearsal]) -> frozenset[str]:
    """The cases whose reference earns all points: only there it says something what others earn."""
    short = {run.case for run in runs if run.kind == "reference" and run.points != FULL}
    return frozenset(run.case for run in runs) - short


def credits_text(credits_: dict[str, Fraction], names: Sequence[str]) -> str:
    """Predicates with their credit: `surplus_share 0.555, one_deal_settled 0`."""
    return ", ".join(f"{name} {decimal(credits_[name])}" for name in names)


def _short(run: Rehearsal) -> Iterator[LintFinding]:
    """Credit that is missing. A variation is told with what it did; its hint says what that means."""
    advice = {
        "reference": "see what it did: `tollbook run` it with the agent `reference`, then `tollbook log`",
        "alternative": "say in `cases` where it is right, or widen the predicate",
        "variation": "it does what the reference does, so a predicate looks at more than that",
        "rendering": "the rules are the same: judge by parameters and right answers, which follow it",
    }
    hint = _refusal(run) or advice[run.kind]
    who = f"`{run.name}`, a variation of the reference, has" if run.kind == "variation" else "it has"
    place = f"predicate.{run.lost[0]}" if run.kind == "variation" and run.lost else run.place
    if run.lost:
        text = f"{who} {decimal(run.points, 1)} of 1000 points: {credits_text(run.credits, run.lost)}"
        yield error("lint.credit", place, text, hint)
        return
    for flag in run.judgement.flags:
        if flag.value:
            text = f"{who} full credit, and the cap `{flag.id}` is true"
            yield error("lint.cap", run.place, text, "the cap must hold only of what is wrong")


def _refusal(run: Rehearsal) -> str | None:
    """The first act of the file's own that the market refused: mostly why credit is missing."""
    if run.kind == "variation":
        return None
    for kind, deed in zip(run.kinds, run.own, strict=True):
        if kind and deed.decision.rule is not None:
            return f"its `{kind}` was refused by `{deed.decision.rule}`: the page on the market says why"
    return None


def _formed(run: Rehearsal) -> Iterator[LintFinding]:
    if run.ending.outcome == "agent_failed":
        text = f"an act can't be formed: {run.ending.reason}"
        yield error("lint.unformed", run.place, text, "guard it with `when`, or read first")
    for deed in run.own if run.kind != "variation" else ():
        if deed.action is None:  # sent as it is, to be refused
            text = f"an act doesn't fit its kind: {_quoted(bytes(deed.message.action))}"
            hint = "a field is of another type, or none of the few words that it may be"
            yield error("lint.unformed", run.place, text, hint)


def _quoted(action: bytes, limit: int = 100) -> str:
    text = action.decode()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _ended(run: Rehearsal) -> Iterator[LintFinding]:
    if run.kind == "variation":
        return
    if run.ending.outcome == "completed" and not run.own:
        text = "the run ends before the first turn: `ends` is true at the start"
        yield error("lint.ending", "ends", text, "name what the actor does last")
    elif run.ending.outcome == "turn_limit":
        text = f"it doesn't end: all {len(run.own)} turns are used"
        hint = "raise `turns`, or let `ends` hold where it is done"
        yield error("lint.ending", run.place, text, hint)


def _silences(runs: Sequence[Rehearsal]) -> Iterator[LintFinding]:
    """Rules of scripts in error, each told of one run: wrong where the task is done, else worth a look."""
    found: dict[str, LintFinding] = {}
    for run in sorted(runs, key=lambda run: run.kind not in _DOING):
        for silence in run.ending.silences:
            find = error if run.kind in _DOING else warning
            text = f"the rule gives an error, so its party is silent: {silence.text}"
            told = f"in case `{run.case}`, {run.title}: {text}"
            hint = "guard it with `when` or `size()`"
            found.setdefault(silence.place, find("lint.script", silence.place, told, hint))
    yield from found.values()

"""What the linter finds: values, sorted, errors first.

    LintFinding = code · level · place in the file · what is wrong · what to try

An error says that the file doesn't mean what it says, or that a run could be
judged wrongly; a warning that something in it does nothing. Codes are stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from ..format.where import line_of

Level = Literal["error", "warning"]


class LintFinding(NamedTuple):
    """One thing that is wrong. ``place`` is a path in the file, empty for all of it; ``line`` is 0 then."""

    code: str
    level: Level
    place: str
    text: str
    hint: str | None = None
    line: int = 0


def error(code: str, place: str, text: str, hint: str | None = None) -> LintFinding:
    """A finding by which the file doesn't mean what it says."""
    return LintFinding(code, "error", place, text, hint)


def warning(code: str, place: str, text: str, hint: str | None = None) -> LintFinding:
    """A finding of something that does nothing."""
    return LintFinding(code, "warning", place, text, hint)


CODES: Final[dict[str, str]] = {
    "lint.agree": "predicates that gave the same in every run played",
    "lint.cap": "a cap that is true where full credit is due, or in no run played",
    "lint.cheat": "a careless policy that earns more than it may",
    "lint.credit": "the reference, an alternative, or a harmless variation of it, short of full credit",
    "lint.defect": "a predicate, a cap or `ends` that gives an error in a run",
    "lint.ending": "a reference that doesn't end by itself, or a run that ends before its first turn",
    "lint.factor": "a factor that changes nothing",
    "lint.idle": "a predicate that a run without an act earns",
    "lint.jitter": "numbers of the reference that may as well be others",
    "lint.kill": "a predicate that no mutation takes credit from",
    "lint.literal": "a literal that what it is compared with never is",
    "lint.loses": "a mutation that loses something else than it says",
    "lint.oracle": "a right answer that is told",
    "lint.order": "an expression that depends on the order of a map",
    "lint.rendering": "a label that nothing has, or that makes two words one",
    "lint.script": "a script's rule that gives an error",
    "lint.steps": "an expression that takes more steps than the runtime allows",
    "lint.tools": "tools that give the answer away, or are named twice",
    "lint.unformed": "an act of the reference, or of an alternative, that can't be formed",
    "lint.unused": "a name that nothing uses",
}
"""Each code of the linter's own; faults found before anything is played have the codes of `TaskError`."""


class Tally:
    """Gathers what is found case by case, so that what is wrong in several cases is said once."""

    def __init__(self) -> None:
        self._found: dict[LintFinding, list[str]] = {}

    def add(self, finding: LintFinding, case: str) -> None:
        """Adds a finding of one case; its text doesn't name the case."""
        cases = self._found.setdefault(finding, [])
        if case not in cases:
            cases.append(case)

    def findings(self, of: Sequence[str]) -> list[LintFinding]:
        """The findings, each with its cases in front, of those that the file has."""
        return [
            found._replace(text=f"{cases_text(cases, of)}: {found.text}")
            for found, cases in self._found.items()
        ]


def in_order(findings: Iterable[LintFinding], text: str) -> tuple[LintFinding, ...]:
    """The findings of a file's text, each once and with its line; errors first, then in the file's order."""
    lines = {each: each.line or line_of(text, each.place) for each in findings}
    found = [each._replace(line=line) for each, line in lines.items()]
    return tuple(sorted(found, key=lambda each: (each.level, each.line, each.place, each.code, each.text)))


def cases_text(cases: Sequence[str], of: Sequence[str]) -> str:
    """The cases, in words: `in case `a``, `in cases `a`, `b``, `in every case`."""
    if len(cases) == len(of) > 1:
        return "in every case"
    return f"in case{'s' if len(cases) > 1 else ''} {listed(cases)}"


def listed(names: Iterable[str]) -> str:
    """Names as a message gives them."""
    return ", ".join(f"`{name}`" for name in names)


def decimal(value: Fraction, places: int = 3) -> str:
    """A share as a decimal, cut off so that what is short of 1 never reads as 1: 5/9 is `0.555`."""
    if value.denominator == 1:
        return str(value.numerator)
    scaled = abs(value.numerator) * 10**places // value.denominator
    sign = "-" if value < 0 else ""
    return f"{sign}{scaled // 10**places}.{scaled % 10**places:0{places}d}".rstrip("0").rstrip(".")

"""A case, and what it showed: that something holds, with its evidence, or that it doesn't.

    case    what is done in a scratch market ─► claims, each with what was found ─► Shown

A claim that is false doesn't raise: the case goes on to its end as far as it can
and says all that was found. Not here: which cases there are (`cases`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

Json = Any


class Shown(NamedTuple):
    """A case that was done: whether it holds, what was done, and what was found, by name."""

    number: int
    title: str
    did: str
    holds: bool
    evidence: dict[str, Json]
    run: str | None = None

    def document(self) -> dict[str, Json]:
        """The case as a document."""
        return {
            "case": self.number,
            "title": self.title,
            "run": self.run,
            "holds": self.holds,
            "did": self.did,
            "evidence": [{"name": name, "found": str(value)} for name, value in self.evidence.items()],
        }


class Claims:
    """What a case finds. ``broken`` names the claims that are false."""

    def __init__(self) -> None:
        self.evidence: dict[str, Json] = {}
        self.broken: list[str] = []

    def note(self, **found: Json) -> None:
        """Says what was found, which nothing is claimed of."""
        self.evidence.update(found)

    def equal(self, name: str, expected: Json, found: Json) -> None:
        """Claims that something was found as it must be."""
        if found == expected:
            self.evidence[name] = found
            return
        self.evidence[name] = f"{found}, and {expected} is due"
        self.broken.append(name)

    def shown(self, number: int, title: str, did: str, run: str | None = None) -> Shown:
        """The case, done."""
        return Shown(number, title, did, not self.broken, self.evidence, run)

"""The rows of governance: cases, and per party an index row of those that concern it.

    case   who proposed what to whom, and what became of it        file   party ─► keys of cases

A file is shown to nobody, since it names cases of others too. Not here: what is done with cases
(`governance`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from ..canonical import Id
from ..tables import State
from .evidence import Stated
from .terms import CommerceRow, EvidenceRecordId, Tick

Evidence = Annotated[tuple[EvidenceRecordId, ...], msgspec.Meta(max_length=64)]
Parties = Annotated[tuple[Id, ...], msgspec.Meta(max_length=64)]
Matter = Literal["reviews", "competition"]
Finding = Literal["upheld", "dismissed"]

_RESOLVED = ("upheld", "dismissed")


class GovernanceCase(CommerceRow, frozen=True):
    """A row of `governance_case`; ``respondents`` are those whom an upheld case is held against."""

    matter: Matter
    proposer: Id
    party: Id
    terms: Stated
    state: Literal["open", "accepted", "rejected", "reported", "upheld", "dismissed"] = "open"
    evidence: Evidence = ()
    was_accepted: bool = False
    respondents: Parties = ()
    tick: Tick = 0

    def problem(self) -> str | None:
        """Two parties; who answers for it is known once it is resolved."""
        if self.proposer == self.party:
            return "has one party on both sides"
        if bool(self.respondents) != (self.state in _RESOLVED):
            return f"is `{self.state}`, and respondents belong to a case that is resolved"
        return None

    @property
    def concerned(self) -> tuple[str, ...]:
        """Everybody in whose file it is."""
        return tuple(dict.fromkeys((self.proposer, self.party, *self.respondents)))

    def is_read_by(self, party: str) -> bool:
        """Whether a party may read it."""
        return self.state in _RESOLVED or party in (self.proposer, self.party)


class GovernanceFile(CommerceRow, frozen=True):
    """A row of `governance_file`: the cases that concern the party of the same key, oldest first."""

    cases: tuple[Id, ...]


def filed_cases(cases: Mapping[str, GovernanceCase]) -> dict[str, list[str]]:
    """The keys of cases by whom they concern."""
    files: dict[str, list[str]] = {}
    for key, case in cases.items():
        for party in case.concerned:
            files.setdefault(party, []).append(key)
    return files


def file_cases(typed: Mapping[str, dict[str, Any]]) -> None:
    """Makes the files of parties that have none among start rows."""
    for party, keys in filed_cases(typed["governance_case"]).items():
        typed["governance_file"].setdefault(party, GovernanceFile(tuple(keys)))


def cases_of(state: State, party: str) -> tuple[str, ...]:
    """The keys of the cases that concern a party, oldest first."""
    found: GovernanceFile | None = state.get("governance_file", party)
    return () if found is None else found.cases

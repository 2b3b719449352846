"""What the audit of one run gave, as values.

    Audit = findings · checks, each done, failed or not done · how fast the run is held · what was replayed

Not here: how it came about (`audit`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..protocol.bodies import Decision, Message, Turn
from .findings import NEEDED, Check, Finding, State

if TYPE_CHECKING:
    from .run import Run


class Deed(NamedTuple):
    """A message of a replayed run with its typed action, its texts and the decision on it."""

    seq: int
    message: Message
    action: Any
    texts: dict[str, str]
    decision: Decision


class Evidence(NamedTuple):
    """A turn of a replayed run with its texts."""

    seq: int
    turn: Turn
    texts: dict[str, str]


class Told(NamedTuple):
    """A brief of a replayed run: who was told, and what; None where the part is withheld."""

    seq: int
    party: str
    text: str | None


class Audit(NamedTuple):
    """What the audit of one run gave.

    ``outcome`` is the seal's, None while the run is open. ``keys`` says for
    each party whether its key is ``pinned`` or ``self-asserted``. ``deeds``,
    ``evidence`` and ``briefs`` are kept only where they were asked for.
    """

    run: str
    records: int
    checks: dict[Check, State]
    findings: list[Finding]
    anchored: bool
    keys: dict[str, str]
    outcome: str | None
    root: str | None
    custody: str | None
    withheld: int
    replayed: Run | None
    task: str | None
    deeds: list[Deed]
    evidence: list[Evidence]
    briefs: list[Told]

    @property
    def imported(self) -> bool:
        """Whether it was imported from a record that others made: keys prove custody then, not authorship."""
        return self.custody == "imported"

    @property
    def good(self) -> bool:
        """Whether the run is sealed and every check up to 5 was done and passed."""
        return self.outcome is not None and all(self.checks[check] == "done" for check in NEEDED)

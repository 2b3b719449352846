"""The faults of a file, gathered so that its author sees them at once.

Whoever compiles a part of a file notes what is wrong there and goes on with
what is right; nothing is played while there is a fault.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol.errors import TaskError
from .where import located


class Faults:
    """What is wrong with a file, each thing once."""

    def __init__(self) -> None:
        self.found: list[TaskError] = []

    def note(
        self, code: str, place: str, problem: str, hint: str | None = None, *, within: int = 0
    ) -> None:
        """Notes a fault, as `TaskError` takes it."""
        self.add(TaskError(code, place, problem, hint, within=within))

    def add(self, fault: TaskError) -> None:
        """Notes a fault, unless it is there already: a mutation has the steps of the reference too."""
        if all((fault.place, fault.problem) != (each.place, each.problem) for each in self.found):
            self.found.append(fault)

    def located(self, text: str) -> Sequence[TaskError]:
        """The faults with their lines in the file's text, from top to bottom."""
        return sorted((located(fault, text) for fault in self.found), key=lambda fault: fault.line)


class FirstFault(Faults):
    """Raises the first fault instead, for whoever goes no further."""

    def add(self, fault: TaskError) -> None:
        """Raises it."""
        raise fault

"""What the linter says of task files: each is linted once for all processes of a test run.

    text ─► its file in a folder of the run, there already or made by who comes first ─► Linted

A report's runs hold what no process can send to another, so of them only what tests ask for is kept.
"""

from __future__ import annotations

import fcntl
import pickle
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from kills import Told, told_of

from tollbook.tasks.lint.finding import LintFinding
from tollbook.tasks.lint.linter import lint


class Linted(NamedTuple):
    """What is wrong with a file, and what the page of wrong runs says of it, if its form is right."""

    findings: tuple[LintFinding, ...]
    told: Told | None

    @property
    def errors(self) -> list[LintFinding]:
        return [each for each in self.findings if each.level == "error"]


class Reports:
    """Lints files, or reads what another process made of them in a folder that they share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Linted] = {}

    def __call__(self, text: str) -> Linted:
        if text not in self._read:
            self._read[text] = self._shared(text)
        return self._read[text]

    def _shared(self, text: str) -> Linted:
        with (self._folder / sha256(text.encode()).hexdigest()).open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.tell():
                file.seek(0)
                linted: Linted = pickle.load(file)
                return linted
            report = lint(text)
            made = Linted(report.findings, None if report.task is None else told_of(report))
            pickle.dump(made, file)
            return made

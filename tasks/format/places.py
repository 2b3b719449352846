"""What each place of a task file sees: the names that its expressions may use.

A name that a place doesn't see isn't declared there, so using it doesn't
compile: the right answers reach no agent by name, and a reference knows what
its role knows.

Source: the task format, "The case view", second table.
"""

from __future__ import annotations

from typing import Final

from ...scorers.cel import Scope

SCENE: Final = Scope(("case", "facts", "it", "i"), draws=True)
"""Case parameters, start rows and mandates."""

BRIEF: Final = Scope(("case", "facts", "mandate"))

SCRIPT: Final = Scope(("case", "did", "heard", "known", "mandate", "me", "message", "refused", "tick"))

POLICY: Final = Scope(("did", "heard", "i", "it", "known", "mandate", "refused", "tick"))
"""References, alternatives, mutations and cheats."""

ORACLE: Final = Scope(("case", "facts", "initial", "oracle"))

ENDS: Final = Scope(("case", "did", "refused", "tick"))

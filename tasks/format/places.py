"""What each place of a task file sees: the names that its expressions may use.

A name that a place doesn't see isn't declared there, so using it doesn't
compile: the right answers reach no agent by name, and a reference knows what
its role knows. Each scope says why what an author may look for isn't there.

Source: the task format, "The case view", second table.
"""

from __future__ import annotations

from typing import Final

from ...protocol.world import PacedWorld, World
from ...scorers.cel import Scope

_ANSWERS = "the right answers reach no agent"
_ROLE = "a policy knows what its role knows; look in `known`, `heard` and `mandate`"
_JUDGED = "only what judges a run looks at its whole state"
_BEFORE = "it is worked out before anything happens"
_SCRIPT = "only a script answers a message"
_EACH = "only rows and steps with `each` go through elements"
_OTHERS = "a party's mandate is for that party"


def _why(reason: str, *names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, reason) for name in names)


_ASKED = "only a policy is shown what the market shows whom it asks"

_RUN = ("acts", "did", "events", "final", "heard", "known", "read", "refused", "tick")

_NO_ANSWERS = _why(_ANSWERS, "oracle")
_STAGED = (*_why(_BEFORE, *_RUN), *_NO_ANSWERS, *_why(_SCRIPT, "me", "message"), *_why(_ASKED, "market"))

PARAMETER: Final = Scope(
    ("case",),
    draws=True,
    why=(
        *_STAGED,
        *_why("rows are made after the parameters, of them", "facts", "initial"),
        *_why("mandates are made after the parameters, of them", "mandate"),
        *_why(_EACH, "i", "it"),
    ),
)
"""Case parameters; each sees those before it."""

SCENE: Final = Scope(("case", "facts", "it", "i"), draws=True, why=(*_STAGED, *_why(_OTHERS, "mandate")))
"""Start rows made by `each`."""

ROW: Final = Scope(("case", "facts"), draws=True, why=(*SCENE.why, *_why(_EACH, "i", "it")))
"""Other start rows, and mandates."""

BRIEF: Final = Scope(("case", "facts", "mandate"), why=(*_STAGED, *_why(_EACH, "i", "it")))

SCRIPT: Final = Scope(
    ("case", "did", "heard", "known", "mandate", "me", "message", "refused", "tick"),
    why=(
        *_NO_ANSWERS,
        *_why(_JUDGED, "acts", "events", "final", "initial", "read"),
        *_why("a script knows what its party knows; look in `known`, `heard` and `case`", "facts"),
        *_why(_EACH, "i", "it"),
        *_why(_ASKED, "market"),
    ),
)

POLICY: Final = Scope(
    ("did", "heard", "i", "it", "known", "mandate", "refused", "tick"),
    why=(
        *_NO_ANSWERS,
        *_why(_ROLE, "case", "facts"),
        *_why(_JUDGED, "acts", "events", "final", "initial", "read"),
        *_why(f"{_SCRIPT}; what reached the actor is in `heard`", "me", "message"),
        *_why("this market shows nothing unasked; look in `known` and `heard`", "market"),
    ),
)
"""References, alternatives, mutations and cheats."""

ASKED_POLICY: Final = POLICY._replace(names=(*POLICY.names, "market"))
"""The same in a market that shows whom it asks how things stand."""


def policy_of(world: World) -> Scope:
    """What the policies of a market's tasks see."""
    return ASKED_POLICY if isinstance(world, PacedWorld) else POLICY


ORACLE: Final = Scope(
    ("case", "facts", "initial", "oracle"),
    asks=True,
    why=(
        *_why("the right answers follow from the start state alone", *_RUN, "mandate"),
        *_why("ask it by name: `market('…')`", "market"),
        *_why(_SCRIPT, "me", "message"),
        *_why(_EACH, "i", "it"),
    ),
)

ENDS: Final = Scope(
    ("case", "did", "refused", "tick"),
    why=(
        *_NO_ANSWERS,
        *_why("a run ends by what the actor did", *_RUN, "facts", "initial", "mandate"),
        *_why(_ASKED, "market"),
        *_why(_SCRIPT, "me", "message"),
        *_why(_EACH, "i", "it"),
    ),
)

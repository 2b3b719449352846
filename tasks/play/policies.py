"""Agents made of a task file's steps: references, alternatives, mutations, cheats.

Each sees what its role sees: did, refused, heard, known, its mandate, the tick,
and what the market shows it when it is asked.
An act that can't be formed ends a policy; whether that is a fault of the file is
for who plays it to say.

Source: the task format, `do` and `[reference]`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from ...protocol.bodies import Agent as Stated
from ...scorers.cel import activation
from ..format.values import Unformed
from .agent import Answer, Asked, Setup

if TYPE_CHECKING:
    from ...scorers.cel import Activation
    from ..format.acts import Formed
    from ..format.policy import Policy

Json = Any


class PolicyAgent:
    """Plays a policy."""

    outside = False
    given = None

    def __init__(self, name: str, policy: Policy, *, lenient: bool = False) -> None:
        """``lenient``: an act that can't be formed is an end like any other."""
        self.stated = Stated(model="", name=name, settings={}, version="")
        self.unformed: Unformed | None = None
        self._policy = policy
        self._lenient = lenient

    def begin(self, setup: Setup) -> None:
        """As `Agent.begin`."""
        self._mandate = setup.mandate
        self._acts: Generator[Formed] = self._policy.acts(self._held)

    def act(self, asked: Asked) -> Answer:
        """As `Agent.act`."""
        watch = asked.watch
        self._names = {
            **watch.groups,
            "known": watch.known,
            "mandate": self._mandate,
            "market": asked.market,
            "tick": asked.tick,
        }
        self._plain = activation({**self._names, "it": None, "i": 0}, self._policy.asked)
        try:
            return Answer(act=next(self._acts))
        except StopIteration:
            return Answer(end="agent_stopped")
        except Unformed as error:
            self.unformed = error
            reason = f"{error.place}: {error.text}"
            return Answer(end="agent_stopped" if self._lenient else "agent_failed", reason=reason)

    def close(self) -> None:
        """As `Agent.close`: there is nothing to let go of."""

    def _held(self, it: Json, i: int) -> Activation:
        return self._plain if i == 0 else activation({**self._names, "it": it, "i": i}, self._policy.asked)

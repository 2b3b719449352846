"""What baseline bidders and traders have in common: an agent that is told what the market shows its party.

Not here: any of them (`baselines`, `traders`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from ...protocol.bodies import Agent as Stated
from ..play.agent import Answer, Asked, Setup

VERSION: Final = "1"


class Baseline(ABC):
    """An agent of one party; a subclass says its move."""

    outside = False
    given = None
    name = ""
    trades = False
    """Whether it plays double auctions, and nothing else, or everything else."""

    def __init__(self, seed: str, party: str) -> None:
        self.stated = Stated(model="", name=f"baseline:{self.name}", settings={}, version=VERSION)
        self.seed = seed
        self.party = party

    def begin(self, setup: Setup) -> None:  # noqa: B027 - every baseline's
        """As `Agent.begin`: the market shows all that it needs when it is asked."""

    def act(self, asked: Asked) -> Answer:
        """As `Agent.act`; it can't go on in a format that isn't its own."""
        format_name = asked.market["format"]
        if self.trades is not (format_name == "double"):
            reason = f"baseline `{self.name}` doesn't play format `{format_name}`"
            return Answer(end="agent_failed", reason=reason)
        return Answer(act=self.move(asked.market))

    def close(self) -> None:  # noqa: B027 - every baseline's
        """As `Agent.close`: there is nothing to let go of."""

    @abstractmethod
    def move(self, market: Mapping[str, Any]) -> Mapping[str, Any]:
        """The move by what the market shows."""

"""Baseline bidders, by name: what theory, habit or chance would do, on the interface that any agent has.

    truthful   bids its value

Each is told only what the market shows its party (`Asked.market`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ...protocol.bodies import Agent as Stated
from ..play.agent import Answer, Asked, Setup

if TYPE_CHECKING:
    from ..play.agent import Agent
    from ..play.baselines import Maker

VERSION: Final = "1"


class Baseline(ABC):
    """An agent of one party; a subclass says its move."""

    outside = False
    given = None
    name = ""

    def __init__(self, seed: str, party: str) -> None:
        self.stated = Stated(model="", name=f"baseline:{self.name}", settings={}, version=VERSION)
        self.seed = seed
        self.party = party

    def begin(self, setup: Setup) -> None:  # noqa: B027 - every baseline's
        """As `Agent.begin`: the market shows all that it needs when it is asked."""

    def act(self, asked: Asked) -> Answer:
        """As `Agent.act`."""
        return Answer(act=self.move(asked.market))

    def close(self) -> None:  # noqa: B027 - every baseline's
        """As `Agent.close`: there is nothing to let go of."""

    @abstractmethod
    def move(self, market: Mapping[str, Any]) -> Mapping[str, Any]:
        """The move by what the market shows."""


class Truthful(Baseline):
    """Bids its value, or what its signal says."""

    name = "truthful"

    def move(self, market: Mapping[str, Any]) -> Mapping[str, Any]:
        """The value as a bid."""
        return {"kind": "bid.submit", "amount": market["value"]}


def _maker(kind: type[Baseline]) -> Maker:
    def make(seed: str, party: str) -> Agent:
        return kind(seed, party)

    return make


BASELINES: Final[Mapping[str, Maker]] = {kind.name: _maker(kind) for kind in (Truthful,)}

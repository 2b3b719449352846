"""Baseline bidders, by name: what theory, habit or chance would do, on the interface that any agent has.

    truthful   bids its value

Each is told only what the market shows its party (`Asked.market`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from . import traders
from .baseline import Baseline

if TYPE_CHECKING:
    from ..play.agent import Agent
    from ..play.baselines import Maker

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


BASELINES: Final[Mapping[str, Maker]] = {kind.name: _maker(kind) for kind in (Truthful, *traders.TRADERS)}

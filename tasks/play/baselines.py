"""Agents that come with a market, by name: who plays the parties that a task gives to a baseline.

    [party.b2] plays = "truthful"   ─►  an agent for b2, from the run's seed

The run says who played; its acts are its own, and no script's.

Not here: the baselines themselves, each market's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

from ...protocol.errors import UsageError
from ...scorers.lets import near

if TYPE_CHECKING:
    from ..format.task import Task
    from .agent import Agent

Maker = Callable[[str, str], "Agent"]
"""Makes an agent for one party of one run, from the run's seed and the party's id."""

_MARKETS: Final[Mapping[str, str]] = {"auction": "..auctions.baselines"}


def company(task: Task, seed: str) -> dict[str, Agent]:
    """The agents of all parties that the task gives to a baseline.

    Raises:
        UsageError: `usage.agent`, the market has no such baseline.
    """
    named = {name: party.plays for name, party in task.file.party.items()}
    return {
        party: baseline(task, plays)(seed, party)
        for party, plays in named.items()
        if plays is not None and party != task.actor
    }


def baseline(task: Task, name: str) -> Maker:
    """The maker of a market's baseline.

    Raises:
        UsageError: `usage.agent`.
    """
    known = baselines_of(task.world.name)
    if name not in known:
        hint = near(name, list(known), f"there are {', '.join(known) or 'none'}")
        raise UsageError("usage.agent", f"world `{task.world.name}` has no baseline `{name}`", hint)
    return known[name]


def baselines_of(world: str) -> Mapping[str, Maker]:
    """The baselines of a market, by name."""
    module = _MARKETS.get(world)
    if module is None:
        return {}
    found: Mapping[str, Maker] = import_module(module, __package__).BASELINES
    return found

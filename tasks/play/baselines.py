"""Agents that come with a market, by name: who plays the parties that a task gives to a baseline.

    [party.b2] plays = "truthful"     ─►  an agent for b2, from the run's seed
               plays = "crra:0.3"         some take a number, which follows their name

The run says who played; its acts are its own, and no script's.

Not here: the baselines themselves, each market's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ...protocol.errors import UsageError
from ...scorers.lets import near

if TYPE_CHECKING:
    from ...protocol.bodies import Agent as Stated
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


def baseline(task: Task, word: str) -> Maker:
    """The maker of a market's baseline: by its name, and where it takes a number, that.

    Raises:
        UsageError: `usage.agent`.
    """
    known = baselines_of(task.world.name)
    name, colon, number = word.partition(":")
    if name not in known:
        hint = near(name, list(known), f"there are {', '.join(known) or 'none'}")
        raise UsageError("usage.agent", f"world `{task.world.name}` has no baseline `{name}`", hint)
    if not colon:
        return known[name]
    tuned = _module(task.world.name).TUNED
    if name not in tuned:
        hint = f"write `{name}`; a number follows {', '.join(tuned) or 'none'}"
        raise UsageError("usage.agent", f"baseline `{name}` takes no number `{number}`", hint)
    maker: Maker = tuned[name](number)
    return maker


def word_of(stated: Stated) -> str:
    """The word for who a run says was played, as `--agent` takes it: of a baseline, with its number."""
    numbers = stated.settings.values() if stated.name.startswith("baseline:") else ()
    return ":".join((stated.name, *numbers))


def baselines_of(world: str) -> Mapping[str, Maker]:
    """The baselines of a market, by name."""
    if world not in _MARKETS:
        return {}
    found: Mapping[str, Maker] = _module(world).BASELINES
    return found


def _module(world: str) -> Any:  # noqa: ANN401 - a module
    return import_module(_MARKETS[world], __package__)

"""Who takes part in a task, and what the evaluated party may do.

Not here: what the parties are told (`scene`), what they do (`script`, `policy`).

Source: the task format, `actor`, `tools`, `[party]`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from ...protocol.world import PacedWorld, World
from ...scorers.lets import near
from .faults import Faults
from .file import TaskFile

OPERATOR: Final = "operator"
"""The party that every run has; it moves the market's clock on."""


def check_parties(file: TaskFile, world: World, faults: Faults) -> bool:
    """Whether there is somebody to play.

    Notes `task.party`, for an actor, a script or a role of nobody, and `task.case`, for the factor.
    """
    if file.actor not in file.party:
        hint = near(file.actor, file.party, f"write `{file.actor} = {{}}` under `[party]`")
        faults.note("task.party", "actor", f"there is no party `{file.actor}`", hint)
    for name in file.script:
        if name == file.actor:
            hint = "script the others; what the actor should do is its `[reference]`"
            faults.note("task.party", f"script.{name}", "the actor has no script", hint)
        elif name not in file.party and name != OPERATOR:
            hint = near(name, file.party, f"there are {', '.join(file.party)}")
            faults.note("task.party", f"script.{name}", f"there is no party `{name}`", hint)
    _check_roles(file, world, faults)
    _check_players(file, world, faults)
    _check_factor(file, faults)
    return file.actor in file.party


def offered(file: TaskFile, world: World, faults: Faults) -> tuple[str, ...]:
    """The kinds of act that the actor is offered, in the market's order.

    Notes `task.tools`, for a pattern that fits none.
    """
    role = file.party[file.actor].role or file.actor
    known = open_to(world, role)
    if file.tools is None:
        return tuple(known)
    wanted: set[str] = set()
    for at, pattern in enumerate(file.tools):
        found = {kind for kind in known if fnmatchcase(kind, pattern)}
        if not found:
            hint = near(pattern, known, f"there are {', '.join(known)}")
            faults.note("task.tools", f"tools[{at}]", f"`{pattern}` is no tool of a {role}", hint)
        wanted |= found
    return tuple(kind for kind in known if kind in wanted)


def open_to(world: World, role: str) -> list[str]:
    """The kinds of act that a role may be offered, in the market's order."""
    return [
        kind
        for kind in world.kinds
        if role in world.roles.get(kind, (role,)) and kind not in world.unoffered
    ]


def _check_roles(file: TaskFile, world: World, faults: Faults) -> None:
    known = sorted({role for allowed in world.roles.values() for role in allowed})
    for name, party in file.party.items():
        role = party.role or name
        if known and role not in known:
            place = f"party.{name}" if party.role is None else f"party.{name}.role"
            hint = near(role, known, f"write `role = …` under it: there are {', '.join(known)}")
            faults.note("task.party", place, f"the market has no role `{role}`", hint)


def _check_players(file: TaskFile, world: World, faults: Faults) -> None:
    """Whether agents play whom they must: in a market that paces its runs everybody, else the actor alone."""
    paces = isinstance(world, PacedWorld)
    for name, party in file.party.items():
        if name == file.actor or paces == (party.plays is not None):
            continue
        if paces:
            hint = 'say who plays it: `plays = "truthful"`'
            faults.note("task.party", f"party.{name}", "in this market everybody is asked in turn", hint)
        else:
            hint = "script it: in this market others answer what is sent to them"
            faults.note("task.party", f"party.{name}.plays", "no baseline plays here", hint)
    if file.turns > world.most_turns:
        problem = f"expected a whole number of at most {world.most_turns}, got the number `{file.turns}`"
        faults.note("task.type", "turns", problem, "write a number in that range")
    for name in file.script if paces else ():
        hint = "say who plays it instead: `plays`"
        faults.note("task.party", f"script.{name}", "in this market nobody answers", hint)


def _check_factor(file: TaskFile, faults: Faults) -> None:
    if file.factor is None:
        return
    known = {name for values in file.case.values() for name in values} | {*file.defaults}
    without = [case for case, values in file.case.items() if file.factor not in {**file.defaults, **values}]
    if without:
        hint = near(file.factor, sorted(known), "name the parameter that the cases vary")
        names = "no case has" if len(without) == len(file.case) else f"case `{without[0]}` doesn't have"
        faults.note("task.case", "factor", f"{names} a parameter `{file.factor}`", hint)

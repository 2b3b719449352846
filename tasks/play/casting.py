"""Who plays the actor, by a word, and who the others that the task gives to baselines.

    reference · alternative:ID · mutation:ID · cheat:NAME · stand_in:NAME · baseline:NAME · exec:COMMAND

The others can be given to other baselines alone. Each run gets agents of its own. A
word that can't be played is refused before any run is opened.

Not here: the agents (`policies`, `cheats`, `stand_ins`, `baselines`, `outside`).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec

from ...protocol.bodies import Agent as Stated
from ...protocol.errors import UsageError
from ...scorers.lets import near
from ..format.task import Task
from .agent import Agent
from .baselines import baseline
from .cheats import cheat_agent, variants_of
from .child import Limits
from .outside import Outside
from .policies import PolicyAgent
from .stand_ins import GRADES, stand_in

T = TypeVar("T")

REFERENCE: Final = "reference"
_KINDS: Final = (REFERENCE, "alternative:", "mutation:", "cheat:", "stand_in:", "baseline:", "exec:")

Maker = Callable[[str], Agent]
"""Makes an agent for one run, from its seed."""


class Part(NamedTuple):
    """The word for who plays the actor, what to call it, and its limits if it is a program."""

    word: str = REFERENCE
    name: str | None = None
    model: str = ""
    limits: Limits = Limits()

    @property
    def outside(self) -> bool:
        """Whether it is a program."""
        return self.word.startswith("exec:")


def cast(task: Task, part: Part) -> Maker:
    """How to make the agent of a task.

    Raises:
        UsageError: `usage.agent`, the word stands for nobody in this task, or a command can't be started.
    """
    kind, colon, name = part.word.partition(":")
    if part.word == REFERENCE:
        return lambda _seed: PolicyAgent(REFERENCE, task.reference)
    if kind + colon == "exec:":
        return _outside(part, name)
    if kind + colon == "alternative:":
        policy = _found(name, task.alternatives, task, "alternative")
        return lambda _seed: PolicyAgent(part.word, policy)
    if kind + colon == "mutation:":
        mutation = _found(name, task.mutations, task, "mutation")
        return lambda _seed: PolicyAgent(part.word, mutation.policy, lenient=True)
    if kind + colon == "cheat:":
        return _cheat(task, part.word, name)
    if kind + colon == "stand_in:":
        return _stand_in(task, name)
    if kind + colon == "baseline:":
        maker = baseline(task, name)
        return lambda seed: maker(seed, task.actor)
    hint = near(part.word, _KINDS, f"there are {', '.join(_KINDS)}")
    raise UsageError("usage.agent", f"`{part.word}` is no agent", hint)


def cast_others(task: Task, words: Mapping[str, str]) -> Callable[[str], dict[str, Agent]]:
    """How to make the agents of other parties, from a run's seed: the baselines that these words say.

    Raises:
        UsageError: `usage.agent`.
    """
    makers = {party: _baseline_of(task, party, word) for party, word in words.items()}
    return lambda seed: {party: make(seed, party) for party, make in makers.items()}


def _baseline_of(task: Task, party: str, word: str) -> Callable[[str, str], Agent]:
    kind, _, name = word.partition(":")
    if kind != "baseline":
        hint = f"write `--agent {party}=baseline:NAME`"
        raise UsageError("usage.agent", f"`{word}` can't play `{party}`, which isn't evaluated", hint)
    return baseline(task, name)


def limits_of(stated: Stated) -> Limits:
    """The limits that a run says a program was played under.

    Raises:
        UsageError: `usage.agent`, what it says are no limits.
    """
    texts = {f"limit.{name}": value for name, value in Limits()._asdict().items()} | stated.settings
    values = [texts[f"limit.{name}"] for name in Limits._fields]
    try:
        return msgspec.convert([None if text == "none" else text for text in values], Limits, strict=False)
    except msgspec.ValidationError as error:
        what = f"the run states limits of `{stated.name}` that can't be read: {error}"
        raise UsageError("usage.agent", what) from None


def _outside(part: Part, command: str) -> Maker:
    name = part.name or _name_of(command)
    trial = Outside(name, command, part.limits, model=part.model)
    trial.start()  # a command that can't be started is told before a run is opened
    trial.close()
    return lambda _seed: Outside(name, command, part.limits, model=part.model)


def _cheat(task: Task, word: str, name: str) -> Maker:
    if name in task.cheats:
        policy = task.cheats[name].policy
        return lambda _seed: PolicyAgent(word, policy, lenient=True)
    named = variants_of(task).items()
    variants = {each: (kind, at) for kind, names in named for at, each in enumerate(names)}
    kind, at = _found(name, variants, task, "cheat")
    return lambda seed: cheat_agent(task, seed, kind, at)


def _stand_in(task: Task, name: str) -> Maker:
    if name not in GRADES:
        hint = near(name, list(GRADES), f"there are {', '.join(GRADES)}")
        raise UsageError("usage.agent", f"there is no stand-in `{name}`", hint)
    return lambda seed: stand_in(name, task.world, task.reference, seed)


def _found(name: str, known: Mapping[str, T], task: Task, what: str) -> T:
    if name not in known:
        hint = near(name, list(known), f"there are {', '.join(list(known)[:12]) or 'none'}")
        raise UsageError("usage.agent", f"task `{task.file.id}` has no {what} `{name}`", hint)
    return known[name]


def _name_of(command: str) -> str:
    """What a program is called unless it is said: the first word that is a file's, else the first word."""
    try:
        words = shlex.split(command)
    except ValueError:
        return "exec"
    named = [word for word in words[1:] if os.path.isfile(word)]  # noqa: PTH113 - a word may be no path at all
    return Path(named[0] if named else words[0] if words else "exec").name

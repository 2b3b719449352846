"""The linter's own variations of a reference: what changes nothing that a task could mean.

    reads       some rows are read first, or read twice
    swap        two readings that follow one another change places
    slip        words that hold no act come first, and are refused
    misspelt    the first reading asks for a row that there isn't, and is then put right

Who does what the reference does, and looks once more or mistypes once, has done
the task: full credit is due. A variation is fair only where the reference's own
acts stayed what they were; keys of rows that the run made may differ, since they
count records.

Not here: what an unfair act earns (mutations, cheats).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from ...protocol.bodies import Agent as Stated
from ...protocol.world import row_fields
from ...scorers.acts import plain
from ..play.agent import Answer, Asked, Setup
from ..play.policies import PolicyAgent

if TYPE_CHECKING:
    from ...ledger.audited import Deed
    from ..format.acts import Formed
    from ..format.task import Task
    from .rehearsal import Rehearsal, Staged

Json = Any

MOST: Final = 3
"""The most readings put first, and the most pairs that change places, of one case."""

_WORDS: Final = "Let me see."


class Varied:
    """Plays a policy with answers put before it, or with some of its acts replaced, by their places."""

    outside = False
    given: str | None = None

    def __init__(
        self, agent: PolicyAgent, first: Sequence[Answer] = (), instead: Mapping[int, Formed] | None = None
    ) -> None:
        self.stated = Stated(model="", name="variation", settings={}, version="")
        self._agent = agent
        self._first = list(first)
        self._instead = instead or {}
        self._done = 0

    def begin(self, setup: Setup) -> None:
        """As `Agent.begin`."""
        self._agent.begin(setup)

    def act(self, asked: Asked) -> Answer:
        """As `Agent.act`."""
        if self._first:
            return self._first.pop(0)
        answer = self._agent.act(asked)
        at, self._done = self._done, self._done + 1
        instead = self._instead.get(at)
        return answer if instead is None or answer.act is None else answer._replace(act=instead)

    def close(self) -> None:
        """As `Agent.close`."""
        self._agent.close()


class Variation:
    """A variation of one case's reference: its name, and its answers."""

    def __init__(
        self, name: str, first: Sequence[Answer] = (), instead: Mapping[int, Formed] | None = None
    ) -> None:
        self.name = name
        self._first = first
        self._instead = instead or {}

    def agent(self, task: Task) -> Varied:
        """Who plays it."""
        return Varied(PolicyAgent("reference", task.reference), self._first, self._instead)

    def is_fair(self, reference: Rehearsal, run: Rehearsal) -> bool:
        """Whether the reference's own acts are those that it did without the variation."""
        made = reference.made()
        own = [_placed(_fields(deed), made) for deed in reference.own]
        for at, act in self._instead.items():
            own[at] = _placed(act, made)
        found = run.made()
        return own == [_placed(_fields(deed), found) for deed in run.own[len(self._first) :]]


def variations(task: Task, reference: Rehearsal) -> Iterator[Variation]:
    """The variations of a case's reference that its turns have room for."""
    acts = [_fields(deed) for deed in reference.own]
    is_read = [act["kind"] in task.world.queries for act in acts]
    room = task.file.turns - len(acts)
    twice = list(_other_reads(task, reference.staged))[: min(MOST, room)]
    if twice:
        yield Variation("reads", [Answer(act=act) for act in twice])
    if room > 0:
        yield Variation("slip", [Answer(gave=_WORDS)])
        if acts and is_read[0] and (wrong := _misspelt(task, acts[0])) is not None:
            yield Variation("misspelt", [Answer(act=wrong)])
    if room > 0 and acts and is_read[0]:
        yield Variation("twice", [Answer(act=acts[0])])
    pairs = [at for at in range(len(acts) - 1) if all(is_read[at : at + 2]) and acts[at] != acts[at + 1]]
    for at in pairs[:MOST]:
        yield Variation(f"swap {at + 1}", instead={at: acts[at + 1], at + 1: acts[at]})


def _other_reads(task: Task, staged: Staged) -> Iterator[Formed]:
    """A reading of each kind that needs no more than the key of a start row."""
    for kind in task.tools:
        action = task.world.kinds[kind]
        rows = row_fields(action)
        needed = [field.encode_name for field in msgspec.structs.fields(action) if field.required]
        if kind not in task.world.queries or not needed or not set(needed) <= rows.keys():
            continue
        keys = [sorted(staged.scene.facts.tables[rows[name]].rows) for name in needed]
        if all(keys):
            yield {"kind": kind, **{name: found[-1] for name, found in zip(needed, keys, strict=True)}}


def _misspelt(task: Task, act: Formed) -> Formed | None:
    """The act with the key of a row that there isn't, where it names one."""
    rows = row_fields(task.world.kinds[act["kind"]])
    named = [name for name in rows if isinstance(act.get(name), str)]
    return {**act, named[0]: "misspelt"} if named else None


def _fields(deed: Deed) -> Formed:
    """An act as it was sent, its texts written out."""
    fields: Formed = dict(plain(deed.action)) if deed.action is not None else {"kind": ""}
    return {**fields, **deed.texts}


def _placed(act: Formed, made: Sequence[str]) -> Formed:
    """An act with the keys that its run made replaced by their places."""
    places = {key: f"made {at}" for at, key in enumerate(made)}
    return {name: _each_placed(value, places) for name, value in act.items()}


def _each_placed(value: Json, places: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return places.get(value, value)
    if isinstance(value, list):
        return [_each_placed(each, places) for each in cast("list[Json]", value)]
    if isinstance(value, dict):
        found = cast("dict[str, Json]", value)
        return {name: _each_placed(each, places) for name, each in found.items()}
    return value

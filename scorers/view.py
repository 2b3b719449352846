"""The case view: a run as the plain JSON document that predicates look at.

    did refused heard   {noun: {verb: [act]}}      acts   [act]      events   {noun: {past: [{seq, …}]}}
    read                {table: {key: seq}}        known initial final   {table: [row]}
    facts               {table: {key: row}}        case mandate oracle   {name: value}

Acts are in order of seq, rows of key. Where a part is withheld, what asks for
its field is undecided. Only what is wanted is made: a predicate set says what
it reads.

    Audit  ──case_view──►  View        of a verified run, the only kind that is scored
    Episode ──view_of───►  View        of what was played and never recorded, for the linter

Not here: acts and what a party was shown (`acts`); working out `oracle` (the
importer's or the task's); judging (`verdict`).

Source: the task format, "The case view", version 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import msgspec

from ..ledger.audit import Audit, Deed
from ..protocol.canonical import encode
from ..protocol.errors import ScoreError
from ..protocol.tables import State
from ..protocol.world import Act, Shown, World
from .acts import ACTS, EVERYTHING, Kinds, Watch, by_kind, each_read, plain, row_of
from .cel import JUDGE

LARGE = 1_000
"""Start rows above which `initial`, `final` and `facts` hold only the rows read or changed."""

_WATCHED = ACTS | {"known", "read", "result"}
_JSON = msgspec.json.Decoder()

Json = Any


class Withheld(Enum):
    """Stands in an oracle for a value that a withheld part leaves open."""

    PART = "part.withheld"


class View(NamedTuple):
    """A case view.

    ``withheld`` says for a name of the view which fields under it a withheld
    part leaves open.
    """

    document: Mapping[str, Json]
    withheld: Mapping[str, frozenset[str]] = MappingProxyType({})


class Answers(NamedTuple):
    """What the task says of a run: the case's parameters, the actor's mandate and the right answers."""

    case: Mapping[str, Json] = MappingProxyType({})
    mandate: Mapping[str, Json] = MappingProxyType({})
    oracle: Mapping[str, Json] = MappingProxyType({})
    """Plain JSON, or `Withheld.PART`."""


class Episode(NamedTuple):
    """What happened in a run: its rules, its deeds in order, and the rows that they left."""

    world: World
    roles: Mapping[str, str]
    deeds: Sequence[Deed]
    state: State
    case: str | None


def case_view(audit: Audit, actor: str, answers: Answers, want: Iterable[str] | None = None) -> View:
    """The view of a verified run, its evaluated party being `actor`.

    ``want`` is what a `PredicateSet` reads; everything by default.

    Raises:
        ScoreError: `score.unverified`, or `score.actor` when no such party is in the run.
        CanonicalError: an oracle value is not JSON of integers and texts.
    """
    episode = episode_of(audit)
    if actor not in episode.roles:
        raise ScoreError("score.actor", f"run `{audit.run[:12]}` has no party `{actor}`")
    return view_of(episode, actor, answers, want)


def episode_of(audit: Audit) -> Episode:
    """What happened in a verified run.

    Raises:
        ScoreError: `score.unverified`.
    """
    run = audit.replayed
    if not audit.good or run is None:
        hint = "see what `tollbook verify` finds"
        raise ScoreError("score.unverified", f"run `{audit.run[:12]}` is not verified", hint)
    assert run.world is not None, "a verified run has its rules"
    assert run.state is not None, "a verified run has its state"
    assert audit.deeds or not any(member.said for member in run.members.values()), "the audit kept no deeds"
    task = run.opened.task
    case = None if task is None else task.case
    return Episode(run.world, run.roles, audit.deeds, run.state, case)


def view_of(episode: Episode, actor: str, answers: Answers, want: Iterable[str] | None = None) -> View:
    """The view of an episode, as `case_view`."""
    wanted = frozenset(JUDGE.names) | EVERYTHING if want is None else frozenset(want)
    watch = Watch(episode.world, actor, wanted)
    if wanted & _WATCHED:
        _watch(episode, watch, wanted)
    document: dict[str, Json] = {}
    if wanted & ACTS:
        document.update(acts=watch.acts, **watch.groups)
    if "read" in wanted:
        document["read"] = watch.read
    if wanted & {"known", "result"}:
        document["known"] = watch.known
    if "events" in wanted:
        document["events"] = _events(episode)
    if wanted & {"initial", "final", "facts"}:
        document.update(_rows(episode))
    withheld = {name: frozenset(fields) for name, fields in watch.withheld.items()}
    left_open = frozenset(name for name, value in answers.oracle.items() if value is Withheld.PART)
    if left_open:
        withheld["oracle"] = left_open
    oracle = {name: None if name in left_open else value for name, value in answers.oracle.items()}
    document["oracle"] = _JSON.decode(encode(oracle))
    document["case"] = {"id": episode.case, **answers.case}
    document["mandate"] = dict(answers.mandate)
    document["tick"] = episode.world.tick(episode.state)
    return View(document, withheld)


def _watch(episode: Episode, watch: Watch, wanted: frozenset[str]) -> None:
    """Shows a watch all that happened.

    Records hold digests of results, so what was shown is made again from the events.
    """
    world, state = episode.world, episode.state
    if world.clock is None and not wanted & {"known", "result"}:
        for deed in episode.deeds:
            watch.note(deed, None, state, 0)
        return
    state = State(state.facts)
    for deed in episode.deeds:
        watch.note(deed, show_again(world, state, deed, episode.roles), state, world.tick(state))
        state.commit()


def show_again(world: World, state: State, deed: Deed, roles: Mapping[str, str]) -> Shown | None:
    """What a decided deed showed its sender; its changes are staged in `state`."""
    decision = deed.decision
    if decision.outcome != "accepted" or decision.rule is not None:
        return None
    evolve_again(world, state, deed)
    message = deed.message
    act = Act(deed.action, message.sender, roles[message.sender], deed.seq, message.to)
    return world.show(state, act, cast("list[msgspec.Struct]", decision.events))


def evolve_again(world: World, state: State, deed: Deed) -> None:
    """Stages the changes of a decided deed."""
    for event in cast("list[msgspec.Struct]", deed.decision.events):
        world.evolve(state, event)


def _events(episode: Episode) -> Kinds:
    events = by_kind(episode.world.event_kinds)
    for deed in episode.deeds:
        for event in deed.decision.events:
            fields = plain(event)
            noun, _, past = fields["kind"].partition(".")
            events[noun][past].append({**fields, "seq": deed.seq})
    return events


def _rows(episode: Episode) -> dict[str, Json]:
    state, start = episode.state, episode.state.facts.tables
    facts: dict[str, dict[str, Json]] = {}
    final: dict[str, list[Json]] = {}
    for table, keys in _kept(episode).items():
        rows = start[table].rows
        facts[table] = {key: row_of(key, rows[key]) for key in keys if key in rows}
        after = ((key, state.get(table, key)) for key in keys)
        final[table] = [row_of(key, row) for key, row in after if row is not None]
    initial = {table: list(rows.values()) for table, rows in facts.items()}
    return {"facts": facts, "initial": initial, "final": final}


def _kept(episode: Episode) -> dict[str, list[str]]:
    """The keys of the rows to show, sorted: of a large state those read or changed."""
    start = episode.state.facts.tables
    keys: dict[str, set[str]] = {table: set() for table in episode.world.tables}
    for table, key, _row in episode.state.changed():
        if table in keys:
            keys[table].add(key)
    if sum(len(start[table].rows) for table in keys) <= LARGE:
        return {table: sorted(found | start[table].rows.keys()) for table, found in keys.items()}
    for deed in episode.deeds:
        for table, key in each_read(deed.decision.reads, episode.state):
            keys[table].add(key)
    return {table: sorted(found) for table, found in keys.items()}

"""The case view: a verified run as the plain JSON document that predicates look at.

    did refused heard   {noun: {verb: [act]}}      acts   [act]      events   {noun: {past: [{seq, …}]}}
    read                {table: {key: seq}}        known initial final   {table: [row]}
    facts               {table: {key: row}}        case mandate oracle   {name: value}

    act = {seq, n, tick, kind, from, to, ok, rule, figures, result, …fields of the action}
    row = {id, …columns}

Every kind and table of the world is there, empty if unused. Acts are in order
of seq, rows of key. A free-text field holds its text; where the part is
withheld it is null, and what asks for that field is undecided. An act that the
world doesn't know stands among `acts` alone; one whose fields don't fit has
them null. An accepted retry is an act too, with the rule `message.retry`.

Only what is wanted is made: a predicate set says what it reads.

Not here: working out `oracle` (the importer's or the task's), judging (`verdict`).

Source: the task format, "The case view", version 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import msgspec

from ..ledger.audit import Audit, Deed
from ..ledger.run import Run
from ..protocol.canonical import encode, encode_typed
from ..protocol.engine import admit_kind
from ..protocol.errors import ScoreError
from ..protocol.tables import State
from ..protocol.world import Act, World, part_fields
from .cel import NAMES

LARGE = 1_000
"""Start rows above which `initial`, `final` and `facts` hold only the rows read or changed."""

_FIGURE = re.compile(r"(?<![0-9])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,13})(?:\.([0-9]+))?(?![0-9])")
_ACTS = frozenset({"acts", "did", "refused", "heard"})

_JSON = msgspec.json.Decoder()

Json = Any
Kinds = dict[str, dict[str, list[dict[str, Json]]]]


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


def case_view(  # noqa: PLR0913 - the names that a run itself doesn't give
    audit: Audit,
    actor: str,
    oracle: Mapping[str, Json],
    want: Iterable[str] | None = None,
    *,
    case: Mapping[str, Json] | None = None,
    mandate: Mapping[str, Json] | None = None,
) -> View:
    """The view of a verified run, its evaluated party being `actor`.

    ``want`` is what a `PredicateSet` reads; everything by default. An oracle's
    values are plain JSON, or `Withheld.PART`.

    Raises:
        ScoreError: `score.unverified`, or `score.actor` when no such party is in the run.
        CanonicalError: an oracle value is not JSON of integers and texts.
    """
    run = audit.replayed
    if not audit.good or run is None:
        hint = "see what `tollbook verify` finds"
        raise ScoreError("score.unverified", f"run `{audit.run[:12]}` is not verified", hint)
    if actor not in run.members:
        raise ScoreError("score.actor", f"run `{audit.run[:12]}` has no party `{actor}`")
    open_names = frozenset(name for name, value in oracle.items() if value is Withheld.PART)
    answers = {name: None if name in open_names else value for name, value in oracle.items()}
    answers = _JSON.decode(encode(answers))
    wanted = frozenset(NAMES) | {"figures", "result"} if want is None else frozenset(want)
    builder = _Builder(audit.deeds, run, actor, wanted)
    document = builder.document()
    task = run.opened.task
    document["case"] = {**(case or {}), "id": None if task is None else task.case}
    document["mandate"] = dict(mandate or {})
    document["oracle"] = answers
    document["tick"] = 0
    withheld = {name: frozenset(fields) for name, fields in builder.withheld.items()}
    return View(document, {**withheld, "oracle": open_names} if open_names else withheld)


class _Builder:
    """Makes what the records of one run give."""

    def __init__(self, deeds: list[Deed], run: Run, actor: str, want: frozenset[str]) -> None:
        assert run.world is not None, "a verified run has its rules"
        assert run.state is not None, "a verified run has its state"
        assert deeds or not any(member.said for member in run.members.values()), "the audit kept no deeds"
        self._deeds = deeds
        self._run = run
        self._world: World = run.world
        self._state: State = run.state
        self._actor = actor
        self._want = want
        self.withheld: dict[str, set[str]] = {}

    def document(self) -> dict[str, Json]:
        want = self._want
        made: dict[str, Json] = {}
        if want & {"known", "result"}:
            known, results = self._shown()
            made["known"] = known
        else:
            results = {}
        if want & _ACTS:
            made.update(self._acts(results))
        if "events" in want:
            made["events"] = self._events()
        if "read" in want:
            made["read"] = self._read()
        if want & {"initial", "final", "facts"}:
            made.update(self._rows())
        return made

    def _acts(self, results: Mapping[int, Json]) -> dict[str, Json]:
        acts: list[dict[str, Json]] = []
        groups = {name: _by_kind(self._world.kinds) for name in ("did", "refused", "heard")}
        for deed in self._deeds:
            mine = deed.message.sender == self._actor
            accepted = deed.decision.outcome == "accepted"
            if not mine and not (accepted and deed.message.to == self._actor):
                continue
            name = "heard" if not mine else "did" if accepted else "refused"
            act = self._act(deed, results.get(deed.seq), (name, "acts") if mine else (name,))
            if mine:
                acts.append(act)
            if act["kind"] in self._world.kinds:
                noun, _, verb = act["kind"].partition(".")
                groups[name][noun][verb].append(act)
        return {"acts": acts, **groups}

    def _act(self, deed: Deed, result: Json, names: tuple[str, ...]) -> dict[str, Json]:
        message, decision = deed.message, deed.decision
        act = self._fields(deed)
        parts = () if deed.action is None else part_fields(type(cast("msgspec.Struct", deed.action)))
        for field in parts:
            if act[field] is not None and field not in deed.texts:
                for name in names:
                    self.withheld.setdefault(name, set()).update((field, "figures"))
            act[field] = deed.texts.get(field)
        act.update(
            {
                "seq": deed.seq,
                "n": message.n,
                "tick": 0,
                "from": message.sender,
                "to": message.to,
                "ok": decision.outcome == "accepted",
                "rule": decision.rule,
            }
        )
        if "figures" in self._want:
            act["figures"] = [figure for field in parts for figure in figures(act[field] or "")]
        if "result" in self._want:
            act["result"] = result
        return act

    def _fields(self, deed: Deed) -> dict[str, Json]:
        """The action's own fields, null where the action doesn't fit its kind."""
        if deed.action is not None:
            return _plain(deed.action)
        kind = admit_kind(bytes(deed.message.action))
        known = self._world.kinds.get(kind)
        return {**dict.fromkeys(() if known is None else known.__struct_encode_fields__), "kind": kind}

    def _events(self) -> Kinds:
        events = _by_kind(self._world.event_kinds)
        for deed in self._deeds:
            for event in deed.decision.events:
                fields = _plain(event)
                noun, _, past = fields["kind"].partition(".")
                events[noun][past].append({**fields, "seq": deed.seq})
        return events

    def _read(self) -> dict[str, dict[str, int]]:
        first: dict[str, dict[str, int]] = {table: {} for table in self._world.tables}
        for deed in self._deeds:
            if deed.message.sender == self._actor:
                for table, key in self._each(deed.decision.reads, self._state):
                    first[table].setdefault(key, deed.seq)
        return first

    def _rows(self) -> dict[str, Json]:
        state, start = self._state, self._state.facts.tables
        facts: dict[str, dict[str, Json]] = {}
        final: dict[str, list[Json]] = {}
        for table, keys in self._kept().items():
            rows = start[table].rows
            facts[table] = {key: _row(key, rows[key]) for key in keys if key in rows}
            after = ((key, state.get(table, key)) for key in keys)
            final[table] = [_row(key, row) for key, row in after if row is not None]
        initial = {table: list(rows.values()) for table, rows in facts.items()}
        return {"facts": facts, "initial": initial, "final": final}

    def _kept(self) -> dict[str, list[str]]:
        """The keys of the rows to show, sorted: of a large state those read or changed."""
        start = self._state.facts.tables
        keys: dict[str, set[str]] = {table: set() for table in self._world.tables}
        for table, key, _row in self._state.changed():
            if table in keys:
                keys[table].add(key)
        if sum(len(start[table].rows) for table in keys) <= LARGE:
            return {table: sorted(found | start[table].rows.keys()) for table, found in keys.items()}
        for deed in self._deeds:
            for table, key in self._each(deed.decision.reads, self._state):
                keys[table].add(key)
        return {table: sorted(found) for table, found in keys.items()}

    def _shown(self) -> tuple[dict[str, list[Json]], dict[int, Json]]:
        """The rows that the actor was shown, as last shown, and what each act showed.

        Records hold digests of results, so what was shown is made again from the events.
        """
        state = State(self._state.facts)
        known: dict[str, dict[str, Json]] = {table: {} for table in self._world.tables}
        results: dict[int, Json] = {}
        for deed in self._deeds:
            decision = deed.decision
            if decision.outcome != "accepted":
                continue
            if decision.rule is not None:  # a retry shows what its first message showed
                results[deed.seq] = results.get(cast("int", decision.detail["message"]))
                continue
            events = cast("list[msgspec.Struct]", decision.events)
            for event in events:
                self._world.evolve(state, event)
            sender = deed.message.sender
            act = Act(deed.action, sender, self._run.roles[sender], deed.seq, deed.message.to)
            shown = self._world.show(state, act, events)
            if shown is not None:
                results[deed.seq] = _plain(shown.value)
                if sender == self._actor:
                    for table, key in self._each(shown.reads, state):
                        known[table][key] = _row(key, state.get(table, key))
            state.commit()
        return {table: [rows[key] for key in sorted(rows)] for table, rows in known.items()}, results

    def _each(self, reads: Iterable[tuple[str, str]], state: State) -> Iterator[tuple[str, str]]:
        """The rows read; the key `*` stands for every row of its table."""
        for table, key in reads:
            if key == "*":
                yield from ((table, each) for each, _row in state.rows(table))
            else:
                yield table, key


def figures(text: str) -> list[int]:
    """The numbers in a text as minor units, in order: `130`, `130.00`, `1,300.5` give 13000, 13000, 130050.

    Of more than two decimals the first two count; a number of more than 13 digits is none.
    """
    return [
        int(whole.replace(",", "")) * 100 + int((decimals + "00")[:2])
        for whole, decimals in _FIGURE.findall(text)
    ]


def _plain(value: object) -> Json:
    """A value as plain JSON: the runtime takes lists and maps, but neither tuples nor structs."""
    return _JSON.decode(encode_typed(value))


def _by_kind(kinds: Iterable[str]) -> Kinds:
    made: Kinds = {}
    for kind in kinds:
        noun, _, verb = kind.partition(".")
        made.setdefault(noun, {})[verb] = []
    return made


def _row(key: str, row: msgspec.Struct) -> dict[str, Json]:
    return {**_plain(row), "id": key}

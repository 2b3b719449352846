"""What one party did, heard and was shown, kept up while a run goes on.

    deed, what it showed, the state then  ─►  did · refused · heard · acts · known · read

    act = {seq, n, tick, kind, from, to, ok, rule, figures, result,
           …fields of the action, …keys of rows that it made}
    row = {id, …columns}

Every kind and table of the world is there, empty if unused. A free-text field
holds its text; where the part is withheld it is null, and `withheld` says so.
An act that the world doesn't know stands among `acts` alone; one whose fields
don't fit has them null. An accepted retry is an act too, with the rule
`message.retry`, and shows what its first message showed.

Agents, scripts and predicates all look through it, so that what one of them
can say of a run, the others see in the same words.

Not here: start rows, events and the task's answers (`view`).

Source: the task format, "The case view", version 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ..protocol.canonical import encode_typed
from ..protocol.engine import admit_kind
from ..protocol.world import Shown, World, made_by, part_fields

if TYPE_CHECKING:
    from ..ledger.audited import Deed
    from ..protocol.tables import State

Json = Any
Kinds = dict[str, dict[str, list[dict[str, Json]]]]

EVERYTHING = frozenset({"acts", "did", "figures", "heard", "known", "read", "refused", "result"})
"""All that can be kept of a run; `figures` and `result` are fields of acts."""

_FIGURE = re.compile(r"(?<![0-9])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,13})(?:\.([0-9]+))?(?![0-9])")
ACTS = frozenset({"acts", "did", "refused", "heard"})
_JSON = msgspec.json.Decoder()


class Watch:
    """One party's side of a run, up to the last deed that was noted."""

    def __init__(self, world: World, party: str, want: Iterable[str] = EVERYTHING) -> None:
        self._world = world
        self.party = party
        self._want = frozenset(want)
        self.acts: list[dict[str, Json]] = []
        nothing = _nothing(world)
        self.groups: dict[str, Kinds] = {name: dict(nothing) for name in ("did", "refused", "heard")}
        self.read: dict[str, dict[str, int]] = {table: {} for table in world.tables}
        self.withheld: dict[str, set[str]] = {}
        self._rows: dict[str, dict[str, Json]] = {}
        self._known: dict[str, list[Json]] = {table: [] for table in world.tables}
        self._results: dict[int, Json] = {}

    @property
    def known(self) -> dict[str, list[Json]]:
        """The rows that the party was shown in full, as last shown, in order of their keys."""
        return dict(self._known)

    def note(self, deed: Deed, shown: Shown | None, state: State, tick: int) -> dict[str, Json] | None:
        """Notes the run's next deed, whoever's it is, with what it showed and the rows as they then stood.

        Returns the act, as this party sees it, or None where it doesn't.
        """
        mine = deed.message.sender == self.party
        accepted = deed.decision.outcome == "accepted"
        if mine and accepted:
            self._look(deed, shown, state)
        if not mine and not (accepted and deed.message.to == self.party):
            return None
        if not self._want & ACTS:
            return None
        name = "heard" if not mine else "did" if accepted else "refused"
        act = self._act(deed, tick, (name, "acts") if mine else (name,))
        if mine:
            self.acts.append(act)
        self.file(name, act)
        return act

    def file(self, name: str, act: dict[str, Json]) -> None:
        """Puts an act to `did`, `refused` or `heard`; what is empty there is shared by all watches."""
        if act["kind"] not in self._world.kinds:
            return
        group = self.groups[name]
        noun, _, verb = act["kind"].partition(".")
        shared = _nothing(self._world)[noun]
        if group[noun] is shared:
            group[noun] = dict(shared)
        if group[noun][verb] is shared[verb]:
            group[noun][verb] = []
        group[noun][verb].append(act)

    def _look(self, deed: Deed, shown: Shown | None, state: State) -> None:
        decision = deed.decision
        if decision.rule is not None:  # a retry: its reads are empty, its result that of the first
            self._results[deed.seq] = self._results.get(cast("int", decision.detail["message"]))
            return
        if shown is not None and "result" in self._want:
            self._results[deed.seq] = plain(shown.value)
        shown_now: dict[str, dict[str, Json]] = {}
        for table, key in each_read(decision.reads, state):
            self.read[table].setdefault(key, deed.seq)
            if "known" in self._want:
                shown_now.setdefault(table, {})[key] = row_of(key, state.get(table, key))
        for table, rows in shown_now.items():
            known = self._rows.setdefault(table, {})
            known.update(rows)
            # A new list: who holds the old one keeps it as it was.
            self._known[table] = [known[key] for key in sorted(known)]

    def _act(self, deed: Deed, tick: int, names: tuple[str, ...]) -> dict[str, Json]:
        message, decision = deed.message, deed.decision
        act = self._fields(deed)
        parts = () if deed.action is None else part_fields(type(cast("msgspec.Struct", deed.action)))
        for field in parts:
            if act[field] is not None and field not in deed.texts:
                for name in names:
                    self.withheld.setdefault(name, set()).update((field, "figures"))
            act[field] = deed.texts.get(field)
        for event in decision.events:
            for field, key in made_by(cast("msgspec.Struct", event)):
                act.setdefault(field, key)
        act.update(
            {
                "seq": deed.seq,
                "n": message.n,
                "tick": tick,
                "from": message.sender,
                "to": message.to,
                "ok": decision.outcome == "accepted",
                "rule": decision.rule,
            }
        )
        if "figures" in self._want:
            act["figures"] = [figure for field in parts for figure in figures(act[field] or "")]
        if "result" in self._want:
            mine = message.sender == self.party
            act["result"] = self._results.get(deed.seq) if mine else None
        return act

    def _fields(self, deed: Deed) -> dict[str, Json]:
        """The action's own fields, null where the action doesn't fit its kind."""
        if deed.action is not None:
            return plain(deed.action)
        kind = admit_kind(bytes(deed.message.action))
        known = self._world.kinds.get(kind)
        return {**dict.fromkeys(() if known is None else known.__struct_encode_fields__), "kind": kind}


def each_read(reads: Iterable[tuple[str, str]], state: State) -> Iterator[tuple[str, str]]:
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


def plain(value: object) -> Json:
    """A value as plain JSON: the runtime takes lists and maps, but neither tuples nor structs."""
    return _JSON.decode(encode_typed(value))


def by_kind(kinds: Iterable[str]) -> Kinds:
    """Empty lists for kinds, by noun and verb."""
    return {noun: {verb: [] for verb in verbs} for noun, verbs in _split(tuple(kinds)).items()}


@cache
def _nothing(world: World) -> Kinds:
    """The kinds of a market, with no act of any."""
    return by_kind(world.kinds)


@cache
def _split(kinds: tuple[str, ...]) -> dict[str, list[str]]:
    """The verbs of each noun; a market's kinds are split once."""
    found: dict[str, list[str]] = {}
    for kind in kinds:
        noun, _, verb = kind.partition(".")
        found.setdefault(noun, []).append(verb)
    return found


def row_of(key: str, row: msgspec.Struct) -> Mapping[str, Json]:
    """A row as the case view holds it."""
    return {**plain(row), "id": key}

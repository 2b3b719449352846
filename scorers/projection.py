"""What of a run a judge would see who sees less than all of it.

    final    the rows that are other than at the start
    last     the actor's last accepted act that isn't a reading
    acts     all of these, in order
    trace    everybody's messages with what became of them, on the start rows

Each is a digest: two runs with the same one can't be told apart by it. What
says only when things were done is set aside in the first three: ticks, and the seq in
keys that the run gave to rows (`o53` is the first order, whatever its seq); so is free text.

Not here: which runs collide (`analysis.collisions`).

Source: the paper "Agentic Commerce World", section 5.6 and appendix D.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from ..protocol.canonical import digest_typed
from ..protocol.world import kind_of, part_fields, tick_fields
from .acts import plain

if TYPE_CHECKING:
    from ..ledger.audited import Deed
    from .view import Episode

Json = Any
Places = Mapping[tuple[str, str], int]

_KEY = re.compile(r"([a-z]+)([0-9]+)((?:_[0-9]+)*)")  # of a row that a run makes: name, seq, places within

class Projections(NamedTuple):
    """A run as four judges would see it, each a digest; None where a part is withheld."""

    final: str
    last: str
    acts: str
    trace: str | None


def projections(episode: Episode, actor: str) -> Projections:
    """The projections of an episode, its evaluated party being `actor`."""
    places = _places(episode)
    acts = [_plain(deed.action, places) | {"to": deed.message.to} for deed in _business(episode, actor)]
    return Projections(
        final=digest_typed(sorted(_rows(episode, places), key=_place)),
        last=digest_typed(acts[-1:]),
        acts=digest_typed(acts),
        trace=_trace(episode),
    )


def _places(episode: Episode) -> Places:
    """Which row each seq in a key stands for, by what comes before it, counted from 0."""
    seqs: dict[str, set[str]] = {}
    start = episode.state.facts.tables
    for table, key, _row in episode.state.changed():
        found = None if key in start[table].rows else _KEY.fullmatch(key)
        if found is not None:
            seqs.setdefault(found[1], set()).add(found[2])
    return {
        (name, seq): place for name, each in seqs.items() for place, seq in enumerate(sorted(each, key=int))
    }


def _business(episode: Episode, actor: str) -> Iterator[Deed]:
    """The actor's accepted acts that are no readings."""
    reading = episode.world.queries | frozenset(episode.world.searching)
    for deed in episode.deeds:
        if deed.message.sender != actor or deed.decision.outcome != "accepted":
            continue
        if kind_of(type(cast("msgspec.Struct", deed.action))) not in reading:
            yield deed


def _rows(episode: Episode, places: Places) -> Iterator[tuple[str, str, Json]]:
    for table, key, row in episode.state.changed():
        yield table, _renamed(key, places), None if row is None else _plain(row, places)


def _place(row: tuple[str, str, Json]) -> tuple[str, str]:
    return row[:2]


def _plain(struct: msgspec.Struct, places: Places) -> dict[str, Json]:
    """An act or row without ticks and free text, keys by their places."""
    aside = _aside(type(struct))
    return {name: _placed(value, places) for name, value in plain(struct).items() if name not in aside}


@cache
def _aside(struct: type[msgspec.Struct]) -> frozenset[str]:
    return frozenset((*part_fields(struct), *tick_fields(struct)))


def _placed(value: Json, places: Places) -> Json:
    if isinstance(value, str):
        return _renamed(value, places)
    if isinstance(value, list):
        return [_placed(each, places) for each in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {name: _placed(each, places) for name, each in cast("dict[str, Json]", value).items()}
    return value


def _renamed(text: str, places: Places) -> str:
    found = _KEY.fullmatch(text)
    place = None if found is None else places.get((found[1], found[2]))
    return text if found is None or place is None else f"{found[1]}#{place}{found[3]}"


def _trace(episode: Episode) -> str | None:
    """All that was said and came of it; None where a text of it is withheld."""
    said: list[tuple[object, ...]] = []
    for deed in episode.deeds:
        action, message, decision = deed.action, deed.message, deed.decision
        if action is None:
            action = msgspec.Raw(bytes(message.action))
        else:
            if not deed.texts.keys() >= _texts(action):
                return None
            action = msgspec.structs.replace(action, **deed.texts)
        said.append((message.sender, message.to, message.reply_to, action, decision.outcome, decision.rule))
    return digest_typed((episode.state.facts.root, said))


def _texts(action: msgspec.Struct) -> set[str]:
    return {name for name in part_fields(type(action)) if getattr(action, name) is not None}

"""A run as one side of a comparison: freed of what differs only because two runs are two.

    digest of a text          ─► the text                        salts differ from run to run
    key that holds the number ─► table#1, table#2, …             rows that a run made are named after records
    of the record it is from
    record that is answered   ─► how many messages back it is    turns and briefs are records too

A withheld text stands for any. Not here: comparing (`parting`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgspec

from ..ledger.audited import Audit, Deed
from ..protocol.errors import LedgerError
from ..protocol.tables import State
from ..protocol.world import IDEMPOTENCY, part_fields
from ..scorers.acts import plain
from ..scorers.view import Withheld, show_again

if TYPE_CHECKING:
    from ..ledger.run import Run

Json = Any
Row = Mapping[str, Json]

_RECORDED_ACTOR: Final = "assistant"


class Spoken(NamedTuple):
    """A message of a run and the decision on it.

    ``action`` holds texts in place of their digests; ``bare`` is all of it that can be compared.
    """

    seq: int
    sender: str
    to: str | None
    reply_to: int | None
    action: Row
    decision: Row
    bare: Row

    @property
    def kind(self) -> str:
        """What it is about: the kind of its action."""
        return str(self.action["kind"])


class Side(NamedTuple):
    """A run to be compared.

    ``clock`` is the kind by which its market's time goes on, ``began`` how it began, by path. ``rows`` are
    those at its end that may differ from the other's: bare key → own key and bare row, by table.
    """

    run: str
    actor: str
    clock: str | None
    began: Mapping[str, Json]
    spoken: Sequence[Spoken]
    outcome: str | None
    rows: Mapping[str, Mapping[str, tuple[str, Row]]]


def sides_of(a: Audit, b: Audit) -> tuple[Side, Side]:
    """Two runs' sides, from audits that kept what was said. Rows are left out where one can't be replayed.

    Raises:
        LedgerError: `run.damaged`, a run doesn't begin with an open.
    """
    states = [_opened(audit).state for audit in (a, b)]
    return _side(a, states), _side(b, states)


def _opened(audit: Audit) -> Run:
    if audit.replayed is None:
        what = f"run `{audit.run[:12]}` doesn't begin with an open"
        raise LedgerError("run.damaged", what, "see what is wrong: `tollbook verify`")
    return audit.replayed


def _side(audit: Audit, states: Sequence[State | None]) -> Side:
    run = _opened(audit)
    texts, names = _texts(audit.deeds), _names(run, audit.deeds)
    places = {deed.seq: place for place, deed in enumerate(audit.deeds)}
    bare = _Bare(texts, names)
    return Side(
        run=audit.run,
        actor=_actor(audit, run),
        clock=None if run.world is None else run.world.clock,
        began=dict(_began(audit, run)),
        spoken=[_spoken(deed, bare, places) for deed in audit.deeds],
        outcome=audit.outcome,
        rows={} if run.state is None else _rows(run.state, bare, states),
    )


def alike(one: Json, other: Json) -> bool:
    """Whether two bare values are the same; what is withheld is like anything."""
    if isinstance(one, Withheld) or isinstance(other, Withheld):
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        first, second = cast("dict[str, Json]", one), cast("dict[str, Json]", other)
        return first.keys() == second.keys() and all(alike(first[name], second[name]) for name in first)
    if isinstance(one, list) and isinstance(other, list):
        left, right = cast("list[Json]", one), cast("list[Json]", other)
        return len(left) == len(right) and all(map(alike, left, right))
    return type(cast("object", one)) is type(cast("object", other)) and one == other


def mapped(value: Json, change: Callable[[Json], Json]) -> Json:
    """A value whose items are changed, where it has any."""
    if isinstance(value, dict):
        return {name: change(each) for name, each in cast("dict[str, Json]", value).items()}
    if isinstance(value, list):
        return [change(each) for each in cast("list[Json]", value)]
    return value


class _Bare:
    """Takes out of a value what is this run's own."""

    def __init__(self, texts: Mapping[str, str | Withheld], names: Mapping[str, str]) -> None:
        self.names = names
        self._known: Mapping[str, str | Withheld] = {**names, **texts}

    def of(self, value: Json) -> Json:
        """The value with names and texts in place of what they stand for."""
        if isinstance(value, str):
            return self._known.get(value, value)
        return mapped(value, self.of)


def _spoken(deed: Deed, bare: _Bare, places: Mapping[int, int]) -> Spoken:
    message, place = deed.message, places[deed.seq]
    typed = cast("msgspec.Struct | None", deed.action)
    fields: dict[str, Json] = msgspec.json.decode(message.action) if typed is None else plain(typed)
    parts = tuple(deed.texts) if typed is None else part_fields(type(typed))
    action = {**fields, **{field: deed.texts.get(field, Withheld.PART) for field in parts}}
    decision: dict[str, Json] = plain(deed.decision)
    detail: dict[str, Json] = dict(decision["detail"])
    if decision["rule"] == "message.retry":
        detail["message"] = place - places.get(detail["message"], place)
    return Spoken(
        seq=deed.seq,
        sender=message.sender,
        to=message.to,
        reply_to=message.reply_to,
        action=action,
        decision=decision,
        bare={
            "from": message.sender,
            "to": message.to,
            "reply_to": None if message.reply_to is None else place - places.get(message.reply_to, place),
            "key": message.key,
            "action": {name: value if name in parts else bare.of(value) for name, value in action.items()},
            "outcome": decision["outcome"],
            "rule": decision["rule"],
            "detail": bare.of(detail),
            "events": bare.of(decision["events"]),
        },
    )


def _texts(deeds: Iterable[Deed]) -> dict[str, str | Withheld]:
    """The texts by their digests."""
    found: dict[str, str | Withheld] = {}
    for deed in deeds:
        typed = cast("msgspec.Struct | None", deed.action)
        for field in () if typed is None else part_fields(type(typed)):
            found[getattr(typed, field)] = deed.texts.get(field, Withheld.PART)
    return found


def _names(run: Run, deeds: Iterable[Deed]) -> dict[str, str]:
    """Names, by table and order, for the keys that hold a record's number, and for the stems of such keys."""
    names: dict[str, str] = {}
    if run.world is None or run.state is None:
        return names
    counts: dict[str, int] = {}
    state = State(run.state.facts)
    for deed in deeds:
        show_again(run.world, state, deed, run.roles)
        for table, key, before, after in state.staged():
            made = [] if before is not None or after is None else [(table, key), *_stems(key, plain(after))]
            for what, own in made:
                if own not in names and str(deed.seq) in own:
                    counts[what] = counts.get(what, 0) + 1
                    names[own] = f"{what}#{counts[what]}"
        state.commit()
    return names


def _stems(key: str, row: Row) -> Iterator[tuple[str, str]]:
    """The columns of a row whose value its key begins with, such as the entry `e5` of the posting `e5_1`."""
    for column, value in row.items():
        if isinstance(value, str) and value and key.startswith(f"{value}_"):
            yield column, value


def _rows(
    state: State, bare: _Bare, states: Sequence[State | None]
) -> dict[str, dict[str, tuple[str, Row]]]:
    """The rows at the end: of the same start rows those that either run changed.

    Remembered message keys are left out: their rows are digests of salted ones.
    """
    found: dict[str, dict[str, tuple[str, Row]]] = {}
    for table, key in _keys(states):
        row = state.get(table, key) if table in state.facts.tables else None
        if row is not None and table != IDEMPOTENCY:
            found.setdefault(table, {})[bare.names.get(key, key)] = (key, cast("Row", bare.of(plain(row))))
    return found


def _keys(states: Sequence[State | None]) -> list[tuple[str, str]]:
    known = [state for state in states if state is not None]
    if len(known) < len(states):
        return []
    if len({state.facts.root for state in known}) == 1:
        return sorted({(table, key) for state in known for table, key, _row in state.changed()})
    tables = [(state, table) for state in known for table in state.facts.tables]
    return sorted({(table, key) for state, table in tables for key, _row in state.rows(table)})


def _actor(audit: Audit, run: Run) -> str:
    """The party that is evaluated: the task's actor, else the assistant, else whoever speaks first."""
    first = audit.deeds[0].message.sender if audit.deeds else ""
    known = (each for each in (_stated(audit.task), _RECORDED_ACTOR) if each in run.members)
    return next(known, first)


def _stated(task: str | None) -> str | None:
    """The actor that a task file names; a task of a recorded run is no such file."""
    try:
        actor = None if task is None else tomllib.loads(task).get("actor")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    return actor if isinstance(actor, str) else None


def _began(audit: Audit, run: Run) -> Iterator[tuple[str, Json]]:
    """How the run began, as values by their path; keys and nonces aside, which are every run's own."""
    opened: dict[str, Json] = plain(run.opened)
    task = {"id": None, "case": None, "digest": None} if opened["task"] is None else opened["task"]
    yield from _leaves("task", task)
    yield "trial", opened["trial"]
    for party in opened["parties"]:
        yield from _leaves(f"parties.{party['id']}", {"role": party["role"], "agent": party["agent"]})
    for name in ("world", "origin"):
        yield from _leaves(name, opened[name])
    yield "ledger.name", opened["ledger"]["name"]
    yield "facts", opened["facts"]
    yield "seed", opened["seed"]
    for told in audit.briefs:
        yield from _leaves(f"briefs.{told.party}", _brief(told.text))


def _brief(text: str | None) -> Json:
    if text is None:
        return Withheld.PART
    try:
        told: Json = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return cast("Json", told) if isinstance(told, dict) else text


def _leaves(path: str, value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict) and value:
        for name, each in cast("dict[str, Json]", value).items():
            yield from _leaves(f"{path}.{name}", each)
    else:
        yield path, value

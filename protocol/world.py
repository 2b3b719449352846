"""A market's rules behind one interface, and the registry of released rules.

    decide(state, act)    →  Refusal | Accepted(events)     pure
    evolve(state, event)     stages that event's changes; can't refuse
    broken(state)         →  the name of an invariant that staged rows break, or None
    show(state, act, …)   →  what the sender is shown, and the rows that it read

A world is chosen by name and version alone. A released version's rules never
change; a change of rules is a new version beside the old one.

Not here: the order of checks around a market's own (`engine`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import msgspec

from .bodies import WorldRef
from .canonical import MAX_OPEN_BYTES, Hex, Index, admit, encode_typed
from .errors import WorldError
from .tables import Facts, Row, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .bodies import Scalar

IDEMPOTENCY = "idempotency"
"""The table of remembered message keys, part of every world."""


StartRows = dict[str, dict[str, dict[str, Any]]]
"""Start rows as plain columns: table → key → column → value."""


class Act(msgspec.Struct, frozen=True):
    """A message as the rules see it: its typed action, who sent it and where it stands."""

    action: Any
    sender: str
    role: str
    seq: int
    to: str | None = None


class Refusal(NamedTuple):
    """The rule that forbids an act; ``detail`` holds parameters, never wording."""

    rule: str
    detail: dict[str, Scalar | list[str]]


class Accepted(NamedTuple):
    """The events that an allowed act gives; none for a query."""

    events: Sequence[msgspec.Struct] = ()


class Ask(NamedTuple):
    """It is this party's turn."""

    party: str


class Operate(NamedTuple):
    """The operator's act is due: a clock that moves, a round that opens."""

    action: msgspec.Struct


Due = Ask | Operate
"""What a market that paces its own runs has come next."""


class Shown:
    """What the sender is shown, and the rows it came from.

    ``reads`` holds (table, key); the key ``*`` stands for every row of the table.
    """

    def __init__(self, value: object, reads: Sequence[tuple[str, str]] = ()) -> None:
        self.value = value
        self.reads = list(reads)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical value, in hex."""
        return sha256(encode_typed(self.value)).hexdigest()


class Remembered(msgspec.Struct, frozen=True):
    """A row of `IDEMPOTENCY`: the action once accepted under a key, and its result."""

    action: Hex
    message: Index
    result: Hex | None


class World(ABC):
    """One market's rules at one version, with its parameters.

    A subclass states ``tables`` (row type by table), ``actions`` and
    ``events`` (structs tagged ``kind``), and ``roles`` (who may send a kind;
    kinds that aren't listed are open to every role).

    For tasks it also states ``queries`` (kinds that only read), ``searching``
    (kinds that find rows to read, and leave a row that says so),
    ``unaddressed`` (kinds beside queries that are sent to nobody), ``unoffered``
    (kinds that no agent is offered as a tool), ``clock`` (the kind by which the
    operator moves time on), and ``taking`` and ``refusing`` (kinds that accept,
    or turn down, what is there to decide; those furthest along first), which
    careless policies use. ``most_turns`` is how often a party may be asked in
    one run; ``answers`` are what an `[oracle]` may ask the market for, each
    worked out from the start rows alone.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    tables: ClassVar[Mapping[str, type[Row]]]
    actions: ClassVar[tuple[type[msgspec.Struct], ...]]
    events: ClassVar[tuple[type[msgspec.Struct], ...]]
    roles: ClassVar[Mapping[str, frozenset[str]]] = {}
    queries: ClassVar[frozenset[str]] = frozenset()
    searching: ClassVar[tuple[str, ...]] = ()
    unaddressed: ClassVar[frozenset[str]] = frozenset()
    unoffered: ClassVar[frozenset[str]] = frozenset({"agent.unparsed"})
    clock: ClassVar[str | None] = None
    taking: ClassVar[tuple[str, ...]] = ()
    refusing: ClassVar[tuple[str, ...]] = ()
    most_turns: ClassVar[int] = 200
    answers: ClassVar[Mapping[str, Callable[[Facts], Any]]] = {}

    @abstractmethod
    def decide(self, state: State, act: Act) -> Refusal | Accepted:
        """The ruling on an act, by the market's own checks in their order."""

    @abstractmethod
    def evolve(self, state: State, event: Any) -> None:  # noqa: ANN401 - one of `events`
        """Stages what one event changes."""

    @abstractmethod
    def show(self, state: State, act: Act, events: Sequence[msgspec.Struct]) -> Shown | None:
        """What the sender is shown once the events are staged; None for nothing."""

    def broken(self, state: State) -> str | None:  # noqa: ARG002 - a market without invariants
        """The invariant that the staged rows break, or None."""
        return None

    def tick(self, state: State) -> int:  # noqa: ARG002 - a market without a clock
        """The market's time."""
        return 0

    def complete(self, rows: StartRows) -> StartRows:
        """Start rows as an author writes them, made whole: columns and rows that follow from the others.

        Raises:
            WorldError: `facts.row`, for rows that contradict each other.
        """
        return rows

    @cached_property
    def action_decoder(self) -> msgspec.json.Decoder[Any]:
        """Strict decoder of the market's actions."""
        return msgspec.json.Decoder(_union(self.actions))

    @cached_property
    def kinds(self) -> dict[str, type[msgspec.Struct]]:
        """The action types by kind."""
        return {kind_of(action): action for action in self.actions}

    @cached_property
    def senders(self) -> dict[type[msgspec.Struct], frozenset[str]]:
        """The roles that may send an action, by its type; a type that isn't listed is open to every role."""
        return {self.kinds[kind]: roles for kind, roles in self.roles.items() if kind in self.kinds}

    @cached_property
    def event_kinds(self) -> dict[str, type[msgspec.Struct]]:
        """The event types by kind."""
        return {kind_of(event): event for event in self.events}

    def is_addressed(self, kind: str) -> bool:
        """Whether an act of this kind is for another party."""
        return kind not in self.queries and kind not in self.unaddressed

    def facts(self, rows: Iterable[tuple[str, str, Row]]) -> Facts:
        """Start rows of this world."""
        return Facts((*self.tables, IDEMPOTENCY), rows)

    def read_row(self, table: str, data: bytes) -> Row:
        """A typed row from its canonical bytes.

        Raises:
            WorldError: no such table, or the bytes are not a row of it.
            CanonicalError: the bytes are not canonical.
        """
        decoder = self._row_decoders.get(table)
        if decoder is None:
            raise WorldError("facts.table", f"the world has no table `{table}`")
        row = _row_of(data, decoder)
        self.check_row(table, row)
        return row

    def check_row(self, table: str, row: Row) -> None:  # noqa: B027 - a market may have nothing to add
        """Refuses a start row that the types admit and the market doesn't.

        Raises:
            WorldError: `facts.row`.
        """

    @cached_property
    def _row_decoders(self) -> dict[str, msgspec.json.Decoder[Any]]:
        tables = {**self.tables, IDEMPOTENCY: Remembered}
        return {table: msgspec.json.Decoder(row) for table, row in tables.items()}


class PacedWorld(World):
    """A market that says itself what comes next, in place of the usual schedule: part of its version."""

    @abstractmethod
    def due(self, state: State) -> Due | None:
        """What comes next; None when the run is over."""

    @abstractmethod
    def passing(self, party: str) -> msgspec.Struct:
        """The operator's act in place of a party that, asked, did nothing that is allowed."""

    @abstractmethod
    def sight(self, state: State, party: str) -> Any:  # noqa: ANN401 - plain JSON
        """What a party is shown each time it is asked."""

    @abstractmethod
    def understood(self, state: State, party: str, text: str) -> msgspec.Struct | None:
        """The act that a party's own words come to, by the market's rule for words; None for none."""


def _row_of(data: bytes, decoder: msgspec.json.Decoder[Row]) -> Row:
    """As `admit`. A row's type bounds its depth, so the depth is looked at only to say what is wrong."""
    try:
        row = decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        row = None
    if row is None or len(data) > MAX_OPEN_BYTES or encode_typed(row) != data:
        return admit(data, decoder, MAX_OPEN_BYTES)
    return row


@cache
def made_fields(event: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of an event that hold keys of rows that it makes (`bodies.Made`), sorted."""
    return tuple(name for name, marks in _marks(event) if "made" in marks)


def made_by(event: msgspec.Struct) -> Iterator[tuple[str, str]]:
    """The keys of the rows that an event makes, each with its field."""
    for name in made_fields(type(event)):
        yield name, getattr(event, _attributes(type(event))[name])


@cache
def _attributes(struct: type[msgspec.Struct]) -> Mapping[str, str]:
    """The attribute that holds a field: `return_` for `return`, since one is a word of Python."""
    return dict(zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True))


@cache
def row_fields(action: type[msgspec.Struct]) -> Mapping[str, str]:
    """The fields of an action marked ``Meta(extra={"row": table})``, that name a row, each with its table."""
    return {name: cast("str", marks["row"]) for name, marks in _marks(action) if "row" in marks}


@cache
def tick_fields(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields marked ``Meta(extra={"unit": "tick"})``, which say when and nothing else, sorted."""
    return tuple(name for name, marks in _marks(struct) if marks.get("unit") == "tick")


@cache
def part_fields(action: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of an action that hold digests of parts, sorted."""
    return tuple(name for name, marks in _marks(action) if "part" in marks)


def _marks(struct: type[msgspec.Struct]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The fields of a struct that carry marks, sorted by name."""
    info = msgspec.inspect.type_info(struct)
    assert isinstance(info, msgspec.inspect.StructType)
    for field in sorted(info.fields, key=lambda field: field.encode_name):
        kinds = field.type.types if isinstance(field.type, msgspec.inspect.UnionType) else (field.type,)
        found = [getattr(kind, "extra", None) for kind in (field.type, *kinds)]  # `Meta` gives it
        marks = next((marks for marks in found if marks is not None), None)
        if marks is not None:
            yield field.encode_name, cast("Mapping[str, object]", marks)


Maker = Callable[[Mapping[str, "Scalar"]], World]
"""Makes a world with these parameters; raises `WorldError` for those that it doesn't take."""

_RELEASED: Mapping[tuple[str, int], str] = {
    ("auction", 0): ".auction.world",
    ("commerce", 0): ".commerce.world",
    ("retail", 0): ".retail.world",
}
_REGISTERED: dict[tuple[str, int], Maker] = {}
_KNOWN: dict[bytes, World] = {}


def register(name: str, version: int, make: Maker) -> None:
    """Adds a market that is no part of this package, for this process.

    What is there stays as it is, since runs rest on it: a name that is released
    here can't be used for another market, nor a version that was registered be
    made otherwise.

    Raises:
        WorldError: `world.taken`.
    """
    is_ours = any(name == released for released, _version in _RELEASED)
    if is_ours or _REGISTERED.get((name, version), make) != make:
        hint = "give it a name of its own" if is_ours else "a change of rules is a new version"
        raise WorldError("world.taken", f"there is a world `{name}` version {version} already", hint)
    _REGISTERED[name, version] = make


def world_of(ref: WorldRef) -> World:
    """The world of a run's ``open``: one shared instance for each (name, version, params).

    Raises:
        WorldError: a name or version that is not released or registered, or parameters it doesn't take.
    """
    key = encode_typed(ref)
    if key not in _KNOWN:
        _KNOWN[key] = _maker(ref)(ref.params)
    return _KNOWN[key]


def _maker(ref: WorldRef) -> Maker:
    place = ref.name, ref.version
    if place in _REGISTERED:
        return _REGISTERED[place]
    module = _RELEASED.get(place)
    if module is None:
        known = "known: " + ", ".join(f"{name}/{version}" for name, version in _versions())
        raise WorldError("world.unknown", f"no rules for world `{ref.name}` version {ref.version}", known)
    make: Maker = import_module(module, __package__).make
    return make


def latest(name: str) -> WorldRef:
    """The newest version of a world, without parameters.

    Raises:
        WorldError: `world.unknown`.
    """
    versions = [version for known, version in _versions() if known == name]
    if not versions:
        known = "known: " + ", ".join(sorted({known for known, _version in _versions()}))
        raise WorldError("world.unknown", f"there is no world `{name}`", known)
    return WorldRef(name=name, params={}, version=max(versions))


def _versions() -> list[tuple[str, int]]:
    """Name and version of every world."""
    return sorted([*_RELEASED, *_REGISTERED])


def _union(types: tuple[type[msgspec.Struct], ...]) -> Any:  # noqa: ANN401 - a union made at run time
    union: Any = types[0]
    for kind in types[1:]:
        union = union | kind
    return union


def kind_of(struct: type[msgspec.Struct]) -> str:
    """The `kind` that an action's or event's type is tagged with."""
    tag = struct.__struct_config__.tag
    assert isinstance(tag, str)
    return tag

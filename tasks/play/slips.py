"""An act gone wrong, formed from no more than its sender sees.

    JSON Schema of its tool · mandate and brief · what was shown ─► the acts that a slip could make of it

    rows      another row of the same table
    numbers   off by one, by a tenth, or with two digits changed over
    choices   another verb of the noun, another value of an enumeration
    told      a number of the mandate, said in free text
    garbled   words that hold no act, a field left out, a number as text

Each gives all that could come of it, the same in the same order every time;
none where there is nothing of the sort. Of the market only the public
vocabulary is used, as the cheats do: which names stand for which table.

Not here: how often what goes wrong (`stand_ins`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from ..format.task import OPERATOR
from ..format.template import money_text
from .agent import Answer, Asked, Setup
from .fillings import Filler
from .sight import Sight

if TYPE_CHECKING:
    from ...protocol.world import World
    from ..format.acts import Formed

Json = Any
Path = tuple[str | int, ...]

FREE_TEXT: Final = "free text"
_ROW: Final = "key of a row of `"
_WORDS: Final = "Let me think about this first."
_TRIES: Final = 20
"""The most fillings of another verb that are tried."""

_TYPES: Final[Mapping[str, type]] = {
    "array": list, "boolean": bool, "integer": int, "null": type(None), "object": dict, "string": str,
}  # fmt: skip


class Leaf(NamedTuple):
    """A value within an act that is neither list nor map: where it is, what its schema says, what it is."""

    path: Path
    schema: Mapping[str, Json]
    value: Json

    @property
    def table(self) -> str | None:
        """The table whose row it names, or None."""
        described = str(self.schema.get("description", ""))
        return described[len(_ROW) :].partition("`")[0] if described.startswith(_ROW) else None

    @property
    def is_text(self) -> bool:
        """Whether it is free text, which no rule reads."""
        return self.schema.get("description") == FREE_TEXT


class Slips:
    """What one party could get wrong, by what it has seen so far."""

    def __init__(self, world: World, setup: Setup) -> None:
        self._world = world
        self._setup = setup
        self._tools = {tool.kind: tool for tool in setup.tools}
        self._sight: Sight | None = None
        self._asked: Asked | None = None

    def look(self, asked: Asked) -> None:
        """Takes note of what the party is given; it is read only once something goes wrong."""
        self._asked = asked

    def rows(self, act: Formed) -> list[Formed]:
        """The act with one key of a row replaced by another of the table."""
        return [
            _replaced(act, leaf.path, key)
            for leaf in self._leaves(act)
            if leaf.table is not None and isinstance(leaf.value, str)
            for key in self._ids(leaf.table)
            if key != leaf.value
        ]

    def numbers(self, act: Formed) -> list[Formed]:
        """The act with one of its numbers off, as far as the schema admits it."""
        return [
            _replaced(act, leaf.path, number)
            for leaf in self._leaves(act)
            if type(leaf.value) is int
            for number in _off(leaf.value)
            if leaf.schema.get("minimum", number) <= number <= leaf.schema.get("maximum", number)
        ]

    def choices(self, act: Formed) -> list[Formed]:
        """The acts of other verbs of its noun on the same rows, and it with another value of an enum."""
        noun, _, _verb = act["kind"].partition(".")
        verbs = [kind for kind in self._tools if kind.partition(".")[0] == noun and not self._reads(kind)]
        found = [self._as(kind, act) for kind in verbs if kind != act["kind"]]
        return [
            *(each for each in found if each is not None),
            *(
                _replaced(act, leaf.path, value)
                for leaf in self._leaves(act)
                for value in _values(leaf)
                if value != leaf.value
            ),
        ]

    def told(self, act: Formed) -> list[list[Formed]]:
        """The act with a number of the mandate in its free text; if it has none, after words that say it."""
        said = list(_private(self._setup.mandate, self._setup.brief))
        texts = [leaf for leaf in self._leaves(act) if leaf.is_text and isinstance(leaf.value, str)]
        if texts:
            return [
                [_replaced(act, leaf.path, f"{leaf.value} {each}".lstrip())]
                for leaf in texts
                for each in said
            ]
        speaking = next(filter(None, map(_spoken_field, self._tools.values())), None)
        if speaking is None:
            return []
        kind, field = speaking
        to = {"to": act["to"]} if "to" in act else {}
        return [[{"kind": kind, field: each, **to}, act] for each in said]

    def garbled(self, act: Formed) -> list[Answer]:
        """What the market can't take for the act."""
        tool = self._tools.get(act["kind"])
        required = () if tool is None else tool.schema.get("required", ())
        named = [field for field in required if field in act]
        short = [{name: value for name, value in act.items() if name != field} for field in named[:1]]
        numbers = [leaf for leaf in self._leaves(act) if type(leaf.value) is int]
        texts = [_replaced(act, leaf.path, str(leaf.value)) for leaf in numbers[:1]]
        return [Answer(gave=_WORDS), *(Answer(act=each) for each in (*short, *texts))]

    def first_of(self, kinds: Sequence[str]) -> Formed | None:
        """The first act of these kinds that what was seen can fill."""
        filler = self._filler()
        offered = (kind for kind in kinds if kind in self._tools)
        return next((act for kind in offered for act in filler.fillings(kind) if filler.fits(act)), None)

    def _leaves(self, act: Formed) -> list[Leaf]:
        tool = self._tools.get(act["kind"])
        if tool is None:
            return []
        fields = {name: value for name, value in act.items() if name not in ("kind", "to")}
        return list(_leaves(tool.schema, fields, tool.schema.get("$defs", {}), ()))

    def _reads(self, kind: str) -> bool:
        return kind in self._world.queries or kind in self._world.searching

    def _as(self, kind: str, act: Formed) -> Formed | None:
        """An act of another kind on the rows of this one, with its fields of the same names."""
        filler = self._filler()
        rows = set(filler.rows_of(act))
        for filling in islice(filler.fillings(kind), _TRIES):
            made = {**filling, **{name: act[name] for name in filling if name in act}, "kind": kind}
            if rows & set(filler.rows_of(made)) and filler.fits(made):
                return made
        return None

    def _ids(self, table: str) -> list[str]:
        return self._looked().ids(table)

    def _filler(self) -> Filler:
        others = [party for party, role in self._setup.others if OPERATOR not in (party, role)]
        return Filler(self._world, self._looked(), others)

    def _looked(self) -> Sight:
        """The sight, with all that has reached the party."""
        if self._sight is None:
            self._sight = Sight(self._world, self._setup)
        if self._asked is not None:
            watch = self._asked.watch
            nouns = watch.groups["heard"].values()
            heard = [act for verbs in nouns for acts in verbs.values() for act in acts]
            self._sight.look(self._asked._replace(last=None, inbox=[*watch.acts, *heard]))
            self._asked = None
        return self._sight


def _leaves(
    schema: Mapping[str, Json], value: Json, defs: Mapping[str, Json], path: Path
) -> Iterator[Leaf]:
    """The leaves of a value as far as its schema says what they are."""
    fitting = _fitting(schema, value, defs)
    if fitting is None:
        return
    if isinstance(value, dict):
        named, rest = fitting.get("properties", {}), fitting.get("additionalProperties")
        for name, each in cast("dict[str, Json]", value).items():
            below = named.get(name, rest)
            if isinstance(below, dict):
                yield from _leaves(cast("dict[str, Json]", below), each, defs, (*path, name))
    elif isinstance(value, list):
        for at, each in enumerate(cast("list[Json]", value)):
            yield from _leaves(fitting.get("items", {}), each, defs, (*path, at))
    else:
        yield Leaf(path, fitting, value)


def _fitting(
    schema: Mapping[str, Json], value: Json, defs: Mapping[str, Json]
) -> Mapping[str, Json] | None:
    """The schema, or that of its branches, whose type a value is of; None where it is of none."""
    if "$ref" in schema:
        return _fitting(defs.get(schema["$ref"].rpartition("/")[2], {}), value, defs)
    if "anyOf" in schema:
        outer = {name: each for name, each in schema.items() if name != "anyOf"}
        branches = (_fitting({**outer, **each}, value, defs) for each in schema["anyOf"])
        return next((each for each in branches if each is not None), None)
    wanted = schema.get("type")
    return schema if wanted is None or type(value) is _TYPES.get(wanted) else None


def _replaced(value: Json, path: Path, new: Json) -> Json:
    """A value with another in the place of one of its leaves."""
    if not path:
        return new
    at, *rest = path
    if isinstance(value, dict):
        fields = cast("dict[str, Json]", value)
        return {**fields, at: _replaced(fields[cast("str", at)], tuple(rest), new)}
    items = list(cast("list[Json]", value))
    items[cast("int", at)] = _replaced(items[cast("int", at)], tuple(rest), new)
    return items


def _off(number: int) -> list[int]:
    """A number as people get it wrong: by one, by a tenth, or with two digits changed over."""
    digits = str(abs(number))
    sign = -1 if number < 0 else 1
    swapped = [
        sign * int(digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :])
        for at in range(len(digits) - 1)
    ]
    near = [number - 1, number + 1, number - number // 10, number + number // 10]
    return [each for each in dict.fromkeys([*near, *swapped]) if each != number]


def _values(leaf: Leaf) -> Sequence[Json]:
    return (True, False) if isinstance(leaf.value, bool) else leaf.schema.get("enum", ())


def _private(mandate: Mapping[str, Json], brief: str) -> Iterator[str]:
    """What could be said of each number of a mandate; one that the brief has as money is said as money."""
    for name, value in mandate.items():
        if type(value) is int:
            is_money = money_text(value) in brief
            yield f"My {name.replace('_', ' ')} is {money_text(value) if is_money else value}."


def _spoken_field(tool: Any) -> tuple[str, str] | None:  # noqa: ANN401
    """The kind and field of a tool that takes words and nothing else, or None."""
    required = tool.schema.get("required", [])
    described = [tool.schema["properties"][name].get("description") for name in required]
    return (tool.kind, required[0]) if described == [FREE_TEXT] else None

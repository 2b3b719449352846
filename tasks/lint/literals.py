"""Literals that what they are compared with never is: `r.state == 'recieved'`, `r.id == 1`.

    X == 'text'  ·  X != 1  ·  X in ['a', 'b']  ·  'key' in X

Such a comparison is false in every run (negated: true), and nothing else shows
it. A text is known where it stands in a view of some run, in a start row, or in
the market's own words; and where a field of view is of another type than the
literal, the two are never equal.

Not here: misspelt names of fields, which are found before anything is played (`scorers.schema`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgspec

from ...scorers.syntax import Call, Const, Made, Node, Select
from ..format.scene import plain_rows
from .finding import LintFinding, error

if TYPE_CHECKING:
    from ...protocol.world import World
    from ..format.task import Task
    from .rehearsal import Rehearsal
    from .sources import Source

Json = Any

_BY_KIND: Final = frozenset({"did", "events", "heard", "refused"})
_EQUAL: Final = frozenset({"_==_", "_!=_"})
_WORDS: Final = {
    "bool": "true or false",
    "list": "a list",
    "map": "a map",
    "number": "a number",
    "text": "a text",
}


class Compared(NamedTuple):
    """A literal, and the field that it is compared with, None where that isn't a field."""

    source: Source
    literal: str | int
    field: str | None


class Known:
    """What runs hold: every text, and the types of what stands under each field."""

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self.by_field: dict[str, set[str]] = {}
        self.types: dict[str, set[str]] = {}

    def learn(self, value: Json, field: str | None = None) -> None:
        """Takes in a document."""
        if field is not None:
            self.types.setdefault(field, set()).add(_type_of(value))
        if isinstance(value, str):
            self.texts.add(value)
            if field is not None:
                self.by_field.setdefault(field, set()).add(value)
        elif isinstance(value, Mapping):
            for name, each in cast("Mapping[str, Json]", value).items():
                self.texts.add(name)
                self.learn(each, name)
        elif isinstance(value, list):
            for each in cast("list[Json]", value):
                self.learn(each)

    def learn_view(self, document: Mapping[str, Json]) -> None:
        """Takes in a case view, in which kinds are no fields."""
        for name, value in document.items():
            if name in _BY_KIND:
                for verbs in cast("Mapping[str, Mapping[str, Json]]", value).values():
                    for items in verbs.values():
                        self.learn(items)
            else:
                self.learn(value)

    def never(self, compared: Compared) -> str | None:
        """The type that the field has instead of the literal's, or None where it may be equal."""
        types = self.types.get(compared.field or "", set()) - {"null"}
        wanted = "text" if isinstance(compared.literal, str) else "number"
        return None if not types or wanted in types else " or ".join(sorted(_WORDS[each] for each in types))


def check(task: Task, sources: Sequence[Source], runs: Sequence[Rehearsal]) -> list[LintFinding]:
    """Comparisons that no run can meet."""
    compared = [each for source in sources for each in comparisons(source)]
    known = _known(task, runs)
    for run in runs:  # as long as a text is missing
        if all(isinstance(each.literal, int) or each.literal in known.texts for each in compared):
            break
        known.learn_view(run.document)
    return [finding for each in compared if (finding := _finding(each, known)) is not None]


def comparisons(source: Source) -> Iterator[Compared]:
    """The literals of an expression that are compared with something."""
    for node in source.parts:
        if not isinstance(node, Call) or len(node.args) != 2:
            continue
        one, other = node.args
        if node.function in _EQUAL:
            for literal, beside in ((one, other), (other, one)):
                yield from (Compared(source, each, _field(beside)) for each in _literals(literal))
        elif node.function == "@in":
            yield from (Compared(source, each, None) for each in _literals(one) if isinstance(each, str))
            if isinstance(other, Made) and other.is_list:
                items = (each for item in other.items for each in _literals(item))
                yield from (Compared(source, each, _field(one)) for each in items)


def _literals(node: Node) -> Iterator[str | int]:
    """The literals that an operand may be: itself, or those of the branches of a condition."""
    if isinstance(node, Const):
        value = node.text if node.text is not None else node.number
        if value is not None:
            yield value
    elif isinstance(node, Call) and node.function == "_?_:_":
        yield from _literals(node.args[1])
        yield from _literals(node.args[2])


def _field(node: Node) -> str | None:
    if isinstance(node, Select):
        return node.field
    if isinstance(node, Call) and node.function == "_[_]" and isinstance(node.args[1], Const):
        return node.args[1].text
    return None


def _finding(compared: Compared, known: Known) -> LintFinding | None:
    literal = compared.literal
    instead = known.never(compared)
    said = f"`'{literal}'`" if isinstance(literal, str) else f"`{literal}`"
    if instead is not None:
        text = f"literal {said} is compared with `{compared.field}`, which is {instead} in every run"
        return error("lint.literal", compared.source.place, text, _typed_hint(literal))
    if isinstance(literal, int) or literal in known.texts:
        return None
    text = f"literal {said} occurs in no view of any run"
    near = _near(literal, known.by_field.get(compared.field or "", ())) or _near(literal, known.texts)
    hint = f"did you mean `'{near}'`?" if near else "compare with what runs have, or play one that has it"
    return error("lint.literal", compared.source.place, text, hint)


def _typed_hint(literal: str | int) -> str:
    is_quoted = isinstance(literal, str) and literal.isdigit()
    return "drop the quotes" if is_quoted else "compare it with one of its kind"


def _near(text: str, known: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(text, sorted(known), 1)), None)


def _known(task: Task, runs: Sequence[Rehearsal]) -> Known:
    """What is known at first: start rows, the market's words, the file's own texts, and the references."""
    known = Known()
    file = task.file
    known.texts.update(task.roles, task.roles.values(), file.case, file.rendering, _words_of(task.world))
    for entry in file.script.values():
        known.learn([rule.do for rule in entry.rule])
    for run in runs:
        if run.kind == "reference":
            known.learn_view(run.document)
            known.learn([dict(each) for each in run.staged.scene.mandates.values()])
            known.learn(plain_rows(run.staged.scene.facts))
    return known


def _words_of(world: World) -> set[str]:
    """Kinds of acts and events, tables, and every word that a field of theirs may be."""
    words = {*world.kinds, *world.event_kinds, *world.tables, "agent.unparsed"}
    words |= {part for kind in (*world.kinds, *world.event_kinds) for part in kind.split(".")}
    for struct in (*world.tables.values(), *world.actions, *world.events):
        words |= _literal_words(msgspec.inspect.type_info(struct))
    return words


def _literal_words(kind: object) -> set[str]:
    """The words of the literal types within a type."""
    if isinstance(kind, msgspec.inspect.LiteralType):
        return {value for value in kind.values if isinstance(value, str)}
    found: set[str] = set()
    if isinstance(kind, msgspec.inspect.StructType):
        for field in kind.fields:
            found |= _literal_words(field.type)
    elif isinstance(kind, msgspec.inspect.UnionType):
        for each in kind.types:
            found |= _literal_words(each)
    elif isinstance(kind, msgspec.inspect.Metadata):
        found |= _literal_words(kind.type)
    elif isinstance(kind, (msgspec.inspect.ListType, msgspec.inspect.VarTupleType)):
        found |= _literal_words(kind.item_type)
    return found


def _type_of(value: Json) -> str:
    if value is None:
        return "null"
    for kind, name in ((bool, "bool"), (int, "number"), (str, "text"), (list, "list")):
        if isinstance(value, kind):
            return name
    return "map"

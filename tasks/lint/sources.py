"""Every expression of a task file as its author wrote it: where, in which scope, beside which lets.

    TaskFile  ─►  Source(place, owner, program, let)

A run evaluates expressions with their lets around them. Here each stands alone,
and so does each let, so that a finding names the line that holds it.

Not here: what is wrong with them (`unused`, `literals`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ...scorers.cel import JUDGE, Program, Scope, compile_source
from ...scorers.profile import nodes
from ..format import places
from ..format.values import Expression, Maker

if TYPE_CHECKING:
    from ...protocol.world import World
    from ...scorers.syntax import Node
    from ..format.file import MutationEntry, PolicyEntry, Step, TaskFile

Json = Any


class Source(NamedTuple):
    """An expression. ``owner`` is the place whose lets it may use; ``let`` its name where it is one.

    ``program`` is the expression alone, ``bound`` with its lets around it, as it is run; None of a let.
    """

    place: str
    owner: str
    program: Program
    bound: Program | None
    let: str | None = None

    @property
    def parts(self) -> Iterator[Node]:
        """Every part of it."""
        return nodes(self.program.checked.root)


class _Collector(Maker):
    """A maker that keeps what it is given, each expression without its lets."""

    def __init__(self, scope: Scope, owner: str, lets: Mapping[str, str]) -> None:
        super().__init__(scope, owner, lets)
        self._sees = scope
        self._names = tuple(lets)
        self._owner = owner
        self.sources: list[Source] = []
        for name, source in lets.items():
            where = f"{owner}.let.{name}".removeprefix(".")
            self.sources.append(Source(where, owner, self._by_itself(source), None, name))

    def expression(self, source: str, place: str, *line: int) -> Expression:
        """As `Maker.expression`, of one that compiles."""
        made = super().expression(source, place, *line)
        self.sources.append(Source(place, self._owner, self._by_itself(source), made.program))
        return made

    def _by_itself(self, source: str) -> Program:
        return compile_source(source, self._sees, self._names)


def sources_of(file: TaskFile, world: World) -> list[Source]:
    """The expressions of a file that compiles, in the order of its sections."""
    found = [*_of_scene(file), *_of_judge(file)]
    for name, script in file.script.items():
        place = f"script.{name}"
        maker = _Collector(places.SCRIPT, place, script.let)
        for at, rule in enumerate(script.rule):
            _values(maker, {"when": rule.when, "do": rule.do}, f"{place}.rule[{at}]")
        found += maker.sources
    for place, (steps, lets) in _policies(file).items():
        maker = _Collector(places.policy_of(world), place, lets)
        for at, step in enumerate(steps):
            named = {"do": step.do, "when": step.when, "each": step.each, "while": step.repeat}
            _values(maker, named, f"{place}.step[{at}]")
        found += maker.sources
    for name, mutation in file.mutation.items():
        found += _of_mutation(f"mutation.{name}", file.reference, mutation, world)
    return found


def _policies(file: TaskFile) -> dict[str, tuple[list[Step], dict[str, str]]]:
    """The steps and lets of every policy that is written out, by its place."""
    found = {"reference": (file.reference.step, file.reference.let)}
    for section, entries in (("alternative", file.alternative), ("cheat", file.cheat)):
        for name, entry in entries.items():
            found[f"{section}.{name}"] = (entry.step, entry.let)
    return found


def _of_mutation(
    place: str, reference: PolicyEntry, mutation: MutationEntry, world: World
) -> list[Source]:
    """What a mutation says anew; the lets of the reference that it keeps are the reference's."""
    maker = _Collector(places.policy_of(world), place, {**reference.let, **mutation.let})
    named = {"when": mutation.when, "each": mutation.each, "while": mutation.repeat}
    _values(maker, {**named, "do": mutation.do or mutation.before or {}}, place)
    maker.value(mutation.set, f"{place}.set")
    if mutation.do is not None and mutation.before is not None:
        _values(maker, {"do": mutation.before}, place)
    return [source for source in maker.sources if source.let is None or source.let in mutation.let]


def _of_scene(file: TaskFile) -> list[Source]:
    maker = _Collector(places.SCENE, "", {})
    for name, values in {**file.case, "": file.defaults}.items():
        maker.value(values, f"case.{name}" if name else "defaults")
    for name, rendering in file.rendering.items():
        maker.value(rendering.case, f"rendering.{name}.case")
    for table, rows in file.facts.items():
        for key, columns in rows.items():
            plain = {name: value for name, value in columns.items() if name != "each"}
            maker.value(plain, f"facts.{table}.{key}")
            if "each" in columns:
                maker.expression(columns["each"], f"facts.{table}.{key}.each")
    for name, party in file.party.items():
        maker.value(party.mandate, f"party.{name}.mandate")
    brief = _Collector(places.BRIEF, "brief", {})
    brief.text(file.brief, "brief")
    for name, rendering in file.rendering.items():
        brief.text(rendering.brief or "", f"rendering.{name}.brief")
        for kind, text in rendering.tools.items():
            brief.text(text, f"rendering.{name}.tools.{kind}")
    oracle = _Collector(places.ORACLE, "oracle", {})
    for name, source in file.oracle.items():
        oracle.expression(source, f"oracle.{name}")
    return [*maker.sources, *brief.sources, *oracle.sources]


def _of_judge(file: TaskFile) -> list[Source]:
    ends = _Collector(places.ENDS, "ends", {})
    ends.expression(file.ends, "ends")
    judge = _Collector(JUDGE, "", file.let)
    for name, predicate in file.predicate.items():
        judge.expression(predicate.expr, f"predicate.{name}.expr")
        if predicate.seqs is not None:
            judge.expression(predicate.seqs, f"predicate.{name}.seqs")
    for name, cap in file.cap.items():
        judge.expression(cap.expr, f"cap.{name}.expr")
    return [*ends.sources, *judge.sources]


def _values(maker: _Collector, fields: Mapping[str, Json], place: str) -> None:
    """A rule or step: conditions are expressions, an act's fields are values, each act may have a `when`."""
    for name, value in fields.items():
        if name == "do":
            for act in cast("list[dict[str, Json]]", value if isinstance(value, list) else [value]):
                if "when" in act:
                    maker.expression(act["when"], f"{place}.do.when")
                maker.value({field: each for field, each in act.items() if field != "when"}, f"{place}.do")
        elif value is not None:
            maker.expression(value, f"{place}.{name}")

"""A scene: one case of a task, worked out and ready to be played or judged.

    case, seed ─► case parameters ─► start rows ─► mandates, brief ─► (when judged) oracle

Each is worked out in the order of the file and may use what came before.
`draw(label, low, high)` gives an integer that follows from the seed and the
label, the same wherever it is asked.

Not here: what happens then (`tollbook.tasks.play`).

Source: the task format, "The case view"; design section 7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ...protocol.draws import Draws, seed_of
from ...protocol.errors import TaskError, TollbookError
from ...scorers.acts import plain
from ...scorers.cases import parts_of
from ...scorers.cel import Activation, activation, asking, drawing
from ...scorers.lets import near
from . import places
from .acts import check_literal
from .file import MAX_LIST
from .kinds import shown, told
from .rendering import Made, Rendering, cases_of, compile_renderings
from .values import Expression, Json, Maker, Text, Unformed, Value
from .where import located

if TYPE_CHECKING:
    from ...protocol.tables import Facts
    from ...protocol.world import StartRows, World
    from .faults import Faults
    from .file import TaskFile

Values = dict[str, Json]
FactRows = Mapping[str, Mapping[str, Mapping[str, Json]]]

_DRAW_LABEL = "draw:"
_SCENES = 16
_ANY_SEED = "0" * 64
"""Stands for the seed where nothing is drawn from it: the case is then the same in every trial."""
_ROW = re.compile(r"row `([^`]+)` of `([^`]+)`(?: is not such a row: (.*))?")
"""How a market names a start row that is wrong, and says that it isn't of its table's type."""
_ROW_HINT = "correct it, or leave out what follows from other rows"


class Scene(NamedTuple):
    """A case, worked out.

    ``case`` are its parameters, and as `id` its name; ``mandates`` what each party
    alone is told; ``brief`` is the actor's; ``rendering`` says how the rest is told.
    """

    case_name: str
    seed: str
    case: Mapping[str, Json]
    facts: Facts
    mandates: Mapping[str, Mapping[str, Json]]
    brief: str
    rendering: Rendering = Rendering()


class _Rows(NamedTuple):
    """Start rows to be made: one, or one for each element of a list."""

    table: str
    key: str
    place: str
    each: Expression | None
    columns: Mapping[str, Value]


class _Start(NamedTuple):
    """Start rows, and the place of the entry that each was made from."""

    rows: StartRows
    places: dict[tuple[str, str], str]

    def add(self, row: _Rows, key: str, held: Activation) -> None:
        """Works out a row.

        Raises:
            TaskError: `task.facts`, there is one of this key.
        """
        if key in self.rows[row.table]:
            problem = f"row `{key}` of `{row.table}` is already made by `{self.places[row.table, key]}`"
            hint = "`each` makes keys of a name and 1, 2, …: rename one"
            raise TaskError("task.facts", row.place, problem, hint)
        self.places[row.table, key] = row.place
        self.rows[row.table][key] = _columns(row, key, held)

    def place(self, table: str, key: str) -> str:
        """The place of a row; one that the market made belongs to none of them."""
        return self.places.get((table, key), "facts")


class SceneMaker:
    """Works out the cases of a task."""

    def __init__(
        self, file: TaskFile, world: World, faults: Faults, text: str = "", *, kinds: Sequence[str] = ()
    ) -> None:
        """For a task file, whose values are compiled here; faults of staging have their line in ``text``.

        ``kinds`` are the acts that are offered. Notes `task.facts`, `task.type`,
        `task.rendering`, and as `Maker`.
        """
        self._file = file
        self._world = world
        self._text = text
        self._faults = faults
        parameters = Maker(places.PARAMETER, "", faults=faults)
        self._cases = {name: _parameters(file, name, parameters) for name in file.case}
        self._row_maker = Maker(places.ROW, "", faults=faults)
        self._each_maker = Maker(places.SCENE, "", faults=faults)
        rows = [(table, key, row) for table, keyed in file.facts.items() for key, row in keyed.items()]
        self._rows = [made for each in rows for made in self._row(*each)]
        self._mandates = {
            name: _values(party.mandate, f"party.{name}.mandate", self._row_maker)
            for name, party in file.party.items()
        }
        brief = Maker(places.BRIEF, "brief", faults=faults)
        self._brief: Text = brief.text(file.brief, "brief")
        renderings = compile_renderings(file, world, kinds, parameters, brief)
        self._renderings = {"": Made(None, {}, (), {}, {}), **renderings}
        self._names = cases_of(file)
        oracle = Maker(places.ORACLE, "oracle", faults=faults)
        self._oracle = {
            name: oracle.expression(source, f"oracle.{name}") for name, source in file.oracle.items()
        }
        self.makers = (parameters, self._row_maker, self._each_maker, brief, oracle)
        made = (expression for maker in self.makers for expression in maker.made)
        self._draws = any("draw" in expression.program.reach.library for expression in made)
        self._staged = lru_cache(maxsize=_SCENES)(self._stage)

    def seed(self, case: str, trial: int) -> str:
        """The seed, in hex, of a trial of a case: the same under every rendering."""
        return seed_of(self._file.id, parts_of(case)[0], trial)

    def stage(self, case: str, seed: str) -> Scene:
        """A case, worked out; the last ones are kept, since who plays, checks and judges asks for the same.

        Raises:
            TaskError: `task.case`, no such case; `task.value`, a value can't be worked out; `task.facts`.
        """
        if self._draws:
            return self._staged(case, seed)
        return self._staged(case, _ANY_SEED)._replace(seed=seed)

    def _stage(self, case: str, seed: str) -> Scene:
        if case not in self._names:
            hint = near(case, self._names, f"there are {', '.join(self._names)}")
            raise TaskError("task.case", "case", f"there is no case `{case}`", hint)
        name, named = parts_of(case)
        rendering = self._renderings[named]
        with drawing(self._draw(seed)), self._told(case):
            parameters = _worked_out(
                self._cases[name],
                lambda found: {"case": found},
                {"id": name, "rendering": named},
                rendering.case,
            )
            made = self._start_rows(parameters)
            rows = made.rows
            mandates = {
                name: _worked_out(values, lambda _found: {"case": parameters, "facts": rows})
                for name, values in self._mandates.items()
            }
            facts = self._facts(made)
            mandate = mandates.get(self._file.actor, {})
            held = {"case": parameters, "facts": plain_rows(facts), "mandate": mandate}
            brief = (rendering.brief or self._brief).value(activation(held))
            tools = {kind: text.value(activation(held)).strip() for kind, text in rendering.tools.items()}
        told = Rendering(rendering.labels, rendering.order, tools)
        return Scene(case, seed, parameters, facts, mandates, brief.strip(), told)

    def oracle(self, scene: Scene) -> Values:
        """The right answers of a scene.

        Raises:
            TaskError: `task.value`.
        """
        if not self._oracle:
            return {}
        rows = plain_rows(scene.facts)
        initial = {table: list(found.values()) for table, found in rows.items()}
        with asking(self._asked(scene.facts)), self._told(scene.case_name):
            values = {name: expression.value for name, expression in self._oracle.items()}
            fixed = {"case": scene.case, "facts": rows, "initial": initial}
            return _worked_out(values, lambda found: {**fixed, "oracle": found})

    def _draw(self, seed: str) -> Callable[[str, int, int], int]:
        return lambda label, low, high: Draws(seed, _DRAW_LABEL + label).integer(low, high)

    def _asked(self, facts: Facts) -> Callable[[str], Json]:
        """What the market answers an `[oracle]`.

        A name that it doesn't know is told by the runtime as an error of the expression.
        """
        answers = self._world.answers

        def asked(name: str) -> Json:
            if name not in answers:
                known = ", ".join(answers) or "none"
                raise ValueError(f"the market has no answer `{name}`: there are {known}")
            return plain(answers[name](facts))

        return asked

    @contextmanager
    def _told(self, case: str) -> Generator[None]:
        """Within it what can't be worked out is an error of the file, told with its line and the case."""
        try:
            yield
        except Unformed as error:
            problem, hint = f"case `{case}`: {error.text}", error.hint
            if error.text.startswith("there is no key"):
                hint = self._missing(error.text, error.place, case) or hint
            fault = TaskError("task.value", error.place, problem, hint, within=error.within)
            raise located(fault, self._text) from None
        except TaskError as error:
            fault = TaskError(error.code, error.place, f"case `{case}`: {error.problem}", error.hint)
            raise located(fault, self._text) from None

    def _missing(self, text: str, place: str, case: str) -> str | None:
        """What to try where a value asks for what isn't there; None where nothing better is known."""
        if place.startswith(("case.", "defaults.")):
            return "parameters are worked out in the order of the file"
        own, _rendering = parts_of(case)
        for other, values in self._cases.items():
            for name in values:
                if f"`{name}`" in text and name not in self._cases[own]:
                    return f"case `{other}` has a parameter `{name}`, case `{own}` has none"
        return None

    def _row(self, table: str, key: str, columns: Mapping[str, Any]) -> list[_Rows]:
        """The rows of an entry, or nothing where there is no such table."""
        place = f"facts.{table}.{key}"
        kind = self._world.tables.get(table)
        if kind is None:
            tables = sorted(self._world.tables)
            hint = near(table, tables, f"there are {', '.join(tables)}")
            self._faults.note("task.facts", place, f"the market has no table `{table}`", hint)
            return []
        known = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        each = columns.get("each")
        if each is not None and not isinstance(each, str):
            problem = f"expected an expression, got {shown(each)}"
            self._faults.note("task.type", f"{place}.each", problem, 'write it as text: `each = "…"`')
        maker = self._row_maker if each is None else self._each_maker
        values: dict[str, Value] = {}
        for name, raw in columns.items():
            if name == "each":
                continue
            values[name] = maker.value(raw, f"{place}.{name}")
            if name not in known:
                hint = near(name, known, f"its columns are {', '.join(known)}")
                self._faults.note("task.facts", f"{place}.{name}", f"`{table}` has no column `{name}`", hint)
            else:
                check_literal(raw, known[name].type, f"{place}.{name}", self._faults)
        listed = isinstance(each, str)
        goes_through = self._row_maker.expression(each, f"{place}.each") if listed else None
        return [_Rows(table, key, place, goes_through, values)]

    def _start_rows(self, case: Values) -> _Start:
        """The start rows as the file gives them, each with its key as `id`.

        Raises:
            TaskError: `task.facts`, two rows have one key.
            Unformed: a value can't be worked out.
        """
        made = _Start({table: {} for table in self._world.tables}, {})
        for row in self._rows:
            names: dict[str, Json] = {"case": case, "facts": made.rows}
            if row.each is None:
                made.add(row, row.key, activation(names))
                continue
            for i, it in enumerate(row.each.elements(activation(names), MAX_LIST), 1):
                made.add(row, f"{row.key}{i}", activation({**names, "it": it, "i": i}))
        return made

    def _facts(self, made: _Start) -> Facts:
        bare = {
            table: {key: _without_id(row) for key, row in keyed.items()} for table, keyed in made.rows.items()
        }
        world = self._world
        try:
            whole = world.complete(bare)
            typed = [
                (table, key, _typed(world, row, table, made.place(table, key)))
                for table in whole
                for key, row in whole[table].items()
            ]
            for table, _key, row in typed:
                world.check_row(table, row)
            return world.facts(typed)
        except TaskError:
            raise
        except TollbookError as error:
            raise self._contradiction(error, made) from None

    def _contradiction(self, error: TollbookError, made: _Start) -> TaskError:
        """What the market says of start rows, at the row that it names."""
        named = _ROW.search(error.text)
        if named is None:
            return TaskError("task.facts", "facts", error.text, error.hint or _ROW_HINT)
        key, table, untyped = named.groups()
        place = made.place(table, key)
        if untyped is None:
            return TaskError("task.facts", place, error.text, error.hint or _ROW_HINT)
        found = told(untyped, made.rows[table].get(key), self._world.tables[table])
        return TaskError("task.facts", place + found.below, found.problem, found.hint)


def _typed(world: World, row: Mapping[str, Json], table: str, place: str) -> msgspec.Struct:
    kind = world.tables[table]
    try:
        return msgspec.convert(row, kind)
    except msgspec.ValidationError as error:
        found = told(str(error), row, kind)
        raise TaskError("task.facts", place + found.below, found.problem, found.hint) from None


def plain_rows(facts: Facts) -> dict[str, dict[str, Values]]:
    """Start rows as expressions see them: table → key → {id, …columns}."""
    found: dict[str, dict[str, Values]] = {table: {} for table in facts.tables}
    for table, key, row in facts.rows():
        found[table][key] = {**plain(row), "id": key}
    return found


def _parameters(file: TaskFile, case: str, maker: Maker) -> dict[str, Value]:
    """The parameters of a case, those of every case first."""
    own = file.case[case]
    return {
        name: maker.value(raw, f"case.{case}.{name}" if name in own else f"defaults.{name}")
        for name, raw in {**file.defaults, **own}.items()
    }


def _values(raw: Mapping[str, Json], place: str, maker: Maker) -> dict[str, Value]:
    return {name: maker.value(each, f"{place}.{name}") for name, each in raw.items()}


def _columns(row: _Rows, key: str, held: Activation) -> Values:
    return {**{name: value(held) for name, value in row.columns.items()}, "id": key}


def _without_id(row: Values) -> Values:
    return {name: value for name, value in row.items() if name != "id"}


def _worked_out(
    values: Mapping[str, Value],
    names: Callable[[Values], Mapping[str, Json]],
    before: Mapping[str, Json] | None = None,
    instead: Mapping[str, Value] | None = None,
) -> Values:
    """The values in their order, each of which may use those before it.

    ``instead`` are others by name, which may use what they stand for too.
    """
    found: Values = dict(before or {})
    for name, value in values.items():
        found[name] = value(activation(names(dict(found))))
        if instead and name in instead:
            found[name] = instead[name](activation(names(dict(found))))
    return found

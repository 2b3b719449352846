"""A scene: one case of a task, worked out and ready to be played or judged.

    case, seed ─► case parameters ─► start rows ─► mandates, brief ─► (when judged) oracle

Each is worked out in the order of the file and may use what came before.
`draw(label, low, high)` gives an integer that follows from the seed and the
label, the same wherever it is asked.

Not here: what happens then (`tollbook.tasks.play`).

Source: the task format, "The case view"; design section 7.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ...protocol.draws import Draws, seed_of
from ...protocol.errors import TaskError, TollbookError
from ...scorers.acts import plain
from ...scorers.cel import Activation, activation, drawing
from ...scorers.lets import near
from . import places
from .acts import check_literal, expected
from .file import MAX_LIST
from .values import Expression, Json, Maker, Text, Unformed, Value

if TYPE_CHECKING:
    from ...protocol.tables import Facts
    from ...protocol.world import StartRows, World
    from .file import TaskFile

Values = dict[str, Json]
FactRows = Mapping[str, Mapping[str, Mapping[str, Json]]]

_DRAW_LABEL = "draw:"


class Scene(NamedTuple):
    """A case, worked out: its parameters, the start rows, what each party alone is told, the actor's brief."""

    case_name: str
    seed: str
    case: Mapping[str, Json]
    facts: Facts
    mandates: Mapping[str, Mapping[str, Json]]
    brief: str


class _Rows(NamedTuple):
    """Start rows to be made: one, or one for each element of a list."""

    table: str
    key: str
    place: str
    each: Expression | None
    columns: Mapping[str, Value]


class SceneMaker:
    """Works out the cases of a task."""

    def __init__(self, file: TaskFile, world: World) -> None:
        """For a task file, whose values are compiled here.

        Raises:
            TaskError: `task.facts`, `task.type`, and as `Maker`.
        """
        self._file = file
        self._world = world
        self._maker = Maker(places.SCENE, "")
        self._cases = {
            name: {
                field: self._maker.value(raw, f"case.{name}.{field}")
                for field, raw in {**file.defaults, **values}.items()
            }
            for name, values in file.case.items()
        }
        self._rows = [
            self._row(table, key, columns) for table, rows in file.facts.items() for key, columns in rows.items()
        ]
        self._mandates = {
            name: {
                field: self._maker.value(raw, f"party.{name}.mandate.{field}")
                for field, raw in party.mandate.items()
            }
            for name, party in file.party.items()
        }
        brief = Maker(places.BRIEF, "brief")
        self._brief: Text = brief.text(file.brief, "brief")
        oracle = Maker(places.ORACLE, "oracle")
        self._oracle = {
            name: oracle.expression(source, f"oracle.{name}") for name, source in file.oracle.items()
        }
        self.makers = (self._maker, brief, oracle)

    def seed(self, case: str, trial: int) -> str:
        """The seed, in hex, of a trial of a case."""
        return seed_of(self._file.id, case, trial)

    def stage(self, case: str, seed: str) -> Scene:
        """A case, worked out.

        Raises:
            TaskError: `task.case`, no such case; `task.value`, a value can't be worked out; `task.facts`.
        """
        if case not in self._cases:
            hint = near(case, self._cases, f"there are {', '.join(self._cases)}")
            raise TaskError("task.case", "case", f"there is no case `{case}`", hint)
        with drawing(self._draw(seed)), _told(case):
            parameters = _worked_out(self._cases[case], lambda found: {"case": found})
            rows = self._start_rows(parameters)
            mandates = {
                name: _worked_out(values, lambda _found: {"case": parameters, "facts": rows})
                for name, values in self._mandates.items()
            }
            facts = self._facts(rows)
            held = {"case": parameters, "facts": plain_rows(facts), "mandate": mandates.get(self._file.actor, {})}
            brief = self._brief.value(activation(held))
        return Scene(case, seed, parameters, facts, mandates, brief.strip())

    def oracle(self, scene: Scene) -> Values:
        """The right answers of a scene.

        Raises:
            TaskError: `task.value`.
        """
        if not self._oracle:
            return {}
        rows = plain_rows(scene.facts)
        initial = {table: list(found.values()) for table, found in rows.items()}
        with _told(scene.case_name):
            values = {name: expression.value for name, expression in self._oracle.items()}
            fixed = {"case": scene.case, "facts": rows, "initial": initial}
            return _worked_out(values, lambda found: {**fixed, "oracle": found})

    def _draw(self, seed: str) -> Callable[[str, int, int], int]:
        return lambda label, low, high: Draws(seed, _DRAW_LABEL + label).integer(low, high)

    def _row(self, table: str, key: str, columns: Mapping[str, Any]) -> _Rows:
        place = f"facts.{table}.{key}"
        kind = self._world.tables.get(table)
        if kind is None:
            hint = near(table, list(self._world.tables), f"there are {', '.join(sorted(self._world.tables))}")
            raise TaskError("task.facts", place, f"the market has no table `{table}`", hint)
        known = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        each = columns.get("each")
        if each is not None and not isinstance(each, str):
            raise TaskError("task.type", f"{place}.each", "expected an expression", 'write `each = "…"`')
        values: dict[str, Value] = {}
        for name, raw in columns.items():
            if name == "each":
                continue
            if name not in known:
                hint = near(name, known, f"its columns are {', '.join(known)}")
                raise TaskError("task.facts", f"{place}.{name}", f"`{table}` has no column `{name}`", hint)
            values[name] = self._maker.value(raw, f"{place}.{name}")
            check_literal(raw, known[name].type, f"{place}.{name}")
        goes_through = None if each is None else self._maker.expression(each, f"{place}.each")
        return _Rows(table, key, place, goes_through, values)

    def _start_rows(self, case: Values) -> StartRows:
        """The start rows as the file gives them, each with its key as `id`."""
        found: StartRows = {table: {} for table in self._world.tables}
        for row in self._rows:
            names: dict[str, Json] = {"case": case, "facts": found}
            if row.each is None:
                found[row.table][row.key] = _columns(row, row.key, activation(names))
                continue
            for i, it in enumerate(row.each.elements(activation(names), MAX_LIST), 1):
                key = f"{row.key}{i}"
                found[row.table][key] = _columns(row, key, activation({**names, "it": it, "i": i}))
        return found

    def _facts(self, rows: StartRows) -> Facts:
        bare = {
            table: {key: _without_id(row) for key, row in keyed.items()} for table, keyed in rows.items()
        }
        world = self._world
        try:
            whole = world.complete(bare)
            typed = [
                (table, key, self._typed(table, key, row)) for table in whole for key, row in whole[table].items()
            ]
            for table, _key, row in typed:
                world.check_row(table, row)
            return world.facts(typed)
        except TaskError:
            raise
        except TollbookError as error:
            raise TaskError("task.facts", "facts", error.text, error.hint) from None

    def _typed(self, table: str, key: str, row: Mapping[str, Json]) -> msgspec.Struct:
        kind = self._world.tables[table]
        try:
            return msgspec.convert(row, kind)
        except msgspec.ValidationError as error:
            said = str(error)
            column = said.rpartition("`$.")[2].rstrip("`") if "`$." in said else ""
            place = ".".join(part for part in ("facts", table, key, column) if part)
            if "missing required field" in said:
                missing = said.split("`")[1]
                raise TaskError(
                    "task.facts", place, f"the column `{missing}` is missing", f"write `{missing} = …`"
                ) from None
            value = row.get(column.partition("[")[0].partition(".")[0])
            raise TaskError("task.facts", place, expected(said, value)) from None


def plain_rows(facts: Facts) -> dict[str, dict[str, Values]]:
    """Start rows as expressions see them: table → key → {id, …columns}."""
    found: dict[str, dict[str, Values]] = {table: {} for table in facts.tables}
    for table, key, row in facts.rows():
        found[table][key] = {**plain(row), "id": key}
    return found


def _columns(row: _Rows, key: str, held: Activation) -> Values:
    return {**{name: value(held) for name, value in row.columns.items()}, "id": key}


def _without_id(row: Values) -> Values:
    return {name: value for name, value in row.items() if name != "id"}


def _worked_out(values: Mapping[str, Value], names: Callable[[Values], Mapping[str, Json]]) -> Values:
    """The values in their order, each of which may use those before it."""
    found: Values = {}
    for name, value in values.items():
        found[name] = value(activation(names(dict(found))))
    return found


@contextmanager
def _told(case: str) -> Generator[None]:
    """Within it a value that can't be worked out is an error of the file, told with the case."""
    try:
        yield
    except Unformed as error:
        raise TaskError("task.value", error.place, f"case `{case}`: {error.text}") from None

"""Right answers that the agent is told: in its brief, in what it reads or first hears, in its tools.

    a value of [oracle] at one place of what the agent is given, in every case, and not always the same

A single number that happens to be the answer says nothing (the whole price is
owed where nothing was refunded). An answer that stands at the same place in
every case is told there. Where the answer is the same in all cases, or there is
one case, only a brief or a tool tells it, and only a number from 100 up or a
text that names no row, kind or party counts. What its own mandate tells an
actor it may know.

Not here: answers told in other words.

Source: the task format, "The case view"; commerce, part C 1 and 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from ...scorers.acts import figures
from ..format.scene import plain_rows
from ..play.tools import tools_of
from .finding import LintFinding, error, warning

if TYPE_CHECKING:
    from ..format.task import Task
    from .rehearsal import Rehearsal

Json = Any
Place = tuple[str, ...]

_TELLING: Final = 100
"""The smallest number that is told from counts and places by its size."""

_NUMBER = re.compile(r"(?<![0-9.,])[0-9]{1,15}(?![0-9])")


def check(task: Task, references: Sequence[Rehearsal]) -> list[LintFinding]:
    """Right answers that reach the agent, by the reference run of each case."""
    found: list[LintFinding] = [*_one_sided(task)]
    if not references:
        return found
    told = [_told(task, run) for run in references]
    for name in task.file.oracle:
        answers = [run.staged.oracle[name] for run in references]
        if any(map(_says_nothing, answers)) or _is_mandate(task, references, answers):
            continue
        if _differ(answers):
            found += _found_at(name, answers, told)
        elif _is_telling(task, answers[0], references):
            found += _found_in(task, name, answers[0], references[0].staged.scene.brief)
    return found


def _found_at(
    name: str, answers: Sequence[Json], told: Sequence[Mapping[Place, Json]]
) -> Iterator[LintFinding]:
    """Places that hold the answer of their case in every case."""
    common = set(told[0]).intersection(*told[1:])
    for place in sorted(common):
        if all(_holds(each[place], answer) for each, answer in zip(told, answers, strict=True)):
            in_brief = place[0] == "brief"
            where = "the brief" if in_brief else f"`{'.'.join(place[1:])}`, which the agent {place[0]}"
            text = f"the right answer stands in {where}, in every case"
            hint = "let the agent work it out: ask for it, and tell what it follows from"
            find = warning if place[0] == "reads" else error
            yield find("lint.oracle", f"oracle.{name}", text, hint)


def _found_in(task: Task, name: str, answer: Json, brief: str) -> Iterator[LintFinding]:
    """An answer that is the same in all cases: where it is said in so many words."""
    if _holds(_Text(brief), answer):
        text = "the right answer stands in the brief"
        yield error("lint.oracle", f"oracle.{name}", text, "tell what it follows from, and not more")
    for tool in tools_of(task.world, task.tools):
        if answer in _only_values(tool.schema):
            text = f"the right answer is the one value that the tool `{tool.kind}` takes"
            yield error("lint.oracle", f"oracle.{name}", text, "offer the tool that takes others too")


def _one_sided(task: Task) -> Iterator[LintFinding]:
    """Tools among which only taking, or only refusing, can be chosen."""
    world = task.world
    role = task.roles[task.actor]
    all_open = {kind for kind in world.kinds if role in world.roles.get(kind, (role,))}
    for noun in dict.fromkeys(kind.partition(".")[0] for kind in world.refusing):
        both = [
            [kind for kind in kinds if kind.partition(".")[0] == noun and kind in all_open]
            for kinds in (world.taking, world.refusing)
        ]
        offered = [[kind for kind in kinds if kind in task.tools] for kinds in both]
        if all(both) and any(offered) and not all(offered):
            (there, *_), (missing, *_) = (offered[0], both[1]) if offered[0] else (offered[1], both[0])
            text = f"`{there}` is offered and `{missing}` is not, which tells what is right"
            hint = f"offer both: `{noun}.*`"
            yield warning("lint.tools", "tools", text, hint)


class _Text(str):
    """A text that may hold the answer; a plain one must be it."""

    __slots__ = ()


def _told(task: Task, run: Rehearsal) -> dict[Place, Json]:
    """What the agent is told in a case, by place: its brief, start rows it reads, what it first hears."""
    scene = run.staged.scene
    found: dict[Place, Json] = {("brief",): _Text(scene.brief)}
    rows = plain_rows(scene.facts)
    for table, read in cast("Mapping[str, Mapping[str, int]]", run.document["read"]).items():
        for key in read:
            columns = {name: value for name, value in rows[table].get(key, {}).items() if name != "id"}
            found.update(_each(columns, ("reads", table, key)))
    for noun, verbs in cast("Mapping[str, Mapping[str, list[Json]]]", run.document["heard"]).items():
        for verb, acts in verbs.items():
            action = task.world.kinds[f"{noun}.{verb}"].__struct_encode_fields__
            if acts:
                first = {field: acts[0][field] for field in action}
                found.update(_each(first, ("hears first", noun, verb)))
    return found


def _each(value: Json, place: Place) -> Iterator[tuple[Place, Json]]:
    """A value and those within, each with its place."""
    yield place, _Text(value) if isinstance(value, str) else value
    if isinstance(value, Mapping):
        for name, item in cast("Mapping[str, Json]", value).items():
            yield from _each(item, (*place, name))
    elif isinstance(value, list):
        for at, item in enumerate(cast("list[Json]", value)):
            yield from _each(item, (*place, str(at)))


def _holds(told: Json, answer: Json) -> bool:
    """Whether what is told is the answer, or a text has it in it."""
    if not isinstance(told, _Text):
        return type(told) is type(answer) and bool(told == answer)
    if isinstance(answer, list):
        return all(_holds(told, each) for each in cast("list[Json]", answer))
    if isinstance(answer, int):
        return answer in figures(told) or str(answer) in _NUMBER.findall(told)
    return re.search(rf"(?<!\w){re.escape(str(answer))}(?!\w)", told, re.IGNORECASE) is not None


def _says_nothing(answer: Json) -> bool:
    """Whether a value is everywhere, or tells nothing as a whole: truth values, nothing, maps."""
    if isinstance(answer, list):
        return all(map(_says_nothing, cast("list[Json]", answer)))
    return answer is None or isinstance(answer, (bool, dict)) or answer == ""


def _is_mandate(task: Task, references: Sequence[Rehearsal], answers: Sequence[Json]) -> bool:
    told = [run.staged.scene.mandates.get(task.actor, {}) for run in references]
    names = set(told[0]).intersection(*told[1:])
    return any([each[name] for each in told] == list(answers) for name in names)


def _differ(answers: Sequence[Json]) -> bool:
    return any(answer != answers[0] for answer in answers)


def _is_telling(task: Task, answer: Json, references: Sequence[Rehearsal]) -> bool:
    """Whether a value that never varies is told apart from counts, keys and the market's words."""
    if isinstance(answer, int):
        return abs(answer) >= _TELLING
    if isinstance(answer, list):
        return all(_is_telling(task, each, references) for each in cast("list[Json]", answer))
    keys = {key for run in references for rows in plain_rows(run.staged.scene.facts).values() for key in rows}
    return answer not in {*keys, *task.roles, *task.roles.values(), *task.world.kinds}


def _only_values(schema: Json) -> Iterator[Json]:
    """The values of a schema that leave no choice."""
    if isinstance(schema, Mapping):
        found = cast("Mapping[str, Json]", schema)
        if "const" in found:
            yield found["const"]
        if isinstance(found.get("enum"), list) and len(found["enum"]) == 1:
            yield found["enum"][0]
        for each in found.values():
            yield from _only_values(each)
    elif isinstance(schema, list):
        for each in cast("list[Json]", schema):
            yield from _only_values(each)

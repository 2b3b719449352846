"""Names that nothing uses: lets, right answers, case parameters, and tools that are named twice.

    used = reached from an expression that is run, through lets

Not here: names that there aren't, which don't compile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ...scorers.syntax import Name, Select
from .finding import LintFinding, warning

if TYPE_CHECKING:
    from ..format.task import Task
    from .sources import Source


def check(task: Task, sources: Sequence[Source]) -> list[LintFinding]:
    """Warnings of what could be left out."""
    return [*_lets(sources), *_oracle(task, sources), *_parameters(task, sources), *_tools(task)]


def _lets(sources: Sequence[Source]) -> Iterator[LintFinding]:
    by_owner: dict[str, list[Source]] = {}
    for source in sources:
        by_owner.setdefault(source.owner, []).append(source)
    reference = by_owner["reference"]
    of_mutations = [each for each in sources if each.owner.startswith("mutation.")]
    for owner, found in by_owner.items():
        reached = _reached(found)
        if owner == "reference":
            reached |= _reached([*reference, *of_mutations])
        elif owner.startswith("mutation."):
            reached |= _reached([*reference, *found])
        for source in found:
            if source.let is not None and source.let not in reached:
                yield _unused(source.place, f"nothing uses the let `{source.let}`")


def _reached(sources: Sequence[Source]) -> set[str]:
    """The names that expressions use, lets of lets included."""
    left = [name for source in sources if source.let is None for name in source.program.reach.free]
    reached: set[str] = set()
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left += [each for source in sources if source.let == name for each in source.program.reach.free]
    return reached


def _oracle(task: Task, sources: Sequence[Source]) -> Iterator[LintFinding]:
    reached = [source.program.reach for source in sources]
    if any("oracle" in each.free and not each.oracle for each in reached):
        return  # the whole of it is used somewhere
    used = {name for each in reached for name in each.oracle}
    for name in task.file.oracle:
        if name not in used:
            yield _unused(f"oracle.{name}", "nothing asks for this right answer")


def _parameters(task: Task, sources: Sequence[Source]) -> Iterator[LintFinding]:
    """Parameters of cases that nothing asks for; the factor may be only a name for what varies."""
    used: set[str] = set()
    for source in sources:
        selected = [node for node in source.parts if isinstance(node, Select) and _is_case(node.operand)]
        used.update(node.field for node in selected)
        if sum(map(_is_case, source.parts)) > len(selected):
            return  # the whole of it is used somewhere
    in_cases = [name for case in task.file.case.values() for name in case]
    for name in dict.fromkeys([*task.file.defaults, *in_cases]):
        if name not in used and name != task.file.factor:
            first = next((case for case, values in task.file.case.items() if name in values), None)
            place = "defaults" if name in task.file.defaults else f"case.{first}"
            yield _unused(f"{place}.{name}", f"nothing asks for the parameter `{name}`")


def _is_case(node: object) -> bool:
    return isinstance(node, Name) and node.name == "case"


def _tools(task: Task) -> Iterator[LintFinding]:
    """Patterns that add no tool to those of the others."""
    patterns = task.file.tools or []
    for at, pattern in enumerate(patterns):
        others = patterns[:at] + [each for each in patterns[at + 1 :] if each != pattern]
        added = [kind for kind in task.tools if fnmatchcase(kind, pattern)]
        covered = [kind for kind in added if any(fnmatchcase(kind, other) for other in others)]
        if added and added == covered:
            hint = "leave it out"
            text = f"`{pattern}` adds no tool: the others name all that it names"
            yield warning("lint.tools", f"tools[{at}]", text, hint)


def _unused(place: str, text: str) -> LintFinding:
    return warning("lint.unused", place, text, "use it, or leave it out")

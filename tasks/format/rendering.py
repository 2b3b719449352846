"""Renderings: a case in other words, in another order or on other values, by the same rules.

    case low + rendering euro     ─►  low@euro     a case like any other: `open` names it
    seed(low@euro, trial)          =   seed(low, trial)
    case.id, case.rendering        =   low, euro   in expressions; "" where a case is played plainly

    brief    another text                    tools   other descriptions, by kind
    order    kinds that are listed first     case    other parameters; `case.high` in one is the plain value
    labels   other words for the keys and whole texts of what the market shows when it asks (`Asked.market`)

A label is for who reads: an agent outside is shown the rendered words, one in this
process looks at the market itself. Nothing of a rendering reaches the rules, which
take the same acts under any.

Not here: how a case is worked out (`scene`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from ...protocol.world import PacedWorld, World
from ...scorers.cases import AT
from ...scorers.lets import near
from .values import Json, Maker, Text, Value

if TYPE_CHECKING:
    from .faults import Faults
    from .file import RenderingEntry, TaskFile

ALL: Final = "all"
"""The word for every rendering, which none is called."""

_FIELDS: Final = ("brief", "labels", "order", "tools", "case")


class Rendering(NamedTuple):
    """How a case is told; by default as it is."""

    labels: Mapping[str, str] = {}
    order: tuple[str, ...] = ()
    tools: Mapping[str, str] = {}

    def listed(self, kinds: Sequence[str]) -> list[str]:
        """Kinds of act in the order in which they are listed."""
        first = [kind for kind in self.order if kind in kinds]
        return [*first, *(kind for kind in kinds if kind not in first)]


class Made(NamedTuple):
    """A rendering, compiled. ``brief`` is None where the plain one stands."""

    brief: Text | None
    labels: Mapping[str, str]
    order: tuple[str, ...]
    tools: Mapping[str, Text]
    case: Mapping[str, Value]


def cases_of(file: TaskFile) -> list[str]:
    """The names of a file's cases: the plain ones, then those of each rendering."""
    return [*file.case, *(f"{case}{AT}{name}" for name in file.rendering for case in file.case)]


def worded(shown: Json, labels: Mapping[str, str]) -> Json:
    """What the market shows, in the words of the labels: keys of maps and whole texts."""
    if not labels:
        return shown
    if isinstance(shown, str):
        return labels.get(shown, shown)
    if isinstance(shown, Mapping):
        found = cast("Mapping[str, Json]", shown)
        return {labels.get(key, key): worded(value, labels) for key, value in found.items()}
    if isinstance(shown, (list, tuple)):
        return [worded(each, labels) for each in cast("Sequence[Json]", shown)]
    return shown


def compile_renderings(
    file: TaskFile, world: World, kinds: Sequence[str], parameters: Maker, brief: Maker
) -> dict[str, Made]:
    """The renderings of a file, by id. ``kinds`` are the acts that are offered; faults are the makers'."""
    made: dict[str, Made] = {}
    for name, entry in file.rendering.items():
        place = f"rendering.{name}"
        _check(entry, place, file, world, kinds, brief.faults)
        made[name] = Made(
            None if entry.brief is None else brief.text(entry.brief, f"{place}.brief"),
            entry.labels,
            tuple(entry.order),
            {kind: brief.text(text, f"{place}.tools.{kind}") for kind, text in entry.tools.items()},
            {key: parameters.value(raw, f"{place}.case.{key}") for key, raw in entry.case.items()},
        )
    return made


def _check(  # noqa: PLR0913 - a rendering, and all that it may name
    entry: RenderingEntry, place: str, file: TaskFile, world: World, kinds: Sequence[str], faults: Faults
) -> None:
    """Notes `task.rendering`, for what changes nothing, and what names something that there isn't."""
    if not any(getattr(entry, field) not in (None, {}, []) for field in _FIELDS):
        faults.note("task.rendering", place, "it changes nothing", f"give {', '.join(_FIELDS)}")
    named = [(f"{place}.order[{at}]", kind) for at, kind in enumerate(entry.order)]
    named += [(f"{place}.tools.{kind}", kind) for kind in entry.tools]
    for where, kind in named:
        if kind not in kinds:
            hint = near(kind, kinds, f"there are {', '.join(kinds)}")
            faults.note("task.rendering", where, f"`{kind}` is not among the task's tools", hint)
    for at, kind in enumerate(entry.order):
        if kind in entry.order[:at]:
            faults.note("task.rendering", f"{place}.order[{at}]", f"`{kind}` is listed twice", "list it once")
    _check_labels(entry.labels, f"{place}.labels", world, faults)
    common = _in_every_case(file)
    for key in entry.case:
        if key not in common:
            hint = near(key, common, "change one that every case has, or that stands under `[defaults]`")
            problem = f"not every case has a parameter `{key}`"
            faults.note("task.rendering", f"{place}.case.{key}", problem, hint)


def _check_labels(labels: Mapping[str, str], place: str, world: World, faults: Faults) -> None:
    if labels and not isinstance(world, PacedWorld):
        hint = "say it in other words in `brief` and `tools`"
        faults.note("task.rendering", place, "this market shows nothing unasked that could be labelled", hint)
    for at, (word, label) in enumerate(labels.items()):
        if label in list(labels.values())[:at]:
            problem = f"two words have the label `{label}`"
            hint = "what is told apart must stay apart: give each a label of its own"
            faults.note("task.rendering", f"{place}.{word}", problem, hint)


def _in_every_case(file: TaskFile) -> list[str]:
    """The parameters that no case is without, in the order of the file."""
    names: Iterable[str] = (name for values in file.case.values() for name in values)
    every: list[dict[str, Any]] = [{**file.defaults, **values} for values in file.case.values()]
    return [name for name in dict.fromkeys([*file.defaults, *names]) if all(name in each for each in every)]

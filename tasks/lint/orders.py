"""Expressions that would behave otherwise in another process: they depend on the order of a map.

    each expression, on what it may see of each reference run  ─►  `scorers.orders.depends_on_order`

A script's expression is tried with each act that the script heard and is called on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ...scorers.cel import drawing
from ...scorers.orders import depends_on_order
from ...scorers.profile import nodes
from ...scorers.syntax import DYN, Fold
from .finding import LintFinding, Tally, error

if TYPE_CHECKING:
    from ..format.task import Task
    from .rehearsal import Rehearsal
    from .sources import Source

Json = Any


def check(task: Task, sources: Sequence[Source], runs: Sequence[Rehearsal]) -> list[LintFinding]:
    """Expressions that depend on an order, predicates and caps aside: those say so when they judge."""
    suspects = [source for source in sources if source.owner and _may(source)]
    tally = Tally()
    for run in runs:
        for source in suspects if run.kind in ("reference", "mutation") else ():
            if _depends(task, source, run):
                text = "it depends on the order of a map, and would behave otherwise in another process"
                hint = "go through `initial` or `final`, or `.sort()` what is made of the map"
                tally.add(error("lint.order", source.place, text, hint), run.case)
    return tally.findings(tuple(task.file.case))


def _may(source: Source) -> bool:
    """Whether an expression goes through what may be a map."""
    checked = source.program.checked
    folds = [node for node in nodes(checked.root) if isinstance(node, Fold)]
    return any(checked.types.get(fold.over.id, DYN).name in ("", "map") for fold in folds)


def _depends(task: Task, source: Source, run: Rehearsal) -> bool:
    if source.bound is None:  # a let: it is run in what uses it
        return False
    with drawing(lambda _label, low, _high: low):
        return any(depends_on_order(source.bound, document) for document in _seen(task, source, run))


def _seen(task: Task, source: Source, run: Rehearsal) -> Iterator[Mapping[str, Json]]:
    """What an expression may be run on."""
    section, _, party = source.owner.partition(".")
    if section != "script":
        yield {**run.document, "it": None, "i": 1}
        return
    document: dict[str, Json] = {**run.seen_by(party), "me": party, "message": None}
    yield document
    for kind in sorted(task.scripts[party].on & task.world.kinds.keys()):
        noun, _, verb = kind.partition(".")
        for act in cast("list[Json]", document["heard"][noun][verb]):
            yield {**document, "message": act}

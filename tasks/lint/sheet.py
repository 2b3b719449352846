"""A task on one sheet: its parties, cases and predicates, what each mutation takes, what carelessness earns.

    report ─► tables ─► aligned text · Markdown          report ─► one JSON document

The table of mutations has a row for each mutation; where cases differ, a row for
each group of cases that lose alike. A cell is the credit left, `·` for all of it.

Not here: what is wrong with any of it (the findings).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import msgspec

from ...scorers.score import exact
from ...scorers.tables import Table, aligned, bullets, escaped, markdown
from ..format.task import OPERATOR
from .bars import bars_of
from .finding import decimal

if TYPE_CHECKING:
    from ..format.task import Task
    from .linter import Report
    from .rehearsal import Rehearsal

FULL: Final = "·"
"""A cell of full credit."""


def text_of(task: Task, report: Report) -> str:
    """The sheet as text for a terminal."""
    head = f"{task.file.id}  {task.file.title}\n{', '.join(_facts(task))}\ntools: {', '.join(task.tools)}"
    return "\n\n".join([head, *map(aligned, tables_of(task, report))]) + "\n"


def markdown_of(task: Task, report: Report) -> str:
    """The sheet as Markdown."""
    head = f"# {escaped(task.file.id)}: {escaped(task.file.title)}"
    facts = bullets([*_facts(task), f"tools: {', '.join(task.tools)}"])
    return "\n\n".join([head, facts, *map(markdown, tables_of(task, report))]) + "\n"


def document_of(task: Task, report: Report) -> dict[str, Any]:
    """The sheet as JSON; credits and means are exact: an integer, or [numerator, denominator]."""
    file = task.file
    references = {run.case: run for run in _references(report)}
    return {
        "id": file.id,
        "title": file.title,
        "digest": task.digest,
        "world": file.world,
        "actor": file.actor,
        "factor": file.factor,
        "turns": file.turns,
        "tools": list(task.tools),
        "parties": [
            {"id": party, "role": role, "played_by": _player(task, party)}
            for party, role in task.roles.items()
        ],
        "cases": [
            {
                "case": case,
                "parameters": _parameters(run),
                "acts": len(run.own),
                "score": exact(run.points),
            }
            for case, run in references.items()
        ],
        "predicates": [
            {"id": name, "stage": each.stage, "weight": each.weight, "needs": list(each.needs)}
            for name, each in task.predicates.predicates.items()
        ],
        "caps": [{"id": name, "points": cap.points} for name, cap in task.predicates.caps.items()],
        "mutations": [
            {
                "mutation": run.name,
                "case": run.case,
                "score": exact(run.points),
                "lost": {name: exact(run.credits[name]) for name in run.lost},
            }
            for run in _mutations(task, report)
        ],
        "renderings": [
            {"rendering": run.name, "case": run.case, "acts": len(run.own), "score": exact(run.points)}
            for run in _rendered(report)
        ],
        "cheats": [
            {
                "cheat": bar.name,
                "most": bar.most,
                "mean": exact(bar.mean),
                "by_case": {case: exact(mean) for case, mean in bar.by_case.items()},
            }
            for bar in bars_of(task, report.runs)
        ],
        "errors": len(report.errors),
        "warnings": len(report.findings) - len(report.errors),
    }


def tables_of(task: Task, report: Report) -> list[Table]:
    """The tables of the sheet; one without rows is left out."""
    parties = [(party, role, _player(task, party)) for party, role in task.roles.items()]
    predicates = [
        (name, each.stage, str(each.weight), ", ".join(each.needs))
        for name, each in task.predicates.predicates.items()
    ]
    caps = [(name, str(cap.points)) for name, cap in task.predicates.caps.items()]
    found = [
        Table(("party", "role", "played by"), parties, frozenset({0, 1, 2})),
        _cases(report),
        Table(("predicate", "stage", "weight", "needs"), predicates, frozenset({0, 1, 3})),
        Table(("cap", "points"), caps, frozenset({0})),
        kills_of(task, report),
        _renderings(report),
        cheats_of(task, report),
    ]
    return [table for table in found if table.rows]


def _facts(task: Task) -> list[str]:
    """What a task is played on, in words."""
    file = task.file
    factor = [] if file.factor is None else [f"factor {file.factor}"]
    return [f"world {file.world}", f"actor {file.actor}", f"{file.turns} turns", *factor]


def _cases(report: Report) -> Table:
    references = _references(report)
    names = list(dict.fromkeys(name for run in references for name in _parameters(run)))
    rows = [
        (
            run.case,
            *(_said(_parameters(run).get(name)) for name in names),
            str(len(run.own)),
            decimal(run.points, 1),
        )
        for run in references
    ]
    words = {
        at
        for at in range(len(names) + 3)
        if at == 0 or not all(row[at].lstrip("-").replace(".", "").isdigit() for row in rows)
    }
    return Table(("case", *names, "acts", "reference"), rows, frozenset(words))


def _references(report: Report) -> list[Rehearsal]:
    """The reference's run in each case, of the first trial."""
    found = {run.case: run for run in reversed(report.runs) if run.kind == "reference"}
    return list(reversed(found.values()))


def _parameters(run: Rehearsal) -> dict[str, Any]:
    """The parameters of a run's case, without its name."""
    return {name: value for name, value in run.staged.scene.case.items() if name not in ("id", "rendering")}


def kills_of(task: Task, report: Report) -> Table:
    """The kill table, mutation by predicate; cases that lose alike share a row."""
    names = list(task.predicates.predicates)
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for run in _mutations(task, report):
        cells = (decimal(run.points, 1), *(_cell(run.credits[name]) for name in names))
        groups.setdefault((run.name, cells), []).append(run.case)
    rows = [
        (name, "all" if len(cases) == len(task.file.case) else ", ".join(cases), *cells)
        for (name, cells), cases in groups.items()
    ]
    return Table(("mutation", "cases", "score", *names), rows, frozenset({0, 1}))


def _mutations(task: Task, report: Report) -> list[Rehearsal]:
    played = [run for run in report.runs if run.kind == "mutation"]
    return [run for name in task.mutations for run in played if run.name == name]


def _rendered(report: Report) -> list[Rehearsal]:
    return [run for run in report.runs if run.kind == "rendering"]


def _renderings(report: Report) -> Table:
    rows = [(run.case, str(len(run.own)), decimal(run.points, 1)) for run in _rendered(report)]
    return Table(("rendering", "acts", "reference"), rows, frozenset({0}))


def cheats_of(task: Task, report: Report) -> Table:
    """What each cheat earns, by case."""
    cases = [case for case in task.file.case if any(run.case == case for run in report.runs)]
    rows = [
        (
            bar.name,
            "–" if bar.most is None else str(bar.most),
            decimal(bar.mean, 1),
            *(decimal(bar.by_case[case], 1) if case in bar.by_case else "–" for case in cases),
        )
        for bar in bars_of(task, report.runs)
    ]
    return Table(("cheat", "at most", "mean", *cases), rows, frozenset({0}))


def _player(task: Task, party: str) -> str:
    """Who plays a party."""
    if party == task.actor:
        return "the agent"
    if party in task.scripts:
        return "a script"
    plays = task.file.party[party].plays if party in task.file.party else None
    if plays is not None:
        return f"baseline {plays}"
    return "the schedule" if party == OPERATOR else "nobody"


def _cell(credit: Fraction) -> str:
    return FULL if credit == 1 else decimal(credit)


def _said(value: object) -> str:
    if isinstance(value, str):
        return value
    return "–" if value is None else msgspec.json.encode(value).decode()

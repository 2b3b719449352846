"""Check 6, conduct: whether an operator did what the task file says, by playing it again.

    task file, case, seed ─► start rows, briefs, all messages of scripts and clock ─► compared with the record

The messages of the actor, and of others that agents play, are taken as they stand.
Everybody else's follow from them by the schedule, so one that is missing,
added, late or different is found, at its record. What was withheld can't be
compared: the check is then not done.

    conduct.task · case · seed · parties · facts · brief       how the run began
    conduct.order · to · reply_to · key · action · omitted · extra   what was said
    conduct.outcome                                            how it was sealed

Not for imported runs, whose source is compared instead.

Source: design section 3, check 6.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ...ledger.findings import NEEDED, Finding, State, quoted
from ...protocol.canonical import encode_typed
from ...protocol.errors import TaskError
from ...scorers.acts import ACTS, Watch
from ...scorers.cel import reads_of
from ..format.rendering import cases_of
from ..format.task import Task, load_task
from .agent import Answer, Asked
from .desk import Departure, RecordedDesk, Said
from .play import NEVER, Schedule, briefs_of

if TYPE_CHECKING:
    from ...ledger.audited import Audit
    from ...protocol.bodies import Open, WorldRef
    from ...protocol.tables import Facts
    from ..format.scene import Scene

_TASKS: dict[tuple[str, bytes], Task] = {}
_MOST = 64
_ACTORS_OWN = frozenset({"agent_stopped", "agent_failed"})


class _Found(Exception):  # noqa: N818 - a finding on its way
    def __init__(self, code: str, text: str, seq: int | None = 0) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.seq = seq


class _UndoneError(Exception):
    """The check can't be done: something that it needs isn't there."""


class Known(NamedTuple):
    """A played run's task and scene, once they are known to be those that it names."""

    task: Task
    scene: Scene


def with_conduct(audit: Audit) -> Audit:
    """The audit with check 6, where it applies and can be done.

    The audit must have kept what was said.
    """
    if audit.custody != "played" or audit.replayed is None or _has_failed(audit):
        return audit
    found, state = _checked(audit)
    if state == "not done":
        return audit
    return audit._replace(findings=[*audit.findings, *found], checks={**audit.checks, "6": state})


def _has_failed(audit: Audit) -> bool:
    """Whether what was said can't be relied on, so that conduct can't be judged."""
    return any(audit.checks[check] == "failed" for check in NEEDED[:3])


def known_task(audit: Audit) -> Known:
    """The task and scene of a played run.

    Raises:
        TaskError: the run's task isn't at hand, or isn't what the run says.
    """
    assert audit.replayed is not None, "an audited run"
    try:
        return _known(audit, audit.replayed.opened)
    except (_Found, _UndoneError) as error:
        problem = f"run `{audit.run[:12]}` has no task to judge it by: {error}"
        raise TaskError("task.run", "", problem) from None


def remember(task: Task) -> None:
    """Keeps a task that was loaded from its own text: its runs are checked without compiling it again."""
    if len(_TASKS) == _MOST:
        _TASKS.clear()
    _TASKS[task.text, encode_typed(task.ref)] = task


def task_of(text: str, ref: WorldRef) -> Task:
    """The task of a text under the rules of a run's world, compiled once.

    Raises:
        TaskError: the first fault of the file.
    """
    known = _TASKS.get((text, encode_typed(ref)))
    if known is None:
        known = load_task(text, ref)
        remember(known)
    return known


def _checked(audit: Audit) -> tuple[list[Finding], State]:
    assert audit.replayed is not None
    try:
        task, scene = _known(audit, audit.replayed.opened)
        _check_beginning(audit, task, scene)
        _check_messages(audit, task, scene)
    except _UndoneError:
        return [], "not done"
    except _Found as found:
        return [Finding(audit.run, found.seq, found.code, found.text)], "failed"
    return [], "done"


def _known(audit: Audit, opened: Open) -> Known:
    if opened.task is None or audit.task is None:
        raise _UndoneError("its task file is not here")
    try:
        task = task_of(audit.task, opened.world)
    except TaskError as error:
        raise _Found("conduct.task", f"the task file can't be played: {error.text}") from None
    if task.file.id != opened.task.id:
        raise _Found("conduct.task", f"the task file is of `{task.file.id}`, not of `{opened.task.id}`")
    case = opened.task.case
    if case not in cases_of(task.file):
        raise _Found("conduct.case", f"the task file has no case `{case}`")
    seed = task.scenes.seed(case, opened.trial)
    if opened.seed != seed:
        raise _Found("conduct.seed", f"the seed is not that of case `{case}`, trial {opened.trial}")
    try:
        return Known(task, task.scenes.stage(case, seed))
    except TaskError as error:
        raise _Found("conduct.task", f"the case can't be worked out: {error.text}") from None


def _check_beginning(audit: Audit, task: Task, scene: Scene) -> None:
    assert audit.replayed is not None
    opened = audit.replayed.opened
    found = [(party.id, party.role) for party in opened.parties]
    for sits, due in zip_longest(found, task.roles.items()):
        if sits != due:
            raise _Found("conduct.parties", f"among the parties is {quoted(sits)} where {quoted(due)} is due")
    if scene.facts.root != opened.facts:
        found = audit.replayed.state
        text = "the start rows are not what the task gives"
        raise _Found("conduct.facts", text if found is None else _differing_row(scene.facts, found.facts))
    briefs = briefs_of(task, scene)
    for (party, text), told in zip(briefs, audit.briefs, strict=False):
        if told.party != party:
            problem = f"`{told.party}` is told where `{party}` is due"
            raise _Found("conduct.brief", problem, told.seq)
        if told.text is None:
            raise _UndoneError("a brief is withheld")
        if told.text != text:
            raise _Found("conduct.brief", f"`{party}` was told something else than the task says", told.seq)
    missing = len(briefs) - len(audit.briefs)
    if missing and not (missing > 0 and _may_break_off(audit) and not audit.deeds):
        seq = audit.briefs[len(briefs)].seq if len(audit.briefs) > len(briefs) else None
        problem = f"there are {len(audit.briefs)} briefs, and the task gives {len(briefs)}"
        raise _Found("conduct.brief", problem, seq)


def _may_break_off(audit: Audit) -> bool:
    """Whether what is due may be missing from some record on: the run is open, or was given up."""
    return audit.outcome in (None, "abandoned")


def _differing_row(due: Facts, found: Facts) -> str:
    rows = {(table, key): row for table, key, row in due.rows()}
    others = {(table, key): row for table, key, row in found.rows()}
    for table, key in sorted(rows.keys() | others.keys()):
        if rows.get((table, key)) != others.get((table, key)):
            return f"start row `{key}` of `{table}` is not what the task gives"
    return "the start rows are not what the task gives"


def _check_messages(audit: Audit, task: Task, scene: Scene) -> None:
    run = audit.replayed
    assert run is not None
    if run.state is None:
        raise _UndoneError("its start rows are not here")
    ends = reads_of([task.ends.program])
    shows = "result" in ends or any("result" in script.reads for script in task.scripts.values())
    desk = RecordedDesk(task.world, run.roles, run.state.facts, audit.deeds, shows=shows)
    try:
        ending = _Retrace(task, scene, desk, ACTS | ends).run()
    except Departure as departure:
        if departure.code == "conduct.omitted" and _may_break_off(audit):
            return
        if audit.withheld:
            raise _UndoneError("parts are withheld") from None
        raise _Found(departure.code, departure.text, departure.seq) from None
    if desk.left:
        problem = f"messages go on after the end: {ending.outcome}"
        raise _Found("conduct.extra", problem, desk.left[0].seq)
    if desk.withheld:
        raise _UndoneError("parts are withheld")
    if not _may_break_off(audit):
        _check_outcome(audit, ending.outcome)


def _check_outcome(audit: Audit, due: str) -> None:
    """Whether the seal says what the task gives; where the actor itself went, either of its ways to go."""
    if audit.outcome == due or (due in _ACTORS_OWN and audit.outcome in _ACTORS_OWN):
        return
    said = "the actor went" if due in _ACTORS_OWN else f"the task gives `{due}`"
    raise _Found("conduct.outcome", f"sealed as `{audit.outcome}`, but {said}", audit.records - 1)


class _Retrace(Schedule):
    """A play in which those that agents play say what the record holds."""

    def __init__(self, task: Task, scene: Scene, desk: RecordedDesk, want: frozenset[str]) -> None:
        super().__init__(task, scene, desk, want)
        self._record = desk
        # What those say that agents play is in the record: nobody looks at what they have seen,
        # except that whether the run has ended may rest on what the actor has.
        for party in task.players:
            if party != task.actor or task.file.ends == NEVER:
                self._sides[party].watch = Watch(task.world, party, ())

    def _ask(self, party: str, asked: Asked) -> Said | Answer:
        del asked
        if not self._record.left or not self._is_next(party):
            return Answer(end="agent_stopped")
        return self._noted(self._record.take(party))

    def _market(self, party: str) -> None:
        del party

    def _is_next(self, party: str) -> bool:
        """Whether the next message is its own; where another's is, whoever isn't judged may have gone."""
        return party == self._task.actor or self._record.left[0].message.sender == party

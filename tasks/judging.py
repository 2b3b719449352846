"""What judges a run, and what it is given: from audits to scores.

    audit of a played run   ─► its task file ─► scene, oracle, predicates ─┐
    audit of a recorded run ─► its task blob ─► oracle, the package's set ─┴► case view ─► Score

Another file may be given instead, of a task or of predicates alone; it changes
nothing but the judgement: the case and the start rows stay those of the run.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ..protocol.canonical import digest_typed
from ..protocol.errors import ScoreError, TaskError, TollbookError
from ..scorers.measures import measured
from ..scorers.predicates import MAX_FILE_BYTES, PredicateSet, load
from ..scorers.projection import projections
from ..scorers.schema import check_names, shapes_of
from ..scorers.score import Score, score_run, standing
from ..scorers.view import Answers, case_view, episode_of
from .format.task import Task, load_task
from .play.conduct import known_task
from .tau2.recorded import label_of, read_recorded_task, reward_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..ledger.audit import Audit
    from ..protocol.world import World

ACTOR = "assistant"
_HINT = "give a file of predicates, or a task file"


class Judge:
    """Scores runs, each by its own task, or all by a file that is given.

    ``projected``: with what judges would see of them who see less; ``measured``:
    with the measures of a market that has any.
    """

    def __init__(
        self,
        given: Task | PredicateSet | None = None,
        *,
        projected: bool = False,
        measured: bool = False,
    ) -> None:
        self._projected = projected
        self._measured = measured
        self._task = given if isinstance(given, Task) else None
        self._given = given.predicates if isinstance(given, Task) else given
        self._used: dict[str, PredicateSet] = {}
        if self._given is not None:
            self._used[self._given.digest] = self._given

    @property
    def sets(self) -> tuple[PredicateSet, ...]:
        """The predicate sets that judged, in the order of their first use."""
        return tuple(self._used.values())

    def score(self, audit: Audit) -> Score:
        """The score of a run whose audit kept what was said; where it must not be judged, why not.

        Raises:
            ScoreError: the run's task is not one that can be judged by.
        """
        return self._of_played(audit) if audit.custody == "played" else self._of_recorded(audit)

    def _of_played(self, audit: Audit) -> Score:
        try:
            task, scene = known_task(audit)
            oracle = (self._task or task).scenes.oracle(scene)
        except TaskError as error:
            return score_run(audit, self._given, None, unjudged=error.text)
        predicates = self._use(self._given or task.predicates)
        if standing(audit) is not None:
            return score_run(audit, predicates, None, actor=task.actor)
        _check_names(predicates, task.world)
        answers = Answers(scene.case, scene.mandates.get(task.actor, {}), oracle)
        view = case_view(audit, task.actor, answers, predicates.reads)
        score = score_run(audit, predicates, view, actor=task.actor)
        if self._measured:
            score = score._replace(measured=measured(episode_of(audit), task.actor))
        return self._with_projections(score, audit, task.actor)

    def _of_recorded(self, audit: Audit) -> Score:
        from .tau2.oracle import oracle_of  # noqa: PLC0415 - brings in the recorded market

        predicates = self._use(self._given or recorded_predicates())
        if standing(audit) is not None:
            return score_run(audit, predicates, None)
        if audit.task is None:
            why = "the task that it was graded by is not in the file"
            return score_run(audit, predicates, None, unjudged=why)
        assert audit.replayed is not None
        assert audit.replayed.world is not None
        _check_names(predicates, audit.replayed.world)
        task = read_recorded_task(audit.task)
        score = score_run(
            audit,
            predicates,
            case_view(audit, ACTOR, Answers(oracle=oracle_of(audit)), predicates.reads),
            recorded=reward_of(task),
            label=label_of(task),
            cluster=digest_typed((task.actions, task.strings)),
            actor=ACTOR,
        )
        return self._with_projections(score, audit, ACTOR)

    def _with_projections(self, score: Score, audit: Audit, actor: str) -> Score:
        if not self._projected:
            return score
        return score._replace(projections=projections(episode_of(audit), actor))

    def _use(self, predicates: PredicateSet) -> PredicateSet:
        return self._used.setdefault(predicates.digest, predicates)


@cache
def recorded_predicates() -> PredicateSet:
    """The predicates of recorded retail runs, which come with the package."""
    own = files("tollbook.tasks") / "suites" / "retail" / "recorded.toml"
    return load(own.read_text(encoding="utf-8"))


def read_judgement(path: Path) -> Task | PredicateSet:
    """What a file says runs are judged by: a task, or predicates alone.

    Raises:
        ScoreError: it holds neither, or wrong ones.
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ScoreError("predicate.size", f"`{path}` is over {MAX_FILE_BYTES} bytes", _HINT)
    try:
        text = data.decode()
        if _is_task(text):
            return load_task(text)
        predicates = load(text)
        _ = predicates.programs  # compiled here, where the file's name is at hand
    except UnicodeDecodeError:
        raise ScoreError("predicate.form", f"`{path}` is not UTF-8 text", _HINT) from None
    except TollbookError as error:
        raise ScoreError(error.code, f"`{path}`: {error.text}", error.hint or "correct the file") from None
    return predicates


def _is_task(text: str) -> bool:
    """Whether a text means to be a task: predicates alone have no actor."""
    try:
        return "actor" in tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


@cache
def _check_names(predicates: PredicateSet, world: World) -> None:
    """As `check_names`, once for each world."""
    check_names(predicates, shapes_of(world))

"""Which predicates judge a run, and what they are given: from audits to scores.

    audit of a recorded run ─► oracle, case view ─► predicates ─► Score
    receipts kept before    ─► what this scoring changed

The predicates of recorded retail runs come with the package; another file
may be given instead, and changes nothing but the judgement.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ..protocol.canonical import digest_typed
from ..protocol.errors import ScoreError
from ..scorers.predicates import MAX_FILE_BYTES, PredicateSet, load
from ..scorers.schema import check_names, shapes_of
from ..scorers.score import Score, score_run, standing
from ..scorers.view import Answers, case_view
from .tau2.oracle import oracle_of
from .tau2.recorded import label_of, read_recorded_task, reward_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..ledger.audit import Audit
    from ..protocol.world import World

ACTOR = "assistant"
_HINT = "give a file of predicates"


def read_predicates(path: Path | None) -> PredicateSet:
    """The predicates of a file, or those of recorded retail runs.

    Raises:
        ScoreError: the file holds no predicates, or wrong ones.
        OSError: it can't be read.
    """
    if path is None:
        own = files("tollbook.tasks") / "suites" / "retail" / "recorded.toml"
        return load(own.read_text(encoding="utf-8"))
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ScoreError("predicate.size", f"`{path}` is over {MAX_FILE_BYTES} bytes", _HINT)
    try:
        predicates = load(data.decode())
        _ = predicates.programs  # compiled here, where the file's name is at hand
    except UnicodeDecodeError:
        raise ScoreError("predicate.form", f"`{path}` is not UTF-8 text", _HINT) from None
    except ScoreError as error:
        raise ScoreError(error.code, f"`{path}`: {error.text}", error.hint or "correct the file") from None
    return predicates


def judge_run(audit: Audit, predicates: PredicateSet) -> Score:
    """The score of a run whose audit kept its deeds; a run that must not be judged has its reason instead.

    Raises:
        ScoreError: the run's task is not that of a recorded run.
    """
    if standing(audit) is not None:
        return score_run(audit, predicates, None)
    if audit.task is None:
        why = "the task that it was graded by is not in the file"
        return score_run(audit, predicates, None, unjudged=why)
    assert audit.replayed is not None
    assert audit.replayed.world is not None
    _check_names(predicates, audit.replayed.world)
    task = read_recorded_task(audit.task)
    return score_run(
        audit,
        predicates,
        case_view(audit, ACTOR, Answers(oracle=oracle_of(audit)), predicates.reads),
        recorded=reward_of(task),
        label=label_of(task),
        cluster=digest_typed((task.actions, task.strings)),
    )


@cache
def _check_names(predicates: PredicateSet, world: World) -> None:
    """As `check_names`, once for each world."""
    check_names(predicates, shapes_of(world))

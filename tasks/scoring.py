"""From the words of a command to scores: what `score`, `analyse` and `report` have in common.

    RUN… or FILE ─► verify ─► replayed run ─► judge ─► scores ─► exit code

Not here: who judges (`judging`), which runs the words name (`selection`), receipts (`receipts`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from ..protocol.errors import ScoreError
from .console import PATH, Exit, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ..ledger.audit import Audit
    from ..scorers.score import Score
    from .judging import Judge
    from .session import Session

runs_argument: Final = click.argument("what", nargs=-1, metavar="[RUN… | FILE]")
"""Runs of the ledger, all without one, or a bundle."""

task_option: Final = click.option(
    "--task", type=PATH, help="A task file, or predicates alone, instead of each run's own."
)
"""`--task`, the file that `judge_of` takes."""


def judge_of(task: Path | None, *, projected: bool = False, measured: bool = False) -> Judge:
    """Who judges: by the file, where one is given; else each run by its own task.

    Raises:
        ScoreError: the file holds neither a task nor predicates, or wrong ones.
        OSError: it can't be read.
    """
    from .judging import Judge, read_judgement  # noqa: PLC0415 - brings in CEL

    return Judge(None if task is None else read_judgement(task), projected=projected, measured=measured)


def scores_of(session: Session, what: Sequence[str], judge: Judge, *, quiet: bool) -> list[Score]:
    """The scores of the runs that the words name, each verified first; ``quiet`` shows no progress.

    Raises:
        UsageError: as `selection.bundle_of`.
        BundleError: as there, or the bundle can't be read.
        LedgerError: as `selection.select`.
        ScoreError: a run's task is not one that can be judged by.
    """
    return [judge.score(audit) for audit in _audits(session, what, quiet=quiet)]


def exit_of(scores: Sequence[Score], unkept: ScoreError | None = None) -> Exit:
    """The exit code; what was found false goes before what could not be done.

    ``unkept``: why no receipt was kept.

    Raises:
        ScoreError: `receipt.unkept`; `score.unverified`, for runs that could not be verified whole.
    """
    invalid = [score for score in scores if score.outcome == "invalid"]
    if any("failed" in score.checks.values() for score in invalid):
        return Exit.FOUND_FALSE
    if unkept is not None:
        raise unkept
    if invalid:
        what = f"not scored: {len(invalid)} of {counted(len(scores), 'run')} could not be verified whole"
        raise ScoreError("score.unverified", what, "see what is missing: `tollbook verify`")
    return Exit.GOOD


def _audits(session: Session, what: Sequence[str], *, quiet: bool) -> Iterator[Audit]:
    from ..ledger.verify import verify_bundle, verify_store  # noqa: PLC0415 - brings in the market
    from .play.conduct import with_conduct  # noqa: PLC0415 - brings in CEL
    from .progress import progress  # noqa: PLC0415 - the help needs none
    from .selection import bundle_of, naming, select  # noqa: PLC0415 - as above

    bundle = bundle_of(what)
    if bundle is not None:
        with naming(bundle):
            yield from verify_bundle(bundle, keep=True, further=with_conduct)
        return
    with session.store() as store:
        runs = select(store, what)
    with progress(len(runs), "scoring", quiet=quiet) as step:
        for audit in verify_store(session.ledger_path, runs, keep=True, further=with_conduct):
            yield audit
            step()

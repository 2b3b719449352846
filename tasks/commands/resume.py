"""`tollbook resume`: open runs gone on with to their end, or given up.

    RUN… (all open ones without one) ─► what is recorded, played again ─► the rest, sealed and scored

Not here: playing on (`tollbook.tasks.play.resume`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...protocol.errors import LedgerError, UsageError
from ..console import Exit, json_option, print_document, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...ledger.audited import Audit
    from ...ledger.store import Store
    from ...protocol.bodies import Agent as Stated
    from ..format.task import Task
    from ..play.agent import Agent


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@click.option("--agent", "word", metavar="NAME", help="The program that plays: exec:COMMAND.")
@click.option("--abandon", is_flag=True, help="Seal the runs as they are, given up; they are not scored.")
@json_option
@pass_session
def command(
    session: Session, runs: tuple[str, ...], word: str | None, *, abandon: bool, as_json: bool
) -> Exit:
    """Go on with open runs, by id or its beginning (all open ones without one), to their end, and score them.

    A run whose agent is deterministic ends as it would have without the interruption.
    """
    from ..judging import Judge  # noqa: PLC0415 - brings in CEL
    from ..receipts import keep_receipts  # noqa: PLC0415 - as above

    if abandon and word is not None:
        what = "`--abandon` plays nothing, so no agent is needed"
        raise UsageError("usage.agent", what, "leave out `--agent`")
    secret = session.secret()
    judge = Judge()
    with session.store() as store:  # so that none is made where there is none
        numbers = _open_runs(store, runs)
    with session.store_to_write(secret) as store:
        audits = [_ended(store, secret, number, word, abandon=abandon) for number in numbers]
    scores = [judge.score(audit) for audit in audits]
    keep_receipts(session, scores)
    findings = [finding for audit in audits for finding in audit.findings]
    if as_json:
        fields = ("run", "outcome", "records", "root")
        ended = [{name: getattr(audit, name) for name in fields} for audit in audits]
        documents = [score.document() for score in scores]
        print_document("resume", {"runs": ended, "scores": documents, "findings": findings})
    else:
        for audit, score in zip(audits, scores, strict=True):
            worth = score.outcome if score.value is None else str(score.value)
            click.echo(f"{audit.run[:12]}  {audit.outcome}, {audit.records} records, score {worth}")
        for finding in findings:
            click.echo(f"{finding.run[:12]} {finding.code}: {printable(finding.text)}")
    return Exit.FOUND_FALSE if findings else Exit.GOOD


def _open_runs(store: Store, words: Sequence[str]) -> list[int]:
    """The numbers of the runs that the words name, or of all that are open.

    Raises:
        LedgerError: as `select`; `run.none_open`.
    """
    from ..selection import select  # noqa: PLC0415 - brings in the store

    if words:
        return [number for number, _run_id in select(store, words)]
    sealed = {str(row["run"]) for row in store.overview() if row["outcome"] is not None}
    left = [number for number, run_id in store.runs() if run_id not in sealed]
    if not left:
        raise LedgerError("run.none_open", f"`{store.path}` has no open run", "see `tollbook ls`")
    return left


def _ended(store: Store, secret: bytes, number: int, word: str | None, *, abandon: bool) -> Audit:
    from ..play import resume  # noqa: PLC0415 - brings in CEL

    if abandon:
        return resume.abandon(store, secret, number)

    def caster(task: Task, stated: Stated, seed: str) -> Agent:
        return _agent_again(task, stated, seed, word)

    return resume.resume(store, secret, number, caster).audit


def _agent_again(task: Task, stated: Stated, seed: str, word: str | None) -> Agent:
    """The agent that a run says it was played by.

    Raises:
        UsageError: `usage.agent`, a program that isn't given, or as `cast`.
    """
    from ..play.baselines import word_of  # noqa: PLC0415 - brings in CEL
    from ..play.casting import Part, cast, limits_of  # noqa: PLC0415 - as above

    if word is None and "protocol" in stated.settings:
        hint = "give it again: `--agent exec:COMMAND`"
        raise UsageError("usage.agent", f"the run is played by the program `{stated.name}`", hint)
    part = Part(word=word or word_of(stated), name=stated.name, model=stated.model, limits=limits_of(stated))
    try:
        return cast(task, part)(seed)
    except UsageError:
        if word is not None:
            raise
    return cast(task, part._replace(word=f"cheat:{stated.name}"))(seed)



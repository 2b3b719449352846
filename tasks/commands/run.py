"""`tollbook run`: tasks played, each trial a run: sealed, verified, its conduct checked, scored.

    TASK… × cases × trials ─► runs, in as many processes as asked for ─► scores, receipts, report

The trials of a case and agent go on from those that the ledger has.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import click

from ...protocol.errors import UsageError
from ..console import Exit, counted, json_option, print_document, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...ledger.store import Store
    from ...ledger.writer import Keeper
    from ...scorers.score import Score
    from ..format.task import Task
    from ..play.agent import Agent
    from ..play.casting import Maker, Part
    from ..play.play import Ending


class Job(NamedTuple):
    """One run to be played: the place of its task, the case, the trial."""

    task: int
    case: str
    trial: int


class Side(NamedTuple):
    """Who plays a task: the actor's part, and the words for other parties, by their ids."""

    part: Part
    others: Mapping[str, str]


class Chosen(NamedTuple):
    """The cases and renderings that are asked for; all plain cases where nothing is."""

    cases: Sequence[str]
    renderings: Sequence[str]

    def of(self, task: Task) -> list[str]:
        """The names of a task's cases among them, in the order of its file."""
        from ...scorers.cases import parts_of  # noqa: PLC0415 - as below
        from ..format.rendering import ALL, cases_of  # noqa: PLC0415 - brings in CEL

        named = self.cases or list(task.file.case)
        if not self.renderings:
            return [case for case in cases_of(task.file) if case in named]
        wanted = ["", *task.file.rendering] if ALL in self.renderings else self.renderings
        parts = [(case, *parts_of(case)) for case in cases_of(task.file)]
        return [case for case, plain, each in parts if each in wanted and (case in named or plain in named)]


class Result(NamedTuple):
    """One run that was played: its score, how it ended, and what a check found."""

    run: str
    score: Score
    ending: Ending
    findings: tuple[str, ...]


@click.command()
@click.argument("tasks", nargs=-1, required=True, metavar="TASK…")
@click.option("--case", "cases", multiple=True, metavar="CASE", help="Only this case; may be given again.")
@click.option(
    "--rendering",
    "renderings",
    multiple=True,
    metavar="ID",
    help="Cases in these words of the task's, CASE@ID; `all`: plainly and in all of them.",
)
@click.option(
    "--trials",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default=True,
    metavar="K",
    help="Runs of each case, on from those that the ledger has.",
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="ROLE=NAME",
    help="Who plays the actor: reference (default), alternative:ID, mutation:ID, cheat:NAME, stand_in:NAME, "
    "baseline:NAME or exec:COMMAND; and another PARTY, where agents play it: baseline:NAME.",
)
@click.option("--as", "name", metavar="NAME", help="What to call a program in the runs.")
@click.option("--model", default="", metavar="TEXT", help="Which model a program uses, as you state it.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that play.",
)
@click.option(
    "--turn-seconds",
    type=click.FloatRange(0.01),
    default=60.0,
    show_default=True,
    metavar="S",
    help="How long a program may be silent at a turn.",
)
@click.option(
    "--run-seconds",
    type=click.FloatRange(0.01),
    default=1_800.0,
    show_default=True,
    metavar="S",
    help="How long a program may take for all of a run.",
)
@click.option(
    "--max-cost-micros", type=click.IntRange(0), metavar="N", help="The most a program's run may cost."
)
@json_option
@pass_session
def command(  # noqa: PLR0913 - click's way to take options
    session: Session,
    tasks: tuple[str, ...],
    cases: tuple[str, ...],
    renderings: tuple[str, ...],
    trials: int,
    agents: tuple[str, ...],
    name: str | None,
    model: str,
    jobs: int,
    turn_seconds: float,
    run_seconds: float,
    max_cost_micros: int | None,
    *,
    as_json: bool,
) -> Exit:
    """Play tasks: files, folders of them, or built-in ones by id. Each trial is a run, verified and scored.

    A program that plays is told lines of JSON and answers with lines; see docs/TASKS.md.
    """
    from ..play.casting import Part  # noqa: PLC0415 - brings in CEL
    from ..play.child import Limits  # noqa: PLC0415 - as above

    limits = Limits(turn_seconds=turn_seconds, run_seconds=run_seconds, cost_micros=max_cost_micros)
    loaded = _load(tasks)
    given = _given(loaded, agents)
    sides = [_side(task, given, Part(name=name, model=model, limits=limits)) for task in loaded]
    chosen = Chosen(cases, renderings)
    _check_cases(loaded, chosen)
    results = list(_play(session, loaded, sides, chosen, trials, jobs, quiet=as_json))
    return _report(session, loaded, results, as_json=as_json)


def _load(words: Sequence[str]) -> list[Task]:
    from ..format.task import load_task  # noqa: PLC0415 - brings in CEL
    from ..play.conduct import remember  # noqa: PLC0415 - as above
    from ..shelf import find_tasks, naming_task  # noqa: PLC0415 - as above

    loaded: list[Task] = []
    for found in find_tasks(words):
        with naming_task(found.name):
            loaded.append(load_task(found.text))
    for task in loaded:
        remember(task)
    return loaded


def _given(tasks: Sequence[Task], agents: Sequence[str]) -> dict[str, str]:
    """The word for each role or party that is given an agent.

    Raises:
        UsageError: `usage.agent`.
    """
    given: dict[str, str] = {}
    for words in agents:
        role, equals, name = words.partition("=")
        if not equals or not role or not name:
            hint = "write `--agent ROLE=NAME`, such as `--agent buyer=reference`"
            raise UsageError("usage.agent", f"`{words}` is not ROLE=NAME", hint)
        if role in given:
            raise UsageError("usage.agent", f"role `{role}` is given two agents", "give one of them")
        given[role] = name
    actors = {role for task in tasks for role in (task.actor, task.roles[task.actor])}
    players = {party for task in tasks for party in task.players} - actors
    for role in given:
        if role not in actors | players:
            named = ", ".join(sorted(players))
            rest = f"baselines play {named}" if players else "others follow the task's script"
            hint = f"the evaluated parties are {', '.join(sorted(actors))}; {rest}"
            raise UsageError("usage.agent", f"`{role}` is no party that an agent plays here", hint)
    return given


def _side(task: Task, given: Mapping[str, str], plain: Part) -> Side:
    """Who plays a task."""
    word = given.get(task.actor) or given.get(task.roles[task.actor])
    others = {party: given[party] for party in task.players if party in given and party != task.actor}
    return Side(plain if word is None else plain._replace(word=word), others)


def _play(  # noqa: PLR0913 - what is played, and how
    session: Session,
    tasks: Sequence[Task],
    sides: Sequence[Side],
    chosen: Chosen,
    trials: int,
    workers: int,
    *,
    quiet: bool,
) -> Iterator[Result]:
    from ..judging import Judge  # noqa: PLC0415 - brings in CEL
    from ..play.casting import cast, cast_others  # noqa: PLC0415 - as above
    from ..play.crew import play_all  # noqa: PLC0415 - as above
    from ..play.recorder import Ledger, record  # noqa: PLC0415 - as above
    from ..progress import progress  # noqa: PLC0415 - the help needs none

    makers = [cast(task, side.part) for task, side in zip(tasks, sides, strict=True)]
    companies = [cast_others(task, side.others) for task, side in zip(tasks, sides, strict=True)]
    judge = Judge()
    secret = session.secret_or_new()

    def play(keeper: Keeper, job: Job) -> Result:
        task = tasks[job.task]
        seed = task.scenes.seed(job.case, job.trial)
        agent, others = makers[job.task](seed), companies[job.task](seed)
        recorded = record(Ledger(keeper, secret, session.name), task, job.case, job.trial, agent, others)
        audit = recorded.audit
        findings = tuple(f"{finding.code}: {finding.text}" for finding in audit.findings)
        return Result(audit.run, judge.score(audit), recorded.ending, findings)

    whole = not any(side.part.outside for side in sides)
    with session.store_to_write(secret) as store:
        jobs = list(_jobs(store, list(zip(tasks, makers, companies, strict=True)), chosen, trials))
        with progress(len(jobs), "playing", quiet=quiet) as step:
            found: dict[Job, Result] = {}
            for job, result in play_all(store, jobs, play, workers, whole=whole):
                found[job] = result
                step()
    yield from (found[job] for job in jobs)


def _jobs(
    store: Store,
    casts: Sequence[tuple[Task, Maker, Callable[[str], Mapping[str, Agent]]]],
    chosen: Chosen,
    trials: int,
) -> Iterator[Job]:
    """The runs to be played: of each chosen case the next trials that the ledger hasn't."""
    from ..play.trials import next_trials  # noqa: PLC0415 - brings in the store

    again = Counter[tuple[str, str]]()
    for place, (task, maker, company) in enumerate(casts):
        firsts = next_trials(store, task, maker(""), company(""))
        for case in chosen.of(task):
            first = firsts[case] + again[task.digest, case]
            again[task.digest, case] += trials
            yield from (Job(place, case, trial) for trial in range(first, first + trials))


def _check_cases(tasks: Sequence[Task], chosen: Chosen) -> None:
    """Works every case out once before anything is written.

    Raises:
        UsageError: `usage.case`, a case or rendering that no task has.
        TaskError: a case can't be worked out.
    """
    from ..format.rendering import ALL, cases_of  # noqa: PLC0415 - brings in CEL
    from ..shelf import naming_task  # noqa: PLC0415 - as above

    _check_known("case", chosen.cases, [case for task in tasks for case in cases_of(task.file)])
    renderings = [rendering for task in tasks for rendering in task.file.rendering]
    _check_known("rendering", chosen.renderings, [*renderings, ALL] if renderings else [])
    for task in tasks:
        for case in chosen.of(task):
            with naming_task(task.file.id):
                task.scenes.stage(case, task.scenes.seed(case, 0))


def _check_known(what: str, named: Sequence[str], known: Sequence[str]) -> None:
    from ...scorers.lets import near  # noqa: PLC0415 - brings in CEL

    for name in named:
        if name not in known:
            there = list(dict.fromkeys(known))
            hint = near(name, there, f"there are {', '.join(there[:12]) or 'none'}")
            raise UsageError("usage.case", f"no task here has a {what} `{name}`", hint)


def _report(session: Session, tasks: Sequence[Task], results: Sequence[Result], *, as_json: bool) -> Exit:
    from ...scorers.report import document_of, text_of  # noqa: PLC0415 - brings in CEL
    from ..receipts import keep_receipts  # noqa: PLC0415 - as above

    scores = [result.score for result in results]
    keep_receipts(session, scores)
    sets = list({task.predicates.digest: task.predicates for task in tasks}.values())
    if as_json:
        ends = [_end(result) for result in results]
        print_document("run", {**document_of(scores, sets), "ends": ends})
    else:
        click.echo(text_of(scores, sets), nl=False)
        _remark(results)
    return Exit.FOUND_FALSE if any(result.findings for result in results) else Exit.GOOD


def _end(result: Result) -> dict[str, object]:
    ending = result.ending
    return {
        "run": result.run,
        "outcome": ending.outcome,
        "reason": ending.reason,
        "silences": [silence._asdict() for silence in ending.silences],
        "findings": result.findings,
    }


def _remark(results: Sequence[Result]) -> None:
    """Says what ended otherwise than by the task, which rules were in error, and what doesn't verify."""
    outcomes = Counter(result.ending.outcome for result in results)
    said = ", ".join(f"{outcome} {count}" for outcome, count in sorted(outcomes.items()))
    click.echo(f"ended: {said}")
    for result in results:
        run = result.run[:12]
        if result.ending.reason is not None:
            click.echo(f"{run} {result.ending.outcome}: {printable(result.ending.reason)}")
        for silence in result.ending.silences:
            where = "the start" if silence.seq is None else f"record {silence.seq}"
            click.echo(f"{run} silent at {where}: {silence.place}: {printable(silence.text)}")
        for finding in result.findings:
            click.echo(f"{run} {printable(finding)}")
    wrong = sum(bool(result.findings) for result in results)
    if wrong:
        click.echo(f"{counted(wrong, 'run')} of {len(results)} did not verify", err=True)

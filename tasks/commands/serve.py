"""`tollbook serve`: runs played by parties outside, each with its own key, over HTTP.

    TASK… ─► host ─► a party opens a run, says what it says, is shown what its role may see ─► sealed, scored

Each run that ends is one line on stdout. Nothing but stopping it ends the command.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from ...protocol.errors import UsageError
from ..console import PATH, Exit, counted, flush, printable
from ..session import Session, pass_session

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from pathlib import Path

    from ..format.task import Task
    from ..serve.host import Ended
    from ..serve.limits import Limits

_TOKEN_CHARS = (16, 256)
_SERVING = ("starlette", "uvicorn")
_LOCAL = ("127.0.0.1", "::1", "localhost")


@click.command()
@click.argument("tasks", nargs=-1, required=True, metavar="TASK…")
@click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="NAME", help="The address to listen at."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8_470,
    show_default=True,
    metavar="N",
    help="The port; 0 is any that is free.",
)
@click.option("--token-file", type=PATH, help="Tokens, one a line: only who shows one may open runs.")
@click.option(
    "--max-runs",
    type=click.IntRange(1, 1_000),
    default=32,
    show_default=True,
    metavar="N",
    help="The most runs that are played at once.",
)
@click.option(
    "--turn-seconds",
    type=click.FloatRange(0.1),
    default=300.0,
    show_default=True,
    metavar="S",
    help="How long a party may be silent at a turn; then its run is sealed as abandoned.",
)
@click.option(
    "--run-seconds",
    type=click.FloatRange(0.1),
    default=3_600.0,
    show_default=True,
    metavar="S",
    help="How long a run may take in all.",
)
@click.option("--tell-score", is_flag=True, help="Tell each party what its run is worth, once it is sealed.")
@pass_session
def command(  # noqa: PLR0913 - click's way to take options
    session: Session,
    tasks: tuple[str, ...],
    host: str,
    port: int,
    token_file: Path | None,
    max_runs: int,
    turn_seconds: float,
    run_seconds: float,
    *,
    tell_score: bool,
) -> Exit:
    """Host runs of tasks for agents elsewhere: each brings its own key, and signs what it says.

    The interface is in docs/SERVE.md. Needs the extra `serve`. Stop it with Ctrl-C: runs that are open are
    sealed as abandoned.
    """
    _check_extra()
    from ..serve.limits import Limits  # noqa: PLC0415 - the help needs none
    from ..serve.server import listening  # noqa: PLC0415 - brings in uvicorn

    loaded = _load(tasks)
    tokens = [] if token_file is None else _tokens(token_file)
    limits = Limits()._replace(runs=max_runs, turn_seconds=turn_seconds, run_seconds=run_seconds)
    with listening(host, port) as made:
        if not tokens and host not in _LOCAL:
            click.echo("note: whoever reaches this address can open runs; see --token-file", err=True)
        _serve(session, loaded, limits, tokens, made, tell_score=tell_score)
    return Exit.GOOD


def _serve(  # noqa: PLR0913 - what is served, where, and to whom
    session: Session,
    tasks: Sequence[Task],
    limits: Limits,
    tokens: Sequence[str],
    made: socket.socket,
    *,
    tell_score: bool,
) -> None:
    import asyncio  # noqa: PLC0415 - the help needs none

    from ..serve.app import app_of  # noqa: PLC0415 - brings in Starlette
    from ..serve.host import Host  # noqa: PLC0415 - brings in CEL
    from ..serve.scribe import Scribe  # noqa: PLC0415 - as above
    from ..serve.server import serve  # noqa: PLC0415 - brings in uvicorn

    secret = session.secret_or_new()
    with Scribe(partial(session.store_to_write, secret)) as scribe:
        offering = Host(scribe, secret, session.name, tasks, limits, tell=_tell, shows_score=tell_score)
        address, port = made.getsockname()[:2]
        where = f"[{address}]" if ":" in address else address

        def ready(stop: object) -> None:
            del stop
            what = f"{counted(len(tasks), 'task')} of `{session.name}`"
            click.echo(f"serving {what} at http://{where}:{port}", err=True)

        asyncio.run(serve(offering, app_of(offering, tokens), made, ready))


def _check_extra() -> None:
    """Refuses to begin without what HTTP takes.

    Raises:
        UsageError: `usage.extra`.
    """
    missing = [name for name in _SERVING if find_spec(name) is None]
    if missing:
        what = f"`tollbook serve` needs {' and '.join(missing)}, which isn't installed"
        raise UsageError("usage.extra", what, "install `tollbook[serve]`")


def _load(words: Sequence[str]) -> list[Task]:
    from ..format.task import load_task  # noqa: PLC0415 - brings in CEL
    from ..shelf import find_tasks, naming_task  # noqa: PLC0415 - as above

    loaded: dict[str, Task] = {}
    for found in find_tasks(words):
        with naming_task(found.name):
            task = load_task(found.text)
        if task.file.id in loaded:
            what = f"task `{task.file.id}` is named twice, and is asked for by its id"
            raise UsageError("usage.task", what, "leave one of them out")
        loaded[task.file.id] = task
    return list(loaded.values())


def _tokens(path: Path) -> list[str]:
    """The tokens of a file.

    Raises:
        UsageError: `usage.token`, it holds none, or one that is none.
    """
    least, most = _TOKEN_CHARS
    hint = f"write one token a line, of {least} to {most} printable ASCII characters without spaces"
    try:
        lines = path.read_text(encoding="ascii").split("\n")
    except UnicodeDecodeError:
        raise UsageError("usage.token", f"`{path}` is not ASCII text", hint) from None
    tokens = [line.strip() for line in lines if line.strip()]
    if not tokens:
        raise UsageError("usage.token", f"`{path}` holds no token", hint)
    for place, token in enumerate(tokens, 1):
        if not (least <= len(token) <= most and token.isprintable() and " " not in token):
            raise UsageError("usage.token", f"`{path}`: token {place} is none", hint)
    return tokens


def _tell(ended: Ended) -> None:
    """Prints one line for a run that ended, and one for each thing that is wrong with it."""
    from ...scorers.report import points  # noqa: PLC0415 - brings in CEL

    worth = "not scored" if ended.score is None else points(ended.score)
    agent = printable(ended.agent)
    run = ended.run[:12]
    click.echo(f"{run} {ended.task} {ended.case} trial {ended.trial} by {agent}: {ended.outcome}, {worth}")
    for finding in ended.findings:
        click.echo(f"{run} {printable(finding)}")
    flush()

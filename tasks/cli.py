"""The command `tollbook`: global options, the table of verbs, and how each ends.

    tollbook [--ledger PATH] [--secret PATH] [--name NAME] VERB …
        → Session → tollbook.tasks.commands.<verb>.command → Exit

A verb's module is imported when the verb is used (or for the list in `--help`),
so `--version` and a typing error cost no more than click. However a command
ends, it ends here: with its `Exit`, or with one `error:` line and one `hint:`
line on stderr. Tracebacks are for us, under TOLLBOOK_DEBUG=1.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import click

from ..protocol.errors import UsageError
from . import VERSION
from .complaint import Complaint, bug_of, complaint_of
from .console import PATH, Exit, fall_silent, flush, print_error, speak_utf8
from .session import DEFAULT_LEDGER, DEFAULT_NAME, Session, secret_path_of

VERBS: Final = {
    "run": "run",
    "resume": "resume",
    "serve": "serve",
    "task": "task",
    "import": "import_",
    "ls": "ls",
    "log": "log",
    "show": "show",
    "replay": "replay",
    "diff": "diff",
    "verify": "verify",
    "check": "check",
    "study": "study",
    "score": "score",
    "analyse": "analyse",
    "report": "report",
    "export": "export",
    "prove": "prove",
    "demo": "demo",
    "key": "key",
}
"""Each verb and its module in `tollbook.tasks.commands`, in the order of the help."""

_COMPLETE: Final = "_TOLLBOOK_COMPLETE"


class Verbs(click.Group):
    """The verbs, imported when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of the table."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb, or None."""
        del ctx
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f".commands.{VERBS[cmd_name]}", __package__)
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, but a wrong verb is met with the nearest right one."""
        if args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(args[0], VERBS, 1)
            raise UsageError(
                "usage.verb",
                f"there is no command `{args[0]}`",
                f"did you mean `tollbook {near[0]}`?" if near else "see `tollbook --help`",
            )
        return super().resolve_command(ctx, args)


def _ledger_name(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if value == DEFAULT_NAME:
        return value
    import msgspec  # noqa: PLC0415 - only a given name needs the check

    from ..protocol.bodies import LedgerName  # noqa: PLC0415 - as above

    try:
        return msgspec.convert(value, LedgerName)
    except msgspec.ValidationError:
        text = f"{value!r} is not 1 to 64 of a–z, 0–9, `.`, `_`, `/` and `-`, the first a letter or digit"
        raise click.BadParameter(text, ctx, param) from None


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--ledger",
    "ledger_path",
    type=PATH,
    default=DEFAULT_LEDGER,
    envvar="TOLLBOOK_LEDGER",
    show_default=True,
    show_envvar=True,
    help="The ledger: a SQLite file.",
)
@click.option(
    "--secret",
    "secret_path",
    type=PATH,
    envvar="TOLLBOOK_SECRET",
    show_default="<ledger>.secret",
    show_envvar=True,
    help="The ledger's secret: 32 bytes from which its keys follow, made at first use.",
)
@click.option(
    "--name",
    default=DEFAULT_NAME,
    envvar="TOLLBOOK_NAME",
    show_default=True,
    show_envvar=True,
    callback=_ledger_name,
    help="The name under which the ledger signs.",
)
@click.version_option(VERSION, prog_name="tollbook", message="%(prog)s %(version)s")
@click.pass_context
def root(ctx: click.Context, ledger_path: Path, secret_path: Path | None, name: str) -> None:
    """An auditable ledger for markets of software agents: import, verify and rescore recorded runs."""
    ctx.obj = Session(ledger_path, secret_path or secret_path_of(ledger_path), name)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(args: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code; says on stderr what went wrong."""
    speak_utf8()
    try:
        code = _run(sys.argv[1:] if args is None else list(args))
        flush()
    except BrokenPipeError:
        fall_silent()
        return Exit.COULD_NOT
    except click.exceptions.Exit as end:
        return end.exit_code
    except (Exception, KeyboardInterrupt) as error:
        complaint = complaint_of(error)
        if complaint is None and os.environ.get("TOLLBOOK_DEBUG") == "1":
            raise
        return _complain(complaint or bug_of(error))
    return code


def _run(args: list[str]) -> int:
    instruction = os.environ.get(_COMPLETE)
    if instruction is not None:
        from click.shell_completion import shell_complete  # noqa: PLC0415 - for shells only

        return shell_complete(root, {}, "tollbook", _COMPLETE, instruction)
    # Not `root.main`: it takes any EOFError, a truncated gz among them, for an interrupt.
    with root.make_context("tollbook", args) as ctx:
        return root.invoke(ctx) or Exit.GOOD


def _complain(complaint: Complaint) -> Exit:
    try:
        print_error(complaint.text, complaint.hint)
        flush()
    except OSError:
        fall_silent()
    return complaint.exit


if __name__ == "__main__":
    sys.exit(main())

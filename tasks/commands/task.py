"""`tollbook task`: task files listed, shown, linted; new ones begun.

    TASK    a path · a folder of task files · the id of a built-in task
    lint    every way that the file says, played in memory ─► findings
    show    the same runs as tables: what each mutation takes, what carelessness earns

Not here: the findings (`tollbook.tasks.lint`); `task new` (`task_new`).
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import click

from ...protocol.errors import UsageError
from ..console import Exit, counted, json_option, print_document, printable
from .task_new import command as new

if TYPE_CHECKING:
    from ..lint.linter import Report
    from ..shelf import Found


@click.group(no_args_is_help=False)
def command() -> None:
    """List, show and lint tasks, and begin new ones."""


command.add_command(new)


@command.command()
@click.argument("tasks", nargs=-1, metavar="[TASK…]")
@json_option
def lint(tasks: tuple[str, ...], *, as_json: bool) -> Exit:
    """Play TASK, a file, a folder of files or a built-in task, every way it says, and find what is wrong.

    Without one, all built-in tasks are played.

    The reference, its alternatives and harmless variations of it must earn full
    credit, each mutation must lose what it says, and no careless policy may earn
    much. Nothing is recorded. Warnings are of what does nothing; errors end with 3.
    """
    from ..lint.linter import lint as lint_text  # noqa: PLC0415 - brings in the market
    from ..progress import progress  # noqa: PLC0415 - the help needs none
    from ..shelf import builtin_tasks, find_tasks  # noqa: PLC0415 - as above

    found = find_tasks(tasks) if tasks else list(builtin_tasks())
    reports: list[Report] = []
    with progress(len(found), "linting", quiet=as_json) as step:
        for each in found:
            reports.append(lint_text(each.text))
            step()
    if as_json:
        documents = [_linted(each, report) for each, report in zip(found, reports, strict=True)]
        print_document("task", {"tasks": documents})
    else:
        for each, report in zip(found, reports, strict=True):
            _print_findings(each.name, report)
    return Exit.FOUND_FALSE if any(report.errors for report in reports) else Exit.GOOD


@command.command()
@click.argument("task")
@click.option("--markdown", is_flag=True, help="Print the sheet as Markdown.")
@json_option
def show(task: str, *, markdown: bool, as_json: bool) -> None:
    """Show TASK, a file or a built-in task: parties, cases, predicates, what mutations lose and cheats earn.

    Of a mutation a number is the credit that it leaves, `·` all of it.
    """
    from ..format.task import load_task  # noqa: PLC0415 - brings in the market
    from ..lint import sheet  # noqa: PLC0415 - as above
    from ..lint.linter import lint_task  # noqa: PLC0415 - as above
    from ..shelf import find_task, naming_task  # noqa: PLC0415 - as above

    if as_json and markdown:
        raise UsageError("usage.form", "`--json` and `--markdown` are two forms", "give one of them")
    found = find_task(task)
    with naming_task(found.name):
        loaded = load_task(found.text)
    report = lint_task(loaded)
    if as_json:
        print_document("task", sheet.document_of(loaded, report))
        return
    text = sheet.markdown_of(loaded, report) if markdown else sheet.text_of(loaded, report)
    for line in text.splitlines():
        click.echo(printable(line))
    if report.errors:
        click.echo(f"\nlint: {_count(report)}: see `tollbook task lint {printable(task)}`")


@command.command("list")
@json_option
def list_tasks(*, as_json: bool) -> None:
    """List the built-in tasks."""
    from ..shelf import builtin_tasks  # noqa: PLC0415 - the help needs none

    listed = [_listed(found) for found in builtin_tasks()]
    if as_json:
        print_document("task", {"tasks": listed})
        return
    rows = [("task", "world", "actor", "cases", "title")]
    rows += [(each["id"], each["world"], each["actor"], str(each["cases"]), each["title"]) for each in listed]
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        cells[3] = row[3].rjust(widths[3])
        click.echo("  ".join([*cells, row[4]]).rstrip())


def _listed(found: Found) -> dict[str, Any]:
    """What the list says of a built-in task.

    Raises:
        TaskError: the first fault of a file that doesn't say it.
    """
    try:
        file = tomllib.loads(found.text)
        told = {name: file[name] for name in ("id", "title", "world", "actor")}
        return {**told, "cases": len(file["case"])}
    except (ValueError, LookupError, TypeError):
        from ..format.task import load_task  # noqa: PLC0415 - brings in the market
        from ..shelf import naming_task  # noqa: PLC0415 - as above

        with naming_task(found.name):
            load_task(found.text)
        raise


def _linted(found: Found, report: Report) -> dict[str, Any]:
    return {
        "name": found.name,
        "id": None if report.task is None else report.task.file.id,
        "runs": len(report.runs),
        "errors": len(report.errors),
        "warnings": len(report.findings) - len(report.errors),
        "findings": [finding._asdict() for finding in report.findings],
    }


def _print_findings(name: str, report: Report) -> None:
    for finding in report.findings:
        where = f"{name}:{finding.line}" if finding.line else name
        place = f"{finding.place}: " if finding.place else ""
        click.echo(printable(f"{where}: {finding.level}: {place}{finding.text} [{finding.code}]"))
        if finding.hint is not None:
            click.echo(f"  hint: {printable(finding.hint)}")
    played = f", {counted(len(report.runs), 'run')} played" if report.task is not None else ""
    click.echo(f"{printable(name)}: {_count(report)}{played}")


def _count(report: Report) -> str:
    errors, warnings = len(report.errors), len(report.findings) - len(report.errors)
    return f"{counted(errors, 'error')}, {counted(warnings, 'warning')}"

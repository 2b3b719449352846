"""Writes what of docs/ follows from something else: commands, bad input, forged runs, the market, task files.

    commands (click)                        →  CLI.md      usage, options, defaults, settings
    tests/cli/errors.cases     →  play each →  ERRORS.md   what a terminal shows
    tests/quality/forgeries.py →  forge     →  FORGERY.md  what finds each forgery
    tests/quality/mistakes.toml → read each →  TASK_ERRORS.md  what an author is told
    tasks/suites/catalog                    →  CATALOG.md  what the invented catalog holds
    protocol/commerce                       →  COMMERCE.md what a task can use of the market
    tasks/format, protocol/commerce         →  schemas/task.schema.json, for editors
    tasks/suites                            →  TASKS.md    the files that it shows
    tasks/suites               →  lint each →  KILLS.md    what wrong runs earn

`make docs` runs it; tests/test_docs.py and tests/quality fail when the
files differ from what it would write. It takes no text from click's own help, whose layout changes with
click and the terminal.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("cli", "quality", "support")]

from broken_tasks import page as task_errors_page  # noqa: E402 - found by the line above
from catalog_page import catalog_page  # noqa: E402 - beside this script
from forgery_table import page as forgery_page  # noqa: E402 - found by the line above
from kills import Told, kills_page, told_of  # noqa: E402 - beside this script
from market_page import market_page  # noqa: E402 - beside this script
from script import Ran, Stage, parse  # noqa: E402 - found by the line above
from task_schema import schema_text  # noqa: E402 - beside this script
from worked import with_files  # noqa: E402 - beside this script

from tollbook.tasks.cli import root  # noqa: E402 - as above
from tollbook.tasks.console import Exit  # noqa: E402 - as above
from tollbook.tasks.lint.linter import lint  # noqa: E402 - as above
from tollbook.tasks.shelf import builtin_tasks  # noqa: E402 - as above

MADE = "<!-- Made by `make docs`. Edit {source} instead. -->"
DOCUMENTS: dict[str, dict[str, str]] = tomllib.loads(
    (ROOT / "docs" / "documents.toml").read_text(encoding="utf-8")
)
EXITS = {
    Exit.GOOD: "good",
    Exit.COULD_NOT: "could not be done",
    Exit.USAGE: "asked wrongly: no such command, option or value",
    Exit.FOUND_FALSE: "checked, and found false",
    Exit.BELOW_REQUIRED: "good as far as checked, and less than `--require` asks for",
    Exit.INTERRUPTED: "interrupted",
}


class Case(NamedTuple):
    """One row of the gallery: a command that must fail, and the stage it is set on."""

    section: str
    title: str
    steps: tuple[str, ...]
    command: str


class Played(NamedTuple):
    """What came of a case, and every file before and after it."""

    ran: Ran
    before: dict[str, bytes]
    after: dict[str, bytes]


def cli_page() -> str:
    """The text of docs/CLI.md."""
    lines = ["# The command line", "", MADE.format(source="the commands in `tasks/commands`"), ""]
    lines += [
        "Results go to stdout, everything else to stderr. With `--json` a result is one JSON document whose",
        "`schema` is `tollbook.<verb>/1`. A failure is told in two lines, `error: …` and `hint: …`;",
        "[ERRORS.md](ERRORS.md) has one of each kind. A shell completes commands and options after",
        '`eval "$(_TOLLBOOK_COMPLETE=bash_source tollbook)"` (or `zsh_source`, `fish_source`).',
        "",
        "In the paths of fields `[]` is each item of a list, `{}` each value of an object with keys of its",
        "own, and `…` what lies below and has its own page.",
        "",
        "| exit code | meaning |",
        "| --- | --- |",
        *(f"| {int(code)} | {EXITS[code]} |" for code in Exit),
        "",
    ]
    for path, command in commands("tollbook", root):
        lines += _section(path, command)
    return "\n".join(lines)


def errors_page() -> str:
    """The text of docs/ERRORS.md; every case runs in a folder of its own."""
    lines = ["# Errors", "", MADE.format(source="`tests/cli/errors.cases`"), ""]
    lines += ["What bad input is met with, each kind of it: real commands and what a terminal shows.", ""]
    section = ""
    for case in gallery():
        if case.section != section:
            section = case.section
            lines += [f"## {section}", ""]
        ran = play(case).ran
        lines += [f"{case.title[:1].upper()}{case.title[1:]} (exit code {ran.exit}):", ""]
        lines += ["```console", f"$ {case.command}", (ran.stdout + ran.stderr).rstrip("\n"), "```", ""]
    return "\n".join(lines)


def commerce_page() -> str:
    """The text of docs/COMMERCE.md."""
    return market_page(MADE.format(source="`protocol/commerce`"))


def goods_page() -> str:
    """The text of docs/CATALOG.md."""
    return catalog_page(MADE.format(source="`tasks/suites/catalog`"))


def tasks_page() -> str:
    """The text of docs/TASKS.md, with its files as they are now."""
    return with_files((ROOT / "docs" / "TASKS.md").read_text(encoding="utf-8"), ROOT)


def wrong_runs_page(told: Sequence[Told]) -> str:
    """The text of docs/KILLS.md, of what is told of each built-in task."""
    return kills_page(MADE.format(source="the tasks in `tasks/suites`"), told)


def gallery() -> Iterator[Case]:
    """The cases of tests/cli/errors.cases, in order."""
    section = title = ""
    steps: list[str] = []
    for line in parse(ROOT / "tests" / "cli" / "errors.cases"):
        if line.mark == "##":
            section = line.text
        elif line.mark == "#":
            title, steps = line.text, []
        elif line.mark == "%":
            steps.append(line.text)
        else:
            yield Case(section, title, tuple(steps), line.text)


def play(case: Case) -> Played:
    """Plays a case in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, Stage(Path(folder)) as stage:
        for step in case.steps:
            stage.prepare(step)
        before = stage.files()
        ran = stage.run(case.command)
        return Played(ran, before, stage.files())


def commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, with the words that call each."""
    yield path, command
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            assert below is not None
            yield from commands(f"{path} {name}", below)


def _section(path: str, command: click.Command) -> list[str]:
    options = [param for param in command.params if isinstance(param, click.Option)]
    words = [path, "[OPTION…]"] if options else [path]
    words += [_argument(param) for param in command.params if isinstance(param, click.Argument)]
    words += ["COMMAND"] if isinstance(command, click.Group) else []
    lines = [f"## {path}", "", "    " + " ".join(words), "", _prose(command.help), ""]
    if options:
        lines += ["| option | meaning | default | setting |", "| --- | --- | --- | --- |"]
        lines += [_row(option) for option in options] + [""]
    for asked in ("", " --seq", " --baseline"):
        if f"{path}{asked}" in DOCUMENTS:
            lines += [f"`{path.rpartition(' ')[2]}{asked} --json` prints, beside `schema`:", ""]
            lines += ["| field | what it says |", "| --- | --- |"]
            lines += [f"| `{field}` | {text} |" for field, text in DOCUMENTS[f"{path}{asked}"].items()] + [""]
    return lines


def _prose(text: str | None) -> str:
    """A help text as paragraphs of one line each."""
    paragraphs = (text or "").replace("\b", "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _argument(param: click.Argument) -> str:
    name = (param.metavar or (param.name or "").upper()) + ("…" if param.nargs == -1 else "")
    return name if param.required else f"[{name}]"


def _row(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if not option.is_flag:
        names += f" {_value(option)}"
    setting = f"`{option.envvar}`" if option.envvar else ""
    return f"| {names} | {_prose(option.help)} | {_default(option)} | {setting} |"


def _value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return r" \| ".join(str(choice) for choice in option.type.choices)
    return option.metavar or option.type.name.upper()


def _default(option: click.Option) -> str:
    """The default where the command shows one."""
    if isinstance(option.show_default, str):
        return f"`{option.show_default}`"
    return f"`{option.default}`" if option.show_default else ""


def main() -> None:
    """Writes the files."""
    pages = (
        ("CLI.md", cli_page()),
        ("ERRORS.md", errors_page()),
        ("FORGERY.md", forgery_page()),
        ("TASK_ERRORS.md", task_errors_page()),
        ("CATALOG.md", goods_page()),
        ("COMMERCE.md", commerce_page()),
        ("TASKS.md", tasks_page()),
        ("KILLS.md", wrong_runs_page([told_of(lint(found.text)) for found in builtin_tasks()])),
        ("schemas/task.schema.json", schema_text()),
    )
    for name, text in pages:
        (ROOT / "docs" / name).write_text(text, encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()

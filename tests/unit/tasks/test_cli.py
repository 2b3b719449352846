"""How a verb is found, what it gets, and what becomes of what it returns."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import click
import msgspec
import pytest

from tollbook.tasks import cli
from tollbook.tasks.console import Exit, json_option, print_document
from tollbook.tasks.session import Session, pass_session


class Line(msgspec.Struct):
    run: str
    seq: int | None


@pytest.fixture(autouse=True)
def probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb `probe CODE` that prints its session and ends with the code."""

    @click.command()
    @click.argument("code", type=int, required=False)
    @json_option
    @pass_session
    def command(session: Session, code: int | None, *, as_json: bool) -> Exit | None:
        if as_json:
            print_document("probe", {"runs": 2, "lines": [Line("é", None)], "none": None})
        else:
            click.echo(f"{session.ledger_path} {session.secret_path} {session.name}")
        return None if code is None else Exit(code)

    module = ModuleType("tollbook.tasks.commands.probe")
    module.command = command  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(cli.VERBS, "probe", "probe")


@pytest.mark.parametrize("code", Exit)
def test_what_a_verb_returns_is_the_exit_code(code: Exit) -> None:
    assert code == cli.main(["probe", str(int(code))])


def test_a_verb_that_returns_nothing_went_well() -> None:
    assert cli.main(["probe"]) == Exit.GOOD


@pytest.mark.parametrize(
    ("expected",                              "settings",                "options"),
    [
        ("tollbook.db tollbook.db.secret tollbook.local", {},            []),
        ("a.db a.db.secret tollbook.local",   {},                        ["--ledger", "a.db"]),
        ("a.db a.db.secret tollbook.local",   {"LEDGER": "a.db"},        []),
        ("b.db b.db.secret tollbook.local",   {"LEDGER": "a.db"},        ["--ledger", "b.db"]),
        ("a/b.db s tollbook.local",           {"SECRET": "s"},           ["--ledger", "a/b.db"]),
        ("tollbook.db t tollbook.local",      {"SECRET": "s"},           ["--secret", "t"]),
        ("tollbook.db tollbook.db.secret m/1", {"NAME": "m/1"},          []),
        ("tollbook.db tollbook.db.secret m",  {"LEDGER": "", "SECRET": ""}, ["--name", "m"]),
        (". ..secret tollbook.local",         {},                        ["--ledger", "."]),
    ],
)  # fmt: skip
def test_the_session_is_what_options_and_settings_say(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    expected: str,
    settings: dict[str, str],
    options: list[str],
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"TOLLBOOK_{name}", value)
    assert cli.main([*options, "probe"]) == Exit.GOOD
    assert f"{expected}\n" == capsys.readouterr().out


def test_a_document_is_one_line_that_names_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["probe", "--json"])
    line = '{"schema":"tollbook.probe/1","runs":2,"lines":[{"run":"é","seq":null}],"none":null}\n'
    assert line == capsys.readouterr().out
    assert json.loads(line)["lines"][0]["run"] == "é"


def test_no_file_is_made_before_a_verb_asks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for args in ([], ["--version"], ["--help"], ["probe"], ["key", "--help"], ["key", "show"]):
        cli.main(args)
    assert list(tmp_path.iterdir()) == []


def test_no_path_is_judged_before_it_is_used() -> None:
    """click would ask whether it can be read, which says yes to root and in other words than ours."""
    paths = [param.type for param in params(cli.root) if isinstance(param.type, click.Path)]
    assert len(paths) > 10
    assert {(False, False, False)} == {(path.exists, path.readable, path.writable) for path in paths}


def params(command: click.Command) -> list[click.Parameter]:
    """The parameters of a command and of all below it."""
    found = list(command.params)
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        below = [command.get_command(ctx, name) for name in command.list_commands(ctx)]
        found += [param for one in below if one is not None for param in params(one)]
    return found


def test_a_shell_completes_verbs_and_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TOLLBOOK_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "tollbook prob")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert cli.main([]) == Exit.GOOD
    assert capsys.readouterr().out == "plain,probe\n"

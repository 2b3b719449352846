"""The documents say what the program does: they are made again and compared."""

from __future__ import annotations

import re
from pathlib import Path

import click
import generate
import pytest

from tollbook.tasks.cli import VERBS, root

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
README = ROOT / "README.md"
CASES = list(generate.gallery())
COMMANDS = dict(generate.commands("tollbook", root))
PAGES = {"CLI.md": generate.cli_page, "ERRORS.md": generate.errors_page}


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert PAGES[name]() == (DOCS / name).read_text(encoding="utf-8"), "run `make docs`"


def test_every_verb_is_among_the_commands() -> None:
    assert {f"tollbook {verb}" for verb in VERBS} <= set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_is_documented_whole(words: str) -> None:
    page = (DOCS / "CLI.md").read_text(encoding="utf-8")
    match = re.search(rf"^## {re.escape(words)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert match, f"`{words}` is not in docs/CLI.md"
    assert COMMANDS[words].help, f"`{words}` has no help"
    for param in COMMANDS[words].params:
        if isinstance(param, click.Option):
            assert param.help, f"`{words} {param.opts[0]}` has no help"
            assert [name for name in param.opts if f"`{name}`" not in match[1]] == []
        else:
            assert (param.metavar or str(param.name).upper()) in match[1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_an_error_is_two_lines_and_changes_nothing(case: generate.Case) -> None:
    ran, before, after = generate.play(case)
    lines = ran.stderr.splitlines()
    assert ["error:", "hint:"] == [line.split(" ", 1)[0] for line in lines]
    assert ran.exit != 0
    assert ran.stdout == ""
    assert "internal" not in lines[0]
    assert re.fullmatch(r"error: [^A-Z].*[^.]", lines[0]), "one lower-case line without a full stop"
    assert before == after


def test_no_two_cases_have_one_title() -> None:
    titles = [(case.section, case.title) for case in CASES]
    assert sorted(set(titles)) == sorted(titles)


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.xfail(not README.exists(), reason="the README is still to be written")
def test_the_commands_of_the_readme_exist() -> None:
    text = README.read_text(encoding="utf-8")
    named = re.findall(r"(?:`|^)make ([a-z][a-z-]*)", text, re.MULTILINE)
    assert {"demo", "test"} <= set(named)
    assert [name for name in named if name not in targets()] == []
    verbs = re.findall(r"^\s*\$ tollbook (?:--\S+ \S+ )*([a-z]+)", text, re.MULTILINE)
    assert [verb for verb in verbs if verb not in VERBS] == []


def test_every_target_is_explained_at_the_top_of_the_makefile() -> None:
    text = (ROOT / "Makefile").read_text()
    head = text.split("\n\n", 1)[0]
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    assert [name for name in phony[1].split() if f"make {name}" not in head] == []


TERMS = (
    "account", "bundle", "case", "checkpoint", "consistency proof", "decision", "event", "finding",
    "inclusion proof", "leaf", "message", "metric", "part", "party", "predicate", "record", "reducer",
    "role", "root", "run", "score", "seal", "task", "tree size", "world",
)  # fmt: skip


@pytest.mark.xfail(not (DOCS / "GLOSSARY.md").exists(), reason="the glossary is still to be written")
def test_the_glossary_fixes_the_terms_of_the_house() -> None:
    text = (DOCS / "GLOSSARY.md").read_text(encoding="utf-8").lower()
    assert [term for term in TERMS if not re.search(rf"\b{term}\b", text)] == []


@pytest.mark.parametrize("page", [*sorted(DOCS.glob("*.md")), *ROOT.glob("*.md")], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    here = [link for link in links if "://" not in link]
    assert [link for link in here if not (page.parent / link).exists()] == []

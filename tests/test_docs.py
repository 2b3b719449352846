"""The documents say what the program does: they are made again and compared."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import click
import generate
import pytest
from script import Ran, Stage, aligned

from tollbook.protocol.commerce.world import MACHINES, REFUSALS, RULES, CommerceWorld
from tollbook.protocol.world import World, kind_of
from tollbook.scorers.cel import JUDGE, MAX_EXPRESSION, RESERVED, Scope
from tollbook.scorers.lets import MAX_LETS
from tollbook.scorers.predicates import Cap, Predicate
from tollbook.tasks.cli import VERBS, root
from tollbook.tasks.console import Exit
from tollbook.tasks.forgery import forge_row, play_unfairly
from tollbook.tasks.format import places
from tollbook.tasks.format.file import (
    MAX_CASES,
    MAX_FILE_BYTES,
    MAX_LIST,
    CheatEntry,
    MutationEntry,
    PartyEntry,
    PolicyEntry,
    RenderingEntry,
    Rule,
    ScriptEntry,
    Step,
    TaskFile,
)
from tollbook.tasks.play.play import MAX_ANSWERS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
README = ROOT / "README.md"
AUTHORS = DOCS / "TASKS.md"
CASES = list(generate.gallery())
COMMANDS = dict(generate.commands("tollbook", root))
PAGES = {
    "CATALOG.md": generate.goods_page,
    "CLI.md": generate.cli_page,
    "COMMERCE.md": generate.commerce_page,
    "ERRORS.md": generate.errors_page,
    "TASKS.md": generate.tasks_page,
    "schemas/task.schema.json": generate.schema_text,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert PAGES[name]() == (DOCS / name).read_text(encoding="utf-8"), "run `make docs`"


def test_the_page_of_the_market_has_everything_once() -> None:
    lines = (DOCS / "COMMERCE.md").read_text(encoding="utf-8").splitlines()
    kinds = [kind_of(rule.action) for rule in RULES.values()]
    assert kinds == [line[4:] for line in lines if line[4:] in kinds and line.startswith("### ")]
    rows = [f"### Rows of `{table}`" for table in CommerceWorld.tables]
    assert rows == [line for line in lines if line.startswith("### Rows of ")]
    drawn = [line for line in lines if line.startswith("The states of `")]
    assert [f"The states of `{table}`:" for table in MACHINES] == drawn
    assert len(drawn) == lines.count("stateDiagram-v2") == lines.count("```mermaid")
    refusals = [f"| `{rule}` | {meaning} |" for rule, meaning in REFUSALS.items()]
    assert refusals == lines[lines.index("## Refusals") :][-len(refusals) :]


def test_no_cell_of_the_page_of_the_market_is_too_wide_to_read() -> None:
    lines = (DOCS / "COMMERCE.md").read_text(encoding="utf-8").splitlines()
    cells = [cell for line in lines if line.startswith("| ") for cell in line.split("|")]
    assert 200 > max(map(len, cells))


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


def test_the_targets_of_the_readme_exist() -> None:
    named = re.findall(r"(?:`|^)make ([a-z][a-z-]*)", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= set(named)
    assert [name for name in named if name not in targets()] == []


def calls(text: str) -> list[list[str]]:
    """The words of each `tollbook …` in a page's code, but for what follows a shell's operator."""
    found = re.findall(r"(?:`|\$ |&& )tollbook ([^`\n]*)", text)
    return [re.split(r" (?:&&|>|\||#|…)", call)[0].split() for call in found]


def unknown(words: list[str]) -> list[str]:
    """What of a call there isn't: a verb, or an option of it."""
    path, rest = ["tollbook"], list(words)
    options = {name for param in root.params for name in (*param.opts, "--help")}
    while rest and (rest[0].startswith("--") or " ".join([*path, rest[0]]) in COMMANDS):
        word = rest.pop(0)
        if not word.startswith("--"):
            path.append(word)
        elif word not in {"--version", "--help"}:
            rest.pop(0)
    options |= {name for param in COMMANDS[" ".join(path)].params for name in param.opts}
    missing = [word for word in words if word.startswith("-") and word not in options]
    is_group = isinstance(COMMANDS[" ".join(path)], click.Group)
    return missing + ([rest[0]] if rest and is_group and rest[0] not in options else [])


@pytest.mark.parametrize(
    ("expected",    "call"),
    [
        ([],            "verify runs.jsonl --key ledger.key"),
        ([],            "--ledger a.db --version"),
        ([],            "import --help"),
        ([],            "prove inclusion RUN SEQ"),
        (["race"],      "race TASK"),
        (["all"],       "prove all"),
        (["--seq"],     "verify --seq 1"),
        (["--leger"],   "--leger a.db ls"),
    ],
)  # fmt: skip
def test_a_call_that_there_is_not_is_found(expected: list[str], call: str) -> None:
    assert expected == unknown(call.split())


PAGES_OF_PROSE = [
    *(page for page in sorted(DOCS.glob("*.md")) if page.name != "ERRORS.md"),  # which shows what there isn't
    *sorted(ROOT.glob("*.md")),
]


@pytest.mark.parametrize("page", PAGES_OF_PROSE, ids=lambda page: page.name)
def test_a_page_names_commands_and_options_that_exist(page: Path) -> None:
    named = [words for words in calls(page.read_text(encoding="utf-8")) if "<verb>" not in words]
    assert [(words, unknown(words)) for words in named if unknown(words)] == []


Shown = list[tuple[str, list[str]]]


def sessions(page: Path = README) -> list[Shown]:
    """A page's console blocks: commands, each with the lines that follow it."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    found: list[Shown] = []
    for block in blocks:
        shown: Shown = []
        for line in filter(None, block.splitlines()):
            if line.startswith("$ "):
                shown.append((line[2:].split("  # ")[0].rstrip(), []))
            else:
                shown[-1][1].append(line)
        found.append(shown)
    return found


def masked(text: str) -> str:
    """A line without what differs from run to run: ids, and blanks at both ends."""
    return re.sub(r"\b[0-9a-f]{12,64}\b", "…", text).strip()


def test_the_readme_begins_with_a_session() -> None:
    head = "\n".join(README.read_text(encoding="utf-8").splitlines()[:60])
    assert head.count("```console") >= 3


def test_what_the_readme_shows_comes_of_its_commands(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        for step in ("suite .", "secret tollbook.db.secret"):
            stage.prepare(step)
        for line, shown in (each for session in sessions() for each in session):
            if "row.jsonl" in line:
                (tmp_path / "row.jsonl").write_bytes(forge_row((tmp_path / "runs.jsonl").read_bytes()))
            is_unfair = any("INVALID" in one for one in shown) and "market.db" in line
            if is_unfair:
                play_unfairly(tmp_path / "market.db", "t4.buyer_zopa")
            ran = shell(stage, re.sub(r"\b[0-9a-f]{6}\b", "491b0a", line))
            found_false = is_unfair or "row.jsonl" in line
            assert ran.exit == (Exit.FOUND_FALSE if found_false else Exit.GOOD), ran
            expected = [f"> {masked(one)}" for one in shown] or ["> …"]
            found = [f"> {masked(one)}".rstrip() for one in ran.stdout.splitlines()]
            assert expected == aligned(stage, expected, found)


def shell(stage: Stage, line: str) -> Ran:
    """Runs what a reader may type: commands joined by `&&`, the output of one put in a file."""
    ran = Ran("", "", 0)
    for part in line.split(" && "):
        command, _, target = part.partition(" > ")
        ran = stage.run(command)
        if target:
            (stage.folder / target).write_text(ran.stdout, encoding="utf-8")
    return ran


def test_the_readmes_session_is_the_demonstration(tmp_path: Path) -> None:
    """Each line up to the one that says so is a line of `make demo`."""
    ran = Stage(tmp_path).run("tollbook demo")
    assert (0, "") == (ran.exit, ran.stderr)
    played = [masked(line) for line in ran.stdout.splitlines()]
    before = README.read_text(encoding="utf-8").split("That session is `make demo`")[0]
    session = sessions()[: before.count("```console")]
    assert len(session) >= 3
    for line, shown in (each for block in session for each in block):
        assert f"$ {line}" in played
        for one in shown:
            assert one == "…" or masked(one) in played, one


def test_what_the_page_for_authors_shows_comes_of_its_commands(tmp_path: Path) -> None:
    shutil.copy(DOCS / "agents" / "buyer.py", tmp_path)
    with Stage(tmp_path) as stage:
        shown = [each for session in sessions(AUTHORS) for each in session]
        assert len(shown) >= 6
        for line, lines in shown:
            ran = stage.run(line)
            assert (Exit.GOOD, "") == (ran.exit, ran.stderr), line
            expected = [f"> {masked(one)}" for one in lines]
            found = [f"> {masked(one)}".rstrip() for one in ran.stdout.splitlines()]
            assert expected == aligned(stage, expected, found)


def rows_below(heading: str) -> dict[str, str]:
    """The tables of a section of the page for authors: the first cell of each row, and the others."""
    section = AUTHORS.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (.*?) \| (.*) \|$", section, re.MULTILINE)
    return {first: rest for first, rest in cells if not first.startswith("---")}


def code(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


ENTRIES = {
    "[party]": PartyEntry,
    "[script.NAME]": ScriptEntry,
    "[predicate.ID]": Predicate,
    "[cap.ID]": Cap,
    "[cheat.ID]": CheatEntry,
    "[rendering.ID]": RenderingEntry,
}


def test_the_page_for_authors_names_every_section_and_field() -> None:
    rows = rows_below("Sections")
    sections = {first.strip("`").strip("[]").split(".")[0] for first in rows}
    top = set(TaskFile.__struct_encode_fields__) - sections
    assert [name for name in sorted(top) if name not in code(rows["top"])] == []
    assert sections - {"section", "top"} <= set(TaskFile.__struct_encode_fields__)
    for section, entry in ENTRIES.items():
        assert set(entry.__struct_encode_fields__) <= code(rows[f"`{section}`"]), section
    text = AUTHORS.read_text(encoding="utf-8")
    for entry in (Step, Rule, PolicyEntry, MutationEntry):
        assert [name for name in entry.__struct_encode_fields__ if f"`{name}" not in text] == []


@pytest.mark.parametrize(
    ("scope",            "place"),
    [
        (places.PARAMETER, "case parameters"),
        (places.SCENE,     "rows with `each`"),
        (places.ROW,       "other rows, mandates"),
        (places.BRIEF,     "brief, texts of renderings"),
        (places.SCRIPT,    "scripts"),
        (places.POLICY,    "references, alternatives, mutations, cheats"),
        (places.ASKED_POLICY, "the same, in a market that asks"),
        (places.ORACLE,    "`[oracle]`"),
        (places.ENDS,      "`ends`"),
        (JUDGE,            "predicates, caps, `[let]`"),
    ],
)  # fmt: skip
def test_the_page_for_authors_says_what_each_place_sees(scope: Scope, place: str) -> None:
    assert set(scope.names) == code(rows_below("What can be seen")[place])


def test_the_page_for_authors_says_every_name_that_can_be_seen() -> None:
    named = {name for first in rows_below("What can be seen") for name in code(first)}
    assert RESERVED <= named


def test_the_page_for_authors_says_the_limits() -> None:
    limits = " ".join(rows_below("Limits").values())
    said = {int(number.replace(",", "")) for number in re.findall(r"[0-9][0-9,]*", limits)}
    limits_of_files = {MAX_FILE_BYTES // 1024, MAX_CASES, World.most_turns, MAX_LIST}
    assert limits_of_files | {MAX_EXPRESSION, MAX_LETS, MAX_ANSWERS} <= said


def test_every_target_is_explained_at_the_top_of_the_makefile() -> None:
    text = (ROOT / "Makefile").read_text()
    head = text.split("\n\n", 1)[0]
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    assert [name for name in phony[1].split() if f"make {name}" not in head] == []


TERMS = (
    "account", "alternative", "brief", "bundle", "cap", "case", "cheat", "checkpoint", "consistency proof",
    "decision", "event", "factor", "finding", "inclusion proof", "kill table", "leaf", "mandate", "message",
    "metric", "mutation", "oracle", "part", "party", "predicate", "record", "reducer", "reference", "role",
    "root", "run", "score", "script", "seal", "stage", "task", "tree size", "world",
)  # fmt: skip


def test_the_glossary_fixes_the_terms_of_the_house() -> None:
    text = (DOCS / "GLOSSARY.md").read_text(encoding="utf-8").lower()
    assert [term for term in TERMS if not re.search(rf"\b{term}\b", text)] == []


@pytest.mark.parametrize("page", [*sorted(DOCS.glob("*.md")), *ROOT.glob("*.md")], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    here = [link for link in links if "://" not in link]
    assert [link for link in here if not (page.parent / link).exists()] == []

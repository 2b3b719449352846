"""The house rules that a program can check: who imports whom, what is banned, sizes, what gets shipped.

Each rule is a function from a module to findings; each is shown to find what it is for, then applied to
every module of the four rooms.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tollbook.tasks import VERSION
from tollbook.tasks.cli import VERBS

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("protocol", "ledger", "scorers", "tasks")  # each may import itself and those before it
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

FOREIGN = {
    "protocol": {"msgspec"},
    "protocol/keys.py": {"cryptography"},
    "ledger": {"msgspec", "sqlite_utils"},
    "scorers": {"msgspec", "cel_expr_python"},
    "scorers/analysis/drawing.py": {"matplotlib"},
    "scorers/analysis/lettering.py": {"matplotlib"},
    "scorers/analysis/page.py": {"markdown_it"},
    "scorers/auction/classifier.py": {"sklearn"},
    "tasks": {"click", "msgspec"},
    "tasks/serve/app.py": {"starlette"},
    "tasks/serve/server.py": {"uvicorn"},
}
"""What each room, or one module of it, may import beside the standard library."""

DISK = {
    "asyncio", "glob", "io", "multiprocessing", "os", "pathlib", "shutil", "signal", "socket", "sqlite3",
    "subprocess", "sys", "tempfile", "threading", "urllib",
}  # fmt: skip
"""What `protocol` may not know of."""

NEVER = {"marshal", "pickle", "random", "shelve", "uuid"}
CLOCK = {"datetime", "time"}
CLOCK_AT = ("tasks/", "ledger/lock.py")  # a writer waits for another one; no record holds a time
CHANCE = {"secrets", "os.urandom"}
CHANCE_AT = ("tasks/", "ledger/secret.py")


class Module(NamedTuple):
    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def room(self) -> str:
        return self.path.split("/")[0]


def modules() -> list[Module]:
    paths = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return [Module(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def imported(module: Module) -> Iterator[tuple[int, int, str]]:
    """Each import as (line, leading dots, name); of `from . import a` the name is `a`."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, 0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            for name in names:
                yield node.lineno, node.level, f"{node.module}.{name}" if node.module else name


def called(module: Module) -> Iterator[tuple[int, str]]:
    """Each call as (line, name), of a plain name or of a name's attribute."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


def direction(module: Module) -> Iterator[str]:
    """A room imports the rooms before it, relatively; and no package but those named for it."""
    packages = module.path.split("/")[:-1]
    allowed = FOREIGN[module.room] | FOREIGN.get(module.path, set())
    for line, dots, name in imported(module):
        top = name.split(".")[0]
        if dots:
            target = [*packages[: len(packages) - dots + 1], *name.split(".")][0]
            if target not in ROOMS or ROOMS.index(target) > ROOMS.index(module.room):
                yield f"{line}: `{module.room}` may not import `{target}`"
        elif top == "tollbook":
            yield f"{line}: inside the rooms imports are relative"
        elif top not in allowed and top not in sys.stdlib_module_names:
            yield f"{line}: `{module.path}` may not import `{top}`"


def purity(module: Module) -> Iterator[str]:
    """The law has no disk, clock or terminal."""
    banned = DISK | {"open", "print", "input"}
    found = [(line, name.split(".")[0]) for line, _, name in imported(module)] + list(called(module))
    if module.room == "protocol":
        yield from (f"{line}: `{name}`" for line, name in found if name in banned)


def determinism(module: Module) -> Iterator[str]:
    """Nothing random, clock and chance where the outside is asked for them, and never code made from data."""
    banned = NEVER | {"eval", "exec", "compile", "__import__", "hash"}  # each process has its own `hash`
    banned |= set() if module.path.startswith(CLOCK_AT) else CLOCK
    banned |= set() if module.path.startswith(CHANCE_AT) else CHANCE
    found = [(line, name) for line, _, name in imported(module)] + list(called(module))
    yield from (f"{line}: `{name}`" for line, name in found if {name, name.split(".")[0]} & banned)


def size(module: Module) -> Iterator[str]:
    """Functions to 60 lines, modules to 500."""
    lines = module.text.count("\n")
    if lines > 500:
        yield f"1: {lines} lines"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            if length > 60:
                yield f"{node.lineno}: `{node.name}` has {length} lines"


def finish(module: Module) -> Iterator[str]:
    """Docstrings; no bare except, no swallowed error, nothing left to be written."""
    if not (ast.get_docstring(module.tree) or "").strip():
        yield "1: no module docstring"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler):
            kinds = ast.unparse(node.type) if node.type else "everything"
            is_silent = len(node.body) == 1 and isinstance(node.body[0], ast.Pass)
            if node.type is None or (is_silent and re.search(r"\b(Base)?Exception\b", kinds)):
                yield f"{node.lineno}: catches {kinds}"
        if isinstance(node, ast.Raise) and "NotImplementedError" in ast.unparse(node):
            yield f"{node.lineno}: not written yet"


def names(module: Module) -> Iterator[str]:
    """A module's name is a term of the field, and code goes one folder deep below a room."""
    parts = module.path.removesuffix(".py").split("/")
    if {"utils", "util", "helpers", "helper", "manager", "common", "misc"} & set(parts):
        yield f"1: `{module.path}` says nothing of what it holds"
    if len(parts) > 3:
        yield f"1: `{module.path}` is more than one folder below its room"


RULES: dict[str, Callable[[Module], Iterator[str]]] = {
    rule.__name__: rule for rule in (direction, purity, determinism, size, finish, names)
}
DOC = '"""A."""\n'


@pytest.mark.parametrize("rule", RULES)
def test_every_module_keeps(rule: str) -> None:
    assert [f"{module.path}:{finding}" for module in modules() for finding in RULES[rule](module)] == []


@pytest.mark.parametrize(
    ("count", "rule",        "path",                 "text"),
    [
        (0,   "direction",   "ledger/a.py",          "from ..protocol import a\nfrom .b import c\nimport os"),
        (0,   "direction",   "tasks/commands/a.py",  "from ...scorers import a\nfrom ..b import c"),
        (0,   "direction",   "protocol/keys.py",     "from cryptography.hazmat import a\nimport msgspec"),
        (1,   "direction",   "protocol/a.py",        "from ..ledger.store import A"),
        (1,   "direction",   "protocol/retail/a.py", "from ...ledger import store"),
        (1,   "direction",   "ledger/a.py",          "from .. import scorers"),
        (1,   "direction",   "scorers/a.py",         "def f():\n    from ..tasks import cli"),
        (1,   "direction",   "protocol/a.py",        "import cryptography"),
        (1,   "direction",   "ledger/a.py",          "import click"),
        (1,   "direction",   "ledger/a.py",          "from tollbook.protocol import errors"),
        (1,   "direction",   "ledger/a.py",          "import protocol"),
        (0,   "purity",      "ledger/a.py",          "import os\nopen('a')"),
        (3,   "purity",      "protocol/a.py",        "import os\nfrom pathlib import Path\nopen('a')"),
        (0,   "determinism", "tasks/a.py",           "import time\nimport datetime\nos.urandom(1)"),
        (0,   "determinism", "ledger/secret.py",     "os.urandom(1)"),
        (1,   "determinism", "ledger/a.py",          "from os import urandom"),
        (2,   "determinism", "tasks/a.py",           "import random\nfrom uuid import uuid4"),
        (3,   "determinism", "ledger/a.py",          "import time\nfrom datetime import date\nos.urandom(1)"),
        (3,   "determinism", "tasks/a.py",           "eval('1')\nexec('1')\nhash(a)"),
        (1,   "determinism", "ledger/lock.py",       "import time\nimport secrets"),
        (1,   "determinism", "ledger/secret.py",     "import time\nimport secrets"),
        (1,   "determinism", "tasks/a.py",           "import pickle"),
        (0,   "size",        "ledger/a.py",          "def f():\n" + "    a\n" * 59),
        (1,   "size",        "ledger/a.py",          "def f():\n" + "    a\n" * 60),
        (1,   "size",        "ledger/a.py",          "a\n" * 501),
        (0,   "finish",      "ledger/a.py",          DOC + "try:\n    a\nexcept KeyError:\n    pass"),
        (1,   "finish",      "ledger/a.py",          DOC + "try:\n    a\nexcept:\n    b"),
        (1,   "finish",      "ledger/a.py",          DOC + "try:\n    a\nexcept (A, Exception):\n    pass"),
        (1,   "finish",      "ledger/a.py",          DOC + "raise NotImplementedError('later')"),
        (1,   "finish",      "ledger/a.py",          "a = 1"),
        (1,   "names",       "ledger/utils.py",      ""),
        (0,   "names",       "protocol/retail/a.py", ""),
        (1,   "names",       "tasks/a/b/c.py",       ""),
    ],
)  # fmt: skip
def test_a_rule_finds_what_it_is_for(count: int, rule: str, path: str, text: str) -> None:
    assert count == len(list(RULES[rule](Module(path, text))))


def test_no_test_slips_away_as_a_whole_module() -> None:
    """A module that skips itself has no test left for conftest.py to call a failure."""
    ways = ("allow_module_" + "level", "import" + "orskip", "collect_" + "ignore")
    tests = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    assert [(name, way) for name, text in tests.items() for way in ways if way in text] == []


SKIPPING = """
import pytest
def test_fixture(shared): pytest.skip("in the body")
@pytest.mark.shared
def test_mark(): pytest.skip("in the body")
@pytest.mark.shared
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.shared
@pytest.mark.xfail
def test_known(): assert False
def test_reads(shared): assert shared.is_dir()
"""


@pytest.mark.parametrize(
    ("expected",                               "place"),
    [
        ("2 failed, 1 passed, 1 xfailed, 1 error", ROOT),
        ("4 skipped, 1 xfailed",                   ROOT / "nowhere"),
    ],
)  # fmt: skip
def test_a_skipped_shared_test_fails_where_the_data_are(tmp_path: Path, expected: str, place: Path) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = shared\n")
    (tmp_path / "test_skipping.py").write_text(SKIPPING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "TOLLBOOK_SHARED": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"\n{expected} in " in done.stdout
    assert done.returncode == (place == ROOT)


def test_the_version_is_the_projects() -> None:
    assert PROJECT["project"]["version"] == VERSION


def test_the_table_of_verbs_is_the_folder_of_commands() -> None:
    found = {path.stem for path in (ROOT / "tasks" / "commands").glob("*.py")} - {"__init__"}
    below = tuple(f"{module}_" for module in VERBS.values())  # `task_new` is a part of `task`
    assert {name for name in found if not name.startswith(below)} == set(VERBS.values())


def test_every_folder_of_code_is_a_package() -> None:
    folders = {Path(module.path).parent.as_posix() for module in modules()}
    mapped = PROJECT["tool"]["setuptools"]["package-dir"]
    assert {"tollbook." + folder.replace("/", "."): folder for folder in folders} == mapped
    assert sorted(mapped) == sorted(PROJECT["tool"]["setuptools"]["packages"])
    assert [folder for folder in sorted(folders) if not (ROOT / folder / "__init__.py").exists()] == []
    assert [room for room in ROOMS if not (ROOT / room / "py.typed").exists()] == []


def shipped() -> set[str]:
    """Every file of the rooms that isn't made by running them."""
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*") if path.is_file())
    return {f"tollbook/{path.relative_to(ROOT).as_posix()}" for path in paths if path.suffix != ".pyc"}


def test_the_wheel_holds_the_tree(tmp_path: Path) -> None:
    # Built from a copy: setuptools leaves a folder behind whose stale files would get into the next wheel.
    source = tmp_path / "source"
    for room in ROOMS:
        shutil.copytree(ROOT / room, source / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, source)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, source]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert shipped() == held

"""Scripts: command lines with what they print and end with. The format is in tests/README.md.

A script plays in an empty folder of its own. Commands run in this process,
through the same `main` as the installed command; what needs a real process is
in test_process.py.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gzip
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple, Self
from unittest import mock

from tollbook.ledger.store import Store
from tollbook.tasks.cli import main
from tollbook.tasks.shelf import find_task

MARKS = ("#", "##", "%", "$", ">", "!", "=")
KNOWN_SECRET = bytes(range(32))
OTHER_SECRET = bytes(range(32, 64))
SUITE = files("tollbook.tasks") / "suites" / "retail"
SUPPORT = Path(__file__).resolve().parents[1] / "support"
INVOICES = SUPPORT / "invoices.csv"
LAMP = SUPPORT / "lamp.toml"
SEALED = SUPPORT / "sealed.toml"
PANEL = ("reference", "mutation:looks_away", "mutation:never_settles", "mutation:pays_800")


class Line(NamedTuple):
    number: int
    mark: str
    text: str


class Ran(NamedTuple):
    stdout: str
    stderr: str
    exit: int

    def lines(self) -> list[str]:
        """As a script would write it."""
        found = [f"> {line}".rstrip(" ") for line in self.stdout.splitlines()]
        found += [f"! {line}".rstrip(" ") for line in self.stderr.splitlines()]
        return found + ([f"= {self.exit}"] if self.exit else [])


def parse(path: Path) -> list[Line]:
    """The lines of a script, blank ones left out."""
    lines: list[Line] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark, _, text = line.partition(" ")
        if line and mark not in MARKS:
            raise ValueError(f"{path.name}:{number}: a line begins with one of {' '.join(MARKS)} and a space")
        if line:
            lines.append(Line(number, mark, text))
    return lines


class Stage:
    """A folder in which a script plays, and the names it has bound."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bound = {"esc": "\x1b", "newline": "\n"}
        self.has_closed = False
        self.locks = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.locks.close()

    def prepare(self, text: str) -> None:
        """Carries out a `%` line."""
        name, target, *rest = shlex.split(text)
        if name == "busy":
            self.locks.enter_context(busy(self.folder / target))
            return
        if name in ("closed", "read-only"):
            self.has_closed = True
        PREPARATIONS[name](self.folder / target, *rest)

    def run(self, text: str) -> Ran:
        """Runs a `$` line."""
        words = shlex.split(self.filled(text))
        settings = dict(word.split("=", 1) for word in words[: words.index("tollbook")])
        with mock.patch.dict(os.environ, settings):
            return self.run_words(words[words.index("tollbook") + 1 :])

    def run_words(self, words: Sequence[str]) -> Ran:
        """Runs a command of these words."""
        with contextlib.chdir(self.folder), self._powers():
            return run([*words])

    def query(self, sql: str) -> list[Any]:
        """What a query of the ledger gives."""
        with contextlib.closing(sqlite3.connect(self.folder / "tollbook.db")) as database:
            return list(database.execute(sql))

    def damage(self, table: str, sql: str) -> None:
        """Changes a table of the ledger as who can write to the file may, its triggers taken away first."""
        with contextlib.closing(sqlite3.connect(self.folder / "tollbook.db")) as database, database:
            for verb in ("update", "delete"):
                database.execute(f"DROP TRIGGER {table}_no_{verb}")
            database.execute(sql)

    def filled(self, text: str) -> str:
        """A text with the bound names in place."""
        return re.sub(r"\$([a-z_]+)", lambda match: self.bound.get(match[1], match[0]), text)

    def matches(self, expected: str, found: str) -> bool:
        """Whether a line is as expected; binds the names that the expectation sets."""
        pattern = re.escape(self.filled(expected)).replace("…", ".*")
        names = re.findall(r"\\\$([a-z_]+)", pattern)
        pattern = re.sub(r"\\\$([a-z_]+)", r"(?P<\1>[\\w.+/=-]+)", pattern)
        match = re.fullmatch(pattern, found)
        if match:
            self.bound.update({name: match[name] for name in names})
        return match is not None

    def _powers(self) -> contextlib.AbstractContextManager[None]:
        return without_powers() if self.has_closed else contextlib.nullcontext()

    def files(self) -> dict[str, bytes]:
        """Every file under the folder and its bytes, but for what SQLite keeps beside one that is read."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if os.access(path, os.R_OK) else b"closed"
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and not path.name.endswith(("-shm", "-wal"))
        }


def run(args: list[str]) -> Ran:
    """One command line in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(args)
    return Ran(*(stream.buffer.getvalue().decode() for stream in (out, err)), int(code))  # type: ignore[attr-defined]


def play(lines: list[Line], folder: Path) -> list[tuple[list[str], list[str]]]:
    """Plays a script; each command's expected and found lines, those that match made equal."""
    with Stage(folder) as stage:
        return _play(lines, stage)


def _play(lines: list[Line], stage: Stage) -> list[tuple[list[str], list[str]]]:
    played = []
    for index, line in enumerate(lines):
        if line.mark == "%":
            stage.prepare(line.text)
        elif line.mark == "$":
            expected = [f"$ {line.text}"]
            for after in lines[index + 1 :]:
                if after.mark not in ">!=":
                    break
                expected.append(f"{after.mark} {after.text}".rstrip(" "))
            found = aligned(stage, expected[1:], stage.run(line.text).lines())
            played.append((expected, [expected[0], *found]))
    return played


def aligned(stage: Stage, expected: list[str], found: list[str]) -> list[str]:
    """What was found, each line that is as expected replaced by its expectation."""
    result: list[str] = []
    rest = list(found)
    for index, pattern in enumerate(expected):
        if pattern[1:] == " …":  # any number of lines of this stream, up to the next that is expected
            following = expected[index + 1] if index + 1 < len(expected) else None
            while rest and rest[0][0] == pattern[0] and not (following and stage.matches(following, rest[0])):
                rest.pop(0)
            result.append(pattern)
        elif rest and stage.matches(pattern, rest[0]):
            result.append(pattern)
            rest.pop(0)
        else:
            break
    return result + rest


@cache
def recorded() -> dict[str, bytes]:
    """A ledger of the suite's recorded runs under the known secret, and its bundle."""
    with tempfile.TemporaryDirectory() as name:
        stage = Stage(Path(name))
        for step in ("suite .", "secret tollbook.db.secret"):
            stage.prepare(step)
        for line in ("import tau2 recorded.json --db shop.json", "export -o runs.jsonl"):
            ran = stage.run(f"tollbook {line}")
            assert ran.exit == 0, ran.stderr
        return stage.files()


@cache
def panel() -> dict[str, bytes]:
    """A ledger under the known secret: a small task's cases, tried three times each by four agents."""
    with tempfile.TemporaryDirectory() as name:
        stage = Stage(Path(name))
        stage.prepare("secret tollbook.db.secret")
        shutil.copy(LAMP, stage.folder)
        for agent in PANEL:
            ran = stage.run(f"tollbook run {LAMP.name} --trials 3 --agent buyer={agent}")
            assert ran.exit == 0, ran.stderr
        return stage.files()


@cache
def auctions() -> dict[str, bytes]:
    """A ledger under the known secret: three sessions of sealed bids, and what `score --json` says."""
    with tempfile.TemporaryDirectory() as name:
        stage = Stage(Path(name))
        stage.prepare("secret tollbook.db.secret")
        shutil.copy(SEALED, stage.folder)
        ran = stage.run(f"tollbook run {SEALED.name} --trials 3 --agent b1=baseline:truthful")
        assert ran.exit == 0, ran.stderr
        kept = stage.run("tollbook score --json").stdout
        return {**stage.files(), "baseline.json": kept.encode()}


@cache
def reworded() -> dict[str, bytes]:
    """A ledger under the known secret: a built-in auction in all its words, by two baselines."""
    with tempfile.TemporaryDirectory() as name:
        stage = Stage(Path(name))
        stage.prepare("secret tollbook.db.secret")
        for plays, which in (("benchmark", "--rendering all"), ("crra", "--case two@euro")):
            ran = stage.run(f"tollbook run a.first_price {which} --agent b1=baseline:{plays}")
            assert ran.exit == 0, ran.stderr
        return stage.files()


def _suite(path: Path) -> None:
    for name in ("shop.json", "recorded.json"):
        with as_file(SUITE / name) as file:
            shutil.copy(file, path / name)


def _ledger(path: Path, files: Callable[[], dict[str, bytes]] = recorded) -> None:
    path.write_bytes(files()["tollbook.db"])
    path.with_name(f"{path.name}.lock").touch()
    _secret(path.with_name(f"{path.name}.secret"))


def _panel(path: Path) -> None:
    _ledger(path, panel)


def _reworded(path: Path) -> None:
    _ledger(path, reworded)


def _auctions(path: Path, baseline: str) -> None:
    _ledger(path, auctions)
    path.with_name(baseline).write_bytes(auctions()["baseline.json"])


def _laid_out(path: Path) -> None:
    Store.write(path, "tollbook.local", "a key").close()


def _bundle(path: Path) -> None:
    path.write_bytes(recorded()["runs.jsonl"])


def _uci(path: Path) -> None:
    shutil.copyfile(INVOICES, path)


def _checkpoint(path: Path, place: str) -> None:
    lines = recorded()["runs.jsonl"].splitlines()
    notes = [json.loads(line)["note"]["text"] for line in lines if line.startswith(b'{"note":')]
    path.write_text(notes[int(place)], encoding="utf-8")


def _task(path: Path, name: str) -> None:
    path.write_text(find_task(name).text, encoding="utf-8")


def _predicates(path: Path) -> None:
    path.write_bytes((SUITE / "recorded.toml").read_bytes())


def _secret(path: Path, mode: str = "600") -> None:
    path.write_bytes(KNOWN_SECRET)
    _mode(path, mode)


def _other_secret(path: Path) -> None:
    path.write_bytes(OTHER_SECRET)
    _mode(path, "600")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def _drop(path: Path, words: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if words not in line]
    assert len(kept) < len(lines)
    path.write_text("".join(kept), encoding="utf-8")


def _text(path: Path, *words: str) -> None:
    path.write_text(" ".join(words) + "\n", encoding="utf-8")


def _cut(path: Path, size_bytes: str) -> None:
    path.write_bytes(path.read_bytes()[: -int(size_bytes)])


def _gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def _sqlite(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT)")


def _closed(path: Path) -> None:
    _mode(path, "0")


def _read_only(path: Path) -> None:
    _mode(path, "555" if path.is_dir() else "444")


@contextlib.contextmanager
def busy(ledger: Path) -> Iterator[None]:
    """Writes to a ledger, as another process does; who wants to write waits for a moment only."""
    with (
        ledger.with_name(f"{ledger.name}.lock").open("wb") as lock,
        mock.patch.object(Store.write.__func__, "__defaults__", (0.0,)),  # type: ignore[attr-defined]
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _mode(path: Path, mode: str) -> None:
    path.chmod(int(mode, 8))


PREPARATIONS: dict[str, Callable[..., None]] = {
    "suite": _suite,
    "ledger": _ledger,
    "panel": _panel,
    "reworded": _reworded,
    "auctions": _auctions,
    "laid-out": _laid_out,
    "bundle": _bundle,
    "uci": _uci,
    "checkpoint": _checkpoint,
    "predicates": _predicates,
    "task": _task,
    "secret": _secret,
    "other-secret": _other_secret,
    "folder": Path.mkdir,
    "text": _text,
    "empty": _empty,
    "replace": _replace,
    "drop": _drop,
    "cut": _cut,
    "gzip": _gzip,
    "sqlite": _sqlite,
    "mode": _mode,
    "closed": _closed,
    "read-only": _read_only,
}
"""The `%` lines: what each does to the path it names."""

_CAPABILITY_VERSION_3 = 0x20080522
_PASSES_OVER_MODES = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@contextlib.contextmanager
def without_powers() -> Iterator[None]:
    """As root, does without the right to pass over file modes, so that a closed file is closed.

    Source: capabilities(7), capget(2).
    """
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then their upper halves
    if libc.capget(header, sets) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    before = sets[0]
    try:
        sets[0] = before & ~_PASSES_OVER_MODES
        if libc.capset(header, sets) != 0:
            raise OSError(ctypes.get_errno(), "capset")
        yield
    finally:
        sets[0] = before
        libc.capset(header, sets)

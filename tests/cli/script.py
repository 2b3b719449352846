"""Scripts: command lines with what they print and end with. The format is in tests/README.md.

A script plays in an empty folder of its own. Commands run in this process,
through the same `main` as the installed command; what needs a real process is
in test_process.py.
"""

from __future__ import annotations

import contextlib
import ctypes
import gzip
import io
import os
import re
import shlex
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from tollbook.tasks.cli import main

MARKS = ("#", "##", "%", "$", ">", "!", "=")
KNOWN_SECRET = bytes(range(32))


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

    def prepare(self, text: str) -> None:
        """Carries out a `%` line."""
        name, target, *rest = shlex.split(text)
        if name == "closed":
            self.has_closed = True
        PREPARATIONS[name](self.folder / target, *rest)

    def run(self, text: str) -> Ran:
        """Runs a `$` line."""
        words = shlex.split(self.filled(text))
        settings = dict(word.split("=", 1) for word in words[: words.index("tollbook")])
        with contextlib.chdir(self.folder), mock.patch.dict(os.environ, settings), self._powers():
            return run(words[words.index("tollbook") + 1 :])

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
        """Every file under the folder and its bytes."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }


def run(args: list[str]) -> Ran:
    """One command line in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(args)
    return Ran(*(stream.buffer.getvalue().decode() for stream in (out, err)), int(code))  # type: ignore[attr-defined]


def play(lines: list[Line], folder: Path) -> list[tuple[list[str], list[str]]]:
    """Plays a script; each command's expected and found lines, those that match made equal."""
    stage, played = Stage(folder), []
    for index, line in enumerate(lines):
        if line.mark == "%":
            stage.prepare(line.text)
        elif line.mark == "$":
            expected = [f"$ {line.text}"]
            for after in lines[index + 1 :]:
                if after.mark not in ">!=":
                    break
                expected.append(f"{after.mark} {after.text}".rstrip(" "))
            found = _aligned(stage, expected[1:], stage.run(line.text).lines())
            played.append((expected, [expected[0], *found]))
    return played


def _aligned(stage: Stage, expected: list[str], found: list[str]) -> list[str]:
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


def _secret(path: Path, mode: str = "600") -> None:
    path.write_bytes(KNOWN_SECRET)
    _mode(path, mode)


def _text(path: Path, *words: str) -> None:
    path.write_text(" ".join(words) + "\n", encoding="utf-8")


def _cut(path: Path, size_bytes: str) -> None:
    path.write_bytes(path.read_bytes()[: -int(size_bytes)])


def _gzip_cut(path: Path) -> None:
    path.write_bytes(gzip.compress(b'{"simulations": []}' * 100, mtime=0)[:-12])


def _sqlite(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT)")


def _closed(path: Path) -> None:
    _mode(path, "0")


def _mode(path: Path, mode: str) -> None:
    path.chmod(int(mode, 8))


PREPARATIONS: dict[str, Callable[..., None]] = {
    "folder": Path.mkdir,
    "secret": _secret,
    "text": _text,
    "cut": _cut,
    "gzip-cut": _gzip_cut,
    "sqlite": _sqlite,
    "mode": _mode,
    "closed": _closed,
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

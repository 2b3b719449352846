"""Where a task is found: by the path of its file, by its folder, or as a built-in task by its id.

    word ─► Found(name, text)       `t4.buyer_zopa` · `mine.toml` · `./my_tasks`

An id of a built-in task goes first, so that it means the same in every folder;
`./t4.buyer_zopa` is a path wherever it stands. A task file is a TOML file with a
`[reference]`: predicates alone are none. A built-in task's file is called `<id>.toml`,
and its id has a point, which no other file of the suites has: what is wrong with one
is told, not that it isn't there.

Not here: what the text says (`tollbook.tasks.format`).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ..protocol.errors import TaskError
from ..scorers.lets import near
from .format.file import MAX_FILE_BYTES

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_ENDING: Final = ".toml"
_REFERENCE = re.compile(rb'^[ \t]*(\[[ \t]*"?reference"?[ \t]*[.\]]|reference[ \t]*[.=])', re.MULTILINE)


class Found(NamedTuple):
    """A task's text, and what to call it: its path as it was given, or a built-in task's id."""

    name: str
    text: str


def find_task(word: str) -> Found:
    """The one task that a word stands for.

    Raises:
        TaskError: `task.unknown`, no such task; `task.several`, a folder of some; `task.size`, `task.utf8`.
        OSError: a file that can't be read.
    """
    found = _of_word(word)
    if len(found) > 1:
        names = ", ".join(f"`{each.name}`" for each in found[:3])
        hint = f"name one of them: {names}{', …' if len(found) > 3 else ''}"
        raise TaskError("task.several", "", f"`{word}` holds {len(found)} tasks, and one is wanted", hint)
    return found[0]


def find_tasks(words: Sequence[str]) -> list[Found]:
    """The tasks that words stand for, a folder for all task files in it and below.

    Raises:
        TaskError: `task.unknown`, `task.size`, `task.utf8`.
        OSError: a file that can't be read.
    """
    return [found for word in words for found in _of_word(word)]


@cache
def builtin_tasks() -> tuple[Found, ...]:
    """The tasks that come with the package, by id.

    Raises:
        TaskError: `task.size`, `task.utf8`.
    """
    return tuple(map(_builtin, _builtin_files()))


@contextmanager
def naming_task(name: str) -> Generator[None]:
    """What is wrong with a task within it is told with its file's name.

    Raises:
        TaskError: as within, with `name` before its text.
    """
    try:
        yield
    except TaskError as error:
        hint = error.hint or "see `tollbook task lint`"
        raise TaskError(error.code, "", error.of_file(name), hint) from None


def _of_word(word: str) -> list[Found]:
    known = _builtin_files()
    if word in known:
        return [_builtin(word)]
    path = Path(word)
    if path.is_dir():
        return _of_folder(path)
    if "/" not in word and not word.endswith(_ENDING) and not path.exists():
        hint = near(word, known, "give the path of a file, or an id of `tollbook task list`")
        raise TaskError("task.unknown", "", f"there is no task `{word}`", hint)
    return [Found(word, _text(word, _read(path)))]


@cache
def _builtin_files() -> dict[str, Traversable]:
    """The files of built-in tasks by id, whether or not they can be played."""
    found = {file.name.removesuffix(_ENDING): file for file in _below(files("tollbook.tasks") / "suites")}
    return {name: found[name] for name in sorted(found) if "." in name}


def _builtin(name: str) -> Found:
    return Found(name, _text(name, _builtin_files()[name].read_bytes()))


def _of_folder(folder: Path) -> list[Found]:
    paths = sorted(path for path in folder.rglob(f"*{_ENDING}") if path.is_file())
    read = [(str(path), _read(path)) for path in paths]
    found = [Found(name, _text(name, data)) for name, data in read if _REFERENCE.search(data)]
    if not found:
        hint = f"a task file ends in `{_ENDING}` and has a `[reference]`"
        raise TaskError("task.unknown", "", f"there is no task file in folder `{folder}`", hint)
    return found


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _text(name: str, data: bytes) -> str:
    """The text of a file's bytes, whole."""
    if len(data) > MAX_FILE_BYTES:
        problem = f"`{name}` is over the limit of {MAX_FILE_BYTES} bytes"
        raise TaskError("task.size", "", problem, "make start rows with `each`, or split the task")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise TaskError("task.utf8", "", f"`{name}` is not UTF-8 text", "save it as UTF-8") from None


def _below(folder: Traversable) -> Iterator[Traversable]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _below(each)
        elif each.name.endswith(_ENDING):
            yield each

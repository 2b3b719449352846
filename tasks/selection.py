"""Which runs a command is about: ids of the ledger's runs, or a bundle's file.

    nothing     every run of the ledger
    RUN…        ids, or beginnings that fit one run each
    FILE        a bundle: what is no id and names a file

What was meant for the other place (a file where a run is asked for, a ledger
where a bundle is) is met with where it belongs.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..protocol.errors import BundleError, LedgerError, UsageError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ..ledger.store import Store

_ID = re.compile("[0-9a-fA-F]{1,64}")
_SQLITE = b"SQLite format 3\0"


def bundle_of(what: Sequence[str]) -> Path | None:
    """The file that the words name, or None when they are run ids.

    A word of hex digits is an id even where a file has that name; `./name` names the file.

    Raises:
        UsageError: a file among other words.
        BundleError: no id and no file, or as `bundle_file`.
        OSError: a file that can't be read.
    """
    files = [word for word in what if not _ID.fullmatch(word)]
    if not files:
        return None
    if len(what) > 1:
        hint = "give run ids, or one bundle file and nothing else"
        raise UsageError("usage.mixed", f"`{files[0]}` is not a run id", hint)
    if not Path(files[0]).exists():
        raise BundleError(
            "bundle.missing",
            f"`{files[0]}` is not a run id, and there is no file of that name",
            "see `tollbook ls` for the ids, or check the path",
        )
    return bundle_file(files[0])


def bundle_file(word: str | Path) -> Path:
    """The path of a bundle, which must be a file, and not a ledger's.

    Raises:
        BundleError: `bundle.not_a_file`, `bundle.ledger`.
        OSError: a file that can't be read.
    """
    path = Path(word)
    if path.exists() and not path.is_file() and not path.is_dir():
        what = f"`{path}` is a pipe or device, and a bundle is read twice"
        raise BundleError("bundle.not_a_file", what, "write it to a file first")
    if path.is_file() and _begins(path, _SQLITE):
        what = f"`{path}` is a SQLite file and not a bundle"
        hint = f"name a ledger with `--ledger {path}`; `tollbook export` makes a bundle of it"
        raise BundleError("bundle.ledger", what, hint)
    return path


@contextmanager
def naming(path: Path) -> Generator[None]:
    """What is wrong with a bundle within it is told with its path."""
    try:
        yield
    except BundleError as error:
        text = error.text if f"`{path}`" in error.text else f"`{path}`: {error.text}"
        raise BundleError(error.code, text, error.hint) from None


def select(store: Store, words: Sequence[str]) -> list[tuple[int, str]]:
    """The runs that the words name, in their order and each once; all without words.

    Raises:
        LedgerError: as `find_run`; a ledger without runs.
    """
    if not words:
        runs = store.runs()
        if not runs:
            what = f"`{store.path}` has no runs yet"
            raise LedgerError("ledger.empty", what, "import some: `tollbook import --help`")
        return runs
    return list(dict.fromkeys(find_run(store, word) for word in words))


def find_run(store: Store, word: str) -> tuple[int, str]:
    """The run whose id begins so, as its number and id.

    Raises:
        LedgerError: `run.form`, `run.unknown` or `run.ambiguous`.
    """
    try:
        return store.find(word)
    except LedgerError as error:
        if error.code == "run.ambiguous" or not _is_file(word):
            raise
        place = f"./{word}" if _ID.fullmatch(word) else word
        hint = f"for a bundle's runs write `tollbook verify {place}` or `tollbook import bundle {place}`"
        raise LedgerError(error.code, f"{error.text}, but a file", hint) from None


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except OSError:  # a name that is too long, or in a folder that is closed
        return False


def _begins(path: Path, head: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(head)) == head

"""Which runs a command is about: ids of the ledger's runs, or a bundle's file.

    nothing     every run of the ledger
    RUN…        ids, or beginnings that fit one run each
    FILE        a bundle: what names a file, or can only be a path
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..protocol.errors import LedgerError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..ledger.store import Store

_ID = re.compile("[0-9a-fA-F]{1,64}")


def bundle_of(what: Sequence[str]) -> Path | None:
    """The file that the words name, or None when they are run ids.

    A word of hex digits is an id even where a file has that name; `./name` names the file.

    Raises:
        UsageError: a file among other words.
    """
    files = [word for word in what if not _ID.fullmatch(word)]
    if not files:
        return None
    if len(what) > 1:
        raise UsageError(
            "usage.mixed", f"`{files[0]}` is not a run id", "give run ids, or one bundle file and nothing else"
        )
    return Path(files[0])


def select(store: Store, words: Sequence[str]) -> list[tuple[int, str]]:
    """The runs that the words name, in their order and each once; all without words.

    Raises:
        LedgerError: a word that fits no run, or more than one; a ledger without runs.
    """
    if not words:
        runs = store.runs()
        if not runs:
            raise LedgerError("ledger.empty", f"`{store.path}` has no runs yet", "import some: `tollbook import --help`")
        return runs
    return list(dict.fromkeys(store.find(word) for word in words))

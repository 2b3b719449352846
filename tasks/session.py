"""Where a command works: the global options, as each command gets them.

    ledger   the store            --ledger, TOLLBOOK_LEDGER, tollbook.db
    secret   the ledger's secret  --secret, TOLLBOOK_SECRET, <ledger>.secret
    name     the ledger's name    --name, TOLLBOOK_NAME, tollbook.local

Nothing is opened or made before a command asks for it: one that only reads makes
no files. The name stands in runs, checkpoints and keys and is not taken from a
path, since the same ledger on another machine is the same ledger. Whatever
is wrong with the three is said here in their terms, before anything is written.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..protocol.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Generator

    from ..ledger.store import Store

DEFAULT_LEDGER: Final = "tollbook.db"
DEFAULT_NAME: Final = "tollbook.local"


@dataclass(frozen=True, slots=True)
class Session:
    """The ledger, its secret and its name, for one command."""

    ledger_path: Path
    secret_path: Path
    name: str

    def secret(self) -> bytes:
        """The ledger's secret, which has to be there.

        Raises:
            LedgerError: as `load_secret`.
        """
        from ..ledger.secret import load_secret  # noqa: PLC0415 - brings in cryptography

        return load_secret(self.secret_path)

    def secret_or_new(self) -> bytes:
        """The ledger's secret, made when the ledger is: for commands that write.

        A ledger that is there has a secret already: a new one in place of one that
        is missing could sign nothing for it.

        Raises:
            LedgerError: as `load_secret` and `make_secret`; the ledger can't be written, or is none.
        """
        from ..ledger.secret import ensure_secret  # noqa: PLC0415 - brings in cryptography

        self._check_place()
        if not self._is_laid_out():
            return ensure_secret(self.secret_path)
        try:
            return self.secret()
        except LedgerError as error:
            if error.code != "secret.missing":
                raise
            hint = "bring it back from a copy, or name it with `--secret`: no other can sign for this ledger"
            raise LedgerError(error.code, error.text, hint) from None

    @contextmanager
    def store(self) -> Generator[Store]:
        """The ledger, opened to be read.

        Raises:
            LedgerError: as `Store.read`; `store.damaged` of whatever is read names the file.
        """
        from ..ledger.store import Store  # noqa: PLC0415 - brings in SQLite

        with self._named(), Store.read(self.ledger_path) as store:
            yield store

    @contextmanager
    def store_to_write(self, secret: bytes) -> Generator[Store]:
        """The ledger, opened to be written, made at first use.

        Raises:
            LedgerError: as `Store.write`.
        """
        from ..ledger.store import Store  # noqa: PLC0415 - as above
        from ..protocol.derive import ledger_key  # noqa: PLC0415 - brings in cryptography
        from ..protocol.keys import key_text  # noqa: PLC0415 - as above

        self._check_place()
        if self._is_laid_out():
            self._check_identity(key_text(ledger_key(secret).public))
        with (
            self._named(),
            Store.write(self.ledger_path, self.name, key_text(ledger_key(secret).public)) as store,
        ):
            yield store

    def _is_laid_out(self) -> bool:
        """Whether there is more than the empty file that a process leaves which is killed at the start."""
        return self.ledger_path.exists() and self.ledger_path.stat().st_size > 0

    def _check_place(self) -> None:
        """Refuses a place where no ledger can be, or be written.

        Raises:
            LedgerError: `ledger.folder`, `ledger.open`, or as `check_file`.
        """
        from ..ledger.database import check_file  # noqa: PLC0415 - brings in SQLite

        path, folder = self.ledger_path, self.ledger_path.parent
        if path.exists():
            check_file(path, writing=True)
        elif not folder.is_dir():
            what = f"there is no folder `{folder}` for the ledger"
            raise LedgerError("ledger.folder", what, "make it with `mkdir`, or check the path")
        if path.exists() and not path.is_file():
            raise LedgerError("ledger.open", f"`{path}` is not a file", "give the path of a ledger file")
        if not _writable(folder) or not _writable(path):
            closed = "it" if _writable(folder) else "its folder"
            what = f"`{path}` can't be written: {closed} is closed to you"
            hint = f"check `ls -ld {folder} {path}`, or give another `--ledger`"
            raise LedgerError("ledger.open", what, hint)

    def _check_identity(self, key: str) -> None:
        with self.store() as store:
            name, held = store.identity()
        if held != key:
            what = f"secret file `{self.secret_path}` is not that of ledger `{self.ledger_path}`"
            raise LedgerError("ledger.key", what, "name the right one with `--secret`")
        if name != self.name:
            what = f"ledger `{self.ledger_path}` signs as `{name}`, not as `{self.name}`"
            raise LedgerError("ledger.name", what, f"give `--name {name}`")

    @contextmanager
    def _named(self) -> Generator[None]:
        """Damage within it is told with the ledger's path."""
        try:
            yield
        except LedgerError as error:
            if error.code != "store.damaged":
                raise
            what = error.text.removeprefix("the file ")
            raise LedgerError(error.code, f"`{self.ledger_path}` {what}", error.hint) from None


pass_session = click.make_pass_decorator(Session)
"""Hands the session to a command as its first argument."""


def secret_path_of(ledger_path: Path) -> Path:
    """Where a ledger's secret lies unless it is said: beside it, `.secret` appended."""
    return Path(f"{ledger_path}.secret")


def _writable(path: Path) -> bool:
    """Whether this process may write there; what isn't there yet is its folder's business."""
    modes = os.W_OK | os.X_OK if path.is_dir() else os.W_OK
    effective = os.access in os.supports_effective_ids
    return not path.exists() or os.access(path, modes, effective_ids=effective)

"""Where a command works: the global options, as each command gets them.

    ledger   the store            --ledger, TOLLBOOK_LEDGER, tollbook.db
    secret   the ledger's secret  --secret, TOLLBOOK_SECRET, <ledger>.secret
    name     the ledger's name    --name, TOLLBOOK_NAME, tollbook.local

Nothing is opened or made before a command asks for it: one that only reads makes
no files. The name stands in runs, checkpoints and keys and is not taken from a
path, since the same ledger on another machine is the same ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..protocol.errors import LedgerError

if TYPE_CHECKING:
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
        from ..ledger.database import check_file  # noqa: PLC0415 - brings in SQLite
        from ..ledger.secret import ensure_secret  # noqa: PLC0415 - brings in cryptography

        if self.ledger_path.exists():
            check_file(self.ledger_path, writing=True)
            if self.ledger_path.stat().st_size:
                return self._kept_secret()
        elif not self.ledger_path.parent.is_dir():
            raise LedgerError(
                "ledger.folder",
                f"there is no folder `{self.ledger_path.parent}` for the ledger",
                "make it with `mkdir`, or check the path",
            )
        return ensure_secret(self.secret_path)

    def _kept_secret(self) -> bytes:
        try:
            return self.secret()
        except LedgerError as error:
            if error.code != "secret.missing":
                raise
            hint = "bring it back from a copy, or name it with `--secret`: no other can sign for this ledger"
            raise LedgerError(error.code, error.text, hint) from None

    def store(self) -> Store:
        """The ledger, opened to be read.

        Raises:
            LedgerError: as `Store.read`.
        """
        from ..ledger.store import Store  # noqa: PLC0415 - brings in SQLite

        return Store.read(self.ledger_path)

    def store_to_write(self, secret: bytes) -> Store:
        """The ledger, opened to be written, made at first use.

        Raises:
            LedgerError: as `Store.write`.
        """
        from ..ledger.store import Store  # noqa: PLC0415 - as above
        from ..protocol.derive import ledger_key  # noqa: PLC0415 - brings in cryptography
        from ..protocol.keys import key_text  # noqa: PLC0415 - as above

        return Store.write(self.ledger_path, self.name, key_text(ledger_key(secret).public))


pass_session = click.make_pass_decorator(Session)
"""Hands the session to a command as its first argument."""


def secret_path_of(ledger_path: Path) -> Path:
    """Where a ledger's secret lies unless it is said: beside it, `.secret` appended."""
    return Path(f"{ledger_path}.secret")

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
from typing import Final

import click

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
        """The ledger's secret, made at first use: for commands that write.

        Raises:
            LedgerError: as `ensure_secret`.
        """
        from ..ledger.secret import ensure_secret  # noqa: PLC0415 - brings in cryptography

        return ensure_secret(self.secret_path)


pass_session = click.make_pass_decorator(Session)
"""Hands the session to a command as its first argument."""


def secret_path_of(ledger_path: Path) -> Path:
    """Where a ledger's secret lies unless it is said: beside it, `.secret` appended."""
    return Path(f"{ledger_path}.secret")

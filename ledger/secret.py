"""The secret file: 32 random bytes from which a ledger's keys, nonces and salts follow.

    missing  →  temporary file (0600), 32 bytes, fsync, link to its name, fsync of the folder  →  there
    there    →  a regular file, closed to group and others, of exactly 32 bytes                →  read

The link makes the file appear whole or not at all, and never over another:
whoever loses a race reads the winner's secret, and a crash leaves no short file
that would be refused ever after. A symlink may stand for the file; its target
is what gets checked.

This is the only place of the four rooms that draws random bytes. What is made of
them is the law's business (`tollbook.protocol.derive`).

Source: design, section 2, "Keys and the secret".
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from ..protocol.derive import SECRET_BYTES
from ..protocol.errors import LedgerError

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def load_secret(path: Path) -> bytes:
    """The 32 bytes of the secret file.

    Raises:
        LedgerError: `secret.missing`, `secret.not_a_file`,
            `secret.open_to_others` or `secret.length`.
        OSError: the file cannot be opened or read.
    """
    try:
        # Opening a pipe for reading would wait for a writer, hence O_NONBLOCK.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise LedgerError(
            "secret.missing",
            f"secret file `{path}` does not exist",
            "name the right one with `--secret`, or make a new one with `tollbook key new`",
        ) from None
    try:
        _check_state(path, os.fstat(descriptor))
        return os.read(descriptor, SECRET_BYTES)
    finally:
        os.close(descriptor)


def make_secret(path: Path) -> bytes:
    """Makes the secret file, on disk when this returns, and gives its 32 bytes.

    Raises:
        LedgerError: `secret.exists`, there is something of that name already, or `secret.folder`.
        OSError: the folder cannot be written.
    """
    secret = os.urandom(SECRET_BYTES)
    draft = path.parent / f".{path.name}.{os.urandom(8).hex()}"
    try:
        _write_new(draft, secret)
        os.link(draft, path)
    except FileNotFoundError:
        raise LedgerError(
            "secret.folder",
            f"folder `{path.parent}` does not exist",
            "make it with `mkdir`, or check the path",
        ) from None
    except FileExistsError:
        raise LedgerError(
            "secret.exists",
            f"secret file `{path}` exists already and is never overwritten",
            "runs signed by it need it: keep it, and name another file with `--secret`",
        ) from None
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        with contextlib.suppress(OSError):  # what went wrong before is what matters
            draft.unlink()
    _sync_folder(path.parent)
    return secret


def ensure_secret(path: Path) -> bytes:
    """The 32 bytes of the secret file, which is made when there is none.

    Raises:
        LedgerError: as `load_secret`, but not `secret.missing`.
        OSError: as `load_secret` and `make_secret`.
    """
    if not os.path.lexists(path):
        try:
            return make_secret(path)
        except LedgerError as error:
            if error.code != "secret.exists":
                raise
            # Another process made it in between: its secret is the secret.
    return load_secret(path)


def _check_state(path: Path, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise LedgerError(
            "secret.not_a_file",
            f"secret `{path}` is not a file",
            "name the file of 32 bytes with `--secret`",
        )
    if state.st_mode & _OTHERS:
        raise LedgerError(
            "secret.open_to_others",
            f"secret file `{path}` is open to others than its owner",
            f"close it with `chmod 600 {path}`; if others have read it, make a new ledger with a new secret",
        )
    if state.st_size != SECRET_BYTES:
        raise LedgerError(
            "secret.length",
            f"secret file `{path}` holds {state.st_size} bytes instead of {SECRET_BYTES}",
            "name the right file with `--secret`, or bring it back from a backup",
        )


def _write_new(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

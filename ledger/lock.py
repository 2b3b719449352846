"""The writer's lock: one process writes to a ledger at a time.

    acquire ─► <ledger>.lock, held by this process ─► release, or the process's end

SQLite's own locks are taken for each transaction; this one is held as long as a
writer has the file open, so that one connection alone checkpoints its log.

Source: flock(2): a lock goes with the open file, and with the last process that has it open.
"""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING

from ..protocol.errors import LedgerError
from .database import busy

if TYPE_CHECKING:
    from pathlib import Path

LOCK_SECONDS = 30.0
_POLL_SECONDS = 0.02


def acquire(path: Path, wait_seconds: float) -> int:
    """The lock of a ledger, as a descriptor; freed by the system if the process dies.

    Raises:
        LedgerError: `ledger.open`, the lock can't be made, or `ledger.busy`,
            another process holds it for longer than `wait_seconds`.
    """
    # Beside the file itself: one file has one lock, whatever links lead to it.
    lock_path = os.path.realpath(path) + ".lock"
    try:
        lock = os.open(lock_path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        what = f"`{lock_path}` can't be written: {error.strerror}"
        raise LedgerError("ledger.open", what, "check the folder's permissions") from None
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= deadline:
                os.close(lock)
                raise busy(path) from None
            time.sleep(_POLL_SECONDS)
        else:
            return lock


def release(lock: int) -> None:
    """Lets the next writer in."""
    # Said, not left to closing: a process forked meanwhile holds the same lock open.
    fcntl.flock(lock, fcntl.LOCK_UN)
    os.close(lock)

"""Writes runs in processes that are killed: started once, forked for each run.

    stdin   one JSON document a line: {path, group, messages, trial, seal, stop, at, said}
    stdout  the pid of the process that writes it
    said    a file that gets a line for each count of records on disk, and one when the run is sealed

`stop` says what kills the process, `at` when: `statement`, the at-th that SQLite begins; `commit`, the at-th
commit, before it is one; `step`, the first that takes so many steps of SQLite's machine; or `no`, nothing,
which leaves it to who started it.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from small_run import begin, ledger

from tollbook.protocol.retail.actions import CancelPendingOrder, GetUserDetails

connect = sqlite3.connect


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(stop: str, at: int) -> None:
    """Lets the process kill itself in the midst of SQLite's work."""
    begun = 0

    def statement(sql: str) -> None:
        nonlocal begun
        begun += stop == "statement" or sql == "COMMIT"
        if begun == at:
            die()

    def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        if stop in ("statement", "commit"):
            connection.set_trace_callback(statement)
        elif stop == "step":
            connection.set_progress_handler(die, at)
        return connection

    sqlite3.connect = connected  # pyright: ignore[reportAttributeAccessIssue]


def write(job: dict[str, Any]) -> None:
    said = os.open(job["said"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    arm(job["stop"], job["at"])
    with ledger(Path(job["path"])) as store:
        writer = begin(store, trial=job["trial"], group=job["group"])
        assistant = writer.voice("assistant")
        kept = 0
        for place in range(job["messages"]):
            if kept != writer.kept and job["group"]:
                kept = writer.kept
                os.write(said, b"%d\n" % kept)
            if place % 10:
                assistant.say(GetUserDetails("ann"), to="platform")
            else:
                assistant.say(
                    CancelPendingOrder("#ann-lamp", "no longer needed"), to="platform", key=f"k{place}"
                )
        if job["seal"]:
            writer.seal("completed")
            os.write(said, b"sealed\n")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                write(json.loads(line))
            finally:
                os._exit(0)
        say(str(pid))
        os.waitpid(pid, 0)
        say("ended")


if __name__ == "__main__":
    main()

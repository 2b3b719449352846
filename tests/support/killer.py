"""Kills processes that write runs, and looks at what they leave."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from small_run import SECRET, ledger

from tollbook.ledger.verify import verify_store
from tollbook.ledger.writer import Writer
from tollbook.protocol.retail.actions import ListAllProductTypes

SUPPORT = Path(__file__).resolve().parent
PATIENCE_SECONDS = 30.0


class Killer:
    """A process whose children write runs and are killed."""

    def __init__(self) -> None:
        paths = os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen(
            [sys.executable, str(SUPPORT / "crash.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
        )

    def close(self) -> None:
        self._process.communicate()
        assert 0 == self._process.returncode

    def run(self, folder: Path, chance: random.Random | None = None, **job: Any) -> list[str]:
        """What the child had said by the time it died; with `chance`, it is killed at some moment."""
        said = folder / "said"
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(
            json.dumps({**job, "path": str(folder / "a.db"), "said": str(said)}),
            file=self._process.stdin,
            flush=True,
        )
        pid = int(self._process.stdout.readline())
        if chance is not None:
            if job["group"] is None:  # which says nothing before its seal
                time.sleep(chance.random() / 2)
            else:
                self._wait(said, chance.randrange(job["messages"] * 2))
                time.sleep(chance.random() / 200)
            with contextlib.suppress(ProcessLookupError):  # it may have sealed and ended before
                os.kill(pid, signal.SIGKILL)
        assert "ended\n" == self._process.stdout.readline()
        return said.read_text().split() if said.exists() else []

    @staticmethod
    def _wait(said: Path, records: int) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if (
                said.exists()
                and (lines := said.read_text().split())
                and (lines[-1] == "sealed" or int(lines[-1]) >= records)
            ):
                return
            time.sleep(0.0005)


def aftermath(folder: Path, said: list[str]) -> str:
    """Checks what is left, goes on with it, and says how far it was: `none`, `open`, `sealed`."""
    path = folder / "a.db"
    with ledger(path) as store:
        runs = store.runs()
        assert store.damage() is None
        assert runs or not said
        before = list(verify_store(path, runs))
        assert [] == [finding for audit in before for finding in audit.findings]
        for number, audit in enumerate(before, 1):
            counts = [int(line) for line in said if line != "sealed"]
            assert audit.records == store.size(number) >= max(counts, default=0)
            if audit.outcome is None:
                assert "sealed" not in said
                writer = Writer.resume(store, SECRET, number)
                writer.voice("assistant").say(ListAllProductTypes(), to="platform")
                writer.seal("completed")
        after = list(verify_store(path, runs))
    assert all(audit.good for audit in after)
    for made in folder.iterdir():
        made.unlink()
    return "none" if not before else "open" if before[0].outcome is None else "sealed"

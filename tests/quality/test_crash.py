"""kill -9 in the midst of writing: nothing acknowledged is lost, nothing half-written is taken for whole.

    a process writes a run ─► is killed ─► the file is opened again ─► verified ─► gone on with ─► verified

It is killed at statements and machine steps of SQLite (between an append and its commit, in the midst of a
commit's rows, while the file is made) and from outside at any moment; many times more in `make test-all`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_run import SECRET, ledger

from tollbook.ledger.verify import verify_store
from tollbook.ledger.writer import Writer
from tollbook.protocol.retail.actions import ListAllProductTypes

SUPPORT = Path(__file__).resolve().parent.parent / "support"
MESSAGES = 1_000
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


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    held = Killer()
    yield held
    held.close()


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


def kill(  # noqa: PLR0913 - who kills whom, where, when and how
    killer: Killer, folder: Path, seed: int, group: int | None, stop: str, messages: int = MESSAGES
) -> str:
    chance = random.Random(f"crash {seed} {group} {stop}")
    job = {"group": group, "messages": messages, "trial": 0, "seal": True, "stop": stop, "at": 0}
    if stop == "moment":
        said = killer.run(folder, chance, **{**job, "stop": "no"})
    else:
        # A message is two records; statements that are begun: each row, and some about each transaction.
        most = 2_000 if stop == "step" else 60 + 2 * messages * (2 if group == 1 else 1)
        said = killer.run(folder, **{**job, "at": chance.randrange(1, most)})
    return aftermath(folder, said)


@pytest.mark.parametrize("stop", ["statement", "step", "moment"])
@pytest.mark.parametrize("group", [1, 10, 100])
def test_killed_in_the_midst_of_a_thousand_appends(
    killer: Killer, tmp_path: Path, group: int, stop: str
) -> None:
    for seed in range(2):
        kill(killer, tmp_path, seed, group, stop)


@pytest.mark.parametrize("stop", ["statement", "step"])
@pytest.mark.parametrize("group", [10, None])
def test_killed_while_a_run_is_opened_or_sealed(
    killer: Killer, tmp_path: Path, group: int | None, stop: str
) -> None:
    found = Counter(kill(killer, tmp_path, seed, group, stop, messages=8) for seed in range(12))
    assert found["none"] > 0
    if group is None:
        assert 0 == found["open"]


def test_killed_at_each_statement_of_a_short_run(killer: Killer, tmp_path: Path) -> None:
    """From the making of the file to the seal: what was said is there, and there was a state to each."""
    job = {"group": 2, "messages": 2, "trial": 0, "seal": True, "stop": "statement"}
    found: list[str] = []
    for at in range(1, 200):
        found.append(aftermath(tmp_path, killer.run(tmp_path, **job, at=at)))
        if found[-1] == "sealed":
            break
    assert ["none", "open", "sealed"] == sorted(set(found), key=found.index)
    assert found == sorted(found, key=["none", "open", "sealed"].index)


@pytest.mark.long
@pytest.mark.parametrize("stop", ["statement", "step", "moment"])
@pytest.mark.parametrize("group", [1, 10, 100, None])
def test_killed_many_times(killer: Killer, tmp_path: Path, group: int | None, stop: str) -> None:
    for seed in range(100, 130):
        kill(killer, tmp_path, seed, group, stop)


def test_a_run_that_nobody_kills_is_sealed(killer: Killer, tmp_path: Path) -> None:
    said = killer.run(tmp_path, group=10, messages=20, trial=0, seal=True, stop="no", at=0)
    assert "sealed" == said[-1]
    assert "sealed" == aftermath(tmp_path, said)

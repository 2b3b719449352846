"""`tollbook serve` as a process: it says where it is, what ended, and ends when it is told to."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from script import run

from tollbook.tasks.format.task import load_task
from tollbook.tasks.play.casting import Part, cast
from tollbook.tasks.serve.client import Client
from tollbook.tasks.shelf import find_task

TASK = "t4.buyer_zopa"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_host_serves_until_it_is_told_to_stop(tmp_path: Path, number: signal.Signals) -> None:
    ledger = str(tmp_path / "own.db")
    tokens = tmp_path / "tokens"
    tokens.write_text("one-of-the-operators-tokens\nanother-of-its-tokens\n")
    words = ["--ledger", ledger, "serve", TASK, "--port", "0", "--token-file", str(tokens), "--tell-score"]
    with subprocess.Popen(
        [sys.executable, "-m", "tollbook.tasks.cli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as host:
        assert host.stderr is not None
        said = host.stderr.readline()
        match = re.fullmatch(r"serving 1 task of `tollbook.local` at (http://127\.0\.0\.1:[0-9]+)\n", said)
        assert match
        agent = cast(load_task(find_task(TASK).text), Part())("")
        with Client(match[1], access="another-of-its-tokens") as client:
            first = client.open(TASK, "linear", bytes(32), agent.stated)
            assert [1000, 1] == first.play(agent)["score"]
            second = client.open(TASK, "boulware", bytes(32), agent.stated)
            host.send_signal(number)
            out, err = host.communicate(timeout=20)
    assert (0, "") == (host.returncode, err)
    assert [
        f"{first.id[:12]} {TASK} linear trial 0 by reference: completed, 1000",
        f"{second.id[:12]} {TASK} boulware trial 0 by reference: abandoned, not scored",
    ] == out.splitlines()
    assert 0 == run(["--ledger", ledger, "verify"]).exit

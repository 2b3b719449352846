"""The memory that verifying a long run takes: bytes a record beside the state.

    bytes a record = (peak when verifying 1,000,000 records − peak when verifying 10,000) / 990,000

The peak is the resident set's, as Linux counts it, in processes of their own.
Nothing is signed, neither made nor checked: keys are held a party, not a
record, so they don't matter here, and the runs would take minutes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measure import Line, at_most, plain, report, seconds, unsigned
from recorded import new_ledger, open_run, read

from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.protocol.retail.actions import Calculate
from tollbook.tasks.tau2.importer import PLATFORM

SMALL = 10_000
LARGE = 1_000_000
MAX_BYTES_A_RECORD = 64


def make(path: Path, records: int) -> None:
    """A run of this many records: its open, its seal, and calls of the calculator between."""
    _source, shop = read()
    with unsigned(), new_ledger(path) as store:
        writer = open_run(store, shop, group=1_000)
        assistant = writer.voice("assistant")
        for number in range(records // 2 - 1):
            assistant.say(Calculate(expression=f"{number} + 1"), to=PLATFORM)
        writer.seal("completed")


def peak_bytes(path: Path) -> int:
    """The peak of a process that verifies this ledger's run."""
    told = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, __file__, str(path)], check=True, capture_output=True, text=True
    )
    return int(told.stdout)


def verify(path: Path) -> None:
    """Verifies the run and prints this process's peak."""
    with unsigned(), Store.read(path) as store:
        ((run, run_id),) = store.runs()
        assert audit_run(store, run, run_id, shelf_of(store)).good
    # Not `getrusage`: its peak begins with that of the process that started this one.
    status = Path("/proc/self/status").read_text()
    print(1_024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")))


def lines(folder: Path) -> Iterator[Line]:
    """The figures."""
    small, large = folder / "small.db", folder / "large.db"
    make(small, SMALL)
    made_s = seconds(lambda: make(large, LARGE))
    peaks: list[int] = []
    base = peak_bytes(small)
    verified_s = seconds(lambda: peaks.append(peak_bytes(large)), time.perf_counter)
    yield plain("memory.records", LARGE, "records")
    yield plain("memory.make", made_s, "s")
    yield plain("memory.verify_wall", verified_s, "s")
    yield plain("memory.small_peak", base / 2**20, "MiB")
    yield plain("memory.large_peak", peaks[0] / 2**20, "MiB")
    yield at_most("memory.verify", (peaks[0] - base) / (LARGE - SMALL), "bytes/record", MAX_BYTES_A_RECORD)
    yield plain("memory.store", large.stat().st_size / LARGE, "bytes/record")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        verify(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory(prefix="tollbook-bench-") as made:
            report("memory of a run of 1,000,000 records, unsigned", lines(Path(made)))

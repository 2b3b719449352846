"""A real retailer's ledger through the market: 541,909 invoice lines imported, then verified.

    baseline   the same file read by the csv module and summed up in Decimal, in CPU seconds
    ours       CPU seconds of the import (its first pass included) and of verifying all runs, unsigned;
               the resident set's peak after the first run and after the last

Each is measured once: they take half a minute. Without the shared data nothing is.
"""

from __future__ import annotations

import csv
import gzip
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path

from measure import Line, at_most, plain, report, seconds, unsigned
from recorded import NAME, SECRET, new_ledger, shared

from tollbook.ledger.store import Store
from tollbook.ledger.verify import verify_store
from tollbook.tasks.uci.importer import Imported, import_ledger

IN_ALL = Decimal("9747747.934")
CANCELLED = Decimal("-896812.49")


def summed(source: Path) -> Decimal:
    """The baseline."""
    with gzip.open(source, "rt", encoding="utf-8", newline="") as file:
        return sum(
            (int(row["qty"]) * Decimal(row["unit_gbp"]) for row in csv.DictReader(file)), start=Decimal(0)
        )


def import_all(source: Path, path: Path, made: list[Imported], peaks: list[int]) -> None:
    """The import, with this process's peak after each run."""
    with new_ledger(path) as store:
        made.append(import_ledger(store, SECRET, NAME, source, step=lambda: peaks.append(peak_bytes())))


def verify_all(path: Path) -> None:
    """The audit of every run."""
    with Store.read(path) as store:
        runs = store.runs()
    assert all(audit.good for audit in verify_store(path, runs))


def peak_bytes() -> int:
    """The peak of this process."""
    status = Path("/proc/self/status").read_text()
    return 1_024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


def lines(source: Path, path: Path) -> Iterator[Line]:
    """The figures."""
    assert summed(source) == IN_ALL
    baseline_s = seconds(partial(summed, source))
    made: list[Imported] = []
    peaks: list[int] = []
    with unsigned():
        import_s = seconds(partial(import_all, source, path, made, peaks))
        verify_s = seconds(partial(verify_all, path))
    (imported,) = made
    sums = [*imported.posted.values(), *imported.refused.values()]
    assert sum(one.amount for one in sums) == IN_ALL
    assert imported.posted["cancellation"].amount == CANCELLED
    yield plain("uci.lines", imported.lines, "lines")
    yield plain("uci.refused", sum(one.lines for one in imported.refused.values()), "lines")
    yield plain("uci.runs", len(imported.runs), "runs")
    yield plain("uci.csv", baseline_s, "s")
    yield at_most("uci.import", import_s, "s", 60)
    yield plain("uci.import_by_csv", import_s / baseline_s, "times")
    yield plain("uci.verify", verify_s, "s")
    yield at_most("uci.import_and_verify", import_s + verify_s, "s", 60)
    yield plain("uci.peak", peaks[-1] / 2**20, "MiB")
    yield at_most("uci.peak_growth", peaks[-1] / peaks[0], "times", 1.25)
    yield plain("uci.store", path.stat().st_size / imported.lines, "bytes/line")


if __name__ == "__main__":
    folder = shared()
    if folder is None:
        report("a retailer's ledger: no shared data, nothing measured", ())
    else:
        with tempfile.TemporaryDirectory(prefix="tollbook-bench-") as made_in:
            found = lines(folder / "data" / "uci_ledger.csv.gz", Path(made_in) / "uci.db")
            report("a retailer's ledger: 541,909 invoice lines", found)

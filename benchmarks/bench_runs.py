"""The recorded runs as a whole: import, verify and rescore them, and what they take on disk.

    baseline   json.loads of the source's file, once, in CPU seconds; the source's own bytes
    ours       CPU seconds of each step over all runs, start-up aside; bytes a run beside the start rows

`rescore` judges runs that were verified already; `score` verifies them first,
as `tollbook score` does.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

from measure import Line, at_most, beside, plain, report
from recorded import import_into, ledger, read, recorded_files, title

from tollbook.ledger.bundle import export_lines
from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of, verify_store
from tollbook.tasks.judging import Judge, recorded_predicates
from tollbook.tasks.tau2.importer import read_shop
from tollbook.tasks.tau2.source import read_source


def time_lines(path: Path) -> Iterator[Line]:
    """The CPU seconds of each step."""
    files = recorded_files()
    content = gzip.decompress(files.runs.read_bytes()) if files.are_shared else files.runs.read_bytes()
    baseline = partial(json.loads, content)
    numbers = count()
    predicates = recorded_predicates()
    with tempfile.TemporaryDirectory(prefix="tollbook-bench-") as folder, Store.read(path) as store:

        def import_all() -> None:
            source, shop = read_source(files.runs), read_shop(files.shop, "compat")
            assert not import_into(Path(folder) / f"{next(numbers)}.db", source, shop).refused

        def verify_all() -> None:
            assert all(audit.good for audit in verify_store(path, store.runs()))

        def audit_all() -> Iterator[object]:
            shelf = shelf_of(store)
            for run, run_id in store.runs():
                yield Judge(predicates).score(audit_run(store, run, run_id, shelf, keep=True))

        shelf = shelf_of(store)
        audits = [audit_run(store, run, run_id, shelf, keep=True) for run, run_id in store.runs()]

        def rescore_all() -> None:
            for audit in audits:
                Judge(predicates).score(audit)

        yield plain("runs.json_loads", beside(baseline, baseline, 3).ours_s, "s")
        for name, work, target in (
            ("import", import_all, 1.5),
            ("verify", verify_all, 1.2),
            ("rescore", rescore_all, 0.5),
            ("score", lambda: list(audit_all()), None),
        ):
            measured = beside(work, baseline, 5)
            if target is None:
                yield plain(f"runs.{name}", measured.ours_s, "s")
            else:
                yield at_most(f"runs.{name}", measured.ours_s, "s", target)
            yield plain(f"runs.{name}_by_json_loads", 1 / measured.ratio, "times")


def size_lines(path: Path) -> Iterator[Line]:
    """Bytes a run."""
    files = recorded_files()
    _source, shop = read()
    with Store.read(path) as store:
        runs = store.runs()
        shared_bytes = sum(map(len, shop.blob.lines))
        own = b"".join(line for line in export_lines(store, runs) if line[:-1] not in shop.blob.lines)
    source_bytes = files.runs.stat().st_size
    yield plain("runs.count", len(runs), "runs")
    yield at_most("runs.store_bytes", (path.stat().st_size - shared_bytes) / len(runs), "bytes/run", 25_000)
    yield plain("runs.bundle_bytes", len(own) / len(runs), "bytes/run")
    yield at_most("runs.gz_bytes", len(gzip.compress(own, 6)) / len(runs), "bytes/run", 12_000)
    yield plain("runs.source_file_bytes", source_bytes / len(runs), "bytes/run")


if __name__ == "__main__":
    with ledger() as made:
        report(f"sizes: {title()}", size_lines(made))
        report(f"CPU seconds: {title()}", time_lines(made))

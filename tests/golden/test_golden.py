"""Runs sealed before: the same input still gives the same bytes, and old runs still verify.

    retail.roots    run roots of the suite's runs under a fixed secret, both modes
    retail.jsonl    an export of two of them, as it was written once

A change here is a change of the format or of the rules. Before the first
release that is allowed, knowingly: write the files anew with
`python tests/golden/test_golden.py`. After it, a new version goes beside the old.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from tollbook.ledger.bundle import export_lines
from tollbook.ledger.store import Store
from tollbook.ledger.verify import verify_bundle
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.keys import key_text
from tollbook.tasks.tau2.importer import import_runs, read_shop
from tollbook.tasks.tau2.source import read_source

HERE = Path(__file__).parent
ROOTS = HERE / "retail.roots"
BUNDLE = HERE / "retail.jsonl"
SECRET = bytes(range(32))
NAME = "golden.example"
EXPORTED = 2


def roots_of(mode: str, folder: Path) -> list[str]:
    """The lines of `retail.roots` for one mode; leaves its ledger as `<mode>.db`."""
    suite = files("tollbook.tasks") / "suites" / "retail"
    ledger = folder / f"{mode}.db"
    key = key_text(ledger_key(SECRET).public)
    with (
        as_file(suite / "shop.json") as shop,
        as_file(suite / "recorded.json") as runs,
        Store.write(ledger, NAME, key) as store,
    ):
        imported = import_runs(store, SECRET, NAME, read_source(runs), read_shop(shop, mode))
    assert imported.refused == []
    with Store.read(ledger) as store:
        checkpoints = [store.notes(run)[0].splitlines() for run, _run_id in store.runs()]
    return [f"{mode} {origin} {size} {root}" for origin, size, root, *_rest in checkpoints]


def all_roots() -> str:
    """The text of `retail.roots`."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [line for mode in ("compat", "strict") for line in roots_of(mode, Path(folder))]
    return "\n".join(lines) + "\n"


SURROUNDINGS = [
    ({"PYTHONHASHSEED": "0"}, []),
    ({"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu"}, []),
    ({"PYTHONHASHSEED": "random", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, []),
    ({"PYTHONHASHSEED": "7", "LC_ALL": "C", "PYTHONUTF8": "0"}, ["-O"]),
]


@pytest.mark.parametrize(("environment", "flags"), SURROUNDINGS, ids=["0", "1-TZ", "random-LC_ALL", "C-O"])
def test_roots_depend_on_nothing_around_the_process(environment: dict[str, str], flags: list[str]) -> None:
    surroundings = {name: value for name, value in os.environ.items() if name not in ("TZ", "LC_ALL", "LANG")}
    ran = subprocess.run(
        [sys.executable, *flags, __file__, "--print"],
        env={**surroundings, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == (ROOTS.read_text(), "")


def test_an_old_export_still_verifies() -> None:
    audits = list(verify_bundle(BUNDLE))
    assert [audit.good for audit in audits] == [True] * EXPORTED
    known = {line.split("/run/")[1].split()[0] for line in ROOTS.read_text().splitlines()}
    assert {audit.run for audit in audits} <= known


def test_the_same_runs_give_the_same_export(tmp_path: Path) -> None:
    roots_of("compat", tmp_path)
    with Store.read(tmp_path / "compat.db") as store:
        lines = b"".join(export_lines(store, store.runs()[:EXPORTED]))
    assert BUNDLE.read_bytes() == lines


def _write() -> None:
    ROOTS.write_text(all_roots())
    with tempfile.TemporaryDirectory() as folder:
        roots_of("compat", Path(folder))
        with Store.read(Path(folder) / "compat.db") as store:
            BUNDLE.write_bytes(b"".join(export_lines(store, store.runs()[:EXPORTED])))


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(all_roots())
    else:
        _write()

"""A page from real processes: the same bytes from the same runs, and whole or not there."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from script import Stage

from tollbook.scorers.analysis import page

COMMAND = [sys.executable, "-m", "tollbook.tasks.cli"]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as stage:
        stage.prepare("panel tollbook.db")
        yield stage


def report(folder: Path, name: str, **settings: str) -> bytes:
    """The page that a process of its own writes, which says nothing but that."""
    done = subprocess.run(
        [*COMMAND, "report", "-o", name],
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ["wrote", "sha256"] == [line.split()[0] for line in done.stdout.splitlines()]
    assert "" == done.stderr
    return (folder / name).read_bytes()


def test_the_same_runs_give_the_same_bytes(stage: Stage) -> None:
    one = report(stage.folder, "one.html", PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C")
    settings = {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "SOURCE_DATE_EPOCH": "99", "LC_ALL": "C.UTF-8"}
    assert one == report(stage.folder, "two.html", **settings)
    assert len(one) > 50_000


def test_the_page_names_what_it_rests_on(stage: Stage) -> None:
    assert 0 == stage.run("tollbook report").exit
    text = (stage.folder / "report.html").read_text(encoding="utf-8")
    for sql in ("SELECT id FROM runs", "SELECT DISTINCT scorer FROM receipts", "SELECT key FROM ledger"):
        for (value,) in stage.query(sql):
            assert (value[:12] if "runs" in sql else value) in text, sql


@pytest.mark.parametrize("before", [None, b"an older page"])
def test_a_page_is_written_whole_or_not_at_all(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, before: bytes | None
) -> None:
    place = stage.folder / "report.html"
    if before is not None:
        place.write_bytes(before)
    files = stage.files()

    def fails(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fails)
    ran = stage.run("tollbook report")
    assert (1, "") == (ran.exit, ran.stdout)
    assert "error: `report.html` can't be written: No space left on device" in ran.stderr
    monkeypatch.undo()
    monkeypatch.setattr(page, "html_page", lambda _: 1 / 0)
    assert "internal: ZeroDivisionError" in stage.run("tollbook report").stderr
    kept = {name: data for name, data in stage.files().items() if not name.startswith("tollbook.db")}
    assert {name: data for name, data in files.items() if not name.startswith("tollbook.db")} == kept


@pytest.mark.parametrize(
    ("expected",                                "lacks",       "line"),
    [
        ("a page needs matplotlib, which",      "matplotlib",  "report"),
        ("a page needs matplotlib, which",      "matplotlib",  "report -o report.md"),
        ("a page needs markdown_it, which",     "markdown_it", "report"),
        ("a picture needs matplotlib, which",   "matplotlib",  "analyse credit --svg"),
    ],
)  # fmt: skip
def test_without_the_extra_nothing_is_begun(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, expected: str, lacks: str, line: str
) -> None:
    monkeypatch.setitem(sys.modules, lacks, None)
    files = stage.files()
    ran = stage.run(f"tollbook {line}")
    assert (2, "") == (ran.exit, ran.stdout)
    assert ran.stderr.startswith(f"error: {expected} isn't installed\nhint: install `tollbook[plots]`")
    assert files == stage.files()


def test_markdown_needs_no_reader_of_markdown(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    assert 0 == stage.run("tollbook report -o report.md").exit

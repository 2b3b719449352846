"""`tollbook import tau2` on what it refuses: one error, one hint, and no file made."""

from __future__ import annotations

import gzip
import json
from importlib.resources import as_file, files
from pathlib import Path

import pytest
import script
from recordings import message, results, run

with as_file(files("tollbook.tasks") / "suites/retail") as SUITE:
    DB = SUITE / "shop.json"
HELLO = message("user", "Hello")


def imports(*args: object) -> tuple[int, list[str], list[str]]:
    ran = script.run(["import", "tau2", *map(str, args)])
    return ran.exit, ran.stdout.splitlines(), ran.stderr.splitlines()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"not JSON", b"[]", b"{}", b"null", b"[" * 100_000, b'{"simulations": {}}', DB.read_bytes(),
        gzip.compress(b"{}", mtime=0)[:-4], b"\x1f\x8b", b"SQLite format 3\0", b"9" * 5_000,
    ],
)  # fmt: skip
def test_a_refused_file_leaves_no_file_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").write_bytes(content)
    code, out, err = imports("runs", "--db", DB)
    assert (1, []) == (code, out)
    assert ["error:", "hint:"] == [line.split()[0] for line in err]
    assert ["runs"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("db", ["no.json", "runs.json", "."])
def test_a_refused_shop_leaves_no_file_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, db: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs.json").write_text(json.dumps(results(run("a", HELLO))))
    assert 1 == imports("runs.json", "--db", db)[0]
    assert ["runs.json"] == [path.name for path in tmp_path.iterdir()]


def test_runs_that_cant_be_imported_are_named_and_the_rest_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    bad = run("b c", HELLO), run("d", messages=None), run("e\x1b[2J", HELLO), None
    Path("runs.json").write_text(json.dumps(results(run("a", HELLO), *bad)))
    code, out, err = imports("runs.json", "--db", DB)
    assert (1, 1, True) == (code, len(out), out[0].startswith("imported 1 run: 1 message, 0 calls"))
    named = [line.split(":")[1].split()[1] for line in err if line.startswith("not imported:")]
    assert ["1", "2", "3", "4"] == named
    assert not any("\x1b[2J" in line for line in err)

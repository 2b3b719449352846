"""`tollbook analyse`: it keeps nothing, writes where it is told to, and says early what it lacks."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from script import Stage

from tollbook.scorers.analysis import plots
from tollbook.scorers.analysis.names import NAMES


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as stage:
        stage.prepare("panel tollbook.db")
        yield stage


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_kept(stage: Stage, name: str) -> None:
    before = stage.files()
    assert 0 == stage.run(f"tollbook analyse {name}").exit
    assert before == stage.files()


@pytest.mark.parametrize("form", ["", "--json", "--markdown", "--svg"])
def test_a_file_has_what_would_have_been_printed(stage: Stage, form: str) -> None:
    printed = stage.run(f"tollbook analyse stages {form}").stdout
    for name in ("out", "out.gz"):
        ran = stage.run(f"tollbook analyse stages {form} -o {name}")
        assert ("" if form == "--json" else f"wrote {name}\n", "", 0) == ran
    data = stage.files()
    assert printed == data["out"].decode() == gzip.decompress(data["out.gz"]).decode()


def test_a_picture_without_its_library_is_refused_before_the_work(stage: Stage) -> None:
    with mock.patch.object(plots, "find_spec", return_value=None):
        ran = stage.run("tollbook analyse means nonsense --svg -o out.svg")
    error, hint = ran.stderr.splitlines()
    assert (2, "") == (ran.exit, ran.stdout)
    assert "error: a picture needs matplotlib, which isn't installed" == error
    assert "pip install 'tollbook[plots]'" in hint
    assert "out.svg" not in stage.files()


def test_the_whole_trace_tells_all_apart_and_no_other_view_does(stage: Stage) -> None:
    views = json.loads(stage.run("tollbook analyse collisions --json").stdout)["views"]
    colliding = {view["view"]: view["colliding"] for view in views}
    assert 0 == colliding.pop("trace")
    assert all(colliding.values())

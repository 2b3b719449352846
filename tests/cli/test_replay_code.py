"""`tollbook replay` says where other code made a run; that is no fault of the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from script import Stage

from tollbook.tasks.play import environment


def test_a_run_made_by_other_code_is_told_and_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Stage(tmp_path) as stage:
        assert 0 == stage.run("tollbook run t4.buyer_zopa --case linear").exit
        run = json.loads(stage.run("tollbook ls --json").stdout)["runs"][0]["run"]
        assert "same" == json.loads(stage.run(f"tollbook replay {run} --json").stdout)["code"]
        monkeypatch.setattr(environment, "code_digest", lambda: "0" * 64)
        told = stage.run(f"tollbook replay {run}")
        assert (0, True) == (told.exit, "made by other code" in told.stdout)
        assert "other" == json.loads(stage.run(f"tollbook replay {run} --json").stdout)["code"]
        assert 0 == stage.run("tollbook verify").exit


@pytest.mark.parametrize("text", ["", "tollbook.receipt/1\n{}\n", "tollbook.environment/1\n{}\n", "a\nb"])
def test_what_states_no_code_has_none(text: str) -> None:
    assert environment.code_of(text) is None

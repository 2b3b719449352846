"""Which trial is next: the one after the last of this task file, case and agent, sealed or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_task import LOOK, TEXT, Says, changed, ledger_on, store_at, task_of

from tollbook.ledger.store import Store
from tollbook.tasks.format.task import Task
from tollbook.tasks.play.agent import Agent
from tollbook.tasks.play.recorder import record
from tollbook.tasks.play.trials import next_trials

OTHER = changed(("no less.", "no less!"))


def play(store: Store, case: str, trial: int, agent: Agent, task: Task | None = None) -> None:
    record(ledger_on(store), task or task_of(), case, trial, agent)


def test_the_next_trial(tmp_path: Path) -> None:
    with store_at(tmp_path / "a.db") as store:
        assert {} == next_trials(store, task_of(), Says())
        for case, trial in (("cheap", 0), ("cheap", 1), ("dear", 4)):
            play(store, case, trial, Says(LOOK))
        assert {"cheap": 2, "dear": 5} == next_trials(store, task_of(), Says())
        assert 0 == next_trials(store, task_of(), Says())["free"]
        assert {} == next_trials(store, task_of(), Says(name="another"))
        assert {} == next_trials(store, task_of(OTHER), Says())
        play(store, "dear", 0, Says(LOOK, name="another"))
        assert {"dear": 1} == next_trials(store, task_of(), Says(name="another"))
        assert {"cheap": 2, "dear": 5} == next_trials(store, task_of(), Says())


def test_a_run_that_broke_off_has_its_trial(tmp_path: Path) -> None:
    class Breaks(Says):
        def close(self) -> None:
            raise KeyboardInterrupt

    with store_at(tmp_path / "a.db") as store:
        agent = Breaks(LOOK, outside=True)
        with pytest.raises(KeyboardInterrupt):
            play(store, "cheap", 0, agent)
        assert {"cheap": 1} == next_trials(store, task_of(), Says())
        play(store, "cheap", 1, Says(LOOK))
        assert 2 == len(store.runs())
    assert task_of().text == TEXT

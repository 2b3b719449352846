"""kill -9 in the midst of writing: nothing acknowledged is lost, nothing half-written is taken for whole.

    a process writes a run ─► is killed ─► the file is opened again ─► verified ─► gone on with ─► verified

It is killed at statements and machine steps of SQLite (between an append and its commit, in the midst of a
commit's rows, while the file is made) and from outside at any moment; many times more in `make test-all`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from killer import Killer, aftermath

MESSAGES = 1_000


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    held = Killer()
    yield held
    held.close()


def kill(  # noqa: PLR0913 - who kills whom, where, when and how
    killer: Killer, folder: Path, seed: int, group: int | None, stop: str, messages: int = MESSAGES
) -> str:
    chance = random.Random(f"crash {seed} {group} {stop}")
    job = {"group": group, "messages": messages, "trial": 0, "seal": True, "stop": stop, "at": 0}
    if stop == "moment":
        said = killer.run(folder, chance, **{**job, "stop": "no"})
    else:
        # A message is two records; statements that are begun: each row, and some about each transaction.
        most = 2_000 if stop == "step" else 60 + 2 * messages * (2 if group == 1 else 1)
        said = killer.run(folder, **{**job, "at": chance.randrange(1, most)})
    return aftermath(folder, said)


@pytest.mark.parametrize("stop", ["statement", "step", "moment"])
@pytest.mark.parametrize("group", [1, 10, 100])
def test_killed_in_the_midst_of_a_thousand_appends(
    killer: Killer, tmp_path: Path, group: int, stop: str
) -> None:
    for seed in range(2):
        kill(killer, tmp_path, seed, group, stop)


@pytest.mark.parametrize("stop", ["statement", "step"])
@pytest.mark.parametrize("group", [10, None])
def test_killed_while_a_run_is_opened_or_sealed(
    killer: Killer, tmp_path: Path, group: int | None, stop: str
) -> None:
    found = Counter(kill(killer, tmp_path, seed, group, stop, messages=8) for seed in range(12))
    assert found["none"] > 0
    if group is None:
        assert 0 == found["open"]


def test_killed_at_each_statement_of_a_short_run(killer: Killer, tmp_path: Path) -> None:
    """From the making of the file to the seal: what was said is there, and there was a state to each."""
    job = {"group": 2, "messages": 2, "trial": 0, "seal": True, "stop": "statement"}
    found: list[str] = []
    for at in range(1, 200):
        found.append(aftermath(tmp_path, killer.run(tmp_path, **job, at=at)))
        if found[-1] == "sealed":
            break
    assert ["none", "open", "sealed"] == sorted(set(found), key=found.index)
    assert found == sorted(found, key=["none", "open", "sealed"].index)


@pytest.mark.long
@pytest.mark.parametrize("stop", ["statement", "step", "moment"])
@pytest.mark.parametrize("group", [1, 10, 100, None])
def test_killed_many_times(killer: Killer, tmp_path: Path, group: int | None, stop: str) -> None:
    for seed in range(100, 130):
        kill(killer, tmp_path, seed, group, stop)


def test_a_run_that_nobody_kills_is_sealed(killer: Killer, tmp_path: Path) -> None:
    said = killer.run(tmp_path, group=10, messages=20, trial=0, seal=True, stop="no", at=0)
    assert "sealed" == said[-1]
    assert "sealed" == aftermath(tmp_path, said)

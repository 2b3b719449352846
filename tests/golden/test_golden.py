"""Runs sealed before: the same input still gives the same bytes, and old runs still verify.

    retail.roots      run roots of the suite's recorded runs under a fixed secret, both modes
    commerce.roots    run roots of the built-in tasks, played: the reference in each case of each, and a cheat
    auction.roots     run roots of three sessions of baselines: sealed bids, a clock, a double auction
    *.jsonl           an export of a few of each, as it was written once; environment notes, which
                      say on what machine a run was played, are left out

A change here is a change of the format, of the rules or of a task. Before the first
release that is allowed, knowingly: write the files anew with
`python tests/golden/test_golden.py`. After it, a new version goes beside the old.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "support"))  # for the script; pytest has it already

from played_run import SECRET, WORKED, kept, play, play_task  # noqa: E402 - found by the line above

from tollbook.ledger.bundle import export_lines  # noqa: E402 - as above
from tollbook.ledger.store import Store  # noqa: E402 - as above
from tollbook.ledger.verify import verify_bundle  # noqa: E402 - as above
from tollbook.tasks.auctions.cells import CASE, task_text  # noqa: E402 - as above
from tollbook.tasks.auctions.grid import chosen  # noqa: E402 - as above
from tollbook.tasks.conduct import played  # noqa: E402 - as above
from tollbook.tasks.format.read import read  # noqa: E402 - as above
from tollbook.tasks.format.task import load_task  # noqa: E402 - as above
from tollbook.tasks.play.baselines import baseline  # noqa: E402 - as above
from tollbook.tasks.shelf import builtin_tasks  # noqa: E402 - as above
from tollbook.tasks.tau2.importer import import_runs, read_shop  # noqa: E402 - as above
from tollbook.tasks.tau2.source import read_source  # noqa: E402 - as above

NAME = "golden.example"
CHEATED, CHEAT = "t4.buyer_zopa", "cheat:takes_the_first_ask"
ENVIRONMENT = b'{"note":{"text":"tollbook.environment/'
NO_PROMISE = "# {} is at version 0: before the first release these change with its rules and the tasks"
SESSIONS = ("second_price.5", "clock.english_open.4", "double.zi_c.100")
"""Cells of the study of auctions, of each of which one session of five rounds is played."""


class Market(NamedTuple):
    """Golden runs of one market: how their roots are made, and which runs are exported."""

    name: str
    head: tuple[str, ...]
    lines: Callable[[Path, bool], list[str]]
    ledger: str
    exported: Callable[[], Sequence[int]]

    @property
    def roots(self) -> Path:
        return HERE / f"{self.name}.roots"

    @property
    def bundle(self) -> Path:
        return HERE / f"{self.name}.jsonl"

    def text(self, folder: Path, *, whole: bool = True) -> str:
        """The text of the roots' file, or of what of it is quickly made; leaves ledgers in the folder."""
        return "\n".join([*self.head, *self.lines(folder, whole)]) + "\n"

    def known(self, *, whole: bool = True) -> str:
        """What `text` gave when the file was written."""
        lines = self.roots.read_text().splitlines(keepends=True)
        quick = ("#", "compat", "strict", *WORKED, *SESSIONS)
        return "".join(line for line in lines if whole or line.startswith(quick))

    def export(self, folder: Path) -> bytes:
        """The export of some runs of a ledger that `text` left, without environment notes."""
        with Store.read(folder / self.ledger) as store:
            runs = store.runs()
            lines = export_lines(store, [runs[place] for place in self.exported()])
            return b"".join(line for line in lines if not line.startswith(ENVIRONMENT))


def recorded_roots(folder: Path, _whole: bool) -> list[str]:  # noqa: FBT001 - as `played_roots`
    return [line for mode in ("compat", "strict") for line in mode_roots(mode, folder)]


def mode_roots(mode: str, folder: Path) -> list[str]:
    suite = files("tollbook.tasks") / "suites" / "retail"
    ledger = folder / f"{mode}.db"
    with (
        as_file(suite / "shop.json") as shop,
        as_file(suite / "recorded.json") as runs,
        kept(ledger, NAME) as store,
    ):
        imported = import_runs(store, SECRET, NAME, read_source(runs), read_shop(shop, mode))
    assert imported.refused == []
    return [f"{mode} {checkpoint}" for checkpoint in checkpoints(ledger)]


def played_roots(folder: Path, whole: bool) -> list[str]:  # noqa: FBT001 - one of two lists
    ledger = folder / "commerce.db"
    played = [words for words in plays() if whole or words[0] in WORKED]
    with kept(ledger, NAME) as store:
        for words in played:
            play(store, *words)
    return [f"{' '.join(words)} {root}" for words, root in zip(played, checkpoints(ledger), strict=True)]


@cache
def plays() -> list[tuple[str, str, str]]:
    """Task, case and agent of each run: the reference everywhere, and a cheat in one case."""
    files = {found.name: read(found.text) for found in builtin_tasks()}
    cases = {name: list(file.case) for name, file in files.items() if file.world == "commerce"}
    found = [(task, case, "reference") for task in cases for case in cases[task]]
    cheat = (CHEATED, cases[CHEATED][0], CHEAT)
    found.insert(found.index((*cheat[:2], "reference")) + 1, cheat)
    return found


def cheat_and_refund() -> list[int]:
    """The places of the cheat's run and of the first one of a merchant's task."""
    tasks = [task for task, _case, _agent in plays()]
    return [plays().index(each) for each in plays() if each[2] == CHEAT] + [tasks.index(WORKED[-1])]


def session_roots(folder: Path, _whole: bool) -> list[str]:  # noqa: FBT001 - as `played_roots`
    ledger = folder / "auction.db"
    with kept(ledger, NAME) as store:
        for name in SESSIONS:
            (cell,) = chosen([name])
            task = load_task(task_text(cell, 5))
            player = baseline(task, cell.plays)(task.scenes.seed(CASE, 0), task.actor)
            play_task(store, task, CASE, player)
    return [f"{name} {root}" for name, root in zip(SESSIONS, checkpoints(ledger), strict=True)]


def checkpoints(ledger: Path) -> list[str]:
    """The origin, size and root of each run of a ledger."""
    with Store.read(ledger) as store:
        return [" ".join(store.notes(run)[0].splitlines()[:3]) for run, _run_id in store.runs()]


MARKETS = {
    "retail": Market("retail", (), recorded_roots, "compat.db", lambda: (0, 1)),
    "commerce": Market(
        "commerce", (NO_PROMISE.format("commerce"),), played_roots, "commerce.db", cheat_and_refund
    ),
    "auction": Market("auction", (NO_PROMISE.format("auction"),), session_roots, "auction.db", lambda: (0,)),
}


def all_roots(*, whole: bool) -> str:
    """The texts of the roots' files, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        return "".join(market.text(Path(folder), whole=whole) for market in MARKETS.values())


SURROUNDINGS = [
    (False, {"PYTHONHASHSEED": "0"}, []),
    (False, {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu"}, []),
    (False, {"PYTHONHASHSEED": "random", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, []),
    (True, {"PYTHONHASHSEED": "7", "TZ": "America/Lima", "LC_ALL": "C", "PYTHONUTF8": "0"}, ["-O"]),
]


@pytest.mark.parametrize(
    ("whole", "environment", "flags"), SURROUNDINGS, ids=["0", "1-TZ", "random-LC_ALL", "C-TZ-O"]
)
def test_roots_depend_on_nothing_around_the_process(
    environment: dict[str, str], flags: list[str], *, whole: bool
) -> None:
    surroundings = {name: value for name, value in os.environ.items() if name not in ("TZ", "LC_ALL", "LANG")}
    ran = subprocess.run(
        [sys.executable, *flags, __file__, "--print", *["--quick"][whole:]],
        env={**surroundings, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("".join(market.known(whole=whole) for market in MARKETS.values()), "") == (ran.stdout, ran.stderr)


@pytest.mark.parametrize("name", MARKETS)
def test_an_old_export_still_verifies(name: str) -> None:
    market = MARKETS[name]
    audits = list(verify_bundle(market.bundle, keep="played", further=played))
    assert [True] * len(market.exported()) == [audit.good and not audit.findings for audit in audits]
    assert {"not done" if name == "retail" else "done"} == {audit.checks["6"] for audit in audits}
    lines = market.roots.read_text().splitlines()[len(market.head) :]
    known = {line.split("/run/")[1].split()[0] for line in lines}
    assert {audit.run for audit in audits} <= known


@pytest.mark.parametrize("name", MARKETS)
def test_the_same_runs_give_the_same_roots_and_export(name: str, tmp_path: Path) -> None:
    market = MARKETS[name]
    assert market.known() == market.text(tmp_path)
    assert market.bundle.read_bytes() == market.export(tmp_path)


def test_every_case_is_played_and_no_two_runs_have_one_root() -> None:
    lines = [line.split() for line in MARKETS["commerce"].roots.read_text().splitlines()[1:]]
    assert plays() == [(task, case, agent) for task, case, agent, *_rest in lines]
    assert [CHEAT] == [agent for _task, _case, agent, *_rest in lines if agent != "reference"]
    assert len(lines) == len({root for *_rest, root in lines})


def _write() -> None:
    for market in MARKETS.values():
        with tempfile.TemporaryDirectory() as folder:
            market.roots.write_text(market.text(Path(folder)))
            market.bundle.write_bytes(market.export(Path(folder)))


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(all_roots(whole="--quick" not in sys.argv))
    else:
        _write()

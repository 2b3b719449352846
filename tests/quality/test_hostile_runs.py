"""Hostile programs play whole runs: each ends as what it was, sealed, verified and scored, and harms nothing.

    program ─► record ─► a ledger's run: its outcome, what is kept of it ─► the next run, unharmed

All that is said whole is tried here, and a sample of the rest; everything in `make test-all`.

Not here: the programs (`hostile_agents`), their answers one by one (tests/unit/tasks/test_outside.py).
"""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hostile_agents import CONDUCT, HOSTILE, PATIENT, PRELUDE, SPEECH, TURNS, WORDS, Failure, Hostile
from script import run
from small_task import SECRET, TEXT, ledger_on, store_at, task_of

from tollbook.ledger.store import Store
from tollbook.ledger.verify import verify_store
from tollbook.protocol.errors import UsageError
from tollbook.tasks.console import Exit
from tollbook.tasks.judging import Judge
from tollbook.tasks.play.agent import Agent
from tollbook.tasks.play.casting import Part, cast
from tollbook.tasks.play.outside import Outside
from tollbook.tasks.play.policies import PolicyAgent
from tollbook.tasks.play.recorder import Recorded, record

TASK = task_of()
NAMED = {hostile.name: hostile for hostile in HOSTILE}
SAMPLE = (
    "silence after an act", "more lines than were asked for", "answers to turns that are over", "done",
    "another party's name", "a flood after its answer", "a line without an end", "too dear",
    "exit at once", "exit in the middle", "killed", "a traceback", "closes its output but lives",
    "a child that keeps the pipes open", "much on stderr before each answer",
)  # fmt: skip
PARTY_SECRET = "hunter2, which a program wrote to stderr"


def plays(store: Store, agent: Agent, trial: int = 0) -> Recorded:
    return record(ledger_on(store), TASK, "cheap", trial, agent)


def outside(hostile: Hostile) -> Outside:
    return Outside(hostile.name, hostile.command, hostile.limits)


def honest() -> PolicyAgent:
    return PolicyAgent("reference", TASK.reference)


@contextmanager
def nothing_left() -> Iterator[None]:
    """No descriptor and no child of ours is left that wasn't there before."""
    before = held()
    yield
    assert before == held()


def held() -> tuple[int, list[str]]:
    if not Path("/proc/self/fd").exists():
        return 0, []
    children = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    return len(list(Path("/proc/self/fd").iterdir())), children


def check(hostile: Hostile, recorded: Recorded) -> None:
    """A run of the program is what has to come of it, and as good as any."""
    audit, ending = recorded
    assert (hostile.name, hostile.outcome, []) == (hostile.name, ending.outcome, audit.findings)
    assert dict.fromkeys("123456", "done") == audit.checks
    assert hostile.outcome == audit.outcome
    score = Judge().score(audit)
    assert ("scored", 0) == (score.outcome, score.value)
    last = hostile.failure or (hostile.answers or ("",))[-1]
    assert (last.reason in (ending.reason or "")) if isinstance(last, Failure) else ending.reason is None
    acts = [deed for deed in audit.deeds if deed.message.sender == "buyer"]
    ends = [turn for turn in audit.evidence if turn.turn.n is None]
    assert len(acts) + len(ends) == len(audit.evidence) <= TURNS
    assert len(ends) == (hostile.outcome != "turn_limit")


def check_all(folder: Path, hostiles: list[Hostile]) -> Counter[str]:
    """Every program's run in one ledger, each followed by an honest one; how they were sealed."""
    with store_at(folder / "alone.db") as store:
        alone = plays(store, honest()).audit.root
    with store_at(folder / "a.db") as store:
        plays(store, honest(), 1)
        with nothing_left():
            for hostile in hostiles:
                check(hostile, plays(store, outside(hostile)))
        assert alone == plays(store, honest()).audit.root
        runs = store.runs()
    audits = list(verify_store(folder / "a.db", runs))
    assert [] == [finding for audit in audits for finding in audit.findings]
    assert all(audit.good for audit in audits)
    return Counter(audit.outcome or "open" for audit in audits)


def test_hostile_programs_that_speak_whole(tmp_path: Path) -> None:
    found = check_all(tmp_path, list(WORDS))
    assert {"agent_failed": 26, "agent_stopped": 4, "turn_limit": 1, "completed": 2} == found


def test_a_sample_of_those_that_do_not(tmp_path: Path) -> None:
    found = check_all(tmp_path, [NAMED[name] for name in SAMPLE])
    assert {"agent_failed": 10, "agent_stopped": 2, "turn_limit": 3, "completed": 2} == found


@pytest.mark.long
@pytest.mark.parametrize("hostiles", [SPEECH, CONDUCT], ids=["speech", "conduct"])
def test_every_hostile_program(tmp_path: Path, hostiles: tuple[Hostile, ...]) -> None:
    found = check_all(tmp_path, list(hostiles))
    assert {**Counter(hostile.outcome for hostile in hostiles), "completed": 2} == found


def test_what_does_not_hang_on_time_gives_the_same_root_twice(tmp_path: Path) -> None:
    sample = [*WORDS[::4], *(NAMED[name] for name in SAMPLE if not NAMED[name].is_slow)]
    steady = [hostile for hostile in sample if hostile.answers is not None]
    assert 12 <= len(steady)
    with store_at(tmp_path / "a.db") as store, store_at(tmp_path / "b.db") as other:
        for hostile in steady:
            roots = [plays(each, outside(hostile)).audit.root for each in (store, other)]
            assert (hostile.name, roots[0]) == (hostile.name, roots[1])


def test_why_an_agent_failed_is_told_and_not_recorded(tmp_path: Path) -> None:
    """What a program writes to stderr is nobody's business but its owner's."""
    program = f"{PRELUDE}\nhear(); hear(); act(); hear()\nos.write(2, b'{PARTY_SECRET}'); sys.exit(4)"
    command = shlex.join([sys.executable, "-I", "-S", "-c", program])
    limits = PATIENT._replace(stderr_chars=500)
    with store_at(tmp_path / "a.db") as store:
        ending = plays(store, Outside("someone", command, limits)).ending
    assert "agent_failed" == ending.outcome
    assert PARTY_SECRET in (ending.reason or "")
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"someone" in kept
    assert PARTY_SECRET.encode() not in kept
    assert b"sys.exit" not in kept


@pytest.mark.parametrize("command", ["./no-such-program", "'", " ", "/", "/etc/passwd"])
def test_a_command_that_can_not_be_started_opens_no_run(tmp_path: Path, command: str) -> None:
    with nothing_left(), pytest.raises(UsageError) as caught:
        cast(TASK, Part(f"exec:{command}"))
    assert "usage.agent" == caught.value.code
    task = tmp_path / "small.deal.toml"
    task.write_text(TEXT, encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    ledger = str(tmp_path / "a.db")
    ran = run(["--ledger", ledger, "run", str(task), "--agent", f"buyer=exec:{command}"])
    assert (Exit.USAGE, before) == (ran.exit, sorted(tmp_path.iterdir()))


def test_runs_of_programs_in_two_processes(tmp_path: Path) -> None:
    task = tmp_path / "small.deal.toml"
    task.write_text(TEXT, encoding="utf-8")
    (tmp_path / "a.db.secret").write_bytes(SECRET)
    (tmp_path / "a.db.secret").chmod(0o600)
    words = ["run", str(task), "--trials", "2", "--jobs", "2", "--json", "--agent"]
    with nothing_left():
        agent = f"buyer=exec:{NAMED['exit in the middle'].command}"
        ran = run(["--ledger", str(tmp_path / "a.db"), *words, agent])
    ends = json.loads(ran.stdout)["ends"]
    assert (Exit.GOOD, ["agent_failed"] * 4) == (ran.exit, [end["outcome"] for end in ends])
    assert all("exited with status 3" in end["reason"] for end in ends)

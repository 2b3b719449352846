"""Programs as agents: those that do well, and those that do what they like."""

from __future__ import annotations

import json
import os
import select
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from hostile_agents import ACT, HOSTILE, LIMITS, PATIENT, PRELUDE, STOP, TURNS, Failure, Hostile

from tollbook.protocol.bodies import Usage
from tollbook.protocol.errors import UsageError
from tollbook.tasks.play.agent import Agent, Answer, Asked, Setup
from tollbook.tasks.play.child import Limits
from tollbook.tasks.play.lines import turn_line
from tollbook.tasks.play.outside import Outside

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "agents"
SETUP = Setup("buyer", "buyer", "Buy.", {"budget": 13_000}, [], [("merchant", "merchant")], TURNS)
ASKED = Asked(0, 1, None, [], cast("Any", None))
LATE_SECONDS = 1.5  # of those that are waited for: a slow start of one of them is not its silence


@contextmanager
def running(program: str, limits: Limits = PATIENT) -> Iterator[Outside]:
    """An agent that was told the begin."""
    command = shlex.join([sys.executable, "-I", "-S", "-c", PRELUDE + program])
    with closing(Outside("someone", command, limits)) as agent:
        agent.begin(SETUP)
        yield agent


def played(hostile: Hostile, limits: Limits) -> list[Answer]:
    """The answers of its turns, up to the end."""
    answers: list[Answer] = []
    with closing(Outside(hostile.name, hostile.command, limits)) as agent:
        agent.begin(SETUP)
        while len(answers) < TURNS and not (answers and answers[-1].end):
            answers.append(agent.act(ASKED))
    return answers


def fits(expected: str | Failure, answer: Answer) -> bool:
    if isinstance(expected, Failure):
        failed = Answer(None, "agent_failed", expected.gave, answer.usage, answer.reason)
        return failed == answer and expected.reason in (answer.reason or "")
    if expected == ACT:
        return answer.end is None and json.loads(answer.gave or "{}").get("act", "none") == answer.act
    if expected == STOP:
        return answer.end == "agent_stopped" and answer.act is None
    return Answer(gave=expected) == answer


def unfit(hostile: Hostile, answers: list[Answer]) -> list[object]:
    """What of the answers isn't what has to come of the program."""
    if hostile.answers is None:
        assert hostile.failure is not None
        return [] if fits(hostile.failure, answers[-1]) else [answers[-1]]
    pairs = zip(hostile.answers, answers, strict=False)
    found: list[object] = [pair for pair in pairs if not fits(*pair)]
    is_over = len(answers) == len(hostile.answers)
    return found if is_over else [*found, f"{len(answers)} turns, not {len(hostile.answers)}"]


@pytest.mark.parametrize("hostile", [one for one in HOSTILE if not one.is_slow], ids=lambda one: one.name)
def test_a_hostile_program_is_taken_as_what_it_said(hostile: Hostile) -> None:
    assert [] == unfit(hostile, played(hostile, hostile.limits))


def test_those_that_keep_us_waiting_are_waited_for_and_no_longer() -> None:
    slow = [each for each in HOSTILE if each.is_slow]
    limits = LIMITS._replace(turn_seconds=LATE_SECONDS)
    with ThreadPoolExecutor(len(slow)) as pool:  # all at once: each waits out a turn
        answers = list(pool.map(lambda each: played(each, limits), slow))
    assert len(slow) >= 8
    found = {one.name: unfit(one, said) for one, said in zip(slow, answers, strict=True)}
    assert [] == [each for each in found.items() if each[1]]


def test_every_hostile_program_has_a_name_and_an_outcome() -> None:
    assert len(HOSTILE) == len({each.name for each in HOSTILE})
    assert {"agent_failed", "agent_stopped", "turn_limit"} == {each.outcome for each in HOSTILE}


def test_it_is_an_agent() -> None:
    agent: Agent = Outside("someone", "true", Limits(turn_seconds=2.5), model="m", version="1.2")
    assert ("someone", "m", "1.2") == (agent.stated.name, agent.stated.model, agent.stated.version)
    said = {"protocol": "tollbook/1", "limit.turn_seconds": "2.5", "limit.cost_micros": "none"}
    assert said.items() <= agent.stated.settings.items()
    assert agent.outside


def test_a_command_is_not_stated_since_it_may_hold_a_secret() -> None:
    assert "hunter2" not in repr(Outside("someone", "agent --key hunter2").stated)


def test_what_it_was_given_is_kept() -> None:
    with running(_echo("line.strip()")) as agent:
        for number in (1, 2):
            answer = agent.act(ASKED)
            assert turn_line(ASKED, number) == agent.given
            assert {"kind": "a.b", "x": agent.given} == answer.act


def test_usage_is_taken_over_and_its_sum_may_reach_the_limit() -> None:
    usage = '{"act":{"kind":"a.b"},"usage":{"cost_micros":500,"input_tokens":3}}'
    with running(f"hear()\nwhile hear(): say('{usage}\\n')") as agent:
        answers = [agent.act(ASKED) for _ in range(3)]
    assert [None, None, "agent_failed"] == [answer.end for answer in answers]
    assert [Usage(500, 3, None)] * 3 == [answer.usage for answer in answers]


def test_what_was_said_before_the_turn_is_no_answer_to_it(tmp_path: Path) -> None:
    """Ten that arrived, and an eleventh of which the rest comes later."""
    marker = tmp_path / "said"
    program = (
        f"say((DONE + '\\n') * 10 + DONE[:9]); open('{marker}', 'w').close()\n"
        "hear(); hear(); say(DONE[9:] + '\\n'); act()\nwhile hear(): act()"
    )
    with running(program) as agent:
        until(marker.exists)
        assert [True] * 3 == [agent.act(ASKED).act is not None for _ in range(3)]


def test_a_turn_larger_than_the_pipe_gets_through() -> None:
    large = ASKED._replace(inbox=[{"kind": "a.b", "note": "x" * 300_000}])
    with running(_echo("len(line)")) as agent:
        assert {"kind": "a.b", "x": len(turn_line(large, 1)) + 1} == agent.act(large).act


@pytest.mark.parametrize(
    ("expected",                             "limits", "program"),
    [
        ("it did not read what it was sent", LIMITS,   "idle()"),
        ("over 65536 bytes of output",       PATIENT,  "while True: say('x' * 99)"),
        ("it exited with status 7",          PATIENT,  "time.sleep(0.05); sys.exit(7)"),
    ],
)  # fmt: skip
def test_a_turn_that_is_not_read_holds_up_nobody(expected: str, limits: Limits, program: str) -> None:
    large = ASKED._replace(inbox=[{"kind": "a.b", "note": "x" * 300_000}])
    with running(program, limits) as agent:
        answer = agent.act(large)
    assert "agent_failed" == answer.end
    assert (answer.reason or "").startswith(expected)


def test_a_begin_that_is_not_read_holds_up_nobody() -> None:
    agent = Outside("someone", shlex.join([sys.executable, "-I", "-S", "-c", PRELUDE + "idle()"]), LIMITS)
    with closing(agent):
        agent.begin(SETUP._replace(brief="x" * 300_000))
        assert "it did not read what it was sent within 0.5 s" == agent.act(ASKED).reason


def test_the_whole_run_has_its_time() -> None:
    limits = PATIENT._replace(run_seconds=0.2)
    with running("hear()\nwhile hear(): time.sleep(0.15); act()", limits) as agent:
        answers = [agent.act(ASKED) for _ in range(2)]
    assert "no answer within the run's 0.2 s" == answers[-1].reason


def test_who_has_failed_is_not_asked_again() -> None:
    with running("sys.exit(2)") as agent:
        first = agent.act(ASKED)
        assert first == agent.act(ASKED) == agent.act(ASKED)


def test_what_came_on_stderr_is_told_from_its_end() -> None:
    limits = PATIENT._replace(stderr_chars=8)
    with running("os.write(2, b'a long story\\xff \\xe2\\x82\\xac\\n'); sys.exit(2)", limits) as agent:
        assert "it exited with status 2; its stderr ends: ry\\xff €" == agent.act(ASKED).reason


def test_it_has_our_environment_our_folder_and_none_of_our_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SERVICE_KEY", "hunter2")
    monkeypatch.chdir(tmp_path)
    program = "def is_open(n):\n    try: return bool(os.fstat(n))\n    except OSError: return False\n"
    looks = "[os.environ['SERVICE_KEY'], os.getcwd(), [n for n in range(3, 256) if is_open(n)]]"
    with (tmp_path / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)  # noqa: FBT003 - its only argument
        with running(program + _echo(looks)) as agent:
            assert {"kind": "a.b", "x": ["hunter2", str(tmp_path.resolve()), []]} == agent.act(ASKED).act


@pytest.mark.parametrize("is_asked", [True, False])
def test_the_whole_group_goes_at_the_close(tmp_path: Path, is_asked: bool) -> None:  # noqa: FBT001 - a column
    """Three processes that ignore SIGTERM hold a FIFO open: it ends when the last of them has."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    program = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"os.set_inheritable(os.open('{fifo}', os.O_WRONLY), True)\n"
        "for _ in range(2):\n    if os.fork() == 0: idle()\n"
        f"open('{fifo}.up', 'w').close()\nhear()\nwhile hear(): act()\nidle()"
    )
    with running(program, PATIENT) as agent:
        until((tmp_path / "fifo.up").exists)
        if is_asked:
            assert agent.act(ASKED).act is not None
    assert is_ended(reader)
    os.close(reader)


def test_a_program_may_end_by_itself_when_its_input_does(tmp_path: Path) -> None:
    marker = tmp_path / "over"
    with running(f"while hear(): pass\nopen('{marker}', 'w').close()", PATIENT._replace(grace_seconds=20.0)):
        pass
    assert marker.exists()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system has no /proc")
def test_nothing_is_left_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with running("hear(); hear(); act(); idle()") as agent:
        agent.act(ASKED)
    with running("sys.exit(1)") as agent:
        agent.act(ASKED)
    assert before == len(list(Path("/proc/self/fd").iterdir()))


def test_it_can_be_closed_at_any_time_and_again() -> None:
    unstarted = Outside("someone", "true")
    unstarted.close()
    with running("idle()", LIMITS) as agent:
        agent.close()
        agent.close()


def test_it_starts_once() -> None:
    with running(_echo("os.getpid()")) as agent:
        first = agent.act(ASKED).act
        agent.start()
        assert first == agent.act(ASKED).act


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text, mode in (
        ("closed", "#!/bin/sh\n", 0o600),
        ("text", "exit 0\n", 0o700),
        ("orphan", "#!/no/such/interpreter\n", 0o700),
    ):
        path = tmp_path / name
        path.write_text(text)
        path.chmod(mode)
    return tmp_path


@pytest.mark.parametrize(
    ("expected",                                "hint",                     "command"),
    [
        ("`{0}/none`: there is no such program", "check the path",          "{0}/none --fast"),
        ("`{0}/orphan`: there is no such program", "`#!` line",             "{0}/orphan"),
        ("`{0}/closed`: it may not be run",     "make it executable",       "{0}/closed"),
        ("`{0}`: it may not be run",            "make it executable",       "{0}"),
        ("`{0}/text`: it is no program",        "name what runs it",        "{0}/text"),
        ("`{0}/text/a`: not a directory",       "try it in a terminal",     "{0}/text/a"),
        ("`a\0b`: embedded null byte",          "try it in a terminal",     "a\0b"),
        ("can't be split: no closing quotation", "close its quotes",        "python3 'agent.py"),
        ("can't be split: no escaped character", "close its quotes",        "python3 agent.py \\"),
        ("is empty",                            "name a program",           "  "),
    ],
)  # fmt: skip
def test_what_cannot_be_started_is_said_before_the_run(
    files: Path, expected: str, hint: str, command: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Outside("someone", command.replace("{0}", str(files))).start()
    assert "usage.agent" == caught.value.code
    assert "agent `someone`" in caught.value.text
    assert caught.value.text.endswith(expected.replace("{0}", str(files)))
    assert hint in (caught.value.hint or "")


LIST, FLOOR, ROUNDS = 14_000, 10_000, 8
BUY = SETUP._replace(brief="The merchant hears at most 8 offers.")


def merchant(act: Mapping[str, Any], offers: list[int]) -> dict[str, Any] | None:
    """What a merchant says who concedes evenly from the list price to the floor."""
    said = {"from": "merchant", "to": "buyer", "ok": True, "rule": None, "result": None, "negotiation": "n1"}
    if act["kind"] not in {"negotiation.propose", "negotiation.counter"}:
        return None
    offers.append(act["unit_price"])
    ask = LIST - (LIST - FLOOR) * min(len(offers) - 1, ROUNDS - 2) // (ROUNDS - 2)
    if act["unit_price"] >= ask:
        return {"kind": "negotiation.accept", "agreement": "a1", **said}
    if len(offers) >= ROUNDS:
        return {"kind": "negotiation.reject", "reason": "too late", **said}
    return {"kind": "negotiation.counter", "unit_price": ask, "note": "", **said}


def bought(command: str, budget: int) -> list[dict[str, Any]]:
    """The acts of a buyer, up to its settling or its end."""
    acts: list[dict[str, Any]] = []
    offers: list[int] = []
    last, inbox = None, list[dict[str, Any]]()
    with closing(Outside("buyer", command)) as agent:
        agent.begin(BUY._replace(mandate={"budget": budget}))
        while not acts or acts[-1]["kind"] not in {"agreement.settle", "negotiation.reject"}:
            answer = agent.act(Asked(0, 40 - len(acts), last, inbox, cast("Any", None)))
            if answer.act is None:
                return [*acts, {"kind": answer.end, "reason": answer.reason}]
            acts.append(dict(answer.act))
            made = {"listing": [{"id": "l1", "merchant": "merchant", "price": LIST}]}
            last = {**answer.act, "ok": True, "rule": None, "result": made if len(acts) == 1 else None}
            if answer.act["kind"] == "negotiation.accept":
                last["agreement"] = "a1"
            heard = merchant(answer.act, offers)
            inbox = [] if heard is None else [heard]
    return acts


EXAMPLE_COMMANDS = [
    f"{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLES / 'buyer.py'))}",
    pytest.param(
        f"node {shlex.quote(str(EXAMPLES / 'buyer.mjs'))}",
        marks=pytest.mark.skipif(shutil.which("node") is None, reason="node isn't installed"),
    ),
]


@pytest.mark.parametrize("command", EXAMPLE_COMMANDS, ids=["python", "node"])
def test_the_examples_bargain_to_the_floor_and_settle(command: str) -> None:
    acts = bought(command, 13_000)
    kinds = ["listing.get", "negotiation.propose", *["negotiation.counter"] * 6]
    assert [*kinds, "negotiation.accept", "agreement.settle"] == [act["kind"] for act in acts]
    assert [4_900, 5_600, 6_300, 7_000, 7_700, 8_400, 9_100] == [act["unit_price"] for act in acts[1:8]]
    assert {"kind": "agreement.settle", "agreement": "a1", "to": "merchant"} == acts[-1]


@pytest.mark.parametrize("command", EXAMPLE_COMMANDS, ids=["python", "node"])
def test_the_examples_turn_down_what_is_too_dear(command: str) -> None:
    assert "negotiation.reject" == bought(command, 9_999)[-1]["kind"]


def _echo(expression: str) -> str:
    """A program that answers each turn, its line in ``line``, with an act that holds a value."""
    return (
        "import json\nhear()\nwhile line := hear():\n"
        f"    say(json.dumps({{'act': {{'kind': 'a.b', 'x': {expression}}}}}) + '\\n')\n"
    )


def until(holds: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if holds():
            return
        time.sleep(0.005)
    raise AssertionError("it did not come to pass within 10 s")


def is_ended(reader: int) -> bool:
    """Whether the last writer of a FIFO goes within ten seconds."""
    poll = select.poll()
    poll.register(reader, 0)  # POLLHUP is always told
    return bool(poll.poll(10_000))

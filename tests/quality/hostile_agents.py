"""Programs that misbehave as agents, each with what has to come of it.

    program   Python source, after PRELUDE; told by `-c`, so that no file is needed
    answers   of each turn in order, where only what is said decides them:
              ACT, STOP, the text that is kept of words without an act, or a Failure
              None where it also matters when it was said: then only `failure` is sure to come

After a Failure or STOP a run is over.

Not here: driving them (tests/unit/tasks/test_outside.py, and whoever seals runs of them).
"""

from __future__ import annotations

import shlex
import sys
from typing import Final, NamedTuple

from tollbook.tasks.play.child import Limits

LIMITS: Final = Limits(
    turn_seconds=0.5,
    grace_seconds=0.1,
    quiet_seconds=0.02,
    answer_bytes=4_096,
    surplus_bytes=65_536,
    words_chars=60,
    stderr_chars=60,
    unparsed_in_a_row=3,
    cost_micros=1_000,
)
PATIENT: Final = LIMITS._replace(turn_seconds=20.0)
"""For programs that do answer, or end: no slow machine makes them late."""

ACT: Final = "{an act}"
STOP: Final = "{done}"
TURNS: Final = 6

PRELUDE: Final = """
import os, signal, sys, time
ACT = '{"act":{"kind":"listing.get","listing":"l1"}}'
DONE = '{"done":true}'
def hear(): return sys.stdin.readline()
def say(text): os.write(1, text.encode() if isinstance(text, str) else text)
def act(): say(ACT + '\\n')
def done(turn=None): say((DONE if turn is None else f'{{"turn":{turn},"done":true}}') + '\\n')
def idle():
    while True: time.sleep(60)
"""


class Failure(NamedTuple):
    """The run ends `agent_failed`, for a reason that holds this text; ``gave`` is kept of its words."""

    reason: str
    gave: str | None = None


class Hostile(NamedTuple):
    """A program and what has to come of it; ``is_slow``: it is waited for until its turn's time is up."""

    name: str
    program: str
    answers: tuple[str | Failure, ...] | None
    failure: Failure | None = None
    is_slow: bool = False

    @property
    def command(self) -> str:
        """The command line that runs it."""
        return shlex.join([sys.executable, "-I", "-S", "-c", PRELUDE + self.program])

    @property
    def limits(self) -> Limits:
        """Limits under which it shows what it is for."""
        return LIMITS if self.is_slow else PATIENT

    @property
    def outcome(self) -> str:
        """How a run of it, in which `TURNS` turns are granted, is sealed."""
        last = self.failure or (self.answers or ("",))[-1]
        if isinstance(last, Failure):
            return "agent_failed"
        return "agent_stopped" if last == STOP else "turn_limit"


def _each_turn(*statements: str) -> str:
    return "hear()\nwhile hear():\n" + "".join(f"    {statement}\n" for statement in statements)


def _turn_by_turn(*statements: str) -> str:
    """One statement a turn; then it is done."""
    return "hear()\n" + "".join(f"hear()\n{statement}\n" for statement in statements) + "while hear(): done()"


def _says(name: str, line: str, kept: str | None = None) -> Hostile:
    """A program that answers every turn with the same words, which hold no act."""
    text = line if kept is None else kept
    failed = Failure("3 answers in a row held no act", text)
    return Hostile(name, _each_turn(f"say({line!r} + '\\n')"), (text, text, failed))


def _does(name: str, *answers: str | Failure, program: str) -> Hostile:
    return Hostile(name, program, answers)


def _waits(name: str, *answers: str | Failure, program: str) -> Hostile:
    return Hostile(name, program, answers, is_slow=True)


def _floods(name: str, program: str, *, is_slow: bool = False) -> Hostile:
    return Hostile(name, program, None, Failure("over 65536 bytes of output that nobody asked for"), is_slow)


_LATE = Failure("no answer within")
_CUT = Failure("no end of a line within")
_DEAR = '{"act":{"kind":"a.b"},"usage":{"cost_micros":600}}'
_SIXTY = "x" * 60 + "…"

WORDS: Final = (
    _says("garbage", "as you wish, sir"),
    _says("another document", '["act"]'),
    _says("an empty object", "{}"),
    _says("an act and done", '{"act":{"kind":"a.b"},"done":true}'),
    _says("not done", '{"done":false}'),
    _says("done in a word", '{"done":"yes"}'),
    _says("an act without a kind", '{"act":{"listing":"l1"}}'),
    _says("a kind that is no name", '{"act":{"kind":"a b"}}'),
    _says("a kind that is a number", '{"act":{"kind":7}}'),
    _says("to a number", '{"act":{"kind":"a.b","to":7}}'),
    _says("an act that is a text", '{"act":"listing.get"}'),
    _says("another party's name beside the act", '{"act":{"kind":"a.b"},"from":"merchant"}'),
    _says("a key twice", '{"act":{"kind":"a.b","kind":"c.d"}}'),
    _says("a float", '{"act":{"kind":"a.b","price":1.0}}'),
    _says("an exponent", '{"act":{"kind":"a.b","price":1e2}}'),
    _says("no number", '{"act":{"kind":"a.b","price":NaN}}'),
    _says("a huge integer", '{"act":{"kind":"a.b","price":9007199254740992}}'),
    _says("an integer of 4,000 digits", "9" * 4_000, "9" * 60 + "…"),
    _says("a lone surrogate", '{"act":{"kind":"a.b","note":"\\ud800"}}'),
    _says("a key beyond ASCII", '{"act":{"kind":"a.b","é":1}}'),
    _says("deep nesting", "[" * 2_000 + "]" * 2_000, "[" * 60 + "…"),
    _says("deep nesting that is no JSON", '{"act":' * 500, ('{"act":' * 9)[:60] + "…"),
    _says("usage below nothing", '{"done":true,"usage":{"cost_micros":-1}}'),
    _says("usage of its own", '{"done":true,"usage":{"cost_euros":1}}'),
    _says("a turn to come", '{"done":true,"turn":99}'),
    _says("a byte order mark", "\ufeff{}"),
    _does(
        "invalid UTF-8", r"\xff\xfe{\xc3}", ACT, STOP,
        program=_turn_by_turn("say(b'\\xff\\xfe{\\xc3}\\n')", "act()"),
    ),
    _does("NUL bytes", "\0\0{}", ACT, STOP, program=_turn_by_turn("say('\\0\\0{}\\n')", "act()")),
    _does(
        "words, then acts", "no", "no", ACT, "no", "no", ACT,
        program=_turn_by_turn(*["say('no\\n')", "say('no\\n')", "act()"] * 2),
    ),
    _does(
        "a line over the limit", _SIXTY, ACT, STOP,
        program=_turn_by_turn("say('x' * 9_000 + '\\n')", "act()"),
    ),
    _does(
        "an act in a line over the limit", '{"act":{"kind":"a.b","note":"' + "x" * 31 + "…", ACT, STOP,
        program=_turn_by_turn(
            "say('{\"act\":{\"kind\":\"a.b\",\"note\":\"' + 'x' * 9_000 + '\"}}\\n')", "act()"
        ),
    ),
)  # fmt: skip
"""What is said whole, and holds no act."""

SPEECH: Final = (
    _waits("silence", _LATE, program="idle()"),
    _waits("silence after an act", ACT, _LATE, program=_turn_by_turn("act()", "idle()")),
    _waits("half a line, then silence", _CUT, program=_turn_by_turn("say(ACT[:9]); idle()")),
    _waits("a byte at a time", _CUT, program=_each_turn("for byte in ACT * 99: say(byte); time.sleep(0.02)")),
    _does(
        "a byte at a time, quickly", *[ACT] * TURNS,
        program=_each_turn("for byte in ACT + '\\n': say(byte)"),
    ),
    _waits("blank lines only", _LATE, program=_each_turn("say('\\n \\n\\r\\n')")),
    _does("blank lines between", *[ACT] * TURNS, program=_each_turn("say('\\n' + ACT + '\\r\\n\\n  \\n')")),
    _does(
        "more lines than were asked for", *[ACT] * TURNS,
        program=_each_turn("say(ACT + ('\\n' + DONE) * 99)", "time.sleep(0.01); say('\\n')"),
    ),
    _does(
        "answers to turns that are over", *[ACT] * 2, STOP,
        program="done(0)\n" + _turn_by_turn("done(0); act()", "done(1); done(1); act()", "done(0); done()"),
    ),
    _does("done", STOP, program=_each_turn("done()")),
    _does(
        "another party's name", *[ACT] * TURNS,
        program=_each_turn("say(ACT.replace('l1\"', 'l1\",\"from\":\"merchant\",\"to\":\"buyer\"') + '\\n')"),
    ),
    _floods("a flood before it is asked", "while True: say((ACT + '\\n') * 99)"),
    _floods("a flood after its answer", "hear(); hear()\nwhile True: say((ACT + '\\n') * 99)"),
    _floods("a line without an end", "hear(); hear()\nwhile True: say('x' * 999)"),
    _floods("a flood of answers to no turn", "hear(); hear()\nwhile True: done(0)"),
    _floods("a flood of blank lines", "while True: say('\\n' * 999)"),
    _does(
        "too dear", ACT, Failure("more than 1000 micros", _DEAR),
        program=_each_turn(f"say('{_DEAR}\\n')"),
    ),
)  # fmt: skip
"""What is said too late, too early, too often, or not at all."""

CONDUCT: Final = (
    _does("exit at once", Failure("exited with status 0"), program="sys.exit(0)"),
    _does(
        "exit in the middle", ACT, Failure("exited with status 3; its stderr ends: sorry"),
        program=_turn_by_turn("act()", "os.write(2, b'sorry\\n'); sys.exit(3)"),
    ),
    _does(
        "an answer, then exit", ACT, Failure("exited with status 0"),
        program=_turn_by_turn("act(); sys.exit()"),
    ),
    _does(
        "exit in the middle of a line", Failure("exited with status 0 in the middle of a line"),
        program=_turn_by_turn("say(ACT); sys.exit(0)"),
    ),
    _does("killed", Failure("ended by signal 9 (SIGKILL)"), program=_turn_by_turn("os.kill(os.getpid(), 9)")),
    _does("a traceback", Failure("'nonsense' is not defined"), program=_turn_by_turn("nonsense()")),
    _does(
        "closes its output but lives", Failure("closed its output"),
        program=_turn_by_turn("os.close(1); idle()"),
    ),
    _does(
        "closes its input but lives", ACT, Failure("closed its input"),
        program=_turn_by_turn("os.close(0); act(); idle()"),
    ),
    _waits("ignores SIGTERM", _LATE, program="signal.signal(signal.SIGTERM, signal.SIG_IGN); idle()"),
    _waits("is stopped", _LATE, program=_turn_by_turn("os.kill(os.getpid(), signal.SIGSTOP)")),
    _does(
        "ignores signals and the end of its input", *[ACT] * TURNS,
        program="for n in (1, 2, 3, 13, 15): signal.signal(n, signal.SIG_IGN)\n"
        + _each_turn("act()") + "idle()",
    ),
    _does(
        "a child that keeps the pipes open", ACT, Failure("exited with status 5"),
        program="if os.fork() == 0: signal.signal(signal.SIGTERM, signal.SIG_IGN); idle()\n"
        + _turn_by_turn("act()", "os._exit(5)"),
    ),
    _does(
        "a child that writes to stderr endlessly", *[ACT] * TURNS,
        program="if os.fork() == 0:\n    while True: os.write(2, b'e' * 9_999)\n" + _each_turn("act()"),
    ),
    _waits(
        "writes to stderr endlessly", Failure("its stderr ends: " + "e" * 60),
        program="while True: os.write(2, b'e' * 9_999)",
    ),
    _does(
        "much on stderr before each answer", *[ACT] * TURNS,
        program=_each_turn("os.write(2, b'e' * 200_000)", "act()"),
    ),
)  # fmt: skip
"""What is done instead of speaking."""

HOSTILE: Final = WORDS + SPEECH + CONDUCT

"""An agent in any language: a program that is told lines and answers with lines.

    begin   ─► one line, no answer
    act     ─► one line  ◄─ one line:  an act · done → agent_stopped · words that hold no act
                         ◄─ none:      late, ended, flooding, over its limits → agent_failed
    close   ─► its input ends, and soon it does

The command is split as a shell would (quotes, no variables, no globs) and run
without one, in the folder and with the environment of who runs Tollbook: an
agent that needs a key of some service has it from there. Nothing of the command
is stated in a run, since words of it may be secrets; its name and limits are.

An answer is what comes after its turn was sent. What comes before is discarded
and counted against `Limits.surplus_bytes`. When something was said is all that
tells one from the other, so an agent that may speak unasked does better to name
the turn: an answer that names an earlier one is stale whenever it comes.

Not here: the lines themselves (`lines`), the pipes (`child`), whether an act is
one that the market knows (the runner).
"""

from __future__ import annotations

import errno
import shlex
import time
from typing import TYPE_CHECKING, Final

from ...protocol.bodies import Agent as Stated
from ...protocol.errors import UsageError
from .agent import Answer, Asked, Setup
from .child import Child, Limits, Lost
from .lines import VERSION, Said, begin_line, read_answer, turn_line, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...protocol.bodies import Usage

_UNSTARTED: Final = {
    errno.ENOENT: ("there is no such program", "check the path; a script's `#!` line must name one too"),
    errno.EACCES: ("it may not be run", "make it executable, or name what runs it: `python3 agent.py`"),
    errno.ENOEXEC: ("it is no program", "name what runs it: `python3 agent.py`"),
}


class Outside:
    """An agent that is a process of its own, for one run.

    ``given`` is the line that it was last sent at a turn.
    """

    outside: bool = True

    def __init__(
        self, name: str, command: str, limits: Limits | None = None, *, model: str = "", version: str = ""
    ) -> None:
        """Takes a command line; starts nothing.

        Raises:
            UsageError: `usage.agent`, for a command line that can't be split, or is empty.
        """
        self._limits = Limits() if limits is None else limits
        self._argv = _split(name, command)
        settings = {f"limit.{field}": _stated(value) for field, value in self._limits._asdict().items()}
        self.stated = Stated(
            name=name, model=model, version=version, settings={"protocol": f"tollbook/{VERSION}", **settings}
        )
        self.given: str | None = None
        self._child: Child | None = None
        self._number = 0
        self._words = False
        self._labels: Mapping[str, str] = {}
        self._unparsed = 0
        self._cost_micros = 0
        self._spent_seconds = 0.0
        self._failed: Answer | None = None

    def start(self) -> None:
        """Starts the program unless it runs: before a run is opened, so that a wrong command opens none.

        Raises:
            UsageError: `usage.agent`, it can't be started.
        """
        if self._child is not None:
            return
        try:
            self._child = Child(self._argv, self._limits)
        except (OSError, ValueError) as error:
            raise _unstarted(self.stated.name, self._argv[0], error) from None

    def begin(self, setup: Setup) -> None:
        """Tells what the party is there for, and doesn't wait for it to be read.

        Raises:
            UsageError: as `start`.
        """
        self.start()
        assert self._child is not None
        self._words = setup.words
        self._labels = setup.labels
        self._child.send(begin_line(setup))

    def act(self, asked: Asked) -> Answer:
        """What the program answers, or how it failed to; having failed it isn't asked again."""
        assert self._child is not None, "begin comes first"
        if self._failed is not None:
            return self._failed
        self._number += 1
        self.given = turn_line(asked, self._number, self._labels)
        begun = time.monotonic()
        seconds = min(self._limits.turn_seconds, self._limits.run_seconds - self._spent_seconds)
        got = self._ask(self._child, self.given, begun + seconds)
        self._spent_seconds += time.monotonic() - begun
        return self._lost(self._child, got) if isinstance(got, Lost) else self._answer(*got)

    def close(self) -> None:
        """Ends the program, with what it started; again, it does nothing."""
        child, self._child = self._child, None
        if child is not None:
            child.close(is_patient=self._failed is None)

    def _ask(self, child: Child, given: str, deadline: float) -> tuple[bytes, Said | None] | Lost:
        """Sends the turn, and gives the first line, with what it says, that answers no earlier one."""
        child.settle(deadline)
        child.send(given)
        while True:
            line = child.line(deadline)
            if isinstance(line, Lost):
                return line
            said = None if len(line) > self._limits.answer_bytes else read_answer(line)
            if said is None or said.turn is None or said.turn >= self._number:
                return line, said
            child.waste(line)

    def _answer(self, line: bytes, said: Said | None) -> Answer:
        if said is None or said.turn not in {None, self._number}:
            return self._unread(line)
        self._unparsed = 0
        text = line.decode()
        if self._is_too_dear(said.usage):
            reason = f"it cost more than {self._limits.cost_micros} micros"
            return self._fail(reason, text, said.usage)
        if said.act is None:
            return Answer(end="agent_stopped", gave=text, usage=said.usage)
        return Answer(act=said.act, gave=text, usage=said.usage)

    def _unread(self, line: bytes) -> Answer:
        """Words without an act: a turn like any other, until too many in a row can't be one."""
        text = words(line[: self._limits.answer_bytes], self._limits.words_chars)
        self._unparsed += 1
        if self._words or self._unparsed < self._limits.unparsed_in_a_row:
            return Answer(gave=text)
        return self._fail(f"{self._unparsed} answers in a row held no act", text, None)

    def _is_too_dear(self, usage: Usage | None) -> bool:
        self._cost_micros += (usage and usage.cost_micros) or 0
        return self._limits.cost_micros is not None and self._cost_micros > self._limits.cost_micros

    def _lost(self, child: Child, lost: Lost) -> Answer:
        reason = lost.reason
        if lost.is_late:
            is_run = self._spent_seconds >= self._limits.run_seconds
            seconds = self._limits.run_seconds if is_run else self._limits.turn_seconds
            reason += f" within the run's {seconds:g} s" if is_run else f" within {seconds:g} s"
            if child.surplus_bytes:
                reason += f", and {child.surplus_bytes} bytes that are none"
        tail = child.tail()
        return self._fail(f"{reason}; its stderr ends: {tail}" if tail else reason, None, None)

    def _fail(self, reason: str, gave: str | None, usage: Usage | None) -> Answer:
        self._failed = Answer(end="agent_failed", gave=gave, usage=usage, reason=reason)
        return self._failed


def _split(name: str, command: str) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        text = f"the command of agent `{name}` can't be split: {str(error).lower()}"
        raise UsageError("usage.agent", text, "close its quotes") from None
    if not argv:
        raise UsageError("usage.agent", f"the command of agent `{name}` is empty", "name a program to run")
    return argv


def _unstarted(name: str, program: str, error: OSError | ValueError) -> UsageError:
    number, said = (error.errno, error.strerror) if isinstance(error, OSError) else (None, str(error))
    why, hint = _UNSTARTED.get(number or 0, ((said or "no reason given").lower(), "try it in a terminal"))
    return UsageError("usage.agent", f"agent `{name}` can't be started by `{program}`: {why}", hint)


def _stated(value: float | None) -> str:
    return "none" if value is None else f"{value:.15g}"

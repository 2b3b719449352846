"""A program of someone else's at the other end of three pipes, which may do as it likes.

    send(line) ─► stdin        never waits: what doesn't fit goes out while an answer is awaited
    settle     ◄─ stdout       what was said unasked is thrown away and counted
    line       ◄─ stdout       the next whole line, or Lost: late, ended, or flooding
    tail       ◄─ stderr       its end is kept; the rest goes as it comes, so nobody waits on it
    close      ─► the group    end of input, SIGTERM, SIGKILL, with a short grace between

Every wait has a deadline, of the monotonic clock; nothing here reads the time
of day. A line that is begun before the turn was sent whole is stale, its end
too. The process that was started is the agent: when it has ended, what it left
in the pipe still counts, and its process group goes with it.

What can't be caught: a descendant that moved to a session of its own outlives
the group. It holds nothing of ours and is waited for by nobody.

Not here: what lines mean (`lines`), turns and how they end (`outside`).
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

_CHUNK_BYTES: Final = 65_536
_LOOK_S: Final = 0.1  # a descendant may keep the pipes open, so the process is looked at now and then
_NAMES: Final = {each.value: each.name for each in signal.Signals}


class Limits(NamedTuple):
    """What an agent outside may use. Over one of them it has failed, unless it says otherwise here.

    ``answer_bytes`` bounds a line without its end: a longer one is words that
    hold no act. ``surplus_bytes`` bounds all of a run's output that is no
    answer: said unasked, blank, stale, or beyond `answer_bytes`. An agent that
    spoke unasked is heard out, before it is asked, until it was still for
    ``quiet_seconds``. ``grace_seconds`` is waited at the close for it to end by
    itself, and once more after SIGTERM. ``run_seconds`` and ``turn_seconds``
    count only the time in which an answer is awaited. ``words_chars`` and
    ``stderr_chars`` bound what is kept of words that hold no act, and of
    stderr for the reason: no failures.
    """

    turn_seconds: float = 60.0
    run_seconds: float = 1_800.0
    quiet_seconds: float = 0.05
    grace_seconds: float = 0.5
    answer_bytes: int = 65_536
    surplus_bytes: int = 2**20
    words_chars: int = 4_000
    stderr_chars: int = 2_000
    unparsed_in_a_row: int = 5
    cost_micros: int | None = None


class Lost(NamedTuple):
    """Why there is no line, and won't be; ``is_late``: since the deadline passed."""

    reason: str
    is_late: bool = False


class Child:
    """The running program. One thread uses it.

    ``surplus_bytes`` counts its output that is no answer.
    """

    def __init__(self, argv: Sequence[str], limits: Limits) -> None:
        """Starts it, in a session of its own, with our environment and folder and no descriptor of ours.

        Raises:
            OSError: it can't be started.
            ValueError: a word holds a NUL.
        """
        self._limits = limits
        self._process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._pipes = [pipe for pipe in pipes if pipe is not None]
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in self._pipes)
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        self._heard = {self._stdout, self._stderr}  # those that aren't at their end
        self._is_deaf = False
        self._unsent = bytearray()
        self._held = bytearray()  # lines as they come, the last one begun
        self._is_stale = False  # whether the line that comes was begun unasked
        self._tail = bytearray()
        self.surplus_bytes = 0

    def send(self, line: str) -> None:
        """Sends a line, as far as the pipe takes it now."""
        self._unsent += line.encode() + b"\n"
        self._write()

    def settle(self, deadline: float) -> None:
        """Throws away what was said unasked; whoever did so is heard out."""
        is_noisy = self._discard(bytes(self._held))
        self._held.clear()
        while self._stdout in self._heard and not self._floods and time.monotonic() < deadline:
            self._hear_stderr()
            chunk = self._read(self._stdout)
            if chunk is not None:
                is_noisy |= self._discard(chunk)
            elif not (is_noisy and self._is_readable(min(self._limits.quiet_seconds, _left(deadline)))):
                return

    def line(self, deadline: float) -> bytes | Lost:
        """The next line that isn't blank, without its end."""
        while True:
            line = self._next_held()
            if self._floods:
                return Lost(f"over {self._limits.surplus_bytes} bytes of output that nobody asked for")
            if line is not None:
                return line
            if self._is_deaf or self._stdout not in self._heard:
                return self._ended()
            left = _left(deadline)
            if not left:
                return self._late()
            is_gone = self._is_gone()
            is_heard = self._step(0 if is_gone else min(left, _LOOK_S))
            if is_gone and not is_heard:
                return self._ended()

    def waste(self, line: bytes) -> None:
        """Counts a line that was given and turned out to be no answer."""
        self.surplus_bytes += len(line) + 1

    def tail(self) -> str:
        """The end of what it wrote to stderr, as far as it has come."""
        for _ in range(64):  # a pipe's worth, even in small writes; a flood goes on
            if not self._hear_stderr():
                break
        text = self._tail.decode(errors="backslashreplace").strip()
        return text[-self._limits.stderr_chars :]

    def close(self, *, is_patient: bool) -> None:
        """Ends the program and its group, which is first left to end by itself if ``is_patient``; once."""
        grace = self._limits.grace_seconds
        try:
            self._pipes[0].close()
            if not self._is_gone(grace if is_patient else 0):
                self._signal(signal.SIGTERM)
                self._is_gone(grace)
        finally:
            if self._process.returncode is None:
                self._signal(signal.SIGKILL)
                self._is_gone(grace)
            for pipe in self._pipes:
                pipe.close()

    @property
    def _floods(self) -> bool:
        return self.surplus_bytes > self._limits.surplus_bytes

    def _step(self, seconds: float) -> bool:
        """Waits until something can be read or written, and does; whether stdout was read."""
        poll = select.poll()
        for pipe in self._heard:
            poll.register(pipe, select.POLLIN)
        if self._unsent:
            poll.register(self._stdin, select.POLLOUT)
        ready = {pipe for pipe, _event in poll.poll(seconds * 1_000)}
        if self._stderr in ready:
            self._hear_stderr()
        chunk = self._read(self._stdout) if self._stdout in ready else None
        if chunk is not None:
            # Before the turn is sent whole nothing can be an answer to it.
            if self._unsent:
                self._discard(chunk)
            else:
                self._take(chunk)
        if self._stdin in ready:
            self._write()
        return chunk is not None

    def _take(self, chunk: bytes) -> None:
        """Keeps what may be an answer; of a line that is too long only so much as shows it."""
        if self._is_stale:
            rest, end, chunk = chunk.partition(b"\n")
            self.surplus_bytes += len(rest) + len(end)
            self._is_stale = not end
        self._held += chunk
        over = len(self._held) - self._limits.answer_bytes - 1
        if over > 0 and b"\n" not in self._held:
            self.surplus_bytes += over
            del self._held[-over:]

    def _next_held(self) -> bytes | None:
        """Takes the first whole line that isn't blank."""
        while (end := self._held.find(b"\n")) >= 0:
            line = bytes(self._held[:end])
            del self._held[: end + 1]
            if line.strip():
                self.surplus_bytes += max(0, len(line) - self._limits.answer_bytes)
                return line
            self.surplus_bytes += end + 1
        return None

    def _discard(self, data: bytes) -> bool:
        """Throws output away; whether there was more to it than blanks."""
        self.surplus_bytes += len(data)
        _lines, end, begun = data.rpartition(b"\n")
        self._is_stale = bool(begun.strip()) or (self._is_stale and not end)
        return bool(data.strip())

    def _hear_stderr(self) -> bool:
        """Reads what is there of stderr; whether there was something."""
        chunk = self._read(self._stderr)
        self._tail += chunk or b""
        del self._tail[: -4 * self._limits.stderr_chars]  # a character has at most four bytes
        return bool(chunk)

    def _read(self, pipe: int) -> bytes | None:
        """What can be read now: nothing at the end, None where nothing is there."""
        if pipe not in self._heard:
            return None
        try:
            chunk = os.read(pipe, _CHUNK_BYTES)
        except BlockingIOError:
            return None
        if not chunk:
            self._heard.remove(pipe)
        return chunk

    def _write(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._stdin, self._unsent)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._is_deaf = True
            self._unsent.clear()

    def _is_readable(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        return bool(poll.poll(seconds * 1_000))

    def _late(self) -> Lost:
        if self._unsent:
            return Lost("it did not read what it was sent", is_late=True)
        return Lost("no end of a line" if self._held else "no answer", is_late=True)

    def _ended(self) -> Lost:
        """How it came that nothing will be said any more."""
        middle = " in the middle of a line" if self._held else ""
        if not self._is_gone(self._limits.grace_seconds):
            return Lost(f"it closed its {'input' if self._is_deaf else 'output'}{middle}")
        code = self._process.returncode
        if code >= 0:
            return Lost(f"it exited with status {code}{middle}")
        return Lost(f"it was ended by signal {-code} ({_NAMES.get(-code, 'unnamed')}){middle}")

    def _is_gone(self, seconds: float = 0) -> bool:
        """Whether it has ended by then. Its group goes with it, at once: soon the number may be another's."""
        if self._process.returncode is None:
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                return False
            self._signal(signal.SIGKILL)
        return True

    def _signal(self, which: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):  # nobody is left, or nobody that we may end
            os.killpg(self._process.pid, which)


def _left(deadline: float) -> float:
    """The seconds until then, 0 if it has passed."""
    return max(0.0, deadline - time.monotonic())

"""How much a party, and all of them, may ask: so that what a host holds is bounded whoever calls.

    a bucket holds `burst` requests and fills at `per_second`; a request takes one, or is told to wait

    party     its own bucket; one message at a time; so many bytes a request, and a run
    stranger  a bucket for each address, and one for all: a flood of them takes nothing from the parties
    all       a bucket for all parties together

Not here: what is measured (`app`), limits of the format (`tollbook.protocol.canonical`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from .wire import Fault

KNOWN_ADDRESSES: Final = 4_096
"""The most addresses that are kept count of; the one longest silent makes room."""


class Rate(NamedTuple):
    """So many requests a second, after so many at once."""

    per_second: float
    burst: int


class Limits(NamedTuple):
    """What a host takes; times in seconds, sizes in bytes."""

    runs: int = 32
    party: Rate = Rate(20, 40)
    parties: Rate = Rate(400, 800)
    address: Rate = Rate(10, 40)
    strangers: Rate = Rate(100, 200)
    connections: int = 256
    openings: int = 16
    streams: int = 2
    opening_bytes: int = 32 * 2**10
    request_bytes: int = 2 * 2**20
    run_bytes: int = 8 * 2**20
    ended_runs: int = 256
    ended_bytes: int = 64 * 2**20
    read_seconds: float = 10.0
    write_seconds: float = 20.0
    turn_seconds: float = 300.0
    run_seconds: float = 3_600.0


class Bucket:
    """A rate, and what is left of it at a moment."""

    __slots__ = ("_at", "_left", "_rate")

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate = rate
        self._left = float(rate.burst)
        self._at = now

    def wait(self, now: float) -> float:
        """Seconds until a request may be made: 0 if it may now, and then it is counted."""
        self._left = min(self._rate.burst, self._left + (now - self._at) * self._rate.per_second)
        self._at = now
        if self._left < 1:
            return (1 - self._left) / self._rate.per_second
        self._left -= 1
        return 0.0


class Gate:
    """The buckets of a host. ``clock`` gives seconds that never go back."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._parties = Bucket(limits.parties, clock())
        self._strangers = Bucket(limits.strangers, clock())
        self._addresses: OrderedDict[str, Bucket] = OrderedDict()

    def bucket(self) -> Bucket:
        """A party's own."""
        return Bucket(self._limits.party, self._clock())

    def party(self, own: Bucket) -> None:
        """Counts a request of a party.

        Raises:
            Fault: `serve.rate`.
        """
        now = self._clock()
        _pass(own.wait(now) or self._parties.wait(now))

    def stranger(self, address: str) -> None:
        """Counts a request of whoever has shown no token.

        Raises:
            Fault: `serve.rate`.
        """
        now = self._clock()
        own = self._addresses.pop(address, None) or Bucket(self._limits.address, now)
        self._addresses[address] = own
        if len(self._addresses) > KNOWN_ADDRESSES:
            self._addresses.popitem(last=False)
        _pass(own.wait(now) or self._strangers.wait(now))


def _pass(seconds: float) -> None:
    if seconds:
        hint = "wait as `Retry-After` says, then send the same"
        raise Fault(429, "serve.rate", f"too many requests: wait {seconds:.2f} s", hint, seconds=seconds)

"""Randomness by counting: the same seed and label, the same draws, anywhere.

    word(k)  = the first 8 bytes of SHA-256(canonical [seed, label, k]), as a big-endian number
    k        = 0, 1, 2, …, one further for each word taken, rejected words too
    integer  = low + word mod span,  span = high − low + 1,
               of the next word below span · floor(2^64 / span); words beyond it are rejected

So a draw is exactly uniform, never a remainder of something uneven. Each
integer takes at least one word, even where only one value is possible.

Not here: other distributions; they are made from integers where a market
needs them. Not for keys or salts either: whoever has the seed has every draw.

Source: Lemire 2019, "Fast random integer generation in an interval" (rejection);
Knuth, The Art of Computer Programming 2, 3.4.2, algorithm P (shuffle).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TypeVar, final

from .canonical import digest, encode, encode_typed
from .errors import UsageError

T = TypeVar("T")

_WORDS = 2**64
_WORD_BYTES = 8


def seed_of(task_id: str, case: str, trial: int) -> str:
    """The seed, in hex, of a run whose task states none."""
    return digest([task_id, case, trial])


@final
class Draws:
    """A source of draws, known by its seed and label; each draw moves it on."""

    __slots__ = ("_counter", "_prefix")

    def __init__(self, seed: str, label: str) -> None:
        # [seed, label, counter] without its end: only the counter differs from word to word.
        # What is ASCII has a canonical form, and needs no look.
        place = encode_typed((seed, label)) if (seed + label).isascii() else encode([seed, label])
        self._prefix = sha256(place[:-1] + b",")
        self._counter = 0

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high, both included, each equally likely.

        Raises:
            UsageError: `draws.range`, when low is above high, or for more than 2^64 values.
        """
        span = high - low + 1
        if not 1 <= span <= _WORDS:
            raise UsageError("draws.range", f"no draw from `{low}` to `{high}`: it takes 1 to 2^64 values")
        fair = _WORDS - _WORDS % span
        word = self._word()
        while word >= fair:
            word = self._word()
        return low + word % span

    def choice(self, items: Sequence[T]) -> T:
        """One of the items: the one at place integer(0, count − 1).

        Raises:
            UsageError: `draws.empty`.
        """
        if not items:
            raise UsageError("draws.empty", "no draw from an empty list")
        return items[self.integer(0, len(items) - 1)]

    def shuffle(self, items: Iterable[T]) -> list[T]:
        """The items in a new order, each order equally likely.

        From the last place down to the second, the item there changes places
        with the one at integer(0, place).
        """
        order = list(items)
        for place in range(len(order) - 1, 0, -1):
            other = self.integer(0, place)
            order[place], order[other] = order[other], order[place]
        return order

    def _word(self) -> int:
        state = self._prefix.copy()
        state.update(b"%d]" % self._counter)
        self._counter += 1
        return int.from_bytes(state.digest()[:_WORD_BYTES], "big")

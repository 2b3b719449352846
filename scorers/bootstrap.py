"""Intervals by bootstrap: sessions drawn anew with replacement, each whole, the pooled ratio of each draw.

    sessions 1…n ─► 2,000 times: n of them, drawn ─► Σ total / Σ weight ─► the 50th from either end

What happens within a session hangs together, so sessions are drawn and not what
is in them. All is integers: sums are rounded to a billionth, and the places of
one resample are digits, base n, of as few draws as hold them. All sums of a
session are lanes of one number, added in one go:

    packed = Σ (sum + bias) · 2^(width · lane)

The same sessions in the same order give the same interval. It is too narrow for
few sessions, as any such interval is: a report names their number.

Not here: which runs are taken together (`figures`), differences (`shift`).

Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, 13.3 (percentiles);
Davison and Hinkley 1997, 3.8 (clusters).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

from ..protocol.draws import Draws
from .measures import Key, Sums
from .stats import Interval

REPLICATES: Final = 2_000
NANOS: Final = 10**9
"""Replicates are whole numbers of billionths."""

_SEED: Final = "bootstrap/1"
_FEWEST: Final = 40  # of which 2.5 % is one
_WORD: Final = 2**64

Replicates = Mapping[Key, Sequence[int | None]]
"""The pooled ratio of each draw, in billionths; None where it was over nothing."""


def replicates(sessions: Sequence[Sums], label: str = "") -> Replicates:
    """The pooled ratios of resampled sessions; the same label and number give the same resamples."""
    keys = sorted({key for sums in sessions for key in sums})
    lanes = [(key, lane) for key in keys for lane in ("total", "weight")]
    rows = [[_nanos(sums, key, lane) for key, lane in lanes] for sums in sessions]
    found: dict[Key, list[int | None]] = {key: [] for key in keys}
    for totals in _resampled(rows, label):
        for place, key in enumerate(keys):
            total, weight = totals[2 * place], totals[2 * place + 1]
            found[key].append(total * NANOS // weight if weight > 0 else None)
    return found


def interval(values: Iterable[int | None]) -> Interval | None:
    """The middle 95 % of replicates, as a ratio; None where too few of them say anything."""
    known = sorted(value for value in values if value is not None)
    if len(known) < _FEWEST:
        return None
    cut = len(known) // 40
    return Interval(Fraction(known[cut - 1], NANOS), Fraction(known[-cut], NANOS))


def intervals(sessions: Sequence[Sums]) -> Mapping[Key, Interval | None]:
    """The interval of each pooled ratio; None where fewer than two sessions say anything."""
    saying: dict[Key, int] = {}
    for sums in sessions:
        for key, each in sums.items():
            saying[key] = saying.get(key, 0) + (each.weight > 0)
    if len(sessions) < 2:
        return dict.fromkeys(saying)
    found = replicates(sessions)
    return {key: interval(found[key]) if count > 1 else None for key, count in saying.items()}


def _nanos(sums: Sums, key: Key, lane: str) -> int:
    found = sums.get(key)
    return 0 if found is None else round((found.total if lane == "total" else found.weight) * NANOS)


def _resampled(rows: Sequence[Sequence[int]], label: str) -> Iterator[list[int]]:
    """The lanes' sums over each resample of the rows."""
    count, lanes = len(rows), list(zip(*rows, strict=True))
    biases = [-min(0, *lane) for lane in lanes]
    most = max((max(lane) + bias for lane, bias in zip(lanes, biases, strict=True)), default=0)
    width = (most * count).bit_length() // 8 + 1
    size = width * len(lanes)
    packed = [
        int.from_bytes(
            b"".join((each + bias).to_bytes(width, "little") for each, bias in zip(row, biases, strict=True)),
            "little",
        )
        for row in rows
    ]
    for places in resamples(count, label):
        data = sum(map(packed.__getitem__, places)).to_bytes(size, "little")
        yield [
            int.from_bytes(data[at * width : (at + 1) * width], "little") - count * bias
            for at, bias in enumerate(biases)
        ]


@lru_cache(maxsize=4)
def resamples(count: int, label: str) -> Sequence[array[int]]:
    """The places of each resample, of ``count`` each, every place as likely."""
    draws = Draws(_SEED, f"{label}/{count}")
    return [array("I", digits(draws, count, count)) for _ in range(REPLICATES)]


def digits(draws: Draws, base: int, count: int) -> list[int]:
    """So many numbers from 0 to base − 1, each equally likely, as digits of as few draws as hold them."""
    if base == 1:
        return [0] * count
    each = 1
    while base ** (each + 1) <= _WORD:
        each += 1
    found: list[int] = []
    while len(found) < count:
        word = draws.integer(0, base**each - 1)
        for _ in range(each):
            word, digit = divmod(word, base)
            found.append(digit)
    return found[:count]

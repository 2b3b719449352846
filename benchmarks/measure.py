"""Measuring: ours and a baseline in turn, and the lines that say what came out.

    round   baseline, ours           a slow phase of the machine hits both
    ratio   median over the rounds of baseline's seconds by ours

Seconds are this process's CPU time unless a script says wall. A ratio compares
two things of one run; an absolute figure is worth as much as its baseline
beside it. Nothing here fails: a target missed is printed as `MISS`.

Not here: what is measured (each `bench_*.py`), on which runs (`recorded`).
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any, NamedTuple
from unittest import mock

from tollbook.ledger import notes, run
from tollbook.protocol.keys import SIGNATURE_BYTES, SigningKey

ROUNDS = 7
Clock = Callable[[], float]
Work = Callable[[], Any]


class Beside(NamedTuple):
    """Medians of a call and of its baseline, measured in turn; ``ratio`` is above 1 where ours is faster."""

    ours_s: float
    baseline_s: float
    ratio: float


class Line(NamedTuple):
    """One figure: what was measured, and whether it is as good as it should be (None: no target)."""

    name: str
    value: str
    unit: str
    target: str = "-"
    holds: bool | None = None


def seconds(work: Work, clock: Clock = time.process_time) -> float:
    """The time of one call."""
    gc.collect()
    start = clock()
    work()
    return clock() - start


def beside(ours: Work, baseline: Work, rounds: int = ROUNDS, clock: Clock = time.process_time) -> Beside:
    """Both measured in turn, after one call of each that doesn't count."""
    baseline()
    ours()
    pairs = [(seconds(baseline, clock), seconds(ours, clock)) for _ in range(rounds)]
    return Beside(
        ours_s=median(own for _, own in pairs),
        baseline_s=median(base for base, _ in pairs),
        ratio=median(base / own for base, own in pairs),
    )


def plain(name: str, value: float, unit: str) -> Line:
    """A figure without a target."""
    return Line(name, _shown(value), unit)


def at_least(name: str, value: float, unit: str, target: float) -> Line:
    """A figure that should not be below its target."""
    return Line(name, _shown(value), unit, f">={_shown(target)}", value >= target)


def at_most(name: str, value: float, unit: str, target: float) -> Line:
    """A figure that should not be above its target."""
    return Line(name, _shown(value), unit, f"<={_shown(target)}", value <= target)


def report(title: str, lines: Iterable[Line]) -> None:
    """Prints a script's figures: `name value unit target pass|MISS`."""
    print(f"# {title}")
    for line in lines:
        verdict = "-" if line.holds is None else "pass" if line.holds else "MISS"
        print(f"{line.name} {line.value} {line.unit} {line.target} {verdict}", flush=True)


@contextmanager
def unsigned() -> Iterator[None]:
    """Signatures cost nothing and mean nothing within it: what is made there must stay in the benchmark."""
    blank = bytes(SIGNATURE_BYTES)

    def sign(_key: SigningKey, _data: bytes) -> bytes:
        return blank

    def verify(_key: bytes, _signature: bytes, _data: bytes) -> bool:
        return True

    with (
        mock.patch.object(SigningKey, "sign", sign),
        mock.patch.object(run, "verify", verify),
        mock.patch.object(notes, "verify", verify),
    ):
        yield


def _shown(value: float) -> str:
    if value >= 1_000:
        return f"{value:.0f}"
    return f"{value:.3g}" if value < 1 else f"{value:.4g}"

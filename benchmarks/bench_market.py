"""A sparse market of 1,000 buyers and merchants, by phase, without signatures and with; and of 10,000.

    baseline     the same messages signed and verified alone
    overhead     what signatures add to settling and verifying, by that baseline
    n_log_n      seconds at 10,000 by those at 1,000, by what n log n allows: 1 is exactly that

What the phases are: `tollbook.tasks.studies.sparse_market`. The median of several markets, each from a seed
of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from statistics import median

from measure import Line, at_most, plain, report

from tollbook.protocol.draws import seed_of
from tollbook.tasks.studies.sparse import PHASES, trial
from tollbook.tasks.studies.sparse_market import Unsigned, Watch, audited, market_rows, registered, written

SIZE = 1_000
LARGE = 10_000
ROUNDS = 7
TARGETS = {"register": 0.15, "query": 0.03, "settle": 0.20, "replay": 0.15}
REFERENCE = {"register": 0.72, "query": 0.108, "settle": 2.01, "replay": 3.18}
"""Seconds of the reference program on a machine of this kind, for its world alone."""


def phases(size: int, place: int) -> dict[str, float]:
    """CPU seconds of the phases of one market, without signatures."""
    seed, watch = seed_of("bench.market", str(size), place), Watch()
    market = registered(size, seed, market_rows(size, seed), watch)
    runs = written(market, watch, Unsigned)
    audits = watch.time("replay", lambda: audited(market, runs, signatures=False))
    assert not any(audit.findings for audit in audits)
    return watch.seconds


def lines() -> Iterator[Line]:
    """The figures."""
    phases(100, 0)
    rounds = [phases(SIZE, place) for place in range(ROUNDS)]
    for phase in PHASES:
        spent = median(each[phase] for each in rounds)
        yield at_most(f"market.{phase}", spent, "s", TARGETS[phase])
        yield plain(f"market.{phase}_by_reference", REFERENCE[phase] / spent, "times")
    trials = [trial(SIZE, place) for place in range(3)]
    alone = median(each.seconds["sign_alone"] + each.seconds["verify_alone"] for each in trials)
    yield plain("market.signatures_alone", alone, "s")
    yield at_most("market.signature_overhead", median(each.overhead for each in trials), "times", 1.25)
    small = median(sum(each[phase] for phase in PHASES) for each in rounds)
    large = phases(LARGE, 0)
    spent = sum(large[phase] for phase in PHASES)
    yield plain("market.at_10000", spent, "s")
    allowed = LARGE * log(LARGE) / (SIZE * log(SIZE))
    yield at_most("market.n_log_n", spent / small / allowed, "times", 1.0)


if __name__ == "__main__":
    report(f"a sparse market of {SIZE:,} by {SIZE:,}, CPU", lines())

"""The sparse market's study: its phases at several sizes, with signatures and without.

    overhead = (signed − unsigned) / alone      what signatures add here, by what they cost at least

Every market is played three times: without signatures, which is what the phases measure; with them; and
with them once more, for the roots to repeat.

Source of the workload and of the paper's figures: the seed paper, appendix K.
"""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...ledger.voice import Voice
from ...protocol.draws import seed_of
from .report import Claim, Report, replay_claims, table_of
from .sparse_market import (
    CANDIDATES,
    MOST,
    Unsigned,
    Watch,
    audited,
    market_rows,
    registered,
    signed_alone,
    written,
)
from .stage import Played, state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...ledger.audited import Audit
    from ...scorers.tables import Table

SIZES: Final = (10, 100, 1_000)
SEEDS: Final = 3
_NOTES: Final = (
    (
        "CPU seconds, the mean over the seeds, from one run on one machine: they differ from machine to "
        "machine and from run to run; the roots don't. The four phases are without signatures. The query is "
        "the market's rules alone; settling is a search and a purchase on record for each buyer, with the "
        "seal. The paper's program took 0.994, 0.0766, 1.85 and 3.34 s (wall) at 1,000, for its world alone, "
        "without messages or a record."
    ),
    (
        f"A run lists its parties in one record of at most 1 MiB: beyond {MOST:,} buyers a market is played "
        "in several runs over the same start rows."
    ),
)
PHASES: Final = ("register", "query", "settle", "replay")


class Trial(NamedTuple):
    """One market, played: its CPU seconds by phase, and its runs."""

    size: int
    edges: int
    trades: int
    seconds: dict[str, float]
    runs: tuple[Played, ...]
    again: tuple[str, ...]
    is_expected: bool
    """Whether every buyer bought what the rules alone, without any record, had it choose."""

    @property
    def total(self) -> float:
        """CPU seconds of the four phases."""
        return sum(self.seconds[phase] for phase in PHASES)

    @property
    def overhead(self) -> float:
        """What signatures add, by what they cost alone."""
        by = self.seconds
        added = by["signed_settle"] + by["signed_verify"] - by["settle"] - by["replay"]
        return added / (by["sign_alone"] + by["verify_alone"])


def study(sizes: Sequence[int] = SIZES, seeds: int = SEEDS, step: Callable[[], None] | None = None) -> Report:
    """Plays so many markets of each size; ``step`` is called after each."""
    trials: list[Trial] = []
    for size in sizes:
        for place in range(seeds):
            trials.append(trial(size, place))
            if step is not None:
                step()
    runs = [run for each in trials for run in each.runs]
    again = [root for each in trials for root in each.again]
    edges = all(each.edges == each.size * min(CANDIDATES, each.size) for each in trials)
    trades = all(each.trades == each.size for each in trials)
    expected = sum(each.is_expected for each in trials)
    return Report(
        study="sparse",
        title="A sparse market: many buyers and merchants, five candidates each",
        claims=(
            Claim(
                "every buyer is offered five listings, by the index",
                edges,
                f"{sum(each.edges for each in trials)} offers",
            ),
            Claim("every buyer trades once", trades, f"{sum(each.trades for each in trials)} trades"),
            Claim(
                "each buys what the rules alone say",
                expected == len(trials),
                f"{expected} of {len(trials)} markets",
            ),
            *replay_claims(runs, again),
        ),
        runs=runs,
        figures={"markets": [_figures(trials, size) for size in sizes]},
        tables=[_phases(trials, sizes), _signatures(trials, sizes)],
        notes=_NOTES,
    )


def trial(size: int, place: int) -> Trial:
    """One market of so many buyers and as many merchants; ``place`` counts the seeds of a size."""
    seed, watch = seed_of("study.sparse", str(size), place), Watch()
    market = registered(size, seed, market_rows(size, seed), watch)
    unsigned = written(market, watch, Unsigned)
    replays = watch.time("replay", lambda: audited(market, unsigned, signatures=False))
    signed = written(market, watch, Voice, "signed_")
    audits = watch.time("signed_verify", lambda: audited(market, signed, signatures=True))
    signed_alone(market, signed, watch)
    again = written(market, Watch(), Voice)
    bought = [_bought(audit) for audit in audits]
    chosen = {buyer: choice.listing for buyer, choice in market.choices.items()}
    return Trial(
        size=size,
        edges=sum(choice.offers for choice in market.choices.values()),
        trades=sum(map(len, bought)),
        seconds=watch.seconds,
        runs=tuple(_played(*each) for each in zip(audits, replays, strict=True)),
        again=tuple(run.root for run in again),
        is_expected={buyer: listing for each in bought for buyer, listing in each.items()} == chosen,
    )


def _bought(audit: Audit) -> dict[str, str]:
    rows = state_of(audit.replayed).rows("order")
    return {order.buyer: order.lines[0].listing for _key, order in rows if order.state == "settled"}


def _played(audit: Audit, replay: Audit) -> Played:
    """A run with signatures, and the replay of the same run without."""
    state = state_of(audit.replayed).root()
    return Played(
        run=audit.run,
        records=audit.records,
        outcome=audit.outcome,
        root=audit.root,
        state=state,
        findings=tuple(finding.code for finding in (*audit.findings, *replay.findings)),
        replayed=state_of(replay.replayed).root() == state,
    )


def _of(trials: Sequence[Trial], size: int) -> list[Trial]:
    return [each for each in trials if each.size == size]


def _figures(trials: Sequence[Trial], size: int) -> dict[str, Any]:
    own = _of(trials, size)
    return {
        "size": size,
        "edges": own[0].edges,
        "trades": own[0].trades,
        "micros": {phase: round(1e6 * mean(each.seconds[phase] for each in own)) for phase in own[0].seconds},
        "overhead_bps": round(1e4 * mean(each.overhead for each in own)),
    }


def _phases(trials: Sequence[Trial], sizes: Sequence[int]) -> Table:
    return table_of(
        ("buyers = merchants", "pairs", "offers", *PHASES, "together"),
        [
            (
                f"{size:,}",
                f"{size * size:,}",
                f"{own[0].edges:,}",
                *(_seconds(mean(each.seconds[phase] for each in own)) for phase in PHASES),
                _seconds(mean(each.total for each in own)),
            )
            for size in sizes
            if (own := _of(trials, size))
        ],
    )


def _signatures(trials: Sequence[Trial], sizes: Sequence[int]) -> Table:
    columns = ("signed_settle", "signed_verify", "sign_alone", "verify_alone")
    return table_of(
        (
            "buyers = merchants",
            "settle, signed",
            "verify, signed",
            "signing alone",
            "verifying alone",
            "overhead",
        ),
        [
            (
                f"{size:,}",
                *(_seconds(mean(each.seconds[column] for each in own)) for column in columns),
                f"{mean(each.overhead for each in own):.2f}",
            )
            for size in sizes
            if (own := _of(trials, size))
        ],
    )


def _seconds(value: float) -> str:
    return f"{value:.4f}" if value < 1 else f"{value:.2f}"

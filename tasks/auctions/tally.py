"""What is kept of a session, and of all sessions of a cell: sums and squares, no records.

    audit ─► Kept: Σ x, Σ x² and a count for each figure ─► Tally: the same, added up ─► mean ± SE

    figure        one x for each
    revenue       auction                                 minor units
    profit        auction of a common value whose value is inside its support: what is left to the winner
    others        session: the market's own measures, by their keys (`alpha.3`)

    SE² = (Σ x² / n − mean²) / (n − 1)

Auctions are drawn independently, and so are sessions. All is whole numbers, of
billionths; so the sums are the same in whatever order sessions come in. Of each cell
the first session alone leaves what a picture shows.

Not here: what the figures are to be (`claims`).

Source: the auctions page of the design, B1 and B2 (score interior draws only).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from ...protocol.auction.session import session_of
from ...protocol.canonical import encode
from ...scorers import stats
from ...scorers.auction.bids import bids_of
from ...scorers.auction.measures import measure
from ...scorers.auction.reading import Reading
from ...scorers.measures import Key, Sums
from ...scorers.view import episode_of
from .cells import Cell

if TYPE_CHECKING:
    from ...ledger.audited import Audit
    from ...protocol.auction.double import Trade
    from ...protocol.auction.results import Result
    from ...protocol.auction.session import Session
    from ...protocol.tables import State

NANOS: Final = 10**9
SIGMAS: Final = 4
"""How many standard errors a figure may be off, so that chance alone hardly ever takes it further."""

_ORDERED_BY: Final = Key("error_scaled")
_OUTCOME_BYTES: Final = 8


class Moment(NamedTuple):
    """How many values a figure has, and their sum and sum of squares in billionths."""

    size: int
    total: int
    square: int

    @property
    def mean(self) -> Fraction:
        """The mean; there is a value."""
        return Fraction(self.total, self.size * NANOS)

    @property
    def error(self) -> Fraction | None:
        """The mean's standard error; None of one value."""
        if self.size < 2:
            return None
        spread = Fraction(self.square, self.size * NANOS) - self.mean**2
        return stats.root(max(spread, Fraction(0)) / (self.size - 1))


class Sample(NamedTuple):
    """What of a session a picture shows: (told, bid, benchmark) in minor units; prices of trades by round."""

    bids: Sequence[tuple[int, Fraction, Fraction | None]]
    prices: Sequence[Sequence[int]]


class Kept(NamedTuple):
    """What is kept of one session: its root if it is sealed, what was found wrong, its figures."""

    root: str
    records: int
    findings: tuple[str, ...]
    moments: Mapping[str, Moment]
    outcomes: tuple[bytes, ...]
    """Of each auction a digest of who got what at which price, where these are to be compared."""
    deviations: Sums
    sample: Sample | None


class Tally(NamedTuple):
    """What a cell's sessions came to; what is by session is by trial."""

    cell: Cell
    rounds: int
    expected: Fraction | None
    """What theory says of the cell's figure, in minor units."""
    roots: dict[int, str]
    records: list[int]
    findings: list[str]
    moments: dict[str, Moment]
    outcomes: dict[int, tuple[bytes, ...]]
    deviations: dict[int, Sums]
    samples: list[Sample]
    again: list[str]
    """The roots of the first session, played once more."""

    @classmethod
    def of(cls, cell: Cell, rounds: int, expected: Fraction | None) -> Tally:
        """Nothing so far."""
        return cls(cell, rounds, expected, {}, [], [], {}, {}, {}, [], [])

    def add(self, trial: int, kept: Kept) -> None:
        """Adds a session."""
        self.roots[trial] = kept.root
        self.records.append(kept.records)
        self.findings.extend(kept.findings)
        for name, each in kept.moments.items():
            before = self.moments.get(name, Moment(0, 0, 0))
            self.moments[name] = Moment(*map(sum, zip(before, each, strict=True)))
        if kept.outcomes:
            self.outcomes[trial] = kept.outcomes
        if kept.deviations:
            self.deviations[trial] = kept.deviations
        if kept.sample is not None:
            self.samples.append(kept.sample)

    @property
    def digest(self) -> str:
        """SHA-256 over the roots of all sessions, in order of their trials."""
        return sha256(encode([root for _trial, root in sorted(self.roots.items())])).hexdigest()

    def mean(self, name: str) -> Fraction | None:
        """A figure's mean; None where there is none."""
        found = self.moments.get(name)
        return None if found is None or not found.size else found.mean


def kept_of(audit: Audit, cell: Cell, *, is_first: bool) -> Kept:
    """What is kept of a session; of one that doesn't verify only what was found."""
    codes = [finding.code for finding in audit.findings]
    codes += [f"check.{check}" for check, how in audit.checks.items() if how != "done"]
    if audit.outcome != "completed":
        codes.append(f"outcome.{audit.outcome}")
    if codes:
        return Kept(audit.root or "", audit.records, tuple(codes), {}, (), {}, None)
    episode = episode_of(audit)
    moments = dict(_figures(episode.state, cell))
    deviations: Sums = {}
    if cell.is_measured:
        sums = measure(episode).session
        moments |= _measures(sums)
        deviations = {key: each for key, each in sums.items() if key == _ORDERED_BY}
    outcomes = tuple(_outcomes(episode.state)) if cell.has_outcomes else ()
    sample = _sample(Reading(episode), cell) if is_first else None
    episode.state.facts.memo.clear()  # theory's answers are as large as a run, and start rows are held on
    return Kept(audit.root or "", audit.records, (), moments, outcomes, deviations, sample)


def _moment(values: Iterable[Fraction | int]) -> Moment:
    numbers = list(values)
    return Moment(
        len(numbers), round(sum(numbers) * NANOS), round(sum(value * value for value in numbers) * NANOS)
    )


def _figures(state: State, cell: Cell) -> Iterator[tuple[str, Moment]]:
    """What theory knows of, of each auction."""
    if cell.figure is None:
        return
    session = session_of(state)
    auctions = _results(state).values()
    if cell.figure == "revenue":
        yield "revenue", _moment(sum(row.paid for row in rows) for rows in auctions)
    else:
        won = [row for rows in auctions for row in rows if row.units]
        yield "profit", _moment(row.profit for row in won if _is_inside(session, row))


def _is_inside(session: Session, won: Result) -> bool:
    """Whether a common value is so far inside its support that no signal of it tells of the ends."""
    value = won.profit + won.paid
    return session.low + 2 * session.error <= value <= session.high - 2 * session.error


def _results(state: State) -> Mapping[str, Sequence[Result]]:
    """The results of each auction, by its key."""
    found: dict[str, list[Result]] = {}
    for _key, row in state.rows("result"):
        found.setdefault(row.auction, []).append(row)
    return found


def _measures(sums: Sums) -> Iterator[tuple[str, Moment]]:
    for key, each in sums.items():
        if each.value is not None:
            yield key.text, _moment([each.value])


def _outcomes(state: State) -> Iterator[bytes]:
    """A digest of each auction's outcome, in order of their keys."""
    for key, rows in sorted(_results(state).items()):
        told = [key, [[row.bidder, row.units, row.paid, row.profit] for row in rows]]
        yield sha256(encode(told)).digest()[:_OUTCOME_BYTES]


def _sample(reading: Reading, cell: Cell) -> Sample:
    if not cell.is_traded:
        worth, inside = reading.worth, reading.is_inside
        bids = [
            (worth[bid.round, bid.bidder].signal, bid.nearest, bid.benchmark)
            for bid in bids_of(reading)
            if bid.is_known and bid.benchmark is not None and inside((bid.round, bid.bidder))
        ]
        return Sample(bids, ())
    prices: list[list[int]] = [[] for _ in range(reading.session.rounds)]
    trades: list[Trade] = [row for _key, row in reading.episode.state.rows("trade")]
    for trade in sorted(trades, key=lambda row: (row.round, row.step)):
        prices[trade.round - 1].append(trade.price)
    return Sample((), prices)


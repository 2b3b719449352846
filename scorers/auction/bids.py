"""What each bidder bid in each round, whatever the format: an amount, or the bounds that its moves leave.

    sealed bids, proxy     the amount; of proxy bids the last maximum
    English clock          left at p, having stayed at q: from q + unit to p;  won: above its last stay
    Dutch clock            stopped at p, having waited at q: from p to q − unit;  waited: below its last wait
    posted price           a choice: took it at p: p or more;  left it: below p

Of the amounts within bounds the one nearest to the benchmark stands for the bid, so
that who does what the benchmark says is never off it by a clock's step. A bid with
one bound alone says what a bidder would have paid in one direction only: it is no
observation of an amount. Who left at the price at which a clock began has bid
nothing, and so has who passed.

    deviation = bid − benchmark

Not here: what deviations come to (`deviations`); quotes (`trading`).

Source: Kagel, Harstad and Levin 1987 (drop-outs as bids; winners of a clock left out).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from ...protocol.auction.ascending import ClockExited, ClockStayed
from ...protocol.auction.descending import ClockStopped, ClockWaited
from ...protocol.auction.posted import PriceAccepted, PriceDeclined
from ...protocol.auction.proxy import MaximumHeld, MaximumStated
from ...protocol.auction.sealed import BidSubmitted
from ...protocol.auction.session import ASCENDING
from .reading import Place, Reading


class Bid(NamedTuple):
    """What one bidder did in one round, in minor units.

    ``low`` and ``high`` are the least and the most that it may have bid; both
    None where it bid nothing. ``benchmark`` is None where theory says to stay
    out, and ``has_benchmark`` False where theory says nothing.
    """

    round: int
    bidder: str
    value: int
    low: int | None
    high: int | None
    benchmark: Fraction | None
    has_benchmark: bool
    is_choice: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether no bid was made."""
        return self.low is None and self.high is None

    @property
    def is_known(self) -> bool:
        """Whether its moves leave an amount, up to a clock's step."""
        return self.low is not None and self.high is not None

    @property
    def nearest(self) -> Fraction:
        """The amount nearest to the benchmark; there are both."""
        assert self.benchmark is not None, "only bids with a benchmark are compared"
        amount = self.benchmark
        if self.low is not None:
            amount = max(amount, Fraction(self.low))
        return amount if self.high is None else min(amount, Fraction(self.high))

    @property
    def deviation(self) -> Fraction:
        """How far the bid is above its benchmark."""
        assert self.benchmark is not None, "only bids with a benchmark are compared"
        return self.nearest - self.benchmark


Bounds = tuple[int | None, int | None]
NOTHING: Final[Bounds] = (None, None)


def bids_of(reading: Reading) -> list[Bid]:
    """The bids of all auctions that closed, by round; none of a double auction."""
    found = dict(_bounds(reading))
    benchmarks = reading.amounts("benchmark_bids")
    is_choice = reading.session.format == "posted_price"
    bids: list[Bid] = []
    for key, auction in reading.auctions.items():
        for bidder in auction.bidders:
            bounds = found.get((key, bidder))
            if bounds is None:
                continue  # at a posted price, who came when all was sold
            place: Place = auction.round, bidder
            value = reading.worth[place].value
            benchmark = benchmarks.get(place)
            bids.append(Bid(auction.round, bidder, value, *bounds, benchmark, place in benchmarks, is_choice))
    return bids


Where = tuple[str, str]  # an auction, and a bidder in it


def _bounds(reading: Reading) -> Iterator[tuple[Where, Bounds]]:
    """The bounds of each bid; a later one takes the place of one before."""
    of = _BOUNDS.get(reading.session.format)
    return iter(()) if of is None else of(reading)


def _sealed(reading: Reading) -> Iterator[tuple[Where, Bounds]]:
    for event in reading.events(BidSubmitted):
        yield (event.auction, event.bidder), (event.amount, event.amount)


def _ascending(reading: Reading) -> Iterator[tuple[Where, Bounds]]:
    unit, stayed = reading.session.unit, dict[Where, int]()
    for event in reading.events(ClockStayed, ClockExited):
        where = event.auction, event.bidder
        if isinstance(event, ClockStayed):
            stayed[where] = event.price + unit
            yield where, (stayed[where], None)
        else:
            yield where, (stayed[where], event.price) if where in stayed else NOTHING


def _descending(reading: Reading) -> Iterator[tuple[Where, Bounds]]:
    session, waited = reading.session, dict[Where, int]()
    for event in reading.events(ClockStopped, ClockWaited):
        where = event.auction, event.bidder
        if isinstance(event, ClockStopped):
            yield where, (event.price, waited.get(where))
        else:
            waited[where] = event.price - session.unit
            yield where, NOTHING if event.price == session.reserve else (None, waited[where])


def _proxy(reading: Reading) -> Iterator[tuple[Where, Bounds]]:
    stated: set[Where] = set()
    for event in reading.events(MaximumStated, MaximumHeld):
        where = event.auction, event.bidder
        if isinstance(event, MaximumStated):
            stated.add(where)
            yield where, (event.amount, event.amount)
        elif where not in stated:
            yield where, NOTHING


def _posted(reading: Reading) -> Iterator[tuple[Where, Bounds]]:
    unit = reading.session.unit
    for event in reading.events(PriceAccepted, PriceDeclined):
        where = event.auction, event.bidder
        if isinstance(event, PriceAccepted):
            yield where, (event.price, None)
        else:
            yield where, (None, event.price - unit)


_BOUNDS: Final[Mapping[str, Callable[[Reading], Iterator[tuple[Where, Bounds]]]]] = {
    **dict.fromkeys(("first_price", "second_price", "all_pay", "uniform_price", "discriminatory"), _sealed),
    **dict.fromkeys(ASCENDING, _ascending),
    "dutch": _descending,
    "proxy": _proxy,
    "posted_price": _posted,
}

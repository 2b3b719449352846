"""What auctions came to: for the seller, for all together, for each bidder; and late bids.

    revenue            Σ paid / auctions                               revenue_ratio: over what theory expects
    efficiency         Σ what those who got a unit gain by it / Σ the most that could be
    profit             Σ profit / bidder's rounds                      profit_ratio: over Σ value
    win, loss          of a bidder's rounds won;  of wins, at a loss
    curse              of wins, bids above E[value | highest signal]
    curse_loss         Σ max(0, −profit) / wins                        winner_profit: Σ profit / wins
    last_period        of sales, those whose winner took the lead in the period that was then the last

A win is a unit. The curse is of common values, of auctions whose value lies so far
inside its support that no signal tells of the ends. A bid in the last period counts
as late also where a soft close then adds another: it was the last when it was made.

Not here: bids against the benchmark (`deviations`), double auctions' prices (`trading`).

Source: Smith 1976 (efficiency); Kagel and Levin 1986 (the curse); Roth and Ockenfels 2002 (late bids).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from ...protocol.auction.benchmarks import MICROS
from ...protocol.auction.proxy import PeriodClosed
from ..measures import Key, Measure, Sum, Sums, added, counted
from .bids import Bid
from .reading import Place, Reading

_LAB: Final = "Kagel and Levin 2014, survey"
_CURSE: Final = "Kagel and Levin 1986"

MEASURES: Final = {
    "revenue": Measure("minor", 0, None, "what the seller takes of an auction", _LAB),
    "revenue_ratio": Measure("ratio", 0, None, "revenue over what theory expects of these rules", _LAB),
    "efficiency": Measure("share", None, 1, "surplus over the most that the values allow", "Smith 1976"),
    "profit": Measure("minor", None, None, "what a bidder is left with of a round", _LAB),
    "profit_ratio": Measure("ratio", None, None, "Σ profit over Σ value", "Fish et al. 2026"),
    "win": Measure("share", 0, 1, "rounds in which a bidder gets a unit", _LAB),
    "loss": Measure("share", 0, 1, "wins at a loss", _CURSE),
    "curse": Measure("share", 0, 1, "wins by a bid above E[value | highest signal]", _CURSE),
    "curse_loss": Measure("minor", 0, None, "what a win loses, one at a gain losing nothing", _CURSE),
    "winner_profit": Measure("minor", None, None, "what a win of a common value leaves", _CURSE),
    "last_period": Measure(
        "share", 0, 1, "sales decided in the period that was then the last", "Roth and Ockenfels 2002"
    ),
}


def of_session(reading: Reading) -> Sums:
    """What is the session's alone."""
    surplus = {key: each["surplus"] for key, each in reading.answer("efficient").items()}
    is_double = reading.session.format == "double"
    gained = sum(_gained(reading, key, is_double=is_double) for key in reading.auctions)
    sums = {Key("efficiency"): counted(gained, sum(surplus[key] for key in reading.auctions))}
    return sums if is_double else {**sums, **_revenue(reading)}


def _revenue(reading: Reading) -> Sums:
    count = len(reading.auctions)
    revenue = sum(row.paid for rows in reading.results.values() for row in rows)
    sums = {Key("revenue"): counted(revenue, count)}
    expected: int | None = reading.answer("expected_revenue")
    if expected is not None:
        sums[Key("revenue_ratio")] = counted(revenue, Fraction(expected * count, MICROS))
    return sums


def _gained(reading: Reading, key: str, *, is_double: bool) -> int:
    """The surplus of an auction: payments between its parties, or to the seller, are in nobody's way."""
    rows = reading.results[key]
    if is_double:
        return sum(row.profit for row in rows)
    return sum(row.units * reading.worth[row.round, row.bidder].value for row in rows)


def of_bidders(reading: Reading, bids: Sequence[Bid]) -> Mapping[str, Sums]:
    """What each bidder's own part in it came to."""
    found: dict[str, list[Sums]] = {bidder: [] for bidder in reading.bidders}
    for bidder, sums in (*_rounds(reading), *_curses(reading, bids), *_late(reading)):
        found[bidder].append(sums)
    return {bidder: added(sums) for bidder, sums in found.items()}


def _rounds(reading: Reading) -> Iterator[tuple[str, Sums]]:
    is_double = reading.session.format == "double"
    for rows in reading.results.values():
        for row in rows:
            sums = {"profit": counted(row.profit, 1)}
            if not is_double:
                sums |= {
                    "profit_ratio": counted(row.profit, reading.worth[row.round, row.bidder].value),
                    "win": counted(row.units > 0, 1),
                    "loss": counted(row.units if row.profit < 0 else 0, row.units),
                }
            yield row.bidder, _keyed(sums)


def _curses(reading: Reading, bids: Sequence[Bid]) -> Iterator[tuple[str, Sums]]:
    """Of wins of a common value; where no amount is known, the least that it can have been."""
    if reading.session.values != "common":
        return
    most, low = reading.amounts("most_bids"), {(bid.round, bid.bidder): bid.low for bid in bids}
    for rows in reading.results.values():
        for row in rows:
            place: Place = row.round, row.bidder
            if not row.units or not reading.is_inside(place):
                continue
            least, cap = low.get(place), most[place]
            is_over = least is not None and cap is not None and least > cap
            sums = {
                "curse": counted(is_over, 1),
                "curse_loss": counted(max(0, -row.profit), 1),
                "winner_profit": counted(row.profit, 1),
            }
            yield row.bidder, _keyed(sums)


def _late(reading: Reading) -> Iterator[tuple[str, Sums]]:
    """Of sales by proxy bids: whether the winner took the lead when no period was to follow."""
    if reading.session.format != "proxy":
        return
    was_last: dict[tuple[str, int], bool] = {}
    last: dict[str, PeriodClosed] = {}
    for event in reading.events(PeriodClosed):
        before = last.get(event.auction)
        over, periods = event.period - 1, reading.session.periods if before is None else before.periods
        was_last[event.auction, over] = over == periods
        last[event.auction] = event
    for key in reading.auctions:
        end = last[key]
        if end.leader is not None:
            yield end.leader, _keyed({"last_period": counted(was_last[key, end.since], 1)})


def _keyed(sums: Mapping[str, Sum]) -> Sums:
    return {Key(name): each for name, each in sums.items()}

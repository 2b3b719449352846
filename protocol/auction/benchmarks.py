"""What theory says of a session, for a task's `[oracle]`: worked out from the start rows, before any bid.

    [oracle] bids = "market('benchmark_bids')"    ─►  oracle.bids[row.round - 1][row.bidder]

    answer            shape                                            unit
    benchmark_bids    a list by round of {bidder: amount | null}       micros
    naive_bids        the same, of common values                       micros
    most_bids         the same: E[value | highest signal]              micros
    interior          a list by round of {bidder: bool}                -
    efficient         {auction: {"surplus": amount, "winners": […]}}   minor units
    expected_revenue  an amount | null, of one auction                 micros
    expected_profit   the same, of a common value's winner             micros
    optimal_reserve   the same                                         micros
    optimal_price     the same, posted for one unit                    micros
    equilibrium       a list by round, of a double auction             minor units

A micro is a millionth of a minor unit; amounts are rounded half to even. A
null is a bidder whom theory tells not to bid; one that isn't there, theory has
no bid for. In a clock auction the bid is the price at which to quit, or to stop
the clock; at a posted price, the most at which to buy. Bidders are taken to be
risk neutral, and to know how values are drawn: of stated ones nobody knows,
so only what is best whatever others do is a benchmark.

    bids = value     second price, English, proxy, uniform price, posted price; any values
    by formula       first price, Dutch, discriminatory, all-pay; private values
                     first price, Dutch, second price, English, proxy; common values, interior signals

Whatever an agent is shown has none of this (`AuctionWorld.sight`).

Not here: the formulas (`private_values`, `common_values`, `equilibrium`); amounts over nine billion
minor units, whose micros a case view can't hold.

Source: the auctions page of the design, A and B1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from . import common_values, equilibrium, private_values, valuations
from .common_values import Signals
from .private_values import Bidding
from .session import SESSION, Session, groups_of
from .valuations import Given

if TYPE_CHECKING:
    from ..tables import Facts

MICROS: Final = 1_000_000

ENGLISH: Final = frozenset({"english_open", "english_closed"})
TRUTHFUL: Final = ENGLISH | {"second_price", "proxy", "uniform_price", "posted_price"}
"""Formats in which a bid sets no price of its own: with a value of one's own, that is the best bid."""
PAYS_ITS_BID: Final = frozenset({"first_price", "dutch", "discriminatory"})

_COMMON: Final[Mapping[str, Callable[[Signals, int], Fraction]]] = {
    **dict.fromkeys(("first_price", "dutch"), common_values.first_price),
    **dict.fromkeys((*ENGLISH, "second_price", "proxy"), common_values.second_price),
}


class Setting(NamedTuple):
    """What every bidder of an auction knows of it, in the words of its session; amounts in minor units."""

    format: str
    values: str
    bidders: int
    low: int = 0
    high: int = 0
    error: int = 0
    reserve: int = 0
    units: int = 1

    @property
    def shows_exits(self) -> bool:
        """Whether it is an English clock that shows who quits."""
        return self.format == "english_open"

    @property
    def bidding(self) -> Bidding:
        """As private values' theory takes it."""
        return Bidding(self.bidders, self.low, self.high, self.reserve, self.units)

    @property
    def signals(self) -> Signals:
        """As common values' theory takes it."""
        return Signals(self.bidders, self.low, self.high, self.error)


class Auctioned(NamedTuple):
    """One auction to come: its key, its round, and what its bidders are given."""

    key: str
    round: int
    given: Mapping[str, Given]


def bid(setting: Setting, told: int, first_exit: int | None = None) -> Fraction | None:
    """The risk-neutral bid of who is told this value or signal; None where theory has none.

    A bid under the reserve says to stay out. ``first_exit`` is the price at
    which the first bidder quit, where it is shown.
    """
    if setting.values == "common":
        if not _has_common(setting):
            return None
        if setting.shows_exits:
            return common_values.english(told, first_exit)
        return _COMMON[setting.format](setting.signals, told)
    if setting.format in TRUTHFUL:
        return Fraction(told)
    if setting.values == "stated":
        return None
    if setting.format in PAYS_ITS_BID:
        return private_values.pays_its_bid(setting.bidding, told)
    return private_values.all_pay(setting.bidding, told) if setting.format == "all_pay" else None


def micros(amount: Fraction | int) -> int:
    """An amount of minor units in micros, rounded half to even."""
    return round(amount * MICROS)


def benchmark_bids(facts: Facts) -> list[dict[str, int | None]]:
    """What each bidder of each round would bid, being risk neutral, in micros; null for no bid."""
    setting = setting_of(_session(facts))
    return _by_round(facts, lambda given: _benchmarks(setting, given))


def naive_bids(facts: Facts) -> list[dict[str, int]]:
    """The signals of a common value, in micros: what a bidder bids that forgets why it would win."""
    setting = setting_of(_session(facts))
    return _by_round(facts, lambda given: _signals(setting, given, micros))


def most_bids(facts: Facts) -> list[dict[str, int]]:
    """What a common value is on average if one's signal is the highest, in micros: a bid above is cursed."""
    setting = setting_of(_session(facts))

    def most(told: int) -> int:
        return micros(common_values.worth_if_highest(setting.signals, told))

    return _by_round(facts, lambda given: _signals(setting, given, most))


def interior(facts: Facts) -> list[dict[str, bool]]:
    """Whether each signal of a common value is far enough from the support's ends to say nothing of them."""
    setting = setting_of(_session(facts))
    return _by_round(facts, lambda given: _signals(setting, given, setting.signals.is_interior))


def efficient(facts: Facts) -> dict[str, dict[str, Any]]:
    """The most that each auction can bring, in minor units, and who then gets a unit (or sells one).

    Of equal values the first listed; a value that isn't above nothing gets none.
    """
    session = _session(facts)
    if session.format == "double":
        return {each.key: _traded(session, each) for each in _auctions(facts)}
    return {each.key: _allocated(session, each.given) for each in _auctions(facts)}


def expected_revenue(facts: Facts) -> int | None:
    """What the seller takes of an auction on average, in micros; of a common value, where it is interior."""
    setting, session = setting_of(_session(facts)), _session(facts)
    if setting.values == "common":
        profit = _profit(setting)
        return None if profit is None else micros(Fraction(setting.low + setting.high, 2) - profit)
    if setting.values != "private" or setting.format == "double":
        return None
    if setting.format == "posted_price":
        return micros(private_values.posted_revenue(setting.bidding, session.price))
    if setting.format == "all_pay" and setting.bidding.width == 0:
        return None
    return micros(private_values.revenue(setting.bidding, all_pay=setting.format == "all_pay"))


def expected_profit(facts: Facts) -> int | None:
    """What the winner of a common value is left with on average, in micros, where it is interior."""
    profit = _profit(setting_of(_session(facts)))
    return None if profit is None else micros(profit)


def optimal_reserve(facts: Facts) -> int | None:
    """The reserve that brings the seller most, in micros; in an all-pay auction, the least bid that does."""
    setting = setting_of(_session(facts))
    if setting.values != "private" or setting.format in ("double", "posted_price"):
        return None
    return micros(private_values.best_reserve(setting.bidding, all_pay=setting.format == "all_pay"))


def optimal_price(facts: Facts) -> int | None:
    """The price of one unit that brings the seller most if it is posted, in micros."""
    setting = setting_of(_session(facts))
    if setting.values != "private" or setting.format == "double" or setting.units > 1:
        return None
    return micros(private_values.best_price(setting.bidding))


def competitive(facts: Facts) -> list[dict[str, Any]]:
    """The competitive quantity, prices and surplus of each round of a double auction, in minor units."""
    return equilibrium.answer(facts) if _session(facts).format == "double" else []


ANSWERS: Final[Mapping[str, Callable[[Facts], Any]]] = {
    "benchmark_bids": benchmark_bids,
    "naive_bids": naive_bids,
    "most_bids": most_bids,
    "interior": interior,
    "efficient": efficient,
    "expected_revenue": expected_revenue,
    "expected_profit": expected_profit,
    "optimal_reserve": optimal_reserve,
    "optimal_price": optimal_price,
    "equilibrium": competitive,
}
"""What an `[oracle]` may ask this market for; the first line of each says what it is."""


def setting_of(session: Session) -> Setting:
    """What every bidder of a session's auctions knows."""
    return Setting(
        session.format,
        session.values,
        session.group or len(session.bidders),
        session.low,
        session.high,
        session.error,
        session.reserve,
        session.units,
    )


def _session(facts: Facts) -> Session:
    session = facts.tables["session"].rows[SESSION]
    assert isinstance(session, Session)
    return session


def _auctions(facts: Facts) -> Sequence[Auctioned]:
    """The auctions of all rounds, in order; drawn once."""
    found: Sequence[Auctioned] | None = facts.memo.get("auction.benchmarks")
    if found is None:
        found = facts.memo["auction.benchmarks"] = list(_drawn(facts))
    return found


def _drawn(facts: Facts) -> Iterator[Auctioned]:
    session = _session(facts)
    for number in range(1, session.rounds + 1):
        for place, group in enumerate(groups_of(session, number), 1):
            given = valuations.drawn(facts, session, number, place, group)
            yield Auctioned(f"a{number}_{place}", number, given)


def _by_round(
    facts: Facts, answer: Callable[[Mapping[str, Given]], Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The answers of the auctions of each round, together."""
    rounds: list[dict[str, Any]] = [{} for _ in range(_session(facts).rounds)]
    for each in _auctions(facts):
        rounds[each.round - 1].update(answer(each.given))
    return rounds


def _benchmarks(setting: Setting, given: Mapping[str, Given]) -> dict[str, int | None]:
    first = min(each.signal for each in given.values())
    found: dict[str, int | None] = {}
    for party, (_value, told) in given.items():
        amount = bid(setting, told, first)
        rests_on = (told, first) if setting.shows_exits else (told,)
        if setting.values == "common" and not all(map(setting.signals.is_interior, rests_on)):
            continue
        if amount is not None:
            found[party] = None if amount < setting.reserve else micros(amount)
    return found


def _signals(setting: Setting, given: Mapping[str, Given], of: Callable[[int], Any]) -> dict[str, Any]:
    if setting.values != "common":
        return {}
    return {party: of(each.signal) for party, each in given.items()}


def _profit(setting: Setting) -> Fraction | None:
    """A common value's winner's."""
    if setting.values != "common" or not _has_common(setting):
        return None
    if setting.shows_exits:
        return common_values.profit(setting.signals, "english")
    way = "first_price" if setting.format in PAYS_ITS_BID else "second_price"
    return common_values.profit(setting.signals, way)


def _has_common(setting: Setting) -> bool:
    """Whether theory has bids of a common value: no reserve can bind that is at most the lowest value."""
    return setting.format in _COMMON and setting.reserve <= setting.low


def _allocated(session: Session, given: Mapping[str, Given]) -> dict[str, Any]:
    order = [party for party in session.bidders if party in given and given[party].value > 0]
    winners = sorted(order, key=lambda party: -given[party].value)[: session.units]
    return {"surplus": sum(given[party].value for party in winners), "winners": winners}


def _traded(session: Session, auction: Auctioned) -> dict[str, Any]:
    order = [party for party in session.bidders if party in auction.given]
    worth = {party: auction.given[party].value for party in order}
    buyers = sorted((each for each in order if each not in session.sellers), key=lambda each: -worth[each])
    sellers = sorted((each for each in order if each in session.sellers), key=lambda each: worth[each])
    found = equilibrium.equilibrium([worth[each] for each in buyers], [worth[each] for each in sellers])
    return {"surplus": found.surplus, "winners": buyers[: found.quantity] + sellers[: found.quantity]}

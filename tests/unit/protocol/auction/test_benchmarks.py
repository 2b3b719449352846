"""What theory says of sessions: the closed forms of B1 of the auctions page, by hand or another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb, exp, factorial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollbook.protocol.auction import benchmarks, common_values, private_values, valuations
from tollbook.protocol.auction.benchmarks import ANSWERS, Setting, bid
from tollbook.protocol.auction.common_values import Signals
from tollbook.protocol.auction.private_values import Bidding
from tollbook.protocol.auction.session import RoundOpen
from tollbook.protocol.auction.world import make
from tollbook.protocol.canonical import encode
from tollbook.protocol.tables import Facts, State
from tollbook.protocol.world import Act

WORLD = make({})
MICRO = 1_000_000
PRIVATE = ("first_price", "second_price", "all_pay", "dutch", "english_open", "english_closed", "proxy")
COMMON = {"values": "common", "low": 2_500, "high": 22_500, "error": 1_200}


def _facts(kind: str, bidders: int = 3, rows: Sequence[dict[str, Any]] = (), **session: Any) -> Facts:
    names = [f"b{place + 1}" for place in range(bidders)]
    found = [("session", "s", {"format": kind, "bidders": names, **session})]
    found += [("induced", f"i{place}", row) for place, row in enumerate(rows)]
    return WORLD.facts((table, key, msgspec.convert(row, WORLD.tables[table])) for table, key, row in found)


def _stated(kind: str, values: Sequence[int], signals: Sequence[int] | None = None, **session: Any) -> Facts:
    rows: list[dict[str, Any]] = [{"bidder": f"b{at + 1}", "value": each} for at, each in enumerate(values)]
    for row, signal in zip(rows, signals or (), strict=False):
        row["signal"] = signal
    return _facts(kind, len(values), rows, values="stated", **session)


def _private(kind: str, bidders: int, units: int = 1, **more: int) -> Setting:
    return Setting(kind, "private", bidders, **{"low": 0, "high": 10_000, **more}, units=units)


@pytest.mark.parametrize(
    ("expected", "setting", "value"),
    [
        (Fraction(6_000), _private("first_price", 3), 9_000),
        (Fraction(6_000), _private("dutch", 3), 9_000),
        (Fraction(9_000), _private("second_price", 3), 9_000),
        (Fraction(9_000), _private("english_open", 3), 9_000),
        (Fraction(9_000), _private("english_closed", 3), 9_000),
        (Fraction(9_000), _private("proxy", 3), 9_000),
        (Fraction(9_000), _private("posted_price", 3), 9_000),
        (Fraction(9_000), _private("uniform_price", 3, 2), 9_000),
        (Fraction(4_860), _private("all_pay", 3), 9_000),  # 10,000 · 0.9^3 · 2/3
        (Fraction(0), _private("first_price", 3), 0),
        # v (n − 1)/n + r^n / (n v^(n − 1)) = 6,000 + 5,000^3 / (3 · 9,000^2)
        (6_000 + Fraction(5_000**3, 3 * 9_000**2), _private("first_price", 3, reserve=5_000), 9_000),
        (Fraction(5_000), _private("first_price", 3, reserve=5_000), 5_000),
        (Fraction(4_999), _private("first_price", 3, reserve=5_000), 4_999),  # it can't be bid
        # low + t (n − 1)/n: the support begins at 4,000
        (Fraction(6_000), _private("first_price", 2, low=4_000), 8_000),
        (Fraction(6_000), _private("first_price", 2, low=4_000, reserve=3_000), 8_000),
        (Fraction(3_000), _private("first_price", 1, reserve=3_000, low=4_000), 8_000),
        # 3 bidders, 2 units: G = 1 − (1 − x)^2 = 2x − x^2, so b = v − ∫G/G = v − v (1 − x/3)/(2 − x), x = 0.6
        (6_000 - 6_000 * Fraction(8, 10) / Fraction(14, 10), _private("discriminatory", 3, 2), 6_000),
        # all-pay with a reserve: who wins with a chance of 0.5 at 5,000 has 2,500 of it
        (Fraction(2_500), _private("all_pay", 2, reserve=2_500), 5_000),
        (Fraction(0), _private("all_pay", 2, reserve=2_500), 4_999),
        (Fraction(1_250 + 3_200), _private("all_pay", 2, reserve=2_500), 8_000),  # r/n + t^2/(2w)
        # everybody has the same: who bids less than it has loses
        (Fraction(700), _private("first_price", 2, low=700, high=700), 700),
        (None, _private("all_pay", 2, low=700, high=700), 700),
        # how stated values are drawn nobody knows
        (None, Setting("first_price", "stated", 3), 9_000),
        (None, Setting("all_pay", "stated", 3), 9_000),
        (Fraction(9_000), Setting("second_price", "stated", 3), 9_000),
        (None, _private("double", 3), 9_000),
    ],
)
def test_bids_of_private_values(expected: Fraction | None, setting: Setting, value: int) -> None:
    assert expected == bid(setting, value)


def _common(kind: str, bidders: int = 4, **more: int) -> Setting:
    return Setting(kind, "common", bidders, **{"low": 2_500, "high": 22_500, "error": 1_200, **more})


@pytest.mark.parametrize(
    ("expected", "setting", "signal", "first_exit"),
    [
        (Fraction(10_000 - 1_200 + 600), _common("second_price"), 10_000, None),  # x − e + 2e/n
        (Fraction(10_000 - 1_200 + 600), _common("english_closed"), 10_000, None),
        (Fraction(10_000 - 1_200 + 600), _common("proxy"), 10_000, None),
        (Fraction(10_000), _common("english_open"), 10_000, None),
        (Fraction(9_500), _common("english_open"), 10_000, 9_000),
        (Fraction(2_980), _common("first_price"), 3_700, None),  # the interior begins at low + 2e/(n + 1)
        (Fraction(2_640), _common("first_price"), 2_000, None),  # below it low + (x + e − low)/(n + 1)
        (Fraction(0), _common("first_price", 1), 10_000, None),
        (Fraction(10_000), _common("first_price", error=0), 10_000, None),
        (None, _common("all_pay"), 10_000, None),
        (None, _common("posted_price"), 10_000, None),
        (None, _common("discriminatory", units=2), 10_000, None),
        (None, _common("second_price", reserve=2_501), 10_000, None),
        (Fraction(9_400), _common("second_price", reserve=2_500), 10_000, None),
    ],
)
def test_bids_of_common_values(
    expected: Fraction | None, setting: Setting, signal: int, first_exit: int | None
) -> None:
    assert expected == bid(setting, signal, first_exit)


@given(st.integers(3_700, 21_300), st.integers(2, 12))
def test_the_first_price_bid_of_a_common_value_is_that_of_floats(signal: int, n: int) -> None:
    found = bid(_common("first_price", n), signal)
    assert found is not None
    due = signal - 1_200 + 2_400 / (n + 1) * exp(-(n / 2_400) * (signal - 3_700))
    assert abs(benchmarks.micros(found) - due * MICRO) <= 1


def _mean(weight: Callable[[int], Fraction], first: int, last: int) -> Fraction:
    """The mean of x0 on an interval by Simpson's rule over 400 steps, which cubics and less meet exactly."""
    step = Fraction(last - first, 400)
    total = mass = Fraction(0)
    for at in range(401):
        factor = 1 if at in (0, 400) else 4 if at % 2 else 2
        x0 = first + at * step
        share = factor * weight(x0)  # pyright: ignore[reportArgumentType] - a rational as well
        total, mass = total + share * x0, mass + share
    return total / mass


@pytest.mark.parametrize("signal", [1_600, 2_500, 3_600, 3_700, 10_000, 21_300, 22_000, 23_400])
@pytest.mark.parametrize("n", [2, 3])
def test_expectations_hold_at_the_ends_of_the_support(signal: int, n: int) -> None:
    first, last = max(2_500, signal - 1_200), min(22_500, signal + 1_200)
    below: Callable[[Any], Any] = lambda x0: (signal - x0 + 1_200) ** (n - 1)  # noqa: E731 - a formula
    signals = Signals(n, 2_500, 22_500, 1_200)
    assert _mean(below, first, last) == common_values.worth_if_highest(signals, signal)
    # The second-price bid for n + 1: one other has the same signal, n − 1 have less.
    second = common_values.second_price(Signals(n + 1, 2_500, 22_500, 1_200), signal)
    assert _mean(below, first, last) == second


@pytest.mark.parametrize(
    ("way", "profits"),
    [
        ("first_price", (480, 300)),
        ("second_price", (360, Fraction(1_800, 7))),
        ("english", (240, 150)),
        ("naive", (-720, -900)),
    ],
)
def test_winners_profits(way: str, profits: tuple[Fraction, Fraction]) -> None:
    assert profits == tuple(common_values.profit(Signals(n, 2_500, 22_500, 1_200), way) for n in (4, 7))


def _expected_rank(n: int, k: int, x: Fraction) -> Fraction | None:
    """E[k-th highest of n − 1 others, given that it is below x], by its density, multiplied out."""
    m = n - 1
    front = Fraction(factorial(m), factorial(m - k) * factorial(k - 1))

    def integral(power: int) -> Fraction:
        terms = (
            (-1) ** j * comb(k - 1, j) * Fraction(x ** (m - k + j + power + 1), m - k + j + power + 1)
            for j in range(k)
        )
        return front * sum(terms, Fraction(0))

    return integral(1) / integral(0) if x else None


@given(st.integers(1, 10_000), st.integers(2, 9), st.data())
def test_who_pays_its_bid_bids_what_it_takes_on_average(value: int, n: int, data: st.DataObject) -> None:
    units = data.draw(st.integers(1, n - 1))
    due = _expected_rank(n, units, Fraction(value, 10_000))
    assert due is not None
    assert due * 10_000 == private_values.pays_its_bid(Bidding(n, 0, 10_000, units=units), value)


settings = st.builds(
    Bidding,
    bidders=st.integers(1, 8),
    low=st.integers(0, 5_000),
    high=st.integers(5_000, 10_000),
    reserve=st.integers(0, 9_000),
)
of_private = st.sampled_from([*PRIVATE, "discriminatory", "uniform_price", "posted_price"])


@given(settings, of_private, st.data())
def test_private_bids_are_never_above_the_value_and_rise_with_it(
    bidding: Bidding, kind: str, data: st.DataObject
) -> None:
    n = bidding.bidders
    units = data.draw(st.integers(1, n - 1)) if kind in ("discriminatory", "uniform_price") and n > 1 else 1
    setting = Setting(kind, "private", n, bidding.low, bidding.high, 0, bidding.reserve, units)
    values = st.integers(bidding.low, bidding.high)
    less, more = sorted((data.draw(values), data.draw(values)))
    bids = [bid(setting, value) for value in (less, more)]
    if None not in bids:
        assert 0 <= bids[0] <= bids[1]  # pyright: ignore[reportOptionalOperand]
        assert bids[0] <= less  # pyright: ignore[reportOptionalOperand]
        assert bids[1] <= more  # pyright: ignore[reportOptionalOperand]
        assert bids[0] < bids[1] or less == more or bidding.bidders == 1 or kind == "all_pay"


@given(settings, st.sampled_from(["first_price", "all_pay"]), st.data())
def test_no_other_bid_of_the_others_own_schedule_is_better(
    bidding: Bidding, kind: str, data: st.DataObject
) -> None:
    """An equilibrium: who bids as if it had another value than it has gains nothing by that."""
    values = st.integers(bidding.low + 1, bidding.high)
    if bidding.width == 0 or bidding.bidders == 1:
        return
    value, other = data.draw(values), data.draw(values)
    setting = Setting(kind, "private", bidding.bidders, bidding.low, bidding.high, 0, bidding.reserve)

    def gain(as_if: int) -> Fraction:
        amount = bid(setting, as_if)
        assert amount is not None
        if amount < bidding.reserve:
            return Fraction(0)
        chance = bidding.share(as_if) ** (bidding.bidders - 1)
        return value * chance - amount * (1 if kind == "all_pay" else chance)

    tolerance = Fraction(1, 10**6)
    assert gain(other) <= gain(value) + tolerance


@pytest.mark.parametrize(
    ("expected", "aversion", "value", "more"),
    [
        (Fraction(6_000), Fraction(0), 9_000, {}),
        (9_000 * Fraction(2) / Fraction(5, 2), Fraction(1, 2), 9_000, {}),  # v (n − 1)/(n − r)
        (Fraction(5_000), Fraction(1, 2), 5_000, {"reserve": 5_000}),
        # m = 5: 9,000 (1 − (1 − (5/9)^5)/5)
        (9_000 * (1 - (1 - Fraction(5, 9) ** 5) / 5), Fraction(1, 2), 9_000, {"reserve": 5_000}),
        (Fraction(2_000), Fraction(1, 2), 9_000, {"bidders": 1, "reserve": 2_000}),
    ],
)
def test_bids_of_the_averse(
    expected: Fraction, aversion: Fraction, value: int, more: dict[str, int]
) -> None:
    bidding = Bidding(**{"bidders": 3, "low": 0, "high": 10_000, **more})
    assert expected == private_values.averse(bidding, value, aversion)


def test_powers_that_are_not_whole_are_those_of_floats() -> None:
    found = private_values.averse(Bidding(3, 0, 10_000, 5_000), 9_000, Fraction(3, 10))
    power = 2.7 / 0.7
    due = 9_000 - 9_000 * (1 - (5 / 9) ** power) / power
    assert abs(benchmarks.micros(found) - due * MICRO) <= 1


@pytest.mark.parametrize(
    ("expected", "bidders", "session"),
    [
        *((Fraction(n - 1, n + 1), n, {}) for n in (2, 3, 4, 5, 10)),
        (Fraction(5, 12), 2, {"reserve": 5_000}),
        (Fraction(17, 32), 3, {"reserve": 5_000}),
        (Fraction(49, 80), 4, {"reserve": 5_000}),
        (Fraction(43, 64), 5, {"reserve": 5_000}),
        (Fraction(0), 3, {"reserve": 10_001}),
        (Fraction(1, 4), 1, {"reserve": 5_000}),
        (Fraction(1, 10), 1, {"low": 4_000, "reserve": 1_000}),
        (Fraction(7, 10), 3, {"low": 4_000}),
        (Fraction(7, 10), 3, {"low": 7_000, "high": 7_000}),
    ],
)
def test_revenue(expected: Fraction, bidders: int, session: dict[str, int]) -> None:
    for kind in ("first_price", "second_price", "proxy"):
        found = ANSWERS["expected_revenue"](_facts(kind, bidders, **session))
        assert benchmarks.micros(expected * 10_000) == found


@pytest.mark.parametrize(("n", "k"), [(6, 2), (5, 3), (8, 3), (3, 1)])
def test_revenue_of_several_units(n: int, k: int) -> None:
    for kind in ("uniform_price", "discriminatory"):
        found = ANSWERS["expected_revenue"](_facts(kind, n, units=k))
        assert benchmarks.micros(Fraction(k * (n - k), n + 1) * 10_000) == found


@given(st.integers(2, 6), st.integers(0, 5_000), st.integers(1, 6_000))
def test_all_pay_brings_what_its_bids_add_up_to(n: int, low: int, reserve: int) -> None:
    """The mean of n bids over the support, by the midpoint rule, is the revenue."""
    bidding, steps = Bidding(n, low, 10_000, reserve), 4_000
    width, due = bidding.width, float(private_values.revenue(bidding, all_pay=True))
    first = float(private_values._threshold(bidding))  # noqa: SLF001 - where the bids jump
    first_bid = low * first ** (n - 1) if low else 0.0

    def amount(x: float) -> float:
        chance = x ** (n - 1)
        return low * chance + width * x * chance * (n - 1) / n + (reserve - first_bid) / n

    step = (1 - first) / steps
    total = n * step * sum(amount(first + (at + 0.5) * step) for at in range(steps))
    assert total == pytest.approx(due, rel=1e-5, abs=1e-3)
    value = round(low + width * max(first, 0.9)) + 1
    found = private_values.all_pay(bidding, value)
    assert float(found or 0) == pytest.approx(amount((value - low) / width))


@pytest.mark.parametrize(
    ("price", "revenue", "bidders"),
    [
        (5_000, 2_500, 1),
        (5_773.502692, 3_849.001795, 2),
        (6_299.605249, 4_724.703937, 3),
        (6_988.271188, 5_823.559323, 5),
    ],
)
def test_posted_prices(price: float, revenue: float, bidders: int) -> None:
    best = ANSWERS["optimal_price"](_facts("posted_price", bidders, price=1))
    assert price == pytest.approx(best / MICRO, abs=1e-6)
    found = ANSWERS["expected_revenue"](_facts("posted_price", bidders, price=round(best / MICRO)))
    assert revenue == pytest.approx(found / MICRO, abs=0.001)


@pytest.mark.parametrize(
    ("expected", "kind", "session"),
    [
        (5_000, "first_price", {}),
        (6_000, "second_price", {"low": 6_000}),
        (1_250, "all_pay", {}),  # who has 5,000 wins with a chance of 1/4
        (0, "all_pay", {"low": 6_000}),
        (None, "posted_price", {"price": 1}),
        (None, "double", {"sellers": ["b1"]}),
    ],
)
def test_optimal_reserves(expected: int | None, kind: str, session: dict[str, Any]) -> None:
    due = None if expected is None else expected * MICRO
    assert due == ANSWERS["optimal_reserve"](_facts(kind, **session))


def test_no_price_beside_the_best_brings_more() -> None:
    for bidding in (Bidding(1, 2_000, 3_000), Bidding(3, 0, 10_000), Bidding(4, 2_000, 9_000)):
        best = private_values.best_price(bidding)
        most = private_values.posted_revenue(bidding, best)
        for beside in (best - 1, best + 1):
            assert private_values.posted_revenue(bidding, beside) < most


def test_no_least_bid_of_an_all_pay_auction_beside_the_best_brings_more() -> None:
    bidding = Bidding(3, 1_000, 10_000)
    best = round(private_values.best_reserve(bidding, all_pay=True))
    most = private_values.revenue(bidding._replace(reserve=best), all_pay=True)
    for beside in (best - 20, best + 20):
        assert private_values.revenue(bidding._replace(reserve=beside), all_pay=True) < most


def test_bids_come_by_round_and_bidder() -> None:
    facts = _facts("first_price", 3, rounds=4, seed=5)
    state = State(facts)
    found = ANSWERS["benchmark_bids"](facts)
    assert 4 == len(found)
    (opened,) = WORLD.decide(state, Act(RoundOpen(), "operator", "operator", 0)).events
    due = {party: round(Fraction(2 * value * MICRO, 3)) for party, value in opened.values.items()}
    assert due == found[0]


def test_a_bid_at_the_reserve_can_be_made() -> None:
    facts = _stated("second_price", [300, 299, 301], reserve=300)
    assert [{"b1": 300 * MICRO, "b2": None, "b3": 301 * MICRO}] == ANSWERS["benchmark_bids"](facts)


def _from_reserve(value: int) -> int | None:
    return value * MICRO if value >= 5_000 else None


def test_who_should_not_bid_is_null_and_who_has_no_benchmark_is_absent() -> None:
    facts = _facts("second_price", 3, rounds=50, reserve=5_000)
    found = ANSWERS["benchmark_bids"](facts)
    assert 50 == len(found)
    for number, bids in enumerate(found, 1):
        session = facts.tables["session"].rows["s"]
        given = valuations.drawn(facts, session, number, 1, session.bidders)
        assert {party: _from_reserve(each.value) for party, each in given.items()} == bids
    assert any(None in each.values() for each in found)
    assert [{}] == ANSWERS["benchmark_bids"](_stated("first_price", [300, 200, 100]))


def test_common_values_are_answered_where_signals_are_interior() -> None:
    facts = _facts("second_price", 4, rounds=300, seed=1, **COMMON)
    bids, interior = ANSWERS["benchmark_bids"](facts), ANSWERS["interior"](facts)
    naive, most = ANSWERS["naive_bids"](facts), ANSWERS["most_bids"](facts)
    inside = [{party for party, is_in in each.items() if is_in} for each in interior]
    assert inside == [set(each) for each in bids]
    assert 0 < sum(len(each) for each in bids) < 1_200
    for at, each in enumerate(bids):
        for party, amount in each.items():
            assert naive[at][party] - 600 * MICRO == amount  # x − e + 2e/4
            assert naive[at][party] - 720 * MICRO == most[at][party]
    assert 360 * MICRO == ANSWERS["expected_profit"](facts)
    assert (12_500 - 360) * MICRO == ANSWERS["expected_revenue"](facts)


def test_an_open_clock_is_quit_between_the_lowest_signal_and_ones_own() -> None:
    facts = _facts("english_open", 4, rounds=200, seed=1, **COMMON)
    cut = 0
    for bids, naive in zip(ANSWERS["benchmark_bids"](facts), ANSWERS["naive_bids"](facts), strict=True):
        first = min(naive.values())
        inside = [party for party, signal in naive.items() if 3_700 * MICRO <= signal <= 21_300 * MICRO]
        cut += inside != [] and first < 3_700 * MICRO
        due = {party: (naive[party] + first) // 2 for party in inside if first >= 3_700 * MICRO}
        assert due == bids
    assert cut > 0  # where the lowest signal is outside, all that rests on it has no benchmark
    assert 240 * MICRO == ANSWERS["expected_profit"](facts)
    assert 360 * MICRO == ANSWERS["expected_profit"](_facts("english_closed", 4, **COMMON))
    assert 480 * MICRO == ANSWERS["expected_profit"](_facts("dutch", 4, price=30_000, **COMMON))
    assert ANSWERS["expected_profit"](_facts("all_pay", 4, **COMMON)) is None
    assert ANSWERS["expected_profit"](_facts("first_price", 4)) is None


def test_common_answers_are_empty_of_private_values() -> None:
    facts = _facts("first_price", rounds=2)
    assert [[{}, {}]] * 3 == [ANSWERS[name](facts) for name in ("naive_bids", "most_bids", "interior")]


@pytest.mark.parametrize(
    ("expected", "facts"),
    [
        ({"a1_1": {"surplus": 300, "winners": ["b1"]}}, _stated("second_price", [300, 200, 300])),
        (
            {"a1_1": {"surplus": 500, "winners": ["b3", "b1"]}},
            _stated("uniform_price", [200, 100, 300], units=2),
        ),
        ({"a1_1": {"surplus": 0, "winners": []}}, _stated("second_price", [0, -5])),
        (
            {"a1_1": {"surplus": 200, "winners": ["b2"]}, "a1_2": {"surplus": 400, "winners": ["b4"]}},
            _stated("second_price", [100, 200, 300, 400], group=2),
        ),
        (
            {"a1_1": {"surplus": 250, "winners": ["b1", "b2", "b3", "b4"]}},
            _stated("double", [300, 200, 50, 200, 260], sellers=["b3", "b4", "b5"]),
        ),
    ],
)
def test_efficient_allocations(expected: dict[str, Any], facts: Facts) -> None:
    assert expected == ANSWERS["efficient"](facts)


def test_the_equilibrium_of_a_double_auction() -> None:
    facts = _stated("double", [300, 200, 50, 200, 260], sellers=["b3", "b4", "b5"])
    assert [{"quantity": 2, "low": 200, "high": 200, "surplus": 250}] == ANSWERS["equilibrium"](facts)
    assert [{}] == ANSWERS["benchmark_bids"](facts)
    assert ANSWERS["expected_revenue"](facts) is None
    assert [] == ANSWERS["equilibrium"](_facts("first_price"))


EVERY = [
    *(_facts(kind, rounds=2) for kind in ("first_price", "second_price", "all_pay", "proxy")),
    *(_facts(kind, rounds=2, **COMMON) for kind in ("first_price", "all_pay", "english_open")),
    *(_facts(kind, rounds=2, price=9_000) for kind in ("dutch", "posted_price")),
    *(_facts(kind, 4, units=2, rounds=2) for kind in ("uniform_price", "discriminatory", "posted_price")),
    _facts("english_closed", 4, group=2, matching="rematched", rounds=2),
    _facts("double", sellers=["b1"], rounds=2),
    _facts("first_price", 1),
    _facts("all_pay", 2, low=5, high=5),
    _stated("first_price", [1, 2]),
]


@pytest.mark.parametrize("facts", EVERY)
@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_of_every_session_is_plain(name: str, facts: Facts) -> None:
    found = ANSWERS[name](facts)
    assert found == msgspec.json.decode(encode(found))
    assert found == ANSWERS[name](Facts(facts.tables, facts.rows()))


def test_the_answers_are_those_that_the_docstring_lists() -> None:
    text = benchmarks.__doc__ or ""
    lines = text.split("answer            shape")[1].split("\n\n")[0].splitlines()[1:]
    assert list(ANSWERS) == [line.split()[0] for line in lines]
    assert WORLD.answers is ANSWERS


def test_bidders_are_told_how_values_are_drawn_and_no_benchmark() -> None:
    for facts, support in (
        (_facts("first_price"), {"low": 0, "high": 10_000}),
        (_facts("first_price", **COMMON), {"low": 2_500, "high": 22_500, "error": 1_200}),
        (_stated("first_price", [1, 2]), {}),
    ):
        state = State(facts)
        (opened,) = WORLD.decide(state, Act(RoundOpen(), "operator", "operator", 0)).events
        WORLD.evolve(state, opened)
        shown = WORLD.sight(state, "b1")
        assert support == {name: shown[name] for name in ("low", "high", "error") if name in shown}
        told = {"bidders", "cap", "format", "reserve", "round", "rounds", "unit", "units", *support}
        assert told == shown.keys() - {"value", "signal"}

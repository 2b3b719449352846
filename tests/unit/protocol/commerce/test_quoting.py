"""What a cart costs, against a count of it unit by unit, and by examples worked out by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollbook.protocol.commerce.pricing import Pricing, Units
from tollbook.protocol.commerce.quoting import (
    ChargeQuote,
    MerchantQuote,
    adds_up,
    by_kind,
    fits,
    quote,
    terms,
    terms_of,
)
from tollbook.protocol.commerce.terms import MAX_MONEY

PRICES = {"a": 100, "b": 250, "c": 7}


def quoted(pricing: dict[str, Any], prices: dict[str, int] = PRICES, **units: int) -> MerchantQuote:
    """The quote of merchant `m` for so many units of each listing."""
    lines = [Units(name, quantity) for name, quantity in units.items()]
    return quote(terms(msgspec.convert(pricing, Pricing)), "m", lines, prices)


TIER = {"listings": ["a"], "steps": [{"quantity": 3, "unit_price": 80}, {"quantity": 10, "unit_price": 60}]}
PAIR = {"parts": [{"listing": "b", "quantity": 1}, {"listing": "a", "quantity": 2}], "discount": 30}
WORTH = {"parts": [{"listing": "a", "quantity": 1}], "discount": 40, "limit": 2}
FREE = {"parts": [{"listing": "c", "quantity": 1}, {"listing": "a", "quantity": 1}], "discount": 1000}
SAME = {"parts": [{"listing": "a", "quantity": 2}], "discount": 30}
BOTH = {"listings": ["a", "c"], "steps": [{"quantity": 4, "unit_price": 5}]}


def adding(**terms: int) -> dict[str, Any]:
    """Pricing with one charge, of kind `fee`."""
    return {"charges": [{"kind": "fee", **terms}]}


ONE, TWO = ({"kind": "fee", "fixed": amount} for amount in (1, 2))
TENTH = adding(subtotal_rate_bps=1_000)
ALL = {"stacking": "all"}


@pytest.mark.parametrize(
    ("subtotal", "off",             "added",     "total","units",          "pricing"),
    [
        (600,   {},                 {},          600,    {"a": 1, "b": 2}, {}),
        (200,   {},                 {},          200,    {"a": 2},         {"tiers": [TIER]}),
        (240,   {},                 {},          240,    {"a": 3},         {"tiers": [TIER]}),
        (720,   {},                 {},          720,    {"a": 9},         {"tiers": [TIER]}),
        (600,   {},                 {},          600,    {"a": 10},        {"tiers": [TIER]}),
        (20,    {},                 {},          20,     {"a": 1, "c": 3}, {"tiers": [BOTH]}),
        (114,   {},                 {},          114,    {"a": 1, "c": 2}, {"tiers": [BOTH]}),
        (450,   {"b": 30},          {},          420,    {"a": 2, "b": 1}, {"bundles": [PAIR]}),
        (450,   {"b": 30},          {},          420,    {"a": 2, "b": 1}, {"bundles": [PAIR, SAME]}),
        (350,   {},                 {},          350,    {"a": 1, "b": 1}, {"bundles": [PAIR]}),
        (900,   {"b": 60},          {},          840,    {"a": 4, "b": 2}, {"bundles": [PAIR]}),
        (500,   {"a": 80},          {},          420,    {"a": 5},         {"bundles": [WORTH]}),
        (207,   {"c": 7},           {},          200,    {"a": 2, "c": 1}, {"bundles": [FREE]}),
        (450,   {"a": 80},          {},          370,    {"a": 2, "b": 1}, {"bundles": [PAIR, WORTH]}),
        (450,   {"a": 80},          {},          370,    {"a": 2, "b": 1}, {"bundles": [WORTH, PAIR]}),
        (450,   {"a": 80, "b": 30}, {},          340,    {"a": 2, "b": 1}, {**ALL, "bundles": [PAIR, WORTH]}),
        (207,   {"c": 7},           {},          200,    {"a": 2, "c": 1}, {**ALL, "bundles": [FREE, FREE]}),
        (7,     {},                 {"fee": 4},  11,     {"c": 1},         adding(fixed=3, per_unit=1)),
        (21,    {},                 {"fee": 4},  25,     {"c": 3},         adding(subtotal_rate_bps=1_999)),
        (7,     {},                 {},          7,      {"c": 1},         adding(subtotal_rate_bps=1)),
        (207,   {"c": 7},           {"fee": 20}, 220,    {"a": 2, "c": 1}, {**TENTH, "bundles": [FREE]}),
        (7,     {},                 {"fee": 1},  8,      {"c": 1},         adding(fixed=1, subtotal_to=7)),
        (14,    {},                 {},          14,     {"c": 2},         adding(fixed=1, subtotal_to=13)),
        (14,    {},                 {"fee": 1},  15,     {"c": 2},         adding(fixed=1, subtotal_from=14)),
        (7,     {},                 {},          7,      {"c": 1},         adding(fixed=1, subtotal_from=8)),
        (7,     {},                 {"fee": 3},  10,     {"c": 1},         {"charges": [ONE, TWO]}),
    ],
)  # fmt: skip
def test_carts_worked_out_by_hand(  # noqa: PLR0913 - the columns of a table
    subtotal: int,
    off: dict[str, int],
    added: dict[str, int],
    total: int,
    units: dict[str, int],
    pricing: dict[str, Any],
) -> None:
    found = quoted(pricing, **units)
    assert (subtotal, total) == (found.subtotal, found.total)
    assert off == {line.listing: line.discount for line in found.lines if line.discount}
    assert added == by_kind(found.charges)
    assert all(charge.amount for charge in found.charges)
    assert units == {line.listing: line.quantity for line in found.lines}
    assert adds_up(found)


def counted(pricing: Pricing, prices: dict[str, int], units: dict[str, int]) -> dict[str, Any]:
    """The same, told in no formula: every unit is priced, every set is put together, one by one."""
    bag = [name for name, quantity in units.items() for _ in range(quantity)]
    paid: Counter[str] = Counter()
    for name in bag:
        price = prices[name]
        for tier in pricing.tiers:
            if name in tier.listings:
                together = len([other for other in bag if other in tier.listings])
                reached = [step for step in tier.steps if step.quantity <= together]
                price = max(reached, key=lambda step: step.quantity).unit_price if reached else price
        paid[name] += price
    offers: list[tuple[str, int]] = []
    for bundle in pricing.bundles:
        left, sets = Counter(bag), 0
        while all(left[part.listing] >= part.quantity for part in bundle.parts) and sets != bundle.limit:
            left.subtract({part.listing: part.quantity for part in bundle.parts})
            sets += 1
        offers.append((bundle.parts[0].listing, sum(bundle.discount for _ in range(sets))))
    if pricing.stacking == "best":
        worth = [min(amount, paid[name]) for name, amount in offers]
        offers = [offers[worth.index(max(worth))]] if worth else []
    left_to_pay = Counter(paid)
    for name, amount in offers:
        left_to_pay[name] = max(0, left_to_pay[name] - amount)
    subtotal = sum(paid.values())
    added: Counter[str] = Counter()
    for each in pricing.charges:
        if subtotal in range(
            each.subtotal_from, (MAX_MONEY if each.subtotal_to is None else each.subtotal_to) + 1
        ):
            added[each.kind] += each.fixed + sum(each.per_unit for _ in bag)
            added[each.kind] += int(Fraction(each.subtotal_rate_bps, 10_000) * subtotal)
    return {
        "subtotal": subtotal,
        "left": {name: left_to_pay[name] for name in units},
        "charges": {kind: amount for kind, amount in added.items() if amount},
        "total": sum(left_to_pay.values()) + sum(added.values()),
    }


names = st.sampled_from(["a", "b", "c", "d"])
few = st.integers(1, 5)
money = st.integers(0, 700)
tiers = st.lists(st.integers(1, 12), min_size=1, max_size=3, unique=True).flatmap(
    lambda places: st.tuples(*(st.tuples(st.just(place), money) for place in sorted(places)))
)
bundles = st.builds(
    lambda parts, discount, limit: {
        "parts": [{"listing": name, "quantity": quantity} for name, quantity in parts.items()],
        "discount": discount,
        "limit": limit,
    },
    parts=st.dictionaries(names, st.integers(1, 3), min_size=1, max_size=3),
    discount=st.integers(0, 900),
    limit=st.none() | few,
)
charges = st.builds(
    lambda kind, fixed, per_unit, rate, start, width: {
        "kind": kind,
        "fixed": fixed,
        "per_unit": per_unit,
        "subtotal_rate_bps": rate,
        "subtotal_from": start,
        "subtotal_to": None if width is None else start + width,
    },
    kind=st.sampled_from(["tax", "fee"]),
    fixed=st.integers(0, 60),
    per_unit=st.integers(0, 9),
    rate=st.integers(0, 10_000),
    start=st.sampled_from([0, 0, 500, 2_000]),
    width=st.none() | st.integers(0, 3_000),
)


@st.composite
def pricings(draw: st.DrawFn) -> Pricing:
    split = draw(st.dictionaries(names, st.integers(0, 1)))
    grouped = [sorted(name for name, place in split.items() if place == each) for each in (0, 1)]
    rows = {
        "tiers": [
            {
                "listings": group,
                "steps": [{"quantity": place, "unit_price": price} for place, price in draw(tiers)],
            }
            for group in grouped
            if group
        ],
        "bundles": draw(st.lists(bundles, max_size=4)),
        "stacking": draw(st.sampled_from(["best", "all"])),
        "charges": draw(st.lists(charges, max_size=3)),
    }
    return msgspec.convert(rows, Pricing)


@given(
    pricing=pricings(),
    prices=st.fixed_dictionaries(dict.fromkeys("abcd", money)),
    units=st.dictionaries(names, st.integers(1, 14), min_size=1),
)
def test_the_arithmetic_is_that_of_counting(
    pricing: Pricing, prices: dict[str, int], units: dict[str, int]
) -> None:
    assert pricing.problem() is None
    found = quote(terms(pricing), "m", [Units(*each) for each in units.items()], prices)
    assert adds_up(found)
    assert counted(pricing, prices, units) == {
        "subtotal": found.subtotal,
        "left": {line.listing: line.quantity * line.unit_price - line.discount for line in found.lines},
        "charges": by_kind(found.charges),
        "total": found.total,
    }


def test_sums_that_are_not_those_of_the_lines_dont_add_up() -> None:
    found = quoted({**adding(fixed=9), "bundles": [PAIR]}, a=2, b=1)
    replace = msgspec.structs.replace
    line = found.lines[1]
    assert adds_up(found)
    assert not adds_up(replace(found, subtotal=found.subtotal + 1))
    assert not adds_up(replace(found, total=found.total - 1))
    assert not adds_up(replace(found, charges=(ChargeQuote("fee", 8),)))
    assert not adds_up(replace(found, lines=(found.lines[0], replace(line, discount=251)), total=208))


def test_a_cart_fits_up_to_the_largest_amount() -> None:
    most = {"a": MAX_MONEY, "b": 0, "c": 1}
    assert fits([quoted({}, most, a=1, b=1)])
    assert not fits([quoted({}, most, a=1, c=1)])
    assert not fits([quoted({}, most, a=1), quoted({}, most, c=1)])
    given_away = {"parts": [{"listing": "c", "quantity": 1}], "discount": 1}
    assert not fits([quoted({"bundles": [given_away]}, most, a=1, c=1)])


def test_terms_are_read_anew_where_they_changed_in_a_run(new_market: Any) -> None:
    rows = {
        "listing": {"a": {"merchant": "m1", "title": "a", "price": 1}},
        "pricing": {"m1": {"tiers": [TIER]}},
    }
    state = new_market(rows).state
    assert terms_of(state, "m1") is terms_of(state, "m1")
    assert "a" in terms_of(state, "m1").tiers
    state.put("pricing", "m1", Pricing())
    state.commit()
    assert not terms_of(state, "m1").tiers
    assert terms_of(state, "m2") == terms_of(state, "m3") == terms(Pricing())

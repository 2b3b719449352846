"""Proxy bids: what stands after each period, hard and soft closes, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from laboratory import WORLD, Laboratory, stating, truthful

from tollbook.protocol.auction.proxy import ProxyBid, ProxyHold
from tollbook.protocol.errors import CanonicalError
from tollbook.protocol.tables import NO_CHANGE

THREE = {"b1": 600, "b2": 400, "b3": 200}
Period = list[int | None]


def _lab(**session: Any) -> Laboratory:
    return Laboratory("proxy", THREE, **{"increment": 10, "periods": 2, "cap": 10_000, "seed": 1, **session})


def _play(lab: Laboratory, periods: list[Period]) -> list[tuple[int | None, str | None, int]]:
    """Plays these bids (None: a hold), then holds to the end; gives what stood after each period."""
    stood, place = [], 0
    bids = [amount for period in periods for amount in period]
    while (party := lab.asked) is not None:
        amount = bids[place] if place < len(bids) else None
        assert [None] == lab.rules((party, "proxy.hold" if amount is None else "proxy.bid", amount))
        place += 1
        if place % 3 == 0:
            row = lab.state.get("standing", "a1_1")
            stood.append((row.price, row.leader, row.periods))
    return stood


# What b1 to b3 say in each period, and what stands after it: price, leader, periods.
OUTCOMES: list[tuple[dict[str, Any], list[Period], list[tuple[int | None, str | None, int]]]] = [
    ({}, [[500, 400, 200]], [(410, "b1", 2), (410, "b1", 2)]),
    ({}, [[405, 400, 200]], [(405, "b1", 2), (405, "b1", 2)]),  # at most the highest
    ({"increment": 1}, [[500, 400, 200]], [(401, "b1", 2)] * 2),
    ({}, [], [(None, None, 2)] * 2),
    ({"reserve": 50}, [[None, 400, None]], [(50, "b2", 2)] * 2),
    ({"reserve": 50}, [[None, 400, 50]], [(60, "b2", 2)] * 2),
    ({}, [[500, 400, None], [None, 600, None]], [(410, "b1", 2), (510, "b2", 2)]),
    ({}, [[500, 400, None], [900, None, None]], [(410, "b1", 2), (410, "b1", 2)]),
    ({}, [[None, None, 400], [400, None, None]], [(0, "b3", 2), (400, "b3", 2)]),  # the earlier of equal ones
    ({}, [[None, None, 400], [400, None, 401]], [(0, "b3", 2), (401, "b3", 2)]),
    ({}, [[None, 400, 400]], [(400, "b2", 2)] * 2),  # by lot
    ({"periods": 1}, [[500, None, None]], [(0, "b1", 1)]),
    # hard: nothing adds a period; soft: who takes the lead in the last does
    ({"extension": 3}, [[500, None, None], [None, 510, None]], [(0, "b1", 2), (510, "b2", 2)]),
    ({"close": "soft"}, [[500, None, None]], [(0, "b1", 2)] * 2),
    (
        {"close": "soft"},
        [[500, None, None], [None, 510, None]],
        [(0, "b1", 2), (510, "b2", 3), (510, "b2", 3)],
    ),
    ({"close": "soft"}, [[500, None, None], [None, 400, None]], [(0, "b1", 2), (410, "b1", 2)]),
    ({"close": "soft"}, [[500, None, None], [900, None, None]], [(0, "b1", 2), (0, "b1", 2)]),
    ({"close": "soft"}, [[], [None, 300, None]][1:], [(0, "b2", 2)] * 2),
    (
        {"close": "soft", "extension": 2},
        [[500, None, None], [None, 510, None], [520, None, None], [None, None, 600]],
        [(0, "b1", 2), (510, "b2", 4), (520, "b1", 4), (530, "b3", 6), (530, "b3", 6), (530, "b3", 6)],
    ),
    (
        {"close": "soft", "extensions": 1},
        [[500, None, None], [None, 510, None], [520, None, None]],
        [(0, "b1", 2), (510, "b2", 3), (520, "b1", 3)],
    ),
    ({"close": "soft", "extensions": 0}, [[], [None, None, 9]][1:], [(0, "b3", 2)] * 2),
]  # fmt: skip


@pytest.mark.parametrize(("session", "periods", "stood"), OUTCOMES)
def test_what_stands(
    session: dict[str, Any], periods: list[Period], stood: list[tuple[int | None, str | None, int]]
) -> None:
    lab = _lab(**session)
    assert stood == _play(lab, periods)
    price, leader, _periods = stood[-1]
    assert [([leader] if leader else [], price or 0)] == lab.sold
    if leader:
        assert (1, price, THREE[leader] - (price or 0)) == lab.came_to()[leader]


def test_since_when_the_leader_leads() -> None:
    since = []
    first: Period = [500, 400, None]
    for periods in ([first], [[None] * 3, first], [first, [None, 501, None]]):
        lab = _lab(periods=4)
        _play(lab, periods)
        since.append(lab.state.get("standing", "a1_1").since)
    assert [1, 2, 2] == since


def test_a_bidder_is_shown_what_stood_before_the_period_and_no_maximum_but_its_own() -> None:
    lab = _lab(close="soft", extension=2, extensions=1)
    lab.operate()
    names = ("period", "periods", "price", "leads", "maximum", "extension")
    assert (1, 2, None, False, None, 2) == tuple(lab.sight("b2")[name] for name in names)
    lab.say("b1", "proxy.bid", amount=567)
    assert (1, 2, None, False, None, 2) == tuple(lab.sight("b2")[name] for name in names)
    lab.rules(("b2", "proxy.bid", 400), ("b3", "proxy.hold", None))
    assert (2, 2, 410, True, 567, 2) == tuple(lab.sight("b1")[name] for name in names)
    assert (2, 2, 410, False, 400, 2) == tuple(lab.sight("b2")[name] for name in names)
    lab.rules(("b1", "proxy.hold", None), ("b2", "proxy.bid", 600), ("b3", "proxy.hold", None))
    assert (3, 4, 577, False, None, 0) == tuple(lab.sight("b3")[name] for name in names)


REFUSED: list[tuple[str | None, str, str, int | None]] = [
    # refused by         by          kind          amount
    ("party.role",      "operator",  "proxy.bid",  -10),
    ("bid.format",      "b1",        "bid.submit", 500),
    ("proxy.turn",      "b2",        "proxy.bid",  -10),
    ("proxy.turn",      "b3",        "proxy.hold", None),
    ("proxy.negative",  "b1",        "proxy.bid",  -10),
    ("proxy.cap",       "b1",        "proxy.bid",  10_010),
    ("proxy.cap",       "b1",        "proxy.bid",  2**53 - 1),
    ("proxy.unit",      "b1",        "proxy.bid",  305),
    ("proxy.reserve",   "b1",        "proxy.bid",  90),
    (None,              "b1",        "proxy.bid",  300),
    ("proxy.twice",     "b1",        "proxy.bid",  310),
    ("proxy.twice",     "b1",        "proxy.hold", None),
    (None,              "b2",        "proxy.hold", None),
    (None,              "b3",        "proxy.bid",  100),
    ("proxy.lower",     "b1",        "proxy.bid",  290),
    ("proxy.lower",     "b1",        "proxy.bid",  300),
    (None,              "b1",        "proxy.bid",  310),
    (None,              "b2",        "proxy.hold", None),
    (None,              "b3",        "proxy.hold", None),
    ("proxy.closed",    "b1",        "proxy.bid",  400),
    ("proxy.closed",    "b2",        "proxy.hold", None),
]  # fmt: skip


def test_refusals_come_in_their_order_and_change_nothing() -> None:
    lab = _lab(unit=10, reserve=100)
    lab.operate()
    for rule, party, kind, amount in REFUSED:
        before = lab.state.root()
        decision = lab.say(party, kind, **({} if amount is None else {"amount": amount}))
        assert (rule, rule is None) == (decision.rule, decision.delta != NO_CHANGE), (party, kind, amount)
        assert (rule is not None) == (before == lab.state.root())
    assert [(["b1"], 110)] == lab.sold


def test_what_is_no_bid_is_refused_by_name() -> None:
    lab = _lab()
    lab.operate()
    before = lab.state.root()
    for raw in (
        b'{"amount":"500","kind":"proxy.bid"}',
        b'{"amount":null,"kind":"proxy.bid"}',
        b'{"amount":500,"bidder":"b2","kind":"proxy.bid"}',
        b'{"amount":500,"kind":"proxy.hold"}',
    ):
        assert "action.invalid" == lab.say_raw("b1", raw).rule
    for amount in (b"NaN", b"1000000000000000000000000000000", b"5.5"):
        with pytest.raises(CanonicalError):
            lab.say_raw("b1", b'{"amount":' + amount + b',"kind":"proxy.bid"}')
    assert before == lab.state.root()


@pytest.mark.parametrize(
    ("words", "move"),
    [
        ("I bid 3.00", ProxyBid(300)),
        ("My maximum is $4", ProxyBid(400)),
        ("hold", ProxyHold()),
        ("I don't hold", None),
        ("I hold at 3.00", None),
        ("I won't bid 3.00", None),
    ],
)
def test_words(words: str, move: object) -> None:
    lab = _lab()
    lab.operate()
    assert move == WORLD.understood(lab.state, "b1", words)


def test_the_operator_s_pass_holds() -> None:
    lab = _lab()
    lab.operate()
    assert None is lab.say("operator", "turn.pass", party="b1").rule
    assert ("b2", None) == (lab.asked, lab.state.get("maximum", "m1_b1"))


def test_feedback_of_all_bids_is_the_maxima() -> None:
    lab = _lab(rounds=2, feedback="bids")
    lab.play(stating, rounds=1)
    assert [600, 400, 200] == lab.sight("b1")["before"]["bids"]


def test_with_values_as_maxima_it_is_the_second_price_auction_and_an_increment() -> None:
    bidders = ["b1", "b2", "b3"]
    common = {"rounds": 100, "high": 60, "seed": 11}
    proxy = Laboratory("proxy", bidders, increment=3, periods=1, **common)
    sealed = Laboratory("second_price", bidders, **common)
    proxy.play(stating)
    sealed.play(truthful)
    assert [winners for winners, _price in sealed.sold] == [winners for winners, _price in proxy.sold]
    worth = [
        [proxy.state.get("valuation", f"v{number}_{party}").value for party in bidders]
        for number in range(1, 101)
    ]
    values = [max(each) for each in worth]
    assert [min(value, price + 3) for value, (_, price) in zip(values, sealed.sold, strict=True)] == [
        price for _winners, price in proxy.sold
    ]

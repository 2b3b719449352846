"""Sealed bids: what each format makes of them, what is refused, and what words come to."""

from __future__ import annotations

from typing import Any

import pytest
from laboratory import WORLD, Laboratory, shading, truthful

from tollbook.protocol.auction.sealed import BidPass, BidSubmit
from tollbook.protocol.errors import CanonicalError
from tollbook.protocol.tables import NO_CHANGE

VALUES = {"b1": 900, "b2": 700, "b3": 500, "b4": 300}
FORMATS = ("first_price", "second_price", "all_pay", "uniform_price", "discriminatory")

RESERVE = {"reserve": 400}
# What b1 to b4 bid (None: a pass), and of each (units, paid, profit); no reserve, then one of 400.
OUTCOMES: list[tuple[str, dict[str, Any], list[int | None], list[tuple[int, int, int]]]] = [
    ("first_price", {}, [600, 650, 100, 0], [(0, 0, 0), (1, 650, 50), (0, 0, 0), (0, 0, 0)]),
    ("first_price", {}, [None, None, 510, None], [(0, 0, 0), (0, 0, 0), (1, 510, -10), (0, 0, 0)]),
    ("first_price", {}, [None, None, None, None], [(0, 0, 0)] * 4),
    ("first_price", {}, [None, None, None, 0], [(0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 0, 300)]),
    ("second_price", {}, [600, 650, 100, 0], [(0, 0, 0), (1, 600, 100), (0, 0, 0), (0, 0, 0)]),
    ("second_price", {}, [None, 650, None, None], [(0, 0, 0), (1, 0, 700), (0, 0, 0), (0, 0, 0)]),
    ("second_price", {}, [None, 950, 900, None], [(0, 0, 0), (1, 900, -200), (0, 0, 0), (0, 0, 0)]),
    ("all_pay", {}, [600, 650, None, 10], [(0, 600, -600), (1, 650, 50), (0, 0, 0), (0, 10, -10)]),
    ("uniform_price", {"units": 2}, [600, 650, 100, 0], [(1, 100, 800), (1, 100, 600), (0, 0, 0), (0, 0, 0)]),
    ("uniform_price", {"units": 3}, [600, None, 100, None], [(1, 0, 900), (0, 0, 0), (1, 0, 500), (0, 0, 0)]),
    ("uniform_price", {"units": 2}, [600, None, 100, 50], [(1, 50, 850), (0, 0, 0), (1, 50, 450), (0, 0, 0)]),
    ("discriminatory", {"units": 2}, [600, 650, 1, 0], [(1, 600, 300), (1, 650, 50), (0, 0, 0), (0, 0, 0)]),
    ("first_price", RESERVE, [None, 400, None, None], [(0, 0, 0), (1, 400, 300), (0, 0, 0), (0, 0, 0)]),
    ("second_price", RESERVE, [500, None, None, None], [(1, 400, 500), (0, 0, 0), (0, 0, 0), (0, 0, 0)]),
    ("second_price", RESERVE, [500, 450, None, None], [(1, 450, 450), (0, 0, 0), (0, 0, 0), (0, 0, 0)]),
    (
        "uniform_price",
        {**RESERVE, "units": 2},
        [500, 450, None, None],
        [(1, 400, 500), (1, 400, 300), (0, 0, 0), (0, 0, 0)],
    ),
]  # fmt: skip

REFUSED: list[tuple[str | None, str, str, Any]] = [
    # refused by          by          kind            amount
    ("party.role",       "operator",  "bid.submit",  -10),
    ("bid.turn",         "b2",        "bid.submit",  -10),
    ("bid.turn",         "b2",        "bid.pass",    None),
    ("clock.format",     "b1",        "clock.stay",  None),
    ("proxy.format",     "b1",        "proxy.bid",   500),
    ("price.format",     "b1",        "price.accept", None),
    ("quote.format",     "b1",        "quote.buy",   500),
    ("bid.negative",     "b1",        "bid.submit",  -10),
    ("bid.negative",     "b1",        "bid.submit",  -1),
    ("bid.cap",          "b1",        "bid.submit",  1_001),
    ("bid.cap",          "b1",        "bid.submit",  2**53 - 1),
    ("bid.unit",         "b1",        "bid.submit",  305),
    ("bid.reserve",      "b1",        "bid.submit",  290),
    (None,               "b1",        "bid.submit",  300),
    ("bid.twice",        "b1",        "bid.submit",  310),
    ("bid.twice",        "b1",        "bid.pass",    None),
    (None,               "b2",        "bid.pass",    None),
    ("bid.twice",        "b2",        "bid.submit",  400),
    (None,               "b3",        "bid.pass",    None),
    (None,               "b4",        "bid.submit",  1_000),
    ("bid.closed",       "b1",        "bid.submit",  400),
    ("bid.closed",       "b4",        "bid.pass",    None),
]  # fmt: skip

UNFORMED = [
    b'{"amount":"500","kind":"bid.submit"}',
    b'{"amount":null,"kind":"bid.submit"}',
    b'{"amount":true,"kind":"bid.submit"}',
    b'{"amount":500,"bidder":"b2","kind":"bid.submit"}',
    b'{"kind":"bid.submit"}',
    b'{"amount":500,"kind":"bid.pass"}',
]
NO_JSON = [
    b'{"amount":1000000000000000000000000000000,"kind":"bid.submit"}',
    b'{"amount":NaN,"kind":"bid.submit"}',
    b'{"amount":500.0,"kind":"bid.submit"}',
    b'{"amount":5e2,"kind":"bid.submit"}',
]


@pytest.mark.parametrize(("kind", "session", "bids", "came_to"), OUTCOMES)
def test_bids_come_to(
    kind: str, session: dict[str, Any], bids: list[int | None], came_to: list[tuple[int, int, int]]
) -> None:
    lab = Laboratory(kind, VALUES, **session)
    for party, amount in zip(VALUES, bids, strict=True):
        assert party == lab.asked
        kind = "bid.pass" if amount is None else "bid.submit"
        assert [None] == lab.rules((party, kind, amount))
    assert dict(zip(VALUES, came_to, strict=True)) == lab.came_to()
    assert None is lab.asked


def test_a_tie_goes_by_lot_to_each_of_those_in_it() -> None:
    winners = [Laboratory("first_price", VALUES, seed=seed) for seed in range(40)]
    for lab in winners:
        lab.play(lambda market: {"kind": "bid.submit", "amount": 10 if market["value"] == 300 else 200})
    won = [lab.sold[0][0][0] for lab in winners]
    assert {"b1", "b2", "b3"} == set(won)
    assert 7 <= min(won.count(party) for party in set(won))


def test_a_tie_falls_the_same_way_whoever_else_bids() -> None:
    """So formats in which one hears of fewer bidders can agree with these."""
    for seed in range(20):
        lab, other = Laboratory("first_price", VALUES, seed=seed), Laboratory("all_pay", VALUES, seed=seed)
        lab.play(lambda _market: {"kind": "bid.submit", "amount": 10})
        other.play(lambda _market: {"kind": "bid.submit", "amount": 10})
        first = lab.sold[0][0][0]
        assert first == other.sold[0][0][0]
        pair = Laboratory("first_price", VALUES, seed=seed)
        pair.operate()
        for party in VALUES:
            is_in = party in (first, "b4" if first != "b4" else "b1")
            pair.move(party, {"kind": "bid.submit", "amount": 10} if is_in else {"kind": "bid.pass"})
        assert [first] == pair.sold[0][0]


def test_units_at_a_tie_go_by_the_same_lots() -> None:
    lab = Laboratory("uniform_price", VALUES, units=2, seed=3)
    lab.play(lambda _market: {"kind": "bid.submit", "amount": 100})
    assert 2 == len(set(lab.sold[0][0]))
    assert 100 == lab.sold[0][1]


def test_refusals_come_in_their_order_and_change_nothing() -> None:
    lab = Laboratory("second_price", VALUES, unit=10, reserve=300, cap=1_000)
    lab.operate()
    for rule, party, kind, amount in REFUSED:
        before = lab.state.root()
        decision = lab.say(party, kind, **({} if amount is None else {"amount": amount}))
        assert (rule, rule is None) == (decision.rule, decision.delta != NO_CHANGE), (party, kind, amount)
        if rule is not None:
            assert before == lab.state.root()
            assert decision.events == []
    assert ["bid.closed"] == lab.rules(("b1", "bid.submit", -10))
    assert [(["b4"], 300)] == lab.sold


@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_no_bid_is_refused_by_name(kind: str) -> None:
    lab = Laboratory(kind, VALUES)
    lab.operate()
    before = lab.state.root()
    assert ["action.invalid"] * len(UNFORMED) == [lab.say_raw("b1", raw).rule for raw in UNFORMED]
    for raw in NO_JSON:
        with pytest.raises(CanonicalError):
            lab.say_raw("b1", raw)
    assert before == lab.state.root()


@pytest.mark.parametrize(
    ("words", "move"),
    [
        ("I bid 3.00", BidSubmit(300)),
        ("My value is 9.00, so I bid $8.50.", BidSubmit(850)),
        ("9.5", BidSubmit(950)),
        ("pass", BidPass()),
        ("I pass.", BidPass()),
        ("I pass at 3.00", None),
        ("I will not pass", None),
        ("I will not bid 3.00", None),
        ("-3.00", None),
        ("", None),
    ],
)
def test_words(words: str, move: object) -> None:
    lab = Laboratory("first_price", VALUES)
    lab.operate()
    assert move == WORLD.understood(lab.state, "b1", words)


def test_the_operator_passes_for_a_bidder() -> None:
    lab = Laboratory("first_price", VALUES)
    assert "b1" == lab.asked
    assert "turn.other" == lab.say("operator", "turn.pass", party="b2").rule
    assert "party.role" == lab.say("b1", "turn.pass", party="b1").rule
    assert None is lab.say("operator", "turn.pass", party="b1").rule
    assert ("b2", None) == (lab.asked, lab.state.get("bid", "b1_b1").amount)
    assert "turn.closed" == lab.say("operator", "turn.pass", party="b9").rule


@pytest.mark.parametrize(
    ("feedback", "before"),
    [
        ("none", None),
        ("own", {"round": 1, "units": 0, "paid": 0, "profit": 0}),
        ("price", {"round": 1, "units": 0, "paid": 0, "profit": 0, "price": 700}),
        (
            "bids",
            {"round": 1, "units": 0, "paid": 0, "profit": 0, "price": 700, "bids": [900, 700, 500, 300]},
        ),
    ],
)
def test_feedback(feedback: str, before: object) -> None:
    lab = Laboratory("second_price", VALUES, rounds=2, feedback=feedback)
    lab.operate()
    assert "before" not in lab.sight("b3")
    lab.play(truthful, rounds=1)
    assert before == lab.sight("b3").get("before")


def test_what_a_bidder_is_shown() -> None:
    lab = Laboratory("first_price", VALUES, reserve=10, cap=2_000, unit=5, news=["a storm"])
    lab.operate()
    shown = lab.sight("b2")
    wanted = {"format": "first_price", "round": 1, "rounds": 1, "bidders": 4, "value": 700, "news": "a storm"}
    wanted |= {"reserve": 10, "cap": 2_000, "unit": 5}
    assert wanted == {name: shown.get(name) for name in wanted}
    lab.say("b1", "bid.submit", amount=555)
    assert shown == lab.sight("b2")
    assert None is lab.sight("b9")


def test_every_round_is_one_of_its_own() -> None:
    lab = Laboratory("first_price", VALUES, rounds=3)
    assert 12 == len(lab.play(shading))
    assert [(["b1"], 675)] * 3 == lab.sold

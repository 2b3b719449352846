"""The double auction's rules, worked out by hand: refusals in order, trades, rounds, what is shown."""

from __future__ import annotations

from typing import Any

import pytest
from trading_floor import WORLD, Floor

from tollbook.protocol.auction.double import MOST_SHOWN, Quote, QuoteBuy, QuotePass, QuoteSell, Trade
from tollbook.protocol.auction.results import Result
from tollbook.protocol.errors import WorldError
from tollbook.protocol.tables import NO_CHANGE
from tollbook.protocol.world import Operate

BUYERS = {"b1": 300, "b2": 250, "b3": 200}
SELLERS = {"s1": 100, "s2": 150, "s3": 220}

BAD_QUOTES: list[tuple[str | None, str, int]] = [
    # Refused by, kind, amount, of b1 whose step it is, where a bid of 120 stands; in order of checks.
    ("quote.side", "quote.sell", -5),
    ("quote.negative", "quote.buy", -5),
    ("quote.negative", "quote.buy", -(2**53 - 1)),
    ("quote.cap", "quote.buy", 401),
    ("quote.cap", "quote.buy", 2**53 - 1),
    ("quote.unit", "quote.buy", 7),
    ("quote.reserve", "quote.buy", 10),
    ("quote.improve", "quote.buy", 110),
    ("quote.improve", "quote.buy", 120),
    (None, "quote.buy", 130),
    (None, "quote.buy", 400),
]

MISPLACED: list[tuple[str, str]] = [
    # Refused by, sender, where b2 has traded with s2 and b1 is asked.
    ("party.role", "operator"),
    ("quote.left", "b2"),
    ("quote.left", "s2"),
    ("quote.turn", "b3"),
    ("quote.turn", "s1"),
]


@pytest.fixture
def floor() -> Floor:
    """A floor on which b2 bought from s2 at 180, while b1 had bid 120."""
    floor = Floor(BUYERS, SELLERS, rounds=2)
    _trade(floor)
    return floor


def _trade(floor: Floor) -> None:
    floor.quote("b1", 120)
    floor.quote("s2", 180)
    floor.quote("b2", 191)


@pytest.mark.parametrize(("rule", "kind", "amount"), BAD_QUOTES)
def test_a_quote_is_refused_by_the_first_rule_it_breaks(rule: str | None, kind: str, amount: int) -> None:
    floor = Floor(BUYERS, SELLERS, unit=10, reserve=20)
    floor.quote("b2", 120)
    floor.wait_for("b1")
    before = floor.state.root()
    said = floor.say("b1", kind, amount=amount)
    assert rule == said.rule
    if rule is not None:
        assert (NO_CHANGE, before, "b1") == (said.delta, floor.state.root(), floor.asked)


@pytest.mark.parametrize(("rule", "sender"), MISPLACED)
@pytest.mark.parametrize("kind", ["quote.buy", "quote.sell", "quote.pass"])
def test_only_who_is_asked_may_quote_or_pass(floor: Floor, rule: str, sender: str, kind: str) -> None:
    floor.wait_for("b1")
    fields = {} if kind == "quote.pass" else {"amount": -1}
    before = floor.state.root()
    said = floor.say(sender, kind, **fields)
    assert (rule, NO_CHANGE, before) == (said.rule, said.delta, floor.state.root())


def test_after_the_close_and_in_other_formats_nothing_is_quoted() -> None:
    floor = Floor(BUYERS, SELLERS, steps=1)
    asked = floor.asked
    assert asked is not None
    floor.say(asked, "quote.pass")
    assert "quote.closed" == floor.say(asked, "quote.pass").rule
    sealed = Floor(BUYERS, {}, format="first_price")
    assert "quote.format" == sealed.say("b1", "quote.pass").rule
    assert "quote.format" == sealed.say("b1", "quote.buy", amount=5).rule
    assert "bid.format" == Floor(BUYERS, SELLERS).say("b1", "bid.submit", amount=5).rule


@pytest.mark.parametrize(
    "action",
    [
        {"kind": "quote.buy", "amount": "130"},
        {"kind": "quote.buy", "amount": None},
        {"kind": "quote.buy"},
        {"kind": "quote.buy", "amount": 130, "for": "b2"},
        {"kind": "quote.hold"},
    ],
)
def test_what_is_no_quote_is_refused_by_name(action: dict[str, Any]) -> None:
    floor = Floor(BUYERS, SELLERS)
    floor.wait_for("b1")
    rule = "action.invalid" if action["kind"] in WORLD.kinds else "action.unknown"
    said = floor.say("b1", **action)
    assert (rule, NO_CHANGE) == (said.rule, said.delta)


def _standing(floor: Floor) -> tuple[int | None, str | None, int | None, str | None]:
    book = floor.book
    return book.bid, book.buyer, book.ask, book.seller


def test_a_quote_that_reaches_the_other_sides_trades_at_the_standing_price(floor: Floor) -> None:
    assert [Trade(1, "a1_1", floor.book.step, "b2", "s2", 180, "buy")] == floor.rows("trade")
    assert ("b1", "b3", "s1", "s3") == floor.auction[1].active
    assert (None, None, None, None) == _standing(floor)
    floor.quote("b1", 200)
    assert (200, "b1", None, None) == _standing(floor)
    floor.quote("s1", 200)
    assert Trade(1, "a1_1", floor.book.step, "b1", "s1", 200, "sell") == floor.rows("trade")[1]


def test_a_better_quote_takes_the_place_of_the_one_that_stands() -> None:
    floor = Floor(BUYERS, SELLERS)
    for party, amount in (("b1", 120), ("b2", 121), ("s3", 300), ("s1", 299), ("b2", 122)):
        floor.quote(party, amount)
    assert (122, "b2", 299, "s1") == _standing(floor)
    assert [Quote(1, "b1", "buy", 120), Quote(1, "b2", "buy", 121)] == floor.rows("quote")[:2]


PARAMETERS: list[tuple[dict[str, Any], int, tuple[Any, ...]]] = [
    # Parameters, the price of the trade, what stands after it.
    ({}, 180, (None, None, None, None)),
    ({"clears": False}, 180, (120, "b1", None, None)),
    ({"at": "middle"}, 185, (None, None, None, None)),
    ({"at": "middle", "clears": False}, 185, (120, "b1", None, None)),
]


@pytest.mark.parametrize(("session", "price", "standing"), PARAMETERS)
def test_where_a_trade_is_and_what_it_leaves(
    session: dict[str, Any], price: int, standing: tuple[Any, ...]
) -> None:
    floor = Floor(BUYERS, SELLERS, **session)
    _trade(floor)
    assert ([price], standing) == ([trade.price for trade in floor.rows("trade")], _standing(floor))


def test_a_book_that_is_not_cleared_still_loses_what_those_quoted_who_left() -> None:
    floor = Floor(BUYERS, SELLERS, clears=False)
    for party, amount in (("b1", 120), ("s1", 200), ("s1", 120)):
        floor.quote(party, amount)
    assert (None, None, None, None) == _standing(floor)


def test_the_best_seller_is_the_cheapest() -> None:
    floor = Floor(BUYERS, SELLERS)
    floor.quote("s1", 180)
    assert [("quote.improve", 181), ("quote.improve", 180), (None, 179)] == [
        (floor.quote("s2", amount).rule, amount) for amount in (181, 180, 179)
    ]


def test_without_the_rule_a_quote_need_not_improve() -> None:
    floor = Floor(BUYERS, SELLERS, improves=False)
    for party, amount in (("b1", 120), ("b2", 110), ("s1", 150), ("s2", 150)):
        floor.quote(party, amount)
    assert (110, "b2", 150, "s2") == _standing(floor)


def test_sides_may_be_drawn_before_traders() -> None:
    many = {f"b{place}": 300 for place in range(1, 20)}
    for drawn, low, high in (("trader", 2, 45), ("side", 150, 250)):
        floor = Floor(many, {"s1": 100}, drawn=drawn)
        asked = []
        for _ in range(400):
            asked.append(floor.asked)
            floor.say(str(floor.asked), "quote.pass")
        assert low <= asked.count("s1") <= high


def test_the_event_names_who_is_drawn_next() -> None:
    floor = Floor(BUYERS, SELLERS)
    for amount in (120, 180, 191):
        side, party = ("sell", "s2") if amount == 180 else ("buy", "b2")
        floor.wait_for(party)
        (event,) = floor.say(party, f"quote.{side}", amount=amount).events
        assert floor.asked == event.asked  # type: ignore[attr-defined]


def test_a_round_ends_with_its_steps() -> None:
    floor = Floor(BUYERS, SELLERS, steps=3, rounds=2)
    for _ in range(3):
        assert isinstance(floor.asked, str)
        floor.say(floor.asked, "quote.pass")
    assert isinstance(WORLD.due(floor.state), Operate)
    assert {(1, 0, 0, 0, 0)} == {(r.round, r.units, r.paid, r.price, r.profit) for r in floor.rows("result")}
    assert 6 == len(floor.rows("result"))
    floor.say("operator", "round.open")
    assert (0, 0, "a2_1") == (floor.book.step, floor.book.trades, floor.auction[0])


def test_a_round_ends_once_a_side_has_nobody_left() -> None:
    floor = Floor({"b1": 300}, SELLERS)
    floor.quote("b1", 200)
    events = floor.quote("s1", 150).events
    assert ["TradeMade", "MarketClosed"] == [type(event).__name__ for event in events]
    assert WORLD.due(floor.state) is None


def test_results_say_what_was_paid_or_received(floor: Floor) -> None:
    while floor.asked is not None:
        floor.say(floor.asked, "quote.pass")
    assert [
        Result(1, "a1_1", "b1", 0, 0, 180, 0),
        Result(1, "a1_1", "b2", 1, 180, 180, 70),
        Result(1, "a1_1", "b3", 0, 0, 180, 0),
        Result(1, "a1_1", "s1", 0, 0, 180, 0),
        Result(1, "a1_1", "s2", 1, 180, 180, 30),
        Result(1, "a1_1", "s3", 0, 0, 180, 0),
    ] == floor.rows("result")
    floor.say("operator", "round.open")
    before = {"round": 1, "units": 1, "profit": 70, "paid": 180}
    assert before == WORLD.sight(floor.state, "b2")["before"]
    assert {**before, "profit": 30, "received": 180, "paid": None} == {
        "paid": None,
        **WORLD.sight(floor.state, "s2")["before"],
    }


def test_a_trader_is_shown_the_book_and_what_is_new_to_it(floor: Floor) -> None:
    first, second, third = (
        {"n": 1, "round": 1, "side": "buy", "amount": 120},
        {"n": 2, "round": 1, "side": "sell", "amount": 180},
        {"n": 3, "round": 1, "side": "buy", "amount": 191, "price": 180},
    )
    floor.wait_for("b3")
    step = floor.book.step
    seen = WORLD.sight(floor.state, "b3")
    new = seen.pop("quotes")
    assert [first, second, third][-len(new) :] == new
    assert {
        "format": "double",
        "round": 1,
        "rounds": 2,
        "bidders": 6,
        "value": 200,
        "reserve": 0,
        "units": 1,
        "side": "buy",
        "step": step + 1,
        "steps": 2000,
        "bid": None,
        "ask": None,
        "leads": False,
        "buyers": 2,
        "sellers": 2,
        "trades": 1,
        "cap": 400,
        "unit": 1,
        "improves": True,
    } == seen
    floor.quote("b3", 90)
    floor.wait_for("b3")
    fourth = {"n": 4, "round": 1, "side": "buy", "amount": 90, "own": True}
    seen = WORLD.sight(floor.state, "b3")
    assert ([fourth], True, 90) == (seen["quotes"], seen["leads"], seen["bid"])
    floor.say("b3", "quote.pass")
    assert [] == WORLD.sight(floor.state, "b3")["quotes"]
    floor.wait_for("s3")
    assert ("sell", 220) == (WORLD.sight(floor.state, "s3")["side"], WORLD.sight(floor.state, "s3")["cost"])


def test_who_has_left_is_shown_in_the_next_round_what_it_missed(floor: Floor) -> None:
    floor.quote("b1", 150)
    while floor.asked is not None:
        floor.say(floor.asked, "quote.pass")
    floor.say("operator", "round.open")
    seen = WORLD.sight(floor.state, "s2")["quotes"]
    assert [(2, True), (3, True), (4, False)] == [(quote["n"], "own" in quote) for quote in seen[-3:]]


def test_what_is_shown_at_once_is_bounded() -> None:
    floor = Floor({"b1": 300, "b2": 300}, SELLERS, improves=False)
    for amount in range(1, MOST_SHOWN + 11):
        floor.wait_for("b1")
        floor.say("b1", "quote.buy", amount=amount)
    floor.state.put("told", "b2", type(floor.rows("told")[0])(0))
    shown = WORLD.sight(floor.state, "b2")["quotes"]
    assert (MOST_SHOWN, 11, MOST_SHOWN + 10) == (len(shown), shown[0]["n"], shown[-1]["n"])


@pytest.mark.parametrize(
    ("party", "words", "expected"),
    [
        ("b1", "I bid $1.20.", QuoteBuy(120)),
        ("b1", "1.20", QuoteBuy(120)),
        ("b1", "I buy at 1.20, since the ask is 1.50.", QuoteBuy(120)),
        ("s1", "My ask: 2", QuoteSell(200)),
        ("s1", "I sell at 2", QuoteSell(200)),
        ("s1", "The bid is 1.50. I ask 2.00.", QuoteSell(200)),
        ("s1", "Pass.", QuotePass()),
        ("b1", "I sell at 2", None),
        ("s1", "I bid 2", None),
        ("s1", "I pass, but for 3.10", None),
        ("b1", "no idea", None),
        ("b1", "", None),
    ],
)
def test_words_are_a_quote_of_the_speakers_side(party: str, words: str, expected: object) -> None:
    assert expected == WORLD.understood(Floor(BUYERS, SELLERS).state, party, words)


def test_the_operator_passes_for_who_is_asked_and_nobody_else() -> None:
    floor = Floor(BUYERS, SELLERS)
    floor.wait_for("b1")
    step = floor.book.step
    assert "turn.other" == floor.say("operator", "turn.pass", party="b2").rule
    assert "accepted" == floor.say("operator", "turn.pass", party="b1").outcome
    assert step + 1 == floor.book.step


@pytest.mark.parametrize(
    ("problem", "session"),
    [
        ("a seller twice", {"sellers": ["s1", "s1"]}),
        ("sellers who don't bid", {"sellers": ["x1"]}),
        ("a double auction of one side", {"sellers": []}),
        ("a double auction of one side", {"sellers": [*BUYERS, *SELLERS]}),
        ("a double auction in groups", {"group": 2}),
        ("sellers where nobody but the house sells", {"format": "first_price"}),
    ],
)
def test_parameters_that_contradict_each_other(problem: str, session: dict[str, Any]) -> None:
    with pytest.raises(WorldError, match=problem):
        Floor(BUYERS, SELLERS, **session)

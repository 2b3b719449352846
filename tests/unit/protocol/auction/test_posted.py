"""Posted prices: who takes a unit, in which order, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from laboratory import WORLD, Laboratory, taking

from tollbook.protocol.auction.posted import PriceAccept, PriceDecline
from tollbook.protocol.errors import CanonicalError
from tollbook.protocol.tables import NO_CHANGE

FOUR = {"b1": 60, "b2": 40, "b3": 39, "b4": 20}


def _lab(**session: Any) -> Laboratory:
    return Laboratory("posted_price", FOUR, **{"price": 40, "seed": 1, **session})


@pytest.mark.parametrize("units", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_units_go_to_the_first_who_value_them_at_the_price(units: int, seed: int) -> None:
    lab = _lab(units=units, seed=seed)
    asked: list[str] = []
    while (party := lab.asked) is not None:
        asked.append(party)
        lab.move(party, taking(lab.sight(party)))
    order = list(lab.auction().bidders)
    buyers = [party for party in order if FOUR[party] >= 40][:units]
    assert [(sorted(buyers), 40)] == lab.sold
    assert {party: (1, 40, FOUR[party] - 40) for party in buyers} == {
        party: row for party, row in lab.came_to().items() if row[0]
    }
    last = order.index(buyers[-1]) + 1 if len(buyers) == units else len(order)
    assert order[:last] == asked


def test_where_nobody_accepts_nothing_is_sold() -> None:
    lab = _lab(price=61)
    lab.play(taking)
    assert [([], 0)] == lab.sold


def test_one_bidder_alone_is_made_the_offer() -> None:
    lab = Laboratory("posted_price", ["b1"], price=50, high=100, rounds=60, seed=3)
    lab.play(taking)
    values = [lab.state.get("valuation", f"v{number}_b1").value for number in range(1, 61)]
    assert [(["b1"], 50) if value >= 50 else ([], 0) for value in values] == lab.sold
    assert {True, False} == {value >= 50 for value in values}


def test_a_bidder_is_shown_the_price_and_nothing_of_the_others() -> None:
    lab = _lab(units=2)
    lab.operate()
    one, two, *_ = lab.auction().bidders
    shown = lab.sight(two)
    assert (40, 2) == (shown["price"], shown["units"])
    lab.say(one, "price.accept")
    assert shown == lab.sight(two)


def test_refusals_come_in_their_order_and_change_nothing() -> None:
    lab = _lab(units=2)
    lab.operate()
    one, two, three, four = lab.auction().bidders
    refused: list[tuple[str | None, str, str]] = [
        ("party.role", "operator", "price.accept"),
        ("clock.format", one, "clock.stop"),
        ("price.turn", two, "price.accept"),
        ("price.turn", four, "price.decline"),
        (None, one, "price.decline"),
        ("price.twice", one, "price.accept"),
        (None, two, "price.accept"),
        ("price.twice", two, "price.accept"),
        ("price.twice", two, "price.decline"),
        (None, three, "price.accept"),
        ("price.closed", four, "price.accept"),
        ("price.closed", one, "price.decline"),
    ]
    for rule, party, kind in refused:
        before = lab.state.root()
        decision = lab.say(party, kind)
        assert (rule, rule is None) == (decision.rule, decision.delta != NO_CHANGE), (party, kind)
        assert (rule is not None) == (before == lab.state.root())
    assert [(sorted([two, three]), 40)] == lab.sold


def test_an_answer_has_no_amount_and_is_nobody_else_s() -> None:
    lab = _lab()
    one = lab.asked or ""
    before = lab.state.root()
    for field in (b'"amount":-5', b'"amount":5', b'"amount":"x"', b'"bidder":"b2"'):
        assert "action.invalid" == lab.say_raw(one, b"{" + field + b',"kind":"price.accept"}').rule
    for amount in (b"NaN", b"1000000000000000000000000000000"):
        with pytest.raises(CanonicalError):
            lab.say_raw(one, b'{"amount":' + amount + b',"kind":"price.decline"}')
    assert before == lab.state.root()


@pytest.mark.parametrize(
    ("words", "move"),
    [
        ("Accept.", PriceAccept()),
        ("I decline the offer", PriceDecline()),
        ("I do not accept", None),
        ("hm", None),
    ],
)
def test_words(words: str, move: object) -> None:
    lab = _lab()
    assert move == WORLD.understood(lab.state, lab.asked or "", words)


def test_the_operator_s_pass_declines() -> None:
    lab = _lab()
    one = lab.asked
    assert None is lab.say("operator", "turn.pass", party=one).rule
    assert (3, True) == (len(lab.auction().active), lab.asked != one)

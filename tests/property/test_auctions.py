"""Laws of auctions, whatever is answered: they end, nobody pays more than it said, sums fit, no leaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from laboratory import MOVES, Laboratory

from tollbook.protocol.auction.results import Result

Market = Mapping[str, Any]
SEALED = ("first_price", "second_price", "all_pay", "uniform_price", "discriminatory")
ENGLISH = ("english_open", "english_closed")
MARK = 1_000_003  # values are multiples of it, and nothing else is, so a leak can be told


@st.composite
def sessions(draw: st.DrawFn) -> Laboratory:
    kind = draw(st.sampled_from(sorted(MOVES)))
    n = draw(st.integers(2 if kind in ("uniform_price", "discriminatory") else 1, 5))
    values = {f"b{place}": draw(st.integers(0, 20)) * MARK for place in range(1, n + 1)}
    reserve = draw(st.integers(0, 30))
    cap = reserve + draw(st.integers(0, 60))
    several = kind in ("uniform_price", "discriminatory", "posted_price") and n > 1
    return Laboratory(
        kind,
        values,
        reserve=reserve,
        cap=cap,
        price=reserve if kind in ENGLISH else draw(st.integers(reserve, cap)),
        increment=draw(st.integers(1, 40)),
        unit=draw(st.integers(1, 7)),
        units=draw(st.integers(1, n - 1)) if several else 1,
        periods=draw(st.integers(1, 3)),
        close=draw(st.sampled_from(["hard", "soft"])),
        extension=draw(st.integers(1, 2)),
        extensions=draw(st.integers(0, 2)),
        rounds=draw(st.integers(1, 3)),
        feedback=draw(st.sampled_from(["none", "own", "price", "bids"])),
        seed=draw(st.integers(0, 9)),
    )


class Said:
    """The most that each bidder has said it would pay in a round."""

    def __init__(self) -> None:
        self.most: dict[tuple[int, str], int] = {}

    def note(self, market: Market, unit: int, party: str, kind: str, fields: Mapping[str, int]) -> None:
        place = market["round"], party
        if "amount" in fields:
            self.most[place] = fields["amount"]
        elif kind == "clock.stay":
            self.most[place] = market["price"] + unit
        elif kind in ("clock.stop", "price.accept"):
            self.most[place] = market["price"]


def _play(lab: Laboratory, data: st.DataObject) -> Said:
    """Plays to the end by drawn answers, some of them bad; a bad one changes nothing."""
    said = Said()
    session = lab.state.get("session", "s")
    while (party := lab.asked) is not None:
        market = lab.sight(party)
        _check_sight(lab, party, market, said)
        kind = data.draw(st.sampled_from(MOVES[session.format]))
        fields = {"amount": data.draw(st.integers(-5, 100))} if kind in ("bid.submit", "proxy.bid") else {}
        decision = lab.say(party, kind, **fields)
        if decision.rule is None:
            said.note(market, session.unit, party, kind, fields)
        else:
            assert decision.rule.split(".")[1] in ("negative", "cap", "unit", "reserve", "lower")
            assert None is lab.say("operator", "turn.pass", party=party).rule
    return said


def _check_sight(lab: Laboratory, party: str, market: Market, said: Said) -> None:
    """Nothing of others' values is in it, nor what is sealed until the close."""
    own = lab.state.get("valuation", f"v{market['round']}_{party}").value
    before = market.get("before", {})
    numbers = list(_numbers({**market, "before": {}}))
    assert {own} >= {number for number in numbers if number >= MARK}
    gained = before.get("profit", 0) + before.get("paid", 0)
    assert gained in (0, own)  # values are the same in every round
    session = lab.state.get("session", "s")
    if session.format in SEALED or session.format in ("english_closed", "dutch", "posted_price"):
        known = {"format", "round", "rounds", "bidders", "value", "reserve", "units", "cap", "unit", "price"}
        assert market.keys() <= known | {"increment", "before", "values", "low", "high", "error"}
    if session.format == "english_open":
        assert all(price < market["price"] for price in market["exits"])
    if session.format == "proxy" and not market["leads"] and market["price"] is not None:
        # The highest maximum of others shows only where it is the price itself.
        number = market["round"]
        others = [amount for (of, other), amount in said.most.items() if of == number and other != party]
        assert market["maximum"] == said.most.get((number, party))
        assert market["price"] <= max(others)


def _numbers(value: Any) -> list[int]:
    if isinstance(value, Mapping):
        return [number for each in value.values() for number in _numbers(each)]
    if isinstance(value, list):
        return [number for each in value for number in _numbers(each)]
    return [value] if isinstance(value, int) else []


@settings(max_examples=400, deadline=None)
@given(sessions(), st.data())
def test_laws(lab: Laboratory, data: st.DataObject) -> None:
    session = lab.state.get("session", "s")
    said = _play(lab, data)
    results = lab.results
    assert session.rounds * len(session.bidders) == len(results)
    for number in range(1, session.rounds + 1):
        rows = [row for row in results if row.round == number]
        _check_sums(lab, session, rows)
        for row in rows:
            _check_payment(session, row, said)
        _check_winners(session, rows, said)


def _check_sums(lab: Laboratory, session: Any, rows: list[Result]) -> None:
    """Profits are values of what was sold less revenue; no more is sold than there is."""
    values = {row.bidder: lab.state.get("valuation", f"v{row.round}_{row.bidder}").value for row in rows}
    sold = sum(row.units * values[row.bidder] for row in rows)
    assert sold - sum(row.paid for row in rows) == sum(row.profit for row in rows)
    assert sum(row.units for row in rows) <= session.units
    assert 1 == len({row.price for row in rows})


def _check_payment(session: Any, row: Result, said: Said) -> None:
    """Nobody pays more than it said, nor below the reserve for a unit, nor for none but where all pay."""
    most = said.most.get((row.round, row.bidder))
    assert row.paid <= (most or 0)
    if row.units:
        assert most is not None
        assert session.reserve <= row.paid
    elif session.format != "all_pay":
        assert 0 == row.paid


def _check_winners(session: Any, rows: list[Result], said: Said) -> None:
    """Units go to those who said most, and to somebody where anybody wanted one."""
    mosts = {row.bidder: said.most.get((row.round, row.bidder), -1) for row in rows}
    won = [mosts[row.bidder] for row in rows if row.units]
    lost = [mosts[row.bidder] for row in rows if not row.units]
    wanting = sum(most >= 0 for most in mosts.values())
    assert min(wanting, session.units) == len(won)
    if won:
        assert min(won) >= max(lost, default=-1)

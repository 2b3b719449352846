"""What falls due comes in the order of ticks, and agreements end with their last tick."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tollbook.protocol.commerce import clock
from tollbook.protocol.commerce.agenda import AGENDA_KEY, ended, enter, leave
from tollbook.protocol.commerce.fulfilment_rows import fulfilment_problems
from tollbook.protocol.tables import Facts, State


@given(st.lists(st.integers(0, 9) | st.none(), max_size=40))
@settings(max_examples=150, deadline=None)
def test_an_agenda_gives_the_earliest_first_whatever_came_and_went(steps: list[int | None]) -> None:
    """A step is a tick to enter, or None to take the first one out, beside a sorted list."""
    state = State(Facts(("agenda", "due"), []))
    expected: list[tuple[int, str]] = []
    for place, tick in enumerate(steps):
        if tick is not None:
            enter(state, f"a{place:02}", tick)
            expected.append((tick, f"a{place:02}"))
        elif expected:
            leave(state)
            expected.remove(min(expected))
        for now in (0, 5, 10):
            assert [key for due, key in sorted(expected) if due < now] == ended(state, now)
        state.commit()


def agreed(**columns: Any) -> dict[str, Any]:
    return {"listing": "l1", "buyer": "b1", "quantity": 1, "unit_price": 9, **columns}


def market_of(new_market: Any, **agreements: dict[str, Any]) -> Any:
    return new_market(
        {
            "listing": {"l1": {"merchant": "m1", "title": "lamp", "price": 9}},
            "inventory": {"l1": {"available": 5}},
            "agreement": agreements,
            "policy": {"settlement": {"deadline_ticks": 2}},
        }
    )


def test_an_agreement_can_be_settled_until_its_tick_and_then_its_units_come_back(new_market: Any) -> None:
    market = market_of(new_market, a1=agreed(expires=1), a2=agreed(expires=1, quantity=3, short=1))
    market.say("operator", "clock.advance")
    assert market.say("b1", "agreement.settle", "m1", agreement="a1").rule is None
    advanced = market.say("operator", "clock.advance")
    assert ["a2"] == [event.agreement for event in advanced.events if hasattr(event, "agreement")]
    assert ("settled", "expired") == tuple(market.row("agreement", key).state for key in ("a1", "a2"))
    stock = market.row("inventory", "l1")
    assert (7, 7, 0) == (stock.on_hand, stock.available, stock.reserved)
    assert "agreement.state" == market.say("b1", "agreement.settle", "m1", agreement="a2").rule
    assert market.row("agenda", AGENDA_KEY).first is None


def test_an_agreement_made_now_ends_when_the_policy_says(new_market: Any) -> None:
    market = market_of(new_market, a1=agreed(expires=9))
    offer = {"listing": "l1", "quantity": 2, "unit_price": 5}
    for tick in range(2):
        key = market.say("b1", "negotiation.propose", "m1", **offer).events[0].negotiation
        made = market.see("m1", "negotiation.accept", "b1", negotiation=key)["agreement"][0]
        assert tick + 2 == made["expires"]
        market.say("operator", "clock.advance")
    assert (1, 5) == (market.row("inventory", "l1").available, market.row("inventory", "l1").reserved)
    market.say("operator", "clock.advance", ticks=2**30)
    assert (6, 0) == (market.row("inventory", "l1").available, market.row("inventory", "l1").reserved)
    assert {"expired"} == {row.state for _key, row in market.state.rows("agreement")}


def test_what_is_too_much_for_one_decision_ends_with_the_next(
    new_market: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "MOST", 2)
    market = market_of(new_market, **{f"a{place}": agreed(expires=place) for place in range(5)})
    for expired in (2, 4, 5):
        market.say("operator", "clock.advance", ticks=10)
        states = [row.state for _key, row in market.state.rows("agreement")]
        assert ["expired"] * expired + ["agreed"] * (5 - expired) == states
        rows = {table: dict(market.state.rows(table)) for table in market.world.tables}
        assert [] == list(fulfilment_problems(rows))
        if expired < 5:
            late = market.say("b1", "agreement.settle", "m1", agreement="a4")
            assert ("agreement.expired", {"agreement": "a4", "expires": 4}) == (late.rule, late.detail)


def test_the_most_that_ends_at_once_fits_in_a_decision(new_market: Any) -> None:
    many = {f"a{place}".ljust(128, "x"): agreed(expires=1, listing="l" * 128) for place in range(400)}
    market = new_market(
        {
            "listing": {"l" * 128: {"merchant": "m1", "title": "lamp", "price": 9}},
            "inventory": {"l" * 128: {"available": 0}},
            "agreement": many,
        }
    )
    for left in (250, 100, 0):
        assert market.say("operator", "clock.advance", ticks=2).rule is None
        assert left == market.row("inventory", "l" * 128).reserved

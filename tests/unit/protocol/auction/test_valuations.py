"""Values and signals: stated, private, common."""

from __future__ import annotations

from statistics import mean
from typing import Any

import msgspec
import pytest
from laboratory import WORLD, Laboratory

from tollbook.protocol.auction.session import Session
from tollbook.protocol.auction.valuations import Given, drawn
from tollbook.protocol.tables import Facts

FOUR = ("b1", "b2", "b3", "b4")


def _facts(rows: list[dict[str, Any]] | None = None, **fields: Any) -> tuple[Facts, Session]:
    session = msgspec.convert({"format": "first_price", "bidders": FOUR, **fields}, Session)
    table = WORLD.tables["induced"]
    induced = [("induced", f"i{place}", msgspec.convert(row, table)) for place, row in enumerate(rows or [])]
    return WORLD.facts([("session", "s", session), *induced]), session


def _all(facts: Facts, session: Session, rounds: int = 400) -> list[dict[str, Given]]:
    return [drawn(facts, session, number, 1, FOUR) for number in range(1, rounds + 1)]


def test_private_values_fill_their_range_and_are_what_is_told() -> None:
    given = _all(*_facts(low=3, high=12, seed=8))
    values = [each.value for group in given for each in group.values()]
    assert set(range(3, 13)) == set(values)
    assert 7.5 == pytest.approx(mean(values), abs=4 * 2.88 / 40)  # 1,600 draws
    assert all(each.signal == each.value for group in given for each in group.values())
    assert 300 < sum(len({each.value for each in group.values()}) > 2 for group in given)


def test_a_common_value_is_one_for_all_and_each_signal_errs_for_itself() -> None:
    given = _all(*_facts(values="common", low=100, high=200, error=12, seed=8))
    assert {1} == {len({each.value for each in group.values()}) for group in given}
    errors = [each.signal - each.value for group in given for each in group.values()]
    assert set(range(-12, 13)) == set(errors)
    assert 100 < len({group["b1"].value for group in given} | {0})


def test_groups_draw_common_values_of_their_own() -> None:
    facts, session = _facts(values="common", high=10**6, group=2)
    one, other = drawn(facts, session, 1, 1, FOUR[:2]), drawn(facts, session, 1, 2, FOUR[2:])
    assert one["b1"].value == one["b2"].value != other["b3"].value


def test_a_draw_depends_on_its_round_and_party_alone() -> None:
    facts, session = _facts(seed=3)
    assert drawn(facts, session, 7, 1, ("b2",))["b2"] == drawn(facts, session, 7, 1, FOUR)["b2"]
    assert _all(facts, session, 5) != _all(*_facts(seed=4), rounds=5)


def test_what_is_stated_holds_until_it_is_stated_anew() -> None:
    rows = [{"bidder": party, "value": 10} for party in FOUR]
    rows.append({"bidder": "b1", "value": 30, "round": 4, "signal": 33})
    rows.append({"bidder": "b1", "value": 20, "round": 3})
    given = _all(*_facts(rows, values="stated"), rounds=5)
    assert [(10, 10), (10, 10), (20, 20), (30, 33), (30, 33)] == [tuple(group["b1"]) for group in given]
    assert {(10, 10)} == {tuple(group["b2"]) for group in given}


@pytest.mark.parametrize(
    ("kind", "session", "called"),
    [
        ("first_price", {}, "value"),
        ("english_open", {"values": "common", "error": 5}, "signal"),
        ("double", {"sellers": ["b2", "b3"]}, "value"),
    ],
)
def test_a_bidder_is_told_its_own_and_by_its_name(kind: str, session: dict[str, Any], called: str) -> None:
    lab = Laboratory(kind, FOUR, seed=9, **session)
    lab.operate()
    assert lab.state.get("valuation", "v1_b1").signal == lab.sight("b1")[called]
    if kind == "double":
        assert lab.state.get("valuation", "v1_b2").signal == lab.sight("b2")["cost"]
    assert 1 == len({"value", "signal", "cost"} & lab.sight("b1").keys())


def test_profit_is_by_the_value_not_by_the_signal() -> None:
    lab = Laboratory("first_price", FOUR, values="common", low=1_000, high=1_000, error=100, seed=2)
    lab.play(lambda market: {"kind": "bid.submit", "amount": market["signal"]})
    won = next(row for row in lab.results if row.units)
    assert (1_000 - won.paid, True) == (won.profit, won.paid > 1_000)

"""Whether bids alone tell agents from human reference bids."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import pytest

from tollbook.protocol.draws import Draws
from tollbook.protocol.errors import TollbookError
from tollbook.scorers.auction import classifier, human
from tollbook.scorers.auction.classifier import features, tell_apart
from tollbook.scorers.auction.human import REFERENCES

COUNT = 500


def people(name: str, label: str) -> list[tuple[int, int]]:
    draws = Draws("values", label)
    values = [draws.integer(50, 2_830) for _ in range(COUNT)]
    return list(zip(values, human.bids(REFERENCES[name], values, label), strict=True))


@pytest.mark.parametrize("name", REFERENCES)
def test_the_benchmark_agent_is_told_from_people(name: str) -> None:
    agent = [(value, value) for value, _bid in people(name, "agent")]
    assert tell_apart(agent, people(name, "people")).accuracy > 0.9


@pytest.mark.parametrize("name", REFERENCES)
def test_people_are_not_told_from_people(name: str) -> None:
    found = tell_apart(people(name, "some"), people(name, "others"))
    assert 0.45 <= found.accuracy <= 0.55
    assert found.interval.low <= found.accuracy <= found.interval.high


def test_an_agent_that_shades_is_told_from_people_by_its_ratio() -> None:
    agent = [(value, value * 4 // 5) for value, _bid in people("ebay", "agent")]
    assert tell_apart(agent, people("ebay", "people")).accuracy > 0.9


def test_the_same_bids_give_the_same_accuracy() -> None:
    first, second = people("ebay", "some"), people("kagel_levin_1993", "others")
    assert tell_apart(first, second) == tell_apart(first, second)


def test_as_many_of_either_are_taken() -> None:
    first = people("ebay", "some")
    assert tell_apart(first[:40], first[100:140]) == tell_apart(first[:40], [*first[100:140], (0, 5)])
    assert 80 == tell_apart(first[:40], first[100:]).whole


def test_each_bid_is_judged_once_by_what_the_others_taught(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[list[float]] = []

    def fit(rows: list[list[float]], kinds: list[int]) -> Any:
        assert (72, 36) == (len(rows), sum(kinds))

        def says(held: list[list[float]]) -> list[int]:
            assert [] == [row for row in held if row in rows]
            judged.extend(held)
            return [0 for _ in held]

        return says

    monkeypatch.setattr(classifier, "_regression", lambda: fit)
    bids = [(1_000, 1_000 + off) for off in range(80)]
    assert (40, 80) == tell_apart(bids[:40], bids[40:])[:2]
    assert sorted(judged) == sorted(features(*bid) for bid in bids)


def test_what_is_looked_at() -> None:
    assert [1.25, 1.5625, pytest.approx(3.2580965), 0.0] == features(100, 125)
    assert [1.0, 1.0, 0.0, 1.0] == features(Fraction(100), 100)


def test_too_few_bids() -> None:
    with pytest.raises(TollbookError, match="19 bids of a kind are too few") as caught:
        tell_apart([(1, 1)] * 19, [(1, 1)] * 100)
    assert ("classify.few", "it takes 20 of each at least") == (caught.value.code, caught.value.hint)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(TollbookError) as caught:
        tell_apart([], [])
    assert ("classify.missing", "telling bids apart needs scikit-learn, which isn't installed") == (
        caught.value.code,
        caught.value.text,
    )
    assert "tollbook[classify]" in str(caught.value.hint)

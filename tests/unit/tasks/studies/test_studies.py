"""The studies: what each claims is so, and each claim can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.protocol.commerce.refunds import RefundDeny
from tollbook.tasks.studies import market, persistence, sparse, sparse_market, stage
from tollbook.tasks.studies.report import (
    Claim,
    Report,
    document_of,
    markdown_of,
    replay_claims,
    table_of,
    text_of,
)
from tollbook.tasks.studies.stage import Played

PLAYED = Played("a" * 64, 3, "completed", "b" * 64, "c" * 64, (), replayed=True)


def failing(report: Report) -> list[str]:
    return [claim.claim for claim in report.claims if not claim.holds]


@pytest.mark.parametrize("study", [persistence.study, market.study])
def test_all_that_is_claimed_holds(study: Callable[[Path], Report], tmp_path: Path) -> None:
    report = study(tmp_path)
    assert [] == failing(report)
    assert report.holds


def test_the_order_is_one_run_of_three_episodes(tmp_path: Path) -> None:
    report = persistence.study(tmp_path)
    episodes = report.figures["episodes"]
    assert ["settled", "delivered", "refunded"] == [each["order"] for each in episodes]
    assert ["captured", "captured", "refunded"] == [each["payment"] for each in episodes]
    assert [None, *(each["state"] for each in episodes[:-1])] == [each["resumed_state"] for each in episodes]
    with Store.read(tmp_path / "persistence.db") as store:
        assert 1 == len(store.runs())
        assert ["1", "2", "3", "4", "5"] == [
            check
            for check, how in audit_run(store, 1, store.id(1), shelf_of(store)).checks.items()
            if how == "done"
        ]


def test_an_order_that_ends_otherwise_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(case: str, _amount: int) -> RefundDeny:
        return RefundDeny(case, "No.")

    monkeypatch.setattr(persistence, "RefundApprove", deny)
    assert ["the order was paid, fulfilled, returned and refunded", "no money is left over"] == failing(
        persistence.study(tmp_path)
    )


def test_the_market_clears_as_its_mandates_say(tmp_path: Path) -> None:
    figures = market.study(tmp_path).figures
    expected = {"b1": "g2", "b2": "g3", "b3": "g5", "b4": "g1", "b5": "g4"}
    assert (expected, expected) == (figures["allocation"], figures["reference"])
    assert ["g2", "g2"] == [figures["rankings"][buyer][0] for buyer in ("b1", "b2")]
    # 11500 − 7400 + 11500 − 8100 + 15500 − 10200 + 9000 − 5200 + 7800 − 3600, by hand
    assert (20_800, 21_100, 20_800) == tuple(
        figures[name] for name in ("welfare", "optimum", "optimum_offered")
    )


def test_a_market_without_contention_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = market.SHOPPERS["b2"]._replace(worth={**market.SHOPPERS["b2"].worth, "g3": 14_000})
    monkeypatch.setattr(market, "SHOPPERS", {**market.SHOPPERS, "b2": other})
    assert ["one first choice was contested, and its buyer fell back"] == failing(market.study(tmp_path))


@pytest.mark.parametrize(
    ("expected",                       "rankings"),
    [
        ({},                           {}),
        ({"a": "x"},                   {"a": ["x", "y"], "b": ["x"]}),
        ({"a": "x", "b": "y"},         {"b": ["x", "y"], "a": ["x"]}),
        ({"a": "x", "b": "y", "c": "z"}, {"a": ["x"], "b": ["y"], "c": ["x", "y", "z"]}),
    ],
)  # fmt: skip
def test_clearing_is_in_the_order_of_names(expected: dict[str, str], rankings: dict[str, list[str]]) -> None:
    assert expected == market.cleared(rankings)


@pytest.mark.parametrize(
    ("expected",  "part", "whole"),
    [("100.0 %",  7,      7), ("98.5 %", 20_800, 21_100), ("0.0 %", 0, 3), ("66.6 %", 2, 3)],
)  # fmt: skip
def test_a_share_is_floored(expected: str, part: int, whole: int) -> None:
    assert expected == market.per_cent(part, whole)


def test_the_sparse_market_trades_once_each() -> None:
    report = sparse.study((10,), 2)
    assert [] == failing(report)
    (found,) = report.figures["markets"]
    assert (10, 50, 10) == (found["size"], found["edges"], found["trades"])
    assert {"register", "query", "settle", "replay"} <= set(found["micros"])


def test_a_market_of_one_has_one_candidate() -> None:
    assert [] == failing(sparse.study((1,), 1))


def test_a_market_too_large_for_one_run_is_played_in_several(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sparse.trial(10, 0)
    monkeypatch.setattr(sparse_market, "MOST", 4)
    parts = sparse.trial(10, 0)
    assert (1, 3) == (len(whole.runs), len(parts.runs))
    assert (whole.edges, whole.trades, True) == (parts.edges, parts.trades, parts.is_expected)
    assert all(run.is_good for run in parts.runs)


def test_a_sparse_market_follows_from_its_seed() -> None:
    assert sparse_market.market_rows(10, "a") == sparse_market.market_rows(10, "a")
    assert sparse_market.market_rows(10, "a") != sparse_market.market_rows(10, "b")
    words = [row["description"].split() for row in sparse_market.market_rows(20, "a")["listing"].values()]
    assert [5] * 20 == [sum(f"w{buyer}" in each for each in words) for buyer in range(20)]


def test_a_run_that_does_not_repeat_is_seen() -> None:
    claims = replay_claims([PLAYED, PLAYED], ["b" * 64, "d" * 64])
    assert [True, False] == [claim.holds for claim in claims]


@pytest.mark.parametrize(
    "run",
    [
        PLAYED._replace(findings=("decision.differs",)),
        PLAYED._replace(replayed=False),
        PLAYED._replace(outcome=None),
    ],
)
def test_a_run_that_is_not_good_is_seen(run: Played) -> None:
    assert [False, True] == [claim.holds for claim in replay_claims([run], ["b" * 64])]


def test_a_report_in_three_forms() -> None:
    report = Report(
        study="tea",
        title="Tea",
        claims=(Claim("it is hot", holds=True, told="80"), Claim("it is sweet", holds=False, told="0 lumps")),
        runs=[PLAYED],
        figures={"cups": 2},
        tables=[table_of(("cup", "ml"), [("small", "90"), ("a", "1,000")])],
        notes=("Drunk at once.",),
    )
    assert not report.holds
    assert [
        "Tea",
        "",
        "ok  it is hot: 80",
        "NOT  it is sweet: 0 lumps",
        "",
        "cup       ml",
        "small     90",
        "a      1,000",
        "",
        "run           records      run root    state root",
        "aaaaaaaaaaaa        3  bbbbbbbbbbbb  cccccccccccc",
        "",
        "Drunk at once.",
    ] == text_of(report).splitlines()
    assert [
        "## Tea",
        "",
        "- holds: it is hot (80)",
        "- **does not hold**: it is sweet (0 lumps)",
        "",
        "| cup | ml |",
        "| --- | --: |",
        "| small | 90 |",
        "| a | 1,000 |",
    ] == markdown_of(report).splitlines()[:9]
    document = document_of(report)
    assert (False, {"cups": 2}) == (document["holds"], document["figures"])
    assert ["run", "records", "outcome", "root", "state", "findings", "replayed"] == list(document["runs"][0])


def test_a_study_is_the_same_wherever_it_is_played(tmp_path: Path) -> None:
    roots = {str(market.study(tmp_path / name).runs[0].root) for name in made(tmp_path, "one", "other")}
    assert 1 == len(roots)
    assert 32 == len(stage.SECRET)


def made(folder: Path, *names: str) -> list[str]:
    for name in names:
        (folder / name).mkdir()
    return list(names)

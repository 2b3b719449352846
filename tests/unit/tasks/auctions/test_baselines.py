"""What each baseline bidder makes of a market, who may be given which, and what they come to (B1, B2)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_task import Memory, ledger_on, store_at, task_of

from tollbook.ledger.blobs import facts_blob, task_blob
from tollbook.protocol.auction import benchmarks, sealed
from tollbook.protocol.auction.session import Auction, Session
from tollbook.protocol.auction.valuations import drawn
from tollbook.protocol.auction.world import make
from tollbook.protocol.bodies import Agent as Stated
from tollbook.protocol.errors import LedgerError, UsageError
from tollbook.protocol.tables import State
from tollbook.tasks import cli
from tollbook.tasks.auctions.baselines import BASELINES
from tollbook.tasks.format.task import Task, load_task
from tollbook.tasks.play.agent import Agent
from tollbook.tasks.play.baselines import baseline, company, word_of
from tollbook.tasks.play.casting import Part, cast, cast_others
from tollbook.tasks.play.desk import DryDesk
from tollbook.tasks.play.play import Ending, Play
from tollbook.tasks.play.recorder import Copy, Recorded, record
from tollbook.tasks.play.resume import resume
from tollbook.tasks.play.trials import next_trials

WORLD = make({})
SEALED: dict[str, Any] = {
    "format": "first_price",
    "round": 1,
    "bidders": 3,
    "value": 9_000,
    "low": 0,
    "high": 10_000,
    "reserve": 0,
    "units": 1,
    "cap": 1_000_000,
    "unit": 1,
}
COMMON = {name: each for name, each in SEALED.items() if name != "value"} | {
    "bidders": 4,
    "signal": 10_000,
    "low": 2_500,
    "high": 22_500,
    "error": 1_200,
}
STATED = {name: each for name, each in SEALED.items() if name not in ("low", "high")}


@cache
def _task(kind: str, plays: str = "truthful", bidders: int = 3, **session: Any) -> Task:
    """A task whose evaluated party is b1; one baseline plays all the others."""
    names = [f"b{place + 1}" for place in range(bidders)]
    columns = {"format": kind, "bidders": names, **session}
    row = ", ".join(f"{name} = {msgspec.json.encode(each).decode()}" for name, each in columns.items())
    lines = [
        'id = "a.bids"\ntitle = "Bids"\nworld = "auction"\nactor = "b1"\nturns = 100000',
        'brief = """\nBid."""',
        "[case]\nbase = {}",
        f"[facts]\nsession.s = {{ {row}, seed = \"=draw('session', 0, 1000000000)\" }}",
        '[party]\nb1 = { role = "bidder" }',
        *(f'{name} = {{ role = "bidder", plays = "{plays}" }}' for name in names[1:]),
        '[predicate]\nbid = { stage = "choice", weight = 1000, expr = "acts.size() > 0" }',
        '[reference]\nstep = [{ id = "x", do = { kind = "bid.submit", amount = 100 } }]',
        '[mutation]\nnone = { drop = true, step = "x", loses = ["*"] }',
    ]
    return load_task("\n".join(lines) + "\n")


def _move(word: str, market: Mapping[str, Any], seed: str = "seed") -> Mapping[str, Any]:
    agent: Any = baseline(_task("first_price"), word)(seed, "b1")
    return agent.move(market)


def _bid(amount: int) -> dict[str, Any]:
    return {"kind": "bid.submit", "amount": amount}


# One move


@pytest.mark.parametrize(
    ("amount", "word", "market"),
    [
        (9_000, "truthful", SEALED),
        (6_000, "benchmark", SEALED),
        (9_000, "benchmark", {**SEALED, "format": "second_price"}),
        (4_860, "benchmark", {**SEALED, "format": "all_pay"}),
        (7_200, "crra", SEALED),
        (7_200, "crra:0.5", SEALED),
        (6_000, "crra:0", SEALED),
        (9_000, "crra", {**SEALED, "format": "uniform_price", "units": 2}),
        (4_860, "crra", {**SEALED, "format": "all_pay"}),
        (9_000, "naive", SEALED),
        (9_000, "careful", SEALED),
        (8_100, "share", SEALED),
        (2_250, "share:0.25", SEALED),
        (1_234, "fixed:1234", SEALED),
        (0, "fixed", SEALED),
        (6_000, "sniper", SEALED),
        (9_000, "benchmark", STATED),
        (9_000, "crra", STATED),
        (10_000, "truthful", COMMON),
        (10_000, "naive", COMMON),
        (9_280, "careful", COMMON),
        (8_800, "benchmark", COMMON),  # the exponential is nothing here
        (9_400, "benchmark", {**COMMON, "format": "second_price"}),
        (9_280, "benchmark", {**COMMON, "format": "all_pay"}),
        (9_400, "crra", {**COMMON, "format": "second_price"}),
        (0, "naive", {**COMMON, "signal": -5}),
    ],
)
def test_sealed_bids(amount: int, word: str, market: dict[str, Any]) -> None:
    assert _bid(amount) == _move(word, market)


@pytest.mark.parametrize(
    ("expected", "word", "change"),
    [
        (_bid(6_001), "benchmark", {"value": 9_002}),  # 6,001.33
        (_bid(6_001), "benchmark", {"value": 9_001}),  # 6,000.67
        (_bid(5_000), "benchmark", {"value": 10_001, "bidders": 2}),  # 5,000.5: to even
        (_bid(5_002), "benchmark", {"value": 10_003, "bidders": 2}),  # 5,001.5: to even
        (_bid(9_000), "truthful", {"value": 9_050, "unit": 100}),  # 90.5 units: to even
        (_bid(9_100), "truthful", {"value": 9_051, "unit": 100}),
        (_bid(8_000), "truthful", {"cap": 8_000}),
        (_bid(7_900), "truthful", {"cap": 7_999, "unit": 100}),
        (_bid(9_000), "truthful", {"reserve": 9_000}),
        ({"kind": "bid.pass"}, "truthful", {"reserve": 9_001}),
        ({"kind": "bid.pass"}, "benchmark", {"reserve": 9_001}),
        (_bid(9_000), "benchmark", {"reserve": 9_000}),
    ],
)
def test_amounts_are_rounded_to_units(
    expected: dict[str, Any], word: str, change: dict[str, Any]
) -> None:
    assert expected == _move(word, {**SEALED, **change})


@pytest.mark.parametrize(
    ("kind", "word", "market"),
    [
        ("clock.stay",    "benchmark", {"format": "english_open",   "price": 8_999, "exits": []}),
        ("clock.exit",    "benchmark", {"format": "english_open",   "price": 9_000, "exits": []}),
        ("clock.stay",    "truthful",  {"format": "english_closed", "price": 8_999}),
        ("clock.exit",    "share",     {"format": "english_closed", "price": 8_100}),
        ("clock.wait",    "benchmark", {"format": "dutch",          "price": 6_001}),
        ("clock.stop",    "benchmark", {"format": "dutch",          "price": 6_000}),
        ("clock.stop",    "truthful",  {"format": "dutch",          "price": 9_000}),
        ("clock.stop",    "crra",      {"format": "dutch",          "price": 7_200}),
        ("price.accept",  "benchmark", {"format": "posted_price",   "price": 9_000}),
        ("price.decline", "benchmark", {"format": "posted_price",   "price": 9_001}),
    ],
)  # fmt: skip
def test_answers_to_a_price(kind: str, word: str, market: dict[str, Any]) -> None:
    assert {"kind": kind} == _move(word, {**SEALED, **market})


@pytest.mark.parametrize(
    ("kind", "price", "exits"),
    [
        ("clock.stay", 9_999, []),
        ("clock.exit", 10_000, []),
        ("clock.stay", 9_499, [9_000, 9_200]),
        ("clock.exit", 9_500, [9_000, 9_200]),
    ],
)
def test_the_first_exit_counts(kind: str, price: int, exits: list[int]) -> None:
    market = {**COMMON, "format": "english_open", "price": price, "exits": exits}
    assert {"kind": kind} == _move("benchmark", market)


PROXY = {**SEALED, "format": "proxy", "price": None, "maximum": None, "period": 1, "periods": 3}


@pytest.mark.parametrize(
    ("expected", "word", "change"),
    [
        ({"kind": "proxy.bid", "amount": 9_000}, "benchmark", {}),
        ({"kind": "proxy.hold"}, "benchmark", {"maximum": 9_000, "period": 2}),
        ({"kind": "proxy.hold"}, "truthful", {"reserve": 9_001}),
        ({"kind": "proxy.hold"}, "sniper", {"period": 2}),
        ({"kind": "proxy.bid", "amount": 9_000}, "sniper", {"period": 3}),
        ({"kind": "proxy.hold"}, "sniper", {"period": 3, "maximum": 9_000}),
    ],
)
def test_maxima(expected: dict[str, Any], word: str, change: dict[str, Any]) -> None:
    assert expected == _move(word, {**PROXY, **change})


def test_random_bids_fill_the_support_and_are_the_rounds_own() -> None:
    amounts = [_move("random", {**SEALED, "round": number})["amount"] for number in range(400)]
    assert 0 <= min(amounts) < 500
    assert 9_500 < max(amounts) <= 10_000
    assert amounts[7] == _move("random", {**SEALED, "round": 7})["amount"]
    assert amounts[7] != _move("random", {**SEALED, "round": 7}, seed="another")["amount"]
    few = {**STATED, "cap": 9, "unit": 5}
    assert {0, 5} == {_move("random", {**few, "round": number})["amount"] for number in range(9)}
    clock = {**SEALED, "format": "english_open"}
    stays = [_move("random", {**clock, "price": price})["kind"] for price in range(0, 10_001, 50)]
    assert sorted(stays, reverse=True) == stays  # it stays, and then it doesn't


@given(st.integers(0, 10_000), st.integers(2, 9), st.sampled_from(sorted(sealed.FORMATS)))
def test_private_benchmarks_bid_what_the_oracle_says_and_never_more_than_the_value(
    value: int, n: int, kind: str
) -> None:
    market = {**SEALED, "value": value, "bidders": n, "format": kind}
    amount = _move("benchmark", market)["amount"]
    found = benchmarks.bid(benchmarks.Setting(kind, "private", n, 0, 10_000), value)
    assert found is not None
    assert round(found) == amount <= value


# Who is given which


@pytest.mark.parametrize(
    ("word", "text", "hint"),
    [
        ("foo", "world `auction` has no baseline `foo`", "there are truthful, benchmark, crra, naive"),
        ("benchmrk", "world `auction` has no baseline `benchmrk`", "benchmark"),
        ("naive:1", "baseline `naive` takes no number `1`", "a number follows crra, share, fixed"),
        ("zip:1", "baseline `zip` takes no number `1`", "write `zip`"),
        ("crra:1", "`1` is no aversion of baseline `crra`", "from 0 to below 1, such as `crra:0.5`"),
        ("crra:", "`` is no aversion of baseline `crra`", ""),
        ("crra:-1", "`-1` is no aversion of baseline `crra`", ""),
        ("fixed:1e9", "`1e9` is no amount of baseline `fixed`", "a decimal from 0, such as `fixed:0`"),
        ("share:٣", "`٣` is no share of baseline `share`", ""),
    ],
)
def test_words_for_no_baseline(word: str, text: str, hint: str) -> None:
    task = _task("first_price")
    makers: list[Callable[[], Any]] = [
        lambda: cast(task, Part(f"baseline:{word}")),
        lambda: cast_others(task, {"b2": f"baseline:{word}"}),
        lambda: company(_task("first_price", word), ""),
    ]
    for made in makers:
        with pytest.raises(UsageError) as caught:
            made()
        assert ("usage.agent", text) == (caught.value.code, caught.value.text)
        assert hint in (caught.value.hint or "")


def test_only_baselines_play_others() -> None:
    with pytest.raises(UsageError) as caught:
        cast_others(_task("first_price"), {"b2": "reference"})
    assert "`reference` can't play `b2`, which isn't evaluated" == caught.value.text
    assert "write `--agent b2=baseline:NAME`" == caught.value.hint


def test_a_market_without_baselines_says_so() -> None:
    with pytest.raises(UsageError) as caught:
        cast(task_of(), Part("baseline:truthful"))
    assert "world `commerce` has no baseline `truthful`" == caught.value.text


@pytest.mark.parametrize(
    ("word", "name", "settings"),
    [
        ("baseline:benchmark", "baseline:benchmark", {}),
        ("baseline:crra", "baseline:crra", {"aversion": "0.5"}),
        ("baseline:crra:0.30", "baseline:crra", {"aversion": "0.3"}),
        ("baseline:fixed:1000", "baseline:fixed", {"amount": "1000"}),
    ],
)
def test_what_is_stated_gives_the_word_again(word: str, name: str, settings: dict[str, str]) -> None:
    task = _task("first_price")
    stated = cast(task, Part(word))("seed").stated
    assert Stated(model="", name=name, settings=settings, version="1") == stated
    assert stated == cast(task, Part(word_of(stated)))("seed").stated


def test_every_baseline_of_every_format_ends_without_a_refusal() -> None:
    names = ("truthful", "benchmark", "crra", "naive", "careful", "random", "share", "fixed", "sniper")
    common = {"values": "common", "low": 3_000, "high": 9_000, "error": 900}
    sessions: list[dict[str, Any]] = [
        *({"kind": kind} for kind in ("first_price", "second_price", "all_pay", "proxy")),
        *({"kind": kind, "units": 2} for kind in ("uniform_price", "discriminatory")),
        *({"kind": kind, "increment": 1_000} for kind in ("english_open", "english_closed")),
        {"kind": "dutch", "price": 10_000, "increment": 1_000},
        {"kind": "posted_price", "price": 5_000},
    ]
    for session in sessions:
        for name in names:
            for values in ({}, common):
                ending, state, refused = _played(_task(**session, **values), f"baseline:{name}")
                assert ("completed", None, 0) == (ending.outcome, ending.reason, refused), (session, name)
                assert 3 == len(list(state.rows("result")))


def _played(task: Task, word: str, trial: int = 0) -> tuple[Ending, State, int]:
    """How a session ended that nobody signed, its rows, and how much was refused."""
    scene = task.scenes.stage("base", task.scenes.seed("base", trial))
    desk = DryDesk(task.world, task.roles, scene.facts)
    agent = cast(task, Part(word))(scene.seed)
    ending = Play(task, scene, desk, agent, company(task, scene.seed)).run()
    return ending, desk.state, sum(deed.decision.outcome == "refused" for deed in desk.deeds)


@pytest.mark.parametrize(
    ("task", "word", "reason"),
    [
        (_task("first_price"), "zi_c", "baseline `zi_c` doesn't play format `first_price`"),
        (_task("double", sellers=("b2",)), "truthful", "baseline `truthful` doesn't play format `double`"),
    ],
)
def test_a_baseline_of_another_format_fails_by_name(task: Task, word: str, reason: str) -> None:
    ending, _state, refused = _played(task, f"baseline:{word}")
    assert ("agent_failed", reason, 0) == (ending.outcome, ending.reason, refused)


def test_the_operator_passes_for_another_of_another_format() -> None:
    ending, state, _refused = _played(_task("first_price", "zip"), "baseline:truthful")
    assert "completed" == ending.outcome
    assert {"b2": None, "b3": None} == {
        row.bidder: row.amount for _key, row in state.rows("bid") if row.bidder != "b1"
    }


def _recorded(copy: Copy, task: Task, others: Mapping[str, str]) -> Recorded:
    seed = task.scenes.seed("base", 0)
    agent = cast(task, Part("baseline:benchmark"))(seed)
    return record(ledger_on(copy), task, "base", 0, agent, cast_others(task, others)(seed))


def test_a_run_says_who_played_and_its_conduct_is_good() -> None:
    recorded = _recorded(Copy(Memory()), _task("first_price", rounds=3), {"b3": "baseline:crra:0.25"})
    assert [] == recorded.audit.findings
    assert "done" == recorded.audit.checks["6"]
    assert recorded.audit.replayed is not None
    agents = {party.id: party.agent for party in recorded.audit.replayed.opened.parties}
    found = {party: (agent.name, agent.settings) for party, agent in agents.items() if party != "operator"}
    assert {
        "b1": ("baseline:benchmark", {}),
        "b2": ("baseline:truthful", {}),
        "b3": ("baseline:crra", {"aversion": "0.25"}),
    } == found


def _again(task: Task, stated: Stated, seed: str) -> Agent:
    return cast(task, Part(word_of(stated)))(seed)


def test_a_run_goes_on_with_the_baselines_that_began_it(tmp_path: Path) -> None:
    task, copy = _task("first_price", rounds=3), Copy(Memory())
    whole = _recorded(copy, task, {"b2": "baseline:random", "b3": "baseline:crra:0.25"})
    scene = task.scenes.stage("base", task.scenes.seed("base", 0))
    blobs = [(blob.digest, blob.lines) for blob in (facts_blob(scene.facts), task_blob(task.text))]
    with store_at(tmp_path / "a.db") as store:
        number = store.add_run(whole.audit.run, copy.records[:16], blobs)
        gone_on = resume(store, ledger_on().secret, number, _again)
    assert whole.audit.root == gone_on.audit.root
    assert [] == gone_on.audit.findings


def test_a_run_does_not_go_on_with_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, copy = _task("first_price"), Copy(Memory())
    whole = _recorded(copy, task, {})
    scene = task.scenes.stage("base", task.scenes.seed("base", 0))
    blobs = [(blob.digest, blob.lines) for blob in (facts_blob(scene.facts), task_blob(task.text))]
    with store_at(tmp_path / "a.db") as store:
        number = store.add_run(whole.audit.run, copy.records[:6], blobs)
        agent = cast(task, Part("baseline:benchmark"))(scene.seed)
        monkeypatch.setattr("tollbook.tasks.auctions.baseline.VERSION", "2")
        with pytest.raises(LedgerError) as caught:
            resume(store, ledger_on().secret, number, lambda _task, _stated, _seed: agent)
    assert "run.agent" == caught.value.code
    assert "has `b2` played by another `baseline:truthful`" in caught.value.text


def test_trials_go_on_by_who_plays_beside(tmp_path: Path) -> None:
    task = _task("first_price")
    agent, words = BASELINES["benchmark"]("", "b1"), {"b2": "baseline:random"}
    with store_at(tmp_path / "a.db") as store:
        _recorded(Copy(store), task, words)
        assert {"base": 1} == next_trials(store, task, agent, cast_others(task, words)(""))
        assert {} == next_trials(store, task, agent)


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (["benchmark", "random", "truthful"], ["bidder=baseline:benchmark", "b2=baseline:random"]),
        (["naive", "truthful", "crra"], ["b1=baseline:naive", "b3=baseline:crra:0.1"]),
    ],
)
def test_the_command_gives_parties_their_baselines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], expected: list[str], words: list[str]
) -> None:
    assert cli.Exit.GOOD == _run(tmp_path, words)
    run = json.loads(capsys.readouterr().out)["runs"][0]["run"]
    cli.main(["--ledger", str(tmp_path / "a.db"), "show", run, "--json"])
    shown = capsys.readouterr().out
    assert expected == re.findall(r'"baseline:([a-z]+)"', shown)


def test_the_command_knows_who_can_be_given_an_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.Exit.USAGE == _run(tmp_path, ["b9=baseline:naive"])
    assert "the evaluated parties are b1, bidder; baselines play b2, b3" in capsys.readouterr().err
    assert not (tmp_path / "a.db").exists()


def _run(folder: Path, words: list[str]) -> int:
    file = folder / "a.toml"
    file.write_text(_task("first_price").text, encoding="utf-8")
    agents = [part for word in words for part in ("--agent", word)]
    return cli.main(["--ledger", str(folder / "a.db"), "run", str(file), *agents, "--json"])


# Many auctions, each figure within four standard errors of the closed form

AUCTIONS = 1_000


def _auctions(
    kind: str, n: int, word: str = "benchmark", **session: Any
) -> list[tuple[int, Mapping[str, int], Mapping[str, Any]]]:
    """Of each auction what was paid in all, the values, and what is efficient; bids are whole cents."""
    names = tuple(f"b{place + 1}" for place in range(n))
    row = Session(kind, names, rounds=AUCTIONS, seed=6, **session)  # pyright: ignore[reportArgumentType]
    facts = WORLD.facts([("session", "s", row)])
    market = {**SEALED, "format": kind, "bidders": n, "reserve": row.reserve, "units": row.units}
    market |= {"low": row.low, "high": row.high}
    if row.values == "common":
        market["error"] = row.error
    agent: Any = baseline(_task("first_price"), word)("seed", "b1")
    found: list[tuple[int, Mapping[str, int], Mapping[str, Any]]] = []
    efficient = benchmarks.efficient(facts)
    for number in range(1, AUCTIONS + 1):
        got = drawn(facts, row, number, 1, names)
        name = "signal" if row.values == "common" else "value"
        moves = {party: agent.move({**market, name: each.signal}) for party, each in got.items()}
        bids = {party: move["amount"] for party, move in moves.items() if "amount" in move}
        key = f"a{number}_1"
        closed = sealed.outcome(row, key, Auction(number, names), bids)
        values = {party: each.value for party, each in got.items()}
        found.append((sum(closed.paid.values()), values, efficient[key]))
    return found


def _is_near(expected: Fraction | float, figures: list[int]) -> bool:
    mean = sum(figures) / len(figures)
    variance = sum((each - mean) ** 2 for each in figures) / (len(figures) - 1)
    return abs(mean - float(expected)) <= 4 * sqrt(variance / len(figures))


@pytest.mark.parametrize("kind", ["first_price", "second_price", "all_pay"])
@pytest.mark.parametrize("n", [2, 5])
def test_revenue_is_that_of_theory(kind: str, n: int) -> None:
    assert _is_near(10_000 * Fraction(n - 1, n + 1), [paid for paid, _values, _best in _auctions(kind, n)])


@pytest.mark.parametrize("kind", ["first_price", "second_price"])
@pytest.mark.parametrize(("n", "expected"), [(2, Fraction(5, 12)), (4, Fraction(49, 80))])
def test_revenue_with_the_best_reserve(kind: str, n: int, expected: Fraction) -> None:
    assert _is_near(10_000 * expected, [paid for paid, *_ in _auctions(kind, n, reserve=5_000)])


@pytest.mark.parametrize("kind", ["uniform_price", "discriminatory"])
@pytest.mark.parametrize(("n", "k"), [(6, 2), (5, 3)])
def test_revenue_of_several_units(kind: str, n: int, k: int) -> None:
    assert _is_near(10_000 * Fraction(k * (n - k), n + 1), [paid for paid, *_ in _auctions(kind, n, units=k)])


def test_the_averse_pay_more() -> None:
    # Everybody bids v (n − 1)/(n − 1/2), of which the highest is 10,000 n/(n + 1) on average.
    found = [paid for paid, *_ in _auctions("first_price", 3, "crra:0.5")]
    assert _is_near(10_000 * Fraction(3, 4) * Fraction(4, 5), found)


CURSED = {"values": "common", "low": 2_500, "high": 22_500, "error": 1_200}


def _profits(kind: str, n: int, word: str) -> list[int]:
    """The winner's, where the value is so far inside that all signals are."""
    auctions = _auctions(kind, n, word, **CURSED)
    return [values["b1"] - paid for paid, values, _best in auctions if 4_900 <= values["b1"] <= 20_100]


@pytest.mark.parametrize(
    ("kind", "n", "word", "expected"),
    [
        ("first_price", 4, "benchmark", 480),
        ("first_price", 7, "benchmark", 300),
        ("second_price", 4, "benchmark", 360),
        ("second_price", 7, "benchmark", Fraction(1_800, 7)),
        ("first_price", 4, "naive", -720),
        ("first_price", 7, "naive", -900),
        ("first_price", 4, "careful", 0),
    ],
)
def test_winners_profits_are_those_of_theory(kind: str, n: int, word: str, expected: Fraction | int) -> None:
    assert _is_near(expected, _profits(kind, n, word))


def test_the_seller_has_most_of_an_open_clock_then_of_second_prices_then_of_first() -> None:
    names = ("b1", "b2", "b3", "b4")
    row = Session("english_open", names, rounds=AUCTIONS, seed=6, **CURSED)  # pyright: ignore[reportArgumentType]
    facts = WORLD.facts([("session", "s", row)])
    best, english = benchmarks.efficient(facts), list[int]()
    for number, bids in enumerate(benchmarks.benchmark_bids(facts), 1):
        value = best[f"a{number}_1"]["surplus"]
        if 4_900 <= value <= 20_100:
            english.append(value - round(sorted(bids.values())[-2] / 10**6))  # pyright: ignore[reportArgumentType]
    assert _is_near(240, english)
    second, first = _profits("second_price", 4, "benchmark"), _profits("first_price", 4, "benchmark")
    assert sum(english) < sum(second) < sum(first)


def test_the_naive_lose_more_the_more_they_are() -> None:
    losses = [sum(found := _profits("first_price", n, "naive")) / len(found) for n in (3, 4, 6, 7)]
    assert sorted(losses, reverse=True) == losses
    assert losses[0] < 0


def test_posted_prices_bring_what_theory_says() -> None:
    task = _task("posted_price", "benchmark", 3, price=6_300, rounds=400)
    _ending, state, _refused = _played(task, "baseline:benchmark")
    due = 6_300 * (1 - Fraction(63, 100) ** 3)
    sold = {row.auction: 0 for _key, row in state.rows("result")}
    for _key, row in state.rows("result"):
        sold[row.auction] += row.paid
    assert _is_near(due, list(sold.values()))


def _prices(kind: str, **session: Any) -> list[tuple[str, str, int]]:
    task = _task(kind, "benchmark", 3, rounds=12, high=60, cap=80, **session)
    _ending, state, _refused = _played(task, "baseline:benchmark")
    rows = [row for _key, row in state.rows("result") if row.units]
    return sorted((row.auction, row.bidder, row.paid) for row in rows)


def test_benchmarks_make_english_of_second_prices_and_dutch_of_first() -> None:
    second = _prices("second_price")
    assert 12 == len(second)
    assert second == _prices("english_open", increment=1) == _prices("english_closed", increment=1)
    assert _prices("first_price") == _prices("dutch", price=60, increment=1)


def test_an_open_clock_is_quit_where_the_oracle_says() -> None:
    common = {"values": "common", "low": 100, "high": 500, "error": 60, "cap": 700}
    task = _task("english_open", "benchmark", 4, rounds=12, increment=1, **common)
    scene = task.scenes.stage("base", task.scenes.seed("base", 0))
    bids = benchmarks.benchmark_bids(scene.facts)
    _ending, state, _refused = _played(task, "baseline:benchmark")
    exits = {(row.round, row.bidder): row.price for _key, row in state.rows("exit")}
    due = {
        (number, party): amount
        for number, found in enumerate(bids, 1)
        for party, amount in found.items()
        if amount is not None
    }
    seen = due.keys() & exits.keys()
    assert len(seen) >= 15
    assert all(abs(exits[at] - Fraction(due[at], 10**6)) <= 1 for at in seen)

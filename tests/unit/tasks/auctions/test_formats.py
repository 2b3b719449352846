"""A run of each format: it verifies with conduct and replays; what is no move is on record without effect."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from laboratory import MOVES
from small_task import ledger_on, store_at
from two_verifiers import by_trace

from tollbook.ledger.audit import Audit
from tollbook.ledger.bundle import export_lines
from tollbook.ledger.replay import replay
from tollbook.ledger.verify import shelf_of, verify_bundle, verify_store
from tollbook.protocol.auction.session import ASCENDING
from tollbook.protocol.canonical import encode_typed
from tollbook.tasks.auctions.baselines import BASELINES
from tollbook.tasks.format.task import Task, load_task
from tollbook.tasks.play.agent import Answer, Asked, Setup
from tollbook.tasks.play.conduct import with_conduct
from tollbook.tasks.play.recorder import record

WORDS = {
    "bid.submit": "My value is high, so I bid 3.00.",
    "clock.stay": "I stay.",
    "clock.stop": "Stop!",
    "price.accept": "I accept.",
    "proxy.bid": "I hold.",
}


@cache
def _task(kind: str) -> Task:
    move = MOVES[kind][0]
    begins = 100 if kind in ASCENDING else 1_000 if kind == "dutch" else 500
    units = 2 if kind in ("uniform_price", "discriminatory", "posted_price") else 1
    amount = ", amount = 100" if move in ("bid.submit", "proxy.bid") else ""
    return load_task(
        f'''
id     = "a.{kind}"
title  = "An auction"
world  = "auction"
actor  = "b1"
turns  = 1000
brief  = """
You bid."""
[case]
base = {{}}
[facts.session.s]
format = "{kind}"
bidders = ["b1", "b2", "b3", "b4"]
rounds = 2
high = 1000
cap = 1000
unit = 10
units = {units}
reserve = 100
price = {begins}
increment = 100
periods = 2
seed = "=draw('session', 0, 1000000000)"
[party]
b1 = {{ role = "bidder" }}
b2 = {{ role = "bidder", plays = "truthful" }}
b3 = {{ role = "bidder", plays = "benchmark" }}
b4 = {{ role = "bidder", plays = "random" }}
[predicate]
played = {{ stage = "choice", weight = 1000, expr = "did.{move}.size() > 0" }}
[reference]
step = [{{ id = "x", do = {{ kind = "{move}"{amount} }} }}]
[mutation]
none = {{ drop = true, step = "x", loses = ["*"] }}
'''
    )


class Player:
    """As a baseline, or by words; before its first move it says what is none."""

    outside = False
    given = None

    def __init__(self, *bad: Answer, words: str | None = None) -> None:
        self._inner = BASELINES["truthful"]("seed", "b1")
        self.stated = self._inner.stated
        self._bad, self._words = list(bad), words

    def begin(self, setup: Setup) -> None:
        self._inner.begin(setup)

    def act(self, asked: Asked) -> Answer:
        if self._bad:
            return self._bad.pop(0)
        return Answer(gave=self._words) if self._words else self._inner.act(asked)

    def close(self) -> None:
        self._inner.close()


def _moves(audit: Audit) -> list[bytes]:
    """Each accepted act, and what happened by it."""
    return [
        encode_typed((deed.message.sender, deed.action, deed.decision.events))
        for deed in audit.deeds
        if deed.decision.outcome == "accepted"
    ]


@pytest.mark.parametrize("kind", MOVES)
def test_a_run_verifies_with_conduct_replays_and_needs_no_market_to_be_checked(
    kind: str, tmp_path: Path
) -> None:
    path, bundle = tmp_path / "a.db", tmp_path / "a.jsonl"
    with store_at(path) as store:
        played = record(ledger_on(store), _task(kind), "base", 0, Player()).audit
        runs = store.runs()
        bundle.write_bytes(b"".join(export_lines(store, runs)))
        replayed = replay(store.records(1), shelf_of(store)).run.state
    assert ("completed", []) == (played.outcome, list(played.findings))
    (again,) = verify_store(path, runs, keep=True, further=with_conduct)
    (other,) = verify_bundle(bundle, keep=True, further=with_conduct)
    assert [dict.fromkeys("123456", "done")] * 2 == [again.checks, other.checks]
    assert {played.root} == {again.root, other.root}
    assert _moves(played) == _moves(again)
    assert not by_trace(bundle.read_bytes()).found
    assert replayed is not None
    assert 8 == len(dict(replayed.rows("result")))


BID: list[tuple[str, dict[str, Any] | str]] = [
    # refused by         amount, or what else it does
    ("negative",       {"amount": -10}),
    ("cap",            {"amount": 1_010}),
    ("cap",            {"amount": 10**15}),
    ("unit",           {"amount": 305}),
    ("reserve",        {"amount": 90}),
    ("agent.unparsed", {"amount": 10**30}),
    ("agent.unparsed", {"amount": float("nan")}),
    ("agent.unparsed", {"amount": 2.5}),
    ("action.invalid", {"amount": "ten"}),
    ("action.invalid", {"amount": None}),
    ("action.invalid", {"amount": True}),
]  # fmt: skip
ANSWER: list[tuple[str, dict[str, Any] | str]] = [
    ("action.invalid", {"amount": -10}),
    ("action.invalid", {"amount": 10**15}),
    ("action.invalid", {"amount": "ten"}),
    ("agent.unparsed", {"amount": 10**30}),
    ("agent.unparsed", {"amount": float("nan")}),
    ("agent.unparsed", {"amount": 2.5}),
]
ANY: list[tuple[str, dict[str, Any] | str]] = [
    ("action.invalid", {"amount": 500, "bidder": "b2"}),
    ("action.unknown", {"kind": "made.up"}),
    ("agent.unparsed", {"kind": "round.open"}),
    ("agent.unparsed", {"kind": "turn.pass", "party": "b2"}),
    ("agent.unparsed", "I will not say."),
    ("agent.unparsed", "1e30"),
]


@pytest.mark.parametrize("kind", MOVES)
def test_what_is_no_move_is_refused_by_name_recorded_and_changes_nothing(kind: str) -> None:
    move = MOVES[kind][0]
    clean = record(ledger_on(), _task(kind), "base", 0, Player()).audit
    rows = [*(BID if move in ("bid.submit", "proxy.bid") else ANSWER), *ANY]
    for first in range(0, len(rows), 3):
        these = rows[first : first + 3]
        bad = [
            Answer(gave=given) if isinstance(given, str) else Answer(act={"kind": move, **given})
            for _rule, given in these
        ]
        bold = record(ledger_on(), _task(kind), "base", 0, Player(*bad)).audit
        refused = [deed for deed in bold.deeds if deed.decision.outcome == "refused"]
        noun = move.split(".")[0]
        assert [rule if "." in rule else f"{noun}.{rule}" for rule, _given in these] == [
            deed.decision.rule for deed in refused
        ]
        assert {"b1"} == {deed.message.sender for deed in refused}
        assert _moves(clean) == _moves(bold)
        assert ([], {"done"}) == (list(bold.findings), set(bold.checks.values()))


@pytest.mark.parametrize("kind", MOVES)
def test_words_are_moves(kind: str) -> None:
    audit = record(ledger_on(), _task(kind), "base", 0, Player(words=WORDS[MOVES[kind][0]])).audit
    mine = [deed for deed in audit.deeds if deed.message.sender == "b1"]
    wanted = "proxy.hold" if kind == "proxy" else MOVES[kind][0]
    assert {(wanted, None)} == {(_tag(deed.action), deed.decision.rule) for deed in mine}
    assert "completed" == audit.outcome


def _tag(action: Any) -> str:
    return action.__struct_config__.tag

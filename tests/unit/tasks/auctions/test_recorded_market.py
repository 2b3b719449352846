"""A double auction as a run: it verifies with conduct; what is no quote is on record and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from smith_market import smith_task

from tollbook.tasks.auctions.baselines import BASELINES
from tollbook.tasks.play.agent import Answer, Asked
from tollbook.tasks.play.recorder import Ledger, Recorded, record

STEPS = 60


class _Nowhere:
    """Keeps nothing: the recorder's own copy is what is audited."""

    def add_run(self, *_run: Any) -> int:
        return 1

    def append(self, *_records: Any) -> None:
        pass

    def refuse_known(self, _run_id: str) -> None:
        pass

    def signed(self, _run: int, _seq: int) -> tuple[bytes, str | None]:
        raise NotImplementedError


class _Says:
    """Gives the same answer whenever it is asked."""

    outside = False
    given = None

    def __init__(self, answer: Answer) -> None:
        self.stated = BASELINES["zi_c"]("seed", "b1").stated
        self.asked = 0
        self._answer = answer

    def begin(self, setup: Any) -> None:
        pass

    def act(self, asked: Asked) -> Answer:
        assert "quotes" in asked.market
        self.asked += 1
        return self._answer

    def close(self) -> None:
        pass


def _recorded(agent: Any, trial: int = 0) -> Recorded:
    task = smith_task("zi_c", rounds=2, steps=STEPS)
    return record(Ledger(_Nowhere(), bytes(32), "market.example"), task, "base", trial, agent)


def _moves(run: Recorded) -> Sequence[tuple[str, str, str | None]]:
    """Sender, kind and refusal of each message."""
    return [(deed.message.sender, _kind(deed.action), deed.decision.rule) for deed in run.audit.deeds]


def _kind(action: Any) -> str:
    return "" if action is None else action.__struct_config__.tag


def test_a_market_of_baselines_verifies() -> None:
    run = _recorded(BASELINES["zi_c"]("seed", "b1"))
    assert (set("123456"), {"done"}, []) == (
        run.audit.checks.keys(),
        set(run.audit.checks.values()),
        list(run.audit.findings),
    )
    assert "completed" == run.ending.outcome
    assert 2 * STEPS + 2 == len(run.audit.deeds)
    assert all(rule is None for _sender, _kind, rule in _moves(run))


@pytest.mark.parametrize(
    ("act", "rule"),
    [
        ({"kind": "quote.buy", "amount": -1}, "quote.negative"),
        ({"kind": "quote.buy", "amount": 401}, "quote.cap"),
        ({"kind": "quote.buy", "amount": 0}, "quote.reserve"),
        ({"kind": "quote.sell", "amount": 100}, "quote.side"),
        ({"kind": "quote.buy", "amount": "1.50"}, "action.invalid"),
        ({"kind": "quote.buy", "amount": 1.5}, "agent.unparsed"),
        ({"kind": "quote.buy", "amount": float("nan")}, "agent.unparsed"),
        ({"kind": "quote.buy", "amount": 10**30}, "agent.unparsed"),
        ({"kind": "quote.buy", "amount": 100, "bidder": "b2"}, "action.invalid"),
        ({"kind": "bid.submit", "amount": 100}, "bid.format"),
        ({"kind": "round.open"}, "agent.unparsed"),
        (None, "agent.unparsed"),
    ],
)
def test_what_is_no_quote_uses_no_step_until_the_operator_passes(
    act: Mapping[str, Any] | None, rule: str
) -> None:
    agent = _Says(Answer(act=act, gave=None if act else "I wait for a better moment."))
    run = _recorded(agent)
    moves = _moves(run)
    mine = [place for place, move in enumerate(moves) if move[0] == "b1"]
    assert agent.asked == len(mine) > 0
    for first in mine[::4]:
        assert [("b1", rule)] * 4 == [(sender, why) for sender, _kind, why in moves[first : first + 4]]
        assert ("operator", "turn.pass", None) == moves[first + 4]
    accepted = [move for move in moves if move[2] is None and move[1] != "round.open"]
    assert 2 * STEPS == len(accepted)
    assert {"done"} == set(run.audit.checks.values())


def test_words_may_quote() -> None:
    run = _recorded(_Says(Answer(gave="I pass.")))
    assert {("quote.pass", None)} == {(kind, rule) for sender, kind, rule in _moves(run) if sender == "b1"}


def test_the_same_seed_gives_the_same_root() -> None:
    runs = [_recorded(BASELINES["zi_c"]("seed", "b1"), trial) for trial in (0, 0, 1)]
    first, again, other = (run.audit.root for run in runs)
    assert first == again != other

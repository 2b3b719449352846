"""The thirteen cases hold here; and each is found broken where what it claims is taken away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tollbook.ledger import run as ledger_run
from tollbook.ledger.anchor import NO_PINS
from tollbook.protocol.commerce import agreements
from tollbook.tasks.integrity import damage, identity, lasting, trading
from tollbook.tasks.integrity.cases import CASES, of_runs
from tollbook.tasks.integrity.market import Scratch, agreed, shelf


def test_there_are_thirteen_and_all_hold(tmp_path: Path) -> None:
    shown = [case(tmp_path) for case in CASES.values()]
    assert list(range(1, 14)) == list(CASES) == [each.number for each in shown]
    assert [] == [(each.number, each.evidence) for each in shown if not each.holds]
    assert all(each.did and each.evidence and each.run is None for each in shown)
    assert 13 == len({each.title for each in shown})


def test_they_give_the_same_evidence_again(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    first, second = ([CASES[number](folder) for number in (1, 2, 3, 4, 5, 6, 9, 12)] for folder in folders)
    assert first == second


LATE = {"effect": "settle", "order": "held", "party": "ann", "operation": "pay-held"}
Patch = Callable[[pytest.MonkeyPatch], None]


def _keyless(patch: pytest.MonkeyPatch) -> None:
    def again(market: Scratch) -> Any:
        message = market.formed.message
        voice = market.writer.voice(message.sender)
        return voice.send(voice.form(message.action, to=message.to))

    patch.setattr(Scratch, "again", again)


def _unforgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Scratch, "reopen", lambda market: market.say("bob", "listing.get", listing="lamp"))


def _more(units: int) -> Patch:
    return lambda patch: patch.setattr(trading, "shelf", lambda _units, **more: shelf(units, **more))


def _set(where: Any, name: str, value: Any) -> Patch:
    return lambda patch: patch.setattr(where, name, value)


SABOTAGES: list[tuple[int, str, Patch]] = [
    (1, "outcome", _more(3)),
    (2, "second rule", _keyless),
    (3, "code", lambda patch: patch.setattr(agreements, "min", lambda short, _: short, raising=False)),
    (4, "signed by a key of nobody", _set(ledger_run, "verify", lambda *_: True)),
    (5, "code", _set(trading, "_EVENT", {**LATE, "expires": 4})),
    (6, "second", _keyless),
    (7, "root", _set(identity, "party_seed", lambda *_: bytes(32))),
    (8, "not found", _set(damage, "_found", lambda *_: [])),
    (9, "log root", _unforgotten),
    (10, "modules that decide and aren't in it", _set(lasting, "modules", lambda: [["tasks/cli.py", ""]])),
    (10, "another rule: found", _set(lasting, "_CHANGED", "# only a comment\n")),
    (11, "found at the record by re-execution", _set(damage, "_raise", lambda _: True)),
    (12, "turned away", _set(ledger_run.Run, "_seen", lambda *_: None)),
    (13, "with it", _set(damage, "Pins", lambda **_: NO_PINS)),
]


@pytest.mark.parametrize(("number", "claim", "sabotage"), SABOTAGES)
def test_a_case_is_found_broken_where_what_it_claims_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, claim: str, sabotage: Patch
) -> None:
    sabotage(monkeypatch)
    shown = CASES[number](tmp_path)
    assert not shown.holds
    assert "is due" in str(shown.evidence[claim])


def test_named_runs_are_damaged_in_copies(tmp_path: Path) -> None:
    market = Scratch(tmp_path / "own.db", {**shelf(2), "agreement": {"deal": agreed(1, "ann")}})
    market.say("ann", "agreement.settle", to="shop", agreement="deal")
    market.seal()
    lines = market.export()
    market.close()
    before = (tmp_path / "own.db").read_bytes()
    shown = list(of_runs([(market.id, lines)]))
    assert [(8, True, market.id), (11, True, market.id), (13, True, market.id)] == [
        (each.number, each.holds, each.run) for each in shown
    ]
    assert before == (tmp_path / "own.db").read_bytes()


def test_of_an_open_run_it_is_said_that_it_has_no_checkpoint(tmp_path: Path) -> None:
    market = Scratch(tmp_path / "own.db", shelf(2))
    market.say("ann", "listing.get", listing="lamp")
    lines = market.export()
    market.close()
    shown = {each.number: each for each in of_runs([(market.id, lines)])}
    assert all(each.holds for each in shown.values()), shown
    assert "the run is open" in shown[13].evidence["result"]
    assert "no decision" in shown[11].evidence["result"]

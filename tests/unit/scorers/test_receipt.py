"""Receipts: one spelling, signed or not, and what a rescoring moves."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tollbook.ledger.notes import sign_note, vkey_of
from tollbook.protocol.canonical import encode
from tollbook.protocol.errors import NoteError, ScoreError
from tollbook.protocol.keys import SigningKey
from tollbook.scorers.receipt import (
    HEADER,
    Move,
    diff,
    parse_receipt,
    print_receipt,
    receipt_of,
    sign_receipt,
    verify_receipt,
)
from tollbook.scorers.score import Score
from tollbook.scorers.verdict import UNDECIDED, Flag, Value, Verdict

SIGNER = SigningKey.from_seed(bytes(range(32)))
VKEY = vkey_of("market", SIGNER.public)


YES, NO = True, False


def verdict(name: str, value: Value, error: str | None = None, seqs: tuple[int, ...] = ()) -> Verdict:
    return Verdict(name, "choice", 500, value, error, (), seqs)


SCORE = Score(
    run="a" * 64,
    root="b" * 64,
    task="t",
    task_digest="c" * 64,
    case="first",
    trial=2,
    cluster="c",
    custody="played",
    checks={"1": "done", "2": "done", "3": "done", "4": "done", "5": "done", "6": "not done"},
    anchored=False,
    scorer="d" * 64,
    outcome="scored",
    reason=None,
    value=Fraction(2000, 3),
    predicates=(
        verdict("yes", YES),
        verdict("part", (1, 3)),
        verdict("bad", None, "divide by zero"),
        verdict("open", None, UNDECIDED),
        verdict("no", NO),
    ),
    caps=(Flag("low", 900, YES, None), Flag("high", 900, NO, None)),
    defects=(),
    recorded=None,
    label=None,
)

TEXT = HEADER + (
    '{"caps":[{"id":"low","value":true},{"id":"high","value":false}],"case":"first",'
    '"checks":["1","2","3","4","5"],'
    '"predicates":[{"id":"yes","value":true},{"id":"part","value":[1,3]},{"id":"bad","value":"error"},'
    '{"id":"open","value":"undecided"},{"id":"no","value":false}],'
    f'"root":"{"b" * 64}","run":"{"a" * 64}","score":[2000,3],'
    f'"scorer":"{"d" * 64}","task":"{"c" * 64}","trial":2}}\n'
)


def test_a_receipt_as_text() -> None:
    receipt = receipt_of(SCORE)
    assert TEXT == print_receipt(receipt)
    assert receipt == parse_receipt(TEXT)
    assert Fraction(2000, 3) == receipt.value


def test_a_signed_receipt() -> None:
    receipt = receipt_of(SCORE)
    note = sign_receipt(receipt, "market", SIGNER)
    assert f"{TEXT}\n" == note[: len(TEXT) + 1]
    assert receipt == parse_receipt(note) == verify_receipt(note, VKEY)


def test_a_whole_score_is_an_integer() -> None:
    receipt = receipt_of(SCORE._replace(value=Fraction(1_000), task_digest=None, case=None))
    assert (1_000, 1_000) == (receipt.score, receipt.value)
    assert '"score":1000,' in print_receipt(receipt)
    assert receipt == parse_receipt(print_receipt(receipt))


@pytest.mark.parametrize("at", range(0, len(TEXT), 7))
def test_no_byte_of_a_signed_receipt_can_change(at: int) -> None:
    note = sign_receipt(receipt_of(SCORE), "market", SIGNER)
    forged = note[:at] + ("0" if note[at] != "0" else "1") + note[at + 1 :]
    with pytest.raises((NoteError, ScoreError)):
        verify_receipt(forged, VKEY)


def test_an_unsigned_receipt_verifies_under_no_key() -> None:
    with pytest.raises(NoteError):
        verify_receipt(TEXT, VKEY)
    with pytest.raises(NoteError) as caught:
        verify_receipt(sign_receipt(receipt_of(SCORE), "other", SIGNER), VKEY)
    assert "note.key_unknown" == caught.value.code


def changed(**fields: Any) -> str:
    document = {
        "caps": [],
        "case": None,
        "checks": ["1"],
        "predicates": [{"id": "p", "value": [1, 3]}],
        "root": "b" * 64,
        "run": "a" * 64,
        "score": [1, 3],
        "scorer": "d" * 64,
        "task": None,
        "trial": 0,
        **fields,
    }
    kept = {name: value for name, value in document.items() if value != "gone"}
    return f"{HEADER}{encode(kept).decode()}\n"


def test_the_form_that_the_next_test_breaks() -> None:
    assert Fraction(1, 3) == parse_receipt(changed()).value


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        TEXT.removeprefix("toll"),
        TEXT.removesuffix("\n"),
        TEXT + "\n",
        TEXT + "more\n",
        TEXT.replace(",", ", ", 1),
        TEXT.replace("first", "f\u00ebrst"),
        TEXT.replace("first", "\ud800"),
        changed(score="gone"),
        changed(more=1),
        changed(score=1_001),
        changed(score=-1),
        changed(score=[2, 6]),
        changed(score=[3, 1]),
        changed(score=[1, 0]),
        changed(score=[1, -3]),
        changed(score=[-1, 3]),
        changed(score=[3_001, 3]),
        changed(score="1"),
        changed(checks=["2", "1"]),
        changed(checks=["1", "1"]),
        changed(checks=["7"]),
        changed(root="B" * 64),
        changed(predicates=[{"id": "p", "value": [4, 3]}]),
        changed(predicates=[{"id": "p", "value": [-1, 3]}]),
        changed(predicates=[{"id": "p", "value": [0, 0]}]),
        changed(predicates=[{"id": "p", "value": None}]),
        changed(predicates=[{"id": "p", "value": "maybe"}]),
        changed(predicates=[{"id": "", "value": True}]),
    ],
)
def test_what_is_no_receipt(text: str) -> None:
    with pytest.raises((NoteError, ScoreError)):
        parse_receipt(text)


def test_a_note_of_another_type_is_no_receipt() -> None:
    with pytest.raises(ScoreError) as caught:
        parse_receipt(sign_note("market/run/1\n3\nAAAA\n", "market", SIGNER))
    assert "receipt.form" == caught.value.code


def test_a_text_that_is_too_long() -> None:
    with pytest.raises(NoteError) as caught:
        parse_receipt(HEADER + " " * 2**20)
    assert "note.size" == caught.value.code


@pytest.mark.parametrize("score", [SCORE._replace(value=None), SCORE._replace(root=None)])
def test_only_a_scored_run_has_a_receipt(score: Score) -> None:
    with pytest.raises(ScoreError) as caught:
        receipt_of(score)
    assert "receipt.unscored" == caught.value.code


def test_a_score_that_is_too_fine() -> None:
    with pytest.raises(ScoreError) as caught:
        receipt_of(SCORE._replace(value=Fraction(1, 2**53)))
    assert "receipt.fraction" == caught.value.code
    assert [1, 2**53 - 1] == list(receipt_of(SCORE._replace(value=Fraction(1, 2**53 - 1))).score)  # type: ignore[arg-type]


def test_the_same_score_moves_nothing() -> None:
    difference = diff(receipt_of(SCORE), SCORE)
    assert (False, True, ()) == (difference.moved, difference.same_scorer, difference.moves)


def test_which_predicate_moved_at_which_records() -> None:
    after = SCORE._replace(
        scorer="e" * 64,
        value=Fraction(1, 3),
        predicates=(
            verdict("yes", NO, seqs=(3, 9)),
            verdict("part", (2, 3)),
            verdict("new", (1, 2), seqs=(4,)),
            verdict("bad", None, "another text"),
            verdict("open", YES),
        ),
        caps=(Flag("low", 900, None, UNDECIDED), Flag("high", 100, NO, None)),
    )
    difference = diff(receipt_of(SCORE), after)
    assert (True, False) == (difference.moved, difference.same_scorer)
    assert (Fraction(2000, 3), Fraction(1, 3)) == (difference.before, difference.after)
    assert (
        Move("yes", YES, NO, (3, 9)),
        Move("part", (1, 3), (2, 3), ()),
        Move("new", None, (1, 2), (4,)),
        Move("open", "undecided", YES, ()),
        Move("low", YES, "undecided", ()),
        Move("no", NO, None, ()),
    ) == difference.moves


@pytest.mark.parametrize(
    "after",
    [SCORE._replace(value=None, outcome="undecided"), SCORE._replace(value=Fraction(900))],
)
def test_a_score_that_moved_alone(after: Score) -> None:
    assert diff(receipt_of(SCORE), after).moved


@pytest.mark.parametrize("after", [SCORE._replace(run="f" * 64), SCORE._replace(root="f" * 64)])
def test_two_runs_are_not_compared(after: Score) -> None:
    with pytest.raises(ScoreError) as caught:
        diff(receipt_of(SCORE), after)
    assert "receipt.run" == caught.value.code

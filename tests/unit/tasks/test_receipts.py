"""Receipts in the ledger: one for each score that says something new, and what moved since the last."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from script import KNOWN_SECRET, Stage

from tollbook.ledger.notes import sign_note, vkey_of
from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.errors import LedgerError
from tollbook.protocol.keys import SigningKey
from tollbook.scorers.receipt import Receipt, receipt_of, sign_receipt, verify_receipt
from tollbook.scorers.score import Score
from tollbook.tasks.judging import Judge, read_judgement, recorded_predicates
from tollbook.tasks.receipts import keep_receipts, receipt_digests, receipts_or_why
from tollbook.tasks.session import DEFAULT_NAME, Session, secret_path_of

KEY = ledger_key(KNOWN_SECRET)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as stage:
        for step in ("ledger tollbook.db", "predicates mine.toml"):
            stage.prepare(step)
        stage.prepare('replace mine.toml oracle.ended "!oracle.ended"')
        yield stage


def session_of(stage: Stage) -> Session:
    path = stage.folder / "tollbook.db"
    return Session(path, secret_path_of(path), DEFAULT_NAME)


def scores(stage: Stage, task: str | None = None, runs: int = 2) -> list[Score]:
    predicates = recorded_predicates() if task is None else read_judgement(stage.folder / task)
    with Store.read(stage.folder / "tollbook.db") as store:
        shelf = shelf_of(store)
        audits = [audit_run(store, run, run_id, shelf, keep=True) for run, run_id in store.runs()[:runs]]
    return [Judge(predicates).score(audit) for audit in audits]


def kept(stage: Stage) -> list[tuple[int, str, Receipt]]:
    vkey = vkey_of(DEFAULT_NAME, KEY.public)
    rows = stage.query("SELECT run, scorer, text FROM receipts ORDER BY receipt")
    return [(run, scorer, verify_receipt(text, vkey)) for run, scorer, text in rows]


def test_each_score_has_a_signed_receipt(stage: Stage) -> None:
    found = scores(stage)
    assert keep_receipts(session_of(stage), found) == []
    assert [(1, receipt_of(found[0])), (2, receipt_of(found[1]))] == [
        (run, receipt) for run, _scorer, receipt in kept(stage)
    ]
    assert {recorded_predicates().digest} == {scorer for _run, scorer, _receipt in kept(stage)}


def test_the_same_score_again_adds_nothing(stage: Stage) -> None:
    keep_receipts(session_of(stage), scores(stage))
    before = kept(stage)
    assert keep_receipts(session_of(stage), scores(stage)) == []
    assert before == kept(stage)


def test_what_moved_is_told_once_and_kept(stage: Stage) -> None:
    keep_receipts(session_of(stage), scores(stage))
    moved = keep_receipts(session_of(stage), scores(stage, "mine.toml", 3))
    assert [(1000, 0, False)] * 2 == [(one.before, one.after, one.same_scorer) for one in moved]
    assert [["rewarded", "ended_normally"]] * 2 == [[move.id for move in one.moves] for one in moved]
    assert [1, 2, 1, 2, 3] == [run for run, _scorer, _receipt in kept(stage)]
    assert keep_receipts(session_of(stage), scores(stage, "mine.toml", 3)) == []


def test_other_predicates_with_the_same_verdicts_have_a_receipt_and_move_nothing(stage: Stage) -> None:
    keep_receipts(session_of(stage), scores(stage, runs=1))
    stage.prepare('replace mine.toml "!oracle.ended" "true && oracle.ended"')
    assert keep_receipts(session_of(stage), scores(stage, "mine.toml", 1)) == []
    assert len({scorer for _run, scorer, _receipt in kept(stage)}) == 2


def test_a_run_without_a_score_has_no_receipt(stage: Stage) -> None:
    unscored = scores(stage)[0]._replace(outcome="undecided", value=None, reason="withheld")
    assert keep_receipts(session_of(stage), [unscored]) == []
    assert kept(stage) == []


def test_a_score_that_is_lost_moved(stage: Stage) -> None:
    keep_receipts(session_of(stage), scores(stage))
    unscored = scores(stage)[0]._replace(outcome="undecided", value=None, reason="withheld")
    assert [(1000, None)] == [(one.before, one.after) for one in keep_receipts(session_of(stage), [unscored])]
    assert len(kept(stage)) == 2


def test_without_the_secret_nothing_is_kept(stage: Stage) -> None:
    (stage.folder / "tollbook.db.secret").unlink()
    before = stage.files()
    assert keep_receipts(session_of(stage), scores(stage)) == []
    assert before == stage.files()


def test_another_secret_signs_nothing_here(stage: Stage) -> None:
    stage.prepare("other-secret tollbook.db.secret")
    with pytest.raises(LedgerError) as error:
        keep_receipts(session_of(stage), scores(stage))
    assert error.value.code == "ledger.key"
    assert kept(stage) == []


@pytest.mark.parametrize("kind", ["other key", "other name", "no note", "no receipt", "changed"])
def test_a_receipt_that_the_ledger_did_not_sign_is_passed_over(stage: Stage, kind: str) -> None:
    score = scores(stage)[0]
    forged = receipt_of(score)
    text = {
        "other key": sign_receipt(forged, DEFAULT_NAME, SigningKey.from_seed(bytes(32))),
        "other name": sign_receipt(forged, "market", KEY),
        "no note": json.dumps({"score": 0}),
        "no receipt": sign_note("tollbook.receipt/2\n{}\n", DEFAULT_NAME, KEY),
        "changed": sign_receipt(forged, DEFAULT_NAME, KEY).replace("receipt/1", "receipt/2"),
    }[kind]
    session = session_of(stage)
    with session.store_to_write(KNOWN_SECRET) as store:
        store.add_receipts([(1, score.scorer, text)])
    changed = score._replace(value=score.value and score.value - 1)
    assert keep_receipts(session, [changed]) == []
    last: Any = stage.query("SELECT text FROM receipts ORDER BY receipt DESC")[0][0]
    assert receipt_of(changed) == verify_receipt(last, vkey_of(DEFAULT_NAME, KEY.public))


def test_the_digest_of_a_receipt_is_that_of_its_text(stage: Stage) -> None:
    found = scores(stage)
    keep_receipts(session_of(stage), found)
    texts = [text for (text,) in stage.query("SELECT text FROM receipts ORDER BY receipt")]
    runs = [score.run for score in found]
    expected = {run: sha256(text.encode()).hexdigest() for run, text in zip(runs, texts, strict=True)}
    assert expected == receipt_digests(session_of(stage), scores(stage, runs=3))


def test_only_the_receipt_of_the_score_at_hand_has_a_digest(stage: Stage) -> None:
    session, found = session_of(stage), scores(stage)
    keep_receipts(session, found)
    lost = found[0]._replace(outcome="undecided", value=None, reason="withheld")
    elsewhere = found[0]._replace(run="0" * 64)
    assert {} == receipt_digests(session, [*scores(stage, "mine.toml"), lost, elsewhere])
    with session.store_to_write(KNOWN_SECRET) as store:
        forger = SigningKey.from_seed(bytes(32))
        text = sign_receipt(receipt_of(found[0]), DEFAULT_NAME, forger)
        store.add_receipts([(1, found[0].scorer, text), (2, found[1].scorer, "no note")])
    assert {} == receipt_digests(session, found)


def test_why_no_receipt_was_kept(stage: Stage) -> None:
    stage.prepare("other-secret tollbook.db.secret")
    moved, why = receipts_or_why(session_of(stage), (), scores(stage))
    assert ([], "receipt.unkept") == (moved, why and why.code)
    stage.prepare("bundle runs.jsonl")
    assert ([], None) == receipts_or_why(
        session_of(stage), (str(stage.folder / "runs.jsonl"),), scores(stage)
    )
    assert kept(stage) == []

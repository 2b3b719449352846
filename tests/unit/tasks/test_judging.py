"""Which predicates judge a run, what its makers recorded, and what is wrong with what they called it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from script import Stage

from tollbook.ledger.audit import Audit
from tollbook.ledger.verify import verify_bundle
from tollbook.protocol.errors import ScoreError
from tollbook.tasks.judging import Judge, read_judgement, recorded_predicates


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as stage:
        stage.prepare("predicates mine.toml")
        stage.prepare("bundle runs.jsonl")
        yield stage


def audits(stage: Stage) -> list[Audit]:
    return list(verify_bundle(stage.folder / "runs.jsonl", keep=True))


def test_the_packages_predicates_judge_where_none_are_given(stage: Stage) -> None:
    own = recorded_predicates()
    assert (own.id, own.digest) == ("retail.recorded", read_judgement(stage.folder / "mine.toml").digest)


@pytest.mark.parametrize(
    ("expected",          "step"),
    [
        ("predicate.toml",    "text mine.toml to do"),
        ("predicate.field",   "empty mine.toml"),
        ("predicate.view",    'replace mine.toml "view  = 1" "view  = 2"'),
        ("predicate.weights", "replace mine.toml 1000 999"),
        ("predicate.compile", "replace mine.toml oracle.ended oracle."),
        ("predicate.compile", "replace mine.toml oracle.ended orakel.ended"),
        ("predicate.oracle",  "replace mine.toml oracle.ended oracle.endet"),
        ("predicate.needs",   "replace mine.toml '\"ended_normally\"' '\"rewarded\"'"),
        ("predicate.form",    "gzip mine.toml"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_told_with_its_name_before_any_run(
    stage: Stage, expected: str, step: str
) -> None:
    stage.prepare(step)
    path = stage.folder / "mine.toml"
    with pytest.raises(ScoreError) as error:
        read_judgement(path)
    assert expected == error.value.code
    assert error.value.text.startswith(f"`{path}`")
    assert error.value.hint


def test_a_file_is_bounded(stage: Stage) -> None:
    path = stage.folder / "mine.toml"
    path.write_bytes(b"#" * (64 * 1024) + b"\n")
    with pytest.raises(ScoreError, match="over 65536 bytes"):
        read_judgement(path)


def test_recorded_runs_get_the_score_that_was_recorded(stage: Stage) -> None:
    scores = [Judge(recorded_predicates()).score(audit) for audit in audits(stage)]
    assert [1000] * 9 + [0] * 3 + [1000] * 3 == [score.value for score in scores]
    assert [True] * 15 == [score.agrees for score in scores]
    assert [8] == [place for place, score in enumerate(scores) if score.label]
    assert len({score.cluster for score in scores}) == 15


def test_a_run_that_does_not_verify_is_not_judged(stage: Stage) -> None:
    stage.prepare('replace runs.jsonl "Hello, this" "Hullo, this"')
    score = Judge(recorded_predicates()).score(audits(stage)[0])
    assert ("invalid", None, ()) == (score.outcome, score.value, score.predicates)


def test_a_run_without_its_task_is_left_out_by_name(stage: Stage) -> None:
    stage.prepare('drop runs.jsonl \'{"blob":{"kind":"task"\'')
    score = Judge(recorded_predicates()).score(audits(stage)[0])
    assert ("undecided", None) == (score.outcome, score.value)
    assert "the task that it was graded by is not in the file" == score.reason


def test_a_name_that_the_world_lacks_is_told_before_any_verdict(stage: Stage) -> None:
    stage.prepare('replace mine.toml "oracle.ended" "initial.nothing.size() == 0"')
    with pytest.raises(ScoreError):
        Judge(read_judgement(stage.folder / "mine.toml")).score(audits(stage)[0])

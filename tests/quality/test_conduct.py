"""Check 6 finds whatever an operator does otherwise than the task says, at its record, and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from operators import CASE, DEVIATIONS, GROUPS, TASK, Deviation, operate
from script import SUITE, Ran, run
from small_task import SECRET, ledger_on, store_at

from tollbook.ledger.audited import Audit
from tollbook.ledger.bundle import export_lines
from tollbook.ledger.verify import verify_bundle, verify_store
from tollbook.scorers.score import Score
from tollbook.tasks.console import Exit
from tollbook.tasks.judging import Judge
from tollbook.tasks.play.conduct import with_conduct
from tollbook.tasks.play.policies import PolicyAgent
from tollbook.tasks.play.recorder import record


class Tried(NamedTuple):
    """A run that was verified and scored."""

    audit: Audit
    score: Score


class Court(NamedTuple):
    """A ledger with a run for each deviation, and what became of each."""

    path: Path
    tried: Mapping[str, Tried]


def name_of(deviation: Deviation) -> str:
    group = next(name for name, group in GROUPS.items() if deviation in group)
    return f"{group}: {deviation.what}"


def tried(audits: list[Audit]) -> list[Tried]:
    judge = Judge()
    return [Tried(audit, judge.score(audit)) for audit in audits]


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Court:
    path = tmp_path_factory.mktemp("court") / "a.db"
    with store_at(path) as store:
        for trial, deviation in enumerate(DEVIATIONS):
            operate(store, deviation, trial)
        runs = store.runs()
    audits = list(verify_store(path, runs, keep=True, further=with_conduct))
    return Court(path, dict(zip(map(name_of, DEVIATIONS), tried(audits), strict=True)))


def verify(court: Court, *words: str) -> Ran:
    return run(["--ledger", str(court.path), "verify", *words])


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=name_of)
def test_what_an_operator_does_otherwise_is_found_at_its_record(court: Court, deviation: Deviation) -> None:
    audit, score = court.tried[name_of(deviation)]
    expected = [(deviation.code, deviation.seq)] if deviation.is_found else []
    assert expected == [(finding.code, finding.seq) for finding in audit.findings]
    state = "failed" if deviation.is_found else "done"
    assert dict.fromkeys("12345", "done") | {"6": state} == audit.checks
    assert deviation.is_found == (score.outcome == "invalid")
    assert deviation.is_found or score.conduct_checked


def test_the_count_of_what_is_found(court: Court) -> None:
    codes = Counter(finding.code for audit, _ in court.tried.values() for finding in audit.findings)
    assert {
        "conduct.action": 10,
        "conduct.brief": 13,
        "conduct.case": 2,
        "conduct.extra": 9,
        "conduct.facts": 5,
        "conduct.key": 1,
        "conduct.omitted": 2,
        "conduct.order": 12,
        "conduct.outcome": 6,
        "conduct.parties": 5,
        "conduct.reply_to": 3,
        "conduct.seed": 3,
        "conduct.task": 5,
        "conduct.to": 4,
    } == codes
    outcomes = Counter(score.outcome for _, score in court.tried.values())
    assert {"invalid": codes.total(), "scored": 4, "abandoned": 4} == outcomes


def test_a_run_found_wanting_is_an_exit_code(court: Court) -> None:
    found = sum(deviation.is_found for deviation in DEVIATIONS)
    whole = verify(court)
    assert Exit.FOUND_FALSE == whole.exit
    assert f"{len(DEVIATIONS)} runs, {len(DEVIATIONS) - found} good, {found} findings" in whole.stdout
    first = {deviation.code: name_of(deviation) for deviation in reversed(DEVIATIONS)}
    assert 15 == len(first)
    for code, name in first.items():
        ran = verify(court, court.tried[name].audit.run)
        assert (Exit.FOUND_FALSE if code else Exit.GOOD) == ran.exit
        assert (f"  {code}" if code else "  good") in ran.stdout


def test_processes_find_the_same(court: Court) -> None:
    runs = [audit.run for audit, _ in list(court.tried.values())[:: len(DEVIATIONS) // 8]]
    alone, many = (json.loads(verify(court, *runs, "--json", "--jobs", jobs).stdout) for jobs in "12")
    assert alone["findings"]
    assert alone == many


# What can't be compared isn't passed


def exported(folder: Path, deviation: Deviation) -> list[bytes]:
    """A run's bundle."""
    path = folder / "b.db"
    with store_at(path) as store:
        operate(store, deviation)
        return list(export_lines(store, store.runs()))


HONEST = next(deviation for deviation in GROUPS["none"] if deviation.what == "an honest run")
NOTE = next(deviation for deviation in GROUPS["scripts"] if deviation.what == "another text in its note")
TO = next(deviation for deviation in GROUPS["scripts"] if deviation.what == "it answers to another party")
ROLE = next(deviation for deviation in GROUPS["beginning"] if deviation.what == "another role")


def without(lines: list[bytes], is_withheld: Callable[[int, str], bool]) -> bytes:
    """The lines without those parts, each known by its record and field."""
    kept: list[bytes] = []
    seq = -1
    for line in lines:
        document = json.loads(line)
        seq = document["record"]["seq"] if "record" in document else seq
        if "part" not in document or not is_withheld(seq, document["part"]["field"]):
            kept.append(line)
    return b"".join(kept)


def at(*seqs: int) -> Callable[[int, str], bool]:
    return lambda seq, _field: seq in seqs


def everything(_seq: int, _field: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("state",       "deviation", "withheld"),
    [
        ("done",        HONEST,  at()),
        ("not done",    HONEST,  everything),
        ("not done",    HONEST,  at(1)),        # the actor's brief
        ("not done",    HONEST,  at(2)),        # a script's
        ("not done",    HONEST,  at(3)),        # what a script opened with
        ("not done",    HONEST,  at(21)),       # the note of its counter
        ("done",        HONEST,  at(9, 19)),    # the actor's own words, which nobody else's rest on
        ("failed",      NOTE,    at()),
        ("not done",    NOTE,    everything),
        ("not done",    NOTE,    at(21)),
        ("not done",    NOTE,    at(9)),        # a script might have read it
        ("not done",    TO,      everything),   # the briefs come before what is said
        ("failed",      ROLE,    everything),   # what needs no part
    ],
)  # fmt: skip
def test_what_is_withheld_is_not_passed(
    tmp_path: Path, state: str, deviation: Deviation, withheld: Callable[[int, str], bool]
) -> None:
    bundle = tmp_path / "a.jsonl"
    bundle.write_bytes(without(exported(tmp_path, deviation), withheld))
    ((audit, score),) = tried(list(verify_bundle(bundle, keep=True, further=with_conduct)))
    assert state == audit.checks["6"]
    assert (state == "failed") == bool(audit.findings)
    assert (state == "done") == score.conduct_checked


def test_an_export_without_parts_says_that_conduct_is_unchecked(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with store_at(path) as store:
        record(ledger_on(store), TASK, CASE, 0, PolicyAgent("reference", TASK.reference))
    for words in (["a.jsonl"], ["bare.jsonl", "--withhold"]):
        output = str(tmp_path / words[0])
        assert Exit.GOOD == run(["--ledger", str(path), "export", "-o", output, *words[1:]]).exit
    for name, state in (("a.jsonl", "done"), ("bare.jsonl", "not done")):
        verified = run(["verify", str(tmp_path / name), "--json"])
        assert Exit.GOOD == verified.exit
        assert [state] == [one["checks"]["6"] for one in json.loads(verified.stdout)["by_run"]]
        scored = run(["score", str(tmp_path / name)])
        assert (state == "not done") == ("conduct unchecked" in scored.stdout)
        assert "1000" in scored.stdout


@pytest.mark.parametrize("kind", ["rows", "task"])
def test_without_what_a_run_rests_on_conduct_is_not_done(tmp_path: Path, kind: str) -> None:
    lines = exported(tmp_path, HONEST)
    bundle = tmp_path / "a.jsonl"
    kept = [line for line in lines if json.loads(line).get("blob", {}).get("kind") != kind]
    assert len(lines) - 1 == len(kept)
    bundle.write_bytes(b"".join(kept))
    ((audit, score),) = tried(list(verify_bundle(bundle, keep=True, further=with_conduct)))
    assert ("not done", []) == (audit.checks["6"], audit.findings)
    assert score.value is None


def test_an_imported_run_has_no_conduct(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    (tmp_path / "a.db.secret").write_bytes(SECRET)
    (tmp_path / "a.db.secret").chmod(0o600)
    for name in ("shop.json", "recorded.json"):
        (tmp_path / name).write_bytes((SUITE / name).read_bytes())
    words = ["import", "tau2", str(tmp_path / "recorded.json"), "--db", str(tmp_path / "shop.json")]
    assert Exit.GOOD == run(["--ledger", str(path), *words]).exit
    verified = run(["--ledger", str(path), "verify", "--json"])
    assert {"not done"} == {one["checks"]["6"] for one in json.loads(verified.stdout)["by_run"]}

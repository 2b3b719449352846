"""What `--json` prints is what docs/documents.toml says, field by field, and no more.

The fields of `import`, `verify` and `score` are promised to programs that read them, so these
stand here once more, as a reader would have them.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from script import Stage

DOCUMENTS: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).resolve().parents[2] / "docs" / "documents.toml").read_text(encoding="utf-8")
)

EXTENSION = Path(__file__).resolve().parents[1] / "extension" / "tea.py"

FINDING = {"run", "seq", "code", "text"}
PREDICATE = {"id", "stage", "weight", "value", "error", "seqs"}
RUN = {"run", "task", "case", "score", "predicates", "recorded", "agrees", "label"}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with Stage(tmp_path) as stage:
        for step in (
            "suite .",
            "ledger tollbook.db",
            "panel panel.db",
            "reworded reworded.db",
            "auctions auctions.db baseline.json",
            "bundle runs.jsonl",
            "bundle changed.jsonl",
            'replace changed.jsonl "Hello, this" "Hullo, this"',
            "bundle torn.jsonl",
            "cut torn.jsonl 10",
            "uci ledger.csv",
            "checkpoint kept.note 1",
            "predicates mine.toml",
            'replace mine.toml oracle.ended "!oracle.ended"',
            "task wrong.toml t4.buyer_zopa",
            "replace wrong.toml did.agreement.settle did.agreement.setle",
            'replace recorded.json "\\"task_id\\": \\"1\\"" "\\"task_id\\": null"',
        ):
            stage.prepare(step)
        yield stage


def document(stage: Stage, line: str) -> dict[str, Any]:
    ran = stage.run(f"tollbook {line} --json")
    assert ran.stdout.count("\n") == 1, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


PLAYS = [
    ("tollbook task list",         "task list"),
    ("tollbook task show",         "task show t7.merchant_refund"),
    ("tollbook task show",         "task show a.second_price"),
    ("tollbook task lint",         "task lint t7.merchant_refund wrong.toml"),
    ("tollbook task new",          "task new new.toml"),
    ("tollbook import tau2",       "--ledger new.db import tau2 recorded.json --db shop.json --mode strict"),
    ("tollbook import uci",        "--ledger new.db import uci ledger.csv"),
    ("tollbook import uci",        "--ledger books.db import uci ledger.csv"),
    ("tollbook import uci",        "--ledger ./books.db import uci ledger.csv"),
    ("tollbook import bundle",     "import bundle runs.jsonl"),
    ("tollbook import bundle",     "--ledger new.db import bundle runs.jsonl"),
    ("tollbook import bundle",     "--ledger new.db import bundle torn.jsonl"),
    ("tollbook ls",                "ls"),
    ("tollbook log",               "log 491b"),
    ("tollbook show",              "show 491b"),
    ("tollbook show --seq",        "show 491b --seq 1"),
    ("tollbook replay",            "replay 491b"),
    ("tollbook diff",              "diff 491b 0beb"),
    ("tollbook verify",            "verify changed.jsonl"),
    ("tollbook verify",            "verify 491b --checkpoint kept.note"),
    ("tollbook study persistence", "study persistence"),
    ("tollbook study market",      "study market"),
    ("tollbook study sparse",      "study sparse --size 10 --seeds 1"),
    ("tollbook study extension",   f"study extension {EXTENSION}"),
    ("tollbook study auctions",    "study auctions --cells ordering.* --cells *.2 --sessions 2 --rounds 3"),
    ("tollbook score",             "score"),
    ("tollbook score",             "score changed.jsonl"),
    ("tollbook score --baseline",  "--ledger auctions.db score --baseline baseline.json"),
    ("tollbook report",            "report ed9c"),
    ("tollbook analyse credit",    "analyse credit changed.jsonl"),
    ("tollbook analyse means",     "--ledger panel.db analyse means"),
    ("tollbook analyse stages",    "--ledger panel.db analyse stages"),
    ("tollbook analyse stages",    "analyse stages changed.jsonl"),
    ("tollbook analyse weights",   "--ledger panel.db analyse weights"),
    ("tollbook analyse collisions", "--ledger panel.db analyse collisions"),
    ("tollbook analyse collisions", "analyse collisions changed.jsonl"),
    ("tollbook analyse flips",     "--ledger panel.db analyse flips"),
    ("tollbook analyse flips",     "analyse flips changed.jsonl"),
    ("tollbook analyse pairs",     "--ledger panel.db analyse pairs"),
    ("tollbook analyse renderings", "--ledger reworded.db analyse renderings"),
    ("tollbook export",            "export -o out.jsonl"),
    ("tollbook check integrity",   "check integrity 491b"),
    ("tollbook prove inclusion",   "prove inclusion 491b 3"),
    ("tollbook prove consistency", "prove consistency 491b 3"),
    ("tollbook prove checkpoint",  "prove checkpoint 491b"),
    ("tollbook key show",          "key show"),
    ("tollbook key new",           "--secret new.secret key new"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "line"), PLAYS, ids=[line for _, line in PLAYS])
def test_a_document_has_the_fields_that_the_docs_list(stage: Stage, name: str, line: str) -> None:
    found = document(stage, line)
    assert found.pop("schema") == f"tollbook.{name.split()[1]}/1"
    assert list(unlisted(found, DOCUMENTS[name])) == []
    top = {path.split("[")[0].split("{")[0].split(".")[0].rstrip("…") for path in DOCUMENTS[name]}
    assert top == set(found)


def test_every_document_is_listed_and_played() -> None:
    assert list(DOCUMENTS) == list(dict.fromkeys([*DOCUMENTS, *(name for name, _ in PLAYS)]))
    assert set(DOCUMENTS) == {name for name, _ in PLAYS}


def test_every_path_is_met_somewhere(stage: Stage) -> None:
    stage.run("tollbook score")
    met = {name: set[str]() for name in DOCUMENTS}
    for name, line in [*PLAYS, ("tollbook score", "score ed9c --task mine.toml")]:
        for name_made in ("new.db", "new.toml"):
            (stage.folder / name_made).unlink(missing_ok=True)
        met[name] |= set(paths(document(stage, line), DOCUMENTS[name]))
    unmet = {name: DOCUMENTS[name].keys() - met[name] for name in DOCUMENTS}
    # A replay of a good run finds nothing; its findings are those of `verify`.
    unmet["tollbook replay"] -= {path for path in DOCUMENTS["tollbook replay"] if path.startswith("findings")}
    # No two of the agents are tied with one kind of weights alone; they would be named as two that swap.
    unmet["tollbook analyse weights"] -= {"parted[]"}
    assert {name: missing for name, missing in unmet.items() if missing} == {}


def test_what_import_promises(stage: Stage) -> None:
    found = document(stage, "--ledger new.db import tau2 recorded.json --db shop.json")
    promised = {"runs": 14, "messages": 210, "calls": 61, "outputs_differ": 0}
    assert promised.items() <= found.items()
    assert [{"index", "name", "code", "text"}] == [set(refused) for refused in found["refused"]]
    assert {"schema", *promised, "refused", "uncompared", "modes_part"} == set(found)


def test_what_verify_promises(stage: Stage) -> None:
    found = document(stage, "verify changed.jsonl")
    assert {"schema", "runs", "good", "findings", "by_run"} == set(found)
    assert (15, 14) == (found["runs"], found["good"])
    assert [FINDING] == [set(finding) for finding in found["findings"]]
    assert all({"run", "checks", "anchored", "keys"} <= set(run) for run in found["by_run"])
    assert found["by_run"][0]["run"] == found["findings"][0]["run"]
    assert {"1": "failed", "6": "not done"}.items() <= found["by_run"][0]["checks"].items()


def test_what_score_promises(stage: Stage) -> None:
    found = document(stage, "score changed.jsonl")
    assert {"schema", "runs", "summary", "moved"} == set(found)
    assert [RUN] * 15 == [set(run) for run in found["runs"]]
    invalid, *scored = found["runs"]
    assert (None, [], None, {"reward": None}) == tuple(
        invalid[name] for name in ("score", "predicates", "agrees", "recorded")
    )
    assert all(PREDICATE == set(each) for run in scored for each in run["predicates"])
    assert [True] * 14 == [run["agrees"] for run in scored]
    assert [1000 * run["recorded"]["reward"] for run in scored] == [run["score"] for run in scored]
    labels = {run["label"] for run in scored} - {None}
    assert {"recorded as task 8, graded by the actions of task 31"} == labels


def unlisted(value: Any, listed: dict[str, str]) -> Iterator[str]:
    yield from (path for path in paths(value, listed) if path not in listed)


def paths(value: Any, listed: dict[str, str], path: str = "") -> Iterator[str]:
    """The paths of a document, each as it is listed where it is."""
    if path in listed or f"{path}…" in listed:
        yield path if path in listed else f"{path}…"
    elif isinstance(value, list):
        for item in value:
            yield from paths(item, listed, f"{path}[]")
    elif isinstance(value, dict) and any(name.startswith(f"{path}{{}}") for name in listed):
        for item in value.values():
            yield from paths(item, listed, f"{path}{{}}")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from paths(item, listed, f"{path}.{name}" if path else name)
    else:
        yield path

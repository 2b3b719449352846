"""Imported runs against their source: nothing else passes for what the source gives, whoever signed it."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from recordings import call, message, output, results, run, viewer

from tollbook.ledger.audit import Audit, Deed
from tollbook.ledger.bundle import export_lines, write_bundle
from tollbook.ledger.findings import Finding
from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of, verify_bundle
from tollbook.protocol.bodies import Usage
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.errors import SourceError
from tollbook.protocol.keys import key_text
from tollbook.tasks.tau2.grading import Graded
from tollbook.tasks.tau2.importer import Shop, import_runs, read_shop
from tollbook.tasks.tau2.messages import Said
from tollbook.tasks.tau2.recheck import recheck
from tollbook.tasks.tau2.source import Flawed, Recording, Source, read_source

SECRET = bytes(range(32))
NAME = "test.example"
with as_file(files("tollbook.tasks") / "suites/retail") as SUITE:
    DB, RECORDED = SUITE / "shop.json", SUITE / "recorded.json"
    COMPAT, STRICT = (read_shop(DB, mode) for mode in ("compat", "strict"))
SOURCE = read_source(RECORDED)
RUNS = [run for run in SOURCE.runs if isinstance(run, Recording)]


def audits(folder: Path, source: Source, shop: Shop = COMPAT) -> list[Audit]:
    """The audits of a source's runs, imported into a ledger of their own."""
    path = folder / "test.db"
    with Store.write(path, NAME, key_text(ledger_key(SECRET).public)) as store:
        assert [] == import_runs(store, SECRET, NAME, source, shop).refused
    with Store.read(path) as store:
        shelf = shelf_of(store)
        return [audit_run(store, number, run_id, shelf, keep=True) for number, run_id in store.runs()]


def told(findings: Sequence[Finding]) -> list[tuple[int | None, str, str]]:
    return [(finding.seq, finding.code, finding.text) for finding in findings]


# What must not be found


@pytest.mark.parametrize("db", [None, DB])
@pytest.mark.parametrize("shop", [COMPAT, STRICT])
def test_runs_are_what_their_source_gives_in_either_mode(tmp_path: Path, shop: Shop, db: Path | None) -> None:
    assert [] == recheck(audits(tmp_path, SOURCE, shop), RECORDED, db)


def test_both_modes_of_one_source_side_by_side_and_one_run_twice(tmp_path: Path) -> None:
    both = []
    for name, shop in (("a", COMPAT), ("b", STRICT)):
        (tmp_path / name).mkdir()
        both += audits(tmp_path / name, SOURCE, shop)
    assert [] == recheck([*both, *both[:3]], RECORDED)


def test_the_source_may_be_renamed_and_packed_otherwise(tmp_path: Path) -> None:
    (other := tmp_path / "other.json.gz").write_bytes(gzip.compress(RECORDED.read_bytes()))
    assert [] == recheck(audits(tmp_path, SOURCE), other)


@pytest.mark.parametrize("withhold", [False, True])
def test_a_bundle_with_its_own_start_rows_and_without_its_texts(tmp_path: Path, withhold: bool) -> None:  # noqa: FBT001
    audits(tmp_path, SOURCE)
    path = tmp_path / "runs.jsonl"
    with Store.read(tmp_path / "test.db") as store:
        write_bundle(path, export_lines(store, store.runs(), withhold=withhold))
    exported = list(verify_bundle(path, keep=True))
    assert [withhold] * 15 == [audit.withheld > 0 for audit in exported]
    assert [] == recheck(exported, RECORDED)


def test_no_runs_differ_in_nothing() -> None:
    assert [] == recheck([], RECORDED)


def _folder(path: Path) -> Path:
    (path / "simulations").mkdir(parents=True)
    (path / "results.json").write_text("{}")
    (path / "simulations/a.json").write_text(json.dumps(run("a", message("user", "Hi"))))
    return path


def _viewer(path: Path) -> Path:
    path.write_text(json.dumps(viewer(message("user", "Hi"))))
    return path


def _odd(path: Path) -> Path:
    """Orphans, an unanswered call, unknown tools, wrong arguments, a user's call, texts of spaces."""
    conversation = [
        output("0", "early"),
        message("user", " ", call("1", "calculate", {"expression": "1"}, requestor="user")),
        output("1", "shown"),
        message("assistant", "a", call("2", "x" * 2_500, "no JSON"), call("2", "get_order_details")),
        message("assistant", None, call("3", "transfer_to_human_agents", {"summary": "é\u2028"})),
        output("9", ""),
    ]
    path.write_text(json.dumps(results(run("a", *conversation, trial=5), info={"agent_info": {"llm": "m"}})))
    return path


@pytest.mark.parametrize("make", [_folder, _viewer, _odd])
def test_every_form_is_imported_again(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path / "source")
    assert [] == recheck(audits(tmp_path, read_source(path)), path)


# What must be found: a run that the holder of the secret imported from something else, under the same name


class Forged(NamedTuple):
    """A change of the recorded run 12, `text-and-calls`, and a finding it gives."""

    seq: int | None
    code: str
    text: str
    change: Callable[[Recording], dict[str, Any]]


def _said(place: int, **fields: Any) -> Callable[[Recording], dict[str, Any]]:
    def change(run: Recording) -> dict[str, Any]:
        said = [*run.said]
        said[place] = said[place]._replace(**fields)
        return {"said": said}

    return change


def _call(place: int, **fields: Any) -> Callable[[Recording], dict[str, Any]]:
    def change(run: Recording) -> dict[str, Any]:
        calls = run.said[place].calls
        return _said(place, calls=[calls[0]._replace(**fields), *calls[1:]])(run)

    return change


def _swap(run: Recording) -> dict[str, Any]:
    return {"said": [*run.said[:4], run.said[5], run.said[4], *run.said[6:]]}


MISSING, DIGEST, DIFFERS = "source.missing", "source.digest", "source.differs"
FORGED = [
    Forged(None, MISSING, "no run `other` at place 12",          lambda _: {"name": "other"}),
    Forged(None, MISSING, "no run `text-and-calls` at place 11", lambda _: {"index": 11}),
    Forged(None, MISSING, "no run `text-and-calls` at place 99", lambda _: {"index": 99}),
    Forged(0,    DIGEST,  "source's content is not that",        lambda _: {"digest": "0" * 64}),
    Forged(0,    DIFFERS, "another `trial`: `0`",                lambda _: {"trial": 1}),
    Forged(0,    DIFFERS, "another `seed`",                      lambda _: {"trial": 1}),
    Forged(0,    DIFFERS, "another `task`",                      lambda _: {"task_id": "13"}),
    Forged(0,    DIFFERS, "another `task`",                      lambda _: {"termination": "max_steps"}),
    Forged(0,    DIFFERS, "another `task`",                      lambda run: {"graded": _reward(run)}),
    Forged(0,    DIFFERS, "another `task`",                      lambda _: {"graded": None}),
    Forged(0,    DIFFERS, "another `parties`",                   lambda _: {"agents": BEST}),
    Forged(3,    DIFFERS, 'another `action.text`: `"I ordered',  _said(1, text="Please cancel.")),
    Forged(3,    DIFFERS, 'another `from`: `"user"`',            _said(1, role="assistant")),
    Forged(3,    DIFFERS, 'another `to`: `"assistant"`',         _said(1, role="assistant")),
    Forged(7,    DIFFERS, 'another `action`: `{"email":"basil',  _call(2, arguments={"email": "a"})),
    Forged(7,    DIFFERS, 'another `action`: `{"email":"basil',  _call(2, tool="no_tool")),
    Forged(7,    DIFFERS, 'another `from`: `"assistant"`',       _call(2, requestor="user")),
    Forged(9,    DIFFERS, "gives a message here, the run has a turn", _call(2, output="forged")),
    Forged(13,   DIFFERS, 'another `from`: `"assistant"`',       _swap),
    Forged(25,   DIFFERS, "a message here, the run has neither", lambda run: {"said": run.said[:-1]}),
    Forged(27,   DIFFERS, "neither message nor turn here",       lambda run: {"said": [*run.said, MORE]}),
]  # fmt: skip
MORE = Said("user", "more", [])
BEST = {"agent_info": {"llm": "best"}}


def _reward(run: Recording) -> Graded:
    assert run.graded
    return run.graded._replace(reward=0.0)


@pytest.mark.parametrize("forged", FORGED, ids=[f"{forged.seq}-{forged.text}" for forged in FORGED])
def test_a_run_that_the_source_does_not_give_is_found(tmp_path: Path, forged: Forged) -> None:
    changed = RUNS[12]._replace(**forged.change(RUNS[12]))
    (audit,) = audits(tmp_path, SOURCE._replace(runs=[changed]))
    assert audit.good, "by checks 1 to 5 nothing is wrong with it"
    found = recheck([audit], RECORDED)
    assert {(audit.run, "6")} == {(finding.run, finding.check) for finding in found}
    there = [text for seq, code, text in told(found) if (seq, code) == (forged.seq, forged.code)]
    assert any(forged.text in text for text in there), found


def test_nothing_is_looked_for_after_a_record_is_missing(tmp_path: Path) -> None:
    (audit,) = audits(tmp_path, SOURCE._replace(runs=[RUNS[12]._replace(said=RUNS[12].said[:-1])]))
    assert 1 == len(recheck([audit], RECORDED))


def test_findings_of_a_run_end_at_a_hundred(tmp_path: Path) -> None:
    text = json.dumps(results(run("a", *[message("user", f"{n}") for n in range(150)])))
    (path := tmp_path / "runs.json").write_text(text)
    (one,) = read_source(path).runs
    assert isinstance(one, Recording)
    changed = one._replace(said=[said._replace(text="x") for said in one.said])
    assert 100 == len(recheck(audits(tmp_path, Source("results", [changed])), path))


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("another `given`: `\"Error: Tool 'search_catalog' not found.\"`", {"output": "Found it"}),
        ('another `party`: `"assistant"`', {"requestor": "user"}),
        ("a turn here, the run has a message", {"output": None}),
    ],
)
def test_a_turn_that_the_source_does_not_give_is_found(
    tmp_path: Path, text: str, change: dict[str, Any]
) -> None:
    """Run 6 calls an unknown tool: what the source showed is kept as a turn."""
    asked = [said.calls[0].tool if said.calls else None for said in RUNS[6].said].index("search_catalog")
    changed = RUNS[6]._replace(**_call(asked, **change)(RUNS[6]))
    (audit,) = audits(tmp_path, SOURCE._replace(runs=[changed]))
    assert (9, DIFFERS, f"the source gives {text}") in told(recheck([audit], RECORDED))


def test_start_rows_of_another_shop_are_found(tmp_path: Path) -> None:
    text = DB.read_text("utf-8").replace("46.19", "46.2")
    (other := tmp_path / "other.json").write_text(text)
    taken = audits(tmp_path, SOURCE, read_shop(other, "compat"))
    assert [] == recheck(taken, RECORDED), "by its own start rows nothing is wrong with it"
    found = recheck(taken, RECORDED, DB)
    assert {"source.differs"} == {finding.code for finding in found}
    assert [0] * 15 == [finding.seq for finding in found if "another `facts`" in finding.text]


def test_another_file_is_found_by_its_digest_alone(tmp_path: Path) -> None:
    (other := tmp_path / "other.json").write_text(RECORDED.read_text("utf-8") + "\n")
    found = told(recheck(audits(tmp_path, SOURCE), other))
    assert [(0, "source.digest", "the source's content is not that which was imported")] * 15 == found


def _reads(audit: Audit) -> Audit:
    """An audit whose messages are said under a key, and in reply to what they aren't."""
    replace = msgspec.structs.replace
    deeds = [
        deed._replace(message=replace(deed.message, key="k", reply_to=3)) for deed in audit.deeds
    ]
    return audit._replace(deeds=deeds)


def test_keys_replies_and_records_of_other_kinds_are_found(tmp_path: Path) -> None:
    (audit,) = audits(tmp_path, SOURCE._replace(runs=[RUNS[10]]))
    found = told(recheck([_reads(audit)], RECORDED))
    assert [(1, "source.differs", "the source gives another `reply_to`: `null`")] == found[:1]
    assert [(1, "source.differs", "the source gives another `key`: `null`")] == found[1:2]
    longer = audit._replace(records=audit.records + 1)
    text = f"the run has {audit.records + 1} records, the source gives {audit.records}"
    assert [(None, "source.differs", text)] == told(recheck([longer], RECORDED))


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("another `n`: `2`", {"n": 1}),
        ("another `usage`: `null`", {"usage": Usage(1, 1, 1)}),
        ("another `parts`: `[false,true]`", {"gave": "0" * 64}),
    ],
)
def test_what_a_turn_says_beside_its_texts_is_compared(
    tmp_path: Path, text: str, change: dict[str, Any]
) -> None:
    (audit,) = audits(tmp_path, SOURCE._replace(runs=[RUNS[6]]))
    (kept,) = audit.evidence
    forged = audit._replace(evidence=[kept._replace(turn=msgspec.structs.replace(kept.turn, **change))])
    assert [(9, DIFFERS, f"the source gives {text}")] == told(recheck([forged], RECORDED))


def test_another_form_and_other_rules_are_found(tmp_path: Path) -> None:
    (audit,) = audits(tmp_path, Source("viewer", [RUNS[0]]))
    assert [(0, DIFFERS, 'the source gives another `origin`: `["imported",["results",0]]`')] == told(
        recheck([audit], RECORDED)
    )
    assert audit.replayed
    opened = audit.replayed.opened
    world = msgspec.structs.replace(opened.world, version=1)
    audit.replayed.opened = msgspec.structs.replace(opened, world=world)
    assert 'the source gives another `world`: `{"name":"retail","params":{"mode":"compat"},"version":0}`' in [
        finding.text for finding in recheck([audit], RECORDED, DB)
    ]


# What can't be compared


def _flawed(run: Recording) -> Flawed:
    return Flawed(run.index, run.name, "source.task", "the run has no `task_id`")


def test_a_run_that_the_source_holds_no_more_or_cant_give_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken = audits(tmp_path, SOURCE)[:4]
    long = RUNS[2]._replace(said=[Said("user", "x" * 2**21, [])])
    other = SOURCE._replace(runs=[_flawed(RUNS[0]), long, RUNS[3]])
    monkeypatch.setattr("tollbook.tasks.tau2.recheck.read_source", lambda _path: other)
    size = "a text of 2097152 bytes is over the limit of 1048576"
    assert [
        (taken[0].run, "the source's run can't be read: the run has no `task_id`"),
        (taken[1].run, "the source has no run `exchange-two` at place 1"),
        (taken[2].run, f"the source's run can't be imported again: {size}"),
    ] == [(finding.run, finding.text) for finding in recheck(taken, RECORDED)]


AUCTION = "the run is of world `auction` and not of the retail shop"


def test_a_run_without_an_origin_is_missing(tmp_path: Path) -> None:
    (audit,) = audits(tmp_path, SOURCE._replace(runs=[RUNS[0]]))
    nothing = audit._replace(replayed=None, deeds=[], evidence=[])
    assert ["the run has no `open` that says where it comes from"] == [
        finding.text for finding in recheck([nothing], RECORDED)
    ]
    assert audit.replayed
    replace = msgspec.structs.replace
    opened = audit.replayed.opened
    for change, text in (
        ({"origin": replace(opened.origin, source=None)}, "the run was not imported from a source"),
        ({"task": None}, "the run was not imported from a source"),
        ({"world": replace(opened.world, name="auction")}, AUCTION),
    ):
        audit.replayed.opened = replace(opened, **change)
        assert [(None, "source.missing", text)] == told(recheck([audit], RECORDED))


def test_a_run_whose_start_rows_are_withheld_needs_the_shop(tmp_path: Path) -> None:
    (audit,) = audits(tmp_path, SOURCE._replace(runs=[RUNS[0]]))
    assert audit.replayed
    audit.replayed.state = None
    with pytest.raises(SourceError) as refused:
        recheck([audit], RECORDED)
    assert ("source.db", "give the shop's file with `--db`") == (refused.value.code, refused.value.hint)
    assert [] == recheck([audit], RECORDED, DB)


def test_a_source_that_cant_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        recheck([], tmp_path / "no.json")


def test_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    taken = audits(tmp_path, SOURCE)
    monkeypatch.setenv("TMPDIR", str(folder := tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    folder.mkdir()
    recheck(taken, RECORDED)
    assert [] == list(folder.iterdir())
    shutil.rmtree(folder)


def test_a_withheld_text_hides_no_other_difference(tmp_path: Path) -> None:
    changed = _said(1, text="Please cancel.")(RUNS[12])
    (audit,) = audits(tmp_path, SOURCE._replace(runs=[RUNS[12]._replace(**changed, trial=1)]))

    def withheld(deed: Deed) -> Deed:
        return deed._replace(texts={}) if deed.seq == 3 else deed

    found = told(recheck([audit._replace(deeds=[withheld(deed) for deed in audit.deeds])], RECORDED))
    assert [(0, "trial"), (0, "seed")] == [(seq, text.split("`")[1]) for seq, _code, text in found]


def test_the_recorded_runs_are_what_their_source_gives(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data/tau2"
    path, db = folder / "toolorchestra_retail.json.gz", folder / "retail_db.json.gz"
    taken = audits(tmp_path, read_source(path), read_shop(db, "compat"))
    assert (114, []) == (len(taken), recheck(taken, path, db))

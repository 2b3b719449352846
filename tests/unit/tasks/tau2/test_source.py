"""Recorded runs in the source's three forms; what is none of them is refused whole, a bad run alone."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings import GRADED, call, message, output, results, run, viewer

from tollbook.protocol.errors import SourceError
from tollbook.tasks.tau2.grading import Graded, Reference
from tollbook.tasks.tau2.source import Flawed, Recording, Source, read_source

LONG = "b" * 500
LAST = 2**31 - 1
HELLO = message("user", "Hello")
NAMED: dict[str, Any] = {"agent_info": {"llm": "none"}}


def write(path: Path, document: object, *, packed: bool = False) -> Path:
    content = json.dumps(document).encode()
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def read(path: Path, document: object) -> Source:
    return read_source(write(path / "runs.json", document))


def recording(source: Source) -> Recording:
    (run,) = source.runs
    assert isinstance(run, Recording)
    return run


def names(source: Source) -> list[tuple[int, str]]:
    return [(run.index, run.name) for run in source.runs]


@pytest.mark.parametrize("packed", [False, True])
def test_a_results_file(tmp_path: Path, packed: bool) -> None:  # noqa: FBT001 - both ways
    first = run("a", HELLO, message("assistant", None, call("1", "calculate")), output("1", "2"))
    second = run("b", termination_reason="max_steps", trial=3, task_id=7, reward_info=None)
    path = write(tmp_path / "runs.json.gz", results(first, second, info=NAMED), packed=packed)
    source = read_source(path)
    assert ("results", [(0, "a"), (1, "b")]) == (source.form, names(source))
    one, two = source.runs
    assert isinstance(one, Recording)
    assert ("runs.json.gz", "0", 0) == (one.file, one.task_id, one.trial)
    assert ("user_stop", 3) == (one.termination, one.messages)
    assert (Graded([], [], 1.0), NAMED, 2, []) == (one.graded, one.agents, len(one.said), one.orphans)
    assert isinstance(two, Recording)
    assert ("7", 3, "max_steps", 0) == (two.task_id, two.trial, two.termination, two.messages)
    assert (None, one.digest) == (two.graded, two.digest)


def test_the_digest_is_that_of_the_content_whether_packed_or_not(tmp_path: Path) -> None:
    plain = recording(read_source(write(tmp_path / "a.json", results(run("a")))))
    packed = recording(read_source(write(tmp_path / "b.json.gz", results(run("a")), packed=True)))
    assert plain.digest == packed.digest


def test_a_viewer_export_is_named_by_its_file_and_graded_by_its_task(tmp_path: Path) -> None:
    task = {"evaluation_criteria": {"actions": [{"name": "calculate"}], "communicate_info": ["2"]}}
    export = viewer(HELLO, task=task, reward_info={"reward": 0.0}, run_info={"trial": 2, **NAMED})
    source = read_source(write(tmp_path / "task_12.json.gz", export, packed=True))
    one = recording(source)
    assert ("viewer", "task_12", 0) == (source.form, one.name, one.index)
    assert (2, "unknown") == (one.trial, one.termination)
    assert (NAMED["agent_info"], 1) == (one.agents["agent_info"], one.messages)
    assert Graded([Reference("", "assistant", "calculate", "null")], ["2"], 0.0) == one.graded


@pytest.mark.parametrize(
    ("expected", "run_info"),
    [("runs", None), ("runs", {}), ("runs", {"id": None}), ("x-1", {"id": "x-1"}), ("5", {"id": 5})],
)
def test_a_viewer_exports_own_id_comes_first(tmp_path: Path, expected: str, run_info: object) -> None:
    assert expected == recording(read(tmp_path, viewer(HELLO, run_info=run_info))).name


def test_the_task_of_a_results_file_is_no_substitute(tmp_path: Path) -> None:
    task = {"id": "0", "evaluation_criteria": {"actions": [{"name": "calculate"}]}}
    ungraded = run("a", reward_info={"reward": 0.0, "action_checks": None}, task=task)
    assert Graded([], [], 0.0) == recording(read(tmp_path, results(ungraded, tasks=[task]))).graded


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("at", ["", "results.json"])
def test_a_folder_in_the_order_of_its_index(tmp_path: Path, at: str, packed: bool) -> None:  # noqa: FBT001
    index = [{"id": name, "task_id": "0", "trial": 0} for name in ("c", "a", "gone", "b")]
    del (meta := results(simulation_index=index, info=NAMED))["simulations"]
    write(tmp_path / "results.json", meta, packed=packed)
    for name in ("a", "b", "c", "z", "y"):
        suffix = ".json.gz" if packed else ".json"
        write(tmp_path / "simulations" / f"{name}{suffix}", run(name, HELLO), packed=packed)
    (tmp_path / "simulations" / "notes.txt").write_text("not a run")
    (tmp_path / "simulations" / "more.json").mkdir()
    source = read_source(tmp_path / at)
    expected = [(0, "c"), (1, "a"), (2, "gone"), (3, "b"), (4, "y"), (5, "z")]
    assert ("folder", expected) == (source.form, names(source))
    assert [2] == [run.index for run in source.runs if isinstance(run, Flawed)]
    assert "source.missing" == source.runs[2].code  # type: ignore[union-attr]
    read_runs = [run for run in source.runs if isinstance(run, Recording)]
    assert f"simulations/c{suffix}" == read_runs[0].file
    assert 5 == len({run.digest for run in read_runs})
    assert all(run.agents == NAMED for run in read_runs)


def test_a_folder_with_the_simulations_beside_its_results(tmp_path: Path) -> None:
    write(tmp_path / "results.json.gz", {"info": {}}, packed=True)
    write(tmp_path / "b.json", run("b"))
    write(tmp_path / "a.json", run("a"))
    assert ("folder", [(0, "a"), (1, "b")]) == ((source := read_source(tmp_path)).form, names(source))


def test_a_folder_whose_results_hold_the_runs(tmp_path: Path) -> None:
    write(tmp_path / "results.json", results(run("a"), run("b")))
    assert ("results", [(0, "a"), (1, "b")]) == ((source := read_source(tmp_path)).form, names(source))


def test_a_damaged_file_of_a_folder_costs_one_run(tmp_path: Path) -> None:
    write(tmp_path / "results.json", {})
    write(tmp_path / "simulations/a.json", run("a"))
    (tmp_path / "simulations/b.json").write_text('{"id": "b"')
    (tmp_path / "simulations/c.json.gz").write_bytes(gzip.compress(b"{}")[:-4])
    write(tmp_path / "simulations/d.json", ["d"])
    found = [run.code if isinstance(run, Flawed) else run.name for run in read_source(tmp_path).runs]
    assert ["a", "source.json", "source.gzip", "source.messages"] == found


@pytest.mark.parametrize(
    "document",
    [
        None, True, 1, "simulations", [], [run("a")], {},
        {"simulations": None}, {"simulations": {"a": run("a")}}, {"simulation": [run("a")]},
        run("a", HELLO), {"messages": [HELLO]}, {"messages": {}, "run_info": {}}, {"run_info": {}},
        {"products": {}, "users": {}, "orders": {}}, {"simulation_index": [{"id": "a"}]},
    ],
)  # fmt: skip
def test_a_document_that_is_none_of_the_forms_is_refused_whole(tmp_path: Path, document: object) -> None:
    with pytest.raises(SourceError) as refused:
        read(tmp_path, document)
    assert "source.form" == refused.value.code
    assert refused.value.hint


def _no_results(path: Path) -> None:
    write(path / "simulations/a.json", run("a"))


def _results_is_a_folder(path: Path) -> None:
    (path / "results.json").mkdir(parents=True)


def _results_is_a_list(path: Path) -> None:
    write(path / "results.json", [run("a")])


def _no_simulations(path: Path) -> None:
    write(path / "results.json", {"simulations": []})
    (path / "simulations").mkdir()


def _damaged_results(path: Path) -> None:
    (path / "simulations").mkdir(parents=True)
    (path / "results.json").write_text("{")


@pytest.mark.parametrize(
    ("code",         "make"),
    [
        ("source.form", _no_results),
        ("source.form", _results_is_a_folder),
        ("source.form", _results_is_a_list),
        ("source.form", _no_simulations),
        ("source.json", _damaged_results),
    ],
)  # fmt: skip
def test_a_folder_of_another_form_is_refused(tmp_path: Path, code: str, make: Callable[[Path], None]) -> None:
    make(tmp_path / "folder")
    with pytest.raises(SourceError) as refused:
        read_source(tmp_path / "folder")
    assert code == refused.value.code


def test_an_empty_results_file_holds_no_runs(tmp_path: Path) -> None:
    assert Source("results", []) == read(tmp_path, results())


def test_a_path_that_may_not_be_looked_at_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def closed(_path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", closed)
    with pytest.raises(SourceError, match="can't be read: Permission denied"):
        read_source(tmp_path / "runs.json")


@pytest.mark.parametrize(
    ("code",            "name",  "bad"),
    [
        ("source.messages", "1",     None),
        ("source.messages", "1",     "run"),
        ("source.messages", "bad",   {"id": "bad"}),
        ("source.messages", "bad",   run("bad", messages=None)),
        ("source.messages", "bad",   run("bad", messages={})),
        ("source.messages", "bad",   run("bad", "Hello")),
        ("source.role",     "bad",   run("bad", message("system", "x"))),
        ("source.task",     "bad",   run("bad", task_id=None)),
        ("source.task",     "bad",   run("bad", task_id=["0"])),
        ("source.task",     "bad",   run("bad", task_id=True)),
        ("source.task",     "bad",   run("bad", task_id=1.5)),
        ("source.trial",    "bad",   run("bad", trial=-1)),
        ("source.trial",    "bad",   run("bad", trial=2**31)),
        ("source.trial",    "bad",   run("bad", trial=True)),
        ("source.trial",    "bad",   run("bad", trial="0")),
        ("source.trial",    "bad",   run("bad", trial=0.0)),
        ("source.graded",   "bad",   run("bad", reward_info={**GRADED, "reward": float("nan")})),
        ("source.graded",   "bad",   run("bad", reward_info={**GRADED, "action_checks": [{}]})),
        ("source.messages", LONG[:128], run(LONG, messages=None)),
        ("source.messages", "",      run(["bad"], messages=None)),
    ],
)  # fmt: skip
def test_a_bad_run_is_named_and_others_are_read(tmp_path: Path, code: str, name: str, bad: object) -> None:
    source = read(tmp_path, results(run("a", HELLO), bad, run("c", HELLO)))
    assert [(0, "a"), (1, name), (2, "c")] == names(source)
    flawed = source.runs[1]
    assert isinstance(flawed, Flawed)
    assert code == flawed.code
    assert isinstance(source.runs[2], Recording)


def test_numbers_and_nesting_beyond_python_cost_one_run(tmp_path: Path) -> None:
    huge, deep = "9" * 5000, "[" * 900 + "]" * 900
    bad = [
        run("huge", message("assistant", None, call("1", "calculate", {"a": "HERE"}))),
        run("reward", reward_info={"reward": "HERE"}),
        run("trial", trial="HERE"),
        run("unread", seed="HERE"),
    ]
    text = json.dumps(results(*bad, run("good", more="THERE")))
    path = tmp_path / "runs.json"
    path.write_text(text.replace('"HERE"', huge).replace('"THERE"', deep))
    found = [run.code if isinstance(run, Flawed) else run.name for run in read_source(path).runs]
    assert ["source.number", "source.graded", "source.trial", "unread", "good"] == found


@pytest.mark.parametrize("depth", [*range(850, 1000, 2), 5_000])
def test_arguments_of_any_depth_are_read_or_refused(tmp_path: Path, depth: int) -> None:
    text = json.dumps(results(run("a", message("assistant", None, call("1", "calculate", "HERE"))), run("b")))
    path = tmp_path / "runs.json"
    path.write_text(text.replace('"HERE"', "[" * depth + "]" * depth))
    try:
        source = read_source(path)
    except SourceError as error:
        assert "source.json" == error.code  # noqa: PT017 - which of the two, depends on the stack
    else:
        assert isinstance(source.runs[1], Recording)


@pytest.mark.parametrize(
    ("expected", "fields"),
    [(0, {}), (0, {"trial": None}), (0, {"trial": 0}), (LAST, {"trial": LAST})],
)
def test_a_trial_not_stated_is_the_first(tmp_path: Path, expected: int, fields: dict[str, Any]) -> None:
    stated = {name: value for name, value in run("a").items() if name != "trial"}
    assert expected == recording(read(tmp_path, results({**stated, **fields}))).trial


def test_a_run_without_an_id_is_named_by_its_place(tmp_path: Path) -> None:
    unnamed = {name: value for name, value in run("a").items() if name != "id"}
    assert [(0, "b"), (1, "1"), (2, "7"), (3, "")] == names(
        read(tmp_path, results(run("b"), unnamed, run(7), run(None)))
    )


def test_the_recorded_runs_are_read(shared: Path) -> None:
    source = read_source(shared / "data/tau2/toolorchestra_retail.json.gz")
    runs = [run for run in source.runs if isinstance(run, Recording)]
    assert (114, 114) == (len(source.runs), len(runs))
    assert 2534 == sum(run.messages for run in runs)
    calls = [call for run in runs for said in run.said for call in said.calls]
    assert (873, 0, 0) == (
        len(calls),
        sum(call.output is None for call in calls),
        sum(len(run.orphans) for run in runs),
    )
    rewards = [run.graded.reward for run in runs if run.graded]
    assert (114, 96) == (len(rewards), rewards.count(1.0))
    assert [14, 52] == [run.index for run in runs if run.graded and not run.graded.actions]

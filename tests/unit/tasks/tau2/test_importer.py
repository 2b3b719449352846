"""Recorded runs into a ledger: what is kept and counted, what is refused, and that nothing is half kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest
from recordings import call, message, output, results, run, viewer

from tollbook.ledger.audit import Audit, Deed
from tollbook.ledger.store import Store
from tollbook.ledger.verify import audit_run, shelf_of, verify_store
from tollbook.protocol.bodies import Open
from tollbook.protocol.derive import ledger_key
from tollbook.protocol.errors import LedgerError, SourceError, WorldError
from tollbook.protocol.keys import key_text
from tollbook.tasks.tau2.importer import Imported, Shop, import_runs, read_shop
from tollbook.tasks.tau2.recorded import read_recorded_task
from tollbook.tasks.tau2.source import Flawed, read_source

SECRET = bytes(range(32))
NAME = "test.example"
with as_file(files("tollbook.tasks") / "suites/retail") as SUITE:
    COMPAT, STRICT = (read_shop(SUITE / "shop.json", mode) for mode in ("compat", "strict"))
HELLO = message("user", "Hello")
MIB = 2**20


class Ledger:
    """A ledger in a folder of its own, and the audits of its runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "test.db"

    def imports(self, path: Path, shop: Shop = COMPAT) -> Imported:
        source = read_source(path)
        with Store.write(self.path, NAME, key_text(ledger_key(SECRET).public)) as store:
            return import_runs(store, SECRET, NAME, source, shop)

    def takes(self, document: object, shop: Shop = COMPAT, name: str = "runs.json") -> Imported:
        path = self.folder / name
        path.write_text(json.dumps(document))
        return self.imports(path, shop)

    def audits(self) -> list[Audit]:
        with Store.read(self.path) as store:
            shelf = shelf_of(store)
            return [audit_run(store, number, run_id, shelf, keep=True) for number, run_id in store.runs()]

    def rows(self) -> dict[str, int]:
        with Store.read(self.path) as store:
            tables = ("runs", "records", "parts", "blobs", "notes")
            return {table: store._one(f"SELECT count(*) FROM {table}") for table in tables}  # noqa: SLF001


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    yield Ledger(tmp_path)
    shutil.rmtree(tmp_path)


def said(deeds: list[Deed]) -> list[tuple[str, str | None, str]]:
    """Who said what to whom: its text, or the kind of the action."""
    kinds = [json.loads(bytes(deed.message.action))["kind"] for deed in deeds]
    return [
        (deed.message.sender, deed.message.to, deed.texts.get("text") or kind)
        for deed, kind in zip(deeds, kinds, strict=True)
    ]


def rules(audit: Audit) -> list[str | None]:
    return [deed.decision.rule for deed in audit.deeds]


def opened(audit: Audit) -> Open:
    assert audit.replayed
    return audit.replayed.opened


def case(audit: Audit) -> str:
    task = opened(audit).task
    assert task
    return task.case


# The runs that the repository holds


def test_the_small_runs_are_taken_as_they_were_shown(ledger: Ledger) -> None:
    assert Imported(15, 230, 67, 0, 3, []) == ledger.imports(SUITE / "recorded.json")
    audits = ledger.audits()
    assert [True] * 15 == [audit.good for audit in audits]
    assert {"imported"} == {audit.outcome for audit in audits}
    assert [67, 2] == [sum(kept) for kept in zip(*map(counts, audits), strict=True)]


def counts(audit: Audit) -> tuple[int, int]:
    """How many calls a run has, and how many of them were shown what the market doesn't show."""
    return sum(deed.message.to == "platform" for deed in audit.deeds), len(audit.evidence)


def test_strict_shows_other_outputs_and_refuses_no_run(ledger: Ledger) -> None:
    assert Imported(15, 230, 67, 3, 3, []) == ledger.imports(SUITE / "recorded.json", STRICT)
    differing = {case(audit) for audit in ledger.audits() if audit.evidence}
    known = {"last-variant", "float-noise", "refunded-twice"}
    assert known | {"unknown-tool", "wrong-arguments"} == differing
    assert all(audit.good for audit in ledger.audits())


def test_a_run_says_where_it_came_from_and_what_it_was_graded_by(ledger: Ledger) -> None:
    ledger.imports(SUITE / "recorded.json")
    audit = ledger.audits()[8]
    origin = opened(audit).origin
    assert origin.source
    assert ("imported", "results", 8, "recorded.json") == (
        origin.custody, origin.source.form, origin.source.index, origin.source.name,
    )  # fmt: skip
    assert sha256((SUITE / "recorded.json").read_bytes()).hexdigest() == origin.source.digest
    assert ("wrong-label", 0) == (case(audit), opened(audit).trial)
    parties = opened(audit).parties
    assert ["user", "assistant", "platform"] == [party.role for party in parties]
    assert ["written by hand", "written by hand", "retail"] == [party.agent.name for party in parties]
    task = read_recorded_task(audit.task or "")
    assert ("8", "1.0", []) == (task.recorded_id, task.reward, task.strings)
    assert ["31_0", "31_1"] == [action.id for action in task.actions]


def test_messages_that_became_several_are_kept_together(ledger: Ledger) -> None:
    ledger.imports(SUITE / "recorded.json")
    groups = {case(audit): read_recorded_task(audit.task or "").groups for audit in ledger.audits()}
    assert {"text-and-calls": [[1, 2], [3, 4], [7, 8]]} == {key: own for key, own in groups.items() if own}


def test_the_same_file_again_is_refused_run_by_run_and_changes_nothing(ledger: Ledger) -> None:
    ledger.imports(SUITE / "recorded.json")
    before = ledger.path.read_bytes(), ledger.rows()
    again = ledger.imports(SUITE / "recorded.json")
    assert (0, 0, 0) == (again.runs, again.messages, again.calls)
    assert ["run.exists"] * 15 == [run.code for run in again.refused]
    assert before == (ledger.path.read_bytes(), ledger.rows())


def test_the_same_secret_and_file_give_the_same_runs(tmp_path: Path) -> None:
    roots = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        ledger = Ledger(tmp_path / name)
        ledger.imports(SUITE / "recorded.json")
        roots.append([audit.root for audit in ledger.audits()])
    assert roots[0] == roots[1]


# What a message becomes


def test_texts_and_calls_are_said_in_order_by_whose_they_are(ledger: Ledger) -> None:
    conversation = [
        message("assistant", "Hi", call("1", "calculate", {"expression": "1+1"}), call("2", "no_tool")),
        output("2", "nothing"),
        output("1", "2.0"),
        message("user", " ", call("3", "list_all_product_types", requestor="user")),
        output("3", "{}"),
        message("assistant", None),
        message("user", "Bye"),
    ]
    assert Imported(1, 7, 3, 0, 2, []) == ledger.takes(results(run("a", *conversation)))
    (audit,) = ledger.audits()
    expected = [
        ("assistant", "user", "Hi"),
        ("assistant", "platform", "tool.calculate"),
        ("assistant", "platform", "call.unparsed"),
        ("user", "assistant", " "),
        ("user", "platform", "tool.list_all_product_types"),
        ("user", "assistant", "Bye"),
    ]
    assert expected == said(audit.deeds)
    assert [None, None, "tool.unknown", None, "party.role", None] == rules(audit)
    assert [("assistant", 2, "nothing"), ("user", 1, "{}")] == [
        (one.turn.party, one.turn.n, one.texts["given"]) for one in audit.evidence
    ]
    assert [[0, 1, 2]] == read_recorded_task(audit.task or "").groups


def test_a_text_of_spaces_beside_a_call_is_not_a_message_of_two(ledger: Ledger) -> None:
    ledger.takes(results(run("a", message("assistant", "\n ", call("1", "list_all_product_types")), HELLO)))
    (audit,) = ledger.audits()
    assert ["\n ", "tool.list_all_product_types", "Hello"] == [what for _by, _to, what in said(audit.deeds)]
    assert [] == read_recorded_task(audit.task or "").groups


@pytest.mark.parametrize(
    ("differ", "uncompared", "kept",  "shown"),
    [
        (0,        0,            [],      "2.0"),
        (1,        0,            ["2"],   "2"),
        (1,        0,            [""],    None),
        (1,        0,            ["é\u2028"], "é\u2028"),
        (0,        1,            [],      ...),
    ],
)  # fmt: skip
def test_an_output_is_kept_only_where_it_differs(
    ledger: Ledger, differ: int, uncompared: int, kept: list[str], shown: object
) -> None:
    answers = [] if shown is ... else [output("1", shown)]
    asked = message("assistant", None, call("1", "calculate", {"expression": "1+1"}))
    imported = ledger.takes(results(run("a", asked, *answers)))
    assert (differ, uncompared) == (imported.outputs_differ, imported.uncompared)
    (audit,) = ledger.audits()
    assert (kept, True) == ([one.texts["given"] for one in audit.evidence], audit.good)


def test_outputs_that_answer_no_call_are_kept_where_they_stood(ledger: Ledger) -> None:
    early, late = output("x", "early"), output("1", "late")
    asked = message("assistant", None, call("1", "calculate", {"expression": "1+1"}))
    imported = ledger.takes(results(run("a", early, HELLO, asked, output("1", "2.0"), late)))
    assert (1, 5, 1, 2) == (imported.runs, imported.messages, imported.calls, imported.outputs_differ)
    (audit,) = ledger.audits()
    assert [(1, None, "early"), (6, None, "late")] == [
        (one.seq, one.turn.n, one.texts["given"]) for one in audit.evidence
    ]


@pytest.mark.parametrize(
    ("rule",             "arguments"),
    [
        ("tool.arguments",   {}),
        ("tool.arguments",   "not JSON"),
        ("tool.arguments",   '["#W1"]'),
        ("tool.arguments",   None),
        ("tool.arguments",   {"order_id": float("nan")}),
        ("tool.arguments",   {"order_id": 2**60}),
        ("tool.arguments",   {"order_id": "#" * 70_000}),
        ("action.invalid",   {"order_id": "é" * 1_500}),
        ("order.unknown",    {"order_id": "#" * 2_000}),
        ("order.unknown",    {"order_id": "\u0000 \n{item}"}),
        ("order.unknown",    '{"order_id": "no"}'),
    ],
)  # fmt: skip
def test_wrong_arguments_are_recorded_refusals(ledger: Ledger, rule: str, arguments: object) -> None:
    asked = message("assistant", None, call("1", "get_order_details", "HERE"))
    asked["tool_calls"][0]["arguments"] = arguments
    imported = ledger.takes(results(run("a", asked, output("1", "Error: Order not found"))))
    assert (1, 0) == (imported.runs, imported.outputs_differ)
    assert int(rule != "order.unknown") == imported.uncompared
    (audit,) = ledger.audits()
    assert (True, [rule]) == (audit.good, rules(audit))


# What is refused


def calling(*of: Any) -> dict[str, Any]:
    return message("assistant", None, call(*of))


@pytest.mark.parametrize(
    ("code",             "bad"),
    [
        ("source.id",        run("a b", HELLO)),
        ("source.id",        run("", HELLO)),
        ("source.id",        run("ä", HELLO)),
        ("source.id",        run("a\n", HELLO)),
        ("source.id",        run("a" * 129, HELLO)),
        ("source.id",        run(None, HELLO)),
        ("source.id",        run("bad", HELLO, task_id="task 1")),
        ("source.id",        run("bad", HELLO, task_id="")),
        ("source.messages",  run("bad", messages=None)),
        ("source.graded",    run("bad", HELLO, reward_info={"reward": "one"})),
        ("canonical.size",   run("bad", HELLO, message("assistant", "x" * (MIB + 1)))),
        ("canonical.size",   run("bad", HELLO, message("assistant", "é" * (MIB // 2 + 1)))),
        ("canonical.size",   run("bad", calling("1", "x"), output("1", "x" * (MIB + 1)))),
        ("canonical.size",   run("bad", calling("1", "x", {"a": "x" * MIB}))),
        ("canonical.size",   run("bad", calling("1", "x" * 70_000))),
        ("blob.size",        run("bad", HELLO, termination_reason="x" * MIB)),
        ("canonical.text",   run("bad", HELLO, message("user", "\ud800"))),
        ("canonical.text",   run("bad", HELLO, output("1", "\udc00"))),
        ("canonical.value",  run("bad", calling("1", "get_item_details", {"item_id": "\ud800"}))),
        ("canonical.value",  run("bad", calling("1", "\ud800"))),
        ("canonical.value",  run("bad", HELLO, termination_reason="\ud800")),
    ],
)  # fmt: skip
def test_a_run_that_cant_be_kept_is_named_and_leaves_nothing(
    ledger: Ledger, code: str, bad: dict[str, Any]
) -> None:
    good = results(run("first", HELLO), run("last", HELLO))
    ledger.takes(good)
    expected = ledger.rows()
    other = Ledger(ledger.folder / "other")
    other.folder.mkdir()
    imported = other.takes(results(run("first", HELLO), bad, run("last", HELLO)))
    assert [(1, code)] == [(one.index, one.code) for one in imported.refused]
    assert (2, 2) == (imported.runs, imported.messages)
    assert expected == other.rows()
    assert all(audit.good for audit in other.audits())


def test_texts_up_to_the_limit_are_kept(ledger: Ledger) -> None:
    long = [message("user", "x" * MIB), calling("1", "no_tool"), output("1", "y" * MIB)]
    assert [] == ledger.takes(results(run("a" * 128, *long))).refused
    (audit,) = ledger.audits()
    assert (True, MIB) == (audit.good, len(audit.evidence[0].texts["given"]))


def test_a_lone_bad_run_leaves_a_ledger_without_runs(ledger: Ledger) -> None:
    imported = ledger.takes(results(run("a b", HELLO)))
    assert (0, ["source.id"]) == (imported.runs, [run.code for run in imported.refused])
    assert {"runs": 0, "records": 0, "parts": 0, "blobs": 0, "notes": 0} == ledger.rows()


def test_flawed_runs_are_passed_on(ledger: Ledger) -> None:
    flawed = Flawed(0, "a", "source.task", "the run has no `task_id`")
    assert Imported(0, 0, 0, 0, 0, [flawed]) == ledger.takes(results(run("a", task_id=None)))


def test_one_run_twice_in_a_file_is_two_runs_and_one_file_under_two_names_too(ledger: Ledger) -> None:
    assert (2, []) == ledger.takes(results(run("a", HELLO), run("a", HELLO)))[::5]
    assert (2, []) == ledger.takes(results(run("a", HELLO), run("a", HELLO)), name="other.json")[::5]
    assert (1, []) == ledger.takes(viewer(HELLO))[::5]


def test_progress_is_told_run_by_run(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(results(run("a"), run("a b"), run("c", task_id=None))))
    told: list[int] = []
    with Store.write(tmp_path / "test.db", NAME, key_text(ledger_key(SECRET).public)) as store:
        import_runs(store, SECRET, NAME, read_source(path), COMPAT, lambda: told.append(len(store.runs())))
    assert [1, 1, 1] == told


# Who played

PLAYER = {"llm": "m", "implementation": "i", "llm_args": {"t": 0.5, "s": "x"}}
LONG = "m" * 900


@pytest.mark.parametrize(
    ("model", "name", "settings", "info"),
    [
        ("",      "",     {},                   None),
        ("",      "",     {},                   []),
        ("",      "",     {},                   {"agent_info": "x"}),
        ("m",     "i",    {"t": "0.5", "s": "x"}, {"agent_info": PLAYER}),
        (LONG[:500], "[1]", {},                 {"agent_info": {"llm": LONG, "implementation": [1]}}),
        ("",      "",     {},                   {"agent_info": {"llm_args": []}}),
        ("",      "",     {"a": '{"b": null}'}, {"agent_info": {"llm_args": {"a": {"b": None}, "ä": 1}}}),
    ],
)  # fmt: skip
def test_what_the_source_says_of_who_played_is_stated(
    ledger: Ledger, model: str, name: str, settings: dict[str, str], info: object
) -> None:
    ledger.takes(results(run("a", HELLO), info=info))
    (audit,) = ledger.audits()
    assert audit.good
    agent = opened(audit).parties[1].agent
    assert (model, name, settings, "") == (agent.model, agent.name, agent.settings, agent.version)


def test_settings_that_cant_be_kept_cost_the_runs_and_no_traceback(ledger: Ledger) -> None:
    path = ledger.folder / "runs.json"
    document = results(run("a"), info={"agent_info": {"llm_args": {"seed": "HERE"}}})
    path.write_text(json.dumps(document).replace('"HERE"', "9" * 5000))
    assert ["source.number"] == [run.code for run in ledger.imports(path).refused]
    many = {f"{number}": "x" * 500 for number in range(3_000)}
    assert ["canonical.size"] == [
        run.code for run in ledger.takes(results(run("a"), info={"user_info": {"llm_args": many}})).refused
    ]


# The shop


@pytest.mark.parametrize(
    ("code",         "text"),
    [
        ("source.json",  "{"),
        ("shop.type",    "[]"),
        ("shop.missing", "{}"),
        ("shop.type",    '{"products": {}, "users": {}, "orders": []}'),
        ("shop.unknown", '{"products": {}, "users": {}, "orders": {}, "simulations": []}'),
    ],
)  # fmt: skip
def test_a_file_that_is_no_shop_is_refused(tmp_path: Path, code: str, text: str) -> None:
    (path := tmp_path / "shop.json").write_text(text)
    with pytest.raises(SourceError) as refused:
        read_shop(path, "compat")
    assert code == refused.value.code


def test_a_mode_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(WorldError):
        read_shop(SUITE / "shop.json", "lenient")


# The 114 runs


def test_the_recorded_runs_come_out_as_they_were(shared: Path, ledger: Ledger) -> None:
    folder = shared / "data/tau2"
    shop = read_shop(folder / "retail_db.json.gz", "compat")
    assert Imported(114, 2534, 873, 0, 0, []) == ledger.imports(folder / "toolorchestra_retail.json.gz", shop)
    with Store.read(ledger.path) as store:
        runs = store.runs()
    audits = list(verify_store(ledger.path, runs))
    assert 114 == sum(audit.good for audit in audits)
    assert [] == [finding for audit in audits for finding in audit.findings]
    assert ledger.path.stat().st_size - sum(len(line) for line in shop.blob.lines) <= 114 * 25_000


def test_the_recorded_runs_in_strict_differ_in_what_is_shown(shared: Path, ledger: Ledger) -> None:
    folder = shared / "data/tau2"
    shop = read_shop(folder / "retail_db.json.gz", "strict")
    imported = ledger.imports(folder / "toolorchestra_retail.json.gz", shop)
    assert (114, 873, 0, []) == (imported.runs, imported.calls, imported.uncompared, imported.refused)
    assert imported.outputs_differ > 0


def test_a_ledger_that_fails_ends_the_import_and_refuses_no_run(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise LedgerError("ledger.write", "the disk is full")

    monkeypatch.setattr(Store, "add_run", full)
    with pytest.raises(LedgerError, match="the disk is full"):
        ledger.takes(results(run("hello", HELLO)))

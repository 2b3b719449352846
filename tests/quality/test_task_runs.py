"""What docs/FORMAT.md says of runs of tasks holds of played ones, read by nothing but JSON and hashes.

The schedule's text and this file are a reading of the format apart from the package: whoever checks
conduct with other code than ours goes by them.
"""

from __future__ import annotations

import json
import re
import tomllib
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from specimens import of_task

from tollbook.protocol.draws import Draws
from tollbook.tasks.play import conduct, desk, environment
from tollbook.tasks.play.play import MAX_ANSWERS

ROOT = Path(__file__).resolve().parents[2]
FORMAT = (ROOT / "docs" / "FORMAT.md").read_text(encoding="utf-8")
SECTION = FORMAT.split("## A run of a task\n")[1].split("\n## ")[0]
FILES = {
    task["id"]: task
    for path in (ROOT / "tasks" / "suites").rglob("t*.toml")
    for task in [tomllib.loads(path.read_text(encoding="utf-8"))]
}
SCRIPT = {"model": "", "name": "script", "settings": {}, "version": ""}


class Line(NamedTuple):
    record: dict[str, Any]
    parts: dict[str, str]

    @property
    def kind(self) -> str:
        return self.record["kind"]

    @property
    def body(self) -> dict[str, Any]:
        return self.record["body"]


def runs() -> dict[str, list[Line]]:
    """Played runs by their file and place: the golden ones, and the specimen."""
    found: dict[str, list[Line]] = {}
    golden = (ROOT / "tests" / "golden" / "commerce.jsonl").read_bytes()
    for name, bundle in (("golden", golden), ("specimen", of_task().bundle)):
        for line in bundle.splitlines():
            ((form, value),) = json.loads(line).items()
            if form == "record" and value["seq"] == 0:
                lines = found[f"{name} {len(found)}"] = []
            if form == "record":
                lines.append(Line(value, {}))
            elif form == "part":
                lines[-1].parts[value["field"]] = value["text"]
    return found


RUNS = runs()
run = pytest.mark.parametrize("lines", RUNS.values(), ids=list(RUNS))


def digest(value: object) -> str:
    return sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()


def actor_of(lines: list[Line]) -> str:
    return FILES[lines[0].body["task"]["id"]]["actor"]


@run
def test_how_it_opens(lines: list[Line]) -> None:
    opened = lines[0].body
    task = FILES[opened["task"]["id"]]
    assert digest([opened["task"]["id"], opened["task"]["case"], opened["trial"]]) == opened["seed"]
    roles = [(name, party.get("role", name)) for name, party in task["party"].items()]
    assert [*roles, ("operator", "operator")] == [(party["id"], party["role"]) for party in opened["parties"]]
    others = [party["agent"] for party in opened["parties"] if party["id"] != task["actor"]]
    assert [SCRIPT] * len(others) == others


@run
def test_who_is_told_what(lines: list[Line]) -> None:
    task = FILES[lines[0].body["task"]["id"]]
    due = [party for party, said in task["party"].items() if party == task["actor"] or said.get("mandate")]
    briefs = [line for line in lines if line.kind == "brief"]
    assert due == [line.body["party"] for line in briefs]
    for line in briefs:
        told = json.loads(line.parts["part"])
        spelled = json.dumps(told, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        assert spelled == line.parts["part"]
        assert {"brief", "mandate"} == set(told)
        assert (line.body["party"] == task["actor"]) == (told["brief"] != "")


@run
def test_the_clock_goes_on_after_each_act_and_its_answers(lines: list[Line]) -> None:
    said = [line for line in lines if line.kind == "message"]
    letters = {actor_of(lines): "a", "operator": "o"}
    senders = "".join(letters.get(line.body["from"], "s") for line in said)
    assert re.fullmatch("s*(as*o)+", senders)
    ticks = [line.body for line in said if line.body["from"] == "operator"]
    assert [{"kind": "clock.advance", "ticks": 1}] * len(ticks) == [body["action"] for body in ticks]
    assert {(None, None, None)} == {(body["to"], body["reply_to"], body["key"]) for body in ticks}


@run
def test_a_script_answers_what_was_sent_to_it_at_once(lines: list[Line]) -> None:
    last = None
    for line in lines:
        if line.kind != "message":
            continue
        if line.body["from"] not in (actor_of(lines), "operator"):
            assert last is not None
            assert line.body["from"] == last.body["to"]
            assert (last.body["from"], last.record["seq"]) == (line.body["to"], line.body["reply_to"])
        last = line


def test_a_turn_comes_before_the_message_that_it_led_to() -> None:
    (lines,) = [lines for name, lines in RUNS.items() if name.startswith("specimen")]
    actor = actor_of(lines)
    turns = [(line, after.body) for line, after in pairwise(lines) if line.kind == "turn"]
    acts = [line.body["n"] for line in lines if line.kind == "message" and line.body["from"] == actor]
    assert acts == [line.body["n"] for line, _after in turns]
    assert [(actor, n) for n in acts] == [(after["from"], after["n"]) for _line, after in turns]
    assert [{"given", "gave"}] * len(acts) == [set(line.parts) for line, _after in turns]


def test_an_environment_note_says_what_the_page_says() -> None:
    head, line, end = environment.environment_note("0" * 64).split("\n")
    assert ("tollbook.environment/1", "") == (head, end)
    text = FORMAT.split("An environment note says")[1].split("It is\n")[0]
    assert {"root"} | set(re.findall("`([a-z]+)`", text)) == set(json.loads(line))


@pytest.mark.parametrize(("low", "high"), [(0, 9), (-5, 5), (1, 1), (0, 2**53 - 1)])
def test_a_draw_is_what_the_page_says(low: int, high: int) -> None:
    seed, span = "5e" * 32, high - low + 1
    words = (int.from_bytes(bytes.fromhex(digest([seed, "draw:a", k])[:16]), "big") for k in range(99))
    due = low + next(word for word in words if word < span * (2**64 // span)) % span
    assert due == Draws(seed, "draw:a").integer(low, high)


def test_every_code_of_conduct_is_on_the_page() -> None:
    source = "".join(Path(module.__file__ or "").read_text(encoding="utf-8") for module in (conduct, desk))
    compared = {f"conduct.{name}" for name in ("to", "reply_to", "key")}
    used = set(re.findall(r'"(conduct\.[a-z_]+)"', source)) | compared
    table = FORMAT.split("| code | what is wrong |")[1].split("\n## ")[0]
    assert used == set(re.findall(r"`(conduct\.[a-z_]+)`", table))


def test_the_page_states_the_limits_of_the_code() -> None:
    assert f"at most {MAX_ANSWERS} for one message of the actor" in SECTION

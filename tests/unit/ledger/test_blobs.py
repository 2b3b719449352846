from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from small_run import TASK, WORLD, facts
from steady_world import Counter, CounterWorld

from tollbook.ledger import blobs
from tollbook.ledger.blobs import Blob, Shelf, facts_blob, facts_of, misnamed, name_of, task_blob, task_text
from tollbook.protocol.errors import BundleError
from tollbook.protocol.world import world_of

RETAIL = world_of(WORLD)
COUNTER = CounterWorld()


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(BundleError) as caught:
        act()
    return caught.value.code


def changed(blob: Blob, **fields: Any) -> Blob:
    """The blob with other fields in each of its lines, its name kept."""
    lines = [{"blob": {**json.loads(line)["blob"], **fields}} for line in blob.lines]
    return Blob(
        blob.digest, [json.dumps(one, sort_keys=True, separators=(",", ":")).encode() for one in lines]
    )


def test_start_rows_come_back_from_their_blob() -> None:
    blob = facts_blob(facts())
    again = facts_of(blob, RETAIL)
    assert (facts().root, list(facts().rows())) == (again.root, list(again.rows()))
    assert blob.digest == facts().root == name_of(blob.lines[0])
    assert misnamed(blob) is None


def test_a_world_without_rows_has_a_blob() -> None:
    empty = COUNTER.facts([])
    blob = facts_blob(empty)
    assert 1 == len(blob.lines)
    assert empty.root == facts_of(blob, COUNTER).root
    assert misnamed(blob) is None


@pytest.mark.parametrize(("count", "lines"), [(0, 1), (1, 1), (1000, 1), (1001, 2), (2000, 2), (2001, 3)])
def test_rows_are_cut_into_lines_of_a_thousand(count: int, lines: int) -> None:
    rows = COUNTER.facts(("counter", f"{place:05}", Counter(place, "")) for place in range(count))
    blob = facts_blob(rows)
    assert lines == len(blob.lines)
    assert [rows.root] * lines == [name_of(line) for line in blob.lines]
    assert rows.root == facts_of(blob, COUNTER).root
    assert misnamed(blob) is None


def test_large_rows_are_cut_into_lines_that_a_bundle_can_hold() -> None:
    rows = COUNTER.facts(("counter", str(place), Counter(0, "x" * 1_000_000)) for place in range(9))
    blob = facts_blob(rows)
    assert 3 == len(blob.lines)
    assert max(map(len, blob.lines)) < blobs.MAX_BLOB_LINE_BYTES
    assert rows.root == facts_of(blob, COUNTER).root


def test_rows_that_are_not_what_their_name_says() -> None:
    blob = facts_blob(COUNTER.facts([("counter", "a", Counter(1, "")), ("counter", "b", Counter(2, ""))]))
    row = ["counter", "a", {"count": 1, "note": ""}]
    tables = ["counter", "idempotency"]
    cases: list[tuple[str, Blob]] = [
        ("blob.digest", changed(blob, rows=[row])),
        ("blob.digest", changed(blob, rows=[row, ["counter", "b", {"count": 3, "note": ""}]])),
        ("blob.digest", changed(blob, rows=[*json.loads(blob.lines[0])["blob"]["rows"]][::-1])),
        ("blob.digest", changed(blob, rows=[row, row])),
        ("blob.digest", changed(blob, tables=["counter"])),
        ("blob.digest", changed(blob, tables=tables[::-1])),
        ("blob.digest", changed(blob, tables=[*tables, "more"])),
        ("blob.digest", changed(blob, rows=[["more", "a", {}]])),
        ("blob.digest", Blob("0" * 64, blob.lines)),
        ("blob.digest", Blob(blob.digest, [*blob.lines, *blob.lines])),
        ("bundle.form", Blob(blob.digest, [blob.lines[0][:-1]])),
        ("bundle.form", Blob(blob.digest, [blob.lines[0].replace(b'"count":1', b'"count": 1')])),
        ("bundle.form", Blob(blob.digest, [blob.lines[0].replace(b'"count":1', b'"count":1.0')])),
    ]
    for code, wrong in cases:
        assert code == (misnamed(wrong) or ("", ""))[0], wrong
        assert code == code_of(lambda wrong=wrong: facts_of(wrong, COUNTER)), wrong


def test_rows_of_another_world_are_refused() -> None:
    blob = facts_blob(COUNTER.facts([("counter", "a", Counter(1, ""))]))
    assert "blob.form" == code_of(lambda: facts_of(blob, RETAIL))
    assert "blob.form" == code_of(lambda: facts_of(task_blob(TASK), RETAIL))


def test_rows_cut_into_other_lines_are_refused() -> None:
    """One name, one blob: a bundle that is imported exports to the same bytes."""
    blob = facts_blob(COUNTER.facts([("counter", "a", Counter(1, "")), ("counter", "b", Counter(2, ""))]))
    rows = json.loads(blob.lines[0])["blob"]["rows"]
    halves = [changed(blob, rows=rows[:1]).lines[0], changed(blob, rows=rows[1:]).lines[0]]
    assert "blob.form" == code_of(lambda: facts_of(Blob(blob.digest, halves), COUNTER))


def test_a_tasks_text_comes_back_from_its_blob() -> None:
    text = "a task\n\u2028 ü \0"
    blob = task_blob(text)
    assert sha256(text.encode()).hexdigest() == blob.digest == name_of(blob.lines[0])
    assert text == task_text(blob)
    assert misnamed(blob) is None


def test_a_task_that_is_not_what_its_name_says() -> None:
    blob = task_blob(TASK)
    assert "blob.digest" == code_of(lambda: task_text(changed(blob, text="another")))
    assert "blob.digest" == code_of(lambda: task_text(Blob("0" * 64, blob.lines)))
    assert "blob.digest" == code_of(lambda: task_text(Blob(blob.digest, [*blob.lines, *blob.lines])))
    assert "blob.form" == code_of(lambda: task_text(facts_blob(facts())))


def test_a_task_has_a_mebibyte_at_most() -> None:
    assert 2**20 == len(task_text(task_blob("x" * 2**20)))
    assert "blob.size" == code_of(lambda: task_blob("x" * 2**20 + "x"))
    text = "x" * (2**20 + 1)
    digest = sha256(text.encode()).hexdigest()
    forged = Blob(
        digest, [b'{"blob":{"kind":"task","of":"%b","text":"%b"}}' % (digest.encode(), text.encode())]
    )
    assert "blob.digest" == code_of(lambda: task_text(forged))


def test_a_shelf_reads_each_blob_once_and_says_which() -> None:
    asked: list[str] = []
    held = {blob.digest: blob for blob in (facts_blob(facts()), task_blob(TASK))}

    def fetch(digest: str) -> Blob | None:
        asked.append(digest)
        return held.get(digest)

    shelf = Shelf(fetch)
    assert shelf.facts(facts().root, RETAIL) is shelf.facts(facts().root, RETAIL)
    assert TASK == shelf.task(task_blob(TASK).digest)
    assert (None, None) == (shelf.facts("0" * 64, RETAIL), shelf.task("0" * 64))
    assert 1 == asked.count(facts().root)
    assert set(held) == shelf.read


@pytest.mark.parametrize(("most", "value"), [("MAX_ROWS_HELD", 90), ("MAX_FACTS_HELD", 2)])
def test_a_shelf_holds_only_the_start_rows_used_last(
    monkeypatch: pytest.MonkeyPatch, most: str, value: int
) -> None:
    many = [
        COUNTER.facts(("counter", str(key), Counter(place, "")) for key in range(40)) for place in range(3)
    ]
    held = {one.root: facts_blob(one) for one in many}
    asked: list[str] = []

    def fetch(digest: str) -> Blob | None:
        asked.append(digest)
        return held[digest]

    monkeypatch.setattr(blobs, most, value)
    shelf = Shelf(fetch)
    for place in (0, 1, 0, 2, 0, 1):
        assert many[place].root == getattr(shelf.facts(many[place].root, COUNTER), "root", None)
    assert [many[place].root for place in (0, 1, 2, 1)] == asked

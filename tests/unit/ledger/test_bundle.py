from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from small_run import Exported, begin, exported, ledger, small_run

from tollbook.ledger.bundle import (
    MAX_LINE_BYTES,
    Bundle,
    Flaw,
    export_lines,
    open_bundle,
    opened_of,
    read_items,
    write_bundle,
)
from tollbook.ledger.records import Part, Stored
from tollbook.ledger.store import Draft, Store
from tollbook.protocol.errors import BundleError, LedgerError, TollbookError

NOTE = b'{"note":{"text":"a note\\n"}}\n'
PART = b'{"part":{"field":"text","salt":"00000000000000000000000000000000","text":"x"}}\n'
TASK = b'{"blob":{"kind":"task","of":"%b","text":"x"}}\n' % (b"ab" * 32)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    with ledger(tmp_path_factory.mktemp("source") / "a.db") as store:
        small_run(store)
        small_run(store, trial=1)
        return exported(store)


def record(place: int, **fields: str) -> bytes:
    values = {
        "body": '{"gave":null,"given":null,"n":null,"party":"a","usage":null}',
        "kind": '"turn"',
        "prev": f'"{"ab" * 32}"',
        "seq": str(place),
        "sig": "null",
        "v": "1",
        **fields,
    }
    return b'{"record":{%b}}\n' % ",".join(f'"{name}":{value}' for name, value in values.items()).encode()


def code_of(act: Callable[[], object], kind: type[TollbookError] = BundleError) -> str:
    with pytest.raises(kind) as caught:
        act()
    assert caught.value.hint
    return caught.value.code


def shape(data: bytes) -> list[str]:
    """Each run of a bundle in a line: seqs with the number of parts, notes, and codes of flaws."""
    found: list[str] = []
    for section in Bundle(io.BytesIO(data)).runs():
        records = [
            one.code if isinstance(one, Flaw) else f"{one.seq}{'+' * len(one.parts)}"
            for one in section.records
        ]
        flaws = [f"{line}:{flaw.code}" for line, flaw in section.flaws]
        found.append(" ".join([*records, *["note"] * len(section.notes), *flaws]))
    return found


@pytest.mark.parametrize(
    ("expected", "lines"),
    [
        (["0 1 2"], [record(0), record(1), record(2)]),
        (["0 1", "0"], [record(0), record(1), record(0)]),
        (["0 note note", "1"], [record(0), NOTE, NOTE, record(1)]),
        (["7 9"], [record(7), record(9)]),
        (["0+ 1 note"], [record(0), PART, record(1), NOTE]),
        (["0+ 3:bundle.form"], [record(0), PART, PART, record(1)]),
        (["0 note 3:bundle.form"], [record(0), NOTE, PART, record(1)]),
        (["0 2:bundle.form", "0"], [record(0), TASK, record(1), record(0)]),
        (["0 2:bundle.form", "2"], [record(0), b"\n", NOTE, record(2)]),
        (["0 2:bundle.torn"], [record(0), record(1)[:-1]]),
        (["0 2:bundle.torn"], [record(0), b"{"]),
        (["0 record.form", "0"], [record(0), record(1, v="2"), record(2), record(0)]),
        (["0 note", "record.form", "0"], [record(0), NOTE, record(1, kind='"other"'), record(2), record(0)]),
        (["0", "record.spelling"], [record(0), record(0, seq=" 0"), record(1)]),
        (["record.form"], [record(0, seq="-1"), record(1)]),
        (["0 2:bundle.form"], [record(0), PART.replace(b'"text":"x"', b'"text":"\\u0078"')]),
        (["0 2:bundle.form"], [record(0), PART.replace(b"000", b"00", 1)]),
        (["0 2:bundle.form"], [record(0), NOTE.replace(b'"text"', b'"more":1,"text"')]),
        (["0 2:bundle.form"], [record(0), b"x" * 10_000 + b"\n", record(1)]),
    ],
)
def test_lines_make_runs(expected: list[str], lines: list[bytes]) -> None:
    assert expected == shape(b"".join(lines))


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("record.size", record(1, body='"' + "x" * 2**20 + '"')),
        ("record.depth", record(1, body="[" * 16 + "]" * 16)),
        ("record.form", record(1, more="1")),
        ("record.form", record(1, prev='"ab"')),
        ("record.form", record(1, seq="2147483648")),
        ("record.form", record(1, seq="1.0")),
        ("record.form", record(1, v="true")),
        ("record.form", record(1, kind='"ruling"')),
        ("record.form", record(1, sig='"' + "A" * 89 + '"')),
        ("record.form", record(1).replace(b"turn", b"\xff")),
        ("record.spelling", record(1).replace(b'"seq"', b' "seq"')),
        (
            "record.spelling",
            record(1).replace(b'"kind":"turn",', b"").replace(b'"v":1', b'"v":1,"kind":"turn"'),
        ),
        ("record.spelling", record(1).replace(b"turn", b"t\\u0075rn")),
        ("record.spelling", record(1).replace(b'"v":1', b'"v":1,"v":1')),
        ("record.form", record(1).replace(b'"v":1', b'"v":1 ').replace(b'"party":"a"', b'"party":1')),
    ],
)
def test_a_record_that_cannot_be_read_says_why(code: str, line: bytes) -> None:
    (item,) = read_items(io.BytesIO(line))
    assert isinstance(item.content, Flaw)
    assert code == item.content.code


def test_a_body_is_left_to_whoever_knows_its_kind() -> None:
    (item,) = read_items(io.BytesIO(record(1, body='{"party":1}')))
    assert isinstance(item.content, Stored)
    assert Stored(1, "turn", b'{"party":1}', None, "ab" * 32, ()) == item.content


def test_what_a_signature_is_spelled_like_is_kept() -> None:
    (item,) = read_items(io.BytesIO(record(1, sig='"\\"\\\\"')))
    assert isinstance(item.content, Stored)
    assert r"\"\\" == item.content.sig


def test_a_long_line_is_passed_over_in_pieces() -> None:
    class Counting(io.BytesIO):
        largest = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            self.largest = max(self.largest, len(line))
            return line

    file = Counting(record(0) + b"x" * (3 * MAX_LINE_BYTES) + b"\n" + record(0))
    assert [(1, "record"), (2, "none"), (3, "record")] == [
        (item.line, item.form) for item in read_items(file)
    ]
    assert file.largest <= MAX_LINE_BYTES + 1


def test_blobs_come_first_and_each_once() -> None:
    other = TASK.replace(b"ab", b"cd")
    good = Bundle(io.BytesIO(TASK + other + record(0)))
    assert (["ab" * 32, "cd" * 32], []) == (list(good.blobs), good.flaws)
    for lines in (
        TASK + other + TASK,
        TASK + NOTE,
        PART,
        b"\n",
        TASK.replace(b"task", b"text"),
        TASK.replace(b":", b": "),
    ):
        bad = Bundle(io.BytesIO(lines + record(0)))
        assert ["bundle.form"] == [flaw.code for _line, flaw in bad.flaws]
    assert 2 == len(Bundle(io.BytesIO(TASK + TASK + record(0))).blobs["ab" * 32].lines)


def test_what_is_no_bundle_is_said(tmp_path: Path) -> None:
    cases = {
        "bundle.empty": b"",
        "bundle.form": b"text\n",
        "bundle.torn": record(0)[:-1],
    }
    assert cases == {code_of(lambda data=data: Bundle(io.BytesIO(data))): data for data in cases.values()}
    assert "bundle.empty" == code_of(lambda: Bundle(io.BytesIO(TASK)))
    assert "bundle.missing" == code_of(lambda: open_bundle(tmp_path / "none"))
    assert "bundle.directory" == code_of(lambda: open_bundle(tmp_path))
    packed = tmp_path / "a.gz"
    for damage in (gzip.compress(record(0) * 99)[:-1], gzip.compress(record(0) * 99)[:40] + b"xxxxxxxxx"):
        packed.write_bytes(damage)
        with open_bundle(packed) as file:
            assert "bundle.gzip" == code_of(
                lambda file=file: [list(one.records) for one in Bundle(file).runs()]
            )


def test_an_export_reads_back(bundle: Exported, tmp_path: Path) -> None:
    for path in (tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"):
        write_bundle(path, bundle.lines)
        with open_bundle(path) as file:
            read = Bundle(file)
            assert [] == read.flaws
            assert 2 == len(read.blobs)
            runs = [(list(section.records), section.notes, section.flaws) for section in read.runs()]
        assert [1, 1] == [len(notes) for _records, notes, _flaws in runs]
        assert [0, 0] == [len(flaws) for _records, _notes, flaws in runs]
        parts = [
            part
            for records, _notes, _flaws in runs
            for one in records
            if isinstance(one, Stored)
            for part in one.parts
        ]
        assert "cancelled" in "".join(part.text.text for part in parts if isinstance(part, Part))
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.jsonl", "a.jsonl.gz"]


def test_the_same_runs_pack_to_the_same_bytes(bundle: Exported, tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_bundle(tmp_path / name, bundle.lines)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_a_withheld_export_has_all_but_the_parts(tmp_path: Path) -> None:
    with ledger(tmp_path / "a.db") as store:
        small_run(store)
        whole, bare = exported(store).lines, exported(store, withhold=True).lines
    assert bare == [line for line in whole if not line.startswith(b'{"part":')]
    assert len(bare) < len(whole)


def test_a_bundle_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("before")

    def broken() -> object:
        yield b"line\n"
        raise LedgerError("store.damaged", "text", "hint")

    assert "store.damaged" == code_of(lambda: write_bundle(path, broken()), LedgerError)  # pyright: ignore[reportArgumentType]
    assert "bundle.write" == code_of(lambda: write_bundle(tmp_path / "none" / "a", []))
    (tmp_path / "folder").mkdir()
    assert "bundle.write" == code_of(lambda: write_bundle(tmp_path / "folder", [b"line\n"]))
    assert ("before", 2) == (path.read_text(), len(list(tmp_path.iterdir())))


def test_a_run_without_its_open_is_not_exported(tmp_path: Path) -> None:
    with ledger(tmp_path / "a.db") as store:
        number = store.add_run("ab" * 32, [Draft("turn", b"[]", None)], [])
        writer = begin(store)
        assert "run.damaged" == code_of(lambda: list(export_lines(store, [(number, "ab" * 32)])), LedgerError)
        assert writer.opened == opened_of(store, 2)
    with Store.read(tmp_path / "a.db") as store:
        assert list(export_lines(store, store.runs()[1:]))

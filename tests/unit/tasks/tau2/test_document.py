"""Reading a JSON file: what is damaged, too large or not JSON is refused; what Python reads is read."""

from __future__ import annotations

import gzip
import json
import os
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tollbook.protocol.errors import SourceError
from tollbook.tasks.tau2 import document
from tollbook.tasks.tau2.document import MAX_DIGITS, Oversized, list_of, object_of, read_json, shown, text_of

CONTENT = '{"ä": [1, -2.5e3, null]}'.encode()
PACKED = gzip.compress(CONTENT, mtime=0)


MARKED = b"\xef\xbb\xbf" + CONTENT


@pytest.mark.parametrize("content", [CONTENT, PACKED, PACKED + gzip.compress(b"\n", mtime=0), MARKED])
def test_plain_or_packed_the_content_is_read_and_its_digest_taken(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(content)
    found, digest = read_json(path)
    assert {"ä": [1, -2500.0, None]} == found
    inside = gzip.decompress(content) if content.startswith(b"\x1f") else content
    assert sha256(inside).hexdigest() == digest


@pytest.mark.parametrize(
    ("code",        "content"),
    [
        ("source.json", b""),
        ("source.json", b"{"),
        ("source.json", b"{} {}"),
        ("source.json", b"not JSON"),
        ("source.json", b"\xff\xfe\xfd"),
        ("source.json", b"[" * 100_000),
        ("source.json", b"[" * 100_000 + b"]" * 100_000),
        ("source.json", b"\x1f"),
        ("source.gzip", b"\x1f\x8b"),
        ("source.gzip", PACKED[:-1]),
        ("source.gzip", PACKED[:-9]),
        ("source.gzip", PACKED[:12] + b"\xff" + PACKED[13:]),
        ("source.gzip", PACKED[:-6] + b"\x00\x00" + PACKED[-4:]),
        ("source.gzip", PACKED + b"more"),
        ("source.size", b"[" + b" " * 100 + b"]"),
        ("source.size", gzip.compress(b"[" + b" " * 100 + b"]", mtime=0)),
    ],
)  # fmt: skip
def test_what_is_not_a_whole_json_document_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, content: bytes
) -> None:
    if code == "source.size":
        monkeypatch.setattr(document, "MAX_CONTENT_BYTES", 100)
    path = tmp_path / "runs.json"
    path.write_bytes(content)
    with pytest.raises(SourceError) as refused:
        read_json(path)
    assert (code, 1) == (refused.value.code, len(refused.value.text.splitlines()))
    assert refused.value.hint


@pytest.mark.parametrize(
    ("code",             "name"),
    [
        ("source.missing",   "no.json"),
        ("source.directory", "folder"),
        ("source.open",      "file/below"),
        ("source.open",      "n" * 300),
    ],
)  # fmt: skip
def test_a_path_that_is_no_file_is_refused(tmp_path: Path, code: str, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(SourceError) as refused:
        read_json(tmp_path / name)
    assert code == refused.value.code


def test_a_pipe_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(PACKED,))
    writer.start()
    assert {"ä": [1, -2500.0, None]} == read_json(path)[0]
    writer.join()


def test_a_number_of_too_many_digits_costs_only_who_needs_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(f'[{"9" * MAX_DIGITS}, {"9" * (MAX_DIGITS + 1)}, -{"1" * 100_000}]')
    small, large, larger = read_json(path)[0]
    assert int("9" * MAX_DIGITS) == small
    assert (MAX_DIGITS + 1, 100_001) == (large.digits, larger.digits)
    assert "9" * MAX_DIGITS == text_of(small, "it")
    with pytest.raises(SourceError, match="641 digits"):
        text_of({"a": [large]}, "it")


def test_text_of_nesting_that_python_cant_print_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(SourceError, match="nested too deep"):
        text_of(deep, "it")
    while deep:  # or freeing it would overflow the interpreter's own stack
        deep = deep.pop()


def test_text_is_json_as_python_writes_it() -> None:
    assert '{"\\u00e4": NaN, "\\ud800": [1, null]}' == text_of({"ä": float("nan"), "\ud800": [1, None]}, "it")
    assert [1] == json.loads(text_of([1], "it"))


@pytest.mark.parametrize(
    ("expected",           "value"),
    [
        ("`system`",           "system"),
        ("`\\n\\ud800\\xe4`",  "\n\ud800ä"),
        (f"`{'a' * 40}`",      "a" * 40),
        (f"`{'a' * 40}…`",     "a" * 41),
        ("`NoneType`",         None),
        ("`dict`",             {"a": 1}),
        ("`a number of 9 digits`", Oversized(9)),
    ],
)  # fmt: skip
def test_a_value_is_shown_short_and_printable(expected: str, value: object) -> None:
    assert expected == shown(value)


def test_objects_and_arrays_are_told_apart() -> None:
    assert ({"a": 1}, None, None) == (object_of({"a": 1}), object_of([1]), object_of(None))
    assert ([1], None, None) == (list_of([1]), list_of({"a": 1}), list_of("a"))

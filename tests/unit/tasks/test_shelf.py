"""A word finds a task by path, folder or id; a wrong one is met with the nearest right one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tollbook.protocol.errors import TaskError
from tollbook.tasks.shelf import builtin_tasks, find_task, find_tasks

TASK = 'id = "mine"\n[reference]\nstep = []\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "b.toml").write_text(TASK)
    (tmp_path / "deep" / "er" / "a.toml").write_text("[case]\n" + TASK.replace("[reference]\n", "reference."))
    (tmp_path / "deep" / "predicates.toml").write_text("[predicate.reference]\n")
    (tmp_path / "none").mkdir()
    return tmp_path


def test_the_built_in_tasks_are_named_by_their_files() -> None:
    found = builtin_tasks()
    assert {"t4.buyer_zopa", "t7.merchant_refund"} <= {each.name for each in found}
    assert [each.name for each in found] == [tomllib.loads(each.text)["id"] for each in found]
    assert [each.name for each in found] == sorted(each.name for each in found)


def test_a_word_is_an_id_a_path_or_a_folder(folder: Path) -> None:
    assert builtin_tasks()[0] == find_task(builtin_tasks()[0].name)
    assert ("deep/b.toml", TASK) == find_task("deep/b.toml")
    assert ["deep/b.toml", "deep/er/a.toml"] == [found.name for found in find_tasks(["deep"])]
    words = ["deep/er", "deep/b.toml"]
    assert ["deep/er/a.toml", "deep/b.toml"] == [found.name for found in find_tasks(words)]
    (folder / "t4.buyer_zopa").write_text(TASK)
    assert "t4.buyer_zopa" == find_task("t4.buyer_zopa").name
    assert ("./t4.buyer_zopa", TASK) == find_task("./t4.buyer_zopa")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("code",         "word",           "hint"),
    [
        ("task.unknown", "t4.buyer_zop",   "did you mean `t4.buyer_zopa`?"),
        ("task.unknown", "xyz",            "give the path of a file, or an id of `tollbook task list`"),
        ("task.unknown", "none",           "a task file ends in `.toml` and has a `[reference]`"),
        ("task.several", "deep",           "name one of them: `deep/b.toml`, `deep/er/a.toml`"),
    ],
)  # fmt: skip
def test_a_wrong_word_has_a_way_out(code: str, word: str, hint: str) -> None:
    with pytest.raises(TaskError) as caught:
        find_task(word)
    assert (code, hint) == (caught.value.code, caught.value.hint)


def test_bytes_that_are_no_task(folder: Path) -> None:
    (folder / "big.toml").write_bytes(b"#" * 70_000)
    (folder / "latin.toml").write_bytes(TASK.encode() + b"# \xe9")
    for code, word in (("task.size", "big.toml"), ("task.utf8", "latin.toml")):
        with pytest.raises(TaskError) as caught:
            find_task(word)
        assert code == caught.value.code
    with pytest.raises(FileNotFoundError):
        find_task("missing.toml")

"""A word finds a task by path, folder or id; a wrong one is met with the nearest right one."""

from __future__ import annotations

import tomllib
from collections.abc import Generator
from pathlib import Path

import pytest

from tollbook.protocol.errors import TaskError
from tollbook.tasks import shelf
from tollbook.tasks.cli import main
from tollbook.tasks.console import Exit
from tollbook.tasks.format.skeleton import skeleton
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


@pytest.fixture
def suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """The folder of a package with one built-in task, and predicates that are none."""
    monkeypatch.setattr(shelf, "files", lambda _package: tmp_path)
    caches = (shelf.builtin_tasks, shelf._builtin_files)  # noqa: SLF001
    for each in caches:
        each.cache_clear()
    folder = tmp_path / "suites" / "kitchen"
    folder.mkdir(parents=True)
    (folder / "t1.kettle.toml").write_text(skeleton("t1.kettle", "commerce", "buyer"))
    (folder / "predicates.toml").write_text("[predicate.reference]\n")
    yield folder
    for each in caches:
        each.cache_clear()


@pytest.mark.parametrize(("expected", "broken"), [(Exit.GOOD, False), (Exit.FOUND_FALSE, True)])
def test_without_a_word_every_built_in_task_is_linted(
    suites: Path, capsys: pytest.CaptureFixture[str], expected: Exit, *, broken: bool
) -> None:
    if broken:
        (suites / "t1.pan.toml").write_text('id = "t1.pan"\n')
    assert expected == main(["task", "lint"])
    sums = [line.split(": ")[0] for line in capsys.readouterr().out.splitlines() if ", 0 warnings" in line]
    assert ["t1.kettle", *["t1.pan"][:broken]] == sums


@pytest.mark.parametrize(
    ("data",                             "words",         "told"),
    [
        (b"",                            "lint t1.pan",   "t1.pan:"),
        (b"[",                           "lint t1.pan",   "t1.pan:1: error: "),
        (b"[",                           "show t1.pan",   "error: t1.pan:1: "),
        (b"[",                           "list",          "error: t1.pan:1: "),
        (b'id = "t1.pan"',               "list",          "error: t1.pan: "),
        (b"\xff",                        "lint t1.pan",   "error: `t1.pan` is not UTF-8"),
        (b"\xff",                        "list",          "error: `t1.pan` is not UTF-8"),
        (b"\xff",                        "lint t1.kettle", "t1.kettle: 0 errors"),
        (b"[",                           "lint predicates", "error: there is no task `predicates`"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_built_in_task_is_told(
    suites: Path, capsys: pytest.CaptureFixture[str], data: bytes, words: str, told: str
) -> None:
    (suites / "t1.pan.toml").write_bytes(data)
    main(["task", *words.split()])
    said = capsys.readouterr()
    assert (said.out + said.err).startswith(told)

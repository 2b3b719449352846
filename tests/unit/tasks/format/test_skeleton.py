"""The file an author begins with plays at full credit, and is never written over another."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tollbook.protocol.errors import TaskError
from tollbook.tasks.commands.task_new import command
from tollbook.tasks.format.skeleton import skeleton, skeletons
from tollbook.tasks.format.task import load_task
from tollbook.tasks.shelf import builtin_tasks

EACH = [(world, actor) for world, actors in skeletons().items() for actor in actors]


def test_there_is_one_for_each_side_of_the_market() -> None:
    assert {"commerce": ["buyer", "merchant"]} == skeletons()


@pytest.mark.parametrize(("world", "actor"), EACH)
def test_a_skeleton_is_a_task_of_that_id_and_actor(world: str, actor: str) -> None:
    task = load_task(skeleton("my_task", world, actor))
    assert ("my_task", world, actor) == (task.file.id, task.file.world, task.actor)


@pytest.mark.parametrize(("world", "actor"), EACH)
def test_a_skeleton_shows_every_section_that_an_author_needs(world: str, actor: str) -> None:
    file = load_task(skeleton("my_task", world, actor)).file
    sections = ("case", "defaults", "facts", "party", "script", "oracle", "let", "predicate", "cap")
    assert [name for name in (*sections, "mutation", "cheat") if not getattr(file, name)] == []


def test_no_skeleton_is_a_built_in_task() -> None:
    assert [found.name for found in builtin_tasks() if "skeleton" in found.name or "@id@" in found.text] == []


@pytest.mark.parametrize(
    ("code",        "task_id",    "world",    "actor"),
    [
        ("task.name",   "My Task",    "commerce", "buyer"),
        ("task.name",   "",           "commerce", "buyer"),
        ("task.name",   'a"\nx = "',  "commerce", "buyer"),
        ("task.name",   "a" * 129,    "commerce", "buyer"),
        ("task.world",  "a",          "comerce",  "buyer"),
        ("task.actor",  "a",          "commerce", "operator"),
    ],
)  # fmt: skip
def test_what_there_is_none_for_is_said(code: str, task_id: str, world: str, actor: str) -> None:
    with pytest.raises(TaskError) as caught:
        skeleton(task_id, world, actor)
    assert code == caught.value.code
    assert caught.value.hint


def test_a_new_task_is_written_and_named_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "t1.kettle.toml"
    done = CliRunner().invoke(command, [str(path), "--actor", "merchant"], catch_exceptions=False)
    assert f"wrote {path}\nnext: tollbook task lint {path}\n" == done.output
    assert path.read_text(encoding="utf-8") == skeleton("t1.kettle", "commerce", "merchant")


@pytest.mark.parametrize(
    ("code",        "name"),
    [
        ("task.file",   "a.tml"),
        ("task.file",   "a"),
        ("task.name",   "A.toml"),
        ("task.exists", "there.toml"),
        ("task.exists", "nowhere.toml"),
        ("task.exists", "folder.toml"),
        ("task.folder", "missing/a.toml"),
        ("task.folder", "there.toml/a.toml"),
    ],
)  # fmt: skip
def test_nothing_is_written_where_it_must_not_be(tmp_path: Path, code: str, name: str) -> None:
    (tmp_path / "there.toml").write_text("mine")
    (tmp_path / "nowhere.toml").symlink_to(tmp_path / "gone")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(TaskError) as caught:
        CliRunner().invoke(command, [str(tmp_path / name)], catch_exceptions=False)
    assert code == caught.value.code
    assert caught.value.hint
    assert ["folder.toml", "nowhere.toml", "there.toml"] == sorted(path.name for path in tmp_path.iterdir())
    assert "mine" == (tmp_path / "there.toml").read_text()

"""Each script, command by command; and that the runner tells right from wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from script import Stage, parse, play

SCRIPTS = sorted(Path(__file__).parent.glob("*.script"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_prints_what_it_says(path: Path, tmp_path: Path) -> None:
    played = play(parse(path), tmp_path)
    assert played
    for expected, found in played:
        assert expected == found


RIGHT = """\
% secret a.secret
$ tollbook --secret a.secret key show
> tollbook.local+$id+…
$ TOLLBOOK_NAME=abc tollbook --version
> tollbook …
$ tollbook verify-$id
! error: there is no command `verify-$id`
! …
= 2
"""


@pytest.mark.parametrize(
    ("is_right", "old",             "new"),
    [
        (True,   "",                ""),
        (True,   "> tollbook …",    "> …"),
        (True,   "! …",             "! hint: see `tollbook --help`"),
        (True,   "= 2",             "! …\n= 2"),
        (True,   "> tollbook …",    "> …\n> tollbook …"),
        (False,  "> tollbook …",    "> tollbook …\n> tollbook …"),
        (False,  "> tollbook …",    "! tollbook …"),
        (False,  "> tollbook …\n",  ""),
        (False,  "tollbook …",      "tollbook"),
        (False,  "= 2",             "= 1"),
        (False,  "= 2",             ""),
        (False,  "local+$id+…",     "remote+$id+…"),
        (False,  "verify-$id`",     "verify-0000`"),
        (False,  "! …\n",           ""),
    ],
)  # fmt: skip
def test_the_runner_finds_every_difference(tmp_path: Path, is_right: bool, old: str, new: str) -> None:  # noqa: FBT001 - a column
    script = tmp_path / "a.script"
    assert old in RIGHT
    script.write_text(RIGHT.replace(old, new, 1))
    (tmp_path / "stage").mkdir()
    assert is_right == all(expected == found for expected, found in play(parse(script), tmp_path / "stage"))


def test_a_closed_file_is_closed_to_root_too(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.prepare("secret a.secret")
    stage.prepare("closed a.secret")
    assert stage.run("tollbook --secret a.secret key show").lines() == [
        "! error: `a.secret` cannot be used: permission denied",
        "! hint: check its owner and mode with `ls -ld`",
        "= 1",
    ]


def test_a_line_without_a_mark_is_no_script(tmp_path: Path) -> None:
    (tmp_path / "a.script").write_text("$ tollbook\noutput\n")
    with pytest.raises(ValueError, match=r"a\.script:2"):
        parse(tmp_path / "a.script")

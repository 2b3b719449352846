"""`tollbook task new`: the file that an author begins with.

    PATH/my_task.toml   ─►  a small task with the id `my_task`, commented, which lints green

It never writes over a file. `tollbook task` mounts it.
"""

from __future__ import annotations

from pathlib import Path

import click

from ...protocol.errors import TaskError
from ..console import PATH, json_option, print_document

_ENDING = ".toml"


@click.command("new")
@click.argument("path", type=PATH)
@click.option("--world", default="commerce", show_default=True, help="The market that it is played on.")
@click.option("--actor", default="buyer", show_default=True, help="The party that is judged.")
@json_option
def command(path: Path, world: str, actor: str, *, as_json: bool) -> None:
    """Write a small, commented task to PATH, a new file named <id>.toml, to change into your own.

    It lints green as it stands: change a piece, lint, and go on.
    """
    from ..format.skeleton import skeleton  # noqa: PLC0415 - the help needs none

    if path.suffix != _ENDING:
        raise TaskError("task.file", "", f"`{path}` doesn't end in `{_ENDING}`", f"name it `{path}{_ENDING}`")
    task_id = path.name.removesuffix(_ENDING)
    _write(path, skeleton(task_id, world, actor))
    if as_json:
        print_document("task", {"id": task_id, "file": str(path)})
    else:
        click.echo(f"wrote {path}\nnext: tollbook task lint {path}")


def _write(path: Path, text: str) -> None:
    """Writes a new file.

    Raises:
        TaskError: `task.exists`, `task.folder`.
    """
    if path.exists() or path.is_symlink():
        problem = f"`{path}` exists already and is never overwritten"
        raise TaskError("task.exists", "", problem, "name another file")
    if not path.parent.is_dir():
        hint = "make it with `mkdir`, or check the path"
        raise TaskError("task.folder", "", f"there is no folder `{path.parent}` for the task", hint)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)

"""The file that an author begins with: a small task that lints green, commented.

    skeleton.<world>.<actor>.toml   with `@id@` where the task's id goes   ──►  the text of a task

Not here: writing it (`tollbook task new`).
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Final

from ...protocol.errors import TaskError
from ...scorers.lets import near
from .task import load_task

_FILE: Final = re.compile(r"skeleton\.(\w+)\.(\w+)\.toml")
_ID: Final = '"@id@"'


def skeletons() -> dict[str, list[str]]:
    """The actors that there are skeletons for, by world, each in order."""
    found: dict[str, list[str]] = {}
    for name in sorted(file.name for file in files("tollbook.tasks.format").iterdir()):
        match = _FILE.fullmatch(name)
        if match is not None:
            found.setdefault(match[1], []).append(match[2])
    return found


def skeleton(task_id: str, world: str, actor: str) -> str:
    """The text of a new task of this id.

    Raises:
        TaskError: `task.name`, for what can't be an id; `task.world` or `task.actor`, where there is none.
    """
    known = skeletons()
    if world not in known:
        hint = near(world, known, f"there is one for {', '.join(known)}")
        raise TaskError("task.world", "", f"there is no skeleton for world `{world}`", hint)
    if actor not in known[world]:
        hint = near(actor, known[world], f"its actors are {', '.join(known[world])}")
        raise TaskError("task.actor", "", f"world `{world}` has no skeleton for actor `{actor}`", hint)
    file = files("tollbook.tasks.format") / f"skeleton.{world}.{actor}.toml"
    text = file.read_text(encoding="utf-8").replace(_ID, json.dumps(task_id), 1)
    load_task(text)
    return text

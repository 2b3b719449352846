"""How a recorded run's makers graded it.

    reward_info  {reward, action_checks [{action}], communicate_checks [{info}]}   what was graded
    task         {evaluation_criteria {actions, communicate_info}}                 where it has no checks

Only a viewer export embeds the task that it was graded by. A run's `task_id`
and the `tasks` of a results file are no substitute: in a published file they
name other tasks than the runs were graded by.

Not here: grading it again (`oracle`).
"""

from __future__ import annotations

from sys import float_info
from typing import Any, NamedTuple

from ...protocol.errors import SourceError
from .document import list_of, object_of, shown
from .messages import arguments_of


class Reference(NamedTuple):
    """One reference action; ``arguments`` is JSON text."""

    id: str
    requestor: str
    tool: str
    arguments: str


class Graded(NamedTuple):
    """What a run was graded by, and its reward (None where none was recorded)."""

    actions: list[Reference]
    strings: list[str]
    reward: float | None


def graded(reward_info: object, task: object) -> Graded | None:
    """How the run was graded; None where nobody graded it.

    Raises:
        SourceError: a grade that can't be read.
    """
    checks, criteria = object_of(reward_info), _criteria(task)
    if checks is None and criteria is None:
        return None
    checks, criteria = checks or {}, criteria or {}
    actions = _checks(checks, "action_checks", "action")
    actions = _list(criteria, "actions") if actions is None else actions
    strings = _checks(checks, "communicate_checks", "info")
    strings = _list(criteria, "communicate_info") if strings is None else strings
    return Graded(
        [_reference(action) for action in actions or []],
        [_string(string) for string in strings or []],
        _reward(checks.get("reward")),
    )


def _criteria(task: object) -> dict[str, Any] | None:
    fields = object_of(task)
    return None if fields is None else object_of(fields.get("evaluation_criteria"))


def _checks(reward_info: dict[str, Any], field: str, inner: str) -> list[Any] | None:
    """What each check is about; None where there are no checks."""
    checks = _list(reward_info, field)
    if checks is None:
        return None
    found = [(object_of(check) or {}).get(inner) for check in checks]
    if None in found:
        raise SourceError("source.graded", f"an entry of reward_info.{field} has no `{inner}`")
    return found


def _list(fields: dict[str, Any], field: str) -> list[Any] | None:
    value = fields.get(field)
    found = list_of(value)
    if found is None and value is not None:
        raise SourceError("source.graded", f"`{field}` is not a list")
    return found


def _reference(action: object) -> Reference:
    fields = object_of(action)
    name = None if fields is None else fields.get("name")
    if fields is None or not isinstance(name, str):
        raise SourceError("source.graded", "a reference action has no name")
    _arguments, text = arguments_of(fields.get("arguments"))
    return Reference(_text(fields, "action_id", ""), _text(fields, "requestor", "assistant"), name, text)


def _text(fields: dict[str, Any], field: str, default: str) -> str:
    value = fields.get(field)
    if value is not None and not isinstance(value, str):
        raise SourceError("source.graded", f"a reference action's `{field}` is {shown(value)}")
    return value or default


def _string(info: object) -> str:
    if not isinstance(info, str):
        raise SourceError("source.graded", f"a string to be told is {shown(info)}")
    return info


def _reward(value: object) -> float | None:
    if value is None:
        return None
    # Not `isfinite`, which an integer beyond every float overflows.
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= float_info.max:
        return float(value)
    raise SourceError("source.graded", f"the reward is {shown(value)}")

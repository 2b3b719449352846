"""How a recorded run was graded, as the document that travels with the run.

    recorded task = {actions, strings, termination, reward, …}  ─ canonical JSON ─►  a task blob

It holds what the makers' grading rested on and nothing that can be worked out
from the run. Arguments are kept as JSON text, since they may hold what
canonical JSON has no form for.

Not here: grading it again (`oracle`).
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ...protocol.canonical import encode
from ...protocol.errors import ScoreError
from .messages import arguments_of as read_arguments

if TYPE_CHECKING:
    from .source import Recording

FORM = "tollbook.recorded-task/1"
_ACTION_ID = re.compile(r"(.+)_[0-9]+", re.DOTALL)
_TASK_NUMBER = re.compile(r"[0-9]+(?:_[0-9]+)*")


class ReferenceAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One action of the graded reference; ``arguments`` is JSON text."""

    arguments: str
    id: str
    name: str
    requestor: str


class RecordedTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a run was graded by.

    ``groups`` lists, for each source message of the assistant that became
    more than one message here, their `n`. ``reward`` is decimal text, None
    where none was recorded; ``graded`` is False where nobody graded the run.
    """

    actions: list[ReferenceAction]
    form: Literal["tollbook.recorded-task/1"]
    graded: bool
    groups: list[list[int]]
    recorded_id: str
    reward: str | None
    simulation: str
    strings: list[str]
    termination: str


_DECODER = msgspec.json.Decoder(RecordedTask)


def recorded_task(recording: Recording, groups: list[list[int]]) -> str:
    """The task document of a recording.

    Raises:
        CanonicalError: a text that has no canonical form.
    """
    graded = recording.graded
    task = RecordedTask(
        actions=[
            ReferenceAction(one.arguments, id=one.id, name=one.tool, requestor=one.requestor)
            for one in (graded.actions if graded else [])
        ],
        form=FORM,
        graded=graded is not None,
        groups=groups,
        recorded_id=recording.task_id,
        reward=None if graded is None or graded.reward is None else repr(graded.reward),
        simulation=recording.name,
        strings=graded.strings if graded else [],
        termination=recording.termination,
    )
    return encode(task).decode()


def read_recorded_task(text: str) -> RecordedTask:
    """The task of a recorded run.

    Raises:
        ScoreError: the text is no such document.
    """
    try:
        return _DECODER.decode(text)
    except msgspec.DecodeError as error:
        raise ScoreError("task.form", f"the run's task is not that of a recorded run: {error}") from None


def arguments_of(action: ReferenceAction) -> dict[str, Any] | None:
    """A reference action's arguments, None where they are no object."""
    value, _text = read_arguments(action.arguments)
    return value


def label_of(task: RecordedTask) -> str | None:
    """What is wrong with the label of a recorded run: it names another task than it was graded by.

    Tasks go by numbers. An id made by a clock, as `action_1746656550382`, names none.
    """
    named = {match[1] for action in task.actions if (match := _ACTION_ID.fullmatch(action.id))}
    graded = {name for name in named if name == task.recorded_id or _TASK_NUMBER.fullmatch(name)}
    if not graded or graded == {task.recorded_id}:
        return None
    return f"recorded as task {task.recorded_id}, graded by the actions of task {', '.join(sorted(graded))}"


def reward_of(task: RecordedTask) -> Fraction | None:
    """The reward that a run's makers recorded, exactly as it is written; None where there is none.

    Raises:
        ScoreError: `task.form`, it is no number.
    """
    try:
        reward = None if task.reward is None else float(task.reward)
    except ValueError:
        what = f"the run's task is not that of a recorded run: its reward is `{task.reward}`"
        raise ScoreError("task.form", what) from None
    return None if reward is None or not math.isfinite(reward) else Fraction(repr(reward))

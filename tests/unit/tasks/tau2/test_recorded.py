"""The task document of a recorded run: one spelling, nothing that canonical JSON can't hold."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from tollbook.protocol.canonical import admit_any
from tollbook.protocol.errors import CanonicalError, ScoreError
from tollbook.tasks.tau2.grading import Graded, Reference
from tollbook.tasks.tau2.recorded import (
    FORM,
    RecordedTask,
    ReferenceAction,
    arguments_of,
    label_of,
    read_recorded_task,
    recorded_task,
    reward_of,
)
from tollbook.tasks.tau2.source import Recording

ACTION = Reference("3_0", "assistant", "calculate", '{"expression": NaN}')
TEXT = (
    '{"actions":'
    '[{"arguments":"{\\"expression\\": NaN}","id":"3_0","name":"calculate","requestor":"assistant"}],'
    '"form":"tollbook.recorded-task/1","graded":true,"groups":[[2,3]],"recorded_id":"3","reward":"1.0",'
    '"simulation":"a","strings":["9.99"],"termination":"user_stop"}'
)


def recording(grade: Graded | None) -> Recording:
    return Recording(
        index=0, name="a", digest="0" * 64, file="f", task_id="3", trial=0, termination="user_stop",
        graded=grade, said=[], orphans=[], messages=0, agents={},
    )  # fmt: skip


def test_the_document_is_canonical_and_reads_back() -> None:
    assert TEXT == recorded_task(recording(Graded([ACTION], ["9.99"], 1.0)), [[2, 3]])
    assert json.loads(TEXT) == admit_any(TEXT.encode())
    task = read_recorded_task(TEXT)
    action = ReferenceAction('{"expression": NaN}', "3_0", "calculate", "assistant")
    assert ([action], FORM) == (task.actions, task.form)


@pytest.mark.parametrize(
    ("graded", "reward", "grade"),
    [
        (False, None,  None),
        (True,  None,  Graded([], [], None)),
        (True,  "0.0", Graded([], [], 0.0)),
        (True,  "0.3333333333333333", Graded([], [], 1 / 3)),
    ],
)  # fmt: skip
def test_no_grade_and_no_reward_are_two_things(
    graded: bool, reward: str | None, grade: Graded | None  # noqa: FBT001 - what is expected
) -> None:  # fmt: skip
    task = read_recorded_task(recorded_task(recording(grade), []))
    assert (graded, reward, [], []) == (task.graded, task.reward, task.actions, task.strings)


@pytest.mark.parametrize(
    "grade", [Graded([], ["\ud800"], 1.0), Graded([ACTION._replace(tool="\udfff")], [], 1.0)]
)
def test_a_text_that_has_no_canonical_form_is_refused(grade: Graded) -> None:
    with pytest.raises(CanonicalError):
        recorded_task(recording(grade), [])


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", "{}", TEXT[:-1], TEXT + " x", "[" * 100_000,
        TEXT.replace("task/1", "task/2"), TEXT.replace('"graded":true,', ""), TEXT.replace('"a"', "1"),
        TEXT.replace('"strings"', '"more":1,"strings"'), TEXT.replace('"assistant"', "null"),
    ],
)  # fmt: skip
def test_another_document_is_no_recorded_task(text: str) -> None:
    with pytest.raises(ScoreError) as refused:
        read_recorded_task(text)
    assert "task.form" == refused.value.code


@pytest.mark.parametrize(
    ("expected",   "text"),
    [
        ({"a": 1},     '{"a": 1}'),
        ({},           "{}"),
        (None,         "null"),
        (None,         "[1]"),
        (None,         "not JSON"),
        (None,         "[" * 100_000),
    ],
)  # fmt: skip
def test_arguments_of_a_reference_are_an_object_or_none(expected: dict[str, Any] | None, text: str) -> None:
    assert expected == arguments_of(ReferenceAction(text, "0_0", "calculate", "assistant"))


def task(recorded_id: str, *ids: str, reward: str | None = "1.0") -> RecordedTask:
    return RecordedTask(
        actions=[ReferenceAction("{}", id=one, name="think", requestor="assistant") for one in ids],
        form="tollbook.recorded-task/1",
        graded=True,
        groups=[],
        recorded_id=recorded_id,
        reward=reward,
        simulation="s",
        strings=[],
        termination="user_stop",
    )


OTHER = "recorded as task 7, graded by the actions of task "


@pytest.mark.parametrize(
    ("expected",          "ids"),
    [
        (None,            ()),
        (None,            ("7_0",)),
        (None,            ("7_0", "7_1", "7_10")),
        (OTHER + "8",     ("8_0",)),
        (OTHER + "7, 8",  ("8_1", "7_0")),
        (OTHER + "70",    ("70_0", "70_1")),
        (OTHER + "7_2",   ("7_2_0",)),
        (None,            ("a_7_0",)),
        (None,            ("7\n_0",)),
        (None,            ("action_1746656550382",)),
        (None,            ("7_0", "action_1746656550382")),
        (OTHER + "8",     ("8_0", "action_1746656550382")),
        (None,            ("7",)),
        (None,            ("7_",)),
        (None,            ("7_x",)),
        (None,            ("",)),
        (OTHER + "8",     ("8_0", "think")),
    ],
)  # fmt: skip
def test_a_label_is_wrong_where_the_actions_name_another_task(
    expected: str | None, ids: tuple[str, ...]
) -> None:
    assert expected == label_of(task("7", *ids))


@pytest.mark.parametrize(
    ("recorded_id", "ids"), [("7_2", ("7_2_0", "7_2_1")), ("returns", ("returns_0", "action_17"))]
)
def test_a_label_may_be_other_than_a_number(recorded_id: str, ids: tuple[str, ...]) -> None:
    assert label_of(task(recorded_id, *ids)) is None
    assert label_of(task(recorded_id, *ids, "8_0")) is not None


@pytest.mark.parametrize(
    ("expected",         "reward"),
    [
        (None,           None),
        (Fraction(1),    "1.0"),
        (Fraction(0),    "0.0"),
        (Fraction(0),    "-0.0"),
        (Fraction(3333333333333333, 10**16), "0.3333333333333333"),
        (Fraction(1, 10), "0.1"),
        (None,           "nan"),
        (None,           "inf"),
        (None,           "-inf"),
    ],
)  # fmt: skip
def test_a_reward_is_read_as_its_decimals_say(expected: Fraction | None, reward: str | None) -> None:
    assert expected == reward_of(task("7", reward=reward))


@pytest.mark.parametrize("reward", ["", "one", "1.0.0", "0x1"])
def test_a_reward_that_is_no_number_is_refused(reward: str) -> None:
    with pytest.raises(ScoreError, match="its reward is") as error:
        reward_of(task("7", reward=reward))
    assert error.value.code == "task.form"

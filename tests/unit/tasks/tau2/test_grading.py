"""How a run was graded: from its own checks, or for a viewer export from the task it embeds."""

from __future__ import annotations

from typing import Any

import pytest

from tollbook.protocol.errors import SourceError
from tollbook.tasks.tau2.document import Oversized
from tollbook.tasks.tau2.grading import Graded, Reference, graded

ARGUMENTS = {"expression": "1"}
ACTION = {"action_id": "3_0", "requestor": "assistant", "name": "calculate", "arguments": ARGUMENTS}
REFERENCE = Reference("3_0", "assistant", "calculate", '{"expression": "1"}')
OTHER = {"name": "cancel_pending_order", "arguments": '{"order_id": "#W1"}'}
OTHER_REFERENCE = Reference("", "assistant", "cancel_pending_order", '{"order_id": "#W1"}')
CHECKS = {"reward": 1, "action_checks": [{"action": ACTION}], "communicate_checks": [{"info": "9.99"}]}
TASK = {"evaluation_criteria": {"actions": [OTHER], "communicate_info": ["told"]}}
HUGE = [Oversized(700)]
NO_TASK = {"evaluation_criteria": None}
NO_CRITERIA: dict[str, Any] = {"evaluation_criteria": {}}


@pytest.mark.parametrize(
    ("expected",                                  "reward_info",                            "task"),
    [
        (None,                                        None,                                     None),
        (None,                                        None,                                     {"id": "0"}),
        (None,                                        None,                                     NO_TASK),
        (Graded([REFERENCE], ["9.99"], 1.0),          CHECKS,                                   None),
        (Graded([REFERENCE], ["9.99"], 1.0),          CHECKS,                                   TASK),
        (Graded([], [], None),                        {},                                       None),
        (Graded([], [], 0.0),                         {"reward": 0.0, "action_checks": None},   None),
        (Graded([OTHER_REFERENCE], ["told"], None),   None,                                     TASK),
        (Graded([OTHER_REFERENCE], ["told"], 0.5),    {"reward": 0.5},                          TASK),
        (Graded([OTHER_REFERENCE], ["9.99"], 1.0),    {**CHECKS, "action_checks": None},        TASK),
        (Graded([REFERENCE], ["told"], 1.0),          {**CHECKS, "communicate_checks": None},   TASK),
        (Graded([], ["9.99"], 1.0),                   {**CHECKS, "action_checks": []},          TASK),
        (Graded([], [], None),                        {},                                       NO_CRITERIA),
    ],
)  # fmt: skip
def test_what_a_run_was_graded_by(expected: Graded | None, reward_info: object, task: object) -> None:
    assert expected == graded(reward_info, task)


@pytest.mark.parametrize(
    ("told",                    "change"),
    [
        ("`action_checks`",         {"action_checks": {"action": ACTION}}),
        ("no `action`",             {"action_checks": [{"action": ACTION}, {}]}),
        ("no `action`",             {"action_checks": [None]}),
        ("has no name",             {"action_checks": [{"action": {}}]}),
        ("has no name",             {"action_checks": [{"action": "calculate"}]}),
        ("`action_id` is `int`",    {"action_checks": [{"action": {**ACTION, "action_id": 3}}]}),
        ("`requestor` is `list`",   {"action_checks": [{"action": {**ACTION, "requestor": ["user"]}}]}),
        ("640",                     {"action_checks": [{"action": {**ACTION, "arguments": HUGE}}]}),
        ("`communicate_checks`",    {"communicate_checks": "9.99"}),
        ("no `info`",               {"communicate_checks": [{"met": True}]}),
        ("to be told is `int`",     {"communicate_checks": [{"info": 9}]}),
        ("reward is `list`",        {"reward": ["1.0"]}),
        ("reward is `1.0`",         {"reward": "1.0"}),
        ("reward is `bool`",        {"reward": True}),
        ("reward is `float`",       {"reward": float("nan")}),
        ("reward is `float`",       {"reward": float("inf")}),
        ("reward is `a number of",  {"reward": Oversized(700)}),
    ],
)  # fmt: skip
def test_a_grade_that_cant_be_read_is_refused(told: str, change: dict[str, Any]) -> None:
    with pytest.raises(SourceError) as refused:
        graded({**CHECKS, **change}, None)
    assert told in refused.value.text


def test_an_integer_beyond_every_float_is_no_reward() -> None:
    with pytest.raises(SourceError):
        graded({"reward": 10**400}, None)

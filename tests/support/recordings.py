"""Recorded runs made by hand, in the source's forms, for tests of reading and importing them."""

from __future__ import annotations

from typing import Any

GRADED = {"reward": 1.0, "action_checks": [], "communicate_checks": []}


def message(role: str, content: object = None, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": [*calls] or None, **fields}


def call(call_id: object, name: object, arguments: object = None, **fields: Any) -> dict[str, Any]:
    given = {} if arguments is None else arguments
    return {"id": call_id, "name": name, "arguments": given, "requestor": "assistant", **fields}


def output(call_id: object, content: object, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "id": call_id, "content": content, "requestor": "assistant", **fields}


def run(name: object, *messages: object, **fields: Any) -> dict[str, Any]:
    return {
        "id": name,
        "task_id": "0",
        "trial": 0,
        "termination_reason": "user_stop",
        "reward_info": GRADED,
        "messages": [*messages],
        **fields,
    }


def results(*runs: object, **fields: Any) -> dict[str, Any]:
    return {"timestamp": "", "info": {}, "tasks": [], "simulations": [*runs], **fields}


def viewer(*messages: object, **fields: Any) -> dict[str, Any]:
    return {
        "task_id": "0",
        "task": {"evaluation_criteria": None},
        "run_info": {"termination_reason": "agent_stop"},
        "reward_info": GRADED,
        "messages": [*messages],
        **fields,
    }

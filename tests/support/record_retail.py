"""The small recorded runs of tasks/suites/retail, made from their dialogues.

    retail_runs.toml ─► played on the naive shop ─► recorded.json, in the source's results form

    python tests/support/record_retail.py        writes the file

The market of this package has no part in it: what the shop prints and what a run leaves behind come from
`naive_shop`, and each reward that a dialogue states is checked against the rule that its makers graded by.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from naive_shop import NaiveShop

HERE = Path(__file__).resolve().parent
SUITE = HERE.parents[1] / "tasks/suites/retail"
TOOLS = (
    "calculate", "cancel_pending_order", "exchange_delivered_order_items", "find_user_id_by_email",
    "find_user_id_by_name_zip", "get_item_details", "get_order_details", "get_product_details",
    "get_user_details", "list_all_product_types", "modify_pending_order_address",
    "modify_pending_order_items", "modify_pending_order_payment", "modify_user_address",
    "return_delivered_order_items", "transfer_to_human_agents",
)  # fmt: skip
TIME = "2025-01-01T00:00:00"
INFO = {
    "git_commit": None,
    "num_trials": 1,
    "max_steps": 30,
    "max_errors": 10,
    "user_info": {"implementation": "written by hand", "llm": None, "llm_args": None},
    "agent_info": {"implementation": "written by hand", "llm": None, "llm_args": None},
    "environment_info": {"domain_name": "retail"},
    "seed": 1,
}


class RecordedShop(NaiveShop):
    """The naive shop with the rest of what the recorded one answered."""

    def calculate(self, expression: str) -> str:
        if not set(expression) <= set("0123456789+-*/(). "):
            raise LookupError("Invalid characters in expression")
        return str(round(float(eval(expression, {"__builtins__": {}})), 2))  # our own dialogues

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        if tool not in TOOLS:
            return f"Error: Tool '{tool}' not found."
        try:
            return super().call(tool, arguments)
        except TypeError as unfit:
            return f"Error: {tool}: {unfit}"


def records(db: dict[str, Any]) -> dict[str, Any]:
    """The runs as a results file holds them."""
    runs = tomllib.loads((HERE / "retail_runs.toml").read_text("utf-8"))["run"]
    simulations = [simulation(db, run) for run in runs]
    return {"timestamp": TIME, "info": INFO, "tasks": [], "simulations": simulations}


def simulation(db: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    shop = RecordedShop(db)
    messages = played(shop, run)
    termination = run.get("termination", "user_stop")
    return {
        "id": run["id"],
        "task_id": run["task_id"],
        "trial": 0,
        "seed": 1,
        "start_time": TIME,
        "end_time": TIME,
        "duration": 0.0,
        "termination_reason": termination,
        "reward_info": grading(db, shop, run, messages) if run.get("graded", True) else ungraded(run),
        "messages": messages,
    }


def played(shop: RecordedShop, run: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages, with what the shop answered."""
    messages: list[dict[str, Any]] = []
    for role, text, *rest in run["says"]:
        calls = [
            {"id": f"call_{len(messages)}_{place}", "name": tool, "arguments": given, "requestor": role}
            for place, (tool, given) in enumerate(zip(rest[::2], rest[1::2], strict=True))
        ]
        messages.append(
            {"role": role, "content": text or None, "tool_calls": calls or None, "turn_idx": len(messages)}
        )
        for call in calls:
            given = call["arguments"]
            shown = shop.call(call["name"], json.loads(given) if isinstance(given, str) else given)
            answer = {"id": call["id"], "role": "tool", "content": shown, "requestor": role}
            messages.append({**answer, "turn_idx": len(messages)})
    return messages if run.get("answered", True) else messages[:-1]


def grading(db: dict[str, Any], shop: RecordedShop, run: dict[str, Any], said: list[Any]) -> dict[str, Any]:
    """How the run was graded: by the shop's state, and by what the assistant told."""
    reference = RecordedShop(db)
    for tool, arguments in run["actions"]:
        reference.call(tool, arguments)
    texts = [message["content"] or "" for message in said if message["role"] == "assistant"]
    told = [text.lower().replace(",", "") for text in texts]
    met = {text: any(text.lower() in one for one in told) for text in run.get("strings", [])}
    state, strings = float(shop.db == reference.db), float(all(met.values()))
    if run["reward"] != state * strings:
        raise ValueError(f"{run['id']}: the reward is {state * strings}")
    number = run.get("numbered", run["task_id"])
    actions = [
        {"action_id": f"{number}_{place}", "requestor": "assistant", "name": tool, "arguments": arguments}
        for place, (tool, arguments) in enumerate(run["actions"])
    ]
    return {
        "reward": run["reward"],
        "db_check": {"db_match": state == 1, "db_reward": state},
        "env_assertions": [],
        "action_checks": [{"action": action} for action in actions],
        "nl_assertions": [],
        "communicate_checks": [{"info": text, "met": was_met} for text, was_met in met.items()],
        "reward_basis": ["DB", "COMMUNICATE"],
    }


def ungraded(run: dict[str, Any]) -> dict[str, Any]:
    """What the makers wrote of a run that ended otherwise than by a party: no reward, nothing compared."""
    if run["reward"] != 0 or run["termination"] in ("agent_stop", "user_stop"):
        raise ValueError(f"{run['id']}: a run that wasn't compared has no reward")
    checks = ("db_check", "env_assertions", "action_checks", "nl_assertions", "communicate_checks")
    return {"reward": run["reward"], **dict.fromkeys(checks), "reward_basis": None}


def text_of(results: dict[str, Any]) -> str:
    """The file's text: JSON with one message a line, so that a change of one shows as one."""
    head = {key: value for key, value in results.items() if key != "simulations"}
    runs: list[str] = []
    for run in results["simulations"]:
        rest = {key: value for key, value in run.items() if key != "messages"}
        about = json.dumps(rest, ensure_ascii=False)
        said = ",\n   ".join(json.dumps(message, ensure_ascii=False) for message in run["messages"])
        runs.append(f'{about[:-1]},\n  "messages": [\n   {said}]}}')
    return f'{json.dumps(head)[:-1]}, "simulations": [\n ' + ",\n ".join(runs) + "]}\n"


def main() -> None:
    db = json.loads((SUITE / "shop.json").read_text("utf-8"))
    (SUITE / "recorded.json").write_text(text_of(records(db)), "utf-8")


if __name__ == "__main__":
    main()

"""The small shop and its recorded runs: what they must show, and that they are what their dialogues give."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest
from record_retail import HERE, TOOLS, records, simulation, text_of

SUITE = files("tollbook.tasks") / "suites/retail"
SHOP: dict[str, Any] = json.loads((SUITE / "shop.json").read_text("utf-8"))
TEXT = (SUITE / "recorded.json").read_text("utf-8")
RUNS: list[dict[str, Any]] = json.loads(TEXT)["simulations"]
DIALOGUES: list[dict[str, Any]] = tomllib.loads((HERE / "retail_runs.toml").read_text("utf-8"))["run"]
STATUSES = {"pending": 7, "delivered": 5, "processed": 2, "cancelled": 2}


def test_the_recorded_runs_are_what_their_dialogues_give() -> None:
    assert text_of(records(SHOP)) == TEXT, "run `python tests/support/record_retail.py`"


@pytest.mark.parametrize("run", DIALOGUES, ids=[run["id"] for run in DIALOGUES])
def test_a_reward_that_the_makers_rule_does_not_give_is_refused(run: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=run["id"]):
        simulation(SHOP, {**run, "reward": 1 - run["reward"]})


def test_the_shop_is_small_and_has_what_the_rules_ask_about() -> None:
    assert [4] * 6 == [len(product["variants"]) for product in SHOP["products"].values()]
    assert Counter(STATUSES) == Counter(order["status"] for order in SHOP["orders"].values())
    methods = [method for user in SHOP["users"].values() for method in user["payment_methods"].values()]
    assert {"credit_card", "gift_card", "paypal"} == {method["source"] for method in methods}
    items = {key: [line["item_id"] for line in order["items"]] for key, order in SHOP["orders"].items()}
    assert ["#W5624002", "#W5624003"] == [key for key, ids in items.items() if len(set(ids)) < len(ids)]
    assert all(user["email"].lower().endswith("@example.com") for user in SHOP["users"].values())


@pytest.mark.parametrize("order", SHOP["orders"].values(), ids=SHOP["orders"])
def test_an_order_is_sold_at_its_variants_prices_and_paid_by_its_user(order: dict[str, Any]) -> None:
    for line in order["items"]:
        product = SHOP["products"][line["product_id"]]
        variant = product["variants"][line["item_id"]]
        sold = {"name": product["name"], "price": variant["price"], "options": variant["options"]}
        assert {**line, **sold} == line
    cents = [round(line["price"] * 100) for line in order["items"]]
    kinds = ["payment", "refund"] if order["status"] == "cancelled" else ["payment"]
    assert kinds == [row["transaction_type"] for row in order["payment_history"]]
    assert {sum(cents)} == {round(row["amount"] * 100) for row in order["payment_history"]}
    user = SHOP["users"][order["user_id"]]
    assert {row["payment_method_id"] for row in order["payment_history"]} <= set(user["payment_methods"])
    assert order["order_id"] in user["orders"]


def test_the_runs_call_every_tool_and_one_that_there_is_none_of() -> None:
    calls = [call for run in RUNS for message in run["messages"] for call in message.get("tool_calls") or []]
    assert {*TOOLS, "search_catalog"} == {call["name"] for call in calls}


def test_the_runs_end_in_each_way_and_are_graded_by_all_that_makers_grade_by() -> None:
    ends = Counter(run["termination_reason"] for run in RUNS)
    assert {"user_stop": 13, "agent_stop": 1, "max_steps": 1} == ends
    assert {1.0: 12, 0.0: 3} == Counter(run["reward_info"]["reward"] for run in RUNS)
    states = {run["id"]: run["reward_info"]["db_check"] for run in RUNS}
    assert ["wrong-item"] == [key for key, check in states.items() if check and not check["db_match"]]
    unmet = [
        (run["id"], check["info"])
        for run in RUNS
        for check in run["reward_info"]["communicate_checks"] or []
        if not check["met"]
    ]
    assert [("missing-string", "262.15")] == unmet
    assert ["max-steps"] == [run["id"] for run in RUNS if run["reward_info"]["action_checks"] is None]


def test_only_one_label_is_wrong() -> None:
    wrong = [
        (run["id"], check["action"]["action_id"])
        for run in RUNS
        for check in run["reward_info"]["action_checks"] or []
        if check["action"]["action_id"].rpartition("_")[0] != run["task_id"]
    ]
    assert [("wrong-label", "31_0"), ("wrong-label", "31_1")] == wrong


def test_payment_rows_that_are_not_whole_cents() -> None:
    printed = [
        (run["id"], row["amount"])
        for run in RUNS
        for message in run["messages"]
        if message["role"] == "tool" and message["content"].startswith('{"order_id"')
        for row in json.loads(message["content"])["payment_history"]
        if row["amount"] != round(row["amount"], 2)
    ]
    assert [("last-variant", 93.10000000000001), ("float-noise", 31.450000000000003)] == printed

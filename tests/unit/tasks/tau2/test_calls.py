"""A recorded call as an action: exactly a tool's arguments, of its types, or a call that nothing fits."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tollbook.protocol.canonical import MAX_RECORD_BYTES
from tollbook.protocol.retail import actions
from tollbook.protocol.world import part_fields
from tollbook.tasks.tau2.calls import action_of

RETURN = {"order_id": "#W1", "item_ids": ["1", "1"], "payment_method_id": "p"}
RETURNED = actions.ReturnDeliveredOrderItems(("1", "1"), "#W1", "p")


def made(tool: str, arguments: dict[str, Any] | None) -> msgspec.Struct:
    return action_of(tool, arguments, json.dumps(arguments))


def example(tool: type[msgspec.Struct]) -> msgspec.Struct:
    values = {field: ("1",) if "item_ids" in field else f"a {field}" for field in tool.__struct_fields__}
    return tool(**values)


@pytest.mark.parametrize("tool", actions.TOOLS, ids=lambda tool: str(tool.__struct_config__.tag))
def test_every_tool_is_known_by_its_name(tool: type[msgspec.Struct]) -> None:
    action = example(tool)
    arguments = {field: getattr(action, field) for field in tool.__struct_fields__}
    name = str(tool.__struct_config__.tag).removeprefix("tool.")
    assert action == made(name, json.loads(json.dumps(arguments)))


def test_a_part_holds_its_text_of_any_length() -> None:
    assert ("summary",) == part_fields(actions.TransferToHumanAgents)
    for summary in ("", "short", "0" * 64, "x" * 100_000, "\ud800"):
        arguments = {"summary": summary}
        assert actions.TransferToHumanAgents(summary) == made("transfer_to_human_agents", arguments)


@pytest.mark.parametrize(
    ("fits", "tool",                          "arguments"),
    [
        (True,  "return_delivered_order_items",   RETURN),
        (True,  "return_delivered_order_items",   {**RETURN, "item_ids": []}),
        (True,  "list_all_product_types",         {}),
        (True,  "calculate",                      {"expression": "x" * 2000}),
        (True,  "get_order_details",              {"order_id": ""}),
        (False, "get_order",                      {"order_id": "#W1"}),
        (False, "tool.get_order_details",         {"order_id": "#W1"}),
        (False, "Get_Order_Details",              {"order_id": "#W1"}),
        (False, "",                               {}),
        (False, "get_order_details",              None),
        (False, "get_order_details",              {}),
        (False, "get_order_details",              {"order_id": None}),
        (False, "get_order_details",              {"order_id": 1}),
        (False, "get_order_details",              {"order_id": ["#W1"]}),
        (False, "get_order_details",              {"order_id": float("nan")}),
        (False, "get_order_details",              {"order_id": 10**300}),
        (False, "get_order_details",              {"order_id": "#W1", "more": "1"}),
        (False, "get_order_details",              {"order_id": "#W1", "kind": "tool.get_order_details"}),
        (False, "calculate",                      {"expression": "x" * 2001}),
        (False, "list_all_product_types",         {"kind": "tool.list_all_product_types"}),
        (False, "transfer_to_human_agents",       {"summary": 1}),
        (False, "transfer_to_human_agents",       {"summary": "x", "more": "x"}),
        (False, "return_delivered_order_items",   {**RETURN, "item_ids": "1"}),
        (False, "return_delivered_order_items",   {**RETURN, "item_ids": [1]}),
        (False, "return_delivered_order_items",   {**RETURN, "item_ids": {"1": 1}}),
        (False, "return_delivered_order_items",   {**RETURN, "item_ids": ["1"] * 10_001}),
        (False, "return_delivered_order_items",   {**RETURN, "item_ids": ["x" * 1999] * 40}),
        (False, "return_delivered_order_items",   {**RETURN, "item_ids": ["\U0001f600" * 1999] * 9}),
    ],
)  # fmt: skip
def test_what_fits_no_tool_is_a_call_of_its_own(
    fits: bool, tool: str, arguments: dict[str, Any] | None  # noqa: FBT001 - what is expected
) -> None:  # fmt: skip
    action = made(tool, arguments)
    assert fits == (not isinstance(action, actions.UnparsedCall))
    if not fits:
        assert actions.UnparsedCall(json.dumps(arguments), tool) == action


def test_the_largest_action_leaves_room_for_the_record_around_it() -> None:
    sizes: list[int] = []
    for count in range(900, 1_100):
        arguments = {**RETURN, "item_ids": ["x" * 57] * count}
        action = made("return_delivered_order_items", arguments)
        if not isinstance(action, actions.UnparsedCall):
            sizes.append(len(msgspec.json.encode(action)))
    assert MAX_RECORD_BYTES - 2_048 - 60 <= max(sizes) <= MAX_RECORD_BYTES - 2_048


def test_half_a_surrogate_pair_is_left_to_who_says_it() -> None:
    item = "\ud800" * 1999
    assert actions.GetItemDetails("\ud800") == made("get_item_details", {"item_id": "\ud800"})
    large = made("return_delivered_order_items", {**RETURN, "item_ids": [item] * 12})
    assert isinstance(large, actions.ReturnDeliveredOrderItems)


def test_arguments_as_text_are_kept_as_they_stood() -> None:
    assert RETURNED == action_of("return_delivered_order_items", RETURN, "whatever")
    assert actions.UnparsedCall('{"a":1}', "no_tool") == action_of("no_tool", {"a": 1}, '{"a":1}')

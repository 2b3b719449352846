"""The retail market against a naive shop of dicts and floats, and against what was recorded.

The naive shop (tests/support) is written from the same rules and shares no code with the market.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_shop import ADDRESS, NaiveShop

from tollbook.protocol.retail.comparison import equal_in_cents
from tollbook.protocol.retail.refusals import wording
from tollbook.protocol.retail.shop import rows_of_shop
from tollbook.protocol.retail.world import make
from tollbook.protocol.tables import State
from tollbook.protocol.world import Accepted, Act, World

HERE = Path(__file__).resolve()
SMALL = json.loads((HERE.parents[1] / "unit/protocol/retail/small_shop.json").read_text("utf-8"))
NOTHING_READ = "0" * 64
Call = tuple[str, dict[str, Any]]


def call(world: World, state: State, tool: str, arguments: dict[str, Any]) -> str:
    """One call by the market's rules, as the text that the recorded shop would have printed."""
    kind = f"tool.{tool}"
    if tool == "transfer_to_human_agents":
        arguments = {"summary": NOTHING_READ}
    act = Act(msgspec.convert({"kind": kind, **arguments}, world.kinds[kind]), "assistant", "assistant", 0)
    verdict = world.decide(state, act)
    if not isinstance(verdict, Accepted):
        return f"Error: {wording(verdict.rule, verdict.detail)}"
    for event in verdict.events:
        world.evolve(state, event)
    shown = world.show(state, act, verdict.events)
    state.commit()
    assert shown is not None
    assert isinstance(shown.value, str)
    return shown.value


COMPAT = make({"mode": "compat"})
FACTS = COMPAT.facts(rows_of_shop(SMALL, "compat"))
LINES = {key: [line["item_id"] for line in order["items"]] for key, order in SMALL["orders"].items()}
OTHERS = {"L": ["L1", "L2", "L4", "L3"], "C": ["C1", "C2", "C3"], "G": ["G1"]}
METHODS = {key: [*user["payment_methods"]] for key, user in SMALL["users"].items()}


def rarely(usual: st.SearchStrategy[Any], unusual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(usual, usual, usual, usual, usual, unusual)


ORDERS = rarely(st.sampled_from([*LINES]), st.just("no"))
ADDRESSES = {name: st.sampled_from(["z", "11111", "é\U0001f600"]) for name in ADDRESS}
REASONS = rarely(st.sampled_from(["no longer needed", "ordered by mistake"]), st.just("No longer needed"))
PLAIN: dict[str, dict[str, st.SearchStrategy[str]]] = {
    "find_user_id_by_email": {"email": st.sampled_from(["ZOE.brown@EXAMPLE.com", "ann@example.com", "no"])},
    "find_user_id_by_name_zip": {
        "first_name": st.sampled_from(["ANN", "ann", "zoË", "Zoe"]),
        "last_name": st.sampled_from(["lee", "Brown"]),
        "zip": st.sampled_from(["11111", "22222", "33333", "z"]),
    },
    "get_user_details": {"user_id": st.sampled_from([*METHODS, "no"])},
    "get_order_details": {"order_id": ORDERS},
    "get_product_details": {"product_id": st.sampled_from(["lamp", "aaa", "no"])},
    "get_item_details": {"item_id": st.sampled_from(["L4", "C1", "B1", "no"])},
    "list_all_product_types": {},
    "transfer_to_human_agents": {"summary": st.just("text")},
    "cancel_pending_order": {"order_id": ORDERS, "reason": REASONS},
    "modify_pending_order_address": {"order_id": ORDERS, **ADDRESSES},
    "modify_user_address": {"user_id": st.sampled_from([*METHODS, "no"]), **ADDRESSES},
}
SETTLED = (
    "modify_pending_order_payment",
    "return_delivered_order_items",
    "exchange_delivered_order_items",
    "modify_pending_order_items",
)


@st.composite
def settled_calls(draw: st.DrawFn) -> Call:
    """A call that names a payment method: mostly the user's own, mostly for items that the order has."""
    tool, order = draw(st.sampled_from(SETTLED)), draw(ORDERS)
    own = METHODS.get(SMALL["orders"].get(order, {}).get("user_id"), ["no"])
    method = draw(rarely(st.sampled_from(own), st.sampled_from(["no", "card_z", "gift_a"])))
    arguments: dict[str, Any] = {"order_id": order, "payment_method_id": method}
    if tool == "modify_pending_order_payment":
        return tool, arguments
    lines = draw(st.permutations(LINES.get(order) or ["L1"]))
    items = draw(rarely(st.just(lines[: draw(st.integers(0, len(lines)))]), st.just(["L1", "L1", "L1"])))
    if tool == "return_delivered_order_items":
        return tool, {**arguments, "item_ids": items}
    new = [draw(rarely(st.sampled_from(OTHERS[item[0]]), st.sampled_from(["B1", "no"]))) for item in items]
    new = draw(rarely(st.just(new), st.just([*new, "L1"])))
    return tool, {**arguments, "item_ids": items, "new_item_ids": new}


CALLS = st.one_of(
    *(st.tuples(st.just(tool), st.fixed_dictionaries(arguments)) for tool, arguments in PLAIN.items()),
    settled_calls(),
    settled_calls(),
    settled_calls(),
    settled_calls(),
)


@given(st.lists(CALLS, min_size=1, max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_calls_print_what_the_naive_shop_prints(made: list[Call]) -> None:
    naive, state = NaiveShop(SMALL), State(FACTS)
    for tool, arguments in made:
        assert call(COMPAT, state, tool, arguments) == naive.call(tool, arguments), (tool, arguments)
    for key, order in naive.db["orders"].items():
        assert call(COMPAT, state, "get_order_details", {"order_id": key}) == json.dumps(order)
    for key, user in naive.db["users"].items():
        assert call(COMPAT, state, "get_user_details", {"user_id": key}) == json.dumps(user)


def recorded(shared: Path) -> tuple[dict[str, Any], list[list[tuple[str, dict[str, Any], str]]]]:
    """The recorded shop, and each run's calls with what they printed."""
    folder = shared / "data" / "tau2"
    db = json.loads(gzip.decompress((folder / "retail_db.json.gz").read_bytes()))
    runs: list[list[tuple[str, dict[str, Any], str]]] = []
    file = json.loads(gzip.decompress((folder / "toolorchestra_retail.json.gz").read_bytes()))
    for simulation in file["simulations"]:
        messages = simulation["messages"]
        texts = {message["id"]: message["content"] for message in messages if message["role"] == "tool"}
        made = [made for message in messages for made in message.get("tool_calls") or []]
        runs.append([(made["name"], made["arguments"], texts[made["id"]]) for made in made])
    return db, runs


def test_every_recorded_call_prints_what_was_recorded(shared: Path) -> None:
    db, runs = recorded(shared)
    facts = COMPAT.facts(rows_of_shop(db, "compat"))
    same = 0
    for run in runs:
        state = State(facts)
        for tool, arguments, text in run:
            assert call(COMPAT, state, tool, arguments) == text, (tool, arguments)
            same += 1
    assert (len(runs), same) == (114, 873)


def test_modes_part_on_the_runs_that_change_several_lines_wrongly(shared: Path) -> None:
    db, runs = recorded(shared)
    strict = make({"mode": "strict"})
    worlds = {world: world.facts(rows_of_shop(db, world.mode.name)) for world in (COMPAT, strict)}
    parted: list[int] = []
    refused_in_one: list[int] = []
    for number, run in enumerate(runs):
        states = [State(facts) for facts in worlds.values()]
        for tool, arguments, _text in run:
            texts = [call(world, state, tool, arguments) for world, state in zip(worlds, states, strict=True)]
            if len({text.startswith("Error: ") for text in texts}) == 2:
                refused_in_one.append(number)
        if not equal_in_cents(*states):
            parted.append(number)
    assert parted == [26, 59, 80, 92]
    assert refused_in_one == []

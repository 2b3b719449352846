"""The retail market against a naive shop of dicts and floats, and against what was recorded.

The naive shop is written here from the same rules, the way one would write it
without records, modes or replay: it changes dicts in place and raises its refusals.
"""

from __future__ import annotations

import gzip
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tollbook.protocol.retail.comparison import equal_in_cents
from tollbook.protocol.retail.refusals import wording
from tollbook.protocol.retail.shop import rows_of_shop
from tollbook.protocol.retail.world import make
from tollbook.protocol.tables import State
from tollbook.protocol.world import Accepted, Act, World

HERE = Path(__file__).resolve()
SMALL = json.loads((HERE.parents[1] / "unit/protocol/retail/small_shop.json").read_text("utf-8"))
LATER = (
    "cancel_reason", "exchange_items", "exchange_new_items", "exchange_payment_method_id",
    "exchange_price_difference", "return_items", "return_payment_method_id",
)  # fmt: skip
ADDRESS = ("address1", "address2", "city", "country", "state", "zip")
NOTHING_READ = "0" * 64
Call = tuple[str, dict[str, Any]]


class NaiveShop:
    """The shop's tools as methods; each gives the text that the shop printed."""

    def __init__(self, db: dict[str, Any]) -> None:
        self.db = deepcopy(db)
        for order in self.db["orders"].values():
            for name in LATER:
                order.setdefault(name, None)
            for row in (*order["items"], *order["payment_history"]):
                for name in ("price", "amount"):
                    if name in row:
                        row[name] = float(row[name])
        for product in self.db["products"].values():
            for variant in product["variants"].values():
                variant["price"] = float(variant["price"])
        for user in self.db["users"].values():
            for method in user["payment_methods"].values():
                if "balance" in method:
                    method["balance"] = float(method["balance"])

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        before = deepcopy(self.db)
        try:
            found = getattr(self, tool)(**arguments)
        except LookupError as refusal:
            self.db = before
            return f"Error: {refusal.args[0]}"
        return found if isinstance(found, str) else json.dumps(found)

    def pick(self, table: str, key: str, name: str) -> Any:
        if key not in self.db[table]:
            raise LookupError(f"{name} not found")
        return self.db[table][key]

    def order(self, order_id: str) -> Any:
        return self.pick("orders", order_id, "Order")

    def method(self, order: Any, method_id: str) -> Any:
        methods = self.pick("users", order["user_id"], "User")["payment_methods"]
        if method_id not in methods:
            raise LookupError("Payment method not found")
        return methods[method_id]

    def find_user_id_by_email(self, email: str) -> str:
        for key, user in self.db["users"].items():
            if user["email"].lower() == email.lower():
                return key
        raise LookupError("User not found")

    def find_user_id_by_name_zip(self, first_name: str, last_name: str, zip: str) -> str:  # noqa: A002
        for key, user in self.db["users"].items():
            name = (user["name"]["first_name"].lower(), user["name"]["last_name"].lower())
            if name == (first_name.lower(), last_name.lower()) and user["address"]["zip"] == zip:
                return key
        raise LookupError("User not found")

    def get_user_details(self, user_id: str) -> Any:
        return self.pick("users", user_id, "User")

    def get_order_details(self, order_id: str) -> Any:
        return self.order(order_id)

    def get_product_details(self, product_id: str) -> Any:
        return self.pick("products", product_id, "Product")

    def get_item_details(self, item_id: str) -> Any:
        for product in self.db["products"].values():
            if item_id in product["variants"]:
                return product["variants"][item_id]
        raise LookupError("Item not found")

    def list_all_product_types(self) -> Any:
        return dict(sorted({p["name"]: p["product_id"] for p in self.db["products"].values()}.items()))

    def transfer_to_human_agents(self, summary: str) -> str:
        assert summary
        return "Transfer successful"

    def cancel_pending_order(self, order_id: str, reason: str) -> Any:
        order = self.order(order_id)
        if order["status"] != "pending":
            raise LookupError("Non-pending order cannot be cancelled")
        if reason not in ("no longer needed", "ordered by mistake"):
            raise LookupError("Invalid reason")
        for row in list(order["payment_history"]):
            order["payment_history"].append({**row, "transaction_type": "refund"})
            method = self.method(order, row["payment_method_id"])
            if method["source"] == "gift_card":
                method["balance"] = round(method["balance"] + row["amount"], 2)
        order["status"] = "cancelled"
        order["cancel_reason"] = reason
        return order

    def modify_pending_order_address(self, order_id: str, **address: str) -> Any:
        order = self.order(order_id)
        if "pending" not in order["status"]:
            raise LookupError("Non-pending order cannot be modified")
        order["address"] = {name: address[name] for name in ADDRESS}
        return order

    def modify_user_address(self, user_id: str, **address: str) -> Any:
        user = self.pick("users", user_id, "User")
        user["address"] = {name: address[name] for name in ADDRESS}
        return user

    def difference(self, order: Any, old: list[str], new: list[str], *, may_stay: bool) -> tuple[Any, Any]:
        difference, variant = 0, None
        for old_id, new_id in zip(old, new, strict=True):
            if old_id == new_id and not may_stay:
                raise LookupError("The new item id should be different from the old item id")
            line = next(line for line in order["items"] if line["item_id"] == old_id)
            variants = self.pick("products", line["product_id"], "Product")["variants"]
            if new_id not in variants:
                raise LookupError("Variant not found")
            variant = variants[new_id]
            if not variant["available"]:
                raise LookupError(f"New item {new_id} not found or available")
            difference += variant["price"] - line["price"]
        return difference, variant

    def missing(self, order: Any, item_ids: list[str]) -> str | None:
        has = [line["item_id"] for line in order["items"]]
        return next((i for i in item_ids if item_ids.count(i) > has.count(i)), None)

    def modify_pending_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Any:
        order = self.order(order_id)
        if order["status"] != "pending":
            raise LookupError("Non-pending order cannot be modified")
        if (missing := self.missing(order, item_ids)) is not None:
            raise LookupError(f"{missing} not found")
        if len(item_ids) != len(new_item_ids):
            raise LookupError("The number of items to be exchanged should match")
        difference, last = self.difference(order, item_ids, new_item_ids, may_stay=False)
        method = self.method(order, payment_method_id)
        if method["source"] == "gift_card":
            if method["balance"] < difference:
                raise LookupError("Insufficient gift card balance to pay for the new item")
            method["balance"] = round(method["balance"] - difference, 2)
        kind = "payment" if difference > 0 else "refund"
        amount = float(abs(difference))
        order["payment_history"].append(
            {"transaction_type": kind, "amount": amount, "payment_method_id": payment_method_id}
        )
        for old_id, new_id in zip(item_ids, new_item_ids, strict=True):
            line = next(line for line in order["items"] if line["item_id"] == old_id)
            line.update(item_id=new_id, price=last["price"], options=last["options"])
        order["status"] = "pending (item modified)"
        return order

    def modify_pending_order_payment(self, order_id: str, payment_method_id: str) -> Any:
        order = self.order(order_id)
        if "pending" not in order["status"]:
            raise LookupError("Non-pending order cannot be modified")
        new = self.method(order, payment_method_id)
        history = order["payment_history"]
        if [row["transaction_type"] for row in history] != ["payment"]:
            raise LookupError("There should be exactly one payment for a pending order")
        paid = history[0]
        if paid["payment_method_id"] == payment_method_id:
            raise LookupError("The new payment method should be different from the current one")
        if new["source"] == "gift_card":
            if new["balance"] < paid["amount"]:
                raise LookupError("Insufficient gift card balance to pay for the order")
            new["balance"] = round(new["balance"] - paid["amount"], 2)
        old = self.method(order, paid["payment_method_id"])
        if old["source"] == "gift_card":
            old["balance"] = round(old["balance"] + paid["amount"], 2)
        history.append({**paid, "payment_method_id": payment_method_id})
        history.append({**paid, "transaction_type": "refund"})
        return order

    def return_delivered_order_items(
        self, order_id: str, item_ids: list[str], payment_method_id: str
    ) -> Any:
        order = self.order(order_id)
        if order["status"] != "delivered":
            raise LookupError("Non-delivered order cannot be returned")
        method = self.method(order, payment_method_id)
        # An empty history ends in Python's own LookupError here, as it did in the recorded shop.
        if method["source"] != "gift_card" and payment_method_id != (
            order["payment_history"][0]["payment_method_id"]
        ):
            raise LookupError("Payment method should be the original payment method")
        if self.missing(order, item_ids) is not None:
            raise LookupError("Some item not found")
        order["status"] = "return requested"
        order["return_items"] = sorted(item_ids)
        order["return_payment_method_id"] = payment_method_id
        return order

    def exchange_delivered_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Any:
        order = self.order(order_id)
        if order["status"] != "delivered":
            raise LookupError("Non-delivered order cannot be exchanged")
        if (missing := self.missing(order, item_ids)) is not None:
            raise LookupError(f"Number of {missing} not found.")
        if len(item_ids) != len(new_item_ids):
            raise LookupError("The number of items to be exchanged should match.")
        difference = round(self.difference(order, item_ids, new_item_ids, may_stay=True)[0], 2)
        method = self.method(order, payment_method_id)
        if method["source"] == "gift_card" and method["balance"] < difference:
            raise LookupError("Insufficient gift card balance to pay for the price difference")
        order.update(
            status="exchange requested",
            exchange_items=sorted(item_ids),
            exchange_new_items=sorted(new_item_ids),
            exchange_payment_method_id=payment_method_id,
            exchange_price_difference=difference,
        )
        return order


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

"""The recorded shop the way one would write it without records, modes or replay.

It is written from the same rules as the market and shares no code with it: it changes dicts in place, adds up
floats, and raises its refusals. Tests compare the market with it, and what it prints is what the small
recorded runs of the repository hold (`record_retail`).
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

LATER = (
    "cancel_reason", "exchange_items", "exchange_new_items", "exchange_payment_method_id",
    "exchange_price_difference", "return_items", "return_payment_method_id",
)  # fmt: skip
ADDRESS = ("address1", "address2", "city", "country", "state", "zip")


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
        order["address"] = whole(address)
        return order

    def modify_user_address(self, user_id: str, **address: str) -> Any:
        user = self.pick("users", user_id, "User")
        user["address"] = whole(address)
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


def whole(address: dict[str, str]) -> dict[str, str]:
    if set(address) != set(ADDRESS):
        raise TypeError(f"an address is exactly {', '.join(ADDRESS)}")
    return {name: address[name] for name in ADDRESS}

"""A shop's file: what is refused, by its place, and what is taken."""

from __future__ import annotations

from typing import Any

import pytest

from tollbook.protocol.errors import SourceError
from tollbook.protocol.retail.rows import Order, Product, User
from tollbook.protocol.retail.shop import rows_of_shop

GONE = object()
PRICE = ("orders", "#P1", "items", 0, "price")


def put(document: Any, path: tuple[str | int, ...], value: object) -> None:
    for step in path[:-1]:
        document = document[step]
    if value is GONE:
        del document[path[-1]]
    else:
        document[path[-1]] = value


# fmt: off
BROKEN: list[tuple[str, str, tuple[str | int, ...], object]] = [
    ("shop.missing", "`the document` has no field `users`", ("users",), GONE),
    ("shop.unknown", "`the document` has an unknown field `stores`", ("stores",), {}),
    ("shop.type", "`orders` is not an object", ("orders",), []),
    ("shop.type", "`orders.#P1` is not an object", ("orders", "#P1"), None),
    ("shop.missing", "`orders.#P1` has no field `status`", ("orders", "#P1", "status"), GONE),
    ("shop.unknown", "`orders.#P1` has an unknown field `note`", ("orders", "#P1", "note"), None),
    ("shop.id", "`orders.#P1.order_id` is `#P2` under the key `#P1`", ("orders", "#P1", "order_id"), "#P2"),
    ("shop.id", "`products.lamp.product_id` is `l` under the key `lamp`",
     ("products", "lamp", "product_id"), "l"),
    ("shop.id", "`products.lamp.variants.L1.item_id` is `L2` under the key `L1`",
     ("products", "lamp", "variants", "L1", "item_id"), "L2"),
    ("shop.id", "`users.ann_1.user_id` is `ann` under the key `ann_1`", ("users", "ann_1", "user_id"), "ann"),
    ("shop.id", "`users.ann_1.payment_methods.card_a.id` is `c` under the key `card_a`",
     ("users", "ann_1", "payment_methods", "card_a", "id"), "c"),
    ("shop.id", "`users.zoë` is not printable ASCII of 1 to 128 characters", ("users", "zoë"), {}),
    ("shop.id", "`users.` is not printable ASCII of 1 to 128 characters", ("users", ""), {}),
    ("shop.type", "`orders.#P1.items[0].price` is not a number", PRICE, "10.1"),
    ("shop.type", "`orders.#P1.items[0].price` is not a number", PRICE, True),
    ("shop.type", "`orders.#P1.items[0].price` is not a number", PRICE, None),
    ("shop.amount", "`orders.#P1.items[0].price` is not a number within ±1000000000", PRICE, float("nan")),
    ("shop.amount", "`orders.#P1.items[0].price` is not a number within ±1000000000", PRICE, float("inf")),
    ("shop.amount", "`orders.#P1.items[0].price` is not a number within ±1000000000", PRICE, 10**400),
    ("shop.type", "`orders.#P1.items` is not a list", ("orders", "#P1", "items"), {}),
    ("shop.type", "`orders.#P1.items[1]` is not an object", ("orders", "#P1", "items", 1), "L1"),
    ("shop.unknown", "`orders.#P1.items[1]` has an unknown field `n`", ("orders", "#P1", "items", 1, "n"), 1),
    ("shop.type", "`orders.#P1.items[1].options.legs` is not text",
     ("orders", "#P1", "items", 1, "options", "legs"), 4),
    ("shop.type", "`orders.#P1.return_items[0]` is not text", ("orders", "#P1", "return_items"), [1]),
    ("shop.type", "`orders.#P1.exchange_price_difference` is not a number",
     ("orders", "#P1", "exchange_price_difference"), "1"),
    ("shop.unknown", "`orders.#P1.payment_history[0].transaction_type` is `gift`",
     ("orders", "#P1", "payment_history", 0, "transaction_type"), "gift"),
    ("shop.missing", "`orders.#D1.fulfillments[0]` has no field `item_ids`",
     ("orders", "#D1", "fulfillments", 0, "item_ids"), GONE),
    ("shop.unknown", "`users.ann_1.payment_methods.card_a.source` is `cash`",
     ("users", "ann_1", "payment_methods", "card_a", "source"), "cash"),
    ("shop.missing", "`users.ann_1.payment_methods.gift_a` has no field `balance`",
     ("users", "ann_1", "payment_methods", "gift_a", "balance"), GONE),
    ("shop.unknown", "`users.ann_1.payment_methods.card_a` has an unknown field `balance`",
     ("users", "ann_1", "payment_methods", "card_a", "balance"), 1.0),
    ("shop.missing", "`users.ann_1.address` has no field `zip`", ("users", "ann_1", "address", "zip"), GONE),
    ("shop.text", "`users.ann_1.email` holds half a surrogate pair", ("users", "ann_1", "email"), "\ud800"),
    ("shop.type", "`products.lamp.variants.L1.available` is not true or false",
     ("products", "lamp", "variants", "L1", "available"), 1),
]
# fmt: on


@pytest.mark.parametrize("mode", ["compat", "strict"])
@pytest.mark.parametrize(("code", "text", "path", "value"), BROKEN)
def test_a_broken_document_is_refused_by_its_place(  # noqa: PLR0913 - a table's columns
    small_shop: Any, mode: str, code: str, text: str, path: tuple[str | int, ...], value: object
) -> None:
    put(small_shop, path, value)
    with pytest.raises(SourceError) as caught:
        list(rows_of_shop(small_shop, mode))
    assert (caught.value.code, caught.value.text) == (code, text)


@pytest.mark.parametrize("document", [None, [], "shop", 1])
def test_a_document_of_another_form_is_refused(document: object) -> None:
    with pytest.raises(SourceError, match="`the document` is not an object"):
        list(rows_of_shop(document, "compat"))


def test_strict_takes_whole_cents_only(small_shop: Any) -> None:
    put(small_shop, PRICE, 113.71000000000004)
    assert list(rows_of_shop(small_shop, "compat"))
    with pytest.raises(SourceError, match=r"`orders.#P1.items\[0\].price` is `113.71000000000004`") as caught:
        list(rows_of_shop(small_shop, "strict"))
    assert (caught.value.code, caught.value.hint) == ("shop.cents", "mode `compat` keeps it as it is")


def test_rows_keep_the_order_of_the_file(small_shop: Any) -> None:
    rows = {(table, key): row for table, key, row in rows_of_shop(small_shop, "compat")}
    assert [key for table, key in rows if table == "product"] == ["lamp", "chair", "aaa"]
    lamp, ann = rows["product", "lamp"], rows["user", "ann_1"]
    assert isinstance(lamp, Product)
    assert isinstance(ann, User)
    assert (lamp.position, ann.position) == (0, 1)
    assert lamp.variants[0].options == (("colour", "red"), ("size", "S"))
    assert [method.id for method in ann.payment_methods] == ["gift_a", "card_a"]


@pytest.mark.parametrize(
    ("mode", "price", "difference"), [("compat", "15.0", "-2.0"), ("strict", 1500, -200)]
)
def test_integers_are_amounts_and_later_fields_are_taken(
    small_shop: Any, mode: str, price: object, difference: object
) -> None:
    more = {"exchange_price_difference": -2, "exchange_items": ["L1"], "return_items": None}
    small_shop["orders"]["#D1"].update(more)
    rows = {(table, key): row for table, key, row in rows_of_shop(small_shop, mode)}
    lamp, order = rows["product", "lamp"], rows["order", "#D1"]
    assert isinstance(lamp, Product)
    assert isinstance(order, Order)
    assert lamp.variants[2].price == price
    assert (order.exchange_price_difference, order.exchange_items) == (difference, ("L1",))
    assert order.cancel_reason is None

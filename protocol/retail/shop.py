"""A shop's database file as start rows.

    {products: {id: …}, users: {id: …}, orders: {id: …}}  ─►  (table, key, row)

Each value is checked by its place; what is missing, unknown or of another type
is refused by the path that leads to it (`orders.#W1.items[0].price`).

Not here: reading the file (the caller parses the JSON), whether ids that rows
mention exist (the rules refuse what they don't find).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

from ..errors import SourceError
from ..tables import Row
from .arithmetic import MAX_AMOUNT, Arithmetic
from .modes import MODES
from .rows import (
    Address,
    Amount,
    Fulfillment,
    Line,
    Options,
    Order,
    Payment,
    PaymentMethod,
    Product,
    User,
    Variant,
)

T = TypeVar("T")
MAX_ID = 128
_ADDRESS = ("address1", "address2", "city", "country", "state", "zip")
_ORDER = ("order_id", "user_id", "address", "items", "status", "fulfillments", "payment_history")
_ORDER_LATER = (
    "cancel_reason",
    "exchange_items",
    "exchange_new_items",
    "exchange_payment_method_id",
    "exchange_price_difference",
    "return_items",
    "return_payment_method_id",
)
_METHOD = {
    "credit_card": ("source", "id", "brand", "last_four"),
    "paypal": ("source", "id"),
    "gift_card": ("source", "id", "balance"),
}


def rows_of_shop(db: object, mode: str) -> Iterator[tuple[str, str, Row]]:
    """The start rows of a shop, from its parsed JSON document, for one mode.

    Raises:
        SourceError: `shop.type`, `shop.missing`, `shop.unknown`, `shop.id`,
            `shop.amount`, `shop.cents` or `shop.text`, at a path in the document.
    """
    money = MODES[mode].money
    tables = _Node(db, "", money).fields(("products", "users", "orders"))
    for position, (key, node) in enumerate(tables["products"].entries()):
        yield "product", key, _product(node, key, position)
    for position, (key, node) in enumerate(tables["users"].entries()):
        yield "user", key, _user(node, key, position)
    for key, node in tables["orders"].entries():
        yield "order", key, _order(node, key)


class _Node(NamedTuple):
    """A value of the document and where it stands."""

    value: object
    path: str
    money: Arithmetic

    def refuse(self, code: str, what: str, hint: str | None = None) -> SourceError:
        return SourceError(f"shop.{code}", f"`{self.path or 'the document'}` {what}", hint)

    def at(self, name: str, value: object) -> _Node:
        return _Node(value, f"{self.path}.{name}" if self.path else name, self.money)

    def _object(self) -> dict[str, object]:
        if not isinstance(self.value, dict):
            raise self.refuse("type", "is not an object")
        return cast("dict[str, object]", self.value)

    def fields(self, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, _Node]:
        """The fields of an object that has these and no others; absent optional ones are null."""
        found = self._object()
        for name in needed:
            if name not in found:
                raise self.refuse("missing", f"has no field `{name}`")
        for name in found:
            if name not in needed and name not in optional:
                known = ", ".join(needed + optional)
                raise self.refuse("unknown", f"has an unknown field `{name}`", f"known: {known}")
        return {name: self.at(name, found.get(name)) for name in (*needed, *optional)}

    def entries(self) -> list[tuple[str, _Node]]:
        """The entries of an object whose keys are ids."""
        return [(self.at(key, key).id(), self.at(key, value)) for key, value in self._object().items()]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.refuse("type", "is not text")
        try:
            self.value.encode()
        except UnicodeEncodeError:
            raise self.refuse("text", "holds half a surrogate pair") from None
        return self.value

    def id(self, same: str | None = None) -> str:
        """Printable ASCII of 1 to 128 characters, and `same` where that is given."""
        text = self.text()
        if not (0 < len(text) <= MAX_ID and text.isascii() and text.isprintable()):
            raise self.refuse("id", f"is not printable ASCII of 1 to {MAX_ID} characters")
        if same is not None and text != same:
            raise self.refuse("id", f"is `{text}` under the key `{same}`", "make the id and its key the same")
        return text

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.refuse("type", "is not true or false")
        return self.value

    def one_of(self, *known: str) -> str:
        text = self.text()
        if text not in known:
            raise self.refuse("unknown", f"is `{text}`", f"known: {', '.join(known)}")
        return text

    def amount(self) -> Amount:
        value = self.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.refuse("type", "is not a number")
        if not abs(value) <= MAX_AMOUNT:  # also when it is not a number at all
            raise self.refuse("amount", f"is not a number within ±{MAX_AMOUNT}")
        amount = self.money.of_number(value)
        if amount is None:
            what = f"is `{value!r}`, which is not whole cents"
            raise self.refuse("cents", what, "mode `compat` keeps it as it is")
        return amount

    def items(self, read: Callable[[_Node], T]) -> tuple[T, ...]:
        if not isinstance(self.value, list):
            raise self.refuse("type", "is not a list")
        values = cast("list[object]", self.value)
        return tuple(
            read(_Node(value, f"{self.path}[{place}]", self.money)) for place, value in enumerate(values)
        )

    def texts(self) -> tuple[str, ...]:
        return self.items(_Node.text)

    def options(self) -> Options:
        entries = self._object().items()
        return tuple((self.at(key, key).text(), self.at(key, value).text()) for key, value in entries)

    def unless_null(self, read: Callable[[_Node], T]) -> T | None:
        return None if self.value is None else read(self)


def _product(node: _Node, key: str, position: int) -> Product:
    fields = node.fields(("name", "product_id", "variants"))
    return Product(
        name=fields["name"].text(),
        position=position,
        product_id=fields["product_id"].id(key),
        variants=tuple(_variant(entry, item) for item, entry in fields["variants"].entries()),
    )


def _variant(node: _Node, key: str) -> Variant:
    fields = node.fields(("item_id", "options", "available", "price"))
    return Variant(
        available=fields["available"].flag(),
        item_id=fields["item_id"].id(key),
        options=fields["options"].options(),
        price=fields["price"].amount(),
    )


def _user(node: _Node, key: str, position: int) -> User:
    fields = node.fields(("user_id", "name", "address", "email", "payment_methods", "orders"))
    name = fields["name"].fields(("first_name", "last_name"))
    methods = fields["payment_methods"].entries()
    return User(
        address=_address(fields["address"]),
        email=fields["email"].text(),
        first_name=name["first_name"].text(),
        last_name=name["last_name"].text(),
        orders=fields["orders"].texts(),
        payment_methods=tuple(_method(entry, method) for method, entry in methods),
        position=position,
        user_id=fields["user_id"].id(key),
    )


def _address(node: _Node) -> Address:
    return Address(**{name: field.text() for name, field in node.fields(_ADDRESS).items()})


def _method(node: _Node, key: str) -> PaymentMethod:
    every = tuple(dict.fromkeys(name for names in _METHOD.values() for name in names))
    source = node.fields(("source",), every)["source"].one_of(*_METHOD)
    fields = node.fields(_METHOD[source])
    absent = node.at("", None)
    return PaymentMethod(
        balance=fields.get("balance", absent).unless_null(_Node.amount),
        brand=fields.get("brand", absent).unless_null(_Node.text),
        id=fields["id"].id(key),
        last_four=fields.get("last_four", absent).unless_null(_Node.text),
        source=cast("Any", source),
    )


def _order(node: _Node, key: str) -> Order:
    fields = node.fields(_ORDER, _ORDER_LATER)
    return Order(
        address=_address(fields["address"]),
        cancel_reason=fields["cancel_reason"].unless_null(_Node.text),
        exchange_items=fields["exchange_items"].unless_null(_Node.texts),
        exchange_new_items=fields["exchange_new_items"].unless_null(_Node.texts),
        exchange_payment_method_id=fields["exchange_payment_method_id"].unless_null(_Node.text),
        exchange_price_difference=fields["exchange_price_difference"].unless_null(_Node.amount),
        fulfillments=fields["fulfillments"].items(_parcel),
        items=fields["items"].items(_line),
        order_id=fields["order_id"].id(key),
        payment_history=fields["payment_history"].items(_payment),
        return_items=fields["return_items"].unless_null(_Node.texts),
        return_payment_method_id=fields["return_payment_method_id"].unless_null(_Node.text),
        status=fields["status"].text(),
        user_id=fields["user_id"].text(),
    )


def _parcel(node: _Node) -> Fulfillment:
    fields = node.fields(("tracking_id", "item_ids"))
    return Fulfillment(fields["item_ids"].texts(), fields["tracking_id"].texts())


def _line(node: _Node) -> Line:
    fields = node.fields(("name", "product_id", "item_id", "price", "options"))
    return Line(
        item_id=fields["item_id"].text(),
        name=fields["name"].text(),
        options=fields["options"].options(),
        price=fields["price"].amount(),
        product_id=fields["product_id"].text(),
    )


def _payment(node: _Node) -> Payment:
    fields = node.fields(("transaction_type", "amount", "payment_method_id"))
    return Payment(
        amount=fields["amount"].amount(),
        payment_method_id=fields["payment_method_id"].text(),
        transaction_type=cast("Any", fields["transaction_type"].one_of("payment", "refund")),
    )

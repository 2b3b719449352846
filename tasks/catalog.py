"""The invented catalog: what merchants of tasks and studies can sell, and the rows to start a market with.

    suites/catalog/<family>.toml   ─►  Family ─► Product ─► Variant      what is bought is a variant
    listings(variants, "merchant") ─►  listing l1 + inventory l1, listing l2 + inventory l2, …

    a variant's attributes = made + rated + terms of its product + its own + { product = the product's key }
    its title = the product's title, and its words after a comma      its key = product.words_in_lower_case

Families come by name, products and variants as their file has them: a draw is by place in that order. Keys of
rows are neutral (`l1`), since a readable key could tell an agent what its task has it find out.
All goods, prices and ratings are made up; prices are in cents of a euro. Ratings are points: `quality_score`
of 100, every other `…_score` of 5. Not here: who sells what, or at which terms (`protocol.commerce.pricing`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

import msgspec

from ..protocol.bodies import Text
from ..protocol.canonical import Id
from ..protocol.commerce.catalog import Attributes, Inventory, Listing
from ..protocol.commerce.terms import Money, Stock

FamilyName = Literal["coffee", "cosmetics", "footwear", "home_textiles", "pet_care", "yoga"]
FAMILIES: Final[tuple[FamilyName, ...]] = get_args(FamilyName)

_NO_WORD = re.compile(r"[^a-z0-9]+")


class Variant(msgspec.Struct, frozen=True):
    """What can be bought: a product in one size, colour or pack; ``stock`` is the units on hand."""

    key: str
    product: str
    title: Text
    description: Text
    price: Money
    stock: Stock
    attributes: Attributes
    features: tuple[Text, ...]


class Product(msgspec.Struct, frozen=True):
    """A product and its variants, at least one; a product that comes in one way only is its own variant."""

    key: str
    family: FamilyName
    title: Text
    description: Text
    variants: tuple[Variant, ...]

    @property
    def price(self) -> int:
        """What its cheapest variant costs."""
        return min(variant.price for variant in self.variants)


class Family(msgspec.Struct, frozen=True):
    """A branch of the catalog."""

    name: FamilyName
    title: Text
    about: Text
    products: tuple[Product, ...]


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A product as its file has it.

    A variant stands under its words, with the attributes in which it differs
    and its stock, and with its price where that isn't the product's.
    """

    title: Text
    description: Text
    made: Attributes
    rated: Attributes
    terms: Attributes
    features: tuple[Text, ...] = ()
    price: Money | None = None
    stock: Stock | None = None
    variant: dict[str, Attributes] = msgspec.field(default_factory=dict[str, Attributes])


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: Text
    about: Text
    product: dict[Id, _Entry]


@cache
def family(name: FamilyName) -> Family:
    """One family, read once."""
    text = (files("tollbook.tasks") / "suites" / "catalog" / f"{name}.toml").read_text(encoding="utf-8")
    file = msgspec.convert(tomllib.loads(text), _File)
    made = tuple(_product(name, key, entry) for key, entry in file.product.items())
    return Family(name, file.title, file.about, made)


def products(name: FamilyName | None = None) -> tuple[Product, ...]:
    """The products of a family, or of all families, in the catalog's order."""
    names = FAMILIES if name is None else (name,)
    return tuple(product for each in names for product in family(each).products)


def variants(name: FamilyName | None = None) -> tuple[Variant, ...]:
    """The variants of a family, or of all families, in the catalog's order."""
    return tuple(variant for product in products(name) for variant in product.variants)


def listings(
    chosen: Iterable[Variant], merchant: str, first: int = 1
) -> list[tuple[str, str, Listing | Inventory]]:
    """Rows for a world's `facts`: a listing and its inventory for each variant, in the order given.

    Their keys are `l<first>`, `l<first + 1>`, and so on: the second of two
    merchants goes on where the first one ended.
    """
    rows: list[tuple[str, str, Listing | Inventory]] = []
    for number, variant in enumerate(chosen, first):
        key = f"l{number}"
        row = Listing(
            merchant=merchant,
            title=variant.title,
            price=variant.price,
            description=variant.description,
            attributes=dict(variant.attributes),
            features=variant.features,
        )
        rows.append(("listing", key, row))
        rows.append(("inventory", key, Inventory(on_hand=variant.stock, available=variant.stock)))
    return rows


def _product(name: FamilyName, key: str, entry: _Entry) -> Product:
    if entry.variant:
        made = tuple(_variant(key, entry, words, own) for words, own in entry.variant.items())
    else:
        made = (_variant(key, entry, "", {}),)
    return Product(key, name, entry.title, entry.description, made)


def _variant(product: str, entry: _Entry, words: str, own: Mapping[str, str | int | bool]) -> Variant:
    price, stock = own.get("price", entry.price), own.get("stock", entry.stock)
    assert isinstance(price, int), f"no price: {product} {words}"
    assert isinstance(stock, int), f"no stock: {product} {words}"
    differs = {name: value for name, value in own.items() if name not in {"price", "stock"}}
    return Variant(
        key=f"{product}.{_NO_WORD.sub('_', words.lower())}" if words else product,
        product=product,
        title=f"{entry.title}, {words}" if words else entry.title,
        description=entry.description,
        price=price,
        stock=stock,
        attributes={"product": product, **entry.made, **differs, **entry.terms, **entry.rated},
        features=entry.features,
    )

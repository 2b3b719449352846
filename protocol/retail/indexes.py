"""What can be looked up in the start rows, worked out once and shared by every run.

    e-mail → user · name → users · item → variant · product → its variants

E-mail addresses, names and products never change in a run, so these hold in any
state; a zip code can change, so it is checked on the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from ..tables import Facts
from .rows import Product, User, Variant

T = TypeVar("T")


def user_by_email(facts: Facts) -> Mapping[str, str]:
    """The first user with each e-mail address, lower-cased."""
    return _once(facts, "retail.user_by_email", _by_email)


def users_by_name(facts: Facts) -> Mapping[tuple[str, str], list[str]]:
    """The users of each (first name, last name), lower-cased, in the order of the shop's file."""
    return _once(facts, "retail.users_by_name", _by_name)


def variants_of(facts: Facts) -> Mapping[str, Mapping[str, Variant]]:
    """The variants of each product by item id."""
    return _once(facts, "retail.variants_of", _variants)


def product_of(facts: Facts) -> Mapping[str, str]:
    """The first product in the shop's file that has each item."""
    return _once(facts, "retail.product_of", _products)


def _once(facts: Facts, name: str, make: Callable[[Facts], T]) -> T:
    found = facts.memo.get(name)
    if found is None:
        found = facts.memo[name] = make(facts)
    return cast("T", found)


def in_file_order(facts: Facts, table: str) -> list[tuple[str, Any]]:
    """The rows of `user` or `product` as (key, row), as the shop's file has them."""
    return sorted(facts.tables[table].rows.items(), key=lambda item: cast("User | Product", item[1]).position)


def _by_email(facts: Facts) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, user in in_file_order(facts, "user"):
        found.setdefault(user.email.lower(), key)
    return found


def _by_name(facts: Facts) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for key, user in in_file_order(facts, "user"):
        found.setdefault((user.first_name.lower(), user.last_name.lower()), []).append(key)
    return found


def _variants(facts: Facts) -> dict[str, dict[str, Variant]]:
    return {
        key: {variant.item_id: variant for variant in product.variants}
        for key, product in in_file_order(facts, "product")
    }


def _products(facts: Facts) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, product in in_file_order(facts, "product"):
        for variant in product.variants:
            found.setdefault(variant.item_id, key)
    return found

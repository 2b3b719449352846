"""The catalog is goods that a shop could sell: whole rows, sane prices, texts that agree with attributes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import prod
from pathlib import Path

import msgspec
import pytest

from tollbook.protocol.bodies import WorldRef
from tollbook.protocol.canonical import Id
from tollbook.protocol.commerce.catalog import Inventory, Listing
from tollbook.protocol.world import world_of
from tollbook.tasks.catalog import FAMILIES, FamilyName, Product, family, listings, products, variants
from tollbook.tasks.shelf import builtin_tasks

REVIEWED = Path(__file__).with_name("catalog_words.txt").read_text(encoding="utf-8").split()

AMOUNTS = {
    "content_g", "content_ml", "capacity_ml", "pieces", "width_cm", "length_cm", "height_cm", "thickness_mm",
}  # fmt: skip
"""What there is more of in a bigger pack; where two of them vary, as in sheets, there is their product."""

SIZES = {"size", "diameter_cm"}
"""What may change a price without being an amount."""

TERMS = {
    "shipping_days": range(1, 11),
    "return_days": (14, 30, 60),
    "warranty_months": (6, 12, 24, 36),
}

CLAIMS = {
    "waterproof": ("waterproof", True),
    "organic": ("organic", True),
    "decaffeinated": ("decaffeinated", True),
    "grain-free": ("grain_free", True),
    "without perfume": ("fragrance_free", True),
    "free of perfume": ("fragrance_free", True),
    "beeswax": ("vegan", False),
    "children's": ("audience", "children"),
}
"""A phrase that a product's text may hold only if its attribute, where it has that one, is so."""

MATERIALS = {
    "bamboo", "bronze", "canvas", "ceramic", "cork", "cotton", "down", "feather", "felt", "foam", "glass",
    "lambswool", "leather", "linen", "nylon", "rubber", "sheepskin", "sisal", "steel", "suede", "wool",
}  # fmt: skip
"""What a title names of these, before a "with", its product is made of."""


def ids(product: Product) -> str:
    return product.key


def texts(product: Product) -> Iterator[str]:
    """Every text of a product that someone may read."""
    yield from (product.title, product.description, *product.variants[0].features)
    for variant in product.variants:
        yield variant.title
        yield from (value for value in variant.attributes.values() if isinstance(value, str))


def varying(product: Product) -> set[str]:
    """The attributes in which a product's variants differ."""
    names = {name for variant in product.variants for name in variant.attributes}
    return {name for name in names if len({str(each.attributes.get(name)) for each in product.variants}) > 1}


def measures(text: str) -> tuple[list[tuple[set[str], int]], str]:
    """What a text says in numbers, as (attributes of which one must say so, value); and the rest of it."""
    found: list[tuple[set[str], int]] = []
    units = {"kg": "g", "l": "ml"}

    def measured(match: re.Match[str]) -> str:
        number, unit = float(match[1]), match[2]
        scale = 1000 if unit in units else 1
        names = {f"{kind}_{units.get(unit, unit)}" for kind in KINDS}
        found.append((names, round(number * scale)))
        return ""

    def flat(match: re.Match[str]) -> str:
        found.extend([({"width_cm"}, int(match[1])), ({"length_cm"}, int(match[2]))])
        return ""

    def named(match: re.Match[str]) -> str:
        found.append(({"SPF": {"spf"}, "size": {"size_eu"}}[match[1]], int(match[2])))
        return ""

    def counted(match: re.Match[str]) -> str:
        found.append(({"pieces"}, int(match[1])))
        return ""

    rest = re.sub(r"(\d+) × (\d+) cm\b", flat, text)
    rest = re.sub(r"\b(SPF|size) (\d+)\b", named, rest)
    rest = re.sub(r"\b(\d+) pieces?\b", counted, rest)
    return found, re.sub(r"(\d+(?:\.\d+)?) (kg|g|ml|l|cm|mm)\b", measured, rest)


KINDS = ("content", "capacity", "length", "height", "diameter", "thickness")


def test_there_is_enough_of_everything() -> None:
    assert [name for name in FAMILIES if len(products(name)) < 26] == []
    assert len(products()) >= 160
    assert len([each for each in variants() if each.key != each.attributes["product"]]) >= 400
    assert [name for name in FAMILIES for _product in products(name)] == [each.family for each in products()]


@pytest.mark.parametrize(
    ("name",          "least", "most"),
    [
        ("coffee",          250,  50_000),
        ("cosmetics",       350,   5_000),
        ("footwear",      1_400,  25_000),
        ("home_textiles",   850,  40_000),
        ("pet_care",        250,  12_000),
        ("yoga",            650,  10_000),
    ],
)  # fmt: skip
def test_a_family_has_its_prices(name: FamilyName, least: int, most: int) -> None:
    prices = [variant.price for variant in variants(name)]
    assert least <= min(prices)
    assert max(prices) <= most
    assert [price for price in prices if price % 10] == []
    stocks = [variant.stock for variant in variants(name)]
    assert 1 <= stocks.count(0) <= len(stocks) // 10, "some are sold out, most are not"


def test_keys_titles_and_descriptions_are_each_there_once() -> None:
    for found in (
        [product.key for product in products()],
        [variant.key for variant in variants()],
        [product.title for product in products()],
        [variant.title for variant in variants()],
        [product.description for product in products()],
    ):
        assert [each for each, count in Counter(found).items() if count > 1] == []
    assert all(msgspec.convert(variant.key, Id) for variant in variants())
    assert all(re.fullmatch(r"[a-z0-9_]+", product.key) for product in products())


def test_every_variant_starts_a_market() -> None:
    world = world_of(WorldRef(name="commerce", params={}, version=0))
    rows = listings(variants(), "merchant")
    facts = world.facts(rows)
    kinds = {"listing": Listing, "inventory": Inventory}
    for table, key, row in rows:
        assert row == msgspec.convert(msgspec.to_builtins(row), kinds[table])
        assert row == facts.tables[table].rows[key]
        assert row.problem() is None


def test_listings_are_numbered_in_the_order_given() -> None:
    chosen = [variants("yoga")[5], variants("coffee")[0]]
    rows = listings(chosen, "m2", first=4)
    assert [("listing", "l4"), ("inventory", "l4"), ("listing", "l5"), ("inventory", "l5")] == [
        (table, key) for table, key, _row in rows
    ]
    (_, _, listing), (_, _, stock) = rows[2:]
    assert Listing(
        merchant="m2",
        title=chosen[1].title,
        price=chosen[1].price,
        description=chosen[1].description,
        attributes=chosen[1].attributes,
        features=chosen[1].features,
    ) == listing
    assert Inventory(on_hand=chosen[1].stock, available=chosen[1].stock) == stock
    assert [] == listings([], "m2")


def test_a_variant_is_its_product_and_more() -> None:
    (product,) = [each for each in products("coffee") if each.key == "espresso_blend"]
    variant = product.variants[4]
    assert "espresso_blend.1_kg_whole_beans" == variant.key
    assert "Classic espresso blend, 1 kg, whole beans" == variant.title
    assert ("espresso_blend", 1000, "whole beans", 70) == tuple(
        variant.attributes[name] for name in ("product", "content_g", "grind", "arabica_percent")
    )
    assert min(each.price for each in product.variants) == product.price
    (alone,) = next(each for each in products("coffee") if each.key == "hand_grinder").variants
    assert ("hand_grinder", "Hand grinder with steel burrs") == (alone.key, alone.title)


@pytest.mark.parametrize("product", products(), ids=ids)
def test_variants_name_their_product_and_differ_in_one_or_two_attributes(product: Product) -> None:
    assert {product.key} == {variant.attributes["product"] for variant in product.variants}
    assert len(varying(product)) in ((1, 2) if len(product.variants) > 1 else (0,))
    told = {tuple(str(each.attributes.get(name)) for name in varying(product)) for each in product.variants}
    assert len(product.variants) == len(told)
    assert 1 == len({frozenset(variant.attributes) for variant in product.variants})


@pytest.mark.parametrize("product", products(), ids=ids)
def test_a_bigger_pack_costs_more_in_all_and_less_by_the_unit(product: Product) -> None:
    differ = varying(product)
    amounts = sorted(differ & AMOUNTS)
    if amounts:
        found = [(prod(int(v.attributes[name]) for name in amounts), v.price) for v in product.variants]
        for (less, low), (more, high) in combinations(sorted(set(found)), 2):
            assert less < more, "one amount has two prices"
            assert low < high
            assert high * less < low * more
    elif differ & SIZES:
        prices = [variant.price for variant in product.variants]
        assert sorted(prices) == prices
    else:
        assert 1 == len({variant.price for variant in product.variants})


@pytest.mark.parametrize("product", products(), ids=ids)
def test_terms_and_ratings_are_in_range(product: Product) -> None:
    for variant in product.variants:
        has = variant.attributes
        assert {"product", "kind", "shipping_days", "return_days", "quality_score"} <= set(has)
        assert [name for name, allowed in TERMS.items() if name in has and has[name] not in allowed] == []
        measured = {name: value for name, value in has.items() if name.endswith(("_g", "_ml", "_cm", "_mm"))}
        assert [name for name, value in measured.items() if not (type(value) is int and value > 0)] == []
        assert 50 <= has["quality_score"] <= 99
        points = {n: v for n, v in has.items() if n.endswith("_score") and n != "quality_score"}
        assert [name for name, value in points.items() if value not in range(1, 6)] == []
        assert ("annual_energy_kwh" in has) <= ("energy_score" in has)


def test_an_attribute_has_one_type() -> None:
    kinds = {(name, type(value)) for variant in variants() for name, value in variant.attributes.items()}
    assert [name for name, count in Counter(name for name, _kind in kinds).items() if count > 1] == []
    assert [name for name, _kind in kinds if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []


@pytest.mark.parametrize("name", FAMILIES)
def test_a_feature_can_be_asked_for(name: FamilyName) -> None:
    count = Counter(each for product in products(name) for each in product.variants[0].features)
    assert [feature for feature, times in count.items() if times < 2] == []
    assert len(count) >= 3


@pytest.mark.parametrize("product", products(), ids=ids)
def test_numbers_in_texts_are_those_of_the_attributes(product: Product) -> None:
    for variant in product.variants:
        for text in (variant.title, variant.description, *variant.features):
            said, rest = measures(text)
            assert not re.search(r"\d", rest), rest
            for names, value in said:
                assert value in {variant.attributes.get(name) for name in names}, text


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (True,       "Dark blend, 250 g"),
        (True,       "Dark blend, 0.25 kg"),
        (False,      "Dark blend, 500 g"),
        (False,      "Dark blend, 250 ml"),
        (False,      "Dark blend, 250"),
    ],
)  # fmt: skip
def test_a_number_that_contradicts_is_found(expected: bool, text: str) -> None:  # noqa: FBT001 - of the table
    said, rest = measures(text)
    agrees = all(value in {{"content_g": 250}.get(name) for name in names} for names, value in said)
    assert expected == (agrees and not re.search(r"\d", rest))


@pytest.mark.parametrize("product", products(), ids=ids)
def test_words_after_a_title_say_how_a_variant_differs(product: Product) -> None:
    differ = sorted(varying(product))
    for variant in product.variants:
        parts = variant.title.removeprefix(product.title).removeprefix(", ").split(", ")
        words = [part.removeprefix("size ") for part in filter(None, parts) if measures(part)[1]]
        own = {each for name in differ if isinstance(each := variant.attributes[name], str)}
        assert own <= set(words) <= set(variant.attributes.values())
        assert bool(differ) == bool(parts[0])


@pytest.mark.parametrize("product", products(), ids=ids)
def test_a_text_claims_what_the_attributes_hold(product: Product) -> None:
    text = f"{product.title}. {product.description}".lower()
    has = product.variants[0].attributes
    for phrase, (name, value) in CLAIMS.items():
        assert phrase not in text or has.get(name, value) == value, phrase
    values = " ".join(str(value) for variant in product.variants for value in variant.attributes.values())
    named = MATERIALS & set(re.findall(r"[a-z]+", product.title.lower().split(" with ")[0]))
    assert named <= set(re.findall(r"[a-z]+", values))


@pytest.mark.parametrize("product", products(), ids=ids)
def test_texts_are_plain_sentences(product: Product) -> None:
    assert re.fullmatch(r"[A-Z][^.!?]*[^.!? ]", product.title)
    assert re.fullmatch(r"([A-Z][^.!?]*\.)( [A-Z][^.!?]*\.)?", product.description)
    assert 25 <= len(product.description) <= 150
    for text in texts(product):
        assert not re.search(r"  |^ | $|\b(\w+) \1\b| ,", text, re.IGNORECASE), text


def test_every_word_was_read() -> None:
    """A new word is looked up, then added to catalog_words.txt; a misspelt one is a new word."""
    read = [text for product in products() for text in texts(product)]
    read += [text for name in FAMILIES for text in (family(name).title, family(name).about)]
    keys = {product.key for product in products()}
    words = {word for text in read if text not in keys for word in re.findall(r"[a-z]+(?:'s)?", text.lower())}
    assert sorted(words) == REVIEWED


def test_the_catalog_is_no_task() -> None:
    assert set(FAMILIES) & {found.name for found in builtin_tasks()} == set()

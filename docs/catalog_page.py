"""The text of docs/CATALOG.md: what the invented catalog holds, counted, with a sample of each family.

    tasks/suites/catalog/<family>.toml   ─►   one section: counts, kinds, attributes, five rows

Not here: each product (the files are meant to be read).
"""

from __future__ import annotations

from typing import Final

from tollbook.tasks.catalog import FAMILIES, Family, Product, Variant, family, products, variants

INTRO = """\
Goods for markets: what merchants of tasks and studies can sell. All of it is invented. The files are
`tasks/suites/catalog/<family>.toml`, and `tollbook.tasks.catalog` reads them: `products()`, `variants()`, and
`listings()`, which makes rows of `listing` and `inventory` with the neutral keys `l1`, `l2`, … in the order
given.

- **A product** comes in variants: sizes, colours, packs. A variant is what is bought; it names its product by
  the attribute `product`, and differs from the others in one or two attributes.
- **A bigger pack** costs more in all and less by the unit.
- **A unit** is the end of an attribute's name, as `_g`, `_cm`, `_months`; `_c` is degrees Celsius, `_w` is
  watts, `_gsm` is grams a square metre. `content_…` is what a pack holds, `weight_g` what a thing weighs.
- **A rating** is points: `quality_score` of 100, every other `…_score` of 5."""

SAMPLE: Final = 5
MOST_VALUES: Final = 6
"""The values of a text attribute that are shown; of the others the page says how many there are."""


def catalog_page(made: str) -> str:
    """The page; ``made`` is the line that says where it comes from."""
    lines = ["# The catalog", "", made, "", *INTRO.splitlines(), ""]
    lines += ["| family | products | variants | price of a variant, in EUR | sold out |"]
    lines += ["| --- | --: | --: | --: | --: |"]
    lines += [_counts(family(name).title, len(products(name)), variants(name)) for name in FAMILIES]
    lines += [_counts("together", len(products()), variants()), ""]
    for name in FAMILIES:
        lines += _section(family(name))
    return "\n".join(lines)


def _counts(title: str, count: int, chosen: tuple[Variant, ...]) -> str:
    prices = [variant.price for variant in chosen]
    span = f"{_euros(min(prices))} to {_euros(max(prices))}"
    return f"| {title} | {count} | {len(chosen)} | {span} | {sum(each.stock == 0 for each in chosen)} |"


def _section(shown: Family) -> list[str]:
    features = sorted({each for product in shown.products for each in product.variants[0].features})
    lines = [f"## {shown.title}", "", shown.about, "", f"Features: {', '.join(features)}.", ""]
    lines += ["| attribute | products | values |", "| --- | --: | --- |"]
    names = {name: None for product in shown.products for name in product.variants[0].attributes}
    lines += [_attribute(name, shown.products) for name in names if name != "product"]
    lines += ["", "| variant | EUR | stock | ships in days | quality |", "| --- | --: | --: | --: | --: |"]
    step = len(shown.products) // SAMPLE
    lines += [_row(product.variants[-1]) for product in shown.products[: step * SAMPLE : step]]
    return [*lines, ""]


def _attribute(name: str, having: tuple[Product, ...]) -> str:
    with_it = [product for product in having if name in product.variants[0].attributes]
    values = [variant.attributes[name] for product in with_it for variant in product.variants]
    return f"| `{name}` | {len(with_it)} | {_values(values)} |"


def _values(values: list[str | int | bool]) -> str:
    numbers = [value for value in values if type(value) is int]
    if numbers:
        low, high = min(numbers), max(numbers)
        return f"{low}" if low == high else f"{low} to {high}"
    told = list(dict.fromkeys(value if isinstance(value, str) else str(value).lower() for value in values))
    more = len(told) - MOST_VALUES
    return ", ".join(told[:MOST_VALUES]) + (f" and {more} more" if more > 0 else "")


def _row(variant: Variant) -> str:
    has = variant.attributes
    return (
        f"| {variant.title} | {_euros(variant.price)} | {variant.stock} | "
        f"{has['shipping_days']} | {has['quality_score']} |"
    )


def _euros(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"

"""The schema that editors use takes every task file that there is, and none that is broken in form."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from task_schema import WORLDS, task_schema

from tollbook.protocol.world import latest, world_of
from tollbook.tasks.format.file import TaskFile
from tollbook.tasks.format.skeleton import skeleton, skeletons

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = task_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
SUITES = ROOT / "tasks" / "suites"
WORKED = sorted([*SUITES.rglob("t[0-9]*.toml"), *SUITES.glob("auctions/*.toml")])
SKELETONS = [(world, actor) for world, actors in skeletons().items() for actor in actors]


def wrong(text: str) -> list[str]:
    return [error.json_path for error in VALIDATOR.iter_errors(tomllib.loads(text))]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert "https://json-schema.org/draft/2020-12/schema" == SCHEMA["$schema"]


@pytest.mark.parametrize("path", WORKED, ids=lambda path: path.stem)
def test_a_built_in_task_is_valid(path: Path) -> None:
    assert [] == wrong(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("world", "actor"), SKELETONS)
def test_a_new_task_is_valid(world: str, actor: str) -> None:
    assert [] == wrong(skeleton("a", world, actor))


def test_every_section_and_kind_is_in_it() -> None:
    assert set(TaskFile.__struct_encode_fields__) == set(SCHEMA["properties"])
    assert [name for name, each in SCHEMA["properties"].items() if not each.get("description")] == []
    kinds = {kind for name in WORLDS for kind in world_of(latest(name)).kinds}
    assert kinds == set(SCHEMA["$defs"]["act"]["properties"]["kind"]["enum"])


@pytest.mark.parametrize("name", WORLDS)
def test_every_column_of_a_market_is_in_it(name: str) -> None:
    branches = {each["if"]["properties"]["world"]["const"]: each["then"] for each in SCHEMA["allOf"]}
    facts: dict[str, Any] = branches[name]["properties"]["facts"]["properties"]
    tables = world_of(latest(name)).tables
    assert tables.keys() == facts.keys()
    for table, row in tables.items():
        columns = facts[table]["additionalProperties"]["properties"]
        assert {"each", *row.__struct_encode_fields__} == set(columns)


@pytest.mark.parametrize(
    ("place",                             "old",                       "new"),
    [
        ("$",                                 "title  =",                  "titel  ="),
        ("$",                                 "world  = ",                 "world_ = "),
        ("$.id",                              '"t4.buyer_zopa"',           '"T4 zopa"'),
        ("$.world",                           '"commerce"',                '"comerce"'),
        ("$.ends",                            'ends   = "did',             'ends   = "=did'),
        ("$.tools[0]",                        '"listing.*"',               '"listings.*"'),
        ("$.tools[0]",                        '"listing.*"',               '"agent.unparsed"'),
        ("$.case.linear",                     "linear      = {",           "linear      = 1 #"),
        ("$.case",                            "boulware    =",             "Boulware    ="),
        ("$.facts",                           "listing.l1   =",            "listings.l1  ="),
        ("$.facts.listing.l1",                'title = "desk lamp"',       'name = "desk lamp"'),
        ("$.facts.listing.l1.price",          '"=case.list"',              '"case.list"'),
        ("$.facts.inventory.l1.available",    "available = 3",             "available = -3"),
        ("$.script.merchant.on[0]",           '["negotiation.propose", "', '["negotiation.proposed", "'),
        ("$.script.merchant",                 "rule = [",                  "rules = ["),
        ("$.script.merchant.rule[0].when",    'when = "message',           'when = "= message'),
        ("$.predicate.looked_first.stage",    'stage = "evidence"',        'stage = "proof"'),
        ("$.predicate.looked_first",          "weight = 100, ",            ""),
        ("$.predicate.looked_first.weight",   "weight = 100, ",            "weight = 1_100, "),
        ("$.cap.over_budget",                 "points = 250, expr",        "point = 250, expr"),
        ("$.reference.step[0].do.kind",       'kind = "listing.get"',      'kind = "listing.read"'),
        ("$.reference.step[0].do",            'kind = "listing.get", listing', 'kind = "listing.get", list'),
        ("$.reference.step[1].do",            "quantity = 1, ",            ""),
        ("$.reference.step[1].do.quantity",   "quantity = 1, ",            'quantity = "one", '),
        ("$.reference.step[1].do.unit_price", '"=offer", note = "For',     '"offer", note = "For'),
        ("$.reference.step[2]",               'while = "asks.size() < 5"', 'until = "asks.size() < 5"'),
        ("$.mutation.bids_blind",             'loses = ["looked_first"]',  'lose = ["looked_first"]'),
        ("$.mutation.bids_blind.drop",        "drop = true, let",          'drop = "yes", let'),
        ("$.mutation.names_its_limit.set",    "set = { note",              "set = { nota"),
        ("$.cheat.takes_the_first_ask.points", "points = 250\n",            "points = 2_500\n"),
    ],
)  # fmt: skip
def test_what_is_broken_in_form_is_found_where_it_is(place: str, old: str, new: str) -> None:
    text = (ROOT / "tasks/suites/negotiation/t4.buyer_zopa.toml").read_text(encoding="utf-8")
    assert old in text
    found = wrong(text.replace(old, new, 1))
    assert found
    assert all(each.startswith(place) for each in found)


@pytest.mark.parametrize(
    ("place",                              "old",                      "new"),
    [
        ("$.tools[0]",                     '"bid.*"',                  '"listing.*"'),
        ("$.facts.session.s.format",       '"first_price"',            '"third_price"'),
        ("$.facts",                        "[facts.session.s]",        "[facts.listing.s]"),
        ("$.rendering.pass_first.order[0]", '["bid.pass", "bid',       '["bid.passed", "bid'),
        ("$.rendering.plain_words.tools",  '"bid.submit" =',           '"bid.make" ='),
        ("$.rendering.plain_words.labels.value", 'value = "resale_price"', "value = 3"),
        ("$.rendering.higher_values",      "case = { low",             "cases = { low"),
        ("$.rendering",                    "[rendering.euro]",         "[rendering.Euro]"),
    ],
)  # fmt: skip
def test_what_is_broken_of_an_auction_is_found_where_it_is(place: str, old: str, new: str) -> None:
    text = (SUITES / "auctions" / "a.first_price.toml").read_text(encoding="utf-8")
    assert old in text
    found = wrong(text.replace(old, new, 1))
    assert found
    assert all(each.startswith(place) for each in found)

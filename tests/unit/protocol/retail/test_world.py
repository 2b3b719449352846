"""The world as the engine sees it: parameters, roles, rows read back, names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tollbook.protocol import retail
from tollbook.protocol.bodies import WorldRef
from tollbook.protocol.canonical import encode_typed
from tollbook.protocol.errors import WorldError
from tollbook.protocol.retail.actions import TOOL_NAMES
from tollbook.protocol.retail.refusals import WORDING
from tollbook.protocol.retail.world import RetailWorld, make
from tollbook.protocol.world import part_fields, world_of


@pytest.mark.parametrize(
    "params", [{}, {"mode": "loose"}, {"mode": None}, {"mode": "compat", "more": 1}, {"mode": 1}]
)
def test_other_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(WorldError) as caught:
        make(params)
    assert caught.value.code == "world.params"


@pytest.mark.parametrize("mode", ["compat", "strict"])
def test_the_registry_makes_the_world(mode: str) -> None:
    world = world_of(WorldRef("retail", {"mode": mode}, 0))
    assert isinstance(world, RetailWorld)
    assert world.mode.name == mode


@pytest.mark.parametrize(
    ("roles", "kind"),
    [
        (["assistant"], "tool.cancel_pending_order"),
        (["assistant"], "tool.calculate"),
        (["assistant"], "call.unparsed"),
        (["assistant", "user"], "message.send"),
    ],
)
def test_who_may_send_what(roles: list[str], kind: str) -> None:
    world = make({"mode": "compat"})
    assert sorted(world.roles[kind]) == roles
    assert set(world.kinds) - set(world.roles) == {"agent.unparsed"}
    assert len(TOOL_NAMES) == 16


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (("text",), "message.send"),
        (("text",), "agent.unparsed"),
        (("arguments",), "call.unparsed"),
        (("summary",), "tool.transfer_to_human_agents"),
        ((), "tool.calculate"),
    ],
)
def test_free_text_that_nothing_reads_is_a_part(fields: tuple[str, ...], kind: str) -> None:
    assert part_fields(make({"mode": "compat"}).kinds[kind]) == fields


def test_rows_read_back_from_their_bytes(compat: Any, strict: Any) -> None:
    for till in (compat, strict):
        for table, key, row in till.state.facts.rows():
            assert till.world.read_row(table, encode_typed(row)) == row, key


@pytest.mark.parametrize(
    ("table", "key", "old", "new"),
    [
        ("product", "lamp", b'"10.1"', b"1010"),
        ("product", "lamp", b'"10.1"', b'"10.10"'),
        ("product", "lamp", b'"10.1"', b'"nan"'),
        ("product", "lamp", b'"10.1"', b'"ten"'),
        ("user", "zoe_2", b'"30.0"', b'"1e300"'),
        ("order", "#P1", b'"140.4"', b'"140"'),
        ("order", "#P1", b'"exchange_price_difference":null', b'"exchange_price_difference":"x"'),
        ("order", "#P1", b'"price":"100.0"', b'"price":"0x1"'),
    ],
)
def test_a_row_with_an_amount_of_another_spelling_is_refused(
    compat: Any, table: str, key: str, old: bytes, new: bytes
) -> None:
    data = encode_typed(compat.state.get(table, key))
    assert old in data
    with pytest.raises(WorldError, match="no amount in mode `compat`"):
        compat.world.read_row(table, data.replace(old, new))


def test_a_row_of_the_other_mode_is_refused(compat: Any, strict: Any) -> None:
    with pytest.raises(WorldError, match="holds `1010`, no amount in mode `compat`"):
        compat.world.read_row("product", encode_typed(strict.state.get("product", "lamp")))
    with pytest.raises(WorldError, match="no amount in mode `strict`"):
        strict.world.read_row("product", encode_typed(compat.state.get("product", "lamp")))


def test_every_refusal_that_the_rules_name_has_an_entry() -> None:
    folder = Path(next(iter(retail.__path__)))
    source = "".join((folder / f"{name}.py").read_text("utf-8") for name in ("rules", "queries"))
    stops = re.findall(r'_Stop\("(\w+)"|return "(\w+)"', (folder / "calculator.py").read_text("utf-8"))
    named = set(re.findall(r'"([a-z_]+\.[a-z_]+)"', source)) - {"retail.shown"}
    named |= {f"calculate.{one or other}" for one, other in stops} - {"calculate.on"}
    assert named - WORDING.keys() == set()

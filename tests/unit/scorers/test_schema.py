"""Misspelt names: found before any run, with the nearest right one."""

from __future__ import annotations

import pytest

from tollbook.protocol.bodies import WorldRef
from tollbook.protocol.errors import ScoreError
from tollbook.protocol.world import world_of
from tollbook.scorers.predicates import Cap, Predicate, PredicateSet
from tollbook.scorers.schema import check_names, shapes_of

WORLD = world_of(WorldRef(name="retail", params={"mode": "strict"}, version=0))


def check(expr: str) -> tuple[str, str | None] | None:
    try:
        check_names(PredicateSet("x", {"p": Predicate("choice", 1_000, expr)}), shapes_of(WORLD))
    except ScoreError as error:
        return f"{error.code}: {error.text}", error.hint
    return None


@pytest.mark.parametrize(
    ("problem", "hint", "expr"),
    [
        ("there is no `tools` in `did`", "`tool`", "did.tools.get_order_details == []"),
        ("there is no `get_orders` in `did.tool`", "`get_order_details`", "did.tool.get_orders == []"),
        ("there is no `get_orders` in `did.tool`", "`get_order_details`", "did['tool']['get_orders'] == []"),
        ("there is no `x` in `refused.message`", "there are send", "refused.message.x == []"),
        ("there is no `canceled` in `events.order`", "`cancelled`", "events.order.canceled == []"),
        ("there is no `orders` in `final`", "`order`", "final.orders == []"),
        ("there is no `orders` in `read`", "`order`", "'x' in read.orders"),
        ("there is no `statis` in a row of `order`", "`status`", "final.order.all(o, o.statis == 'x')"),
        ("there is no `statis` in a row of `order`", "`status`", "facts.order.o1.statis == 'x'"),
        ("there is no `prize` in `Line`", "`price`", "final.order.all(o, o.items.all(i, i.prize == 1))"),
        ("there is no `prize` in `Line`", "`price`", "final.order.map(o, o.items)[0][0].prize == 1"),
        ("there is no `order` in `tool.get_order_details`", "`order_id`",
         "did.tool.get_order_details.exists(a, a.order == 'x')"),
        ("there is no `order` in `tool.get_order_details`", "`order_id`",
         "did.tool.get_order_details.filter(a, a.ok)[0].order == 'x'"),
        ("there is no `sq` in `tool.get_order_details`", "`seq`",
         "did.tool.get_order_details.sortBy(a, a.sq) == []"),
        ("there is no `sq` in `tool.get_order_details`", "`seq`",
         "did.tool.get_order_details.sortBy(a, a.seq)[0].sq == 1"),
        ("there is no `sq` in `tool.get_order_details`", "`seq`",
         "did.tool.get_order_details.exists(i, a, a.sq == 1)"),
        ("there is no `sq` in `tool.get_order_details`", "`seq`",
         "cel.bind(x, did.tool.get_order_details, x.exists(a, a.sq == 1))"),
        ("there is no `sq` in `tool.get_order_details`", "`seq`",
         "(tick == 0 ? did.tool.get_order_details : refused.tool.get_order_details)[0].sq == 1"),
        ("there is no `usr_id` in `tool.get_user_details` or `tool.get_order_details`", "`user_id`",
         "(did.tool.get_user_details + did.tool.get_order_details).all(a, a.usr_id == 'x')"),
        ("`did.tool` is a group of kinds, not a list", "add a verb", "did.tool.size() == 0"),
        ("`did.tool` is a group of kinds, not a list", "add a verb", "size(did.tool) == 0"),
        ("there is no `x` in `did.tool` or `did.message`", "there are",
         "(tick == 0 ? did.tool : did.message).x == []"),
    ],
)  # fmt: skip
def test_what_is_found(problem: str, hint: str, expr: str) -> None:
    found = check(expr)
    assert found is not None
    assert f"predicate.names: predicate `p`: {problem}" == found[0]
    assert hint in (found[1] or "")


@pytest.mark.parametrize(
    "expr",
    [
        "did.tool.get_order_details == []",
        "did.tool.get_order_details.all(a, a.order_id == 'x' && a.seq > 0 && a.from == 'x')",
        "did.tool.get_order_details.all(a, a.figures == [] && a.result == null)",
        "(did.tool.get_user_details + did.tool.get_order_details).all(a, a.user_id != a.order_id)",
        "events.order.cancelled.exists(e, e.seq == 3 && e.kind == 'x' && e.refunds[0].amount == 5)",
        "read.order.o1 < 3 && facts.order.o1.status == 'x'",
        "final.order.exists(o, o.id == 'x' && o.address.zip == 'x')",
        "final.order.map(o, o.items.map(i, i.price)) == []",
        "acts.exists(a, a.anything == 1)",
        "did.tool.get_order_details[?0].?anything.orValue(1) == 1",
        "has(facts.order.o1.anything)",
        "did.exists(k, k == 'tool')",
        "events.order.exists(k, list, k == 'cancelled' && list == [])",
        "did.tool.get_order_details.exists(a, true) ? [1, 2] : [0, 1]",
        "case.pace == 'x' && mandate.budget == 1",
        "oracle == {}",
        "['a', 1][0] == 'a'",
        "{'a': 1}.a == 1",
    ],
)
def test_what_is_let_through(expr: str) -> None:
    assert check(expr) is None


def test_seqs_and_caps_are_checked_too() -> None:
    misspelt = PredicateSet("x", {"p": Predicate("choice", 1_000, "true", seqs="final.orders")})
    with pytest.raises(ScoreError, match="seqs of `p`"):
        check_names(misspelt, shapes_of(WORLD))
    predicates = {"p": Predicate("choice", 1_000, "true")}
    with pytest.raises(ScoreError, match="cap `c`"):
        check_names(PredicateSet("x", predicates, caps={"c": Cap("final.orders == []")}), shapes_of(WORLD))

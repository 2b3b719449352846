"""Where compat and strict part on a run: which call, which field, by which of their differences."""

from __future__ import annotations

import json
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest
from recordings import call, message, results, run

from tollbook.protocol.errors import CanonicalError
from tollbook.tasks.tau2.importer import Shop, read_shop
from tollbook.tasks.tau2.modes import Parting, parting, partings
from tollbook.tasks.tau2.source import Recording, read_source

with as_file(files("tollbook.tasks") / "suites/retail") as SUITE:
    DB: dict[str, Any] = json.loads((SUITE / "shop.json").read_text("utf-8"))
    COMPAT, STRICT = (read_shop(SUITE / "shop.json", mode) for mode in ("compat", "strict"))
    SOURCE = read_source(SUITE / "recorded.json")

MODIFY, EXCHANGE = "modify_pending_order_items", "exchange_delivered_order_items"
PAY, CANCEL = "modify_pending_order_payment", "cancel_pending_order"
LAMP, GOOD_LAMP, DARK_LAMP = "3140150227", "3140150219", "3140150235"
SMALL_CHESS, CHESS = "3140150512", "3140150520"
PLAIN, CHECKED, LARGE = "3140150310", "3140150328", "3140150336"
CARDS = {"#W1180002": "credit_card_1180101", "#W8957001": "credit_card_8957101"}


def recording(tmp_path: Path, *calls: tuple[str, dict[str, Any]]) -> Recording:
    path = tmp_path / "runs.json"
    said = [message("assistant", None, call(str(n), tool, given)) for n, (tool, given) in enumerate(calls)]
    path.write_text(json.dumps(results(run("a", *said))))
    (one,) = read_source(path).runs
    assert isinstance(one, Recording)
    return one


def shops(tmp_path: Path, orders: dict[str, Any], users: dict[str, Any] | None = None) -> tuple[Shop, Shop]:
    """The small shop with some orders and users replaced, in both modes."""
    changed = {**DB, "orders": {**DB["orders"], **orders}, "users": {**DB["users"], **(users or {})}}
    (path := tmp_path / "shop.json").write_text(json.dumps(changed))
    return read_shop(path, "compat"), read_shop(path, "strict")


def modify(*pairs: tuple[str, str], order: str = "#W1180002") -> Any:
    old, new = ([pair[side] for pair in pairs] for side in (0, 1))
    given = {"order_id": order, "item_ids": old, "new_item_ids": new}
    return MODIFY, {**given, "payment_method_id": CARDS[order]}


def test_the_small_runs_part_on_two() -> None:
    first, second = partings(SOURCE, compat=COMPAT, strict=STRICT)
    assert first == Parting(
        index=3, name="last-variant", call=5, tool=MODIFY, row="order `#W1180002`", field="items[0].price",
        compat="14377", strict="11371", reason="last_variant", acceptance_differs=False,
        text="call 5 `modify_pending_order_items`: order `#W1180002` items[0].price is 14377 in compat and "
        "11371 in strict: compat gives every changed line the last pair's price and options",
    )  # fmt: skip
    assert (13, 3, CANCEL, "total refunded", "35456", "17728", "refunded_refund") == (
        second.index, second.call, second.tool, second.field, second.compat, second.strict, second.reason,
    )  # fmt: skip


def test_float_noise_is_no_parting(tmp_path: Path) -> None:
    assert parting(recording(tmp_path, modify((CHECKED, LARGE), order="#W8957001")), COMPAT, STRICT) is None


def test_a_run_without_calls_does_not_part(tmp_path: Path) -> None:
    assert parting(recording(tmp_path), COMPAT, STRICT) is None


def order(number: str, items: list[str] | None = None, prices: tuple[float, ...] = (), **fields: Any) -> Any:
    """An order of the small shop with other items, prices or fields, paid in full."""
    changed = json.loads(json.dumps({**DB["orders"][number], **fields}))
    if items:
        changed["items"] = [line(item) for item in items]
    for sold, price in zip(changed["items"], prices, strict=False):
        sold["price"] = price
    return {number: changed}


def line(item: str) -> dict[str, Any]:
    product = next(product for product in DB["products"].values() if item in product["variants"])
    variant = product["variants"][item]
    kept = {name: variant[name] for name in ("item_id", "price", "options")}
    return {"name": product["name"], "product_id": product["product_id"], **kept}


TWO_LAMPS = order("#W1180002", [LAMP, LAMP], (97.3, 107.3))
LADDER = order("#W1180002", [LAMP, GOOD_LAMP])
DELIVERED = order("#W1180002", [LAMP, LAMP], (97.3, 107.3), status="delivered")
SAME = [LAMP, LAMP], [GOOD_LAMP, GOOD_LAMP]
SWAP = [LAMP, LAMP], [GOOD_LAMP, DARK_LAMP]
ONE = [LAMP], [DARK_LAMP]
DOWN, UP = f"{DARK_LAMP}, {GOOD_LAMP}", f"{GOOD_LAMP}, {DARK_LAMP}"
CLIMB = [LAMP, GOOD_LAMP], [GOOD_LAMP, DARK_LAMP]


@pytest.mark.parametrize(
    ("call_at", "agreed"),
    [(None, [True, False, True]), (2, [False, True, False]), (0, [False, False, False])],
)
def test_a_run_is_judged_by_its_final_state(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, call_at: int | None, agreed: list[bool]
) -> None:
    """No call of the shop brings two states together again, but a cent may go either way."""
    steps = iter(agreed)
    monkeypatch.setattr("tollbook.tasks.tau2.modes.equal_in_cents", lambda _one, _other: next(steps))
    calls = [modify((LAMP, GOOD_LAMP), (SMALL_CHESS, CHESS)), ("calculate", {}), ("calculate", {})]
    found = parting(recording(tmp_path, *calls), COMPAT, STRICT)
    assert call_at == (found and found.call)


@pytest.mark.parametrize(
    ("reason",        "field",                     "compat",  "strict",  "orders",   "tool",   "pairs"),
    [
        ("last_variant",  "items[0].price",            "8864",    "11371",   TWO_LAMPS,  MODIFY,   SWAP),
        ("shared_line",   "payment_history[1].amount", "3282",    "2282",    TWO_LAMPS,  MODIFY,   SAME),
        ("shared_line",   "items",                     DOWN,      UP,        LADDER,     MODIFY,   CLIMB),
        ("shared_line",   "exchange_price_difference", "3282",    "2282",    DELIVERED,  EXCHANGE, SAME),
        (None,            None,                        None,      None,      TWO_LAMPS,  MODIFY,   ONE),
        (None,            None,                        None,      None,      LADDER,     MODIFY,   ONE),
    ],
)  # fmt: skip
def test_each_difference_between_the_modes_is_named(  # noqa: PLR0913 - a row of the table
    tmp_path: Path, reason: str, field: str, compat: str, strict: str, orders: Any, tool: str, pairs: Any
) -> None:
    shop, other = shops(tmp_path, orders)
    given = {"order_id": "#W1180002", "item_ids": pairs[0], "new_item_ids": pairs[1]}
    made = recording(tmp_path, (tool, {**given, "payment_method_id": CARDS["#W1180002"]}))
    found = parting(made, shop, other)
    if reason is None:
        assert found is None
    else:
        assert found
        assert (reason, field, compat, strict) == (found.reason, found.field, found.compat, found.strict)
        assert (0, tool, False) == (found.call, found.tool, found.acceptance_differs)


def test_the_call_is_named_after_which_they_never_agreed_again(tmp_path: Path) -> None:
    """An address is changed in between; then one order parts, and another after it."""
    found = parting(
        recording(
            tmp_path,
            ("get_order_details", {"order_id": "#W1180002"}),
            modify((CHECKED, LARGE), order="#W8957001"),
            modify((LAMP, GOOD_LAMP), (SMALL_CHESS, CHESS)),
            (PAY, {"order_id": "#W5624001", "payment_method_id": "gift_card_5624202"}),
            (CANCEL, {"order_id": "#W5624001", "reason": "no longer needed"}),
        ),
        COMPAT,
        STRICT,
    )
    assert found
    assert (2, "last_variant", False) == (found.call, found.reason, found.acceptance_differs)


ROW = {"amount": 20.0, "payment_method_id": "gift_card_5624202"}
HISTORY = [{"transaction_type": "payment", **ROW}, {"transaction_type": "refund", **ROW}]


def gift(balance: float) -> dict[str, Any]:
    users = json.loads(json.dumps({"basil_oakmantle_5624": DB["users"]["basil_oakmantle_5624"]}))
    users["basil_oakmantle_5624"]["payment_methods"]["gift_card_5624202"]["balance"] = balance
    return users


def test_a_check_that_noise_tips_parts_the_acceptance(tmp_path: Path) -> None:
    """121.4 − 89.95 is 31.450000000000003 in floats, and the card holds 31.45."""
    orders = order("#W5624002", [CHECKED])
    compat, strict = shops(tmp_path, orders, gift(31.45))
    given = {"order_id": "#W5624002", "item_ids": [CHECKED], "new_item_ids": [LARGE]}
    found = parting(
        recording(
            tmp_path,
            (MODIFY, {**given, "payment_method_id": "gift_card_5624202"}),
            (CANCEL, {"order_id": "#W5624002", "reason": "no longer needed"}),
        ),
        compat,
        strict,
    )
    assert found
    assert ("modify.gift_card_short", "accepted", "acceptance", True) == (
        found.compat, found.strict, found.reason, found.acceptance_differs,
    )  # fmt: skip
    assert found.text.startswith(f"call 0 `{MODIFY}`: the call ruling is modify.gift_card_short in compat")


def test_money_refunded_twice_makes_a_later_call_pass_in_one_only(tmp_path: Path) -> None:
    """The states part at the cancellation; what is accepted later differs because of it."""
    orders = {**order("#W5624001", payment_history=HISTORY), **order("#W5624002", [DARK_LAMP])}
    compat, strict = shops(tmp_path, orders, gift(0))
    price = {"order_id": "#W5624002", "item_ids": [DARK_LAMP], "new_item_ids": [GOOD_LAMP]}
    found = parting(
        recording(
            tmp_path,
            (CANCEL, {"order_id": "#W5624001", "reason": "no longer needed"}),
            (MODIFY, {**price, "payment_method_id": "gift_card_5624202"}),
        ),
        compat,
        strict,
    )
    assert found
    assert (0, "refunded_refund", "6000", "2000", True) == (
        found.call, found.reason, found.compat, found.strict, found.acceptance_differs,
    )  # fmt: skip


def test_a_call_that_cant_be_said_parts_nothing_and_stops_no_other_run(tmp_path: Path) -> None:
    bad = recording(tmp_path, ("get_item_details", {"item_id": "\ud800"}))
    with pytest.raises(CanonicalError):
        parting(bad, COMPAT, STRICT)
    source = SOURCE._replace(runs=[bad, *SOURCE.runs])
    assert [3, 13] == [one.index for one in partings(source, compat=COMPAT, strict=STRICT)]


def test_the_recorded_runs_part_on_four_and_no_acceptance_differs(shared: Path) -> None:
    folder = shared / "data/tau2"
    compat, strict = (read_shop(folder / "retail_db.json.gz", mode) for mode in ("compat", "strict"))
    source = read_source(folder / "toolorchestra_retail.json.gz")
    found = list(partings(source, compat=compat, strict=strict))
    assert [26, 59, 80, 92] == [one.index for one in found]
    assert [("last_variant", False)] * 4 == [(one.reason, one.acceptance_differs) for one in found]
    assert [7, 9, 10, 9] == [one.call for one in found]
    assert [("26877", "15533"), ("26111", "5485"), ("4666", "46675"), ("4666", "46675")] == [
        (one.compat, one.strict) for one in found
    ]

"""What the shop's reading tools find, and what every accepted act shows.

    decide   READS[action type]    is there such a row?
    show     SHOWS[action type]    its text, and the rows it came from

What is shown of a start row is the same in every run that starts from it, so it
is rendered once and shared; a row that the run changed is rendered anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from ..tables import Facts, State
from ..world import Accepted, Refusal, Shown
from . import actions
from .arithmetic import number
from .calculator import Refused, calculate
from .indexes import in_file_order, product_of, user_by_email, users_by_name, variants_of
from .rendering import DOCUMENTS, text_of, variant_document

Verdict = Refusal | Accepted
_ACCEPTED = Accepted()
_TRANSFERRED = Shown("Transfer successful")


def find_by_email(state: State, action: actions.FindUserIdByEmail) -> Verdict:
    """Accepted when a user has the address, case ignored."""
    if action.email.lower() in user_by_email(state.facts):
        return _ACCEPTED
    return Refusal("user.unknown", {"email": action.email})


def find_by_name_zip(state: State, action: actions.FindUserIdByNameZip) -> Verdict:
    """Accepted when a user has the name, case ignored, and exactly the zip code."""
    if _named(state, action) is not None:
        return _ACCEPTED
    name = {"first_name": action.first_name, "last_name": action.last_name}
    return Refusal("user.unknown", {**name, "zip": action.zip})


def get_user(state: State, action: actions.GetUserDetails) -> Verdict:
    """Accepted when there is such a user."""
    if state.get("user", action.user_id) is not None:
        return _ACCEPTED
    return Refusal("user.unknown", {"user": action.user_id})


def get_order(state: State, action: actions.GetOrderDetails) -> Verdict:
    """Accepted when there is such an order."""
    if state.get("order", action.order_id) is not None:
        return _ACCEPTED
    return Refusal("order.unknown", {"order": action.order_id})


def get_product(state: State, action: actions.GetProductDetails) -> Verdict:
    """Accepted when there is such a product."""
    if state.get("product", action.product_id) is not None:
        return _ACCEPTED
    return Refusal("product.unknown", {"product": action.product_id})


def get_item(state: State, action: actions.GetItemDetails) -> Verdict:
    """Accepted when some product has such an item."""
    if action.item_id in product_of(state.facts):
        return _ACCEPTED
    return Refusal("item.unknown", {"item": action.item_id})


def get_value(_state: State, action: actions.Calculate) -> Verdict:
    """Accepted when the expression has a value."""
    found = calculate(action.expression)
    if isinstance(found, Refused):
        return Refusal(found.rule, {} if found.type is None else {"type": found.type})
    return _ACCEPTED


def always(_state: State, _action: object) -> Verdict:
    """Accepted: nothing can be wrong with it."""
    return _ACCEPTED


def unparsed_call(_state: State, action: actions.UnparsedCall) -> Verdict:
    """Refused: the shop has no such tool, or the tool no such arguments."""
    rule = "tool.arguments" if action.tool in actions.TOOL_NAMES else "tool.unknown"
    return Refusal(rule, {"tool": action.tool})


def unparsed_answer(_state: State, _action: actions.UnparsedAnswer) -> Verdict:
    """Refused: an answer that holds no action."""
    return Refusal("agent.unparsed", {})


READS: dict[type[msgspec.Struct], Callable[[State, Any], Verdict]] = {
    actions.FindUserIdByEmail: find_by_email,
    actions.FindUserIdByNameZip: find_by_name_zip,
    actions.GetUserDetails: get_user,
    actions.GetOrderDetails: get_order,
    actions.GetProductDetails: get_product,
    actions.GetItemDetails: get_item,
    actions.ListAllProductTypes: always,
    actions.Calculate: get_value,
    actions.TransferToHumanAgents: always,
    actions.SendMessage: always,
    actions.UnparsedCall: unparsed_call,
    actions.UnparsedAnswer: unparsed_answer,
}


def show_row(state: State, table: str, key: str) -> Shown:
    """A row's text."""
    if not state.is_start(table, key):
        return Shown(text_of(DOCUMENTS[table](state.get(table, key), number)), [(table, key)])
    memo = _memo(state.facts, table)
    shown = memo.get(key)
    if shown is None:
        shown = memo[key] = Shown(text_of(DOCUMENTS[table](state.get(table, key), number)), [(table, key)])
    return shown


def _memo(facts: Facts, name: str) -> dict[str, Shown]:
    memo: dict[str, Shown] | None = facts.memo.get(("retail.shown", name))
    if memo is None:
        memo = facts.memo["retail.shown", name] = {}
    return memo


def _show_found(state: State, key: str) -> Shown:
    memo = _memo(state.facts, "found")
    shown = memo.get(key)
    if shown is None:
        shown = memo[key] = Shown(key, [("user", key)])
    return shown


def _show_item(state: State, action: actions.GetItemDetails) -> Shown:
    memo = _memo(state.facts, "item")
    shown = memo.get(action.item_id)
    if shown is None:
        product = product_of(state.facts)[action.item_id]
        text = text_of(variant_document(variants_of(state.facts)[product][action.item_id]))
        shown = memo[action.item_id] = Shown(text, [("product", product)])
    return shown


def _show_types(state: State, _action: object) -> Shown:
    memo = _memo(state.facts, "types")
    shown = memo.get("*")
    if shown is None:
        # Two products of one name: the later one in the file stands.
        types = {product.name: product.product_id for _, product in in_file_order(state.facts, "product")}
        shown = memo["*"] = Shown(json.dumps(types, sort_keys=True), [("product", "*")])
    return shown


def _show_value(_state: State, action: actions.Calculate) -> Shown:
    found = calculate(action.expression)
    assert not isinstance(found, Refused)
    return Shown(found)


def _named(state: State, action: actions.FindUserIdByNameZip) -> str | None:
    name = (action.first_name.lower(), action.last_name.lower())
    for key in users_by_name(state.facts).get(name, ()):
        if state.get("user", key).address.zip == action.zip:
            return key
    return None


def _show_named(state: State, action: actions.FindUserIdByNameZip) -> Shown:
    found = _named(state, action)
    assert found is not None
    return _show_found(state, found)


def _order_of(state: State, action: Any) -> Shown:  # noqa: ANN401 - any action on one order
    return show_row(state, "order", action.order_id)


def _user_of(state: State, action: Any) -> Shown:  # noqa: ANN401 - any action on one user
    return show_row(state, "user", action.user_id)


def _nothing(_state: State, _action: object) -> None:
    return None


SHOWS: dict[type[msgspec.Struct], Callable[[State, Any], Shown | None]] = {
    actions.FindUserIdByEmail: lambda state, action: _show_found(
        state, user_by_email(state.facts)[action.email.lower()]
    ),
    actions.FindUserIdByNameZip: _show_named,
    actions.GetUserDetails: _user_of,
    actions.GetOrderDetails: _order_of,
    actions.GetProductDetails: lambda state, action: show_row(state, "product", action.product_id),
    actions.GetItemDetails: _show_item,
    actions.ListAllProductTypes: _show_types,
    actions.Calculate: _show_value,
    actions.TransferToHumanAgents: lambda _state, _action: _TRANSFERRED,
    actions.CancelPendingOrder: _order_of,
    actions.ModifyPendingOrderAddress: _order_of,
    actions.ModifyPendingOrderItems: _order_of,
    actions.ModifyPendingOrderPayment: _order_of,
    actions.ModifyUserAddress: _user_of,
    actions.ReturnDeliveredOrderItems: _order_of,
    actions.ExchangeDeliveredOrderItems: _order_of,
    actions.SendMessage: _nothing,
}

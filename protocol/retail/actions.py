"""What may be said in the shop: sixteen tools, plain messages, and what fits none.

    tool.<name> {…}              a call of one of the shop's tools
    message.send {text}          what a user or the assistant says
    call.unparsed {tool, …}      a recorded call of a tool that the shop lacks, or with unfit arguments
    agent.unparsed {text}        an agent's answer that holds no action

Texts that a rule reads are typed; free text that nothing reads is a part.

Not here: who may send which (`world`), what the rules make of it (`rules`, `queries`).
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from ..bodies import Part, Text
from ..canonical import MAX_ARRAY
from ..world import kind_of

Texts = Annotated[tuple[Text, ...], msgspec.Meta(max_length=MAX_ARRAY)]


class _Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    pass


class FindUserIdByEmail(_Action, frozen=True, tag="tool.find_user_id_by_email"):
    """Asks for the user with this e-mail address."""

    email: Text


class FindUserIdByNameZip(_Action, frozen=True, tag="tool.find_user_id_by_name_zip"):
    """Asks for the first user of this name and zip code."""

    first_name: Text
    last_name: Text
    zip: Text


class GetUserDetails(_Action, frozen=True, tag="tool.get_user_details"):
    """Asks for a user's record."""

    user_id: Text


class GetOrderDetails(_Action, frozen=True, tag="tool.get_order_details"):
    """Asks for an order's record."""

    order_id: Text


class GetProductDetails(_Action, frozen=True, tag="tool.get_product_details"):
    """Asks for a product and its variants."""

    product_id: Text


class GetItemDetails(_Action, frozen=True, tag="tool.get_item_details"):
    """Asks for one variant."""

    item_id: Text


class ListAllProductTypes(_Action, frozen=True, tag="tool.list_all_product_types"):
    """Asks for the names and ids of all products."""


class Calculate(_Action, frozen=True, tag="tool.calculate"):
    """Asks for the value of an arithmetical expression."""

    expression: Text


class TransferToHumanAgents(_Action, frozen=True, tag="tool.transfer_to_human_agents"):
    """Hands the user over to a person."""

    summary: Part


class CancelPendingOrder(_Action, frozen=True, tag="tool.cancel_pending_order"):
    """Cancels an order and refunds it."""

    order_id: Text
    reason: Text


class ModifyPendingOrderAddress(_Action, frozen=True, tag="tool.modify_pending_order_address"):
    """Sends an order to another address."""

    address1: Text
    address2: Text
    city: Text
    country: Text
    order_id: Text
    state: Text
    zip: Text


class ModifyPendingOrderItems(_Action, frozen=True, tag="tool.modify_pending_order_items"):
    """Changes items of an order for others of the same products, pair by pair."""

    item_ids: Texts
    new_item_ids: Texts
    order_id: Text
    payment_method_id: Text


class ModifyPendingOrderPayment(_Action, frozen=True, tag="tool.modify_pending_order_payment"):
    """Pays an order by another method."""

    order_id: Text
    payment_method_id: Text


class ModifyUserAddress(_Action, frozen=True, tag="tool.modify_user_address"):
    """Changes a user's own address."""

    address1: Text
    address2: Text
    city: Text
    country: Text
    state: Text
    user_id: Text
    zip: Text


class ReturnDeliveredOrderItems(_Action, frozen=True, tag="tool.return_delivered_order_items"):
    """Asks to give items back."""

    item_ids: Texts
    order_id: Text
    payment_method_id: Text


class ExchangeDeliveredOrderItems(_Action, frozen=True, tag="tool.exchange_delivered_order_items"):
    """Asks to exchange items for others of the same products, pair by pair."""

    item_ids: Texts
    new_item_ids: Texts
    order_id: Text
    payment_method_id: Text


class SendMessage(_Action, frozen=True, tag="message.send"):
    """Says something to the other side."""

    text: Part


class UnparsedCall(_Action, frozen=True, tag="call.unparsed"):
    """A recorded call that no action of the shop fits. ``tool`` is the name it was called by."""

    arguments: Part
    tool: Text


class UnparsedAnswer(_Action, frozen=True, tag="agent.unparsed"):
    """An agent's answer that holds no action."""

    text: Part


TOOLS: tuple[type[msgspec.Struct], ...] = (
    FindUserIdByEmail,
    FindUserIdByNameZip,
    GetUserDetails,
    GetOrderDetails,
    GetProductDetails,
    GetItemDetails,
    ListAllProductTypes,
    Calculate,
    TransferToHumanAgents,
    CancelPendingOrder,
    ModifyPendingOrderAddress,
    ModifyPendingOrderItems,
    ModifyPendingOrderPayment,
    ModifyUserAddress,
    ReturnDeliveredOrderItems,
    ExchangeDeliveredOrderItems,
)

ACTIONS: tuple[type[msgspec.Struct], ...] = (*TOOLS, SendMessage, UnparsedCall, UnparsedAnswer)

TOOL_NAMES = frozenset(kind_of(tool).removeprefix("tool.") for tool in TOOLS)
"""The names that the shop's tools are called by."""

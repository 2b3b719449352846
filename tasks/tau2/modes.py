"""Where the two modes of the shop part on a recorded run, and by which of their differences.

    recorded calls ─► ruled on in compat and in strict, side by side, in memory
                   ─► a call accepted in one and refused in the other
                   ─► or final states that differ in cents

Nothing is signed or kept: only what the rules make of the calls is compared.
The call that is named is the one after which the states never agreed again.

Not here: what sets the modes apart (`protocol.retail.modes`); whether the run
could be imported (`importer`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ...protocol.bodies import Message
from ...protocol.canonical import encode
from ...protocol.engine import decide, read_action
from ...protocol.errors import TollbookError
from ...protocol.retail.comparison import equal_in_cents, record_in_cents
from ...protocol.tables import State
from ...protocol.world import part_fields, world_of
from .calls import action_of
from .document import list_of, object_of
from .importer import PLATFORM, ROLES
from .source import Recording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...protocol.retail.rendering import Document
    from .importer import Shop
    from .messages import Call
    from .source import Source

_ROLES = {role: role for role in ROLES}
_CANCEL = "cancel_pending_order"
_ANY_HASH = "0" * 64

_WHY = {
    "acceptance": "a check compares amounts, which noise tips",
    "last_variant": "compat gives every changed line the last pair's price and options",
    "shared_line": "compat lets one line stand for several pairs of the call",
    "refunded_refund": "compat refunds every row of the history, refunds too",
    "rounding": "float noise or rounding moved a cent",
}
"""What sets the modes apart, each by its name."""


class Parting(NamedTuple):
    """Where compat and strict part on one run.

    ``call`` counts the run's calls from 0; ``compat`` and ``strict`` are the
    values of ``field`` in ``row``, amounts in cents, or how each ruled.
    ``reason`` names the difference between the modes, ``acceptance_differs``
    says whether any call was accepted in one and refused in the other, ``text``
    says all in one line.
    """

    index: int  # pyright: ignore[reportIncompatibleMethodOverride] - the run's place in its source
    name: str
    call: int
    tool: str
    row: str
    field: str
    compat: str
    strict: str
    reason: str
    acceptance_differs: bool
    text: str


class _Difference(NamedTuple):
    """What differs after one call of a run."""

    call: int
    tool: str
    row: str
    field: str
    compat: str
    strict: str
    reason: str


class _Reading:
    """One mode's reading of a run, as far as it went."""

    def __init__(self, shop: Shop) -> None:
        self._world = world_of(shop.world)
        self.state = State(shop.facts)

    def rule(self, call: Call) -> str:
        """Rules on a call as an import would; returns the rule that refused it, or `accepted`."""
        action = action_of(call.tool, call.arguments, call.raw_arguments)
        parts = dict.fromkeys(part_fields(type(action)), _ANY_HASH)
        raw = encode(msgspec.structs.replace(action, **parts))
        message = Message(
            action=msgspec.Raw(raw),
            sender=call.requestor,
            key=None,
            n=0,
            reply_to=None,
            seen=(0, _ANY_HASH),
            to=PLATFORM,
        )
        typed = read_action(self._world, raw)
        ruling = decide(self._world, self.state, message, typed, 0, _ROLES, _reached)
        return ruling.decision.rule or ruling.decision.outcome


def _reached(_seq: int, _party: str) -> bool:
    return False  # no recorded call replies to a message


def partings(source: Source, *, compat: Shop, strict: Shop) -> Iterator[Parting]:
    """The partings of a source's runs, in their order; runs that can't be imported have none."""
    for run in source.runs:
        if isinstance(run, Recording):
            try:
                found = parting(run, compat, strict)
            except TollbookError:
                continue  # a call that can't be said; the import names the run
            if found is not None:
                yield found


def parting(recording: Recording, compat: Shop, strict: Shop) -> Parting | None:
    """Where the two modes part on a run; None where they agree in every acceptance and in the final state.

    Raises:
        CanonicalError: a call that has no canonical form.
    """
    one, other = _Reading(compat), _Reading(strict)
    ruled: _Difference | None = None
    left: _Difference | None = None
    for place, call in enumerate(call for said in recording.said for call in said.calls):
        rulings = one.rule(call), other.rule(call)
        if ruled is None and (rulings[0] == "accepted") != (rulings[1] == "accepted"):
            ruled = _Difference(place, call.tool, "the call", "ruling", *rulings, "acceptance")
        if equal_in_cents(one.state, other.state):
            left = None
        elif left is None:
            left = _difference(place, call, one.state, other.state)
    first = min((found for found in (ruled, left) if found), key=lambda found: found.call, default=None)
    if first is None:
        return None
    text = (
        f"call {first.call} `{first.tool}`: {first.row} {first.field} is {first.compat} in compat and "
        f"{first.strict} in strict: {_WHY[first.reason]}"
    )
    return Parting(recording.index, recording.name, *first, acceptance_differs=ruled is not None, text=text)


def _difference(place: int, call: Call, compat: State, strict: State) -> _Difference:
    """The first field in which two states differ in cents; an order comes before a user's balance."""
    rows = {(table, key) for state in (compat, strict) for table, key, _row in state.changed()}
    for table, key in sorted(rows):
        one, other = record_in_cents(compat, table, key), record_in_cents(strict, table, key)
        if one != other:
            assert one is not None, "no call removes a row"
            assert other is not None, "no call removes a row"
            return _Difference(place, call.tool, f"{table} `{key}`", *_in_record(call, one, other))
    raise AssertionError("states that differ in cents have a row that does")


def _in_record(call: Call, compat: Document, strict: Document) -> tuple[str, str, str, str]:
    """The field that says most of how two records differ, its values, and the modes' difference behind it."""
    lines = [", ".join(line["item_id"] for line in record.get("items", ())) for record in (compat, strict)]
    if lines[0] != lines[1]:
        return "items", lines[0], lines[1], "shared_line"
    refunds = [_refunds(record) for record in (compat, strict)]
    if call.tool == _CANCEL and len(refunds[0]) != len(refunds[1]):
        return "total refunded", str(sum(refunds[0])), str(sum(refunds[1])), "refunded_refund"
    field, one, other = _first("", compat, strict)
    if field.startswith("items["):
        return field, str(one), str(other), "last_variant"
    items = list_of((call.arguments or {}).get("item_ids")) or []
    return field, str(one), str(other), "rounding" if len(set(items)) == len(items) else "shared_line"


def _refunds(record: Document) -> list[int]:
    history = record.get("payment_history", ())
    return [row["amount"] for row in history if row["transaction_type"] == "refund"]


def _first(path: str, one: Any, other: Any) -> tuple[str, Any, Any]:  # noqa: ANN401 - JSON values of any kind
    """The first field in which two records of one shape differ, with its values."""
    fields, items = object_of(one), list_of(one)
    if fields is not None:
        inner = [(f"{path}.{name}" if path else name, value, other[name]) for name, value in fields.items()]
    elif items is not None and len(items) == len(other):
        inner = [(f"{path}[{place}]", value, other[place]) for place, value in enumerate(items)]
    else:
        return path, one, other
    return next(_first(*pair) for pair in inner if pair[1] != pair[2])

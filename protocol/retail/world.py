"""The world `retail`, version 0: its actions, rows and rules as one `World`.

    make({"mode": "compat"})   as the recorded shop behaves, quirks and float noise included
    make({"mode": "strict"})   integer cents, the right variant per line, one refund per payment

What sets the modes apart is in `modes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from ..bodies import Scalar
from ..errors import WorldError
from ..tables import Row, State
from ..world import Accepted, Act, Refusal, Shown, World, kind_of
from .actions import ACTIONS, TOOLS
from .events import EVENTS
from .modes import MODES, Mode
from .queries import READS, SHOWS
from .rows import Amount, Order, Product, User
from .rules import WRITES
from .transition import evolve

_ASSISTANT = frozenset({"assistant"})


class RetailWorld(World):
    """The shop in one mode."""

    name = "retail"
    version = 0
    tables: ClassVar = {"order": Order, "product": Product, "user": User}
    actions = ACTIONS
    events = EVENTS
    roles: ClassVar = {
        **{kind_of(tool): _ASSISTANT for tool in TOOLS},
        "call.unparsed": _ASSISTANT,
        "message.send": frozenset({"assistant", "user"}),
    }

    def __init__(self, mode: Mode) -> None:
        self.mode = mode

    def decide(self, state: State, act: Act) -> Refusal | Accepted:
        """The ruling on an act."""
        action: msgspec.Struct = act.action
        read = READS.get(type(action))
        return read(state, action) if read else WRITES[type(action)](state, action, self.mode)

    def evolve(self, state: State, event: Any) -> None:  # noqa: ANN401 - one of `events`
        """Stages what one event changes."""
        evolve(state, event)

    def show(self, state: State, act: Act, events: Sequence[msgspec.Struct]) -> Shown | None:  # noqa: ARG002
        """The text that the sender is shown: a record as it now stands, or a plain answer."""
        return SHOWS[type(act.action)](state, act.action)

    def check_row(self, table: str, row: Row) -> None:
        """Refuses an amount that this mode doesn't spell so."""
        for amount in _amounts(row):
            if not self.mode.money.is_amount(amount):
                what = f"a row of `{table}` holds `{amount}`, no amount in mode `{self.mode.name}`"
                raise WorldError("facts.row", what)


def _amounts(row: Row) -> Iterator[Amount]:
    if isinstance(row, Product):
        yield from (variant.price for variant in row.variants)
    elif isinstance(row, User):
        yield from (method.balance for method in row.payment_methods if method.balance is not None)
    elif isinstance(row, Order):
        yield from (line.price for line in row.items)
        yield from (payment.amount for payment in row.payment_history)
        if row.exchange_price_difference is not None:
            yield row.exchange_price_difference


def make(params: Mapping[str, Scalar]) -> RetailWorld:
    """The world for its parameters.

    Raises:
        WorldError: the parameters are not exactly a `mode` of `compat` or `strict`.
    """
    mode = params.get("mode")
    if set(params) != {"mode"} or not isinstance(mode, str) or mode not in MODES:
        hint = f"give exactly a `mode` of {' or '.join(sorted(MODES))}"
        raise WorldError("world.params", "world `retail` does not take these parameters", hint)
    return RetailWorld(MODES[mode])

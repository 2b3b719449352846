"""The books: double entry, in minor units of a currency.

    entry   = postings that sum to zero; each is (account, amount)
    account = the sum of its postings, by currency: buyer:<id>, merchant:<id>

    capture   buyer:b −100   merchant:m +100
    refund    merchant:m −40   buyer:b +40

A posting is never changed. `invariants` checks that entries balance and that accounts say what
their postings say. Not here: when money moves (`agreements`, `refunds`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from ..canonical import Id, Integer
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Act, Shown
from .orders import Order, order_named
from .subject import fresh, own, shown_lists, unknown
from .talk import tick_of
from .terms import (
    TRADERS,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    Currency,
    OrderId,
    OrderIdOrNone,
    PaymentIdOrNone,
    Tick,
)


class Posting(CommerceRow, frozen=True):
    """A row of `posting`: what one entry adds to one account, for an order; an adjustment is for none."""

    order: OrderIdOrNone
    payment: PaymentIdOrNone
    account: str
    amount: Integer
    entry: Id
    tick: Tick = 0
    currency: Currency = "EUR"

    def problem(self) -> str | None:
        """As `CommerceRow.problem`."""
        is_half = (self.order is None) != (self.payment is None)
        return "names an order or a payment without the other" if is_half else None


class Account(CommerceRow, frozen=True):
    """A row of `account`: its balance in each currency that ever moved on it."""

    balances: dict[Currency, Integer]


class LedgerHistory(CommerceAction, frozen=True, tag="ledger.history"):
    """Reads every posting made for an order of one's own, oldest first."""

    order: OrderId


class BalanceGet(CommerceAction, frozen=True, tag="balance.get"):
    """Reads the balance of one's own account: what came in less what went out, by currency."""


class Leg(msgspec.Struct, frozen=True):
    """One posting of an entry, and the key of its row."""

    posting: str
    account: str
    amount: int


class LedgerPosted(CommerceEvent, frozen=True, tag="ledger.posted"):
    """An entry was made in the books."""

    entry: str
    order: str | None
    payment: str | None
    currency: str
    tick: int
    legs: tuple[Leg, ...]


class Entry(NamedTuple):
    """What an entry is made for; ``stem`` is what its key begins with."""

    stem: str
    order: str | None
    payment: str | None
    currency: str


def account_of(role: str, party: str) -> str:
    """The name of a party's account."""
    return f"{role}:{party}"


def sale(buyer: str, merchant: str, amount: int) -> tuple[tuple[str, int], ...]:
    """What each account gets when a buyer pays a merchant; of a negative amount, when money goes back."""
    return (account_of("buyer", buyer), -amount), (account_of("merchant", merchant), amount)


def entered(state: State, entry: Entry, flows: Iterable[tuple[str, int]]) -> LedgerPosted:
    """The event of an entry; its postings have keys of their own."""
    return LedgerPosted(
        entry=entry.stem,
        order=entry.order,
        payment=entry.payment,
        currency=entry.currency,
        tick=tick_of(state),
        legs=tuple(
            Leg(fresh(state, "posting", f"{entry.stem}_{place}"), account, amount)
            for place, (account, amount) in enumerate(flows, 1)
        ),
    )


def _posted(state: State, event: LedgerPosted) -> None:
    for leg in event.legs:
        posting = Posting(
            order=event.order,
            payment=event.payment,
            account=leg.account,
            amount=leg.amount,
            currency=event.currency,
            entry=event.entry,
            tick=event.tick,
        )
        state.put("posting", leg.posting, posting)
        account: Account | None = state.get("account", leg.account)
        balances = {} if account is None else account.balances
        balance = balances.get(event.currency, 0) + leg.amount
        state.put("account", leg.account, Account({**balances, event.currency: balance}))
    if event.order is not None:
        order_named(state, event.order, "postings", [leg.posting for leg in event.legs])


def _get_history(state: State, act: Act) -> Verdict:
    action: LedgerHistory = act.action
    if own(state, "order", action.order, act.sender) is None:
        return unknown("order.unknown", "order", action.order)
    return ALLOWED


def _show_history(state: State, act: Act, _events: Events) -> Shown:
    order: Order = state.get("order", act.action.order)
    return shown_lists(state, (("posting", order.postings),))


def _get_balance(_state: State, _act: Act) -> Verdict:
    return ALLOWED


def _show_balance(state: State, act: Act, _events: Events) -> Shown:
    account = account_of(act.role, act.sender)
    return shown_lists(state, (("account", () if state.get("account", account) is None else (account,)),))


SUBJECT = Subject(
    rows={"posting": Posting, "account": Account},
    rules=(
        Rule(LedgerHistory, _get_history, _show_history, ("order.unknown",), is_query=True),
        Rule(BalanceGet, _get_balance, _show_balance, roles=TRADERS, is_query=True),
    ),
    events={LedgerPosted: _posted},
    refusals={},
)

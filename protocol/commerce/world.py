"""The world `commerce`, version 0: its subjects joined into one `World`.

    make({})

Not here: any rule. Each stands in its subject's module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from ..bodies import Scalar
from ..errors import WorldError
from ..joined import JoinedWorld, Subject
from ..tables import Facts, Row, State
from ..world import StartRows, kind_of
from . import (
    adjustments,
    agenda,
    agreements,
    books,
    campaigns,
    cancellations,
    carts,
    catalog,
    checkout,
    claims,
    coherence,
    completion,
    confirmations,
    disputes,
    evidence,
    exchanges,
    friends,
    fulfilment,
    governance,
    inquiries,
    invariants,
    mandates,
    matching,
    negotiation,
    orders,
    packing,
    payments,
    policies,
    pricing,
    processing,
    protocol_events,
    reconciliations,
    records,
    refunds,
    remediation,
    remedies,
    reputation,
    returns,
    reviews,
    rulings,
    search,
    shipments,
    supply,
    talk,
)
from . import clock as market_clock

SUBJECTS: tuple[Subject, ...] = (
    talk.SUBJECT,
    market_clock.SUBJECT,
    catalog.SUBJECT,
    policies.SUBJECT,
    pricing.SUBJECT,
    orders.SUBJECT,
    confirmations.SUBJECT,
    payments.SUBJECT,
    books.SUBJECT,
    adjustments.SUBJECT,
    search.SUBJECT,
    matching.SUBJECT,
    reviews.SUBJECT,
    reputation.SUBJECT,
    friends.SUBJECT,
    mandates.SUBJECT,
    carts.SUBJECT,
    checkout.SUBJECT,
    negotiation.SUBJECT,
    agreements.SUBJECT,
    agenda.SUBJECT,
    returns.SUBJECT,
    exchanges.SUBJECT,
    disputes.SUBJECT,
    rulings.SUBJECT,
    refunds.SUBJECT,
    reconciliations.SUBJECT,
    cancellations.SUBJECT,
    packing.SUBJECT,
    shipments.SUBJECT,
    remedies.SUBJECT,
    fulfilment.SUBJECT,
    supply.SUBJECT,
    evidence.SUBJECT,
    claims.SUBJECT,
    records.SUBJECT,
    inquiries.SUBJECT,
    campaigns.SUBJECT,
    governance.SUBJECT,
    remediation.SUBJECT,
    protocol_events.SUBJECT,
    processing.SUBJECT,
)

class CommerceWorld(JoinedWorld):
    """The market. It takes no parameters: what varies is in its rows.

    A market of one's own with more subjects is a subclass with another name, registered (`world.register`).
    """

    name = "commerce"
    version = 0
    subjects: ClassVar = SUBJECTS
    searching = (kind_of(search.ListingSearch),)
    clock = kind_of(market_clock.ClockAdvance)
    taking = (
        "certificate.redeem",
        "cart.checkout",
        "agreement.settle",
        "negotiation.accept",
        "offer.accept_ranked",
        "cart.quote",
        "cart.request_quote",
        "negotiation.propose",
        "order.dispatch",
        "fulfilment.allocate",
        "shipment.replace",
        "shipment.wait",
        "exchange.complete",
        "exchange.authorize",
        "refund.approve",
        "return.receive",
        "return.authorize",
        "event.process",
        "governance.accept",
        "remediation.complete_step",
        "remediation.accept",
        "campaign.activate",
        "campaign.publish",
        "claim.publish",
    )
    refusing = (
        "negotiation.reject",
        "exchange.deny",
        "refund.deny",
        "return.deny",
        "event.reject",
        "governance.reject_manipulation",
        "governance.reject_coordination",
        "claim.retract",
        "shipment.refund",
        "order.cancel",
        "purchase.decline",
    )

    def broken(self, state: State) -> str | None:
        """The invariant that the staged rows break, or None."""
        return invariants.broken(state, self.machines)

    def tick(self, state: State) -> int:
        """The market's time."""
        return talk.tick_of(state)

    def check_row(self, table: str, row: Row) -> None:
        """Refuses a row that contradicts itself."""
        if not invariants.row_holds(row):
            raise WorldError("facts.row", f"a row of `{table}` contradicts itself")

    def facts(self, rows: Iterable[tuple[str, str, Row]]) -> Facts:
        """Start rows of this world, which agree with each other.

        Raises:
            WorldError: as `World.facts`, or `facts.row` for rows that don't agree.
        """
        facts = super().facts(rows)
        coherence.check({table: facts.tables[table].rows for table in self.tables})
        return facts

    def complete(self, rows: StartRows) -> StartRows:
        """Start rows as an author writes them, made whole."""
        return completion.complete(rows, self.tables)


RULES = CommerceWorld.rules

REFUSALS = CommerceWorld.refusals
"""Every refusal of the market with its meaning, in the order of checks."""

MACHINES = CommerceWorld.machines


def make(params: Mapping[str, Scalar]) -> CommerceWorld:
    """The world; it takes no parameters.

    Raises:
        WorldError: there are parameters.
    """
    if params:
        hint = "leave `params` empty: what varies is in the rows"
        raise WorldError("world.params", "world `commerce` does not take these parameters", hint)
    return CommerceWorld()

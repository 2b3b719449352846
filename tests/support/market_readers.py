"""Who may read which row of the market: written down from the specification, not from the rules.

    published       ─► everybody
    of parties      ─► those that it names, and some that other rows name
    anything else   ─► nobody

Not here: what a party is shown of its own act, whatever it changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whole_market import ROLES

Rows = dict[str, dict[str, Any]]

PUBLIC = ("clock", "listing", "inventory", "policy", "pricing", "supply_state", "review", "reputation")
BOTH_SIDES = (
    "order", "negotiation", "agreement", "return", "refund_case", "exchange", "packing", "shipment",
    "reconciliation", "confirmation", "match_certificate", "cart_quote",
)  # fmt: skip
NAMED_IN = {
    **dict.fromkeys(BOTH_SIDES, ("buyer", "merchant")),
    "search_session": ("buyer",),
    "offer_ranking": ("buyer",),
    "order_group": ("buyer",),
    "dispute": ("buyer", "merchant", "adjudicator"),
    "friendship": ("party", "friend"),
    "mandate_authority": ("party",),
    "mandate_revision": ("party",),
    "inquiry": ("asker", "asked"),
    "governance_case": ("proposer", "party"),
    "remediation_plan": ("merchant", "issuer"),
    "protocol_event": ("party", "issuer"),
    "evidence_record": ("issuer",),
    "listing_claim": ("merchant",),
    "campaign": ("merchant",),
    "placement": ("merchant",),
}
"""The columns that name those whose row it is."""


def may_read(rows: Rows, table: str, key: str, party: str) -> bool:
    """Whether a row is the party's, or everybody's."""
    row = rows[table][key]
    if table in PUBLIC or party in [getattr(row, column) for column in NAMED_IN.get(table, ())]:
        return True
    return table in BEYOND and BEYOND[table](rows, key, party)


def _is_side(rows: Rows, order: str, party: str) -> bool:
    return party in (rows["order"][order].buyer, rows["order"][order].merchant)


BEYOND: dict[str, Callable[[Rows, str, str], bool]] = {
    "account": lambda _rows, key, party: key == f"{ROLES[party]}:{party}",
    "payment": lambda rows, key, party: _is_side(rows, rows["payment"][key].order, party),
    "posting": lambda rows, key, party: _is_side(rows, rows["posting"][key].order, party),
    # Who rules on a dispute reads it with its order and its evidence.
    "dispute": lambda rows, key, party: (
        rows["dispute"][key].adjudicator is None and ROLES[party] == "adjudicator"
    ),
    "ruling": lambda rows, key, party: may_read(rows, "dispute", rows["ruling"][key].dispute, party),
    "order": lambda rows, key, party: any(
        may_read(rows, "dispute", dispute, party) for dispute in rows["order"][key].disputes
    ),
    "evidence_record": lambda rows, key, party: (
        rows["evidence_record"][key].readers is None
        or party in rows["evidence_record"][key].readers
        or any(
            key in row.evidence and may_read(rows, "dispute", name, party)
            for name, row in rows["dispute"].items()
        )
    ),
    "order_group": lambda rows, key, party: all(
        rows["order"][order].merchant == party for order in rows["order_group"][key].orders
    ),
    "listing_claim": lambda rows, key, _party: rows["listing_claim"][key].state != "draft",
    "campaign": lambda rows, key, _party: rows["campaign"][key].state == "active",
    "placement": lambda rows, key, party: may_read(rows, "campaign", rows["placement"][key].campaign, party),
    "governance_case": lambda rows, key, _party: (
        rows["governance_case"][key].state in ("upheld", "dismissed")
    ),
}
"""Who else may read a row of some tables."""

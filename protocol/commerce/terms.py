"""What the subjects' fields are made of: amounts, quantities, ticks, and the rows they name.

    Money      integer minor units of a currency; every sum in the market stays within it
    ListingId  the key of a row of `listing`, and so on: `row_fields` finds the table by its mark

Not here: free text (`bodies.Part`), or what any of it means to a rule.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from ..canonical import Id, Index

MAX_MONEY = 10**12

Money = Annotated[int, msgspec.Meta(ge=0, le=MAX_MONEY, extra={"unit": "minor"})]
Quantity = Annotated[int, msgspec.Meta(ge=1, le=10**6)]
Stock = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
Tick = Index
Currency = Annotated[str, msgspec.Meta(pattern=r"^[A-Z]{3}(?!\n)$")]
Bps = Annotated[int, msgspec.Meta(ge=0, le=10_000, extra={"unit": "bps"})]
Condition = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]

AgreementId = Annotated[Id, msgspec.Meta(extra={"row": "agreement"})]
CampaignId = Annotated[Id, msgspec.Meta(extra={"row": "campaign"})]
CartQuoteId = Annotated[Id, msgspec.Meta(extra={"row": "cart_quote"})]
DisputeId = Annotated[Id, msgspec.Meta(extra={"row": "dispute"})]
EvidenceRecordId = Annotated[Id, msgspec.Meta(extra={"row": "evidence_record"})]
ExchangeId = Annotated[Id, msgspec.Meta(extra={"row": "exchange"})]
GovernanceCaseId = Annotated[Id, msgspec.Meta(extra={"row": "governance_case"})]
InquiryId = Annotated[Id, msgspec.Meta(extra={"row": "inquiry"})]
MandateAuthorityId = Annotated[Id, msgspec.Meta(extra={"row": "mandate_authority"})]
MatchCertificateId = Annotated[Id, msgspec.Meta(extra={"row": "match_certificate"})]
OfferRankingId = Annotated[Id, msgspec.Meta(extra={"row": "offer_ranking"})]
ListingClaimId = Annotated[Id, msgspec.Meta(extra={"row": "listing_claim"})]
ListingId = Annotated[Id, msgspec.Meta(extra={"row": "listing"})]
NegotiationId = Annotated[Id, msgspec.Meta(extra={"row": "negotiation"})]
OrderId = Annotated[Id, msgspec.Meta(extra={"row": "order"})]
PackingId = Annotated[Id, msgspec.Meta(extra={"row": "packing"})]
PaymentId = Annotated[Id, msgspec.Meta(extra={"row": "payment"})]
PlacementId = Annotated[Id, msgspec.Meta(extra={"row": "placement"})]
PolicyId = Annotated[Id, msgspec.Meta(extra={"row": "policy"})]
ProtocolEventId = Annotated[Id, msgspec.Meta(extra={"row": "protocol_event"})]
RefundCaseId = Annotated[Id, msgspec.Meta(extra={"row": "refund_case"})]
PricingId = Annotated[Id, msgspec.Meta(extra={"row": "pricing"})]
RemediationPlanId = Annotated[Id, msgspec.Meta(extra={"row": "remediation_plan"})]
ReturnId = Annotated[Id, msgspec.Meta(extra={"row": "return"})]
SearchSessionId = Annotated[Id, msgspec.Meta(extra={"row": "search_session"})]
ShipmentId = Annotated[Id, msgspec.Meta(extra={"row": "shipment"})]

AgreementIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "agreement"})]
CartQuoteIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "cart_quote"})]
DisputeIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "dispute"})]
EvidenceRecordIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "evidence_record"})]
GovernanceCaseIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "governance_case"})]
ListingIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "listing"})]
MandateAuthorityIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "mandate_authority"})]
MandateRevisionIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "mandate_revision"})]
MatchCertificateIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "match_certificate"})]
NegotiationIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "negotiation"})]
OfferRankingIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "offer_ranking"})]
OrderGroupIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "order_group"})]
OrderIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "order"})]
PaymentIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "payment"})]
RefundCaseIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "refund_case"})]
RulingIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "ruling"})]
ShipmentIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "shipment"})]
SupplyAuthorityIdOrNone = Annotated[Id | None, msgspec.Meta(extra={"row": "supply_authority"})]

BUYER = frozenset({"buyer"})
MERCHANT = frozenset({"merchant"})
OPERATOR = frozenset({"operator"})
ADJUDICATOR = frozenset({"adjudicator"})
TRADERS = BUYER | MERCHANT


class CommerceRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row; its columns are whole numbers, texts and lists of them."""

    def problem(self) -> str | None:
        """What the row says against itself, as the end of a sentence about it, or None."""
        return None


class CommerceAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """What a party says; its kind is `noun.verb`."""


class CommerceEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """What happened; its kind is `noun.past`, and it carries every value that its change needs."""

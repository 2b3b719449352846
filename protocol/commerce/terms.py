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


def key_of(table: str) -> msgspec.Meta:
    """The mark of a field that holds the key of a row of this table, and what an agent reads of it."""
    return msgspec.Meta(description=f"key of a row of `{table}`", extra={"row": table})


Money = Annotated[
    int, msgspec.Meta(ge=0, le=MAX_MONEY, description="in minor units (cents)", extra={"unit": "minor"})
]
Quantity = Annotated[int, msgspec.Meta(ge=1, le=10**6)]
Stock = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
Tick = Annotated[Index, msgspec.Meta(description="a tick of the market's clock", extra={"unit": "tick"})]
Currency = Annotated[str, msgspec.Meta(pattern=r"^[A-Z]{3}(?!\n)$")]
Bps = Annotated[int, msgspec.Meta(ge=0, le=10_000, description="in basis points", extra={"unit": "bps"})]
Condition = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]

AgreementId = Annotated[Id, key_of("agreement")]
CampaignId = Annotated[Id, key_of("campaign")]
CartQuoteId = Annotated[Id, key_of("cart_quote")]
DisputeId = Annotated[Id, key_of("dispute")]
EvidenceRecordId = Annotated[Id, key_of("evidence_record")]
ExchangeId = Annotated[Id, key_of("exchange")]
GovernanceCaseId = Annotated[Id, key_of("governance_case")]
InquiryId = Annotated[Id, key_of("inquiry")]
MandateAuthorityId = Annotated[Id, key_of("mandate_authority")]
MatchCertificateId = Annotated[Id, key_of("match_certificate")]
OfferRankingId = Annotated[Id, key_of("offer_ranking")]
ListingClaimId = Annotated[Id, key_of("listing_claim")]
ListingId = Annotated[Id, key_of("listing")]
NegotiationId = Annotated[Id, key_of("negotiation")]
OrderId = Annotated[Id, key_of("order")]
PackingId = Annotated[Id, key_of("packing")]
PaymentId = Annotated[Id, key_of("payment")]
PlacementId = Annotated[Id, key_of("placement")]
PolicyId = Annotated[Id, key_of("policy")]
ProtocolEventId = Annotated[Id, key_of("protocol_event")]
RefundCaseId = Annotated[Id, key_of("refund_case")]
PricingId = Annotated[Id, key_of("pricing")]
RemediationPlanId = Annotated[Id, key_of("remediation_plan")]
ReturnId = Annotated[Id, key_of("return")]
SearchSessionId = Annotated[Id, key_of("search_session")]
ShipmentId = Annotated[Id, key_of("shipment")]

AgreementIdOrNone = Annotated[Id | None, key_of("agreement")]
CartQuoteIdOrNone = Annotated[Id | None, key_of("cart_quote")]
DisputeIdOrNone = Annotated[Id | None, key_of("dispute")]
EvidenceRecordIdOrNone = Annotated[Id | None, key_of("evidence_record")]
GovernanceCaseIdOrNone = Annotated[Id | None, key_of("governance_case")]
ListingIdOrNone = Annotated[Id | None, key_of("listing")]
MandateAuthorityIdOrNone = Annotated[Id | None, key_of("mandate_authority")]
MandateRevisionIdOrNone = Annotated[Id | None, key_of("mandate_revision")]
MatchCertificateIdOrNone = Annotated[Id | None, key_of("match_certificate")]
NegotiationIdOrNone = Annotated[Id | None, key_of("negotiation")]
OfferRankingIdOrNone = Annotated[Id | None, key_of("offer_ranking")]
OrderGroupIdOrNone = Annotated[Id | None, key_of("order_group")]
OrderIdOrNone = Annotated[Id | None, key_of("order")]
PaymentIdOrNone = Annotated[Id | None, key_of("payment")]
RefundCaseIdOrNone = Annotated[Id | None, key_of("refund_case")]
RulingIdOrNone = Annotated[Id | None, key_of("ruling")]
ShipmentIdOrNone = Annotated[Id | None, key_of("shipment")]
SupplyAuthorityIdOrNone = Annotated[Id | None, key_of("supply_authority")]

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

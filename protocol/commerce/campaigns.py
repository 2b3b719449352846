"""Advertising: a merchant's campaign, the places it pays for, and what is said of them.

    draft ─► published ─► active        by its merchant; placements are disclosed once it is published

A placement that costs a fee is an advertisement; one without is where the listing would stand anyway, and
there is nothing to disclose. Where the policy `sponsorship` requires it, a campaign can't be active while an
advertisement isn't disclosed; without such a policy that is left to the merchant. Others read a campaign once
it is active; from then on searches put the listings that it advertises first. Not here: ranking (`search`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from ..bodies import Text
from ..canonical import Id
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import Listing
from .policies import SPONSORSHIP, policy_of
from .subject import shown, shown_lists, start_keys, unknown
from .terms import (
    MERCHANT,
    CampaignId,
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    ListingId,
    Money,
    PlacementId,
)

_replace = msgspec.structs.replace

Disclosure = Annotated[Text, msgspec.Meta(min_length=1)]


class Campaign(CommerceRow, frozen=True):
    """A row of `campaign`."""

    merchant: Id
    title: Text = ""
    state: Literal["draft", "published", "active"] = "draft"


class Placement(CommerceRow, frozen=True):
    """A row of `placement`: where a campaign shows a listing, at which fee, and what readers are told."""

    campaign: CampaignId
    merchant: Id
    listing: ListingId
    fee: Money = 0
    spot: Text = ""
    disclosure: Disclosure | None = None


class CampaignGet(CommerceAction, frozen=True, tag="campaign.get"):
    """Reads a campaign with its placements: one's own, or one that is active."""

    campaign: CampaignId


class CampaignPublish(CommerceAction, frozen=True, tag="campaign.publish"):
    """Publishes a draft campaign of one's own: its placements are fixed, and can be disclosed."""

    campaign: CampaignId


class CampaignDisclose(CommerceAction, frozen=True, tag="campaign.disclose"):
    """Tells readers of a placement that it is paid for. Once, when its campaign is published."""

    placement: PlacementId
    text: Disclosure


class CampaignActivate(CommerceAction, frozen=True, tag="campaign.activate"):
    """Begins to show the placements of a published campaign."""

    campaign: CampaignId


class CampaignPublished(CommerceEvent, frozen=True, tag="campaign.published"):
    """A campaign's placements were fixed."""

    campaign: str


class CampaignDisclosed(CommerceEvent, frozen=True, tag="campaign.disclosed"):
    """Readers are told that a placement is paid for."""

    placement: str
    text: str


class CampaignActivated(CommerceEvent, frozen=True, tag="campaign.activated"):
    """A campaign's placements are shown."""

    campaign: str


def _get(state: State, act: Act) -> Verdict:
    action: CampaignGet = act.action
    found: Campaign | None = state.get("campaign", action.campaign)
    if found is None or (found.merchant != act.sender and found.state != "active"):
        return unknown("campaign.unknown", "campaign", action.campaign)
    return ALLOWED


def _publish(state: State, act: Act) -> Verdict:
    action: CampaignPublish = act.action
    found = _in_state(state, act, action.campaign, "draft")
    if isinstance(found, Refusal):
        return found
    placements = _placements(state, action.campaign)
    if not placements:
        return Refusal("campaign.empty", {"campaign": action.campaign})
    for key, placement in placements:
        if state.get("listing", placement.listing).state != "active":
            return Refusal("campaign.listing", {"placement": key, "listing": placement.listing})
    return Accepted([CampaignPublished(action.campaign)])


def _disclose(state: State, act: Act) -> Verdict:
    action: CampaignDisclose = act.action
    placement: Placement | None = state.get("placement", action.placement)
    if placement is None or placement.merchant != act.sender:
        return unknown("campaign.unknown", "placement", action.placement)
    found: Campaign = state.get("campaign", placement.campaign)
    if found.state == "draft":
        return Refusal("campaign.state", {"campaign": placement.campaign, "state": found.state})
    if placement.fee == 0:
        return Refusal("campaign.unpaid", {"placement": action.placement})
    if placement.disclosure is not None:
        return Refusal("campaign.disclosed", {"placement": action.placement})
    return Accepted([CampaignDisclosed(action.placement, action.text)])


def _activate(state: State, act: Act) -> Verdict:
    action: CampaignActivate = act.action
    found = _in_state(state, act, action.campaign, "published")
    if isinstance(found, Refusal):
        return found
    if policy_of(state, SPONSORSHIP).requires_disclosure:
        for key, placement in _placements(state, action.campaign):
            if placement.fee and placement.disclosure is None:
                return Refusal("campaign.undisclosed", {"placement": key})
    return Accepted([CampaignActivated(action.campaign)])


def _in_state(state: State, act: Act, key: str, wanted: str) -> Campaign | Refusal:
    """The sender's campaign, in the state wanted."""
    found: Campaign | None = state.get("campaign", key)
    if found is None or found.merchant != act.sender:
        return unknown("campaign.unknown", "campaign", key)
    if found.state != wanted:
        return Refusal("campaign.state", {"campaign": key, "state": found.state})
    return found


def _placements(state: State, campaign: str) -> list[tuple[str, Placement]]:
    return [(key, state.get("placement", key)) for key in _placement_keys(state, campaign)]


def _placement_keys(state: State, campaign: str) -> Sequence[str]:
    return start_keys(state, "placement", campaign, ("campaign",))


def _show(state: State, act: Act, _events: Events) -> Shown:
    key: str = act.action.campaign
    return shown_lists(state, (("campaign", (key,)), ("placement", _placement_keys(state, key))))


def _show_placement(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("placement", act.action.placement))


def _published(state: State, event: CampaignPublished) -> None:
    state.put("campaign", event.campaign, _replace(state.get("campaign", event.campaign), state="published"))


def _disclosed(state: State, event: CampaignDisclosed) -> None:
    after = _replace(state.get("placement", event.placement), disclosure=event.text)
    state.put("placement", event.placement, after)


def _activated(state: State, event: CampaignActivated) -> None:
    state.put("campaign", event.campaign, _replace(state.get("campaign", event.campaign), state="active"))
    for _key, placement in _placements(state, event.campaign):
        if placement.fee:
            listing: Listing = state.get("listing", placement.listing)
            state.put("listing", placement.listing, _replace(listing, sponsored=True))


_MINE = ("campaign.unknown", "campaign.state")

SUBJECT = Subject(
    rows={"campaign": Campaign, "placement": Placement},
    rules=(
        Rule(CampaignGet, _get, _show, ("campaign.unknown",), is_query=True),
        Rule(
            CampaignPublish,
            _publish,
            _show,
            (*_MINE, "campaign.empty", "campaign.listing"),
            MERCHANT,
            is_unaddressed=True,
        ),
        Rule(
            CampaignDisclose,
            _disclose,
            _show_placement,
            (*_MINE, "campaign.unpaid", "campaign.disclosed"),
            MERCHANT,
            is_unaddressed=True,
        ),
        Rule(
            CampaignActivate,
            _activate,
            _show,
            (*_MINE, "campaign.undisclosed"),
            MERCHANT,
            is_unaddressed=True,
        ),
    ),
    events={
        CampaignPublished: _published,
        CampaignDisclosed: _disclosed,
        CampaignActivated: _activated,
    },
    refusals={
        "campaign.unknown": "the sender has no such campaign or placement",
        "campaign.state": "the campaign is not in the state for this: draft, then published, then active",
        "campaign.empty": "the campaign places nothing",
        "campaign.listing": "the campaign places a listing that is no longer offered",
        "campaign.unpaid": "the placement costs nothing, so there is nothing to disclose",
        "campaign.disclosed": "the placement is disclosed already",
        "campaign.undisclosed": "the policy `sponsorship` wants every paid placement disclosed first",
    },
    machines={
        "campaign": Machine(
            frozenset({"draft"}),
            {"draft": frozenset({"published"}), "published": frozenset({"active"})},
        )
    },
)

"""What was said to change a party's mandate, and who may say so.

    mandate_authority ◄─ mandate_revision ◄─ mandate_revision …       each names the one that it follows

A party sees its own alone. A revision says who made it; whether that source is authorized, for what and
above whom, stands in the authority and is read by itself. The mandate as such never enters the market.
Both are start rows: no act makes one. Not here: which revisions hold, which is for their reader to say.
"""

from __future__ import annotations

import msgspec

from ..bodies import Text
from ..canonical import Id, Index
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Act, Shown
from .catalog import Attributes
from .subject import shown, shown_lists, start_keys, unknown
from .terms import (
    CommerceAction,
    CommerceRow,
    MandateAuthorityId,
    MandateAuthorityIdOrNone,
    MandateRevisionIdOrNone,
    Tick,
)


class MandateAuthority(CommerceRow, frozen=True):
    """A row of `mandate_authority`: who may change what of a party's mandate.

    Of sources that differ the one with the lowest ``rank`` counts; ``scope``
    names what it may change; after tick ``expires`` it may change nothing.
    """

    party: Id
    source: Text
    rank: Index = 0
    authorized: bool = True
    scope: tuple[Text, ...] = ()
    expires: Tick | None = None


class MandateRevision(CommerceRow, frozen=True):
    """A row of `mandate_revision`: values that were said to hold from now on, counted by ``revision``."""

    party: Id
    revision: Index
    source: Text
    changes: Attributes = msgspec.field(default_factory=Attributes)
    text: Text = ""
    tick: Tick = 0
    mandate_authority: MandateAuthorityIdOrNone = None
    previous: MandateRevisionIdOrNone = None


class MandateRevisions(CommerceAction, frozen=True, tag="mandate.revisions"):
    """Reads what was said to change one's own mandate, in order; not who may say so."""


class MandateGetAuthority(CommerceAction, frozen=True, tag="mandate.authority"):
    """Reads whether a source may change one's own mandate: what of it, and above whom."""

    mandate_authority: MandateAuthorityId


def _revisions(_state: State, _act: Act) -> Verdict:
    return ALLOWED


def _show_revisions(state: State, act: Act, _events: Events) -> Shown:
    keys = start_keys(state, "mandate_revision", act.sender, ("party",))
    in_order = sorted(keys, key=lambda key: (state.get("mandate_revision", key).revision, key))
    return shown_lists(state, (("mandate_revision", in_order),))


def _authority(state: State, act: Act) -> Verdict:
    key: str = act.action.mandate_authority
    found: MandateAuthority | None = state.get("mandate_authority", key)
    if found is None or found.party != act.sender:
        return unknown("mandate.unknown", "mandate_authority", key)
    return ALLOWED


def _show_authority(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("mandate_authority", act.action.mandate_authority))


SUBJECT = Subject(
    rows={"mandate_authority": MandateAuthority, "mandate_revision": MandateRevision},
    rules=(
        Rule(MandateRevisions, _revisions, _show_revisions, is_query=True),
        Rule(MandateGetAuthority, _authority, _show_authority, ("mandate.unknown",), is_query=True),
    ),
    events={},
    refusals={"mandate.unknown": "the sender's mandate has no such authority"},
)

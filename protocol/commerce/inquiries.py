"""Questions that one party puts to another, with what it sends along, and their one answer.

    ask ─► open ─► answered          by the party asked, once

An inquiry names the fields it asks for and may bring evidence records. The answer gives values with their
sources, and says which of the inquiry's contents (the inquiry itself, by its key, and what it brought) were
acted on and which were set aside. Sources are records that both may read: one that the asker can't read
proves nothing to it. Not here: whether the answer is true, complete, or should have been given.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ..bodies import Made, Part
from ..canonical import Id
from ..joined import ALLOWED, Events, Machine, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .catalog import Listing
from .evidence import readable
from .records import Keys, StatedValue, StatedValues, said_twice, unsourced
from .subject import fresh, misdirected, shown, unknown
from .talk import tick_of
from .terms import (
    CommerceAction,
    CommerceEvent,
    CommerceRow,
    EvidenceRecordId,
    InquiryId,
    ListingIdOrNone,
    Tick,
)

Fields = Annotated[tuple[Id, ...], msgspec.Meta(max_length=64)]
Attachments = Annotated[tuple[EvidenceRecordId, ...], msgspec.Meta(max_length=64)]
Resolution = Literal["answered", "declined"]


class Inquiry(CommerceRow, frozen=True):
    """A row of `inquiry`; what the answer gave is unset until then."""

    asker: Id
    asked: Id
    listing: ListingIdOrNone = None
    fields: Fields = ()
    attachments: Attachments = ()
    state: Literal["open", "answered"] = "open"
    resolution: Resolution | None = None
    values: StatedValues = ()
    accepted: Keys = ()
    rejected: Keys = ()
    asked_at: Tick = 0

    def problem(self) -> str | None:
        """Two parties, and an answer where there is one."""
        if self.asker == self.asked:
            return "has one party on both sides"
        if (self.resolution is not None) != (self.state == "answered"):
            return f"is `{self.state}`, and a resolution belongs to an inquiry that is `answered`"
        return None


class InquiryAsk(CommerceAction, frozen=True, tag="inquiry.ask"):
    """Asks another party: for fields of a listing of theirs, or for something said in words.

    Sent to that party; `attachments` are evidence records that both may read.
    """

    text: Part
    listing: ListingIdOrNone = None
    fields: Fields = ()
    attachments: Attachments = ()


class InquiryRespond(CommerceAction, frozen=True, tag="inquiry.respond"):
    """Answers an inquiry, once: values with their sources, and what of it was acted on or not.

    `accepted` and `rejected` hold the inquiry's own key, or those of its attachments. Sent to the asker.
    """

    inquiry: InquiryId
    resolution: Resolution
    text: Part
    values: StatedValues = ()
    accepted: Keys = ()
    rejected: Keys = ()


class InquiryGet(CommerceAction, frozen=True, tag="inquiry.get"):
    """Reads an inquiry that one asked or was asked."""

    inquiry: InquiryId


class InquiryAsked(CommerceEvent, frozen=True, tag="inquiry.asked"):
    """A party asked another."""

    inquiry: Made
    asker: str
    asked: str
    listing: str | None
    fields: tuple[str, ...]
    attachments: tuple[str, ...]
    tick: int


class InquiryAnswered(CommerceEvent, frozen=True, tag="inquiry.answered"):
    """An inquiry was answered."""

    inquiry: str
    resolution: Resolution
    values: tuple[StatedValue, ...]
    accepted: tuple[str, ...]
    rejected: tuple[str, ...]


def _ask(state: State, act: Act) -> Verdict:
    action: InquiryAsk = act.action
    listing: Listing | None = None if action.listing is None else state.get("listing", action.listing)
    if action.listing is not None and listing is None:
        return unknown("listing.unknown", "listing", action.listing)
    if act.to is None or (listing is not None and act.to != listing.merchant):
        return misdirected("inquiry.addressee", act)
    for key in action.attachments:
        if readable(state, key, act.sender) is None or readable(state, key, act.to) is None:
            return Refusal("inquiry.attachment", {"evidence_record": key})
    asked = InquiryAsked(
        inquiry=fresh(state, "inquiry", f"q{act.seq}"),
        asker=act.sender,
        asked=act.to,
        listing=action.listing,
        fields=action.fields,
        attachments=action.attachments,
        tick=tick_of(state),
    )
    return Accepted([asked])


def _respond(state: State, act: Act) -> Verdict:
    action: InquiryRespond = act.action
    found: Inquiry | None = state.get("inquiry", action.inquiry)
    if found is None or found.asked != act.sender:
        return unknown("inquiry.unknown", "inquiry", action.inquiry)
    if act.to != found.asker:
        return misdirected("inquiry.addressee", act)
    if found.state != "open":
        return Refusal("inquiry.state", {"inquiry": action.inquiry, "state": found.state})
    contents = {action.inquiry, *found.attachments}
    sorted_out = (*action.accepted, *action.rejected)
    for place, key in enumerate(sorted_out):
        if key not in contents or key in sorted_out[:place]:
            return Refusal("inquiry.content", {"content": key})
    twice = said_twice(action.values)
    if twice is not None:
        return Refusal("inquiry.twice", {"about": twice.about, "field": twice.field})
    source = unsourced(state, action.values, (found.asked, found.asker))
    if source is not None:
        return Refusal("inquiry.source", {"evidence_record": source})
    answer = action.resolution, action.values, action.accepted, action.rejected
    return Accepted([InquiryAnswered(action.inquiry, *answer)])


def _get(state: State, act: Act) -> Verdict:
    action: InquiryGet = act.action
    found: Inquiry | None = state.get("inquiry", action.inquiry)
    if found is None or act.sender not in (found.asker, found.asked):
        return unknown("inquiry.unknown", "inquiry", action.inquiry)
    return ALLOWED


def _asked(state: State, event: InquiryAsked) -> None:
    inquiry = Inquiry(
        asker=event.asker,
        asked=event.asked,
        listing=event.listing,
        fields=event.fields,
        attachments=event.attachments,
        asked_at=event.tick,
    )
    state.put("inquiry", event.inquiry, inquiry)


def _answered(state: State, event: InquiryAnswered) -> None:
    after = msgspec.structs.replace(
        state.get("inquiry", event.inquiry),
        state="answered",
        resolution=event.resolution,
        values=event.values,
        accepted=event.accepted,
        rejected=event.rejected,
    )
    state.put("inquiry", event.inquiry, after)


def _show_asked(state: State, _act: Act, events: Events) -> Shown:
    asked = events[0]
    assert isinstance(asked, InquiryAsked)
    return shown(state, ("inquiry", asked.inquiry))


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("inquiry", act.action.inquiry))


SUBJECT = Subject(
    rows={"inquiry": Inquiry},
    rules=(
        Rule(
            InquiryAsk,
            _ask,
            _show_asked,
            ("listing.unknown", "inquiry.addressee", "inquiry.attachment"),
        ),
        Rule(
            InquiryRespond,
            _respond,
            _show,
            (
                "inquiry.unknown",
                "inquiry.addressee",
                "inquiry.state",
                "inquiry.content",
                "inquiry.twice",
                "inquiry.source",
            ),
        ),
        Rule(InquiryGet, _get, _show, ("inquiry.unknown",), is_query=True),
    ),
    events={InquiryAsked: _asked, InquiryAnswered: _answered},
    refusals={
        "inquiry.unknown": "the sender was asked no such thing",
        "inquiry.addressee": "a question on a listing goes to its merchant, the answer to the asker",
        "inquiry.attachment": "there is no such record that both parties may read",
        "inquiry.state": "the inquiry is answered already",
        "inquiry.content": "what is accepted or rejected is the inquiry or one of its attachments, each once",
        "inquiry.twice": "the answer gives a field of the same row two values",
        "inquiry.source": "there is no such record that both parties may read",
    },
    machines={"inquiry": Machine(frozenset({"open"}), {"open": frozenset({"answered"})})},
)

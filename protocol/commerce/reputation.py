"""What is known of a merchant's past dealings.

    counts    what this market saw: fulfilled, returned, disputed, ratings and their sum
    history   what is told of the time before, each mark verified or not, oldest first

The table's keys are the merchants' ids. Reputations are public, and only the market's own events
move the counts. Not here: what those events are (`reviews`, and whatever calls `counted`).
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ..canonical import Id, Index
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Act, Shown
from .subject import shown, unknown
from .terms import CommerceAction, CommerceRow, Tick, key_of


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One dealing of the past; only a verified one was seen by someone other than its merchant."""

    what: Literal["fulfilled", "late", "returned", "disputed"]
    verified: bool = False
    tick: Tick = 0


class Reputation(CommerceRow, frozen=True):
    """A row of `reputation`; ``rating_sum`` over ``ratings`` is the mean of verified reviews."""

    merchant: Id
    fulfilled: Index = 0
    returned: Index = 0
    disputed: Index = 0
    ratings: Index = 0
    rating_sum: Index = 0
    history: tuple[Mark, ...] = ()

    def problem(self) -> str | None:
        """As `CommerceRow.problem`."""
        if not self.ratings <= self.rating_sum <= 5 * self.ratings:
            return "has a sum that so many ratings from 1 to 5 can't come to"
        return None


class ReputationGet(CommerceAction, frozen=True, tag="reputation.get"):
    """Reads what is known of a merchant's past dealings: orders fulfilled, returned, disputed; ratings."""

    merchant: Annotated[Id, key_of("reputation")]


def counted(state: State, merchant: str, **more: int) -> None:
    """Stages counts that went up; for the steps of events that say something of a merchant."""
    found: Reputation | None = state.get("reputation", merchant)
    row = Reputation(merchant) if found is None else found
    after = {name: getattr(row, name) + by for name, by in more.items()}
    state.put("reputation", merchant, msgspec.structs.replace(row, **after))


def _get(state: State, act: Act) -> Verdict:
    action: ReputationGet = act.action
    if state.get("reputation", action.merchant) is None:
        return unknown("reputation.unknown", "merchant", action.merchant)
    return ALLOWED


def _show(state: State, act: Act, _events: Events) -> Shown:
    return shown(state, ("reputation", act.action.merchant))


SUBJECT = Subject(
    rows={"reputation": Reputation},
    rules=(Rule(ReputationGet, _get, _show, ("reputation.unknown",), is_query=True),),
    events={},
    refusals={"reputation.unknown": "nothing is known of such a merchant"},
)

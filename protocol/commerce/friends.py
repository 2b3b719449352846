"""Who knows whom, as a reader of reviews may weigh them.

    friendship   party – friend, seen by both and by nobody else

Friendships are start rows: no act makes one. Not here: what a friend says (`reviews`), or whether
to trust it.
"""

from __future__ import annotations

from ..canonical import Id
from ..joined import ALLOWED, Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Act, Shown
from .subject import shown_lists, start_keys
from .terms import CommerceAction, CommerceRow, Tick


class Friendship(CommerceRow, frozen=True):
    """A row of `friendship`, of two parties, since a tick."""

    party: Id
    friend: Id
    since: Tick = 0

    def problem(self) -> str | None:
        """As `CommerceRow.problem`."""
        return "has one party on both sides" if self.party == self.friend else None


class FriendsList(CommerceAction, frozen=True, tag="friends.list"):
    """Reads one's own friendships."""


def _list(_state: State, _act: Act) -> Verdict:
    return ALLOWED


def _show(state: State, act: Act, _events: Events) -> Shown:
    keys = start_keys(state, "friendship", act.sender, ("party", "friend"))
    return shown_lists(state, (("friendship", keys),))


SUBJECT = Subject(
    rows={"friendship": Friendship},
    rules=(Rule(FriendsList, _list, _show, is_query=True),),
    events={},
    refusals={},
)

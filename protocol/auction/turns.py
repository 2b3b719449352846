"""Turns that nobody takes: the operator passes for a party that did nothing that is allowed.

    turn.pass {party}   by the operator ─► what the family makes of no move: no bid, an exit, no quote

Also words without a move, which are always refused: `agent.unparsed`.

Not here: when it is due (the schedule).
"""

from __future__ import annotations

from ..bodies import Part
from ..joined import Rule, Subject, Verdict
from ..tables import State
from ..world import Act, Refusal
from . import families
from .session import auction_of, session_of
from .terms import OPERATOR, AuctionAction, Party


class TurnPass(AuctionAction, frozen=True, tag="turn.pass"):
    """Passes for a party whose turn it is and who made no move."""

    party: Party


class AgentUnparsed(AuctionAction, frozen=True, tag="agent.unparsed"):
    """An answer that holds no move."""

    text: Part


def _pass(state: State, act: Act) -> Verdict:
    """As the family's own pass of that party."""
    party: str = act.action.party
    found = auction_of(state, party)
    if found is None:
        return Refusal("turn.closed", {})
    family = families.of(session_of(state).format)
    due = family.due(state, session_of(state), *found)
    if getattr(due, "party", None) != party:
        return Refusal("turn.other", {})
    return family.passed(state, session_of(state), *found, party)


def _unparsed(_state: State, _act: Act) -> Verdict:
    return Refusal("agent.unparsed", {})


SUBJECT = Subject(
    rows={},
    rules=(
        Rule(
            TurnPass, _pass, checks=("turn.closed", "turn.other"), roles=OPERATOR, is_unaddressed=True
        ),
        Rule(AgentUnparsed, _unparsed, checks=("agent.unparsed",), is_unaddressed=True),
    ),
    events={},
    refusals={
        "turn.closed": "no auction of the party's is open",
        "turn.other": "it is another's turn",
        "agent.unparsed": "an agent's answer holds no move",
    },
)

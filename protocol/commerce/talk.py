"""What is said without a rule that reads it, and what tick it is.

    message.send     words from one party to another
    agent.unparsed   an agent's answer that holds no action: always refused

Not here: how time moves on (`clock`).
"""

from __future__ import annotations

from ..bodies import Part
from ..joined import ALLOWED, Rule, Subject, Verdict
from ..tables import State
from ..world import Act, Refusal
from .subject import misdirected
from .terms import CommerceAction, CommerceRow, Tick

CLOCK_KEY = "now"
LAST_TICK = 2**31 - 1


class Clock(CommerceRow, frozen=True):
    """The only row of `clock`."""

    tick: Tick


class MessageSend(CommerceAction, frozen=True, tag="message.send"):
    """Says something in words to the party that it is sent to. It binds nobody."""

    text: Part


class AgentUnparsed(CommerceAction, frozen=True, tag="agent.unparsed"):
    """An answer that holds no action."""

    text: Part


def tick_of(state: State) -> int:
    """The market's time; 0 where no clock is kept."""
    clock: Clock | None = state.get("clock", CLOCK_KEY)
    return 0 if clock is None else clock.tick


def _send(_state: State, act: Act) -> Verdict:
    return misdirected("message.addressee", act) if act.to is None else ALLOWED


def _unparsed(_state: State, _act: Act) -> Verdict:
    return Refusal("agent.unparsed", {})


SUBJECT = Subject(
    rows={"clock": Clock},
    rules=(
        Rule(MessageSend, _send, checks=("message.addressee",)),
        Rule(AgentUnparsed, _unparsed, checks=("agent.unparsed",)),
    ),
    events={},
    refusals={
        "message.addressee": "words are sent to a party",
        "agent.unparsed": "an agent's answer holds no action",
    },
)

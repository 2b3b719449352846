"""What is said without a rule that reads it, and the market's clock.

    message.send     words from one party to another
    agent.unparsed   an agent's answer that holds no action: always refused
    clock.advance    the operator moves time on by whole ticks; nothing else does

Not here: what falls due at a tick (each subject compares ticks where it decides).
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from ..bodies import Part
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .subject import ALLOWED, Events, Rule, Subject, Verdict, misdirected, shown
from .terms import OPERATOR, CommerceAction, CommerceEvent, CommerceRow, Tick

CLOCK_KEY = "now"
LAST_TICK = 2**31 - 1


class Clock(CommerceRow, frozen=True):
    """The only row of `clock`."""

    tick: Tick


class MessageSend(CommerceAction, frozen=True, tag="message.send"):
    """Says something to another party, in words."""

    text: Part


class AgentUnparsed(CommerceAction, frozen=True, tag="agent.unparsed"):
    """An answer that holds no action."""

    text: Part


class ClockAdvance(CommerceAction, frozen=True, tag="clock.advance"):
    """Moves the market's time on."""

    ticks: Annotated[int, msgspec.Meta(ge=1, lt=2**31)] = 1


class ClockAdvanced(CommerceEvent, frozen=True, tag="clock.advanced"):
    """It is now this tick."""

    tick: int


def tick_of(state: State) -> int:
    """The market's time; 0 where no clock is kept."""
    clock: Clock | None = state.get("clock", CLOCK_KEY)
    return 0 if clock is None else clock.tick


def _send(_state: State, act: Act) -> Verdict:
    return misdirected("message.addressee", act) if act.to is None else ALLOWED


def _unparsed(_state: State, _act: Act) -> Verdict:
    return Refusal("agent.unparsed", {})


def _advance(state: State, act: Act) -> Verdict:
    action: ClockAdvance = act.action
    tick = tick_of(state) + action.ticks
    if tick > LAST_TICK:
        return Refusal("clock.end", {"tick": LAST_TICK})
    return Accepted([ClockAdvanced(tick)])


def _advanced(state: State, event: ClockAdvanced) -> None:
    state.put("clock", CLOCK_KEY, Clock(event.tick))


def _show_clock(state: State, _act: Act, _events: Events) -> Shown:
    return shown(state, ("clock", CLOCK_KEY))


SUBJECT = Subject(
    rows={"clock": Clock},
    rules=(
        Rule(MessageSend, _send, checks=("message.addressee",)),
        Rule(AgentUnparsed, _unparsed, checks=("agent.unparsed",)),
        Rule(ClockAdvance, _advance, _show_clock, ("clock.end",), OPERATOR),
    ),
    events={ClockAdvanced: _advanced},
    refusals={
        "message.addressee": "words are sent to a party",
        "agent.unparsed": "an agent's answer holds no action",
        "clock.end": "the clock counts no further",
    },
)

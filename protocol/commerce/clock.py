"""The market's clock: the operator moves time on by whole ticks, and nothing else does.

    advance = clock.advanced + (agreement.expired + stock.released), once for each that ended before now

An agreement that ends after tick t can be settled at t and not at t + 1. One advance lets go of at most
`MOST` agreements, those that ended first; the rest can't be settled either (`agreements`), and their units
come back with later advances. What else expires holds no stock: its subject compares ticks where it decides.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from ..joined import Events, Rule, Subject, Verdict
from ..tables import State
from ..world import Accepted, Act, Refusal, Shown
from .agenda import ended, leave
from .agreements import Agreement, AgreementExpired
from .catalog import StockReleased
from .subject import shown
from .talk import CLOCK_KEY, LAST_TICK, Clock, tick_of
from .terms import OPERATOR, CommerceAction, CommerceEvent

MOST = 150
"""How many agreements expire in one decision at most: their events fit in it however long their keys are."""


class ClockAdvance(CommerceAction, frozen=True, tag="clock.advance"):
    """Moves the market's time on by this many ticks; what has ended by then expires."""

    ticks: Annotated[int, msgspec.Meta(ge=1, lt=2**31)] = 1


class ClockAdvanced(CommerceEvent, frozen=True, tag="clock.advanced"):
    """It is now this tick; so many entries of the agenda are past."""

    tick: int
    past: int


def _advance(state: State, act: Act) -> Verdict:
    action: ClockAdvance = act.action
    tick = tick_of(state) + action.ticks
    if tick > LAST_TICK:
        return Refusal("clock.end", {"tick": LAST_TICK})
    expired: list[msgspec.Struct] = []
    past = 0
    for past, key in enumerate(ended(state, tick), 1):  # noqa: B007 - counted up to where the loop ends
        agreement: Agreement = state.get("agreement", key)
        if agreement.state == "agreed":
            expired.append(AgreementExpired(key))
            expired.append(StockReleased(agreement.listing, agreement.set_aside))
            if len(expired) == 2 * MOST:
                break
    return Accepted([ClockAdvanced(tick, past), *expired])


def _advanced(state: State, event: ClockAdvanced) -> None:
    state.put("clock", CLOCK_KEY, Clock(event.tick))
    for _ in range(event.past):
        leave(state)


def _show_clock(state: State, _act: Act, _events: Events) -> Shown:
    return shown(state, ("clock", CLOCK_KEY))


SUBJECT = Subject(
    rows={},
    rules=(Rule(ClockAdvance, _advance, _show_clock, ("clock.end",), OPERATOR),),
    events={ClockAdvanced: _advanced},
    refusals={"clock.end": "the clock counts no further"},
)

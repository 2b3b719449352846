"""Induced values: what the item is worth to each bidder, and what each is told of it.

    stated    a row of `induced` for each bidder and round; it holds until another is stated
    private   value = signal = U{low, …, high}, drawn for each bidder and round
    common    value = U{low, …, high} for all of a group;  signal = value + U{−error, …, error}

A draw is labelled by round and party, so it depends on nothing else that was drawn.

Not here: when they are drawn (`session`).

Source: Smith 1976 (induced values); Kagel and Levin 1986 (common values and signals).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ..draws import Draws
from ..joined import Subject
from .terms import AuctionRow, Party, Round, Signed

if TYPE_CHECKING:
    from ..tables import Facts, State
    from .session import Session


class Induced(AuctionRow, frozen=True):
    """A row of `induced`: what a bidder is given in a round; `signal` is the value unless it is stated.

    In a double auction a seller's value is its cost.
    """

    bidder: Party
    value: Signed
    round: Round = 1
    signal: Signed | None = None


class Valuation(AuctionRow, frozen=True):
    """A row of `valuation`: where a bidder bids in a round, what the item is worth to it, what it is told."""

    round: Round
    auction: str
    bidder: Party
    value: Signed
    signal: Signed


class Given(NamedTuple):
    """A value and the signal of it, in minor units."""

    value: int
    signal: int


def key(number: int, party: str) -> str:
    """The key of a valuation."""
    return f"v{number}_{party}"


def called(session: Session, party: str) -> str:
    """What a bidder's valuation is called where it is shown."""
    if session.values == "common":
        return "signal"
    return "cost" if party in session.sellers else "value"


def given(
    state: State, session: Session, number: int, place: int, group: Sequence[str]
) -> dict[str, Given]:
    """What each bidder of a group is given in a round; ``place`` is the group's, from 1."""
    return drawn(state.facts, session, number, place, group)


def drawn(facts: Facts, session: Session, number: int, place: int, group: Sequence[str]) -> dict[str, Given]:
    """As `given`, from the start rows alone."""
    if session.values == "stated":
        rows = _stated(facts)
        return {party: _holding(rows[party], number) for party in group}
    if session.values == "private":
        values = {party: _draw(session, f"value/{number}/{party}") for party in group}
        return {party: Given(value, value) for party, value in values.items()}
    value = _draw(session, f"common/{number}/{place}")
    return {party: Given(value, value + _error(session, number, party)) for party in group}


def _draw(session: Session, label: str) -> int:
    return Draws(seed_text(session.seed), label).integer(session.low, session.high)


def _error(session: Session, number: int, party: str) -> int:
    label = f"error/{number}/{party}"
    return Draws(seed_text(session.seed), label).integer(-session.error, session.error)


@cache
def seed_text(seed: int) -> str:
    """The seed of a session's draws, as `Draws` takes it; the scheme has a version."""
    return f"auction/1/{seed}"


def unstated(facts: Facts, session: Session) -> Party | None:
    """A bidder whose value isn't stated from the first round on, where values are stated; None for none."""
    if session.values != "stated":
        return None
    rows = _stated(facts)
    return next((party for party in session.bidders if rows.get(party, _LATER)[0][0] > 1), None)


_LATER: list[tuple[int, Given]] = [(2, Given(0, 0))]


def _holding(stated: Sequence[tuple[int, Given]], number: int) -> Given:
    """The last of what was stated up to a round."""
    return stated[bisect_right(stated, number, key=lambda each: each[0]) - 1][1]


def _stated(facts: Facts) -> dict[str, list[tuple[int, Given]]]:
    """What is stated of each bidder, as (round, given), in order of the rounds."""
    rows: dict[str, list[tuple[int, Given]]] | None = facts.memo.get("auction.stated")
    if rows is None:
        rows = facts.memo["auction.stated"] = {}
        for row in facts.tables["induced"].rows.values():
            assert isinstance(row, Induced)
            given = Given(row.value, row.value if row.signal is None else row.signal)
            rows.setdefault(row.bidder, []).append((row.round, given))
        for stated in rows.values():
            stated.sort()
    return rows


SUBJECT = Subject(rows={"induced": Induced, "valuation": Valuation}, rules=(), events={}, refusals={})
